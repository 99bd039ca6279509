//! Frames of other libraries as tables: what is registered by name, and variables of whoever runs a statement.

use crate::errors::raise;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use frazil::{Error, Frame, Frames, SqlState};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use pyo3_arrow::{PyArray, PySchema};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// True on a thread that runs a statement for the main thread.
    static FOR_MAIN: Cell<bool> = const { Cell::new(false) };
}

/// Says that this thread runs a statement for the main thread, whose variables are looked at.
pub fn run_for_main_thread() {
    FOR_MAIN.set(true);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The frames of a connection.
#[derive(Debug, Default)]
pub struct PyFrames {
    registered: Mutex<HashMap<String, Arc<dyn Frame>>>,
    /// Those of variables that the running statement named: a stream can be read once.
    found: Mutex<HashMap<String, Arc<dyn Frame>>>,
}

impl PyFrames {
    /// Forgets what the statement before found.
    pub fn begin_statement(&self) {
        let found = std::mem::take(&mut *lock(&self.found));
        drop(found);
    }

    /// Gives a frame a name. TypeError for an object that is none.
    pub fn register(&self, py: Python<'_>, name: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let described = py.import("frazil._frames")?.call_method1("described", (object,));
        let frame = described.and_then(|described| frame_of(&described));
        let frame = frame.map_err(|error| raise(refused(py, name, &error)))?;
        let frame = frame.ok_or_else(|| {
            let kind = object
                .get_type()
                .name()
                .map_or_else(|_| String::new(), |kind| kind.to_string());
            PyTypeError::new_err(format!("a {kind} is not a frame, an Arrow table or a reader"))
        })?;
        let before = lock(&self.registered).insert(name.to_owned(), frame);
        drop(before);
        Ok(())
    }

    /// Takes a name away; whether it was there.
    pub fn unregister(&self, name: &str) -> bool {
        let before = lock(&self.registered).remove(name);
        before.is_some()
    }

    /// The frame of a variable.
    fn look(&self, py: Python<'_>, name: &str) -> PyResult<Option<Arc<dyn Frame>>> {
        let module = py.import("frazil._frames")?;
        frame_of(&module.call_method1("variable", (name, FOR_MAIN.get()))?)
    }
}

impl Frames for PyFrames {
    fn find(&self, name: &str) -> frazil::Result<Option<Arc<dyn Frame>>> {
        let known = lock(&self.registered).get(name).cloned();
        let known = known.or_else(|| lock(&self.found).get(name).cloned());
        if known.is_some() {
            return Ok(known);
        }
        let found = Python::attach(|py| self.look(py, name).map_err(|error| refused(py, name, &error)))?;
        if let Some(frame) = &found {
            lock(&self.found).insert(name.to_owned(), frame.clone());
        }
        Ok(found)
    }
}

/// The error of a frame that its library could not make Arrow of.
fn refused(py: Python<'_>, name: &str, error: &PyErr) -> Error {
    let state = match error.is_instance_of::<PyImportError>(py) {
        true => SqlState::FEATURE_NOT_SUPPORTED,
        false => SqlState::DATATYPE_MISMATCH,
    };
    Error::new(
        state,
        format!("frame \"{name}\" cannot be read: {}", error.value(py)),
    )
}

/// What `frazil._frames.described` says of an object; `None` for None.
fn frame_of(described: &Bound<'_, PyAny>) -> PyResult<Option<Arc<dyn Frame>>> {
    if described.is_none() {
        return Ok(None);
    }
    if let Ok((schema, rows, nans, column)) = described.extract::<(PySchema, usize, Vec<bool>, Py<PyAny>)>() {
        let schema = schema.into_inner();
        return Ok(Some(Arc::new(Columns {
            arrays: schema.fields().iter().map(|_| Mutex::default()).collect(),
            schema,
            rows,
            nans,
            column,
        })));
    }
    let (batches, schema) = described.extract::<AnyRecordBatch>()?.into_table()?.into_inner();
    Ok(Some(Arc::new(Batches { schema, batches })))
}

/// Batches that are there.
#[derive(Debug)]
struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Frame for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn batches(&self) -> Vec<usize> {
        self.batches.iter().map(RecordBatch::num_rows).collect()
    }

    fn column(&self, batch: usize, column: usize) -> frazil::Result<ArrayRef> {
        Ok(self.batches[batch].column(column).clone())
    }

    fn nan_is_null(&self, _column: usize) -> bool {
        false
    }
}

/// A batch whose columns become Arrow's when they are first read: a frame of pandas.
#[derive(Debug)]
struct Columns {
    schema: SchemaRef,
    rows: usize,
    /// Of each column whether NaN stands for NULL.
    nans: Vec<bool>,
    /// Gives the array of a column by its position.
    column: Py<PyAny>,
    arrays: Vec<Mutex<Option<ArrayRef>>>,
}

impl Frame for Columns {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn batches(&self) -> Vec<usize> {
        (self.rows > 0).then_some(self.rows).into_iter().collect()
    }

    fn column(&self, _batch: usize, column: usize) -> frazil::Result<ArrayRef> {
        let mut known = lock(&self.arrays[column]);
        if let Some(array) = &*known {
            return Ok(array.clone());
        }
        let made = Python::attach(|py| {
            let array = self
                .column
                .call1(py, (column,))
                .and_then(|array| array.extract::<PyArray>(py));
            let name = self.schema.field(column).name();
            array.map_err(|error| refused(py, name, &error))
        })?;
        let (array, _) = made.into_inner();
        Ok(known.insert(array).clone())
    }

    fn nan_is_null(&self, column: usize) -> bool {
        self.nans.get(column).copied().unwrap_or(false)
    }
}
