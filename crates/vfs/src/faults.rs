//! A seam for tests: an operation on files that fails because a test asked for it.
//!
//! Every operation of this crate on files of a database is one [`attempt`]. A test counts them and has the n-th
//! of its thread fail, for every n: whatever fails, what comes afterwards has to work.

use crate::file::io_error;
use frazil_types::Result;
use std::cell::Cell;
use std::io;
use std::marker::PhantomData;
use std::path::Path;

/// What happens to the operation that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// It is not done.
    Undone,
    /// It is done, and reported as failed all the same.
    Done,
}

/// A fault that is to come.
#[derive(Clone, Copy)]
struct Pending {
    /// Operations that succeed before it.
    before: u64,
    strike: Strike,
}

thread_local! {
    static PENDING: Cell<Option<Pending>> = const { Cell::new(None) };
}

/// The n-th operation on files that the thread attempts fails, as long as this lives. One at a time a thread.
#[derive(Debug)]
pub struct Fault(PhantomData<*const ()>);

impl Fault {
    /// Fails the operation that `before` others come before.
    pub fn after(before: u64, strike: Strike) -> Fault {
        PENDING.set(Some(Pending { before, strike }));
        Fault(PhantomData)
    }

    /// Whether it came to that operation.
    pub fn struck(&self) -> bool {
        PENDING.get().is_none()
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        PENDING.set(None);
    }
}

/// Runs an operation on a file; its error says what was tried and with which file.
pub(crate) fn attempt<T>(doing: &str, path: &Path, operation: impl FnOnce() -> io::Result<T>) -> Result<T> {
    let failed = || Err(io_error(doing, path, &io::Error::other("a test asked for it")));
    match PENDING.get() {
        None => {}
        Some(Pending { before: 0, strike }) => {
            PENDING.set(None);
            if strike == Strike::Done {
                operation().map_err(|e| io_error(doing, path, &e))?;
            }
            return failed();
        }
        Some(Pending { before, strike }) => PENDING.set(Some(Pending {
            before: before - 1,
            strike,
        })),
    }
    operation().map_err(|e| io_error(doing, path, &e))
}
