//! Stops a transaction that writes much: when its statement is cancelled, or at the limit of memory.

use frazil_types::{Cancel, Reservation, Result};

/// Rows that are written between two looks at the flag that cancels.
const ROWS_UNWATCHED: usize = 1 << 10;
/// Bytes that are written between two looks at the limit of memory.
const BYTES_UNWATCHED: usize = 64 << 10;

/// Watches a transaction that writes much.
#[derive(Debug)]
pub(crate) struct Watch {
    cancel: Cancel,
    /// Bytes of new rows and entries, until the transaction ends: then they are the table's.
    memory: Reservation,
    /// Rows and bytes since they were last looked at.
    rows: usize,
    bytes: usize,
    /// Bytes of redo that are counted.
    redo: usize,
}

impl Watch {
    /// Watches a transaction from its first row on.
    pub fn new(cancel: Cancel, memory: Reservation) -> Watch {
        Watch {
            cancel,
            memory,
            rows: 0,
            bytes: 0,
            redo: 0,
        }
    }

    /// Counts the memory that the transaction writes.
    pub fn memory(&mut self) -> &mut Reservation {
        &mut self.memory
    }

    /// Notes that `rows` rows of `bytes` bytes, estimated, were written; the transaction has `redo` bytes of redo now.
    /// 57014, 53200.
    pub fn wrote(&mut self, rows: usize, bytes: usize, redo: usize) -> Result<()> {
        self.rows += rows;
        self.bytes += bytes;
        if self.bytes >= BYTES_UNWATCHED {
            self.memory.grow(std::mem::take(&mut self.bytes))?;
        }
        if redo >= self.redo + BYTES_UNWATCHED {
            self.memory.grow(redo - self.redo)?;
            self.redo = redo;
        } else if redo < self.redo {
            // A savepoint was returned to, or redo was written to a file.
            self.memory.shrink(self.redo - redo);
            self.redo = redo;
        }
        if self.rows >= ROWS_UNWATCHED {
            self.rows = 0;
            self.cancel.check()?;
        }
        Ok(())
    }
}
