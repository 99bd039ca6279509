//! One SQL value by itself: a constant, a parameter, a default, a cell of a small result. Never the
//! form in which rows are processed.

use crate::{Interval, LogicalType, NativeType};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// One value. Integers, dates, timestamps, decimals (unscaled) and char(1) (code point) are held as
/// `Int`; its type stands beside it wherever it is used.
///
/// Values are equal here when nothing can tell one from the other: a NaN from no other NaN, but 0 from −0. What SQL
/// says of them is [`order`](crate::value_ops::order)'s.
#[derive(Clone, Debug)]
pub enum Value {
    /// NULL.
    Null,
    /// A boolean.
    Bool(bool),
    /// Any integer-like value: see above.
    Int(i128),
    /// A double.
    Double(f64),
    /// A string.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An interval.
    Interval(Interval),
}

/// The bits of a double, one pattern for all NaNs.
fn double_bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN } else { value }.to_bits()
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Double(a), Value::Double(b)) => double_bits(*a) == double_bits(*b),
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Interval(a), Value::Interval(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        discriminant(self).hash(hasher);
        match self {
            Value::Null => {}
            Value::Bool(b) => b.hash(hasher),
            Value::Int(v) => v.hash(hasher),
            Value::Double(d) => double_bits(*d).hash(hasher),
            Value::Text(text) => text.hash(hasher),
            Value::Bytes(bytes) => bytes.hash(hasher),
            Value::Interval(interval) => interval.hash(hasher),
        }
    }
}

impl Value {
    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The integer-like value, if it is one.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Value::Int(v) => Some(*v),
            Value::Bool(b) => Some(i128::from(*b)),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(t) => Some(t),
            _ => None,
        }
    }

    /// The bytes of what is held as a string: of a text, or bytes themselves.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Text(text) => Some(text.as_bytes()),
            Value::Bytes(bytes) => Some(bytes),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Double(_) | Value::Interval(_) => None,
        }
    }

    /// The value of a type that is held as strings.
    ///
    /// # Safety
    /// Unless the type [is binary](LogicalType::is_binary), the bytes are UTF-8.
    #[inline]
    pub unsafe fn of_string(bytes: &[u8], ty: LogicalType) -> Value {
        match ty.is_binary() {
            true => Value::Bytes(bytes.to_owned()),
            // SAFETY: by contract.
            false => Value::Text(unsafe { std::str::from_utf8_unchecked(bytes) }.to_owned()),
        }
    }

    /// Its form in a box or CSV, as PostgreSQL writes it; NULL is the empty string.
    pub fn display(&self, ty: LogicalType) -> ValueDisplay<'_> {
        ValueDisplay { value: self, ty }
    }

    /// Whether a value of `ty` is held as an integer in this enum.
    pub fn is_int_like(ty: LogicalType) -> bool {
        ty.native().is_integer() && !ty.is_span()
    }

    /// The value of a type whose native bytes, lowest first, begin with these two words. Panics for a type that is held as a
    /// string: its words are no value.
    #[inline]
    pub fn from_words(words: [u64; 2], ty: LogicalType) -> Value {
        let [low, high] = words;
        match ty.native() {
            NativeType::Bool => Value::Bool(low as u8 != 0),
            NativeType::I16 => Value::Int((low as i16).into()),
            NativeType::I32 => Value::Int((low as i32).into()),
            NativeType::I64 => Value::Int((low as i64).into()),
            NativeType::F64 => Value::Double(f64::from_bits(low)),
            NativeType::I128 => Value::from_wide(i128::from(high as i64) << u64::BITS | i128::from(low), ty),
            NativeType::String => unreachable!("a string's words are no value"),
        }
    }

    /// The value's native bytes, lowest first, as [`Value::from_words`] takes them; of NULL zeros. Panics for a text or bytes.
    #[inline]
    pub fn to_wide(&self) -> i128 {
        match self {
            Value::Null => 0,
            Value::Bool(b) => i128::from(*b),
            Value::Int(v) => *v,
            Value::Double(d) => d.to_bits().into(),
            Value::Interval(i) => i.to_native(),
            Value::Text(_) | Value::Bytes(_) => unreachable!("a string has no native bytes of its own"),
        }
    }

    /// The value of a type that is held in 16 bytes and is not a string.
    #[inline]
    pub fn from_wide(native: i128, ty: LogicalType) -> Value {
        match ty.is_span() {
            true => Value::Interval(Interval::from_native(native)),
            false => Value::Int(native),
        }
    }
}

/// Formats a [`Value`] of a type.
pub struct ValueDisplay<'a> {
    value: &'a Value,
    ty: LogicalType,
}

impl fmt::Display for ValueDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Null => Ok(()),
            value => (self.ty.info().write)(f, value, self.ty),
        }
    }
}

/// Writes a double as PostgreSQL does: the shortest text that reads back as the same value, and of two that are as near the even one.
pub fn write_double(f: &mut dyn fmt::Write, v: f64) -> fmt::Result {
    write_float(f, v, v, 15)
}

/// Writes `shortest`, of which `v` is the value as a double; with an exponent if it has more than `digits` digits before the
/// point, or four zeros behind it.
pub(crate) fn write_float(
    f: &mut dyn fmt::Write,
    shortest: impl fmt::Display + fmt::LowerExp,
    v: f64,
    digits: i32,
) -> fmt::Result {
    if v.is_nan() {
        return f.write_str("NaN");
    }
    if v.is_infinite() {
        return f.write_str(if v > 0.0 { "Infinity" } else { "-Infinity" });
    }
    let text = format!("{shortest:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let is_odd = is_rounded_to_odd(v, mantissa);
    if (-4..digits).contains(&exponent) {
        return f.write_str(&with_last_digit(format!("{shortest}"), is_odd));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let mantissa = with_last_digit(mantissa.to_owned(), is_odd);
    write!(f, "{mantissa}e{sign}{:02}", exponent.abs())
}

/// Most bits behind the point of a double whose exact digits are at most 18: 5^25 has 18.
const MOST_FRACTION_BITS: i32 = 25;

/// True if the digits of `v`, the shortest ones, lie as near as those with the last digit less by one, and that digit is odd: the standard
/// library rounds up there. `mantissa`: the digits, with a point.
fn is_rounded_to_odd(v: f64, mantissa: &str) -> bool {
    let (fraction, exponent) = (v.to_bits() & ((1 << 52) - 1), (v.to_bits() >> 52 & 0x7ff) as i32);
    let whole = if exponent == 0 {
        fraction
    } else {
        fraction | 1 << 52
    };
    let zeros = whole.trailing_zeros() as i32;
    let bits = 1075 - exponent.max(1) - zeros;
    if whole == 0 || !(2..=MOST_FRACTION_BITS).contains(&bits) {
        return false;
    }
    // v is an odd number of 2^-bits: its exact digits end in 5.
    let exact = u128::from(whole >> zeros) * 5_u128.pow(bits as u32);
    let shown = mantissa.bytes().filter(u8::is_ascii_digit);
    let shown = shown.fold(0_u128, |n, digit| n * 10 + u128::from(digit - b'0'));
    shown % 2 == 1 && exact / 10 + 1 == shown
}

/// A text whose last digit, an odd one, is one less if `is_odd`.
fn with_last_digit(mut text: String, is_odd: bool) -> String {
    if is_odd && let Some(last @ '1'..='9') = text.pop() {
        text.push((last as u8 - 1) as char);
    }
    text
}
