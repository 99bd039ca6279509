//! real: IEEE 754, 32 bits. Values are held as doubles, each of which is a 32-bit number: order, hash and comparison with
//! doubles are those of doubles, and arithmetic is that of doubles, rounded.

use super::{
    CatalogRow, Category, ConstantForm, Counts, Kind, Measures, NativeOf, Order, TypeInfo, show_plain,
};
use super::wire;
use crate::value::write_float;
use crate::value_ops::{invalid, is_lost, trimmed};
use crate::{Error, LogicalType, NativeType, Result, SqlState, Value};
use std::fmt;

pub(super) static INFO: TypeInfo = TypeInfo {
    kind: Kind::Real,
    oid: 700,
    typname: "float4",
    name: "real",
    typlen: 4,
    catalog: CatalogRow::base(
        "N",
        ["i", "p"],
        [(200, "float4in"), (201, "float4out"), (2424, "float4recv"), (2425, "float4send")],
    ),
    modifier: |_| -1,
    measures: |_| Measures::float(24),
    array_oid: 1021,
    array_name: "real[]",
    sql_names: &["real", "float4", "float32"],
    category: Category::Numeric,
    is_preferred: false,
    is_stored: true,
    has_extremes: true,
    sum: Some,
    native: NativeOf::Always(NativeType::F64),
    counts: Counts::Nothing,
    document: None,
    sent_text: None,
    order: Order::Native,
    constant: ConstantForm::Bare,
    show: show_plain,
    of_modifiers: |m| m.is_empty().then_some(LogicalType::Real),
    range: |_| None,
    overflow_state: SqlState::NUMERIC_OUT_OF_RANGE,
    overflow: |_| Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "value out of range: overflow"),
    read,
    write,
    send: wire::send_real,
    receive: wire::receive_real,
};

/// The exponents from which on a number of so many digits before the point is written with an exponent: PostgreSQL's FLT_DIG.
const DIGITS: i32 = 6;

/// Rounds once, to 32 bits: the nearest double's nearest real may be another one. Errors 22P02, 22003.
fn read(text: &str, ty: LogicalType) -> Result<Value> {
    let word = trimmed(text);
    let value: f32 = word.parse().map_err(|_| invalid(ty, text))?;
    if is_lost(word, value.into()) {
        let message = format!("\"{text}\" is out of range for type real");
        return Err(Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
    }
    Ok(Value::Double(value.into()))
}

fn write(f: &mut dyn fmt::Write, value: &Value, _: LogicalType) -> fmt::Result {
    let Value::Double(v) = value else {
        return Err(fmt::Error);
    };
    write_float(f, *v as f32, *v, DIGITS)
}

/// The nearest real of a double. Errors 22003: for a number that would be infinite, or 0.
pub fn of_double(v: f64) -> Result<f64> {
    let real = f64::from(v as f32);
    let out_of_range = |what| {
        let message = format!("value out of range: {what}");
        Err(Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message))
    };
    if real.is_infinite() && v.is_finite() {
        return out_of_range("overflow");
    }
    if real == 0.0 && v != 0.0 {
        return out_of_range("underflow");
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_shortest_text_as_postgresql_does() {
        for (text, shown) in [
            ("0.1", "0.1"),
            ("100000", "100000"),
            ("999999.5", "999999.5"),
            ("1000000", "1e+06"),
            ("123456.7", "123456.7"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1e-45", "1e-45"),
            ("1234567", "1.234567e+06"),
            ("16777217", "1.6777216e+07"),
            ("3.4e38", "3.4e+38"),
            ("-0", "-0"),
            ("inf", "Infinity"),
            ("-Infinity", "-Infinity"),
            ("nan", "NaN"),
        ] {
            let value = read(text, LogicalType::Real).unwrap();
            assert_eq!(value.display(LogicalType::Real).to_string(), shown, "{text}");
        }
        for (text, state) in [("1e39", "22003"), ("1e-50", "22003"), ("abc", "22P02"), ("", "22P02")] {
            assert_eq!(read(text, LogicalType::Real).unwrap_err().state().0, state, "{text}");
        }
    }

    #[test]
    fn doubles_beyond_reals_are_refused() {
        for v in [1e39, -1e39, 1e-50] {
            assert_eq!(of_double(v).unwrap_err().state().0, "22003", "{v}");
        }
        for v in [0.0, -0.0, 1.5, f64::INFINITY, 1e-45] {
            assert_eq!(of_double(v).unwrap(), f64::from(v as f32), "{v}");
        }
        assert!(of_double(f64::NAN).unwrap().is_nan());
    }
}
