//! The log: redo records in files, durable when a commit says so.
//!
//! ```text
//! DIR/log/GENERATION.log    one sector: the file's header; then records, each a multiple of 8 bytes
//! ```
//!
//! **A record counts only behind the one before it.** Its checksum covers the database, the file's generation, its position
//! and the checksum of the record before. So what a file held before it was used again, a whole record behind a torn one,
//! and a file of another database are told from what was written there, and the log ends at the first record that does not
//! fit. Files follow one another in the same way: a header names the position and the checksum that the file begins behind.
//!
//! **Files are written before they are used.** A file gets its length by zeros that are synced, with its name, so that a sync
//! afterwards writes bytes and no metadata. A file that no checkpoint needs any more is used again: its header is zeroed and
//! synced first, and its name is that of the next generation. A header is written with the first group of records: a file
//! whose header is zero was never used, whatever follows it.
//!
//! **A file that another one follows says so**, in the sector behind its last record, before anything in the other file counts
//! ([`Continuation`](log_file::Continuation)): so the log's last file is missed when it is gone. Recovery takes that back before it removes a
//! file that was made and never used.
//!
//! **Files have a version**, in their headers. Those of version 1, whose records prove nothing, and of version 2, which
//! one transaction at a time wrote, are read; a log goes on in files of today's.
//!
//! **A group of commits ends on a sector's border**, behind zeros: no sector that is durable is ever written again.
//!
//! **The end of the log is proven, but for its last group.** A group is written when all before it is durable, and its records say where it
//! begins. What cannot be read in front of a later group was durable, and is damaged: an error (`reader.rs`). What a crash left of the last
//! group is the end of the log, silently. Recovery says in the last file, behind its last record, that it was read up to there: from then on
//! damage of that group is an error, too. A file whose header is zero is held against its records in the same way.
//!
//! **Recovery appends nothing to a file that it read.** It writes the last file's records once more and syncs them (a process
//! that was killed may have left them in the system's cache alone, or there after a sync that failed), and goes on in a file
//! of the next generation.
//!
//! **A record may be of no commit**, with timestamp 0: it says where a sequence stands, and counts whatever becomes of
//! the transactions around it.
//!
//! **Commits share syncs without a thread of their own.** Whoever waits while nobody writes leads: all that was appended goes
//! to the file in one write and one sync; the others follow ([`group`]). A write or sync that fails ends the log for this
//! process, because what is on the disk then is unknown.

pub mod group;
pub mod log_file;
pub mod reader;
pub mod record;
mod sync;
pub mod tail;
pub mod writer;

pub(crate) use reader::WAY_OUT;
pub use reader::{End, Replayed, Visitor};
pub use record::{BESIDE_COMMITS, DatabaseId};
pub use tail::{LogTail, Reached};
pub use writer::{LogOpening, Wal, WalCounters, WalOptions, WalPosition};
