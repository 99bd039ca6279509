//! Clients as they were recorded, byte by byte: what each sent is sent again, and the answers are those that it got.
//! `python/tests/clients/record.py` makes the files.

use crate::client::{Answer, Client, Served, message};
use frazil::Database;
use frazil_server::{Authentication, Limits, Options, Watching};
use std::path::PathBuf;

/// A line of a recording: a message, or a run of rows.
struct Line {
    /// The number of the connection, from 1.
    connection: usize,
    is_of_client: bool,
    said: Said,
}

enum Said {
    /// A message: its type, 0 of a packet that has none, and its content.
    Message(u8, Vec<u8>),
    /// Rows of the catalogs, which grow: their least number, and the number of their fields.
    Rows(usize, u16),
}

fn line(text: &str) -> Line {
    let mut parts = text.splitn(3, ' ');
    let (origin, kind, shown) = (
        parts.next().unwrap(),
        parts.next().unwrap(),
        parts.next().unwrap_or_default(),
    );
    let arrow = origin.find(['<', '>']).unwrap();
    let said = if origin.ends_with('*') {
        Said::Rows(kind.parse().unwrap(), shown.parse().unwrap())
    } else {
        Said::Message(if kind == "-" { 0 } else { kind.as_bytes()[0] }, content(shown))
    };
    Line {
        connection: origin[..arrow].parse().unwrap_or(1),
        is_of_client: origin[arrow..].starts_with('>'),
        said,
    }
}

fn content(shown: &str) -> Vec<u8> {
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
    content
}

/// The content without what differs from run to run: the key by which a session is cancelled.
fn compared(kind: u8, content: &[u8]) -> Vec<u8> {
    match kind {
        b'K' => Vec::new(),
        _ => content.to_vec(),
    }
}

/// A connection of a recording.
struct Replayed {
    client: Client,
    /// The message behind the rows that were read last.
    next: Option<Answer>,
}

impl Replayed {
    fn answer(&mut self, place: &str) -> Answer {
        let answer = self.next.take().or_else(|| self.client.next());
        answer.unwrap_or_else(|| panic!("{place}: the session ended"))
    }

    /// Reads rows up to another message.
    fn rows(&mut self, place: &str, least: usize, fields: u16) {
        let mut count = 0;
        let after = loop {
            let answer = self.answer(place);
            if answer.0 != b'D' {
                break answer;
            }
            assert_eq!(answer.1[..2], fields.to_be_bytes(), "{place}: fields of a row");
            count += 1;
        };
        assert!(count >= least, "{place}: {count} rows instead of {least}");
        self.next = Some(after);
    }

    fn message(&mut self, place: &str, kind: u8, content: &[u8]) {
        let answer = self.answer(place);
        let (found, wanted) = (compared(answer.0, &answer.1), compared(kind, content));
        let shown = |content: &[u8]| String::from_utf8_lossy(content).replace('\0', " ");
        assert!(
            (answer.0, &found) == (kind, &wanted),
            "{place}: {} {} instead of {} {}. If the answer is right, record.py writes the file anew",
            char::from(answer.0),
            shown(&found),
            char::from(kind),
            shown(&wanted)
        );
    }
}

/// Sends what the client sent, and compares what the server says.
fn replay(name: &str, lines: &[Line], served: &Served) {
    let mut connections: Vec<Replayed> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        while line.connection > connections.len() {
            connections.push(Replayed {
                client: served.stranger(),
                next: None,
            });
        }
        let connection = &mut connections[line.connection - 1];
        let place = format!("{name}, line {}", number + 1);
        match (&line.said, line.is_of_client) {
            (Said::Message(0, content), true) => connection.client.packet(content),
            (Said::Message(kind, content), true) => connection.client.send(&message(*kind, content)),
            (Said::Message(kind, content), false) => connection.message(&place, *kind, content),
            (Said::Rows(least, fields), _) => connection.rows(&place, *least, *fields),
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
        max_connections: 100,
        limits: Limits::default(),
        watching: Watching::default(),
    };
    Served::with_options(Database::memory().unwrap(), options)
}

/// The recordings: each one's path, and its lines.
fn all() -> Vec<(String, Vec<Line>)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/recordings"));
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    // The system's order of a folder's files is not the same everywhere.
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.display().to_string(), text.lines().map(line).collect())
    };
    paths.into_iter().map(read).collect()
}

/// The messages that each connection of each client sent behind its login, up to its end.
pub fn sent() -> Vec<Vec<Vec<u8>>> {
    let mut streams: Vec<Vec<Vec<u8>>> = Vec::new();
    for (_, lines) in all() {
        let first = streams.len();
        for line in lines {
            let stream = first + line.connection - 1;
            while stream >= streams.len() {
                streams.push(Vec::new());
            }
            match line.said {
                Said::Message(kind, content) if line.is_of_client && kind != 0 && kind != b'X' => {
                    streams[stream].push(message(kind, &content));
                }
                Said::Message(..) | Said::Rows(..) => {}
            }
        }
    }
    streams.retain(|stream| !stream.is_empty());
    streams
}

#[test]
fn recorded_clients_get_the_answers_that_they_got() {
    let recordings = all();
    for (path, lines) in &recordings {
        replay(path, lines, &server());
    }
    assert!(recordings.len() >= 19, "{} recordings", recordings.len());
}
