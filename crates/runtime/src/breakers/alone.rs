//! The workers of a task that has none to share its work with.

use super::{Task, Workers};
use frazil_types::{Cancel, MemoryBudget, Result};

/// One thread, the calling one.
pub struct Alone<'a> {
    /// What memory is taken from.
    pub budget: &'a MemoryBudget,
    /// Set once the statement is to end.
    pub cancel: &'a Cancel,
}

impl Workers for Alone<'_> {
    fn threads(&self) -> usize {
        1
    }

    fn budget(&self) -> &MemoryBudget {
        self.budget
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn run(&self, tasks: usize, task: Task) -> Result<()> {
        (0..tasks).try_for_each(|t| {
            self.cancel.check()?;
            task(t)
        })
    }
}
