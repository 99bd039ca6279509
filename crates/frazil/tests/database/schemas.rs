//! Schemas and search paths: what a text means to sessions of different paths, and what a directory keeps of them.

use crate::{directory, memory, rows, state};
use frazil::{Connection, Database, SqlState};
use frazil_testkit::Random;
use std::collections::BTreeMap;

const SCHEMAS: [&str; 3] = ["public", "r", "s"];
const NAMES: [&str; 3] = ["a", "b", "c"];

/// The value of the one row of each table that there is, by schema and name.
type Model = BTreeMap<(&'static str, &'static str), i64>;

/// A session with the path that it has.
struct Searching {
    connection: Connection,
    path: Vec<&'static str>,
}

impl Searching {
    fn set(&mut self, path: Vec<&'static str>) {
        rows(
            &self.connection,
            &format!("set search_path = {}", path.join(", ")),
        );
        self.path = path;
    }

    /// The row that a name means by the model: its first one along the path.
    fn meant(&self, model: &Model, name: &'static str) -> Option<i64> {
        self.path
            .iter()
            .find_map(|schema| model.get(&(*schema, name)).copied())
    }

    /// Asks for the row of each name, by texts that are kept between calls, and compares with the model.
    fn check(&self, model: &Model, seed: u64) {
        let answer = |sql: &str| match self.connection.execute(sql) {
            Ok(_) => Some(rows(&self.connection, sql)),
            Err(error) => {
                assert_eq!(error.state(), SqlState::UNDEFINED_TABLE, "{sql}");
                None
            }
        };
        for name in NAMES {
            let wanted = self.meant(model, name).map(|v| v.to_string());
            assert_eq!(
                answer(&format!("select x from {name}")),
                wanted,
                "seed {seed}, {:?}: {name}",
                self.path
            );
            let prepared = rows_of_prepared(&self.connection, name);
            assert_eq!(prepared, wanted, "seed {seed}, {:?}: prepared {name}", self.path);
            for schema in SCHEMAS {
                let wanted = model.get(&(schema, name)).map(|v| v.to_string());
                assert_eq!(
                    answer(&format!("select x from {schema}.{name}")),
                    wanted,
                    "seed {seed}: {schema}.{name}"
                );
            }
        }
    }
}

/// The rows of a statement that the connection has prepared for a name.
fn rows_of_prepared(connection: &Connection, name: &str) -> Option<String> {
    let execute = format!("execute of_{name}");
    match connection.execute(&execute) {
        Ok(_) => Some(rows(connection, &execute)),
        Err(error) if error.state() == SqlState::INVALID_STATEMENT_NAME => {
            // It is prepared when the name first means something.
            let prepare = format!("prepare of_{name} as select x from {name}");
            connection.execute(&prepare).ok()?;
            Some(rows(connection, &execute))
        }
        Err(error) => {
            assert_eq!(error.state(), SqlState::UNDEFINED_TABLE);
            None
        }
    }
}

/// A path of some schemas, one of which may not exist.
fn path(random: &mut Random) -> Vec<&'static str> {
    let all = ["public", "r", "s", "nowhere"];
    let count = 1 + random.index(3);
    let mut path: Vec<&str> = Vec::new();
    while path.len() < count {
        let schema = all[random.index(all.len())];
        if !path.contains(&schema) {
            path.push(schema);
        }
    }
    path
}

/// Creates, drops, moves or renames a table. What cannot be done is refused, and the model stays.
fn define(definer: &Connection, random: &mut Random, model: &mut Model, value: i64) {
    let (schema, name) = (SCHEMAS[random.index(3)], NAMES[random.index(3)]);
    let key = (schema, name);
    match random.below(5) {
        0 | 1 => {
            let made = definer.execute(&format!("create table {schema}.{name} as select {value} as x"));
            assert_eq!(made.is_ok(), !model.contains_key(&key));
            model.entry(key).or_insert(value);
        }
        2 => {
            rows(definer, &format!("drop table if exists {schema}.{name}"));
            model.remove(&key);
        }
        3 => {
            let to = (SCHEMAS[random.index(3)], name);
            let moved = definer.execute(&format!("alter table {schema}.{name} set schema {}", to.0));
            let can = model.contains_key(&key) && (to == key || !model.contains_key(&to));
            assert_eq!(moved.is_ok(), can);
            if can && let Some(value) = model.remove(&key) {
                model.insert(to, value);
            }
        }
        _ => {
            let to = (schema, NAMES[random.index(3)]);
            let renamed = definer.execute(&format!("alter table {schema}.{name} rename to {}", to.1));
            let can = model.contains_key(&key) && !model.contains_key(&to);
            assert_eq!(renamed.is_ok(), can);
            if can && let Some(value) = model.remove(&key) {
                model.insert(to, value);
            }
        }
    }
}

#[test]
fn each_session_finds_names_by_its_own_path_whatever_comes_and_goes() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let definer = memory();
        rows(&definer, "create schema r; create schema s");
        let mut model = Model::new();
        let mut sessions: Vec<Searching> = (0..2)
            .map(|_| Searching {
                connection: definer.database().connect(),
                path: Vec::new(),
            })
            .collect();
        sessions
            .iter_mut()
            .for_each(|session| session.set(path(&mut random)));
        for step in 0..40 {
            define(&definer, &mut random, &mut model, step);
            if random.below(4) == 0 {
                sessions[random.index(2)].set(path(&mut random));
            }
            sessions.iter().for_each(|session| session.check(&model, seed));
        }
    }
}

#[test]
fn a_directory_keeps_schemas_with_and_without_a_checkpoint() {
    let path = directory("schemas");
    let opened = || Database::open(&path).expect("it opens");
    let database = opened();
    let c = database.connect();
    rows(
        &c,
        "create schema s; create schema gone; create table t (a integer);
         create table s.t (a integer primary key, b text);
         insert into t values (1); insert into s.t values (2, 'two'); create table gone.t (a integer);
         create type s.m as enum ('x', 'y'); create view s.v as select b from s.t; drop schema gone cascade",
    );
    let check = |c: &Connection, created: bool| {
        assert_eq!(rows(c, "select a from t"), "1");
        assert_eq!(
            rows(c, "select * from s.t order by a"),
            if created { "2|two\n3|" } else { "2|two" }
        );
        assert_eq!(rows(c, "select count(b) from s.v"), "1");
        assert_eq!(rows(c, "select 'x'::s.m < 'y'"), "t");
        assert_eq!(state(c, "insert into s.t values (2)"), SqlState::UNIQUE_VIOLATION);
        assert_eq!(state(c, "select * from gone.t"), SqlState::UNDEFINED_TABLE);
        assert_eq!(state(c, "create schema s"), SqlState::DUPLICATE_SCHEMA);
        if created {
            assert_eq!(rows(c, "select * from later.u"), "5");
            assert_eq!(state(c, "select * from public.moved"), SqlState::UNDEFINED_TABLE);
            assert_eq!(rows(c, "select * from s.moved"), "");
        }
    };
    check(&c, false);
    // The definitions are in the log alone.
    let copy = directory("schemas-logged");
    crate::directories::copy_all(&path, &copy);
    drop(c);
    database.close().expect("it closes");
    {
        let database = Database::open(&copy).expect("it opens");
        check(&database.connect(), false);
        database.close().expect("it closes");
    }
    let database = opened();
    let c = database.connect();
    check(&c, false);
    rows(
        &c,
        "checkpoint; create schema later; create table later.u as select 5 as x; insert into s.t values (3);
         create table moved (a integer); alter table moved set schema s",
    );
    check(&c, true);
    drop(c);
    database.close().expect("it closes");
    for _ in 0..2 {
        let database = opened();
        check(&database.connect(), true);
        database.close().expect("it closes");
    }
    for path in [path, copy] {
        let _ = std::fs::remove_dir_all(path);
    }
}

#[test]
fn a_listing_is_made_again_after_any_definition() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer); create schema s; create table s.u (a integer)",
    );
    assert_eq!(rows(&c, "show tables"), "t");
    rows(&c, "create view v as select 1 as x");
    assert_eq!(rows(&c, "show tables"), "t\nv");
    rows(&c, "set search_path = s, public");
    assert_eq!(rows(&c, "show tables"), "t\nu\nv");
    assert_eq!(rows(&c, "select current_schemas(false)"), "{s,public}");
    rows(&c, "drop schema s cascade");
    assert_eq!(rows(&c, "select current_schemas(false)"), "{public}");
    assert_eq!(rows(&c, "select current_schema"), "public");
}
