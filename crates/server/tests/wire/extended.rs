//! The extended protocol.

use crate::client::{Served, bind, describe, execute, message, parse, query, sync};

#[test]
fn a_statement_is_parsed_bound_described_and_run() {
    let served = Served::trusting();
    let mut client = served.client();
    let text = [Some(&b"41"[..])];
    assert_eq!(
        client.ask(&[
            parse("", "select $1 + 1", &[]),
            describe('S', ""),
            bind("", "", &text, 0, 0),
            describe('P', ""),
            execute("", 0),
            sync()
        ]),
        "1 t[23] T 2 T D[42] C[SELECT 1] ZI"
    );
    // Binary both ways; NULL; a statement by name is used again.
    assert_eq!(
        client.ask(&[parse("s", "select $1::integer, $2::text", &[20, 0]), sync()]),
        "1 ZI"
    );
    let binary = [Some(&[0, 0, 0, 0, 0, 0, 0, 5][..]), None];
    assert_eq!(
        client.ask(&[bind("p", "s", &binary, 1, 1), execute("p", 0), sync()]),
        "2 D[00000005,NULL] C[SELECT 1] ZI"
    );
    assert_eq!(client.ask(&[parse("s", "select 1", &[]), sync()]), "E[42P05] ZI");
    assert_eq!(
        client.ask(&[message(b'C', b"Ss\0"), parse("s", "select 1", &[]), sync()]),
        "3 1 ZI"
    );
    assert_eq!(client.ask(&[bind("", "gone", &[], 0, 0), sync()]), "E[26000] ZI");
    assert_eq!(client.ask(&[execute("gone", 0), sync()]), "E[34000] ZI");
    assert_eq!(
        client.ask(&[message(b'C', b"Snone\0"), message(b'C', b"Pnone\0"), sync()]),
        "3 3 ZI"
    );
    // An empty text.
    assert_eq!(
        client.ask(&[
            parse("", "", &[]),
            describe('S', ""),
            bind("", "", &[], 0, 0),
            execute("", 0),
            sync()
        ]),
        "1 t[] n 2 I ZI"
    );
}

#[test]
fn an_error_skips_up_to_sync() {
    let served = Served::trusting();
    let mut client = served.client();
    let run = |text: &str| [parse("", text, &[]), bind("", "", &[], 0, 0), execute("", 0)].concat();
    assert_eq!(
        client.ask(&[run("select 1/0"), run("select 2"), query("select 3"), sync()]),
        "1 2 E[22012] ZI"
    );
    assert_eq!(
        client.ask(&[parse("", "selec", &[]), run("select 2"), sync(), sync()]),
        "E[42601] ZI"
    );
    assert_eq!(client.short(), "ZI");
    let wrong = [
        bind("", "", &[Some(b"1")], 0, 0),
        bind("", "", &[], 7, 0),
        bind("", "", &[], 0, 2),
    ];
    for (bind, state) in wrong.into_iter().zip(["08P01", "22023", "22023"]) {
        assert_eq!(
            client.ask(&[parse("", "select 1", &[]), bind, sync()]),
            format!("1 E[{state}] ZI")
        );
    }
    for (value, format, state) in [
        (&b"x"[..], 0, "22P02"),
        (b"123", 1, "22P03"),
        (b"\xff", 0, "22021"),
    ] {
        let messages = [
            parse("", "select $1::integer", &[]),
            bind("", "", &[Some(value)], format, 0),
            sync(),
        ];
        assert_eq!(client.ask(&messages), format!("1 E[{state}] ZI"));
    }
}

#[test]
fn what_is_between_two_syncs_is_one_transaction() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("create table t (a integer unique)")]);
    let run = |text: &str| [parse("", text, &[]), bind("", "", &[], 0, 0), execute("", 0)].concat();
    let insert = |value: i32| run(&format!("insert into t values ({value})"));
    assert_eq!(
        client.ask(&[insert(1), insert(2), insert(1), sync()]),
        "1 2 C[INSERT 0 1] 1 2 C[INSERT 0 1] 1 2 E[23505] ZI"
    );
    assert_eq!(
        client.ask(&[query("select count(*) from t")]),
        "T D[0] C[SELECT 1] ZI"
    );
    assert_eq!(
        client.ask(&[insert(1), sync(), insert(1), sync()]),
        "1 2 C[INSERT 0 1] ZI"
    );
    assert_eq!(client.short(), "1 2 E[23505] ZI");
    assert_eq!(
        client.ask(&[run("begin"), insert(3), run("commit"), insert(4), sync()]),
        "1 2 C[BEGIN] 1 2 C[INSERT 0 1] 1 2 C[COMMIT] 1 2 C[INSERT 0 1] ZI"
    );
    assert_eq!(
        client.ask(&[query("select count(*) from t")]),
        "T D[3] C[SELECT 1] ZI"
    );
}

#[test]
fn rows_come_in_parts() {
    let served = Served::trusting();
    let mut client = served.client();
    let series = [
        parse("", "select generate_series(1, 5)", &[]),
        bind("p", "", &[], 0, 0),
        execute("p", 2),
    ]
    .concat();
    assert_eq!(
        client.ask(&[series, execute("p", 2), execute("p", 2), execute("p", 2), sync()]),
        "1 2 D[1] D[2] s D[3] D[4] s D[5] C[SELECT 1] C[SELECT 0] ZI"
    );
    // Portals live as long as their transaction; several at a time.
    assert_eq!(client.ask(&[execute("p", 2), sync()]), "E[34000] ZI");
    client.ask(&[query("begin")]);
    for portal in ["a", "b"] {
        let run = [
            parse("", "select generate_series(1, 3)", &[]),
            bind(portal, "", &[], 0, 0),
            execute(portal, 1),
            sync(),
        ];
        assert_eq!(client.ask(&run), "1 2 D[1] s ZT");
    }
    assert_eq!(
        client.ask(&[execute("a", 0), execute("b", 1), sync()]),
        "D[2] D[3] C[SELECT 2] D[2] s ZT"
    );
    assert_eq!(client.ask(&[bind("b", "", &[], 0, 0), sync()]), "E[42P03] ZE");
    assert_eq!(client.ask(&[query("rollback")]), "C[ROLLBACK] ZI");
    // A command runs once.
    let run = [
        parse("", "create table once (a integer)", &[]),
        bind("", "", &[], 0, 0),
        execute("", 1),
    ]
    .concat();
    assert_eq!(
        client.ask(&[run, execute("", 1), sync()]),
        "1 2 C[CREATE TABLE] E[55000] ZI"
    );
}

#[test]
fn answers_come_at_flush() {
    let served = Served::trusting();
    let mut client = served.client();
    client.send(
        &[
            parse("s", "select 1", &[]),
            describe('S', "s"),
            message(b'H', b""),
        ]
        .concat(),
    );
    let kinds: Vec<u8> = (0..3)
        .filter_map(|_| client.next())
        .map(|answer| answer.0)
        .collect();
    assert_eq!(kinds, b"1tT");
    client.send(&[bind("", "s", &[], 0, 0), execute("", 0), message(b'H', b"")].concat());
    let kinds: Vec<u8> = (0..3)
        .filter_map(|_| client.next())
        .map(|answer| answer.0)
        .collect();
    assert_eq!(kinds, b"2DC");
    assert_eq!(client.ask(&[sync()]), "ZI");
}

#[test]
fn statements_of_prepare_and_parse_are_the_same() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("prepare p (integer) as select $1 + 1")]);
    let one = [Some(&b"1"[..])];
    assert_eq!(
        client.ask(&[
            describe('S', "p"),
            bind("", "p", &one, 0, 0),
            execute("", 0),
            sync()
        ]),
        "t[23] T 2 D[2] C[SELECT 1] ZI"
    );
    client.ask(&[parse("q", "select 7", &[]), sync()]);
    assert_eq!(client.ask(&[query("execute q")]), "T D[7] C[SELECT 1] ZI");
    assert_eq!(client.ask(&[query("deallocate all")]), "C[DEALLOCATE ALL] ZI");
    assert_eq!(client.ask(&[bind("", "q", &[], 0, 0), sync()]), "E[26000] ZI");
}

#[test]
fn a_result_of_other_types_than_described_is_refused() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("create table t (a integer)")]);
    client.ask(&[parse("s", "select * from t", &[]), sync()]);
    client.ask(&[query("alter table t add column b text")]);
    assert_eq!(
        client.ask(&[bind("", "s", &[], 0, 0), execute("", 0), sync()]),
        "2 E[0A000] ZI"
    );
}

#[test]
fn copy_runs_in_the_extended_protocol() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("create table t (a integer)")]);
    let copy = [
        parse("", "copy t from stdin", &[]),
        bind("", "", &[], 0, 0),
        execute("", 0),
        sync(),
    ];
    client.send(&copy.concat());
    let kinds: Vec<u8> = (0..3)
        .filter_map(|_| client.next())
        .map(|answer| answer.0)
        .collect();
    assert_eq!(kinds, b"12G");
    assert_eq!(
        client.ask(&[message(b'd', b"1\n2\n"), message(b'c', b""), sync()]),
        "C[COPY 2] ZI"
    );
    let copy = [
        parse("", "copy t to stdout", &[]),
        bind("", "", &[], 0, 0),
        execute("", 0),
        sync(),
    ];
    assert_eq!(client.ask(&copy), "1 2 H d[1;] d[2;] c C[COPY 2] ZI");
    let function = message(b'F', b"\0\0\0\x01\0\0\0\0\0\0");
    assert_eq!(client.ask(&[function]), "E[0A000] ZI");
}
