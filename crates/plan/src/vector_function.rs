//! Functions the code generator does not know: they run as vector kernels across a stage boundary.
//! `plan` owns the trait, `functions` supplies what is behind it.

use frazil_types::{Cancel, ColumnVector, LogicalType, MemoryBudget, Result, StringVectorBuilder};
use std::fmt;
use std::sync::Arc;

/// A function over whole vectors.
pub trait VectorFunction: Send + Sync {
    /// Its SQL name.
    fn name(&self) -> &str;
    /// Whether it can raise an error, whatever its arguments; running out of memory or time aside. Calls that cannot may be computed for
    /// more rows than those that a statement asks for.
    fn can_fail(&self) -> bool;
    /// Whether it gives something else each time: then each call has a function of its own, equal to no other.
    fn is_volatile(&self) -> bool;
    /// Evaluates `rows` rows at once. Constants come as vectors of `rows` rows too. Rows that a condition around
    /// the call excludes (CASE, AND, OR) are not among them.
    ///
    /// Errors: those of the function; 57014, 53200 and 54000 from `context`. A function polls
    /// [`CallContext::check`] about every 10 ms of work and takes memory that grows with its
    /// arguments from [`CallContext::budget`].
    fn evaluate(
        &self,
        arguments: &[ColumnVector],
        rows: usize,
        result: LogicalType,
        context: &CallContext<'_>,
    ) -> Result<ColumnVector>;
}

/// What a call of a vector function runs under: its statement's cancel flag and memory budget.
#[derive(Clone, Copy, Debug)]
pub struct CallContext<'a> {
    cancel: &'a Cancel,
    budget: &'a MemoryBudget,
}

impl<'a> CallContext<'a> {
    /// A context for the statement that `cancel` stops and `budget` limits.
    pub fn new(cancel: &'a Cancel, budget: &'a MemoryBudget) -> CallContext<'a> {
        CallContext { cancel, budget }
    }

    /// Error 57014 once the statement is cancelled or its time is up. Costs one load.
    #[inline]
    pub fn check(&self) -> Result<()> {
        self.cancel.check()
    }

    /// Where memory is reserved that grows with the arguments.
    pub fn budget(&self) -> &'a MemoryBudget {
        self.budget
    }

    /// A builder for a result of `rows` strings, whose bytes are taken from the budget.
    pub fn strings(&self, result: LogicalType, rows: usize) -> StringVectorBuilder {
        StringVectorBuilder::budgeted(result, rows, self.budget)
    }
}

/// A shared vector function.
#[derive(Clone)]
pub struct VectorFunctionRef(pub Arc<dyn VectorFunction>);

impl fmt::Debug for VectorFunctionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl PartialEq for VectorFunctionRef {
    fn eq(&self, other: &VectorFunctionRef) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
