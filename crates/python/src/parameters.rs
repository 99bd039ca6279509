//! Python objects → parameters of a statement.

use crate::errors::{InterfaceError, ProgrammingError};
use crate::markers::Marked;
use frazil::{Array, Date, Decimal, Dimension, Interval, Time, Timestamp, TimestampTz, Value};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple,
};
use std::str::FromStr;

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

/// The value of an object, of the type that psycopg 3 gives it. InterfaceError for an object of a type that no value
/// has.
pub fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(value.extract()?));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::Text(text.to_cow()?.into_owned()));
    }
    if value.is_instance_of::<PyInt>() {
        return integer(value);
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Value::Bytea(bytes.as_bytes().to_owned()));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(Value::Bytea(bytes.to_vec()));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Double(value.extract()?));
    }
    if value.is_instance_of::<PyDict>() {
        return json(value);
    }
    // numpy's integers and floats say what they are by these methods.
    if value.hasattr("__index__")? {
        return integer(&value.call_method0("__index__")?);
    }
    let kind = value.get_type().name()?.to_string();
    match kind.as_str() {
        "NAType" | "NaTType" => Ok(Value::Null),
        "bool" | "bool_" => Ok(Value::Boolean(value.is_truthy()?)),
        "Decimal" => read::<Decimal>(value, Value::Decimal),
        "date" => read::<Date>(value, Value::Date),
        "datetime" | "Timestamp" if has_zone(value)? => read::<TimestampTz>(value, Value::TimestampTz),
        "datetime" | "Timestamp" => read::<Timestamp>(value, Value::Timestamp),
        "time" if has_zone(value)? => written(value),
        "time" => read::<Time>(value, Value::Time),
        "UUID" => read::<frazil::Uuid>(value, Value::Uuid),
        "datetime64" => match value.str()?.to_cow()?.as_ref() {
            "NaT" => Ok(Value::Null),
            _ => read::<Timestamp>(value, Value::Timestamp),
        },
        "timedelta" | "Timedelta" => interval(value),
        "list" | "tuple" | "ndarray" => array(value),
        "memoryview" => Ok(Value::Bytea(value.call_method0("tobytes")?.extract()?)),
        _ if value.hasattr("__float__")? => Ok(Value::Double(value.extract()?)),
        _ => Err(InterfaceError::new_err(format!(
            "a parameter cannot be of type {kind}"
        ))),
    }
}

/// A sequence as an array, those within it as further dimensions; as JSON if its elements have no common type, or the
/// sequences within it are not of one length.
fn array(sequence: &Bound<'_, PyAny>) -> PyResult<Value> {
    let (mut values, mut lengths) = (Vec::new(), Vec::new());
    if !push_elements(sequence, 0, &mut lengths, &mut values)? {
        return json(sequence);
    }
    // Only JSON keeps texts beside numbers, and empty sequences within another.
    let texts = values
        .iter()
        .filter(|value| matches!(value, Value::Text(_)))
        .count();
    let typed = values.iter().filter(|value| value.ty().is_some()).count();
    if (texts > 0 && typed > 0) || (values.is_empty() && lengths.len() > 1) {
        return json(sequence);
    }
    let dimensions: Vec<Dimension> = match values.is_empty() {
        true => Vec::new(),
        false => lengths
            .iter()
            .map(|&length| Dimension { length, lower: 1 })
            .collect(),
    };
    let element = Array::new(&values).map(|array| array.element_type());
    match element.and_then(|element| Array::of_dimensions(element, &dimensions, &values)) {
        Ok(array) => Ok(Value::Array(array)),
        Err(_) => json(sequence),
    }
}

/// Puts the elements of a sequence behind `values`. `lengths[i]` is the length of the sequences `i` levels deep.
/// False if they are not of one length, or elements stand beside sequences.
fn push_elements(
    sequence: &Bound<'_, PyAny>,
    depth: usize,
    lengths: &mut Vec<u32>,
    values: &mut Vec<Value>,
) -> PyResult<bool> {
    let items = sequence.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let length = items.len() as u32;
    match lengths.get(depth) {
        Some(&known) if known != length => return Ok(false),
        Some(_) => {}
        // Elements were found less deep.
        None if !values.is_empty() => return Ok(false),
        None => lengths.push(length),
    }
    for item in &items {
        if is_sequence(item)? {
            if !push_elements(item, depth + 1, lengths, values)? {
                return Ok(false);
            }
        } else if lengths.len() > depth + 1 {
            return Ok(false);
        } else {
            values.push(value_of(item)?);
        }
    }
    Ok(true)
}

fn is_sequence(item: &Bound<'_, PyAny>) -> PyResult<bool> {
    if item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>() {
        return Ok(true);
    }
    Ok(item.get_type().name()?.to_cow()?.as_ref() == "ndarray")
}

/// True for a datetime or time that has a zone.
fn has_zone(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!value.getattr("tzinfo")?.is_none())
}

/// The JSON of an object, as the module json writes it. InterfaceError for an object that is not JSON.
fn json(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let dumps = value.py().import("json")?.getattr("dumps")?;
    match dumps.call1((value,)) {
        Ok(text) => Ok(Value::Jsonb(text.extract()?)),
        Err(error) => Err(InterfaceError::new_err(format!(
            "a parameter of type {} is neither an array nor JSON: {}",
            value.get_type().name()?,
            error.value(value.py())
        ))),
    }
}

/// The value that an object writes; a text if it is none of the type, such as the decimal `NaN`: the statement's type
/// judges it.
fn read<T: FromStr>(value: &Bound<'_, PyAny>, make: impl FnOnce(T) -> Value) -> PyResult<Value> {
    let text = value.str()?;
    match text.to_cow()?.parse() {
        Ok(read) => Ok(make(read)),
        Err(_) => written(value),
    }
}

/// The object as Python writes it: the statement's type judges what it says.
fn written(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(Value::Text(value.str()?.to_cow()?.into_owned()))
}

fn integer(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(number) = value.extract::<i64>() {
        return Ok(i32::try_from(number).map_or(Value::BigInt(number), Value::Integer));
    }
    // Beyond 38 digits it is text, which the statement's type then judges.
    read::<Decimal>(value, Value::Decimal)
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
