//! One claim or table lock that somebody holds.

use crate::mode::{AnyMode, Mode};
use frazil_types::{ObjectId, RowId};
use std::fmt;

/// The number of a transaction, counted from 1 as long as the database is open. A transaction has it before its first
/// claim, and it is not the timestamp of its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TxnId(pub u64);

impl fmt::Display for TxnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A thing that can be held and waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A row of a table.
    Row(ObjectId, RowId),
    /// A table as a whole, or all keys of an index.
    Table(ObjectId),
    /// A key of an index, by the hash of its bytes. Keys with one hash are one target.
    Key(ObjectId, u64),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Row(table, row) => {
                write!(f, "row ({},{}) of table {table}", row.chunk(), row.offset())
            }
            Target::Table(table) => write!(f, "table {table}"),
            Target::Key(index, hash) => write!(f, "key {hash:016x} of index {index}"),
        }
    }
}

/// A claim or lock of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub txn: TxnId,
    /// Savepoints with claims before it: what ROLLBACK TO gives back.
    pub level: u32,
    pub mode: AnyMode,
}

impl Held {
    /// The claim of a transaction that moves a chunk, on each of its rows.
    pub fn of_mover(txn: TxnId) -> Held {
        Held {
            txn,
            level: 0,
            mode: AnyMode::Row(Mode::Update),
        }
    }
}

/// Outcome of an attempt that looks at one chunk or table lock alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// Held from now on; the owner has to note it.
    New,
    /// As `New`; and its chunk has enough claims like it for a bitmap to be smaller.
    Crowded,
    /// The owner holds as much already, or has noted that it will free this.
    Covered,
    /// Somebody else holds the target, or waits for it.
    Contended,
}
