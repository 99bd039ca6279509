//! COPY … (FORMAT binary). The bytes are those of PostgreSQL 15.

use crate::client::{Answer, Client, Served, message, query};
use frazil_testkit::Random;

const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Columns of many types, with values of each and NULL.
const COLUMNS: &str = "b boolean, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision, \
    n numeric(20,5), t text, v varchar(10), c char(3), y bytea, d date, ti time, ts timestamp, tz timestamptz, \
    iv interval, u uuid, j json, jb jsonb, a integer[], ta text[], nm name";
const ROWS: &str = "(true, -1, 2147483647, -9223372036854775808, 1.5, 'NaN', -12345.678, 'ä' || chr(10), '', 'x', \
    '\\x00ff', '2020-02-29', '23:59:59.999999', '1999-12-31 12:00', '2020-01-01 00:00+05', '1 mon -3 days 00:00:01', \
    '00000000-0000-0000-0000-000000000005', '{\"a\": [1]}', '[null, 1.5]', '{1,null,3}', '{\"a b\",null,\"\"}', 'me'), \
    (false, null, 0, null, 'Infinity', -0.0, 0, null, 'ten signs.', null, '', 'infinity', null, '-infinity', \
    '4000-01-01', null, null, null, '{}', '{}', null, null)";

/// The bytes of CopyData, each message by itself.
fn copied(client: &mut Client, text: &str) -> Vec<Vec<u8>> {
    client.send(&query(text));
    let answers = client.until_ready();
    let begun = answers
        .iter()
        .find(|answer| answer.0 == b'H')
        .map(|answer| answer.1[0]);
    assert_eq!(
        begun,
        Some(1),
        "{text}: {:?}",
        answers.iter().map(Answer::short).collect::<Vec<_>>()
    );
    answers
        .into_iter()
        .filter(|answer| answer.0 == b'd')
        .map(|answer| answer.1)
        .collect()
}

/// Sends bytes to COPY … FROM STDIN in one part, and returns the answers in short.
fn sent(client: &mut Client, text: &str, bytes: &[u8]) -> String {
    client.ask(&[query(text), message(b'd', bytes), message(b'c', b"")])
}

#[test]
fn rows_are_messages_of_postgresql() {
    let served = Served::trusting();
    let mut client = served.client();
    let text = "copy (select i, case when i > 1 then 'x' end from generate_series(1, 2) i) to stdout (format binary)";
    let first = [HEADER, &[0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 255, 255, 255, 255]].concat();
    let second = [0, 2, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 1, b'x'].to_vec();
    assert_eq!(copied(&mut client, text), [first, second, vec![255, 255]]);
    let none = copied(&mut client, "copy (select 1 where false) to stdout binary");
    assert_eq!(none, [[HEADER, &[255, 255]].concat()]);
}

#[test]
fn values_of_every_type_come_back() {
    let served = Served::trusting();
    let mut client = served.client();
    let made = client.ask(&[query(&format!(
        "create table s ({COLUMNS}); create table r ({COLUMNS}); insert into s values {ROWS}"
    ))]);
    assert!(made.ends_with("C[INSERT 0 2] ZI"), "{made}");
    let bytes = copied(&mut client, "copy s to stdout (format binary)").concat();
    assert_eq!(
        sent(&mut client, "copy r from stdin (format binary)", &bytes),
        "G C[COPY 2] ZI"
    );
    let texts = |client: &mut Client, table: &str| client.ask(&[query(&format!("copy {table} to stdout"))]);
    assert_eq!(texts(&mut client, "s"), texts(&mut client, "r"));
    // Some columns in another order.
    let bytes = copied(&mut client, "copy s (t, i4) to stdout (format binary)").concat();
    assert_eq!(
        sent(&mut client, "copy r (t, i4) from stdin (format binary)", &bytes),
        "G C[COPY 2] ZI"
    );
}

#[test]
fn bytes_that_are_not_the_format_are_refused() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("create table t (a integer, b text)")]);
    let row = [0, 2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, b'x'];
    let whole = [HEADER, &row, &[255, 255]].concat();
    let copy = "copy t from stdin (format binary)";
    assert_eq!(sent(&mut client, copy, &whole), "G C[COPY 1] ZI");
    let freezing = "copy t from stdin (format binary, freeze on)";
    assert_eq!(sent(&mut client, freezing, HEADER), "G C[COPY 0] ZI");
    for end in 0..whole.len() {
        // PostgreSQL takes the end of the bytes before a row, and within the row's number of fields, as the last row's.
        let expected = match end.checked_sub(HEADER.len()) {
            Some(0 | 1) => "G C[COPY 0] ZI",
            Some(behind) if behind >= row.len() => "G C[COPY 1] ZI",
            _ => "G E[22P04] ZI",
        };
        assert_eq!(sent(&mut client, copy, &whole[..end]), expected, "{end}");
    }
    client.ask(&[query("delete from t; insert into t values (1, 'x')")]);
    let of_row = |row: &[u8]| [HEADER, row].concat();
    for (bytes, state) in [
        (b"PGCOPY\n\xff\r\r\0\0\0\0\0\0\0\0\0".to_vec(), "22P04"),
        (b"PGCOPY\n\xff\r\n\0\0\x01\0\0\0\0\0\0".to_vec(), "22P04"),
        (b"PGCOPY\n\xff\r\n\0\0\0\0\0\xff\xff\xff\xff".to_vec(), "22P04"),
        (of_row(&[0, 1, 0, 0, 0, 4, 0, 0, 0, 1]), "22P04"),
        (of_row(&[0, 2, 255, 255, 255, 254]), "22P04"),
        (of_row(&[0, 2, 0, 0, 0, 3, 0, 0, 1, 0, 0, 0, 0]), "22P03"),
        (of_row(&[0, 2, 0x7f, 255, 255, 255, 0, 0]), "22P04"),
        (of_row(&[0, 2, 255, 255, 255, 255, 0, 0, 0, 1, 255]), "22021"),
        ([&whole[..], b"x"].concat(), "22P04"),
    ] {
        assert_eq!(
            sent(&mut client, copy, &bytes),
            format!("G E[{state}] ZI"),
            "{bytes:?}"
        );
    }
    assert_eq!(
        client.ask(&[query("select count(*) from t")]),
        "T D[1] C[SELECT 1] ZI"
    );
}

#[test]
fn changed_bytes_are_rows_or_errors() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query(&format!(
        "create table s ({COLUMNS}); insert into s values {ROWS}"
    ))]);
    let bytes = copied(&mut client, "copy s to stdout (format binary)").concat();
    let mut random = Random::new(4_711);
    for _ in 0..300 {
        let mut changed = bytes.clone();
        for _ in 0..=random.below(3) {
            let at = random.index(changed.len());
            changed[at] = random.below(256) as u8;
        }
        let answers = sent(&mut client, "copy s from stdin (format binary)", &changed);
        let is_named = answers.starts_with("G C[COPY") || answers.starts_with("G E[");
        assert!(is_named && !answers.contains("XX"), "{answers}");
        assert!(answers.ends_with(" ZI"), "{answers}");
    }
    assert!(client.ask(&[query("copy s to stdout")]).ends_with(" ZI"));
}
