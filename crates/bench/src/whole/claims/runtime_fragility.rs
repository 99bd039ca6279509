//! Claims of Runtime Fragility.

use super::line::{Line, Paper, at_least, at_most, each, ratio};
use crate::whole::verdict::Measure;

pub const PAPER: Paper = Paper {
    name: "Runtime Fragility",
    lines: LINES,
};

/// Name of what `bench mempax` tells of the worst layout and setup over the best.
const WORST: &str = "worst_over_best";
const ROW: &str = "ns_per_row";

/// Both queries.
const QUERIES: &[&str] = &["q1", "q2"];

/// Both queries over columns of one, four and eight bytes.
const CHAR: &[&str] = &["char/q1", "char/q2"];
const INT: &[&str] = &["int/q1", "int/q2"];
const LONG: &[&str] = &["long/q1", "long/q2"];

/// In loops with one layout each row costs at most 1 / `least` of what it costs with another.
const fn loops(queries: &'static [&'static str], cases: (&'static str, &'static str), least: f64) -> Measure {
    each("mempax", cases, queries, ROW, least)
}

const LINES: &[Line] = &[
    (
        "figure 1",
        "memPAX layouts of a small table",
        Measure::Shows("layouts"),
    ),
    (
        "figure 2",
        "Two queries",
        Measure::Shows("the texts of the workload"),
    ),
    (
        "figure 3",
        "A mean hides variance",
        Measure::Shows("five runs of two layouts, which are a test of crates/bench/src/statistics"),
    ),
    (
        "figure 4",
        "Both queries are more fragile over one-byte columns than over four-byte ones",
        each("mempax", ("loops/int/{}", "loops/char/{}"), QUERIES, WORST, 1.0),
    ),
    (
        "figure 4",
        "Both queries are more fragile over one-byte columns than over eight-byte ones",
        each("mempax", ("loops/long/{}", "loops/char/{}"), QUERIES, WORST, 1.0),
    ),
    (
        "figure 5",
        "Over one-byte columns with k above 8, g++ -O1 and -O2 take Q1 at least 3 times as long as other compilers",
        Measure::Elsewhere(
            "Rust has one compiler; bench mempax varies the levels of Cranelift (cases generated/…/compile_time_none \
             and _speed) and instruction sets instead",
        ),
    ),
    (
        "figure 6",
        "Since Westmere, larger partitions beat row layout: one-byte columns by 4,096 rows, which fill a page",
        loops(CHAR, ("loops/{}/k_4096/avx2", "loops/{}/k_1/avx2"), 1.0),
    ),
    (
        "figure 6",
        "Since Westmere, larger partitions beat row layout: four-byte columns by 1,024 rows, which fill a page",
        loops(INT, ("loops/{}/k_1024/avx2", "loops/{}/k_1/avx2"), 1.0),
    ),
    (
        "figure 6",
        "Since Westmere, larger partitions beat row layout: eight-byte columns by 512 rows, which fill a page",
        loops(LONG, ("loops/{}/k_512/avx2", "loops/{}/k_1/avx2"), 1.0),
    ),
    (
        "figure 7",
        "Sandy Bridge",
        Measure::Shows("the parts of a processor"),
    ),
    (
        "figure 8",
        "On Sandy Bridge, over one-byte columns, a k that is not a power of two (here: not a multiple of a line) \
         improves Q2 by approximately 20 % (here over smallint, SQL's narrowest type)",
        ratio(
            "mempax",
            (
                "spikes/smallint/q2/neighbours",
                "spikes/smallint/q2/multiples_of_a_line",
            ),
            ROW,
            1.25,
        ),
    ),
    (
        "figure 9",
        "Conflicts of banks of the first-level cache correlate with the time of Q1 and Q2 on Sandy Bridge",
        Measure::Elsewhere("the event that counts them is one of Sandy Bridge"),
    ),
    ("table 1", "Schemas", Measure::Shows("the workload")),
    (
        "table 2",
        "Machines with processors from Core to Ivy Bridge, whose tables have 10 GB",
        Measure::Shows(
            "the paper's conditions; here this machine and tables of 64 MB. A setup is an instruction set here, and a \
             compiler, its level and the knowledge of k there",
        ),
    ),
    (
        "table 3",
        "Over one-byte columns the worst layout and setup takes Q1 6.8 to 25 times as long as the best",
        at_least("mempax", "loops/char/q1", WORST, 6.8),
    ),
    (
        "table 3",
        "Over one-byte columns the worst layout and setup takes Q2 3.3 to 3.8 times as long as the best",
        at_least("mempax", "loops/char/q2", WORST, 3.3),
    ),
    (
        "table 3",
        "Over four-byte columns the worst layout and setup takes Q1 1.3 to 1.9 times as long as the best",
        at_most("mempax", "loops/int/q1", WORST, 1.9),
    ),
    (
        "table 3",
        "Over four-byte columns the worst layout and setup takes Q2 1.4 to 2.6 times as long as the best",
        at_most("mempax", "loops/int/q2", WORST, 2.6),
    ),
    (
        "table 3",
        "Over eight-byte columns the worst layout and setup takes Q1 1.0 to 1.5 times as long as the best",
        at_most("mempax", "loops/long/q1", WORST, 1.5),
    ),
    (
        "table 3",
        "Over eight-byte columns the worst layout and setup takes Q2 1.3 to 2.0 times as long as the best",
        at_most("mempax", "loops/long/q2", WORST, 2.0),
    ),
    (
        "table 4",
        "Narrow types of lineitem",
        Measure::Shows("encodings; section 7 has what they bring"),
    ),
    (
        "section 4.3",
        "Since Westmere, column layout is just fine: one-byte columns take little longer in it than by 4,096 rows",
        loops(CHAR, ("loops/{}/k_65536/avx2", "loops/{}/k_4096/avx2"), 0.95),
    ),
    (
        "section 4.3",
        "Since Westmere, column layout is just fine: four-byte columns take little longer in it than by 1,024 rows",
        loops(INT, ("loops/{}/k_65536/avx2", "loops/{}/k_1024/avx2"), 0.95),
    ),
    (
        "section 4.3",
        "Since Westmere, column layout is just fine: eight-byte columns take little longer in it than by 512 rows",
        loops(LONG, ("loops/{}/k_65536/avx2", "loops/{}/k_512/avx2"), 0.95),
    ),
    (
        "section 7",
        "Dictionaries and narrow types reduce the fragility of TPC-H by 50 to 80 % (here the worst time over the best)",
        each(
            "mempax",
            ("tpch/narrow/{}", "tpch/plain/{}"),
            &["q1", "q6"],
            WORST,
            2.0,
        ),
    ),
];
