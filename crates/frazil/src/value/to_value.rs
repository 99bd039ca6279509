//! Rust's values → SQL's.

use super::{Array, ArrayElement, Date, Decimal, Time, Timestamp, TimestampTz, Uuid, Value, array};
use frazil_types::{Interval, LogicalType, Value as RawValue};
use std::borrow::Cow;

/// A Rust type whose values can be those of a parameter.
pub trait ToValue {
    /// The SQL value.
    fn to_value(&self) -> Value;

    /// The values as they are, where cells hold them so: then nothing is copied.
    #[doc(hidden)]
    fn as_raw(values: &[Self]) -> Option<&[RawValue]>
    where
        Self: Sized,
    {
        let _ = values;
        None
    }
}

/// A Rust type with the SQL type that holds all its values.
macro_rules! values {
    ($($rust:ty => $variant:ident;)*) => {$(
        impl From<$rust> for Value {
            fn from(value: $rust) -> Value {
                Value::$variant(value.into())
            }
        }

        impl ToValue for $rust {
            fn to_value(&self) -> Value {
                Value::$variant(self.clone().into())
            }
        }
    )*};
}

values! {
    bool => Boolean;
    i8 => SmallInt;
    u8 => SmallInt;
    i16 => SmallInt;
    u16 => Integer;
    i32 => Integer;
    u32 => BigInt;
    i64 => BigInt;
    f32 => Real;
    f64 => Double;
    String => Text;
    Decimal => Decimal;
    Date => Date;
    Time => Time;
    Timestamp => Timestamp;
    TimestampTz => TimestampTz;
    Interval => Interval;
    Uuid => Uuid;
    Array => Array;
    Vec<u8> => Bytea;
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Value {
        Value::Bytea(bytes.to_owned())
    }
}

impl<T: ArrayElement> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Value {
        Value::Array(array::of_elements(elements))
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl ToValue for Value {
    fn to_value(&self) -> Value {
        self.clone()
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value {
        self.into()
    }
}

impl ToValue for [u8] {
    fn to_value(&self) -> Value {
        self.into()
    }
}

impl<T: ArrayElement + Clone> ToValue for [T] {
    fn to_value(&self) -> Value {
        self.to_vec().into()
    }
}

impl<T: ArrayElement + Clone> ToValue for Vec<T> {
    fn to_value(&self) -> Value {
        self.clone().into()
    }
}

impl ToValue for Cow<'_, str> {
    fn to_value(&self) -> Value {
        (&**self).into()
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Value {
        (**self).to_value()
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
}

impl ToValue for RawValue {
    fn to_value(&self) -> Value {
        Value::of_raw(self, LogicalType::of_value(self))
    }

    fn as_raw(values: &[RawValue]) -> Option<&[RawValue]> {
        Some(values)
    }
}
