//! Temporary tables: each session has its own, nobody waits for them, and no file has them.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, SqlState};
use frazil_testkit::Random;
use std::collections::BTreeMap;

/// The number of schemas of temporary objects.
const SCHEMAS: &str = "select count(*) from pg_namespace where nspname like 'pg_temp_%'";

#[test]
fn two_sessions_have_tables_of_one_name() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create table t as select 'lasting' as x");
    let read = "select x from t";
    let prepared: Vec<_> = [&a, &b].map(|c| c.prepare(read).expect("it parses")).into();
    let answers = |wanted: [&str; 2]| {
        for ((c, prepared), wanted) in [&a, &b].into_iter().zip(&prepared).zip(wanted) {
            assert_eq!(rows(c, read), wanted);
            let row = prepared.query(()).expect("it has a row");
            let row: Vec<_> = row.raw().collect();
            assert_eq!(row, vec![vec![frazil::RawValue::Text(wanted.to_string())]]);
        }
    };
    answers(["lasting", "lasting"]);
    rows(&a, "create temp table t as select 'of a' as x");
    answers(["of a", "lasting"]);
    rows(&b, "create temp table t as select 'of b' as x");
    answers(["of a", "of b"]);
    assert_eq!(rows(&a, SCHEMAS), "2");
    let other = rows(
        &a,
        "select table_schema from information_schema.tables where table_name = 't' and table_type = 'LOCAL TEMPORARY'",
    );
    for sql in [
        format!("select * from {other}.t"),
        format!("insert into {other}.t values ('x')"),
        format!("update {other}.t set x = 'x'"),
    ] {
        assert_eq!(state(&b, &sql), SqlState::FEATURE_NOT_SUPPORTED, "{sql}");
    }
    assert_eq!(
        state(&b, &format!("create table {other}.u (x integer)")),
        SqlState::INVALID_TABLE_DEFINITION
    );
    rows(&a, "drop table t");
    answers(["lasting", "of b"]);
    rows(&b, "drop table pg_temp.t");
    answers(["lasting", "lasting"]);
}

/// The rows of a system table are kept between statements, and those of other sessions' temporary tables are not shown.
#[test]
fn each_session_sees_its_own_tables_in_the_standards_views() {
    let a = memory();
    let b = a.database().connect();
    rows(&a, "create temp table of_a (x integer)");
    let tables = "select string_agg(table_name, ' ' order by table_name) from information_schema.tables \
                  where table_name like 'of__'";
    let columns = "select string_agg(table_name, ' ' order by table_name) from information_schema.columns \
                   where table_name like 'of__'";
    let answers = |wanted: [&str; 2]| {
        for _ in 0..2 {
            for (c, wanted) in [&a, &b].into_iter().zip(wanted) {
                assert_eq!([rows(c, tables), rows(c, columns)], [wanted, wanted]);
            }
        }
    };
    answers(["of_a", ""]);
    rows(&b, "create temp table of_b (x integer)");
    answers(["of_a", "of_b"]);
    rows(&a, "create table of_c (x integer)");
    answers(["of_a of_c", "of_b of_c"]);
}

#[test]
fn tables_end_with_their_session() {
    let a = memory();
    let b = a.database().connect();
    rows(
        &b,
        "create temp table t (x serial primary key, y text unique); create temp view v as select * from t",
    );
    rows(
        &b,
        "insert into t (y) values ('one'), ('two'); begin; create temp table u (x integer)",
    );
    assert_eq!(rows(&a, SCHEMAS), "1");
    drop(b);
    assert_eq!(rows(&a, SCHEMAS), "0");
    assert_eq!(
        rows(&a, "select count(*) from pg_class where relpersistence = 't'"),
        "0"
    );
    // Somebody who writes alone keeps the end of another session from nothing.
    let c = a.database().connect();
    rows(&c, "create temp table t (x integer)");
    rows(
        &a,
        "begin isolation level serializable; create table lasting (x integer)",
    );
    drop(c);
    rows(&a, "commit");
    assert_eq!(rows(&a, SCHEMAS), "1");
    let d = a.database().connect();
    rows(&d, "create temp table t (x integer)");
    assert_eq!(rows(&a, SCHEMAS), "1");
    drop(d);
    assert_eq!(rows(&a, SCHEMAS), "0");
}

#[test]
fn nobody_compiles_or_waits_for_them() {
    let a = memory();
    let b = a.database().connect();
    rows(
        &a,
        "create table t (x integer primary key); insert into t values (1), (2)",
    );
    let texts = [
        "select sum(x) from t",
        "select count(*) from t a join t b using (x)",
    ];
    for text in texts {
        rows(&a, text);
    }
    // An open transaction that writes waits for nobody, and nobody for the transaction.
    rows(&a, "set lock_timeout = 1; begin; insert into t values (3)");
    rows(&b, "set lock_timeout = 1; insert into t values (4)");
    for text in texts {
        rows(&a, text);
    }
    let mut compiled = 0;
    for i in 0..1000 {
        rows(
            &b,
            &format!("create temp table t{i} (x integer); drop table t{i}"),
        );
        if i % 100 == 0 {
            for text in texts {
                let response = a.execute(text).expect("it runs");
                compiled += u32::from(!response.timing.compile.is_zero());
            }
        }
    }
    rows(
        &b,
        "create temp table lasts (x integer); insert into lasts values (5)",
    );
    rows(
        &a,
        "savepoint s; create temp table own (x integer); rollback to s; create temp table own (x integer)",
    );
    rows(&b, "create temp table own (x integer)");
    rows(&a, "insert into own values (6); commit");
    assert_eq!(
        rows(
            &b,
            "select * from lasts, (select count(*) from own) o, (select count(*) from t) t"
        ),
        "5|0|4"
    );
    assert_eq!((rows(&a, "select * from own"), compiled), ("6".to_string(), 0));
}

#[test]
fn no_file_has_them() {
    let path = directory("temporary");
    let database = Database::open(&path).expect("it opens");
    let (a, b) = (database.connect(), database.connect());
    rows(&a, "create table t (x integer); insert into t values (1)");
    rows(
        &a,
        "create temp table u (x serial primary key, y text); insert into u (y) values ('a'), ('b');
         create temp view v as select * from u",
    );
    rows(
        &a,
        "begin; insert into u (y) values ('c'); insert into t values (2); delete from u where x = 1; commit",
    );
    rows(
        &b,
        "create temp table u as select i from generate_series(1, 70000) i; create index on u (i)",
    );
    rows(&b, "freeze table u; create table later (x integer)");
    rows(
        &a,
        "checkpoint; insert into u (y) values ('d'); insert into t select count(*) from u",
    );
    assert_eq!(rows(&a, "select count(*) from v"), "3");
    assert_eq!(rows(&b, "select count(*) from u where i > 69990"), "10");
    let backup = directory("temporary-backup");
    rows(&a, &format!("backup to '{}'", backup.display()));
    let copy = directory("temporary-copy");
    crate::directories::copy_all(&path, &copy);
    drop((a, b));
    database.close().expect("it closes");
    for path in [path, backup, copy] {
        let database = Database::open(&path).expect("it opens");
        let c = database.connect();
        assert_eq!(rows(&c, "select * from t order by x"), "1\n2\n3");
        assert_eq!(rows(&c, SCHEMAS), "0");
        assert_eq!(state(&c, "select * from u"), SqlState::UNDEFINED_TABLE);
        rows(
            &c,
            "create temp table u (x integer); create table more (x integer); insert into later values (1)",
        );
        assert_eq!(c.verify().expect("it reads all").findings, Vec::<String>::new());
        drop(c);
        database.close().expect("it closes");
        let _ = std::fs::remove_dir_all(path);
    }
}

/// The tables of a session by name: true if COMMIT deletes rows, and the values.
type Tables = BTreeMap<&'static str, (bool, Vec<i64>)>;

/// A session with what it must see: its own tables, and in a transaction what they were at each savepoint.
struct Modelled {
    connection: Connection,
    own: Tables,
    /// Before the transaction, then at its savepoints.
    before: Vec<Tables>,
}

impl Modelled {
    fn step(&mut self, random: &mut Random) {
        let name = ["a", "b"][random.below(2) as usize];
        let value = random.below(1000) as i64;
        let run = |sql: &str| rows(&self.connection, sql);
        match (random.below(9), self.before.len()) {
            (0, _) if !self.own.contains_key(name) => {
                let deletes = random.below(3) == 0;
                let end = if deletes { "on commit delete rows" } else { "" };
                run(&format!(
                    "create temp table {name} (x bigint, y serial unique) {end}"
                ));
                self.own.insert(name, (deletes, Vec::new()));
                self.end_statement();
            }
            (1, _) if self.own.remove(name).is_some() => drop(run(&format!("drop table {name}"))),
            (2 | 3, _) if self.own.contains_key(name) => {
                run(&format!("insert into {name} values ({value})"));
                self.own.entry(name).or_default().1.push(value);
                self.end_statement();
            }
            (4, _) if self.own.contains_key(name) => {
                run(&format!("delete from {name} where x % 2 = 0"));
                self.own.entry(name).or_default().1.retain(|x| x % 2 != 0);
            }
            (5, 0) => {
                run("begin");
                self.before.push(self.own.clone());
            }
            (5, at) => {
                run(&format!("savepoint s{at}"));
                self.before.push(self.own.clone());
            }
            (6, at) if at > 1 => {
                run(&format!("rollback to s{}", at - 1));
                self.own.clone_from(&self.before[at - 1]);
            }
            (7, 1..) => {
                run("commit");
                self.before.clear();
                self.end_statement();
            }
            (8, 1..) => {
                run("rollback");
                self.own = std::mem::take(&mut self.before).swap_remove(0);
            }
            _ => {}
        }
    }

    /// Outside a transaction each statement is one.
    fn end_statement(&mut self) {
        if self.before.is_empty() {
            let emptied = self.own.values_mut().filter(|(deletes, _)| *deletes);
            emptied.for_each(|(_, values)| values.clear());
        }
    }

    fn check(&self, lasting: &BTreeMap<&str, &str>, seed: u64) {
        for name in ["a", "b"] {
            let wanted = match self.own.get(name) {
                Some((_, values)) => {
                    let mut values = values.clone();
                    values.sort_unstable();
                    values.iter().map(i64::to_string).collect::<Vec<_>>().join("\n")
                }
                None => lasting[name].to_string(),
            };
            assert_eq!(
                rows(&self.connection, &format!("select x from {name} order by x")),
                wanted,
                "seed {seed}: {name}"
            );
        }
    }
}

/// Rows that COPY brings get their checks and generated columns.
#[test]
fn rows_of_files_are_checked() {
    let c = memory();
    let table = "create temp table t (a integer check (a < 5), b integer generated always as (a + 1) stored)";
    rows(&c, table);
    let path = directory("temporary-rows").with_extension("csv");
    let write = |values: &str| rows(&c, &format!("copy (values {values}) to '{}'", path.display()));
    let read = format!("copy t from '{}'", path.display());
    write("(1), (2)");
    rows(&c, &read);
    write("(3), (7)");
    assert_eq!(state(&c, &read), SqlState::CHECK_VIOLATION);
    assert_eq!(rows(&c, "select a, b from t order by a"), "1|2\n2|3");
    std::fs::remove_file(path).expect("it was written");
}

/// Random statements of three sessions on temporary tables that hide two lasting ones, beside a session that writes to
/// these and defines others: each session sees what its own statements made.
#[test]
fn sessions_side_by_side_are_as_their_model() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let path = directory("temporary-model");
        let database = Database::open(&path).expect("it opens");
        let writer = database.connect();
        rows(
            &writer,
            "create table a as select 'lasting a' as x; create table b as select 'lasting b' as x;
             create table w (x integer)",
        );
        let lasting = BTreeMap::from([("a", "lasting a"), ("b", "lasting b")]);
        let mut sessions: Vec<Modelled> = (0..3)
            .map(|_| Modelled {
                connection: database.connect(),
                own: Tables::new(),
                before: Vec::new(),
            })
            .collect();
        let mut written = 0;
        for step in 0..60 {
            let at = random.below(3) as usize;
            sessions[at].step(&mut random);
            match random.below(6) {
                0 => {
                    rows(&writer, "insert into w values (1)");
                    written += 1;
                }
                // Definitions of lasting objects wait for open transactions.
                1 if sessions.iter().all(|s| s.before.is_empty()) => {
                    rows(&writer, &format!("create table more{step} (x integer)"));
                }
                2 => drop(rows(&writer, "checkpoint")),
                3 if sessions[at].before.is_empty() => {
                    sessions[at].connection = database.connect();
                    sessions[at].own.clear();
                }
                _ => {}
            }
            sessions.iter().for_each(|s| s.check(&lasting, seed));
        }
        drop(sessions);
        assert_eq!(rows(&writer, SCHEMAS), "0", "seed {seed}");
        drop(writer);
        database.close().expect("it closes");
        let database = Database::open(&path).expect("it opens");
        let c = database.connect();
        assert_eq!(
            rows(&c, "select count(*) from w"),
            written.to_string(),
            "seed {seed}"
        );
        assert_eq!(rows(&c, SCHEMAS), "0");
        drop(c);
        database.close().expect("it closes");
        let _ = std::fs::remove_dir_all(path);
    }
}
