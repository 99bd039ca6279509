//! Positional SMAs: value → range of positions (Data Blocks, section 3.2 and appendix B).
//!
//! The table has 256 entries for each byte of the largest ordinal. The ordinal of a value (its delta to
//! the minimum, or its dictionary index) is looked up by its most significant non-zero byte `m` and the
//! number `r` of bytes below: slot `m + 256 r`. So values close to the minimum have slots of their own.
//! An entry is the first and the last position of its values as u16, and empty when first > last.
//! NULLs have no slot.

use crate::input::{Valid, is_valid};
use std::ops::Range;

/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 4;

/// The slot of an ordinal (appendix B: getPSMASlot).
#[inline]
pub fn slot(ordinal: u64) -> usize {
    let r = (63 - (ordinal | 1).leading_zeros()) / 8;
    ((ordinal >> (r * 8)) + u64::from(r) * 256) as usize
}

/// Number of slots of a table whose largest ordinal is `top`.
pub fn slots(top: u64) -> usize {
    (slot(top) / 256 + 1) * 256
}

/// Builds the section over the ordinals of a column.
pub(crate) fn build(ordinals: &[u64], valid: Option<&Valid>, top: u64) -> Vec<u8> {
    let mut table = vec![(u16::MAX, 0u16); slots(top)];
    let mut note = |row: usize, ordinal: u64| {
        let entry = &mut table[slot(ordinal)];
        entry.0 = entry.0.min(row as u16);
        entry.1 = row as u16;
    };
    match valid {
        None => ordinals.iter().enumerate().for_each(|(row, &o)| note(row, o)),
        Some(_) => ordinals
            .iter()
            .enumerate()
            .filter(|&(row, _)| is_valid(valid, row))
            .for_each(|(row, &o)| note(row, o)),
    }
    let mut out = Vec::with_capacity(table.len() * ENTRY_BYTES);
    for (first, last) in table {
        out.extend(first.to_le_bytes());
        out.extend(last.to_le_bytes());
    }
    out
}

/// Positions where ordinals `low..=high` may lie: the union of their slots' ranges.
pub(crate) fn probe(section: &[u8], low: u64, high: u64) -> Range<u32> {
    let entries = section.as_chunks::<ENTRY_BYTES>().0;
    let last_slot = slot(high).min(entries.len().saturating_sub(1));
    let (mut begin, mut end) = (u32::MAX, 0);
    for entry in entries.iter().take(last_slot + 1).skip(slot(low)) {
        let first = u32::from(u16::from_le_bytes([entry[0], entry[1]]));
        let last = u32::from(u16::from_le_bytes([entry[2], entry[3]]));
        if first <= last {
            begin = begin.min(first);
            end = end.max(last + 1);
        }
    }
    if begin < end { begin..end } else { 0..0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 4 of the paper: probes of 7 and 998 in a column whose minimum is 2.
    #[test]
    fn slots_of_the_papers_examples() {
        assert_eq!(slot(7 - 2), 5);
        assert_eq!(slot(998 - 2), 3 + 256);
        assert_eq!(slot(0), 0);
        assert_eq!(slot(255), 255);
        assert_eq!(slot(256), 257);
        assert_eq!(slot(u64::MAX), 255 + 7 * 256);
        assert_eq!(slots(0xff), 256);
        assert_eq!(slots(0x100), 512);
        assert_eq!(slots(0x1_0000), 768);
    }

    #[test]
    fn ranges_hold_every_position() {
        let ordinals: Vec<u64> = (0..5000u64).map(|i| i * i % 70_001).collect();
        let top = *ordinals.iter().max().expect("some");
        let section = build(&ordinals, None, top);
        for (low, high) in [(0, 0), (5, 300), (256, 256), (69_000, 70_000), (0, top)] {
            let range = probe(&section, low, high);
            for (row, o) in ordinals.iter().enumerate() {
                assert!(!(low..=high).contains(o) || range.contains(&(row as u32)));
            }
        }
        assert_eq!(probe(&section, top + (1 << 20), u64::MAX), 0..0);
    }
}
