//! What storage asks of a log: an order for commits, and that they survive.

use frazil_types::Result;
use std::fmt;

/// A position in the log: bytes since its beginning, padding included. What ends at a smaller position happened before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

/// The place of a commit in the one order that commits have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The end of its record: when the log is durable up to there, the commit is.
    pub lsn: Lsn,
    /// Its timestamp: one more than that of the commit before it.
    pub timestamp: u64,
}

/// A log of commits.
pub trait Log: fmt::Debug + Send + Sync {
    /// Appends the redo of a commit in memory and gives the commit its place. Nothing that a commit does afterwards cancels
    /// it. 58030 once writing the log has failed; 53100 if the disk has no room for what is to come, in which case nothing
    /// is appended, and a later commit may succeed.
    fn reserve(&self, redo: &[u8]) -> Result<Reserved>;

    /// Returns when the log is durable up to `lsn`. 08007 if writing it failed: whether the commit is durable is unknown.
    fn wait(&self, lsn: Lsn) -> Result<()>;
}
