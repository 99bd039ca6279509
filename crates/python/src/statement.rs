//! Prepared statements.

use crate::connection::Connection;
use crate::cursor::Cursor;
use crate::errors::Text;
use crate::markers::Marked;
use crate::parameters;
use crate::result_sets::ResultSets;
use crate::running::{at_once, run};
use frazil::{Outcome, Value};
use pyo3::prelude::*;
use std::sync::Arc;

/// A prepared statement of a connection.
#[pyclass(frozen, module = "frazil")]
pub struct Statement {
    connection: Py<Connection>,
    session: frazil::Connection,
    statement: Arc<frazil::Statement>,
    /// The text as it was given.
    sql: String,
    /// The text with the markers of the connection's style, if they are others than the engine's.
    marked: Option<Arc<Marked>>,
}

/// Runs a statement; the rows that it wrote.
pub fn written(statement: &frazil::Statement, values: &[Value]) -> frazil::Result<i64> {
    let response = statement.execute(values)?;
    Ok(match response.outcome {
        Outcome::Rows(rows) => rows.len() as i64,
        Outcome::Command { rows, .. } => rows.map_or(0, |rows| rows as i64),
    })
}

impl Statement {
    /// Prepares a text. `by_name`: how its parameters will be given, if that is known.
    pub fn prepare(
        connection: Py<Connection>,
        py: Python<'_>,
        sql: &str,
        by_name: Option<bool>,
    ) -> PyResult<Statement> {
        let session = connection.get().session()?;
        let named = connection.get().names_parameters();
        let marked = connection.get().marked(sql, by_name.unwrap_or(named))?;
        let text = marked.as_ref().map_or(sql, |marked| &marked.sql);
        let place = Text::new(sql, marked.as_deref());
        let statement = at_once(py, place, || session.prepare(text))?;
        Ok(Statement {
            connection,
            session,
            statement: Arc::new(statement),
            sql: sql.to_owned(),
            marked,
        })
    }

    /// Values of the parameters.
    pub fn values(&self, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Value>> {
        match (given.filter(|given| !given.is_none()), &self.marked) {
            (None, _) => Ok(Vec::new()),
            (Some(given), Some(marked)) => parameters::of_marked(marked, given),
            (Some(given), None) => parameters::positional(given),
        }
    }

    /// Text of the statement, to which positions in errors refer.
    pub fn text(&self) -> Text<'_> {
        Text::new(&self.sql, self.marked.as_deref())
    }

    /// The engine's.
    pub fn engine(&self) -> &Arc<frazil::Statement> {
        &self.statement
    }

    /// Whether it runs without pipelines, in no time worth speaking of.
    pub fn is_direct(&self) -> bool {
        self.statement.is_direct()
    }
}

#[pymethods]
impl Statement {
    /// Runs it with values for its parameters; returns a cursor with the result.
    #[pyo3(signature = (params = None, /))]
    fn execute(&self, py: Python<'_>, params: Option<&Bound<'_, PyAny>>) -> PyResult<Cursor> {
        let connection = self.connection.get();
        connection.session()?;
        let values = self.values(params)?;
        connection.begin_statement();
        connection.begin_before(py, &self.session, &self.sql)?;
        let statement = self.statement.clone();
        let work = move || statement.execute(&values);
        let response = match self.is_direct() {
            true => at_once(py, self.text(), work)?,
            false => run(py, &self.session, self.text(), work)?,
        };
        Ok(Cursor::new(
            self.connection.clone_ref(py),
            ResultSets::one(response),
        ))
    }

    /// Runs it once for each set of parameters, all or none of them; returns the number of rows that they wrote.
    #[pyo3(signature = (params, /))]
    fn executemany(&self, py: Python<'_>, params: &Bound<'_, PyAny>) -> PyResult<i64> {
        self.connection
            .get()
            .run_many(py, self, params.try_iter()?.peekable())
    }
}
