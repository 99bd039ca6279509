//! Cancelling a statement: one flag, set by a user, a timeout or a failed sibling, polled per morsel
//! and per stage vector.

use crate::{Error, Result, SqlState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A shared flag. 0: go on.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicU32>);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks the statement to stop on behalf of its user.
    pub fn cancel(&self) {
        let _ = self
            .0
            .compare_exchange(0, 1, Ordering::Release, Ordering::Relaxed);
    }

    /// Asks the statement to stop because its time is up.
    pub fn time_out(&self) {
        let _ = self
            .0
            .compare_exchange(0, 2, Ordering::Release, Ordering::Relaxed);
    }

    /// Takes back what [`Cancel::time_out`] asked for. What the user asked for stays.
    pub fn forget_time_out(&self) {
        let _ = self
            .0
            .compare_exchange(2, 0, Ordering::Release, Ordering::Relaxed);
    }

    /// Makes the flag ready for the next statement.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Whether it is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// An error of condition 57014 if it is set.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.0.load(Ordering::Relaxed) {
            0 => Ok(()),
            2 => Err(Error::new(
                SqlState::QUERY_CANCELED,
                "canceling statement due to statement timeout",
            )),
            _ => Err(Error::new(
                SqlState::QUERY_CANCELED,
                "canceling statement due to user request",
            )),
        }
    }

    /// Where generated code polls: non-zero asks it to leave. Valid as long as this flag lives.
    pub fn as_ptr(&self) -> *const u32 {
        self.0.as_ptr()
    }
}
