//! Freezing: rows that have gone cold become Data Blocks (Data Blocks, section 3).
//!
//! A block is built from versions that nobody changes, so scans run on and the builder needs no lock;
//! only the swap is made by a transaction. Where rows keep their places the chunk keeps its number.
//! Where rows move (sorted, gathered from several chunks, freed of deleted ones) the block gets a new
//! number, and rows that were deleted while it was built are deleted again in their new places.
//! Nobody holds a row id across the swap: ids come from a scan by the transaction that uses them, and
//! there is one writing transaction at a time.

use crate::chunk::{ChunkSlot, FrozenChunk};
use crate::read_chunk::read_column;
use crate::snapshot::{Table, TableSnapshot};
use crate::store::Store;
use crate::table_writer::{check_shape, refuse_nulls};
use crate::transaction::Transaction;
use frazil_block::{Block, BlockBuilder, BuildOptions, ColumnBuffer, ColumnInput};
use frazil_kernels::{Isa, Selection};
use frazil_types::{
    CHUNK_ROWS, Cancel, Error, Native, NativeType, ObjectId, Result, RowBatch, RowId, SqlState, StringRef,
    dispatch_native,
};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Builds blocks of one table, one after the other; one per worker.
#[derive(Default)]
pub struct Freezer {
    builder: BlockBuilder,
    options: Arc<BuildOptions>,
}

/// Rows of some chunks as one block.
pub struct FrozenRows {
    /// The block; `None` when all rows were deleted.
    pub block: Option<Block>,
    /// For each row of the block the number of its source and its offset there; `None` when rows
    /// kept their places in the only source.
    moved: Option<Vec<(u16, u16)>>,
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

    /// Freezes the visible rows of these chunks, at most 65,536, in their order or sorted by a column
    /// (NULLs last).
    pub fn freeze_chunks(
        &mut self,
        table: &Table,
        sources: &[ChunkSlot],
        order_by: Option<usize>,
    ) -> Result<FrozenRows> {
        let gathered = GatheredRows::new(table, sources, order_by)?;
        let block = match gathered.rows {
            0 => None,
            _ => {
                let built = self.builder.build(&gathered.inputs(table));
                Some(built.map_err(|e| table.blame(e))?)
            }
        };
        Ok(FrozenRows {
            block,
            moved: gathered.moved,
        })
    }
}

/// The visible rows of some chunks side by side, as the builder reads them.
pub(crate) struct GatheredRows {
    pub rows: usize,
    columns: Vec<Gathered>,
    /// As in [`FrozenRows`].
    moved: Option<Vec<(u16, u16)>>,
}

impl GatheredRows {
    pub fn new(table: &Table, sources: &[ChunkSlot], order_by: Option<usize>) -> Result<GatheredRows> {
        let places = match (sources, order_by) {
            ([only], None) if only.deleted.is_none() => None,
            _ => Some(visible_places(sources)),
        };
        let moved = match (places, order_by) {
            (Some(mut places), Some(column)) => {
                sort_places(table, sources, column, &mut places)?;
                Some(places)
            }
            (places, _) => places,
        };
        let rows = moved.as_ref().map_or(sources[0].rows as usize, Vec::len);
        let mut columns = Vec::new();
        if rows > 0 {
            for column in 0..table.schema().columns.len() {
                columns.push(Gathered::new(table, sources, column, moved.as_deref())?);
            }
        }
        Ok(GatheredRows { rows, columns, moved })
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
        sources: &[ChunkSlot],
        column: usize,
        places: Option<&[(u16, u16)]>,
    ) -> Result<Gathered> {
        let mut buffers = Vec::new();
        for slot in sources {
            buffers.push(read_whole(table, slot, column)?);
        }
        let Some(places) = places else {
            return Ok(Gathered {
                out: buffers.swap_remove(0),
                _sources: Vec::new(),
            });
        };
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
fn read_whole(table: &Table, slot: &ChunkSlot, column: usize) -> Result<ColumnBuffer> {
    let mut buffer = ColumnBuffer::new();
    read_column(
        Isa::detect(),
        slot,
        column,
        Selection::all(0..slot.rows),
        &mut buffer,
    )
    .map_err(|e| slot.blame(table.entry(), e))?;
    buffer.flatten();
    Ok(buffer)
}

fn visible_places(sources: &[ChunkSlot]) -> Vec<(u16, u16)> {
    let mut places = Vec::new();
    for (i, slot) in sources.iter().enumerate() {
        let rows = (0..slot.rows as usize).filter(|&r| !slot.is_deleted(r));
        places.extend(rows.map(|r| (i as u16, r as u16)));
    }
    places
}

/// Stable, NULLs last.
fn sort_places(
    table: &Table,
    sources: &[ChunkSlot],
    column: usize,
    places: &mut Vec<(u16, u16)>,
) -> Result<()> {
    let gathered = Gathered::new(table, sources, column, Some(places))?;
    let mut order: Vec<u32> = (0..places.len() as u32).collect();
    let keys = &gathered.out;
    match table.schema().columns[column].ty.native() {
        NativeType::Bool => sort_by_key::<u8>(keys, &mut order, u8::cmp),
        NativeType::I16 => sort_by_key::<i16>(keys, &mut order, i16::cmp),
        NativeType::I32 => sort_by_key::<i32>(keys, &mut order, i32::cmp),
        NativeType::I64 => sort_by_key::<i64>(keys, &mut order, i64::cmp),
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

impl Transaction {
    /// Freezes every hot chunk of a table, partial ones too, together with small or thinned blocks
    /// beside them; with `order_by` every chunk, each sorted by itself.
    pub fn freeze_table(
        &mut self,
        id: ObjectId,
        order_by: Option<usize>,
        options: BuildOptions,
        cancel: &Cancel,
    ) -> Result<FreezeReport> {
        let version = self.snapshot().table(id)?.clone();
        let table = version.table().clone();
        let mut freezer = Freezer::new(options);
        let mut report = FreezeReport::default();
        let mut slots = Vec::new();
        for group in groups(&version) {
            cancel.check()?;
            if let [only] = &group[..]
                && let Some(frozen) = only.frozen_chunk().filter(|_| only.deleted.is_none())
                && order_by.is_none()
            {
                let anew = match frozen.built_for.matches(freezer.options()) {
                    true => None,
                    false => freezer.replace(&version, only)?,
                };
                anew.iter()
                    .filter_map(ChunkSlot::block)
                    .for_each(|b| report.add(b));
                slots.push(anew.unwrap_or_else(|| only.clone()));
                continue;
            }
            let frozen = freezer.freeze_chunks(&table, &group, order_by)?;
            slots.extend(frozen.into_slot(&version, &group, freezer.options(), &mut report));
        }
        *self.table_mut(id)? = TableSnapshot::new(table, slots, None);
        Ok(report)
    }
}

impl FrozenRows {
    fn into_slot(
        self,
        version: &TableSnapshot,
        sources: &[ChunkSlot],
        options: &Arc<BuildOptions>,
        report: &mut FreezeReport,
    ) -> Option<ChunkSlot> {
        let block = self.block?;
        report.add(&block);
        let number = match self.moved {
            None => sources[0].number,
            Some(_) => version.table().take_chunk_number(),
        };
        let frozen = FrozenChunk::joining(version, block, options.clone());
        Some(ChunkSlot::frozen(number, frozen))
    }
}

/// Runs of neighbouring chunks that become one block each: small ones are gathered.
pub(crate) fn groups(version: &TableSnapshot) -> Vec<Vec<ChunkSlot>> {
    let mut groups: Vec<(u32, Vec<ChunkSlot>)> = Vec::new();
    for slot in version.chunks().filter(|s| s.live_rows() > 0) {
        let live = slot.live_rows();
        match groups.last_mut() {
            Some((rows, group)) if *rows + live <= CHUNK_ROWS as u32 && group.len() < 1 << 12 => {
                *rows += live;
                group.push(slot.clone());
            }
            _ => groups.push((live, vec![slot.clone()])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

impl Store {
    /// Freezes one full hot chunk, or rewrites a block most of whose rows are deleted, if there is one
    /// and no transaction is writing: what a background worker calls when it has time. Returns whether
    /// there was work. A chunk that cannot be frozen as its table's options ask stays, and holds up
    /// no other table's; its error is returned when there is nothing else to do.
    pub fn freeze_step(self: &Arc<Store>) -> Result<bool> {
        let snapshot = self.snapshot();
        let wants = |s: &&ChunkSlot| s.hot().is_some() || s.live_rows() < s.rows / 2;
        let mut failure = None;
        for version in snapshot.tables() {
            let table = version.table();
            let Some(slot) = version.sealed().iter().find(wants) else {
                continue;
            };
            let mut freezer = Freezer::of_table(version);
            // A panic, a defect of ours, is this chunk's failure as an error is.
            let freeze = || freezer.freeze_chunks(table, std::slice::from_ref(slot), None);
            match catch_unwind(AssertUnwindSafe(freeze)) {
                Ok(Ok(frozen)) => return self.swap(version, slot, frozen, freezer.options()),
                Ok(Err(e)) => failure = Some(e),
                Err(panic) => failure = Some(table.blame(Error::of_panic(&*panic))),
            }
        }
        failure.map_or(Ok(false), Err)
    }

    /// If a writer is at work, it may last; the block is built again when there is peace.
    fn swap(
        self: &Arc<Store>,
        version: &TableSnapshot,
        slot: &ChunkSlot,
        frozen: FrozenRows,
        options: &Arc<BuildOptions>,
    ) -> Result<bool> {
        let Ok(mut transaction) = self.begin(Duration::from_millis(20), &Cancel::new()) else {
            return Ok(false);
        };
        if transaction.snapshot().table(version.table().id()).is_ok() {
            transaction.swap_in(version, slot, frozen, options)?;
            transaction.commit();
        }
        Ok(true)
    }
}

impl Transaction {
    /// Puts a block in the place of the chunk it was built from, with the rows deleted since; takes
    /// the chunk away if it had no rows left.
    fn swap_in(
        &mut self,
        version: &TableSnapshot,
        built_from: &ChunkSlot,
        frozen: FrozenRows,
        options: &Arc<BuildOptions>,
    ) -> Result<()> {
        let table = version.table().id();
        let moved = frozen.moved.clone();
        let mut report = FreezeReport::default();
        let new = frozen.into_slot(version, std::slice::from_ref(built_from), options, &mut report);
        let mut gone = Vec::new();
        self.table_mut(table)?.replace_sealed(|slot| {
            if !Arc::ptr_eq(&slot.chunk, &built_from.chunk) {
                return Some(slot);
            }
            let fresh: Vec<u16> = (slot.deleted.iter())
                .flat_map(|d| d.bits.iter().filter(|&r| !built_from.is_deleted(r)))
                .map(|r| r as u16)
                .collect();
            let new = new.clone()?;
            gone = carry_over(&fresh, moved.as_deref(), new.number);
            Some(new)
        });
        self.writer(table)?.delete(&gone)?;
        Ok(())
    }
}

/// Row ids, in the new chunk, of rows at old offsets.
fn carry_over(old: &[u16], moved: Option<&[(u16, u16)]>, number: u32) -> Vec<RowId> {
    let Some(moved) = moved.filter(|_| !old.is_empty()) else {
        return old.iter().map(|&o| RowId::new(number, o)).collect();
    };
    let places: HashMap<u16, u16> = (moved.iter().enumerate())
        .map(|(new, &(_, old))| (old, new as u16))
        .collect();
    (old.iter())
        .filter_map(|o| places.get(o))
        .map(|&new| RowId::new(number, new))
        .collect()
}
