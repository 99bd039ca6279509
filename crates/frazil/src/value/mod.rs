//! SQL values as Rust programs hold them. A [`Value`] knows its type, and goes in as it came out: given back as a
//! parameter, it has the type that it had in the result.
//!
//! Inside, a value is a [`RawValue`], whose type is that of its column; this module stands between the two.

mod array;
mod decimal;
mod from_value;
mod moments;
mod to_value;
mod uuid;

pub use array::{Array, ArrayElement};
pub use decimal::Decimal;
pub use from_value::FromValue;
pub use moments::{Date, Time, Timestamp, TimestampTz};
pub use to_value::ToValue;
pub use uuid::Uuid;

use frazil_types::logical_type::DECIMAL_MAX_DIGITS;
use frazil_types::numeric::Numeric;
use frazil_types::value_ops::{CastLength, cast};
use frazil_types::{Interval, LogicalType, Result, Value as RawValue, Zone};
use std::fmt;

/// One SQL value with its type.
///
/// Char, varchar, text, labels of enumerations and rows are [`Value::Text`]. A text and NULL fit a parameter of any type:
/// the text is read as a literal in quotes is. Values compare as Rust's do, so a NaN equals nothing.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// NULL.
    #[default]
    Null,
    /// boolean.
    Boolean(bool),
    /// smallint.
    SmallInt(i16),
    /// integer.
    Integer(i32),
    /// bigint.
    BigInt(i64),
    /// real.
    Real(f32),
    /// double precision.
    Double(f64),
    /// decimal, also called numeric.
    Decimal(Decimal),
    /// text, varchar, char, or the label of an enumeration.
    Text(String),
    /// bytea.
    Bytea(Vec<u8>),
    /// date.
    Date(Date),
    /// time.
    Time(Time),
    /// timestamp.
    Timestamp(Timestamp),
    /// timestamptz: an instant.
    TimestampTz(TimestampTz),
    /// interval.
    Interval(Interval),
    /// uuid.
    Uuid(Uuid),
    /// json: its text.
    Json(String),
    /// jsonb: its text.
    Jsonb(String),
    /// jsonpath: its text.
    JsonPath(String),
    /// An array.
    Array(Array),
    /// oid.
    Oid(u32),
}

impl Value {
    /// The type that the value gives a parameter which nothing else types; `None` for NULL and texts.
    pub fn ty(&self) -> Option<LogicalType> {
        Some(match self {
            Value::Null | Value::Text(_) => return None,
            Value::Boolean(_) => LogicalType::Boolean,
            Value::SmallInt(_) => LogicalType::SmallInt,
            Value::Integer(_) => LogicalType::Integer,
            Value::BigInt(_) => LogicalType::BigInt,
            Value::Real(_) => LogicalType::Real,
            Value::Double(_) => LogicalType::Double,
            Value::Decimal(decimal) => decimal.ty(),
            Value::Bytea(_) => LogicalType::Bytea,
            Value::Date(_) => LogicalType::Date,
            Value::Time(_) => LogicalType::TIME,
            Value::Timestamp(_) => LogicalType::TIMESTAMP,
            Value::TimestampTz(_) => LogicalType::TIMESTAMPTZ,
            Value::Interval(_) => LogicalType::Interval,
            Value::Uuid(_) => LogicalType::Uuid,
            Value::Json(_) => LogicalType::Json,
            Value::Jsonb(_) => LogicalType::Jsonb,
            Value::JsonPath(_) => LogicalType::JsonPath,
            Value::Array(array) => array.ty(),
            Value::Oid(_) => LogicalType::Oid,
        })
    }

    /// True for NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The value of a cell of type `ty`.
    pub fn of_raw(raw: &RawValue, ty: LogicalType) -> Value {
        match (raw, ty) {
            (RawValue::Null, _) => Value::Null,
            (RawValue::Bool(v), _) => Value::Boolean(*v),
            (RawValue::Double(v), LogicalType::Real) => Value::Real(*v as f32),
            (RawValue::Double(v), _) => Value::Double(*v),
            (RawValue::Text(text), _) => Value::Text(text.clone()),
            (RawValue::Interval(interval), _) => Value::Interval(*interval),
            (RawValue::Bytes(bytes), LogicalType::Array(element)) => {
                Value::Array(Array::of_raw(bytes.clone(), element.get()))
            }
            (RawValue::Bytes(_), LogicalType::Json) => Value::Json(raw.display(ty).to_string()),
            (RawValue::Bytes(_), LogicalType::Jsonb) => Value::Jsonb(raw.display(ty).to_string()),
            (RawValue::Bytes(_), LogicalType::JsonPath) => Value::JsonPath(raw.display(ty).to_string()),
            (RawValue::Bytes(_), ty) if ty.kind().is_named_oid() => Value::Text(raw.display(ty).to_string()),
            (RawValue::Bytes(_), LogicalType::Record) => Value::Text(raw.display(ty).to_string()),
            (RawValue::Bytes(bytes), LogicalType::Numeric) => match Numeric::of_bytes(bytes) {
                Ok(number) => Value::Decimal(Decimal::of_raw(
                    number.coefficient(),
                    DECIMAL_MAX_DIGITS,
                    number.scale(),
                )),
                Err(_) => Value::Null,
            },
            (RawValue::Bytes(bytes), _) => Value::Bytea(bytes.clone()),
            (RawValue::Int(v), _) => integer_like(*v, raw, ty),
        }
    }

    /// The value of a cell of type `ty`; a text is not copied.
    pub(crate) fn from_raw(raw: RawValue, ty: LogicalType) -> Value {
        match raw {
            RawValue::Text(text) => Value::Text(text),
            raw => Value::of_raw(&raw, ty),
        }
    }

    /// The value as cells of its type hold it; a text is not copied. The errors of [`Value::to_raw`].
    pub(crate) fn into_raw(self) -> Result<RawValue> {
        match self {
            Value::Text(text) => Ok(RawValue::Text(text)),
            value => value.to_raw(),
        }
    }

    /// The value as cells of its [type](Value::ty) hold it. 22003 for a decimal of more digits than its type, 22P02
    /// for a text that is not JSON or a path.
    pub(crate) fn to_raw(&self) -> Result<RawValue> {
        let read = |text: &String, ty| {
            let text = RawValue::Text(text.clone());
            cast(&text, LogicalType::Text, ty, CastLength::Refuse)
        };
        Ok(match self {
            Value::Null => RawValue::Null,
            Value::Boolean(v) => RawValue::Bool(*v),
            Value::SmallInt(v) => RawValue::Int((*v).into()),
            Value::Integer(v) => RawValue::Int((*v).into()),
            Value::BigInt(v) => RawValue::Int((*v).into()),
            Value::Real(v) => RawValue::Double((*v).into()),
            Value::Double(v) => RawValue::Double(*v),
            Value::Decimal(decimal) => RawValue::Int(decimal.checked()?),
            Value::Text(text) => RawValue::Text(text.clone()),
            Value::Bytea(bytes) => RawValue::Bytes(bytes.clone()),
            Value::Date(date) => RawValue::Int(date.days().into()),
            Value::Time(time) => RawValue::Int(time.micros().into()),
            Value::Timestamp(timestamp) => RawValue::Int(timestamp.micros().into()),
            Value::TimestampTz(instant) => RawValue::Int(instant.micros().into()),
            Value::Interval(interval) => RawValue::Interval(*interval),
            Value::Uuid(uuid) => RawValue::Int(uuid.native()),
            Value::Json(text) => read(text, LogicalType::Json)?,
            Value::Jsonb(text) => read(text, LogicalType::Jsonb)?,
            Value::JsonPath(text) => read(text, LogicalType::JsonPath)?,
            Value::Array(array) => RawValue::Bytes(array.checked()?.to_owned()),
            Value::Oid(v) => RawValue::Int((*v).into()),
        })
    }

    /// Its kind in messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "NULL",
            value => value.ty().map_or("text", LogicalType::name),
        }
    }
}

/// The value of a type that is held as integers.
fn integer_like(v: i128, raw: &RawValue, ty: LogicalType) -> Value {
    match ty {
        LogicalType::SmallInt => Value::SmallInt(v as i16),
        LogicalType::Integer => Value::Integer(v as i32),
        LogicalType::BigInt => Value::BigInt(v as i64),
        LogicalType::Oid => Value::Oid(v as u32),
        LogicalType::Decimal { precision, scale } => Value::Decimal(Decimal::of_raw(v, precision, scale)),
        LogicalType::Date => Value::Date(Date::of_raw(v as i32)),
        LogicalType::Time(_) => Value::Time(Time::of_raw(v as i64)),
        LogicalType::Timestamp(_) => Value::Timestamp(Timestamp::of_raw(v as i64)),
        LogicalType::TimestampTz(..) => Value::TimestampTz(TimestampTz::of_raw(v as i64)),
        LogicalType::Uuid => Value::Uuid(Uuid::of_native(v)),
        // char(1), enumerations, tids and numbers of transactions; the others are never held as integers.
        LogicalType::Char(_)
        | LogicalType::Enum(_)
        | LogicalType::Boolean
        | LogicalType::Real
        | LogicalType::Double
        | LogicalType::Numeric
        | LogicalType::Interval
        | LogicalType::Varchar(_)
        | LogicalType::Text
        | LogicalType::Bytea
        | LogicalType::Json
        | LogicalType::Jsonb
        | LogicalType::JsonPath
        | LogicalType::Record
        | LogicalType::Name
        | LogicalType::InternalChar
        | LogicalType::Regclass
        | LogicalType::Regtype
        | LogicalType::Regproc
        | LogicalType::Regprocedure
        | LogicalType::Regoperator
        | LogicalType::Regnamespace
        | LogicalType::Tid
        | LogicalType::Xid
        | LogicalType::Cid
        | LogicalType::Array(_) => Value::Text(raw.display(ty).to_string()),
    }
}

impl fmt::Display for Value {
    /// As PostgreSQL writes it, instants in UTC; NULL is `NULL`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("NULL"),
            Value::Text(text) | Value::Json(text) | Value::Jsonb(text) | Value::JsonPath(text) => {
                f.write_str(text)
            }
            value => {
                let raw = value.to_raw().map_err(|_| fmt::Error)?;
                let ty = value.ty().unwrap_or(LogicalType::Text).in_zone(Zone::UTC);
                write!(f, "{}", raw.display(ty))
            }
        }
    }
}
