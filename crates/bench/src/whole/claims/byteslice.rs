//! Claims of ByteSlice.

use super::line::{LOOKUP, Line, Paper, VALUE, at_least, at_most, each, ratio, up_to};
use crate::whole::verdict::Measure;

pub const PAPER: Paper = Paper {
    name: "ByteSlice",
    lines: LINES,
};

/// ByteSlice's rivals.
const RIVALS: &[&str] = &["bit_packed", "vbp", "hbp"];

/// Names of the cases that test codes of each width, with a constant below which 10 % of the codes are.
const WIDTHS: &[&str] = &["4", "8", "12", "16", "20", "24", "32"];

/// Queries of `bench wide`.
const WIDE: &[&str] = &[
    "q01", "q03", "q04", "q05", "q06", "q07", "q08", "q10", "q11", "q12", "q14", "q15", "q17", "q19", "q20",
];

/// Queries of each data set of `bench public`.
const PUBLIC: &[&str] = &["q01", "q02", "q03", "q04"];

/// ByteSlice tests codes at least as fast as each rival.
const fn ahead(case: &'static str, rival: &'static str) -> Measure {
    each("scan", (case, rival), RIVALS, VALUE, 1.0)
}

const LINES: &[Line] = &[
    ("figure 1", "Codes in VBP", Measure::Shows("a layout")),
    ("figure 2", "Codes in HBP", Measure::Shows("a layout")),
    (
        "figure 3",
        "Bit-packed codes and their test",
        Measure::Shows("a layout and the steps of a kernel"),
    ),
    (
        "figure 4",
        "A test of codes in HBP",
        Measure::Shows("the steps of a kernel"),
    ),
    ("figure 5", "Codes in ByteSlice", Measure::Shows("a layout")),
    (
        "figure 6",
        "Three ways to join predicates",
        Measure::Shows("orders of steps; figure 12 has their cost"),
    ),
    (
        "figure 7",
        "From bits to a mask",
        Measure::Shows("the steps of a kernel"),
    ),
    (
        "figure 8",
        "A lookup in ByteSlice costs about as much as in bit-packed and HBP codes",
        each(
            "lookup",
            ("byteslice/20/dependent", "{}/20/dependent"),
            &["bit_packed", "hbp"],
            LOOKUP,
            0.8,
        ),
    ),
    (
        "figure 8",
        "A lookup in VBP costs significantly more",
        each(
            "lookup",
            ("byteslice/{}/dependent", "vbp/{}/dependent"),
            &["12", "20", "32"],
            LOOKUP,
            2.0,
        ),
    ),
    (
        "figure 9",
        "ByteSlice tests 12-bit codes faster than its rivals",
        ahead("byteslice/12/</out_of_cache/bits", "{}/12/</out_of_cache/bits"),
    ),
    (
        "figure 9",
        "ByteSlice tests 20-bit codes faster than its rivals",
        ahead("byteslice/20/</out_of_cache/bits", "{}/20/</out_of_cache/bits"),
    ),
    (
        "figure 9",
        "ByteSlice tests 32-bit codes faster than its rivals",
        ahead("byteslice/32/</out_of_cache/bits", "{}/32/</out_of_cache/bits"),
    ),
    (
        "figure 9",
        "ByteSlice tests 12-bit codes for equality faster than its rivals",
        ahead("byteslice/12/=/out_of_cache/bits", "{}/12/=/out_of_cache/bits"),
    ),
    (
        "figure 9",
        "ByteSlice tests a code in less than half a cycle",
        at_most("scan", "byteslice/12/</in_cache/bits", "cycles_per_value", 0.5),
    ),
    (
        "figure 9",
        "A ByteSlice scan takes fewer instructions than its rivals",
        each(
            "scan",
            ("byteslice/12/</in_cache/bits", "{}/12/</in_cache/bits"),
            RIVALS,
            "instructions_per_value",
            1.0,
        ),
    ),
    (
        "figure 10",
        "Early stopping speeds ByteSlice scans up",
        each(
            "scan",
            (
                "byteslice/{}/</out_of_cache/bits",
                "byteslice/{}/</out_of_cache/bits/all_slices",
            ),
            &["12", "20", "32"],
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 10",
        "Without early stopping, ByteSlice is still faster than VBP",
        Measure::Elsewhere("VBP's scan always stops early here; ByteSlice without is measured beside it"),
    ),
    (
        "figure 11",
        "ByteSlice is ahead of its rivals with a Zipf exponent of 1",
        ahead(
            "byteslice/12/</in_cache/bits/zipf_1",
            "{}/12/</in_cache/bits/zipf_1",
        ),
    ),
    (
        "figure 11",
        "ByteSlice is ahead of its rivals with a Zipf exponent of 2",
        ahead(
            "byteslice/12/</in_cache/bits/zipf_2",
            "{}/12/</in_cache/bits/zipf_2",
        ),
    ),
    (
        "figure 11",
        "ByteSlice's scan of a fixed constant gets faster with skew",
        ratio(
            "scan",
            (
                "byteslice/12/</in_cache/bits/zipf_2",
                "byteslice/12/</in_cache/bits",
            ),
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 12",
        "A conjunction is fastest column-first",
        each(
            "conjunction",
            (
                "byteslice/12/permille_{}/column_first",
                "byteslice/12/permille_{}/baseline",
            ),
            &["1", "10", "50", "100", "500"],
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 12",
        "A conjunction is faster column-first than predicate-first",
        each(
            "conjunction",
            (
                "byteslice/12/permille_{}/column_first",
                "byteslice/12/permille_{}/predicate_first",
            ),
            &["1", "10", "50", "100", "500"],
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 13",
        "On two threads ByteSlice scans are ahead of their rivals",
        ahead(
            "byteslice/12/</out_of_cache/bits/threads_2",
            "{}/12/</out_of_cache/bits/threads_2",
        ),
    ),
    (
        "figure 13",
        "Scans of all layouts gain by a second thread",
        each(
            "scan",
            ("{}/12/</out_of_cache/bits/threads_2", "{}/12/</out_of_cache/bits"),
            &["byteslice", "bit_packed", "vbp", "hbp"],
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 14",
        "TPC-H's Q6 is faster on ByteSlice than on bit-packed codes",
        ratio("layouts", ("byteslice/q06", "bit_packed/q06"), "execute", 1.0),
    ),
    (
        "figure 14",
        "TPC-H's Q1 is faster on ByteSlice than on bit-packed codes",
        ratio("layouts", ("byteslice/q01", "bit_packed/q01"), "execute", 1.0),
    ),
    (
        "figure 14",
        "TPC-H's Q1 is slower on vertically packed codes than on bit-packed ones",
        ratio("layouts", ("bit_packed/q01", "vbp/q01"), "execute", 1.0),
    ),
    (
        "figure 14",
        "Over joins in one table, ByteSlice runs queries up to 10 times as fast as bit-packed codes",
        up_to("wide", ("byteslice/{}", "bit_packed/{}"), WIDE, "execute", 10.0),
    ),
    (
        "figure 14",
        "Over joins in one table, ByteSlice runs queries up to 5.5 times as fast as VBP",
        up_to("wide", ("byteslice/{}", "vbp/{}"), WIDE, "execute", 5.5),
    ),
    (
        "figure 14",
        "Over joins in one table, ByteSlice runs queries up to 3 times as fast as HBP",
        up_to("wide", ("byteslice/{}", "hbp/{}"), WIDE, "execute", 3.0),
    ),
    (
        "figure 14",
        "Over joins in one table, ByteSlice runs no query slower than bit-packed codes",
        each("wide", ("byteslice/{}", "bit_packed/{}"), WIDE, "execute", 1.0),
    ),
    (
        "figure 14",
        "Over joins in one table, the layouts that Frazil chooses take at most 1.1 times the best one's time",
        at_most("wide", "balanced", "over_best", 1.1),
    ),
    (
        "figure 15",
        "Slices of 16 bits scan slower than those of 8",
        Measure::Elsewhere("Frazil has slices of 8 bits alone"),
    ),
    (
        "figure 16",
        "Other comparisons cost as much as less-than",
        each(
            "scan",
            (
                "byteslice/{}/between/in_cache/bits",
                "byteslice/{}/</in_cache/bits",
            ),
            WIDTHS,
            VALUE,
            0.8,
        ),
    ),
    (
        "figure 17",
        "A scan of uniform codes costs no more if 90 % of them match",
        ratio(
            "scan",
            (
                "byteslice/12/</in_cache/bits/percent_90",
                "byteslice/12/</in_cache/bits",
            ),
            VALUE,
            0.95,
        ),
    ),
    (
        "figure 18",
        "A scan of uniform codes costs no more if 1 % of them match",
        ratio(
            "scan",
            (
                "byteslice/12/</in_cache/bits/percent_1",
                "byteslice/12/</in_cache/bits",
            ),
            VALUE,
            0.95,
        ),
    ),
    (
        "figure 19",
        "A disjunction is fastest column-first",
        each(
            "conjunction",
            (
                "byteslice/12/or_permille_{}/column_first",
                "byteslice/12/or_permille_{}/baseline",
            ),
            &["100", "500", "900", "950", "990", "999"],
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 20",
        "Scans dominate Q19 on ByteSlice",
        at_least("wide", "byteslice/q19", "share_of_selection", 0.5),
    ),
    (
        "figure 20",
        "Lookups dominate Q1 on ByteSlice",
        at_most("wide", "byteslice/q01", "share_of_selection", 0.5),
    ),
    (
        "figure 20",
        "ByteSlice selects the rows of every query at least as fast as bit-packed codes",
        each(
            "wide",
            ("select/byteslice/{}", "select/bit_packed/{}"),
            WIDE,
            "execute",
            1.0,
        ),
    ),
    (
        "figure 20",
        "The layouts that Frazil chooses select rows in at most 1.1 times the best one's time",
        at_most("wide", "select/balanced", "over_best", 1.1),
    ),
    (
        "figure 21",
        "On skewed data, with a Zipf exponent of 1, ByteSlice runs no query slower than bit-packed codes",
        each(
            "wide_skewed",
            ("zipf_1/byteslice/{}", "zipf_1/bit_packed/{}"),
            WIDE,
            "execute",
            1.0,
        ),
    ),
    (
        "figure 21",
        "On skewed data, with a Zipf exponent of 2, ByteSlice runs no query slower than bit-packed codes",
        each(
            "wide_skewed",
            ("zipf_2/byteslice/{}", "zipf_2/bit_packed/{}"),
            WIDE,
            "execute",
            1.0,
        ),
    ),
    (
        "figure 21",
        "With a Zipf exponent of 1, the layouts that Frazil chooses take at most 1.1 times the best one's time",
        at_most("wide_skewed", "zipf_1/balanced", "over_best", 1.1),
    ),
    (
        "figure 21",
        "With a Zipf exponent of 2, the layouts that Frazil chooses take at most 1.1 times the best one's time",
        at_most("wide_skewed", "zipf_2/balanced", "over_best", 1.1),
    ),
    (
        "figure 22",
        "On statistics of baseball, ByteSlice runs no query slower than bit-packed codes",
        each(
            "public",
            ("baseball/byteslice/{}", "baseball/bit_packed/{}"),
            PUBLIC,
            "execute",
            1.0,
        ),
    ),
    (
        "figure 22",
        "On flights, in place of census data, ByteSlice runs no query slower than bit-packed codes",
        each(
            "public",
            ("flights/byteslice/{}", "flights/bit_packed/{}"),
            PUBLIC,
            "execute",
            1.0,
        ),
    ),
    (
        "table 1",
        "With registers of 256 bits, ByteSlice reads 8.94 bits of a code until it stops, VBP 10.79",
        at_most(
            "scan",
            "byteslice/32/</out_of_cache",
            "bits_read_per_code_256",
            9.0,
        ),
    ),
    (
        "section 3.1",
        "With registers of 512 bits, ByteSlice reads 9.78 bits of a code until it stops",
        at_most(
            "scan",
            "byteslice/32/</out_of_cache",
            "bits_read_per_code_512",
            9.9,
        ),
    ),
    (
        "table 2",
        "Costs of four layouts",
        Measure::Shows("orders of growth; figures 8 and 9 have the costs"),
    ),
];
