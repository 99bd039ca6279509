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

/// Widths of codes that are looked up.
const LOOKUP_WIDTHS: &[&str] = &["12", "20", "32"];

/// Layouts whose scans stop early.
const STOPPING: &[&str] = &["byteslice", "vbp"];

/// Tenths of a per cent of the rows that match the first predicate of a disjunction.
const DISJUNCTIONS: &[&str] = &["100", "500", "900", "950", "990"];

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

/// A scan of ByteSlice takes at most as many instructions as one of a rival.
const fn fewer_instructions(rival: &'static str) -> Measure {
    each(
        "scan",
        ("byteslice/{}/</in_cache/bits", rival),
        WIDTHS,
        "instructions_per_value",
        1.0,
    )
}

/// The whole query is no slower on ByteSlice than on a rival, in each of `queries`.
const fn no_slower(
    experiment: &'static str,
    cases: (&'static str, &'static str),
    queries: &'static [&'static str],
) -> Measure {
    each(experiment, cases, queries, "execute", 1.0)
}

const LINES: &[Line] = &[
    (
        "section 4.1",
        "Columns have a billion uniform codes, by default of 12 bits, 10 % of which match; TPC-H has scale factor 10; \
         registers have 256 bits",
        Measure::Shows(
            "the paper's conditions; here figures 9, 10 and 13 have 96 MB of codes, the others on scans a window of \
             4,096 rows or a block in cache, kernels run on the best instruction set, and the scale factor is \
             twice that of the run",
        ),
    ),
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
        "Three ways to evaluate a conjunction",
        Measure::Shows("orders of steps; figure 12 has their cost"),
    ),
    (
        "figure 7",
        "The inverse of movemask: from bits to a mask",
        Measure::Shows("the steps of a kernel"),
    ),
    (
        "figure 8",
        "The cost of a lookup in ByteSlice is comparable to that in bit-packed codes (here: at most 1.25 times)",
        each(
            "lookup",
            ("byteslice/{}/dependent", "bit_packed/{}/dependent"),
            LOOKUP_WIDTHS,
            LOOKUP,
            0.8,
        ),
    ),
    (
        "figure 8",
        "The cost of a lookup in ByteSlice is comparable to that in HBP (here: at most 1.25 times)",
        each(
            "lookup",
            ("byteslice/{}/dependent", "hbp/{}/dependent"),
            LOOKUP_WIDTHS,
            LOOKUP,
            0.8,
        ),
    ),
    (
        "figure 8",
        "A lookup in VBP costs significantly more (here: at least twice as much)",
        each(
            "lookup",
            ("byteslice/{}/dependent", "vbp/{}/dependent"),
            LOOKUP_WIDTHS,
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
        at_most(
            "scan",
            "byteslice/12/</out_of_cache/bits",
            "cycles_per_value",
            0.5,
        ),
    ),
    (
        "figure 9",
        "A scan of ByteSlice takes fewer instructions than one of bit-packed codes, at all widths",
        fewer_instructions("bit_packed/{}/</in_cache/bits"),
    ),
    (
        "figure 9",
        "A scan of ByteSlice takes fewer instructions than one of VBP, at all widths",
        fewer_instructions("vbp/{}/</in_cache/bits"),
    ),
    (
        "figure 9",
        "A scan of ByteSlice takes fewer instructions than one of HBP, at all widths",
        fewer_instructions("hbp/{}/</in_cache/bits"),
    ),
    (
        "figure 9",
        "Codes of 22 to 30 bits are scanned slowest in HBP (here 24 bits)",
        each(
            "scan",
            ("{}/24/</out_of_cache/bits", "hbp/24/</out_of_cache/bits"),
            &["byteslice", "bit_packed", "vbp"],
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 10",
        "Early stopping makes scans of ByteSlice faster",
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
        "Early stopping makes scans of VBP faster",
        Measure::Elsewhere("Frazil's scans of VBP always stop early"),
    ),
    (
        "figure 10",
        "Without early stopping, scans of ByteSlice are still faster than those of VBP",
        Measure::Elsewhere(
            "Frazil's scans of VBP always stop early; those of ByteSlice are measured without, too",
        ),
    ),
    (
        "figure 11",
        "ByteSlice tests codes by Zipf's law with exponent 1 faster than its rivals",
        ahead(
            "byteslice/12/</in_cache/bits/zipf_1",
            "{}/12/</in_cache/bits/zipf_1",
        ),
    ),
    (
        "figure 11",
        "ByteSlice tests codes by Zipf's law with exponent 2 faster than its rivals",
        ahead(
            "byteslice/12/</in_cache/bits/zipf_2",
            "{}/12/</in_cache/bits/zipf_2",
        ),
    ),
    (
        "figure 11",
        "With a constant at a tenth of the domain, scans of ByteSlice and VBP get faster with skew",
        each(
            "scan",
            ("{}/12/</in_cache/bits/zipf_2", "{}/12/</in_cache/bits"),
            STOPPING,
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 11",
        "With exponent 1, scans of ByteSlice and VBP get faster with a greater constant (here at a hundredth and half \
         of the domain)",
        each(
            "scan",
            (
                "{}/12/</in_cache/bits/percent_50/zipf_1",
                "{}/12/</in_cache/bits/percent_1/zipf_1",
            ),
            STOPPING,
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 11",
        "Scans of uniform codes in ByteSlice and VBP cost the same whatever the constant (here: at half of the domain, \
         not more than at a tenth)",
        each(
            "scan",
            ("{}/12/</in_cache/bits/percent_50", "{}/12/</in_cache/bits"),
            STOPPING,
            VALUE,
            0.95,
        ),
    ),
    (
        "figure 12",
        "A conjunction is faster column-first than predicate by predicate, if the first matches 0.1 to 50 % of the \
         rows and the second half",
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
        "On several threads (here two), ByteSlice is scanned faster than its rivals (here codes of 12 bits, in the \
         paper 1 to 32 on average)",
        ahead(
            "byteslice/12/</out_of_cache/bits/threads_2",
            "{}/12/</out_of_cache/bits/threads_2",
        ),
    ),
    (
        "figure 13",
        "Scans of all layouts are faster on more threads (here two than one)",
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
        "TPC-H's Q6 is faster on ByteSlice than on bit-packed codes (here over lineitem itself)",
        ratio("layouts", ("byteslice/q06", "bit_packed/q06"), "execute", 1.0),
    ),
    (
        "figure 14",
        "TPC-H's Q1 is faster on ByteSlice than on bit-packed codes (here over lineitem itself)",
        ratio("layouts", ("byteslice/q01", "bit_packed/q01"), "execute", 1.0),
    ),
    (
        "figure 14",
        "Over joins in one table, VBP is slower than bit-packed codes in Q1, Q14 and Q15, which are not selective",
        each(
            "wide",
            ("bit_packed/{}", "vbp/{}"),
            &["q01", "q14", "q15"],
            "execute",
            1.0,
        ),
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
        "Over joins in one table, ByteSlice is the best layout for all queries: not slower than bit-packed codes",
        no_slower("wide", ("byteslice/{}", "bit_packed/{}"), WIDE),
    ),
    (
        "figure 14",
        "Over joins in one table, ByteSlice is the best layout for all queries: not slower than VBP",
        no_slower("wide", ("byteslice/{}", "vbp/{}"), WIDE),
    ),
    (
        "figure 14",
        "Over joins in one table, ByteSlice is the best layout for all queries: not slower than HBP",
        no_slower("wide", ("byteslice/{}", "hbp/{}"), WIDE),
    ),
    (
        "figure 14",
        "Our aim, not the paper's: over joins in one table, the layouts that Frazil chooses take at most 1.1 times the \
         best one's time",
        at_most("wide", "balanced", "over_best", 1.1),
    ),
    (
        "figure 15",
        "Slices of 8 bits are always scanned faster than those of 16, and looked up at nearly the same cost",
        Measure::Elsewhere("Frazil has slices of 8 bits alone"),
    ),
    (
        "figure 16",
        "Scans by >, >= and <= cost as those by < (here >, at most 1.25 times; Frazil has one test for all ranges)",
        each(
            "scan",
            ("byteslice/{}/>/in_cache/bits", "byteslice/{}/</in_cache/bits"),
            WIDTHS,
            VALUE,
            0.8,
        ),
    ),
    (
        "figure 16",
        "ByteSlice tests codes by > faster than its rivals (here of 12 bits)",
        ahead("byteslice/12/>/in_cache/bits", "{}/12/>/in_cache/bits"),
    ),
    (
        "figure 17",
        "A scan of uniform codes costs no more if 90 % of them match than if 10 % do",
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
        "A scan of uniform codes costs no more if 1 % of them match than if 10 % do",
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
        "A disjunction is faster column-first than predicate by predicate, if the first matches 10 to 99 % of the rows",
        each(
            "conjunction",
            (
                "byteslice/12/or_permille_{}/column_first",
                "byteslice/12/or_permille_{}/baseline",
            ),
            DISJUNCTIONS,
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 19",
        "A disjunction is faster column-first than predicate-first",
        each(
            "conjunction",
            (
                "byteslice/12/or_permille_{}/column_first",
                "byteslice/12/or_permille_{}/predicate_first",
            ),
            DISJUNCTIONS,
            VALUE,
            1.0,
        ),
    ),
    (
        "figure 20",
        "Scans dominate Q4 on ByteSlice",
        at_least("wide", "byteslice/q04", "share_of_selection", 0.5),
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
        "The scans of all queries are as fast on ByteSlice as on bit-packed codes, or faster",
        no_slower("wide", ("select/byteslice/{}", "select/bit_packed/{}"), WIDE),
    ),
    (
        "figure 20",
        "Our aim, not the paper's: the layouts that Frazil chooses select rows in at most 1.1 times the best one's \
         time",
        at_most("wide", "select/balanced", "over_best", 1.1),
    ),
    (
        "figure 21",
        "On values by Zipf's law with exponent 1, ByteSlice runs no query slower than bit-packed codes",
        no_slower(
            "wide_skewed",
            ("zipf_1/byteslice/{}", "zipf_1/bit_packed/{}"),
            WIDE,
        ),
    ),
    (
        "figure 21",
        "On values by Zipf's law with exponent 1, ByteSlice runs no query slower than VBP",
        no_slower("wide_skewed", ("zipf_1/byteslice/{}", "zipf_1/vbp/{}"), WIDE),
    ),
    (
        "figure 21",
        "On values by Zipf's law with exponent 1, ByteSlice runs no query slower than HBP",
        no_slower("wide_skewed", ("zipf_1/byteslice/{}", "zipf_1/hbp/{}"), WIDE),
    ),
    (
        "figure 21",
        "On values by Zipf's law with exponent 2, ByteSlice runs no query slower than bit-packed codes",
        no_slower(
            "wide_skewed",
            ("zipf_2/byteslice/{}", "zipf_2/bit_packed/{}"),
            WIDE,
        ),
    ),
    (
        "figure 21",
        "On values by Zipf's law with exponent 2, ByteSlice runs no query slower than VBP",
        no_slower("wide_skewed", ("zipf_2/byteslice/{}", "zipf_2/vbp/{}"), WIDE),
    ),
    (
        "figure 21",
        "On values by Zipf's law with exponent 2, ByteSlice runs no query slower than HBP",
        no_slower("wide_skewed", ("zipf_2/byteslice/{}", "zipf_2/hbp/{}"), WIDE),
    ),
    (
        "figure 21",
        "Our aim, not the paper's: with exponent 1, the layouts that Frazil chooses take at most 1.1 times the best \
         one's time",
        at_most("wide_skewed", "zipf_1/balanced", "over_best", 1.1),
    ),
    (
        "figure 21",
        "Our aim, not the paper's: with exponent 2, the layouts that Frazil chooses take at most 1.1 times the best \
         one's time",
        at_most("wide_skewed", "zipf_2/balanced", "over_best", 1.1),
    ),
    (
        "figure 22",
        "On statistics of baseball, ByteSlice runs no query slower than bit-packed codes",
        no_slower(
            "public",
            ("baseball/byteslice/{}", "baseball/bit_packed/{}"),
            PUBLIC,
        ),
    ),
    (
        "figure 22",
        "On statistics of baseball, ByteSlice runs no query slower than VBP",
        no_slower("public", ("baseball/byteslice/{}", "baseball/vbp/{}"), PUBLIC),
    ),
    (
        "figure 22",
        "On statistics of baseball, ByteSlice runs no query slower than HBP",
        no_slower("public", ("baseball/byteslice/{}", "baseball/hbp/{}"), PUBLIC),
    ),
    (
        "figure 22",
        "On flights, in place of census data, ByteSlice runs no query slower than bit-packed codes",
        no_slower(
            "public",
            ("flights/byteslice/{}", "flights/bit_packed/{}"),
            PUBLIC,
        ),
    ),
    (
        "figure 22",
        "On flights, in place of census data, ByteSlice runs no query slower than VBP",
        no_slower("public", ("flights/byteslice/{}", "flights/vbp/{}"), PUBLIC),
    ),
    (
        "figure 22",
        "On flights, in place of census data, ByteSlice runs no query slower than HBP",
        no_slower("public", ("flights/byteslice/{}", "flights/hbp/{}"), PUBLIC),
    ),
    (
        "table 1",
        "With registers of 256 bits, ByteSlice is expected to read 8.94 bits of a code until it stops (here counted)",
        at_most(
            "scan",
            "byteslice/32/</out_of_cache",
            "bits_read_per_code_256",
            9.0,
        ),
    ),
    (
        "table 1",
        "With registers of 256 bits, VBP is expected to read 10.79 bits of a code until it stops (here counted)",
        at_most("scan", "vbp/32/</out_of_cache", "bits_read_per_code_256", 11.0),
    ),
    (
        "section 3.1.1",
        "With registers of 512 bits, ByteSlice is expected to read 9.78 bits of a code until it stops (here counted)",
        at_most(
            "scan",
            "byteslice/32/</out_of_cache",
            "bits_read_per_code_512",
            9.9,
        ),
    ),
    (
        "section 3.1.1",
        "With registers of 512 bits, VBP is expected to read 11.96 bits of a code until it stops (here counted)",
        at_most("scan", "vbp/32/</out_of_cache", "bits_read_per_code_512", 12.2),
    ),
    (
        "table 2",
        "Costs of scans and lookups in four layouts",
        Measure::Shows("orders of growth; figures 8 and 9 have the costs"),
    ),
];
