//! Tasks that borrow.

use super::Workers;
use frazil_types::Result;
use std::sync::Arc;

/// As [`Workers::run`], of a task that borrows.
pub fn run_borrowed(
    workers: &dyn Workers,
    tasks: usize,
    task: &(dyn Fn(usize) -> Result<()> + Send + Sync),
) -> Result<()> {
    if tasks == 0 {
        return Ok(());
    }
    // SAFETY: `run` returns when no task runs any more and none will begin, so the borrow is not used after it.
    let task: &'static (dyn Fn(usize) -> Result<()> + Send + Sync) = unsafe { std::mem::transmute(task) };
    workers.run(tasks, Arc::new(task))
}
