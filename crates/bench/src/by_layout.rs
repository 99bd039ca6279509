//! TPC-H by encoding and layout: each for all columns that can have it, and as the cost model chooses.

use crate::query_experiment::{Configuration, Data, Figure, QueryExperiment, TPCH_QUERIES, scan};

const fn with(name: &'static str, options: &'static str) -> Configuration {
    scan(name, Data::FrozenWith(options), &[])
}

/// Hyrise's savings are measured by an ordered dictionary on byte-packed codes.
pub const BY_LAYOUT: QueryExperiment = QueryExperiment {
    queries: TPCH_QUERIES,
    configurations: &[
        with(
            "dictionary_byte_packed",
            "encoding = dictionary, layout = 'byte_packed'",
        ),
        scan("balanced", Data::Frozen, &[]),
        with("size", "freeze_for = 'size'"),
        with("scan", "freeze_for = 'scan'"),
        with("point", "freeze_for = 'point'"),
        with("byte_packed", "layout = 'byte_packed'"),
        with("bit_packed", "layout = 'bit_packed'"),
        with("byteslice", "layout = 'byteslice'"),
        with("vbp", "layout = 'vbp'"),
        with("hbp", "layout = 'hbp'"),
        with("unencoded", "encoding = raw"),
        with(
            "patched",
            "encoding = 'patched frame of reference', layout = 'bit_packed'",
        ),
        with(
            "dictionary_bit_packed",
            "encoding = dictionary, layout = 'bit_packed'",
        ),
        with(
            "dictionary_byteslice",
            "encoding = dictionary, layout = 'byteslice'",
        ),
        with("dictionary_vbp", "encoding = dictionary, layout = 'vbp'"),
        with("dictionary_hbp", "encoding = dictionary, layout = 'hbp'"),
    ],
    baseline: "dictionary_byte_packed",
    figures: &[Figure::IntegerBytes],
};
