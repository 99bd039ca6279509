//! Ordered indexes over byte-comparable keys ([`frazil_types::key_encoding`]). An index knows keys and row ids; it knows no
//! table, no transaction and no version of a row.

mod load;
mod memory;
mod node;
mod ordered_index;
mod probe;
mod restructure;
mod scan;
#[cfg(test)]
mod schedules;
mod slab;
mod sync;
mod tails;
mod tree;

pub use load::SortedEntries;
pub use ordered_index::{Direction, Inserted, KeyRange, OrderedIndex, Verdict};
pub use tree::{MOST_KEY_BYTES, Tree};
