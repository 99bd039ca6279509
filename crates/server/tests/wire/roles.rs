//! Roles of the catalog at the server: how they log in, what they see of others, and what they may not.

use crate::client::{Client, Served, message, query};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use frazil::Database;
use frazil::password::{hash, hmac};
use frazil_server::{Authentication, Limits, Options, Watching};
use std::io::{Read, Write};

/// The answers to a query in short.
fn ask(client: &mut Client, text: &str) -> String {
    client.ask(&[query(text)])
}

/// The value of a query's only row and column.
fn value(client: &mut Client, text: &str) -> String {
    client.send(&query(text));
    let answers = client.until_ready();
    let row = answers.iter().find(|answer| answer.0 == b'D');
    let row = row.unwrap_or_else(|| panic!("no row of {text}"));
    row.values().remove(0)
}

/// The SQLSTATE and the message of the error of a query.
fn error(client: &mut Client, text: &str) -> String {
    client.send(&query(text));
    let answers = client.until_ready();
    let error = answers.iter().find(|answer| answer.0 == b'E');
    let error = error.unwrap_or_else(|| panic!("no error of {text}"));
    let field = |kind| error.field(kind).unwrap_or_default();
    format!("{} {}", field(b'C'), field(b'M'))
}

/// A client that logs in as a role, and what it hears.
fn log_in(served: &Served, role: &str) -> (Client, String) {
    let mut client = served.stranger();
    client.start(&[("user", role), ("database", "shop")]);
    let heard = client.short();
    (client, heard)
}

/// A session of a role.
fn session(served: &Served, role: &str) -> Client {
    let (client, heard) = log_in(served, role);
    assert!(heard.ends_with("ZI"), "{role}: {heard}");
    client
}

#[test]
fn signals_to_sessions_need_rights() {
    let served = Served::trusting();
    let mut own = served.client();
    ask(
        &mut own,
        "create role plain login; create role other login; create role signals login; \
         create role boss login superuser; \
         create role member login; grant plain to member; grant pg_signal_backend to signals",
    );
    let mut plain = session(&served, "plain");
    let mut boss = session(&served, "boss");
    let number = value(&mut plain, "select pg_backend_pid()");
    let of_boss = value(&mut boss, "select pg_backend_pid()");
    let cancel = |number: &str| format!("select pg_cancel_backend({number})");
    let terminate = |number: &str| format!("select pg_terminate_backend({number})");
    // As SET ROLE does, so does a login.
    for role in ["plain", "member", "signals"] {
        assert_eq!(
            value(&mut session(&served, role), &cancel(&number)),
            "t",
            "{role}"
        );
    }
    let mut other = session(&served, "other");
    assert_eq!(
        error(&mut other, &cancel(&number)),
        "42501 must be a member of the role whose query is being canceled or member of pg_signal_backend"
    );
    assert_eq!(
        error(&mut other, &terminate(&number)),
        "42501 must be a member of the role whose process is being terminated or member of pg_signal_backend"
    );
    for role in ["plain", "signals"] {
        let mut client = session(&served, role);
        assert_eq!(
            error(&mut client, &cancel(&of_boss)),
            "42501 must be a superuser to cancel superuser query"
        );
        assert_eq!(
            error(&mut client, &terminate(&of_boss)),
            "42501 must be a superuser to terminate superuser process"
        );
        assert_eq!(value(&mut client, &cancel("999999")), "f");
    }
    // The role that logged in counts, not the one that the session took.
    ask(&mut boss, "set session authorization plain");
    assert_eq!(
        error(&mut other, &cancel(&of_boss)),
        "42501 must be a superuser to cancel superuser query"
    );
    assert_eq!(value(&mut session(&served, "signals"), &terminate(&number)), "t");
    assert_eq!(plain.until_end(), "E[57P01]");
    assert_eq!(value(&mut own, &terminate(&of_boss)), "t");
    assert_eq!(boss.until_end(), "E[57P01]");
}

#[test]
fn what_other_roles_do_is_hidden() {
    let served = Served::trusting();
    let mut own = served.client();
    ask(
        &mut own,
        "create role plain login; create role sees login; grant pg_read_all_stats to sees; \
         create table secret (a integer)",
    );
    ask(&mut own, "select a as hidden from secret");
    let number = value(&mut own, "select pg_backend_pid()");
    ask(&mut own, "select count(*) from secret");
    let seen = format!(
        "select concat_ws('|', usename, query, state, backend_type, client_addr, backend_start is null, \
         xact_start is null, wait_event) from pg_stat_activity where pid = {number}"
    );
    let mut plain = session(&served, "plain");
    assert_eq!(value(&mut plain, &seen), "postgres|<insufficient privilege>|t|t");
    assert_eq!(
        value(&mut session(&served, "sees"), &seen),
        "postgres|select count(*) from secret|idle|client backend|127.0.0.1|f|t"
    );
    assert_eq!(
        value(
            &mut plain,
            "select query from pg_stat_activity where pid = pg_backend_pid()"
        ),
        "select query from pg_stat_activity where pid = pg_backend_pid()"
    );
    let statements =
        "select count(*) from pg_stat_statements where query like '%hidden%' and queryid is not null";
    assert_eq!(value(&mut plain, statements), "0");
    assert_ne!(value(&mut session(&served, "sees"), statements), "0");
}

fn limited(most: usize, limits: Limits) -> Served {
    let options = Options {
        tls: None,
        listen: "127.0.0.1:0".parse().unwrap(),
        authentication: Authentication::Trust,
        name: "shop".to_owned(),
        max_connections: most,
        limits,
        watching: Watching::default(),
    };
    Served::with_options(Database::memory().unwrap(), options)
}

#[test]
fn the_last_places_are_for_superusers() {
    let served = limited(
        4,
        Limits {
            reserved_connections: 2,
            ..Limits::default()
        },
    );
    let mut own = served.client();
    ask(
        &mut own,
        "create role plain login; create role boss login superuser",
    );
    let _second = session(&served, "plain");
    assert_eq!(log_in(&served, "plain").1, "E[53300]");
    let _third = session(&served, "boss");
    let mut refused = served.stranger();
    refused.start(&[("user", "plain"), ("database", "shop")]);
    let answer = refused.next().unwrap();
    assert_eq!(
        answer.field(b'M').as_deref(),
        Some("remaining connection slots are reserved for non-replication superuser connections")
    );
    let _fourth = session(&served, "postgres");
    assert_eq!(log_in(&served, "boss").1, "E[53300]");
}

#[test]
fn few_clients_are_at_the_door() {
    let served = limited(
        20,
        Limits {
            strangers: 2,
            ..Limits::default()
        },
    );
    let (silent, _other) = (served.stranger(), served.stranger());
    // The server takes the two that are silent before it sees the third.
    let mut third = served.stranger();
    assert_eq!(third.stream.read(&mut [0]).unwrap_or(0), 0);
    drop(silent);
    // The server notices in its own time.
    let content = [&(3i32 << 16).to_be_bytes()[..], b"user\0me\0database\0shop\0\0"].concat();
    let packet = [&(content.len() as i32 + 4).to_be_bytes()[..], &content].concat();
    loop {
        let mut next = served.stranger();
        let _ = next.stream.write_all(&packet);
        if next.short().ends_with("ZI") {
            break;
        }
    }
}

/// Logs in with a password by SCRAM-SHA-256. Returns the last answers in short.
fn prove(client: &mut Client, role: &str, password: &str) -> String {
    client.start(&[("user", role), ("database", "shop")]);
    let asked = client.next().unwrap();
    assert_eq!((asked.0, &asked.1[..4]), (b'R', &[0, 0, 0, 10][..]));
    let bare = "n=,r=abc";
    let first = format!("n,,{bare}");
    let length = (first.len() as i32).to_be_bytes();
    let content = [b"SCRAM-SHA-256\0", &length[..], first.as_bytes()].concat();
    client.send(&message(b'p', &content));
    let next = client.next().unwrap();
    assert_eq!((next.0, &next.1[..4]), (b'R', &[0, 0, 0, 11][..]));
    let of_server = String::from_utf8(next.1[4..].to_vec()).unwrap();
    let part = |name: &str| {
        of_server
            .split(',')
            .find_map(|part| part.strip_prefix(name))
            .unwrap()
    };
    let salt = STANDARD.decode(part("s=")).unwrap();
    let rounds: usize = part("i=").parse().unwrap();
    let mut block = hmac(password.as_bytes(), &[&salt[..], &[0, 0, 0, 1]].concat());
    let mut salted = block;
    for _ in 1..rounds {
        block = hmac(password.as_bytes(), &block);
        salted.iter_mut().zip(block).for_each(|(all, one)| *all ^= one);
    }
    let key = hmac(&salted, b"Client Key");
    let without = format!("c=biws,r={}", part("r="));
    let signature = hmac(&hash(&key), format!("{bare},{of_server},{without}").as_bytes());
    let proof: Vec<u8> = key.iter().zip(signature).map(|(a, b)| a ^ b).collect();
    let last = format!("{without},p={}", STANDARD.encode(proof));
    client.send(&message(b'p', last.as_bytes()));
    client.short()
}

/// A database whose roles log in by their passwords.
fn of_roles(definitions: &str) -> Served {
    let database = Database::memory().unwrap();
    database.connect().execute(definitions).unwrap();
    Served::new(database, Authentication::Roles, 20)
}

#[test]
fn a_role_logs_in_by_its_password() {
    let served = of_roles(
        "create role app login password 'secret'; create role no_login password 'secret'; \
         create role late login password 'secret' valid until '2001-01-01'; \
         create role soon login password 'secret' valid until '2999-01-01'; \
         create role bare login; create role one login password 'secret' connection limit 1; \
         create role stays_out login password 'secret'; \
         revoke connect on database frazil from public; grant connect on database frazil to app, one, soon, no_login",
    );
    let try_in = |role: &str, password: &str| {
        let mut client = served.stranger();
        let heard = prove(&mut client, role, password);
        (client, heard)
    };
    let (mut app, heard) = try_in("app", "secret");
    assert!(heard.ends_with("ZI"), "{heard}");
    assert_eq!(
        value(&mut app, "select concat_ws(' ', current_user, session_user)"),
        "app app"
    );
    for (role, password, state) in [
        ("app", "Secret", "28P01"),
        ("nobody", "secret", "28P01"),
        ("bare", "secret", "28P01"),
        ("late", "secret", "28P01"),
        ("no_login", "secret", "28000"),
        ("stays_out", "secret", "42501"),
    ] {
        let heard = try_in(role, password).1;
        assert!(heard.ends_with(&format!("E[{state}]")), "{role}: {heard}");
    }
    assert!(try_in("soon", "secret").1.ends_with("ZI"));
    let (_one, heard) = try_in("one", "secret");
    assert!(heard.ends_with("ZI"), "{heard}");
    assert!(try_in("one", "secret").1.ends_with("E[53300]"));
}

/// One entry for each form of statement that touches files.
const FILES: [&str; 24] = [
    "copy t from '/tmp/x.csv'",
    "copy t from '/tmp/x.parquet' (format parquet)",
    "update t set a = f.a from '/tmp/x.csv' f",
    "delete from t using '/tmp/x.csv' f where t.a = f.a",
    "copy t to '/tmp/x.csv'",
    "copy (select 1) to '/tmp/x.csv'",
    "copy (select 1) to '/tmp/x' (format parquet)",
    "copy (select 1) to '/tmp/x.json' (format json)",
    "backup to '/tmp/x'",
    "publish to '/tmp/x'",
    "select * from '/tmp/x.csv'",
    "select * from '/tmp/x.parquet'",
    "select * from '/tmp/x.json'",
    "select * from '/tmp/*.csv'",
    "select * from read_csv('/tmp/x.csv')",
    "select * from read_parquet('/tmp/x.parquet')",
    "select * from read_json('/tmp/x.json')",
    "create table u as select * from '/tmp/x.csv'",
    "insert into t select a from '/tmp/x.csv'",
    "prepare p as select * from '/tmp/x.csv'",
    "explain select * from '/tmp/x.csv'",
    "declare c cursor for select * from '/tmp/x.csv'",
    "with x as (select * from '/tmp/x.csv') select 1 from x",
    "select (select count(*) from '/tmp/x.csv')",
];

#[test]
fn each_way_to_files_is_closed_to_a_plain_role() {
    let served = of_roles(
        "create role app login password 'secret'; create table t (a integer); \
         grant all on t to app; grant create on schema public to app",
    );
    let mut client = served.stranger();
    assert!(prove(&mut client, "app", "secret").ends_with("ZI"));
    for text in FILES {
        ask(&mut client, "begin");
        let refused = error(&mut client, text);
        assert!(refused.starts_with("42501 "), "{text}: {refused}");
        ask(&mut client, "rollback");
    }
    // The client's own files are its own affair.
    assert!(ask(&mut client, "copy t to stdout").ends_with("C[COPY 0] ZI"));
}

#[test]
fn sessions_begin_with_the_settings_of_their_role() {
    let served = Served::trusting();
    let mut own = served.client();
    ask(
        &mut own,
        "create role plain login; create role other login; create schema s; \
         alter role plain set search_path = s, public; alter role plain set statement_timeout = '5s'; \
         alter role all set statement_timeout = '7s'; \
         alter database frazil set lock_timeout = '3s'; alter role plain in database frazil set lock_timeout = '4s'",
    );
    let shown = "select concat_ws(' ', current_setting('search_path'), current_setting('statement_timeout'), \
                 current_setting('lock_timeout'))";
    let mut plain = session(&served, "plain");
    assert_eq!(value(&mut plain, shown), "s, public 5s 4s");
    assert_eq!(
        value(&mut session(&served, "other"), shown),
        "\"$user\", public 7s 3s"
    );
    // RESET goes back to them, and the client's own come before them.
    ask(
        &mut plain,
        "set statement_timeout = '1s'; reset statement_timeout",
    );
    assert_eq!(value(&mut plain, shown), "s, public 5s 4s");
    let mut client = served.stranger();
    client.start(&[
        ("user", "plain"),
        ("database", "shop"),
        ("options", "-c statement_timeout=9s"),
    ]);
    assert!(client.short().ends_with("ZI"));
    assert_eq!(value(&mut client, shown), "s, public 9s 4s");
    // A role changes its own settings, and no other's.
    ask(&mut plain, "alter role plain reset search_path");
    assert_eq!(
        value(&mut session(&served, "plain"), shown),
        "\"$user\", public 5s 4s"
    );
    assert_eq!(
        error(&mut plain, "alter role other set lock_timeout = 1"),
        "42501 permission denied"
    );
}
