//! A cursor: rows of a query, and a position among them.

use super::running_query::RunningQuery;
use crate::rows::{Outcome, Rows};
use frazil_frontend::FetchDirection;
use frazil_types::{
    Cancel, ColumnVector, Error, MemoryBudget, NativeType, ObjectId, Reservation, Result, RowBatch, Schema,
    SqlState,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Takes rows of a cursor.
type Take<'a> = &'a mut dyn FnMut(RowBatch) -> Result<()>;

/// Rows of a query, and a position among them. See [`Connection::fetch`](crate::Connection::fetch).
#[derive(Debug)]
pub struct Cursor {
    schema: Arc<Schema>,
    /// The command whose rows they are.
    tag: &'static str,
    /// Rows that are still to be computed; `None` once all are.
    source: Option<RunningQuery>,
    /// Rows that were computed and are kept, in order.
    batches: VecDeque<Kept>,
    /// Number of rows before the first one in `batches`: they were handed over and dropped.
    dropped: u64,
    /// Number of rows that were computed.
    computed: u64,
    keeping: Keeping,
    memory: Reservation,
    /// 0: before the first row; n: at row n; one more than there are rows: behind the last row.
    position: u64,
    /// True once it gave an error: it cannot be run again.
    has_failed: bool,
}

/// Rows that are kept.
#[derive(Debug)]
struct Kept {
    batch: RowBatch,
    /// Number of rows, also when the batch was handed over.
    rows: usize,
    /// Bytes that are counted for them.
    bytes: usize,
}

impl Kept {
    fn new(batch: RowBatch, bytes: usize) -> Kept {
        Kept {
            rows: batch.rows,
            batch,
            bytes,
        }
    }
}

/// The rows that a cursor keeps behind its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    /// None: it only moves forward.
    Nothing,
    /// All: it moves both ways.
    All,
    /// None, but rows to come were computed ahead.
    Ahead,
}

impl Cursor {
    /// A cursor over a query that has begun. A scrollable one keeps its rows, within the budget.
    pub(crate) fn over(query: RunningQuery, is_scrollable: bool, budget: &MemoryBudget) -> Cursor {
        let schema = query.schema().clone();
        Cursor::new(schema, Some(query), is_scrollable, budget)
    }

    /// A cursor over what a statement gave: a query that has begun, or rows. None of a command without rows.
    pub(crate) fn of_response(
        begun: Option<RunningQuery>,
        outcome: Outcome,
        is_scrollable: bool,
        budget: &MemoryBudget,
    ) -> Cursor {
        match (begun, outcome) {
            (Some(begun), _) => Cursor::over(begun, is_scrollable, budget),
            (None, Outcome::Rows(rows)) => Cursor::of_rows(rows, is_scrollable, budget),
            (None, Outcome::Command { .. }) => Cursor::of_rows(Rows::default(), is_scrollable, budget),
        }
    }

    /// A cursor over rows that are there.
    pub(crate) fn of_rows(rows: Rows, is_scrollable: bool, budget: &MemoryBudget) -> Cursor {
        let mut cursor = Cursor::new(rows.shared_schema().clone(), None, is_scrollable, budget);
        cursor.tag = rows.tag();
        cursor.computed = rows.len() as u64;
        let batches = rows.batches().iter().filter(|batch| batch.rows > 0);
        cursor.batches = batches.map(|batch| Kept::new(batch.clone(), 0)).collect();
        cursor
    }

    fn new(
        schema: Arc<Schema>,
        source: Option<RunningQuery>,
        is_scrollable: bool,
        budget: &MemoryBudget,
    ) -> Cursor {
        Cursor {
            schema,
            tag: "SELECT",
            source,
            batches: VecDeque::new(),
            dropped: 0,
            computed: 0,
            keeping: if is_scrollable {
                Keeping::All
            } else {
                Keeping::Nothing
            },
            memory: budget.reservation(),
            position: 0,
            has_failed: false,
        }
    }

    /// The columns of its rows.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The tables that its query still reads.
    pub(crate) fn tables(&self) -> &[ObjectId] {
        self.source.as_ref().map_or(&[], RunningQuery::tables)
    }

    /// The command whose rows they are: `SELECT`, or with RETURNING the one that wrote them.
    pub fn tag(&self) -> &'static str {
        self.tag
    }

    /// True if it moves backward, too.
    fn is_scrollable(&self) -> bool {
        self.keeping == Keeping::All
    }

    /// True once it gave an error.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Computes all rows that are left and keeps them, so that nothing of the query's transaction is needed. The
    /// errors of the query.
    pub(crate) fn hold(&mut self, cancel: &Cancel) -> Result<()> {
        if self.keeping == Keeping::Nothing {
            self.keeping = Keeping::Ahead;
        }
        self.compute(u64::MAX, u64::MAX, cancel)
    }

    /// Moves the cursor, and hands the rows over that it passes. Returns their number, for MOVE as well, which takes
    /// none. 55000 for a direction that the cursor cannot take; the errors of the query.
    pub(crate) fn fetch(
        &mut self,
        direction: FetchDirection,
        cancel: &Cancel,
        take: Option<Take<'_>>,
    ) -> Result<u64> {
        let moved = self.moved(direction, cancel, take);
        self.has_failed |= moved.is_err();
        moved
    }

    fn moved(
        &mut self,
        direction: FetchDirection,
        cancel: &Cancel,
        mut take: Option<Take<'_>>,
    ) -> Result<u64> {
        let count = match direction {
            FetchDirection::Forward(0) | FetchDirection::Relative(0) => return self.again(take),
            FetchDirection::Forward(count) => count,
            FetchDirection::ForwardAll => return self.forward(u64::MAX, cancel, take),
            FetchDirection::BackwardAll => return self.backward(u64::MAX, take),
            FetchDirection::Absolute(0) => {
                self.rewind()?;
                return Ok(0);
            }
            FetchDirection::Absolute(row) if row < 0 => {
                self.check_backward()?;
                self.compute(u64::MAX, u64::MAX, cancel)?;
                self.position = (self.computed + 1).saturating_sub(row.unsigned_abs());
                return self.again(take);
            }
            FetchDirection::Absolute(row) => return self.go_to(row.unsigned_abs(), cancel, &mut take),
            FetchDirection::Relative(rows) if rows < 0 => {
                self.check_backward()?;
                self.position = self.position.saturating_sub(rows.unsigned_abs());
                return self.again(take);
            }
            FetchDirection::Relative(rows) => {
                let row = self.position.saturating_add(rows.unsigned_abs());
                return self.go_to(row, cancel, &mut take);
            }
        };
        match count < 0 {
            true => self.backward(count.unsigned_abs(), take),
            false => self.forward(count.unsigned_abs(), cancel, take),
        }
    }

    /// Hands over the next rows, at most `most`.
    pub(crate) fn forward(&mut self, most: u64, cancel: &Cancel, mut take: Option<Take<'_>>) -> Result<u64> {
        let mut count = 0;
        while count < most {
            let next = self.position + 1;
            self.compute(next, most - count, cancel)?;
            if self.computed < next {
                break;
            }
            let Some((batch, row)) = self.place(next) else {
                return Err(Error::internal("a row that a cursor lost"));
            };
            let left = usize::try_from(most - count).unwrap_or(usize::MAX);
            let rows = row..row + (self.batches[batch].rows - row).min(left);
            let passed = rows.len() as u64;
            if let Some(take) = &mut take {
                let kept = &mut self.batches[batch];
                take(match rows.len() == kept.rows && self.keeping != Keeping::All {
                    // The whole batch is dropped below.
                    true => std::mem::take(&mut kept.batch),
                    false => selected(&kept.batch, rows),
                })?;
            }
            self.position += passed;
            count += passed;
            self.drop_passed();
        }
        if count < most {
            self.position = self.position.max(self.computed + 1);
        }
        Ok(count)
    }

    /// Hands over the rows before the position, at most `most`, the nearest first.
    fn backward(&mut self, most: u64, mut take: Option<Take<'_>>) -> Result<u64> {
        self.check_backward()?;
        let before = self.position.saturating_sub(1);
        let count = before.min(most);
        let last = before - count;
        let mut at = before;
        while at > last {
            let Some((batch, row)) = self.place(at) else {
                return Err(Error::internal("a row that a cursor lost"));
            };
            let rows = (at - last).min(row as u64 + 1) as usize;
            if let Some(take) = &mut take {
                take(selected(
                    &self.batches[batch].batch,
                    (row + 1 - rows..row + 1).rev(),
                ))?;
            }
            at -= rows as u64;
        }
        self.position = if count < most { 0 } else { last + 1 };
        Ok(count)
    }

    /// Goes to the row of a number, or behind the last row, and hands the row over.
    fn go_to(&mut self, row: u64, cancel: &Cancel, take: &mut Option<Take<'_>>) -> Result<u64> {
        if row <= self.position {
            self.check_backward()?;
            self.position = row;
            return self.again(take.take());
        }
        let between = row - self.position - 1;
        if self.forward(between, cancel, None)? < between {
            return Ok(0);
        }
        self.forward(1, cancel, take.take())
    }

    /// Hands over the row at the position, if there is one.
    fn again(&mut self, take: Option<Take<'_>>) -> Result<u64> {
        let is_at_row = self.position > 0 && self.position <= self.computed;
        let Some(take) = take.filter(|_| is_at_row) else {
            return Ok(is_at_row.into());
        };
        self.check_backward()?;
        let Some((batch, row)) = self.place(self.position) else {
            return Err(Error::internal("a row that a cursor lost"));
        };
        take(selected(&self.batches[batch].batch, row..row + 1))?;
        Ok(1)
    }

    fn rewind(&mut self) -> Result<()> {
        if self.position > 0 {
            self.check_backward()?;
        }
        self.position = 0;
        Ok(())
    }

    /// 55000 unless it moves backward.
    fn check_backward(&self) -> Result<()> {
        match self.is_scrollable() {
            true => Ok(()),
            false => Err(Error::new(SqlState::NOT_IN_STATE, "cursor can only scan forward")
                .with_hint("Declare it with SCROLL option to enable backward scan.")),
        }
    }

    /// Computes rows until there are `rows` of them, or no more. `wanted`: number of rows that are asked for.
    fn compute(&mut self, rows: u64, wanted: u64, cancel: &Cancel) -> Result<()> {
        while self.computed < rows
            && let Some(source) = &mut self.source
        {
            let batch = match source.next(cancel, wanted) {
                Ok(batch) => batch,
                Err(error) => {
                    self.source = None;
                    return Err(error);
                }
            };
            let Some(batch) = batch else {
                self.source = None;
                return Ok(());
            };
            if batch.rows == 0 {
                continue;
            }
            let bytes = bytes(&batch);
            self.memory.grow(bytes)?;
            self.computed += batch.rows as u64;
            self.batches.push_back(Kept::new(batch, bytes));
        }
        Ok(())
    }

    /// The batch and the row in it of the row of a number.
    fn place(&self, number: u64) -> Option<(usize, usize)> {
        let mut row = number.checked_sub(self.dropped + 1)?;
        for (at, batch) in self.batches.iter().enumerate() {
            match row.checked_sub(batch.rows as u64) {
                Some(rest) => row = rest,
                None => return Some((at, row as usize)),
            }
        }
        None
    }

    /// Drops batches before the position, unless the cursor moves backward.
    fn drop_passed(&mut self) {
        while self.keeping != Keeping::All
            && let Some(first) = self.batches.front()
            && self.dropped + first.rows as u64 <= self.position
        {
            self.dropped += first.rows as u64;
            self.memory.shrink(first.bytes);
            self.batches.pop_front();
        }
    }
}

/// Rows of a batch in this order.
fn selected(batch: &RowBatch, rows: impl Iterator<Item = usize>) -> RowBatch {
    let rows: Vec<usize> = rows.collect();
    RowBatch {
        columns: batch
            .columns
            .iter()
            .map(|column| column.selected(&rows))
            .collect(),
        rows: rows.len(),
    }
}

/// Bytes that a batch takes in memory, about: its cells, and its texts.
fn bytes(batch: &RowBatch) -> usize {
    let of_column = |column: &ColumnVector| {
        let texts = match column.ty().native() {
            NativeType::String => (0..batch.rows).map(|row| column.strings().bytes(row).len()).sum(),
            _ => 0,
        };
        column.bytes() + texts
    };
    batch.columns.iter().map(of_column).sum()
}
