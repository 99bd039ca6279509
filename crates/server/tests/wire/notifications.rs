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

#[test]
fn a_portal_that_pauses_sends_with_its_own_transaction() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("listen a")]);
    let sends = "select pg_notify('a', n::text) from generate_series(1, 3) x(n)";
    let run = [parse("", sends, &[]), bind("", "", &[], 0, 0), execute("", 2)].concat();
    assert_eq!(
        client.ask(&[run.clone(), execute("", 2), sync()]),
        "1 2 D[] D[] s D[] C[SELECT 1] A[a=1] A[a=2] A[a=3] ZI"
    );
    // Messages of a portal before ROLLBACK, or behind a savepoint, never arrive.
    client.ask(&[query("begin")]);
    client.ask(&[run.clone(), execute("", 2), sync()]);
    assert_eq!(client.ask(&[query("rollback")]), "C[ROLLBACK] ZI");
    client.ask(&[query("begin; savepoint s")]);
    client.ask(&[run, execute("", 2), sync()]);
    assert_eq!(
        client.ask(&[query("rollback to s; notify a, 'kept'")]),
        "C[ROLLBACK] C[NOTIFY] ZT"
    );
    assert_eq!(client.ask(&[query("commit")]), "C[COMMIT] A[a=kept] ZI");
}

#[test]
fn a_session_has_the_number_that_its_client_knows() {
    let served = Served::trusting();
    let numbers = [(); 2].map(|()| {
        let mut client = served.stranger();
        client.start(&[("user", "me"), ("database", "shop")]);
        let welcome = client.until_ready();
        let key = welcome.iter().find(|answer| answer.0 == b'K').unwrap();
        let known = i32::from_be_bytes(key.1[..4].try_into().unwrap());
        assert_eq!(
            client.ask(&[query("select pg_backend_pid()")]),
            format!("T D[{known}] C[SELECT 1] ZI")
        );
        known
    });
    assert_ne!(numbers[0], numbers[1]);
}
