//! Ordered dictionary over numbers (Data Blocks, section 3.3): a code is the index of the value among
//! the sorted distinct values, plus one where code 0 stands for NULL. On disk the dictionary has a
//! dummy entry for NULL in front, so decoding is one gather.
//!
//! Distinct values are found in one pass that gives up as soon as there are too many to pay: by a
//! bitmap over the ordinals where their range is small, else by hashing, after a sample says it may pay.

use crate::input::{Valid, is_valid};

/// Ranges up to this many ordinals are counted by a bitmap.
const BITMAP_RANGE: u64 = 1 << 20;
/// Rows looked at before hashing all.
const SAMPLE: usize = 1024;

/// Distinct ordinals, ascending, and the index of each row's among them (0 for NULL rows).
pub(crate) struct Distinct {
    pub sorted: Vec<u64>,
    pub index: Vec<u32>,
}

/// The distinct ordinals of a column, or `None` when there are more than `limit` or a sample says so.
pub(crate) fn find(ordinals: &[u64], valid: Option<&Valid>, top: u64, limit: usize) -> Option<Distinct> {
    if top < BITMAP_RANGE {
        find_by_bitmap(ordinals, valid, top, limit)
    } else {
        find_by_hash(ordinals, valid, limit)
    }
}

fn find_by_bitmap(ordinals: &[u64], valid: Option<&Valid>, top: u64, limit: usize) -> Option<Distinct> {
    let mut seen = vec![0u64; top as usize / 64 + 1];
    let mut count = 0;
    for (block, rows) in ordinals.chunks(4096).enumerate() {
        for (i, &o) in rows.iter().enumerate() {
            if is_valid(valid, block * 4096 + i) {
                let word = &mut seen[o as usize / 64];
                count += usize::from(*word >> (o % 64) & 1 == 0);
                *word |= 1 << (o % 64);
            }
        }
        if count > limit {
            return None;
        }
    }
    let mut sorted = Vec::with_capacity(count);
    let mut rank = vec![0u32; top as usize + 1];
    for (i, &word) in seen.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            let o = i as u64 * 64 + u64::from(word.trailing_zeros());
            rank[o as usize] = sorted.len() as u32;
            sorted.push(o);
            word &= word - 1;
        }
    }
    let index = ordinals
        .iter()
        .enumerate()
        .map(|(row, &o)| if is_valid(valid, row) { rank[o as usize] } else { 0 })
        .collect();
    Some(Distinct { sorted, index })
}

/// Whether a strided sample repeats itself enough for a dictionary to be likely.
fn sample_repeats(ordinals: &[u64]) -> bool {
    if ordinals.len() < 2 * SAMPLE {
        return true;
    }
    let stride = ordinals.len() / SAMPLE;
    let mut sample: Vec<u64> = ordinals.iter().step_by(stride).copied().collect();
    let rows = sample.len();
    sample.sort_unstable();
    sample.dedup();
    sample.len() * 100 <= rows * 97
}

fn find_by_hash(ordinals: &[u64], valid: Option<&Valid>, limit: usize) -> Option<Distinct> {
    if limit < ordinals.len() && !sample_repeats(ordinals) {
        return None;
    }
    let mut table = IdTable::new();
    let mut keys: Vec<u64> = Vec::new();
    let mut index = Vec::with_capacity(ordinals.len());
    for (row, &o) in ordinals.iter().enumerate() {
        if !is_valid(valid, row) {
            index.push(0);
            continue;
        }
        let hash = (o ^ o >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let id = table.find_or_insert(hash, |id| keys[id as usize] == o);
        if id as usize == keys.len() {
            if keys.len() == limit {
                return None;
            }
            keys.push(o);
        }
        index.push(id);
    }
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_unstable_by_key(|&id| keys[id as usize]);
    let mut rank = vec![0u32; keys.len().max(1)];
    for (r, &id) in order.iter().enumerate() {
        rank[id as usize] = r as u32;
    }
    for id in &mut index {
        *id = rank[*id as usize];
    }
    Some(Distinct {
        sorted: order.iter().map(|&id| keys[id as usize]).collect(),
        index,
    })
}

/// An open-addressing table of ids by the upper half of a hash; the caller keeps the keys.
pub(crate) struct IdTable {
    /// (upper half of the hash, id + 1); an id of 0 is a free slot.
    slots: Vec<(u32, u32)>,
    len: usize,
}

impl IdTable {
    /// An empty table.
    pub fn new() -> IdTable {
        IdTable {
            slots: vec![(0, 0); 1024],
            len: 0,
        }
    }

    /// The id whose hash is `hash` and for which `equal` holds; else a new one, the count so far.
    #[inline]
    pub fn find_or_insert(&mut self, hash: u64, mut equal: impl FnMut(u32) -> bool) -> u32 {
        let mask = self.slots.len() - 1;
        let tag = (hash >> 32) as u32;
        let mut at = tag as usize & mask;
        loop {
            let (slot_tag, id) = self.slots[at];
            if id == 0 {
                break;
            }
            if slot_tag == tag && equal(id - 1) {
                return id - 1;
            }
            at = (at + 1) & mask;
        }
        self.len += 1;
        self.slots[at] = (tag, self.len as u32);
        if self.len * 2 > self.slots.len() {
            self.grow();
        }
        self.len as u32 - 1
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![(0, 0); old.len() * 4];
        let mask = self.slots.len() - 1;
        for (tag, id) in old.into_iter().filter(|s| s.1 != 0) {
            let mut at = tag as usize & mask;
            while self.slots[at].1 != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = (tag, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_find_the_same() {
        let ordinals: Vec<u64> = (0..9000u64).map(|i| i * 7919 % 613).collect();
        let a = find_by_bitmap(&ordinals, None, 612, 1000).expect("few enough");
        let b = find_by_hash(&ordinals, None, 1000).expect("few enough");
        assert_eq!(a.sorted, b.sorted);
        assert_eq!(a.index, b.index);
        assert!(a.sorted.is_sorted());
        for (row, o) in ordinals.iter().enumerate() {
            assert_eq!(a.sorted[a.index[row] as usize], *o);
        }
        assert!(find_by_bitmap(&ordinals, None, 612, 612).is_none());
        assert!(find_by_hash(&ordinals, None, 612).is_none());
    }
}
