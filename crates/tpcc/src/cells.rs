//! Values of parameters and results.

use frazil::{Decimal, Error, Result, SqlState, Timestamp, Value};

/// A decimal of two places from its cents.
pub fn money(cents: i64) -> Value {
    decimal(cents, 2)
}

/// A decimal of four places from its ten-thousandths: taxes and discounts.
pub fn rate(ten_thousandths: i32) -> Value {
    decimal(ten_thousandths.into(), 4)
}

fn decimal(unscaled: i64, scale: u8) -> Value {
    // Eighteen digits hold all amounts of TPC-C: none of them has more than twelve.
    Decimal::with_precision(unscaled.into(), 18, scale).map_or(Value::Null, Value::Decimal)
}

/// A timestamp from its microseconds since 1970.
pub fn timestamp(micros: i64) -> Value {
    Timestamp::from_micros(micros).map_or(Value::Null, Value::Timestamp)
}

/// A text.
pub fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// The integer in a cell; of a decimal, its unscaled number. An engine without decimals answers with integers.
pub fn unscaled(cell: &Value) -> Result<i64> {
    match cell {
        Value::Decimal(decimal) => (i64::try_from(decimal.unscaled())).map_err(|_| {
            Error::new(
                SqlState::NUMERIC_OUT_OF_RANGE,
                format!("{decimal} is out of range"),
            )
        }),
        Value::BigInt(number) => Ok(*number),
        Value::Integer(number) => Ok((*number).into()),
        other => Err(Error::new(
            SqlState::DATATYPE_MISMATCH,
            format!("a statement of TPC-C returned {other:?} in place of a number"),
        )),
    }
}

/// The text in a cell.
pub fn text_of(cell: &Value) -> Result<&str> {
    match cell {
        Value::Text(text) => Ok(text),
        other => Err(Error::new(
            SqlState::DATATYPE_MISMATCH,
            format!("a statement of TPC-C returned {other:?} in place of a text"),
        )),
    }
}
