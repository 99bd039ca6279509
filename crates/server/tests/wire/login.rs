//! The login of clients, and the end of the server.

use crate::client::{Client, Served, query};
use frazil::Database;
use frazil_server::{Authentication, Limits, Options, Server, Watching};
use std::time::{Duration, Instant};

#[test]
fn requests_for_encryption_are_declined() {
    let served = Served::trusting();
    let mut client = served.stranger();
    for request in [80_877_103i32, 80_877_104] {
        client.packet(&request.to_be_bytes());
        let mut answer = [0];
        std::io::Read::read_exact(&mut client.stream, &mut answer).unwrap();
        assert_eq!(&answer, b"N");
    }
    client.start(&[("user", "me")]);
    assert!(client.short().ends_with("K ZI"));
}

#[test]
fn a_client_is_told_settings_and_makes_them() {
    let served = Served::trusting();
    let mut client = served.stranger();
    let options = "-c statement_timeout=5s --timezone=Europe/Rome";
    client.start(&[
        ("user", "me"),
        ("database", "shop"),
        ("application_name", "test"),
        ("client_encoding", "'utf-8'"),
        ("search_path", "public"),
        ("options", options),
    ]);
    let told = client.short();
    for setting in [
        "server_version=15.0",
        "client_encoding=UTF8",
        "standard_conforming_strings=on",
        "integer_datetimes=on",
        "TimeZone=Europe/Rome",
        "application_name=test",
        "session_authorization=postgres",
        "DateStyle=ISO, MDY",
    ] {
        assert!(told.contains(&format!("S[{setting}")), "{setting}: {told}");
    }
    assert_eq!(
        client.ask(&[query("show statement_timeout")]).split(' ').next(),
        Some("T")
    );
}

#[test]
fn what_cannot_be_is_refused_at_the_door() {
    let served = Served::trusting();
    for (parameters, state) in [
        (&[("user", "me"), ("database", "other")][..], "3D000"),
        (&[("database", "shop")], "28000"),
        (&[("user", "me"), ("replication", "database")], "0A000"),
        (&[("user", "me"), ("no_such_setting", "1")], "42704"),
        (&[("user", "me"), ("options", "-x")], "22023"),
    ] {
        let mut client = served.stranger();
        client.start(parameters);
        let answers = client.until_end();
        assert!(
            answers.ends_with(&format!("E[{state}]")),
            "{parameters:?}: {answers}"
        );
    }
    let mut old = served.stranger();
    old.packet(&(2i32 << 16).to_be_bytes());
    assert_eq!(old.until_end(), "E[0A000]");
    // A newer minor version is negotiated.
    let mut newer = served.stranger();
    newer.packet(&[&(3i32 << 16 | 2).to_be_bytes()[..], b"user\0me\0_pq_.x\0y\0\0"].concat());
    assert!(newer.short().starts_with("v R S["));
}

#[test]
fn an_address_of_others_needs_a_password() {
    let options = Options {
        tls: None,
        listen: "0.0.0.0:0".parse().unwrap(),
        authentication: Authentication::Trust,
        name: "shop".to_owned(),
        max_connections: 1,
        limits: Limits::default(),
        watching: Watching::default(),
    };
    let refused = Server::bind(Database::memory().unwrap(), options).unwrap_err();
    assert_eq!(refused.state().0, "28000");
}

#[test]
fn only_so_many_come_in() {
    let served = Served::new(Database::memory().unwrap(), Authentication::Trust, 2);
    let (one, _two) = (served.client(), served.client());
    let mut three = served.stranger();
    three.start(&[("user", "me"), ("database", "shop")]);
    assert_eq!(three.until_end(), "E[53300]");
    drop(one);
    // The server notices in its own time.
    loop {
        let mut next = served.stranger();
        next.start(&[("user", "me"), ("database", "shop")]);
        match next.short().as_str() {
            "E[53300]" => std::thread::yield_now(),
            answers => {
                assert!(answers.ends_with("ZI"), "{answers}");
                break;
            }
        }
    }
}

#[test]
fn a_statement_is_cancelled_by_its_key() {
    let served = Served::trusting();
    let mut client = served.stranger();
    client.start(&[("user", "me"), ("database", "shop")]);
    let key = client
        .until_ready()
        .into_iter()
        .find(|answer| answer.0 == b'K')
        .unwrap()
        .1;
    client.send(&query(
        "with recursive r as (select 1 as a union all select a + 1 from r) select count(*) from r",
    ));
    let cancel = |key: &[u8]| {
        served
            .stranger()
            .packet(&[&80_877_102i32.to_be_bytes()[..], key].concat())
    };
    // A wrong key does nothing; the right one is sent until the statement has begun and ends.
    let mut wrong = key.clone();
    wrong[7] ^= 1;
    cancel(&wrong);
    client.stream.set_nonblocking(true).unwrap();
    let mut byte = [0];
    while client.stream.peek(&mut byte).is_err() {
        cancel(&key);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    client.stream.set_nonblocking(false).unwrap();
    assert!(client.short().ends_with("E[57014] ZI"));
    assert_eq!(client.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
}

#[test]
fn a_password_is_asked_for() {
    let served = Served::with_password("secret");
    for user in ["app", "nobody"] {
        assert_eq!(log_in_wrongly(&served, user), "E[28P01]", "{user}");
    }
}

/// Logs in with a wrong password. Returns the last answers.
fn log_in_wrongly(served: &Served, user: &str) -> String {
    let (_, mut client) = begin_wrongly(served, user);
    client.until_end()
}

/// Sends a wrong proof. Returns the salt and the rounds that the server asked for, and the client, which is not
/// answered yet.
fn begin_wrongly(served: &Served, user: &str) -> (String, Client) {
    let mut client = served.stranger();
    client.start(&[("user", user), ("database", "shop")]);
    let asked = client.next().unwrap();
    assert_eq!((asked.0, &asked.1[..4]), (b'R', &[0, 0, 0, 10][..]));
    let first = b"SCRAM-SHA-256\0\0\0\0\x0bn,,n=,r=abc";
    client.send(&crate::client::message(b'p', first));
    let next = client.next().unwrap();
    assert_eq!((next.0, &next.1[..4]), (b'R', &[0, 0, 0, 11][..]));
    let answer = String::from_utf8(next.1[4..].to_vec()).unwrap();
    let (nonce, salt) = answer.split_once(',').unwrap();
    let proof = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    client.send(&crate::client::message(
        b'p',
        format!("c=biws,{nonce},p={proof}").as_bytes(),
    ));
    (salt.to_owned(), client)
}

#[test]
fn a_role_that_is_not_there_looks_like_a_wrong_password() {
    let database = Database::memory().unwrap();
    let session = database.connect();
    session
        .execute("create role app login password 'secret'")
        .unwrap();
    session.execute("create role silent login").unwrap();
    let served = Served::new(database, Authentication::Roles, 4);
    for user in ["app", "silent", "nobody"] {
        let (salt, mut client) = begin_wrongly(&served, user);
        let error = client.next().unwrap();
        assert_eq!(error.0, b'E', "{user}");
        let message = format!("password authentication failed for user \"{user}\"");
        assert_eq!(error.field(b'M'), Some(message), "{user}");
        let others: Vec<_> = b"SCDHR".iter().map(|&kind| error.field(kind)).collect();
        assert_eq!(
            others,
            [Some("FATAL"), Some("28P01"), None, None, None].map(|f| f.map(str::to_owned)),
            "{user}"
        );
        assert!(client.next().is_none(), "{user}");
        // The salt is as long as any, stays from login to login, and is a role's own.
        assert_eq!(
            (salt.len(), salt.ends_with(",i=4096")),
            ("s=".len() + 24 + ",i=4096".len(), true),
            "{salt}"
        );
        let (again, mut client) = begin_wrongly(&served, user);
        assert_eq!(again, salt, "{user}");
        client.until_end();
    }
    let salts = ["app", "silent", "nobody"].map(|user| {
        let (salt, mut client) = begin_wrongly(&served, user);
        client.until_end();
        salt
    });
    assert!(
        salts[0] != salts[1] && salts[1] != salts[2] && salts[0] != salts[2],
        "{salts:?}"
    );
}

#[test]
fn an_address_that_fails_ten_times_waits() {
    let served = Served::with_password("secret");
    for _ in 0..10 {
        assert_eq!(log_in_wrongly(&served, "app"), "E[28P01]");
    }
    let begun = Instant::now();
    assert_eq!(log_in_wrongly(&served, "app"), "E[28P01]");
    assert!(
        begun.elapsed() > Duration::from_millis(500),
        "{:?}",
        begun.elapsed()
    );
}

fn limited(limits: Limits) -> Served {
    let options = Options {
        tls: None,
        listen: "127.0.0.1:0".parse().unwrap(),
        authentication: Authentication::Trust,
        name: "shop".to_owned(),
        max_connections: 4,
        limits,
        watching: Watching::default(),
    };
    Served::with_options(Database::memory().unwrap(), options)
}

#[test]
fn a_client_that_does_not_log_in_in_time_is_sent_away() {
    let served = limited(Limits {
        login_timeout: Duration::from_millis(100),
        ..Limits::default()
    });
    let mut silent = served.stranger();
    assert_eq!(silent.until_end(), "E[57014]");
    // One that is logged in may take its time.
    let mut client = served.client();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(client.ask(&[query("select 1")]), "T D[1] C[SELECT 1] ZI");
}

#[test]
fn a_server_that_drains_ends_in_its_time() {
    let served = limited(Limits {
        shutdown_timeout: Some(Duration::from_millis(100)),
        ..Limits::default()
    });
    let mut busy = served.client();
    assert_eq!(busy.ask(&[query("begin")]), "C[BEGIN] ZT");
    served.stopper.drain();
    assert_eq!(busy.until_end(), "E[57P01]");
    served.ended();
}

#[test]
fn a_server_that_drains_lets_transactions_end() {
    let served = Served::trusting();
    let (mut idle, mut busy) = (served.client(), served.client());
    assert_eq!(
        busy.ask(&[query("begin; create table t (a integer)")]),
        "C[BEGIN] C[CREATE TABLE] ZT"
    );
    served.stopper.drain();
    assert_eq!(idle.until_end(), "E[57P01]");
    assert_eq!(busy.ask(&[query("insert into t values (1)")]), "C[INSERT 0 1] ZT");
    assert_eq!(busy.ask(&[query("commit")]), "C[COMMIT] ZI");
    assert_eq!(busy.until_end(), "E[57P01]");
    served.ended();
}

#[test]
fn a_server_that_ends_rolls_back() {
    let database = Database::memory().unwrap();
    let served = Served::new(database.clone(), Authentication::Trust, 2);
    let mut client = served.client();
    client.ask(&[query("create table t (a integer)")]);
    client.ask(&[query("begin; insert into t values (1)")]);
    served.stopper.end();
    assert_eq!(client.until_end(), "E[57P01]");
    served.ended();
    let count: i64 = database
        .connect()
        .query_row("select count(*) from t", ())
        .unwrap()
        .get(0)
        .unwrap();
    assert_eq!(count, 0);
}

#[test]
fn a_client_that_vanishes_leaves_nothing() {
    let served = Served::trusting();
    let mut other = served.client();
    other.ask(&[query("create table t (a integer)")]);
    let mut client = served.client();
    client.ask(&[query("begin; insert into t values (1)")]);
    drop(client);
    // The writer of the vanished client makes room.
    assert_eq!(
        other.ask(&[query("insert into t values (2)")]),
        "C[INSERT 0 1] ZI"
    );
    let mut copying = served.client();
    copying.send(&query("copy t from stdin"));
    assert_eq!(copying.next().map(|answer| answer.0), Some(b'G'));
    drop(copying);
    assert_eq!(
        other.ask(&[query("insert into t values (3)")]),
        "C[INSERT 0 1] ZI"
    );
    assert_eq!(
        other.ask(&[query("select count(*) from t")]),
        "T D[2] C[SELECT 1] ZI"
    );
}
