//! Generated columns: whatever statements come, each row has the values that the expressions give. And the ways in
//! which rows come that no plan computes: COPY, an Appender, foreign keys, a directory that is opened again.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, Outcome, SqlState};
use frazil_testkit::Random;

/// A parent, whose keys a child follows, and the child: one generated column reads a key that foreign keys change.
const TABLES: &str = "create table p (k integer primary key);
    insert into p select n from generate_series(1, 20) x(n);
    create table t (
        id integer primary key,
        k integer references p on update cascade on delete set null,
        a integer,
        twice integer generated always as (k * 2) stored,
        label text generated always as (coalesce(k::text, '-') || ':' || a) stored,
        check (twice is null or twice < 100000)
    )";

/// Rows of `t` whose generated columns have other values than their expressions.
const OTHERS: &str = "select id from t where twice is distinct from k * 2
    or label is distinct from coalesce(k::text, '-') || ':' || a";

/// A statement that changes rows, or how they are held.
fn statement(random: &mut Random) -> String {
    let id = random.below(40);
    let k = match random.below(5) {
        0 => "null".to_string(),
        _ => random.below(22).to_string(),
    };
    let a = random.below(9);
    match random.below(12) {
        0 | 1 => format!("insert into t (id, k, a) values ({id}, {k}, {a}), ({id} + 40, {k}, null)"),
        2 => format!("insert into t select {id} + n, {k}, n from generate_series(1, 5) x(n)"),
        3 => format!(
            "insert into t values ({id}, {k}, {a}) on conflict (id)
                 do update set a = excluded.a + t.twice, k = excluded.k"
        ),
        4 => format!(
            "insert into t values ({id}, {k}, {a}, default) on conflict (id) do update set label = default"
        ),
        5 => format!("update t set a = a + {a} where id % 7 = {a}"),
        6 => format!("update t set k = {k}, id = id + 1 where id = {id}"),
        7 => format!("update p set k = k + 100 where k = {k}"),
        8 => format!("update p set k = k - 100 where k = {k} + 100"),
        9 => format!("delete from p where k = {k} + 100"),
        10 => format!("delete from t where id = {id}"),
        _ => "freeze t".to_string(),
    }
}

#[test]
fn random_statements_leave_the_values_of_the_expressions() {
    let (mut done, mut refused) = (0, 0);
    for seed in 0..12 {
        let random = &mut Random::new(seed);
        let c = memory();
        rows(&c, TABLES);
        for _ in 0..60 {
            let sql = statement(random);
            let within = random.below(4) == 0 && sql != "freeze t";
            if within {
                rows(&c, "begin");
            }
            match c.execute(&sql) {
                Ok(_) => done += 1,
                Err(e) => {
                    let expected = [SqlState::UNIQUE_VIOLATION, SqlState::FOREIGN_KEY_VIOLATION];
                    assert!(expected.contains(&e.state()), "seed {seed}: {sql}: {e:?}");
                    refused += 1;
                }
            }
            if within {
                rows(
                    &c,
                    if random.below(2) == 0 {
                        "rollback"
                    } else {
                        "commit"
                    },
                );
            }
            assert_eq!(rows(&c, OTHERS), "", "seed {seed}: {sql}");
        }
        assert_eq!(
            c.verify().expect("it runs").findings,
            Vec::<String>::new(),
            "seed {seed}"
        );
    }
    assert!(done > 300 && refused > 50, "{done} statements, {refused} refused");
}

#[test]
fn rows_that_no_plan_computes_get_their_values() {
    let path = directory("generated-copy");
    std::fs::create_dir_all(&path).unwrap();
    let file = path.join("rows.csv");
    let c = memory();
    rows(
        &c,
        "create table t (a integer, b integer generated always as (a * 2) stored check (b < 200000), c text)",
    );
    rows(
        &c,
        "insert into t (a, c) select n, 'x' || n from generate_series(1, 3) x(n)",
    );
    let name = file.display();
    assert_eq!(rows(&c, &format!("copy t to '{name}'")), "COPY 3");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "1,x1\n2,x2\n3,x3\n");
    assert_eq!(rows(&c, &format!("copy t from '{name}'")), "COPY 3");
    assert_eq!(
        rows(&c, "select * from t order by a, b limit 3"),
        "1|2|x1\n1|2|x1\n2|4|x2"
    );
    for sql in [
        format!("copy t (a, b) from '{name}'"),
        format!("copy t (b) to '{name}'"),
    ] {
        let refused = c.execute(&sql).unwrap_err();
        assert_eq!(refused.state(), SqlState::INVALID_COLUMN_REFERENCE);
        assert_eq!(
            refused.detail(),
            Some("Generated columns cannot be used in COPY.")
        );
    }
    // More rows than a chunk has, and one that the CHECK of a generated column refuses.
    let lines: String = (0..70_000).map(|n| format!("{n},y\n")).collect();
    std::fs::write(&file, &lines).unwrap();
    assert_eq!(rows(&c, &format!("copy t (a, c) from '{name}'")), "COPY 70000");
    std::fs::write(&file, lines + "100000,y\n").unwrap();
    assert_eq!(
        state(&c, &format!("copy t from '{name}'")),
        SqlState::CHECK_VIOLATION
    );
    assert_eq!(rows(&c, "select count(*), sum(b - 2 * a) from t"), "70006|0");
    assert_eq!(c.verify().expect("it runs").findings, Vec::<String>::new());
    let Outcome::Rows(found) = c.execute("select 7, 'z'").unwrap().outcome else {
        panic!("a query returns rows");
    };
    let mut appender = c.appender("t").unwrap();
    appender.append(found.batches()[0].clone()).unwrap();
    assert_eq!(appender.finish().unwrap(), 1);
    assert_eq!(rows(&c, "select b from t where c = 'z'"), "14");
    std::fs::remove_dir_all(&path).unwrap();
}

/// Compares the rows of the table, then the values that an insert and an update compute.
fn check(c: &Connection) {
    assert_eq!(
        rows(c, "select * from t order by id"),
        "1|2|Ann|ANN 2|4\n2|3|Bob|BOB 3|9\n3||Cyn||"
    );
    rows(c, "begin");
    assert_eq!(
        rows(c, "insert into t values (4, 5, 'Dan') returning *"),
        "4|5|Dan|DAN 5|25"
    );
    assert_eq!(
        rows(c, "update t set n = 1 where id = 1 returning *"),
        "1|1|Ann|ANN 1|1"
    );
    assert_eq!(state(c, "update t set square = 1"), SqlState::GENERATED_ALWAYS);
    rows(c, "rollback");
    assert_eq!(
        state(c, "alter table t drop column n"),
        SqlState::DEPENDENT_OBJECTS
    );
}

#[test]
fn a_directory_that_is_opened_again_computes_them() {
    let path = directory("generated-reopen");
    {
        let database = Database::open(&path).unwrap();
        let c = database.connect();
        rows(
            &c,
            "create table t (id integer primary key, gone integer, n integer, name text,
                 label text generated always as (upper(name) || ' ' || n) stored);
             insert into t (id, n, name) values (1, 2, 'Ann'), (2, 3, 'Bob'), (3, null, 'Cyn');
             alter table t drop column gone, add column square integer generated always as (n * n) stored;
             freeze t",
        );
        check(&c);
    }
    for _ in 0..2 {
        let c = Database::open(&path).unwrap().connect();
        check(&c);
        assert_eq!(c.verify().expect("it runs").findings, Vec::<String>::new());
        rows(&c, "checkpoint");
    }
    std::fs::remove_dir_all(&path).unwrap();
}
