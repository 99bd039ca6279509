//! One worker's way through the chunks of a scan.
//!
//! A chunk is matched window by window into one bitmap of the whole chunk; a vector is a run of words
//! of that bitmap with at most `stage_rows` survivors, so sparse windows are gathered until a vector is
//! dense, and no vector crosses a chunk. The form in which survivors are fetched follows their density:
//! a whole range (lent from the chunk where its values lie uncompressed), bits, or positions. Nothing
//! is unpacked before it is fetched and nothing is allocated per vector.

use crate::chunk::{Chunk, ChunkSlot};
use crate::hot_chunk::HotChunk;
use crate::hot_match::MatchScratch;
use crate::row_id::RowId;
use crate::table_scan::{ScanCounters, TableScan};
use crate::vector_buffer::VectorBuffer;
use frazil_kernels::compare::Combine;
use frazil_kernels::{Isa, Selection, positions, unpack};
use frazil_types::{CHUNK_ROWS, Native, Result, dispatch_native};
use std::sync::Arc;

/// Above one survivor in this many rows, unpacking by bits beats unpacking by position.
const DENSE: usize = 12;

/// Where the rows of the current vector lie in their chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions<'a> {
    /// Consecutive rows from this one on.
    Range(u32),
    /// These, ascending.
    List(&'a [u16]),
}

/// A column of the current vector: row `i` is at `i & mask`.
///
/// The pointers are valid until the same column is fetched again, or the cursor moves on (`next`,
/// `open`) or is dropped; behind the values there are 64 readable bytes.
#[derive(Clone, Copy, Debug)]
pub struct FetchedColumn {
    /// Values of the column's native type. Strings may be transient: see
    /// [`StringRef`](frazil_types::StringRef).
    pub values: *const u8,
    /// One byte a row, 1: valid; `None` when no row is NULL.
    pub validity: Option<*const u8>,
    /// Whether one value (and validity byte) stands for all rows.
    pub constant: bool,
}

#[derive(Clone, Copy, Debug)]
enum Vector {
    /// Rows `start..start + len`, all of them.
    Range { start: usize, len: usize },
    /// The survivors among the words `from..to` of the chunk's match bits.
    Words { from: usize, to: usize, count: usize },
}

/// A worker's cursor over a scan.
pub struct ScanCursor {
    scan: Arc<TableScan>,
    slot: Option<ChunkSlot>,
    // Rows from `next_row` to `end` have not been matched (or, if all rows match, not been returned).
    next_row: usize,
    end: usize,
    all_match: bool,
    // Match bits of the chunk; words before `emitted` have been returned.
    words: Vec<u64>,
    emitted: usize,
    vector: Vector,
    positions: Vec<u16>,
    positions_ready: bool,
    row_ids: Vec<i64>,
    buffers: Vec<VectorBuffer>,
    scratch: MatchScratch,
    counters: ScanCounters,
}

impl ScanCursor {
    pub(crate) fn new(scan: Arc<TableScan>) -> ScanCursor {
        let buffers = scan.columns.iter().map(|_| VectorBuffer::default()).collect();
        ScanCursor {
            scan,
            slot: None,
            next_row: 0,
            end: 0,
            all_match: true,
            words: vec![0; CHUNK_ROWS / 64],
            emitted: 0,
            vector: Vector::Range { start: 0, len: 0 },
            positions: Vec::with_capacity(CHUNK_ROWS),
            positions_ready: false,
            row_ids: Vec::new(),
            buffers,
            scratch: MatchScratch::default(),
            counters: ScanCounters::default(),
        }
    }

    /// Begins the chunk of a morsel: a number below [`TableScan::morsels`].
    pub fn open(&mut self, morsel: usize) -> Result<()> {
        let slot = self.scan.snapshot.chunk(morsel).clone();
        self.counters.chunks += 1;
        self.next_row = 0;
        self.end = slot.rows as usize;
        self.emitted = 0;
        self.vector = Vector::Range { start: 0, len: 0 };
        match &*slot.chunk {
            Chunk::Hot(_) => self.all_match = self.scan.hot_predicates.is_empty() && slot.deleted.is_none(),
        }
        self.slot = Some(slot);
        Ok(())
    }

    /// Moves to the next vector of the chunk; returns its number of rows, at least 1, or `None` at the
    /// chunk's end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<u32>> {
        self.positions_ready = false;
        let count = if self.all_match {
            self.next_range()
        } else {
            self.next_words()?
        };
        if count == 0 {
            self.scan.count(&std::mem::take(&mut self.counters));
            return Ok(None);
        }
        self.counters.rows_returned += count as u64;
        Ok(Some(count as u32))
    }

    /// Number of the chunk that is open.
    pub fn chunk_number(&self) -> u32 {
        self.slot.as_ref().map_or(0, |s| s.number)
    }

    /// Where the current vector's rows lie.
    pub fn positions(&mut self) -> Positions<'_> {
        match self.vector {
            Vector::Range { start, .. } => Positions::Range(start as u32),
            Vector::Words { .. } => {
                self.make_positions();
                Positions::List(&self.positions)
            }
        }
    }

    /// The current vector's row ids.
    pub fn row_ids(&mut self) -> &[i64] {
        let number = self.chunk_number();
        let id = |offset: usize| RowId::new(number, offset as u16).0;
        self.row_ids.clear();
        match self.vector {
            Vector::Range { start, len } => self.row_ids.extend((start..start + len).map(id)),
            Vector::Words { .. } => {
                self.make_positions();
                self.row_ids
                    .extend(self.positions.iter().map(|&p| id(usize::from(p))));
            }
        }
        &self.row_ids
    }

    /// Fetches a column (an index into the scan's columns) of the current vector.
    pub fn fetch(&mut self, index: usize) -> Result<FetchedColumn> {
        if let Vector::Words { from, to, count } = self.vector
            && count * DENSE < (to - from) * 64
        {
            self.make_positions();
        }
        let selection = match self.vector {
            Vector::Range { start, len } => Selection::All {
                start: start as u32,
                len: len as u32,
            },
            Vector::Words { .. } if self.positions_ready => Selection::Positions(&self.positions),
            Vector::Words { from, to, .. } => Selection::Bits {
                words: &self.words[from..to],
                start: (from * 64) as u32,
                len: (to * 64).min(self.end) as u32 - (from * 64) as u32,
            },
        };
        let slot = self.slot.as_ref().expect("a chunk is open");
        let buffer = &mut self.buffers[index];
        fetch(&self.scan, slot, index, selection, buffer, &mut self.counters)
    }

    /// Fetches a column at positions of the open chunk, for a later stage of the same chunk.
    pub fn fetch_at(&mut self, index: usize, positions: &[u16]) -> Result<FetchedColumn> {
        let slot = self.slot.as_ref().expect("a chunk is open");
        let buffer = &mut self.buffers[index];
        let selection = Selection::Positions(positions);
        fetch(&self.scan, slot, index, selection, buffer, &mut self.counters)
    }

    fn make_positions(&mut self) {
        let Vector::Words { from, to, .. } = self.vector else {
            return;
        };
        if !self.positions_ready {
            self.positions.clear();
            let base = (from * 64) as u16;
            let words = &self.words[from..to];
            positions::positions(self.scan.options.isa, words, base, &mut self.positions);
            self.positions_ready = true;
        }
    }

    fn next_range(&mut self) -> usize {
        let start = self.next_row;
        let mut end = self.end.min(start + self.scan.options.stage_rows);
        if let Some(hot) = self.slot.as_ref().and_then(ChunkSlot::hot)
            && hot.layout().rows_per_partition() >= 64
        {
            // A vector within one partition can be lent.
            end = hot.layout().run_end(start, end);
        }
        self.vector = Vector::Range {
            start,
            len: end - start,
        };
        self.counters.rows_scanned += (end - start) as u64;
        self.next_row = end;
        end - start
    }

    fn next_words(&mut self) -> Result<usize> {
        let limit = self.scan.options.stage_rows;
        let (mut from, mut count) = (self.emitted, 0);
        let mut to = from;
        loop {
            if to * 64 >= self.next_row {
                if self.next_row >= self.end {
                    break;
                }
                self.match_window()?;
                continue;
            }
            let fresh = self.words[to].count_ones() as usize;
            if count + fresh > limit {
                break;
            }
            count += fresh;
            to += 1;
            if count == 0 {
                from = to;
            }
        }
        self.emitted = to;
        let rows = (to * 64).min(self.end).saturating_sub(from * 64);
        self.vector = if count == rows {
            Vector::Range {
                start: from * 64,
                len: rows,
            }
        } else {
            Vector::Words { from, to, count }
        };
        Ok(count)
    }

    /// Matches the window from `next_row` on, which is a multiple of 64.
    fn match_window(&mut self) -> Result<()> {
        let slot = self.slot.as_ref().expect("a chunk is open");
        let start = self.next_row;
        let mut end = self.end.min(start + self.scan.options.window_rows);
        match &*slot.chunk {
            Chunk::Hot(hot) => {
                let k = hot.layout().rows_per_partition();
                if k % 64 == 0 {
                    end = hot.layout().run_end(start, end);
                }
                let words = &mut self.words[start / 64..end.div_ceil(64)];
                let mut combine = Combine::Replace;
                for predicate in &self.scan.hot_predicates {
                    predicate.match_rows(
                        self.scan.options.isa,
                        hot,
                        start..end,
                        combine,
                        words,
                        &mut self.scratch,
                    );
                    combine = Combine::And;
                }
                if combine == Combine::Replace {
                    crate::hot_match::set_all(end - start, words);
                }
            }
        }
        if let Some(deleted) = &slot.deleted {
            let words = &mut self.words[start / 64..end.div_ceil(64)];
            let gone = &deleted.bits.words()[start / 64..end.div_ceil(64)];
            for (word, gone) in words.iter_mut().zip(gone) {
                *word &= !gone;
            }
        }
        self.counters.rows_scanned += (end - start) as u64;
        self.next_row = end;
        Ok(())
    }
}

impl Drop for ScanCursor {
    fn drop(&mut self) {
        self.scan.count(&self.counters);
    }
}

fn fetch(
    scan: &TableScan,
    slot: &ChunkSlot,
    index: usize,
    selection: Selection<'_>,
    buffer: &mut VectorBuffer,
    counters: &mut ScanCounters,
) -> Result<FetchedColumn> {
    let column = scan.columns[index];
    match &*slot.chunk {
        Chunk::Hot(hot) => {
            let size = hot.layout().column(column).native.size();
            counters.bytes_touched += (selection.count() * size) as u64;
            if scan.options.lend_columns
                && let Some(lent) = lend(hot, column, selection)
            {
                return Ok(lent);
            }
            let validity = copy_hot(
                scan.options.isa,
                hot,
                column,
                slot.rows as usize,
                selection,
                buffer,
            );
            Ok(FetchedColumn {
                values: buffer.values_ptr(),
                validity: validity.then(|| buffer.validity_ptr()),
                constant: false,
            })
        }
    }
}

/// The chunk's own memory, if the selection is a range that lies side by side.
fn lend(hot: &HotChunk, column: usize, selection: Selection<'_>) -> Option<FetchedColumn> {
    let Selection::All { start, len } = selection else {
        return None;
    };
    let (start, end) = (start as usize, (start + len) as usize);
    (hot.layout().run_end(start, end) == end).then(|| FetchedColumn {
        values: hot.value_ptr(column, start),
        validity: hot.validity_ptr(column, start),
        constant: false,
    })
}

/// Copies the selected cells; returns whether validity bytes were needed.
fn copy_hot(
    isa: Isa,
    hot: &HotChunk,
    column: usize,
    rows: usize,
    selection: Selection<'_>,
    buffer: &mut VectorBuffer,
) -> bool {
    let count = selection.count();
    let native = hot.layout().column(column).native;
    let side_by_side = hot.layout().run_end(0, rows) == rows;
    dispatch_native!(native, T => {
        let out = buffer.values_mut::<T>(count);
        if side_by_side {
            unpack::copy_values(isa, hot.values::<T>(column, 0..rows), selection, out);
        } else {
            copy_scattered(hot, column, selection, out);
        }
    });
    if !hot.has_nulls(column) {
        return false;
    }
    let out = buffer.validity_mut(count);
    match hot.validity(column, 0..if side_by_side { rows } else { 0 }) {
        Some(validity) => {
            unpack::copy_values(isa, validity, selection, out);
        }
        None => {
            for (to, row) in out.iter_mut().zip(selection.rows()) {
                *to = hot.validity(column, row..row + 1).map_or(1, |v| v[0]);
            }
        }
    }
    true
}

fn copy_scattered<T: Native>(hot: &HotChunk, column: usize, selection: Selection<'_>, out: &mut [T]) {
    for (to, row) in out.iter_mut().zip(selection.rows()) {
        *to = hot.values::<T>(column, row..row + 1)[0];
    }
}
