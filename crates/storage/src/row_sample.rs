//! Samples of a table's rows, on which the planner tests predicates, and frequencies of keys.
//!
//! A sample is a list of row ids, drawn evenly over the table. A column of the sample becomes a small Data Block when
//! a restriction first asks for it, and the block's own scan tests the restriction: all of them that a scan takes, of
//! any type, with the answer that the scan of the table would have. Match bits of several restrictions are of the
//! same rows, so their conjunction sees how columns depend on each other.
//!
//! A sample can be followed: the row that each of its rows refers to, found in a unique index of another table, is a
//! sample of that table in which a row is as frequent as the references to it (join synopses: Acharya, Gibbons,
//! Poosala and Ramaswamy, SIGMOD 1999). Its match bits are of the referring rows.
//!
//! The first plan that tests a column reads up to 2,048 rows of it, each in a page of its own if the table is not in
//! memory; the first one that weighs a join reads the column of up to four million rows. A lookup by a key alone needs
//! neither. Tables whose blocks are in an object store are not sampled.
//!
//! The first read of a column of a block checks all its bytes, which no statement may have to do for a large table
//! before its plan is made: at most 256 chunks are looked into, spread evenly over the table.
//!
//! Samples and frequencies are kept until the table has grown or shrunk by a fifth. A sampled row that a later version
//! does not show counts as one that no restriction matches, and if there are many, a new sample is drawn.

use crate::chunk_entry::ChunkEntry;
use crate::row_fetch::RowFetch;
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndex;
use frazil_block::{
    Block, BlockBuilder, BlockScan, BuildOptions, ColumnBuffer, ColumnInput, Matched, ScanOptions,
};
use frazil_kernels::{Isa, Selection};
use frazil_types::{
    Cancel, ColumnVector, KeyCounter, KeySketch, MatchBits, NativeType, ObjectId, Restriction,
    RestrictionKind, Result, RowId,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

/// Rows of a sample. A restriction on a column of integers takes a microsecond, LIKE some 40.
const SAMPLED: usize = 2_048;
/// Bytes of strings of one column of a sample, at most; a column with longer ones is not sampled.
const MOST_BYTES: usize = 4 << 20;
/// Rows of a sample that are fetched before their strings are counted.
const COUNTED_TOGETHER: usize = 64;
/// Rows of a sample that are looked for in a version to find out if it still shows the sample.
const CHECKED: usize = 32;
/// Restrictions whose match bits are kept for each column.
const KEPT_TESTS: usize = 16;
/// Rows of a table whose keys are counted, at most. Counting takes some 2 ns for each.
const COUNTED_KEYS: u64 = 1 << 22;

/// Chunks that a sample is drawn from, and that keys are counted in, at most. The column of a block that was not read
/// before takes some 0.2 ms.
const MOST_CHUNKS: usize = 256;

/// The samples of a table.
#[derive(Debug, Default)]
pub(crate) struct KeptSamples {
    sample: Mutex<Option<Arc<RowSample>>>,
    /// The columns as they are now: columns that move, or get other values, get another address.
    shape: Mutex<Arc<()>>,
}

impl KeptSamples {
    /// Forgets all samples.
    pub fn forget(&self) {
        *locked(&self.sample) = None;
        *locked(&self.shape) = Arc::default();
    }
}

/// True if blocks of a version are fetched over a network. A sample would fetch parts of all of them.
fn is_elsewhere(version: &TableSnapshot) -> bool {
    let mut blocks = version.chunks().filter_map(|entry| entry.block());
    blocks.any(Block::is_elsewhere)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// True if a table of `rows` rows is about as large as when it had `before`.
fn is_about(before: u64, rows: u64) -> bool {
    before.abs_diff(rows) <= before / 5
}

/// A sample of the rows of a table, or of the rows that those of another sample refer to.
#[derive(Debug)]
pub struct RowSample {
    /// `None`: the referring row refers to no row.
    rows: Vec<Option<RowId>>,
    /// Rows of the version that it was drawn from.
    of_rows: u64,
    /// The columns that the table had.
    shape: Arc<()>,
    /// True if it has all rows of that version.
    is_whole: bool,
    /// By the column's position; `None` for a column that is not sampled.
    columns: Mutex<BTreeMap<usize, Option<Arc<SampledColumn>>>>,
    /// The frequencies of the values of whole columns, by the column's position.
    sketches: Mutex<BTreeMap<usize, Arc<KeySketch>>>,
    /// By the referring column, the other table and its key's column.
    followed: Mutex<BTreeMap<(usize, ObjectId, usize), Arc<RowSample>>>,
}

/// A column of a sample.
#[derive(Debug)]
struct SampledColumn {
    block: Block,
    /// Row `i` of the block is this row of the sample.
    places: Vec<u16>,
    /// The latest restrictions with their match bits, the last one first.
    tested: Mutex<VecDeque<(RestrictionKind, Arc<MatchBits>)>>,
}

impl TableSnapshot {
    /// A sample of the table's rows; `None` if there is no row.
    pub fn sample(&self) -> Option<Arc<RowSample>> {
        let kept = &self.table().samples().sample;
        let known = locked(kept).clone();
        if let Some(known) =
            known.filter(|known| is_about(known.of_rows, self.rows()) && known.is_shown(self))
        {
            return Some(known);
        }
        let made = Arc::new(RowSample::draw(self)?);
        *locked(kept) = Some(made.clone());
        Some(made)
    }

    /// The frequencies of a column's values; `None` if they are no integers, or a chunk cannot be read. They are counted
    /// anew when a new sample is drawn.
    pub fn key_sketch(&self, column: usize) -> Option<Arc<KeySketch>> {
        let sample = self.sample()?;
        let known = locked(&sample.sketches).get(&column).cloned();
        known.or_else(|| {
            let made = Arc::new(count_keys(self, column).ok().flatten()?);
            locked(&sample.sketches).insert(column, made.clone());
            Some(made)
        })
    }
}

impl RowSample {
    /// Draws a row from each of as many parts of the table.
    fn draw(version: &TableSnapshot) -> Option<RowSample> {
        if is_elsewhere(version) {
            return None;
        }
        let chunks = looked_into(version);
        let slots = slots_of(&chunks);
        let is_whole = slots <= SAMPLED as u64 && chunks.len() == version.chunks().count();
        let mut drawn = drawn_slots(slots).peekable();
        let mut rows = Vec::new();
        let mut first = 0;
        for entry in chunks {
            let view = entry.view();
            let end = first + u64::from(view.rows());
            while let Some(slot) = drawn.next_if(|slot| *slot < end) {
                let offset = (slot - first) as u16;
                if !view.is_deleted(offset.into()) {
                    rows.push(Some(RowId::new(entry.number(), offset)));
                }
            }
            first = end;
        }
        (!rows.is_empty()).then(|| RowSample {
            is_whole,
            ..RowSample::of(rows, version)
        })
    }

    fn of(rows: Vec<Option<RowId>>, version: &TableSnapshot) -> RowSample {
        RowSample {
            rows,
            of_rows: version.rows(),
            shape: locked(&version.table().samples().shape).clone(),
            is_whole: false,
            columns: Mutex::default(),
            sketches: Mutex::default(),
            followed: Mutex::default(),
        }
    }

    /// True if the columns of a version are those that the sample was drawn from. A sample that another one follows is
    /// kept there, so that it stays when the columns of its own table move.
    fn has_columns_of(&self, version: &TableSnapshot) -> bool {
        Arc::ptr_eq(&self.shape, &locked(&version.table().samples().shape))
    }

    /// True if a version shows seven of eight rows that are looked for.
    fn is_shown(&self, version: &TableSnapshot) -> bool {
        let step = self.rows.len().div_ceil(CHECKED);
        let checked = || self.rows.iter().step_by(step).flatten();
        let hidden = checked().filter(|row| version.find_row(**row).is_none()).count();
        hidden * 8 <= checked().count()
    }

    /// The number of rows, those that refer to no row among them.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// True if the sample has all rows of its table.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The rows that satisfy a restriction, of which `version` has the values; `None` if the column is not sampled.
    pub fn matching(&self, version: &TableSnapshot, restriction: &Restriction) -> Option<Arc<MatchBits>> {
        let column = self.column(version, restriction.column)?;
        let mut tested = locked(&column.tested);
        if let Some(at) = tested.iter().position(|(kind, _)| *kind == restriction.kind) {
            return Some(tested[at].1.clone());
        }
        let bits = Arc::new(column.matching(&restriction.kind, self.rows.len()).ok()?);
        tested.truncate(KEPT_TESTS - 1);
        tested.push_front((restriction.kind.clone(), bits.clone()));
        Some(bits)
    }

    fn column(&self, version: &TableSnapshot, column: usize) -> Option<Arc<SampledColumn>> {
        let mut columns = locked(&self.columns);
        if let Some(known) = columns.get(&column) {
            return known.clone();
        }
        let made = SampledColumn::new(&self.rows, version, column);
        let made = made.ok().flatten().map(Arc::new);
        columns.insert(column, made.clone());
        made
    }

    /// The rows of `other` that this sample's rows, of `version`, refer to: those whose column `key`, which a unique
    /// index has alone, is equal to `column`. `None` without such an index.
    pub fn followed(
        &self,
        version: &TableSnapshot,
        column: usize,
        other: &TableSnapshot,
        key: usize,
    ) -> Option<Arc<RowSample>> {
        let place = (column, other.table().id(), key);
        let known = locked(&self.followed).get(&place).cloned();
        let still_holds = |known: &Arc<RowSample>| {
            known.has_columns_of(other) && is_about(known.of_rows, other.rows()) && known.is_shown(other)
        };
        if let Some(known) = known.filter(still_holds) {
            return Some(known);
        }
        if is_elsewhere(other) {
            return None;
        }
        let mut indexes = other.indexes().iter();
        let index = indexes.find(|index| index.entry().is_key() && *index.columns() == [key])?;
        let rows = self.references(version, column, other, index).ok()?;
        let made = Arc::new(RowSample::of(rows, other));
        locked(&self.followed).insert(place, made.clone());
        Some(made)
    }

    fn references(
        &self,
        version: &TableSnapshot,
        column: usize,
        other: &TableSnapshot,
        index: &TableIndex,
    ) -> Result<Vec<Option<RowId>>> {
        let (places, ids) = shown(&self.rows, version);
        let batch = RowFetch::new(version).fetch_columns(&ids, &[column])?;
        let mut rows = vec![None; self.rows.len()];
        let mut key = Vec::new();
        for (i, place) in places.iter().enumerate() {
            key.clear();
            if index.append_part(0, &batch.columns[0].value(i), &mut key) {
                index.candidates().get(&key, &mut |row| {
                    let found = other.find_row(row).map(|found| found.id());
                    rows[usize::from(*place)] = found;
                    found.is_none()
                });
            }
        }
        Ok(rows)
    }
}

/// The chunks of a table that are looked into: all, or [`MOST_CHUNKS`] of them, spread evenly.
fn looked_into(version: &TableSnapshot) -> Vec<&Arc<ChunkEntry>> {
    let chunks: Vec<&Arc<ChunkEntry>> = version.chunks().collect();
    spread_evenly(chunks.len()).map(|place| chunks[place]).collect()
}

/// The middles of [`MOST_CHUNKS`] equal parts of a number of places, or all places if there are fewer.
fn spread_evenly(places: usize) -> impl Iterator<Item = usize> {
    let parts = places.min(MOST_CHUNKS);
    (0..parts).map(move |part| (2 * part + 1) * places / (2 * parts))
}

/// The rows of chunks, deleted ones among them.
fn slots_of(chunks: &[&Arc<ChunkEntry>]) -> u64 {
    chunks.iter().map(|entry| u64::from(entry.view().rows())).sum()
}

/// Draws a random slot of each of [`SAMPLED`] equal parts of a table, or all slots if there are not as many. Ascending.
fn drawn_slots(slots: u64) -> impl Iterator<Item = u64> {
    let parts = slots.min(SAMPLED as u64);
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..parts).map(move |part| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (from, to) = (part * slots / parts, (part + 1) * slots / parts);
        from + (state >> 32) % (to - from)
    })
}

/// The rows of a sample that a version shows, each with its place in the sample.
fn shown(rows: &[Option<RowId>], version: &TableSnapshot) -> (Vec<u16>, Vec<RowId>) {
    let found = |row: &Option<RowId>| (*row).filter(|row| version.find_row(*row).is_some());
    (rows.iter().enumerate())
        .filter_map(|(place, row)| Some((place as u16, found(row)?)))
        .unzip()
}

impl SampledColumn {
    /// `None` if no row is left, if strings are too long, or if rows that are referred to are in too many chunks.
    fn new(rows: &[Option<RowId>], version: &TableSnapshot, column: usize) -> Result<Option<SampledColumn>> {
        let (places, ids) = shown(rows, version);
        if ids.iter().map(|id| id.chunk()).collect::<BTreeSet<u32>>().len() > MOST_CHUNKS {
            return Ok(None);
        }
        let fetch = RowFetch::new(version);
        let mut parts = Vec::new();
        let mut bytes = 0;
        for ids in ids.chunks(COUNTED_TOGETHER) {
            let part = fetch.fetch_columns(ids, &[column])?.columns.remove(0);
            if part.native() == NativeType::String {
                let texts = (0..part.len()).filter(|row| !part.is_null(*row));
                bytes += texts.map(|row| part.string(row).len()).sum::<usize>();
            }
            if bytes > MOST_BYTES {
                return Ok(None);
            }
            parts.push(part);
        }
        let Some(first) = parts.first() else {
            return Ok(None);
        };
        let sources: Vec<&ColumnVector> = parts.iter().collect();
        let of_place = |i: usize| (i / COUNTED_TOGETHER, i % COUNTED_TOGETHER);
        let order: Vec<(usize, usize)> = (0..ids.len()).map(of_place).collect();
        let values = ColumnVector::gathered(first.ty(), &sources, &order);
        let input = ColumnInput::of_vector(&values, 0..ids.len());
        let block = BlockBuilder::new(BuildOptions::default()).build(&[input])?;
        Ok(Some(SampledColumn {
            block,
            places,
            tested: Mutex::default(),
        }))
    }

    /// The match bits of a restriction, of a sample of `rows` rows.
    fn matching(&self, kind: &RestrictionKind, rows: usize) -> Result<MatchBits> {
        let restriction = Restriction {
            column: 0,
            kind: kind.clone(),
        };
        let mut scan = BlockScan::new(&self.block, &[restriction], &[], ScanOptions::default())?;
        let mut bits = MatchBits::zeros(0);
        let mut positions = Vec::new();
        let matched = scan.match_window(0..self.block.rows(), &mut bits, &mut positions)?;
        let mut out = MatchBits::zeros(rows);
        let mut set = |row: usize| out.set(usize::from(self.places[row]), true);
        match matched {
            Matched::None => {}
            Matched::All => (0..self.places.len()).for_each(set),
            Matched::Bits => bits.iter().for_each(set),
            Matched::Positions => positions.iter().for_each(|row| set((*row).into())),
        }
        Ok(out)
    }
}

/// Counts the values of a column of integers.
fn count_keys(version: &TableSnapshot, column: usize) -> Result<Option<KeySketch>> {
    let native = version.schema().columns[column].ty.native();
    if !matches!(native, NativeType::I16 | NativeType::I32 | NativeType::I64) {
        return Ok(None);
    }
    let chunks = looked_into(version);
    let step = slots_of(&chunks) as f64 / COUNTED_KEYS as f64;
    let cancel = Cancel::of_thread();
    let mut counter = KeyCounter::default();
    let mut buffer = ColumnBuffer::new();
    let mut drawn = Vec::new();
    for entry in chunks {
        cancel.check()?;
        let view = entry.view();
        drawn.clear();
        let selection = if step <= 1.0 {
            Selection::all(0..view.rows())
        } else {
            let parts = (f64::from(view.rows()) / step) as u32;
            drawn.extend((0..parts).map(|part| (f64::from(part) * step) as u16));
            Selection::Positions(&drawn)
        };
        (view.read(Isa::detect(), column, selection, &mut buffer))
            .map_err(|e| entry.blame(version.table().entry(), e))?;
        buffer.flatten();
        let row = |i: usize| drawn.get(i).map_or(i, |row| usize::from(*row));
        let counts =
            |i: &usize| !view.is_deleted(row(*i)) && buffer.validity().is_none_or(|valid| valid[*i] == 1);
        let rows = (0..buffer.len()).filter(counts);
        match native {
            NativeType::I16 => rows.for_each(|i| counter.count(buffer.values::<i16>()[i].into())),
            NativeType::I32 => rows.for_each(|i| counter.count(buffer.values::<i32>()[i].into())),
            _ => rows.for_each(|i| counter.count(buffer.values::<i64>()[i])),
        }
    }
    Ok(Some(counter.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_that_are_looked_into_are_spread_evenly() {
        for places in [
            0,
            1,
            2,
            MOST_CHUNKS - 1,
            MOST_CHUNKS,
            MOST_CHUNKS + 1,
            700,
            100_000,
        ] {
            let chosen: Vec<usize> = spread_evenly(places).collect();
            assert_eq!(chosen.len(), places.min(MOST_CHUNKS));
            let widest = places.div_ceil(MOST_CHUNKS);
            let all = || {
                std::iter::once(0)
                    .chain(chosen.iter().map(|place| place + 1))
                    .chain([places + 1])
            };
            let steps: Vec<usize> = all().zip(all().skip(1)).map(|(a, b)| b - a).collect();
            let (_, inner) = steps.split_first().expect("an end");
            assert!(chosen.iter().all(|place| *place < places), "{places}");
            assert!(
                inner.iter().all(|step| (1..=widest).contains(step)),
                "{places}: {steps:?}"
            );
        }
    }
}
