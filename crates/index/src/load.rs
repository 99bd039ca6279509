//! An index over rows that are there already: entries are gathered, sorted, and added in order, which fills nodes whole.

use crate::ordered_index::OrderedIndex;
use crate::tree::Tree;
use frazil_types::RowId;
use std::cmp::Ordering;

/// Entries that are added between two questions whether to go on.
const STEP: usize = 1 << 14;

/// Entries of an index that is to be made.
#[derive(Debug, Default)]
pub struct SortedEntries {
    /// The bytes of all keys.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The first eight bytes of the key, big-endian, zeros behind its end.
    head: u64,
    /// Where the key begins in `bytes`.
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
            bytes: Vec::new(),
            entries: Vec::with_capacity(rows),
        }
    }

    /// Bytes of the entries of `rows` rows, without their keys.
    pub fn bytes_of_rows(rows: usize) -> usize {
        rows * size_of::<Entry>()
    }

    /// Bytes of all keys.
    pub fn key_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds an entry. `shares`: its key may be another one's, too.
    pub fn push(&mut self, key: &[u8], row: RowId, shares: bool) {
        let mut head = [0; 8];
        let first = &key[..key.len().min(8)];
        head[..first.len()].copy_from_slice(first);
        self.entries.push(Entry {
            head: u64::from_be_bytes(head),
            start: self.bytes.len(),
            len: key.len() as u32,
            shares,
            row,
        });
        self.bytes.extend_from_slice(key);
    }

    fn key(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start..entry.start + entry.len as usize]
    }

    fn compare_keys(bytes: &[u8], a: &Entry, b: &Entry) -> Ordering {
        let key = |e: &Entry| &bytes[e.start..e.start + e.len as usize];
        (a.head.cmp(&b.head)).then_with(|| {
            if a.len.max(b.len) <= 8 {
                Ordering::Equal
            } else {
                key(a).cmp(key(b))
            }
        })
    }

    /// Puts the entries in order.
    pub fn sort(&mut self) {
        let bytes = &self.bytes;
        (self.entries).sort_unstable_by(|a, b| {
            SortedEntries::compare_keys(bytes, a, b).then_with(|| a.row.cmp(&b.row))
        });
    }

    /// The first key, in order, that two entries have which may not: the row of its first entry, and how many entries have it. The
    /// entries are sorted.
    pub fn duplicate(&self) -> Option<(RowId, u64)> {
        let same = |a: &Entry, b: &Entry| SortedEntries::compare_keys(&self.bytes, a, b).is_eq();
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
                self.insert(sorted.key(entry), entry.row, None);
            }
        }
        Ok(())
    }
}
