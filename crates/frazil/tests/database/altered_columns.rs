//! Columns that come and go under what keeps positions of columns: prepared statements, appenders, COPY, views, options, system
//! tables, checkpoints.

use crate::{directory, memory, rows, state};
use frazil::{
    ColumnVector, Connection, Database, LogicalType, Outcome, RawValue as Value, RowBatch, SqlState,
};

/// A table `t` of so many rows, a part of them frozen.
fn fill(c: &Connection, frozen: usize, hot: usize) {
    rows(
        c,
        "create table t (id integer primary key, name text, amount decimal(8,2) not null)",
    );
    let insert = |from: usize, to: usize| {
        let text = format!(
            "insert into t select n, 'a good of number ' || n, n / 4.0 from (select {from} + a.d + 10 * b.d + 100 * c.d + 1000 * d.d as n \
             from digits a cross join digits b cross join digits c cross join digits d) numbers where n < {to}"
        );
        rows(c, &text);
    };
    rows(c, "create table digits (d integer)");
    rows(
        c,
        "insert into digits values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    );
    insert(0, frozen);
    rows(c, "freeze t");
    insert(frozen, frozen + hot);
}

#[test]
fn prepared_statements_follow_the_columns() {
    let c = memory();
    fill(&c, 500, 100);
    let all = c.prepare("select * from t where id = $1").expect("it parses");
    let sum = c
        .prepare("select sum(amount), count(*) from t")
        .expect("it parses");
    let insert = c.prepare("insert into t values ($1, $2, $3)").expect("it parses");
    let width = || match all.execute(&[Value::Int(7)]).expect("it runs").outcome {
        Outcome::Rows(rows) => (rows.len(), rows.schema().columns.len()),
        other => panic!("{other:?}"),
    };
    let sums = || match sum.execute(()).expect("it runs").outcome {
        Outcome::Rows(rows) => rows.raw().next().expect("a row"),
        other => panic!("{other:?}"),
    };
    assert_eq!(width(), (1, 3));
    let before = sums();
    rows(
        &c,
        "alter table t add column late bigint default 9000000000000000000",
    );
    assert_eq!((width(), sums()), ((1, 4), before.clone()));
    let row = [Value::Int(1000), Value::Text("x".into()), Value::Int(0)];
    insert.execute(&row).expect("the default fills the last column");
    // Sums are checked: the values of old rows are known to be large.
    assert_eq!(
        rows(&c, "select count(distinct late), count(late) from t"),
        "1|601"
    );
    assert_eq!(rows(&c, "select sum(late) from t"), "5409000000000000000000");
    rows(&c, "alter table t drop column name");
    assert_eq!(width(), (1, 3));
    assert!(insert.execute(&row).is_err(), "a text for a decimal");
    assert_eq!(rows(&c, "select count(*) from t where late < 0"), "0");
}

#[test]
fn an_appender_and_copy_take_the_columns_that_there_are() {
    let c = memory();
    fill(&c, 50, 10);
    rows(&c, "alter table t drop column name");
    rows(
        &c,
        "alter table t add column n integer not null default 5 check (n > 0)",
    );
    let batch = |columns: &[(LogicalType, i128)]| RowBatch {
        columns: (columns.iter())
            .map(|&(ty, v)| ColumnVector::from_values(ty, &[Value::Int(v)]))
            .collect(),
        rows: 1,
    };
    let decimal = LogicalType::Decimal {
        precision: 8,
        scale: 2,
    };
    let of = |id, n| {
        batch(&[
            (LogicalType::Integer, id),
            (decimal, 100),
            (LogicalType::Integer, n),
        ])
    };
    let mut appender = c.appender("t").expect("the table is there");
    appender.append(of(100, 6)).expect("it fits");
    let refused = appender.append(of(101, 0)).expect_err("a check");
    assert_eq!(refused.state(), SqlState::CHECK_VIOLATION);
    drop(appender);
    let mut appender = c.appender("t").expect("the table is there");
    appender.append(of(100, 6)).expect("it fits");
    let few = batch(&[(LogicalType::Integer, 102), (decimal, 1)]);
    assert!(appender.append(few).is_err());
    let refused = appender.finish().expect_err("rows were refused");
    assert_eq!(refused.state(), SqlState::IN_FAILED_TRANSACTION);
    let mut appender = c.appender("t").expect("the table is there");
    appender.append(of(100, 6)).expect("it fits");
    appender.finish().expect("it commits");
    let path = directory("altered-copy");
    std::fs::create_dir_all(&path).expect("it can be made");
    let file = path.join("t.csv");
    rows(&c, &format!("copy t to '{}'", file.display()));
    assert_eq!(rows(&c, "delete from t where id <> 3"), "DELETE 60");
    rows(&c, "alter table t add column note varchar(9) default 'fresh'");
    rows(&c, "delete from t");
    rows(&c, &format!("copy t (id, amount, n) from '{}'", file.display()));
    assert_eq!(
        rows(&c, "select count(*), sum(n), min(note), max(note) from t"),
        "61|306|fresh|fresh"
    );
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn options_and_system_tables_follow_the_columns() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer, b integer, c integer) with (\"layout.c\" = 'vbp', pax_rows = 4)",
    );
    rows(&c, "insert into t values (1, 2, 3), (4, 5, 6), (7, 8, 9)");
    rows(&c, "freeze t");
    rows(&c, "insert into t values (10, 11, 12)");
    rows(&c, "alter table t drop column a, add column d text default 'dd'");
    let held = "select column_name, encoding from frazil_blocks where table_name = 't' and column_name = 'd' order by chunk";
    assert_eq!(rows(&c, held), "d|constant\nd|hot");
    let held =
        "select distinct column_name, min from frazil_blocks where table_name = 't' and chunk = 0 order by 1";
    let columns: Vec<String> = rows(&c, held).lines().map(str::to_string).collect();
    assert_eq!(columns[0], "b|2");
    rows(&c, "insert into t values (13, 14, 'new')");
    rows(&c, "freeze t");
    assert_eq!(
        rows(
            &c,
            "select layout from frazil_blocks where column_name = 'c' and table_name = 't'"
        ),
        "vbp"
    );
    assert_eq!(
        rows(&c, "select sum(b), sum(c), min(d), max(d) from t"),
        "39|44|dd|new"
    );
    assert_eq!(
        state(&c, "alter table t set (\"layout.a\" = 'vbp')"),
        SqlState::UNDEFINED_COLUMN
    );
}

/// What the table of the next test answers after each way.
fn check(c: &Connection, when: &str) {
    let answer = rows(
        c,
        "select count(*), sum(id), count(late), min(late), max(late), sum(number), min(price), max(price) from t",
    );
    assert_eq!(
        answer, "2401|2876500|2401|a default beyond inline|own|14401|0.00|599.75",
        "{when}"
    );
    assert_eq!(
        rows(c, "select late from t where id = 2399"),
        "a default beyond inline",
        "{when}"
    );
    assert_eq!(rows(c, "select id from t where number = 1"), "-2300", "{when}");
    assert_eq!(
        rows(
            c,
            "select count(*) from t where late like 'a default%' and number = 6"
        ),
        "2400",
        "{when}"
    );
    assert_eq!(rows(c, "select n from counted"), "2401", "{when}");
    assert_eq!(
        state(c, "insert into t (id, price) values (17, 1)"),
        SqlState::UNIQUE_VIOLATION,
        "{when}"
    );
    assert_eq!(
        state(c, "select name from t"),
        SqlState::UNDEFINED_COLUMN,
        "{when}"
    );
}

#[test]
fn altered_tables_are_there_after_reopening_and_blocks_are_not_written_again() {
    let path = directory("altered");
    let database = Database::open(&path).expect("it opens");
    let c = database.connect();
    fill(&c, 2000, 400);
    rows(&c, "alter table t rename amount to price");
    rows(&c, "create view counted as select count(id) as n from t");
    rows(&c, "checkpoint");
    let segments = || {
        std::fs::read_dir(path.join("segments"))
            .expect("it is there")
            .count()
    };
    let before = segments();
    rows(
        &c,
        "alter table t add column late text default 'a default beyond inline', drop column name",
    );
    rows(&c, "checkpoint");
    assert_eq!(segments(), before, "nothing is written again");
    rows(&c, "alter table t add column number integer not null default 6");
    rows(&c, "insert into t values (-2300, 3, 'own', 1)");
    check(&c, "at first");
    let version = database;
    drop(c);
    version.close().expect("it closes");
    for round in 0..3 {
        let database = Database::open(&path).expect("it opens");
        let c = database.connect();
        check(&c, &format!("round {round}"));
        match round {
            0 => {
                // Without a change of rows, and then with one.
                rows(&c, "alter table t add column gone double precision default 1.5");
                rows(&c, "checkpoint");
                rows(&c, "alter table t drop column gone");
                rows(&c, "update t set price = price where id = 9");
            }
            1 => drop(rows(&c, "freeze t")),
            _ => {}
        }
        check(&c, &format!("round {round}, changed"));
        drop(c);
        database.close().expect("it closes");
    }
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn readers_keep_the_columns_they_saw() {
    let c = memory();
    fill(&c, 300, 20);
    let other = c.database().connect();
    rows(
        &c,
        "begin; alter table t drop column name; alter table t add column x integer default 1",
    );
    assert_eq!(rows(&c, "select * from t where id = 310"), "310|77.50|1");
    assert_eq!(
        rows(&other, "select * from t where id = 310"),
        "310|a good of number 310|77.50"
    );
    rows(&c, "commit");
    assert_eq!(rows(&other, "select * from t where id = 310"), "310|77.50|1");
    let explained = rows(&other, "explain analyze select id from t where x = 2");
    assert!(explained.contains("2 chunks, 1 skipped by SMA"), "{explained}");
}

#[test]
fn rows_that_are_gone_may_have_had_null_where_it_is_forbidden_now() {
    for freeze in ["select 1", "freeze t"] {
        let path = directory("altered-nulls");
        let database = Database::open(&path).expect("it opens");
        let c = database.connect();
        rows(&c, "create table t (a integer, b text)");
        rows(&c, "insert into t values (1, 'x'), (null, 'y'), (3, null)");
        rows(&c, freeze);
        rows(&c, "update t set a = 2 where a is null");
        rows(&c, "delete from t where b is null");
        rows(&c, "alter table t add primary key (a), alter b set not null");
        drop(c);
        database.close().expect("it closes");
        let database = Database::open(&path).expect("it opens");
        let c = database.connect();
        assert_eq!(rows(&c, "select a, b from t order by a"), "1|x\n2|y");
        rows(&c, "insert into t values (7, 'z')");
        assert_eq!(
            state(&c, "insert into t values (8, null)"),
            SqlState::NOT_NULL_VIOLATION
        );
        rows(&c, "freeze t");
        assert_eq!(rows(&c, "select a, b from t order by a"), "1|x\n2|y\n7|z");
        drop(c);
        database.close().expect("it closes");
        let _ = std::fs::remove_dir_all(&path);
    }
}

#[test]
fn code_for_a_layout_does_not_read_chunks_of_another() {
    for k in [1, 3, 64, 65_536] {
        for code in ["gathered", "compile_time", "run_time"] {
            let c = memory();
            rows(&c, &format!("set frazil.pax_code = '{code}'"));
            rows(&c, "create table digits (d integer)");
            rows(
                &c,
                "insert into digits values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
            );
            rows(
                &c,
                &format!("create table t (a smallint, b bigint, c text, d integer) with (pax_rows = {k})"),
            );
            let insert = |values: &str| {
                let numbers =
                    "(select a.d + 10 * b.d + 100 * c.d as n from digits a, digits b, digits c) numbers";
                rows(&c, &format!("insert into t select {values} from {numbers}"));
            };
            let sums = || {
                rows(
                    &c,
                    "select count(*), sum(b), sum(d), min(c), max(c), sum(b * d) from t",
                )
            };
            insert("n % 7, n, 'c' || n, 2");
            assert_eq!(sums(), "1000|499500|2000|c0|c999|999000", "{k} {code}");
            rows(&c, "alter table t drop column a");
            insert("n, 'd' || n, 3");
            assert_eq!(sums(), "2000|999000|5000|c0|d999|2497500", "{k} {code}");
            rows(&c, "alter table t alter b set not null");
            rows(&c, "begin; insert into t values (1, 'x', 1); rollback");
            rows(&c, "alter table t add column e integer default 4");
            insert("n, 'e' || n, 4, 5");
            assert_eq!(sums(), "3000|1498500|9000|c0|e999|4495500", "{k} {code}");
            assert_eq!(
                rows(&c, "select sum(e), sum(e * d), count(*) from t where e > 3"),
                "13000|40000|3000"
            );
            assert_eq!(rows(&c, "select sum(b + e) from t where c like 'c%'"), "503500");
        }
    }
}
