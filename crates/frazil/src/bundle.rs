//! A bound statement on its way to being run.

use crate::statement_tables::StatementTables;
use frazil_frontend::HiddenParameter;
use frazil_types::{LogicalType, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A bound statement with what it reads and is given.
pub struct Bundle {
    /// The tables it was bound to.
    pub tables: StatementTables,
    /// Values of its parameters, the hidden ones at the end.
    pub parameters: Vec<Value>,
    /// When its planning began.
    pub started: Instant,
    /// Time that binding it took.
    pub bind: Duration,
    /// The statement's text.
    pub text: Arc<str>,
    /// Types of its own parameters.
    pub types: Vec<LogicalType>,
    /// Parameters that follow its own.
    pub hidden: Vec<HiddenParameter>,
    /// Whether its text alone gives the types of its parameters: they are the same whenever it comes again.
    pub is_typed_by_text: bool,
    /// How deep it nests, with the views that it reads; 0 for what runs as it was compiled.
    pub depth: usize,
}
