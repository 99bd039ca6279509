//! Cells that lie in memory of the program around the database, or are made when a scan first reads them.

use frazil_types::{
    ColumnVector, Disjunction, Error, NativeType, READ_PADDING, Reservation, Restriction, Result, SharedBytes,
};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// Rows that are lent to a table.
pub trait LentRows: Debug + Send + Sync {
    /// The cells of a column in a chunk, both by their position. Errors of making them.
    fn column(&self, chunk: usize, column: usize) -> Result<LentCells>;
    /// Whether somebody makes cells at this moment that those of a column in a chunk would have to wait for. Who needs several columns
    /// makes others first.
    fn is_busy(&self, _chunk: usize, _column: usize) -> bool {
        false
    }
    /// Whether a chunk is read on from where the one before it ends, so that one worker best reads both.
    fn reads_on(&self, _chunk: usize) -> bool {
        false
    }
    /// Whether it is known, without making cells, that no row of a chunk (by its position) satisfies all restrictions and
    /// disjunctions.
    fn rules_out(&self, chunk: usize, restrictions: &[Restriction], disjunctions: &[Disjunction]) -> bool;
}

/// The cells of a column in a chunk.
#[derive(Debug)]
pub struct LentCells {
    native: NativeType,
    rows: usize,
    /// The first cell. Behind the last one there are [`READ_PADDING`] readable bytes.
    first: *const u8,
    /// A byte for each row, 1: valid, with as much padding; `None` if no row is NULL.
    validity: Option<Vec<u8>>,
    _memory: Held,
}

/// What keeps the cells alive.
#[derive(Debug)]
enum Held {
    Lent {
        _memory: Arc<dyn SharedBytes>,
    },
    Made {
        _column: ColumnVector,
        _memory: Option<Reservation>,
    },
}

// SAFETY: the cells are only read, and live as long as the memory, which any thread may hold and look at.
unsafe impl Send for LentCells {}
// SAFETY: see above.
unsafe impl Sync for LentCells {}

impl LentCells {
    /// Cells that lie side by side in someone's memory, from a byte on; `validity`: a byte for each row, 1: valid. `None` where they
    /// cannot be read there: they are neither integers nor doubles, are not aligned, or the memory ends too soon behind them.
    pub fn of_memory(
        native: NativeType,
        rows: usize,
        memory: Arc<dyn SharedBytes>,
        start: usize,
        validity: Option<&[u8]>,
    ) -> Option<LentCells> {
        let bytes = (*memory).as_ref();
        let end = start + rows * native.size() + READ_PADDING;
        let is_number = native.is_integer() || native == NativeType::F64;
        let first = bytes.get(start..end)?.as_ptr();
        if !is_number || !first.addr().is_multiple_of(native.size()) {
            return None;
        }
        Some(LentCells {
            native,
            rows,
            first,
            validity: validity.map(|valid| padded(valid.iter().copied(), rows)),
            _memory: Held::Lent { _memory: memory },
        })
    }

    /// Cells that were made for the table; `memory`: what they are counted as.
    pub fn of_column(column: ColumnVector, memory: Option<Reservation>) -> LentCells {
        let rows = column.len();
        let valid =
            |nulls: &frazil_types::MatchBits| padded((0..rows).map(|row| u8::from(!nulls.get(row))), rows);
        LentCells {
            native: column.native(),
            rows,
            first: column.as_ptr(),
            validity: column.nulls().map(valid),
            _memory: Held::Made {
                _column: column,
                _memory: memory,
            },
        }
    }

    /// Number of cells.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// A byte for each row, 1: valid; `None` if no row is NULL.
    pub(crate) fn validity(&self) -> Option<&[u8]> {
        self.validity.as_ref().map(|bytes| &bytes[..self.rows])
    }

    /// Pointer to the cell of a row.
    pub(crate) fn value_ptr(&self, row: usize) -> *const u8 {
        self.first.wrapping_add(row * self.native.size())
    }

    /// Pointer to the validity byte of a row; `None` if no row is NULL.
    pub(crate) fn validity_ptr(&self, row: usize) -> Option<*const u8> {
        let first = self.validity.as_ref()?.as_ptr();
        Some(first.wrapping_add(row))
    }
}

/// Validity bytes with padding.
fn padded(valid: impl Iterator<Item = u8>, rows: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows + READ_PADDING);
    bytes.extend(valid.take(rows));
    bytes.resize(rows + READ_PADDING, 0);
    bytes
}

/// A column of a chunk of lent rows.
#[derive(Debug)]
pub(crate) struct LentColumn {
    lender: Arc<dyn LentRows>,
    /// Position of the chunk, and of the column.
    place: (usize, usize),
    native: NativeType,
    rows: usize,
    cells: OnceLock<LentCells>,
}

impl LentColumn {
    /// A column of so many rows, given by the positions of its chunk and itself, whose cells are of a native type.
    pub(crate) fn new(
        lender: Arc<dyn LentRows>,
        place: (usize, usize),
        native: NativeType,
        rows: usize,
    ) -> LentColumn {
        LentColumn {
            lender,
            place,
            native,
            rows,
            cells: OnceLock::new(),
        }
    }

    /// The same column, whose cells are made apart from these. None for texts: who reads them may point to them for longer than to a
    /// cell.
    pub(crate) fn apart(&self) -> Option<LentColumn> {
        let is_cell = self.native != NativeType::String;
        is_cell.then(|| LentColumn::new(self.lender.clone(), self.place, self.native, self.rows))
    }

    /// Makes the cells, unless they are made. An internal error for a lender that gives other cells than it has.
    pub(crate) fn prepare(&self) -> Result<()> {
        if !self.is_missing() {
            return Ok(());
        }
        let made = self.lender.column(self.place.0, self.place.1)?;
        if made.native != self.native || made.rows != self.rows {
            return Err(Error::internal("a lender of rows gave cells of another form"));
        }
        // Another worker may have made them meanwhile.
        let _ = self.cells.set(made);
        Ok(())
    }

    /// Whether there are no cells yet.
    pub(crate) fn is_missing(&self) -> bool {
        self.cells.get().is_none()
    }

    /// Whether the cells would have to wait for others that are being made.
    pub(crate) fn is_busy(&self) -> bool {
        self.lender.is_busy(self.place.0, self.place.1)
    }

    /// Whether the chunk is read on from the one before it.
    pub(crate) fn reads_on(&self) -> bool {
        self.lender.reads_on(self.place.0)
    }

    /// Whether the lender knows that no row of the chunk satisfies all restrictions and disjunctions.
    pub(crate) fn rules_out(&self, restrictions: &[Restriction], disjunctions: &[Disjunction]) -> bool {
        self.lender.rules_out(self.place.0, restrictions, disjunctions)
    }

    /// The cells. Panics unless they are prepared.
    pub(crate) fn cells(&self) -> &LentCells {
        self.cells
            .get()
            .expect("a scan prepares the columns that it reads")
    }
}
