//! What the footer of a Parquet file says of the values of a row group.

use crate::arrow_types::type_of;
use arrow_schema::{DataType, TimeUnit};
use frazil_types::{ColumnVector, CompareOp, LogicalType, NativeType, RestrictionKind, Value};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;

/// What is known of the values of a column in a row group.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    range: Range,
    /// Number of NULLs, if it is said, and number of rows.
    nulls: Option<u64>,
    rows: u64,
}

/// Least and greatest value that is not NULL. Both may lie further out than any value.
#[derive(Clone, Debug, PartialEq)]
enum Range {
    Integers(i128, i128),
    /// NaN apart, which may be there and is greater than all.
    Doubles(f64, f64),
    /// Texts and binaries, which are ordered by their bytes.
    Bytes(Vec<u8>, Vec<u8>),
}

/// What the statistics of a column say, whose values are of `arrow` in the file and become `ty`; `None` where they say nothing that
/// can be used.
pub fn known(column: &ColumnChunkMetaData, arrow: &DataType, ty: LogicalType) -> Option<Known> {
    let statistics = column.statistics()?;
    let range = match statistics {
        Statistics::Int32(of) => integers(*of.min_opt()?, *of.max_opt()?, arrow, ty),
        Statistics::Int64(of) => integers(*of.min_opt()?, *of.max_opt()?, arrow, ty),
        Statistics::Float(of) => doubles((*of.min_opt()?).into(), (*of.max_opt()?).into()),
        Statistics::Double(of) => doubles(*of.min_opt()?, *of.max_opt()?),
        // Those of old writers are of signed bytes.
        Statistics::ByteArray(of) if !statistics.is_min_max_deprecated() && is_bytes(arrow, ty) => {
            let (min, max) = (of.min_opt()?.data(), of.max_opt()?.data());
            (min <= max).then(|| Range::Bytes(min.to_vec(), max.to_vec()))
        }
        Statistics::ByteArray(_)
        | Statistics::Boolean(_)
        | Statistics::Int96(_)
        | Statistics::FixedLenByteArray(_) => None,
    };
    Some(Known {
        range: range?,
        nulls: statistics.null_count_opt(),
        rows: u64::try_from(column.num_values()).ok()?,
    })
}

/// Whether values are compared by the bytes that the file has.
fn is_bytes(arrow: &DataType, ty: LogicalType) -> bool {
    match arrow {
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => type_of(arrow) == Some(ty),
        _ => false,
    }
}

fn doubles(min: f64, max: f64) -> Option<Range> {
    (min <= max).then_some(Range::Doubles(min, max))
}

/// The range of integers, by what they mean.
fn integers<T: Into<i128>>(min: T, max: T, arrow: &DataType, ty: LogicalType) -> Option<Range> {
    let (min, max): (i128, i128) = (min.into(), max.into());
    let scaled = |by: i128| Some((min * by, max * by));
    let (min, max) = match (arrow, ty) {
        (DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64, ty) if ty.is_integer() => {
            scaled(1)
        }
        // Unsigned ones may have been compared as if they were signed.
        (DataType::UInt8 | DataType::UInt16 | DataType::UInt32, ty) if ty.is_integer() && min >= 0 => {
            scaled(1)
        }
        (DataType::Decimal64(_, from) | DataType::Decimal128(_, from), ty)
            if ty.scale().map(i16::from) == Some(i16::from(*from)) && ty.is_numeric() =>
        {
            scaled(1)
        }
        (DataType::Date32, ty) if ty.is_day() => scaled(1),
        (DataType::Timestamp(unit, _), ty) if ty.is_local_time() || ty.is_zoned() => match unit {
            TimeUnit::Second => scaled(1_000_000),
            TimeUnit::Millisecond => scaled(1000),
            TimeUnit::Microsecond => scaled(1),
            TimeUnit::Nanosecond => Some((min.div_euclid(1000), max.div_euclid(1000))),
        },
        _ => None,
    }?;
    (min <= max).then_some(Range::Integers(min, max))
}

impl Known {
    /// What is known of a column whose every value is this one; `None` for NULL, and for values that are not compared here.
    pub fn of_value(value: &Value) -> Option<Known> {
        let range = match value {
            Value::Int(value) => Range::Integers(*value, *value),
            Value::Double(value) => doubles(*value, *value)?,
            Value::Text(value) => Range::Bytes(value.clone().into_bytes(), value.clone().into_bytes()),
            Value::Bytes(value) => Range::Bytes(value.clone(), value.clone()),
            Value::Null | Value::Bool(_) | Value::Interval(_) => return None,
        };
        Some(Known {
            range,
            nulls: Some(0),
            rows: 1,
        })
    }

    /// Bytes that it takes beside itself.
    pub fn heap_bytes(&self) -> usize {
        match &self.range {
            Range::Bytes(min, max) => min.capacity() + max.capacity(),
            Range::Integers(..) | Range::Doubles(..) => 0,
        }
    }

    /// Least and greatest value of integers.
    pub fn integers(&self) -> Option<(i128, i128)> {
        match self.range {
            Range::Integers(min, max) => Some((min, max)),
            Range::Doubles(..) | Range::Bytes(..) => None,
        }
    }

    /// Whether no value satisfies a restriction.
    pub fn excludes(&self, kind: &RestrictionKind) -> bool {
        match kind {
            RestrictionKind::Compare(op, value) => self.excludes_comparison(*op, value),
            RestrictionKind::Between(least, greatest) => {
                self.excludes_comparison(CompareOp::Ge, least)
                    || self.excludes_comparison(CompareOp::Le, greatest)
            }
            RestrictionKind::In(values) => {
                (values.iter()).all(|value| self.excludes_comparison(CompareOp::Eq, value))
            }
            RestrictionKind::IsNull => self.nulls == Some(0),
            RestrictionKind::IsNotNull => self.nulls == Some(self.rows),
            RestrictionKind::Prefix(prefix) => match &self.range {
                Range::Bytes(min, max) => {
                    let prefix = prefix.as_bytes();
                    max.as_slice() < prefix || (min.as_slice() > prefix && !min.starts_with(prefix))
                }
                Range::Integers(..) | Range::Doubles(..) => false,
            },
            RestrictionKind::Like { .. } => false,
        }
    }

    fn excludes_comparison(&self, op: CompareOp, value: &Value) -> bool {
        match (&self.range, value) {
            (Range::Integers(min, max), Value::Int(value)) => is_outside(op, value, min, max, true),
            (Range::Doubles(min, max), Value::Double(value)) if !value.is_nan() => {
                is_outside(op, value, min, max, false)
            }
            (Range::Bytes(min, max), Value::Text(value)) => {
                is_outside(op, value.as_bytes(), min.as_slice(), max, true)
            }
            (Range::Bytes(min, max), Value::Bytes(value)) => {
                is_outside(op, value.as_slice(), min.as_slice(), max, true)
            }
            _ => false,
        }
    }

    /// Whether the values of a column lie within an integer range.
    pub fn holds(&self, column: &ColumnVector) -> bool {
        let Range::Integers(min, max) = self.range else {
            return true;
        };
        match column.native() {
            NativeType::I16 => lie_within(column, column.values::<i16>(), min, max),
            NativeType::I32 => lie_within(column, column.values::<i32>(), min, max),
            NativeType::I64 => lie_within(column, column.values::<i64>(), min, max),
            NativeType::I128 => lie_within(column, column.values::<i128>(), min, max),
            NativeType::Bool | NativeType::F64 | NativeType::String => true,
        }
    }
}

/// Whether no value from `min` to `max` compares so with `value`; `top`: no value lies above `max`.
fn is_outside<T: PartialOrd + ?Sized>(op: CompareOp, value: &T, min: &T, max: &T, top: bool) -> bool {
    match op {
        CompareOp::Eq => value < min || value > max,
        CompareOp::Ne => false,
        CompareOp::Lt => min >= value,
        CompareOp::Le => min > value,
        CompareOp::Gt => top && max <= value,
        CompareOp::Ge => top && max < value,
    }
}

/// Whether all values but NULLs lie within bounds.
fn lie_within<T: Copy + Ord + TryFrom<i128>>(
    column: &ColumnVector,
    values: &[T],
    min: i128,
    max: i128,
) -> bool {
    let (Ok(min), Ok(max)) = (T::try_from(min), T::try_from(max)) else {
        // Bounds that the type does not have say nothing of its values.
        return true;
    };
    let mut outside = false;
    for &value in values {
        outside |= value < min || value > max;
    }
    let is_within = |(row, value): (usize, &T)| column.is_null(row) || (min <= *value && *value <= max);
    !outside || values.iter().enumerate().all(is_within)
}
