//! Clients that vanish, fall silent, come in crowds or send more than there is room for: others go on, and nothing is
//! left of them.

use crate::bad_input::{alone, descriptors, resident, until};
use crate::client::{Client, Served, bind, execute, message, parse, query, sync};
use frazil::Database;
use frazil_server::{Authentication, Limits, Options, Watching};
use frazil_testkit::SimVfs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Most time between the end of a client and that of its locks. Unoptimized code, one of many tests, takes longer.
const MOST_LEFT: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });

/// A client that leaves without a word: its socket is reset, not closed.
fn reset(client: Client) {
    let socket = socket2::SockRef::from(&client.stream);
    socket.set_linger(Some(Duration::ZERO)).expect("the socket");
}

/// Waits until other sessions and their locks are gone. Returns the time.
fn gone(other: &mut Client) -> Duration {
    let begun = Instant::now();
    let left = "select (select count(*) from pg_stat_activity) || ' ' || (select count(*) from pg_locks)";
    until(other, left, "1 0");
    begun.elapsed()
}

#[test]
fn clients_that_vanish_at_any_message_leave_no_lock() {
    let served = Served::trusting();
    let mut other = served.client();
    other.ask(&[query("create table t (a integer primary key)")]);
    let messages = [
        query("begin"),
        query("insert into t values (1)"),
        query("lock table t in share row exclusive mode"),
        parse("p", "insert into t select generate_series($1, 3)", &[23]),
        bind("p", "p", &[Some(b"2")], 0, 0),
        execute("p", 0),
        sync(),
        query("declare c cursor for select a from t; fetch 1 from c"),
        query("copy t from stdin"),
        message(b'd', b"4\n"),
        message(b'd', b"5\n6"),
    ];
    let mut ends = vec![0];
    for message in &messages {
        let start = ends.last().copied().unwrap_or(0);
        // In the type's length, in the content, behind the message.
        ends.extend([start + 3, start + message.len() - 1, start + message.len()]);
    }
    let bytes = messages.concat();
    let mut longest = Duration::ZERO;
    for (number, end) in ends.into_iter().enumerate() {
        let mut client = served.client();
        client.send(&bytes[..end]);
        if number % 2 == 0 {
            // The statements are over, or wait for the client.
            std::thread::sleep(Duration::from_millis(20));
        }
        match number % 3 {
            0 => drop(client),
            _ => reset(client),
        }
        longest = longest.max(gone(&mut other));
        assert_eq!(
            other.ask(&[query("select count(*) from t")]),
            "T D[0] C[SELECT 1] ZI",
            "{end}"
        );
    }
    // A client that leaves in the middle of a result, which it did not read.
    let mut client = served.client();
    client.send(&query(
        "begin; insert into t values (1); select a from generate_series(1, 100000000) a",
    ));
    assert_eq!(client.short_of(3), "C[BEGIN] C[INSERT 0 1] T");
    reset(client);
    longest = longest.max(gone(&mut other));
    println!("the longest time after which nothing was left: {longest:?}");
    assert!(longest < MOST_LEFT, "{longest:?}");
}

#[test]
fn half_a_message_and_silence_hold_up_nobody() {
    let served = Served::trusting();
    let mut other = served.client();
    other.ask(&[query("create table t (a integer)")]);
    let mut silent = served.client();
    silent.ask(&[query("set idle_session_timeout = '300ms'")]);
    silent.send(&query("select 1")[..7]);
    let mut in_transaction = served.client();
    in_transaction.ask(&[query(
        "set idle_in_transaction_session_timeout = '300ms'; begin; insert into t values (1)",
    )]);
    in_transaction.send(&query("select 1")[..7]);
    let mut copying = served.client();
    copying.ask(&[query("set transaction_timeout = '300ms'")]);
    copying.send(&[query("copy t from stdin"), message(b'd', b"1\n2")].concat());
    assert_eq!(copying.short_of(1), "G");
    assert_eq!(other.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
    assert_eq!(silent.until_end(), "E[57P05]");
    assert_eq!(in_transaction.until_end(), "E[25P03]");
    assert_eq!(copying.until_end(), "E[25P04]");
    gone(&mut other);
    assert_eq!(
        other.ask(&[query("select count(*) from t")]),
        "T D[0] C[SELECT 1] ZI"
    );
}

#[test]
fn half_a_first_packet_ends_in_the_time_for_the_login() {
    let options = Options {
        listen: "127.0.0.1:0".parse().expect("an address"),
        authentication: Authentication::Trust,
        tls: None,
        name: "shop".to_owned(),
        max_connections: 5,
        limits: Limits {
            login_timeout: Duration::from_secs(1),
            ..Limits::default()
        },
        watching: Watching::default(),
    };
    let served = Served::with_options(Database::memory().expect("a database"), options);
    for sent in [&b""[..], b"\0\0", b"\0\0\0\x2a\0\x03\0\0user\0m"] {
        let mut client = served.stranger();
        client.send(sent);
        assert_eq!(client.until_end(), "E[57014]");
    }
    assert_eq!(served.client().ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
}

#[test]
fn strangers_send_no_long_messages() {
    let served = Served::with_password("secret");
    let mut client = served.stranger();
    client.start(&[("user", "app"), ("database", "shop")]);
    assert_eq!(client.short_of(1), "R");
    // The head of a message of 1 GB: nobody waits for the rest.
    client.send(&[b'Q', 0x3f, 0xff, 0xff, 0xff]);
    assert_eq!(client.until_end(), "E[08P01]");
}

#[test]
fn a_crowd_of_connections_leaves_nothing() {
    alone("hostile::connections_are_opened_and_dropped");
}

/// The body of `a_crowd_of_connections_leaves_nothing`. `FRAZIL_WIRE_CONNECTIONS` sets the number of connections.
#[test]
#[ignore = "counts the descriptors of the process: run it alone"]
fn connections_are_opened_and_dropped() {
    let given = std::env::var("FRAZIL_WIRE_CONNECTIONS").ok();
    let connections: usize = given.and_then(|count| count.parse().ok()).unwrap_or(400);
    let served = Served::trusting();
    let mut other = served.client();
    let before = descriptors();
    let (begun, mut longest) = (Instant::now(), Duration::ZERO);
    for number in 0..connections {
        let mut client = served.stranger();
        match number % 8 {
            0 => {}
            1 => client.send(b"\0\0\0"),
            2 => client.packet(&[4, 210, 22, 47]),
            3 => client.start(&[("user", "me"), ("database", "other")]),
            4 => client.start(&[("user", "me"), ("database", "shop")]),
            _ => {
                client.start(&[("user", "me"), ("database", "shop")]);
                // Too many at a time are an error of theirs.
                client.short();
            }
        }
        match number % 2 {
            0 => drop(client),
            _ => reset(client),
        }
        if number % 10 == 0 {
            let asked = Instant::now();
            assert_eq!(other.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
            longest = longest.max(asked.elapsed());
        }
    }
    let took = begun.elapsed();
    gone(&mut other);
    let waited = Instant::now();
    while descriptors() > before {
        assert!(waited.elapsed().as_secs() < 60, "{} of {before}", descriptors());
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("{connections} connections in {took:?}; the longest answer to another session took {longest:?}");
    // Ten thousand a minute.
    assert!(
        took < Duration::from_millis(6) * connections as u32 || cfg!(debug_assertions),
        "{took:?}"
    );
}

#[test]
fn a_row_of_a_gigabyte_is_an_error_within_the_memory_limit() {
    alone("hostile::long_rows_are_refused");
}

/// Bytes of the longest row: those of the longest message.
const LONG: usize = (1 << 30) - 5;
/// Most memory that a row may take: `memory_limit` of the test, and twice as much for what is on its way and for
/// buffers that grow.
const MOST_TAKEN: usize = 3 * (64 << 20);

/// Sends a byte `count` times. Returns the most memory of the process meanwhile, in bytes beyond `before`.
fn send_many(client: &mut Client, byte: u8, count: usize, before: usize) -> usize {
    let part = [byte; 1 << 16];
    let (mut left, mut most) = (count, 0);
    while left > 0 {
        let count = left.min(part.len());
        client.stream.write_all(&part[..count]).expect("the server reads");
        left -= count;
        most = most.max(resident().saturating_sub(before));
    }
    most
}

/// The body of `a_row_of_a_gigabyte_is_an_error_within_the_memory_limit`.
#[test]
#[ignore = "counts the memory of the process: run it alone"]
fn long_rows_are_refused() {
    let served = Served::trusting();
    let mut other = served.client();
    other.ask(&[query("create table t (a text); set memory_limit = '64MB'")]);
    let before = resident();
    for (text, length, head) in [
        ("copy t from stdin", LONG, &b""[..]),
        ("copy t from stdin csv", LONG / 8, b"\""),
        (
            "copy t from stdin (format binary)",
            LONG / 8,
            b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01\x3f\xff\xff\xf0",
        ),
    ] {
        let mut client = served.client();
        client.send(&query(text));
        assert_eq!(client.short_of(1), "G");
        // The whole row is one message.
        client.send(&[&[b'd'][..], &(length as u32 + 4).to_be_bytes(), head].concat());
        let most = send_many(&mut client, b'x', length - head.len(), before);
        assert_eq!(other.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
        client.send(&[message(b'c', b""), sync()].concat());
        assert_eq!(client.short(), "E[53200] ZI", "{text}");
        assert_eq!(client.short(), "ZI");
        assert_eq!(
            client.ask(&[query("select count(*) from t")]),
            "T D[0] C[SELECT 1] ZI"
        );
        println!("{text}: {} MB at most", most >> 20);
        assert!(most < MOST_TAKEN, "{text}: {most} bytes");
    }
}

#[test]
fn long_messages_stay_within_the_memory_limit() {
    alone("hostile::long_messages_are_refused");
}

/// The body of `long_messages_stay_within_the_memory_limit`.
#[test]
#[ignore = "counts the memory of the process: run it alone"]
fn long_messages_are_refused() {
    let served = Served::trusting();
    let mut other = served.client();
    other.ask(&[query("set memory_limit = '64MB'")]);
    let before = resident();
    let value = [&b"\0\0\0\0\0\x01"[..], &(LONG as u32 / 4).to_be_bytes()].concat();
    for (kind, head) in [
        (b'Q', &b"select"[..]),
        (b'P', b"\0select"),
        (b'B', &value),
        (b'F', b""),
    ] {
        let mut client = served.client();
        client.ask(&[crate::client::parse("", "select $1::text", &[]), sync()]);
        client.send(&[&[kind][..], &(LONG as u32 / 2).to_be_bytes(), head].concat());
        let most = send_many(&mut client, b' ', LONG / 2 - 4 - head.len(), before);
        if kind == b'P' || kind == b'B' {
            client.send(&sync());
        }
        assert_eq!(client.short(), "E[53200] ZI", "{}", char::from(kind));
        println!("{}: {} MB at most", char::from(kind), most >> 20);
        assert!(most < MOST_TAKEN, "{}: {most} bytes", char::from(kind));
        assert_eq!(other.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
        assert_eq!(client.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
    }
    // Values that a portal keeps count as long as it does.
    let long = vec![b'x'; 30 << 20];
    let bound = |portal| crate::client::bind(portal, "kept", &[Some(&long)], 0, 0);
    let mut client = served.client();
    client.ask(&[query("begin")]);
    client.ask(&[crate::client::parse("kept", "select length($1)", &[]), sync()]);
    assert_eq!(client.ask(&[bound("a"), sync()]), "2 ZT");
    assert_eq!(client.ask(&[bound("b"), sync()]), "E[53200] ZE");
    client.ask(&[query("rollback")]);
    assert_eq!(client.ask(&[bound("b"), sync()]), "2 ZI");
}

#[test]
fn a_full_disk_fails_copy_and_nothing_else() {
    let sim = SimVfs::new(7);
    let database = Database::open_over(sim.vfs(), Path::new("/db")).expect("it opens");
    let served = Served::new(database, Authentication::Trust, 5);
    let (mut client, mut other) = (served.client(), served.client());
    client.ask(&[query(
        "create table t (a integer, b text); insert into t values (0, 'here')",
    )]);
    let rows: Vec<u8> = (0..40_000)
        .flat_map(|a| format!("{a}\t{a:0>100}\n").into_bytes())
        .collect();
    let copy = |client: &mut Client| {
        let mut messages = query("copy t from stdin");
        rows.chunks(8192)
            .for_each(|part| messages.extend(message(b'd', part)));
        messages.extend(message(b'c', b""));
        client.ask(&[messages])
    };
    let all = "select count(*), min(b) from t";
    for room in [0, 10_000, 200_000] {
        sim.set_capacity(sim.used() + room);
        assert_eq!(copy(&mut client), "G E[53100] ZI", "{room}");
        assert_eq!(other.ask(&[query(all)]), "T D[1,here] C[SELECT 1] ZI");
        // In a transaction, the whole is undone.
        client.ask(&[query("begin")]);
        let answers = copy(&mut client);
        let ended = client.ask(&[query("commit")]);
        let is_refused = answers == "G E[53100] ZE" && ended == "C[ROLLBACK] ZI";
        assert!(is_refused || ended == "E[53100] ZI", "{room}: {answers}, {ended}");
        assert_eq!(client.ask(&[query(all)]), "T D[1,here] C[SELECT 1] ZI");
    }
    sim.set_capacity(u64::MAX);
    assert_eq!(copy(&mut client), "G C[COPY 40000] ZI");
    assert_eq!(
        other.ask(&[query("select count(*) from t")]),
        "T D[40001] C[SELECT 1] ZI"
    );
}
