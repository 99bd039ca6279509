//! The type of Frazil's that holds all values of an Arrow type, and the one that holds those of two files.

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, IntervalUnit};
use frazil_types::{Error, LogicalType, SqlState};

/// Bytes of a uuid.
pub(crate) const UUID_BYTES: i32 = 16;
/// An error and the row of the array it stands at.
pub(crate) type AtRow<T> = std::result::Result<T, (usize, Error)>;

/// Levels of structs, maps and lists beyond which a column has no type. Documents nest at most 1,000 levels, and
/// each level takes stack.
const MOST_LEVELS: usize = 100;
/// Digits of the widest decimal.
const DECIMAL_DIGITS: u8 = 38;

/// The type that holds all values of an Arrow type; `None` if there is none. Structs, maps, and lists of lists, structs
/// or maps are documents.
pub fn type_of(ty: &DataType) -> Option<LogicalType> {
    typed(ty, MOST_LEVELS)
}

fn typed(ty: &DataType, levels: usize) -> Option<LogicalType> {
    Some(match ty {
        DataType::Boolean => LogicalType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => LogicalType::SmallInt,
        DataType::Int32 | DataType::UInt16 => LogicalType::Integer,
        DataType::Int64 | DataType::UInt32 => LogicalType::BigInt,
        DataType::UInt64 => LogicalType::Decimal {
            precision: 20,
            scale: 0,
        },
        DataType::Float16 | DataType::Float32 => LogicalType::Real,
        DataType::Float64 => LogicalType::Double,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => decimal(*precision, *scale)?,
        DataType::Date32 | DataType::Date64 => LogicalType::Date,
        DataType::FixedSizeBinary(UUID_BYTES) => LogicalType::Uuid,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            LogicalType::Bytea
        }
        DataType::Time32(_) | DataType::Time64(_) => LogicalType::TIME,
        DataType::Interval(IntervalUnit::MonthDayNano) | DataType::Duration(_) => LogicalType::Interval,
        DataType::Timestamp(_, None) => LogicalType::TIMESTAMP,
        // Instants: the zone that the file names is the one of who wrote it.
        DataType::Timestamp(_, Some(_)) => LogicalType::TIMESTAMPTZ,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => LogicalType::Text,
        DataType::Dictionary(_, values) => typed(values, levels.checked_sub(1)?)?,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let element = typed(item.data_type(), levels.checked_sub(1)?)?;
            match is_nested(item.data_type()) {
                true => LogicalType::Jsonb,
                false => element.array()?,
            }
        }
        DataType::Struct(fields) => {
            let levels = levels.checked_sub(1)?;
            let has_type = |field: &arrow_schema::FieldRef| typed(field.data_type(), levels).is_some();
            fields.iter().all(has_type).then_some(LogicalType::Jsonb)?
        }
        DataType::Map(entries, _) => {
            typed(entries.data_type(), levels.checked_sub(1)?)?;
            LogicalType::Jsonb
        }
        DataType::Interval(IntervalUnit::YearMonth | IntervalUnit::DayTime)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::Union(..)
        | DataType::RunEndEncoded(..) => return None,
    })
}

/// The decimal of an Arrow decimal. One of more than 38 digits is taken for one that has 38: its values are checked.
fn decimal(precision: u8, scale: i8) -> Option<LogicalType> {
    let shift = scale.min(0).unsigned_abs();
    let precision = precision.saturating_add(shift).min(DECIMAL_DIGITS);
    let scale = scale.max(0).unsigned_abs();
    (scale <= precision).then_some(LogicalType::Decimal { precision, scale })
}

/// True for structs, maps and lists.
pub fn is_nested(ty: &DataType) -> bool {
    match ty {
        DataType::Dictionary(_, values) => is_nested(values),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::FixedSizeList(..)
        | DataType::Struct(_)
        | DataType::Map(..) => true,
        _ => false,
    }
}

/// True for a column whose values are all NULL, or lists of NULLs: pandas and pyarrow give it no type of its own, so
/// that it has the one that other files say.
pub fn is_open(ty: &DataType) -> bool {
    match ty {
        DataType::Null => true,
        DataType::Dictionary(_, values) => is_open(values),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            is_open(item.data_type())
        }
        _ => false,
    }
}

/// The type of a column that has type `a` in some files and `b` in another: the wider of two numbers, the timestamp of
/// a date and a timestamp; else `a`, and values that are not of type `a` are refused when they are read.
pub fn wider(a: LogicalType, b: LogicalType) -> LogicalType {
    let is_number = |ty: LogicalType| ty.is_numeric();
    match (a.exact_digits(), b.exact_digits()) {
        _ if a == b => a,
        (Some(_), Some(_)) if a.is_integer() && b.is_integer() => match b.kind() > a.kind() {
            true => b,
            false => a,
        },
        (Some((p, s)), Some((q, t))) => {
            let scale = s.max(t);
            let precision = (p - s).max(q - t).saturating_add(scale).min(DECIMAL_DIGITS);
            LogicalType::Decimal { precision, scale }
        }
        _ if is_number(a) && is_number(b) => LogicalType::Double,
        _ if a.is_day() && b.is_local_time() => b,
        _ => a,
    }
}

/// True if values of `own` are read as values of `ty` because other files have these: every one of them is one.
pub fn widens(own: LogicalType, ty: LogicalType) -> bool {
    match ty {
        ty if ty.is_float() => own.is_numeric() && !own.is_float(),
        ty => ty.is_local_time() && own.is_day(),
    }
}

/// The error for an array whose values are not of a type. 42804.
pub(crate) fn mismatch(array: &ArrayRef, ty: LogicalType) -> Error {
    Error::new(
        SqlState::DATATYPE_MISMATCH,
        format!("a column of type {} does not fit type {ty}", array.data_type()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{Field, Fields};
    use std::sync::Arc;

    fn list(item: DataType) -> DataType {
        DataType::List(Arc::new(Field::new("item", item, true)))
    }

    fn structure(field: DataType) -> DataType {
        DataType::Struct(Fields::from(vec![Field::new("f", field, true)]))
    }

    #[test]
    fn nested_types_are_documents() {
        let shown = |ty: &DataType| type_of(ty).map(|ty| ty.to_string());
        for (ty, expected) in [
            (list(DataType::Int64), Some("bigint[]")),
            (list(list(DataType::Int64)), Some("jsonb")),
            (list(structure(DataType::Utf8)), Some("jsonb")),
            (structure(list(DataType::Date32)), Some("jsonb")),
            (
                DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
                Some("text"),
            ),
            (DataType::Decimal256(76, 4), Some("decimal(38,4)")),
            (DataType::Decimal256(76, 40), None),
            (DataType::Decimal128(5, -2), Some("decimal(7,0)")),
            (structure(DataType::Interval(IntervalUnit::DayTime)), None),
        ] {
            assert_eq!(shown(&ty).as_deref(), expected, "{ty}");
        }
        let deep = (0..1000).fold(DataType::Int32, |inner, _| structure(inner));
        assert_eq!(type_of(&deep), None);
    }

    #[test]
    fn two_types_have_a_wider_one() {
        let decimal = |precision, scale| LogicalType::Decimal { precision, scale };
        for (a, b, expected) in [
            (LogicalType::SmallInt, LogicalType::BigInt, LogicalType::BigInt),
            (LogicalType::BigInt, LogicalType::Double, LogicalType::Double),
            (LogicalType::Real, decimal(9, 2), LogicalType::Double),
            (LogicalType::Integer, decimal(9, 2), decimal(12, 2)),
            (decimal(5, 4), decimal(9, 2), decimal(11, 4)),
            (decimal(38, 0), decimal(38, 9), decimal(38, 9)),
            (LogicalType::Date, LogicalType::TIMESTAMP, LogicalType::TIMESTAMP),
            (LogicalType::Text, LogicalType::Text, LogicalType::Text),
        ] {
            assert_eq!(wider(a, b), expected, "{a} and {b}");
            assert_eq!(wider(b, a), expected, "{b} and {a}");
        }
        assert_eq!(wider(LogicalType::Text, LogicalType::Date), LogicalType::Text);
    }
}
