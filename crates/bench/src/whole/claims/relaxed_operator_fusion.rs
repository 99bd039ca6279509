//! Claims of Relaxed Operator Fusion.

use super::line::{Line, Paper, each, ratio, up_to};
use crate::whole::verdict::Measure;

pub const PAPER: Paper = Paper {
    name: "Relaxed Operator Fusion",
    lines: LINES,
};

/// Queries whose time the rows of a stage vector do not change. The paper says so of all but Q13, and then that Q3
/// alone gains by larger vectors and Q13 does not.
const INSENSITIVE: &[&str] = &["q01", "q04", "q05", "q06", "q14", "q19"];

/// Queries whose time depends on the rows that are prefetched together: all but Q1 and Q6.
const PREFETCHED: &[&str] = &["q03", "q04", "q05", "q13", "q14", "q19"];

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
        "section 5.1",
        "Eight queries of TPC-H run at scale factor 10, on one thread save in figure 17, averages of ten runs",
        Measure::Shows(
            "the paper's conditions; here the scale factor is that of the run, and rows are hot. Scans as compiled \
             loops in fused pipelines stand for the paper's baseline",
        ),
    ),
    (
        "figure 1",
        "Q19, shortened",
        Measure::Shows("the text of a query"),
    ),
    (
        "figure 2",
        "Q19 as a plan, as a plan with a stage boundary, and as generated code",
        Measure::Shows("an example; EXPLAIN (STAGES) shows our boundaries"),
    ),
    ("figure 3", "Q19 by vectors", Measure::Shows("the rival's model")),
    (
        "figure 4",
        "Joins by tuples are faster with prefetching, whatever the size of the hash table (the paper's have 1 MB to \
         1 GB, 100 M probes and 20 threads, ours 16,000 to 8 M rows, 10 M probes and one thread)",
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
        "Joins by tuples are often up to 1.2 times as fast with prefetching",
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
        "SIMD joins are slower than joins by tuples with prefetching at every size, and slower than those without once \
         the hash table exceeds the cache",
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
        "A hash table with open addressing",
        Measure::Shows("a data structure; Frazil's links rows instead"),
    ),
    (
        "figure 8",
        "Plans of the queries that the paper looks into, save Q19, with their pipelines",
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
        "Stages with SIMD and prefetching speed Q3 up at least 1.7 times (figure 11 has 1.61)",
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
        "Stages with SIMD and prefetching speed Q13 up at least 1.7 times (figure 12 has 1.5)",
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
        "SIMD in the scan makes Q1, 98 % of whose rows match, marginally faster, at most 1.036 times",
        ("simd/q01", "compiled/q01"),
        1.0,
    ),
    stages(
        "figure 10",
        "Prefetching behind a boundary makes Q1, whose four groups are in the first-level cache, slower (here with \
         boundaries between all operators)",
        ("simd/q01", "staged/q01"),
        1.0,
    ),
    stages(
        "figure 11",
        "SIMD scans make Q3 marginally faster",
        ("simd/q03", "compiled/q03"),
        1.0,
    ),
    stages(
        "figure 11",
        "Boundaries with prefetching bring Q3 more than SIMD scans do",
        ("relaxed/q03", "simd/q03"),
        1.0,
    ),
    stages(
        "figure 11",
        "SIMD scans and boundaries with prefetching speed Q3 up 1.61 times",
        ("relaxed/q03", "compiled/q03"),
        1.61,
    ),
    stages(
        "figure 12",
        "Boundaries with prefetching speed Q13, whose predicate is not one for SIMD, up 1.5 times (the paper's \
         baseline has a compiled scan, ours a vectorized one, as the case has)",
        ("relaxed/q13", "simd/q13"),
        1.5,
    ),
    stages(
        "figure 13",
        "A SIMD scan speeds Q14, whose predicate leaves 2 % of the rows, up 1.37 times",
        ("simd/q14", "compiled/q14"),
        1.37,
    ),
    stages(
        "figure 13",
        "Prefetching speeds Q14 up another 1.45 times",
        ("relaxed/q14", "simd/q14"),
        1.45,
    ),
    stages(
        "figure 13",
        "A SIMD scan and prefetching speed Q14 up almost 2 times",
        ("relaxed/q14", "compiled/q14"),
        2.0,
    ),
    stages(
        "figure 14",
        "A SIMD scan speeds Q19, whose predicate leaves less than 4 % of the rows, up almost 1.6 times",
        ("simd/q19", "compiled/q19"),
        1.6,
    ),
    stages(
        "figure 14",
        "Prefetching speeds Q19 up another almost 1.6 times",
        ("relaxed/q19", "simd/q19"),
        1.6,
    ),
    stages(
        "figure 14",
        "A SIMD scan and prefetching speed Q19 up almost 2.5 times",
        ("relaxed/q19", "compiled/q19"),
        2.5,
    ),
    (
        "figure 15",
        "Queries are insensitive to the rows of a vector: 65,536 (the paper goes on to 256k) are as fast as 1,024",
        each(
            "stages",
            ("vector_65536/{}", "prefetch_16/{}"),
            INSENSITIVE,
            "execute",
            0.95,
        ),
    ),
    (
        "figure 15",
        "Queries are insensitive to the rows of a vector: 64 are as fast as 1,024",
        each(
            "stages",
            ("vector_64/{}", "prefetch_16/{}"),
            INSENSITIVE,
            "execute",
            0.95,
        ),
    ),
    stages(
        "figure 15",
        "Q3 gains slightly by larger vectors, up to 16k rows",
        ("vector_16384/q03", "vector_64/q03"),
        1.0,
    ),
    stages(
        "figure 15",
        "Q3 does not gain by vectors of more than 16k rows",
        ("vector_16384/q03", "vector_65536/q03"),
        0.95,
    ),
    stages(
        "figure 15",
        "Q13 does not gain by larger vectors",
        ("prefetch_16/q13", "vector_65536/q13"),
        0.95,
    ),
    (
        "figure 16",
        "Prefetching groups of 16 rows makes all queries but Q1 and Q6 faster than prefetching none",
        each(
            "stages",
            ("prefetch_16/{}", "boundaries/{}"),
            PREFETCHED,
            "execute",
            1.0,
        ),
    ),
    (
        "figure 16",
        "Queries get faster with larger groups, up to 16 rows (here than with groups of 4)",
        each(
            "stages",
            ("prefetch_16/{}", "prefetch_4/{}"),
            PREFETCHED,
            "execute",
            1.0,
        ),
    ),
    (
        "figure 16",
        "Groups of more than 16 rows are no faster (here 256)",
        each(
            "stages",
            ("prefetch_16/{}", "prefetch_256/{}"),
            PREFETCHED,
            "execute",
            0.95,
        ),
    ),
    (
        "figure 16",
        "The rows of a group do not affect Q1 and Q6",
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
        "On one to 20 threads (here two), prefetching makes Q3, Q5, Q13, Q14 and Q19 1.5 to 1.61 times as fast",
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
        "On one to 20 threads (here two), stages do not improve Q1 (here: nor slow it down)",
        ratio(
            "stages",
            ("relaxed/q01/threads_2", "compiled/q01/threads_2"),
            "execute",
            0.95,
        ),
    ),
    (
        "figure 18",
        "Peloton with stages is faster than Vector and HyPer in seven of eight queries; HyPer is the fastest in Q1",
        Measure::Elsewhere(
            "needs other systems; by docs/benchmarks.md Frazil is faster than HyPer and DuckDB in all eight, at scale \
             factor 1 on one thread",
        ),
    ),
];
