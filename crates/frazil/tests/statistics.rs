//! `pg_stat_statements`, `pg_stat_database`, `pg_stat_user_tables`: counts of what statements did.

use frazil::Database;

/// A value of a row of counts.
fn number(database: &Database, sql: &str) -> i64 {
    let row = database.connect().query_row(sql, ()).unwrap();
    row.get(0).unwrap()
}

#[test]
fn statements_are_counted_by_their_texts() {
    let database = Database::memory().unwrap();
    let connection = database.connect();
    connection
        .execute("create table t (a integer primary key, b text)")
        .unwrap();
    for a in 0..10 {
        connection
            .execute(&format!("insert into t values ({a}, 'x')"))
            .unwrap();
    }
    let prepared = connection.prepare("select b from t where a = $1").unwrap();
    for a in 0..20 {
        prepared.query((a % 10,)).unwrap();
    }
    for a in 0..5 {
        connection.query("select b from t where a = $1", (a,)).unwrap();
    }
    assert!(connection.execute("select b from t where a = 1 / 0").is_err());
    connection
        .execute("prepare p as select a from t where b = $1")
        .unwrap();
    connection.execute("execute p('x')").unwrap();
    connection.execute("execute p('y')").unwrap();
    let of = |text: &str| {
        let sql = "select query, calls, rows, total_exec_time >= max_exec_time and min_exec_time <= max_exec_time, \
                   plans >= 1, jit_generation_time > 0 or total_plan_time > 0 \
                   from pg_stat_statements where query = $1";
        let row = connection.query_row(sql, (text,)).unwrap();
        let truths: [bool; 3] = [3, 4, 5].map(|at| row.get(at).unwrap());
        assert_eq!(truths, [true; 3], "{text}");
        (row.get::<i64>(1).unwrap(), row.get::<i64>(2).unwrap())
    };
    assert_eq!(of("insert into t values ($1, $2)"), (10, 10));
    assert_eq!(of("select b from t where a = $1"), (25, 25));
    assert_eq!(of("select a from t where b = $1"), (2, 10));
    assert_eq!(
        number(
            &database,
            "select count(*) from pg_stat_statements where query like 'execute%'"
        ),
        0
    );
}

#[test]
fn prepared_statements_count_where_they_run() {
    let database = Database::memory().unwrap();
    let connection = database.connect();
    connection
        .execute("create table t (a integer); insert into t values (1), (2)")
        .unwrap();
    connection
        .execute("prepare p as select a from t where a >= $1")
        .unwrap();
    connection.execute("execute p(1)").unwrap();
    connection.execute("execute p(2)").unwrap();
    // The text is that of PREPARE, without its head.
    let sql =
        "select sum(calls)::bigint from pg_stat_statements where query like '%where a >=%' and rows = 3";
    assert_eq!(number(&database, sql), 2);
}

#[test]
fn transactions_and_rows_are_counted() {
    let database = Database::memory().unwrap();
    let connection = database.connect();
    let counts = |columns: &str| {
        let sql = format!("select {columns} from pg_stat_database");
        let row = database.connect().query_row(&sql, ()).unwrap();
        (0..columns.split(',').count())
            .map(|at| row.get::<i64>(at).unwrap())
            .collect::<Vec<_>>()
    };
    let transactions = "xact_commit, xact_rollback";
    connection.execute("create table t (a integer)").unwrap();
    let before = counts(transactions);
    connection
        .execute("begin; insert into t values (1), (2), (3); commit")
        .unwrap();
    connection.execute("begin; delete from t; rollback").unwrap();
    connection.execute("update t set a = a + 1 where a > 1").unwrap();
    connection.execute("delete from t where a = 1").unwrap();
    assert!(connection.execute("select 1 / 0").is_err());
    let after = counts(transactions);
    // Looking is a transaction, too.
    assert_eq!([after[0] - before[0], after[1] - before[1]], [4, 2]);
    assert_eq!(counts("tup_inserted, tup_updated, tup_deleted"), [3, 2, 4]);
    assert_eq!(
        number(
            &database,
            "select count(*) from pg_stat_database where stats_reset <= now()"
        ),
        1
    );
}

#[test]
fn tables_and_indexes_have_counts() {
    let database = Database::memory().unwrap();
    let connection = database.connect();
    connection
        .execute("create schema s; create table s.t (a integer primary key, b integer)")
        .unwrap();
    connection
        .execute("insert into s.t select i, i from generate_series(1, 100) g(i)")
        .unwrap();
    connection
        .execute("update s.t set b = 0 where a <= 10; delete from s.t where a > 90")
        .unwrap();
    connection
        .execute("alter table s.t add column c integer; insert into s.t values (200, 1, 1)")
        .unwrap();
    connection.query("select b from s.t where a = 7", ()).unwrap();
    let scans = |column: &str| number(&database, &format!("select {column} from pg_stat_user_tables"));
    let before = scans("seq_scan");
    connection.query("select sum(b) from s.t", ()).unwrap();
    assert_eq!(scans("seq_scan"), before + 1);
    assert!(scans("idx_scan") >= 1);
    let sql = "select count(*) from pg_stat_user_tables where schemaname = 's' and relname = 't' \
               and relid = 's.t'::regclass and n_tup_ins = 101 and n_tup_upd = 10 and n_tup_del = 10 \
               and n_live_tup = 91 and n_mod_since_analyze = 121";
    assert_eq!(number(&database, sql), 1);
    let sql = "select count(*) from pg_stat_user_indexes i join pg_statio_user_tables t using (relid) \
               where indexrelname = 't_pkey' and idx_scan >= 1 and heap_blks_read is null";
    assert_eq!(number(&database, sql), 1);
    // Statements that are rolled back count, too.
    connection
        .execute("begin; insert into s.t values (300, 1, 1); rollback")
        .unwrap();
    assert_eq!(scans("n_tup_ins"), 102);
    assert_eq!(scans("n_live_tup"), 91);
}

#[test]
fn superusers_count_anew() {
    let database = Database::memory().unwrap();
    let connection = database.connect();
    connection
        .execute("create table t (a integer primary key); insert into t values (1), (2); create role plain")
        .unwrap();
    connection.query("select a from t where a = 1", ()).unwrap();
    let own = "select count(*) from pg_stat_statements where query = 'select a from t where a = $1'";
    assert_eq!(number(&database, own), 1);
    connection.execute("set role plain").unwrap();
    for function in ["pg_stat_reset", "pg_stat_statements_reset"] {
        let error = connection.query(&format!("select {function}()"), ()).unwrap_err();
        assert_eq!(error.state().0, "42501");
        assert_eq!(
            error.message(),
            format!("permission denied for function {function}")
        );
    }
    connection.execute("reset role").unwrap();
    let since = "select extract(epoch from stats_reset)::bigint from pg_stat_database";
    assert!(number(&database, since) > 0);
    connection.query("select pg_stat_reset()", ()).unwrap();
    let tables =
        "select count(*) from pg_stat_user_tables where n_tup_ins = 0 and n_live_tup = 2 and idx_scan = 0";
    assert_eq!(number(&database, tables), 1);
    assert_eq!(number(&database, "select tup_inserted from pg_stat_database"), 0);
    assert_eq!(number(&database, own), 1);
    connection.query("select pg_stat_statements_reset()", ()).unwrap();
    assert_eq!(number(&database, own), 0);
    // A statement that was compiled before is counted again.
    connection.query("select a from t where a = 1", ()).unwrap();
    assert_eq!(number(&database, own), 1);
}
