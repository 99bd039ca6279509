//! Claims of Hyrise's study of integer compression.

use super::line::{Line, Paper, VALUE, at_most, each, ratio};
use crate::whole::verdict::Measure;

pub const PAPER: Paper = Paper {
    name: "Integer Compression",
    lines: LINES,
};

const LABELS: &[&str] = &["uniform", "sorted", "years", "months", "time_series"];

/// The distributions whose codes are not as wide as bytes.
const NOT_ALIGNED: &[&str] = &["sorted", "months", "time_series"];

/// A query of `bench layouts_clients`.
const PER_QUERY: &str = "ms_per_query";

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
    (
        "section 4.3",
        "TPC-H and TPC-DS run at scale factor 10; only integer columns have the encodings that are compared, and all \
         others dictionaries",
        Measure::Shows(
            "the paper's conditions; here the scale factor is that of the run, an encoding or a layout is given to all \
             columns that can have it, and times are geometric means where the paper adds them up",
        ),
    ),
    (
        "figure 1",
        "Integers that are not compressed are the fastest on one thread",
        each(
            "layouts",
            ("unencoded/geomean", "{}/geomean"),
            &["bit_packed", "patched", "dictionary_byte_packed"],
            "execute",
            1.0,
        ),
    ),
    tpch(
        "figure 1",
        "Bit-packed integers are faster than byte-packed dictionaries",
        ("bit_packed/geomean", "dictionary_byte_packed/geomean"),
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
        "TPC-H, TPC-DS and the Join Order Benchmark spend more time on integer columns than on all others together, \
         and 25 to 50 % on joins",
        Measure::Elsewhere(
            "Frazil's pipelines run several operators at once, whose times are not told apart by columns",
        ),
    ),
    (
        "figure 3",
        "Over 83 % of the columns of a customer's system are strings",
        Measure::Elsewhere("needs the data of that customer"),
    ),
    (
        "figure 4",
        "On average, more than 44 % of the tuple accesses of operators can go through lists of positions",
        Measure::Elsewhere(
            "Frazil has no lists of positions between operators; frazil_blocks counts accesses to columns of blocks",
        ),
    ),
    tpch(
        "figure 5",
        "With bit-packed integers TPC-H takes 5 to 16 % less time than with byte-packed dictionaries",
        ("bit_packed/geomean", "dictionary_byte_packed/geomean"),
        1.05,
    ),
    tpch(
        "figure 5",
        "Almost all alternatives make TPC-H faster than byte-packed dictionaries do (here patched integers)",
        ("patched/geomean", "dictionary_byte_packed/geomean"),
        1.0,
    ),
    tpch(
        "figure 5",
        "In most benchmarks bit-packed integers are faster than patched ones (here TPC-H)",
        ("bit_packed/geomean", "patched/geomean"),
        1.0,
    ),
    (
        "figure 5",
        "With many clients, integers that are not compressed are slower than bit-packed ones (here three clients on \
         two cores)",
        ratio(
            "layouts_clients",
            ("bit_packed/clients_3", "unencoded/clients_3"),
            PER_QUERY,
            1.0,
        ),
    ),
    (
        "figure 5",
        "With many clients, bit-packed integers are faster than byte-packed dictionaries, and save on AMD the best",
        ratio(
            "layouts_clients",
            ("bit_packed/clients_3", "dictionary_byte_packed/clients_3"),
            PER_QUERY,
            1.0,
        ),
    ),
    (
        "figure 6",
        "For TPC-DS dictionaries are among the best; for the Join Order Benchmark bit-packed integers are the fastest \
         and among the smallest",
        Measure::Elsewhere(
            "bench job and python/bench/tpcds.py hold their tables in the default encodings and compare no other ones",
        ),
    ),
    (
        "figure 7",
        "Of all encodings, dictionaries miss the second and the third cache most often in TPC-H",
        Measure::Elsewhere("bench all counts misses of kernels, not of whole queries"),
    ),
    (
        "figure 8",
        "Segments of TPC-DS have fewer distinct values on average than those of TPC-H and the Join Order Benchmark",
        Measure::Elsewhere(
            "the program has no data generator of TPC-DS, and the data of bench job is made up",
        ),
    ),
    tpch(
        "figure 9",
        "On Intel and AMD, TPC-H takes at most 7 % longer with bit-packed codes of dictionaries than with byte-packed \
         ones",
        ("dictionary_bit_packed/geomean", "dictionary_byte_packed/geomean"),
        0.93,
    ),
    (
        "figure 9",
        "With many clients, too, it takes at most 7 % longer (here three clients on two cores)",
        ratio(
            "layouts_clients",
            (
                "dictionary_bit_packed/clients_3",
                "dictionary_byte_packed/clients_3",
            ),
            PER_QUERY,
            0.93,
        ),
    ),
    (
        "figure 10",
        "Sizes and times of the codes of dictionaries in TPC-DS and the Join Order Benchmark",
        Measure::Shows("the text of the paper says nothing of them"),
    ),
    (
        "figure 11",
        "Loads and misses of the second and the third cache mostly follow the memory that codes take",
        Measure::Elsewhere("bench all counts misses of kernels, not of whole queries"),
    ),
    (
        "figure 12",
        "In TPC-DS, bit-packed codes of dictionaries take less than byte-packed ones, up to 8 times less with one bit, \
         unless their width is that of bytes (here three of the distributions of table 2)",
        each(
            "codecs",
            ("bit_packed/{}", "byte_packed/{}"),
            NOT_ALIGNED,
            "rate",
            1.01,
        ),
    ),
    (
        "table 1",
        "Open-source implementations",
        Measure::Shows("a list of libraries"),
    ),
    (
        "table 2",
        "To fetch 1,000 of 65,535 bit-packed values one by one takes less than to decode all (2.5 µs and 29)",
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
        "A single bit-packed value costs up to 3.5 times a value of a plain vector (in the paper of uniform values)",
        each(
            "codecs",
            ("bit_packed/{}/positions_1", "unencoded/{}/positions_1"),
            LABELS,
            VALUE,
            0.285,
        ),
    ),
    (
        "table 2",
        "Two libraries hold five distributions bit-packed in 0.38 and 0.39 of a plain vector's bytes, on average",
        at_most("codecs", "bit_packed", "rate", 0.39),
    ),
    (
        "section 4.3.1",
        "Integer columns take up to 53 % less memory than with byte-packed dictionaries (here as freeze_for = 'size' \
         chooses)",
        ratio(
            "layouts",
            ("size", "dictionary_byte_packed"),
            "integer_bytes",
            2.12,
        ),
    ),
    (
        "section 5.2.1",
        "TPC-H takes 4 % less memory with bit-packed codes of dictionaries than with byte-packed ones (here its \
         integer columns)",
        ratio(
            "layouts",
            ("dictionary_bit_packed", "dictionary_byte_packed"),
            "integer_bytes",
            1.04,
        ),
    ),
];
