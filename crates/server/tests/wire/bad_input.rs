//! Bytes that no client sends: the server answers with an error or ends the session, and others go on.

use crate::client::{Client, Served, bind, describe, execute, message, parse, query, sync};
use frazil_testkit::Random;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Conversations of a run. `FRAZIL_WIRE_ROUNDS` sets another number: 40,000 make more than 200,000 messages.
fn rounds() -> usize {
    let given = std::env::var("FRAZIL_WIRE_ROUNDS").ok();
    given.and_then(|rounds| rounds.parse().ok()).unwrap_or(500)
}

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

/// Messages, most of which mean something together.
fn conversation(random: &mut Random) -> Vec<Vec<u8>> {
    (0..1 + random.index(10)).map(|_| any_message(random)).collect()
}

/// Changes some bytes, cuts the end off, or repeats a part.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
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

/// A client is watched while its statement takes long: one that stays has its answer, one that leaves is cancelled.
#[test]
fn a_long_statement_ends_with_its_client() {
    let served = Served::trusting();
    let (mut stays, mut leaves, mut other) = (served.client(), served.client(), served.client());
    leaves.send(&query("begin; create table t (a integer); select pg_sleep(3600)"));
    // Messages that are sent ahead do not hide the end.
    leaves.send(&[query("select 1"), query("select 2")].concat());
    stays.send(&query("select pg_sleep(0.5)"));
    stays.send(&query("select 1"));
    let asleep = "select count(*) from pg_stat_activity where query like '%sleep(3600)' and state = 'active'";
    until(&mut other, asleep, "1");
    leaves
        .stream
        .shutdown(std::net::Shutdown::Both)
        .expect("the socket");
    drop(leaves);
    until(&mut other, "select count(*) from pg_stat_activity", "2");
    until(&mut other, "select count(*) from pg_locks", "0");
    assert_eq!(stays.until_ready().len(), 4);
    assert_eq!(stays.until_ready().len(), 4);
}

/// Asks until the value is the wanted one.
fn until(client: &mut Client, text: &str, wanted: &str) {
    let begun = std::time::Instant::now();
    let wanted = format!("T D[{wanted}] C[SELECT 1] ZI");
    loop {
        let found = client.ask(&[query(text)]);
        if found == wanted {
            return;
        }
        assert!(begun.elapsed().as_secs() < 60, "{text}: {found}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// File descriptors of this process, which is the server's, too.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// The longest that a session waits for an answer while others send what means nothing. Unoptimized code, one of many
/// tests, takes longer.
const LONGEST_ANSWER: Duration = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 100 });

/// A session of its own that asks, again and again, until it is told to end; it returns the longest time of an answer.
fn watch(mut client: Client, ends: Arc<AtomicBool>) -> std::thread::JoinHandle<Duration> {
    std::thread::spawn(move || {
        let mut longest = Duration::ZERO;
        while !ends.load(Ordering::Relaxed) {
            let begun = std::time::Instant::now();
            assert_eq!(client.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
            longest = longest.max(begun.elapsed());
            std::thread::sleep(Duration::from_millis(2));
        }
        longest
    })
}

#[test]
fn sessions_survive_or_end_and_others_go_on() {
    let served = Served::trusting();
    let ends = Arc::new(AtomicBool::new(false));
    let watching = watch(served.client(), ends.clone());
    let mut other = served.client();
    other.ask(&[query(
        "create table t (a integer); insert into t values (1), (2), (3), (4)",
    )]);
    let mut random = Random::new(51);
    for round in 0..rounds() {
        let mut client = served.client();
        let mut bytes = conversation(&mut random).concat();
        // One in four is sent as it is: a sequence of messages, rather than their bytes.
        if random.index(4) > 0 {
            mutate(&mut random, &mut bytes);
        }
        // The server may have ended the session before it read all.
        let _ = client.stream.write_all(&bytes);
        client.finish();
        let said = client.until_end();
        assert!(!said.contains("E[XX"), "round {round}: {said}");
        if round % 50 == 0 {
            assert_eq!(other.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
        }
    }
    ends.store(true, Ordering::Relaxed);
    let longest = watching.join().expect("the session that watches");
    println!("the longest answer took {longest:?}");
    assert!(longest < LONGEST_ANSWER, "{longest:?}");
    assert_eq!(
        other.ask(&[query("select count(*) >= 0 from t")]),
        "T D[t] C[SELECT 1] ZI"
    );
    // Nothing is left of the sessions: no entry, lock or cursor.
    let left = "select (select count(*) from pg_stat_activity) || ' ' || (select count(*) from pg_locks)";
    let begun = std::time::Instant::now();
    while other.ask(&[query(left)]) != "T D[1 0] C[SELECT 1] ZI" {
        assert!(begun.elapsed().as_secs() < 60, "{}", other.ask(&[query(left)]));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn descriptors_are_given_back() {
    let program = std::env::current_exe().expect("the program of the tests");
    let alone = std::process::Command::new(program)
        .args(["--ignored", "--exact", "bad_input::no_descriptor_is_left"])
        .output()
        .expect("the process starts");
    let said = String::from_utf8_lossy(&alone.stdout);
    assert!(alone.status.success() && said.contains("1 passed"), "{said}");
}

/// The body of `descriptors_are_given_back`, alone in its process, so that no other test opens files meanwhile.
#[test]
#[ignore = "counts the descriptors of the process: run it alone"]
fn no_descriptor_is_left() {
    let served = Served::trusting();
    let mut other = served.client();
    other.ask(&[query("create table t (a integer)")]);
    let before = descriptors();
    let mut random = Random::new(53);
    for _ in 0..rounds() {
        let mut client = served.client();
        let mut bytes = conversation(&mut random).concat();
        mutate(&mut random, &mut bytes);
        let _ = client.stream.write_all(&bytes);
        client.finish();
        client.until_end();
    }
    let begun = std::time::Instant::now();
    while descriptors() > before {
        assert!(begun.elapsed().as_secs() < 60, "{} of {before}", descriptors());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn first_packets_of_any_bytes_end_in_an_error_or_silence() {
    let served = Served::trusting();
    let mut random = Random::new(52);
    let packet = b"\0\0\0\x2a\0\x03\0\0user\0me\0database\0shop\0options\0-c a=b\0\0";
    for _ in 0..200 {
        let mut client = served.stranger();
        let mut bytes = packet.to_vec();
        bytes.extend(query("select 1"));
        mutate(&mut random, &mut bytes);
        let _ = client.stream.write_all(&bytes);
        client.finish();
        client.until_end();
    }
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
        b"\0\0\0\0",
        b"\x7f\xff\xff\xff\0\x03\0\0",
    ] {
        let mut client = served.stranger();
        let _ = client.stream.write_all(bytes);
        client.finish();
        client.until_end();
    }
    assert_eq!(served.client().ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
}

#[test]
fn messages_out_of_order_are_errors() {
    let served = Served::trusting();
    let mut client = served.client();
    assert_eq!(
        client.ask(&[message(b'd', b"x"), message(b'c', b""), query("select 1")]),
        "T D[1] C[SELECT 1] ZI"
    );
    assert_eq!(client.ask(&[message(b'p', b"x\0"), sync()]), "E[08P01] ZI");
    assert_eq!(client.ask(&[message(b'Q', b"no end")]), "E[08P01] ZI");
    assert_eq!(client.ask(&[message(b'Q', b"\xc3\0")]), "E[22021] ZI");
    assert_eq!(client.ask(&[message(b'B', b"\0\0"), sync()]), "E[08P01] ZI");
    client.send(&message(b'z', b""));
    assert_eq!(client.until_end(), "E[08P01]");
    let mut client = served.client();
    client.send(&[b'Q', 0, 0, 0, 1]);
    assert_eq!(client.until_end(), "E[08P01]");
}
