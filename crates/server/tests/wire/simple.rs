//! The simple protocol.

use crate::client::{Served, message, query};

#[test]
fn statements_are_answered_in_order() {
    let served = Served::trusting();
    let mut client = served.client();
    assert_eq!(
        client.ask(&[query("select 1, null, 'x'")]),
        "T D[1,NULL,x] C[SELECT 1] ZI"
    );
    assert_eq!(client.ask(&[query("")]), "I ZI");
    assert_eq!(client.ask(&[query(" ; ")]), "I ZI");
    let several = "create table t (a integer); insert into t values (1), (2); select a from t order by a";
    assert_eq!(
        client.ask(&[query(several)]),
        "C[CREATE TABLE] C[INSERT 0 2] T D[1] D[2] C[SELECT 2] ZI"
    );
    assert_eq!(
        client.ask(&[query("select a from t where false")]),
        "T C[SELECT 0] ZI"
    );
    assert_eq!(
        client.ask(&[query("show datestyle; show datestyle")]),
        "T D[ISO, MDY] C[SHOW] T D[ISO, MDY] C[SHOW] ZI"
    );
    let explained = client.ask(&[query("explain select 1 where false")]);
    assert!(explained.ends_with("] C[EXPLAIN] ZI"), "{explained}");
    assert_eq!(
        client.ask(&[query("insert into t values (3) returning a")]),
        "T D[3] C[INSERT 0 1] ZI"
    );
    assert_eq!(
        client.ask(&[query("update t set a = a + 1"), query("delete from t")]),
        "C[UPDATE 3] ZI"
    );
    assert_eq!(client.short(), "C[DELETE 3] ZI");
}

#[test]
fn the_statements_of_a_message_are_one_transaction() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("create table t (a integer unique)")]);
    // The answers are PostgreSQL 15's.
    for (text, answers, rows) in [
        (
            "insert into t values (1); select 1/0; insert into t values (2)",
            "C[INSERT 0 1] E[22012] ZI",
            0,
        ),
        (
            "insert into t values (1); commit; select 1/0",
            "C[INSERT 0 1] N[25P01] C[COMMIT] E[22012] ZI",
            1,
        ),
        (
            "insert into t values (2); rollback; insert into t values (3)",
            "C[INSERT 0 1] N[25P01] C[ROLLBACK] C[INSERT 0 1] ZI",
            2,
        ),
        (
            "insert into t values (4); begin; insert into t values (5)",
            "C[INSERT 0 1] C[BEGIN] C[INSERT 0 1] ZT",
            4,
        ),
        ("rollback", "C[ROLLBACK] ZI", 2),
        ("savepoint a; select 1", "E[25P01] ZI", 2),
        ("begin; select 1/0; rollback", "C[BEGIN] E[22012] ZE", -1),
        ("select 1", "E[25P02] ZE", -1),
        ("rollback; select 7", "C[ROLLBACK] T D[7] C[SELECT 1] ZI", 2),
        ("begin; begin", "C[BEGIN] N[25001] C[BEGIN] ZT", 2),
        ("commit", "C[COMMIT] ZI", 2),
        (
            "insert into t values (6); insert into t values (6)",
            "C[INSERT 0 1] E[23505] ZI",
            2,
        ),
        ("select 1; selec 2", "E[42601] ZI", 2),
    ] {
        assert_eq!(client.ask(&[query(text)]), answers, "{text}");
        if rows >= 0 {
            let counted = client.ask(&[query("select count(*) from t")]);
            assert!(counted.starts_with(&format!("T D[{rows}]")), "{text}: {counted}");
        }
    }
}

#[test]
fn errors_name_their_place() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query(
        "create table t (a integer primary key, b integer not null)",
    )]);
    let mut error = |text: &str| {
        client.send(&query(text));
        let answers = client.until_ready();
        answers
            .into_iter()
            .find(|answer| answer.0 == b'E')
            .unwrap_or_else(|| panic!("{text}"))
    };
    let nope = error("select 1; select nope");
    assert_eq!(
        (nope.field(b'S'), nope.field(b'P')),
        (Some("ERROR".to_owned()), Some("18".to_owned()))
    );
    error("insert into t values (1, 1); insert into t values (1, 1)");
    let violated = error("insert into t values (2, 2), (2, 2)");
    assert_eq!(violated.field(b'n').as_deref(), Some("t_pkey"));
    assert_eq!(violated.field(b't').as_deref(), Some("t"));
    assert_eq!(
        error("insert into t values (3, null)").field(b'c').as_deref(),
        Some("b")
    );
}

#[test]
fn copy_goes_both_ways() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("create table t (a integer, b text)")]);
    client.send(&query("copy t from stdin"));
    let begun = client.next().unwrap();
    assert_eq!((begun.0, &begun.1[..3]), (b'G', &[0, 0, 2][..]));
    // Parts end anywhere.
    let parts = [
        message(b'd', b"1\ton"),
        message(b'd', b"e\n2\t"),
        message(b'd', b"two\n"),
        message(b'c', b""),
    ];
    assert_eq!(client.ask(&parts), "C[COPY 2] ZI");
    assert_eq!(
        client.ask(&[query("copy t to stdout")]),
        "H d[1\tone;] d[2\ttwo;] c C[COPY 2] ZI"
    );
    assert_eq!(
        client.ask(&[query("copy (select 1 where false) to stdout")]),
        "H c C[COPY 0] ZI"
    );
    assert_eq!(client.ask(&[query("copy nope from stdin")]), "E[42P01] ZI");
    // The client gives up.
    assert_eq!(
        client.ask(&[query("copy t from stdin"), message(b'f', b"no\0")]),
        "G E[57014] ZI"
    );
    // A bad row: what the client sends on is skipped.
    let bad = [
        query("copy t from stdin"),
        message(b'd', b"x\ty\n"),
        message(b'd', b"5\tz\n"),
        message(b'c', b""),
    ];
    assert_eq!(client.ask(&bad), "G E[22P02] ZI");
    // Something else in its middle.
    assert_eq!(
        client.ask(&[query("copy t from stdin"), query("select 7")]),
        "G E[08P01] ZI"
    );
    assert_eq!(client.short(), "T D[7] C[SELECT 1] ZI");
    assert_eq!(
        client.ask(&[query("select count(*) from t")]),
        "T D[2] C[SELECT 1] ZI"
    );
}

#[test]
fn a_client_that_reads_slowly_holds_up_itself_alone() {
    let served = Served::trusting();
    let (mut slow, mut other) = (served.client(), served.client());
    // Far more than sockets and channels hold.
    slow.send(&query(
        "select generate_series(1, 5000000), 'a text that is long enough to fill what is on the way'",
    ));
    assert_eq!(slow.next().map(|answer| answer.0), Some(b'T'));
    assert_eq!(other.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
    // The place of a client is free again once the client leaves.
    drop(slow);
    assert_eq!(other.ask(&[query("select 2")]), "T D[2] C[SELECT 1] ZI");
}

#[test]
fn changed_settings_are_told() {
    let served = Served::trusting();
    let mut client = served.client();
    let told = client.ask(&[query("set timezone to 'Europe/Berlin'")]);
    assert_eq!(told, "C[SET] S[TimeZone=Europe/Berlin] ZI");
    assert_eq!(
        client.ask(&[query("begin; set local timezone to 'UTC'")]),
        "C[BEGIN] C[SET] S[TimeZone=UTC] ZT"
    );
    assert_eq!(
        client.ask(&[query("rollback")]),
        "C[ROLLBACK] S[TimeZone=Europe/Berlin] ZI"
    );
}
