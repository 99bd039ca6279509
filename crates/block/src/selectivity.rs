//! How many rows a restriction is expected to leave: what the order of a scan's tests goes by.

use crate::code_range::CodeRange;
use crate::encodings::Encoding;
use crate::encodings::decimal::Ladder;
use crate::format::ColumnEntry;
use frazil_types::NativeType;

/// Ordinals that there may be.
fn ordinals(entry: &ColumnEntry) -> u128 {
    match entry.encoding {
        Encoding::Dictionary => entry.dictionary_entries.into(),
        Encoding::Decimal => Ladder::of(entry).top.into(),
        _ if entry.native == NativeType::F64 => u64::MAX.into(),
        _ => (entry.max.wrapping_sub(entry.min) as u64).into(),
    }
}

/// Numbers of a range.
fn width((low, high): &(u64, u64)) -> u128 {
    u128::from(high.saturating_sub(*low)) + 1
}

/// Estimated thousandths of the rows that are in a code range.
pub(crate) fn of_codes(entry: &ColumnEntry, range: &CodeRange) -> u32 {
    let codes = match range {
        CodeRange::None => 0,
        CodeRange::All => ordinals(entry),
        CodeRange::Range(low, high) => width(&(*low, *high)),
        CodeRange::Except(low, high) => ordinals(entry).saturating_sub(width(&(*low, *high))),
        CodeRange::Ranges(ranges) => ranges.iter().map(width).sum(),
        CodeRange::Set(set) => set.iter().map(|w| u128::from(w.count_ones())).sum(),
    };
    share(entry, codes)
}

/// Estimated thousandths of the rows that are in ranges of ordinals.
pub(crate) fn of_ranges(entry: &ColumnEntry, ranges: &[(u64, u64)]) -> u32 {
    share(entry, ranges.iter().map(width).sum())
}

/// All codes are taken for equally frequent.
fn share(entry: &ColumnEntry, wanted: u128) -> u32 {
    (wanted.saturating_mul(1000) / (ordinals(entry) + 1)).min(1000) as u32
}
