//! What an UPDATE of one row leaves as it is, in columns of one row that serve the table's next such UPDATE, too: making columns and
//! throwing them away took a sixth of its instructions.

use crate::chunk::Chunk;
use crate::chunk_entry::ChunkEntry;
use frazil_block::ColumnBuffer;
use frazil_kernels::prefetch::prefetch_read;
use frazil_types::{ColumnVector, Native, NativeType, Result, Schema, StringRef, dispatch_native};
use std::sync::{Arc, Mutex};

/// Bytes of a string for which no memory is kept.
const LONG: usize = 64 << 10;

/// Columns of one row, for one statement after the other.
#[derive(Debug)]
pub(crate) struct KeptRow {
    /// One for each column of the table, for values that do not lie in the chunk as they are.
    buffers: Vec<ColumnBuffer>,
    /// One for each column of the table, of one row. Those that the UPDATE sets mean nothing.
    columns: Vec<ColumnVector>,
    /// The chunk of the row: strings point into it, or into `buffers`.
    chunk: Option<Arc<Chunk>>,
    /// Whether a long string lies in a buffer, which keeps its memory.
    has_long: bool,
}

/// Where a table's row of kept columns waits for the next UPDATE.
#[derive(Debug, Default)]
pub(crate) struct SpareRow(Mutex<Option<Box<KeptRow>>>);

impl SpareRow {
    /// The row, if it is there.
    pub fn take(&self) -> Option<Box<KeptRow>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).take()
    }

    /// Puts a row back.
    pub fn put(&self, row: Box<KeptRow>) {
        *self.0.lock().unwrap_or_else(|e| e.into_inner()) = Some(row);
    }
}

impl KeptRow {
    /// For rows of a table with these columns.
    pub fn new(schema: &Schema) -> KeptRow {
        let columns = schema.columns.iter();
        KeptRow {
            buffers: columns.clone().map(|_| ColumnBuffer::new()).collect(),
            columns: columns.map(|def| ColumnVector::zeroed(def.ty, 1)).collect(),
            chunk: None,
            has_long: false,
        }
    }

    /// The columns, of one row. Those that the UPDATE sets mean nothing.
    pub fn columns(&self) -> &[ColumnVector] {
        &self.columns
    }

    /// Fetches the columns that are not among `set` of a row of a chunk, also of a deleted one.
    pub fn fetch(&mut self, entry: &ChunkEntry, offset: u16, set: &[usize]) -> Result<()> {
        let view = entry.view();
        self.chunk = Some(entry.chunk().clone());
        let is_kept = |place: &usize| !set.contains(place);
        view.expect_cells((0..self.columns.len()).filter(is_kept), offset)?;
        let columns = self.columns.iter_mut().zip(&mut self.buffers).enumerate();
        for (place, (column, buffer)) in columns.filter(|(place, _)| is_kept(place)) {
            let (value, validity) = view.cell(place, offset, buffer)?;
            // SAFETY: the byte of a row that was written.
            let is_null = validity.is_some_and(|valid| unsafe { valid.read() } == 0);
            if column.nulls().is_some() {
                *column = ColumnVector::zeroed(column.ty(), 1);
            }
            // SAFETY: the value has the column's type, and what it lies in is kept until the next fetch.
            dispatch_native!(column.native(), T => unsafe { put::<T>(column, value, is_null) });
            if column.native() == NativeType::String && view.hot().is_none() {
                self.has_long |= column.values::<StringRef>()[0].len() > LONG;
            }
        }
        Ok(())
    }

    /// Nobody reads the row any more: gives back what it keeps, but for the columns.
    pub fn rest(&mut self) {
        self.chunk = None;
        if std::mem::take(&mut self.has_long) {
            self.buffers.fill_with(ColumnBuffer::new);
        }
    }
}

/// Makes a value the only one of a column; that of NULL is zero.
///
/// # Safety
/// The value is of type `T`, and its string is alive.
unsafe fn put<T: Native>(column: &mut ColumnVector, value: *const u8, is_null: bool) {
    if is_null {
        column.values_mut::<T>()[0] = T::default();
        column.set_null(0);
        return;
    }
    if T::TYPE == NativeType::String {
        // SAFETY: by contract. A string in a buffer is transient, one in a column is not.
        column.values_mut::<StringRef>()[0] = unsafe {
            let string = value.cast::<StringRef>().read();
            if !string.is_inline() {
                // The row that is written gets a copy.
                prefetch_read(string.bytes().as_ptr());
            }
            if string.is_transient() {
                StringRef::new(string.bytes())
            } else {
                string
            }
        };
        return;
    }
    // SAFETY: by contract.
    column.values_mut::<T>()[0] = unsafe { value.cast::<T>().read() };
}
