//! Frame of reference: a code is the distance to the smallest value of the block (Data Blocks,
//! section 3.3: truncation; Integer Compression, section 3.2), plus one where code 0 stands for NULL.
//!
//! Decoding is one wrapping addition of the reference, `min − nullable`.

use crate::format::ColumnEntry;

/// What is added to a code to get the value.
pub(crate) fn reference(entry: &ColumnEntry) -> i128 {
    entry.min.wrapping_sub(i128::from(entry.nullable()))
}
