//! Estimates of rows beside the rows that there are, for values that are uneven and that depend on each other.

use crate::{memory, rows};
use frazil::Connection;

/// The estimate that EXPLAIN shows for the first operator whose line begins with `operator`.
fn estimate(connection: &Connection, operator: &str, sql: &str) -> f64 {
    let plan = rows(connection, &format!("explain {sql}"));
    let line = plan.lines().find(|line| line.trim_start().starts_with(operator));
    let line = line.unwrap_or_else(|| panic!("no {operator} in {plan}"));
    let shown = line
        .rsplit_once('[')
        .and_then(|(_, rest)| rest.split_once(" rows"));
    shown
        .unwrap_or_else(|| panic!("no rows in {line}"))
        .0
        .parse()
        .unwrap()
}

/// The rows of a query that counts.
fn count(connection: &Connection, sql: &str) -> f64 {
    connection.query_row(sql, ()).unwrap().get::<i64>(0).unwrap() as f64
}

/// Compares the estimate of the first `operator` below `select count(*) from …` with the count.
fn check(connection: &Connection, operator: &str, from: &str, within: f64) {
    let sql = format!("select count(*) from {from}");
    let (estimated, rows) = (
        estimate(connection, operator, &sql).max(1.0),
        count(connection, &sql).max(1.0),
    );
    let error = (estimated / rows).max(rows / estimated);
    assert!(
        error <= within,
        "{from}: {estimated} rows estimated, {rows} there"
    );
}

/// 20,000 rows: `b` follows from `a`, 0 is frequent in `c`, a tenth of `d` is NULL.
fn connection_with_t() -> Connection {
    let connection = memory();
    connection
        .execute(
            "create table t (id integer primary key, a integer, b integer, c integer, d text); \
             insert into t select i, i % 20, i % 20 / 2, case when i % 8 > 0 then 0 else i end, \
             case when i % 10 > 0 then case when i % 3 = 0 then 'red ' else 'blue ' end || i end \
             from generate_series(1, 20000) g(i)",
        )
        .unwrap();
    connection
}

#[test]
fn predicates_on_one_table_are_counted_together() {
    let connection = connection_with_t();
    let all_are_near = |connection: &Connection| {
        for condition in [
            "a = 3 and b = 1",
            "(a = 3 or a = 5) and b < 3",
            "a = 3 and b between 1 and 4",
            "c = 0",
            "c <> 0",
            "c > 10000",
            "d like 'red%'",
            "d like '%ue%' and a = 1",
            "d is null",
            "d is not null and a = 1",
            "a in (1, 2, 3) and (b = 0 or b = 1)",
        ] {
            check(connection, "Scan t", &format!("t where {condition}"), 1.7);
        }
        // None has both: a sample says that there are few.
        check(connection, "Scan t", "t where d is not null and a = 0", 25.0);
        check(connection, "Scan t", "t where a = 3 and b = 9", 25.0);
        check(connection, "Scan t", "t where d like '%nowhere%'", 25.0);
        check(connection, "Scan t", "t where id = 77", 1.0);
    };
    all_are_near(&connection);
    connection.execute("freeze table t").unwrap();
    all_are_near(&connection);
    connection.execute("delete from t where a = 3").unwrap();
    connection.execute("update t set c = 1 where c = 0").unwrap();
    check(&connection, "Scan t", "t where a = 4 and b = 2", 1.7);
    check(&connection, "Scan t", "t where c = 1", 1.7);
    connection.execute("truncate t").unwrap();
    check(&connection, "Scan t", "t where a = 4 and b = 2", 1.0);
}

#[test]
fn a_transaction_plans_by_its_own_rows() {
    let connection = connection_with_t();
    check(&connection, "Scan t", "t where a = 100", 25.0);
    connection
        .execute("begin; insert into t select i, 100, 7, 0, null from generate_series(30001, 60000) g(i)")
        .unwrap();
    check(&connection, "Scan t", "t where a = 100 and b = 7", 1.2);
    connection.execute("rollback").unwrap();
    check(&connection, "Scan t", "t where a = 100 and b = 7", 1e4);
    connection
        .execute("alter table t drop column b; alter table t add column e integer default 5")
        .unwrap();
    check(&connection, "Scan t", "t where a = 7 and e = 5", 1.7);
}

#[test]
fn values_that_are_not_known_yet_are_estimated_by_rule() {
    let connection = connection_with_t();
    connection
        .execute("prepare p as select count(*) from t where a = $1 and c = $2")
        .unwrap();
    assert_eq!(count(&connection, "execute p(3, 0)"), 1000.0);
    connection
        .execute("prepare q as select count(*) from t where a = $1 and c = 0")
        .unwrap();
    assert_eq!(count(&connection, "execute q(3)"), 1000.0);
}

/// Titles, of which those of low number have up to 16 times as many rows in `cast_of`, `words` and `notes` as the mean.
/// One word of a hundred is in a tenth of the rows. Only the first titles have a rating.
fn connection_with_titles() -> Connection {
    let connection = memory();
    connection
        .execute(
            "create table title (id integer primary key, kind integer, year integer); \
             insert into title select i, i % 4, 1900 + i % 100 from generate_series(1, 8000) g(i); \
             create table word (id integer primary key, word text); \
             insert into word select i, 'word ' || i from generate_series(1, 5000) g(i); \
             create table drawn as select i, (u / 16 + u * u / 1000 * u / 1000 * 15 / 16) * 8 + 1 as title, z \
             from (select i, i * 7919::bigint % 1000 as u, i * 104729::bigint / 7 % 1000 as z \
                   from generate_series(1, 60000) g(i)) x; \
             create table cast_of as select title::integer as title, (z % 10)::integer as role from drawn; \
             create table words as select ((title * 7 + 3) % 8000 + 1)::integer as title, \
                 case when z % 10 = 0 then 1234 else (z * 5 + 1)::integer end as word from drawn where i % 2 = 0; \
             create table notes as select title::integer as title, case when z % 3 = 0 then 'x' end as note \
                 from drawn where i % 3 = 0; \
             create table rating as select i as title, i % 10 as stars from generate_series(1, 1000) g(i)",
        )
        .unwrap();
    connection
}

#[test]
fn joins_of_uneven_keys_are_estimated_by_their_frequencies() {
    let connection = connection_with_titles();
    for tables in ["cast_of", "words", "notes", "title"] {
        let _ = connection.execute(&format!("freeze table {tables}"));
    }
    check(
        &connection,
        "Join",
        "cast_of c join notes n on c.title = n.title",
        1.5,
    );
    check(
        &connection,
        "Join",
        "cast_of c join rating r on c.title = r.title",
        1.5,
    );
    check(
        &connection,
        "Join",
        "cast_of c join notes n on c.title = n.title join rating r on r.title = n.title",
        2.0,
    );
    check(
        &connection,
        "Join",
        "title t, cast_of c, notes n, rating r where t.id = c.title and t.id = n.title and t.id = r.title \
         and c.title = n.title and c.title = r.title and n.title = r.title and t.kind = 1",
        2.5,
    );
    check(
        &connection,
        "Join",
        "cast_of a join cast_of b on a.title = b.title",
        1.5,
    );
}

#[test]
fn references_to_the_rows_that_a_predicate_leaves_are_counted() {
    let connection = connection_with_titles();
    check(
        &connection,
        "Join",
        "words w join word on word.id = w.word where word.word = 'word 1234'",
        1.7,
    );
    check(
        &connection,
        "Join",
        "words w join word on word.id = w.word where word.word like '%99%'",
        1.7,
    );
    check(
        &connection,
        "Join",
        "cast_of c join title t on t.id = c.title where t.id < 500 and c.role < 5",
        1.7,
    );
    // A row that nobody refers to.
    check(
        &connection,
        "Join",
        "words w join word on word.id = w.word where word.word = 'word 2'",
        30.0,
    );
}

#[test]
fn references_are_counted_by_the_columns_that_a_table_has_now() {
    let connection = connection_with_t();
    connection
        .execute(
            "create table f (t integer, x integer); \
             insert into f select i::bigint * 7919 % 20000 + 1, i % 50 from generate_series(1, 40000) g(i)",
        )
        .unwrap();
    let referred = |condition: &str| {
        let from = format!("f join t on f.t = t.id where {condition}");
        check(&connection, "Join", &from, 1.7);
    };
    referred("t.a = 3");
    referred("t.b = 4");
    referred("t.d like 'red%'");
    connection.execute("alter table t drop column a").unwrap();
    referred("t.b = 4");
    referred("t.c = 0");
    referred("t.d like 'red%'");
    connection
        .execute("alter table t add column a text default 'white'; alter table t alter column b type text")
        .unwrap();
    referred("t.a = 'white'");
    referred("t.b = '4'");
    connection.execute("freeze table t").unwrap();
    connection.execute("update t set a = 'black'").unwrap();
    referred("t.a = 'black'");
}

#[test]
fn frequencies_of_keys_are_those_of_the_rows_that_are_there() {
    let connection = memory();
    connection
        .execute(
            "create table a (k integer); create table b (k integer); \
             insert into a select i % 1000 from generate_series(1, 20000) g(i); \
             insert into b select i % 1000 from generate_series(1, 10000) g(i)",
        )
        .unwrap();
    check(&connection, "Join", "a join b on a.k = b.k", 1.2);
    for change in [
        "truncate b; insert into b select 7 from generate_series(1, 10000) g(i)",
        "update a set k = 7",
        "delete from a; insert into a select i % 2000 from generate_series(1, 20000) g(i)",
    ] {
        connection.execute(change).unwrap();
        check(&connection, "Join", "a join b on a.k = b.k", 1.2);
    }
}
