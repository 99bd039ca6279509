//! Scans that look only at the rows an index names answer as scans of all rows do.

use crate::lookup_keys::{COLUMNS, KEYS};
use crate::{memory, rows, state};
use frazil::{Connection, Outcome, RawValue as Value, Result, RowBatch, RowSink, Schema, SqlState};
use std::sync::Arc;

/// A table `t` of 20,000 rows with values of [`COLUMNS`] and no index.
pub fn table(c: &Connection) {
    let digits = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    let tens = "(values (0), (1))";
    rows(
        c,
        &format!(
            "create table t as select {COLUMNS} from (select a.v + b.v * 10 + c.v * 100 + d.v * 1000 + e.v * 10000 as n
            from {digits} a (v), {digits} b (v), {digits} c (v), {digits} d (v), {tens} e (v)) numbers"
        ),
    );
}

/// The rows of a query, or the state of its error.
pub fn outcome(c: &Connection, query: &str) -> String {
    match c.execute(query) {
        Ok(_) => rows(c, query),
        Err(error) => error.state().0.to_owned(),
    }
}

/// The answer to a query with lookups and without, which must be one.
#[track_caller]
pub fn answer(c: &Connection, query: &str) -> String {
    rows(c, "set frazil.use_indexes = off");
    let without = outcome(c, query);
    rows(c, "set frazil.use_indexes = on");
    assert_eq!(outcome(c, query), without, "{query}");
    without
}

/// Which index a query uses, if any.
fn used(c: &Connection, query: &str) -> bool {
    rows(c, &format!("explain analyze {query}")).contains("rows of index k")
}

pub fn query(predicate: &str) -> String {
    format!("select id, s, b, d, w, x, c, l, t, day, ts, f from t where {predicate} order by id")
}

/// Asks all that [`KEYS`] asks with one index at a time, that is dropped after it.
fn ask_all(c: &Connection, every: bool) {
    let mut turn = 0;
    let mut unused = Vec::new();
    for (keys, predicates) in KEYS {
        rows(c, &format!("create index k on t ({keys})"));
        for (predicate, must) in predicates {
            turn += 1;
            rows(
                c,
                &format!(
                    "set frazil.stages = '{}'",
                    ["relaxed", "fused", "staged"][turn % 3]
                ),
            );
            rows(c, &format!("set threads = {}", 1 + turn / 3 % 2));
            answer(c, &query(predicate));
            if every && *must && !used(c, &query(predicate)) {
                unused.push(format!("({keys}): {predicate}"));
            }
        }
        rows(c, "drop index k");
    }
    assert!(unused.is_empty(), "no lookup: {unused:#?}");
}

#[test]
fn every_kind_of_key_answers_as_a_scan() {
    let c = memory();
    table(&c);
    ask_all(&c, true);
}

#[test]
fn every_kind_of_key_answers_as_a_scan_of_frozen_rows() {
    let c = memory();
    table(&c);
    rows(&c, "freeze table t");
    ask_all(&c, true);
}

#[test]
fn every_kind_of_key_answers_as_a_scan_inside_a_transaction_that_wrote() {
    let c = memory();
    table(&c);
    rows(&c, "freeze table t order by t");
    rows(&c, "begin");
    rows(&c, "delete from t where id % 5 = 0");
    rows(
        &c,
        "update t set s = s - 1, d = d - 1, t = t || 'é', x = -x, day = day + 1 where id % 3 = 0",
    );
    rows(
        &c,
        "insert into t select id + 20000, s, b, d, w, x, c, l, t, day, ts, f from t where id < 200",
    );
    ask_all(&c, false);
}

/// Predicates whose answers change as rows do, each found by an index of [`watched`].
const WATCHED: [&str; 8] = [
    "id = 4711",
    "id in (4711, 4712, 4713, 24711)",
    "s = 77",
    "s = 77 and day >= date '1990-02-21'",
    "s = 78 and t > 'text 104'",
    "t = 'text 100'",
    "t = 'new'",
    "x < 3",
];

fn watched(c: &Connection) {
    rows(
        c,
        "create unique index k on t (id); create index k1 on t (s, day desc, t); create index k2 on t (t desc); create index k3 on t (x)",
    );
}

/// The answers to all of [`WATCHED`], each of them one with lookups and without.
#[track_caller]
fn watch(c: &Connection) -> Vec<String> {
    let mut answers = Vec::new();
    for predicate in WATCHED {
        answers.push(answer(c, &query(predicate)));
        let count = answer(c, &format!("select count(*), min(id) from t where {predicate}"));
        let lines = answers.last().unwrap().lines().count();
        assert_eq!(count.split('|').next(), Some(&*lines.to_string()), "{predicate}");
        let joined =
            format!("select t.id, u.id from t join t u on u.id = t.id + 1 where t.{predicate} order by 1");
        answer(c, &joined.replace(" and ", " and t."));
    }
    answers
}

#[test]
fn lookups_follow_changes_and_what_takes_them_back() {
    for frozen in [false, true] {
        let c = memory();
        table(&c);
        if frozen {
            rows(&c, "freeze table t");
        }
        watched(&c);
        let first = watch(&c);
        let changes = [
            "update t set t = 'new', s = 77 where id in (4711, 12000, 300)",
            "update t set s = 78, day = null where s = 77 and id % 2 = 0",
            "delete from t where id in (4712, 301, 302)",
            "insert into t (id, s, t, x, f) values (4712, 77, 'new', '-0.0', true), (24711, null, 'text 100', 'NaN', false)",
            "update t set id = id + 100000 where id between 4700 and 4711",
            "update t set id = id - 100000 where id > 100000",
            "update t set x = null, t = upper(t) where x < 3 or t = 'text 100'",
        ];
        for end in ["rollback", "commit"] {
            rows(&c, "begin; savepoint first");
            let mut states = vec![first.clone()];
            for (number, change) in changes.iter().enumerate() {
                rows(&c, &format!("savepoint s{number}"));
                rows(&c, change);
                states.push(watch(&c));
            }
            for number in (3..changes.len()).rev() {
                rows(&c, &format!("rollback to savepoint s{number}"));
                assert_eq!(watch(&c), states[number], "before change {number}");
            }
            rows(&c, "rollback to savepoint first");
            assert_eq!(watch(&c), first);
            for (number, change) in changes.iter().enumerate() {
                rows(&c, change);
                assert_eq!(watch(&c), states[number + 1]);
            }
            rows(&c, end);
            let last = if end == "commit" {
                states.last().unwrap()
            } else {
                &first
            };
            assert_eq!(&watch(&c), last);
        }
        let last = watch(&c);
        rows(&c, "freeze table t order by x");
        assert_eq!(watch(&c), last);
        rows(&c, "begin; truncate t");
        assert!(watch(&c).iter().all(String::is_empty));
        rows(&c, "insert into t (id, s, t) values (4711, 77, 'new')");
        assert_eq!(watch(&c).iter().filter(|a| !a.is_empty()).count(), 4);
        rows(&c, "rollback");
        assert_eq!(watch(&c), last);
        rows(
            &c,
            "truncate t; insert into t (id, s, t) values (4711, 77, 'new')",
        );
        assert_eq!(watch(&c).iter().filter(|a| !a.is_empty()).count(), 4);
        rows(&c, "freeze table t");
        assert_eq!(watch(&c).iter().filter(|a| !a.is_empty()).count(), 4);
    }
}

/// Keeps first columns, and makes changes through another connection when the first rows come.
struct Meanwhile<'a> {
    other: &'a Connection,
    changes: Option<&'a str>,
    kept: Vec<Value>,
}

impl RowSink for Meanwhile<'_> {
    fn begin(&mut self, _: &Arc<Schema>) -> Result<()> {
        Ok(())
    }

    fn rows(&mut self, batch: RowBatch) -> Result<()> {
        if let Some(changes) = self.changes.take() {
            rows(self.other, changes);
        }
        self.kept
            .extend((0..batch.rows).map(|r| batch.columns[0].value(r)));
        Ok(())
    }
}

#[test]
fn a_statement_that_runs_looks_up_what_its_snapshot_has() {
    let changes = [
        "update t set t = 'new', s = 77 where id in (4711, 12000, 300)",
        "update t set id = id + 100000 where id between 4700 and 4720",
        "delete from t where s = 77 or x < 3",
        "begin; update t set s = 77; update t set s = s + 1; rollback",
        "drop index k1; create index k1 on t (s)",
        "truncate t; insert into t (id, s, t) values (4711, 77, 'text 100')",
    ];
    for freeze in ["", "freeze table t order by day"] {
        for (number, change) in changes.iter().enumerate() {
            let c = memory();
            table(&c);
            watched(&c);
            rows(&c, freeze);
            let parts = WATCHED
                .map(|p| format!("union all select id from t where {p}"))
                .join(" ");
            let sql = format!("select id from t {parts}");
            rows(&c, "set frazil.use_indexes = off");
            let mut expected: Vec<i128> = rows(&c, &sql).lines().map(|l| l.parse().unwrap()).collect();
            rows(
                &c,
                &format!("set frazil.use_indexes = on; set threads = {}", 1 + number % 2),
            );
            let other = c.database().connect();
            let mut sink = Meanwhile {
                other: &other,
                changes: Some(change),
                kept: Vec::new(),
            };
            c.execute_into(&sql, (), &mut sink).unwrap();
            let mut kept: Vec<i128> = sink
                .kept
                .iter()
                .map(|v| match v {
                    Value::Int(n) => *n,
                    other => panic!("{other:?}"),
                })
                .collect();
            kept.sort_unstable();
            expected.sort_unstable();
            assert!(
                kept == expected,
                "{freeze}, {change}: {} rows, not {}",
                kept.len(),
                expected.len()
            );
            watch(&c);
        }
    }
}

#[test]
fn what_others_have_not_committed_is_not_found() {
    for frozen in [false, true] {
        let c = memory();
        table(&c);
        watched(&c);
        if frozen {
            rows(&c, "freeze table t");
        }
        let first = watch(&c);
        let writer = c.database().connect();
        rows(
            &writer,
            "begin; update t set t = 'new', s = 77 where id in (4711, 12000, 300)",
        );
        rows(
            &writer,
            "delete from t where x < 3; insert into t (id, s, t) values (24711, 77, 'text 100')",
        );
        let own = watch(&writer);
        assert_ne!(own, first);
        assert_eq!(watch(&c), first);
        rows(&writer, "rollback");
        assert_eq!(watch(&writer), first);
        assert_eq!(watch(&c), first);
    }
}

fn first_column(statement: &frazil::Statement, values: &[Value]) -> Vec<Value> {
    let response = statement.execute(values).expect("the values fit");
    let Outcome::Rows(found) = response.outcome else {
        panic!("a query gives rows")
    };
    found.raw().map(|row| row[0].clone()).collect()
}

#[test]
fn parameters_of_prepared_statements_are_looked_up() {
    let c = memory();
    table(&c);
    let queries = [
        "select id from t where s = $1 order by id",
        "select id from t where s = $1 and day < '1990-02-22' order by id",
        "select id from t where s in ($1, 3) order by id",
        "select id from t where s between 5000 and $1 and s < 5002 order by id",
        "select id from t where s > $1 and s > 32765 order by id",
        "select id from t where s = $1::bigint order by id",
        "select id from t where id = $1::bigint and s is not null order by id",
        "select id from t where d = $1::decimal(20,4) order by id",
        "select id from t where x = $1::double precision order by id",
        "select id from t where id = $1 order by id",
        "select id from t where d = $1 order by id",
        "select id from t where x = $1 order by id",
    ];
    let statements: Vec<_> = queries.iter().map(|q| c.prepare(q).unwrap()).collect();
    let values = [
        Value::Int(77),
        Value::Null,
        Value::Int(5001),
        Value::Int(70_000),
        Value::Int(-70_000),
        Value::Int(1 << 40),
    ];
    let ask = || -> Vec<Vec<String>> {
        let one = |s: &frazil::Statement, v: &Value| match s.execute(std::slice::from_ref(v)) {
            Ok(_) => format!("{:?}", first_column(s, std::slice::from_ref(v))),
            Err(error) => error.state().0.to_owned(),
        };
        statements
            .iter()
            .map(|s| values.iter().map(|v| one(s, v)).collect())
            .collect()
    };
    let expected = ask();
    assert!(expected[0][0].contains("Int(309)"), "{:?}", expected[0][0]);
    for keys in ["s", "s desc, day", "s nulls first, id desc", "id", "d desc", "x"] {
        for freeze in ["", "freeze table t"] {
            rows(&c, &format!("create index k on t ({keys}); {freeze}"));
            assert_eq!(ask(), expected, "{keys}");
            assert_ne!(
                rows(&c, "select uses from frazil_indexes where index_name = 'k'"),
                "0",
                "{keys}"
            );
            rows(&c, "drop index k");
            assert_eq!(ask(), expected, "without {keys}");
        }
    }
    rows(&c, "create unique index k on t (id)");
    assert_eq!(
        state(&c, "insert into t (id) values (5)"),
        SqlState::UNIQUE_VIOLATION
    );
}

#[test]
fn keys_of_columns_that_change_are_looked_up() {
    let c = memory();
    table(&c);
    watched(&c);
    let first = watch(&c);
    rows(&c, "alter table t alter id set not null");
    assert_eq!(watch(&c), first);
    rows(&c, "update t set s = 77 where id = 4711");
    let second = watch(&c);
    rows(
        &c,
        "alter table t alter id drop not null; insert into t (id, s) values (null, 77), (null, 78)",
    );
    let third = watch(&c);
    assert_ne!(third, second);
    assert_eq!(
        answer(&c, "select s from t where id is null order by s"),
        "77\n78"
    );
    assert_eq!(
        answer(&c, "select id from t where id > 19998 order by id"),
        "19999"
    );
    rows(&c, "alter table t rename s to q; alter table t rename to u");
    answer(&c, "select id from u where q = 77 order by id");
    rows(&c, "alter table u rename to t; alter table t rename q to s");
    assert_eq!(watch(&c), third);
}

#[test]
fn changes_find_their_rows_by_an_index() {
    let changes = [
        "update t set s = s + 1 where s = 77",
        "update t set id = id + 50000 where id between 100 and 109",
        "delete from t where t in ('text 100', 'text 101é')",
        "update t set x = 'NaN' where x < 2",
        "delete from t where x = 'NaN' and id > 100",
        "update t set t = u.t from t u where u.id = t.id + 1 and t.s = 200",
        "delete from t using t u where u.s = 300 and t.id = u.id",
        "update t set day = null where s = 78 and day >= date '1990-02-21'",
    ];
    for frozen in [false, true] {
        let tables: Vec<Connection> = ["on", "off"]
            .map(|lookups| {
                let c = memory();
                table(&c);
                if frozen {
                    rows(&c, "freeze table t");
                }
                watched(&c);
                rows(&c, &format!("set frazil.use_indexes = {lookups}"));
                c
            })
            .into();
        for change in changes {
            let counts: Vec<String> = tables.iter().map(|c| rows(c, change)).collect();
            assert_eq!(counts[0], counts[1], "{change}");
        }
        let all: Vec<String> = tables.iter().map(|c| rows(c, &query("true"))).collect();
        assert!(all[0] == all[1]);
    }
}
