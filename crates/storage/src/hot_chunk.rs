//! A hot chunk: up to 65,536 uncompressed rows in memPAX(k), each cell written once.
//!
//! One writer appends beyond the rows that any version of the table shows; readers touch only rows
//! that their snapshot shows. No cell is read while it is written, so cells need no atomics: the
//! pointer swap that publishes a version orders the writes before every read. Rows of a transaction
//! that was rolled back stay behind as dead cells; the next append marks them deleted.
//! The chunk's memory is reserved whole and committed page by page as rows come, so nothing moves.

use crate::bounds::{ColumnBounds, Widening};
use crate::columns::Columns;
use crate::hot_layout::HotLayout;
use crate::string_arena::StringArena;
use frazil_kernels::{Plain, Strided};
use frazil_types::{CHUNK_ROWS, ColumnVector, Native, NativeType, Result, StringRef};
use frazil_vfs::AnonymousMapping;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes that the first row of a chunk may commit beyond its own: two huge pages.
const COMMITTED_AHEAD: usize = 4 << 20;

/// Uncompressed rows of a table.
#[derive(Debug)]
pub struct HotChunk {
    layout: Arc<HotLayout>,
    memory: AnonymousMapping,
    strings: StringArena,
    written: AtomicU32,
    has_nulls: Vec<AtomicBool>,
    /// Of each column over all rows written.
    bounds: Mutex<Vec<ColumnBounds>>,
}

impl HotChunk {
    /// An empty chunk.
    pub fn new(layout: Arc<HotLayout>) -> Result<HotChunk> {
        Ok(HotChunk {
            memory: AnonymousMapping::reserve(layout.chunk_bytes())?,
            strings: StringArena::default(),
            written: AtomicU32::new(0),
            has_nulls: (0..layout.columns()).map(|_| AtomicBool::new(false)).collect(),
            bounds: Mutex::new(vec![ColumnBounds::default(); layout.columns()]),
            layout,
        })
    }

    /// Says that the chunk will be filled. Where partitions are not much longer than a huge page its rows use the memory from
    /// front to back, and the system may take huge pages for it; longer ones would have it committed at once, by the first row.
    pub fn expect_to_fill(&self) {
        if self.layout.partition_bytes() <= COMMITTED_AHEAD {
            self.memory.expect_to_fill();
        }
    }

    /// Rows written so far, visible or not.
    pub fn written(&self) -> usize {
        self.written.load(Ordering::Acquire) as usize
    }

    /// Where its cells lie.
    pub fn layout(&self) -> &Arc<HotLayout> {
        &self.layout
    }

    /// Where the first partition begins.
    pub fn first_cell(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    /// Bytes its rows and strings take.
    pub fn bytes(&self) -> usize {
        let per_row: usize = (0..self.layout.columns())
            .map(|c| {
                self.layout.column(c).native.size() + usize::from(self.layout.column(c).validity.is_some())
            })
            .sum();
        self.written() * per_row + self.strings.bytes()
    }

    /// Bounds of `column` over all rows written, visible or not.
    pub fn bounds(&self, column: usize) -> ColumnBounds {
        self.lock_bounds()[column]
    }

    fn lock_bounds(&self) -> MutexGuard<'_, Vec<ColumnBounds>> {
        self.bounds.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Whether any row written to `column` is NULL.
    pub fn has_nulls(&self, column: usize) -> bool {
        self.has_nulls[column].load(Ordering::Acquire)
    }

    /// Pointer to the cell of `row`; the cells up to the run's end follow it.
    pub fn value_ptr(&self, column: usize, row: usize) -> *const u8 {
        debug_assert!(row < CHUNK_ROWS);
        self.memory
            .as_ptr()
            .wrapping_add(self.layout.value_offset(column, row))
    }

    /// Pointer to the validity byte of `row`; `None` when the column holds no NULL.
    pub fn validity_ptr(&self, column: usize, row: usize) -> Option<*const u8> {
        if !self.has_nulls(column) {
            return None;
        }
        let offset = self.layout.validity_offset(column, row)?;
        Some(self.memory.as_ptr().wrapping_add(offset).cast_const())
    }

    /// The values of `rows` in `column`, whatever partitions they lie in. Panics if `T` is not the column's
    /// native type or rows lie beyond those written.
    pub fn cells<T: Native + Plain>(&self, column: usize, rows: Range<usize>) -> Strided<'_, T> {
        assert_eq!(T::TYPE, self.layout.column(column).native);
        // SAFETY: the cells of these rows are of type T.
        unsafe { self.strided(self.layout.column(column).values, rows) }
    }

    /// The validity bytes (1: valid) of `rows` in `column`; `None` when the column holds no NULL.
    pub fn validity_cells(&self, column: usize, rows: Range<usize>) -> Option<Strided<'_, u8>> {
        let place = self.layout.column(column).validity;
        let place = place.filter(|_| self.has_nulls(column))?;
        // SAFETY: a byte a row.
        Some(unsafe { self.strided(place, rows) })
    }

    /// # Safety
    /// At `place` of each partition there are cells of type T.
    unsafe fn strided<T: Plain>(&self, place: usize, rows: Range<usize>) -> Strided<'_, T> {
        assert!(rows.start <= rows.end && rows.end <= self.written());
        let (partition, within) = self.layout.place(rows.start);
        let (k, stride) = (self.layout.rows_per_partition(), self.layout.partition_bytes());
        let first = self.first_cell().wrapping_add(partition * stride + place).cast();
        // SAFETY: the rows are written and never written again, their cells aligned to T and within the mapping.
        unsafe { Strided::new(first, k, stride, within, rows.len()) }
    }

    /// The validity bytes (1: valid) of `rows` in `column`, which must lie in one run; `None` when the
    /// column holds no NULL.
    pub fn validity(&self, column: usize, rows: Range<usize>) -> Option<&[u8]> {
        self.check(column, &rows);
        if rows.is_empty() {
            return None;
        }
        let start = self.validity_ptr(column, rows.start)?;
        // SAFETY: the rows are written and never written again; their validity bytes lie side by side in one run.
        Some(unsafe { std::slice::from_raw_parts(start, rows.len()) })
    }

    fn check(&self, _column: usize, rows: &Range<usize>) {
        assert!(rows.end <= self.written());
        assert!(rows.is_empty() || self.layout.run_end(rows.start, rows.end) == rows.end);
    }

    /// Appends rows `from..from + count` of columns that have the table's types, and widens the table's bounds by them.
    ///
    /// # Safety
    /// The caller is the one writer of the table, the count fits behind the rows written, and the
    /// strings of the columns are alive.
    pub unsafe fn append(
        &self,
        columns: Columns<'_>,
        from: usize,
        count: usize,
        mut widening: Option<Widening<'_>>,
    ) {
        let start = self.written();
        assert!(start + count <= CHUNK_ROWS);
        for (column, vector) in columns.iter().enumerate() {
            assert!(from + count <= vector.len());
            let mut done = 0;
            while done < count {
                let row = start + done;
                let run = self.layout.run_end(row, start + count) - row;
                // SAFETY: rows from `start` on are neither shown by any version nor written by others.
                unsafe { self.write_run(column, row, vector, from + done, run) };
                done += run;
            }
        }
        let mut bounds = self.lock_bounds();
        for (column, vector) in columns.iter().enumerate() {
            let rows = ColumnBounds::of(vector, from, from + count);
            bounds[column] = bounds[column].merge(rows);
            if let Some(widening) = &mut widening {
                widening.take_in(column, rows);
            }
        }
        drop(bounds);
        self.written.store((start + count) as u32, Ordering::Release);
    }

    /// # Safety
    /// As [`HotChunk::append`]; the rows lie in one run.
    unsafe fn write_run(&self, column: usize, row: usize, vector: &ColumnVector, from: usize, count: usize) {
        let place = self.layout.column(column);
        assert_eq!(place.native, vector.native());
        let to = self.value_ptr(column, row).cast_mut();
        if place.native == NativeType::String {
            let to = to.cast::<StringRef>();
            // NULL cells hold zero words in a vector: an empty inline string.
            let strings = &vector.values::<StringRef>()[from..from + count];
            // SAFETY: the cells are ours to write; the strings are alive by contract.
            unsafe { self.strings.copy_all(strings, |i, s| to.add(i).write(s)) };
        } else {
            let size = place.native.size();
            // SAFETY: `count` cells at `to` are ours to write; the vector holds `from + count` values.
            unsafe { std::ptr::copy_nonoverlapping(vector.as_ptr().add(from * size), to, count * size) };
        }
        if let Some(offset) = self.layout.validity_offset(column, row) {
            let bytes = self.memory.as_ptr().wrapping_add(offset);
            // SAFETY: the validity bytes of the same cells.
            unsafe { bytes.write_bytes(1, count) };
            let Some(nulls) = vector.nulls() else { return };
            for i in (0..count).filter(|&i| nulls.get(from + i)) {
                // SAFETY: as above.
                unsafe { bytes.add(i).write(0) };
                self.has_nulls[column].store(true, Ordering::Release);
            }
        }
    }
}
