//! The experiments, as data: what is loaded, what is set, what is measured, against which baseline.

use crate::arguments::{LAYOUTS, LOOKUP_TABLE, WIDE, WIDE_SKEWED};
use crate::by_layout::{BY_LAYOUT, OF_CLIENTS};
use crate::micro::codecs::{DISTRIBUTIONS, Distribution};
use crate::micro::scan_cases::{GRIDS, Grid};
use crate::micro::{calibrate, conjunction};
use crate::plan::linear::{COMMANDS, Shape, flat};
use crate::plan::{self, point};
pub use crate::query_experiment::{Configuration, Data, Figure, QueryExperiment, TPCH_QUERIES, scan};
use crate::shapes::{self, QuestionSet};
use crate::stages::STAGES;
use crate::taking_turns::Case;
use crate::{
    checkpoints, closure, commit, keys, mempax, probe, recovery, rollup, statements, table_lookup, topn,
    wide, windows,
};
use frazil_block::Purpose;
use frazil_types::{Error, Result, SqlState};

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// How it is done.
    pub kind: Kind,
}

/// How an experiment is done.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Queries of TPC-H are timed under several configurations.
    Queries(QueryExperiment),
    /// Clients issue queries of TPC-H side by side, under several configurations.
    Clients(QueryExperiment),
    /// A join is timed by the size of its hash table.
    Probe(probe::Plan),
    /// Queries over wide tables are, by layout.
    Wide(&'static [wide::Set]),
    /// A query on flights is.
    Flights(QueryExperiment),
    /// Planning and compiling are timed by the layouts that meet in a table.
    LayoutsCompile {
        /// Numbers of combinations, the least one first: the baseline.
        combinations: &'static [usize],
    },
    /// Hot chunks are scanned and their rows fetched, by rows of a partition.
    MemPax(mempax::Plan),
    /// Databases are written and their bytes counted.
    Compression {
        /// Rows of a block to try, the greatest one being the baseline.
        block_rows: &'static [usize],
    },
    /// What comes before statements run is timed.
    Plan(plan::Plan),
    /// Statements that find or write a row by its key are timed.
    Keys(&'static [keys::Case]),
    /// Small statements are timed.
    Statements(&'static [statements::Case]),
    /// Durable commits are timed.
    Commit(commit::Plan),
    /// Durable commits are timed with checkpoints beside them and without.
    Checkpoints(checkpoints::Plan),
    /// Window functions are timed.
    Windows(&'static [Case<'static>]),
    /// Grouping sets are.
    Rollup(&'static [Case<'static>]),
    /// Recursions are.
    Closure(&'static [Case<'static>]),
    /// Joins by inequalities are.
    Joins,
    /// Questions about tables are.
    Shapes(&'static QuestionSet),
    /// The first rows in an order are.
    TopN(&'static [Case<'static>]),
    /// Foreign keys, sequences and ALTER TABLE are timed beside the work without them.
    References,
    /// Sessions that write side by side are timed.
    Writers,
    /// Transactions of TPC-C are timed.
    Tpcc,
    /// Transactions of TPC-C and queries of the CH-benCHmark are timed side by side.
    Mixed,
    /// Directories are opened whose process was killed.
    Recovery(&'static [recovery::Case]),
    /// Tests of codes are timed.
    Scan(&'static [Grid]),
    /// Two tests are joined in several ways.
    Conjunction(conjunction::Plan),
    /// Single codes are fetched.
    Lookup {
        /// Bits of a code.
        widths: &'static [u32],
    },
    /// Rows of a table are looked up by its key, with its index and without.
    TableLookup(&'static [table_lookup::Form]),
    /// Entries of an ordered index are added and found.
    Index,
    /// Rows are claimed and tables locked.
    Locks,
    /// Integers are decoded, on distributions with their names.
    Codecs(&'static [(Distribution, &'static str)]),
    /// The cost model is fitted and checked.
    Calibrate(calibrate::Plan),
}

/// What `plan` measures.
pub const PLAN: plan::Plan = plan::Plan {
    queries: TPCH_QUERIES,
    points: &[
        point::Case {
            name: "constant",
            sql: "select b, c from t where a = 5",
        },
        point::Case {
            name: "parameter",
            sql: "select b, c from t where a = $1",
        },
    ],
    shapes: &SHAPES,
    commands: &COMMANDS,
};

const SHAPES: [Shape; 21] = [
    flat("select_items", "select ", "a + #", ", ", " from t"),
    Shape {
        close: "a + # as c#",
        between_closes: ", ",
        end: " from t) as s",
        ..flat("columns", "select ", "c#", ", ", " from (select ")
    },
    flat("and", "select count(*) from t where ", "a <> #", " and ", ""),
    flat("or", "select count(*) from t where ", "a < -#", " or ", ""),
    flat("or_equal", "select count(*) from t where ", "a = #", " or ", ""),
    flat("plus", "select ", "a", " + ", " from t"),
    flat("concat", "select ", "c", " || ", " from t"),
    flat("not", "select count(*) from t where ", "not ", "", "b"),
    Shape {
        close: ")",
        end: " from t",
        ..flat("nested_coalesce", "select ", "coalesce(c, ", "", "'x'")
    },
    flat("coalesce", "select coalesce(", "c", ", ", ") from t"),
    flat("greatest", "select greatest(", "a + #", ", ", ") from t"),
    flat("in_list", "select count(*) from t where a in (", "#", ", ", ")"),
    flat("not_in", "select a from t where -a not in (", "#", ", ", ")"),
    flat("array", "select cardinality(array[", "#", ", ", "]) from t"),
    flat("any", "select a from t where a = any (array[", "#", ", ", "])"),
    flat("values", "values ", "(#, 'row #')", ", ", ""),
    flat(
        "insert",
        "insert into written values ",
        "(#, true, 'row #')",
        ", ",
        "",
    ),
    flat("union_all", "", "select # as x", " union all ", ""),
    flat(
        "case_branches",
        "select case",
        " when a = # then -#",
        "",
        " else 0 end from t",
    ),
    Shape {
        close: " end",
        end: " from t",
        ..flat("nested_case", "select ", "case when a = # then -# else ", "", "0")
    },
    flat("script", "", "select #", "; ", ""),
];

/// All experiments.
pub const EXPERIMENTS: [Experiment; 41] = [
    Experiment {
        name: "tpch",
        about: "TPC-H under seven kinds of scan (Data Blocks, table 2 and appendix F), and Q6 as a loop in Rust",
        kind: Kind::Queries(TPCH),
    },
    Experiment {
        name: "compression",
        about: "bytes of TPC-H on disk over its CSV (Data Blocks, table 1), by block size (figure 10)",
        kind: Kind::Compression {
            block_rows: &[2_048, 4_096, 8_192, 16_384, 32_768, 65_536],
        },
    },
    Experiment {
        name: "psma",
        about: "Q6 on blocks sorted on l_shipdate (Data Blocks, figure 11)",
        kind: Kind::Queries(PSMA),
    },
    Experiment {
        name: "vector",
        about: "TPC-H by rows of a scan window and of a stage vector (Data Blocks, appendix A)",
        kind: Kind::Queries(VECTOR),
    },
    Experiment {
        name: "stages",
        about: "TPC-H by stages: fused, with SIMD, with boundaries, with prefetching, by rows of a vector \
                (Relaxed Operator Fusion, figures 9 to 17)",
        kind: Kind::Queries(STAGES),
    },
    Experiment {
        name: "public",
        about: "selections and queries of two public data sets by layout, with --data DIR (ByteSlice, figure 22)",
        kind: Kind::Wide(wide::PUBLIC),
    },
    Experiment {
        name: "probe",
        about: "a join by the size of its hash table, with prefetching and without (Relaxed Operator Fusion, figure 4)",
        kind: Kind::Probe(probe::Plan {
            probes: 10_000_000,
            builds: &[
                (16_000, "16k"),
                (64_000, "64k"),
                (256_000, "256k"),
                (1_000_000, "1m"),
                (4_000_000, "4m"),
                (8_000_000, "8m"),
            ],
        }),
    },
    Experiment {
        name: LAYOUTS,
        about: "TPC-H by layout pinned everywhere, and as the cost model chooses \
                (ByteSlice, figure 14; Hyrise, figures 1, 5 and 9)",
        kind: Kind::Queries(BY_LAYOUT),
    },
    Experiment {
        name: "layouts_clients",
        about: "throughput of TPC-H from three clients (or --clients N) by encoding and layout (Hyrise, figures 5 \
                and 9)",
        kind: Kind::Clients(OF_CLIENTS),
    },
    Experiment {
        name: WIDE,
        about: "TPC-H as one wide table by layout: selections and whole queries (ByteSlice, figures 14 and 20)",
        kind: Kind::Wide(wide::UNIFORM),
    },
    Experiment {
        name: WIDE_SKEWED,
        about: "the same over values by Zipf's law, with exponents 1 and 2 (ByteSlice, figure 21); also wide --skew",
        kind: Kind::Wide(wide::SKEWED),
    },
    Experiment {
        name: "mempax",
        about: "scans of hot chunks and fetching whole rows by rows of a partition (Runtime Fragility)",
        kind: Kind::MemPax(mempax::PLAN),
    },
    Experiment {
        name: "flights",
        about: "delays by carrier in San Francisco, 20 M flights in the order of their dates (Data Blocks, appendix D)",
        kind: Kind::Flights(FLIGHTS),
    },
    Experiment {
        name: "layouts_compile",
        about: "time to plan and compile by combinations of layouts in a table (Data Blocks, figure 5)",
        kind: Kind::LayoutsCompile {
            combinations: &[1, 2, 4, 8, 16, 32, 64],
        },
    },
    Experiment {
        name: "plan",
        about: "what comes before a statement runs: TPC-H by phases, a point query, statements of n parts",
        kind: Kind::Plan(PLAN),
    },
    Experiment {
        name: "statements",
        about: "small statements by themselves: prepared, as texts, and a sum after each row that is written",
        kind: Kind::Statements(&statements::CASES),
    },
    Experiment {
        name: "keys",
        about: "statements that find or write one row by its key, beside SQLite with the feature sqlite",
        kind: Kind::Keys(keys::CASES),
    },
    Experiment {
        name: "commit",
        about: "durable commits of rows, and at the level of the log, by clients: time, commits of a group, syncs; beside SQLite with the feature sqlite",
        kind: Kind::Commit(commit::Plan {
            clients: &[1, 2, 4, 8, 16, 32, 64],
            commits: 4_096,
            bytes: 100,
        }),
    },
    Experiment {
        name: "checkpoints",
        about: "what a background checkpoint costs those who insert and update rows meanwhile",
        kind: Kind::Checkpoints(checkpoints::Plan {
            clients: 4,
            rows: 500_000,
            seconds: 20.0,
        }),
    },
    Experiment {
        name: "windows",
        about: "window functions over ten million rows: running, by partition, sliding, by rank",
        kind: Kind::Windows(&windows::CASES),
    },
    Experiment {
        name: "rollup",
        about: "grouping sets over ten million rows: ROLLUP, CUBE, sets side by side, hot and frozen",
        kind: Kind::Rollup(&rollup::CASES),
    },
    Experiment {
        name: "closure",
        about: "the pairs of nodes that paths join, in three graphs of 200,000 edges: WITH RECURSIVE",
        kind: Kind::Closure(&closure::CASES),
    },
    Experiment {
        name: "shapes",
        about: "groups, joins, sorts, strings and windows over ten million rows: hot, frozen, and with raw strings",
        kind: Kind::Shapes(&shapes::SHAPES),
    },
    Experiment {
        name: "hits",
        about: "43 questions of web analytics over ten million rows of 105 columns: hot, frozen, and with raw strings",
        kind: Kind::Shapes(&shapes::HITS),
    },
    Experiment {
        name: "job",
        about: "the 113 join graphs of the Join Order Benchmark on generated data: hot, then frozen",
        kind: Kind::Shapes(&shapes::JOB),
    },
    Experiment {
        name: "joins",
        about: "joins by inequalities of 20,000 and 20,000 rows, beside nested loops",
        kind: Kind::Joins,
    },
    Experiment {
        name: "topn",
        about: "all columns of the first ten of ten million rows in an order, hot and frozen",
        kind: Kind::TopN(&topn::CASES),
    },
    Experiment {
        name: "ordered",
        about: "aggregates of ten million ordered or distinct rows: texts, medians, percentiles, pairs",
        kind: Kind::Windows(&windows::ORDERED),
    },
    Experiment {
        name: "references",
        about: "what foreign keys, sequences and ALTER TABLE cost, as ratios to the work without them",
        kind: Kind::References,
    },
    Experiment {
        name: "writers",
        about: "sessions that write side by side: disjoint tables, a large UPDATE, many chunks, an old view",
        kind: Kind::Writers,
    },
    Experiment {
        name: "tpcc",
        about: "TPC-C: in memory, durable, cold orders frozen, read-only on all frozen (Data Blocks, section 5.3)",
        kind: Kind::Tpcc,
    },
    Experiment {
        name: "mixed",
        about: "the CH-benCHmark: transactions of TPC-C beside 22 analytical queries, on one database",
        kind: Kind::Mixed,
    },
    Experiment {
        name: "recovery",
        about: "opening a directory whose process was killed, by what its log holds",
        kind: Kind::Recovery(&RECOVERY),
    },
    Experiment {
        name: "scan",
        about: "cost of testing a code by layout, width, operator and place (ByteSlice, section 4.1.2)",
        kind: Kind::Scan(&GRIDS),
    },
    Experiment {
        name: "conjunction",
        about: "two tests joined column-first, predicate-first, by positions or at the end (ByteSlice, figures 12 and 19)",
        kind: Kind::Conjunction(conjunction::Plan {
            widths: &[8, 12, 24],
            permille: &[1, 10, 50, 100, 500],
            or_permille: &[100, 500, 900, 950, 990, 999],
        }),
    },
    Experiment {
        name: "lookup",
        about: "cost of fetching single codes by layout and width (ByteSlice, figure 8; Data Blocks, figure 12b)",
        kind: Kind::Lookup {
            widths: &[8, 12, 16, 17, 20, 24, 32],
        },
    },
    Experiment {
        name: LOOKUP_TABLE,
        about: "customers by random keys, with the key's index and without, hot and in blocks (Data Blocks, table 3); also lookup --table",
        kind: Kind::TableLookup(table_lookup::FORMS),
    },
    Experiment {
        name: "index",
        about: "what adding and finding a key costs in the ordered tree of indexes, beside others",
        kind: Kind::Index,
    },
    Experiment {
        name: "locks",
        about: "what a claim on a row and a lock on a table cost that meet nobody",
        kind: Kind::Locks,
    },
    Experiment {
        name: "codecs",
        about: "our layouts beside the field's integer codecs (Hyrise's integer compression, table 2)",
        kind: Kind::Codecs(&DISTRIBUTIONS),
    },
    Experiment {
        name: "calibrate",
        about: "the constants of the cost model on this machine, and how good the choices by them are",
        kind: Kind::Calibrate(calibrate::Plan {
            fitted: &[1, 4, 8, 9, 12, 16, 17, 20, 22, 24, 26, 28, 29, 32],
            checked: &[2, 3, 5, 6, 7, 10, 11, 13, 14, 15, 18, 19, 21, 23, 25, 27, 30, 31],
            percents: &[1, 10, 50],
        }),
    },
];

/// Each configuration is one step from the one before it, save `blocks_unpacked`: the vectorized scan on blocks, which
/// the paper measures before restrictions on blocks.
const TPCH: QueryExperiment = QueryExperiment {
    queries: TPCH_QUERIES,
    configurations: &[
        scan(
            "compiled",
            Data::Hot,
            &[("frazil.scan", "compiled"), ("frazil.stages", "fused")],
        ),
        scan(
            "vectorized",
            Data::Hot,
            &[("frazil.scan", "vectorized"), ("frazil.stages", "relaxed")],
        ),
        scan(
            "sarg",
            Data::Hot,
            &[("frazil.scan", "sarg"), ("frazil.stages", "relaxed")],
        ),
        scan(
            "blocks_unpacked",
            Data::Frozen,
            &[("frazil.scan", "vectorized"), ("frazil.stages", "relaxed")],
        ),
        scan(
            "blocks",
            Data::Frozen,
            &[("frazil.scan", "blocks"), ("frazil.stages", "relaxed")],
        ),
        scan(
            "sma",
            Data::Frozen,
            &[("frazil.scan", "sma"), ("frazil.stages", "relaxed")],
        ),
        scan(
            "psma",
            Data::Frozen,
            &[("frazil.scan", "psma"), ("frazil.stages", "relaxed")],
        ),
        Configuration {
            name: "rust_loop",
            data: Data::Arrays,
            settings: &[],
            only: Some(6),
        },
    ],
    baseline: "compiled",
    figures: &[],
};

const PSMA: QueryExperiment = QueryExperiment {
    queries: &[6],
    configurations: &[
        scan("unsorted", Data::Frozen, &[("frazil.scan", "psma")]),
        scan("sorted", Data::FrozenSorted, &[("frazil.scan", "psma")]),
        scan(
            "sorted_without_psma",
            Data::FrozenSorted,
            &[("frazil.scan", "sma")],
        ),
    ],
    baseline: "unsorted",
    figures: &[Figure::SkippedByPsma],
};

const fn vector(name: &'static str, settings: &'static [(&'static str, &'static str)]) -> Configuration {
    scan(name, Data::Frozen, settings)
}

/// Each configuration sets both sizes, as settings stay from one run to the next.
const VECTOR: QueryExperiment = QueryExperiment {
    queries: TPCH_QUERIES,
    configurations: &[
        vector(
            "window_1024",
            &[("frazil.window_rows", "1024"), ("frazil.stage_rows", "1024")],
        ),
        vector(
            "window_4096",
            &[("frazil.window_rows", "4096"), ("frazil.stage_rows", "1024")],
        ),
        vector(
            "window_16384",
            &[("frazil.window_rows", "16384"), ("frazil.stage_rows", "1024")],
        ),
        vector(
            "window_65536",
            &[("frazil.window_rows", "65536"), ("frazil.stage_rows", "1024")],
        ),
        vector(
            "stage_64",
            &[("frazil.window_rows", "4096"), ("frazil.stage_rows", "64")],
        ),
        vector(
            "stage_256",
            &[("frazil.window_rows", "4096"), ("frazil.stage_rows", "256")],
        ),
        vector(
            "stage_512",
            &[("frazil.window_rows", "4096"), ("frazil.stage_rows", "512")],
        ),
    ],
    baseline: "window_4096",
    figures: &[],
};

/// What freezing for a purpose costs TPC-H in time.
pub fn by_purpose(purpose: Purpose) -> &'static QueryExperiment {
    match purpose {
        Purpose::Balanced | Purpose::Size => &SIZE,
        Purpose::Scan => &SCAN,
        Purpose::Point => &POINT,
    }
}

const fn against_balanced(configurations: &'static [Configuration]) -> QueryExperiment {
    QueryExperiment {
        queries: TPCH_QUERIES,
        configurations,
        baseline: "balanced",
        figures: &[Figure::IntegerBytes],
    }
}

const BALANCED: Configuration = scan("balanced", Data::Frozen, &[]);
static SIZE: QueryExperiment = against_balanced(&[
    BALANCED,
    scan("size", Data::FrozenWith("freeze_for = 'size'"), &[]),
]);
static SCAN: QueryExperiment = against_balanced(&[
    BALANCED,
    scan("scan", Data::FrozenWith("freeze_for = 'scan'"), &[]),
]);
static POINT: QueryExperiment = against_balanced(&[
    BALANCED,
    scan("point", Data::FrozenWith("freeze_for = 'point'"), &[]),
]);

const FLIGHTS: QueryExperiment = QueryExperiment {
    queries: &[1],
    configurations: &[
        scan(
            "compiled",
            Data::Hot,
            &[("frazil.scan", "compiled"), ("frazil.stages", "fused")],
        ),
        scan(
            "sarg",
            Data::Hot,
            &[("frazil.scan", "sarg"), ("frazil.stages", "relaxed")],
        ),
        scan(
            "blocks",
            Data::Frozen,
            &[("frazil.scan", "blocks"), ("frazil.stages", "relaxed")],
        ),
        scan(
            "sma",
            Data::Frozen,
            &[("frazil.scan", "sma"), ("frazil.stages", "relaxed")],
        ),
        scan(
            "psma",
            Data::Frozen,
            &[("frazil.scan", "psma"), ("frazil.stages", "relaxed")],
        ),
        scan(
            "psma_sorted",
            Data::FrozenSorted,
            &[("frazil.scan", "psma"), ("frazil.stages", "relaxed")],
        ),
    ],
    baseline: "compiled",
    figures: &[
        Figure::BlocksSkippedBySma,
        Figure::SkippedByPsma,
        Figure::SkippedByPsmaOfLeft,
    ],
};

/// The experiment of a name.
pub fn find(name: &str) -> Result<&'static Experiment> {
    (EXPERIMENTS.iter().find(|e| e.name == name)).ok_or_else(|| {
        Error::new(
            SqlState::INVALID_PARAMETER,
            format!("there is no experiment \"{name}\""),
        )
        .with_hint(format!("there are {}", crate::names()))
    })
}

/// Logs of commits of one row and of many, in one table and in several.
const RECOVERY: [recovery::Case; 4] = [
    recovery::Case {
        name: "rows",
        tables: 1,
        batch: 1,
        rows: 1_000_000,
        updates: false,
    },
    recovery::Case {
        name: "batches",
        tables: 1,
        batch: 1_000,
        rows: 4_000_000,
        updates: false,
    },
    recovery::Case {
        name: "updates",
        tables: 1,
        batch: 1,
        rows: 300_000,
        updates: true,
    },
    recovery::Case {
        name: "tables",
        tables: 4,
        batch: 1,
        rows: 1_000_000,
        updates: true,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baselines_are_configurations_and_names_are_unique() {
        for experiment in &EXPERIMENTS {
            let (Kind::Queries(queries) | Kind::Clients(queries) | Kind::Flights(queries)) = &experiment.kind
            else {
                continue;
            };
            let names: Vec<&str> = queries.configurations.iter().map(|c| c.name).collect();
            assert!(names.contains(&queries.baseline), "{}", experiment.name);
            let mut unique = names.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), names.len(), "{}", experiment.name);
            // A setting that one configuration changes, all set: runs are interleaved on one engine.
            for configuration in queries.configurations.iter().filter(|c| c.data != Data::Arrays) {
                let set = |c: &Configuration| c.settings.iter().map(|s| s.0).collect::<Vec<_>>();
                assert_eq!(
                    set(configuration),
                    set(&queries.configurations[0]),
                    "{}",
                    configuration.name
                );
            }
        }
        assert!(find("speed").is_err_and(|e| e.hint().is_some_and(|h| h.contains("vector"))));
    }
}
