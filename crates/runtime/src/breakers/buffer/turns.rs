//! The rows of a recursion, turn by turn: WITH RECURSIVE.

use super::row_buffer::RowBuffer;
use super::seen_keys::SeenKeys;
use crate::breakers::{Finished, Shape};
use crate::string_heap::StringHeap;
use frazil_plan::breakers::Which;
use frazil_types::key_encoding::{EncodedKeys, KeyPart, KeySpec};
use frazil_types::{
    ColumnVector, LogicalType, MemoryBudget, NativeType, Reservation, Result, RowBatch, StringRef,
    dispatch_native,
};
use std::sync::Arc;

/// Rows of small turns that become one batch.
const GATHERED_ROWS: usize = 4 << 10;
/// Bytes of strings, a turn on average, from which on the heaps of small turns are kept: a heap has a page of 4 KiB at
/// least, so that these heaps are half full or more. Copies would take as much again while they are made.
const KEPT_HEAP_BYTES: usize = 2 << 10;
/// Bytes that a turn takes by itself, beside its rows, and for each of its columns.
const TURN_BYTES: usize = 512;
const COLUMN_BYTES: usize = 256;

/// The rows of the turns so far.
///
/// A recursion may have millions of turns of a row each, which by themselves would take a hundred times their rows: small turns are
/// gathered into batches.
#[derive(Debug)]
pub struct TurnRows {
    types: Vec<LogicalType>,
    batches: Vec<Batch>,
    /// The turns after those, each of few rows.
    small: Vec<Arc<RowBuffer>>,
    /// Rows of the small turns, and bytes reserved for them.
    small_rows: usize,
    small_bytes: usize,
    rows: u64,
    /// UNION: the rows that were there.
    seen: Option<Seen>,
    /// What the rows take: each turn by itself would take a whole piece of the budget.
    reservation: Reservation,
}

/// Rows of a recursion that lie together.
#[derive(Debug)]
enum Batch {
    /// Those of small turns.
    Gathered(RowBatch),
    /// A batch of a turn, by its number there.
    OfTurn(Arc<RowBuffer>, usize),
}

#[derive(Debug)]
struct Seen {
    spec: KeySpec,
    keys: SeenKeys,
}

impl TurnRows {
    /// No turn yet. With `distinct`, of columns of these types, a row that equals an earlier one is dropped.
    pub fn new(distinct: bool, types: &[LogicalType], budget: &MemoryBudget) -> TurnRows {
        let part = |ty: &LogicalType| KeyPart {
            ty: *ty,
            nullable: true,
            descending: false,
            nulls_first: true,
        };
        let seen = || Seen {
            spec: KeySpec::new(types.iter().map(part).collect()),
            keys: SeenKeys::new(budget),
        };
        TurnRows {
            types: types.to_vec(),
            batches: Vec::new(),
            small: Vec::new(),
            small_rows: 0,
            small_bytes: 0,
            rows: 0,
            seen: distinct.then(seen),
            reservation: budget.reservation(),
        }
    }

    /// Number of rows.
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// Adds the rows of a turn; those that the next turn reads, or `None` if there are none. Error 53200 over the budget.
    pub fn add(&mut self, turn: Arc<RowBuffer>) -> Result<Option<Arc<RowBuffer>>> {
        // A worker that ended just now may still hold the rows that it read.
        let own = |shared: Arc<RowBuffer>| shared.with_batches(shared.batches().to_vec());
        let turn = Arc::try_unwrap(turn).unwrap_or_else(own);
        let turn = match &mut self.seen {
            Some(seen) => seen.only_new(&turn)?,
            None => turn.uncounted(),
        };
        if turn.len() == 0 {
            return Ok(None);
        }
        let bytes = turn.batch_bytes() + TURN_BYTES + turn.columns().len() * COLUMN_BYTES;
        self.reservation.grow(bytes)?;
        let turn = Arc::new(turn);
        self.rows += turn.len() as u64;
        if turn.len() >= GATHERED_ROWS {
            self.gather()?;
            let batches = 0..turn.batches().len();
            (self.batches).extend(batches.map(|at| Batch::OfTurn(turn.clone(), at)));
            return Ok(Some(turn));
        }
        self.small_rows += turn.len();
        self.small_bytes += bytes;
        self.small.push(turn.clone());
        if self.small_rows >= GATHERED_ROWS {
            self.gather()?;
        }
        Ok(Some(turn))
    }

    /// Makes one batch of the small turns. Error 53200.
    fn gather(&mut self) -> Result<()> {
        let small = std::mem::take(&mut self.small);
        let parts: Vec<&RowBatch> = small.iter().flat_map(|turn| turn.batches()).collect();
        if parts.is_empty() {
            return Ok(());
        }
        let of_part = |(part, batch): (usize, &&RowBatch)| (0..batch.rows).map(move |row| (part, row));
        let places: Vec<(usize, usize)> = parts.iter().enumerate().flat_map(of_part).collect();
        let width: usize = self.types.iter().map(|ty| ty.native().size()).sum();
        self.reservation.grow(places.len() * width + TURN_BYTES)?;
        let mut columns = Vec::with_capacity(self.types.len());
        for (at, ty) in self.types.iter().enumerate() {
            let parts: Vec<&ColumnVector> = parts.iter().map(|part| &part.columns[at]).collect();
            columns.push(match ty.native() {
                NativeType::String if string_bytes(&parts, &places) < small.len() * KEPT_HEAP_BYTES => {
                    strings(*ty, &parts, &places, self.reservation.budget())?
                }
                _ => ColumnVector::gathered(*ty, &parts, &places),
            });
        }
        let rows = places.len();
        self.batches.push(Batch::Gathered(RowBatch { columns, rows }));
        self.reservation.shrink(std::mem::take(&mut self.small_bytes));
        self.small_rows = 0;
        Ok(())
    }

    /// All rows of all turns. Error 53200.
    pub fn finish(mut self) -> Result<AllTurns> {
        self.gather()?;
        Ok(AllTurns {
            batches: self.batches,
            rows: self.rows,
            _reservation: self.reservation,
        })
    }
}

/// Bytes of the strings at places: the position of their column among `parts`, and their row there.
fn string_bytes(parts: &[&ColumnVector], places: &[(usize, usize)]) -> usize {
    places
        .iter()
        .map(|&(part, row)| parts[part].string(row).len())
        .sum()
}

/// Copies of strings, given by the position of their column among `parts` and their row there: turns keep a heap each.
fn strings(
    ty: LogicalType,
    parts: &[&ColumnVector],
    places: &[(usize, usize)],
    budget: &MemoryBudget,
) -> Result<ColumnVector> {
    let (mut heap, mut out) = (StringHeap::new(budget), ColumnVector::new(ty, places.len()));
    out.resize(places.len());
    for (at, &(part, row)) in places.iter().enumerate() {
        if parts[part].is_null(row) {
            out.set_null(at);
        } else {
            out.values_mut::<StringRef>()[at] = heap.copy(parts[part].string(row))?;
        }
    }
    if heap.bytes() > 0 {
        out.keep(Arc::new(heap));
    }
    Ok(out)
}

impl Seen {
    /// The rows that were not there before, each once.
    fn only_new(&mut self, turn: &RowBuffer) -> Result<RowBuffer> {
        let mut kept = Vec::new();
        for batch in turn.batches() {
            let columns: Vec<&ColumnVector> = batch.columns.iter().collect();
            let mut keys = EncodedKeys::default();
            self.spec.encode_columns(&columns, &mut keys);
            let mut rows = Vec::new();
            // Rows without columns are all equal.
            let key = |row: usize| {
                if columns.is_empty() {
                    &[][..]
                } else {
                    keys.key(row)
                }
            };
            self.keys.add(batch.rows, key, &mut rows)?;
            if !rows.is_empty() {
                let columns = batch.columns.iter().map(|column| taken(column, &rows));
                kept.push(RowBatch {
                    columns: columns.collect(),
                    rows: rows.len(),
                });
            }
        }
        Ok(turn.with_batches(kept))
    }
}

/// The values of some rows.
fn taken(column: &ColumnVector, rows: &[usize]) -> ColumnVector {
    let mut out = ColumnVector::new(column.ty(), rows.len());
    out.resize(rows.len());
    dispatch_native!(column.native(), T => {
        let values = column.values::<T>();
        for (to, &row) in out.values_mut::<T>().iter_mut().zip(rows) {
            *to = values[row];
        }
    });
    let nulls = (0..rows.len()).filter(|at| column.is_null(rows[*at]));
    nulls.for_each(|at| out.set_null(at));
    column.heaps().iter().for_each(|heap| out.keep(heap.clone()));
    out
}

/// All rows of a recursion.
#[derive(Debug)]
pub struct AllTurns {
    batches: Vec<Batch>,
    rows: u64,
    _reservation: Reservation,
}

impl Finished for AllTurns {
    fn morsels(&self) -> usize {
        self.batches.len()
    }

    fn row_count(&self) -> u64 {
        self.rows
    }

    fn rows(&self, _morsel: usize, _which: Which, _out: &mut Vec<*const u8>) {}

    fn batch(&self, morsel: usize) -> Option<&RowBatch> {
        match self.batches.get(morsel)? {
            Batch::Gathered(batch) => Some(batch),
            Batch::OfTurn(turn, at) => turn.batches().get(*at),
        }
    }

    fn address(&self) -> *const u8 {
        std::ptr::from_ref(self).cast()
    }

    fn shape(&self) -> Shape {
        Shape::Columns
    }
}
