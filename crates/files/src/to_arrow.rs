//! Vectors → Arrow record batches: for Parquet files, the Python module and whoever speaks Arrow.

use crate::arrow_numerics::{USUAL_SCALE, decimals, scale_of};
use crate::arrow_types::UUID_BYTES;
use crate::lists::{ITEM, list_of};
use arrow_array::builder::StringBuilder;
use arrow_array::types::IntervalMonthDayNano;
use arrow_array::*;
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use bytes::Bytes;
use frazil_types::logical_type::DECIMAL_MAX_DIGITS;
use frazil_types::sql_type::{EnumType, uuid_to_bytes};
use frazil_types::{
    ColumnVector, Error, Interval, LogicalType, Native, NativeType, Result, RowBatch, SqlState, StringRef,
};
use std::sync::Arc;

/// The zone of columns of instants, by which readers show them.
const UTC: &str = "UTC";

/// The form that texts take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowTexts {
    /// Utf8, which every library reads.
    Copied,
    /// Utf8View, as Polars holds them: texts of up to twelve bytes lie as they do in a vector. Intervals are texts,
    /// because Polars has no type for months and days.
    Views,
}

/// The appearance of a column's values in Arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrowForm {
    pub texts: ArrowTexts,
    /// Digits after the point of numerics without precision.
    pub scale: u8,
}

impl ArrowForm {
    /// The form of columns that become Arrow batch by batch, so that later values are not known.
    pub const STREAMED: ArrowForm = ArrowForm {
        texts: ArrowTexts::Copied,
        scale: USUAL_SCALE,
    };
}

/// Batches of rows that become record batches one by one. Numbers, dates and timestamps stay where they lie: the arrays
/// keep them alive.
#[derive(Clone, Debug)]
pub struct ArrowBatches {
    schema: SchemaRef,
    batches: Arc<Vec<RowBatch>>,
    /// The form of each column.
    forms: Vec<ArrowForm>,
}

impl ArrowBatches {
    /// Batches of columns of `schema`. Numerics without precision get as many digits after the point as the values
    /// need. XX001 for damaged numerics.
    pub fn new(
        schema: &frazil_types::Schema,
        batches: Arc<Vec<RowBatch>>,
        texts: ArrowTexts,
    ) -> Result<ArrowBatches> {
        let columns = schema.columns.iter().enumerate();
        let forms = columns.map(|(at, column)| {
            let scale = match column.ty.element().unwrap_or(column.ty) {
                LogicalType::Numeric => scale_of(column.ty.element(), &batches, at)?,
                _ => USUAL_SCALE,
            };
            Ok(ArrowForm { texts, scale })
        });
        let forms: Vec<ArrowForm> = forms.collect::<Result<_>>()?;
        Ok(ArrowBatches {
            schema: schema_with(schema, |at| forms[at]),
            batches,
            forms,
        })
    }

    /// The Arrow schema: see [`arrow_schema`].
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Number of batches.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// The batch at a position, which is below [`ArrowBatches::len`].
    pub fn batch(&self, at: usize) -> Result<RecordBatch> {
        let batch = &self.batches[at];
        let column = |column| {
            let cells = Cells::Shared(Shared {
                batches: self.batches.clone(),
                batch: at,
                column,
            });
            array(&batch.columns[column], cells, self.forms[column])
                .map_err(|e| in_column(e, &self.schema, column))
        };
        let arrays = (0..batch.columns.len()).map(column);
        made(&self.schema, arrays.collect::<Result<Vec<_>>>()?, batch.rows)
    }
}

/// Whose memory the values of a column are.
enum Cells {
    /// That of a batch which does not live on: they are copied.
    Lent,
    /// That of a batch which arrays may keep alive.
    Shared(Shared),
}

/// A column of a batch among others.
struct Shared {
    batches: Arc<Vec<RowBatch>>,
    batch: usize,
    column: usize,
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.batches[self.batch].columns[self.column].value_bytes()
    }
}

/// The Arrow schema of columns. char(1) becomes a string; intervals months, days and nanoseconds; a uuid its sixteen
/// bytes; bytea binary; an array a list; json, jsonb and enumerations their text; a numeric without precision a
/// decimal of 38 digits, 20 of them after the point.
pub fn arrow_schema(schema: &frazil_types::Schema) -> SchemaRef {
    schema_with(schema, |_| ArrowForm::STREAMED)
}

fn schema_with(schema: &frazil_types::Schema, form: impl Fn(usize) -> ArrowForm) -> SchemaRef {
    let fields = schema.columns.iter().enumerate();
    let fields = fields.map(|(at, c)| Field::new(&c.name, data_type(c.ty, form(at)), c.nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The type whose values elements of a list are: intervals are texts where columns of them are.
pub(crate) fn element_type(element: LogicalType, form: ArrowForm) -> LogicalType {
    match (element, form.texts) {
        (LogicalType::Interval, ArrowTexts::Views) => LogicalType::Text,
        (element, _) => element,
    }
}

/// The form of elements of a list: texts are copied.
pub(crate) fn element_form(form: ArrowForm) -> ArrowForm {
    ArrowForm {
        texts: ArrowTexts::Copied,
        ..form
    }
}

/// The values of a column that is not kept.
pub(crate) fn array_of(column: &ColumnVector, form: ArrowForm) -> Result<ArrayRef> {
    array(column, Cells::Lent, form)
}

/// The Arrow type a column of `ty` gets.
pub(crate) fn data_type(ty: LogicalType, form: ArrowForm) -> DataType {
    let texts = form.texts;
    match ty {
        LogicalType::Boolean => DataType::Boolean,
        LogicalType::SmallInt => DataType::Int16,
        LogicalType::Integer => DataType::Int32,
        LogicalType::BigInt | LogicalType::Oid | LogicalType::Xid | LogicalType::Cid => DataType::Int64,
        LogicalType::Real => DataType::Float32,
        LogicalType::Double => DataType::Float64,
        LogicalType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
        LogicalType::Numeric => DataType::Decimal128(DECIMAL_MAX_DIGITS, form.scale as i8),
        LogicalType::Date => DataType::Date32,
        LogicalType::Time(_) => DataType::Time64(TimeUnit::Microsecond),
        LogicalType::Timestamp(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
        LogicalType::TimestampTz(..) => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        LogicalType::Interval if texts == ArrowTexts::Views => DataType::Utf8View,
        LogicalType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
        LogicalType::Char(2..)
        | LogicalType::Varchar(_)
        | LogicalType::Text
        | LogicalType::Name
        | LogicalType::InternalChar
            if texts == ArrowTexts::Views =>
        {
            DataType::Utf8View
        }
        LogicalType::Uuid => DataType::FixedSizeBinary(UUID_BYTES),
        LogicalType::Bytea => DataType::Binary,
        LogicalType::Array(element) => {
            let item = data_type(element_type(element.get(), form), element_form(form));
            DataType::List(Arc::new(Field::new(ITEM, item, true)))
        }
        LogicalType::Json
        | LogicalType::Jsonb
        | LogicalType::JsonPath
        | LogicalType::Record
        | LogicalType::Regclass
        | LogicalType::Regtype
        | LogicalType::Regproc
        | LogicalType::Regprocedure
        | LogicalType::Regoperator
        | LogicalType::Regnamespace
        | LogicalType::Tid
        | LogicalType::Enum(_) => DataType::Utf8,
        LogicalType::Char(_)
        | LogicalType::Varchar(_)
        | LogicalType::Text
        | LogicalType::Name
        | LogicalType::InternalChar => DataType::Utf8,
    }
}

/// A batch of rows as a record batch of [`arrow_schema`].
pub fn record_batch(schema: &SchemaRef, batch: &RowBatch) -> Result<RecordBatch> {
    let columns = batch.columns.iter().enumerate();
    let arrays = columns
        .map(|(at, column)| array_of(column, ArrowForm::STREAMED).map_err(|e| in_column(e, schema, at)));
    made(schema, arrays.collect::<Result<Vec<_>>>()?, batch.rows)
}

fn made(schema: &SchemaRef, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map_err(arrow_failed)
}

fn arrow_failed(error: arrow_schema::ArrowError) -> Error {
    Error::internal(format!("a result did not become Arrow: {error}"))
}

fn scalars<T: Native + ArrowNativeType>(column: &ColumnVector, cells: Cells) -> ScalarBuffer<T> {
    let values = column.values::<T>();
    match cells {
        Cells::Lent => ScalarBuffer::from(values.to_vec()),
        Cells::Shared(shared) => {
            let buffer = Buffer::from(Bytes::from_owner(shared));
            ScalarBuffer::new(buffer, 0, values.len())
        }
    }
}

fn nulls(column: &ColumnVector) -> Option<NullBuffer> {
    let nulls = column.nulls()?;
    let valid: Vec<u64> = nulls.words().iter().map(|w| !w).collect();
    let bits = BooleanBuffer::new(Buffer::from_vec(valid), 0, column.len());
    Some(NullBuffer::new(bits))
}

/// An error of a value, whose context names the column at `at`.
pub(crate) fn in_column(error: Error, schema: &SchemaRef, at: usize) -> Error {
    error.in_context(format!("column \"{}\"", schema.field(at).name()))
}

/// The texts that show the values of a column.
fn shown(column: &ColumnVector) -> StringArray {
    let text = |row| (!column.is_null(row)).then(|| column.value(row).display(column.ty()).to_string());
    (0..column.len()).map(text).collect()
}

fn array(column: &ColumnVector, cells: Cells, form: ArrowForm) -> Result<ArrayRef> {
    let (valid, texts) = (nulls(column), form.texts);
    Ok(match column.ty() {
        LogicalType::Boolean => {
            let values = column.values::<u8>();
            let bits = BooleanBuffer::collect_bool(values.len(), |row| values[row] != 0);
            Arc::new(BooleanArray::new(bits, valid))
        }
        LogicalType::SmallInt => Arc::new(Int16Array::new(scalars(column, cells), valid)),
        LogicalType::Integer => Arc::new(Int32Array::new(scalars(column, cells), valid)),
        LogicalType::BigInt | LogicalType::Oid | LogicalType::Xid | LogicalType::Cid => {
            Arc::new(Int64Array::new(scalars(column, cells), valid))
        }
        LogicalType::Real => {
            let values = column.values::<f64>().iter().map(|&v| v as f32);
            Arc::new(Float32Array::new(values.collect(), valid))
        }
        LogicalType::Double => Arc::new(Float64Array::new(scalars(column, cells), valid)),
        LogicalType::Date => Arc::new(Date32Array::new(scalars(column, cells), valid)),
        LogicalType::Time(_) => Arc::new(Time64MicrosecondArray::new(scalars(column, cells), valid)),
        LogicalType::Timestamp(_) => Arc::new(TimestampMicrosecondArray::new(scalars(column, cells), valid)),
        LogicalType::TimestampTz(..) => {
            let instants = TimestampMicrosecondArray::new(scalars(column, cells), valid);
            Arc::new(instants.with_timezone(UTC))
        }
        LogicalType::Decimal { precision, scale } => {
            let values: ScalarBuffer<i128> = match column.native() {
                NativeType::I64 => column.values::<i64>().iter().map(|&v| i128::from(v)).collect(),
                _ => scalars(column, cells),
            };
            let array = Decimal128Array::new(values, valid)
                .with_precision_and_scale(precision, scale as i8)
                .map_err(arrow_failed)?;
            Arc::new(array)
        }
        LogicalType::Numeric => Arc::new(decimals(column, form.scale, valid)?),
        LogicalType::Interval => intervals(column, valid, texts)?,
        LogicalType::Uuid => {
            let bytes = column.values::<i128>().iter().map(|&v| uuid_to_bytes(v));
            let bytes: Vec<u8> = bytes.flatten().collect();
            let array = FixedSizeBinaryArray::try_new(UUID_BYTES, Buffer::from_vec(bytes), valid);
            Arc::new(array.map_err(arrow_failed)?)
        }
        LogicalType::Char(1) => characters(column),
        LogicalType::Char(_)
        | LogicalType::Varchar(_)
        | LogicalType::Text
        | LogicalType::Name
        | LogicalType::InternalChar => strings(column, texts, valid)?,
        LogicalType::Bytea => {
            let (offsets, bytes) = joined(column)?;
            Arc::new(BinaryArray::try_new(offsets, bytes, valid).map_err(arrow_failed)?)
        }
        LogicalType::Json
        | LogicalType::Jsonb
        | LogicalType::JsonPath
        | LogicalType::Record
        | LogicalType::Regclass
        | LogicalType::Regtype
        | LogicalType::Regproc
        | LogicalType::Regprocedure
        | LogicalType::Regoperator
        | LogicalType::Regnamespace
        | LogicalType::Tid => Arc::new(shown(column)),
        LogicalType::Array(element) => list_of(column, element.get(), form, valid)?,
        LogicalType::Enum(e) => labels(column, e),
    })
}

/// Texts, copied or as views.
fn strings(column: &ColumnVector, texts: ArrowTexts, valid: Option<NullBuffer>) -> Result<ArrayRef> {
    match texts {
        ArrowTexts::Copied => {
            let (offsets, bytes) = joined(column)?;
            let array = StringArray::try_new(offsets, bytes, valid).map_err(arrow_failed)?;
            Ok(Arc::new(array))
        }
        ArrowTexts::Views => views(column, valid),
    }
}

/// Code points as texts.
fn characters(column: &ColumnVector) -> ArrayRef {
    let mut text = [0; 4];
    let mut builder = StringBuilder::with_capacity(column.len(), column.len());
    for (row, &point) in column.values::<i32>().iter().enumerate() {
        let character = u32::try_from(point).ok().and_then(char::from_u32);
        match column.is_null(row) {
            true => builder.append_null(),
            false => builder.append_value(character.unwrap_or('\u{fffd}').encode_utf8(&mut text)),
        }
    }
    Arc::new(builder.finish())
}

/// The labels of values as texts.
fn labels(column: &ColumnVector, e: EnumType) -> ArrayRef {
    let values = column.values::<i32>().iter().enumerate();
    let label = |(row, &value): (usize, &i32)| (!column.is_null(row)).then(|| e.label(value)).flatten();
    Arc::new(values.map(label).collect::<StringArray>())
}

/// Arrow counts nanoseconds: 22008 for an interval of more than 292 years in hours.
fn intervals(column: &ColumnVector, valid: Option<NullBuffer>, texts: ArrowTexts) -> Result<ArrayRef> {
    if texts == ArrowTexts::Views {
        let text = |row| (!column.is_null(row)).then(|| column.value(row).display(column.ty()).to_string());
        return Ok(Arc::new((0..column.len()).map(text).collect::<StringViewArray>()));
    }
    let values = column.values::<i128>().iter().enumerate().map(|(row, &v)| {
        let i = Interval::from_native(v);
        let nanos = match i.micros.checked_mul(1000) {
            Some(nanos) => nanos,
            None if column.is_null(row) => 0,
            None => {
                let shown = column.value(row).display(column.ty()).to_string();
                let message = format!("interval {shown} is out of range in Arrow, which counts nanoseconds");
                let error = Error::new(SqlState::DATETIME_OVERFLOW, message);
                return Err(error.with_hint("cast it to text"));
            }
        };
        Ok(IntervalMonthDayNano::new(i.months, i.days, nanos))
    });
    let values = values.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(IntervalMonthDayNanoArray::new(values.into(), valid)))
}

/// The strings of a column one behind the other, and where each begins.
fn joined(column: &ColumnVector) -> Result<(OffsetBuffer<i32>, Buffer)> {
    let strings = column.strings();
    let mut offsets: Vec<i32> = Vec::with_capacity(column.len() + 1);
    let mut end = 0;
    offsets.push(0);
    for row in 0..column.len() {
        end += strings.bytes(row).len();
        offsets.push(i32::try_from(end).map_err(|_| too_long(column))?);
    }
    let mut bytes = Vec::with_capacity(end);
    for row in 0..column.len() {
        bytes.extend_from_slice(strings.bytes(row));
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok((offsets, Buffer::from_vec(bytes)))
}

fn too_long(column: &ColumnVector) -> Error {
    let strings = column.strings();
    let bytes: usize = (0..column.len()).map(|row| strings.bytes(row).len()).sum();
    Error::unsupported(format!("an Arrow column of {bytes} bytes"))
}

/// Texts as Arrow's views: length, four bytes, and where the text lies; or the length and the text itself, as in a
/// [`StringRef`].
fn views(column: &ColumnVector, valid: Option<NullBuffer>) -> Result<ArrayRef> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut out = Vec::with_capacity(column.len());
    for (row, string) in column.values::<StringRef>().iter().enumerate() {
        out.push(match () {
            () if column.is_null(row) => 0,
            () if string.is_inline() => u128::from(string.head) | u128::from(string.tail) << 64,
            () => {
                let start = u32::try_from(bytes.len()).map_err(|_| too_long(column))?;
                bytes.extend_from_slice(column.text(row).as_bytes());
                u128::from(string.head) | u128::from(start) << 96
            }
        });
    }
    let array = StringViewArray::try_new(ScalarBuffer::from(out), vec![Buffer::from_vec(bytes)], valid);
    Ok(Arc::new(array.map_err(arrow_failed)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::{ColumnDef, Value};

    #[test]
    fn every_type_becomes_arrow() {
        let wide = LogicalType::Decimal {
            precision: 38,
            scale: 3,
        };
        let money = LogicalType::Decimal {
            precision: 15,
            scale: 2,
        };
        let columns = [
            (LogicalType::Boolean, Value::Bool(true), "true"),
            (LogicalType::SmallInt, Value::Int(-3), "-3"),
            (LogicalType::Date, Value::Int(1), "1970-01-02"),
            (
                LogicalType::TIMESTAMP,
                Value::Int(1_000_000),
                "1970-01-01T00:00:01",
            ),
            (wide, Value::Int(-1), "-0.001"),
            (money, Value::Int(1234), "12.34"),
            (LogicalType::Char(1), Value::Int(0xe9), "é"),
            (
                LogicalType::Text,
                Value::Text("a longer string than inline".into()),
                "a longer string than inline",
            ),
        ];
        let schema = columns.iter().map(|c| ColumnDef::new("c", c.0)).collect();
        let vectors = columns
            .iter()
            .map(|c| ColumnVector::from_values(c.0, &[c.1.clone(), Value::Null]));
        let batch = RowBatch {
            columns: vectors.collect(),
            rows: 2,
        };
        let schema = frazil_types::Schema::new(schema);
        let batches = Arc::new(vec![RowBatch::default(), batch]);
        let shared = |texts| ArrowBatches::new(&schema, batches.clone(), texts)?.batch(1);
        for record in [
            record_batch(&arrow_schema(&schema), &batches[1]),
            shared(ArrowTexts::Copied),
            shared(ArrowTexts::Views),
        ] {
            let record = record.expect("all types have an Arrow form");
            for (array, column) in record.columns().iter().zip(&columns) {
                assert!(array.is_valid(0) && array.is_null(1));
                let text = arrow_cast::display::array_value_to_string(array, 0).expect("displayable");
                assert_eq!(text, column.2);
            }
        }
    }

    #[test]
    fn numbers_stay_where_they_lie_and_outlive_the_rows() {
        let values: Vec<Value> = (0..100).map(Value::Int).collect();
        let column = ColumnVector::from_values(LogicalType::BigInt, &values);
        let place = column.value_bytes().as_ptr();
        let batch = RowBatch {
            columns: vec![column],
            rows: 100,
        };
        let schema = frazil_types::Schema::new(vec![ColumnDef::new("c", LogicalType::BigInt)]);
        let batches =
            ArrowBatches::new(&schema, Arc::new(vec![batch]), ArrowTexts::Copied).expect("sound values");
        let record = batches.batch(0).expect("an Arrow form");
        drop(batches);
        let array: &Int64Array = cast::AsArray::as_primitive(record.column(0));
        assert_eq!(array.values().inner().as_ptr(), place);
        assert!(array.values().iter().copied().eq(0..100));
    }
}
