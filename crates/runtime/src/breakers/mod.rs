//! Breakers: what keeps the rows of pipelines until all of them are there. One is a folder here: the essay, the part
//! of a worker, the whole.
//!
//! A [`Breaker`] is made for each run of a statement, when the first pipeline that fills it opens. Every worker fills a part of its
//! own, a [`Partial`], which generated code knows by its address. When the last pipeline that fills it has run, the parts become one
//! [`Finished`]: pipelines behind it read its rows, and probes look into it.
//!
//! None of the traits has a default: what a new breaker forgets does not compile.

pub mod alone;
pub mod array;
pub mod buffer;
pub mod groups;
pub mod join;
pub mod order;
pub mod run_borrowed;
pub mod sorter;
pub mod windows;

use frazil_plan::breakers::Which;
use frazil_types::{Cancel, Error, MemoryBudget, Result, RowBatch};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A breaker of a running statement.
pub trait Breaker: Any + Debug + Send + Sync {
    /// An empty part for a worker. Error 53200 over the budget.
    fn partial(&self, run: Run<'_>) -> Result<Box<dyn Partial>>;

    /// Makes one of all parts, of which there is at least one. Errors: 53200, 57014, and what merging finds out, as 22003 of a sum.
    fn finish(&self, parts: Vec<Box<dyn Partial>>, workers: &dyn Workers) -> Result<Arc<dyn Finished>>;
}

/// What one worker has put into a breaker.
pub trait Partial: Any + Debug + Send {
    /// Where generated code finds it. It stays there.
    fn address(&mut self) -> *mut u8;

    /// Bytes it has taken from the budget.
    fn bytes(&self) -> usize;

    /// Says which morsel the next rows come from, for breakers that give rows out in the order of their morsels. The upper half
    /// of the number is that of the pipeline, where several fill the breaker.
    fn begin_morsel(&mut self, morsel: u64);

    /// True if the breaker needs no more rows, from this worker or another.
    fn has_enough(&self) -> bool;
}

/// All rows of a breaker.
pub trait Finished: Any + Debug + Send + Sync {
    /// Number of morsels of a pipeline that reads it.
    fn morsels(&self) -> usize;

    /// Number of rows.
    fn row_count(&self) -> u64;

    /// Appends the rows of a morsel, if they lie in memory as rows.
    fn rows(&self, morsel: usize, which: Which, out: &mut Vec<*const u8>);

    /// The rows of a morsel, if they lie in columns.
    fn batch(&self, morsel: usize) -> Option<&RowBatch>;

    /// Where generated code that looks into it finds it. It stays there.
    fn address(&self) -> *const u8;

    /// How its rows lie.
    fn shape(&self) -> Shape;
}

/// How the rows of a breaker lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One by one, of the layout that its code was made for: [`Finished::rows`] gives them.
    Rows,
    /// In columns: [`Finished::batch`] gives them.
    Columns,
}

/// What the parts of a breaker are made with.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What they take memory from.
    pub budget: &'a MemoryBudget,
    /// Set once the statement is to end.
    pub cancel: &'a Cancel,
}

/// A task for each number: [`Workers::run`].
pub type Task = Arc<dyn Fn(usize) -> Result<()> + Send + Sync>;

/// The threads of a statement, for what a breaker does when all its rows are there.
pub trait Workers {
    /// How many they are, the calling one among them.
    fn threads(&self) -> usize;

    /// What memory is taken from.
    fn budget(&self) -> &MemoryBudget;

    /// Set once the statement is to end.
    fn cancel(&self) -> &Cancel;

    /// Runs tasks `0..tasks` on all threads; the first error counts, and no task begins after it. 57014 between tasks once
    /// the statement is cancelled.
    fn run(&self, tasks: usize, task: Task) -> Result<()>;
}

/// The parts as what their breaker made them; an internal error for those of another.
pub fn parts_of<T: Partial>(parts: Vec<Box<dyn Partial>>) -> Result<Vec<T>> {
    let own = |part: Box<dyn Partial>| {
        let part: Box<dyn Any> = part;
        part.downcast::<T>().map(|part| *part).map_err(|_| of_another())
    };
    parts.into_iter().map(own).collect()
}

/// A part as what its breaker made it.
pub fn part_as<T: Partial>(part: &dyn Partial) -> Option<&T> {
    (part as &dyn Any).downcast_ref()
}

/// The same, to be changed.
pub fn part_as_mut<T: Partial>(part: &mut dyn Partial) -> Option<&mut T> {
    (part as &mut dyn Any).downcast_mut()
}

/// A finished breaker as what it is.
pub fn finished_as<T: Finished>(finished: &dyn Finished) -> Option<&T> {
    (finished as &dyn Any).downcast_ref()
}

/// A finished breaker as what it is, to be kept.
pub fn into_finished<T: Finished>(finished: Arc<dyn Finished>) -> Result<Arc<T>> {
    let finished: Arc<dyn Any + Send + Sync> = finished;
    finished.downcast().map_err(|_| of_another())
}

fn of_another() -> Error {
    Error::internal("what a breaker keeps was taken for another's")
}
