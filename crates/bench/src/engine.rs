//! What an experiment on queries needs of an engine.

use crate::experiments::Figure;
use frazil_types::Result;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// An engine with data loaded.
pub trait Engine {
    /// Changes a setting.
    fn set(&mut self, name: &str, value: &str) -> Result<()>;

    /// Runs TPC-H query `number`.
    fn run(&mut self, number: usize) -> Result<Run>;

    /// A number other than a time.
    fn figure(&mut self, figure: Figure) -> Result<f64>;

    /// The parts that a figure is the sum of, with their names; none if it has none.
    fn parts(&mut self, figure: Figure) -> Result<Vec<(String, f64)>>;

    /// Lets clients issue queries at the same time and waits for the last; seconds that took.
    fn serve(&mut self, clients: &Clients<'_>) -> Result<f64>;
}

/// Clients of an engine, each with a connection of its own.
#[derive(Clone, Copy, Debug)]
pub struct Clients<'a> {
    /// For each client its queries, one after the other.
    pub orders: &'a [Vec<usize>],
    /// Settings of all connections.
    pub settings: &'a [(&'a str, &'a str)],
}

/// One run of a query. Times are in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Time to plan and to compile, if the engine does.
    pub prepare: Option<Prepare>,
    /// Time to run.
    pub execute: f64,
    /// See [`fingerprint`].
    pub answer: u64,
}

/// Times before a query runs, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Prepare {
    /// Parsing, binding, optimizing, cutting into pipelines.
    pub plan: f64,
    /// Generating machine code.
    pub compile: f64,
}

/// A number that answers with the same rows share, in whatever order: runs that answer differently are
/// not to be compared by their time.
pub fn fingerprint(rows: impl Iterator<Item = String>) -> u64 {
    rows.fold(0, |sum: u64, row| {
        let mut hasher = DefaultHasher::new();
        row.hash(&mut hasher);
        sum.wrapping_add(hasher.finish())
    })
}
