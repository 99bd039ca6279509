//! The rows that a query locks before it returns them: FOR UPDATE, NO KEY UPDATE, SHARE and KEY SHARE.

use crate::ColumnId;
use frazil_types::ObjectId;
use std::fmt;

/// The rows that a query locks.
#[derive(Clone, Debug, PartialEq)]
pub struct RowLocks {
    /// The tables with the columns that name their rows.
    pub tables: Vec<LockedTable>,
    /// LIMIT and OFFSET of rows that could be locked, with SKIP LOCKED. `None`: the input is bounded already.
    pub bounds: Option<LockBounds>,
}

/// Bounds of the rows that could be locked. The columns are bigint and have one value in all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LockBounds {
    /// LIMIT; NULL: there is none. A negative value is error 2201W.
    pub limit: Option<ColumnId>,
    /// OFFSET; NULL: 0. A negative value is error 2201X.
    pub offset: Option<ColumnId>,
}

/// A table some of whose rows are locked.
#[derive(Clone, Debug, PartialEq)]
pub struct LockedTable {
    /// The table.
    pub table: ObjectId,
    /// The name by which the query knows it, for EXPLAIN.
    pub name: String,
    /// A column of row ids.
    pub row_id: ColumnId,
    /// The strength of the locks.
    pub strength: LockStrength,
    /// The way to meet a row that somebody else has locked.
    pub wait: LockWait,
}

/// The strength of a lock on a row, weakest first: PostgreSQL's manual, 13.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockStrength {
    /// FOR KEY SHARE.
    KeyShare,
    /// FOR SHARE.
    Share,
    /// FOR NO KEY UPDATE.
    NoKeyUpdate,
    /// FOR UPDATE.
    Update,
}

/// The way to meet a row that somebody else has locked. Of several clauses for one table the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockWait {
    /// The statement waits.
    Block,
    /// SKIP LOCKED: the row is left out.
    Skip,
    /// NOWAIT: the statement fails with 55P03.
    Fail,
}

impl RowLocks {
    /// The columns that it reads.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ColumnId> {
        let bounds = self.bounds.iter().flat_map(|b| [b.limit, b.offset]).flatten();
        self.tables.iter().map(|table| table.row_id).chain(bounds)
    }

    /// The columns that it reads, to be changed.
    pub(crate) fn ids_mut(&mut self) -> impl Iterator<Item = &mut ColumnId> {
        let bounds = self.bounds.iter_mut();
        let bounds = bounds.flat_map(|b| [&mut b.limit, &mut b.offset]).flatten();
        self.tables
            .iter_mut()
            .map(|table| &mut table.row_id)
            .chain(bounds)
    }

    /// True if rows that somebody else has locked are left out.
    pub fn skips(&self) -> bool {
        self.tables.iter().any(|table| table.wait == LockWait::Skip)
    }
}

impl fmt::Display for LockStrength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LockStrength::KeyShare => "FOR KEY SHARE",
            LockStrength::Share => "FOR SHARE",
            LockStrength::NoKeyUpdate => "FOR NO KEY UPDATE",
            LockStrength::Update => "FOR UPDATE",
        })
    }
}
