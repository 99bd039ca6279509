//! A hot chunk: up to 65,536 uncompressed rows in memPAX(k), each cell written once.
//!
//! Slots for rows are handed out in order, each once, and filled before the next one is: under the latch of the
//! chunk, so that a version that shows a number of slots shows written cells alone. Slots are beyond those that any
//! version of the table shows until they are filled; readers touch only slots that their snapshot shows. No cell is
//! read while it is written, so cells need no atomics: the pointer swap that publishes a version orders the writes
//! before every read. Slots of a transaction that was rolled back stay behind as dead cells; versions that show slots
//! behind them mark them.
//! The chunk's memory is reserved whole and committed page by page as rows come, so nothing moves.
//!
//! Columns that come to a table and go leave its cells where they are: [`HotChunk::showing`] makes another chunk of
//! the same cells, which shows some of their columns and, for those that the cells do not have, one value for all
//! rows. A chunk of lent rows ([`LentColumn`]) has no cells of its own. A column that was computed for all rows at
//! once ([`FilledCells`]) has cells beside those of the chunk.

use crate::bounds::{ColumnBounds, Widening};
use crate::columns::Columns;
use crate::filled_column::FilledCells;
use crate::hot_layout::HotLayout;
use crate::lent_cells::{LentCells, LentColumn};
use crate::string_arena::{StringArena, StringWriter};
use frazil_block::{Constant, ShownColumn};
use frazil_kernels::{Plain, Strided};
use frazil_types::{
    CHUNK_ROWS, ColumnVector, Disjunction, Error, Native, NativeType, READ_PADDING, Restriction, Result,
    Schema, StringRef, dispatch_native,
};
use frazil_vfs::AnonymousMapping;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Bytes that the first row of a chunk may commit beyond its own: two huge pages.
const COMMITTED_AHEAD: usize = 4 << 20;

/// Validity of a column that is NULL in all rows, with room to read beyond it.
static NULL: [u8; 1 + READ_PADDING] = [0; 1 + READ_PADDING];

/// Uncompressed rows of a table.
#[derive(Debug)]
pub struct HotChunk {
    /// Of the columns that are shown.
    layout: Arc<HotLayout>,
    cells: Arc<Cells>,
    /// Columns that were computed for all rows. Their positions follow those of the columns that the cells have.
    filled: Arc<[Arc<FilledCells>]>,
    /// The columns that are shown; `None`: those that the cells have.
    shown: Option<Arc<[HotColumn]>>,
}

/// A column that a chunk shows.
#[derive(Debug)]
pub(crate) enum HotColumn {
    /// The one at a position of the cells' layout.
    Stored(usize),
    /// The one at a position of [`HotChunk::filled`].
    Filled(usize),
    /// The value of all rows: a column of one row.
    Constant(ColumnVector),
    /// One whose cells lie elsewhere.
    Lent(Arc<LentColumn>),
}

/// The range of all values of a native type; `None` for those that have none.
fn unknown_range(native: NativeType) -> Option<(i128, i128)> {
    match native {
        NativeType::Bool => Some((0, 1)),
        NativeType::I16 => Some((i16::MIN.into(), i16::MAX.into())),
        NativeType::I32 => Some((i32::MIN.into(), i32::MAX.into())),
        NativeType::I64 => Some((i64::MIN.into(), i64::MAX.into())),
        NativeType::I128 => Some((i128::MIN, i128::MAX)),
        NativeType::F64 | NativeType::String => None,
    }
}

/// The memory of a chunk, whatever columns of it are shown.
#[derive(Debug)]
struct Cells {
    /// Where the cells lie, by the columns that they have.
    layout: Arc<HotLayout>,
    memory: AnonymousMapping,
    strings: StringArena,
    /// Held while slots are handed out and filled.
    latch: Mutex<()>,
    /// Slots handed out and filled.
    written: AtomicU32,
    has_nulls: Vec<AtomicBool>,
    /// Of each column over all rows written.
    bounds: Mutex<Vec<ColumnBounds>>,
}

impl HotChunk {
    /// An empty chunk.
    pub fn new(layout: Arc<HotLayout>) -> Result<HotChunk> {
        let cells = Cells {
            memory: AnonymousMapping::reserve(layout.chunk_bytes())?,
            strings: StringArena::default(),
            latch: Mutex::new(()),
            written: AtomicU32::new(0),
            has_nulls: (0..layout.columns()).map(|_| AtomicBool::new(false)).collect(),
            bounds: Mutex::new(vec![ColumnBounds::default(); layout.columns()]),
            layout: layout.clone(),
        };
        Ok(HotChunk {
            layout,
            cells: Arc::new(cells),
            filled: Arc::default(),
            shown: None,
        })
    }

    /// The same cells, of which these columns are shown; `layout` is [`HotChunk::layout_showing`] of them. Rows can be appended to
    /// a chunk that shows all of its cells' columns and no others.
    pub(crate) fn showing(&self, shown: Option<Arc<[HotColumn]>>, layout: Arc<HotLayout>) -> HotChunk {
        HotChunk {
            layout,
            cells: self.cells.clone(),
            filled: self.filled.clone(),
            shown,
        }
    }

    /// Returns a chunk of the same cells with columns that were computed for all rows. [`HotChunk::showing`] shows
    /// them.
    pub(crate) fn with_filled(&self, more: Vec<Arc<FilledCells>>) -> HotChunk {
        HotChunk {
            layout: self.cells.layout.clone(),
            cells: self.cells.clone(),
            filled: self.filled.iter().cloned().chain(more).collect(),
            shown: None,
        }
    }

    /// The column at a position of those that the chunk stores.
    pub(crate) fn stored_column(&self, position: usize) -> HotColumn {
        match position.checked_sub(self.cells.layout.columns()) {
            None => HotColumn::Stored(position),
            Some(filled) => HotColumn::Filled(filled),
        }
    }

    /// True if the chunk stores columns beside its cells.
    pub(crate) fn has_filled(&self) -> bool {
        !self.filled.is_empty()
    }

    /// The layout of the cells as one of other columns. An internal error for a position that the cells do not have.
    pub(crate) fn layout_showing(&self, columns: &[ShownColumn]) -> Result<Arc<HotLayout>> {
        let stored = self.cells.layout.columns();
        let in_cells = |column: &ShownColumn| match column {
            ShownColumn::Stored(position) => {
                let filled = position.checked_sub(stored).and_then(|at| self.filled.get(at));
                filled.map_or(column.clone(), |filled| {
                    ShownColumn::Constant(Constant::null(filled.native()))
                })
            }
            ShownColumn::Constant(_) => column.clone(),
        };
        let columns: Vec<ShownColumn> = columns.iter().map(in_cells).collect();
        let shown = self.cells.layout.showing(&columns);
        let shown =
            shown.ok_or_else(|| Error::internal("a chunk is to show a column that it does not have"))?;
        Ok(Arc::new(shown))
    }

    /// The layout of the cells: chunks that share it have the same columns.
    pub(crate) fn cell_layout(&self) -> &Arc<HotLayout> {
        &self.cells.layout
    }

    /// The value of all rows in `column`, a column of one row; `None` if the rows have cells there.
    #[inline]
    pub fn constant(&self, column: usize) -> Option<&ColumnVector> {
        match &self.shown.as_ref()?[column] {
            HotColumn::Constant(value) => Some(value),
            HotColumn::Stored(_) | HotColumn::Filled(_) | HotColumn::Lent(_) => None,
        }
    }

    /// Whether the rows have cells of the chunk in `column`.
    #[inline]
    pub fn has_cells(&self, column: usize) -> bool {
        match &self.shown {
            Some(shown) => matches!(shown[column], HotColumn::Stored(_)),
            None => true,
        }
    }

    /// The cells of a column that lie elsewhere, which must be prepared.
    #[inline]
    fn lent_cells(&self, column: usize) -> Option<&LentCells> {
        match &self.shown.as_ref()?[column] {
            HotColumn::Lent(lent) => Some(lent.cells()),
            HotColumn::Filled(position) => Some(self.filled[*position].cells()),
            HotColumn::Stored(_) | HotColumn::Constant(_) => None,
        }
    }

    /// Makes the cells of columns that lie elsewhere, so that they can be read. Errors of the lender.
    pub(crate) fn prepare(&self, columns: impl IntoIterator<Item = usize>) -> Result<()> {
        let Some(shown) = &self.shown else {
            return Ok(());
        };
        let lent = columns.into_iter().filter_map(|column| match &shown[column] {
            HotColumn::Lent(lent) => Some(lent).filter(|lent| lent.is_missing()),
            HotColumn::Stored(_) | HotColumn::Filled(_) | HotColumn::Constant(_) => None,
        });
        let mut missing: Vec<&Arc<LentColumn>> = lent.collect();
        while !missing.is_empty() {
            let free = missing.iter().position(|column| !column.is_busy());
            missing.remove(free.unwrap_or(0)).prepare()?;
        }
        Ok(())
    }

    /// A column of lent rows; `None` if none are.
    fn some_lent(&self) -> Option<&LentColumn> {
        match self.shown.as_ref()?.first()? {
            HotColumn::Lent(lent) => Some(lent),
            HotColumn::Stored(_) | HotColumn::Filled(_) | HotColumn::Constant(_) => None,
        }
    }

    /// Whether a lender of the rows knows that none satisfies all restrictions and disjunctions.
    pub(crate) fn rules_out(&self, restrictions: &[Restriction], disjunctions: &[Disjunction]) -> bool {
        (self.some_lent()).is_some_and(|lent| lent.rules_out(restrictions, disjunctions))
    }

    /// Whether a lender of the rows reads them on from those of the chunk before.
    pub(crate) fn reads_on(&self) -> bool {
        self.some_lent().is_some_and(LentColumn::reads_on)
    }

    /// A chunk of rows that lie elsewhere, of a layout that [`HotChunk::lent_layout`] gave.
    pub(crate) fn lent(rows: u32, columns: Vec<LentColumn>, layout: Arc<HotLayout>) -> Result<HotChunk> {
        let none = HotChunk::new(Arc::new(HotLayout::new(&Schema::default(), CHUNK_ROWS as u32)))?;
        none.cells.written.store(rows, Ordering::Release);
        let shown = columns
            .into_iter()
            .map(|column| HotColumn::Lent(Arc::new(column)));
        Ok(none.showing(Some(shown.collect()), layout))
    }

    /// The same chunk with cells of its own where rows are lent; `None` if none are.
    pub(crate) fn apart(&self) -> Option<HotChunk> {
        let shown = self.shown.as_ref()?;
        let column = |column: &HotColumn| match column {
            HotColumn::Lent(lent) => Some(HotColumn::Lent(match lent.apart() {
                Some(apart) => Arc::new(apart),
                None => lent.clone(),
            })),
            HotColumn::Stored(_) | HotColumn::Filled(_) | HotColumn::Constant(_) => None,
        };
        let shown = shown.iter().map(column).collect::<Option<Arc<[HotColumn]>>>()?;
        Some(self.showing(Some(shown), self.layout.clone()))
    }

    /// The layout of chunks of lent rows, whose columns have these native types.
    pub(crate) fn lent_layout(natives: &[NativeType]) -> Result<Arc<HotLayout>> {
        let none = HotChunk::new(Arc::new(HotLayout::new(&Schema::default(), CHUNK_ROWS as u32)))?;
        let shown = natives
            .iter()
            .map(|&native| ShownColumn::Constant(Constant::null(native)));
        none.layout_showing(&shown.collect::<Vec<_>>())
    }

    /// The position in the cells of a column that has cells.
    #[inline]
    fn stored(&self, column: usize) -> usize {
        match self.shown.as_ref().map(|shown| &shown[column]) {
            Some(HotColumn::Stored(position)) => *position,
            Some(HotColumn::Constant(_) | HotColumn::Filled(_) | HotColumn::Lent(_)) => {
                unreachable!("the column has no cells")
            }
            None => column,
        }
    }

    /// Says that the chunk will be filled. Where partitions are not much longer than a huge page its rows use the memory from
    /// front to back, and the system may take huge pages for it; longer ones would have it committed at once, by the first row.
    pub fn expect_to_fill(&self) {
        if self.layout.partition_bytes() <= COMMITTED_AHEAD {
            self.cells.memory.expect_to_fill();
        }
    }

    /// True if no other chunk shows the same cells.
    pub(crate) fn is_alone(&mut self) -> bool {
        Arc::get_mut(&mut self.cells).is_some()
    }

    /// Rows written so far, visible or not.
    pub fn written(&self) -> usize {
        self.cells.written.load(Ordering::Acquire) as usize
    }

    /// Where its cells lie.
    pub fn layout(&self) -> &Arc<HotLayout> {
        &self.layout
    }

    /// Where the first partition begins.
    pub fn first_cell(&self) -> *const u8 {
        self.cells.memory.as_ptr()
    }

    /// Bytes its rows and strings take, those of columns that are not shown included.
    pub fn bytes(&self) -> usize {
        let layout = &self.cells.layout;
        let per_row: usize = (0..layout.columns())
            .map(|c| layout.column(c).native.size() + usize::from(layout.column(c).validity.is_some()))
            .sum();
        let filled: usize = self.filled.iter().map(|filled| filled.bytes()).sum();
        self.written() * per_row + self.cells.strings.bytes() + filled
    }

    /// Bounds of `column` over all rows written, visible or not.
    pub fn bounds(&self, column: usize) -> ColumnBounds {
        if let Some(HotColumn::Filled(position)) = self.shown.as_ref().map(|shown| &shown[column]) {
            return self.filled[*position].bounds();
        }
        match self.constant(column) {
            Some(value) => ColumnBounds {
                nulls: if value.is_null(0) {
                    self.written() as u64
                } else {
                    0
                },
                ..ColumnBounds::of(value, 0, 1)
            },
            // Nothing is known of them.
            None if !self.has_cells(column) => ColumnBounds {
                range: unknown_range(self.layout.column(column).native),
                nulls: 1,
            },
            None => self.lock_bounds()[self.stored(column)],
        }
    }

    fn lock_bounds(&self) -> MutexGuard<'_, Vec<ColumnBounds>> {
        self.cells.bounds.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Whether any row written to `column` is NULL.
    pub fn has_nulls(&self, column: usize) -> bool {
        match self.constant(column) {
            Some(value) => value.is_null(0),
            None if !self.has_cells(column) => self.validity_ptr(column, 0).is_some(),
            None => self.cells.has_nulls[self.stored(column)].load(Ordering::Acquire),
        }
    }

    /// Pointer to the value of `row`. Where the column has cells, those up to the run's end follow it.
    pub fn value_ptr(&self, column: usize, row: usize) -> *const u8 {
        debug_assert!(row < CHUNK_ROWS);
        if let Some(value) = self.constant(column) {
            return value.as_ptr();
        }
        if let Some(lent) = self.lent_cells(column) {
            return lent.value_ptr(row);
        }
        let offset = self.layout.value_offset(column, row);
        self.first_cell().wrapping_add(offset)
    }

    /// Pointer to the validity byte of `row`; `None` when the column holds no NULL. Where the column has cells, those up to the
    /// run's end follow it.
    pub fn validity_ptr(&self, column: usize, row: usize) -> Option<*const u8> {
        if let Some(lent) = self.lent_cells(column) {
            return lent.validity_ptr(row);
        }
        if !self.has_nulls(column) {
            return None;
        }
        if self.constant(column).is_some() {
            return Some(NULL.as_ptr());
        }
        let offset = self.layout.validity_offset(column, row)?;
        Some(self.first_cell().wrapping_add(offset))
    }

    /// What [`HotChunk::value_ptr`] and [`HotChunk::validity_ptr`] give for a row.
    #[inline]
    pub fn cell(&self, column: usize, row: usize) -> (*const u8, Option<*const u8>) {
        if self.shown.is_some() {
            return (self.value_ptr(column, row), self.validity_ptr(column, row));
        }
        debug_assert!(row < CHUNK_ROWS);
        let place = self.layout.column(column);
        let (partition, within) = self.layout.place(row);
        let first = self
            .first_cell()
            .wrapping_add(partition * self.layout.partition_bytes());
        let value = first.wrapping_add(place.values + within * place.native.size());
        let has_nulls = || self.cells.has_nulls[column].load(Ordering::Acquire);
        let validity = place.validity.filter(|_| has_nulls());
        (value, validity.map(|start| first.wrapping_add(start + within)))
    }

    /// The values of `rows` in `column`, whatever partitions they lie in. Panics if `T` is not the column's
    /// native type, rows lie beyond those written, or there are several of a constant.
    pub fn cells<T: Native + Plain>(&self, column: usize, rows: Range<usize>) -> Strided<'_, T> {
        assert_eq!(T::TYPE, self.layout.column(column).native);
        if let Some(value) = self.constant(column) {
            assert!(rows.len() <= 1);
            // SAFETY: the column has one value of type T, which lives as long as the chunk.
            return unsafe { Strided::new(value.as_ptr().cast(), 1, 0, 0, rows.len()) };
        }
        if let Some(lent) = self.lent_cells(column) {
            assert!(rows.start <= rows.end && rows.end <= self.written());
            // SAFETY: the lender has a cell of type T for each row written, side by side, which live as long as the chunk.
            return unsafe { Strided::new(lent.value_ptr(0).cast(), CHUNK_ROWS, 0, rows.start, rows.len()) };
        }
        // SAFETY: the cells of these rows are of type T.
        unsafe { self.strided(self.layout.column(column).values, rows) }
    }

    /// The validity bytes (1: valid) of `rows` in `column`; `None` when the column holds no NULL. Panics for several rows of a
    /// constant.
    pub fn validity_cells(&self, column: usize, rows: Range<usize>) -> Option<Strided<'_, u8>> {
        if let Some(value) = self.constant(column) {
            assert!(rows.len() <= 1);
            // SAFETY: a byte that is never written.
            let null = || unsafe { Strided::new(NULL.as_ptr(), 1, 0, 0, rows.len()) };
            return value.is_null(0).then(null);
        }
        if let Some(lent) = self.lent_cells(column) {
            assert!(rows.start <= rows.end && rows.end <= self.written());
            let first = lent.validity_ptr(0)?;
            // SAFETY: there is a byte for each row written, side by side, and they live as long as the chunk.
            return Some(unsafe { Strided::new(first, CHUNK_ROWS, 0, rows.start, rows.len()) });
        }
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

    /// The validity bytes (1: valid) of `rows` in `column`, which must lie in one run; `None` when the column holds no NULL. Panics
    /// for several rows of a constant.
    pub fn validity(&self, column: usize, rows: Range<usize>) -> Option<&[u8]> {
        self.check(column, &rows);
        if rows.is_empty() {
            return None;
        }
        let start = self.validity_ptr(column, rows.start)?;
        assert!(rows.len() == 1 || self.constant(column).is_none());
        // SAFETY: the rows are written and never written again; their validity bytes lie side by side in one run.
        Some(unsafe { std::slice::from_raw_parts(start, rows.len()) })
    }

    fn check(&self, _column: usize, rows: &Range<usize>) {
        assert!(rows.end <= self.written());
        assert!(rows.is_empty() || self.layout.run_end(rows.start, rows.end) == rows.end);
    }

    /// True if rows of these columns can be appended: the cells are those of the columns, and there are cells for
    /// NULLs that the columns allow.
    pub(crate) fn takes(&self, schema: &Schema) -> bool {
        let columns = schema.columns.iter().enumerate();
        self.shown.is_none()
            && self.layout.columns() == schema.columns.len()
            && columns.into_iter().all(|(i, column)| {
                let place = self.layout.column(i);
                place.native == column.ty.native() && (place.validity.is_some() || !column.nullable)
            })
    }

    /// Takes the next slots for the rows from `from` on of columns that have the table's types, `most` rows or as
    /// many as fit, fills the slots, and widens the table's bounds by the rows. Returns the slots. Panics if other
    /// columns are shown than the cells have.
    ///
    /// # Safety
    /// The strings of the columns are alive.
    pub unsafe fn append(
        &self,
        columns: Columns<'_>,
        from: usize,
        most: usize,
        widening: Option<Widening<'_>>,
    ) -> Range<usize> {
        let _latch = self.cells.latch.lock().unwrap_or_else(|e| e.into_inner());
        let start = self.written();
        let slots = start..start + most.min(CHUNK_ROWS - start);
        // SAFETY: the strings are alive by contract. No version shows slots that were not handed out, and nobody else
        // hands any out under the latch.
        unsafe { self.write_rows(start, columns, from..from + slots.len(), widening) };
        slots
    }

    /// Writes the first `count` rows of columns to the slots from `start` on, some of which may have been filled
    /// before. Panics as [`HotChunk::append`], or if there are no such slots.
    ///
    /// # Safety
    /// Nobody else writes the chunk, and nobody else reads it if some of the slots were filled before. The strings of
    /// the columns are alive.
    pub(crate) unsafe fn fill(
        &self,
        start: usize,
        columns: Columns<'_>,
        count: usize,
        widening: Option<Widening<'_>>,
    ) {
        assert!(start <= self.written());
        // SAFETY: by contract.
        unsafe { self.write_rows(start, columns, 0..count, widening) };
    }

    /// Writes rows of columns to the slots from `start` on.
    ///
    /// # Safety
    /// The strings of the columns are alive; nobody else reads or writes the slots, or hands some out.
    unsafe fn write_rows(
        &self,
        start: usize,
        columns: Columns<'_>,
        rows: Range<usize>,
        mut widening: Option<Widening<'_>>,
    ) {
        let (from, count) = (rows.start, rows.len());
        assert!(start + count <= CHUNK_ROWS && self.shown.is_none());
        assert!(columns.iter().all(|vector| from + count <= vector.len()));
        let mut strings = self.cells.strings.writer();
        let mut done = 0;
        while done < count {
            let row = start + done;
            let (partition, within) = self.layout.place(row);
            let run = (count - done).min(self.layout.rows_per_partition() - within);
            let first = partition * self.layout.partition_bytes();
            let first = self.first_cell().cast_mut().wrapping_add(first);
            for (column, vector) in columns.iter().enumerate() {
                let rows = from + done..from + done + run;
                // SAFETY: the slots are ours to write by contract.
                unsafe { self.write_run(column, (first, within), (vector, rows), &mut strings) };
            }
            done += run;
        }
        drop(strings);
        let mut bounds = self.lock_bounds();
        for (column, vector) in columns.iter().enumerate() {
            let rows = ColumnBounds::of(vector, from, from + count);
            bounds[column].take_in(rows);
            if let Some(widening) = &mut widening {
                widening.take_in(column, rows);
            }
        }
        drop(bounds);
        let written = self.written().max(start + count);
        self.cells.written.store(written as u32, Ordering::Release);
    }

    /// Writes some rows of a vector to the partition that begins at `first`, to the row `within` and those behind it.
    ///
    /// # Safety
    /// As [`HotChunk::write_rows`]; the rows lie in one run.
    unsafe fn write_run(
        &self,
        column: usize,
        (first, within): (*mut u8, usize),
        (vector, rows): (&ColumnVector, Range<usize>),
        strings: &mut StringWriter<'_>,
    ) {
        let place = self.layout.column(column);
        assert_eq!(place.native, vector.native());
        let to = first.wrapping_add(place.values);
        dispatch_native!(place.native, T => {
            let to = to.cast::<T>().wrapping_add(within);
            let values = &vector.values::<T>()[rows.clone()];
            match values {
                // Its size is known.
                // SAFETY: the cell is ours to write.
                [value] if T::TYPE != NativeType::String => unsafe { to.write(*value) },
                // SAFETY: as many cells at `to` are ours to write.
                _ if T::TYPE != NativeType::String => unsafe {
                    std::ptr::copy_nonoverlapping(values.as_ptr(), to, values.len());
                },
                _ => {
                    let to = to.cast::<StringRef>();
                    // NULL cells hold zero words in a vector: an empty inline string.
                    let values = &vector.values::<StringRef>()[rows.clone()];
                    // SAFETY: the cells are ours to write; the strings are alive by contract.
                    unsafe { strings.copy_all(values, |i, s| to.add(i).write(s)) };
                }
            }
        });
        let Some(validity) = place.validity else { return };
        let bytes = first.wrapping_add(validity + within);
        let Some(nulls) = vector.nulls() else {
            // SAFETY: the validity bytes of the same cells.
            unsafe { bytes.write_bytes(1, rows.len()) };
            return;
        };
        for (i, row) in rows.enumerate() {
            let is_null = nulls.get(row);
            // SAFETY: as above.
            unsafe { bytes.add(i).write(u8::from(!is_null)) };
            if is_null {
                self.cells.has_nulls[column].store(true, Ordering::Release);
            }
        }
    }
}
