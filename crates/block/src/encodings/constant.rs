//! Single value: all rows are equal, or all are NULL (Data Blocks, section 3.3). The value is the SMA.

use super::{EncodedColumn, Encoding};
use crate::format::{ColumnEntry, FLAG_NULLS, FLAG_SMA};
use frazil_types::NativeType;

/// A column whose rows are all NULL.
pub(crate) fn encode_null(native: NativeType, rows: usize) -> EncodedColumn {
    let mut entry = ColumnEntry::new(Encoding::Constant, native);
    entry.flags = FLAG_NULLS;
    entry.null_count = rows as u32;
    EncodedColumn::new(entry)
}

/// A column of one number; for doubles its bits.
pub(crate) fn encode_number(native: NativeType, value: i128) -> EncodedColumn {
    let mut entry = ColumnEntry::new(Encoding::Constant, native);
    entry.flags = FLAG_SMA;
    entry.min = value;
    entry.max = value;
    EncodedColumn::new(entry)
}

/// A column of one string. The heap holds it as well, so that references into the block stay in the
/// column's own extent.
pub(crate) fn encode_string(value: &[u8]) -> EncodedColumn {
    let mut entry = ColumnEntry::new(Encoding::Constant, NativeType::String);
    entry.flags = FLAG_SMA;
    let mut out = EncodedColumn::new(entry);
    out.sma = crate::sma::string_sma(value, value);
    out.heap = value.to_vec();
    out
}
