//! SQL values → Python objects.

use crate::errors::raise;
use frazil::array::ArrayRef;
use frazil::{ColumnVector, Error, LogicalType, RawValue as Value, SqlState};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList};

/// Days from 0001-01-01, which is ordinal 1 in Python, to 1970-01-01.
const EPOCH_ORDINAL: i128 = 719_163;

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
static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static UUID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DATE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DATETIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TIMEZONE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
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

/// Microseconds since 1970 as a datetime without a zone. DataError 22008 beyond the years 1 to 9999.
fn datetime<'py>(
    py: Python<'py>,
    micros: i128,
    value: &Value,
    ty: LogicalType,
) -> PyResult<Bound<'py, PyAny>> {
    let (days, rest) = (
        micros.div_euclid(86_400_000_000),
        micros.rem_euclid(86_400_000_000),
    );
    let day = ordinal(days, value, ty)?;
    let midnight = class(py, &DATETIME, "datetime", "datetime")?.call_method1("fromordinal", (day,))?;
    midnight.add(class(py, &TIMEDELTA, "datetime", "timedelta")?.call1((0, 0, rest))?)
}

/// One cell of a result. DataError for a date or timestamp that Python has no object for.
pub fn cell<'py>(py: Python<'py>, column: &ColumnVector, row: usize) -> PyResult<Bound<'py, PyAny>> {
    let ty = column.ty();
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    if ty.is_text() {
        return column.text(row).into_bound_py_any(py);
    }
    let value = column.value(row);
    match (&value, ty) {
        (Value::Int(days), LogicalType::Date) => {
            let day = ordinal(*days, &value, ty)?;
            class(py, &DATE, "datetime", "date")?.call_method1("fromordinal", (day,))
        }
        (Value::Int(micros), LogicalType::Time(_)) => time(py, *micros),
        (Value::Int(micros), LogicalType::Timestamp(_)) => datetime(py, *micros, &value, ty),
        (Value::Int(micros), LogicalType::TimestampTz(zone, _)) => {
            let micros = *micros as i64;
            let local = zone.local(micros).map_err(raise)?;
            let ahead =
                class(py, &TIMEDELTA, "datetime", "timedelta")?.call1((0, zone.at(micros).seconds))?;
            let zone = class(py, &TIMEZONE, "datetime", "timezone")?.call1((ahead,))?;
            let named = PyDict::new(py);
            named.set_item("tzinfo", zone)?;
            datetime(py, local.into(), &value, ty)?.call_method("replace", (), Some(&named))
        }
        (Value::Int(_), LogicalType::Decimal { .. }) | (Value::Bytes(_), LogicalType::Numeric) => {
            class(py, &DECIMAL, "decimal", "Decimal")?.call1((value.display(ty).to_string(),))
        }
        (Value::Int(_), LogicalType::Uuid) => {
            class(py, &UUID, "uuid", "UUID")?.call1((value.display(ty).to_string(),))
        }
        (Value::Int(_), LogicalType::Char(_) | LogicalType::Enum(_) | LogicalType::Tid)
        | (Value::Interval(_), _) => value.display(ty).to_string().into_bound_py_any(py),
        (Value::Int(v), _) => (*v as i64).into_bound_py_any(py),
        (Value::Double(v), _) => v.into_bound_py_any(py),
        (Value::Bool(b), _) => b.into_bound_py_any(py),
        (Value::Text(t), _) => t.into_bound_py_any(py),
        (Value::Bytes(bytes), LogicalType::Array(element)) => {
            let array = ArrayRef::new(bytes, element.get()).map_err(raise)?;
            let values = array
                .elements()
                .collect::<frazil::Result<Vec<Value>>>()
                .map_err(raise)?;
            let lengths: Vec<usize> = array.dimensions().map(|d| d.length as usize).collect();
            list(
                py,
                &ColumnVector::from_values(element.get(), &values),
                0,
                &lengths,
            )
        }
        (Value::Bytes(_), LogicalType::Json | LogicalType::Jsonb) => {
            let text = value.display(ty).to_string();
            class(py, &LOADS, "json", "loads")?.call1((text,))
        }
        (Value::Bytes(_), LogicalType::JsonPath | LogicalType::Record) => {
            Ok(value.display(ty).to_string().into_pyobject(py)?.into_any())
        }
        (Value::Bytes(_), _) if ty.kind().is_named_oid() => {
            Ok(value.display(ty).to_string().into_pyobject(py)?.into_any())
        }
        (Value::Bytes(bytes), _) => Ok(PyBytes::new(py, bytes).into_any()),
        (Value::Null, _) => Ok(py.None().into_bound(py)),
    }
}

/// An array as lists, one in the other: the elements from the row `first` on, of dimensions of these lengths.
fn list<'py>(
    py: Python<'py>,
    elements: &ColumnVector,
    first: usize,
    lengths: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let [length, inner @ ..] = lengths else {
        return Ok(PyList::empty(py).into_any());
    };
    let each: usize = inner.iter().product();
    let items = (0..*length).map(|at| match inner.is_empty() {
        true => cell(py, elements, first + at),
        false => list(py, elements, first + at * each, inner),
    });
    Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any())
}

/// A time of day. DataError 22008 for 24:00.
fn time<'py>(py: Python<'py>, micros: i128) -> PyResult<Bound<'py, PyAny>> {
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hour > 23 {
        let message = "time 24:00:00 is out of Python's range, which ends before 24:00";
        let error = Error::new(SqlState::DATETIME_OVERFLOW, message).with_hint("cast it to text");
        return Err(raise(error));
    }
    class(py, &TIME, "datetime", "time")?.call1((hour, minute, second, fraction))
}

/// What PEP 249 calls a description: name, type, display size, internal size, precision, scale and whether NULL may occur.
pub fn description<'py>(py: Python<'py>, rows: &frazil::Rows) -> PyResult<Bound<'py, PyList>> {
    let columns = rows.schema().columns.iter().map(|c| {
        let (precision, scale) = match c.ty {
            LogicalType::Decimal { precision, scale } => (Some(precision), Some(scale)),
            _ => (None, None),
        };
        let (display, internal) = sizes(c.ty);
        let name = c.name.as_str();
        (
            name,
            c.ty.to_string(),
            display,
            internal,
            precision,
            scale,
            c.nullable,
        )
            .into_pyobject(py)
    });
    PyList::new(py, columns.collect::<PyResult<Vec<_>>>()?)
}

/// Characters that the longest value of a type takes when it is written, and bytes that each value takes in memory; `None` for
/// those that differ from value to value.
fn sizes(ty: LogicalType) -> (Option<u32>, Option<usize>) {
    let display = match ty {
        LogicalType::Boolean => Some(5),
        LogicalType::SmallInt => Some(6),
        LogicalType::Integer => Some(11),
        LogicalType::BigInt => Some(20),
        LogicalType::Real => Some(14),
        LogicalType::Double => Some(24),
        // Sign, point, and a zero before it.
        LogicalType::Decimal { precision, scale } => {
            Some(u32::from(precision) + 1 + u32::from(scale > 0) + u32::from(scale == precision))
        }
        LogicalType::Date => Some(10),
        LogicalType::Time(_) => Some(15),
        LogicalType::Timestamp(_) => Some(26),
        LogicalType::TimestampTz(..) => Some(35),
        // Without a length it is the greatest number.
        LogicalType::Char(n) | LogicalType::Varchar(n) => Some(n).filter(|&n| n < u32::MAX),
        LogicalType::Uuid => Some(36),
        LogicalType::Oid | LogicalType::Xid | LogicalType::Cid => Some(10),
        LogicalType::Tid => Some(18),
        LogicalType::Name => Some(63),
        LogicalType::InternalChar => Some(1),
        LogicalType::Interval
        | LogicalType::Numeric
        | LogicalType::Text
        | LogicalType::Bytea
        | LogicalType::Json
        | LogicalType::Jsonb
        | LogicalType::JsonPath
        | LogicalType::Record
        | LogicalType::Regclass
        | LogicalType::Regtype
        | LogicalType::Regproc
        | LogicalType::Regprocedure
        | LogicalType::Regoperator
        | LogicalType::Regnamespace
        | LogicalType::Array(_)
        | LogicalType::Enum(_) => None,
    };
    let internal = (!ty.is_string() && !ty.is_binary()).then(|| ty.native().size());
    (display, internal)
}
