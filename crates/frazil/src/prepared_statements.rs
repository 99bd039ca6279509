//! The statements that a connection keeps by name: PREPARE.

use crate::bundle::TypedBy;
use crate::compiled_statement::CompiledStatement;
use crate::parameters;
use frazil_frontend::ParsedStatement;
use frazil_types::{Error, LogicalType, Result, SqlState};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard};

/// A statement by a name.
#[derive(Debug)]
pub struct Prepared {
    /// The statement.
    pub parsed: ParsedStatement,
    /// Types of its parameters.
    pub types: Vec<LogicalType>,
    /// Who fixed the parameter types: PREPARE, the text, or the first values.
    pub typed_by: TypedBy,
    compiled: Mutex<Option<Arc<CompiledStatement>>>,
}

impl Prepared {
    /// A statement with parameters of these types, not compiled yet.
    pub fn new(parsed: ParsedStatement, types: Vec<LogicalType>, typed_by: TypedBy) -> Prepared {
        Prepared {
            parsed,
            types,
            typed_by,
            compiled: Mutex::default(),
        }
    }

    /// What it was compiled to, if that serves again.
    pub fn compiled(&self) -> MutexGuard<'_, Option<Arc<CompiledStatement>>> {
        self.compiled.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The prepared statements of a connection.
#[derive(Debug, Default)]
pub struct PreparedStatements(Mutex<HashMap<String, Kept>>);

/// A statement that is kept by a name.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The statement.
    pub prepared: Arc<Prepared>,
    /// The text that made it: PREPARE, or that of the protocol's message.
    pub text: Arc<str>,
    /// True for PREPARE, false for the protocol's message.
    pub is_of_sql: bool,
    /// The time when it was made, in microseconds since 1970.
    pub made: i64,
}

impl PreparedStatements {
    fn kept(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Keeps a statement by a name. 42P05 for a name that is taken.
    pub fn add(&self, name: String, prepared: Arc<Prepared>, text: Arc<str>, is_of_sql: bool) -> Result<()> {
        match self.kept().entry(name) {
            Entry::Occupied(taken) => {
                let message = format!("prepared statement \"{}\" already exists", taken.key());
                Err(Error::new(SqlState::DUPLICATE_STATEMENT, message))
            }
            Entry::Vacant(place) => {
                place.insert(Kept {
                    prepared,
                    text,
                    is_of_sql,
                    made: parameters::now_micros(),
                });
                Ok(())
            }
        }
    }

    /// The statement of a name. 26000.
    pub fn get(&self, name: &str) -> Result<Arc<Prepared>> {
        let kept = self.kept();
        let found = kept.get(name).map(|kept| kept.prepared.clone());
        found.ok_or_else(|| missing(name))
    }

    /// Returns all statements with their names, in the order of these.
    pub fn all(&self) -> Vec<(String, Kept)> {
        let kept = self.kept();
        let mut all: Vec<_> = kept
            .iter()
            .map(|(name, kept)| (name.clone(), kept.clone()))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// DEALLOCATE, of all without a name: the command's tag. 26000.
    pub fn remove(&self, name: Option<&str>) -> Result<&'static str> {
        let Some(name) = name else {
            self.kept().clear();
            return Ok("DEALLOCATE ALL");
        };
        let removed = self.kept().remove(name);
        removed.map(|_| "DEALLOCATE").ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> Error {
    let message = format!("prepared statement \"{name}\" does not exist");
    Error::new(SqlState::INVALID_STATEMENT_NAME, message)
}
