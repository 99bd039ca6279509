//! Cursors: what PEP 249 calls by this name, and the forms in which they give a whole result.

use crate::arrow_results;
use crate::cells;
use crate::connection::Connection;
use crate::errors::{InterfaceError, NotSupportedError, Warning, closed};
use crate::numpy_columns::{self, Form};
use crate::parameters;
use crate::result_sets::{ResultSet, ResultSets, Taken};
use crate::statement::Statement;
use frazil::{ArrowTexts, ColumnVector, Rows};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs statements and holds their results. Threads may share it: each call is one step.
#[pyclass(frozen, module = "frazil", weakref)]
pub struct Cursor {
    connection: Py<Connection>,
    /// Never held while Python objects are made or called.
    sets: Mutex<ResultSets>,
    is_closed: AtomicBool,
    arraysize: AtomicUsize,
}

impl Cursor {
    /// A cursor that stands before the first row of a result.
    pub fn new(connection: Py<Connection>, sets: ResultSets) -> Cursor {
        Cursor {
            connection,
            sets: Mutex::new(sets),
            is_closed: AtomicBool::new(false),
            arraysize: AtomicUsize::new(1),
        }
    }

    /// Runs a statement for each set of parameters.
    pub fn written_by_many(
        connection: &Py<Connection>,
        py: Python<'_>,
        sql: &str,
        params: &Bound<'_, PyAny>,
    ) -> PyResult<ResultSets> {
        let mut sets = params.try_iter()?.peekable();
        let by_name = match sets.peek() {
            Some(Ok(first)) => Some(parameters::is_named(first)),
            _ => None,
        };
        let statement = Statement::prepare(connection.clone_ref(py), py, sql, by_name)?;
        let written = connection.get().run_many(py, &statement, sets)?;
        Ok(ResultSets::of_count(written))
    }

    fn sets(&self) -> MutexGuard<'_, ResultSets> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// InterfaceError once the cursor or its connection is closed.
    fn check_open(&self) -> PyResult<()> {
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(closed("cursor"));
        }
        self.connection.get().session().map(drop)
    }

    /// The whole result. InterfaceError where there is none.
    fn rows(&self) -> PyResult<Arc<Rows>> {
        self.check_open()?;
        self.sets().current.rows.clone().ok_or_else(no_result)
    }

    fn take(&self, limit: usize) -> PyResult<Taken> {
        self.check_open()?;
        self.sets().current.take(limit).ok_or_else(no_result)
    }
}

fn no_result() -> PyErr {
    InterfaceError::new_err("there is no result to fetch from")
}

/// Calls a function of one of the package's modules.
fn call<'py>(
    py: Python<'py>,
    module: &str,
    function: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import(module)?.getattr(function)?.call1(arguments)
}

/// The texts of the first rows of a result, row by row; `None` for NULL.
fn texts_of_first(rows: &Rows, size: usize) -> Vec<Vec<Option<String>>> {
    let text = |column: &ColumnVector, row: usize| {
        let value = column.value(row);
        (!value.is_null()).then(|| value.display(column.ty()).to_string())
    };
    let each = rows.batches().iter().flat_map(|batch| {
        (0..batch.rows).map(|row| batch.columns.iter().map(|column| text(column, row)).collect())
    });
    each.take(size).collect()
}

/// Rows as tuples.
fn tuples<'py>(py: Python<'py>, taken: &Taken) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let (mut batch, mut row) = taken.from;
    let mut out = Vec::with_capacity(taken.count);
    while out.len() < taken.count {
        let current = &taken.rows.batches()[batch];
        let part = (current.rows - row).min(taken.count - out.len());
        for row in row..row + part {
            let values = current.columns.iter().map(|column| cells::cell(py, column, row));
            out.push(PyTuple::new(py, values.collect::<PyResult<Vec<_>>>()?)?);
        }
        (batch, row) = (batch + 1, 0);
    }
    Ok(out)
}

#[pymethods]
impl Cursor {
    /// Runs one or several statements. The cursor is then at the first result that has rows; nextset moves to the next.
    #[pyo3(signature = (sql, params = None, /))]
    fn execute(
        slf: Py<Self>,
        py: Python<'_>,
        sql: &str,
        params: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<Self>> {
        let this = slf.get();
        this.check_open()?;
        *this.sets() = ResultSets::default();
        let sets = this.connection.get().run(py, sql, params)?;
        *this.sets() = sets;
        Ok(slf)
    }

    /// Compiles a statement and runs it for each set of parameters, all or none of them. Discards its rows.
    #[pyo3(signature = (sql, params, /))]
    fn executemany(
        slf: Py<Self>,
        py: Python<'_>,
        sql: &str,
        params: &Bound<'_, PyAny>,
    ) -> PyResult<Py<Self>> {
        let this = slf.get();
        this.check_open()?;
        *this.sets() = ResultSets::default();
        let sets = Cursor::written_by_many(&this.connection, py, sql, params)?;
        *this.sets() = sets;
        Ok(slf)
    }

    /// Raises NotSupportedError: there are no stored procedures.
    #[pyo3(signature = (procname, params = None, /))]
    fn callproc(&self, procname: &str, params: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let _ = params;
        Err(NotSupportedError::new_err(format!(
            "there are no stored procedures, \"{procname}\" among them; functions are called by SELECT"
        )))
    }

    /// Returns the next row as a tuple, or None.
    fn fetchone<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        Ok(tuples(py, &self.take(1)?)?.pop())
    }

    /// Returns the next `size` rows, by default arraysize.
    #[pyo3(signature = (size = None))]
    fn fetchmany<'py>(&self, py: Python<'py>, size: Option<usize>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        tuples(py, &self.take(size.unwrap_or_else(|| self.arraysize()))?)
    }

    /// Returns all remaining rows.
    fn fetchall<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        tuples(py, &self.take(usize::MAX)?)
    }

    /// Moves to the next result that has rows; returns None if there is none.
    fn nextset(&self) -> PyResult<Option<bool>> {
        self.check_open()?;
        Ok(self.sets().next().then_some(true))
    }

    /// For each column of the result name, type, display size, internal size, precision, scale and whether NULL may occur; None
    /// where there are no rows.
    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let rows = self.sets().current.rows.clone();
        rows.map(|rows| cells::description(py, &rows)).transpose()
    }

    /// Number of rows returned, inserted, updated or deleted; -1 if that has no meaning.
    #[getter]
    fn rowcount(&self) -> i64 {
        self.sets().current.count
    }

    /// Number of rows fetched so far; None without a result.
    #[getter]
    fn rownumber(&self) -> Option<u64> {
        let sets = self.sets();
        let ResultSet { rows, fetched, .. } = &sets.current;
        rows.is_some().then_some(*fetched)
    }

    /// Always None: rows have no lasting ids.
    #[getter]
    fn lastrowid(&self) -> Option<i64> {
        None
    }

    /// Notices and warnings of the last execute, such as what DROP … CASCADE dropped, or that a transaction was open
    /// already: pairs of Warning and an instance of it with text and detail.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let notices = self.sets().notices.clone();
        let pairs = notices.into_iter().map(|notice| {
            let lines = [Some(notice.message), notice.detail];
            let text = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
            let warning = Warning::new_err(text).into_value(py);
            (py.get_type::<Warning>(), warning)
        });
        PyList::new(py, pairs)
    }

    /// The connection that created the cursor.
    #[getter]
    fn connection(&self, py: Python<'_>) -> Py<Connection> {
        self.connection.clone_ref(py)
    }

    /// Number of rows that fetchmany returns without a size.
    #[getter]
    fn arraysize(&self) -> usize {
        self.arraysize.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_arraysize(&self, size: usize) {
        self.arraysize.store(size, Ordering::Relaxed);
    }

    /// Does nothing: the statement determines the types of parameters.
    fn setinputsizes(&self, sizes: &Bound<'_, PyAny>) -> PyResult<()> {
        sizes.try_iter()?;
        self.check_open()
    }

    /// Does nothing: values of every length are fetched whole.
    #[pyo3(signature = (size, column = None))]
    fn setoutputsize(&self, size: usize, column: Option<usize>) -> PyResult<()> {
        let _ = (size, column);
        self.check_open()
    }

    /// Discards the result; the cursor cannot be used afterwards.
    fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        *self.sets() = ResultSets::default();
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    fn __enter__(slf: Py<Self>) -> PyResult<Py<Self>> {
        slf.get().check_open()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.fetchone(py)
    }

    // Whole results. What was fetched before does not matter, and nothing counts as fetched.

    /// Returns the whole result as a pandas.DataFrame. `decimals`: "float", or "decimal" for decimal.Decimal objects.
    #[pyo3(signature = (*, decimals = "float"))]
    fn df<'py>(slf: &Bound<'py, Self>, decimals: &str) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "frazil._results", "df", (slf, decimals))
    }

    /// Returns the whole result as a polars.DataFrame.
    fn pl<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "frazil._results", "pl", (slf,))
    }

    /// Returns the whole result as a pyarrow.Table.
    fn arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        call(py, "frazil._results", "wanted", ("pyarrow", "arrow()"))?;
        arrow_results::table(py, &*self.rows()?, ArrowTexts::Copied)?.into_pyarrow(py)
    }

    /// Returns the whole result as numpy arrays by column name; columns with NULL are masked arrays.
    fn fetchnumpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        call(slf.py(), "frazil._results", "fetchnumpy", (slf,))
    }

    /// Returns the whole result as a pyarrow.RecordBatchReader, which converts batches when they are read.
    fn fetch_record_batch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        call(
            py,
            "frazil._results",
            "wanted",
            ("pyarrow", "fetch_record_batch()"),
        )?;
        arrow_results::reader(&*self.rows()?)?.into_pyarrow(py)
    }

    /// Returns the whole result as an Arrow C stream, for libraries that accept one.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = arrow_results::table(py, &*self.rows()?, ArrowTexts::Copied)?;
        arrow_results::stream(py, table, requested_schema)
    }

    /// The result as a stream whose texts lie as Polars holds them.
    fn _views<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let table = arrow_results::table(py, &*self.rows()?, ArrowTexts::Views)?;
        Ok(table.into_pyobject(py)?.into_any())
    }

    /// Of each column its name, type, values and mask (or None), as [`numpy_columns::columns`] gives them.
    fn _numpy<'py>(&self, py: Python<'py>, form: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyList>> {
        numpy_columns::columns(py, &*self.rows()?, &Form::of(form)?)
    }

    /// The texts of the first rows, however many were fetched, as casts to text give them; None for NULL.
    fn _head(&self, size: usize) -> PyResult<Vec<Vec<Option<String>>>> {
        Ok(texts_of_first(&*self.rows()?, size))
    }

    /// The first rows as a table, for notebooks; None without a result.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match slf.get().rows() {
            Ok(_) => call(slf.py(), "frazil._notebook", "html", (slf,)).map(Some),
            Err(_) => Ok(None),
        }
    }

    fn __repr__(&self) -> String {
        let sets = self.sets();
        match &sets.current.rows {
            _ if self.closed() => "<frazil.Cursor, closed>".to_owned(),
            Some(rows) => {
                let columns = rows.schema().columns.len();
                format!("<frazil.Cursor: {} rows of {columns} columns>", rows.len())
            }
            None => "<frazil.Cursor, no rows>".to_owned(),
        }
    }
}
