//! The one door by which columns get values for rows that are there: a query computes the values, in any order and on
//! any number of threads, a [`ColumnFill`] gathers them chunk by chunk, and a transaction puts the columns beside the
//! chunks ([`crate::columns_beside`]). Nothing else of the rows is read or written. Memory is taken for the new
//! columns alone: for the cells of chunks that are hot or not complete yet, and for the blocks of the others.

use crate::chunk_entry::ChunkEntry;
use crate::columns_beside::FilledColumns;
use crate::filled_column::{FilledCells, FilledColumn};
use crate::new_rows::{NewRows, first_fault};
use crate::snapshot::TableSnapshot;
use crate::string_arena::StringArena;
use crate::transaction::Transaction;
use frazil_block::{Block, BlockBuilder, BuildOptions, ColumnInput};
use frazil_types::{
    Cancel, ColumnDef, ColumnNumber, ColumnVector, Error, MatchBits, MemoryBudget, NativeType, ObjectId,
    Reservation, Result, RowId, StringRef, dispatch_native,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Columns of a table that are being computed for all rows of a version.
pub struct ColumnFill {
    version: Arc<TableSnapshot>,
    /// Positions of the columns in the table.
    columns: Vec<usize>,
    /// Chunks that lack rows, by their numbers.
    open: BTreeMap<u32, OpenChunk>,
    done: FilledColumns,
    /// Builds blocks of one column each, for each of the columns.
    builders: Vec<BlockBuilder>,
    memory: Reservation,
}

/// A chunk that lacks rows.
struct OpenChunk {
    columns: Vec<ColumnVector>,
    /// The strings of each column.
    strings: Vec<StringArena>,
    /// Rows that came.
    came: MatchBits,
    /// Live rows that lack values.
    missing: u32,
    /// Bytes that are reserved.
    reserved: usize,
}

impl OpenChunk {
    fn new(entry: &ChunkEntry, defs: &[&ColumnDef]) -> OpenChunk {
        let rows = entry.view().rows() as usize;
        let columns = defs.iter().map(|def| ColumnVector::zeroed(def.ty, rows));
        OpenChunk {
            columns: columns.collect(),
            strings: defs.iter().map(|_| StringArena::default()).collect(),
            came: MatchBits::zeros(rows),
            missing: entry.view().live_rows(),
            reserved: 0,
        }
    }

    /// Bytes of the cells and of the strings so far.
    fn bytes(&self) -> usize {
        let cells: usize = self.columns.iter().map(ColumnVector::bytes).sum();
        cells + self.strings.iter().map(StringArena::bytes).sum::<usize>()
    }

    /// Takes the values of `count` rows from position `from` on, for the rows from offset `to` on. False if one of
    /// them is not there, or came already.
    fn take(&mut self, values: &[ColumnVector], from: usize, to: usize, count: usize) -> bool {
        if to + count > self.came.len() || !note(self.came.words_mut(), to, count) {
            return false;
        }
        let Some(missing) = self.missing.checked_sub(count as u32) else {
            return false;
        };
        self.missing = missing;
        for ((column, strings), values) in self.columns.iter_mut().zip(&self.strings).zip(values) {
            dispatch_native!(column.native(), T => {
                let cells = &mut column.values_mut::<T>()[to..to + count];
                cells.copy_from_slice(&values.values::<T>()[from..from + count]);
            });
            if column.native() == NativeType::String {
                let cells = &mut column.values_mut::<StringRef>()[to..to + count];
                let given = &values.values::<StringRef>()[from..from + count];
                // SAFETY: the vector of the values keeps their strings alive.
                unsafe {
                    strings
                        .writer()
                        .copy_all(given, |row, string| cells[row] = string)
                };
            }
            if let Some(nulls) = values.nulls() {
                let rows = (0..count).filter(|row| nulls.get(from + row));
                rows.for_each(|row| column.set_null(to + row));
            }
        }
        true
    }

    /// The columns, each with the bytes of its strings. Rows that are deleted get the value of a row that is not, so
    /// that they widen no bounds.
    fn finish(self) -> Vec<(ColumnVector, usize)> {
        let OpenChunk {
            columns,
            strings,
            came,
            ..
        } = self;
        let rows = came.len();
        let live = came.iter().next();
        let dead: Vec<usize> = match came.count() == rows {
            true => Vec::new(),
            false => (0..rows).filter(|row| !came.get(*row)).collect(),
        };
        let finish = |(mut column, strings): (ColumnVector, StringArena)| {
            for &row in &dead {
                match live.filter(|live| !column.is_null(*live)) {
                    Some(live) => dispatch_native!(column.native(), T => {
                        let cells = column.values_mut::<T>();
                        cells[row] = cells[live];
                    }),
                    None => column.set_null(row),
                }
            }
            let bytes = strings.bytes();
            if bytes > 0 {
                column.keep(Arc::new(strings));
            }
            (column, bytes)
        };
        columns.into_iter().zip(strings).map(finish).collect()
    }
}

/// Sets the bits of `count` rows from row `from` on, a bit a row. False if one of them was set before.
fn note(words: &mut [u64], from: usize, count: usize) -> bool {
    let (mut row, end, mut were_clear) = (from, from + count, true);
    while row < end {
        let within = (64 - row % 64).min(end - row);
        let bits = (u64::MAX >> (64 - within)) << (row % 64);
        let word = &mut words[row / 64];
        were_clear &= *word & bits == 0;
        *word |= bits;
        row += within;
    }
    were_clear
}

impl ColumnFill {
    /// Takes the values of some rows. `checks`: of CHECK constraints over the columns. 23502 and 23514 for a row that
    /// the table cannot have, 53200 without memory; an internal error for a row that is not there, or comes twice.
    pub fn take(&mut self, ids: &[RowId], rows: &NewRows<'_>) -> Result<()> {
        let version = self.version.clone();
        let table = version.table();
        if let Some((_, fault)) = first_fault(table, self.columns.iter().copied(), rows, &|_| true) {
            return Err(fault);
        }
        let values = &rows.batch.columns;
        let defs: Vec<&ColumnDef> = self
            .columns
            .iter()
            .map(|&at| &table.schema().columns[at])
            .collect();
        let is_fit = values.len() == defs.len()
            && rows.batch.rows == ids.len()
            && values
                .iter()
                .zip(&defs)
                .all(|(values, def)| values.native() == def.ty.native());
        if !is_fit {
            return Err(Error::internal(
                "values of other columns than those that are filled",
            ));
        }
        let mut from = 0;
        let follows = |a: &RowId, b: &RowId| a.chunk() == b.chunk() && b.0 == a.0 + 1;
        for run in ids.chunk_by(follows) {
            let number = run[0].chunk();
            let unknown = || Error::internal(format!("a value of a row of chunk {number} that wants none"));
            let entry = version.entry(number).ok_or_else(unknown)?;
            if self.done.contains_key(&number) {
                return Err(unknown());
            }
            let chunk = (self.open.entry(number)).or_insert_with(|| OpenChunk::new(entry, &defs));
            if !chunk.take(values, from, run[0].offset().into(), run.len()) {
                return Err(unknown());
            }
            let bytes = chunk.bytes();
            self.memory.grow(bytes - chunk.reserved)?;
            chunk.reserved = bytes;
            if chunk.missing == 0 {
                self.close(entry, &defs)?;
            }
            from += run.len();
        }
        Ok(())
    }

    /// Brings the columns of a chunk that lacks nothing into the form in which the chunk has them.
    fn close(&mut self, entry: &ChunkEntry, defs: &[&ColumnDef]) -> Result<()> {
        let Some(chunk) = self.open.remove(&entry.number()) else {
            return Ok(());
        };
        let reserved = chunk.reserved;
        let mut columns: Vec<(ColumnNumber, FilledColumn)> = Vec::with_capacity(defs.len());
        for (at, (values, heap)) in chunk.finish().into_iter().enumerate() {
            let column = match entry.is_hot() {
                true => FilledColumn::Cells(Arc::new(FilledCells::new(values, heap))),
                false => FilledColumn::Block(build(&mut self.builders[at], &values, defs[at])?),
            };
            columns.push((defs[at].number, column));
        }
        let bytes = columns.iter().map(|(_, column)| column.bytes()).sum();
        self.memory.grow(bytes)?;
        self.memory.shrink(reserved);
        self.done.insert(entry.number(), columns);
        Ok(())
    }

    /// An internal error if live rows have no values.
    fn check_complete(&self) -> Result<()> {
        let lacks = |entry: &&Arc<ChunkEntry>| {
            entry.view().live_rows() > 0 && !self.done.contains_key(&entry.number())
        };
        match self.version.chunks().find(lacks) {
            Some(entry) => {
                let number = entry.number();
                Err(Error::internal(format!(
                    "rows of chunk {number} have no values in a column"
                )))
            }
            None => Ok(()),
        }
    }
}

fn build(builder: &mut BlockBuilder, values: &ColumnVector, def: &ColumnDef) -> Result<Block> {
    builder.build(&[ColumnInput::of_vector(values, 0..values.len()).named(&def.name)])
}

impl Transaction {
    /// Begins to fill columns of a table, by their positions among those that rows store. The columns came with this
    /// transaction, and all rows have one value in them.
    pub fn begin_fill(
        &self,
        table: ObjectId,
        columns: Vec<usize>,
        budget: &MemoryBudget,
    ) -> Result<ColumnFill> {
        let version = self.view().table(table)?.clone();
        // Encodings that are asked for are those of FREEZE TABLE, which may refuse values.
        let options = BuildOptions {
            purpose: version.table().asked_options().purpose,
            ..BuildOptions::default()
        };
        let builders = columns.iter().map(|_| BlockBuilder::new(options.clone()));
        Ok(ColumnFill {
            builders: builders.collect(),
            version,
            columns,
            open: BTreeMap::new(),
            done: FilledColumns::new(),
            memory: budget.reservation(),
        })
    }

    /// Gives the rows their values, and builds anew the indexes that have one of the columns. The errors of
    /// [`TableSnapshot::build_indexes`].
    pub fn end_fill(&mut self, fill: ColumnFill, cancel: &Cancel) -> Result<()> {
        fill.check_complete()?;
        let ColumnFill {
            version,
            columns,
            done,
            memory,
            ..
        } = fill;
        let id = version.table().id();
        drop(version);
        self.note_filled(id, &done, cancel)?;
        let next = self.table_mut(id)?;
        next.fill(&done)?;
        next.forget_indexes_of(&columns);
        let mut next = next.clone();
        let mut unlimited = MemoryBudget::unlimited().reservation();
        next.build_indexes(cancel, self.held().unwrap_or(&mut unlimited))?;
        *self.table_mut(id)? = next;
        let bytes = done.values().flatten().map(|(_, column)| column.bytes()).sum();
        drop((done, memory));
        self.held().map_or(Ok(()), |held| held.grow(bytes))
    }

    /// Writes down which columns chunks got. A chunk's column goes into the record as a block.
    fn note_filled(&mut self, table: ObjectId, filled: &FilledColumns, cancel: &Cancel) -> Result<()> {
        let schema = self.view().table(table)?.schema().clone();
        let mut builder = BlockBuilder::new(BuildOptions::default());
        for (chunk, columns) in filled {
            cancel.check()?;
            for (number, column) in columns {
                if table.is_temporary() || !self.redo().is_recorded() {
                    self.redo().filled(table, None);
                    return Ok(());
                }
                let block = match column {
                    FilledColumn::Block(block) => block.clone(),
                    FilledColumn::Cells(cells) => {
                        let def = schema.columns.iter().find(|def| def.number == *number);
                        let def = def.ok_or_else(|| Error::internal("a column is filled that is gone"))?;
                        let input = cells.input(def.ty)?;
                        builder.build(&[input.named(&def.name)])?
                    }
                };
                self.redo().filled(table, Some((*chunk, *number, &block)));
            }
        }
        Ok(())
    }
}
