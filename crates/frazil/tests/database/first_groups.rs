//! DISTINCT, and GROUP BY without aggregates, of which LIMIT keeps some, read no more rows than they need.

use crate::top_bounds::number_before;
use crate::{memory, rows};
use frazil::Connection;
use std::collections::HashSet;

/// Rows of the table: some vectors of one chunk.
const ROWS: usize = 20_000;

/// A table of 100 numbers, NULL among them, and of as many strings as rows.
fn table(is_frozen: bool) -> Connection {
    let c = memory();
    rows(
        &c,
        &format!(
            "create table t (id integer not null, n integer, s text not null);
             insert into t select i, nullif(i % 100, 7), 'a string of its own ' || i from generate_series(0, {}) g (i)",
            ROWS - 1
        ),
    );
    if is_frozen {
        rows(&c, "freeze table t");
    }
    c
}

/// Queries that end early, and how many rows they have.
const EARLY: [(&str, usize); 6] = [
    ("select distinct n from t limit 100", 100),
    ("select distinct n from t limit 3 offset 2", 3),
    ("select distinct s from t limit 5", 5),
    ("select n, s from t group by n, s limit 4", 4),
    ("select n + 1 from t where id > 3 group by n limit 2", 2),
    ("select n from t group by n having n > 50 limit 3", 3),
];

#[test]
fn enough_groups_end_the_scan() {
    for is_frozen in [false, true] {
        let c = table(is_frozen);
        for threads in [1, 2] {
            rows(&c, &format!("set threads = {threads}"));
            for (query, count) in EARLY {
                let answer = rows(&c, query);
                let answer: Vec<&str> = answer.lines().collect();
                let distinct: HashSet<&str> = answer.iter().copied().collect();
                assert_eq!((answer.len(), distinct.len()), (count, count), "{query}");
                let all = rows(&c, query.split(" limit").next().unwrap_or_default());
                let all: HashSet<&str> = all.lines().collect();
                assert!(distinct.is_subset(&all), "{query}");
                let shown = rows(&c, &format!("explain (pipelines) {query}"));
                assert!(shown.contains("until there are"), "{shown}");
                let run = rows(&c, &format!("explain analyze {query}"));
                assert!(number_before(&run, "rows returned") <= ROWS / 2, "{run}");
            }
        }
    }
}

#[test]
fn fewer_groups_than_the_limit_are_all_of_them() {
    let c = table(false);
    let all = rows(&c, "select distinct n from t limit 1000");
    assert_eq!(all.lines().count(), 100);
}

#[test]
fn other_groups_take_all_rows() {
    let c = table(false);
    for query in [
        "select distinct n from t order by n limit 3",
        "select n, count(*) from t group by n limit 3",
        "select n from t group by n having count(*) > 3 limit 3",
        "select distinct n from t",
        "select distinct 1 / (id - 19999) from t limit 3",
        "select distinct n from t where 1 / (id - 19999) < 5 limit 3",
        "with q as materialized (select distinct n from t) select * from q, (select count(*) from q) c limit 3",
    ] {
        let shown = rows(&c, &format!("explain (pipelines) {query}"));
        assert!(!shown.contains("until there are"), "{query}: {shown}");
    }
    let error = c.execute("select distinct 1 / (id - 19999) from t limit 3").err();
    assert_eq!(error.map(|e| e.state().0), Some("22012"));
}
