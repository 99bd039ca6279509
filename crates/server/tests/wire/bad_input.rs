//! Bytes that no client sends: the server answers with an error or ends the session, and others go on.

use crate::client::{Client, Served, message, query, sync};
use crate::mutations::{Streams, mutate, mutate_messages};
use frazil_testkit::Random;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Conversations of a run. `FRAZIL_WIRE_ROUNDS` sets another number: 40,000 make more than 200,000 messages.
fn rounds() -> usize {
    number("FRAZIL_WIRE_ROUNDS").map_or(500, |rounds| rounds as usize)
}

/// The seed of a run's conversations. `FRAZIL_WIRE_SEED` sets another one.
fn seed() -> u64 {
    number("FRAZIL_WIRE_SEED").unwrap_or(51)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
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
pub fn until(client: &mut Client, text: &str, wanted: &str) {
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
pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Bytes of this process's memory that are in RAM; 0 on systems that do not tell.
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kilobytes.unwrap_or(0) << 10
}

/// The longest that a session waits for an answer while others send what means nothing. Unoptimized code, one of many
/// tests, takes longer.
const LONGEST_ANSWER: Duration = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 100 });

/// Times of the answers to a session that asks again and again, in the order of their lengths.
fn watch(mut client: Client, ends: Arc<AtomicBool>) -> JoinHandle<Vec<Duration>> {
    std::thread::spawn(move || {
        let mut times = Vec::new();
        while !ends.load(Ordering::Relaxed) {
            let begun = Instant::now();
            assert_eq!(client.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
            times.push(begun.elapsed());
            std::thread::sleep(Duration::from_millis(2));
        }
        times.sort();
        times
    })
}

/// Clients that send conversations at a time.
const STRANGERS: usize = 2;

/// Sends conversations that follow from a seed, one a session, most of them changed. Returns the number of messages.
fn disturb(served: &Served, seed: u64, rounds: usize) -> usize {
    let streams = Streams::new();
    let stranger = |number: usize| {
        let mut random = Random::new(seed * STRANGERS as u64 + number as u64);
        let mut messages = 0;
        for round in 0..rounds / STRANGERS {
            let mut client = served.client();
            let mut conversation = streams.conversation(&mut random);
            messages += conversation.len();
            // One in four is sent as it is: a sequence of messages, rather than their bytes.
            let change = random.index(4);
            if change == 1 {
                mutate_messages(&mut random, &mut conversation);
            }
            let mut bytes = conversation.concat();
            if change > 1 {
                mutate(&mut random, &mut bytes);
            }
            // The server may have ended the session before it read all.
            let _ = client.stream.write_all(&bytes);
            client.finish();
            let said = client.until_end();
            assert!(
                !said.contains("E[XX"),
                "seed {seed}, {number}, round {round}: {said}"
            );
        }
        messages
    };
    std::thread::scope(|scope| {
        let stranger = &stranger;
        let strangers: Vec<_> = (0..STRANGERS).map(|n| scope.spawn(move || stranger(n))).collect();
        let messages = strangers
            .into_iter()
            .map(|s| s.join().expect("a stranger's session"));
        messages.sum()
    })
}

/// Runs a test that is ignored, alone in its process, so that no other test opens files or takes memory meanwhile.
pub fn alone(test: &str) {
    let program = std::env::current_exe().expect("the program of the tests");
    let done = std::process::Command::new(program)
        .args(["--ignored", "--exact", "--nocapture", test])
        .output()
        .expect("the process starts");
    let (said, complained) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    print!("{said}");
    assert!(
        done.status.success() && said.contains("1 passed"),
        "{said}\n{complained}"
    );
}

#[test]
fn sessions_survive_or_end_and_others_go_on() {
    alone("bad_input::strangers_leave_nothing");
}

/// Most bytes of memory that are kept of conversations, beside those of the first ones: what the allocator does not
/// give back to the system, and bounded caches of plans and of statements' statistics. Measured: 18 MB after 127,000
/// messages.
const MOST_KEPT: usize = 64 << 20;

/// The body of `sessions_survive_or_end_and_others_go_on`.
#[test]
#[ignore = "counts the descriptors and the memory of the process: run it alone"]
fn strangers_leave_nothing() {
    let served = Served::trusting();
    let ends = Arc::new(AtomicBool::new(false));
    let watching = watch(served.client(), ends.clone());
    let mut other = served.client();
    other.ask(&[query(
        "create table t (a integer); create table w (a integer, b text); insert into t values (1), (2), (3), (4)",
    )]);
    let first = disturb(&served, seed(), rounds() / 4);
    nobody_is_left(&mut other);
    // Rows that were committed are no leak.
    other.ask(&[query("truncate t, w")]);
    let (descriptors_before, memory_before) = (descriptors(), resident());
    let messages = first + disturb(&served, seed() + 1, rounds() - rounds() / 4);
    nobody_is_left(&mut other);
    other.ask(&[query("truncate t, w")]);
    ends.store(true, Ordering::Relaxed);
    let times = watching.join().expect("the session that watches");
    let begun = Instant::now();
    // The session that watched has left, and gave its descriptor back.
    while descriptors() >= descriptors_before {
        assert!(
            begun.elapsed().as_secs() < 60,
            "{} of {descriptors_before}",
            descriptors()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let kept = resident().saturating_sub(memory_before);
    let longest = times.last().expect("answers");
    let late = times
        .iter()
        .filter(|time| **time > Duration::from_millis(100))
        .count();
    println!(
        "{messages} messages; {} answers meanwhile, the longest took {longest:?}, {late} more than 100 ms; {} MB more \
         than {} MB",
        times.len(),
        kept >> 20,
        memory_before >> 20
    );
    assert!(*longest < LONGEST_ANSWER, "{longest:?}");
    assert!(kept < MOST_KEPT, "{kept} bytes");
}

/// Waits until nothing is left of other sessions than two: no entry, lock or cursor.
fn nobody_is_left(other: &mut Client) {
    let left = "select (select count(*) from pg_stat_activity) || ' ' || (select count(*) from pg_locks)";
    until(other, left, "2 0");
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
