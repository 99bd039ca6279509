//! The server's own certificate, for a server that others reach and that was given none; and the hash of a certificate
//! to which SCRAM binds a login.
//!
//! A certificate that the server makes certifies itself: a client cannot know whose it is until it has a copy. It is
//! kept in the database's directory and used again, so that a copy stays good.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use frazil::{Error, Result, SqlState};
use rcgen::{CertificateParams, DnType, IsCa, KeyPair};
use sha2::{Digest, Sha256, Sha384, Sha512};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the certificate's file in the database's directory.
const CERTIFICATE: &str = "server.crt";
/// The name of the private key's file, which its owner alone can read.
const KEY: &str = "server.key";
/// Characters of a line of PEM.
const LINE: usize = 64;

/// A certificate and its private key, in DER. The key is in PKCS #8.
pub struct Made {
    /// The certificate.
    pub certificate: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

/// Makes a certificate for this machine's names and an address.
pub fn make(listen: IpAddr) -> Result<Made> {
    let failed = |error: rcgen::Error| Error::internal(format!("no certificate can be made: {error}"));
    let key = KeyPair::generate().map_err(failed)?;
    let mut parameters = CertificateParams::new(names(listen)).map_err(failed)?;
    parameters.is_ca = IsCa::ExplicitNoCa;
    parameters
        .distinguished_name
        .push(DnType::CommonName, "Frazil server, self-signed");
    let certificate = parameters.self_signed(&key).map_err(failed)?;
    Ok(Made {
        certificate: certificate.der().to_vec(),
        key: key.serialize_der(),
    })
}

/// The names by which clients may call this machine.
fn names(listen: IpAddr) -> Vec<String> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    let is_name = !host.is_empty()
        && host
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
    let host = is_name.then(|| host.to_owned());
    let address = (!listen.is_unspecified() && !listen.is_loopback()).then(|| listen.to_string());
    let always = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    host.into_iter().chain(address).chain(always).collect()
}

/// Returns the files of the certificate and the key in a directory, and makes them if one of them is not there. 58030
/// or another error of the system if it cannot.
pub fn kept(directory: &Path, listen: IpAddr) -> Result<(PathBuf, PathBuf)> {
    let paths = (directory.join(CERTIFICATE), directory.join(KEY));
    if paths.0.exists() && paths.1.exists() {
        return Ok(paths);
    }
    let made = make(listen)?;
    // A certificate that is there has its key.
    write(&paths.1, &pem("PRIVATE KEY", &made.key), true)?;
    write(&paths.0, &pem("CERTIFICATE", &made.certificate), false)?;
    Ok(paths)
}

/// Returns the files of the certificate and the key in a directory; `None` if one of them is not there.
pub fn found(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let paths = (directory.join(CERTIFICATE), directory.join(KEY));
    (paths.0.exists() && paths.1.exists()).then_some(paths)
}

/// Writes a file under another name first, so that it is there in whole or not at all.
fn write(path: &Path, text: &str, is_secret: bool) -> Result<()> {
    let new = path.with_extension("new");
    let written = create(&new, is_secret).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    });
    written.map_err(|error| {
        let message = format!("could not write \"{}\": {error}", path.display());
        Error::new(SqlState::of_io(&error), message)
            .with_hint("give a certificate with --tls-cert and --tls-key")
    })
}

fn create(path: &Path, is_secret: bool) -> std::io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if is_secret {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)
}

fn pem(what: &str, der: &[u8]) -> String {
    let encoded = STANDARD.encode(der);
    let mut text = format!("-----BEGIN {what}-----\n");
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, behind) = rest.split_at(LINE.min(rest.len()));
        text.push_str(line);
        text.push('\n');
        rest = behind;
    }
    text + &format!("-----END {what}-----\n")
}

/// RSA with PKCS #1: 1.2.840.113549.1.1, and a number for the hash.
const RSA: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
/// ECDSA: 1.2.840.10045.4, and a number for the hash.
const ECDSA: [u8; 6] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 4];

/// Returns the hash of a certificate in DER to which SCRAM binds a login (RFC 5929, `tls-server-end-point`). The hash
/// function is the one of the certificate's signature, SHA-256 in place of MD5 and SHA-1. `None` if the signature has
/// none or another one: clients would not know which to take.
pub fn end_point(certificate: &[u8]) -> Option<Arc<[u8]>> {
    let (content, _) = element(certificate, SEQUENCE)?;
    let (_signed, rest) = element(content, SEQUENCE)?;
    let (algorithm, _) = element(rest, SEQUENCE)?;
    let (name, _) = element(algorithm, OBJECT_IDENTIFIER)?;
    let hash = match (name.strip_prefix(&RSA), name.strip_prefix(&ECDSA)) {
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => Sha256::digest(certificate).to_vec(),
        (Some([12]), _) | (_, Some([3, 3])) => Sha384::digest(certificate).to_vec(),
        (Some([13]), _) | (_, Some([3, 4])) => Sha512::digest(certificate).to_vec(),
        _ => return None,
    };
    Some(hash.into())
}

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 6;

/// Splits an element of DER off: its content, and the bytes behind. `None` if it is cut off or has another tag.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[own, first], rest) = bytes.split_first_chunk()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (
                digits.iter().fold(0, |sum, &digit| sum << 8 | usize::from(digit)),
                rest,
            )
        }
        _ => return None,
    };
    (own == tag).then(|| rest.split_at_checked(length)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_made_once() {
        let directory = std::env::temp_dir().join(format!("frazil-certificate-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        assert!(found(&directory).is_none());
        let listen = "192.0.2.7".parse().unwrap();
        let paths = kept(&directory, listen).unwrap();
        let first = fs::read(&paths.0).unwrap();
        #[cfg(unix)]
        {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&paths.1).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(kept(&directory, listen).unwrap(), paths);
        assert_eq!(
            (found(&directory), fs::read(&paths.0).unwrap()),
            (Some(paths), first)
        );
        let lost = kept(&directory.join("not there"), listen).unwrap_err();
        assert!(lost.message().contains("server.key"), "{lost}");
        fs::remove_dir_all(&directory).unwrap();
        let all = names(listen);
        assert!(all.contains(&"192.0.2.7".to_owned()) && all.contains(&"localhost".to_owned()));
    }

    #[test]
    fn the_hash_of_a_certificate_is_that_of_its_signature() {
        let made = make("127.0.0.1".parse().unwrap()).unwrap();
        let hash = end_point(&made.certificate);
        assert_eq!(hash.as_deref(), Some(&Sha256::digest(&made.certificate)[..]));
        for end in 0..40 {
            assert!(end_point(&made.certificate[..end]).is_none(), "{end}");
        }
        // A signature that no hash belongs to.
        let of = |name: &[u8]| {
            let algorithm = [&[OBJECT_IDENTIFIER, name.len() as u8], name].concat();
            let algorithm = [&[SEQUENCE, algorithm.len() as u8], &algorithm[..]].concat();
            let content = [&[SEQUENCE, 0], &algorithm[..]].concat();
            end_point(&[&[SEQUENCE, content.len() as u8], &content[..]].concat()).map(|hash| hash.len())
        };
        assert_eq!(of(&[&RSA[..], &[5]].concat()), Some(32));
        assert_eq!(of(&[&RSA[..], &[12]].concat()), Some(48));
        assert_eq!(of(&[&ECDSA[..], &[3, 4]].concat()), Some(64));
        assert_eq!(of(&[0x2b, 101, 112]), None);
        assert_eq!(of(&[&RSA[..], &[10]].concat()), None);
    }
}
