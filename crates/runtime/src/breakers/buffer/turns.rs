//! The rows of a recursion, turn by turn: WITH RECURSIVE.

use super::row_buffer::RowBuffer;
use super::seen_keys::SeenKeys;
use crate::breakers::{Finished, Shape};
use frazil_plan::breakers::Which;
use frazil_types::key_encoding::{EncodedKeys, KeyPart, KeySpec};
use frazil_types::{ColumnVector, LogicalType, MemoryBudget, Reservation, Result, RowBatch, dispatch_native};
use std::sync::Arc;

/// The rows of the turns so far.
#[derive(Debug)]
pub struct TurnRows {
    turns: Vec<Arc<RowBuffer>>,
    rows: u64,
    /// UNION: the rows that were there.
    seen: Option<Seen>,
    /// What the rows take: each turn by itself would take a whole piece of the budget.
    reservation: Reservation,
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
            turns: Vec::new(),
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
        self.reservation.grow(turn.batch_bytes())?;
        let turn = Arc::new(turn);
        self.rows += turn.len() as u64;
        self.turns.push(turn.clone());
        Ok(Some(turn))
    }

    /// All rows of all turns.
    pub fn finish(self) -> AllTurns {
        let batches = (self.turns.iter().enumerate())
            .flat_map(|(turn, rows)| (0..rows.batches().len()).map(move |batch| (turn, batch)));
        AllTurns {
            batches: batches.collect(),
            turns: self.turns,
            rows: self.rows,
            _reservation: self.reservation,
        }
    }
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
    turns: Vec<Arc<RowBuffer>>,
    /// Each batch: number of the turn, number in the turn.
    batches: Vec<(usize, usize)>,
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
        let (turn, batch) = self.batches.get(morsel)?;
        self.turns.get(*turn)?.batches().get(*batch)
    }

    fn address(&self) -> *const u8 {
        std::ptr::from_ref(self).cast()
    }

    fn shape(&self) -> Shape {
        Shape::Columns
    }
}
