//! Connections with TLS. The answers to what is refused are PostgreSQL's.

use crate::client::{Client, Served, message, query};
use crate::clients::{run, text};
use frazil::{Database, SqlState};
use frazil_server::{Authentication, Limits, Options, Tls, Verifier, Watching};
use frazil_testkit::Random;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

/// The code of SSLRequest.
const SSL_REQUEST: [u8; 4] = 80_877_103i32.to_be_bytes();

/// A file of the tests' certificate.
pub fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/tls")
        .join(name)
}

fn served(is_required: bool, authentication: Authentication) -> Served {
    let tls = Tls::of_files(&file("certificate.pem"), &file("key.pem"), is_required).unwrap();
    let options = Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        authentication,
        tls: Some(tls),
        name: "shop".to_owned(),
        max_connections: 20,
        limits: Limits::default(),
        watching: Watching::default(),
    };
    Served::with_options(Database::memory().unwrap(), options)
}

/// A stream that sends in pieces of a random size, and flushes none of them together.
struct Pieces {
    stream: TcpStream,
    random: Random,
    largest: u64,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let most = 1 + self.random.below(self.largest) as usize;
        self.stream.write(&bytes[..most.min(bytes.len())])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

impl Read for Pieces {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.stream.read(bytes)
    }
}

type Encrypted = StreamOwned<ClientConnection, Pieces>;

/// A client's end of a handshake, which trusts the certificate of the tests.
fn handshake(version: &'static SupportedProtocolVersion, protocols: &[&[u8]]) -> ClientConnection {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(file("certificate.pem")).unwrap())
        .unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    ClientConnection::new(Arc::new(config), name).unwrap()
}

/// A client that asks for TLS, and has it.
fn asking(served: &Served, version: &'static SupportedProtocolVersion, largest: u64) -> Client<Encrypted> {
    let mut client = served.stranger();
    client.packet(&SSL_REQUEST);
    assert_eq!(byte(&mut client), b'S');
    encrypted(client, handshake(version, &[]), largest)
}

fn encrypted(client: Client, connection: ClientConnection, largest: u64) -> Client<Encrypted> {
    let pieces = Pieces {
        stream: client.stream,
        random: Random::new(largest),
        largest,
    };
    Client {
        stream: StreamOwned::new(connection, pieces),
    }
}

fn byte(client: &mut Client) -> u8 {
    let mut answer = [0];
    client.stream.read_exact(&mut answer).unwrap();
    answer[0]
}

#[test]
fn a_session_is_the_same_however_its_bytes_arrive() {
    let served = served(false, Authentication::Trust);
    for (version, largest) in [(&TLS13, 1), (&TLS13, 1 << 20), (&TLS12, 3), (&TLS12, 1 << 20)] {
        let mut client = asking(&served, version, largest);
        client.start(&[("user", "me"), ("database", "shop")]);
        assert!(client.short().ends_with("K ZI"));
        let text = "create temporary table t (a text); insert into t values ('x'); select a from t";
        let expected = "C[CREATE TABLE] C[INSERT 0 1] T D[x] C[SELECT 1] ZI";
        assert_eq!(client.ask(&[query(text)]), expected, "{largest}");
    }
}

#[test]
fn much_data_passes_both_ways() {
    let served = served(false, Authentication::Trust);
    let mut client = asking(&served, &TLS13, 1 << 20);
    client.start(&[("user", "me"), ("database", "shop")]);
    client.until_ready();
    client.ask(&[query("create table t (a integer, b text)")]);
    client.send(&query("copy t from stdin"));
    assert_eq!(client.short_of(1), "G");
    let rows: String = (0..20_000).map(|a| format!("{a}\t{:0>100}\n", a)).collect();
    for part in rows.as_bytes().chunks(70_001) {
        client.send(&message(b'd', part));
    }
    client.send(&message(b'c', b""));
    assert_eq!(client.short(), "C[COPY 20000] ZI");
    client.send(&query("select a, b from t order by a"));
    let answers = client.until_ready();
    assert_eq!(answers.len(), 20_003);
    assert_eq!(answers[1].values(), ["0".to_owned(), "0".repeat(100)]);
    assert_eq!(answers[20_000].values()[0], "19999");
}

#[test]
fn a_handshake_may_come_at_once_and_names_the_protocol() {
    let served = served(true, Authentication::Trust);
    let direct = |protocols: &[&[u8]]| encrypted(served.stranger(), handshake(&TLS13, protocols), 1 << 20);
    let mut client = direct(&[b"postgresql"]);
    client.start(&[("user", "me"), ("database", "shop")]);
    assert!(client.short().ends_with("K ZI"));
    let mut nameless = direct(&[]);
    nameless.start(&[("user", "me"), ("database", "shop")]);
    assert_eq!(nameless.until_end(), "E[08P01]");
    // No protocol in common: the handshake fails.
    let mut other = direct(&[b"http/1.1"]);
    assert!(
        other
            .stream
            .write_all(b"GET /")
            .and_then(|()| other.stream.flush())
            .is_err()
    );
    assert_eq!(client.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
}

#[test]
fn a_client_without_tls_is_refused_where_it_is_required() {
    let strict = served(true, Authentication::Trust);
    let mut plain = strict.stranger();
    plain.start(&[("user", "me"), ("database", "shop")]);
    assert_eq!(plain.until_end(), "E[28000]");
    let lenient = served(false, Authentication::Trust);
    assert_eq!(
        lenient.client().ask(&[query("select 1")]),
        "T D[1] C[SELECT 1] ZI"
    );
}

#[test]
fn bytes_that_are_no_handshake_end_their_connection_alone() {
    let served = served(false, Authentication::Trust);
    let mut neighbour = asking(&served, &TLS12, 1 << 20);
    neighbour.start(&[("user", "me"), ("database", "shop")]);
    neighbour.until_ready();
    // Bytes behind the request that were not encrypted: somebody else may have sent them.
    let mut early = served.stranger();
    let mut sent = [0, 0, 0, 8].to_vec();
    sent.extend(SSL_REQUEST);
    sent.extend(b"more");
    early.send(&sent);
    assert_eq!(early.until_end(), "E[08P01]");
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut client = served.stranger();
        client.packet(&SSL_REQUEST);
        assert_eq!(byte(&mut client), b'S');
        let mut garbage: Vec<u8> = (0..random.below(300)).map(|_| random.bits() as u8).collect();
        if seed % 2 == 0 {
            // The head of a handshake.
            garbage.splice(0..0, [22, 3, 1, 0, random.below(100) as u8]);
        }
        client.send(&garbage);
        client.finish();
        let mut rest = Vec::new();
        // An alert, or nothing. A reset is as good: the server did not read all.
        let _ = client.stream.read_to_end(&mut rest);
        assert!(rest.is_empty() || rest[0] == 21, "seed {seed}: {rest:?}");
        assert_eq!(
            neighbour.ask(&[query("select 1")]),
            "T D[1] C[SELECT 1] ZI",
            "seed {seed}"
        );
    }
}

#[test]
fn files_that_hold_no_certificate_and_key_are_refused() {
    let of = |certificate: &str, key: &str| Tls::of_files(&file(certificate), &file(key), false);
    for (certificate, key, state) in [
        (
            "no_such_file.pem",
            "key.pem",
            SqlState::of_io(&std::io::ErrorKind::NotFound.into()),
        ),
        ("key.pem", "key.pem", SqlState::INVALID_PARAMETER),
        ("certificate.pem", "certificate.pem", SqlState::INVALID_PARAMETER),
    ] {
        let error = of(certificate, key).unwrap_err();
        assert_eq!(error.state(), state, "{error}");
        assert!(error.message().contains(".pem"), "{error}");
    }
}

#[test]
fn psql_and_psycopg_verify_the_server() {
    let authentication = Authentication::Password {
        user: "app".to_owned(),
        verifier: Verifier::new("secret").unwrap(),
    };
    let served = served(true, authentication);
    let root = file("certificate.pem");
    let asked = |mode: &str| {
        format!(
            "sslmode={mode} sslrootcert={} host=localhost hostaddr=127.0.0.1 dbname=shop",
            root.display()
        )
    };
    for mode in ["require", "verify-full"] {
        let arguments = ["-X", "-A", "-t", "-c", "select 'by TLS'", &asked(mode)];
        if let Some(output) = run("psql", &arguments, &served, "app", "secret") {
            assert_eq!(
                text(&output.stdout),
                "by TLS\n",
                "{mode}: {}",
                text(&output.stderr)
            );
        }
    }
    if let Some(output) = run(
        "psql",
        &["-X", "-c", "select 1", &asked("disable")],
        &served,
        "app",
        "secret",
    ) {
        let said = text(&output.stderr);
        assert!(
            said.contains("the server refuses connections without encryption"),
            "{said}"
        );
    }
    let script = "import psycopg, sys\n\
                  with psycopg.connect(sys.argv[1]) as c:\n    \
                  assert c.pgconn.ssl_in_use and c.execute('select 1').fetchone() == (1,)\n";
    let has = std::process::Command::new("python3")
        .args(["-c", "import psycopg"])
        .output();
    if !has.is_ok_and(|has| has.status.success()) {
        eprintln!("skipped: psycopg 3 is not installed");
        return;
    }
    if let Some(output) = run(
        "python3",
        &["-c", script, &asked("verify-full")],
        &served,
        "app",
        "secret",
    ) {
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}
