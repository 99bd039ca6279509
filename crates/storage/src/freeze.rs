//! Freezing: rows that have gone cold become Data Blocks (Data Blocks, section 3).
//!
//! A block is built from versions that nobody changes, so scans run on and the builder needs no lock;
//! only the swap is made by a transaction. Freezing keeps row ids: a block holds all rows of its chunk, those that are
//! deleted among them, at their offsets, and the chunk keeps its number. Rewriting does not: where rows are sorted,
//! gathered from several chunks, or freed of many deleted ones, they get new ids in a chunk of a new number
//! ([`MovedRows`] says which), and those that were deleted while the block was built are deleted again in their new
//! places. No statement that writes holds a row id across a swap, because a swap waits until nobody else writes.

use crate::chunk::{Chunk, FrozenChunk};
use crate::chunk_entry::ChunkEntry;
use crate::log::Acknowledge;
use crate::new_rows::{check_shape, refuse_nulls};
use crate::redo::WrittenBlock;
use crate::snapshot::{Table, TableSnapshot};
use crate::store::Store;
use crate::transaction::Transaction;
use frazil_block::{Block, BlockBuilder, BuildOptions, ColumnBuffer, ColumnInput};
use frazil_kernels::{Isa, Selection};
use frazil_locks::TableMode;
use frazil_types::{
    CHUNK_ROWS, Cancel, Error, Interval, Native, NativeType, ObjectId, Result, RowBatch, RowId, SqlState,
    StringRef, dispatch_native, value_ops::interval_span,
};
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Most time that a swap waits until nobody writes. Those who come to write meanwhile wait behind it.
pub(crate) const PEACE: Duration = Duration::from_millis(5);

/// Builds blocks of one table, one after the other; one per worker.
#[derive(Default)]
pub struct Freezer {
    builder: BlockBuilder,
    options: Arc<BuildOptions>,
}

/// The live rows of some chunks, at most 65,536, as one block.
pub(crate) struct RewrittenRows {
    /// `None` when all rows were deleted.
    block: Option<Block>,
    /// For each row of the block the number of its source and its offset there.
    places: Vec<(u16, u16)>,
}

/// Rows that a rewrite moved into another chunk.
#[derive(Clone, Copy)]
pub(crate) struct MovedRows<'a> {
    sources: &'a [Arc<ChunkEntry>],
    /// For each row of the new chunk the number of its source and its offset there.
    places: &'a [(u16, u16)],
    /// Of the new chunk.
    number: u32,
}

impl MovedRows<'_> {
    /// Each row's old id and its new one, in the order of the new ones.
    pub fn iter(&self) -> impl Iterator<Item = (RowId, RowId)> {
        (self.places.iter().enumerate()).map(|(new, &(source, offset))| {
            let old = self.sources[usize::from(source)].number();
            (RowId::new(old, offset), RowId::new(self.number, new as u16))
        })
    }
}

impl Table {
    /// An error that is a defect of ours with the table in front; what the user can mend names the column alone.
    fn blame(&self, error: Error) -> Error {
        match error.state() {
            SqlState::INTERNAL_ERROR => error.in_context(format!("table \"{}\"", self.name())),
            _ => error,
        }
    }
}

impl Freezer {
    /// A freezer that builds blocks as the options say.
    pub fn new(options: BuildOptions) -> Freezer {
        Freezer {
            builder: BlockBuilder::new(options.clone()),
            options: Arc::new(options),
        }
    }

    /// A freezer of one table's blocks.
    pub fn of_table(version: &TableSnapshot) -> Freezer {
        Freezer::new(version.build_options())
    }

    /// What its blocks are built by.
    pub fn options(&self) -> &Arc<BuildOptions> {
        &self.options
    }

    /// Freezes rows of a batch that never were in a hot chunk: the loader's path. At most 65,536 rows;
    /// checked as an insert is.
    pub fn freeze_batch(&mut self, table: &Table, batch: &RowBatch) -> Result<Block> {
        check_shape(table, batch)?;
        refuse_nulls(table, batch)?;
        let inputs: Vec<ColumnInput<'_>> = (batch.columns.iter().zip(&table.schema().columns))
            .map(|(c, def)| ColumnInput::of_vector(c, 0..batch.rows).named(&def.name))
            .collect();
        self.builder.build(&inputs).map_err(|e| table.blame(e))
    }

    /// A block of all rows that an entry shows, deleted ones among them, at their offsets.
    pub fn freeze_in_place(&mut self, table: &Table, entry: &ChunkEntry) -> Result<Block> {
        let gathered = GatheredRows::in_place(table, entry)?;
        if gathered.rows == 0 {
            return Err(Error::internal("a chunk without rows was to be frozen"));
        }
        (self.builder.build(&gathered.inputs(table))).map_err(|e| table.blame(e))
    }

    /// Freezes the live rows of these chunks, at most 65,536, in their order or sorted by a column (NULLs last).
    pub(crate) fn rewrite(
        &mut self,
        table: &Table,
        sources: &[Arc<ChunkEntry>],
        order_by: Option<usize>,
    ) -> Result<RewrittenRows> {
        let gathered = GatheredRows::visible(table, sources, order_by)?;
        let block = match gathered.rows {
            0 => None,
            _ => {
                let built = self.builder.build(&gathered.inputs(table));
                Some(built.map_err(|e| table.blame(e))?)
            }
        };
        Ok(RewrittenRows {
            block,
            places: gathered.places,
        })
    }
}

/// Rows of some chunks side by side, as the builder reads them.
pub(crate) struct GatheredRows {
    rows: usize,
    columns: Vec<Gathered>,
    /// As in [`RewrittenRows`]; empty where rows keep their places.
    places: Vec<(u16, u16)>,
}

impl GatheredRows {
    /// The live rows of these chunks in their order or sorted by a column (NULLs last).
    pub fn visible(
        table: &Table,
        sources: &[Arc<ChunkEntry>],
        order_by: Option<usize>,
    ) -> Result<GatheredRows> {
        let mut places = visible_places(sources);
        if let Some(column) = order_by {
            sort_places(table, sources, column, &mut places)?;
        }
        let rows = places.len();
        let mut columns = Vec::new();
        if rows > 0 {
            for column in 0..table.schema().columns.len() {
                columns.push(Gathered::new(table, sources, column, &places)?);
            }
        }
        Ok(GatheredRows {
            rows,
            columns,
            places,
        })
    }

    /// All rows that an entry shows, deleted ones among them, in their places.
    fn in_place(table: &Table, entry: &ChunkEntry) -> Result<GatheredRows> {
        let columns = (0..table.schema().columns.len()).map(|column| {
            Ok(Gathered {
                out: read_whole(table, entry, column)?,
                _sources: Vec::new(),
            })
        });
        Ok(GatheredRows {
            rows: entry.view().rows() as usize,
            columns: columns.collect::<Result<_>>()?,
            places: Vec::new(),
        })
    }

    /// The columns, in the order of the table's; none if there are no rows.
    pub fn inputs<'a>(&'a self, table: &'a Table) -> Vec<ColumnInput<'a>> {
        (self.columns.iter().zip(&table.schema().columns))
            // SAFETY: each buffer holds the native values of `rows` rows of the column, and lives as long as
            // the inputs; strings point into it, into buffers beside it, or into the chunks.
            .map(|(g, def)| unsafe {
                ColumnInput::of_memory(def.ty, g.out.values_ptr(), self.rows, g.out.validity())
                    .named(&def.name)
            })
            .collect()
    }
}

/// A column of the rows to be frozen, and what its strings point into.
struct Gathered {
    out: ColumnBuffer,
    _sources: Vec<ColumnBuffer>,
}

impl Gathered {
    fn new(
        table: &Table,
        sources: &[Arc<ChunkEntry>],
        column: usize,
        places: &[(u16, u16)],
    ) -> Result<Gathered> {
        let mut buffers = Vec::new();
        for entry in sources {
            buffers.push(read_whole(table, entry, column)?);
        }
        let mut out = ColumnBuffer::new();
        dispatch_native!(table.schema().columns[column].ty.native(), T => {
            let values: Vec<&[T]> = buffers.iter().map(|b| b.values::<T>()).collect();
            gather(&values, places, out.prepare::<T>(places.len()));
        });
        if buffers.iter().any(|b| b.validity().is_some()) {
            let validity: Vec<Option<&[u8]>> = buffers.iter().map(ColumnBuffer::validity).collect();
            for (to, &(source, row)) in out.validity_mut().iter_mut().zip(places) {
                *to = validity[usize::from(source)].map_or(1, |v| v[usize::from(row)]);
            }
        }
        Ok(Gathered {
            out,
            _sources: buffers,
        })
    }
}

fn gather<T: Native>(sources: &[&[T]], places: &[(u16, u16)], out: &mut [T]) {
    for (to, &(source, row)) in out.iter_mut().zip(places) {
        *to = sources[usize::from(source)][usize::from(row)];
    }
}

/// All rows of a column of a chunk, flat.
fn read_whole(table: &Table, entry: &ChunkEntry, column: usize) -> Result<ColumnBuffer> {
    let mut buffer = ColumnBuffer::new();
    let view = entry.view();
    (view.read(Isa::detect(), column, Selection::all(0..view.rows()), &mut buffer))
        .map_err(|e| entry.blame(table.entry(), e))?;
    buffer.flatten();
    Ok(buffer)
}

fn visible_places(sources: &[Arc<ChunkEntry>]) -> Vec<(u16, u16)> {
    let mut places = Vec::new();
    for (i, view) in sources.iter().map(|entry| entry.view()).enumerate() {
        let rows = (0..view.rows() as usize).filter(|&r| !view.is_deleted(r));
        places.extend(rows.map(|r| (i as u16, r as u16)));
    }
    places
}

/// Stable, NULLs last.
fn sort_places(
    table: &Table,
    sources: &[Arc<ChunkEntry>],
    column: usize,
    places: &mut Vec<(u16, u16)>,
) -> Result<()> {
    let gathered = Gathered::new(table, sources, column, places)?;
    let mut order: Vec<u32> = (0..places.len() as u32).collect();
    let keys = &gathered.out;
    let ty = table.schema().columns[column].ty;
    match ty.native() {
        NativeType::Bool => sort_by_key::<u8>(keys, &mut order, u8::cmp),
        NativeType::I16 => sort_by_key::<i16>(keys, &mut order, i16::cmp),
        NativeType::I32 => sort_by_key::<i32>(keys, &mut order, i32::cmp),
        NativeType::I64 => sort_by_key::<i64>(keys, &mut order, i64::cmp),
        NativeType::I128 if ty.is_span() => {
            let span = |v: &i128| interval_span(Interval::from_native(*v));
            sort_by_key::<i128>(keys, &mut order, |a, b| span(a).cmp(&span(b)));
        }
        NativeType::I128 => sort_by_key::<i128>(keys, &mut order, i128::cmp),
        NativeType::F64 => sort_by_key::<f64>(keys, &mut order, |a, b| {
            a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }),
        // SAFETY: `gathered` keeps the strings alive.
        NativeType::String => sort_by_key::<StringRef>(keys, &mut order, |a, b| unsafe { a.compare(*b) }),
    }
    *places = order.into_iter().map(|i| places[i as usize]).collect();
    Ok(())
}

fn sort_by_key<T: Native>(keys: &ColumnBuffer, order: &mut [u32], compare: impl Fn(&T, &T) -> Ordering) {
    let values = keys.values::<T>();
    let null = |row: u32| keys.validity().is_some_and(|v| v[row as usize] == 0);
    order.sort_by(|&a, &b| match (null(a), null(b)) {
        (false, false) => compare(&values[a as usize], &values[b as usize]),
        (a, b) => a.cmp(&b),
    });
}

/// What a freeze did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreezeReport {
    /// Blocks built.
    pub blocks: u64,
    /// Rows in them.
    pub rows: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl FreezeReport {
    fn add(&mut self, block: &Block) {
        self.blocks += 1;
        self.rows += u64::from(block.rows());
        self.bytes += block.bytes().len() as u64;
    }
}

/// What becomes of a chunk, or of several.
pub(crate) enum Change {
    /// The same rows at the same offsets, held otherwise.
    Hold(ChunkEntry),
    /// Live rows in a new chunk.
    Move(Vec<Arc<ChunkEntry>>, RewrittenRows),
}

impl Transaction {
    /// Freezes every hot chunk of a table, partial ones too. Small chunks beside each other are gathered, and thinned
    /// ones freed of their deleted rows; with `order_by` every chunk is rewritten, each sorted by itself.
    pub fn freeze_table(
        &mut self,
        id: ObjectId,
        order_by: Option<usize>,
        options: BuildOptions,
        cancel: &Cancel,
    ) -> Result<FreezeReport> {
        self.lock_whole(id, TableMode::Exclusive)?;
        let version = self.snapshot().table(id)?.clone();
        let mut freezer = Freezer::new(options);
        let mut changes = Vec::new();
        for group in groups(&version) {
            cancel.check()?;
            changes.extend(freezer.change(&version, group, order_by)?);
        }
        let now = self.coming_timestamp();
        self.redo().held(id);
        let mut report = FreezeReport::default();
        let next = self.table_mut(id)?;
        next.seal_tail();
        let without_rows = version.chunks().filter(|entry| entry.view().live_rows() == 0);
        without_rows.for_each(|entry| next.remove(entry.number()));
        for change in changes {
            match change {
                Change::Hold(entry) => {
                    entry.block().iter().for_each(|block| report.add(block));
                    next.change(entry.number(), |old| *old = entry);
                }
                Change::Move(sources, rows) => {
                    rows.block.iter().for_each(|block| report.add(block));
                    move_rows(next, &sources, rows, freezer.options(), now);
                }
            }
        }
        self.writer(id)?.follow_moved_rows(&version)?;
        self.note_moved_chunks(id, &version, None)?;
        Ok(report)
    }
}

impl Transaction {
    /// Writes down which chunks of a table are there that an earlier version lacks, all of them blocks, and which are gone. `written`: the
    /// block of the first one, if it is in a file already.
    fn note_moved_chunks(
        &mut self,
        table: ObjectId,
        before: &TableSnapshot,
        mut written: Option<WrittenBlock>,
    ) -> Result<()> {
        let after = self.view().table(table)?.clone();
        let is_new = |entry: &&Arc<ChunkEntry>| before.entry(entry.number()).is_none();
        for entry in after.chunks().filter(is_new) {
            match written.take() {
                Some(written) => self.redo().written_block(table, entry, written)?,
                None => self.note_block(table, entry.number())?,
            }
        }
        let gone = before.chunks().map(|entry| entry.number());
        let gone: Vec<u32> = gone.filter(|number| after.entry(*number).is_none()).collect();
        self.redo().removed(table, &gone);
        Ok(())
    }
}

impl Freezer {
    /// What FREEZE TABLE does with a group of chunks that are to be one; `None`: nothing.
    fn change(
        &mut self,
        version: &TableSnapshot,
        group: Vec<Arc<ChunkEntry>>,
        order_by: Option<usize>,
    ) -> Result<Option<Change>> {
        let table = version.table();
        let [only] = &group[..] else {
            let rows = self.rewrite(table, &group, order_by)?;
            return Ok(Some(Change::Move(group, rows)));
        };
        if order_by.is_some() || is_thinned(only) {
            let rows = self.rewrite(table, &group, order_by)?;
            return Ok(Some(Change::Move(group, rows)));
        }
        Ok(match only.frozen_chunk() {
            Some(frozen) if frozen.built_for.matches(self.options()) => None,
            Some(_) => self.replace(version, only)?.map(Change::Hold),
            None => Some(Change::Hold(self.hold(version, only)?)),
        })
    }

    /// The rows of a hot chunk as a block.
    pub(crate) fn hold(&mut self, version: &TableSnapshot, entry: &ChunkEntry) -> Result<ChunkEntry> {
        let block = self.freeze_in_place(version.table(), entry)?;
        let frozen = FrozenChunk::joining(version, block, self.options().clone());
        Ok(entry.with_chunk(Chunk::Frozen(frozen), version.table().numbers()))
    }
}

/// Whether most rows of a chunk are deleted: it is worth its rows' new ids to be freed of them.
fn is_thinned(entry: &ChunkEntry) -> bool {
    let view = entry.view();
    view.live_rows() < view.rows() / 2
}

/// Puts a chunk of rewritten rows in the place of those that they came from. Rows deleted since are deleted in it.
fn move_rows(
    version: &mut TableSnapshot,
    sources: &[Arc<ChunkEntry>],
    rows: RewrittenRows,
    options: &Arc<BuildOptions>,
    now: u64,
) {
    let deleted_since: Vec<bool> = (sources.iter())
        .map(|old| old.view().live_rows() != version.entry(old.number()).map_or(0, |e| e.view().live_rows()))
        .collect();
    if let Some(block) = rows.block {
        let number = version.table().take_chunk_number();
        let moved = MovedRows {
            sources,
            places: &rows.places,
            number,
        };
        let frozen = FrozenChunk::joining(version, block, options.clone());
        let mut entry = ChunkEntry::frozen(number, frozen, version.table().numbers().clone());
        if deleted_since.contains(&true) {
            for (old, new) in moved.iter() {
                let now_there = version.entry(old.chunk()).map(|entry| entry.view());
                if now_there.is_none_or(|view| view.is_deleted(old.offset().into())) {
                    entry.delete(new.offset(), now);
                }
            }
        }
        version.add_sealed(entry);
    }
    sources.iter().for_each(|old| version.remove(old.number()));
}

/// Runs of neighbouring chunks that become one block each: small ones are gathered.
pub(crate) fn groups(version: &TableSnapshot) -> Vec<Vec<Arc<ChunkEntry>>> {
    let mut groups: Vec<(u32, Vec<Arc<ChunkEntry>>)> = Vec::new();
    for entry in version.chunks() {
        let live = entry.view().live_rows();
        match groups.last_mut() {
            _ if live == 0 => {}
            Some((rows, group)) if *rows + live <= CHUNK_ROWS as u32 && group.len() < 1 << 12 => {
                *rows += live;
                group.push(entry.clone());
            }
            _ => groups.push((live, vec![entry.clone()])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

impl Store {
    /// Freezes one full hot chunk, or rewrites a chunk most of whose rows are deleted, if there is one
    /// and no transaction is writing: what a background worker calls when it has time. Returns whether
    /// there was work. A chunk that cannot be frozen as its table's options ask stays, and holds up
    /// no other table's; its error is returned when there is nothing else to do.
    pub fn freeze_step(self: &Arc<Store>) -> Result<bool> {
        let snapshot = self.snapshot();
        let mut failure = None;
        // Temporary tables are short-lived, and only their session may write to them.
        for version in snapshot
            .tables()
            .filter(|version| !version.table().id().is_temporary())
        {
            let table = version.table();
            table.collector().collect(usize::MAX);
            let Some(entry) = (version.sealed()).find(|entry| entry.is_hot() || is_thinned(entry)) else {
                continue;
            };
            let mut freezer = Freezer::of_table(version);
            // A panic, a defect of ours, is this chunk's failure as an error is.
            let freeze = || match is_thinned(entry) {
                true => {
                    let sources = vec![entry.clone()];
                    let rows = freezer.rewrite(table, &sources, None)?;
                    Ok(Change::Move(sources, rows))
                }
                false => freezer.hold(version, entry).map(Change::Hold),
            };
            match catch_unwind(AssertUnwindSafe(freeze)) {
                Ok(Ok(change)) => return self.swap(table.id(), entry, change, freezer.options()),
                Ok(Err(e)) => failure = Some(e),
                Err(panic) => failure = Some(table.blame(Error::of_panic(&*panic))),
            }
        }
        failure.map_or(Ok(false), Err)
    }

    /// Writes the block of rows that move to a file, durably, if there is a log that is to name it.
    fn write_moved(&self, rows: &RewrittenRows) -> Result<Option<WrittenBlock>> {
        let (Some(log), Some(block)) = (self.log(), &rows.block) else {
            return Ok(None);
        };
        let mut file = log.write_blocks()?;
        let place = file.write(block)?;
        file.sync()?;
        Ok(Some(WrittenBlock { file, place }))
    }

    /// Begins a transaction that changes how chunks of a table are held, beside others that write other tables. `None`
    /// if a transaction that has written to the table lasts longer than [`PEACE`].
    pub(crate) fn begin_swap(self: &Arc<Store>, table: ObjectId) -> Option<Transaction> {
        let mut transaction = self.begin(PEACE, &Cancel::new()).ok()?;
        let locked = transaction.lock_table(table, TableMode::Exclusive);
        locked.is_ok().then_some(transaction)
    }

    /// If a writer is at work, it may last; the block is built again when there is peace.
    pub(crate) fn swap(
        self: &Arc<Store>,
        table: ObjectId,
        old: &ChunkEntry,
        change: Change,
        options: &Arc<BuildOptions>,
    ) -> Result<bool> {
        // What the disk takes its time for is done while others write.
        let written = match &change {
            Change::Hold(_) => None,
            Change::Move(_, rows) => self.write_moved(rows)?,
        };
        let Some(mut transaction) = self.begin_swap(table) else {
            return Ok(false);
        };
        let now = transaction.coming_timestamp();
        // Rows that open transactions had in the chunk may have been committed since: then the block lacks them.
        let is_as_built = |entry: &Arc<ChunkEntry>| entry.shares_chunk(old) && !entry.shows_more_than(old);
        let still = |version: &TableSnapshot| version.entry(old.number()).is_some_and(is_as_built);
        if (transaction.view().table(table)).is_ok_and(|version| still(version)) {
            let before = transaction.view().table(table)?.clone();
            match &change {
                Change::Hold(_) => transaction.redo().held(table),
                Change::Move(..) => {}
            }
            let next = transaction.table_mut(table)?;
            match change {
                Change::Hold(entry) => drop(next.change(old.number(), |now| *now = now.held_as(&entry))),
                Change::Move(sources, rows) => {
                    move_rows(next, &sources, rows, options, now);
                    transaction.writer(table)?.follow_moved_rows(&before)?;
                    transaction.note_moved_chunks(table, &before, written)?;
                }
            }
            drop(before);
            transaction.commit_as(Acknowledge::Placed)?;
            // The next query need not wait for an estimate; whoever reads a chunk that cannot be read hears of it.
            let _ = self.snapshot().table(table).map(|version| version.distinct());
        }
        Ok(true)
    }
}
