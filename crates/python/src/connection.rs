//! Connections: a session on a database, its transactions, and the statements that run on it.

use crate::cursor::Cursor;
use crate::errors::{ProgrammingError, Text, closed, raise};
use crate::frames::PyFrames;
use crate::markers::{Marked, MarkedTexts, ParamStyle, has_markers};
use crate::parameters;
use crate::result_sets::ResultSets;
use crate::running::{at_once, briefly, run};
use crate::statement::{Statement, written};
use frazil::sql_text::{TokenKind, tokens};
use frazil::{SharedDatabase, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyTuple};
use std::iter::Peekable;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the statements of executemany run between two looks at signals.
const LOOK: Duration = Duration::from_millis(50);
/// Sets of parameters that are converted together.
const SETS: usize = 256;

/// First words of statements for which no transaction is begun where autocommit is off: they begin or end one, or stand outside.
const OUTSIDE: [&str; 16] = [
    "begin",
    "start",
    "commit",
    "end",
    "rollback",
    "abort",
    "savepoint",
    "release",
    "set",
    "reset",
    "discard",
    "show",
    "checkpoint",
    "backup",
    "publish",
    "vacuum",
];

/// Sets of parameters, one for each run of a statement.
pub type Sets<'py> = Peekable<Bound<'py, PyIterator>>;

/// A session on a database. Threads may share it: their statements wait for each other.
#[pyclass(frozen, module = "frazil", weakref)]
pub struct Connection {
    state: Mutex<Option<State>>,
    paramstyle: Mutex<ParamStyle>,
    autocommit: AtomicBool,
    marked: MarkedTexts,
    frames: Arc<PyFrames>,
}

struct State {
    session: frazil::Connection,
    /// The database, which the last connection that opened it closes. `None` for a duplicate.
    opened: Option<SharedDatabase>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// A connection that opened a database, or joined those that have it open.
    pub fn opening(database: SharedDatabase, paramstyle: ParamStyle, autocommit: bool) -> Connection {
        let state = State {
            session: database.connect(),
            opened: Some(database),
        };
        Connection::of(state, paramstyle, autocommit)
    }

    /// A connection to the database of a session, which the last of its connections closes.
    pub fn of_session(session: frazil::Connection) -> Connection {
        let state = State {
            session,
            opened: None,
        };
        Connection::of(state, ParamStyle::Qmark, true)
    }

    fn of(state: State, paramstyle: ParamStyle, autocommit: bool) -> Connection {
        let frames = Arc::new(PyFrames::default());
        state.session.set_frames(frames.clone());
        Connection {
            frames,
            state: Mutex::new(Some(state)),
            paramstyle: Mutex::new(paramstyle),
            autocommit: AtomicBool::new(autocommit),
            marked: MarkedTexts::default(),
        }
    }

    /// The session. InterfaceError once the connection is closed.
    pub fn session(&self) -> PyResult<frazil::Connection> {
        match &*lock(&self.state) {
            Some(state) => Ok(state.session.clone()),
            None => Err(closed("connection")),
        }
    }

    /// Whether the connection's style marks parameters by their names.
    pub fn names_parameters(&self) -> bool {
        matches!(*lock(&self.paramstyle), ParamStyle::Named | ParamStyle::Pyformat)
    }

    /// A text whose markers are the engine's, for parameters that are given by name or in order.
    pub fn marked(&self, sql: &str, by_name: bool) -> PyResult<Option<Arc<Marked>>> {
        let style = lock(&self.paramstyle).of_call(by_name);
        match has_markers(style, sql) {
            true => self.marked.get(style, sql).map(Some),
            false => Ok(None),
        }
    }

    /// Runs statements. Where autocommit is off, a transaction is open afterwards.
    pub fn run(
        &self,
        py: Python<'_>,
        sql: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<ResultSets> {
        let session = self.session()?;
        let (marked, values) = self.call(sql, parameters)?;
        let text = Text::new(sql, marked.as_deref());
        let sql = marked.as_ref().map_or(sql, |marked| &marked.sql);
        self.frames.begin_statement();
        self.begin_before(py, &session, sql)?;
        if session.is_direct(sql) {
            return at_once(py, text, || execute(&session, sql, &values));
        }
        let (own, sql) = (session.clone(), sql.to_owned());
        run(py, &session, text, move || execute(&own, &sql, &values))
    }

    /// The text as the engine reads it if that is another, and the values of its parameters.
    fn call(
        &self,
        sql: &str,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Option<Arc<Marked>>, Vec<Value>)> {
        let Some(given) = given.filter(|given| !given.is_none()) else {
            return Ok((None, Vec::new()));
        };
        let by_name = parameters::is_named(given);
        let marked = self.marked(sql, by_name)?;
        let values = match &marked {
            Some(marked) => parameters::of_marked(marked, given)?,
            // An empty mapping is what programs give that have no parameters.
            None if by_name && given.is_empty()? => Vec::new(),
            None => parameters::positional(given)?,
        };
        Ok((marked, values))
    }

    /// What a statement that begins finds of frames.
    pub fn begin_statement(&self) {
        self.frames.begin_statement();
    }

    /// Begins a transaction where autocommit is off, none is open, and the statement is one that wants it.
    pub fn begin_before(&self, py: Python<'_>, session: &frazil::Connection, sql: &str) -> PyResult<()> {
        if self.autocommit.load(Ordering::Relaxed) || session.in_transaction() {
            return Ok(());
        }
        let first = tokens(sql).find(|token| !matches!(token.kind, TokenKind::Blank | TokenKind::Comment));
        let first = first.map_or("", |token| &sql[token.range]);
        if OUTSIDE.iter().any(|word| word.eq_ignore_ascii_case(first)) {
            return Ok(());
        }
        briefly(py, || session.execute("begin")).map(drop)
    }

    /// Runs a statement once for each set of parameters; the rows that all of them wrote. All of them are in one transaction: that
    /// which is open, or one of their own, so that a failure leaves nothing of them.
    pub fn run_many(&self, py: Python<'_>, statement: &Statement, sets: Sets<'_>) -> PyResult<i64> {
        let session = self.session()?;
        let is_own = !session.in_transaction();
        if is_own {
            briefly(py, || session.execute("begin"))?;
        }
        let ended = self.run_sets(py, &session, statement, sets);
        let ending = match &ended {
            Ok(_) if self.autocommit.load(Ordering::Relaxed) => "commit",
            Ok(_) => return ended,
            Err(_) => "rollback",
        };
        if is_own && session.in_transaction() {
            briefly(py, || session.execute(ending))?;
        }
        ended
    }

    fn run_sets(
        &self,
        py: Python<'_>,
        session: &frazil::Connection,
        statement: &Statement,
        mut sets: Sets<'_>,
    ) -> PyResult<i64> {
        let mut written = 0;
        while sets.peek().is_some() {
            let mut values = Vec::with_capacity(SETS);
            for set in sets.by_ref().take(SETS) {
                values.push(statement.values(Some(&set?))?);
            }
            let values = Arc::new(values);
            let mut next = 0;
            while next < values.len() {
                let part = part(statement.engine(), &values, next);
                let (rows, until) = match statement.is_direct() {
                    true => at_once(py, statement.text(), part)?,
                    false => run(py, session, statement.text(), part)?,
                };
                written += rows;
                next = until;
                py.check_signals()?;
            }
        }
        Ok(written)
    }

    fn end(&self, py: Python<'_>, how: &str) -> PyResult<()> {
        let session = self.session()?;
        if session.in_transaction() {
            briefly(py, || session.execute(how))?;
        }
        Ok(())
    }
}

/// Runs statements.
fn execute(session: &frazil::Connection, sql: &str, values: &[Value]) -> frazil::Result<ResultSets> {
    let mut sets = ResultSets::default();
    session.execute_each(sql, values, &mut |response| {
        sets.push(response);
        Ok(())
    })?;
    Ok(sets)
}

/// What runs a statement with one set of parameters after the other from the set at `from` on, for [`LOOK`]: the rows that it wrote, and
/// the set that is next.
fn part(
    statement: &Arc<frazil::Statement>,
    sets: &Arc<Vec<Vec<Value>>>,
    from: usize,
) -> impl FnOnce() -> frazil::Result<(i64, usize)> + Send + use<> {
    let (statement, sets) = (statement.clone(), sets.clone());
    move || {
        let begun = Instant::now();
        let (mut rows, mut next) = (0, from);
        while next < sets.len() && begun.elapsed() < LOOK {
            rows += written(&statement, &sets[next])?;
            next += 1;
        }
        Ok((rows, next))
    }
}

/// A cursor with the rows that a function of files gives.
fn read<'py>(
    connection: &Bound<'py, Connection>,
    function: &str,
    path: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = connection.py();
    let options = options.cloned().unwrap_or_else(|| PyDict::new(py));
    let module = py.import("frazil._frames")?;
    module.call_method1("read", (connection, function, path, options))
}

#[pymethods]
impl Connection {
    /// Runs one or several statements; returns a cursor with the result.
    #[pyo3(signature = (sql, params = None, /))]
    fn execute(
        slf: Py<Self>,
        py: Python<'_>,
        sql: &str,
        params: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Cursor> {
        let sets = slf.get().run(py, sql, params)?;
        Ok(Cursor::new(slf, sets))
    }

    /// Runs a statement once for each set of parameters, all or none of them; returns a cursor with the number of rows written.
    #[pyo3(signature = (sql, params, /))]
    fn executemany(slf: Py<Self>, py: Python<'_>, sql: &str, params: &Bound<'_, PyAny>) -> PyResult<Cursor> {
        let sets = Cursor::written_by_many(&slf, py, sql, params)?;
        Ok(Cursor::new(slf, sets))
    }

    /// Parses, binds and compiles a statement once, to run it many times.
    #[pyo3(signature = (sql, /))]
    fn prepare(slf: Py<Self>, py: Python<'_>, sql: &str) -> PyResult<Statement> {
        Statement::prepare(slf, py, sql, None)
    }

    /// Returns a cursor on this connection; it sees the changes of the connection's open transaction.
    fn cursor(slf: Py<Self>) -> PyResult<Cursor> {
        slf.get().session()?;
        Ok(Cursor::new(slf, ResultSets::default()))
    }

    /// Another connection to the same database, with a transaction and settings of its own. It ends with the last of
    /// the connections that connect returned for the database.
    fn duplicate(&self) -> PyResult<Connection> {
        let state = State {
            session: self.session()?.database().connect(),
            opened: None,
        };
        let autocommit = self.autocommit.load(Ordering::Relaxed);
        Ok(Connection::of(state, *lock(&self.paramstyle), autocommit))
    }

    /// Commits the open transaction, if there is one.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, "commit")
    }

    /// Rolls back the open transaction, if there is one.
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.end(py, "rollback")
    }

    /// Whether each statement is a transaction of its own. Where it is not, the first statement begins one, and commit or rollback
    /// ends it.
    #[getter]
    fn autocommit(&self) -> bool {
        self.autocommit.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_autocommit(&self, autocommit: bool) -> PyResult<()> {
        if self.session()?.in_transaction() {
            return Err(ProgrammingError::new_err(
                "autocommit cannot be changed in a transaction: commit it or roll it back",
            ));
        }
        self.autocommit.store(autocommit, Ordering::Relaxed);
        Ok(())
    }

    /// Whether a transaction is open.
    #[getter]
    fn in_transaction(&self) -> PyResult<bool> {
        Ok(self.session()?.in_transaction())
    }

    /// How statements mark their parameters: "qmark" (?), "numeric" (:1), "named" (:name), "format" (%s), "pyformat" (%(name)s) or
    /// "numeric_dollar" ($1, which all take). A mapping gives values to :name, or to %(name)s where the style is "pyformat".
    #[getter]
    fn paramstyle(&self) -> &'static str {
        lock(&self.paramstyle).name()
    }

    #[setter]
    fn set_paramstyle(&self, style: &str) -> PyResult<()> {
        *lock(&self.paramstyle) = ParamStyle::named(style)?;
        Ok(())
    }

    /// Registers a frame under a name for statements: a pandas or Polars frame, an Arrow table, or any Arrow stream.
    /// A table of that name takes precedence. Variables with such frames can be used by their names without this.
    #[pyo3(signature = (name, frame, /))]
    fn register(&self, py: Python<'_>, name: &str, frame: &Bound<'_, PyAny>) -> PyResult<()> {
        self.session()?;
        self.frames.register(py, name, frame)
    }

    /// Removes the name of a registered frame. ProgrammingError if there is none.
    #[pyo3(signature = (name, /))]
    fn unregister(&self, name: &str) -> PyResult<()> {
        self.session()?;
        match self.frames.unregister(name) {
            true => Ok(()),
            false => Err(ProgrammingError::new_err(format!(
                "no frame \"{name}\" is registered"
            ))),
        }
    }

    /// Inserts the rows of a frame into a table and returns their number. Matches columns by name if the table has all
    /// columns of the frame, else by position.
    #[pyo3(signature = (table, frame, /))]
    fn append<'py>(
        slf: &Bound<'py, Self>,
        table: &str,
        frame: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("frazil._frames")?;
        module.call_method1("append", (slf, table, frame))
    }

    /// Returns the rows of CSV files. The path can contain * ? and []; options are those of read_csv: header=True.
    #[pyo3(signature = (path, /, **options))]
    fn read_csv<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read(slf, "read_csv", path, options)
    }

    /// Returns the rows of Parquet files: see read_csv.
    #[pyo3(signature = (path, /, **options))]
    fn read_parquet<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read(slf, "read_parquet", path, options)
    }

    /// Returns the rows of JSON files: see read_csv.
    #[pyo3(signature = (path, /, **options))]
    fn read_json<'py>(
        slf: &Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        read(slf, "read_json", path, options)
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        lock(&self.state).is_none()
    }

    /// Cancels the running statement of this connection; call it from another thread.
    fn interrupt(&self) -> PyResult<()> {
        self.session()?.cancel_handle().cancel();
        Ok(())
    }

    /// How far the statement is that runs, for another thread: what it does, and work done and known in one unit.
    fn progress(&self) -> PyResult<(String, u64, u64)> {
        let session = self.session()?;
        let progress = session.progress();
        Ok((progress.phase(), progress.done(), progress.total()))
    }

    /// Rolls an open transaction back. Closes the database if no other connection that connect returned has it open; a
    /// directory holds everything afterwards. Cursors made here become unusable.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Some(State { session, opened }) = lock(&self.state).take() else {
            return Ok(());
        };
        py.detach(|| {
            // Statements of this connection keep the session, whose locks others of the database would wait for.
            // Nothing is open in a forked child, which cannot use the database.
            let _ = session.execute("rollback");
            drop(session);
            opened.map_or(Ok(()), |database| database.close())
        })
        .map_err(raise)
    }

    fn __enter__(slf: Py<Self>) -> PyResult<Py<Self>> {
        slf.get().session()?;
        Ok(slf)
    }

    /// Commits the open transaction, or rolls it back after an exception, and closes the connection.
    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        if self.closed() {
            return Ok(());
        }
        let failed = exception.get_item(0).is_ok_and(|class| !class.is_none());
        let ended = self.end(py, if failed { "rollback" } else { "commit" });
        ended.and(self.close(py))
    }
}
