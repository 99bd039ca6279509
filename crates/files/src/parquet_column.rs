//! Arrow arrays → columns of a table's types, each value checked.

use crate::arrow_types::{AtRow, is_nested, mismatch, type_of, widens};
use crate::documents::documents;
use crate::lists::arrays_of;
use crate::parquet_numbers::{doubles, integers};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, GenericByteArray};
use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use frazil_types::sql_type::uuid_of_bytes;
use frazil_types::{
    ColumnDef, ColumnVector, Error, Interval, LogicalType, MemoryBudget, NativeType, Result, RowBatch,
    SqlState, StringVectorBuilder, Value, shared_strings,
    value_ops::{self, CastLength},
};

/// The bytes that an array consists of, which keep them alive.
#[derive(Debug)]
pub struct BytesOf(pub Buffer);

impl AsRef<[u8]> for BytesOf {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// An array as a column of type `ty`, each value checked. Long texts and bytes stay where the array has them, which the column keeps.
/// `known`: bounds that the caller checks the column's integers against; within them no further check is needed. Errors with the row of
/// the array that they stand at.
pub fn column_of(
    array: &ArrayRef,
    ty: LogicalType,
    known: Option<(i128, i128)>,
    budget: &MemoryBudget,
) -> AtRow<ColumnVector> {
    let shared = match type_of(array.data_type()) == Some(ty) {
        true => shared_strings(array, ty, budget),
        false => None,
    };
    match shared {
        Some(column) => Ok(with_nulls(column.map_err(|e| (0, e))?, array)),
        None => convert(array, ty, known, budget),
    }
}

/// Texts or bytes where the array has them; `None` for an array that has other values.
fn shared_strings(array: &ArrayRef, ty: LogicalType, budget: &MemoryBudget) -> Option<Result<ColumnVector>> {
    let is_text = ty.is_string();
    let bytes_of = |buffer: &Buffer| BytesOf(buffer.clone());
    match array.data_type() {
        DataType::Utf8View if is_text => {
            let views = array.as_string_view();
            let heaps = views.data_buffers().iter().map(bytes_of).collect();
            Some(shared_strings::of_views(ty, views.views(), heaps, budget))
        }
        DataType::BinaryView if !is_text => {
            let views = array.as_binary_view();
            let heaps = views.data_buffers().iter().map(bytes_of).collect();
            Some(shared_strings::of_views(ty, views.views(), heaps, budget))
        }
        DataType::Utf8 if is_text => Some(side_by_side(array.as_string::<i32>(), ty, budget)),
        DataType::LargeUtf8 if is_text => Some(side_by_side(array.as_string::<i64>(), ty, budget)),
        DataType::Binary if !is_text => Some(side_by_side(array.as_binary::<i32>(), ty, budget)),
        DataType::LargeBinary if !is_text => Some(side_by_side(array.as_binary::<i64>(), ty, budget)),
        _ => None,
    }
}

fn side_by_side<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    ty: LogicalType,
    budget: &MemoryBudget,
) -> Result<ColumnVector> {
    let ends = array.value_offsets().iter().map(|end| end.as_usize());
    shared_strings::of_ends(ty, ends, BytesOf(array.values().clone()), budget)
}

/// A column whose rows are NULL where those of an array are.
fn with_nulls(mut column: ColumnVector, array: &ArrayRef) -> ColumnVector {
    if let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        (0..array.len())
            .filter(|&row| nulls.is_null(row))
            .for_each(|row| column.set_null(row));
    }
    column
}

/// Converts an array to a column of type `ty`; `known` as of [`column_of`].
fn convert(
    array: &ArrayRef,
    ty: LogicalType,
    known: Option<(i128, i128)>,
    budget: &MemoryBudget,
) -> AtRow<ColumnVector> {
    let own = type_of(array.data_type());
    let out = match (ty.native(), ty.element()) {
        _ if array.data_type() == &DataType::Null => nothing(ty, array.len()),
        _ if matches!(array.data_type(), DataType::Dictionary(..)) => of_dictionary(array, ty, budget)?,
        _ if ty.document().is_some() && is_nested(array.data_type()) => documents(array, ty, budget)?,
        _ if own.is_some_and(|own| widens(own, ty) || ty.is_unscaled() && own.is_numeric()) => {
            widened(array, own.unwrap_or(ty), ty, budget)?
        }
        (NativeType::String, Some(element)) => match arrays_of(array, ty, element, budget) {
            Some(arrays) => arrays?,
            // Of the text that shows it.
            None => shown_bytes(array, ty, budget)?,
        },
        (NativeType::String, None) if ty.is_text() => strings(array, ty, budget)?,
        (NativeType::String, None) if ty == LogicalType::Bytea => binaries(array, ty, budget)?,
        (NativeType::String, None) => shown_bytes(array, ty, budget)?,
        (NativeType::Bool, _) => booleans(array, ty)?,
        (NativeType::F64, _) => doubles(array, ty)?,
        (NativeType::I32, _) if ty.is_code_point() => characters(array, ty)?,
        (NativeType::I32, _) if ty.enumeration().is_some() => labels(array, ty)?,
        (NativeType::I128, _) if ty.is_span() => intervals(array, ty)?,
        (NativeType::I128, _) if ty == LogicalType::Uuid => uuids(array, ty)?,
        (NativeType::I16 | NativeType::I32 | NativeType::I64 | NativeType::I128, _) => {
            integers(array, ty, known)?
        }
    };
    Ok(with_nulls(out, array))
}

/// A column of NULLs.
pub(crate) fn nothing(ty: LogicalType, rows: usize) -> ColumnVector {
    ColumnVector::from_values(ty, &vec![Value::Null; rows])
}

/// The values that the keys of a dictionary stand for. Each value is converted once, unless the dictionary is longer
/// than the array or has a value that does not fit and that perhaps no row has.
fn of_dictionary(array: &ArrayRef, ty: LogicalType, budget: &MemoryBudget) -> AtRow<ColumnVector> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    if values.is_empty() {
        return Ok(nothing(ty, array.len()));
    }
    if values.len() <= array.len()
        && let Ok(column) = column_of(values, ty, None, budget)
    {
        return Ok(column.selected(&dictionary.normalized_keys()));
    }
    let taken = arrow_select::take::take(values, dictionary.keys(), None);
    let taken = taken.map_err(|e| (0, Error::internal(format!("the keys of a dictionary: {e}"))))?;
    convert(&taken, ty, None, budget)
}

/// Values of type `own` of a column that has type `ty` because of other files.
fn widened(
    array: &ArrayRef,
    own: LogicalType,
    ty: LogicalType,
    budget: &MemoryBudget,
) -> AtRow<ColumnVector> {
    let column = column_of(array, own, None, budget)?;
    let cast = |row: usize| {
        let value = value_ops::cast(&column.value(row), own, ty, CastLength::Refuse);
        value.map_err(|e| (row, e))
    };
    let values = (0..column.len()).map(cast).collect::<AtRow<Vec<Value>>>()?;
    Ok(ColumnVector::from_values(ty, &values))
}

/// The sixteen bytes of each uuid, or the text that shows it. 22P02 for other numbers of bytes.
fn uuids(array: &ArrayRef, ty: LogicalType) -> AtRow<ColumnVector> {
    let mut out = ColumnVector::new(ty, array.len());
    out.resize(array.len());
    let values = out.values_mut::<i128>();
    let Some(bytes_at) = bytes_of(array) else {
        each_text(array, ty, |row, text| {
            if array.is_valid(row) {
                values[row] = value_ops::read(text, ty)?.to_wide();
            }
            Ok(())
        })?;
        return Ok(out);
    };
    for row in (0..array.len()).filter(|&row| array.is_valid(row)) {
        let bytes = bytes_at(row);
        let sixteen = bytes.try_into().map_err(|_| {
            let message = format!("{} bytes are not a uuid, which has sixteen", bytes.len());
            (row, Error::new(SqlState::INVALID_TEXT, message))
        })?;
        values[row] = uuid_of_bytes(sixteen);
    }
    Ok(out)
}

/// The values of labels. 22P02 for a text that is none.
fn labels(array: &ArrayRef, ty: LogicalType) -> AtRow<ColumnVector> {
    let mut out = ColumnVector::new(ty, array.len());
    out.resize(array.len());
    let values = out.values_mut::<i32>();
    each_text(array, ty, |row, text| {
        if array.is_valid(row) {
            values[row] = value_ops::read(text, ty)?.to_wide() as i32;
        }
        Ok(())
    })?;
    Ok(out)
}

/// From the row of an array to its bytes.
type BytesAt<'a> = Box<dyn Fn(usize) -> &'a [u8] + 'a>;

/// The bytes of each row of an array of binary values; `None` for another array.
fn bytes_of(array: &ArrayRef) -> Option<BytesAt<'_>> {
    Some(match array.data_type() {
        DataType::Binary => Box::new(|row| array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Box::new(|row| array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Box::new(|row| array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => Box::new(|row| array.as_fixed_size_binary().value(row)),
        _ => return None,
    })
}

/// Months, days and nanoseconds, of which whole microseconds are kept; durations; the text that shows an interval.
fn intervals(array: &ArrayRef, ty: LogicalType) -> AtRow<ColumnVector> {
    let mut out = ColumnVector::new(ty, array.len());
    out.resize(array.len());
    let values = out.values_mut::<i128>();
    let wanted = (0..array.len()).filter(|&row| array.is_valid(row));
    let time = |row: usize, micros: Option<i64>| {
        let micros = micros.ok_or_else(|| (row, ty.overflow()))?;
        Ok(Interval {
            micros,
            ..Interval::default()
        })
    };
    let is_text = matches!(
        array.data_type(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    );
    if is_text {
        each_text(array, ty, |row, text| {
            if array.is_valid(row) {
                values[row] = value_ops::read(text, ty)?.to_wide();
            }
            Ok(())
        })?;
        return Ok(out);
    }
    for row in wanted {
        let interval = match array.data_type() {
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                let read = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
                Interval {
                    months: read.months,
                    days: read.days,
                    micros: read.nanoseconds.div_euclid(1000),
                }
            }
            DataType::Duration(unit) => {
                let micros = match unit {
                    TimeUnit::Second => {
                        (array.as_primitive::<DurationSecondType>().value(row)).checked_mul(1_000_000)
                    }
                    TimeUnit::Millisecond => {
                        (array.as_primitive::<DurationMillisecondType>().value(row)).checked_mul(1000)
                    }
                    TimeUnit::Microsecond => Some(array.as_primitive::<DurationMicrosecondType>().value(row)),
                    TimeUnit::Nanosecond => {
                        let nanos = array.as_primitive::<DurationNanosecondType>().value(row);
                        Some(nanos.div_euclid(1000))
                    }
                };
                time(row, micros)?
            }
            _ => return Err((0, mismatch(array, ty))),
        };
        values[row] = interval.to_native();
    }
    Ok(out)
}

/// Bytes, or the text that shows them.
fn binaries(array: &ArrayRef, ty: LogicalType, budget: &MemoryBudget) -> AtRow<ColumnVector> {
    let mut column = StringVectorBuilder::budgeted(ty, array.len(), budget);
    let out = &mut column;
    if let Some(bytes_at) = bytes_of(array) {
        for row in 0..array.len() {
            match array.is_null(row) {
                true => out.push_null(),
                false => out.try_push_bytes(bytes_at(row)).map_err(|e| (row, e))?,
            }
        }
        return Ok(column.finish());
    }
    shown_bytes(array, ty, budget)
}

/// Values that are held as bytes, of the texts that show them.
fn shown_bytes(array: &ArrayRef, ty: LogicalType, budget: &MemoryBudget) -> AtRow<ColumnVector> {
    let mut out = StringVectorBuilder::budgeted(ty, array.len(), budget);
    each_text(array, ty, |row, text| {
        if array.is_null(row) {
            out.push_null();
            return Ok(());
        }
        match value_ops::read(text, ty)? {
            Value::Bytes(bytes) => out.try_push_bytes(&bytes),
            other => Err(Error::internal(format!("{other:?} as {ty}"))),
        }
    })?;
    Ok(out.finish())
}

fn booleans(array: &ArrayRef, ty: LogicalType) -> AtRow<ColumnVector> {
    if array.data_type() != &DataType::Boolean {
        return Err((0, mismatch(array, ty)));
    }
    let from = array.as_boolean();
    let mut out = ColumnVector::new(ty, array.len());
    out.resize(array.len());
    out.values_mut::<u8>()
        .iter_mut()
        .enumerate()
        .for_each(|(r, t)| *t = u8::from(from.value(r)));
    Ok(out)
}

/// Calls `f` with the text of every row; NULL gives the empty string.
fn each_text<'a>(
    array: &'a ArrayRef,
    ty: LogicalType,
    mut f: impl FnMut(usize, &'a str) -> Result<()>,
) -> AtRow<()> {
    let mut run = |text: &dyn Fn(usize) -> &'a str| -> AtRow<()> {
        for row in 0..array.len() {
            f(
                row,
                if array.is_null(row) || array.data_type() == &DataType::Null {
                    ""
                } else {
                    text(row)
                },
            )
            .map_err(|e| (row, e))?;
        }
        Ok(())
    };
    match array.data_type() {
        DataType::Null => run(&|_| ""),
        DataType::Utf8 => run(&|r| array.as_string::<i32>().value(r)),
        DataType::LargeUtf8 => run(&|r| array.as_string::<i64>().value(r)),
        DataType::Utf8View => run(&|r| array.as_string_view().value(r)),
        _ => Err((0, mismatch(array, ty))),
    }
}

fn strings(array: &ArrayRef, ty: LogicalType, budget: &MemoryBudget) -> AtRow<ColumnVector> {
    let mut out = StringVectorBuilder::budgeted(ty, array.len(), budget);
    each_text(array, ty, |_, text| {
        let kept = match ty.is_padded() {
            true => text.trim_end_matches(' '),
            false => text,
        };
        let max = ty.length().map_or(usize::MAX, |n| n as usize);
        if kept.len() > max && kept.chars().count() > max {
            return Err(Error::new(
                SqlState::STRING_TRUNCATION,
                format!("value too long for type {ty}"),
            ));
        }
        out.try_push(kept)
    })?;
    Ok(out.finish())
}

fn characters(array: &ArrayRef, ty: LogicalType) -> AtRow<ColumnVector> {
    let mut out = ColumnVector::new(ty, array.len());
    out.resize(array.len());
    let to = out.values_mut::<i32>();
    each_text(array, ty, |row, text| {
        let mut chars = text.chars();
        to[row] = chars.next().unwrap_or(' ') as i32;
        if chars.all(|c| c == ' ') {
            return Ok(());
        }
        Err(Error::new(
            SqlState::STRING_TRUNCATION,
            "value too long for type char(1)",
        ))
    })?;
    Ok(out)
}

/// The `rows` rows of a record batch as columns of a table. `sources`: the position of each among the batch's arrays;
/// `place`: names a row and column in errors. 23502 for NULL in a column that has none.
pub fn rows_of(
    arrays: &[ArrayRef],
    rows: usize,
    columns: &[ColumnDef],
    sources: &[usize],
    budget: &MemoryBudget,
    place: &dyn Fn(usize, &str) -> String,
) -> Result<RowBatch> {
    let mut vectors = Vec::with_capacity(columns.len());
    for (column, &source) in columns.iter().zip(sources) {
        let array = &arrays[source];
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        if let Some(nulls) = nulls.filter(|_| !column.nullable) {
            let row = (0..array.len()).find(|&r| nulls.is_null(r)).unwrap_or(0);
            let message = format!(
                "null value in column \"{}\" violates not-null constraint",
                column.name
            );
            let error = Error::new(SqlState::NOT_NULL_VIOLATION, message).of_column(&column.name);
            return Err(error.in_context(place(row, &column.name)));
        }
        let converted = convert(array, column.ty, None, budget);
        vectors.push(converted.map_err(|(row, e)| e.in_context(place(row, &column.name)))?);
    }
    Ok(RowBatch {
        columns: vectors,
        rows,
    })
}

/// The position in record batches of a schema of each of `columns`: by name, in just these letters if there is one, where the schema has all names, else in order.
/// `what`: what the batches are of, for errors. 42703 for a name that is not there.
pub fn sources(what: &str, schema: &arrow_schema::Schema, columns: &[ColumnDef]) -> Result<Vec<usize>> {
    let by_name: Option<Vec<usize>> = columns
        .iter()
        .map(|c| {
            let at = |same: fn(&str, &str) -> bool| {
                let mut fields = schema.fields().iter();
                fields.position(|field| same(field.name(), &c.name))
            };
            at(|a, b| a == b).or_else(|| at(str::eq_ignore_ascii_case))
        })
        .collect();
    if let Some(found) = by_name {
        return Ok(found);
    }
    if schema.fields().len() == columns.len() {
        return Ok((0..columns.len()).collect());
    }
    let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
    let missing = columns
        .iter()
        .find(|c| !names.iter().any(|n| n.eq_ignore_ascii_case(&c.name)));
    let message = format!(
        "{what} has no column \"{}\"; it has {}",
        missing.map_or("", |c| c.name.as_str()),
        names.join(", ")
    );
    Err(Error::new(SqlState::UNDEFINED_COLUMN, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{DataType, Field, Schema};

    #[test]
    fn a_name_in_just_these_letters_comes_first() {
        let field = |name: &str| Field::new(name, DataType::Utf8, true);
        let schema = Schema::new(vec![field("A"), field("a"), field("Other")]);
        let columns = ["a", "A", "other"].map(|name| ColumnDef::new(name, LogicalType::Text));
        let found = sources("a file", &schema, &columns).expect("all names are there");
        assert_eq!(found, [1, 0, 2]);
    }
}
