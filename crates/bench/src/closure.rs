//! The experiment `closure`: the pairs of nodes of which one is reached from the other, in three graphs of 200,000 edges in memory.
//! Cases and numbers of threads take turns. The tables are frozen; what is summed up in the end is the same in every database.

use crate::arguments::BenchArgs;
use crate::report::Report;
use crate::taking_turns::{self, Case};
use frazil::Database;
use frazil_types::Result;

/// The cases.
pub const CASES: [Case<'static>; 3] = [
    Case {
        name: "a tree, 1.5 million pairs",
        sql: "with recursive r (a, b) as (select a, b from tree union select r.a, e.b from r join tree e on r.b = e.a) \
              select count(*), sum(a), sum(b) from r",
    },
    Case {
        name: "paths of 100 edges, 10 million pairs",
        sql: "with recursive r (a, b) as (select a, b from paths union select r.a, e.b from r join paths e on r.b = e.a) \
              select count(*), sum(a), sum(b) from r",
    },
    Case {
        name: "layers of ten nodes, most pairs found twice",
        sql: "with recursive r (a, b) as (select a, b from layers union select r.a, e.b from r join layers e on r.b = e.a) \
              select count(*), sum(a), sum(b) from r",
    },
];

/// Edges at scale factor 1, and at least: a multiple of the edges of a path and of those between layers that hang together.
const EDGES: usize = 200_000;
const LEAST_EDGES: usize = 400;

/// The tables of so many edges. DuckDB reads them, too, with `range`, whose end is one more, for `generate_series`, and `//` for `/`.
/// Each node of the tree has an edge to one of those before it; a path has 101 nodes; from each node of a layer of ten nodes two edges lead
/// to nodes of the next one, of ten layers and one.
fn tables(edges: usize) -> [String; 3] {
    let table = |name: &str, columns: &str| {
        format!(
            "create table {name} as select {columns} \
             from (select i, i * 2654435761 % 4294967296 as x from generate_series(1, {edges}) s (i)) y"
        )
    };
    [
        table("tree", "cast(i as integer) as a, cast(x % i as integer) as b"),
        table(
            "paths",
            "cast(i + (i / 100) as integer) as a, cast(i + (i / 100) + 1 as integer) as b",
        ),
        table(
            "layers",
            "cast((i / 200) * 110 + ((i % 200) / 2) as integer) as a, \
             cast((i / 200) * 110 + (((i % 200) / 20) + 1) * 10 + (x / 7) % 10 as integer) as b",
        ),
    ]
}

/// Runs the experiment.
pub fn run(name: &'static str, cases: &[Case<'_>], args: &BenchArgs) -> Result<Report> {
    let connection = Database::memory()?.connect();
    let edges = ((EDGES as f64 * args.scale_factor) as usize).max(LEAST_EDGES);
    for table in tables(edges) {
        connection.execute(&table)?;
    }
    for table in ["tree", "paths", "layers"] {
        connection.execute(&format!("freeze table {table}"))?;
    }
    let mut report = Report::default();
    let names = taking_turns::run(&mut report, name, "", cases, &connection, args)?;
    for case in &names[1..] {
        report.compare(case, &names[0], "ms");
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_runs() {
        let args = BenchArgs {
            scale_factor: 0.0,
            runs: 1,
            threads: vec![1],
            ..BenchArgs::new("closure")
        };
        let report = run("closure", &CASES, &args).expect("it runs");
        assert_eq!(report.measurements().len(), 3);
    }
}
