//! Where the columns of a table come from when some of them come or go: what is known by position moves along.

use frazil_block::{BuildOptions, ColumnOptions, Observed};
use frazil_types::ColumnNumber;

/// For each column of a table its position in the table as it was before; `None` for one that is new.
#[derive(Clone, Debug)]
pub(crate) struct Moved(Vec<Option<usize>>);

impl Moved {
    /// The way of a table's columns from one schema to another.
    pub fn between(before: &[ColumnNumber], after: &[ColumnNumber]) -> Moved {
        let old = |number: &ColumnNumber| before.iter().position(|n| n == number);
        Moved(after.iter().map(old).collect())
    }

    /// The way that leads first along `first` and then along this one.
    pub fn after(&self, first: &Moved) -> Moved {
        let old = |between: &Option<usize>| between.and_then(|at| first.0.get(at).copied().flatten());
        Moved(self.0.iter().map(old).collect())
    }

    /// The positions of the columns that are new.
    pub fn new_columns(&self) -> impl Iterator<Item = usize> {
        let columns = self.0.iter().enumerate();
        columns.filter(|(_, old)| old.is_none()).map(|(column, _)| column)
    }

    /// What was known of each column, and what is known of a new one.
    pub fn of<T: Clone>(&self, before: &[T], new: T) -> Vec<T> {
        let known = |old: &Option<usize>| old.and_then(|old| before.get(old)).unwrap_or(&new).clone();
        self.0.iter().map(known).collect()
    }

    /// The same wishes about columns at their new positions.
    pub fn options(&self, before: &BuildOptions) -> BuildOptions {
        BuildOptions {
            columns: self.of(&before.columns, ColumnOptions::default()),
            observed: self.of(&before.observed, Observed::NOTHING),
            ..before.clone()
        }
    }
}
