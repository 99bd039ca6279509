//! Ordered dictionary over strings: offsets and a heap of the sorted distinct strings, uncompressed so
//! that references point straight into the block; codes are indexes, plus one where 0 stands for NULL.

use super::dictionary::IdTable;
use super::numbers::shift_codes;
use super::strings::Strings;
use super::{EncodedColumn, Encoding};
use crate::cost_model::Shape;
use crate::format::ColumnEntry;
use crate::input::is_valid;
use crate::layouts::byte_packed;
use crate::psma;

/// Rows looked at before hashing all.
const SAMPLE: usize = 512;
/// Blocks of fewer rows get no PSMA.
const PSMA_ROWS: usize = 1024;

/// Multiplies to 128 bits and folds: one step of the hash below.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let p = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    p as u64 ^ (p >> 64) as u64
}

/// A hash of this program's memory only, never stored.
#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let mut h = bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        h = fold(h, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(h, u64::from_le_bytes(last))
}

/// Distinct strings in order of appearance and each row's index among them.
pub(crate) struct Distinct<'a> {
    keys: Vec<&'a [u8]>,
    ids: Vec<u32>,
}

impl Distinct<'_> {
    /// What a dictionary of them comes to.
    pub fn shape(&self, nullable: bool) -> Shape {
        let heap: usize = self.keys.iter().map(|k| k.len()).sum();
        let entries = self.keys.len() + usize::from(nullable);
        Shape {
            encoding: Encoding::Dictionary,
            largest: Some(entries as u64 - 1),
            beside: 4 * (entries + 1) + heap,
            exceptions: 0,
        }
    }
}

/// The distinct strings of a column, if it repeats itself enough for a dictionary to pay.
pub(crate) fn find_if_it_pays<'a>(strings: &Strings<'a>) -> Option<Distinct<'a>> {
    let rows = strings.bytes.len();
    if rows > 2 * SAMPLE {
        let mut sample: Vec<&[u8]> = strings.bytes.iter().step_by(rows / SAMPLE).copied().collect();
        let sampled = sample.len();
        sample.sort_unstable();
        sample.dedup();
        if sample.len() * 100 > sampled * 95 {
            return None;
        }
    }
    find(strings, rows / 2).filter(|distinct| pays(strings, &distinct.keys))
}

/// The distinct strings of a column, unless there are more than `limit`.
pub(crate) fn find<'a>(strings: &Strings<'a>, limit: usize) -> Option<Distinct<'a>> {
    let mut table = IdTable::new();
    let mut keys: Vec<&[u8]> = Vec::new();
    let mut ids = Vec::with_capacity(strings.bytes.len());
    for (row, &bytes) in strings.bytes.iter().enumerate() {
        if !is_valid(strings.valid, row) {
            ids.push(0);
            continue;
        }
        let id = table.find_or_insert(hash(bytes), |id| keys[id as usize] == bytes);
        if id as usize == keys.len() {
            if keys.len() == limit {
                return None;
            }
            keys.push(bytes);
        }
        ids.push(id);
    }
    Some(Distinct { keys, ids })
}

/// A dictionary may be a little larger than the estimate of a compressed heap: its codes are matched
/// by SIMD and its strings need no decompression.
fn pays(strings: &Strings, keys: &[&[u8]]) -> bool {
    let rows = strings.bytes.len();
    let heap: usize = keys.iter().map(|k| k.len()).sum();
    let dictionary = rows * byte_packed::width(keys.len() as u64) + 4 * keys.len() + heap;
    let raw = 4 * rows + strings.total / 2;
    dictionary * 5 <= raw * 6
}

/// The column as a dictionary; the entry says how its codes lie.
pub(crate) fn encode(
    strings: &Strings,
    mut entry: ColumnEntry,
    distinct: Distinct,
    with_psma: bool,
) -> EncodedColumn {
    let Distinct { keys, mut ids } = distinct;
    let nullable = strings.valid.is_some();
    let top = keys.len() as u64 - 1;
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_unstable_by_key(|&id| keys[id as usize]);
    let mut rank = vec![0u32; keys.len()];
    for (r, &id) in order.iter().enumerate() {
        rank[id as usize] = r as u32;
    }
    for id in &mut ids {
        *id = rank[*id as usize];
    }
    let (layout, bits) = (entry.layout, u32::from(entry.code_bits));
    entry.dictionary_entries = keys.len() as u32;
    let mut out = EncodedColumn::new(entry);
    out.dictionary.extend(0u32.to_le_bytes());
    if nullable {
        out.dictionary.extend(0u32.to_le_bytes());
    }
    for &id in &order {
        out.heap.extend_from_slice(keys[id as usize]);
        out.dictionary.extend((out.heap.len() as u32).to_le_bytes());
    }
    let mut codes: Vec<u64> = ids.iter().map(|&id| u64::from(id)).collect();
    if with_psma && codes.len() >= PSMA_ROWS {
        out.psma = psma::build(&codes, strings.valid, top);
    }
    if let Some(valid) = strings.valid {
        shift_codes(ids.iter().map(|&id| u64::from(id)), valid, &mut codes);
    }
    out.codes = layout.pack(&codes, bits);
    out
}
