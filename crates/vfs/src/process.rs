//! Which process this is. A forked child has a copy of its parent's memory, but neither its threads nor its files:
//! what was opened before the fork belongs to the parent alone.

use frazil_types::{Error, Result, SqlState};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// Forks between the first process that asked and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);
static COUNTING: Once = Once::new();

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// A process, told from its forked children without a call of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// The process that asks.
    pub fn current() -> Process {
        COUNTING.call_once(|| {
            // SAFETY: the handler runs in the child between fork and its return, where it may do what a signal
            // handler may: it adds to an atomic. It lives as long as the program.
            unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
        });
        Process(FORKS.load(Ordering::Relaxed))
    }

    /// Whether it is the one that asks.
    #[inline]
    pub fn is_current(self) -> bool {
        self.0 == FORKS.load(Ordering::Relaxed)
    }

    /// 08003 if the process that asks was forked from this one, or from its children.
    #[inline]
    pub fn check(self) -> Result<()> {
        match self.is_current() {
            true => Ok(()),
            false => Err(forked()),
        }
    }
}

#[cold]
fn forked() -> Error {
    Error::new(
        SqlState::CONNECTION_DOES_NOT_EXIST,
        "the database was opened before this process was forked: it belongs to the parent process",
    )
    .with_hint("open a database in the child after the fork, or start the child with spawn")
}
