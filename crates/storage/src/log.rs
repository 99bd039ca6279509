//! What storage asks of a log: an order for commits, and that they survive.

use crate::chunk_entry::ChunkEntry;
use crate::snapshot::Snapshot;
use frazil_block::Block;
use frazil_catalog::Catalog;
use frazil_types::Result;
use std::fmt;
use std::sync::Arc;

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

    /// Appends redo that does not belong to a commit: it takes no timestamp, and counts whatever becomes of the
    /// transactions around it. The errors of [`Log::reserve`].
    fn append_beside(&self, redo: &[u8]) -> Result<Lsn>;

    /// Returns when the log is durable up to `lsn`. 08007 if writing it failed: whether the commit is durable is unknown.
    fn wait(&self, lsn: Lsn) -> Result<()>;

    /// 58030 once writing the log has failed.
    fn check(&self) -> Result<()>;
}

/// A log, and the directory that it belongs to.
pub trait Durability: Log {
    /// Commits a transaction without a record: writes the whole state that it leaves, and returns the place in the log from
    /// which on commits come after it. `next` has the commit's timestamp already, one more than that of the commit before. The caller
    /// lets nobody append meanwhile. After 08007 it is unknown whether the transaction is committed, and nothing can be written any
    /// more; after another error it is not.
    fn commit_whole(&self, next: &Snapshot) -> Result<Lsn>;

    /// The bytes of [`crate::redo::Change::Catalog`] by which the one catalog becomes the other. They are read back
    /// as recovery reads them: an internal error if recovery would refuse them.
    fn catalog_change(&self, before: &Catalog, after: &Catalog) -> Result<Vec<u8>>;

    /// The bytes that say that a commit left the objects of the catalog as they were.
    fn no_catalog_change(&self, catalog: &Catalog) -> Vec<u8>;

    /// A file for blocks that a transaction adds: its record says where they lie, instead of their rows. 08003 in a forked child.
    fn write_blocks(self: Arc<Self>) -> Result<Box<dyn NamedBlocks>>;

    /// Makes room for a record of `redo` bytes that is about to be appended, so that nobody makes a file while commits
    /// take turns. Others may take the room. An error comes up when the record is appended.
    fn make_room(&self, redo: usize);

    /// Says that nobody waits for the commit at `lsn`, which is to be durable before long. Returns when it may be forgotten by the one
    /// who made it: at once, unless too much waits to be written. 08007 as [`Log::wait`].
    fn follow(&self, lsn: Lsn) -> Result<()>;
}

/// Bytes in a segment, a file of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentPlace {
    /// Number of the segment.
    pub segment: u64,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Redo in a segment, which a record of the log names in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedoPlace {
    /// Place of the redo.
    pub place: SegmentPlace,
    /// CRC-32C of all of its bytes.
    pub checksum: u32,
    /// Number of its first bytes that count. A savepoint was returned to that was made before the others.
    pub used: u64,
}

/// Blocks, and redo that is too large for a record, in a file of their own, which a record of the log is to name. Unless they are kept,
/// nothing is left of the file.
pub trait NamedBlocks: fmt::Debug + Send + Sync {
    /// Writes a block. 53100 if the disk is full.
    fn write(&mut self, block: &Block) -> Result<SegmentPlace>;

    /// Writes redo. 53100 if the disk is full.
    fn write_redo(&mut self, redo: &[u8]) -> Result<RedoPlace>;

    /// Makes the file and its name durable, once; nothing is written to it any more.
    fn sync(&mut self) -> Result<()>;

    /// Leaves the file where it is, because the record that ends at `lsn` names these chunks of it. Called before the commit is visible.
    fn keep(self: Box<Self>, lsn: Lsn, chunks: &[(Arc<ChunkEntry>, SegmentPlace)]);
}

/// When a commit returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acknowledge {
    /// When it is durable.
    #[default]
    Durable,
    /// When it has its place in the log, whose commits are durable before long: a crash may lose it, and what came after it.
    Placed,
}
