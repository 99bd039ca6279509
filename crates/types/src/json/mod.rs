//! JSON: the reader of texts (`text.rs`) and the binary form of jsonb (`binary.rs`), in which a path is followed without
//! reading what lies beside it. Numbers are exact decimals of any length and keep the zeros at their end, as in
//! PostgreSQL: 7.50 stays 7.50, and 1e2 is 100.
//!
//! [`order_key`] gives the bytes by whose order PostgreSQL's B-tree orders jsonb: equality and hash follow from them, too.

mod binary;
mod number;
mod order;
mod raw;
mod reach;
mod text;
mod write;

pub use binary::{Array, Json, Object, array_of, binary_of_text, check_binary, object_of, string_of};
pub use order::order_key;
pub use raw::{raw_elements, raw_kind, raw_members, raw_string};
pub use reach::{at_path, contains, element, has_key, member};
pub use text::{MAX_DEPTH, check};
pub use write::{write_compact, write_string};

#[cfg(test)]
mod tests;
