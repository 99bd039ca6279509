//! The statements that a connection keeps by name: PREPARE.

use crate::bundle::TypedBy;
use crate::compiled_statement::CompiledStatement;
use crate::parameters;
use crate::session_view::{ListedStatement, ListedStatements};
use crate::statistics::{DatabaseStatistics, StatementCounts};
use frazil_frontend::ParsedStatement;
use frazil_types::{Error, LogicalType, Result, SqlState};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

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
    counts: OnceLock<Arc<StatementCounts>>,
}

impl Prepared {
    /// A statement with parameters of these types, not compiled yet.
    pub fn new(parsed: ParsedStatement, types: Vec<LogicalType>, typed_by: TypedBy) -> Prepared {
        Prepared {
            parsed,
            types,
            typed_by,
            compiled: Mutex::default(),
            counts: OnceLock::new(),
        }
    }

    /// The counts of its text.
    pub fn counts(&self, statistics: &DatabaseStatistics) -> &StatementCounts {
        self.counts.get_or_init(|| statistics.of_text(&self.parsed.text))
    }

    /// What it was compiled to, if that serves again.
    pub fn compiled(&self) -> MutexGuard<'_, Option<Arc<CompiledStatement>>> {
        self.compiled.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// The prepared statements of a connection.
#[derive(Debug)]
pub struct PreparedStatements {
    known: HashMap<String, Arc<Prepared>>,
    /// Those of `known`, for other threads.
    listed: ListedStatements,
}

impl PreparedStatements {
    /// No statements; `listed` will show them.
    pub fn new(listed: ListedStatements) -> PreparedStatements {
        PreparedStatements {
            known: HashMap::new(),
            listed,
        }
    }

    /// Keeps a statement by a name, with the text that made it. 42P05 for a name that is taken.
    pub fn add(
        &mut self,
        name: String,
        prepared: Arc<Prepared>,
        (text, is_of_sql): (Arc<str>, bool),
    ) -> Result<()> {
        if self.known.contains_key(&name) {
            let message = format!("prepared statement \"{name}\" already exists");
            return Err(Error::new(SqlState::DUPLICATE_STATEMENT, message));
        }
        let listed = ListedStatement {
            text,
            types: prepared.types.clone(),
            is_of_sql,
            made: parameters::now_micros(),
        };
        self.listed.list().insert(name.clone(), listed);
        self.known.insert(name, prepared);
        Ok(())
    }

    /// The statement of a name. 26000.
    pub fn get(&self, name: &str) -> Result<Arc<Prepared>> {
        self.known.get(name).cloned().ok_or_else(|| missing(name))
    }

    /// DEALLOCATE, of all without a name: the command's tag. 26000.
    pub fn remove(&mut self, name: Option<&str>) -> Result<&'static str> {
        let Some(name) = name else {
            self.known.clear();
            self.listed.list().clear();
            return Ok("DEALLOCATE ALL");
        };
        self.listed.list().remove(name);
        let removed = self.known.remove(name);
        removed.map(|_| "DEALLOCATE").ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> Error {
    let message = format!("prepared statement \"{name}\" does not exist");
    Error::new(SqlState::INVALID_STATEMENT_NAME, message)
}
