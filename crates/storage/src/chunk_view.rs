//! The one way to the rows of a chunk, whatever its state: which of them a version shows, and what their values are.

use crate::bounds::ColumnBounds;
use crate::chunk::{Chunk, FrozenChunk};
use crate::deleted_rows::DeletedRows;
use crate::hot_chunk::HotChunk;
use crate::hot_layout::HotLayout;
use crate::read_chunk::copy_hot;
use frazil_block::ColumnBuffer;
use frazil_kernels::prefetch::prefetch_read;
use frazil_kernels::{Isa, Selection};
use frazil_types::{LogicalType, NativeType, Result, StringRef, Value};
use std::sync::Arc;

/// The rows that one version of a table shows of a chunk.
#[derive(Clone, Copy, Debug)]
pub struct ChunkView<'a> {
    chunk: &'a Arc<Chunk>,
    rows: u32,
    deleted: Option<&'a Arc<DeletedRows>>,
}

impl<'a> ChunkView<'a> {
    pub(crate) fn new(
        chunk: &'a Arc<Chunk>,
        rows: u32,
        deleted: Option<&'a Arc<DeletedRows>>,
    ) -> ChunkView<'a> {
        ChunkView { chunk, rows, deleted }
    }

    /// Row slots shown, those of deleted rows included: offsets are below.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Rows shown and not deleted.
    pub fn live_rows(&self) -> u32 {
        self.rows - self.deleted.map_or(0, |d| d.count())
    }

    /// The rows that are deleted; `None`: none. Versions that show the same ones may share them.
    pub fn deleted(&self) -> Option<&'a Arc<DeletedRows>> {
        self.deleted
    }

    /// Whether the row at an offset is deleted.
    #[inline]
    pub fn is_deleted(&self, offset: usize) -> bool {
        self.deleted.is_some_and(|d| d.contains(offset))
    }

    /// Clears the bits of deleted rows in the match bits of the rows from `first_word * 64` on.
    pub(crate) fn clear_deleted(&self, first_word: usize, words: &mut [u64]) {
        if let Some(deleted) = self.deleted {
            deleted.clear(first_word, words);
        }
    }

    /// Bounds of a column over all rows of the chunk, those that were deleted or are not shown included: of a
    /// block they are read off its SMA.
    pub fn bounds(&self, column: usize) -> ColumnBounds {
        match &**self.chunk {
            Chunk::Hot(hot) => hot.bounds(column),
            Chunk::Frozen(frozen) => ColumnBounds {
                range: frozen.block.int_bounds(column),
                nulls: u64::from(frozen.block.entry(column).null_count),
            },
        }
    }

    /// Unpacks the selected rows of a column, also deleted ones. Strings point into the chunk, or are transient and live
    /// in the buffer.
    pub(crate) fn read(
        &self,
        isa: Isa,
        column: usize,
        selection: Selection<'_>,
        out: &mut ColumnBuffer,
    ) -> Result<()> {
        match &**self.chunk {
            Chunk::Hot(hot) => {
                hot.prepare([column])?;
                copy_hot(isa, hot, column, self.rows as usize, selection, out);
                Ok(())
            }
            Chunk::Frozen(frozen) => frozen.block.unpack(isa, column, selection, out),
        }
    }

    /// Prefetches the cells of a row in some columns: they may be in as many cache lines, which are waited for
    /// together. The error of a column whose bytes are damaged.
    pub(crate) fn expect_cells(
        &self,
        columns: impl Iterator<Item = usize> + Clone,
        offset: u16,
    ) -> Result<()> {
        match &**self.chunk {
            Chunk::Hot(hot) => {
                columns.for_each(|column| prefetch_read(hot.cell(column, offset.into()).0));
                Ok(())
            }
            Chunk::Frozen(frozen) => frozen.block.expect_row(columns, offset),
        }
    }

    /// One value of a column, also of a deleted row, where it lies or in `out`; and its validity byte (1: valid), `None` if no row
    /// is NULL. A string points as those of [`ChunkView::read`] do.
    #[inline]
    pub(crate) fn cell(
        &self,
        column: usize,
        offset: u16,
        out: &mut ColumnBuffer,
    ) -> Result<(*const u8, Option<*const u8>)> {
        match &**self.chunk {
            Chunk::Hot(hot) => {
                hot.prepare([column])?;
                Ok(hot.cell(column, offset.into()))
            }
            Chunk::Frozen(frozen) => {
                frozen.block.value_into(column, offset, out)?;
                Ok((out.values_ptr(), out.validity_ptr()))
            }
        }
    }

    /// One value of a column of type `ty`, also of a deleted row.
    pub(crate) fn value(&self, column: usize, ty: LogicalType, offset: u16) -> Result<Value> {
        let mut buffer = ColumnBuffer::new();
        let (cell, validity) = self.cell(column, offset, &mut buffer)?;
        // SAFETY: the byte of the cell's row, which lives as long as the chunk and the buffer.
        if validity.is_some_and(|valid| unsafe { valid.read() } == 0) {
            return Ok(Value::Null);
        }
        // SAFETY: the cell is one of the column's native type, and lives as long; so do bytes that a string points to.
        Ok(unsafe {
            match ty.native() {
                NativeType::Bool => Value::Bool(cell.read() != 0),
                NativeType::I16 => Value::Int(cell.cast::<i16>().read().into()),
                NativeType::I32 => Value::Int(cell.cast::<i32>().read().into()),
                NativeType::I64 => Value::Int(cell.cast::<i64>().read().into()),
                NativeType::I128 => Value::from_wide(cell.cast::<i128>().read(), ty),
                NativeType::F64 => Value::Double(cell.cast::<f64>().read()),
                // The strings of a column of texts are UTF-8.
                NativeType::String => Value::of_string(cell.cast::<StringRef>().read().bytes(), ty),
            }
        })
    }

    /// Layout of the cells, if the chunk is hot.
    pub fn layout(&self) -> Option<&'a Arc<HotLayout>> {
        self.hot().map(HotChunk::layout)
    }

    /// The state of the chunk, for those who match or fetch its cells.
    pub(crate) fn state(&self) -> State<'a> {
        match &**self.chunk {
            Chunk::Hot(hot) => State::Hot(hot),
            Chunk::Frozen(frozen) => State::Frozen(frozen),
        }
    }

    /// The hot chunk, if it is one.
    pub(crate) fn hot(&self) -> Option<&'a HotChunk> {
        match self.state() {
            State::Hot(hot) => Some(hot),
            State::Frozen(_) => None,
        }
    }

    /// The memory of the chunk, if it is hot: generated code reads it where it lies.
    pub(crate) fn lend(&self) -> Option<Lease> {
        self.hot().map(|_| Lease {
            chunk: self.chunk.clone(),
        })
    }
}

/// A chunk, looked at.
#[derive(Clone, Copy)]
pub(crate) enum State<'a> {
    Hot(&'a HotChunk),
    Frozen(&'a FrozenChunk),
}

/// The memory of a hot chunk, which stays where it is as long as the lease lives. Cells of rows that the lender's view
/// shows are not written.
#[derive(Clone, Debug)]
pub struct Lease {
    /// A hot one.
    chunk: Arc<Chunk>,
}

impl Lease {
    fn hot(&self) -> &HotChunk {
        match &*self.chunk {
            Chunk::Hot(hot) => hot,
            Chunk::Frozen(_) => unreachable!("only hot chunks are lent"),
        }
    }

    /// Where the cells lie.
    pub fn layout(&self) -> &HotLayout {
        self.hot().layout()
    }

    /// Where the first partition begins.
    pub fn first_cell(&self) -> *const u8 {
        self.hot().first_cell()
    }

    /// Whether the rows have cells in `column`; else all have one value.
    pub fn has_cells(&self, column: usize) -> bool {
        self.hot().has_cells(column)
    }

    /// Pointer to the cell of `row` in `column`, which has cells; the cells up to the end of its partition follow.
    pub fn value_ptr(&self, column: usize, row: usize) -> *const u8 {
        self.hot().value_ptr(column, row)
    }

    /// Pointer to the validity byte (1: valid) of `row` in `column`, which has cells; `None` if the column holds no NULL.
    pub fn validity_ptr(&self, column: usize, row: usize) -> Option<*const u8> {
        self.hot().validity_ptr(column, row)
    }
}
