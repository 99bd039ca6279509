//! Results as Arrow: all batches at once on several threads, or one by one as they are read.

use crate::errors::raise;
use crate::parallel;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::ArrowError;
use frazil::{ArrowTexts, Rows};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::{PyRecordBatchReader, PyTable};

/// A result as a table.
pub fn table(py: Python<'_>, rows: &Rows, texts: ArrowTexts) -> PyResult<PyTable> {
    let batches = rows.arrow_batches(texts).map_err(raise)?;
    let made = py.detach(|| {
        let made = parallel::each(batches.len(), rows.len(), |at| batches.batch(at));
        made.into_iter().collect::<frazil::Result<Vec<RecordBatch>>>()
    });
    PyTable::try_new(made.map_err(raise)?, batches.schema().clone())
}

/// A result as batches that are made when they are read.
pub fn reader(rows: &Rows) -> PyResult<PyRecordBatchReader> {
    let batches = rows.arrow_batches(ArrowTexts::Copied).map_err(raise)?;
    let schema = batches.schema().clone();
    let each = (0..batches.len()).map(move |at| {
        batches
            .batch(at)
            .map_err(|error| ArrowError::ExternalError(Box::new(error)))
    });
    let batches = RecordBatchIterator::new(each, schema);
    Ok(PyRecordBatchReader::new(Box::new(batches)))
}

/// A table as a capsule of Arrow's C interface.
pub fn stream<'py>(
    py: Python<'py>,
    table: PyTable,
    requested_schema: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyAny>> {
    let table = table.into_pyobject(py)?;
    table.call_method1("__arrow_c_stream__", (requested_schema,))
}
