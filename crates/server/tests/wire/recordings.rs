//! Clients as they were recorded, byte by byte: what each sent is sent again, and the answers are those that it got.
//! `python/tests/clients/record.py` makes the files.

use crate::client::{Client, Served, message};
use frazil::Database;
use frazil_server::{Authentication, Limits, Options, Watching};
use std::path::PathBuf;

/// A message of a recording.
struct Line {
    is_of_client: bool,
    /// Its type; 0 of a packet that has none.
    kind: u8,
    content: Vec<u8>,
}

fn line(text: &str) -> Line {
    let mut parts = text.splitn(3, ' ');
    let (arrow, kind, shown) = (
        parts.next().unwrap(),
        parts.next().unwrap(),
        parts.next().unwrap_or_default(),
    );
    let mut content = Vec::new();
    let mut rest = shown.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            content.push(byte);
            continue;
        }
        let digits: String = rest.by_ref().skip(1).take(2).map(char::from).collect();
        content.push(u8::from_str_radix(&digits, 16).unwrap());
    }
    Line {
        is_of_client: arrow == ">",
        kind: if kind == "-" { 0 } else { kind.as_bytes()[0] },
        content,
    }
}

/// The content without what differs from run to run: the key by which a session is cancelled.
fn compared(kind: u8, content: &[u8]) -> Vec<u8> {
    match kind {
        b'K' => Vec::new(),
        _ => content.to_vec(),
    }
}

fn replay(name: &str, lines: &[Line], client: &mut Client) {
    for (number, line) in lines.iter().enumerate() {
        match (line.is_of_client, line.kind) {
            (true, 0) => client.packet(&line.content),
            (true, kind) => client.send(&message(kind, &line.content)),
            (false, kind) => {
                let place = format!("{name}, line {}", number + 1);
                let answer = client
                    .next()
                    .unwrap_or_else(|| panic!("{place}: the session ended"));
                let (found, wanted) = (compared(answer.0, &answer.1), compared(kind, &line.content));
                let shown = |content: &[u8]| String::from_utf8_lossy(content).replace('\0', " ");
                assert!(
                    (answer.0, &found) == (kind, &wanted),
                    "{place}: {} {} instead of {} {}",
                    char::from(answer.0),
                    shown(&found),
                    char::from(kind),
                    shown(&wanted)
                );
            }
        }
    }
}

/// The server as `frazil serve` starts it.
fn server() -> Served {
    let options = Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        authentication: Authentication::Trust,
        tls: None,
        name: "frazil".to_owned(),
        max_connections: 5,
        limits: Limits::default(),
        watching: Watching::default(),
    };
    Served::with_options(Database::memory().unwrap(), options)
}

#[test]
fn recorded_clients_get_the_answers_that_they_got() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/recordings"));
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Line> = text.lines().map(line).collect();
        let served = server();
        replay(&path.display().to_string(), &lines, &mut served.stranger());
        count += 1;
    }
    assert!(count >= 5, "{count} recordings");
}
