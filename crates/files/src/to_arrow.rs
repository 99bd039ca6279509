//! Vectors → Arrow record batches: for Parquet files, the Python module and whoever speaks Arrow.

use arrow_array::builder::StringBuilder;
use arrow_array::types::IntervalMonthDayNano;
use arrow_array::*;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use frazil_types::{ColumnVector, Error, Interval, LogicalType, Native, NativeType, Result, RowBatch};
use std::sync::Arc;

/// The Arrow schema of columns. char(1) becomes a string; intervals months, days and nanoseconds.
pub fn arrow_schema(schema: &frazil_types::Schema) -> SchemaRef {
    let fields = schema.columns.iter();
    let fields = fields.map(|c| Field::new(&c.name, data_type(c.ty), c.nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The Arrow type a column of `ty` gets.
fn data_type(ty: LogicalType) -> DataType {
    match ty {
        LogicalType::Boolean => DataType::Boolean,
        LogicalType::SmallInt => DataType::Int16,
        LogicalType::Integer => DataType::Int32,
        LogicalType::BigInt => DataType::Int64,
        LogicalType::Double => DataType::Float64,
        LogicalType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
        LogicalType::Date => DataType::Date32,
        LogicalType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        LogicalType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
        LogicalType::Char(_) | LogicalType::Varchar(_) | LogicalType::Text => DataType::Utf8,
    }
}

/// A batch of rows as a record batch of [`arrow_schema`].
pub fn record_batch(schema: &SchemaRef, batch: &RowBatch) -> Result<RecordBatch> {
    let arrays = (batch.columns.iter().map(array)).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map_err(arrow_failed)
}

fn arrow_failed(error: arrow_schema::ArrowError) -> Error {
    Error::internal(format!("a result did not become Arrow: {error}"))
}

fn scalars<T: Native + arrow_buffer::ArrowNativeType>(column: &ColumnVector) -> ScalarBuffer<T> {
    ScalarBuffer::from(column.values::<T>().to_vec())
}

fn nulls(column: &ColumnVector) -> Option<NullBuffer> {
    let nulls = column.nulls()?;
    let valid: Vec<u64> = nulls.words().iter().map(|w| !w).collect();
    let bits = BooleanBuffer::new(Buffer::from_vec(valid), 0, column.len());
    Some(NullBuffer::new(bits))
}

fn array(column: &ColumnVector) -> Result<ArrayRef> {
    let valid = nulls(column);
    Ok(match column.ty() {
        LogicalType::Boolean => {
            let bits = column.values::<u8>().iter().map(|&b| b != 0);
            Arc::new(BooleanArray::new(bits.collect(), valid))
        }
        LogicalType::SmallInt => Arc::new(Int16Array::new(scalars(column), valid)),
        LogicalType::Integer => Arc::new(Int32Array::new(scalars(column), valid)),
        LogicalType::BigInt => Arc::new(Int64Array::new(scalars(column), valid)),
        LogicalType::Double => Arc::new(Float64Array::new(scalars(column), valid)),
        LogicalType::Date => Arc::new(Date32Array::new(scalars(column), valid)),
        LogicalType::Timestamp => Arc::new(TimestampMicrosecondArray::new(scalars(column), valid)),
        LogicalType::Decimal { precision, scale } => {
            let values: ScalarBuffer<i128> = match column.native() {
                NativeType::I64 => column.values::<i64>().iter().map(|&v| i128::from(v)).collect(),
                _ => scalars(column),
            };
            let array = Decimal128Array::new(values, valid)
                .with_precision_and_scale(precision, scale as i8)
                .map_err(arrow_failed)?;
            Arc::new(array)
        }
        LogicalType::Interval => {
            let native = column.values::<i128>().iter();
            let values = native.map(|&v| {
                let i = Interval::from_native(v);
                IntervalMonthDayNano::new(i.months, i.days, i.micros.saturating_mul(1000))
            });
            Arc::new(IntervalMonthDayNanoArray::new(values.collect(), valid))
        }
        LogicalType::Char(1) => {
            let point = |&v: &i32| {
                u32::try_from(v)
                    .ok()
                    .and_then(char::from_u32)
                    .unwrap_or('\u{fffd}')
            };
            let mut text = [0; 4];
            let mut builder = StringBuilder::with_capacity(column.len(), column.len());
            for (row, value) in column.values::<i32>().iter().enumerate() {
                match column.is_null(row) {
                    true => builder.append_null(),
                    false => builder.append_value(point(value).encode_utf8(&mut text)),
                }
            }
            Arc::new(builder.finish())
        }
        LogicalType::Char(_) | LogicalType::Varchar(_) | LogicalType::Text => strings(column)?,
    })
}

fn strings(column: &ColumnVector) -> Result<ArrayRef> {
    let bytes: usize = (0..column.len()).map(|row| column.text(row).len()).sum();
    if i32::try_from(bytes).is_err() {
        return Err(Error::unsupported(format!(
            "an Arrow column of {bytes} bytes of text"
        )));
    }
    let mut builder = StringBuilder::with_capacity(column.len(), bytes);
    for row in 0..column.len() {
        match column.is_null(row) {
            true => builder.append_null(),
            false => builder.append_value(column.text(row)),
        }
    }
    Ok(Arc::new(builder.finish()))
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
                LogicalType::Timestamp,
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
        let schema = arrow_schema(&frazil_types::Schema::new(schema));
        let record = record_batch(&schema, &batch).expect("all types have an Arrow form");
        for (array, column) in record.columns().iter().zip(&columns) {
            assert!(array.is_valid(0) && array.is_null(1));
            let text = arrow_cast::display::array_value_to_string(array, 0).expect("displayable");
            assert_eq!(text, column.2);
        }
    }
}
