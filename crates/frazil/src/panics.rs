//! Panics in the midst of statements: they end as errors.

use frazil_types::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs work whose panic, a defect of ours, becomes an error (XX000): the connection and everyone else's go on.
pub fn survive<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Error::of_panic(&*panic)))
}
