//! Changes of tables that only the log has: after a cut without a close, schema, rows, keys and indexes are those of the last commit,
//! whether columns came or went, indexes and keys were made or dropped, tables emptied, or savepoints rolled back in between.

use crate::{rows, state};
use frazil::{Connection, Database, Outcome, Schema, SqlState};
use frazil_testkit::SimVfs;
use std::path::Path;

fn over(sim: &SimVfs) -> Connection {
    let c = Database::open_over(sim.vfs(), Path::new("/db"))
        .expect("it opens")
        .connect();
    rows(&c, "set max_wal_size = off; set checkpoint_timeout = off");
    c
}

/// Names and types of a query's columns, and its rows.
fn answer(c: &Connection, sql: &str) -> (Schema, String) {
    match c.execute(sql).expect("it runs").outcome {
        Outcome::Rows(found) => (found.schema().clone(), rows(c, sql)),
        other => panic!("{sql}: {other:?}"),
    }
}

/// Runs statements, each a commit, cuts the power, and opens again, twice: what the queries answer stays.
fn survives(seed: u64, statements: &[&str], queries: &[&str]) -> (SimVfs, Connection) {
    let sim = SimVfs::new(seed);
    let c = over(&sim);
    for sql in statements {
        rows(&c, sql);
    }
    let indexes =
        "select table_name, index_name, columns, is_unique, entries from frazil_indexes order by 1, 2";
    let answers = |c: &Connection| -> Vec<_> {
        let queries = queries.iter().chain([&indexes]);
        queries.map(|sql| answer(c, sql)).collect()
    };
    let before = answers(&c);
    let sim = sim.restart_after_power_cut();
    let c = over(&sim);
    assert_ne!(
        rows(&c, "select recovered_commits from frazil_wal"),
        "0",
        "the log has them"
    );
    assert_eq!(answers(&c), before, "after a cut");
    let sim = sim.restart_after_power_cut();
    let c = over(&sim);
    assert_eq!(answers(&c), before, "after a second one");
    (sim, c)
}

#[test]
fn columns_that_came_and_went_in_the_log() {
    // Rows that are stored with the columns of different times, hot and frozen.
    for (seed, freeze) in [(1, ""), (2, "freeze t"), (3, "freeze t order by id")] {
        let mut statements = vec![
            "create table t (id integer primary key, name text, amount decimal(8,2) not null default 1)",
            "insert into t values (1, 'one', 1.5), (2, null, 2.5), (3, 'three', 3.5)",
        ];
        statements.extend((!freeze.is_empty()).then_some(freeze));
        statements.extend([
            "alter table t add column late integer default 7, add column note varchar(9) default 'n' || 'ew'",
            "insert into t values (4, 'four', 4.5, 40, 'own'), (5, 'five', 5.5, null, null)",
            "alter table t drop column name",
            "insert into t values (6, 6.5, 60, 'six')",
            "update t set late = id * 100, note = upper(note) where id in (2, 4)",
            "delete from t where id = 3",
        ]);
        statements.extend((!freeze.is_empty()).then_some(freeze));
        statements.extend([
            "alter table t add column name text default 'again', drop column note",
            "update t set name = 'changed' where id = 6",
            "insert into t (id) values (7)",
            "begin; alter table t add column undone integer; insert into t (id, undone) values (8, 8); rollback",
            "begin; alter table t add column kept bigint not null default 9; update t set kept = id where id < 3; \
             alter table t rename column late to later; commit",
        ]);
        let all = "select * from t order by id";
        let (_, c) = survives(
            seed,
            &statements,
            &[all, "select id, later from t where later > 50 order by 1"],
        );
        assert_eq!(
            rows(&c, all),
            "1|1.50|7|again|1\n2|2.50|200|again|2\n4|4.50|400|again|9\n5|5.50||again|9\n6|6.50|60|changed|9\n7|1.00|7|again|9"
        );
        assert_eq!(state(&c, "select note from t"), SqlState::UNDEFINED_COLUMN);
        assert_eq!(
            state(&c, "insert into t (id) values (6)"),
            SqlState::UNIQUE_VIOLATION
        );
        // Numbers of columns go on where they were: a column that comes now shows nothing of those that went.
        rows(
            &c,
            "alter table t add column fresh text; insert into t (id) values (9)",
        );
        assert_eq!(
            rows(&c, "select count(*), count(fresh), min(name) from t"),
            "7|0|again"
        );
    }
}

#[test]
fn indexes_and_keys_that_came_and_went_in_the_log() {
    let statements = [
        "create table t (a integer, b integer, c text)",
        "create index t_b on t (b)",
        "insert into t values (1, 10, 'x'), (2, 20, 'y'), (3, 30, null)",
        "create unique index t_c on t (c)",
        "drop index t_b",
        "alter table t add constraint key primary key (a)",
        "alter table t add constraint pair unique (b, c), add constraint low check (b < 1000)",
        "update t set a = a + 10",
        "insert into t values (1, 40, 'z')",
        "alter table t drop constraint pair",
        "begin; create index t_gone on t (c, a); insert into t values (5, 50, 'gone'); rollback",
        "create index t_desc on t (b desc) include (a)",
        "delete from t where a = 11",
    ];
    let queries = [
        "select * from t order by a",
        "select a from t where c = 'y'",
        "select a from t where b >= 30 order by b desc",
    ];
    let (_, c) = survives(4, &statements, &queries);
    assert_eq!(rows(&c, queries[0]), "1|40|z\n12|20|y\n13|30|");
    assert_eq!(
        rows(
            &c,
            "select index_name from frazil_indexes where table_name = 't' order by 1"
        ),
        "key\nt_c\nt_desc"
    );
    for (sql, refused) in [
        ("insert into t values (12, 1, 'new')", SqlState::UNIQUE_VIOLATION),
        ("insert into t values (20, 1, 'y')", SqlState::UNIQUE_VIOLATION),
        (
            "insert into t values (null, 1, 'n')",
            SqlState::NOT_NULL_VIOLATION,
        ),
        ("insert into t values (20, 1000, 'c')", SqlState::CHECK_VIOLATION),
    ] {
        assert_eq!(state(&c, sql), refused, "{sql}");
    }
    // Keys that left are free.
    rows(&c, "insert into t values (11, 40, 'x'), (2, 20, 'gone')");
    assert_eq!(rows(&c, "select count(*) from t"), "5");
}

#[test]
fn what_is_emptied_or_rolled_back_to_a_savepoint_stays_so_in_the_log() {
    let statements = [
        "create table t (k integer primary key, v text)",
        "create table u (k integer unique, v text default 'u')",
        "insert into t values (1, 'a'), (2, 'b')",
        "freeze t",
        "insert into t values (3, 'c')",
        "insert into u select k, v from t",
        "truncate t",
        "insert into t values (1, 'again')",
        "begin; truncate u; insert into u values (1, 'lost'); rollback",
        "begin; insert into t values (4, 'kept'); savepoint a; update t set v = 'lost'; insert into t values (5, 'lost'); \
         delete from t where k = 1; rollback to a; insert into t values (5, 'five'); savepoint b; delete from u where k = 1; \
         release b; commit",
        "begin; savepoint a; delete from t; insert into t values (9, 'lost'); rollback to a; commit",
        "begin; savepoint a; insert into u values (7); savepoint b; update u set v = 'lost'; rollback to b; \
         update u set v = 'seven' where k = 7; rollback to b; commit",
    ];
    let queries = ["select * from t order by k", "select * from u order by k"];
    let (_, c) = survives(5, &statements, &queries);
    assert_eq!(rows(&c, queries[0]), "1|again\n4|kept\n5|five");
    assert_eq!(rows(&c, queries[1]), "2|b\n3|c\n7|u");
    assert_eq!(
        state(&c, "insert into t values (5, '')"),
        SqlState::UNIQUE_VIOLATION
    );
    rows(
        &c,
        "insert into t values (2, ''), (3, ''), (9, ''); insert into u values (1)",
    );
    assert_eq!(
        rows(&c, "select (select count(*) from t), (select count(*) from u)"),
        "6|4"
    );
}

#[test]
fn columns_that_were_computed_for_all_rows_in_the_log() {
    for (seed, freeze) in [
        (11, "select 1"),
        (12, "freeze t"),
        (13, "freeze t order by id"),
        (14, "checkpoint"),
    ] {
        let statements = [
            "create table t (id integer primary key, name text, amount decimal(8,2) not null, day date)",
            "insert into t select i, 'the name of number ' || i, i / 4.0, date '2020-01-01' + i
             from generate_series(1, 3000) s (i)",
            "update t set name = null where id % 7 = 0",
            "delete from t where id between 1000 and 1100",
            freeze,
            "insert into t select i, 'hot ' || i, 1, null from generate_series(3001, 3100) s (i)",
            "create index on t (name)",
            "alter table t alter column amount type double precision using amount * 2, alter column id type bigint",
            "alter table t alter column name type varchar(40) using upper(name)",
            "insert into t values (9000000000, 'LATE', 0.5, date '2021-01-01')",
            "alter table t add column number serial, add column twice bigint generated always as (id * 2) stored",
            "create index on t ((id % 10), lower(name))",
            "begin; alter table t alter column day type text using 'lost'; rollback",
            "alter table t alter column day type timestamp using day + interval '1 hour'",
            "delete from t where id % 5 = 0",
            "update t set amount = 7 where id % 5 = 1",
        ];
        let queries = [
            "select id, name, amount, day, twice, number > 0 from t order by id",
            "select count(distinct number), min(number) from t",
            "select id from t where name = 'THE NAME OF NUMBER 17'",
            "select count(*), sum(twice) from t where twice between 4000 and 4400",
        ];
        let (_, c) = survives(seed, &statements, &queries);
        rows(&c, "checkpoint");
        let answers = |c: &Connection| queries.map(|sql| answer(c, sql));
        let before = answers(&c);
        rows(&c, "freeze t");
        assert_eq!(answers(&c), before, "frozen");
    }
}

#[test]
fn roles_owners_and_privileges_in_the_log() {
    let (_, c) = survives(
        41,
        &[
            "create table t (a integer, b integer); create schema s; create sequence q",
            "create role one login password 'x'; create role two createdb; create role three",
            "grant one to two with admin option; grant three to one",
            "alter table t owner to one; grant select (a) on t to public; grant insert on t to two",
            "grant usage, create on schema s to one; revoke connect on database frazil from public",
            "alter default privileges for role one grant select on tables to two",
            "set role one; create table s.made (a serial); reset role",
            "revoke three from one; drop role three; alter role two rename to second",
            "create role undone; drop role undone; alter sequence q owner to second; drop sequence q",
            "begin; create role rolled_back; grant select on t to rolled_back; rollback",
        ],
        &[
            "select * from pg_authid order by oid",
            "select * from pg_auth_members order by 1, 2",
            "select relname, relowner, relacl from pg_class where oid > 16384 order by oid",
            "select attacl from pg_attribute where attacl is not null",
            "select nspname, nspowner, nspacl from pg_namespace order by 1",
            "select datacl from pg_database",
            "select defaclrole, defaclobjtype, defaclacl from pg_default_acl",
        ],
    );
    let made = "select relacl from pg_class where relname = 'made'";
    assert_eq!(rows(&c, made), "{one=arwdDxt/one,second=r/one}");
    assert_eq!(state(&c, "drop role second"), SqlState::DEPENDENT_OBJECTS);
    rows(&c, "drop owned by one, second; drop role second, one");
}

/// Definitions of one table wait for nobody who writes another table, also in a directory that was opened again.
/// (Restored tables once had copies of the catalog's entries, and definitions took them for tables that they changed.)
#[test]
fn definitions_of_one_table_wait_for_no_writers_of_others() {
    let definitions = [
        "alter table t add column d integer default 5",
        "create index tv on t (v)",
        "drop index tv",
        "alter table t drop column d",
        "create view seen as select count(*) as n from t",
        "drop view seen",
        "create table other as select * from t",
        "truncate other",
        "freeze table t",
        "drop table other",
    ];
    // The manifest has the table that is written, or has it and the log defines it otherwise, or the log alone has it.
    let late = "alter table marks add column late integer";
    for (seed, ends) in [
        (11, &["checkpoint"][..]),
        (12, &["checkpoint", late]),
        (13, &[late]),
    ] {
        let sim = SimVfs::new(seed);
        let c = over(&sim);
        rows(
            &c,
            "create table marks (who integer primary key, n bigint); insert into marks values (0, 0); \
             create table t (k integer primary key, v integer); insert into t values (1, 1), (2, 2)",
        );
        ends.iter().for_each(|sql| drop(rows(&c, sql)));
        let sim = sim.restart_after_power_cut();
        let c = over(&sim);
        let writer = c.database().connect();
        rows(&c, "set lock_timeout = '200ms'");
        for sql in definitions {
            rows(&writer, "begin; update marks set n = n + 1");
            rows(&c, sql);
            rows(&writer, "commit");
        }
    }
}
