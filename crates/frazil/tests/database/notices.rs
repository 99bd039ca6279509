//! Notices of definitions: objects that are there already or not at all, and what CASCADE takes. The texts are
//! PostgreSQL 15's.

use crate::{memory, rows};
use frazil::Connection;
use frazil_testkit::Random;
use std::collections::BTreeSet;

/// Runs statements. Returns their notices as `NOTICE 00000 text`, with details on lines of their own.
fn told(c: &Connection, sql: &str) -> Vec<String> {
    let response = c.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = |notice: &frazil::Notice| {
        let detail = notice.detail.iter().flat_map(|detail| detail.lines());
        let first = format!("{} {} {}", notice.severity, notice.state, notice.message);
        let lines: Vec<String> = std::iter::once(first).chain(detail.map(str::to_owned)).collect();
        lines
    };
    response.notices.iter().flat_map(text).collect()
}

#[test]
fn objects_that_are_there_or_not_are_skipped_with_a_notice() {
    let c = memory();
    rows(
        &c,
        "create schema s; create sequence q; create type e as enum ('a')",
    );
    rows(
        &c,
        "create table t (a int primary key, b int); create index i on t (b)",
    );
    for (sql, wanted) in [
        (
            "drop table if exists nope, nos.nope2",
            &[
                "NOTICE 00000 table \"nope\" does not exist, skipping",
                "NOTICE 00000 schema \"nos\" does not exist, skipping",
            ][..],
        ),
        (
            "drop table if exists s.nope",
            &["NOTICE 00000 table \"nope\" does not exist, skipping"],
        ),
        (
            "drop view if exists nope",
            &["NOTICE 00000 view \"nope\" does not exist, skipping"],
        ),
        (
            "drop sequence if exists nope",
            &["NOTICE 00000 sequence \"nope\" does not exist, skipping"],
        ),
        (
            "drop index if exists nope",
            &["NOTICE 00000 index \"nope\" does not exist, skipping"],
        ),
        (
            "drop schema if exists nope cascade",
            &["NOTICE 00000 schema \"nope\" does not exist, skipping"],
        ),
        (
            "drop type if exists nope",
            &["NOTICE 00000 type \"nope\" does not exist, skipping"],
        ),
        (
            "drop type if exists s.nope",
            &["NOTICE 00000 type \"s.nope\" does not exist, skipping"],
        ),
        (
            "drop domain if exists nope",
            &["NOTICE 00000 type \"nope\" does not exist, skipping"],
        ),
        (
            "drop type if exists nos.x",
            &["NOTICE 00000 schema \"nos\" does not exist, skipping"],
        ),
        (
            "create table if not exists t (a int)",
            &["NOTICE 42P07 relation \"t\" already exists, skipping"],
        ),
        (
            "create table if not exists i (a int)",
            &["NOTICE 42P07 relation \"i\" already exists, skipping"],
        ),
        (
            "create table if not exists t as select 1",
            &["NOTICE 42P07 relation \"t\" already exists, skipping"],
        ),
        (
            "create schema if not exists s",
            &["NOTICE 42P06 schema \"s\" already exists, skipping"],
        ),
        (
            "create sequence if not exists q",
            &["NOTICE 42P07 relation \"q\" already exists, skipping"],
        ),
        (
            "create index if not exists i on t (b)",
            &["NOTICE 42P07 relation \"i\" already exists, skipping"],
        ),
        (
            "alter type e add value if not exists 'a'",
            &["NOTICE 42710 enum label \"a\" already exists, skipping"],
        ),
        // Nothing to say.
        (
            "create table if not exists u (a int); create schema if not exists s2",
            &[],
        ),
        (
            "create index if not exists i2 on t (b); alter type e add value if not exists 'b'",
            &[],
        ),
        (
            "drop table if exists u cascade; drop index if exists i2; drop schema if exists s2 cascade",
            &[],
        ),
    ] {
        assert_eq!(told(&c, sql), wanted, "{sql}");
    }
    rows(&c, "set client_min_messages = warning");
    assert!(told(&c, "drop table if exists nope").is_empty());
}

/// Objects of kinds that Frazil does not have are never there. Dumps drop them before they make them.
#[test]
fn objects_of_other_kinds_are_skipped_with_a_notice() {
    let c = memory();
    rows(&c, "create schema s; create table t (a int)");
    for (sql, wanted) in [
        (
            "drop function if exists nope()",
            &["NOTICE 00000 function nope() does not exist, skipping"][..],
        ),
        (
            "drop function if exists nope(integer, text) cascade",
            &["NOTICE 00000 function nope(pg_catalog.int4,text) does not exist, skipping"],
        ),
        (
            "drop function if exists nope, nos.nope2(varchar(3), int4[], x double precision)",
            &[
                "NOTICE 00000 function nope() does not exist, skipping",
                "NOTICE 00000 schema \"nos\" does not exist, skipping",
            ],
        ),
        (
            "drop function if exists s.nope(varchar, timestamp with time zone, double precision, a numeric(3,1), \
             out x int)",
            &[
                "NOTICE 00000 function s.nope(pg_catalog.varchar,pg_catalog.timestamptz,pg_catalog.float8,\
               pg_catalog.numeric) does not exist, skipping",
            ],
        ),
        (
            "drop procedure if exists nope()",
            &["NOTICE 00000 procedure nope() does not exist, skipping"],
        ),
        (
            "drop routine if exists nope()",
            &["NOTICE 00000 routine nope() does not exist, skipping"],
        ),
        (
            "drop aggregate if exists nope(text), nope2(*)",
            &[
                "NOTICE 00000 aggregate nope(text) does not exist, skipping",
                "NOTICE 00000 aggregate nope2() does not exist, skipping",
            ],
        ),
        (
            "drop trigger if exists nope on t",
            &["NOTICE 00000 trigger \"nope\" for relation \"t\" does not exist, skipping"],
        ),
        (
            "drop trigger if exists nope on nos.t cascade",
            &["NOTICE 00000 schema \"nos\" does not exist, skipping"],
        ),
        (
            "drop trigger if exists nope on t2",
            &["NOTICE 00000 relation \"t2\" does not exist, skipping"],
        ),
        (
            "drop rule if exists nope on t",
            &["NOTICE 00000 rule \"nope\" for relation \"t\" does not exist, skipping"],
        ),
        (
            "drop policy if exists nope on t",
            &["NOTICE 00000 policy \"nope\" for relation \"t\" does not exist, skipping"],
        ),
        (
            "drop extension if exists nope, nope2 cascade",
            &[
                "NOTICE 00000 extension \"nope\" does not exist, skipping",
                "NOTICE 00000 extension \"nope2\" does not exist, skipping",
            ],
        ),
        (
            "drop language if exists nope",
            &["NOTICE 00000 language \"nope\" does not exist, skipping"],
        ),
        (
            "drop event trigger if exists nope",
            &["NOTICE 00000 event trigger \"nope\" does not exist, skipping"],
        ),
        (
            "create extension if not exists plpgsql with schema pg_catalog",
            &["NOTICE 42710 extension \"plpgsql\" already exists, skipping"],
        ),
        (
            "comment on extension plpgsql is 'PL/pgSQL procedural language'",
            &[],
        ),
    ] {
        assert_eq!(told(&c, sql), wanted, "{sql}");
    }
}

#[test]
fn alter_table_says_what_it_skips_and_what_cascade_drops() {
    let c = memory();
    rows(
        &c,
        "create table t (a int primary key, b int generated always as (a + 1) stored, c int unique,
         d int generated always as identity, e int, f serial)",
    );
    rows(
        &c,
        "create view v as select b from t; create view w as select c, e from t; create view x as select * from w",
    );
    rows(
        &c,
        "create table r (p int references t, q int references t (c), z int default nextval('t_f_seq'))",
    );
    let skips = "alter table t add column if not exists a int, drop column if exists nope,
                 drop constraint if exists nada";
    assert_eq!(
        told(&c, skips),
        [
            "NOTICE 00000 column \"nope\" of relation \"t\" does not exist, skipping",
            "NOTICE 00000 constraint \"nada\" of relation \"t\" does not exist, skipping",
            "NOTICE 42701 column \"a\" of relation \"t\" already exists, skipping",
        ]
    );
    for action in ["add g int", "alter a drop identity", "set schema public"] {
        let missing = "NOTICE 00000 relation \"nosuch\" does not exist, skipping";
        assert_eq!(
            told(&c, &format!("alter table if exists nosuch {action}")),
            [missing]
        );
    }
    let identities = "alter table t alter a drop identity if exists, alter e drop identity if exists,
                      alter d drop identity, alter d drop identity if exists";
    let not_one = |column: &str, kind: &str| {
        format!("NOTICE 00000 column \"{column}\" of relation \"t\" is not {kind}, skipping")
    };
    let expected = ["a", "e", "d"].map(|column| not_one(column, "an identity column"));
    assert_eq!(told(&c, identities), expected);
    assert_eq!(
        told(&c, "alter table t alter c drop expression if exists"),
        [not_one("c", "a stored generated column")]
    );
    let cascades: [(&str, &[&str]); 4] = [
        (
            "drop column f cascade",
            &["NOTICE 00000 drop cascades to default value for column z of table r"],
        ),
        (
            "drop column e cascade, drop column c cascade",
            &[
                "NOTICE 00000 drop cascades to 2 other objects",
                "drop cascades to view w",
                "drop cascades to view x",
                "NOTICE 00000 drop cascades to constraint r_q_fkey on table r",
            ],
        ),
        (
            "drop constraint t_pkey cascade",
            &["NOTICE 00000 drop cascades to constraint r_p_fkey on table r"],
        ),
        (
            "drop column a cascade",
            &[
                "NOTICE 00000 drop cascades to 2 other objects",
                "drop cascades to column b of table t",
                "drop cascades to view v",
            ],
        ),
    ];
    for (actions, expected) in cascades {
        assert_eq!(
            told(&c, &format!("alter table t {actions}")),
            *expected,
            "{actions}"
        );
    }
    rows(
        &c,
        "create table u (a int, b int generated always as (a + 1) stored,
         c int generated always as (a + 2) stored, d int)",
    );
    rows(&c, "create view y as select c from u");
    assert_eq!(
        told(&c, "alter table u drop column b cascade, drop column a cascade"),
        [
            "NOTICE 00000 drop cascades to 2 other objects",
            "drop cascades to column c of table u",
            "drop cascades to view y",
        ]
    );
}

#[test]
fn cascade_says_what_it_drops() {
    let c = memory();
    rows(
        &c,
        "create table t (a int primary key); create view v as select * from t; create view w as select * from v",
    );
    rows(&c, "create table c (x int references t)");
    rows(
        &c,
        "create table d (x int references t, y int constraint kk references t)",
    );
    assert_eq!(
        told(&c, "drop view v cascade"),
        ["NOTICE 00000 drop cascades to view w"]
    );
    rows(&c, "create view v as select * from t");
    assert_eq!(
        told(&c, "truncate t cascade"),
        [
            "NOTICE 00000 truncate cascades to table \"c\"",
            "NOTICE 00000 truncate cascades to table \"d\"",
        ]
    );
    assert_eq!(
        told(&c, "drop table t cascade"),
        [
            "NOTICE 00000 drop cascades to 4 other objects",
            "drop cascades to constraint c_x_fkey on table c",
            "drop cascades to constraint d_x_fkey on table d",
            "drop cascades to constraint kk on table d",
            "drop cascades to view v",
        ]
    );
    rows(
        &c,
        "create schema s; create table s.t1 (a serial); create view s.vv as select * from s.t1",
    );
    rows(
        &c,
        "create sequence s.sq; create type s.ty as enum ('a'); create domain s.dd as int",
    );
    rows(
        &c,
        "create table u (a s.ty, b s.dd, c int); create view uv as select c from u where a = 'a'",
    );
    assert_eq!(
        told(&c, "drop type s.ty cascade"),
        [
            "NOTICE 00000 drop cascades to 2 other objects",
            "drop cascades to column a of table u",
            "drop cascades to view uv",
        ]
    );
    assert_eq!(
        told(&c, "drop schema s cascade"),
        [
            "NOTICE 00000 drop cascades to 5 other objects",
            "drop cascades to table s.t1",
            "drop cascades to view s.vv",
            "drop cascades to sequence s.sq",
            "drop cascades to type s.dd",
            "drop cascades to column b of table u",
        ]
    );
    rows(
        &c,
        "create sequence sx; create table uy (a int default nextval('sx'))",
    );
    assert_eq!(
        told(&c, "drop sequence sx cascade"),
        ["NOTICE 00000 drop cascades to default value for column a of table uy"]
    );
    rows(&c, "create domain dx as int; create table ux (a dx, b dx, c int)");
    assert_eq!(
        told(&c, "drop domain dx cascade"),
        [
            "NOTICE 00000 drop cascades to 2 other objects",
            "drop cascades to column b of table ux",
            "drop cascades to column a of table ux",
        ]
    );
}

#[test]
fn grants_that_change_nothing_are_warned_of() {
    let c = memory();
    rows(
        &c,
        "create role a; create role b; create table t (x int); grant select on t to a",
    );
    rows(&c, "set role a");
    let granted = told(&c, "grant select on t to b");
    assert_eq!(granted, ["WARNING 01007 no privileges were granted for \"t\""]);
    let revoked = told(&c, "revoke select on t from b");
    assert_eq!(
        revoked,
        ["WARNING 01006 no privileges could be revoked for \"t\""]
    );
    rows(&c, "reset role; grant a to b");
    let again = told(&c, "grant a to b");
    assert_eq!(
        again,
        ["NOTICE 00000 role \"b\" is already a member of role \"a\""]
    );
    let absent = told(&c, "revoke b from a");
    assert_eq!(absent, ["WARNING 01000 role \"a\" is not a member of role \"b\""]);
}

#[test]
fn a_long_list_is_cut() {
    let c = memory();
    rows(&c, "create table t (a int)");
    for number in 0..103 {
        rows(&c, &format!("create view v{number} as select a from t"));
    }
    let lines = told(&c, "drop table t cascade");
    assert_eq!(lines[0], "NOTICE 00000 drop cascades to 103 other objects");
    assert_eq!((lines.len(), lines[101].as_str()), (102, "and 3 other objects"));
}

/// Names of the objects and constraints that there are.
const OBJECTS: &str = "select string_agg(name, ',') from (
    select relname::text as name from pg_class where relkind in ('r', 'v', 'S') and relname ~ '^[tvq][0-9]'
    union all select conname::text from pg_constraint where contype = 'f') x";

/// RESTRICT refuses with exactly the objects that CASCADE then drops and says.
#[test]
fn cascade_says_what_restrict_refuses() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let c = memory();
        let mut made: Vec<String> = Vec::new();
        for number in 0..14 {
            let from = (!made.is_empty()).then(|| made[random.index(made.len())].clone());
            let (name, sql) = match (from, random.below(3)) {
                (Some(from), 0 | 1) => {
                    let name = format!("v{number}");
                    (
                        name.clone(),
                        format!("create view {name} as select 1 as a from {from}"),
                    )
                }
                (Some(from), _) if from.starts_with('t') => {
                    let name = format!("t{number}");
                    let sql = format!(
                        "create table {name} (a int primary key, b int constraint f{number} references {from})"
                    );
                    (name, sql)
                }
                _ => {
                    let name = format!("t{number}");
                    (name.clone(), format!("create table {name} (a int primary key)"))
                }
            };
            rows(&c, &sql);
            made.push(name);
        }
        let all =
            |c: &Connection| -> BTreeSet<String> { rows(c, OBJECTS).split(',').map(str::to_owned).collect() };
        while !made.is_empty() {
            let name = made.swap_remove(random.index(made.len()));
            let before = all(&c);
            if !before.contains(&name) {
                continue;
            }
            let drop = format!(
                "drop {} {name}",
                if name.starts_with('t') { "table" } else { "view" }
            );
            let Err(refused) = c.execute(&drop) else {
                continue;
            };
            let detail = refused.detail().expect("2BP01 has a list").to_owned();
            let refused: Vec<&str> = detail
                .lines()
                .filter_map(|line| line.split(" depends on ").next())
                .collect();
            let told = told(&c, &format!("{drop} cascade"));
            let said: Vec<&str> = (told.iter())
                .filter_map(|line| line.split_once("drop cascades to ").map(|(_, object)| object))
                .filter(|object| !object.ends_with(" other objects"))
                .collect();
            assert_eq!(said, refused, "seed {seed}: {drop}");
            let gone = before.difference(&all(&c)).count();
            let own_keys = before
                .difference(&all(&c))
                .filter(|gone| gone.starts_with('f'))
                .count();
            let said_keys = said
                .iter()
                .filter(|object| object.starts_with("constraint"))
                .count();
            // A foreign key of a table that goes is not listed.
            assert_eq!(gone - own_keys, 1 + said.len() - said_keys, "seed {seed}: {drop}");
            assert!(own_keys >= said_keys, "seed {seed}: {drop}");
        }
    }
}
