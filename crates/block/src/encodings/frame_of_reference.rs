//! Frame of reference: a code is the distance to the smallest value of the block (Data Blocks,
//! section 3.3: truncation; Integer Compression, section 2), plus one where code 0 stands for NULL.
//!
//! Decoding is one wrapping addition of the reference, `min − nullable`.

use crate::format::ColumnEntry;
use crate::layouts::byte_packed;

/// Bytes of a code when the largest delta is `top`; `None` when NULL's code leaves no room.
pub(crate) fn code_bytes(top: u64, nullable: bool) -> Option<usize> {
    top.checked_add(u64::from(nullable)).map(byte_packed::width)
}

/// What is added to a code to get the value.
pub(crate) fn reference(entry: &ColumnEntry) -> i128 {
    entry.min.wrapping_sub(i128::from(entry.nullable()))
}
