//! Connections and cursors. A cursor holds a result; statements run without the interpreter's lock.

use crate::errors::{self, closed, raise};
use crate::values;
use frazil::{Database, Outcome, Response, Rows};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use pyo3_arrow::PyTable;
use std::sync::{Arc, Mutex, MutexGuard};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// A database and a session on it.
#[pyclass(frozen, module = "frazil")]
pub struct Connection {
    state: Mutex<Option<(Database, frazil::Connection)>>,
}

impl Connection {
    /// A connection to an open database.
    pub fn new(database: Database) -> Connection {
        let session = database.connect();
        Connection {
            state: Mutex::new(Some((database, session))),
        }
    }

    fn session(&self) -> PyResult<frazil::Connection> {
        match &*lock(&self.state) {
            Some((_, session)) => Ok(session.clone()),
            None => Err(closed("connection")),
        }
    }
}

#[pymethods]
impl Connection {
    /// Runs statements on this connection's session; returns a cursor with the last one's result.
    #[pyo3(signature = (sql, params = None))]
    fn execute(&self, py: Python<'_>, sql: &str, params: Option<&Bound<'_, PyAny>>) -> PyResult<Cursor> {
        let cursor = Cursor::new(self.session()?);
        cursor.run(py, sql, params)?;
        Ok(cursor)
    }

    /// A statement that is parsed, bound and compiled once, to be run many times on this connection's session.
    fn prepare(&self, py: Python<'_>, sql: &str) -> PyResult<Statement> {
        let session = self.session()?;
        let statement = py.detach(|| session.prepare(sql)).map_err(raise)?;
        Ok(Statement {
            session,
            statement: Arc::new(statement),
        })
    }

    /// A cursor with a session of its own: its own transaction and settings, for another thread.
    fn cursor(&self) -> PyResult<Cursor> {
        Ok(Cursor::new(self.session()?.database().connect()))
    }

    /// Commits the open transaction, if there is one.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, "commit")
    }

    /// Rolls the open transaction back, if there is one.
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, "rollback")
    }

    /// Cancels what runs on this connection; to be called from another thread.
    fn interrupt(&self) -> PyResult<()> {
        self.session()?.cancel_handle().cancel();
        Ok(())
    }

    /// Closes the database; a directory holds everything afterwards. Cursors made here become unusable.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let state = lock(&self.state).take();
        match state {
            Some((database, session)) => py.detach(|| {
                drop(session);
                database.close().map_err(raise)
            }),
            None => Ok(()),
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }
}

impl Connection {
    fn end(&self, py: Python<'_>, how: &str) -> PyResult<()> {
        let session = self.session()?;
        if session.in_transaction() {
            py.detach(|| session.execute(how)).map_err(raise)?;
        }
        Ok(())
    }
}

/// A result and the way through it.
#[derive(Default)]
struct Fetch {
    rows: Option<Rows>,
    batch: usize,
    row: usize,
    affected: i64,
}

impl Fetch {
    /// Before the first row of a response.
    fn of(response: Response) -> Fetch {
        match response.outcome {
            Outcome::Rows(rows) => Fetch {
                affected: rows.len() as i64,
                rows: Some(rows),
                ..Fetch::default()
            },
            Outcome::Command { rows, .. } => Fetch {
                affected: rows.map_or(-1, |r| r as i64),
                ..Fetch::default()
            },
        }
    }
}

/// A prepared statement.
#[pyclass(frozen, module = "frazil")]
pub struct Statement {
    session: frazil::Connection,
    statement: Arc<frazil::Statement>,
}

#[pymethods]
impl Statement {
    /// Runs it with values for `$1`, `$2` and so on; returns a cursor with the result.
    #[pyo3(signature = (params = None))]
    fn execute(&self, py: Python<'_>, params: Option<&Bound<'_, PyAny>>) -> PyResult<Cursor> {
        let params = values::parameters(params)?;
        let response = py.detach(|| self.statement.execute(&params)).map_err(raise)?;
        Ok(Cursor {
            session: Mutex::new(Some(self.session.clone())),
            fetch: Mutex::new(Fetch::of(response)),
        })
    }

    /// Runs it once for each set of parameters; returns the number of rows inserted or deleted by all.
    fn executemany(&self, py: Python<'_>, params: &Bound<'_, PyAny>) -> PyResult<i64> {
        execute_many(py, &self.statement, params)
    }
}

/// Runs a statement once for each set of parameters; returns the number of rows that all of them wrote.
fn execute_many(py: Python<'_>, statement: &frazil::Statement, params: &Bound<'_, PyAny>) -> PyResult<i64> {
    let mut affected = 0;
    for set in params.try_iter()? {
        let values = values::parameters(Some(&set?))?;
        let response = py.detach(|| statement.execute(&values)).map_err(raise)?;
        affected += Fetch::of(response).affected.max(0);
    }
    Ok(affected)
}

/// Runs statements and holds the result of the last one.
#[pyclass(frozen, module = "frazil")]
pub struct Cursor {
    session: Mutex<Option<frazil::Connection>>,
    fetch: Mutex<Fetch>,
}

impl Cursor {
    fn new(session: frazil::Connection) -> Cursor {
        Cursor {
            session: Mutex::new(Some(session)),
            fetch: Mutex::new(Fetch::default()),
        }
    }

    fn session(&self) -> PyResult<frazil::Connection> {
        lock(&self.session).clone().ok_or_else(|| closed("cursor"))
    }

    fn run(&self, py: Python<'_>, sql: &str, params: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let session = self.session()?;
        let params = values::parameters(params)?;
        let response = py.detach(|| session.execute_with(sql, &params)).map_err(raise)?;
        *lock(&self.fetch) = Fetch::of(response);
        Ok(())
    }

    fn take<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let mut fetch = lock(&self.fetch);
        let Fetch { rows, batch, row, .. } = &mut *fetch;
        let Some(rows) = rows else {
            return Err(errors::InterfaceError::new_err(
                "there is no result to fetch from",
            ));
        };
        let mut out = Vec::new();
        while out.len() < limit
            && let Some(current) = rows.batches().get(*batch)
        {
            if *row == current.rows {
                (*batch, *row) = (*batch + 1, 0);
                continue;
            }
            let cells = current.columns.iter().map(|c| values::cell(py, c, *row));
            out.push(PyTuple::new(py, cells.collect::<PyResult<Vec<_>>>()?)?);
            *row += 1;
        }
        Ok(out)
    }
}

#[pymethods]
impl Cursor {
    /// Runs statements; the cursor then holds the last one's result.
    #[pyo3(signature = (sql, params = None))]
    fn execute(
        slf: Py<Self>,
        py: Python<'_>,
        sql: &str,
        params: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<Self>> {
        slf.get().run(py, sql, params)?;
        Ok(slf)
    }

    /// Runs a statement, which is prepared, once for each set of parameters. Its rows are not kept.
    fn executemany(&self, py: Python<'_>, sql: &str, params: &Bound<'_, PyAny>) -> PyResult<()> {
        let session = self.session()?;
        let statement = py.detach(|| session.prepare(sql)).map_err(raise)?;
        let affected = execute_many(py, &statement, params)?;
        *lock(&self.fetch) = Fetch {
            affected,
            ..Fetch::default()
        };
        Ok(())
    }

    /// A further cursor with a session of its own on the same database.
    fn cursor(&self) -> PyResult<Cursor> {
        Ok(Cursor::new(self.session()?.database().connect()))
    }

    /// The next row as a tuple, or None.
    fn fetchone<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        Ok(self.take(py, 1)?.pop())
    }

    /// The next rows.
    #[pyo3(signature = (size = 1))]
    fn fetchmany<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.take(py, size)
    }

    /// All rows that are left.
    fn fetchall<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.take(py, usize::MAX)
    }

    /// Names and types of the result's columns, or None.
    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        match &lock(&self.fetch).rows {
            Some(rows) => values::description(py, rows).map(Some),
            None => Ok(None),
        }
    }

    /// Rows returned, inserted or deleted; -1 where that has no meaning.
    #[getter]
    fn rowcount(&self) -> i64 {
        lock(&self.fetch).affected
    }

    /// The whole result as a `pyarrow.Table`.
    fn arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = match &lock(&self.fetch).rows {
            Some(rows) => rows.clone(),
            None => return Err(errors::InterfaceError::new_err("there is no result")),
        };
        let (schema, batches) = py.detach(|| rows.to_arrow()).map_err(raise)?;
        PyTable::try_new(batches, schema)?.into_pyarrow(py)
    }

    /// Cancels what runs on this cursor's session; to be called from another thread.
    fn interrupt(&self) -> PyResult<()> {
        self.session()?.cancel_handle().cancel();
        Ok(())
    }

    /// Gives up the session and the result.
    fn close(&self) {
        lock(&self.session).take();
        *lock(&self.fetch) = Fetch::default();
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.fetchone(py)
    }
}
