//! Python objects ↔ SQL values.

use crate::errors::{InterfaceError, raise};
use frazil::{ColumnVector, Error, LogicalType, SqlState, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// Days from 0001-01-01, which is ordinal 1 in Python, to 1970-01-01.
const EPOCH_ORDINAL: i128 = 719_163;

/// Parameters as `$1`, `$2` and so on.
pub fn parameters(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Value>> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    if given.is_instance_of::<PyDict>() || given.is_instance_of::<PyString>() {
        return Err(InterfaceError::new_err(
            "parameters are a sequence, one value for each of $1, $2, ...",
        ));
    }
    given.try_iter()?.map(|v| parameter(&v?)).collect()
}

fn parameter(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Bool(value.extract()?));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::Text(text.to_cow()?.into_owned()));
    }
    if value.is_instance_of::<PyInt>() {
        if let Ok(number) = value.extract::<i64>() {
            return Ok(Value::Int(number.into()));
        }
        // Beyond 128 bits it is text, which the statement's type then judges.
        return match value.str()?.to_cow()?.parse() {
            Ok(number) => Ok(Value::Int(number)),
            Err(_) => Ok(Value::Text(value.str()?.to_cow()?.into_owned())),
        };
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Double(value.extract()?));
    }
    // numpy's integers and floats say what they are by these methods.
    if value.hasattr("__index__")? {
        return Ok(Value::Int(
            value.call_method0("__index__")?.extract::<i64>()?.into(),
        ));
    }
    let kind = value.get_type().name()?.to_string();
    match kind.as_str() {
        "Decimal" | "date" | "datetime" | "Timestamp" => Ok(Value::Text(value.str()?.to_cow()?.into_owned())),
        _ if value.hasattr("__float__")? => Ok(Value::Double(value.extract()?)),
        _ => Err(InterfaceError::new_err(format!(
            "a parameter cannot be of type {kind}"
        ))),
    }
}

fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyAny>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyAny>> {
    let class = cell.get_or_try_init(py, || PyResult::Ok(py.import(module)?.getattr(name)?.unbind()))?;
    Ok(class.bind(py))
}

static DECIMAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DATE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DATETIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TIMEDELTA: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The last ordinal of Python: 9999-12-31.
const LAST_ORDINAL: i128 = 3_652_059;

/// Python's ordinal of a day since 1970, which is that of `value`. DataError 22008 beyond the years 1 to 9999.
fn ordinal(days: i128, value: &Value, ty: LogicalType) -> PyResult<i128> {
    let ordinal = days + EPOCH_ORDINAL;
    if (1..=LAST_ORDINAL).contains(&ordinal) {
        return Ok(ordinal);
    }
    let message = format!(
        "{ty} {} is out of Python's range, the years 1 to 9999",
        value.display(ty)
    );
    Err(raise(
        Error::new(SqlState::DATETIME_OVERFLOW, message).with_hint("cast it to text"),
    ))
}

/// One cell of a result. DataError for a date or timestamp that Python has no object for.
pub fn cell<'py>(py: Python<'py>, column: &ColumnVector, row: usize) -> PyResult<Bound<'py, PyAny>> {
    let ty = column.ty();
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    if ty.is_string() && ty != LogicalType::Char(1) {
        return column.text(row).into_bound_py_any(py);
    }
    let value = column.value(row);
    match (&value, ty) {
        (Value::Int(days), LogicalType::Date) => {
            let day = ordinal(*days, &value, ty)?;
            class(py, &DATE, "datetime", "date")?.call_method1("fromordinal", (day,))
        }
        (Value::Int(micros), LogicalType::Timestamp) => {
            let days = micros.div_euclid(86_400_000_000);
            let rest = micros.rem_euclid(86_400_000_000);
            let day = ordinal(days, &value, ty)?;
            let midnight =
                class(py, &DATETIME, "datetime", "datetime")?.call_method1("fromordinal", (day,))?;
            midnight.add(class(py, &TIMEDELTA, "datetime", "timedelta")?.call1((0, 0, rest))?)
        }
        (Value::Int(_), LogicalType::Decimal { .. }) => {
            class(py, &DECIMAL, "decimal", "Decimal")?.call1((value.display(ty).to_string(),))
        }
        (Value::Int(_), LogicalType::Char(_)) | (Value::Interval(_), _) => {
            value.display(ty).to_string().into_bound_py_any(py)
        }
        (Value::Int(v), _) => (*v as i64).into_bound_py_any(py),
        (Value::Double(v), _) => v.into_bound_py_any(py),
        (Value::Bool(b), _) => b.into_bound_py_any(py),
        (Value::Text(t), _) => t.into_bound_py_any(py),
        (Value::Null, _) => Ok(py.None().into_bound(py)),
    }
}

/// What PEP 249 calls a description.
pub fn description<'py>(py: Python<'py>, rows: &frazil::Rows) -> PyResult<Bound<'py, PyList>> {
    let none = || py.None().into_bound(py);
    let columns = rows.schema().columns.iter().map(|c| {
        let (precision, scale) = match c.ty {
            LogicalType::Decimal { precision, scale } => {
                (precision.into_bound_py_any(py)?, scale.into_bound_py_any(py)?)
            }
            _ => (none(), none()),
        };
        PyTuple::new(
            py,
            [
                c.name.as_str().into_bound_py_any(py)?,
                c.ty.to_string().into_bound_py_any(py)?,
                none(),
                none(),
                precision,
                scale,
                c.nullable.into_bound_py_any(py)?,
            ],
        )
    });
    PyList::new(py, columns.collect::<PyResult<Vec<_>>>()?)
}
