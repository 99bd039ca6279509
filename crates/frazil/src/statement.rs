//! Prepared statements.

use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::execute;
use crate::rows::Response;
use frazil_frontend::ParsedStatement;
use frazil_types::{Result, Value};

/// A statement parsed once, to be run with different parameters.
#[derive(Debug)]
pub struct Statement {
    connection: Connection,
    parsed: ParsedStatement,
}

impl Statement {
    pub(crate) fn new(connection: Connection, parsed: ParsedStatement) -> Statement {
        Statement { connection, parsed }
    }

    /// Runs it with values for `$1`, `$2` and so on.
    pub fn execute(&self, parameters: &[Value]) -> Result<Response> {
        let mut session = self.connection.start()?;
        let _inside = self.connection.database().enter()?;
        let _deadline = Deadline::start(session.settings().statement_timeout, session.cancel())?;
        if let Some(result) = execute::run_cached(&mut session, &self.parsed.text, parameters) {
            return result;
        }
        execute::run(&mut session, &self.parsed, parameters)
    }
}
