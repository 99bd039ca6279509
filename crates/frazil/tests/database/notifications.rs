//! LISTEN and NOTIFY between connections of a database. The answers are PostgreSQL 15's.

use crate::{memory, rows, state};
use frazil::{Connection, Listener, SqlState};
use frazil_testkit::Random;
use std::collections::BTreeSet;

/// Takes what waits, as `channel payload`.
fn heard(listener: &Listener) -> Vec<String> {
    let taken = listener.take().into_iter();
    taken.map(|n| format!("{} {}", n.channel, n.payload)).collect()
}

#[test]
fn a_transaction_sends_when_it_commits() {
    let c = memory();
    let listener = c.listener();
    let told = |sql: &str| {
        rows(&c, sql);
        heard(&listener)
    };
    assert_eq!(
        told("listen a; listen A; listen \"A\"; notify a; notify a, 'x'"),
        ["a ", "a x"]
    );
    assert_eq!(
        told("select pg_notify('a', 'y'), pg_notify('b', 'z'), pg_notify('A', null)"),
        ["a y", "A "]
    );
    rows(
        &c,
        "begin; notify a, '1'; notify a, '2'; notify a, '1'; listen b; notify b, 'own'",
    );
    assert!(heard(&listener).is_empty());
    assert_eq!(told("commit"), ["a 1", "a 2", "b own"]);
    assert!(told("begin; notify a, 'rolled'; unlisten *; rollback").is_empty());
    assert_eq!(
        told("begin; notify a, '1'; savepoint s; notify a, '2'; rollback to s; notify a, '3'; commit"),
        ["a 1", "a 3"]
    );
    assert_eq!(
        told("begin; savepoint s; notify a, '1'; release s; commit"),
        ["a 1"]
    );
    assert!(told("begin; listen c; rollback; notify c").is_empty());
    assert_eq!(told("begin read only; notify a, 'read'; commit"), ["a read"]);
    // A statement that fails sends nothing.
    assert_eq!(
        state(
            &c,
            "select pg_notify('a', 'x'), 1 / (a - 3) from generate_series(1, 3) g (a)"
        ),
        SqlState::DIVISION_BY_ZERO
    );
    assert!(heard(&listener).is_empty());
    assert_eq!(told("unlisten a; notify a; notify b"), ["b "]);
    assert_eq!(told("discard all; notify b"), [""; 0]);
    assert_eq!(rows(&c, "select pg_notification_queue_usage()"), "0");
}

#[test]
fn the_channels_of_a_session_are_listed() {
    let c = memory();
    let text = "select pg_listening_channels()";
    let prepared = c.prepare(text).expect("it parses");
    let listed = || prepared.query(()).expect("it runs").len();
    assert_eq!(listed(), 0);
    rows(&c, "begin; listen a; listen \"B\"");
    assert_eq!(listed(), 0);
    rows(&c, "commit");
    assert_eq!((listed(), rows(&c, text)), (2, "a\nB".to_owned()));
    assert_eq!(rows(&c, "select count(*) from pg_listening_channels()"), "2");
    assert_eq!(
        rows(
            &c.database().connect(),
            "select count(*) from pg_listening_channels()"
        ),
        "0"
    );
    rows(&c, "unlisten a");
    assert_eq!((listed(), rows(&c, text)), (1, "B".to_owned()));
}

#[test]
fn names_and_payloads_have_limits() {
    let c = memory();
    for sql in [
        "select pg_notify('', 'x')",
        "select pg_notify(null, 'x')",
        "select pg_notify(repeat('a', 64), 'x')",
        "select pg_notify('a', repeat('x', 8000))",
    ] {
        assert_eq!(state(&c, sql), SqlState::INVALID_PARAMETER, "{sql}");
    }
    rows(&c, "listen a; select pg_notify('a', repeat('x', 7999))");
    assert_eq!(c.listener().take()[0].payload.len(), 7999);
    for sql in [
        "notify a, 3",
        "notify a, null",
        "listen x.y",
        "listen",
        "unlisten",
        "notify",
        "notify a b",
    ] {
        assert_eq!(state(&c, sql), SqlState::SYNTAX_ERROR, "{sql}");
    }
}

#[test]
fn a_listener_that_takes_nothing_holds_no_more_than_a_bound() {
    let c = memory();
    let other = c.database().connect();
    rows(&other, "listen a");
    let text = "select count(pg_notify('a', n || repeat('x', 7900))) from generate_series(1, 1000) g (n)";
    let failed = (0..20).find_map(|_| c.execute(text).err());
    assert_eq!(
        failed.map(|error| error.state()),
        Some(SqlState::PROGRAM_LIMIT_EXCEEDED)
    );
    rows(&c, "begin");
    rows(&c, text);
    assert_eq!(state(&c, "commit"), SqlState::PROGRAM_LIMIT_EXCEEDED);
    assert!(!c.in_transaction());
    assert_eq!(other.listener().take().len(), 8000);
    rows(&c, text);
    assert_eq!(other.listener().take().len(), 1000);
}

#[test]
fn all_hear_the_order_of_the_commits() {
    let c = memory();
    rows(
        &c,
        "create table counter (n integer); insert into counter values (0)",
    );
    let listeners: Vec<Connection> = (0..2).map(|_| c.database().connect()).collect();
    listeners.iter().for_each(|l| drop(rows(l, "listen a")));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let own = c.database().connect();
            scope.spawn(move || {
                for _ in 0..25 {
                    let n = rows(&own, "begin; update counter set n = n + 1 returning n");
                    rows(&own, &format!("notify a, '{n}'"));
                    rows(&own, "commit");
                }
            });
        }
    });
    let wanted: Vec<String> = (1..=100).map(|n| format!("a {n}")).collect();
    for listener in listeners {
        assert_eq!(heard(&listener.listener()), wanted);
    }
}

/// A session of the model.
#[derive(Clone, Default)]
struct Model {
    channels: BTreeSet<char>,
    /// The open transaction: what it does in order, `+a`, `-a`, `*` or a notification.
    open: Option<Vec<String>>,
    /// Savepoints, with the number of entries before each.
    savepoints: Vec<usize>,
}

/// Random sessions against a model of lists.
#[test]
fn random_sessions_hear_what_the_model_says() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let first = memory();
        let sessions: Vec<Connection> = (0..3).map(|_| first.database().connect()).collect();
        let mut models = vec![Model::default(); 3];
        let mut wanted = vec![Vec::new(); 3];
        for step in 0..120 {
            let at = random.index(3);
            let channel = ['a', 'b', 'c'][random.index(3)];
            let payload = random.below(3);
            let model = &mut models[at];
            let mut ends = model.open.is_none();
            let mut done = None;
            let sql = match (random.below(12), model.open.is_some()) {
                (0 | 1, _) => {
                    done = Some(format!("+{channel}"));
                    format!("listen {channel}")
                }
                (2, _) => {
                    done = Some(format!("-{channel}"));
                    format!("unlisten {channel}")
                }
                (3, _) => {
                    done = Some("*".to_owned());
                    "unlisten *".to_owned()
                }
                (4 | 5, false) => {
                    (model.open, ends) = (Some(Vec::new()), false);
                    "begin".to_owned()
                }
                (4, true) => {
                    ends = true;
                    "commit".to_owned()
                }
                (5, true) => {
                    (model.open, ends) = (Some(Vec::new()), true);
                    "rollback".to_owned()
                }
                (6, true) => {
                    model.savepoints.push(model.open.as_ref().map_or(0, Vec::len));
                    format!("savepoint s{}", model.savepoints.len())
                }
                (7, true) if !model.savepoints.is_empty() => {
                    let number = random.index(model.savepoints.len());
                    model.savepoints.truncate(number + 1);
                    let length = model.savepoints[number];
                    model.open.as_mut().expect("it is open").truncate(length);
                    format!("rollback to s{}", number + 1)
                }
                (8, _) => {
                    done = Some(format!("{channel} {payload}"));
                    format!("select pg_notify('{channel}', '{payload}')")
                }
                _ => {
                    done = Some(format!("{channel} {payload}"));
                    format!("notify {channel}, '{payload}'")
                }
            };
            let mut all = model.open.take().unwrap_or_default();
            all.extend(done);
            if ends {
                model.savepoints.clear();
                let is_sent = |entry: &String| entry.contains(' ');
                for entry in all.iter().filter(|entry| !is_sent(entry)) {
                    match (entry.chars().next(), entry.chars().nth(1)) {
                        (Some('+'), Some(channel)) => drop(model.channels.insert(channel)),
                        (Some('-'), Some(channel)) => drop(model.channels.remove(&channel)),
                        _ => model.channels.clear(),
                    }
                }
                let mut known = BTreeSet::new();
                for sent in all.into_iter().filter(is_sent) {
                    if known.insert(sent.clone()) {
                        for (model, wanted) in models.iter().zip(&mut wanted) {
                            if sent.chars().next().is_some_and(|c| model.channels.contains(&c)) {
                                wanted.push(sent.clone());
                            }
                        }
                    }
                }
            } else {
                model.open = Some(all);
            }
            rows(&sessions[at], &sql);
            for (session, wanted) in sessions.iter().zip(&mut wanted) {
                assert_eq!(
                    heard(&session.listener()),
                    std::mem::take(wanted),
                    "seed {seed}, step {step}: {sql}"
                );
            }
        }
    }
}
