//! Counts visits of expressions: tests hold planning to be linear by them, as a count does not vary from run to run.
//! Builds without debug assertions count nothing.

use std::cell::Cell;

thread_local! {
    static VISITS: Cell<u64> = const { Cell::new(0) };
}

/// Notes visits on this thread.
#[inline]
pub(crate) fn visit(times: usize) {
    if cfg!(debug_assertions) {
        VISITS.set(VISITS.get() + times as u64);
    }
}

/// Visits of expressions on this thread so far: parts that were asked for, copies, comparisons. 0 without debug
/// assertions.
pub fn visits() -> u64 {
    VISITS.get()
}
