//! TLS of a connection: the handshake, and what of the server's certificate is checked.

use super::address::{Address, SslMode};
use super::errors::wrong;
use frazil::{Error, Result, SqlState};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    StreamOwned,
};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The protocol's name in ALPN.
const PROTOCOL: &[u8] = b"postgresql";

/// Begins TLS on a socket. 08006 if the handshake fails, 22023 for files that cannot be used.
pub fn secured(socket: TcpStream, address: &Address) -> Result<StreamOwned<ClientConnection, TcpStream>> {
    let config = Arc::new(config(address)?);
    let name = ServerName::try_from(address.host.clone());
    let name = name.map_err(|_| wrong(format!("\"{}\" is not a name of a host", address.host)))?;
    let failed = |error: &dyn std::fmt::Display| {
        Error::new(
            SqlState::CONNECTION_FAILURE,
            format!("TLS with {} failed: {error}", address.place()),
        )
    };
    let connection = ClientConnection::new(config, name).map_err(|error| failed(&error))?;
    let mut stream = StreamOwned::new(connection, socket);
    while stream.conn.is_handshaking() {
        stream
            .conn
            .complete_io(&mut stream.sock)
            .map_err(|error| failed(&error))?;
    }
    Ok(stream)
}

fn config(address: &Address) -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let trusted = trusted(address)?
        .map(|path| Trusted::of_file(&path))
        .transpose()?;
    let checked = Checked {
        trusted,
        checks_name: address.ssl_mode == SslMode::VerifyFull,
        algorithms,
    };
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| Error::internal(format!("TLS cannot begin: {error}")))?;
    let mut config = config
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(checked))
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(config)
}

/// The file of certificates that certify the server's. As in libpq, `require` checks the certificate if the file is
/// there.
fn trusted(address: &Address) -> Result<Option<PathBuf>> {
    let usual = || Some(Path::new(&std::env::var_os("HOME")?).join(".postgresql/root.crt"));
    let path = address.root_certificate.clone().or_else(usual);
    let found = path.clone().filter(|path| path.exists());
    match (found, address.ssl_mode) {
        (_, SslMode::Disable | SslMode::Prefer) => Ok(None),
        (found, SslMode::Require) => Ok(found),
        (Some(found), SslMode::VerifyCa | SslMode::VerifyFull) => Ok(Some(found)),
        (None, SslMode::VerifyCa | SslMode::VerifyFull) => {
            let path = path.unwrap_or_default();
            let message = format!("root certificate file \"{}\" does not exist", path.display());
            Err(wrong(message)
                .with_hint("name it in sslrootcert, or use sslmode=require, which checks no certificate"))
        }
    }
}

/// Certificates that certify others.
#[derive(Debug)]
struct Trusted {
    chain: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl Trusted {
    fn of_file(path: &Path) -> Result<Trusted> {
        let unusable = |error: &dyn std::fmt::Display| {
            wrong(format!(
                "the certificates of \"{}\" cannot be used: {error}",
                path.display()
            ))
        };
        let read = CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))?;
        let certificates: Result<Vec<CertificateDer<'static>>, _> = read.collect();
        let certificates = certificates.map_err(|error| unusable(&error))?;
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots.add(certificate.clone()).map_err(|error| unusable(&error))?;
        }
        let provider = Arc::new(ring::default_provider());
        let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        Ok(Trusted {
            chain: chain.map_err(|error| unusable(&error))?,
            certificates,
        })
    }
}

/// Checks a certificate as `sslmode` says.
#[derive(Debug)]
struct Checked {
    /// `None`: any certificate.
    trusted: Option<Trusted>,
    checks_name: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Checked {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(trusted) = &self.trusted else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified =
            trusted
                .chain
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            // A certificate that certifies itself, as `openssl req -x509` makes it, may not certify a server by
            // webpki's rules, which have checked its time by then. It is trusted because the file names it.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(_)))
                if trusted.certificates.iter().any(|own| own == end_entity) =>
            {
                if self.checks_name {
                    rustls::client::verify_server_name(
                        &ParsedCertificate::try_from(end_entity)?,
                        server_name,
                    )?;
                }
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
