//! JSON: the reader of texts (`text.rs`) and the binary form of jsonb (`binary.rs`), in which a path is followed without
//! reading what lies beside it. Numbers are exact decimals of any length and keep the zeros at their end, as in
//! PostgreSQL: 7.50 stays 7.50, and 1e2 is 100.
//!
//! [`Path`] is PostgreSQL's jsonpath (`path/`).
//!
//! [`order_key`] gives the bytes by whose order PostgreSQL's B-tree orders jsonb: equality and hash follow from them, too. [`compare`]
//! tells the order of two values without them.

mod binary;
mod number;
mod order;
mod path;
mod raw;
mod reach;
mod text;
mod write;

pub use binary::{
    Array, Json, Object, Stored, array_of, binary_of_text, characters, check_binary, number_of, object_of,
    scalar_of, string_of,
};
pub use number::{compare as compare_numbers, negated, plain as plain_number};
pub use order::{compare, order_key};
pub use path::{Arithmetic, Expression, Head, LAST_LEVEL, LikeRegex, MAX_PATH_DEPTH, Method, Path, Step};
pub use raw::{raw_elements, raw_kind, raw_members, raw_string};
pub use reach::{at_path, contains, element, has_key, member};
pub use text::{MAX_DEPTH, check};
pub use write::{write_compact, write_string};

#[cfg(test)]
mod tests;
