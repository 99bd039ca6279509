//! Values given for `$1`, `$2` and so on, made values of the types the statement wants.

use frazil_frontend::HiddenParameter;
use frazil_types::value_ops::{self, CastLength};
use frazil_types::{Error, LogicalType, Result, SqlState, Value, decimal};
use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

/// The value as one of type `ty`; 22003, 22P02, 22007 if it is none.
pub fn convert(value: &Value, ty: LogicalType) -> Result<Value> {
    match (value, ty) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Int(v), LogicalType::Double) => Ok(Value::Double(*v as f64)),
        (Value::Int(v), LogicalType::Decimal { precision, scale }) => {
            let scaled = decimal::rescale(*v, 0, scale).ok_or_else(|| decimal::overflow(precision, scale))?;
            decimal::check_precision(scaled, precision, scale).map(Value::Int)
        }
        (Value::Int(v), ty) if ty.is_integer() => value_ops::check_range(*v, ty).map_err(|e| {
            let message = format!("value \"{v}\" is out of range for type {ty}");
            Error::new(e.state(), message)
        }),
        (Value::Double(_), LogicalType::Double)
        | (Value::Bool(_), LogicalType::Boolean)
        | (Value::Interval(_), LogicalType::Interval) => Ok(value.clone()),
        (Value::Double(v), ty) if ty.is_numeric() => parse_text(&v.to_string(), ty),
        (Value::Text(text), ty) => parse_text(text, ty),
        // As what is assigned to a column of text.
        (value, ty) if ty.is_string() => {
            let written = value_ops::cast(value, own_type(value), LogicalType::Text, CastLength::Refuse)?;
            match written {
                Value::Text(text) => parse_text(&text, ty),
                other => Ok(other),
            }
        }
        (other, ty) => Err(Error::new(
            SqlState::DATATYPE_MISMATCH,
            format!("a parameter of type {ty} cannot be {other:?}"),
        )),
    }
}

fn parse_text(text: &str, ty: LogicalType) -> Result<Value> {
    match ty {
        LogicalType::Char(1) => {
            let mut chars = text.trim_end_matches(' ').chars();
            match (chars.next(), chars.next()) {
                (first, None) => Ok(Value::Int(first.map_or(32, |c| i128::from(u32::from(c))))),
                _ => Err(Error::new(
                    SqlState::STRING_TRUNCATION,
                    format!("value too long for type {ty}"),
                )),
            }
        }
        LogicalType::Char(n) => fit(text.trim_end_matches(' '), n, ty).map(Value::Text),
        LogicalType::Varchar(n) => fit(text, n, ty).map(Value::Text),
        LogicalType::Text => Ok(Value::Text(text.to_owned())),
        _ => value_ops::read(text, ty),
    }
}

/// A text of at most `n` characters: blanks beyond them are cut, anything else there is 22001.
fn fit(text: &str, n: u32, ty: LogicalType) -> Result<String> {
    let cut = text
        .char_indices()
        .nth(n as usize)
        .map_or(text.len(), |(at, _)| at);
    match text[cut..].bytes().all(|b| b == b' ') {
        true => Ok(text[..cut].to_owned()),
        false => Err(Error::new(
            SqlState::STRING_TRUNCATION,
            format!("value too long for type {ty}"),
        )),
    }
}

/// Whether a value is one of a type as it is: [`convert`] would make a copy of it.
fn is_converted(value: &Value, ty: LogicalType) -> bool {
    match (value, ty) {
        (Value::Null, _)
        | (Value::Double(_), LogicalType::Double)
        | (Value::Bool(_), LogicalType::Boolean)
        | (Value::Interval(_), LogicalType::Interval)
        | (Value::Text(_), LogicalType::Text) => true,
        (Value::Int(v), LogicalType::BigInt) => i64::try_from(*v).is_ok(),
        (Value::Int(v), LogicalType::Integer) => i32::try_from(*v).is_ok(),
        (Value::Int(v), LogicalType::SmallInt) => i16::try_from(*v).is_ok(),
        _ => false,
    }
}

/// The values as those of a statement's parameters, a copy where some of them become others; 42P02 if there are more or fewer.
pub fn converted<'v>(types: &[LogicalType], given: &'v [Value]) -> Result<Cow<'v, [Value]>> {
    if types.len() != given.len() {
        return Err(Error::new(
            SqlState::UNDEFINED_PARAMETER,
            format!(
                "the statement has {} parameters, but {} values were given",
                types.len(),
                given.len()
            ),
        ));
    }
    let values = given.iter().zip(types);
    if values.clone().all(|(value, ty)| is_converted(value, *ty)) {
        return Ok(Cow::Borrowed(given));
    }
    let values = values.enumerate();
    values
        .map(|(i, (value, ty))| convert(value, *ty).map_err(|e| e.in_context(format!("${}", i + 1))))
        .collect()
}

/// The type a value has by itself, for statements that leave it open.
pub fn own_type(value: &Value) -> LogicalType {
    match value {
        Value::Bool(_) => LogicalType::Boolean,
        Value::Int(v) if i32::try_from(*v).is_ok() => LogicalType::Integer,
        Value::Int(v) if i64::try_from(*v).is_ok() => LogicalType::BigInt,
        Value::Int(_) => LogicalType::Decimal {
            precision: 38,
            scale: 0,
        },
        Value::Double(_) => LogicalType::Double,
        Value::Interval(_) => LogicalType::Interval,
        Value::Null | Value::Text(_) => LogicalType::Text,
    }
}

/// Microseconds since 1970, now.
pub fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as i64
}

/// The value of a parameter that follows the statement's own; `now` in microseconds since 1970.
pub(crate) fn hidden_value(hidden: &HiddenParameter, now: i64) -> Value {
    match hidden {
        HiddenParameter::Now => Value::Int(now.into()),
        HiddenParameter::CurrentDate => Value::Int(now.div_euclid(86_400_000_000).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_what_the_statement_wants() {
        let money = LogicalType::Decimal {
            precision: 15,
            scale: 2,
        };
        let text = |t: &str| Value::Text(t.to_owned());
        let state = |r: Result<Value>| r.map_err(|e| e.state());
        assert_eq!(state(convert(&Value::Int(3), money)), Ok(Value::Int(300)));
        assert_eq!(state(convert(&text("3.14"), money)), Ok(Value::Int(314)));
        assert_eq!(
            state(convert(&text("1970-01-02"), LogicalType::Date)),
            Ok(Value::Int(1))
        );
        assert_eq!(
            state(convert(&text("x"), LogicalType::Char(1))),
            Ok(Value::Int(120))
        );
        assert_eq!(
            state(convert(&text("abc  "), LogicalType::Varchar(4))),
            Ok(text("abc "))
        );
        assert_eq!(
            state(convert(&text("ab  "), LogicalType::Char(3))),
            Ok(text("ab"))
        );
        for ty in [LogicalType::Varchar(2), LogicalType::Char(2)] {
            assert_eq!(state(convert(&text("abc"), ty)), Err(SqlState::STRING_TRUNCATION));
        }
        assert_eq!(
            state(convert(&Value::Int(70_000), LogicalType::SmallInt)),
            Err(SqlState::NUMERIC_OUT_OF_RANGE)
        );
        assert_eq!(
            state(convert(&text("x"), LogicalType::Integer)),
            Err(SqlState::INVALID_TEXT)
        );
    }
}
