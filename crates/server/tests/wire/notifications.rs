//! LISTEN and NOTIFY. The answers are PostgreSQL 15's.

use crate::client::{Served, bind, execute, parse, query, sync};

#[test]
fn a_session_that_waits_is_told_when_others_commit() {
    let served = Served::trusting();
    let (mut sender, mut waiting) = (served.client(), served.client());
    assert_eq!(
        waiting.ask(&[query("listen a; listen \"B\"")]),
        "C[LISTEN] C[LISTEN] ZI"
    );
    assert_eq!(sender.ask(&[query("notify a")]), "C[NOTIFY] ZI");
    assert_eq!(waiting.short_of(1), "A[a=]");
    sender.ask(&[query("notify a, 'x'; notify b, 'nobody'; notify \"B\", 'it''s'")]);
    assert_eq!(waiting.short_of(2), "A[a=x] A[B=it's]");
    sender.ask(&[query("begin; notify a, 'of a transaction'")]);
    sender.ask(&[query("commit")]);
    assert_eq!(waiting.short_of(1), "A[a=of a transaction]");
    // Within a transaction it is told behind the end.
    waiting.ask(&[query("begin")]);
    sender.ask(&[query("notify a, 'later'")]);
    assert_eq!(waiting.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZT");
    assert_eq!(waiting.ask(&[query("commit")]), "C[COMMIT] A[a=later] ZI");
    assert_eq!(waiting.ask(&[query("unlisten a")]), "C[UNLISTEN] ZI");
    sender.ask(&[query("notify a, 'unheard'")]);
    assert_eq!(
        waiting.ask(&[query("listen c; notify c")]),
        "C[LISTEN] C[NOTIFY] A[c=] ZI"
    );
    // The number is that of the sender, by which it is cancelled.
    waiting.send(&query("notify c"));
    let own = waiting
        .until_ready()
        .into_iter()
        .find(|answer| answer.0 == b'A')
        .expect("its own");
    sender.ask(&[query("notify c")]);
    let other = waiting.next().expect("the other's");
    assert_ne!(own.1[..4], other.1[..4]);
}

#[test]
fn the_extended_protocol_sends_and_listens() {
    let served = Served::trusting();
    let mut client = served.client();
    let run = |text: &str, values: &[Option<&[u8]>]| {
        [parse("", text, &[]), bind("", "", values, 0, 0), execute("", 0)].concat()
    };
    assert_eq!(client.ask(&[run("listen a", &[]), sync()]), "1 2 C[LISTEN] ZI");
    assert_eq!(
        client.ask(&[run("select pg_notify($1, $2)", &[Some(b"a"), Some(b"x")]), sync()]),
        "1 2 D[] C[SELECT 1] A[a=x] ZI"
    );
    // The statements of a pipeline are one transaction.
    assert_eq!(
        client.ask(&[run("notify a, '1'", &[]), run("notify a, '1'", &[]), sync()]),
        "1 2 C[NOTIFY] 1 2 C[NOTIFY] A[a=1] ZI"
    );
    assert_eq!(
        client.ask(&[run("notify a, '2'", &[]), run("select 1/0", &[]), sync()]),
        "1 2 C[NOTIFY] 1 2 E[22012] ZI"
    );
}
