//! How a directory is opened, and how far opening is.

use crate::wal::WalOptions;
use frazil_types::Cancel;
use frazil_vfs::Access;
use std::fmt;

/// How a directory is opened.
#[derive(Clone)]
pub struct Opening<'a> {
    /// Whether it is written, by this process alone, or read, beside others that read.
    pub access: Access,
    /// Everything that is whole is there, and what is not is left out and told: see [`crate::Directory::losses`]. A
    /// damaged log ends where it is damaged. No index is built. Takes [`Access::Read`]; the directory stays as it is.
    pub salvages: bool,
    /// No index is built, because building them takes most of the time in which a large directory is opened, and a
    /// reader of whole tables needs none. Statements scan tables instead. Takes [`Access::Read`].
    pub without_indexes: bool,
    /// How its log is written.
    pub log: WalOptions,
    /// Stops opening (57014): the directory is as it was then.
    pub cancel: Cancel,
    /// Called now and then by the threads that open the directory.
    pub watch: &'a (dyn Fn(OpeningProgress) + Sync),
}

impl Opening<'_> {
    /// As `access` says; nobody watches or stops it.
    pub fn to(access: Access) -> Opening<'static> {
        Opening {
            access,
            salvages: false,
            without_indexes: false,
            log: WalOptions::default(),
            cancel: Cancel::new(),
            watch: &|_| (),
        }
    }

    /// True unless it salvages, or reads without indexes.
    pub(crate) fn builds_indexes(&self) -> bool {
        self.access == Access::Write || !(self.salvages || self.without_indexes)
    }
}

impl fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening")
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

/// What takes time when a directory is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningStep {
    /// What the log says is done again. Counted in bytes of the log.
    Log,
    /// Indexes are built. Counted in rows of their tables, once an index.
    Indexes,
}

impl fmt::Display for OpeningStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OpeningStep::Log => "replaying the log",
            OpeningStep::Indexes => "building indexes",
        })
    }
}

/// How far opening is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningProgress {
    /// What is being done.
    pub step: OpeningStep,
    /// What of it is done.
    pub done: u64,
    /// All of it, at most: where a log ends is known at its end.
    pub total: u64,
    /// Commits that were done again.
    pub commits: u64,
}
