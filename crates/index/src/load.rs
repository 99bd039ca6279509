//! An index over rows that are there already: entries are gathered, sorted, and added in order, which fills nodes whole.

use crate::ordered_index::OrderedIndex;
use crate::tree::Tree;
use frazil_types::RowId;
use std::cmp::Ordering;

/// Entries that are added between two questions whether to go on.
const STEP: usize = 1 << 14;

/// Bytes of the first piece of keys, and most bytes of a later one: far more than the longest key, and far fewer than a
/// list that doubles would copy.
const FIRST_PIECE: usize = 4 << 10;
const PIECE: usize = 1 << 20;

/// The bytes of keys, in pieces that never grow: adding a key copies no other key, so what is counted is what is held.
#[derive(Debug, Default)]
struct KeyBytes(Vec<Vec<u8>>);

impl KeyBytes {
    /// Adds a key. Returns where the key begins: the piece's number times `PIECE`, plus the offset in the piece.
    fn push(&mut self, key: &[u8]) -> usize {
        let is_full = |piece: &Vec<u8>| piece.capacity() - piece.len() <= key.len();
        if self.0.last().is_none_or(is_full) {
            let capacity = self.bytes().clamp(FIRST_PIECE, PIECE);
            self.0.push(Vec::with_capacity(capacity.max(key.len() + 1)));
        }
        let number = self.0.len() - 1;
        let piece = &mut self.0[number];
        let start = number * PIECE + piece.len();
        piece.extend_from_slice(key);
        start
    }

    /// The key of an entry.
    fn key(&self, entry: &Entry) -> &[u8] {
        let (piece, offset) = (entry.start / PIECE, entry.start % PIECE);
        &self.0[piece][offset..offset + entry.len as usize]
    }

    /// Bytes allocated for all pieces.
    fn bytes(&self) -> usize {
        self.0.iter().map(Vec::capacity).sum()
    }
}

/// Entries of an index that is to be made.
#[derive(Debug, Default)]
pub struct SortedEntries {
    keys: KeyBytes,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The first eight bytes of the key, big-endian, zeros behind its end.
    head: u64,
    /// Where the key begins, as [`KeyBytes::push`] returned it.
    start: usize,
    len: u32,
    /// True if the entry may have the key of another one.
    shares: bool,
    row: RowId,
}

impl SortedEntries {
    /// None yet, with room for entries of `rows` rows.
    pub fn with_rows(rows: usize) -> SortedEntries {
        SortedEntries {
            keys: KeyBytes::default(),
            entries: Vec::with_capacity(rows),
        }
    }

    /// Bytes of the entries of `rows` rows, without their keys.
    pub fn bytes_of_rows(rows: usize) -> usize {
        rows * size_of::<Entry>()
    }

    /// Bytes allocated for all keys.
    pub fn key_bytes(&self) -> usize {
        self.keys.bytes()
    }

    /// Adds an entry. `shares`: its key may be another one's, too.
    pub fn push(&mut self, key: &[u8], row: RowId, shares: bool) {
        let mut head = [0; 8];
        let first = &key[..key.len().min(8)];
        head[..first.len()].copy_from_slice(first);
        self.entries.push(Entry {
            head: u64::from_be_bytes(head),
            start: self.keys.push(key),
            len: key.len() as u32,
            shares,
            row,
        });
    }

    fn compare_keys(keys: &KeyBytes, a: &Entry, b: &Entry) -> Ordering {
        (a.head.cmp(&b.head)).then_with(|| {
            if a.len.max(b.len) <= 8 {
                Ordering::Equal
            } else {
                keys.key(a).cmp(keys.key(b))
            }
        })
    }

    /// Puts the entries in order.
    pub fn sort(&mut self) {
        let keys = &self.keys;
        (self.entries)
            .sort_unstable_by(|a, b| SortedEntries::compare_keys(keys, a, b).then_with(|| a.row.cmp(&b.row)));
    }

    /// The first key, in order, that two entries have which may not: the row of its first entry, and how many entries have it. The
    /// entries are sorted.
    pub fn duplicate(&self) -> Option<(RowId, u64)> {
        let same = |a: &Entry, b: &Entry| SortedEntries::compare_keys(&self.keys, a, b).is_eq();
        let first = self
            .entries
            .windows(2)
            .position(|w| !w[0].shares && same(&w[0], &w[1]))?;
        let rest = &self.entries[first..];
        let count = rest.iter().take_while(|e| same(e, &rest[0])).count();
        Some((rest[0].row, count as u64))
    }
}

impl Tree {
    /// Adds sorted entries to a tree that has none. `go_on` is asked now and then; its error ends the load.
    pub fn load<E>(&self, sorted: &SortedEntries, go_on: &mut dyn FnMut() -> Result<(), E>) -> Result<(), E> {
        for step in sorted.entries.chunks(STEP) {
            go_on()?;
            for entry in step {
                self.insert(sorted.keys.key(entry), entry.row, None);
            }
        }
        Ok(())
    }
}
