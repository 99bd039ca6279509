//! Claims of the papers, each with the cases that measure it.

use super::verdict::Measure;

/// A claim of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The paper.
    pub paper: &'static str,
    /// The section, figure or table.
    pub place: &'static str,
    /// The claim, in our words.
    pub words: &'static str,
    /// The way to measure it.
    pub measure: Measure,
}

const DATA_BLOCKS: &str = "Data Blocks";
const FUSION: &str = "Relaxed Operator Fusion";
const INTEGERS: &str = "Integer Compression";
const BYTE_SLICE: &str = "ByteSlice";
const FRAGILITY: &str = "Runtime Fragility";

const fn claim(paper: &'static str, place: &'static str, words: &'static str, measure: Measure) -> Claim {
    Claim {
        paper,
        place,
        words,
        measure,
    }
}

const fn ratio(
    experiment: &'static str,
    case: &'static str,
    baseline: &'static str,
    metric: &'static str,
    least: f64,
) -> Measure {
    Measure::Ratio {
        experiment,
        case,
        baseline,
        metric,
        least,
    }
}

/// A claim on TPC-H by stages: a case is at least `least` times as fast as the baseline.
const fn stages(
    place: &'static str,
    words: &'static str,
    (case, baseline): (&'static str, &'static str),
    least: f64,
) -> Claim {
    claim(
        FUSION,
        place,
        words,
        ratio("stages", case, baseline, "execute", least),
    )
}

const LOOKUP: &str = "ns_per_lookup";

/// The claims, in the order of the report.
pub const CLAIMS: &[Claim] = &[
    claim(
        DATA_BLOCKS,
        "section 5.3",
        "TPC-C with cold new orders in blocks runs at 0.99 times the rate of all rows hot",
        ratio(
            "tpcc",
            "memory/frozen",
            "memory/frazil",
            "us_per_transaction",
            0.98,
        ),
    ),
    claim(
        DATA_BLOCKS,
        "section 5.3",
        "Order-status and stock-level on blocks run at 0.91 times the rate of hot rows",
        ratio(
            "tpcc",
            "read_only/frozen",
            "read_only/frazil",
            "us_per_transaction",
            0.9,
        ),
    ),
    claim(
        DATA_BLOCKS,
        "table 3",
        "Lookups by the key's index in blocks cost around 60 % more than in hot rows",
        ratio(
            "lookup_table",
            "ordered/blocks_psma/index",
            "ordered/hot/index",
            LOOKUP,
            0.62,
        ),
    ),
    claim(
        DATA_BLOCKS,
        "table 3",
        "Without an index, PSMAs find a key in ordered blocks several times as fast as SMAs alone",
        ratio(
            "lookup_table",
            "ordered/blocks_psma/scan",
            "ordered/blocks/scan",
            LOOKUP,
            4.0,
        ),
    ),
    claim(
        DATA_BLOCKS,
        "table 3",
        "Without an index, ordered blocks are found in a small part of the time of a hot scan",
        ratio(
            "lookup_table",
            "ordered/blocks_psma/scan",
            "ordered/hot/scan",
            LOOKUP,
            1000.0,
        ),
    ),
    claim(
        DATA_BLOCKS,
        "figure 11",
        "PSMAs speed TPC-H's Q6 up further on blocks that are sorted on l_shipdate",
        ratio("psma", "sorted", "sorted_without_psma", "execute", 1.0),
    ),
    claim(
        DATA_BLOCKS,
        "section 5.2",
        "PSMAs do not slow Q6 down on blocks that are not sorted",
        ratio("tpch", "psma/q06", "sma/q06", "execute", 0.95),
    ),
    claim(
        DATA_BLOCKS,
        "appendix D",
        "SMAs and PSMAs speed a query on flights up",
        Measure::Elsewhere("needs the file of flights: frazil bench flights --data FILE"),
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
        "figure 12",
        "Boundaries with prefetching speed Q13 up without SIMD",
        ("relaxed/q13", "simd/q13"),
        1.0,
    ),
    stages(
        "figure 13",
        "SIMD scans speed Q14 up, whose predicate leaves 2 % of the rows",
        ("simd/q14", "compiled/q14"),
        1.0,
    ),
    stages(
        "figure 14",
        "SIMD scans speed Q19 up almost 1.6 times",
        ("simd/q19", "compiled/q19"),
        1.6,
    ),
    stages(
        "figure 15",
        "Vectors of 65,536 rows are as fast as those of 1,024, Q13 apart",
        ("vector_65536/geomean", "relaxed/geomean"),
        0.97,
    ),
    stages(
        "figure 15",
        "Vectors of 64 rows are as fast as those of 1,024, Q13 apart",
        ("vector_64/geomean", "relaxed/geomean"),
        0.97,
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
    claim(
        FUSION,
        "figure 17",
        "Stages complement threads",
        Measure::Elsewhere("frazil bench stages --threads 1,2 compares each configuration on both"),
    ),
    claim(
        INTEGERS,
        "section 4.3.1",
        "Integer columns take less memory than with dictionaries on byte-packed codes",
        ratio("layouts", "size", "dictionary_byte_packed", "integer_bytes", 1.0),
    ),
    claim(
        BYTE_SLICE,
        "figure 14",
        "TPC-H's Q6 is faster on ByteSlice than on bit-packed codes",
        ratio("layouts", "byteslice/q06", "bit_packed/q06", "execute", 1.0),
    ),
    claim(
        BYTE_SLICE,
        "figure 14",
        "TPC-H's Q1 is faster on ByteSlice than on bit-packed codes",
        ratio("layouts", "byteslice/q01", "bit_packed/q01", "execute", 1.0),
    ),
    claim(
        BYTE_SLICE,
        "figure 14",
        "TPC-H's Q1 is slower on vertically packed codes than on bit-packed ones",
        ratio("layouts", "bit_packed/q01", "vbp/q01", "execute", 1.0),
    ),
    claim(
        FRAGILITY,
        "table 3",
        "The compilers of C++ differ by up to 25 times",
        Measure::Elsewhere(
            "our code has one compiler for each way: bench mempax tells worst over best by layout",
        ),
    ),
];
