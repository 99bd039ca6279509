//! TPC-H by encoding and layout: each for all columns that can have it, and as the cost model chooses.

use crate::query_experiment::{Configuration, Data, Figure, QueryExperiment, TPCH_QUERIES, scan};

const fn with(name: &'static str, options: &'static str) -> Configuration {
    scan(name, Data::FrozenWith(options), &[])
}

/// Clients of [`OF_CLIENTS`]: the paper's number for two hardware threads, the greater of `t + 1` and `1.1 t`.
pub const CLIENTS: usize = 3;

const DICTIONARY_BYTE_PACKED: Configuration = with(
    "dictionary_byte_packed",
    "encoding = dictionary, layout = 'byte_packed'",
);
const DICTIONARY_BIT_PACKED: Configuration = with(
    "dictionary_bit_packed",
    "encoding = dictionary, layout = 'bit_packed'",
);
const BIT_PACKED: Configuration = with("bit_packed", "layout = 'bit_packed'");
const UNENCODED: Configuration = with("unencoded", "encoding = raw");

/// Hyrise's savings are measured by an ordered dictionary on byte-packed codes.
pub const BY_LAYOUT: QueryExperiment = QueryExperiment {
    queries: TPCH_QUERIES,
    configurations: &[
        DICTIONARY_BYTE_PACKED,
        scan("balanced", Data::Frozen, &[]),
        with("size", "freeze_for = 'size'"),
        with("scan", "freeze_for = 'scan'"),
        with("point", "freeze_for = 'point'"),
        with("byte_packed", "layout = 'byte_packed'"),
        BIT_PACKED,
        with("byteslice", "layout = 'byteslice'"),
        with("vbp", "layout = 'vbp'"),
        with("hbp", "layout = 'hbp'"),
        UNENCODED,
        with(
            "patched",
            "encoding = 'patched frame of reference', layout = 'bit_packed'",
        ),
        DICTIONARY_BIT_PACKED,
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

/// The encodings that figures 5 and 9 compare with many clients.
pub const OF_CLIENTS: QueryExperiment = QueryExperiment {
    queries: TPCH_QUERIES,
    configurations: &[
        DICTIONARY_BYTE_PACKED,
        BIT_PACKED,
        UNENCODED,
        DICTIONARY_BIT_PACKED,
    ],
    baseline: "dictionary_byte_packed",
    figures: &[],
};
