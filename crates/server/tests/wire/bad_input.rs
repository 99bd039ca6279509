//! Bytes that no client sends: the server answers with an error or ends the session, and others go on.

use crate::client::{Served, bind, describe, execute, message, parse, query, sync};
use frazil_testkit::Random;
use std::io::Write;

/// Messages that mean something together.
fn conversation(random: &mut Random) -> Vec<Vec<u8>> {
    let all = [
        query("select 1"),
        query("select 1; insert into t values (1); rollback"),
        query("copy t from stdin"),
        query("copy t to stdout"),
        query("begin"),
        query("commit"),
        parse("", "select $1::integer, $2::text[]", &[23, 1009]),
        parse("s", "insert into t values ($1)", &[1700]),
        parse("u", "select $1", &[0xffff_ffff]),
        bind("", "", &[Some(&[0, 0, 0, 7]), None], 1, 1),
        bind("p", "s", &[Some(b"12")], 0, 0),
        describe('S', "s"),
        describe('P', "p"),
        execute("", 0),
        execute("p", 1),
        message(b'C', b"Ss\0"),
        message(b'C', b"Pp\0"),
        message(b'd', b"1\n2\n"),
        message(b'c', b""),
        message(b'f', b"no\0"),
        message(b'F', b"\0\0\0\0"),
        message(b'p', b"secret\0"),
        message(b'H', b""),
        sync(),
    ];
    (0..1 + random.index(8))
        .map(|_| all[random.index(all.len())].clone())
        .collect()
}

/// Changes some bytes, or cuts the end off.
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
    if random.index(4) == 0 {
        bytes.truncate(random.index(bytes.len()));
    }
}

#[test]
fn sessions_survive_or_end_and_others_go_on() {
    let served = Served::trusting();
    let mut other = served.client();
    other.ask(&[query("create table t (a integer)")]);
    let mut random = Random::new(51);
    for _ in 0..400 {
        let mut client = served.client();
        let mut bytes = conversation(&mut random).concat();
        mutate(&mut random, &mut bytes);
        // The server may have ended the session before it read all.
        let _ = client.stream.write_all(&bytes);
        client.finish();
        client.until_end();
    }
    assert_eq!(
        other.ask(&[query("select count(*) >= 0 from t")]),
        "T D[t] C[SELECT 1] ZI"
    );
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
