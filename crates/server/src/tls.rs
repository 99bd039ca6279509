//! TLS: the server's certificate, and the encrypted side of a connection.
//!
//! The bytes of the socket are read and written by `connection.rs`; [`Secured`] turns them into the client's bytes and
//! back. A client asks for TLS by SSLRequest, or begins with a handshake at once and names the protocol `postgresql`
//! (ALPN), as PostgreSQL 17 has it.

use crate::certificate;
use crate::ended::Ended;
use crate::messages::violation;
use frazil::{Error, Result, SqlState};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem};
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// The protocol's name in ALPN.
const PROTOCOL: &[u8] = b"postgresql";
/// The first byte of a TLS handshake, which begins no packet of the protocol: its length would be 350 MB.
pub const HANDSHAKE: u8 = 22;
/// Bytes of decrypted data that are taken in one go.
const TAKEN: usize = 16 << 10;

/// A certificate with its key, and the clients that may do without TLS. Clones share the certificate.
#[derive(Clone, Debug)]
pub struct Tls {
    identity: Arc<RwLock<Identity>>,
    /// The files of the certificate and the key; `None` if they are in memory alone.
    files: Option<(PathBuf, PathBuf)>,
    /// True if a client that does not ask for TLS is refused.
    pub is_required: bool,
}

/// The certificate that new connections see.
#[derive(Clone, Debug)]
struct Identity {
    config: Arc<ServerConfig>,
    /// The hash of the certificate that SCRAM binds a login to; `None` if there is none for its signature.
    end_point: Option<Arc<[u8]>>,
}

impl Identity {
    fn of_files((certificate, key): (&Path, &Path)) -> Result<Identity> {
        let chain = read(certificate)?;
        let chain: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&chain).collect();
        let chain = chain.map_err(|error| malformed(certificate, "certificate", &error))?;
        if chain.is_empty() {
            return Err(malformed(certificate, "certificate", &pem::Error::NoItemsFound));
        }
        let own =
            PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| malformed(key, "key", &error))?;
        Identity::new(chain, own).map_err(|error| {
            let message = format!(
                "the key of \"{}\" and the certificate of \"{}\" cannot be used: {error}",
                key.display(),
                certificate.display()
            );
            Error::new(SqlState::INVALID_PARAMETER, message)
        })
    }

    fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Identity, rustls::Error> {
        let end_point = chain.first().and_then(|own| certificate::end_point(own));
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(Identity {
            config: Arc::new(config),
            end_point,
        })
    }
}

impl Tls {
    /// Reads a certificate, with those that certify it behind, and its private key: files in PEM. 58P01 or
    /// 58030 for a file that cannot be read; 22023 for one that holds none, or for a key that is not the certificate's.
    pub fn of_files(certificate: &Path, key: &Path, is_required: bool) -> Result<Tls> {
        let files = Some((certificate.to_owned(), key.to_owned()));
        let identity = Identity::of_files((certificate, key))?;
        Ok(Tls::new(identity, files, is_required))
    }

    /// Takes the certificate that a server made for itself in a database's directory, or makes one for this machine's
    /// names and the address `listen`. Without a directory, or if nothing in it may change, a new one stays in memory.
    pub fn self_signed(
        directory: Option<&Path>,
        can_write: bool,
        listen: IpAddr,
        is_required: bool,
    ) -> Result<Tls> {
        let files = match directory {
            Some(directory) if can_write => Some(certificate::kept(directory, listen)?),
            Some(directory) => certificate::found(directory),
            None => None,
        };
        if let Some((certificate, key)) = &files {
            return Tls::of_files(certificate, key, is_required);
        }
        let made = certificate::make(listen)?;
        let (own, key) = (
            CertificateDer::from(made.certificate),
            PrivatePkcs8KeyDer::from(made.key),
        );
        let identity = Identity::new(vec![own], key.into());
        let identity =
            identity.map_err(|error| Error::internal(format!("no certificate can be made: {error}")))?;
        Ok(Tls::new(identity, None, is_required))
    }

    fn new(identity: Identity, files: Option<(PathBuf, PathBuf)>, is_required: bool) -> Tls {
        Tls {
            identity: Arc::new(RwLock::new(identity)),
            files,
            is_required,
        }
    }

    /// Returns the file of the certificate; `None` if it is in memory alone.
    pub fn certificate(&self) -> Option<&Path> {
        self.files.as_ref().map(|(certificate, _)| certificate.as_path())
    }

    /// Reads the files anew. New connections have the new certificate; an error leaves the old one. Errors are those
    /// of [`of_files`](Tls::of_files).
    pub fn reload(&self) -> Result<()> {
        let Some((certificate, key)) = &self.files else {
            return Ok(());
        };
        let identity = Identity::of_files((certificate, key))?;
        *self.identity.write().unwrap_or_else(PoisonError::into_inner) = identity;
        Ok(())
    }

    /// The encrypted side of a new connection.
    pub fn secured(&self) -> Result<Secured, Ended> {
        let identity = self
            .identity
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let connection = ServerConnection::new(identity.config);
        let mut connection =
            connection.map_err(|error| Error::internal(format!("TLS cannot begin: {error}")))?;
        // Answers are written in whole, and wait for the socket before the next ones.
        connection.set_buffer_limit(None);
        Ok(Secured {
            connection: Box::new(connection),
            end_point: identity.end_point,
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        let message = format!("could not read \"{}\": {error}", path.display());
        Error::new(SqlState::of_io(&error), message)
    })
}

fn malformed(path: &Path, what: &str, error: &pem::Error) -> Error {
    let message = format!("\"{}\" holds no {what}: {error:?}", path.display());
    Error::new(SqlState::INVALID_PARAMETER, message).with_hint("the file is to be in PEM")
}

/// The encrypted side of a connection.
pub struct Secured {
    connection: Box<ServerConnection>,
    /// The hash of the certificate that SCRAM binds a login to.
    pub end_point: Option<Arc<[u8]>>,
}

impl Secured {
    /// Takes bytes of the socket, and adds those of the client to `plain`. Returns bytes for the socket: of the
    /// handshake, or the alert behind an error. True with them if the client sends no more.
    pub fn receive(
        &mut self,
        mut bytes: &[u8],
        plain: &mut impl FnMut(&[u8]),
    ) -> (Vec<u8>, io::Result<bool>) {
        let mut is_over = Ok(false);
        while !bytes.is_empty() && is_over.is_ok() {
            is_over = self.step(&mut bytes, plain);
        }
        (self.outgoing(), is_over)
    }

    fn step(&mut self, bytes: &mut &[u8], plain: &mut impl FnMut(&[u8])) -> io::Result<bool> {
        self.connection.read_tls(bytes)?;
        let state = self.connection.process_new_packets();
        let state = state.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let mut left = state.plaintext_bytes_to_read();
        let mut taken = [0; TAKEN];
        while left > 0 {
            let count = self.connection.reader().read(&mut taken)?;
            plain(&taken[..count]);
            left = left.saturating_sub(count.max(1));
        }
        Ok(state.peer_has_closed())
    }

    /// Encrypts bytes for the client. Returns those for the socket.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.connection.writer().write_all(bytes)?;
        Ok(self.outgoing())
    }

    /// Says that no more comes. Returns the bytes for the socket.
    pub fn close(&mut self) -> Vec<u8> {
        self.connection.send_close_notify();
        self.outgoing()
    }

    fn outgoing(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        while self.connection.wants_write() {
            // Writing to memory does not fail.
            let _ = self.connection.write_tls(&mut out);
        }
        out
    }

    /// True while the handshake goes on.
    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// 08P01 unless the client named the protocol, as it must if it began with a handshake at once: the handshake may
    /// have been meant for a server of another protocol.
    pub fn check_protocol(&self) -> Result<()> {
        match self.connection.alpn_protocol() {
            Some(PROTOCOL) => Ok(()),
            _ => Err(violation(
                "received direct SSL connection request without ALPN protocol negotiation extension",
            )),
        }
    }
}
