//! Types across the border: SQL type names, our logical types, and the Arrow types that stand for them
//! inside DataFusion.
//!
//! DataFusion resolves names and checks that operators exist for the kinds of their operands; it
//! must see strings, numbers and dates as such. It never decides a type of ours: [`crate::query`]
//! computes those from the leaves up.

use arrow::datatypes::{DataType, Field, FieldRef, IntervalUnit, TimeUnit};
use datafusion_expr::planner::TypePlanner;
use datafusion_sql::sqlparser::ast::{
    CharacterLength, DataType as SqlDataType, ExactNumberInfo, TimezoneInfo,
};
use frazil_types::{Error, LogicalType, Result, SqlState};
use std::collections::HashMap;
use std::sync::Arc;

const KEY: &str = "frazil";

/// The Arrow type that stands for a type of ours in DataFusion.
pub(crate) fn to_arrow(ty: LogicalType) -> DataType {
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

/// Our type of an Arrow type, where one matches.
pub(crate) fn of_arrow(ty: &DataType) -> Option<LogicalType> {
    Some(match ty {
        DataType::Boolean => LogicalType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => LogicalType::SmallInt,
        DataType::Int32 | DataType::UInt16 => LogicalType::Integer,
        DataType::Int64 | DataType::UInt32 | DataType::UInt64 => LogicalType::BigInt,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => LogicalType::Double,
        DataType::Decimal128(p, s) if *s >= 0 => LogicalType::Decimal {
            precision: *p,
            scale: *s as u8,
        },
        DataType::Date32 => LogicalType::Date,
        DataType::Timestamp(TimeUnit::Microsecond, None) => LogicalType::Timestamp,
        DataType::Interval(_) => LogicalType::Interval,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => LogicalType::Text,
        _ => return None,
    })
}

/// Our type of a SQL type name. 0A000 for what is not supported, 22023 for impossible lengths.
pub(crate) fn of_sql(ty: &SqlDataType) -> Result<LogicalType> {
    use SqlDataType as T;
    Ok(match ty {
        T::Bool | T::Boolean => LogicalType::Boolean,
        T::SmallInt(None) | T::Int2(None) => LogicalType::SmallInt,
        T::Int(None) | T::Integer(None) | T::Int4(None) => LogicalType::Integer,
        T::BigInt(None) | T::Int8(None) => LogicalType::BigInt,
        T::Double(_) | T::DoublePrecision | T::Float8 | T::Float64 => LogicalType::Double,
        T::Float(ExactNumberInfo::None) => LogicalType::Double,
        T::Float(ExactNumberInfo::Precision(p)) if (25..=53).contains(p) => LogicalType::Double,
        T::Decimal(info) | T::Numeric(info) | T::Dec(info) => of_number_info(info)?,
        T::Date => LogicalType::Date,
        T::Timestamp(None | Some(6), TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
            LogicalType::Timestamp
        }
        T::Interval { fields: None, .. } => LogicalType::Interval,
        T::Char(length) | T::Character(length) => LogicalType::Char(of_length(length, ty)?.unwrap_or(1)),
        T::Varchar(length) | T::CharacterVarying(length) | T::CharVarying(length) => {
            of_length(length, ty)?.map_or(LogicalType::Text, LogicalType::Varchar)
        }
        T::Custom(name, arguments) if name.to_string().eq_ignore_ascii_case("bpchar") => {
            match arguments.first().map(|a| a.parse::<u32>()) {
                None => LogicalType::Text,
                Some(Ok(n)) if n > 0 => LogicalType::Char(n),
                Some(_) => return Err(Error::unsupported(format!("type {ty}"))),
            }
        }
        T::Text | T::String(None) => LogicalType::Text,
        other => {
            return Err(Error::unsupported(format!("type {other}")).with_hint(
                "the types are boolean, smallint, integer, bigint, double precision, decimal(p,s), date, \
                 timestamp, interval, char(n), varchar(n) and text",
            ));
        }
    })
}

fn of_number_info(info: &ExactNumberInfo) -> Result<LogicalType> {
    let (precision, scale) = match *info {
        // PostgreSQL's unconstrained numeric has no fixed scale; ours always has one.
        ExactNumberInfo::None => (38, 10),
        ExactNumberInfo::Precision(p) => (p, 0),
        ExactNumberInfo::PrecisionAndScale(p, s) => (p, s),
    };
    if !(1..=38).contains(&precision) || scale < 0 || scale as u64 > precision {
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("decimal({precision},{scale}): precision must be 1 to 38, scale 0 to the precision"),
        ));
    }
    Ok(LogicalType::Decimal {
        precision: precision as u8,
        scale: scale as u8,
    })
}

fn of_length(length: &Option<CharacterLength>, ty: &SqlDataType) -> Result<Option<u32>> {
    match length {
        None => Ok(None),
        Some(CharacterLength::IntegerLength { length, .. }) if (1..=10_485_760).contains(length) => {
            Ok(Some(*length as u32))
        }
        Some(_) => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("{ty}: the length must be 1 to 10485760"),
        )),
    }
}

/// Our type of a CAST's target: exact where the SQL named it, see [`Types`].
pub(crate) fn of_field(field: &Field) -> Result<LogicalType> {
    let kept = field.metadata().get(KEY).and_then(|text| decode(text));
    kept.or_else(|| of_arrow(field.data_type()))
        .ok_or_else(|| Error::unsupported(format!("type {}", field.data_type())))
}

fn decode(text: &str) -> Option<LogicalType> {
    let (kind, n) = text.split_once(' ')?;
    let n = n.parse().ok()?;
    match kind {
        "char" => Some(LogicalType::Char(n)),
        "varchar" => Some(LogicalType::Varchar(n)),
        _ => None,
    }
}

/// Gives DataFusion our types for SQL type names; lengths of strings travel as metadata.
#[derive(Debug)]
pub(crate) struct Types;

impl TypePlanner for Types {
    fn plan_type_field(&self, sql_type: &SqlDataType) -> datafusion_common::Result<Option<FieldRef>> {
        let ty = of_sql(sql_type).map_err(crate::errors::external)?;
        let field = Field::new("", to_arrow(ty), true);
        let kept = match ty {
            LogicalType::Char(n) => format!("char {n}"),
            LogicalType::Varchar(n) => format!("varchar {n}"),
            _ => return Ok(Some(Arc::new(field))),
        };
        let metadata = HashMap::from([(KEY.to_string(), kept)]);
        Ok(Some(Arc::new(field.with_metadata(metadata))))
    }
}
