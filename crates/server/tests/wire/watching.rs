//! The log of slow statements, and metrics and health over HTTP.

use crate::client::{Served, bind, execute, parse, query, sync};
use frazil::Database;
use frazil_server::{Authentication, Limits, Options, SlowLog, Watching};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A place for lines of a log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn take(&self) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        String::from_utf8(bytes)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

fn watched(watching: Watching) -> Served {
    let options = Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        authentication: Authentication::Trust,
        tls: None,
        name: "shop".to_owned(),
        max_connections: 20,
        limits: Limits::default(),
        watching,
    };
    Served::with_options(Database::memory().unwrap(), options)
}

fn logging(least: Duration, has_values: bool) -> (Served, Lines) {
    let lines = Lines::default();
    let slow_log = Some(SlowLog::new(least, has_values, lines.clone()));
    let served = watched(Watching {
        slow_log,
        ..Watching::default()
    });
    (served, lines)
}

#[test]
fn slow_statements_are_lines_of_json_without_values() {
    let (served, lines) = logging(Duration::from_millis(100), false);
    let mut client = served.client();
    client.ask(&[query("select 1")]);
    assert!(lines.take().is_empty());
    client.ask(&[query("select pg_sleep(0.2), 'secret'")]);
    client.ask(&[
        parse("", "select pg_sleep($1), $2::text", &[701, 25]),
        bind("", "", &[Some(b"0.2"), Some(b"secret")], 0, 0),
        execute("", 0),
        sync(),
    ]);
    client.ask(&[query("select pg_sleep(0.2), 1 / (select 0)")]);
    let lines = lines.take();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let statements = [
        "\"statement\":\"select pg_sleep($1), $2\"",
        "\"statement\":\"select pg_sleep($1), $2::text\"",
        "\"statement\":\"select pg_sleep($1), $2 / (select $3)\"",
    ];
    for (line, statement) in lines.iter().zip(statements) {
        assert!(line.contains(statement), "{line}");
        assert!(!line.contains("secret") && !line.contains("\"values\""), "{line}");
        for part in [
            "\"event\":\"slow statement\"",
            "\"user\":\"me\"",
            "\"database\":\"shop\"",
            "\"client\":\"127.0.0.1:",
            "\"milliseconds\":",
            "\"time\":\"20",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
    assert!(lines[2].contains("\"error\":\"22012\"") && !lines[0].contains("\"error\""));
}

#[test]
fn values_are_logged_if_asked_for() {
    let (served, lines) = logging(Duration::ZERO, true);
    let mut client = served.client();
    client.ask(&[query("select 'a\"b'")]);
    client.ask(&[
        parse(
            "",
            "select $1::text, $2::integer, $3::numeric, $4::date",
            &[25, 23, 1700, 1082],
        ),
        bind(
            "",
            "",
            &[Some(b"x\ny"), None, Some(b"1.50"), Some(b"2020-02-29")],
            0,
            0,
        ),
        execute("", 0),
        sync(),
    ]);
    let lines = lines.take();
    assert!(
        lines[0].contains("\"statement\":\"select 'a\\\"b'\""),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].contains("\"values\":[\"x\\ny\",null,\"1.50\",\"2020-02-29\"]"),
        "{}",
        lines[1]
    );
}

/// The answer to a request.
fn asked(served: &Served, request: &str) -> String {
    let mut stream = TcpStream::connect(served.metrics.unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn metrics_and_health_are_told_over_http() {
    let served = watched(Watching {
        metrics: Some("127.0.0.1:0".parse().unwrap()),
        ..Watching::default()
    });
    let mut client = served.client();
    client.ask(&[query("create table t (a integer)")]);
    client.ask(&[query("insert into t values (1), (2)")]);
    client.ask(&[query("select 1 / 0")]);
    let get = |path: &str| asked(&served, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
    let metrics = get("/metrics");
    let (head, body) = metrics.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"),
        "{head}"
    );
    assert!(
        head.contains(&format!("Content-Length: {}\r\n", body.len())),
        "{head}"
    );
    for line in [
        "frazil_connections 1",
        "frazil_connections_limit 20",
        "frazil_rows_total{work=\"inserted\"} 2",
        "frazil_transactions_total{end=\"rollback\"} 1",
        "# TYPE frazil_memory_limit_bytes gauge",
        "frazil_failed_logins_total 0",
    ] {
        assert!(body.lines().any(|own| own == line), "{line}: {body}");
    }
    // Each line is a comment, or a name with a value.
    for line in body.lines().filter(|line| !line.starts_with("# ")) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(
            name.starts_with("frazil_") && value.parse::<f64>().is_ok(),
            "{line}"
        );
    }
    assert!(get("/healthz").ends_with("\r\n\r\nok\n"));
    assert!(get("/readyz?verbose").starts_with("HTTP/1.1 200"));
    assert!(get("/other").starts_with("HTTP/1.1 404"));
    let head = asked(&served, "HEAD /healthz HTTP/1.1\r\n\r\n");
    assert!(
        head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"),
        "{head}"
    );
    assert!(asked(&served, "POST /metrics HTTP/1.1\r\n\r\n").contains("\r\nAllow: GET, HEAD\r\n"));
    // A request that is too long ends without an answer, or with a reset.
    let mut stream = TcpStream::connect(served.metrics.unwrap()).unwrap();
    let _ = stream.write_all(&[b'x'; 20_000]);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.is_empty());
    // A server that drains takes no more clients.
    client.ask(&[query("begin")]);
    served.stopper.drain();
    assert!(get("/readyz").starts_with("HTTP/1.1 503"));
    assert!(get("/healthz").starts_with("HTTP/1.1 200"));
    client.ask(&[query("commit")]);
}
