//! What a transaction did to the entries of indexes: entries it added, which leave where it returns to a savepoint or is dropped,
//! and rows it deleted, whose entries leave some time after its commit.
//!
//! Rows are noted, not keys: a row's cells stay in its chunk, which the note keeps alive, and its keys are made of them again.

use crate::chunk::Chunk;
use crate::table_indexes::TableIndexes;
use frazil_types::{ObjectId, RowId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Notes whose memory serves the next transaction.
const MOST_KEPT: usize = 256;

/// Rows of a chunk, and the indexes that have their entries.
#[derive(Debug)]
pub(crate) struct IndexedRows {
    pub table: ObjectId,
    indexes: Arc<TableIndexes>,
    chunk: Arc<Chunk>,
    number: u32,
    /// Offsets in the chunk, in the order in which they were noted.
    offsets: Offsets,
}

/// Offsets in an order.
#[derive(Debug)]
enum Offsets {
    /// The first one and their number: each is followed by the next greater one, as rows are appended.
    Run(u16, usize),
    /// Any.
    List(Vec<u16>),
}

impl Offsets {
    fn push(&mut self, offset: u16) {
        match self {
            Offsets::Run(first, len) if usize::from(*first) + *len == usize::from(offset) => *len += 1,
            Offsets::Run(..) => {
                let mut list = self.split_off(0);
                list.push(offset);
                *self = Offsets::List(list);
            }
            Offsets::List(list) => list.push(offset),
        }
    }

    fn len(&self) -> usize {
        match self {
            Offsets::Run(_, len) => *len,
            Offsets::List(list) => list.len(),
        }
    }

    fn truncate(&mut self, to: usize) {
        match self {
            Offsets::Run(_, len) => *len = to.min(*len),
            Offsets::List(list) => list.truncate(to),
        }
    }

    /// Takes those from position `from` on.
    fn split_off(&mut self, from: usize) -> Vec<u16> {
        match self {
            Offsets::Run(first, len) => {
                let taken = (from..*len).map(|at| (usize::from(*first) + at) as u16).collect();
                *len = from;
                taken
            }
            Offsets::List(list) => list.split_off(from),
        }
    }
}

impl IndexedRows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Number of the chunk.
    pub fn chunk_number(&self) -> u32 {
        self.number
    }

    /// Takes the entries of the rows from `from` on out of the indexes, and forgets these rows.
    fn undo(&mut self, from: usize) {
        let offsets = self.offsets.split_off(from);
        self.remove(offsets);
    }

    /// Takes the entries of rows at some offsets out of the indexes.
    fn remove(&self, mut offsets: Vec<u16>) {
        offsets.sort_unstable();
        offsets.dedup();
        // A block that cannot be read leaves candidates of rows that nobody shows.
        let _ = (self.indexes).remove_entries(&self.chunk, self.number, &offsets);
    }

    /// A note of other rows of the chunk.
    fn of(&self, offsets: Vec<u16>) -> IndexedRows {
        IndexedRows {
            table: self.table,
            indexes: self.indexes.clone(),
            chunk: self.chunk.clone(),
            number: self.number,
            offsets: Offsets::List(offsets),
        }
    }

    /// Takes the last rows, `most` of them at most, into a note of their own.
    pub fn take_last(&mut self, most: usize) -> IndexedRows {
        let from = self.len() - self.len().min(most);
        let taken = self.offsets.split_off(from);
        self.of(taken)
    }

    /// Takes the entries of the rows out of the indexes for which `shown_by` returns `None`. Returns the other rows,
    /// by what it returned.
    pub fn remove_entries_unless(
        mut self,
        shown_by: impl Fn(RowId) -> Option<usize>,
    ) -> BTreeMap<usize, IndexedRows> {
        let mut shown: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
        let mut offsets = self.offsets.split_off(0);
        offsets.retain(|&offset| {
            let by = shown_by(RowId::new(self.number, offset));
            if let Some(by) = by {
                shown.entry(by).or_default().push(offset);
            }
            by.is_none()
        });
        self.remove(offsets);
        let note = |(by, offsets)| (by, self.of(offsets));
        shown.into_iter().map(note).collect()
    }

    /// Takes in the rows of another note, which is returned if it has another chunk or other indexes.
    pub fn join(&mut self, mut other: IndexedRows) -> Option<IndexedRows> {
        if !Arc::ptr_eq(&self.chunk, &other.chunk) || !Arc::ptr_eq(&self.indexes, &other.indexes) {
            return Some(other);
        }
        let offsets = other.offsets.split_off(0);
        offsets.into_iter().for_each(|offset| self.offsets.push(offset));
        None
    }

    /// Takes the entries of `most` rows at most out of the indexes, and forgets these rows; how many they were.
    pub fn remove_entries(&mut self, most: usize) -> usize {
        let count = self.len().min(most);
        self.undo(self.len() - count);
        count
    }
}

/// A list of notes, in order.
#[derive(Debug, Default)]
pub(crate) struct Notes(Vec<IndexedRows>);

/// A moment of a list: its length, and that of its last note.
#[derive(Clone, Copy, Debug)]
struct Mark(usize, usize);

impl Notes {
    /// Notes a row of a chunk.
    fn push(&mut self, table: ObjectId, indexes: &Arc<TableIndexes>, chunk: &Arc<Chunk>, row: RowId) {
        match self.0.last_mut() {
            Some(last) if Arc::ptr_eq(&last.chunk, chunk) && Arc::ptr_eq(&last.indexes, indexes) => {
                last.offsets.push(row.offset());
            }
            _ => self.0.push(IndexedRows {
                table,
                indexes: indexes.clone(),
                chunk: chunk.clone(),
                number: row.chunk(),
                offsets: Offsets::Run(row.offset(), 1),
            }),
        }
    }

    fn mark(&self) -> Mark {
        Mark(self.0.len(), self.0.last().map_or(0, IndexedRows::len))
    }

    /// The notes since a moment: `gone` gets each with the number of its rows that were noted before.
    fn cut(&mut self, mark: Mark, mut gone: impl FnMut(&mut IndexedRows, usize)) {
        for mut note in self.0.drain(mark.0..) {
            gone(&mut note, 0);
        }
        if let Some(last) = self.0.last_mut() {
            gone(last, mark.1);
        }
    }
}

/// What a transaction did to entries.
#[derive(Debug, Default)]
pub(crate) struct IndexLog {
    added: Notes,
    deleted: Notes,
}

/// A moment of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogMark {
    added: Mark,
    deleted: Mark,
}

impl IndexLog {
    /// Notes that entries of a row are being added. Called before they are.
    pub fn adds(&mut self, table: ObjectId, indexes: &Arc<TableIndexes>, chunk: &Arc<Chunk>, row: RowId) {
        if !indexes.is_empty() {
            self.added.push(table, indexes, chunk, row);
        }
    }

    /// Notes that a row was deleted.
    pub fn deletes(&mut self, table: ObjectId, indexes: &Arc<TableIndexes>, chunk: &Arc<Chunk>, row: RowId) {
        if !indexes.is_empty() {
            self.deleted.push(table, indexes, chunk, row);
        }
    }

    /// The rows of a chunk lie in another one now, at the same offsets: the first one need not be kept.
    pub fn held(&mut self, before: &Arc<Chunk>, now: &Arc<Chunk>) {
        let notes = self.added.0.iter_mut().chain(&mut self.deleted.0);
        for note in notes.filter(|note| Arc::ptr_eq(&note.chunk, before)) {
            note.chunk = now.clone();
        }
    }

    /// This moment.
    pub fn mark(&self) -> LogMark {
        LogMark {
            added: self.added.mark(),
            deleted: self.deleted.mark(),
        }
    }

    /// Takes entries out again that were added since a moment, and forgets what was deleted since.
    pub fn undo_to(&mut self, mark: LogMark) {
        self.added.cut(mark.added, IndexedRows::undo);
        (self.deleted).cut(mark.deleted, |note, from| note.offsets.truncate(from));
    }

    /// Takes all entries out again, of `most` rows at most: gives the rows that are left.
    pub fn undo(&mut self, most: usize) -> Vec<IndexedRows> {
        self.deleted.0.clear();
        let mut added = std::mem::take(&mut self.added.0);
        let mut left = most;
        for rows in added.iter_mut().rev() {
            left -= rows.remove_entries(left);
        }
        added.retain(|rows| rows.len() > 0);
        added
    }

    /// Forgets everything, and keeps memory for some notes.
    pub fn clear(&mut self) {
        self.added.0.clear();
        self.added.0.shrink_to(MOST_KEPT);
        self.deleted.0.clear();
    }

    /// Takes the rows that the transaction deleted, which is about to commit.
    pub fn take_deleted(&mut self) -> Vec<IndexedRows> {
        std::mem::take(&mut self.deleted.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_those_that_were_pushed_in_a_run_or_not() {
        let of = |all: &[u16]| {
            let mut offsets = Offsets::Run(all[0], 1);
            all[1..].iter().for_each(|offset| offsets.push(*offset));
            offsets
        };
        for all in [
            &[7, 8, 9, 10][..],
            &[7, 8, 3, 4],
            &[65_534, 65_535, 0, 1],
            &[5, 5, 6],
            &[9],
        ] {
            for from in 0..=all.len() {
                let (mut cut, mut shortened) = (of(all), of(all));
                assert_eq!(cut.split_off(from), all[from..]);
                shortened.truncate(from);
                assert_eq!([cut.len(), shortened.len()], [from; 2]);
                for mut rest in [cut, shortened] {
                    rest.push(77);
                    rest.push(78);
                    let expected: Vec<u16> = all[..from].iter().copied().chain([77, 78]).collect();
                    assert_eq!(rest.len(), expected.len());
                    assert_eq!(rest.split_off(0), expected);
                }
            }
        }
    }
}
