//! Claims of Relaxed Operator Fusion.

use super::line::{Line, Paper, each, ratio, up_to};
use crate::whole::verdict::Measure;

pub const PAPER: Paper = Paper {
    name: "Relaxed Operator Fusion",
    lines: LINES,
};

/// All queries whose time the rows of a stage vector do not change: Q3 and Q13 apart.
const INSENSITIVE: &[&str] = &["q01", "q04", "q05", "q06", "q14", "q19"];

/// Rows of the build side in cases of `bench probe`.
const BUILDS: &[&str] = &["16k", "64k", "256k", "1m", "4m", "8m"];

/// A case of `bench stages` is at least `least` times as fast as the baseline.
const fn stages(
    place: &'static str,
    words: &'static str,
    cases: (&'static str, &'static str),
    least: f64,
) -> Line {
    (place, words, ratio("stages", cases, "execute", least))
}

const LINES: &[Line] = &[
    (
        "figure 1",
        "Q19, shortened",
        Measure::Shows("the text of a query"),
    ),
    (
        "figure 2",
        "Q19 as a plan and as generated code",
        Measure::Shows("code with a stage boundary; EXPLAIN (STAGES) shows ours"),
    ),
    ("figure 3", "Q19 by vectors", Measure::Shows("the rival's model")),
    (
        "figure 4",
        "Joins by tuples are no slower with prefetching, whatever the size of the hash table",
        each(
            "probe",
            ("build_{}/prefetch", "build_{}/plain"),
            BUILDS,
            "execute",
            1.0,
        ),
    ),
    (
        "figure 4",
        "Joins by tuples are up to 1.2 times as fast with prefetching",
        up_to(
            "probe",
            ("build_{}/prefetch", "build_{}/plain"),
            BUILDS,
            "execute",
            1.2,
        ),
    ),
    (
        "figure 4",
        "SIMD joins are behind joins by tuples once the hash table exceeds the cache",
        Measure::Elsewhere("Frazil has no SIMD join"),
    ),
    (
        "figure 5",
        "A routine of two stages",
        Measure::Shows("pseudo-code of a pipeline"),
    ),
    (
        "figure 6",
        "A predicate by SIMD",
        Measure::Shows("the steps of a kernel"),
    ),
    (
        "figure 7",
        "The hash table",
        Measure::Shows("a data structure; Frazil's links rows instead"),
    ),
    (
        "figure 8",
        "The plans of eight queries",
        Measure::Shows("the workload"),
    ),
    stages(
        "figure 9",
        "Stages with SIMD and prefetching speed Q1 up 1.04 times",
        ("relaxed/q01", "compiled/q01"),
        1.04,
    ),
    stages(
        "figure 9",
        "Stages with SIMD and prefetching speed Q3 up at least 1.7 times",
        ("relaxed/q03", "compiled/q03"),
        1.7,
    ),
    stages(
        "figure 9",
        "Stages with SIMD and prefetching speed Q4 up at least 1.7 times",
        ("relaxed/q04", "compiled/q04"),
        1.7,
    ),
    stages(
        "figure 9",
        "Stages with SIMD and prefetching speed Q5 up at least 1.7 times",
        ("relaxed/q05", "compiled/q05"),
        1.7,
    ),
    stages(
        "figure 9",
        "Stages with SIMD and prefetching speed Q6 up at least 1.7 times",
        ("relaxed/q06", "compiled/q06"),
        1.7,
    ),
    stages(
        "figure 9",
        "Stages with SIMD and prefetching speed Q13 up at least 1.7 times",
        ("relaxed/q13", "compiled/q13"),
        1.7,
    ),
    stages(
        "figure 9",
        "Stages with SIMD and prefetching speed Q14 up at least 1.7 times",
        ("relaxed/q14", "compiled/q14"),
        1.7,
    ),
    stages(
        "figure 9",
        "Stages with SIMD and prefetching speed Q19 up at least 1.7 times",
        ("relaxed/q19", "compiled/q19"),
        1.7,
    ),
    stages(
        "figure 10",
        "SIMD in the scan speeds Q1, 98 % of whose rows match, up by at most 1.036 times, but slows nothing down",
        ("simd/q01", "compiled/q01"),
        1.0,
    ),
    stages(
        "figure 10",
        "Prefetching behind a boundary does not speed Q1 up, whose groups are in a cache",
        ("simd/q01", "staged/q01"),
        1.0,
    ),
    stages(
        "figure 11",
        "Boundaries with prefetching speed Q3 up beside SIMD scans",
        ("relaxed/q03", "simd/q03"),
        1.0,
    ),
    stages(
        "figure 11",
        "All of it speeds Q3 up 1.61 times",
        ("relaxed/q03", "compiled/q03"),
        1.61,
    ),
    stages(
        "figure 12",
        "Boundaries with prefetching speed Q13 up 1.5 times without SIMD",
        ("relaxed/q13", "simd/q13"),
        1.5,
    ),
    stages(
        "figure 13",
        "SIMD scans speed Q14, whose predicate leaves 2 % of the rows, up 1.37 times",
        ("simd/q14", "compiled/q14"),
        1.37,
    ),
    stages(
        "figure 13",
        "Prefetching speeds Q14 up 1.45 times beside SIMD scans",
        ("relaxed/q14", "simd/q14"),
        1.45,
    ),
    stages(
        "figure 14",
        "SIMD scans speed Q19 up almost 1.6 times",
        ("simd/q19", "compiled/q19"),
        1.6,
    ),
    stages(
        "figure 14",
        "Prefetching speeds Q19 up almost 1.6 times beside SIMD scans",
        ("relaxed/q19", "simd/q19"),
        1.6,
    ),
    (
        "figure 15",
        "Vectors of 65,536 rows are as fast as those of 1,024",
        each(
            "stages",
            ("vector_65536/{}", "relaxed/{}"),
            INSENSITIVE,
            "execute",
            0.95,
        ),
    ),
    (
        "figure 15",
        "Vectors of 64 rows are as fast as those of 1,024",
        each(
            "stages",
            ("vector_64/{}", "relaxed/{}"),
            INSENSITIVE,
            "execute",
            0.95,
        ),
    ),
    stages(
        "figure 15",
        "Q3 gains slightly by vectors of up to 16,384 rows",
        ("vector_16384/q03", "vector_64/q03"),
        1.0,
    ),
    stages(
        "figure 16",
        "Prefetching groups of 16 rows speeds Q13 up beside none",
        ("prefetch_16/q13", "boundaries/q13"),
        1.0,
    ),
    stages(
        "figure 16",
        "Prefetching groups of 16 rows speeds Q5 up beside none",
        ("prefetch_16/q05", "boundaries/q05"),
        1.0,
    ),
    (
        "figure 16",
        "Groups of more than 16 rows are no faster",
        each(
            "stages",
            ("prefetch_16/{}", "prefetch_256/{}"),
            &["q03", "q04", "q05", "q13", "q14", "q19"],
            "execute",
            0.95,
        ),
    ),
    (
        "figure 16",
        "The rows of a group change nothing in Q1 and Q6",
        each(
            "stages",
            ("prefetch_16/{}", "boundaries/{}"),
            &["q01", "q06"],
            "execute",
            0.95,
        ),
    ),
    (
        "figure 17",
        "On several threads, stages make joins at least 1.5 times as fast",
        each(
            "stages",
            ("relaxed/{}/threads_2", "compiled/{}/threads_2"),
            &["q03", "q05", "q13", "q14", "q19"],
            "execute",
            1.5,
        ),
    ),
    (
        "figure 17",
        "On several threads, stages do not change Q1",
        ratio(
            "stages",
            ("relaxed/q01/threads_2", "compiled/q01/threads_2"),
            "execute",
            0.95,
        ),
    ),
    (
        "figure 18",
        "Peloton with stages is ahead of Vector and HyPer in seven of eight queries",
        Measure::Elsewhere("needs other systems; docs/benchmarks.md has TPC-H beside HyPer and DuckDB"),
    ),
];
