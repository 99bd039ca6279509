//! PREPARE and EXECUTE beyond their answers: plans, compiled forms that are kept, rows that are handed over.

use crate::{memory, rows, state};
use frazil::{Outcome, Result, RowBatch, RowSink, Schema, SqlState};
use std::sync::Arc;

#[test]
fn explain_shows_what_is_executed() {
    let c = memory();
    rows(
        &c,
        "create table t as select g as a, g * 2 as b from generate_series(1, 10) g",
    );
    rows(&c, "prepare few (integer) as select b from t where a < $1");
    let shown = rows(&c, "explain execute few (4)");
    assert!(shown.contains("Scan t (a, b) where a < $1"), "{shown}");
    let analyzed = rows(&c, "explain analyze execute few (4)");
    assert!(analyzed.contains("3 rows"), "{analyzed}");
    assert_eq!(state(&c, "explain execute few"), SqlState::SYNTAX_ERROR);
    assert_eq!(state(&c, "explain execute none (1)"), SqlState("26000"));
}

/// The row of a key is found without pipelines once the statement is compiled, also behind EXECUTE.
#[test]
fn what_a_statement_was_compiled_to_is_kept() {
    let c = memory();
    rows(&c, "create table t (k integer primary key, v integer)");
    rows(
        &c,
        "insert into t select g, g * g from generate_series(1, 1000) g",
    );
    for (types, name) in [("", "open"), ("(integer)", "typed")] {
        rows(
            &c,
            &format!("prepare {name} {types} as select v from t where k = $1"),
        );
        assert_eq!(rows(&c, &format!("execute {name} (7)")), "49");
        let before: u64 = rows(&c, "show frazil.direct_statements").parse().unwrap();
        for k in 1..20 {
            assert_eq!(rows(&c, &format!("execute {name} ({k})")), (k * k).to_string());
        }
        let after: u64 = rows(&c, "show frazil.direct_statements").parse().unwrap();
        assert!(after - before >= 19, "{name}: {before}, {after}");
    }
    // What it relies on changes: it is compiled anew.
    rows(&c, "alter table t add column w integer default 5");
    assert_eq!(rows(&c, "execute open (3)"), "9");
    rows(&c, "drop table t");
    assert_eq!(state(&c, "execute typed (3)"), SqlState::UNDEFINED_TABLE);
}

/// Keeps what it is given.
#[derive(Default)]
struct Kept(usize);

impl RowSink for Kept {
    fn begin(&mut self, _: &Arc<Schema>) -> Result<()> {
        Ok(())
    }

    fn rows(&mut self, batch: RowBatch) -> Result<()> {
        self.0 += batch.rows;
        Ok(())
    }
}

#[test]
fn rows_of_execute_are_handed_over() {
    let c = memory();
    rows(
        &c,
        "prepare many (bigint) as select g from generate_series(1, $1) g",
    );
    for _ in 0..2 {
        let mut kept = Kept::default();
        let response = c.execute_into("execute many (100000)", (), &mut kept).unwrap();
        assert_eq!(kept.0, 100_000);
        assert!(matches!(
            response.outcome,
            Outcome::Command {
                rows: Some(100_000),
                ..
            }
        ));
    }
    // Others of the database do not see it.
    let other = c.database().connect();
    assert_eq!(state(&other, "execute many (1)"), SqlState("26000"));
}
