//! Ordered dictionary over strings: offsets and a heap of the sorted distinct strings, uncompressed so
//! that references point straight into the block; codes are indexes, plus one where 0 stands for NULL.

use super::dictionary::IdTable;
use super::fixed::shift_codes;
use super::strings::Strings;
use super::{EncodedColumn, Encoding};
use crate::format::ColumnEntry;
use crate::input::is_valid;
use crate::layouts::{Layout, byte_packed};
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

/// The column as a dictionary, if it repeats itself enough to pay.
pub(crate) fn try_encode(strings: &Strings, entry: &ColumnEntry, with_psma: bool) -> Option<EncodedColumn> {
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
    let (keys, ids) = distinct(strings, rows / 2)?;
    if !pays(strings, &keys) {
        return None;
    }
    Some(encode(strings, entry, &keys, ids, with_psma))
}

/// Distinct strings in order of appearance and each row's index among them.
fn distinct<'a>(strings: &Strings<'a>, limit: usize) -> Option<(Vec<&'a [u8]>, Vec<u32>)> {
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
    Some((keys, ids))
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

fn encode(
    strings: &Strings,
    entry: &ColumnEntry,
    keys: &[&[u8]],
    mut ids: Vec<u32>,
    with_psma: bool,
) -> EncodedColumn {
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
    let width = byte_packed::width(top + u64::from(nullable));
    let mut entry = entry.clone();
    entry.encoding = Encoding::Dictionary;
    entry.layout = Layout::BytePacked;
    entry.code_bits = 8 * width as u8;
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
    out.codes = vec![0; codes.len() * width];
    byte_packed::pack(&codes, width, &mut out.codes);
    out
}
