//! Python objects → parameters of a statement.

use crate::errors::{InterfaceError, ProgrammingError};
use crate::markers::Marked;
use frazil::{Interval, Value, own_type};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

/// Seconds of a day.
const DAY_SECONDS: i64 = 86_400;

/// Values for `$1`, `$2` and so on of a sequence.
pub fn positional(given: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() || is_named(given) {
        return Err(InterfaceError::new_err(
            "parameters are a sequence, one value for each of $1, $2, ...",
        ));
    }
    given.try_iter()?.map(|v| value_of(&v?)).collect()
}

/// True for parameters that are given by their names.
pub fn is_named(given: &Bound<'_, PyAny>) -> bool {
    given.cast::<PyMapping>().is_ok()
}

/// Values for the parameters of a text that was rewritten: by name where its markers have names, else in order.
/// ProgrammingError for a name that is not given, and for more or fewer values than markers.
pub fn of_marked(marked: &Marked, given: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    let Some(names) = &marked.names else {
        let values = positional(given)?;
        return match marked.in_order {
            wanted if wanted > 0 && wanted != values.len() => Err(ProgrammingError::new_err(format!(
                "the statement has {wanted} parameters, but {} values were given",
                values.len()
            ))),
            _ => Ok(values),
        };
    };
    let Ok(mapping) = given.cast::<PyMapping>() else {
        return Err(ProgrammingError::new_err(
            "the statement's parameters have names, so that a mapping of names to values is wanted",
        ));
    };
    let value = |name: &String| match mapping.contains(name)? {
        true => value_of(&mapping.get_item(name)?),
        false => Err(ProgrammingError::new_err(format!(
            "parameter \"{name}\" is not given"
        ))),
    };
    names.iter().map(value).collect()
}

/// The value of an object. InterfaceError for one of a type that no value has.
pub fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Value> {
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
        return integer(value);
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Value::Bytes(bytes.as_bytes().to_owned()));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Double(value.extract()?));
    }
    // numpy's integers and floats say what they are by these methods.
    if value.hasattr("__index__")? {
        return integer(&value.call_method0("__index__")?);
    }
    let kind = value.get_type().name()?.to_string();
    match kind.as_str() {
        "NAType" | "NaTType" => Ok(Value::Null),
        "bool" | "bool_" => Ok(Value::Bool(value.is_truthy()?)),
        "Decimal" | "date" | "datetime" | "Timestamp" | "time" | "UUID" => written(value),
        "datetime64" => match value.str()?.to_cow()?.as_ref() {
            "NaT" => Ok(Value::Null),
            text => Ok(Value::Text(text.to_owned())),
        },
        "timedelta" | "Timedelta" => interval(value),
        "list" | "tuple" | "ndarray" => {
            let mut text = String::new();
            push_array(&mut text, value)?;
            Ok(Value::Text(text))
        }
        "memoryview" => Ok(Value::Bytes(value.call_method0("tobytes")?.extract()?)),
        _ if value.hasattr("__float__")? => Ok(Value::Double(value.extract()?)),
        _ => Err(InterfaceError::new_err(format!(
            "a parameter cannot be of type {kind}"
        ))),
    }
}

/// A sequence as the text that shows an array, those within it as further dimensions: the statement's type judges it.
fn push_array(text: &mut String, sequence: &Bound<'_, PyAny>) -> PyResult<()> {
    text.push('{');
    for (at, item) in sequence.try_iter()?.enumerate() {
        let item = item?;
        if at > 0 {
            text.push(',');
        }
        if item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>() {
            push_array(text, &item)?;
            continue;
        }
        let value = value_of(&item)?;
        if value.is_null() {
            text.push_str("NULL");
            continue;
        }
        let shown = value.display(own_type(&value)).to_string();
        text.push('"');
        for c in shown.chars() {
            if matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
        text.push('"');
    }
    text.push('}');
    Ok(())
}

/// The object as Python writes it: the statement's type judges what it says.
fn written(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(Value::Text(value.str()?.to_cow()?.into_owned()))
}

fn integer(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(number) = value.extract::<i64>() {
        return Ok(Value::Int(number.into()));
    }
    // Beyond 128 bits it is text, which the statement's type then judges.
    match value.str()?.to_cow()?.parse() {
        Ok(number) => Ok(Value::Int(number)),
        Err(_) => written(value),
    }
}

fn interval(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let part = |name: &str| value.getattr(name)?.extract::<i64>();
    let (days, seconds, micros) = (part("days")?, part("seconds")?, part("microseconds")?);
    debug_assert!((0..DAY_SECONDS).contains(&seconds));
    let days = i32::try_from(days).map_err(|_| InterfaceError::new_err("a timedelta of too many days"))?;
    Ok(Value::Interval(Interval {
        months: 0,
        days,
        micros: seconds * 1_000_000 + micros,
    }))
}
