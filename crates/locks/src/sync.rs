//! The locks of this crate: std's, or loom's in the crate's unit tests, which are models that loom runs through all
//! schedules. Every other test is in `tests/` and sees std's.

use std::sync::PoisonError;

#[cfg(test)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(test))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// Locks a mutex, also one that a panicking thread held: every change under a lock of this crate is complete before
/// anything that can panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of a mutex that nobody else can reach.
pub(crate) fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}
