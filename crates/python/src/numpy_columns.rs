//! Results as numpy's arrays: one piece of memory a column, filled on several threads.

use crate::cells;
use crate::errors::ProgrammingError;
use crate::parallel;
use arrow_array::{ArrayRef, LargeStringArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use frazil::{Category, ColumnVector, LogicalType, NativeType, Rows};
use numpy::datetime::{Datetime, Unit, units};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use pyo3_arrow::PyArray;
use std::collections::HashMap;
use std::sync::Arc;

/// What numpy and pandas show in place of a date or timestamp.
const NOT_A_TIME: i64 = i64::MIN;
/// Seconds of a day.
const DAY_SECONDS: i64 = 86_400;
/// Integers up to this one are doubles exactly.
const EXACT_DOUBLE: i128 = 1 << 53;
/// Different texts of which a column's objects are shared, at most.
const SHARED_TEXTS: usize = 4096;

/// The form that columns take.
pub struct Form {
    /// Decimals become objects; else doubles.
    decimal_objects: bool,
    /// Texts become an Arrow array of large strings; else objects.
    arrow_texts: bool,
    /// Dates become seconds, which pandas has; else days.
    dates_in_seconds: bool,
}

impl Form {
    /// The form that a mapping of flags asks for: those that it does not have are false.
    pub fn of(flags: &Bound<'_, PyDict>) -> PyResult<Form> {
        let flag = |name: &str| match flags.get_item(name)? {
            Some(value) => value.is_truthy(),
            None => Ok(false),
        };
        Ok(Form {
            decimal_objects: flag("decimal_objects")?,
            arrow_texts: flag("arrow_texts")?,
            dates_in_seconds: flag("dates_in_seconds")?,
        })
    }

    fn is_object(&self, ty: LogicalType) -> bool {
        match ty.info().category {
            Category::Boolean => false,
            Category::Numeric => (ty.decimal_digits().is_some() || ty.is_unscaled()) && self.decimal_objects,
            Category::DateTime => ty.is_time_of_day(),
            Category::String => !self.arrow_texts,
            Category::Timespan | Category::Array | Category::UserDefined => true,
        }
    }
}

/// The values of a column.
enum Values {
    Bool(Vec<bool>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Days(Vec<i64>),
    Seconds(Vec<i64>),
    Micros(Vec<i64>),
    Texts(ArrayRef),
    /// They are made under the interpreter's lock.
    Objects,
}

/// Of each column its name, the kind of its values ("number", "flag", "time", "instant", "text" or "object"), the values, and a mask that is true
/// for NULL, or None. Where a value is NULL, doubles are NaN, times NaT, objects None, all others 0.
pub fn columns<'py>(py: Python<'py>, rows: &Rows, form: &Form) -> PyResult<Bound<'py, PyList>> {
    let parts = |column: usize| rows.batches().iter().map(move |batch| &batch.columns[column]);
    let defs = &rows.schema().columns;
    let made = py.detach(|| {
        parallel::each(defs.len(), rows.len(), |column| {
            let parts: Vec<&ColumnVector> = parts(column).collect();
            let values = values(defs[column].ty, &parts, form);
            values.map(|values| (values, mask(&parts, rows.len())))
        })
    });
    let out = PyList::empty(py);
    for (column, made) in made.into_iter().enumerate() {
        let (values, mask) = made.map_err(ProgrammingError::new_err)?;
        let (kind, values) = match values {
            Values::Bool(v) => ("flag", array(py, v)),
            Values::I16(v) => ("number", array(py, v)),
            Values::I32(v) => ("number", array(py, v)),
            Values::I64(v) => ("number", array(py, v)),
            Values::F32(v) => ("double", array(py, v)),
            Values::F64(v) => ("double", array(py, v)),
            Values::Days(v) => ("time", times::<units::Days>(py, v)),
            Values::Seconds(v) => ("time", times::<units::Seconds>(py, v)),
            Values::Micros(v) if defs[column].ty.is_zoned() => {
                ("instant", times::<units::Microseconds>(py, v))
            }
            Values::Micros(v) => ("time", times::<units::Microseconds>(py, v)),
            Values::Texts(v) => ("text", arrow_array(py, v)?),
            Values::Objects => ("object", array(py, objects(py, parts(column))?)),
        };
        let mask = mask.map(|mask| array(py, mask));
        out.append((defs[column].name.as_str(), kind, values, mask))?;
    }
    Ok(out)
}

fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, values).into_any()
}

fn arrow_array(py: Python<'_>, array: ArrayRef) -> PyResult<Bound<'_, PyAny>> {
    let array = PyArray::from_array_ref(array);
    let object = array.to_pyarrow(py)?.unbind();
    Ok(object.into_bound(py))
}

fn times<U: Unit>(py: Python<'_>, values: Vec<i64>) -> Bound<'_, PyAny>
where
    Datetime<U>: Element,
{
    array(py, values.into_iter().map(Datetime::<U>::from).collect())
}

/// Numerics as the nearest doubles; NaN at NULLs.
fn numerics(parts: &[&ColumnVector]) -> Vec<f64> {
    let rows = parts
        .iter()
        .flat_map(|part| (0..part.len()).map(move |row| (part, row)));
    // The text of NULL is empty.
    let double = |(part, row): (&&ColumnVector, usize)| {
        let text = part.value(row).display(part.ty()).to_string();
        text.parse().unwrap_or(f64::NAN)
    };
    rows.map(double).collect()
}

/// The values of a column on any thread. Errors are texts.
fn values(ty: LogicalType, parts: &[&ColumnVector], form: &Form) -> Result<Values, String> {
    if form.is_object(ty) {
        return Ok(Values::Objects);
    }
    let info = ty.info();
    Ok(match (info.category, ty.native()) {
        (Category::Boolean, _) => {
            let bytes = parts.iter().flat_map(|part| part.values::<u8>());
            Values::Bool(bytes.map(|&byte| byte != 0).collect())
        }
        (Category::Numeric, NativeType::F64) if info.is_preferred => {
            let mut values = joined(parts, |part| part.values::<f64>());
            put_at_nulls(&mut values, parts, f64::NAN);
            Values::F64(values)
        }
        // Of fewer digits than a double.
        (Category::Numeric, NativeType::F64) => {
            let values = parts.iter().flat_map(|part| part.values::<f64>());
            let mut values: Vec<f32> = values.map(|&v| v as f32).collect();
            put_at_nulls(&mut values, parts, f32::NAN);
            Values::F32(values)
        }
        (Category::Numeric, native) => match (ty.decimal_digits(), native) {
            (Some((_, scale)), _) => Values::F64(decimals(parts, scale)),
            (None, NativeType::String) => Values::F64(numerics(parts)),
            (None, NativeType::I16) => Values::I16(joined(parts, |part| part.values::<i16>())),
            (None, NativeType::I32) => Values::I32(joined(parts, |part| part.values::<i32>())),
            (None, _) => Values::I64(joined(parts, |part| part.values::<i64>())),
        },
        (Category::DateTime, _) if ty.is_day() => match form.dates_in_seconds {
            true => Values::Seconds(days(parts, DAY_SECONDS)),
            false => Values::Days(days(parts, 1)),
        },
        (Category::DateTime, _) => {
            let mut values = joined(parts, |part| part.values::<i64>());
            put_at_nulls(&mut values, parts, NOT_A_TIME);
            Values::Micros(values)
        }
        (Category::String, _) => Values::Texts(texts(parts)?),
        (Category::Timespan | Category::Array | Category::UserDefined, _) => Values::Objects,
    })
}

fn joined<'c, T: Copy + 'c>(
    parts: &[&'c ColumnVector],
    values: impl Fn(&'c ColumnVector) -> &'c [T],
) -> Vec<T> {
    let mut out = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| out.extend_from_slice(values(part)));
    out
}

fn put_at_nulls<T: Copy>(values: &mut [T], parts: &[&ColumnVector], value: T) {
    let mut start = 0;
    for part in parts {
        if let Some(nulls) = part.nulls() {
            nulls.iter().for_each(|row| values[start + row] = value);
        }
        start += part.len();
    }
}

fn days(parts: &[&ColumnVector], of_day: i64) -> Vec<i64> {
    let days = parts.iter().flat_map(|part| part.values::<i32>());
    let mut out: Vec<i64> = days.map(|&day| i64::from(day) * of_day).collect();
    put_at_nulls(&mut out, parts, NOT_A_TIME);
    out
}

/// The doubles next to the decimals.
fn decimals(parts: &[&ColumnVector], scale: u8) -> Vec<f64> {
    let mut out = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    let divisor = 10f64.powi(scale.into());
    let double = |value: i128| match value.unsigned_abs() <= EXACT_DOUBLE.unsigned_abs() && scale <= 22 {
        // Both are exact, so that the quotient is rounded once.
        true => value as f64 / divisor,
        false => format!("{value}e-{scale}").parse().unwrap_or(f64::NAN),
    };
    for part in parts {
        match part.native().size() {
            8 => out.extend(part.values::<i64>().iter().map(|&v| double(v.into()))),
            _ => out.extend(part.values::<i128>().iter().map(|&v| double(v))),
        }
    }
    put_at_nulls(&mut out, parts, f64::NAN);
    out
}

/// True for NULL; `None` if no value is.
fn mask(parts: &[&ColumnVector], rows: usize) -> Option<Vec<bool>> {
    if parts.iter().all(|part| part.nulls().is_none()) {
        return None;
    }
    let mut mask = vec![false; rows];
    put_at_nulls(&mut mask, parts, true);
    mask.contains(&true).then_some(mask)
}

/// Calls `take` with the text of each row; that of NULL is empty.
fn each_text(part: &ColumnVector, mut take: impl FnMut(usize, &str)) {
    let mut encoded = [0; 4];
    for row in 0..part.len() {
        match part.ty() {
            _ if part.is_null(row) => take(row, ""),
            ty if ty.is_code_point() => {
                let point = u32::try_from(part.values::<i32>()[row]).ok();
                let character = point
                    .and_then(char::from_u32)
                    .unwrap_or(char::REPLACEMENT_CHARACTER);
                take(row, character.encode_utf8(&mut encoded));
            }
            _ => take(row, part.text(row)),
        }
    }
}

fn texts(parts: &[&ColumnVector]) -> Result<ArrayRef, String> {
    let rows = parts.iter().map(|part| part.len()).sum();
    let mut offsets = Vec::with_capacity(rows + 1);
    let mut bytes = Vec::with_capacity(rows * 8);
    offsets.push(0);
    for part in parts {
        each_text(part, |_, text| {
            bytes.extend_from_slice(text.as_bytes());
            offsets.push(bytes.len() as i64);
        });
    }
    let valid = mask(parts, rows).map(|mask| {
        let valid = BooleanBuffer::collect_bool(rows, |row| !mask[row]);
        NullBuffer::new(valid)
    });
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let array = LargeStringArray::try_new(offsets, Buffer::from_vec(bytes), valid);
    Ok(Arc::new(array.map_err(|e| e.to_string())?))
}

/// Objects of Python. Equal texts share one, if it was made not long ago.
fn objects<'c>(py: Python<'_>, parts: impl Iterator<Item = &'c ColumnVector>) -> PyResult<Vec<Py<PyAny>>> {
    let mut out = Vec::new();
    let mut known: HashMap<String, Py<PyAny>> = HashMap::new();
    let (mut hits, mut shares) = (0, true);
    for part in parts {
        out.reserve(part.len());
        if !part.ty().is_string() {
            for row in 0..part.len() {
                out.push(cells::cell(py, part, row)?.unbind());
            }
            continue;
        }
        each_text(part, |row, text| {
            if part.is_null(row) {
                out.push(py.None());
            } else if let Some(object) = known.get(text).filter(|_| shares) {
                hits += 1;
                out.push(object.clone_ref(py));
            } else {
                let object = PyString::new(py, text).into_any().unbind();
                if known.len() >= SHARED_TEXTS {
                    // Where most texts are new, looking for them costs more than making them.
                    shares = hits > SHARED_TEXTS;
                    (hits, known) = (0, HashMap::new());
                }
                if shares {
                    known.insert(text.to_owned(), object.clone_ref(py));
                }
                out.push(object);
            }
        });
    }
    Ok(out)
}
