//! Ordered indexes over byte-comparable keys ([`frazil_types::key_encoding`]). An index knows keys and row ids; it knows no
//! table, no transaction and no version of a row.

mod ordered_index;

pub use ordered_index::{Direction, Inserted, KeyRange, OrderedIndex, Verdict};
