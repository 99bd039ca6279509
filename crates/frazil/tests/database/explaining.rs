//! EXPLAIN in all its forms.

use crate::{memory, rows};

#[test]
fn every_form_of_a_statement_is_shown() {
    let c = memory();
    rows(
        &c,
        "create table t (a integer not null, b decimal(10,2) not null)",
    );
    rows(&c, "insert into t values (1, 1.5), (2, 2.5), (3, 3.5)");
    let query = "select sum(b) from t where a >= 2";
    let plan = rows(&c, &format!("explain {query}"));
    assert!(plan.contains("Aggregate") && plan.contains("Scan t"), "{plan}");
    let pipelines = rows(&c, &format!("explain (pipelines) {query}"));
    assert!(
        pipelines.contains("Pipeline 0") && pipelines.contains("into groups 0"),
        "{pipelines}"
    );
    let stages = rows(&c, &format!("explain (stages) {query}"));
    assert!(stages.contains("stage 0"), "{stages}");
    let clif = rows(&c, &format!("explain (clif) {query}"));
    assert!(clif.contains("function") && clif.contains("block0"), "{clif}");
}

#[test]
fn analyze_counts_what_was_skipped() {
    let c = memory();
    rows(&c, "create table t (a integer not null)");
    rows(&c, "insert into t values (1), (2), (3)");
    rows(&c, "freeze table t");
    let text = rows(&c, "explain analyze select count(*) from t where a > 100");
    assert!(text.contains("1 skipped by SMA"), "{text}");
    assert!(text.contains("compile") && text.contains("pipeline 1"), "{text}");
    rows(&c, "set frazil.scan = 'blocks'");
    let text = rows(&c, "explain analyze select count(*) from t where a > 100");
    assert!(text.contains("0 skipped by SMA"), "{text}");
    assert_eq!(
        rows(&c, "explain analyze insert into t values (9)")
            .lines()
            .count()
            > 2,
        true
    );
    assert_eq!(rows(&c, "select count(*) from t"), "3");
}
