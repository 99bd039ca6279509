//! Sessions as others see them: `pg_stat_activity`, `pg_locks`, how sessions are cancelled and ended, and the timeouts
//! that end them. The answers are PostgreSQL's: 15's, and 17's for `transaction_timeout`.

use crate::client::{Client, Served, bind, execute, parse, query, sync};
use std::time::{Duration, Instant};

/// The value of a query's only row and column.
fn value(client: &mut Client, text: &str) -> String {
    client.send(&query(text));
    let answers = client.until_ready();
    let row = answers.iter().find(|answer| answer.0 == b'D');
    let row = row.unwrap_or_else(|| panic!("no row of {text}"));
    String::from_utf8(row.1.get(6..).unwrap_or_default().to_vec()).unwrap()
}

/// Asks until the value is the wanted one.
fn wait_for(client: &mut Client, text: &str, wanted: &str) {
    let begun = Instant::now();
    loop {
        let found = value(client, text);
        if found == wanted {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{text}: {found}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn number(client: &mut Client) -> String {
    value(client, "select pg_backend_pid()")
}

#[test]
fn others_see_what_a_session_does() {
    let served = Served::trusting();
    let (mut own, mut other) = (served.client(), served.client());
    let number = number(&mut other);
    let of_other = |what: &str| format!("select {what} from pg_stat_activity where pid = {number}");
    assert_eq!(
        value(&mut own, &of_other("state || '|' || query")),
        "idle|select pg_backend_pid()"
    );
    assert_eq!(
        value(
            &mut own,
            &of_other(
                "concat_ws('|', datname, usename, application_name, client_addr, client_port > 0, \
                 backend_type, xact_start is null, backend_start <= query_start, \
                 query_start <= state_change, wait_event)"
            )
        ),
        "shop|postgres||127.0.0.1|t|client backend|t|t|t"
    );
    other.ask(&[query("begin")]);
    assert_eq!(
        value(
            &mut own,
            &of_other("state || '|' || query || '|' || (xact_start is not null)")
        ),
        "idle in transaction|begin|true"
    );
    other.ask(&[query("select 1 / 0")]);
    assert_eq!(
        value(&mut own, &of_other("state || '|' || query")),
        "idle in transaction (aborted)|select 1 / 0"
    );
    other.ask(&[query("rollback; set application_name = 'shop'")]);
    assert_eq!(
        value(&mut own, &of_other("state || '|' || application_name")),
        "idle|shop"
    );
    other.ask(&[
        parse("", "select 2", &[]),
        bind("", "", &[], 0, 0),
        execute("", 0),
        sync(),
    ]);
    assert_eq!(value(&mut own, &of_other("query")), "select 2");
    assert_eq!(
        value(
            &mut own,
            "select state || '|' || query from pg_stat_activity where pid = pg_backend_pid()"
        ),
        "active|select state || '|' || query from pg_stat_activity where pid = pg_backend_pid()"
    );
    drop(other);
    wait_for(&mut own, "select count(*) from pg_stat_activity", "1");
}

#[test]
fn whoever_waits_for_a_row_is_shown_with_the_one_that_has_it() {
    let served = Served::trusting();
    let (mut own, mut holder, mut waiter) = (served.client(), served.client(), served.client());
    own.ask(&[query("create table t (a integer); insert into t values (1)")]);
    let (has, waits) = (number(&mut holder), number(&mut waiter));
    holder.ask(&[query("begin; update t set a = 2")]);
    waiter.send(&query("update t set a = 3"));
    let event = format!(
        "select concat_ws('|', state, wait_event_type, wait_event) from pg_stat_activity where pid = {waits}"
    );
    wait_for(&mut own, &event, "active|Lock|transactionid");
    assert_eq!(
        value(&mut own, &format!("select pg_blocking_pids({waits})")),
        format!("{{{has}}}")
    );
    assert_eq!(value(&mut own, &format!("select pg_blocking_pids({has})")), "{}");
    assert_eq!(
        value(
            &mut own,
            &format!(
                "select string_agg(locktype || ' ' || mode || ' ' || granted, ', ' order by granted, locktype) \
                 from pg_locks where pid = {waits} and (relation is null or relation = 't'::regclass)"
            )
        ),
        "transactionid ShareLock false, relation RowExclusiveLock true, transactionid ExclusiveLock true"
    );
    assert_eq!(
        value(
            &mut own,
            "select count(*) from pg_locks w \
             join pg_locks h on h.transactionid = w.transactionid and h.granted where not w.granted"
        ),
        "1"
    );
    holder.ask(&[query("commit")]);
    assert_eq!(waiter.until_ready().len(), 2);
    wait_for(&mut own, "select count(*) from pg_locks", "0");
    // A wait for a table.
    holder.ask(&[query("begin; lock table t in access exclusive mode")]);
    waiter.send(&query("insert into t values (5)"));
    wait_for(&mut own, &event, "active|Lock|relation");
    assert_eq!(
        value(
            &mut own,
            "select relation::regclass || ' ' || mode from pg_locks where not granted"
        ),
        "t RowExclusiveLock"
    );
    holder.ask(&[query("rollback")]);
    waiter.until_ready();
}

#[test]
fn a_session_cancels_and_ends_others() {
    let served = Served::trusting();
    let (mut own, mut other) = (served.client(), served.client());
    assert_eq!(
        value(
            &mut own,
            "select concat(pg_cancel_backend(999999), pg_terminate_backend(999999), pg_terminate_backend(999999, 10))"
        ),
        "fff"
    );
    let number = number(&mut other);
    let active = format!("select state from pg_stat_activity where pid = {number}");
    other.send(&query("select count(*) from generate_series(1, 100000000000)"));
    wait_for(&mut own, &active, "active");
    assert_eq!(
        value(&mut own, &format!("select pg_cancel_backend({number})")),
        "t"
    );
    let answers = other.until_ready();
    assert!(answers.iter().any(|answer| answer.short().contains("57014")));
    // One that runs hears of its end alone.
    other.send(&query(
        "begin; select count(*) from generate_series(1, 100000000000)",
    ));
    wait_for(&mut own, &active, "active");
    assert_eq!(
        value(&mut own, &format!("select pg_terminate_backend({number}, 60000)")),
        "t"
    );
    let said = other.until_end();
    assert!(said.ends_with("E[57P01]") && !said.contains("57014"), "{said}");
    // So does one that waits.
    let mut other = served.client();
    let waiting = crate::activity::number(&mut other);
    assert_eq!(
        value(&mut own, &format!("select pg_terminate_backend({waiting})")),
        "t"
    );
    assert_eq!(other.until_end(), "E[57P01]");
    wait_for(&mut own, "select count(*) from pg_stat_activity", "1");
    // And one that waits for the rows of COPY.
    own.ask(&[query("create table t (a integer)")]);
    let mut other = served.client();
    let copying = crate::activity::number(&mut other);
    other.send(&query("copy t from stdin"));
    assert_eq!(other.short_of(1), "G");
    own.ask(&[query(&format!("select pg_terminate_backend({copying}, 60000)"))]);
    assert_eq!(other.until_end(), "E[57P01]");
    // And oneself.
    own.send(&query("select pg_terminate_backend(pg_backend_pid())"));
    assert!(own.until_end().ends_with("E[57P01]"));
}

#[test]
fn a_session_that_is_idle_too_long_ends() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("create table t (a integer)")]);
    assert_eq!(
        client.ask(&[query("set idle_in_transaction_session_timeout = 30")]),
        "C[SET] ZI"
    );
    client.ask(&[query("begin; insert into t values (1)")]);
    assert_eq!(client.until_end(), "E[25P03]");
    let mut client = served.client();
    assert_eq!(value(&mut client, "select count(*) from t"), "0");
    client.ask(&[query("set idle_session_timeout = '30ms'")]);
    assert_eq!(client.until_end(), "E[57P05]");
}

#[test]
fn a_transaction_that_takes_too_long_ends_its_session() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[query("set transaction_timeout = 50")]);
    client.send(&query("select count(*) from generate_series(1, 100000000000)"));
    assert!(client.until_end().ends_with("E[25P04]"));
    let mut client = served.client();
    client.ask(&[query("set transaction_timeout = 50")]);
    client.ask(&[query("begin")]);
    assert_eq!(client.until_end(), "E[25P04]");
    // Outside a transaction nothing ends.
    let mut client = served.client();
    client.ask(&[query("set transaction_timeout = 50")]);
    std::thread::sleep(Duration::from_millis(120));
    assert_eq!(value(&mut client, "select 1"), "1");
}

#[test]
fn reset_goes_back_to_what_the_client_asked_for() {
    let served = Served::trusting();
    let mut client = served.stranger();
    client.start(&[
        ("user", "me"),
        ("database", "shop"),
        ("application_name", "till"),
        ("options", "-c search_path=a,b -c x.y=1 -c work_mem=8MB"),
    ]);
    client.until_ready();
    let of = |name: &str| {
        format!(
            "select concat_ws('|', setting, unit, source, boot_val, reset_val) from pg_settings where name = '{name}'"
        )
    };
    assert_eq!(value(&mut client, &of("work_mem")), "8192|kB|client|4096|8192");
    client.ask(&[query(
        "set work_mem = '1MB'; set application_name = 'x'; set search_path = c; set x.y = 2",
    )]);
    assert_eq!(value(&mut client, &of("work_mem")), "1024|kB|session|4096|8192");
    assert_eq!(value(&mut client, &of("application_name")), "x|session||till");
    client.ask(&[query("reset work_mem; reset x.y")]);
    assert_eq!(value(&mut client, &of("work_mem")), "8192|kB|client|4096|8192");
    client.ask(&[query("discard all")]);
    let shown = |client: &mut Client, name: &str| value(client, &format!("show {name}"));
    assert_eq!(shown(&mut client, "application_name"), "till");
    assert_eq!(shown(&mut client, "search_path"), "a, b");
    assert_eq!(shown(&mut client, "x.y"), "1");
    client.ask(&[query("begin; set local work_mem = '2MB'")]);
    assert_eq!(value(&mut client, &of("work_mem")), "2048|kB|session|4096|8192");
    client.ask(&[query("rollback")]);
    assert_eq!(value(&mut client, &of("work_mem")), "8192|kB|client|4096|8192");
}

#[test]
fn statements_and_cursors_of_the_protocol_are_listed() {
    let served = Served::trusting();
    let mut client = served.client();
    client.ask(&[
        parse("s", "select $1::integer, $2", &[0, 25]),
        parse("", "select 1", &[]),
        sync(),
    ]);
    client.ask(&[query("prepare q (numeric) as select $1")]);
    assert_eq!(
        value(
            &mut client,
            "select string_agg(concat_ws('|', name, statement, parameter_types, from_sql), ';' order by name) \
             from pg_prepared_statements"
        ),
        "q|prepare q (numeric) as select $1|{numeric}|t;s|select $1::integer, $2|{integer,text}|f"
    );
    client.ask(&[query("begin; declare c scroll cursor with hold for select 1")]);
    assert_eq!(
        value(
            &mut client,
            "select concat_ws('|', name, statement, is_holdable, is_binary, is_scrollable) from pg_cursors"
        ),
        "c|declare c scroll cursor with hold for select 1|t|f|t"
    );
    client.ask(&[query("commit; deallocate q")]);
    assert_eq!(
        value(
            &mut client,
            "select (select count(*) from pg_cursors) || '|' || (select count(*) from pg_prepared_statements)"
        ),
        "1|1"
    );
}
