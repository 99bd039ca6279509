//! One worker's way through the chunks of a scan.
//!
//! A chunk is matched window by window into one bitmap of the whole chunk; a vector is a run of words
//! of that bitmap with at most `stage_rows` survivors, so sparse windows are gathered until a vector is
//! dense, and no vector crosses a chunk. The form in which survivors are fetched follows their density:
//! a whole range (lent from the chunk where its values lie uncompressed), bits, or positions. Nothing
//! is unpacked before it is fetched and nothing is allocated per vector.

use crate::access_counters::LocalAccess;
use crate::chunk::Chunk;
use crate::chunk_entry::ChunkEntry;
use crate::chunk_view::{Lease, State};
use crate::coded_strings::CodedStrings;
use crate::early_probe::EarlyProbes;
use crate::fetched_column::{FetchedColumn, at_positions_below, fetch};
use crate::hot_chunk::HotChunk;
use crate::hot_disjunction::DisjunctionScratch;
use crate::hot_match::{MatchScratch, set_all};
use crate::table_scan::{ScanCounters, ScanOptions, TableScan};
use crate::top_bound::BoundTests;
use frazil_block::{Block, BlockScan, ColumnBuffer, Matched};
use frazil_kernels::compare::Combine;
use frazil_kernels::count::take_words;
use frazil_kernels::{Selection, positions};
use frazil_types::{CHUNK_ROWS, MatchBits, Result, RowId};
use std::ops::Range;
use std::sync::Arc;

/// Partitions of hot chunks with this many rows bound vectors, which then need no copy; the rows of shorter ones are
/// gathered.
const LONG_RUN: usize = 1024;

/// Where the rows of the current vector lie in their chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions<'a> {
    /// Consecutive rows from this one on.
    Range(u32),
    /// These, ascending.
    List(&'a [u16]),
}

/// A vector that is a range of a hot chunk's rows, for readers that know partitions.
pub struct HotRows<'a> {
    /// The memory of the chunk.
    pub memory: &'a Lease,
    /// The first row.
    pub start: usize,
    /// The scan's columns, as positions in the table.
    pub columns: &'a [usize],
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
    entry: Option<Arc<ChunkEntry>>,
    /// Memory of the open chunk, if it is hot and the scan may lend it.
    lease: Option<Lease>,
    /// The open morsel.
    morsel: usize,
    block_scan: Option<BlockScan>,
    window: MatchBits,
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
    buffers: Vec<ColumnBuffer>,
    scratch: MatchScratch,
    disjunction_scratch: DisjunctionScratch,
    bound: BoundTests,
    early_probes: EarlyProbes,
    counters: ScanCounters,
    // Rows of the chunk that were matched.
    tested_rows: u64,
    access: LocalAccess,
}

impl ScanCursor {
    pub(crate) fn new(scan: Arc<TableScan>) -> ScanCursor {
        let early_probes = EarlyProbes::new(scan.early_probes.len());
        let access = LocalAccess::new(scan.snapshot.schema().columns.len());
        let buffers = scan.columns.iter().map(|_| ColumnBuffer::new()).collect();
        ScanCursor {
            scan,
            entry: None,
            lease: None,
            morsel: 0,
            block_scan: None,
            window: MatchBits::default(),
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
            disjunction_scratch: DisjunctionScratch::default(),
            bound: BoundTests::default(),
            early_probes,
            counters: ScanCounters::default(),
            tested_rows: 0,
            access,
        }
    }

    /// Begins the chunk of a morsel: a number below [`TableScan::morsels`].
    pub fn open(&mut self, morsel: usize) -> Result<()> {
        self.settle();
        self.entry = None;
        let entry = self.scan.chunk(morsel);
        let entry = match entry
            .view()
            .hot()
            .filter(|_| self.scan.is_only)
            .and_then(HotChunk::apart)
        {
            // Its cells go when the cursor leaves it.
            Some(apart) => Arc::new(entry.reshaped(Chunk::Hot(apart))),
            None => entry.clone(),
        };
        self.morsel = morsel;
        self.early_probes.begin_chunk();
        let view = entry.view();
        self.counters.chunks += 1;
        self.next_row = 0;
        self.end = view.rows() as usize;
        self.emitted = 0;
        self.vector = Vector::Range { start: 0, len: 0 };
        self.block_scan = None;
        // Rows that all match are handed out without looking at match bits.
        let untested = view.deleted().is_none() && !self.early_probes.pay() && self.scan.bound.is_none();
        self.bound.look(&self.scan)?;
        self.lease = view.lend().filter(|_| self.scan.options.lend_columns);
        match view.state() {
            State::Hot(hot) if self.is_ruled_out(hot) => {
                self.counters.chunks_skipped_by_sma += 1;
                (self.all_match, self.end) = (true, 0);
            }
            State::Hot(hot) => {
                let scan = &self.scan;
                hot.prepare(scan.columns.iter().copied().chain(scan.tested_columns()))?;
                self.all_match =
                    scan.hot_predicates.is_empty() && scan.hot_disjunctions.is_empty() && untested;
            }
            State::Frozen(frozen) => self.open_block(&entry, &frozen.block, untested)?,
        }
        self.begin_at_candidates();
        self.entry = Some(entry);
        Ok(())
    }

    /// Whether who lends a chunk knows that restrictions and disjunctions, the bound among them, leave none of its rows.
    fn is_ruled_out(&self, hot: &HotChunk) -> bool {
        let ScanOptions {
            push_restrictions,
            use_sma,
            ..
        } = self.scan.options;
        let disjunctions = self.bound.disjunctions(&self.scan);
        push_restrictions && use_sma && hot.rules_out(&self.scan.restrictions, disjunctions)
    }

    /// Leaves out rows of the open chunk in front of the first candidate and behind the last one.
    fn begin_at_candidates(&mut self) {
        let Some(candidates) = &self.scan.candidates else {
            return;
        };
        let offsets = &candidates.chunks[self.morsel].1;
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
            return;
        };
        let end = self.end.min(usize::from(last) + 1);
        let start = self.next_row.max(usize::from(first));
        if start >= end {
            // Nothing is left: an empty range.
            (self.all_match, self.next_row, self.end) = (true, end, end);
            return;
        }
        self.all_match = false;
        self.end = end;
        self.next_row = start & !63;
        self.emitted = self.next_row / 64;
    }

    /// The next window of rows. With candidates it is the word that holds the next candidate; in a block it begins in
    /// front of the next row that may match: words before it match nothing.
    fn next_window(&mut self) -> Range<usize> {
        let start = self.next_row;
        let Some(candidates) = &self.scan.candidates else {
            let Some(block_scan) = &self.block_scan else {
                return start..self.end.min(start + self.scan.options.window_rows);
            };
            let next = block_scan.rows().from(start as u32).unwrap_or_default();
            let word = if next.is_empty() {
                self.end
            } else {
                next.start as usize & !63
            };
            let word = word.min(self.end);
            self.words[start / 64..word.div_ceil(64)].fill(0);
            let end = (next.end as usize).next_multiple_of(64);
            return word..self
                .end
                .min(end)
                .min(word + self.scan.options.window_rows)
                .max(word);
        };
        let offsets = &candidates.chunks[self.morsel].1;
        let next = offsets.partition_point(|&offset| usize::from(offset) < start);
        let word = offsets
            .get(next)
            .map_or(self.end, |&offset| usize::from(offset) & !63)
            .min(self.end);
        self.words[start / 64..word.div_ceil(64)].fill(0);
        word..self.end.min(word + 64)
    }

    fn open_block(&mut self, entry: &ChunkEntry, block: &Block, untested: bool) -> Result<()> {
        let scan = &self.scan;
        let unrestricted = scan.restrictions.is_empty() && self.bound.disjunctions(scan).is_empty();
        if !scan.options.push_restrictions || unrestricted {
            self.all_match = untested;
            return Ok(());
        }
        let block_scan = self.block_scan(entry, block)?;
        let range = block_scan.range();
        if block_scan.skipped_by_sma() {
            self.counters.chunks_skipped_by_sma += 1;
        } else {
            self.counters.rows_skipped_by_psma += u64::from(block.rows()) - block_scan.rows().rows() as u64;
        }
        self.all_match = range.is_empty() || block_scan.matches_all() && untested;
        self.end = range.end as usize;
        self.next_row = range.start as usize;
        if !self.all_match {
            // Windows begin at whole words; rows before the range match nothing and cost little.
            self.next_row &= !63;
            self.emitted = self.next_row / 64;
            let bytes = |c| block.entry(c).code_bytes(block_scan.rows().rows());
            self.counters.bytes_touched += block_scan.tested_columns().map(bytes).sum::<usize>() as u64;
        }
        self.block_scan = Some(block_scan);
        Ok(())
    }

    fn block_scan(&self, entry: &ChunkEntry, block: &Block) -> Result<BlockScan> {
        let scan = &self.scan;
        let options = frazil_block::ScanOptions {
            isa: scan.options.isa,
            use_sma: scan.options.use_sma,
            use_psma: scan.options.use_psma,
        };
        let disjunctions = self.bound.disjunctions(scan);
        BlockScan::new(block, &scan.restrictions, disjunctions, options)
            .map_err(|e| entry.blame(scan.snapshot.table().entry(), e))
    }

    /// Takes in a bound that has moved since the open chunk was begun: of a block other tests are made, and rows left out that none
    /// of them can match.
    fn follow_bound(&mut self) -> Result<()> {
        if !self.bound.look(&self.scan)? {
            return Ok(());
        }
        let entry = self.entry.clone().expect("a chunk is open");
        if let State::Frozen(frozen) = entry.view().state() {
            let block_scan = self.block_scan(&entry, &frozen.block)?;
            let end = self.end.min(block_scan.range().end as usize);
            // Rows before the next one are matched, and may still be returned.
            self.end = end.max(self.next_row);
            self.block_scan = Some(block_scan);
        }
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
            self.settle();
            return Ok(None);
        }
        self.counters.rows_returned += count as u64;
        Ok(Some(count as u32))
    }

    /// Number of rows of the chunk that is open, those that the scan drops included.
    pub fn chunk_rows(&self) -> usize {
        (self.entry.as_ref()).map_or(0, |e| e.view().rows() as usize)
    }

    /// Number of the chunk that is open.
    pub fn chunk_number(&self) -> u32 {
        self.entry.as_ref().map_or(0, |e| e.number())
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

    /// The current vector as rows of a hot chunk, if that is what they are and the scan may lend them: a reader that
    /// knows partitions need not fetch the columns `read` (indices into the scan's columns).
    pub fn hot_rows(&mut self, read: &[usize]) -> Option<HotRows<'_>> {
        let Vector::Range { start, len } = self.vector else {
            return None;
        };
        let columns = &self.scan.columns;
        let has_cells = |memory: &&Lease| read.iter().all(|&i| memory.has_cells(columns[i]));
        let memory = self.lease.as_ref().filter(has_cells)?;
        let bytes: usize = (read.iter())
            .map(|&i| len * memory.layout().column(columns[i]).native.size())
            .sum();
        self.counters.bytes_touched += bytes as u64;
        Some(HotRows {
            memory,
            start,
            columns,
        })
    }

    /// The current vector's row ids.
    pub fn row_ids(&mut self) -> &[i64] {
        let number = self.chunk_number();
        let id = |offset: usize| RowId::new(number, offset as u16).to_tid();
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
        let sparse = self.goes_by_positions(index);
        let selection = chosen(&self.vector, sparse, &self.words, &self.positions, self.end);
        let entry = self.entry.as_ref().expect("a chunk is open");
        let buffer = &mut self.buffers[index];
        self.access.note_fetch(self.scan.columns[index], &selection);
        fetch(&self.scan, entry, index, selection, buffer, &mut self.counters)
    }

    /// Fetches the numbers of characters of a string column (an index into the scan's columns) of the current vector,
    /// as 64-bit integers. `None` if they are best counted in the strings themselves, which [`ScanCursor::fetch`]
    /// gives.
    pub fn fetch_lengths(&mut self, index: usize) -> Result<Option<FetchedColumn>> {
        let entry = self.entry.clone().expect("a chunk is open");
        let State::Frozen(frozen) = entry.view().state() else {
            return Ok(None);
        };
        let column = self.scan.columns[index];
        let sparse = self.goes_by_positions(index);
        let selection = chosen(&self.vector, sparse, &self.words, &self.positions, self.end);
        let (isa, buffer) = (self.scan.options.isa, &mut self.buffers[index]);
        let counted = (frozen.block.text_lengths(isa, column, selection, buffer))
            .map_err(|e| entry.blame(self.scan.snapshot.table().entry(), e))?;
        if !counted {
            return Ok(None);
        }
        self.access.note_fetch(column, &selection);
        self.counters.bytes_touched += frozen.block.entry(column).code_bytes(selection.count()) as u64;
        Ok(Some(FetchedColumn {
            values: buffer.values_ptr(),
            validity: buffer.validity_ptr(),
            constant: false,
        }))
    }

    /// Returns the codes of string columns (indices into the scan's columns) in the open chunk; `None` if it is
    /// hot, or if one of the columns has no codes there.
    pub fn coded_strings(&self, indices: &[usize]) -> Result<Option<CodedStrings>> {
        let entry = self.entry.as_ref().expect("a chunk is open");
        let State::Frozen(frozen) = entry.view().state() else {
            return Ok(None);
        };
        CodedStrings::new(&frozen.block, indices, &self.scan.columns)
            .map_err(|e| entry.blame(self.scan.snapshot.table().entry(), e))
    }

    /// Puts the number that the codes of each row of the current vector make into `out`: see [`CodedStrings::count`].
    /// `coded` is of the open chunk.
    pub fn fetch_numbers(&mut self, coded: &CodedStrings, rows: usize, out: &mut Vec<u32>) {
        out.clear();
        out.resize(rows, 0);
        for column in &coded.columns {
            let sparse = self.goes_by_positions(column.index);
            let selection = chosen(&self.vector, sparse, &self.words, &self.positions, self.end);
            self.access.note_fetch(column.column, &selection);
            self.counters.bytes_touched += coded.block.entry(column.column).code_bytes(rows) as u64;
            let (isa, buffer) = (self.scan.options.isa, &mut self.buffers[column.index]);
            (coded.block).add_string_codes(isa, column.column, selection, column.scale, buffer, out);
        }
    }

    /// Returns the block of the open chunk and the position of a column (an index into the scan's columns) in it,
    /// if the column's strings are stored there as [`Block::stored_words`] needs them.
    pub fn stored_strings(&self, index: usize) -> Result<Option<(Block, usize)>> {
        let entry = self.entry.as_ref().expect("a chunk is open");
        let State::Frozen(frozen) = entry.view().state() else {
            return Ok(None);
        };
        let column = self.scan.columns[index];
        let symbols = (frozen.block.stored_symbols(column))
            .map_err(|e| entry.blame(self.scan.snapshot.table().entry(), e))?;
        Ok(symbols.map(|_| (frozen.block.clone(), column)))
    }

    /// Puts the words of the stored strings of the current vector's rows into `out`. `block` is that of
    /// [`ScanCursor::stored_strings`].
    pub fn fetch_words(&mut self, index: usize, block: &Block, rows: usize, out: &mut Vec<u128>) {
        out.clear();
        out.resize(rows, 0);
        let column = self.scan.columns[index];
        let sparse = self.goes_by_positions(index);
        let selection = chosen(&self.vector, sparse, &self.words, &self.positions, self.end);
        self.access.note_fetch(column, &selection);
        self.counters.bytes_touched += block.entry(column).code_bytes(rows) as u64;
        block.stored_words(column, selection, out);
    }

    /// Counts rows that are handed out with codes.
    pub fn note_rows_by_code(&mut self, rows: usize) {
        self.counters.rows_by_code += rows as u64;
    }

    /// Returns true if rows of the current vector are so few among those around them that a column's values are best
    /// fetched at positions, which are made then.
    fn goes_by_positions(&mut self, index: usize) -> bool {
        let entry = self.entry.as_ref().expect("a chunk is open");
        let sparse = match self.vector {
            Vector::Range { .. } => false,
            Vector::Words { from, to, count } => {
                let below = at_positions_below(self.scan.options.isa, entry.view(), self.scan.columns[index]);
                count * 1000 < (to - from) * 64 * below
            }
        };
        if sparse {
            self.make_positions();
        }
        sparse
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
        if let Some(hot) = self.entry.as_ref().and_then(|e| e.view().hot())
            && hot.layout().rows_per_partition() >= LONG_RUN
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
        let isa = self.scan.options.isa;
        let (mut from, mut count) = (self.emitted, 0);
        let mut to = from;
        loop {
            let matched = self.next_row.div_ceil(64);
            let (taken, ones) = take_words(isa, &self.words[to..matched], limit - count);
            if count == 0 && ones == 0 {
                from += taken;
            }
            (to, count) = (to + taken, count + ones);
            if to < matched || self.next_row >= self.end {
                break;
            }
            self.match_window()?;
        }
        if count > 0 && self.words[from] == 0 {
            // Words without a survivor before the first one make a vector look sparse.
            from += self.words[from..to].iter().take_while(|w| **w == 0).count();
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
        self.follow_bound()?;
        let Range { start, end } = self.next_window();
        if start == end {
            self.next_row = end;
            return Ok(());
        }
        let entry = self.entry.as_ref().expect("a chunk is open");
        let view = entry.view();
        match (view.state(), &mut self.block_scan) {
            (State::Hot(hot), _) => {
                let words = &mut self.words[start / 64..end.div_ceil(64)];
                let scratch = (&mut self.disjunction_scratch, &mut self.scratch);
                match_hot(&self.scan, &self.bound, hot, start..end, words, scratch);
            }
            (State::Frozen(_), Some(block_scan)) => {
                let rows = start as u32..end as u32;
                let matched = block_scan
                    .match_window(rows, &mut self.window, &mut self.positions)
                    .map_err(|e| entry.blame(self.scan.snapshot.table().entry(), e))?;
                let words = &mut self.words[start / 64..end.div_ceil(64)];
                match matched {
                    Matched::None => words.fill(0),
                    Matched::All => set_all(end - start, words),
                    Matched::Bits => words.copy_from_slice(self.window.words()),
                    Matched::Positions => {
                        words.fill(0);
                        for row in self.positions.iter().map(|&p| usize::from(p) - start) {
                            words[row / 64] |= 1 << (row % 64);
                        }
                    }
                }
            }
            (State::Frozen(_), None) => {
                set_all(end - start, &mut self.words[start / 64..end.div_ceil(64)]);
            }
        }
        view.clear_deleted(start / 64, &mut self.words[start / 64..end.div_ceil(64)]);
        if let Some(candidates) = &self.scan.candidates {
            keep_candidates(
                &candidates.chunks[self.morsel].1,
                start..end,
                &mut self.words[start / 64],
            );
        }
        if self.early_probes.pay() {
            let scan = &self.scan;
            let words = &mut self.words[start / 64..end.div_ceil(64)];
            let (isa, probes) = (scan.options.isa, &scan.early_probes);
            self.counters.rows_dropped_early += self
                .early_probes
                .run(isa, probes, &scan.columns, view, start..end, words)
                .map_err(|e| entry.blame(scan.snapshot.table().entry(), e))?;
        }
        self.counters.rows_scanned += (end - start) as u64;
        self.tested_rows += (end - start) as u64;
        self.next_row = end;
        Ok(())
    }

    /// Adds what was counted on the chunk that was open to what all workers counted.
    fn settle(&mut self) {
        self.scan.count(&std::mem::take(&mut self.counters));
        let tested = std::mem::take(&mut self.tested_rows);
        if !self.scan.options.count_access {
            return;
        }
        match (&self.block_scan, &self.entry) {
            (Some(block_scan), _) => {
                (block_scan.tested_columns()).for_each(|c| self.access.column(c).tested += tested);
            }
            (None, Some(entry)) if entry.is_hot() && self.scan.options.push_restrictions => {
                let columns = self.scan.tested_columns();
                columns.for_each(|column| self.access.column(column).tested += tested);
            }
            _ => {}
        }
        for (column, rows) in self.early_probes.take_tested(&self.scan.early_probes) {
            self.access.column(self.scan.columns[column]).scanned += rows;
        }
        let visited = self.access.flush(self.scan.snapshot.table().access());
        if let Some(frozen) = self.entry.as_ref().and_then(|e| e.frozen_chunk())
            && visited
        {
            frozen.visits.count();
        }
    }
}

/// The rows of a vector of a chunk, in the form in which they are fetched: at `positions`, which are made, if they
/// are sparse.
fn chosen<'a>(
    vector: &Vector,
    sparse: bool,
    words: &'a [u64],
    positions: &'a [u16],
    end: usize,
) -> Selection<'a> {
    match *vector {
        Vector::Range { start, len } => Selection::All {
            start: start as u32,
            len: len as u32,
        },
        Vector::Words { .. } if sparse => Selection::Positions(positions),
        Vector::Words { from, to, .. } => Selection::Bits {
            words: &words[from..to],
            start: (from * 64) as u32,
            len: (to * 64).min(end) as u32 - (from * 64) as u32,
        },
    }
}

/// Match bits of rows of a hot chunk: first by the bound, which leaves few rows or none once there is one.
fn match_hot(
    scan: &TableScan,
    bound: &BoundTests,
    hot: &HotChunk,
    rows: Range<usize>,
    words: &mut [u64],
    (scratch, tests_scratch): (&mut DisjunctionScratch, &mut MatchScratch),
) {
    let isa = scan.options.isa;
    let mut combine = Combine::Replace;
    if let Some(bound) = &bound.hot {
        set_all(rows.len(), words);
        bound.match_rows(isa, hot, rows.clone(), words, (scratch, tests_scratch));
        if words.iter().all(|&word| word == 0) {
            return;
        }
        combine = Combine::And;
    }
    for predicate in &scan.hot_predicates {
        predicate.match_rows(isa, hot, rows.clone(), combine, words, tests_scratch);
        combine = Combine::And;
    }
    if combine == Combine::Replace {
        set_all(rows.len(), words);
    }
    for disjunction in &scan.hot_disjunctions {
        disjunction.match_rows(isa, hot, rows.clone(), words, (scratch, tests_scratch));
    }
}

/// Clears the bits of rows that are no candidates in the word of a window.
fn keep_candidates(offsets: &[u16], window: Range<usize>, word: &mut u64) {
    let from = offsets.partition_point(|&offset| usize::from(offset) < window.start);
    let inside = (offsets[from..].iter()).map(|&offset| usize::from(offset));
    let inside = inside.take_while(|offset| window.contains(offset));
    *word &= inside.fold(0, |bits, offset| bits | 1u64 << (offset % 64));
}

impl Drop for ScanCursor {
    fn drop(&mut self) {
        self.settle();
    }
}
