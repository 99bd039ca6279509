//! Writing redo.

use super::{columns, kind};
use crate::columns::Columns;
use crate::log::{RedoPlace, SegmentPlace};
use frazil_block::Block;
use frazil_catalog::Position;
use frazil_types::{ColumnNumber, ObjectId, RowBatch, RowId};
use std::ops::Range;

/// Redo of a transaction, in the order of its statements.
#[derive(Clone, Debug, Default)]
pub struct RedoBuffer {
    bytes: Vec<u8>,
}

/// A chunk whose block lies in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedBlock {
    /// The chunk's number.
    pub chunk: u32,
    /// Its rows.
    pub rows: u32,
    /// The block's checksum.
    pub checksum: u32,
    /// Where the block lies.
    pub place: SegmentPlace,
}

impl RedoBuffer {
    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes so far: what a savepoint remembers.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Forgets what was done since there were `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// The rows `rows` of a batch were inserted; the first one has the id `first`, the others follow in its chunk.
    ///
    /// # Panics
    /// If the batch has no such rows, or its strings have more than 4 GiB.
    pub fn insert(&mut self, table: ObjectId, first: RowId, batch: &RowBatch, rows: Range<usize>) {
        self.insert_columns(table, first, Columns::Batch(&batch.columns), rows);
    }

    /// As [`RedoBuffer::insert`].
    pub(crate) fn insert_columns(
        &mut self,
        table: ObjectId,
        first: RowId,
        columns: Columns<'_>,
        rows: Range<usize>,
    ) {
        self.entry(kind::INSERT, |out| {
            out.extend_from_slice(&table.0.to_le_bytes());
            out.extend_from_slice(&first.chunk().to_le_bytes());
            out.extend_from_slice(&first.offset().to_le_bytes());
            out.extend_from_slice(&(rows.len() as u32).to_le_bytes());
            out.extend_from_slice(&(columns.iter().count() as u16).to_le_bytes());
            for column in columns.iter() {
                columns::write(column, rows.clone(), out);
            }
        });
    }

    /// Rows were deleted.
    pub fn delete(&mut self, table: ObjectId, rows: &[RowId]) {
        self.deleted(table, rows.len(), rows.iter().copied());
    }

    /// The rows were deleted that there are.
    pub(crate) fn delete_some(&mut self, table: ObjectId, rows: &[Option<RowId>]) {
        self.deleted(
            table,
            rows.iter().flatten().count(),
            rows.iter().flatten().copied(),
        );
    }

    fn deleted(&mut self, table: ObjectId, count: usize, rows: impl Iterator<Item = RowId>) {
        self.entry(kind::DELETE, |out| {
            out.extend_from_slice(&table.0.to_le_bytes());
            out.extend_from_slice(&(count as u32).to_le_bytes());
            rows.for_each(|row| out.extend_from_slice(&row.0.to_le_bytes()));
        });
    }

    /// Rows of a table are in blocks now, or in others, with the ids that they had.
    pub fn held(&mut self, table: ObjectId) {
        self.entry(kind::HELD, |out| out.extend_from_slice(&table.0.to_le_bytes()));
    }

    /// All rows of a table were removed.
    pub fn truncate_table(&mut self, table: ObjectId) {
        self.entry(kind::TRUNCATE, |out| {
            out.extend_from_slice(&table.0.to_le_bytes())
        });
    }

    /// The catalog is another one; the bytes that say how are durability's business.
    pub fn catalog(&mut self, catalog: &[u8]) {
        self.entry(kind::CATALOG, |out| out.extend_from_slice(catalog));
    }

    /// Chunks of a table are gone: others have their rows, if there are any.
    pub fn removed(&mut self, table: ObjectId, chunks: &[u32]) {
        self.entry(kind::REMOVED, |out| {
            out.extend_from_slice(&table.0.to_le_bytes());
            out.extend_from_slice(&(chunks.len() as u32).to_le_bytes());
            (chunks.iter()).for_each(|chunk| out.extend_from_slice(&chunk.to_le_bytes()));
        });
    }

    /// A table got a chunk whose block lies in a segment, which is durable before the record is.
    pub fn load(&mut self, table: ObjectId, block: LoadedBlock) {
        self.entry(kind::LOAD, |out| {
            for number in [table.0, block.chunk, block.rows, block.checksum] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            for number in [block.place.segment, block.place.offset, block.place.bytes] {
                out.extend_from_slice(&number.to_le_bytes());
            }
        });
    }

    /// More redo, which is durable before the record is, counts in the place of this entry.
    pub fn elsewhere(&mut self, redo: &RedoPlace) {
        self.entry(kind::ELSEWHERE, |out| {
            for number in [redo.place.segment, redo.place.offset, redo.place.bytes] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.extend_from_slice(&redo.checksum.to_le_bytes());
            out.extend_from_slice(&redo.used.to_le_bytes());
        });
    }

    /// The redo of another buffer comes behind this one's.
    pub(crate) fn append(&mut self, other: &RedoBuffer) {
        self.bytes.extend_from_slice(&other.bytes);
    }

    /// A column got values for the rows of a chunk: those of a block of one column.
    pub fn filled(&mut self, table: ObjectId, chunk: u32, column: ColumnNumber, block: &Block) {
        self.entry(kind::FILLED, |out| {
            for number in [table.0, chunk, column.0] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.extend_from_slice(block.bytes());
        });
    }

    /// A sequence stands at a position: the values up to it are given, or may be.
    pub fn sequence(&mut self, sequence: ObjectId, position: Position) {
        self.entry(kind::SEQUENCE, |out| {
            out.extend_from_slice(&sequence.0.to_le_bytes());
            out.extend_from_slice(&position.value.to_le_bytes());
            out.push(u8::from(position.is_called));
        });
    }

    fn entry(&mut self, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.push(kind);
        let length = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        body(&mut self.bytes);
        let bytes = u32::try_from(self.bytes.len() - length - 4).expect("an entry of less than 4 GiB");
        self.bytes[length..length + 4].copy_from_slice(&bytes.to_le_bytes());
    }
}
