//! Streams of messages that clients sent or may send, and changes of them: messages that are cut, swapped, doubled or
//! lie about their length, and other bytes. All of them follow from a seed.

use crate::client::{bind, describe, execute, message, parse, query, sync};
use crate::recordings;
use frazil_testkit::Random;

/// Texts of statements of all kinds, which end at once.
const TEXTS: &[&str] = &[
    "",
    ";",
    "-- ping",
    "select 1",
    "select 1; insert into t values (1); rollback",
    "select * from t limit 3",
    "select $1",
    "select 1 / 0",
    "copy t from stdin",
    "copy t from stdin csv header",
    "copy t from stdin binary",
    "copy t to stdout",
    "copy (select 1, null, 'x') to stdout binary",
    "begin",
    "start transaction isolation level repeatable read",
    "commit",
    "commit and chain",
    "rollback",
    "savepoint a",
    "rollback to a",
    "release a",
    "declare c cursor for select a from t",
    "declare p scroll cursor with hold for select generate_series(1, 5)",
    "fetch 2 from c",
    "fetch backward all from p",
    "move c",
    "close all",
    "prepare s as select 1",
    "execute s",
    "deallocate all",
    "set application_name = 'x'",
    "set local work_mem = '1MB'",
    "set client_encoding = latin1",
    "set local client_encoding = latin1; select U&'\\20ac'",
    "reset client_encoding",
    "select 'é', U&'\\00e9'",
    "copy (select 'é', U&'\\20ac') to stdout",
    "copy (select 'é', U&'\\20ac') to stdout binary",
    "show all",
    "discard all",
    "reset all",
    "listen a; notify a, 'x'",
    "unlisten *",
    "select state from pg_stat_activity",
    "select pg_cancel_backend(pg_backend_pid())",
    "select pg_terminate_backend(pg_backend_pid())",
    "set idle_session_timeout = '1ms'",
    "set transaction_timeout = '1ms'; begin",
    "explain select 1",
    "create temporary table u (a integer)",
    "drop table u",
    "insert into t values (1) returning a",
    "values (1), (2)",
];

/// A message that means something, or nearly so.
fn any_message(random: &mut Random) -> Vec<u8> {
    let names = ["", "s", "p", "c"];
    let name = |random: &mut Random| names[random.index(names.len())];
    match random.index(16) {
        0..=3 => query(TEXTS[random.index(TEXTS.len())]),
        4 | 5 => {
            let types: &[&[u32]] = &[&[], &[23], &[1700], &[0xffff_ffff], &[25, 1009]];
            let text = TEXTS[random.index(TEXTS.len())];
            parse(name(random), text, types[random.index(types.len())])
        }
        6 => parse("", "select $1::integer, $2::text[]", &[23, 1009]),
        7 => bind("", "", &[Some(&[0, 0, 0, 7]), None], 1, 1),
        8 => {
            let values: &[&[Option<&[u8]>]] = &[&[], &[Some(b"12")], &[None]];
            let (portal, statement) = (name(random), name(random));
            let format = random.index(2) as i16;
            bind(portal, statement, values[random.index(values.len())], 0, format)
        }
        9 => describe(['S', 'P', 'x'][random.index(3)], name(random)),
        10 => execute(name(random), random.index(3) as i32),
        11 => {
            let kind = ["S", "P"][random.index(2)];
            message(b'C', format!("{kind}{}\0", name(random)).as_bytes())
        }
        12 => match random.index(4) {
            0 => message(b'd', b"1\n2\n"),
            1 => message(b'd', b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\xff\xff"),
            2 => message(b'c', b""),
            _ => message(b'f', b"no\0"),
        },
        13 => match random.index(4) {
            0 => message(b'F', b"\0\0\0\0"),
            1 => message(b'p', b"secret\0"),
            2 => message(b'X', b""),
            _ => message(b'H', b""),
        },
        _ => sync(),
    }
}

/// COPY with its data in a few messages, which cut rows anywhere, and an end or none.
fn copy(random: &mut Random) -> Vec<Vec<u8>> {
    const BINARY: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\
        \0\x02\0\0\0\x04\0\0\0\x01\0\0\0\x01x\
        \0\x02\0\0\0\x04\0\0\0\x02\xff\xff\xff\xff\xff\xff";
    let kinds: [(&str, &[u8]); 3] = [
        ("copy w from stdin", b"1\tone\n2\t\\N\n3\ta\\tb\\x41\\101\n\\.\n"),
        (
            "copy w from stdin csv header",
            b"a,b\n1,one\n2,\"t\"\"w\no\"\n3,\n",
        ),
        ("copy w from stdin (format binary)", BINARY),
    ];
    let (text, data) = kinds[random.index(kinds.len())];
    let mut data = data.to_vec();
    // Half of the data are whole, so that the rows behind a fault are reached, too.
    if random.index(2) == 0 {
        mutate(random, &mut data);
    }
    let mut messages = match random.index(3) {
        0 => vec![parse("", text, &[]), bind("", "", &[], 0, 0), execute("", 0)],
        _ => vec![query(text)],
    };
    let mut rest = &data[..];
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(1 + random.index(rest.len()));
        messages.push(message(b'd', part));
        rest = behind;
    }
    match random.index(6) {
        0 => {}
        1 => messages.push(message(b'f', b"no\0")),
        _ => messages.push(message(b'c', b"")),
    }
    messages.push(sync());
    messages
}

/// The messages of recorded clients, and the generators of others.
pub struct Streams {
    recorded: Vec<Vec<Vec<u8>>>,
}

impl Streams {
    /// Reads the recordings.
    pub fn new() -> Streams {
        Streams {
            recorded: recordings::sent(),
        }
    }

    /// A part of a recorded client's messages.
    fn recorded(&self, random: &mut Random) -> Vec<Vec<u8>> {
        let client = &self.recorded[random.index(self.recorded.len())];
        let from = random.index(client.len());
        let count = 1 + random.index(16);
        client[from..(from + count).min(client.len())].to_vec()
    }

    /// Messages, most of which mean something together: of a recorded client, of COPY, or of any kind.
    pub fn conversation(&self, random: &mut Random) -> Vec<Vec<u8>> {
        match random.index(6) {
            0 | 1 => self.recorded(random),
            2 => copy(random),
            _ => (0..1 + random.index(10)).map(|_| any_message(random)).collect(),
        }
    }
}

/// Changes whole messages: leaves one out, doubles or swaps some, cuts one's content while its length stays, makes a
/// length lie, or lengthens a content beyond its length.
pub fn mutate_messages(random: &mut Random, messages: &mut Vec<Vec<u8>>) {
    let (at, other) = (random.index(messages.len()), random.index(messages.len()));
    match random.index(8) {
        0 => messages.swap(at, other),
        1 => messages.insert(other, messages[at].clone()),
        2 => drop(messages.remove(at)),
        3 => {
            let length = messages[at].len();
            messages[at].truncate(1 + random.index(length));
        }
        4 => {
            let length = (messages[at].len() as i32 - 1).wrapping_add([-5, -1, 1, 7][random.index(4)]);
            messages[at][1..5].copy_from_slice(&length.to_be_bytes());
        }
        5 => {
            let length = [0, 3, 4, 1 << 14, 1 << 29, i32::MAX, i32::MIN, -1][random.index(8)];
            messages[at][1..5].copy_from_slice(&length.to_be_bytes());
        }
        6 => messages[at].extend_from_slice(&[0; 3][..1 + random.index(3)]),
        _ => {
            let kind = b"QPBDECSHdcfFpXz\0"[random.index(16)];
            messages[at][0] = kind;
        }
    }
}

/// Changes some bytes, cuts the end off, or repeats a part.
pub fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    for _ in 0..random.index(4) {
        let at = random.index(bytes.len());
        bytes[at] = match random.index(4) {
            0 => 0,
            1 => 0xff,
            2 => bytes[at].wrapping_add(1),
            _ => random.bits() as u8,
        };
    }
    match random.index(6) {
        0 => bytes.truncate(random.index(bytes.len())),
        1 => {
            let (from, to) = (random.index(bytes.len()), random.index(bytes.len()));
            let part = bytes[from.min(to)..from.max(to)].to_vec();
            let at = random.index(bytes.len());
            bytes.splice(at..at, part);
        }
        _ => {}
    }
}
