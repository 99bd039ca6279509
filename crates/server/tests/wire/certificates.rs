//! Certificates that change and that the server makes, and logins that are bound to them.

use crate::client::Served;
use crate::clients::{run, text};
use crate::tls::file;
use frazil::{Database, SqlState};
use frazil_server::{Authentication, Limits, Options, Tls, Verifier, Watching};
use std::fs;
use std::path::{Path, PathBuf};

/// A directory of a test, removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("frazil-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn served(tls: Tls) -> Served {
    let authentication = Authentication::Password {
        user: "app".to_owned(),
        verifier: Verifier::new("secret").unwrap(),
    };
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

/// The output of psql that verifies the server by a certificate, and its errors; `None` if it is not installed.
fn psql(served: &Served, root: &Path, more: &str) -> Option<(String, String)> {
    let asked = format!(
        "sslmode=verify-full sslrootcert={} host=localhost hostaddr=127.0.0.1 dbname=shop {more}",
        root.display()
    );
    let output = run(
        "psql",
        &["-XAt", "-c", "select 1", &asked],
        served,
        "app",
        "secret",
    )?;
    Some((text(&output.stdout), text(&output.stderr)))
}

#[test]
fn a_login_is_bound_to_the_certificate() {
    let root = file("certificate.pem");
    let served = served(Tls::of_files(&root, &file("key.pem"), false).unwrap());
    for binding in ["require", "prefer", "disable"] {
        let Some((out, errors)) = psql(&served, &root, &format!("channel_binding={binding}")) else {
            return;
        };
        assert_eq!(out, "1\n", "{binding}: {errors}");
    }
}

#[test]
fn a_certificate_is_read_anew() {
    let directory = Directory::new("certificates");
    let (certificate, key) = (directory.0.join("server.crt"), directory.0.join("server.key"));
    fs::copy(file("certificate.pem"), &certificate).unwrap();
    fs::copy(file("key.pem"), &key).unwrap();
    let tls = Tls::of_files(&certificate, &key, true).unwrap();
    assert_eq!(tls.certificate(), Some(&*certificate));
    let served = served(tls.clone());
    let reaches = |root: &Path| psql(&served, root, "").map(|(out, _)| out == "1\n");
    let old = file("certificate.pem");
    assert!(reaches(&old).unwrap_or(true));
    // A bad one leaves the old one.
    fs::write(&certificate, "no certificate").unwrap();
    let error = tls.reload().unwrap_err();
    assert_eq!(error.state(), SqlState::INVALID_PARAMETER, "{error}");
    assert!(reaches(&old).unwrap_or(true));
    fs::remove_file(&certificate).unwrap();
    assert!(tls.reload().is_err());
    let listen = "127.0.0.1".parse().unwrap();
    Tls::self_signed(Some(&directory.0), true, listen, true).unwrap();
    tls.reload().unwrap();
    assert!(!reaches(&old).unwrap_or(false));
    assert!(reaches(&certificate).unwrap_or(true));
}

#[test]
fn a_certificate_that_the_server_makes_can_be_verified() {
    let directory = Directory::new("self-signed");
    let listen = "127.0.0.1".parse().unwrap();
    let made = Tls::self_signed(Some(&directory.0), true, listen, true).unwrap();
    let root = made.certificate().unwrap().to_owned();
    drop(made);
    let before = fs::read(&root).unwrap();
    // It is used again, also where nothing may be written.
    let again = Tls::self_signed(Some(&directory.0), false, listen, true).unwrap();
    assert_eq!(
        (again.certificate(), fs::read(&root).unwrap()),
        (Some(&*root), before)
    );
    let served = served(again);
    if let Some((out, errors)) = psql(&served, &root, "channel_binding=require") {
        assert_eq!(out, "1\n", "{errors}");
    }
    // Without a directory it is in memory.
    let other = Tls::self_signed(None, true, listen, true).unwrap();
    assert_eq!(other.certificate(), None);
    other.reload().unwrap();
}
