//! The redo of one transaction.

use super::RedoBuffer;
use crate::columns::Columns;
use frazil_types::{ObjectId, RowId};
use std::ops::Range;

/// The greatest record, in bytes: a transaction that writes more is committed whole, which writes its rows as blocks.
const MOST_BYTES: usize = 64 << 20;

/// What a transaction writes down for the log.
#[derive(Debug)]
pub(crate) struct TransactionRedo {
    /// None: there is no log.
    buffer: Option<RedoBuffer>,
    /// The transaction did what no record says.
    is_whole: bool,
}

impl TransactionRedo {
    /// Nothing yet; nothing ever without a log.
    pub fn new(has_log: bool) -> TransactionRedo {
        TransactionRedo {
            buffer: has_log.then(RedoBuffer::default),
            is_whole: false,
        }
    }

    /// Whether there is a log.
    pub fn is_wanted(&self) -> bool {
        self.buffer.is_some()
    }

    /// Whether what is done goes into a record.
    fn is_recorded(&self) -> bool {
        self.is_wanted() && !self.is_whole
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.buffer.as_ref().map_or(0, RedoBuffer::len)
    }

    /// Forgets what was done since there were `len` bytes. What no record says is not forgotten: it is no harm to commit whole.
    pub fn truncate(&mut self, len: usize) {
        if let Some(buffer) = &mut self.buffer {
            buffer.truncate(len);
        }
    }

    /// The record that says what was done; `None` if no record does.
    pub fn record(&self) -> Option<&[u8]> {
        let buffer = self.buffer.as_ref()?;
        (!self.is_whole && !buffer.is_empty()).then(|| buffer.bytes())
    }

    /// Rows of columns were inserted, which got these ids.
    pub fn insert(&mut self, table: ObjectId, ids: &[RowId], columns: Columns<'_>, rows: Range<usize>) {
        debug_assert_eq!(ids.len(), rows.len());
        // Before anything is copied: an entry of a record has less than 4 GiB, rows may have more.
        if self.is_recorded() && self.len() + columns.bytes(rows.clone()) > MOST_BYTES {
            return self.whole();
        }
        let mut from = rows.start;
        // They fill a chunk after another.
        self.write(|buffer| {
            for run in ids.chunk_by(|a, b| a.chunk() == b.chunk()) {
                buffer.insert_columns(table, run[0], columns, from..from + run.len());
                from += run.len();
            }
        });
    }

    /// Rows were deleted.
    pub fn delete(&mut self, table: ObjectId, rows: &[Option<RowId>]) {
        if rows.iter().any(Option::is_some) {
            self.write(|buffer| buffer.delete_some(table, rows));
        }
    }

    /// Rows of a table are in blocks now, or in others.
    pub fn held(&mut self, table: ObjectId) {
        self.write(|buffer| buffer.held(table));
    }

    /// All rows of a table were removed.
    pub fn truncate_table(&mut self, table: ObjectId) {
        self.write(|buffer| buffer.truncate_table(table));
    }

    /// The catalog is another one: how it came from the one before.
    pub fn catalog(&mut self, change: &[u8]) {
        self.write(|buffer| buffer.catalog(change));
    }

    /// Something was done that no record says.
    pub fn whole(&mut self) {
        self.is_whole = true;
        if let Some(buffer) = &mut self.buffer {
            *buffer = RedoBuffer::default();
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut RedoBuffer)) {
        let Some(buffer) = self.buffer.as_mut().filter(|_| !self.is_whole) else {
            return;
        };
        write(buffer);
        if buffer.len() > MOST_BYTES {
            self.whole();
        }
    }
}
