//! Claims of Hyrise's study of integer compression.

use super::line::{Line, Paper, VALUE, at_most, each, ratio};
use crate::whole::verdict::Measure;

pub const PAPER: Paper = Paper {
    name: "Integer Compression",
    lines: LINES,
};

const LABELS: &[&str] = &["uniform", "sorted", "years", "months", "time_series"];

/// A configuration of `bench tpch --layouts` runs TPC-H at least `least` times as fast as another.
const fn tpch(
    place: &'static str,
    words: &'static str,
    cases: (&'static str, &'static str),
    least: f64,
) -> Line {
    (place, words, ratio("layouts", cases, "execute", least))
}

const LINES: &[Line] = &[
    tpch(
        "figure 1",
        "Integers that are not compressed are the fastest on one thread, ahead of bit-packed ones",
        ("unencoded/geomean", "bit_packed/geomean"),
        1.0,
    ),
    (
        "figure 1",
        "Bit-packed integers take less memory than byte-packed dictionaries",
        ratio(
            "layouts",
            ("bit_packed", "dictionary_byte_packed"),
            "integer_bytes",
            1.0,
        ),
    ),
    (
        "figure 2",
        "Benchmarks spend more time on integers than on all other types, and 25 to 50 % on joins",
        Measure::Elsewhere("the time of a query is not told by types of columns"),
    ),
    (
        "figure 3",
        "A customer's system has strings in 83 % of its columns",
        Measure::Elsewhere("needs that system"),
    ),
    (
        "figure 4",
        "More than 44 % of tuple accesses go through positions",
        Measure::Elsewhere("frazil_blocks counts accesses by column, not by operator"),
    ),
    tpch(
        "figure 5",
        "Bit-packed integers make TPC-H 5 to 16 % faster than byte-packed dictionaries",
        ("bit_packed/geomean", "dictionary_byte_packed/geomean"),
        1.05,
    ),
    tpch(
        "figure 5",
        "Patched integers make TPC-H faster than byte-packed dictionaries, too",
        ("patched/geomean", "dictionary_byte_packed/geomean"),
        1.0,
    ),
    tpch(
        "figure 5",
        "Bit-packed integers make TPC-H faster than patched ones",
        ("bit_packed/geomean", "patched/geomean"),
        1.0,
    ),
    (
        "figure 5",
        "With many clients, integers that are not compressed are slower than bit-packed ones",
        Measure::Elsewhere("frazil bench tpch --layouts --clients 3 measures throughput"),
    ),
    (
        "figure 6",
        "For TPC-DS dictionaries are among the best, for the Join Order Benchmark bit-packed integers are",
        Measure::Elsewhere("bench job holds its tables in one way; TPC-DS is python/bench/tpcds.py"),
    ),
    (
        "figure 7",
        "Dictionaries miss the caches most often in TPC-H",
        Measure::Elsewhere("virtual machines seldom count misses of the last cache"),
    ),
    (
        "figure 8",
        "Segments of TPC-DS have fewer distinct values than those of TPC-H",
        Measure::Elsewhere("its data generator is not part of the program"),
    ),
    tpch(
        "figure 9",
        "With bit-packed codes of dictionaries TPC-H takes at most 7 % longer than with byte-packed ones",
        ("dictionary_bit_packed/geomean", "dictionary_byte_packed/geomean"),
        0.93,
    ),
    (
        "figure 10",
        "For TPC-DS and the Join Order Benchmark byte-packed codes of dictionaries are a good compromise",
        Measure::Elsewhere("bench job holds its tables in one way; TPC-DS is python/bench/tpcds.py"),
    ),
    (
        "figure 11",
        "Misses of caches follow the memory that codes take",
        Measure::Elsewhere("virtual machines seldom count misses of the last cache"),
    ),
    (
        "figure 12",
        "Bit-packed codes of dictionaries never take more than byte-packed ones, and up to 8 times less",
        each(
            "codecs",
            ("bit_packed/{}", "byte_packed/{}"),
            LABELS,
            "rate",
            0.99,
        ),
    ),
    (
        "table 1",
        "Open-source implementations",
        Measure::Shows("a list of libraries"),
    ),
    (
        "table 2",
        "To fetch 1,000 of 65,535 bit-packed values one by one takes less than to decode all",
        // Costs of a value: 1,000 of them against 65,535.
        each(
            "codecs",
            ("bit_packed/{}/positions_1000", "bit_packed/{}/decode"),
            LABELS,
            VALUE,
            1_000.0 / 65_535.0,
        ),
    ),
    (
        "table 2",
        "A single bit-packed value costs up to 3.5 times a value of a plain vector",
        each(
            "codecs",
            ("bit_packed/{}/positions_1", "unencoded/{}/positions_1"),
            LABELS,
            VALUE,
            0.28,
        ),
    ),
    (
        "table 2",
        "Bit-packing holds the five distributions in at most 0.39 of a plain vector's bytes, on average",
        at_most("codecs", "bit_packed", "rate", 0.39),
    ),
    (
        "section 4.3.1",
        "Integer columns take less memory than with dictionaries on byte-packed codes, up to 53 % less",
        ratio(
            "layouts",
            ("size", "dictionary_byte_packed"),
            "integer_bytes",
            2.12,
        ),
    ),
    (
        "section 5.2.1",
        "Bit-packed codes of dictionaries take 4 % less than byte-packed ones",
        ratio(
            "layouts",
            ("dictionary_bit_packed", "dictionary_byte_packed"),
            "integer_bytes",
            1.04,
        ),
    ),
];
