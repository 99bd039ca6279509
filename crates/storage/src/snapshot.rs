//! What a statement reads: one version of the catalog and of every table.

use crate::access_counters::AccessCounters;
use crate::bounds::{ColumnBounds, TableBounds};
use crate::chunk_entry::ChunkEntry;
use crate::entry_collector::{EntryCollector, ShowsRows};
use crate::hot_layout::HotLayout;
use crate::kept_row::SpareRow;
use crate::log::Lsn;
use crate::moved_columns::Moved;
use crate::persistent_map::PersistentMap;
use crate::reshape::Reshape;
use crate::row_counts::RowCounts;
use crate::row_sample::KeptSamples;
use crate::statistics::{DistinctEstimate, TableStatistics};
use crate::table_indexes::{TableIndex, TableIndexes};
use crate::table_options::build_options;
use frazil_block::BuildOptions;
use frazil_catalog::{Catalog, QualifiedName, TableEntry};
use frazil_types::{ColumnNumber, ColumnVector, Error, ObjectId, Result, RowId, Schema};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The part of a table that all its versions share.
#[derive(Debug)]
pub struct Table {
    entry: Arc<TableEntry>,
    /// Of its columns.
    /// The columns that its rows store: [`TableEntry::stored_schema`].
    schema: Arc<Schema>,
    numbers: Arc<[ColumnNumber]>,
    layout: Arc<HotLayout>,
    spare_row: SpareRow,
    shared: Arc<Shared>,
}

/// What does not change with the table's options and the names of its columns.
#[derive(Debug)]
struct Shared {
    next_chunk: Arc<AtomicU32>,
    distinct: Mutex<Option<DistinctEstimate>>,
    samples: KeptSamples,
    bounds: TableBounds,
    access: AccessCounters,
    row_counts: Arc<RowCounts>,
    collector: Arc<EntryCollector<TableSnapshot>>,
}

impl Shared {
    /// The same of a table of other columns.
    fn reshaped(&self, moved: &Moved) -> Shared {
        let known = self.distinct.lock().unwrap_or_else(|e| e.into_inner());
        // A column that is new has one value.
        let distinct = known.as_ref().map(|known| DistinctEstimate {
            rows: known.rows,
            columns: moved.of(&known.columns, 1.0).into(),
        });
        Shared {
            next_chunk: self.next_chunk.clone(),
            distinct: Mutex::new(distinct),
            samples: KeptSamples::default(),
            bounds: self.bounds.reshaped(moved),
            access: self.access.reshaped(moved),
            row_counts: self.row_counts.clone(),
            collector: self.collector.clone(),
        }
    }
}

impl Table {
    /// A table whose next chunk gets number `next_chunk`.
    pub fn new(entry: Arc<TableEntry>, next_chunk: u32) -> Arc<Table> {
        let shared = Shared {
            next_chunk: Arc::new(AtomicU32::new(next_chunk)),
            distinct: Mutex::new(None),
            samples: KeptSamples::default(),
            bounds: TableBounds::new(entry.stored_columns().count()),
            access: AccessCounters::new(entry.stored_columns().count()),
            row_counts: Arc::default(),
            collector: Arc::default(),
        };
        Table::of(entry, Arc::new(shared))
    }

    fn of(entry: Arc<TableEntry>, shared: Arc<Shared>) -> Arc<Table> {
        let schema = entry.stored_schema();
        let layout = Arc::new(HotLayout::new(&schema, entry.options.pax_rows));
        Arc::new(Table {
            numbers: schema.numbers().collect(),
            schema,
            entry,
            layout,
            spare_row: SpareRow::default(),
            shared,
        })
    }

    /// The same table with another entry. `moved` says where its columns come from, if they are others.
    fn with_entry(&self, entry: Arc<TableEntry>, moved: Option<&Moved>) -> Arc<Table> {
        let shared = match moved {
            Some(moved) => Arc::new(self.shared.reshaped(moved)),
            None => self.shared.clone(),
        };
        Table::of(entry, shared)
    }

    /// The rows of a chunk with the table's columns, of which the chunk may store some and others beside them.
    pub fn show(&self, entry: ChunkEntry) -> Result<ChunkEntry> {
        match *entry.stored() == self.numbers {
            true => Ok(entry),
            false => Reshape::new(self.schema.clone(), None)?.show(&entry),
        }
    }

    /// The numbers of its columns.
    pub fn numbers(&self) -> &Arc<[ColumnNumber]> {
        &self.numbers
    }

    /// What its options ask of its blocks, however they are used.
    pub fn asked_options(&self) -> BuildOptions {
        build_options(&self.entry.options)
    }

    /// Its identity.
    pub fn id(&self) -> ObjectId {
        self.entry.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// Its columns, the hidden ones behind those that statements see.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Its entry in the catalog.
    pub fn entry(&self) -> &Arc<TableEntry> {
        &self.entry
    }

    /// How its hot chunks are laid out.
    pub fn layout(&self) -> &Arc<HotLayout> {
        &self.layout
    }

    /// Where columns of one row wait for an UPDATE.
    pub(crate) fn spare_row(&self) -> &SpareRow {
        &self.spare_row
    }

    pub(crate) fn distinct_cell(&self) -> &Mutex<Option<DistinctEstimate>> {
        &self.shared.distinct
    }

    /// Samples of its rows and the frequencies of its keys.
    pub(crate) fn samples(&self) -> &KeptSamples {
        &self.shared.samples
    }

    /// What holds for every version of the table.
    pub fn bounds(&self) -> &TableBounds {
        &self.shared.bounds
    }

    /// How its columns are used.
    pub fn access(&self) -> &AccessCounters {
        &self.shared.access
    }

    /// Rows that were written, and scans.
    pub fn row_counts(&self) -> &RowCounts {
        &self.shared.row_counts
    }

    /// What waits to leave its indexes.
    pub(crate) fn collector(&self) -> &Arc<EntryCollector<TableSnapshot>> {
        &self.shared.collector
    }

    /// Deleted rows whose index entries wait until nobody can see the rows any more.
    pub fn waiting_entries(&self) -> u64 {
        self.shared.collector.waiting()
    }

    /// A chunk number that was never used.
    pub fn take_chunk_number(&self) -> u32 {
        self.shared.next_chunk.fetch_add(1, Ordering::Relaxed)
    }

    /// Says that a chunk has a number: no other one gets it.
    pub(crate) fn skip_chunk_number(&self, number: u32) {
        (self.shared.next_chunk).fetch_max(number.saturating_add(1), Ordering::Relaxed);
    }

    /// The number the next chunk will get.
    pub fn next_chunk_number(&self) -> u32 {
        self.shared.next_chunk.load(Ordering::Relaxed)
    }
}

/// The timestamp of a version that a transaction has made and not committed.
const PRIVATE: u64 = u64::MAX;

/// The timestamp of a version, set while nobody but the transaction that made the version knows it.
#[derive(Debug)]
struct Timestamp(AtomicU64);

impl Timestamp {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<u64> for Timestamp {
    fn from(timestamp: u64) -> Timestamp {
        Timestamp(AtomicU64::new(timestamp))
    }
}

impl Clone for Timestamp {
    fn clone(&self) -> Timestamp {
        self.get().into()
    }
}

/// Kept alive by a version that a transaction has made and not committed.
#[derive(Clone, Debug)]
struct Private {
    /// The version that it derives from, which shows the same rows of others: their index entries stay as long as it
    /// lives. `None`: the table is the transaction's own.
    _base: Option<Arc<TableSnapshot>>,
    /// Held by all versions of the transaction.
    _transaction: Arc<()>,
}

/// One immutable version of a table's rows.
#[derive(Clone, Debug)]
pub struct TableSnapshot {
    table: Arc<Table>,
    timestamp: Timestamp,
    /// `None` if the version is committed.
    private: Option<Private>,
    /// The chunks that take no further rows, by their numbers.
    sealed: PersistentMap<Arc<ChunkEntry>, Arc<Reshape>>,
    /// The hot chunk that is being filled. It stands apart, so that a commit of a few rows copies one entry.
    tail: Option<Arc<ChunkEntry>>,
    live_rows: u64,
    indexes: Arc<TableIndexes>,
    statistics: OnceLock<Arc<TableStatistics>>,
}

impl TableSnapshot {
    /// A table without rows.
    pub fn empty(table: Arc<Table>) -> TableSnapshot {
        let mut version = TableSnapshot::new(table, Vec::new(), None);
        version.indexes = Arc::new(TableIndexes::empty(version.table.entry()));
        version
    }

    /// A version of these chunks; the tail, if any, takes further rows. It has no indexes: see
    /// [`TableSnapshot::build_indexes`].
    pub fn new(table: Arc<Table>, sealed: Vec<ChunkEntry>, tail: Option<ChunkEntry>) -> TableSnapshot {
        let mut version = TableSnapshot {
            table,
            timestamp: 0.into(),
            private: None,
            sealed: PersistentMap::default(),
            tail: None,
            live_rows: 0,
            indexes: Arc::default(),
            statistics: OnceLock::new(),
        };
        sealed.into_iter().for_each(|entry| version.add_sealed(entry));
        if let Some(tail) = tail {
            take_in(&version.table, &tail);
            version.live_rows += u64::from(tail.view().live_rows());
            version.tail = Some(Arc::new(tail));
        }
        version
    }

    /// The same rows of the same table under another entry. If that has other columns, chunks show these from their
    /// next reader on, and store what they did. No chunk is touched. Rows that come get a new chunk if the last one has no cells for them, or none for NULLs that are allowed now.
    pub(crate) fn with_entry(&self, entry: Arc<TableEntry>) -> Result<TableSnapshot> {
        let numbers: Vec<ColumnNumber> = entry.stored_columns().map(|column| column.number).collect();
        let moved =
            (numbers[..] != **self.table.numbers()).then(|| Moved::between(self.table.numbers(), &numbers));
        let mut next = TableSnapshot {
            table: self.table.with_entry(entry, moved.as_ref()),
            ..self.clone()
        };
        let columns = next.schema().columns.iter().zip(&self.schema().columns);
        if moved.is_some()
            || columns
                .into_iter()
                .any(|(new, old)| new.nullable && !old.nullable)
        {
            next.seal_tail();
        }
        if let Some(moved) = moved {
            if next.chunk_count() > 0 {
                next.take_in_constants(&moved);
            }
            let reshape = Reshape::new(next.schema().clone(), Some(moved))?;
            next.sealed = next.sealed.seen_through(&Arc::new(reshape));
            next.statistics = OnceLock::new();
        }
        Ok(next)
    }

    /// Widens the bounds of the table by the values that rows have in columns that are new.
    fn take_in_constants(&self, moved: &Moved) {
        let mut widening = self.table.bounds().widening();
        for position in moved.new_columns() {
            let column = &self.schema().columns[position];
            let constant = ColumnVector::from_values(column.ty, std::slice::from_ref(&column.missing));
            widening.take_in(position, ColumnBounds::of(&constant, 0, 1));
        }
    }

    /// Gives the table another entry, which has the same columns and indexes.
    pub(crate) fn renamed(mut self, entry: Arc<TableEntry>) -> TableSnapshot {
        self.table = self.table.with_entry(entry, None);
        self
    }

    /// The indexes of the table, as far as this version knows them.
    pub fn indexes(&self) -> &Arc<TableIndexes> {
        &self.indexes
    }

    /// Leaves out the indexes that have one of some columns, so that they are built anew.
    pub(crate) fn forget_indexes_of(&mut self, columns: &[usize]) {
        let has_none = |index: &&Arc<TableIndex>| !index.columns().iter().any(|c| columns.contains(c));
        let kept = self.indexes.iter().filter(has_none).cloned().collect();
        self.indexes = Arc::new(TableIndexes::of(kept));
    }

    pub(crate) fn set_indexes(&mut self, indexes: TableIndexes) {
        self.indexes = Arc::new(indexes);
    }

    pub(crate) fn statistics_cell(&self) -> &OnceLock<Arc<TableStatistics>> {
        &self.statistics
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Its columns.
    pub fn schema(&self) -> &Arc<Schema> {
        self.table.schema()
    }

    /// Time of the commit that made this version; later versions have greater ones. `None` while it is seen by the
    /// transaction alone that made it.
    pub fn timestamp(&self) -> Option<u64> {
        Some(self.timestamp.get()).filter(|&t| t != PRIVATE)
    }

    pub(crate) fn is_private(&self) -> bool {
        self.timestamp.get() == PRIVATE
    }

    /// Makes it a version of a transaction, `base` with what the transaction did. `transaction` is held by all versions
    /// of the transaction that somebody may see before it commits.
    pub(crate) fn make_private(&mut self, base: Option<Arc<TableSnapshot>>, transaction: &Arc<()>) {
        self.timestamp = PRIVATE.into();
        self.private = Some(Private {
            _base: base,
            _transaction: transaction.clone(),
        });
    }

    /// Makes it a version that nobody sees before it is stamped.
    pub(crate) fn make_unseen(&mut self) {
        self.timestamp = PRIVATE.into();
        self.private = None;
    }

    /// Rows it shows, deleted ones left out.
    pub fn rows(&self) -> u64 {
        self.live_rows
    }

    /// Number of chunks.
    pub fn chunk_count(&self) -> usize {
        self.sealed.len() + usize::from(self.tail.is_some())
    }

    /// The chunk at a position (not its number).
    pub fn chunk(&self, position: usize) -> &Arc<ChunkEntry> {
        match self.sealed.at(position) {
            Some(entry) => entry,
            None => self.tail.as_ref().expect("a position below chunk_count"),
        }
    }

    /// The chunk of a number, if this version shows it.
    #[inline]
    pub fn entry(&self, number: u32) -> Option<&Arc<ChunkEntry>> {
        match &self.tail {
            Some(tail) if tail.number() == number => Some(tail),
            _ => self.sealed.get(number),
        }
    }

    /// All chunks by their positions: in the order of their numbers, the tail last.
    pub fn chunks(&self) -> impl Iterator<Item = &Arc<ChunkEntry>> {
        self.sealed.iter().chain(&self.tail)
    }

    /// The hot chunk that takes further rows.
    pub fn tail(&self) -> Option<&Arc<ChunkEntry>> {
        self.tail.as_ref()
    }

    /// How its hot chunks are laid out, and the rows in them; where the option or the columns were changed, as most rows are that
    /// have cells in every column. `None` if there are none.
    pub fn hot_layout(&self) -> Option<(Arc<HotLayout>, u64)> {
        let mut found: Vec<(Arc<HotLayout>, u64)> = Vec::new();
        for view in self.chunks().map(|entry| entry.view()) {
            let Some(layout) = view.layout().filter(|layout| layout.is_whole()) else {
                continue;
            };
            let (alike, rows) = (layout.fingerprint(), u64::from(view.rows()));
            match found.iter_mut().find(|f| f.0.fingerprint() == alike) {
                Some(f) => f.1 += rows,
                None => found.push((layout.clone(), rows)),
            }
        }
        found.into_iter().max_by_key(|f| f.1)
    }

    /// Lets old habits fade a step, if an epoch of use is over: see [`AccessCounters`].
    pub fn end_epoch(&self) {
        if self.table.access().end_epoch(self.chunk_count()) {
            self.sealed
                .iter()
                .filter_map(|entry| entry.frozen_chunk())
                .for_each(|f| f.visits.fade());
        }
    }

    /// The chunks that take no further rows.
    pub fn sealed(&self) -> impl Iterator<Item = &Arc<ChunkEntry>> {
        self.sealed.iter()
    }

    /// Makes `tail` the chunk that takes further rows, after the one before it.
    pub(crate) fn begin_tail(&mut self, tail: ChunkEntry) {
        self.seal_tail();
        self.live_rows += u64::from(tail.view().live_rows());
        self.tail = Some(Arc::new(tail));
    }

    pub(crate) fn seal_tail(&mut self) {
        if let Some(tail) = self.tail.take() {
            self.sealed.insert(tail.number(), tail);
        }
    }

    /// Adds a chunk that takes no further rows.
    pub(crate) fn add_sealed(&mut self, entry: ChunkEntry) {
        take_in(&self.table, &entry);
        self.live_rows += u64::from(entry.view().live_rows());
        self.sealed.insert(entry.number(), Arc::new(entry));
        self.statistics = OnceLock::new();
    }

    /// Changes the entry of a chunk; `None` if there is no such chunk. Its number stays. Costs no more where there are
    /// more chunks.
    pub(crate) fn change<T>(&mut self, number: u32, change: impl FnOnce(&mut ChunkEntry) -> T) -> Option<T> {
        let entry = match &mut self.tail {
            Some(tail) if tail.number() == number => tail,
            _ => self.sealed.get_mut(number)?,
        };
        let before = u64::from(entry.view().live_rows());
        let result = change(Arc::make_mut(entry));
        debug_assert_eq!(entry.number(), number);
        self.live_rows = self.live_rows - before + u64::from(entry.view().live_rows());
        self.statistics = OnceLock::new();
        Some(result)
    }

    /// Changes the entry of the chunk that takes further rows, beside the table; `None` if there is no such chunk.
    pub(crate) fn change_tail<T>(&mut self, change: impl FnOnce(&mut ChunkEntry, &Table) -> T) -> Option<T> {
        let tail = Arc::make_mut(self.tail.as_mut()?);
        let before = u64::from(tail.view().live_rows());
        let result = change(tail, &self.table);
        self.live_rows = self.live_rows - before + u64::from(tail.view().live_rows());
        self.statistics = OnceLock::new();
        Some(result)
    }

    /// Takes a chunk in, in the place of the one that has its number if there is one. A chunk that takes further rows
    /// becomes the tail unless a tail of a greater number is there.
    pub(crate) fn join(&mut self, entry: Arc<ChunkEntry>, takes_rows: bool) {
        let number = entry.number();
        self.remove(number);
        take_in(&self.table, &entry);
        self.live_rows += u64::from(entry.view().live_rows());
        self.statistics = OnceLock::new();
        if takes_rows && self.tail.as_ref().is_none_or(|tail| tail.number() < number) {
            self.seal_tail();
            self.tail = Some(entry);
        } else {
            self.sealed.insert(number, entry);
        }
    }

    /// Makes a chunk the tail again. The version must not have another tail.
    pub(crate) fn unseal(&mut self, number: u32) {
        debug_assert!(self.tail.is_none());
        self.tail = self.sealed.get(number).cloned();
        self.sealed.remove(number);
    }

    /// The chunks of which another version has other entries, or none. Chunks that both versions share cost nothing.
    pub(crate) fn chunks_unlike<'a>(
        &'a self,
        other: &TableSnapshot,
    ) -> impl Iterator<Item = &'a Arc<ChunkEntry>> {
        let sealed = self
            .sealed
            .different(&other.sealed, |one, other| !Arc::ptr_eq(one, other));
        let sealed = sealed.into_iter().filter_map(|number| self.sealed.get(number));
        let entries = sealed.chain(&self.tail);
        entries.filter(|entry| {
            let other = other.entry(entry.number());
            other.is_none_or(|other| !Arc::ptr_eq(entry, other))
        })
    }

    /// Describes how two versions of a table differ, if only these chunks were touched in them. When chunks were last
    /// modified does not count, nor do blocks without live rows.
    pub(crate) fn difference(&self, other: &TableSnapshot, touched: &BTreeSet<u32>) -> Option<String> {
        let counts = |version: &TableSnapshot| {
            let tail = version.tail.as_ref().map(|tail| tail.number());
            let dead = version.sealed().filter(|entry| entry.is_dead_block()).count();
            (version.live_rows, version.chunk_count() - dead, tail)
        };
        if counts(self) != counts(other) || !Arc::ptr_eq(&self.indexes, &other.indexes) {
            return Some(format!("{:?} instead of {:?}", counts(self), counts(other)));
        }
        touched.iter().find_map(|&number| {
            let (own, other) = (self.entry(number), other.entry(number));
            let same = match (own, other) {
                (Some(own), Some(other)) => own.shows_what(other),
                (own, other) => own.or(other).is_none_or(|entry| entry.is_dead_block()),
            };
            (!same).then(|| format!("chunk {number}: {own:?} instead of {other:?}"))
        })
    }

    /// Takes a chunk away, the tail among them; its number is not used again.
    pub(crate) fn remove(&mut self, number: u32) {
        let Some(entry) = self.entry(number) else { return };
        self.live_rows -= u64::from(entry.view().live_rows());
        match &self.tail {
            Some(tail) if tail.number() == number => self.tail = None,
            _ => self.sealed.remove(number),
        }
        self.statistics = OnceLock::new();
    }

    /// Removes all rows. Chunk numbers go on, so that no row id comes again.
    pub(crate) fn clear(&mut self) {
        self.sealed = PersistentMap::default();
        self.tail = None;
        self.live_rows = 0;
        self.indexes = Arc::new(TableIndexes::empty(self.table.entry()));
        self.statistics = OnceLock::new();
    }

    /// This version, made by the commit of a timestamp, or by earlier ones.
    pub(crate) fn at(mut self, timestamp: u64) -> TableSnapshot {
        self.timestamp = timestamp.into();
        self
    }

    /// Gives a version that nobody sees the timestamp of the commit that is going to show it.
    pub(crate) fn stamp(&self, timestamp: u64) {
        debug_assert!(self.is_private() && self.private.is_none());
        self.timestamp.0.store(timestamp, Ordering::Relaxed);
    }
}

impl ShowsRows for TableSnapshot {
    fn shows_row(&self, row: RowId) -> bool {
        self.shows(row)
    }
}

/// Widens the bounds of a table by those of a chunk that joins it.
pub(crate) fn take_in(table: &Table, entry: &ChunkEntry) {
    let (view, columns) = (entry.view(), 0..table.schema().columns.len());
    table.bounds().widen(columns.map(|c| view.bounds(c)));
}

/// One version of everything: what a statement reads from its first row to its last.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) timestamp: u64,
    /// The end of its last commit in the log.
    pub(crate) lsn: Lsn,
    /// The log must be durable up to there before anybody hears of what the snapshot shows. At or before `lsn`.
    pub(crate) visible_at: Lsn,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) tables: PersistentMap<Arc<TableSnapshot>>,
    /// Tables that could not be read when the directory was opened, and the errors of their statements. The catalog
    /// has them, unless they were dropped since.
    pub(crate) damaged: Arc<BTreeMap<ObjectId, Error>>,
}

impl Snapshot {
    /// Time of the last commit it shows.
    pub fn timestamp(&self) -> u64 {
        self.timestamp
    }

    /// The end of that commit in the log: what comes behind is not shown.
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// Names and schemas.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The rows of a table. XX001 if it is damaged, an internal error if the snapshot does not have it.
    pub fn table(&self, id: ObjectId) -> Result<&Arc<TableSnapshot>> {
        self.tables.get(id.0).ok_or_else(|| self.missing(id))
    }

    /// Why a table is not among those of the snapshot.
    pub(crate) fn missing(&self, id: ObjectId) -> Error {
        let none = || Error::internal(format!("table {} is not in the snapshot", id.0));
        self.damaged.get(&id).cloned().unwrap_or_else(none)
    }

    /// The error of a table that could not be read when the directory was opened, if it is one.
    pub fn damage(&self, id: ObjectId) -> Option<&Error> {
        self.damaged.get(&id)
    }

    /// The tables that could not be read when the directory was opened, unless they were dropped since, each with the
    /// error of its statements.
    pub fn damaged(&self) -> impl Iterator<Item = (&Arc<TableEntry>, &Error)> {
        let damaged = self.damaged.iter();
        damaged.filter_map(|(id, error)| self.catalog.table_by_id(*id).map(|entry| (entry, error)))
    }

    /// The rows of a table by its name; 42P01 if there is none.
    pub fn table_named(&self, name: impl Into<QualifiedName>) -> Result<&Arc<TableSnapshot>> {
        self.table(self.catalog.table(&name.into())?.id)
    }

    /// The version that files have: everything but temporary objects. `None` without temporary objects.
    pub fn lasting(&self) -> Option<Snapshot> {
        if !self.catalog.has_temporary() {
            return None;
        }
        let mut lasting = self.clone();
        lasting.catalog = Arc::new(self.catalog.lasting());
        let tables = self.tables().map(|table| table.table().id());
        tables
            .filter(|id| id.is_temporary())
            .for_each(|id| lasting.tables.remove(id.0));
        Some(lasting)
    }

    /// All tables.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<TableSnapshot>> {
        self.tables.iter()
    }
}
