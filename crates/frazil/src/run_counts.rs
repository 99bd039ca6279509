//! Counts the runs of statements for the database's statistics.

use crate::compiled_statement::CompiledStatement;
use crate::prepared_statements::Prepared;
use crate::rows::Response;
use crate::session::Session;
use crate::statistics::StatementCounts;
use frazil_frontend::{ParsedStatement, StatementRole};
use frazil_types::Result;

/// A statement that runs.
pub struct Run {
    /// True if it is a transaction of its own, unless it begins one.
    is_own: bool,
}

impl Run {
    /// A statement of a session begins.
    pub fn begin(session: &Session) -> Run {
        Run {
            is_own: !session.transaction().is_open(),
        }
    }

    /// Counts the statement, which has ended. `counts`: those of its text, if it is to be counted by that.
    pub fn end(self, session: &Session, result: &Result<Response>, counts: Option<&StatementCounts>) {
        let statistics = session.database().statistics();
        if self.is_own && !session.transaction().is_open() {
            statistics.count_transaction(session.number(), result.is_ok());
        }
        if let (Ok(response), Some(counts)) = (result, counts) {
            statistics.count_statement(session.number(), response, counts);
        }
    }

    /// Counts the end of a statement by its text, or by what it was compiled to. EXECUTE counts the statement that it
    /// runs.
    pub fn end_of_text(
        self,
        session: &Session,
        result: &Result<Response>,
        (parsed, kept): (&ParsedStatement, Option<&CompiledStatement>),
    ) {
        let of_text = || session.database().statistics().of_text(&parsed.text);
        let counts = (result.is_ok() && parsed.role() != StatementRole::Execute)
            .then(|| kept.and_then(|kept| kept.counts.clone()).unwrap_or_else(of_text));
        self.end(session, result, counts.as_deref());
    }

    /// Counts the end of a prepared statement.
    pub fn end_of_prepared(self, session: &Session, result: &Result<Response>, statement: &Prepared) {
        let is_counted = statement.parsed.role() != StatementRole::Execute;
        let counts = is_counted.then(|| statement.counts(session.database().statistics()));
        self.end(session, result, counts);
    }
}
