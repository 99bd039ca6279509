//! Numbers, dates and times of Arrow → columns, each value checked.

use crate::arrow_types::{AtRow, mismatch};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};
use frazil_types::{
    ColumnVector, Error, LogicalType, NativeType, SqlState, Value, decimal,
    value_ops::{self, CastLength},
};

const DAY_MILLISECONDS: i64 = 24 * 3600 * 1000;

/// Numbers, dates and times as whole numbers of a type; `known` as of `column_of`.
pub(crate) fn integers(
    array: &ArrayRef,
    ty: LogicalType,
    known: Option<(i128, i128)>,
) -> AtRow<ColumnVector> {
    let scale = ty.scale();
    match (array.data_type(), scale) {
        (DataType::Int8, Some(s)) => scaled::<Int8Type>(array, ty, (0, s), known),
        (DataType::Int16, Some(s)) => scaled::<Int16Type>(array, ty, (0, s), known),
        (DataType::Int32, Some(s)) => scaled::<Int32Type>(array, ty, (0, s), known),
        (DataType::Int64, Some(s)) => scaled::<Int64Type>(array, ty, (0, s), known),
        (DataType::UInt8, Some(s)) => scaled::<UInt8Type>(array, ty, (0, s), known),
        (DataType::UInt16, Some(s)) => scaled::<UInt16Type>(array, ty, (0, s), known),
        (DataType::UInt32, Some(s)) => scaled::<UInt32Type>(array, ty, (0, s), known),
        (DataType::UInt64, Some(s)) => scaled::<UInt64Type>(array, ty, (0, s), known),
        (DataType::Decimal32(_, from), Some(s)) => decimals::<Decimal32Type>(array, ty, (*from, s), known),
        (DataType::Decimal64(_, from), Some(s)) => decimals::<Decimal64Type>(array, ty, (*from, s), known),
        (DataType::Decimal128(_, from), Some(s)) => decimals::<Decimal128Type>(array, ty, (*from, s), known),
        (DataType::Decimal256(_, from), Some(s)) if *from >= 0 => {
            let from = from.unsigned_abs();
            write::<Decimal256Type>(array, ty, |v| decimal::rescale(v.to_i128()?, from, s))
        }
        (DataType::Date64, None) if ty.is_day() => {
            write::<Date64Type>(array, ty, |v| Some(v.div_euclid(DAY_MILLISECONDS).into()))
        }
        (DataType::Date32, None) if ty.is_day() => as_they_are::<Date32Type>(array, ty, known),
        (DataType::Time32(TimeUnit::Second), None) if ty.is_time_of_day() => {
            write::<Time32SecondType>(array, ty, |v| Some(i128::from(v) * 1_000_000))
        }
        (DataType::Time32(_), None) if ty.is_time_of_day() => {
            write::<Time32MillisecondType>(array, ty, |v| Some(i128::from(v) * 1000))
        }
        (DataType::Time64(TimeUnit::Microsecond), None) if ty.is_time_of_day() => {
            as_they_are::<Time64MicrosecondType>(array, ty, known)
        }
        (DataType::Time64(_), None) if ty.is_time_of_day() => {
            write::<Time64NanosecondType>(array, ty, |v| Some(v.div_euclid(1000).into()))
        }
        (DataType::Timestamp(unit, _), None) if (ty.is_local_time() || ty.is_zoned()) => {
            timestamps(array, ty, *unit, known)
        }
        _ => Err((0, mismatch(array, ty))),
    }
}

/// Decimals; a negative scale counts the zeros in front of the point that are left out.
fn decimals<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    ty: LogicalType,
    (from, to): (i8, u8),
    known: Option<(i128, i128)>,
) -> AtRow<ColumnVector>
where
    T::Native: Into<i128>,
{
    match u8::try_from(from) {
        Ok(from) => scaled::<T>(array, ty, (from, to), known),
        Err(_) => write::<T>(array, ty, |v| {
            decimal::rescale(v.into(), 0, to + from.unsigned_abs())
        }),
    }
}

/// Numbers with so many digits of a fraction, as numbers with so many.
fn scaled<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    ty: LogicalType,
    (from, to): (u8, u8),
    known: Option<(i128, i128)>,
) -> AtRow<ColumnVector>
where
    T::Native: Into<i128>,
{
    if from == to {
        return as_they_are::<T>(array, ty, known);
    }
    write::<T>(array, ty, |v| decimal::rescale(v.into(), from, to))
}

fn timestamps(
    array: &ArrayRef,
    ty: LogicalType,
    unit: TimeUnit,
    known: Option<(i128, i128)>,
) -> AtRow<ColumnVector> {
    match unit {
        TimeUnit::Second => write::<TimestampSecondType>(array, ty, |v| i128::from(v).checked_mul(1_000_000)),
        TimeUnit::Millisecond => {
            write::<TimestampMillisecondType>(array, ty, |v| i128::from(v).checked_mul(1000))
        }
        TimeUnit::Microsecond => as_they_are::<TimestampMicrosecondType>(array, ty, known),
        TimeUnit::Nanosecond => {
            write::<TimestampNanosecondType>(array, ty, |v| Some(v.div_euclid(1000).into()))
        }
    }
}

/// Values that mean the same in the type; `known` as of [`column_of`].
fn as_they_are<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    ty: LogicalType,
    known: Option<(i128, i128)>,
) -> AtRow<ColumnVector>
where
    T::Native: Into<i128>,
{
    match copied::<T>(array, ty, known) {
        Some(column) => Ok(column),
        None => write::<T>(array, ty, |v| Some(v.into())),
    }
}

/// The values as they are, if the type has cells of their size and all of them, those beneath NULLs too.
fn copied<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    ty: LogicalType,
    known: Option<(i128, i128)>,
) -> Option<ColumnVector>
where
    T::Native: Into<i128>,
{
    let values = array.as_primitive::<T>().values();
    let (least, greatest) = ty.range()?;
    let is_within = |(low, high): (i128, i128)| least <= low && high <= greatest;
    let unused = 128 - 8 * size_of::<T::Native>();
    let cells = (i128::MIN >> unused, i128::MAX >> unused);
    if !is_within(cells) && !known.is_some_and(is_within) {
        let (first, rest) = values.split_first()?;
        let (mut low, mut high) = (*first, *first);
        for &value in rest {
            low = if value < low { value } else { low };
            high = if value > high { value } else { high };
        }
        if !is_within((low.into(), high.into())) {
            return None;
        }
    }
    let values = values.inner();
    match (ty.native(), &T::DATA_TYPE) {
        (NativeType::I16, DataType::Int16) => Some(ColumnVector::of_slice::<i16>(ty, values.typed_data())),
        (NativeType::I32, DataType::Int32 | DataType::Date32) => {
            Some(ColumnVector::of_slice::<i32>(ty, values.typed_data()))
        }
        (
            NativeType::I64,
            DataType::Int64
            | DataType::Decimal64(..)
            | DataType::Time64(TimeUnit::Microsecond)
            | DataType::Timestamp(TimeUnit::Microsecond, _),
        ) => Some(ColumnVector::of_slice::<i64>(ty, values.typed_data())),
        _ => None,
    }
}

/// Writes every value that is not NULL through `f`, range-checked for the type.
fn write<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    ty: LogicalType,
    f: impl Fn(T::Native) -> Option<i128>,
) -> AtRow<ColumnVector> {
    let source: &PrimitiveArray<T> = array.as_primitive();
    let range = ty.range().unwrap_or((0, 0));
    let mut out = ColumnVector::new(ty, array.len());
    out.resize(array.len());
    macro_rules! fill {
        ($native:ty) => {
            for (row, (to, &from)) in out
                .values_mut::<$native>()
                .iter_mut()
                .zip(source.values())
                .enumerate()
            {
                match f(from) {
                    Some(v) if range.0 <= v && v <= range.1 => *to = v as $native,
                    _ if source.is_null(row) => {}
                    _ => {
                        let message = format!("value {from:?} is out of range for type {ty}");
                        return Err((row, Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)));
                    }
                }
            }
        };
    }
    match ty.native() {
        NativeType::I16 => fill!(i16),
        NativeType::I32 => fill!(i32),
        NativeType::I64 => fill!(i64),
        NativeType::I128 => fill!(i128),
        _ => return Err((0, mismatch(array, ty))),
    }
    Ok(out)
}

/// Floats, and whole numbers of a column that has floats in other files.
pub(crate) fn doubles(array: &ArrayRef, ty: LogicalType) -> AtRow<ColumnVector> {
    let mut out = match array.data_type() {
        DataType::Float64 => ColumnVector::of_slice::<f64>(ty, array.as_primitive::<Float64Type>().values()),
        DataType::Float32 => {
            let from = array.as_primitive::<Float32Type>().values();
            let mut out = ColumnVector::zeroed(ty, from.len());
            let to = out.values_mut::<f64>();
            to.iter_mut().zip(from).for_each(|(t, &f)| *t = f.into());
            out
        }
        DataType::Float16 => {
            let from = array.as_primitive::<Float16Type>().values();
            let mut out = ColumnVector::zeroed(ty, from.len());
            let to = out.values_mut::<f64>();
            to.iter_mut().zip(from).for_each(|(t, &f)| *t = f.to_f64());
            out
        }
        _ => return Err((0, mismatch(array, ty))),
    };
    let to = out.values_mut::<f64>();
    let double = LogicalType::of_value(&Value::Double(0.0));
    if ty != double {
        for (row, value) in to.iter_mut().enumerate().filter(|(row, _)| array.is_valid(*row)) {
            let real = value_ops::cast(&Value::Double(*value), double, ty, CastLength::Refuse);
            *value = match real.map_err(|e| (row, e))? {
                Value::Double(real) => real,
                other => return Err((row, Error::internal(format!("{other:?} as {ty}")))),
            };
        }
    }
    Ok(out)
}
