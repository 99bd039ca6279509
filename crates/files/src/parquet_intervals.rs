//! Parquet's INTERVAL: twelve bytes of months, days and milliseconds, each of them unsigned and little-endian.
//!
//! The crate that reads the format takes only the days and milliseconds from a column with that mark. So the footer
//! that it gets has no mark, and it hands out the bytes.

use crate::arrow_types::{AtRow, type_of};
use arrow_array::cast::AsArray;
use arrow_array::types::{IntervalMonthDayNano, IntervalMonthDayNanoType};
use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, FixedSizeListArray, GenericListArray, IntervalMonthDayNanoArray,
    OffsetSizeTrait,
};
use arrow_buffer::Buffer;
use arrow_schema::{ArrowError, DataType, FieldRef, IntervalUnit, Schema};
use frazil_types::{Error, Interval, Result, SqlState, Value};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::ConvertedType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use std::sync::Arc;

/// Bytes of an INTERVAL.
const BYTES: usize = 12;
const NANOS_PER_MILLI: i64 = 1_000_000;
const NANOS_PER_MICRO: i64 = 1000;

/// An outcome of the crate that knows the format.
type Outcome<T> = std::result::Result<T, ParquetError>;

/// True for the Arrow type of an INTERVAL of Parquet, and of lists of them.
fn is_interval(ty: &DataType) -> bool {
    match ty {
        DataType::Interval(_) => true,
        ty => item(ty).is_some_and(|item| is_interval(item.data_type())),
    }
}

/// The element of a list.
fn item(ty: &DataType) -> Option<&FieldRef> {
    match ty {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item),
        _ => None,
    }
}

/// The Arrow type in which `leaf` stands for the innermost type of nested lists.
fn with_leaf(ty: &DataType, leaf: &DataType) -> DataType {
    let with = |item: &FieldRef| {
        let ty = with_leaf(item.data_type(), leaf);
        Arc::new(item.as_ref().clone().with_data_type(ty))
    };
    match ty {
        DataType::List(item) => DataType::List(with(item)),
        DataType::LargeList(item) => DataType::LargeList(with(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(with(item), *length),
        _ => leaf.clone(),
    }
}

/// The Arrow type of twelve bytes.
const fn bytes_type() -> DataType {
    DataType::FixedSizeBinary(BYTES as i32)
}

/// The Arrow type of intervals that have been read: `ty` is that of a column without its mark.
pub fn read_type(ty: &DataType) -> DataType {
    with_leaf(ty, &DataType::Interval(IntervalUnit::MonthDayNano))
}

/// A footer whose INTERVAL columns and lists are bytes, and for each column of the file true if it is such a one.
pub fn without_marks(footer: ArrowReaderMetadata) -> Outcome<(ArrowReaderMetadata, Vec<bool>)> {
    let marked = footer
        .schema()
        .fields()
        .iter()
        .map(|field| is_interval(field.data_type()));
    let marked: Vec<bool> = marked.collect();
    if !marked.contains(&true) {
        return Ok((footer, marked));
    }
    let file = footer.metadata().file_metadata();
    let fields = file.schema_descr().root_schema().get_fields().iter().zip(&marked);
    let fields = fields.map(|(field, &is_marked)| match is_marked {
        true => with_mark(field, ConvertedType::NONE),
        false => Ok(field.clone()),
    });
    let root = Type::group_type_builder(file.schema_descr().root_schema().name())
        .with_fields(fields.collect::<Outcome<Vec<_>>>()?)
        .build()?;
    let bare = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        file.key_value_metadata().cloned(),
        Arc::new(SchemaDescriptor::new(Arc::new(root))),
        file.column_orders().cloned(),
    );
    let bare = ParquetMetaData::new(bare, footer.metadata().row_groups().to_vec());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(written_schema(footer.schema())));
    Ok((ArrowReaderMetadata::try_new(Arc::new(bare), options)?, marked))
}

/// A type of Parquet whose leaves have the mark `mark`: a list of twelve bytes, or these alone.
fn with_mark(field: &TypePtr, mark: ConvertedType) -> Outcome<TypePtr> {
    let info = field.get_basic_info();
    let id = info.has_id().then(|| info.id());
    let made = match field.as_ref() {
        Type::PrimitiveType { physical_type, .. } => {
            Type::primitive_type_builder(field.name(), *physical_type)
                .with_repetition(info.repetition())
                .with_length(BYTES as i32)
                .with_converted_type(mark)
                .with_id(id)
                .build()?
        }
        Type::GroupType { fields, .. } => {
            let fields = fields.iter().map(|field| with_mark(field, mark));
            let mut group = Type::group_type_builder(field.name())
                .with_fields(fields.collect::<Outcome<Vec<_>>>()?)
                .with_converted_type(info.converted_type())
                .with_logical_type(info.logical_type_ref().cloned())
                .with_id(id);
            if info.has_repetition() {
                group = group.with_repetition(info.repetition());
            }
            group.build()?
        }
    };
    Ok(Arc::new(made))
}

/// A column of a file to write, whose twelve bytes are marked as INTERVAL.
pub fn marked(field: &TypePtr) -> Outcome<TypePtr> {
    with_mark(field, ConvertedType::INTERVAL)
}

/// A schema in which intervals, and those in lists, are twelve bytes.
pub fn written_schema(schema: &Schema) -> Schema {
    let fields = schema
        .fields()
        .iter()
        .map(|field| match is_interval(field.data_type()) {
            true => {
                let ty = with_leaf(field.data_type(), &bytes_type());
                field.as_ref().clone().with_data_type(ty)
            }
            false => field.as_ref().clone(),
        });
    Schema::new(fields.collect::<Vec<_>>())
}

/// An array of intervals, or of lists of them, as it is written; other arrays as they are. 22008 for an interval that
/// Parquet does not have.
pub fn written(array: &ArrayRef) -> Result<ArrayRef> {
    match is_interval(array.data_type()) {
        true => with_leaves(array, &bytes_type(), &to_bytes).map_err(|(_, error)| error),
        false => Ok(array.clone()),
    }
}

/// An array of bytes that were intervals, or of lists of them, as intervals. 22008 with the row for an interval that
/// Frazil does not have.
pub fn read(array: &ArrayRef) -> AtRow<ArrayRef> {
    with_leaves(array, &DataType::Interval(IntervalUnit::MonthDayNano), &of_bytes)
}

/// Replaces the innermost values of nested lists. Errors of an element have the first row.
fn with_leaves(
    array: &ArrayRef,
    leaf: &DataType,
    replace: &dyn Fn(&ArrayRef) -> AtRow<ArrayRef>,
) -> AtRow<ArrayRef> {
    let Some(item) = item(array.data_type()) else {
        return replace(array);
    };
    let field = Arc::new(
        item.as_ref()
            .clone()
            .with_data_type(with_leaf(item.data_type(), leaf)),
    );
    let inner = |values: &ArrayRef| with_leaves(values, leaf, replace).map_err(|(_, error)| (0, error));
    let made = match array.data_type() {
        DataType::List(_) => list_with(array.as_list::<i32>(), field, &inner)?,
        DataType::LargeList(_) => list_with(array.as_list::<i64>(), field, &inner)?,
        _ => {
            let list = array.as_fixed_size_list();
            let values = inner(list.values())?;
            FixedSizeListArray::try_new(field, list.value_length(), values, list.nulls().cloned())
                .map(|list| Arc::new(list) as ArrayRef)
        }
    };
    made.map_err(|e| (0, not_made(&e)))
}

fn list_with<O: OffsetSizeTrait>(
    list: &GenericListArray<O>,
    field: FieldRef,
    inner: &dyn Fn(&ArrayRef) -> AtRow<ArrayRef>,
) -> AtRow<std::result::Result<ArrayRef, ArrowError>> {
    let values = inner(list.values())?;
    let made = GenericListArray::try_new(field, list.offsets().clone(), values, list.nulls().cloned());
    Ok(made.map(|list| Arc::new(list) as ArrayRef))
}

fn not_made(error: &ArrowError) -> Error {
    Error::internal(format!("intervals did not become an array: {error}"))
}

fn of_bytes(array: &ArrayRef) -> AtRow<ArrayRef> {
    let bytes = array.as_fixed_size_binary();
    let values = (0..array.len()).map(|row| match array.is_valid(row) {
        true => interval_of(bytes.value(row)).map_err(|error| (row, error)),
        false => Ok(IntervalMonthDayNano::default()),
    });
    let values = values.collect::<AtRow<Vec<_>>>()?;
    Ok(Arc::new(IntervalMonthDayNanoArray::new(
        values.into(),
        array.nulls().cloned(),
    )))
}

fn interval_of(bytes: &[u8]) -> Result<IntervalMonthDayNano> {
    let mut parts = [0_u32; 3];
    for (part, bytes) in parts.iter_mut().zip(bytes.chunks_exact(4)) {
        bytes
            .iter()
            .rev()
            .for_each(|&byte| *part = *part << 8 | u32::from(byte));
    }
    let [months, days, millis] = parts;
    match (i32::try_from(months), i32::try_from(days)) {
        (Ok(months), Ok(days)) => Ok(IntervalMonthDayNano::new(
            months,
            days,
            i64::from(millis) * NANOS_PER_MILLI,
        )),
        _ => {
            let message = format!(
                "an interval of {months} months and {days} days is out of range: type interval has at most {} of each",
                i32::MAX
            );
            Err(Error::new(SqlState::DATETIME_OVERFLOW, message))
        }
    }
}

fn to_bytes(array: &ArrayRef) -> AtRow<ArrayRef> {
    let intervals = array.as_primitive::<IntervalMonthDayNanoType>();
    let mut bytes = Vec::with_capacity(BYTES * array.len());
    for row in 0..array.len() {
        match array.is_valid(row) {
            true => bytes.extend(bytes_of(intervals.value(row)).map_err(|error| (row, error))?),
            false => bytes.extend([0; BYTES]),
        }
    }
    let array = FixedSizeBinaryArray::try_new(BYTES as i32, Buffer::from_vec(bytes), array.nulls().cloned());
    Ok(Arc::new(array.map_err(|e| (0, not_made(&e)))?))
}

/// The bytes of an interval. 22008 for a negative part, for a time of more than 2³² milliseconds, and for one that
/// milliseconds do not count exactly.
fn bytes_of(interval: IntervalMonthDayNano) -> Result<[u8; BYTES]> {
    let IntervalMonthDayNano {
        months,
        days,
        nanoseconds,
    } = interval;
    let refused = |why: &str| {
        let value = Interval {
            months,
            days,
            micros: nanoseconds / NANOS_PER_MICRO,
        };
        let ty = type_of(&DataType::Interval(IntervalUnit::MonthDayNano));
        let shown = ty.map_or_else(String::new, |ty| Value::Interval(value).display(ty).to_string());
        let message = format!("interval {shown} cannot be stored in Parquet, which {why}");
        Error::new(SqlState::DATETIME_OVERFLOW, message).with_hint("cast it to text")
    };
    if nanoseconds % NANOS_PER_MILLI != 0 {
        return Err(refused("counts milliseconds"));
    }
    let millis = nanoseconds / NANOS_PER_MILLI;
    let (Ok(months), Ok(days), false) = (u32::try_from(months), u32::try_from(days), millis < 0) else {
        return Err(refused("has no negative months, days or times"));
    };
    let millis = u32::try_from(millis).map_err(|_| refused("counts at most 4294967295 milliseconds"))?;
    let mut bytes = [0; BYTES];
    for (to, part) in bytes.chunks_exact_mut(4).zip([months, days, millis]) {
        to.copy_from_slice(&part.to_le_bytes());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals at the ends of what Parquet has come back as they were, and those beyond are refused.
    #[test]
    fn what_is_written_is_read() {
        let most = (i64::from(u32::MAX) * NANOS_PER_MILLI, i32::MAX);
        for (months, days, nanos) in [(0, 0, 0), (1, 2, 3_000_000), (most.1, most.1, most.0), (13, 0, 0)] {
            let interval = IntervalMonthDayNano::new(months, days, nanos);
            let bytes = bytes_of(interval).expect("Parquet has it");
            assert_eq!(interval_of(&bytes).expect("Frazil has it"), interval);
        }
        for (months, days, nanos) in [
            (-1, 0, 0),
            (0, -1, 0),
            (0, 0, -1_000_000),
            (0, 0, 1000),
            (0, 0, -1000),
            (0, 0, most.0 + NANOS_PER_MILLI),
        ] {
            let error = bytes_of(IntervalMonthDayNano::new(months, days, nanos)).expect_err("it is refused");
            assert_eq!(
                error.state(),
                SqlState::DATETIME_OVERFLOW,
                "{months} {days} {nanos}"
            );
        }
        let beyond = [0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(
            interval_of(&beyond).expect_err("2³¹ months").state(),
            SqlState::DATETIME_OVERFLOW
        );
    }
}
