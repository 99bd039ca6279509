//! Chunks that one transaction fills: they are frozen as soon as they are full, and the log names their blocks instead of
//! their rows. So a bulk load compresses its rows once, whatever statement it comes by, and its record is small.
//!
//! Only where there is a log: in memory rows stay hot until they are cold. Only chunks that the transaction began, with nothing
//! between their rows in its redo: what was there before belongs to others, and a savepoint is a length of the redo. A chunk whose rows
//! would be too much for a record is frozen before it is full. What the table's options refuse stays hot, and its rows stand in
//! the record.

use crate::freeze::Freezer;
use crate::table_writer::TableWriter;
use frazil_types::{CHUNK_ROWS, Result, SqlState};
use std::ops::Range;
use std::sync::Arc;

impl TableWriter<'_> {
    /// As many of these rows as are appended in one go: with a log, those that one chunk takes.
    pub(crate) fn rows_at_once(&mut self, rows: Range<usize>) -> Result<Range<usize>> {
        if !self.transaction().redo().is_recorded() {
            return Ok(rows);
        }
        let room = match self.current()?.tail() {
            Some(tail) if !tail.is_full() => tail.room(),
            _ => CHUNK_ROWS,
        };
        Ok(rows.start..rows.end.min(rows.start + room))
    }

    /// Freezes the tail and names its block instead of its rows. Returns whether it could be frozen; else it is as it was.
    pub(crate) fn freeze_filled(&mut self) -> Result<bool> {
        let version = self.current()?.clone();
        let Some(tail) = version.tail() else {
            return Ok(false);
        };
        let held = match Freezer::of_table(&version).hold(&version, tail) {
            Ok(held) => held,
            // What FREEZE TABLE refuses, or what a defect of an encoder makes of it, must be kept all the same.
            Err(e) if matches!(e.state(), SqlState::INVALID_PARAMETER | SqlState::INTERNAL_ERROR) => {
                return Ok(false);
            }
            Err(e) => return Err(e),
        };
        let (number, hot, frozen) = (held.number(), tail.chunk().clone(), held.chunk().clone());
        drop(version);
        let table = self.table();
        let (next, changes) = self.transaction().rows_mut(table)?;
        let (tail, held) = (next.tail().cloned(), Arc::new(held));
        next.join(held.clone(), false);
        changes.sealed(table, held, tail);
        self.transaction().note_held(&hot, &frozen);
        self.transaction().redo().forget_filled();
        self.transaction().note_block(table, number)?;
        Ok(true)
    }
}
