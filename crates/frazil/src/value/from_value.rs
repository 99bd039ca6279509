//! SQL's values → Rust's.

use super::{Array, Date, Decimal, Time, Timestamp, TimestampTz, Uuid, Value};
use frazil_types::{Error, Interval, Result, SqlState};

/// A Rust type that takes the values of a column: [`Row::get`](crate::Row::get).
pub trait FromValue: Sized {
    /// The value as Rust's. 42804 for one of another type, 22003 for a number that does not fit, 22004 for NULL.
    fn from_value(value: Value) -> Result<Self>;
}

fn mismatch(value: &Value, wanted: &str) -> Error {
    if value.is_null() {
        return Error::new(
            SqlState::NULL_VALUE_NOT_ALLOWED,
            format!("NULL is not a value of Rust's {wanted}"),
        )
        .with_hint(format!("take it as an Option<{wanted}>"));
    }
    let message = format!(
        "a value of type {} cannot be taken as Rust's {wanted}",
        value.type_name()
    );
    Error::new(SqlState::DATATYPE_MISMATCH, message)
        .with_hint("cast it in the statement, or take it as a frazil::Value")
}

/// A type that takes the values of some variants as they are.
macro_rules! taken {
    ($($rust:ty, $name:literal: $($variant:ident),+;)*) => {$(
        impl FromValue for $rust {
            fn from_value(value: Value) -> Result<$rust> {
                match value {
                    $(Value::$variant(v) => Ok(v.into()),)+
                    other => Err(mismatch(&other, $name)),
                }
            }
        }
    )*};
}

taken! {
    bool, "bool": Boolean;
    f32, "f32": Real;
    f64, "f64": Double, Real, Integer, SmallInt;
    String, "String": Text, Json, Jsonb, JsonPath;
    Vec<u8>, "Vec<u8>": Bytea;
    Decimal, "Decimal": Decimal;
    Date, "Date": Date;
    Time, "Time": Time;
    Timestamp, "Timestamp": Timestamp;
    TimestampTz, "TimestampTz": TimestampTz;
    Interval, "Interval": Interval;
    Uuid, "Uuid": Uuid;
    Array, "Array": Array;
}

/// Integers take whole numbers of every width that fit.
macro_rules! integers {
    ($($rust:ident)*) => {$(
        impl FromValue for $rust {
            fn from_value(value: Value) -> Result<$rust> {
                let wide = match value {
                    Value::SmallInt(v) => i128::from(v),
                    Value::Integer(v) => i128::from(v),
                    Value::BigInt(v) => i128::from(v),
                    Value::Decimal(v) if v.scale() == 0 => v.unscaled(),
                    other => return Err(mismatch(&other, stringify!($rust))),
                };
                <$rust>::try_from(wide).map_err(|_| {
                    let message = format!("{wide} is out of range for Rust's {}", stringify!($rust));
                    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
                })
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 isize usize);

impl FromValue for Value {
    fn from_value(value: Value) -> Result<Value> {
        Ok(value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Option<T>> {
        match value.is_null() {
            true => Ok(None),
            false => T::from_value(value).map(Some),
        }
    }
}

/// An element of a Rust vector that takes an array. Bytes are not among them: a `Vec<u8>` is a bytea.
macro_rules! vectors {
    ($($element:ty)*) => {$(
        impl FromValue for Vec<$element> {
            fn from_value(value: Value) -> Result<Vec<$element>> {
                elements(value)
            }
        }

        impl FromValue for Vec<Option<$element>> {
            fn from_value(value: Value) -> Result<Vec<Option<$element>>> {
                elements(value)
            }
        }
    )*};
}

vectors!(bool i16 i32 i64 f32 f64 String Vec<u8> Decimal Date Time Timestamp TimestampTz Interval Uuid);

impl FromValue for Vec<Value> {
    fn from_value(value: Value) -> Result<Vec<Value>> {
        elements(value)
    }
}

/// The elements of an array of one dimension, or of none. 42804 for more dimensions.
fn elements<T: FromValue>(value: Value) -> Result<Vec<T>> {
    let Value::Array(array) = value else {
        return Err(mismatch(&value, "Vec"));
    };
    let dimensions = array.dimensions()?.len();
    if dimensions > 1 {
        let message = format!("an array of {dimensions} dimensions cannot be taken as Rust's Vec");
        return Err(Error::new(SqlState::DATATYPE_MISMATCH, message).with_hint("take it as a frazil::Array"));
    }
    array.values()?.into_iter().map(T::from_value).collect()
}
