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
        "Q1 over one-byte columns is more fragile than over four-byte and eight-byte ones",
        each(
            "mempax",
            ("loops/{}/q1", "loops/char/q1"),
            &["int", "long"],
            WORST,
            1.0,
        ),
    ),
    (
        "figure 5",
        "Compilers of C++ and their levels differ by more than 3 times",
        Measure::Elsewhere("our code has one compiler for each way; figure 4 and table 3 vary layouts"),
    ),
    (
        "figure 6",
        "On processors since Westmere, partitions of a page beat row layout",
        each(
            "mempax",
            ("loops/{}/k_4096/avx2", "loops/{}/k_1/avx2"),
            &["char/q1", "char/q2", "int/q1", "int/q2", "long/q1", "long/q2"],
            ROW,
            1.0,
        ),
    ),
    (
        "figure 6",
        "On processors since Westmere, column layout is as good as partitions of a page",
        each(
            "mempax",
            ("loops/{}/k_65536/avx2", "loops/{}/k_4096/avx2"),
            &["char/q1", "char/q2", "int/q1", "int/q2", "long/q1", "long/q2"],
            ROW,
            0.95,
        ),
    ),
    (
        "figure 7",
        "Sandy Bridge",
        Measure::Shows("the parts of a processor"),
    ),
    (
        "figure 8",
        "A k that is not a multiple of a line takes Q2 20 % less",
        ratio(
            "mempax",
            (
                "spikes/smallint/q2/neighbours",
                "spikes/smallint/q2/multiples_of_a_line",
            ),
            ROW,
            1.2,
        ),
    ),
    (
        "figure 9",
        "Conflicts of banks of the first-level cache explain the spikes",
        Measure::Elsewhere("Sandy Bridge alone counts them"),
    ),
    ("table 1", "Schemas", Measure::Shows("the workload")),
    ("table 2", "Machines", Measure::Shows("processors")),
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
        "Over int columns the worst layout and setup takes Q1 at most 1.9 times as long as the best",
        at_most("mempax", "loops/int/q1", WORST, 1.9),
    ),
    (
        "table 3",
        "Over int columns the worst layout and setup takes Q2 at most 2.6 times as long as the best",
        at_most("mempax", "loops/int/q2", WORST, 2.6),
    ),
    (
        "table 3",
        "Over long columns the worst layout and setup takes Q1 at most 1.5 times as long as the best",
        at_most("mempax", "loops/long/q1", WORST, 1.5),
    ),
    (
        "table 3",
        "Over long columns the worst layout and setup takes Q2 at most 2.0 times as long as the best",
        at_most("mempax", "loops/long/q2", WORST, 2.0),
    ),
    (
        "table 4",
        "Narrow types of lineitem",
        Measure::Shows("encodings; section 7 has what they bring"),
    ),
    (
        "section 7",
        "Narrow columns cut the fragility of TPC-H by half at least",
        each(
            "mempax",
            ("tpch/narrow/{}", "tpch/plain/{}"),
            &["q1", "q6"],
            WORST,
            2.0,
        ),
    ),
];
