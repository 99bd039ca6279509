//! Prepared statements.

use crate::compiled_statement::CompiledStatement;
use crate::connection::Connection;
use crate::described::{Described, bind_only};
use crate::execute;
use crate::given_values::GivenValues;
use crate::params::Params;
use crate::row_sink::{CopyStreams, Delivery, RowSink};
use crate::rows::{Response, Rows};
use crate::statistics::StatementCounts;
use frazil_frontend::{ParsedStatement, Statement as BoundStatement, StatementRole};
use frazil_types::Result;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// A statement parsed, bound and compiled once, to be run with different parameters. When the catalog has changed, or
/// tables hold what it was not compiled for, it is bound and compiled anew.
#[derive(Debug)]
pub struct Statement {
    connection: Connection,
    parsed: ParsedStatement,
    compiled: Mutex<Option<Arc<CompiledStatement>>>,
    /// The counts of a statement that begins or ends a transaction.
    counts: OnceLock<Arc<StatementCounts>>,
}

impl Statement {
    pub(crate) fn new(connection: Connection, parsed: ParsedStatement) -> Statement {
        Statement {
            connection,
            parsed,
            compiled: Mutex::default(),
            counts: OnceLock::new(),
        }
    }

    /// Runs it with values for `$1`, `$2` and so on.
    pub fn execute(&self, parameters: impl Params) -> Result<Response> {
        self.run(parameters.parameters()?.given(), Delivery::Whole)
    }

    /// Runs it as [`Statement::execute`] does; returns its rows. 02000 if it returns none.
    pub fn query(&self, parameters: impl Params) -> Result<Rows> {
        self.execute(parameters)?.outcome.into_rows()
    }

    /// The same, but hands rows over while they are computed: see [`Connection::execute_into`].
    pub fn execute_into(&self, parameters: impl Params, sink: &mut dyn RowSink) -> Result<Response> {
        self.run(
            parameters.parameters()?.given(),
            Delivery::Parts(&RefCell::new(sink)),
        )
    }

    /// Runs it as [`Connection::execute_copy`] does.
    pub fn execute_copy(&self, streams: &mut dyn CopyStreams) -> Result<Response> {
        self.run(GivenValues::NONE, Delivery::Copied(&RefCell::new(streams)))
    }

    /// The part that it plays in the protocol of a server.
    pub fn role(&self) -> StatementRole {
        self.parsed.role()
    }

    /// True for FETCH from a cursor that is BINARY: a server sends its values in binary form.
    pub fn is_binary(&self) -> bool {
        let name = self.parsed.fetches_from();
        name.is_some_and(|name| {
            let session = self.connection.session();
            session
                .cursors()
                .get(name)
                .is_ok_and(|(_, options)| options.is_binary)
        })
    }

    /// The cursor that it fetches from, moves or closes; the flag is true for one that it declares.
    pub fn cursor(&self) -> Option<(&str, bool)> {
        self.parsed.cursor()
    }

    /// Describes the result without running the statement. The errors of binding it.
    pub fn describe(&self) -> Result<Described> {
        let mut session = self.connection.start()?;
        let _inside = self.connection.database().enter()?;
        let _deadline = session.start_deadline()?;
        let has_seen = session.transaction().has_seen();
        let bound = bind_only(&mut session, &self.parsed, &[])?;
        // LOCK TABLE comes before the version that all statements see.
        if !has_seen && matches!(bound.statement, BoundStatement::LockTable(_)) {
            session.transaction_mut().forget_seen();
        }
        Described::of(&mut session, &bound.statement)
    }

    /// Whether it was compiled to run without pipelines: see [`Connection::is_direct`].
    pub fn is_direct(&self) -> bool {
        let compiled = self.compiled.try_lock();
        compiled.is_ok_and(|compiled| compiled.as_ref().is_some_and(|own| own.is_direct()))
    }

    fn run(&self, parameters: GivenValues<'_>, to: Delivery<'_>) -> Result<Response> {
        let mut session = self.connection.start()?;
        let _inside = self.connection.database().enter()?;
        let _deadline = session.start_deadline()?;
        let text = &self.parsed.text;
        if let Some(control) = self.parsed.control().filter(|_| parameters.values.is_empty()) {
            let of_text = || session.database().statistics().of_text(text);
            let counts = self.counts.get_or_init(of_text);
            return execute::run_control(&mut session, &self.parsed, control, counts);
        }
        // Held while it runs: others of the connection wait anyway.
        let mut own = self.compiled();
        if let Some(own) = &*own
            && let Some(result) = execute::run_compiled(&mut session, own, parameters, to)
        {
            return result.map_err(|error| self.parsed.placed(error));
        }
        // Another connection may have compiled the text since.
        if let Some(other) = execute::cached(&session, text, parameters)
            && let Some(result) = execute::run_compiled(&mut session, &other, parameters, to)
        {
            *own = Some(other);
            return result.map_err(|error| self.parsed.placed(error));
        }
        let mut kept = None;
        let result = execute::run(&mut session, &self.parsed, parameters, to, &mut kept);
        if kept.is_some() {
            *own = kept;
        }
        result
    }

    fn compiled(&self) -> MutexGuard<'_, Option<Arc<CompiledStatement>>> {
        self.compiled.lock().unwrap_or_else(|e| e.into_inner())
    }
}
