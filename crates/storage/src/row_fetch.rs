//! Rows by their ids, whole or some of their columns: an UPDATE fetches what it leaves as it is, and an error of a unique key the
//! key.
//!
//! A scan reads few columns of many rows, this reads all columns of few rows, in any order: the access
//! that row layout is for (Runtime Fragility, section 5.3: tuple reconstruction). Rows are fetched a group at a
//! time, and within a group column by column: the cells of a group are independent of each other, so that the
//! core waits for many of them at once, and the lines of a row that hold several columns are in its
//! cache when the next column comes.

use crate::chunk::Chunk;
use crate::chunk_entry::ChunkEntry;
use crate::chunk_view::State;
use crate::hot_layout::HotLayout;
use crate::snapshot::TableSnapshot;
use frazil_block::ColumnBuffer;
use frazil_kernels::prefetch::prefetch_read;
use frazil_kernels::{Isa, Selection};
use frazil_types::{ColumnVector, Native, NativeType, Result, RowBatch, RowId, StringRef, dispatch_native};
use std::sync::Arc;

/// Rows of a group: few enough for the lines of all their cells to stay in the core's cache.
const GROUP: usize = 64;
/// So many rows are fetched with all of their cells asked for at once.
const FEW_ROWS: usize = 4;

/// Fetches rows of one version of a table.
#[derive(Clone, Copy, Debug)]
pub struct RowFetch<'a> {
    version: &'a TableSnapshot,
}

/// Where a row lies.
#[derive(Clone, Copy)]
struct Place<'a> {
    entry: &'a ChunkEntry,
    offset: usize,
    /// Of a hot row, its partition.
    cells: *const u8,
    /// Its number there.
    within: usize,
}

impl<'a> RowFetch<'a> {
    /// Rows of this version.
    pub fn new(version: &'a TableSnapshot) -> RowFetch<'a> {
        RowFetch { version }
    }

    /// All columns of these rows, in the order of the ids, of which one may come several times. A row that this
    /// version shows as deleted is fetched like any other. An id that names no row is an internal error.
    pub fn fetch(&self, ids: &[RowId]) -> Result<RowBatch> {
        let every: Vec<usize> = (0..self.version.schema().columns.len()).collect();
        self.fetch_columns(ids, &every)
    }

    /// The same of some columns, given by their positions.
    pub fn fetch_columns(&self, ids: &[RowId], columns: &[usize]) -> Result<RowBatch> {
        let types = columns.iter().map(|&c| self.version.schema().columns[c].ty);
        let mut vectors: Vec<ColumnVector> = types.map(|ty| ColumnVector::zeroed(ty, ids.len())).collect();
        let mut strings = Strings::new();
        let mut places = Vec::with_capacity(GROUP.min(ids.len()));
        for (group, ids) in ids.chunks(GROUP).enumerate() {
            places.clear();
            for &id in ids {
                places.push(self.place(id)?);
            }
            let layout = common_layout(&places);
            if let Some(layout) = layout {
                prefetch(layout, &places, columns);
            }
            for (&index, column) in columns.iter().zip(&mut vectors) {
                match layout {
                    Some(layout) => copy_hot(column, layout, index, &places, group * GROUP),
                    None => self.copy_one_by_one((column, &mut strings), index, &places, group * GROUP)?,
                }
            }
        }
        self.keep_strings(ids, &mut vectors, strings);
        Ok(RowBatch {
            columns: vectors,
            rows: ids.len(),
        })
    }

    /// Lets columns of strings keep alive what these point to.
    fn keep_strings(&self, ids: &[RowId], vectors: &mut [ColumnVector], strings: Strings) {
        let mut columns = (vectors.iter_mut()).filter(|vector| vector.native() == StringRef::TYPE);
        let Some(first) = columns.next() else { return };
        self.chunks_of(ids)
            .into_iter()
            .for_each(|chunk| first.keep(chunk));
        if !strings.is_empty() {
            first.keep(Arc::new(strings));
        }
        for column in columns {
            first.heaps().iter().for_each(|heap| column.keep(heap.clone()));
        }
    }

    /// The chunks of these rows: strings point into them.
    fn chunks_of(&self, ids: &[RowId]) -> Vec<Arc<Chunk>> {
        if let &[id] = ids {
            let entry = self.version.entry(id.chunk());
            return entry.map(|entry| entry.chunk().clone()).into_iter().collect();
        }
        let mut numbers: Vec<u32> = ids.iter().map(|id| id.chunk()).collect();
        numbers.dedup();
        numbers.sort_unstable();
        numbers.dedup();
        (numbers.into_iter())
            .filter_map(|number| Some(self.version.entry(number)?.chunk().clone()))
            .collect()
    }

    fn place(&self, id: RowId) -> Result<Place<'a>> {
        let entry = self.version.written_row(id)?.entry();
        let offset = usize::from(id.offset());
        let (cells, within) = match entry.view().state() {
            State::Hot(hot) => {
                let (partition, within) = hot.layout().place(offset);
                let distance = partition * hot.layout().partition_bytes();
                (hot.first_cell().wrapping_add(distance), within)
            }
            State::Frozen(_) => (std::ptr::null(), 0),
        };
        Ok(Place {
            entry,
            offset,
            cells,
            within,
        })
    }

    /// Rows of blocks, or of chunks that are laid out differently.
    fn copy_one_by_one(
        &self,
        (column, strings): (&mut ColumnVector, &mut Strings),
        index: usize,
        places: &[Place<'_>],
        from: usize,
    ) -> Result<()> {
        for (i, place) in places.iter().enumerate() {
            match place.entry.view().state() {
                State::Hot(hot) => match hot.constant(index) {
                    Some(value) => copy_constant(column, value, from + i),
                    None if !hot.has_cells(index) => copy_lent((column, strings), index, place, from + i)?,
                    None => copy_hot(column, hot.layout(), index, std::slice::from_ref(place), from + i),
                },
                State::Frozen(frozen) => {
                    let mut one = ColumnBuffer::new();
                    (frozen.block.value_into(index, place.offset as u16, &mut one))
                        .map_err(|e| place.entry.blame(self.version.table().entry(), e))?;
                    copy_value((column, strings), &one, from + i);
                }
            }
        }
        Ok(())
    }
}

/// The layout of all these rows, if all are hot, laid out alike, and have cells in every column.
fn common_layout<'a>(places: &[Place<'a>]) -> Option<&'a HotLayout> {
    let first = places.first()?.entry.view().layout()?;
    let same = |place: &Place<'_>| {
        let layout = place.entry.view().layout();
        layout.is_some_and(|l| Arc::ptr_eq(l, first) || l.fingerprint() == first.fingerprint())
    };
    (first.is_whole() && places.iter().all(same)).then_some(&**first)
}

/// Asks for the lines of rows that lie whole in partitions of a few lines, and for the cells of a few rows that do not: of many rows
/// the cells of a column are waited for together, of few those of all columns should be.
fn prefetch(layout: &HotLayout, places: &[Place<'_>], columns: &[usize]) {
    const LINE: usize = 64;
    if layout.rows_per_partition() == 1 {
        for place in places {
            for line in 0..layout.partition_bytes().div_ceil(LINE) {
                prefetch_read(place.cells.wrapping_add(line * LINE));
            }
        }
    } else if places.len() <= FEW_ROWS {
        for place in places {
            for column in columns.iter().map(|&c| layout.column(c)) {
                let distance = column.values + place.within * column.native.size();
                prefetch_read(place.cells.wrapping_add(distance));
                if let Some(validity) = column.validity {
                    prefetch_read(place.cells.wrapping_add(validity + place.within));
                }
            }
        }
    }
}

/// Asks for the bytes of strings that do not lie in their cells: whoever fetches rows is going to copy them.
fn prefetch_strings(strings: &[StringRef]) {
    for string in strings.iter().filter(|string| !string.is_inline()) {
        // SAFETY: the bytes lie in the chunk, which the version keeps alive.
        prefetch_read(unsafe { string.bytes() }.as_ptr());
    }
}

/// Bytes of strings that do not lie in the table.
type Strings = Vec<Box<[u8]>>;

/// The cells of a column of hot rows.
fn copy_hot(out: &mut ColumnVector, layout: &HotLayout, column: usize, places: &[Place<'_>], from: usize) {
    let place_of = layout.column(column);
    dispatch_native!(place_of.native, T => {
        let out = &mut out.values_mut::<T>()[from..from + places.len()];
        for (to, place) in out.iter_mut().zip(places) {
            let cells = place.cells.wrapping_add(place_of.values).cast::<T>();
            // SAFETY: the row was written and is never written again; its cell, aligned to T, is that many
            // behind the first one of the column in its partition, within the chunk's mapping.
            *to = unsafe { cells.wrapping_add(place.within).read() };
        }
    });
    if place_of.native == StringRef::TYPE {
        prefetch_strings(&out.values::<StringRef>()[from..from + places.len()]);
    }
    for (i, place) in places.iter().enumerate() {
        let hot = place.entry.view().hot().filter(|hot| hot.has_nulls(column));
        let validity = hot.and_then(|hot| hot.validity(column, place.offset..place.offset + 1));
        if validity.is_some_and(|v| v[0] == 0) {
            out.set_null(from + i);
        }
    }
}

/// The cell of a row that lies elsewhere.
fn copy_lent(
    out: (&mut ColumnVector, &mut Strings),
    column: usize,
    place: &Place<'_>,
    row: usize,
) -> Result<()> {
    let mut one = ColumnBuffer::new();
    let offset = [place.offset as u16];
    let selection = Selection::Positions(&offset);
    (place.entry.view()).read(Isa::detect(), column, selection, &mut one)?;
    copy_value(out, &one, row);
    Ok(())
}

/// The only value of a column that the chunk keeps.
fn copy_constant(out: &mut ColumnVector, value: &ColumnVector, row: usize) {
    if value.is_null(0) {
        return out.set_null(row);
    }
    dispatch_native!(value.native(), T => out.values_mut::<T>()[row] = value.values::<T>()[0]);
}

/// The only value of a buffer.
fn copy_value((out, strings): (&mut ColumnVector, &mut Strings), one: &ColumnBuffer, row: usize) {
    if one.validity().is_some_and(|v| v[0] == 0) {
        return out.set_null(row);
    }
    if one.native() != NativeType::String {
        dispatch_native!(one.native(), T => out.values_mut::<T>()[row] = one.values::<T>()[0]);
        return;
    }
    // Its bytes may lie in the buffer.
    // SAFETY: the buffer and the block are alive.
    let bytes: Box<[u8]> = unsafe { one.values::<StringRef>()[0].bytes() }.into();
    // SAFETY: the bytes stay where they are, which the columns keep alive in the end.
    out.values_mut::<StringRef>()[row] = unsafe { StringRef::new(&bytes) };
    strings.push(bytes);
}
