//! A bound statement on its way to being run.

use crate::statement_tables::StatementTables;
use frazil_frontend::HiddenParameter;
use frazil_types::{LogicalType, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What gives the types of a statement's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedBy {
    /// Its text alone: they are the same whenever it comes again.
    Text,
    /// PREPARE: they are the same whenever that statement is executed.
    Prepare,
    /// The values that it is called with, of these own types: they are the same when values of these types come again.
    Values(Vec<Option<LogicalType>>),
    /// A run, whose types serve no other one.
    Run,
}

impl TypedBy {
    /// The own types of the values, if they give the types.
    pub fn values(&self) -> Option<&[Option<LogicalType>]> {
        match self {
            TypedBy::Values(types) => Some(types),
            TypedBy::Text | TypedBy::Prepare | TypedBy::Run => None,
        }
    }

    /// True if the statement serves when its text comes again.
    pub fn is_kept_by_text(&self) -> bool {
        match self {
            TypedBy::Text | TypedBy::Values(_) => true,
            TypedBy::Prepare | TypedBy::Run => false,
        }
    }
}

/// A bound statement with what it reads and is given.
pub struct Bundle {
    /// The tables it was bound to.
    pub tables: Arc<StatementTables>,
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
    /// Parameters, counted from 0, that are texts although another type might do as well.
    pub guessed: Vec<usize>,
    /// Parameters that follow its own.
    pub hidden: Vec<HiddenParameter>,
    /// What gives the types of its parameters.
    pub typed_by: TypedBy,
    /// How deep it nests, with the views that it reads; 0 for what runs as it was compiled.
    pub depth: usize,
}
