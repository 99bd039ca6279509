//! Conversion of a value from one type to another.

use super::{check_range, read};
use crate::date::MICROS_PER_DAY;
use crate::{Error, LogicalType, Result, SqlState, Value, decimal};

/// What becomes of a string that is longer than char(n) or varchar(n).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastLength {
    /// It is cut, as CAST does.
    Cut,
    /// Error 22001 unless only blanks are lost, as an assignment does.
    Refuse,
}

/// Significant digits of a double that its decimal keeps: PostgreSQL's DBL_DIG.
const DOUBLE_DIGITS: usize = 15;

/// The error 42846 for two types without a conversion.
pub fn cannot_cast(from: LogicalType, to: LogicalType) -> Error {
    Error::new(
        SqlState::CANNOT_COERCE,
        format!("cannot cast type {from} to {to}"),
    )
}

/// The value as `to`; NULL stays NULL. Decimals round half away from zero, doubles become integers half to even.
/// Errors 22003, 22007, 22008, 22P02, 22001, 42846.
pub fn cast(value: &Value, from: LogicalType, to: LogicalType, length: CastLength) -> Result<Value> {
    if value.is_null() || from == to {
        return Ok(value.clone());
    }
    match (value, to) {
        (Value::Text(text), t) if t.is_string() => to_string_type(text, to, length),
        (Value::Text(text), _) => read(text, to),
        (_, t) if t.is_string() => {
            let text = match value {
                // As a text a boolean is spelled out; in a result it is one letter.
                Value::Bool(b) => b.to_string(),
                _ => value.display(from).to_string(),
            };
            let text = if from == LogicalType::Char(1) {
                text.trim_end_matches(' ')
            } else {
                &text
            };
            to_string_type(text, to, length)
        }
        (Value::Int(v), _) if from == LogicalType::Char(1) => {
            let c = u32::try_from(*v).ok().and_then(char::from_u32).unwrap_or(' ');
            read(c.encode_utf8(&mut [0; 4]), to)
        }
        (Value::Int(v), _) if from.scale().is_some() => exact(*v, from.scale().unwrap_or(0), from, to),
        (Value::Double(v), _) => double(*v, to),
        (Value::Int(v), LogicalType::Timestamp) if from == LogicalType::Date => {
            let micros = v * i128::from(MICROS_PER_DAY);
            match i64::try_from(micros) {
                Ok(_) => Ok(Value::Int(micros)),
                Err(_) => Err(Error::new(
                    SqlState::DATETIME_OVERFLOW,
                    "date out of range for timestamp",
                )),
            }
        }
        (Value::Int(v), LogicalType::Date) if from == LogicalType::Timestamp => {
            Ok(Value::Int(v.div_euclid(i128::from(MICROS_PER_DAY))))
        }
        (Value::Bool(b), LogicalType::Integer) => Ok(Value::Int(i128::from(*b))),
        _ => Err(cannot_cast(from, to)),
    }
}

fn exact(v: i128, scale: u8, from: LogicalType, to: LogicalType) -> Result<Value> {
    match to {
        LogicalType::Double => {
            let mut text = String::new();
            let _ = decimal::write(&mut text, v, scale);
            Ok(Value::Double(text.parse().unwrap_or(f64::NAN)))
        }
        LogicalType::Boolean if from == LogicalType::Integer => Ok(Value::Bool(v != 0)),
        _ => match to.scale() {
            Some(wanted) => match (decimal::rescale(v, scale, wanted), to) {
                (Some(rescaled), _) => check_range(rescaled, to),
                (None, LogicalType::Decimal { precision, scale }) => Err(decimal::overflow(precision, scale)),
                (None, _) => Err(out_of_range(to)),
            },
            None => Err(cannot_cast(from, to)),
        },
    }
}

fn out_of_range(ty: LogicalType) -> Error {
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, format!("{ty} out of range"))
}

fn double(v: f64, to: LogicalType) -> Result<Value> {
    match to {
        LogicalType::Decimal { precision, scale } => double_to_decimal(v, precision, scale).map(Value::Int),
        _ if to.is_integer() => {
            let whole = v.round_ties_even();
            // Beyond 1e19 no integer type reaches.
            if whole.is_nan() || whole.abs() >= 1e19 {
                return Err(out_of_range(to));
            }
            check_range(whole as i128, to)
        }
        _ => Err(cannot_cast(LogicalType::Double, to)),
    }
}

/// A double as an unscaled decimal, by its 15 most significant digits. Errors: 22003 for what does not fit; 0A000 for
/// infinity and NaN, which decimals lack.
pub fn double_to_decimal(v: f64, precision: u8, scale: u8) -> Result<i128> {
    if !v.is_finite() {
        return Err(Error::unsupported(format!(
            "a decimal {}",
            if v.is_nan() { "NaN" } else { "infinity" }
        )));
    }
    decimal::parse(&format!("{v:.*e}", DOUBLE_DIGITS - 1), precision, scale)
}

fn to_string_type(text: &str, to: LogicalType, length: CastLength) -> Result<Value> {
    match to {
        LogicalType::Varchar(n) => fit(text, n, to, length).map(|t| Value::Text(t.to_string())),
        LogicalType::Char(1) => {
            let kept = fit(text.trim_end_matches(' '), 1, to, length)?;
            Ok(Value::Int(kept.chars().next().map_or(32, |c| c as i128)))
        }
        LogicalType::Char(n) => {
            let kept = fit(text.trim_end_matches(' '), n, to, length)?;
            Ok(Value::Text(kept.trim_end_matches(' ').to_string()))
        }
        _ => Ok(Value::Text(text.to_string())),
    }
}

/// The part of a text that a string type keeps: all of it but blanks at its end, of which char(n) keeps none and
/// varchar(n) as many as it has room for. 22001 where it is too long.
pub fn kept_text(text: &str, ty: LogicalType) -> Result<&str> {
    match ty {
        LogicalType::Varchar(n) => fit(text, n, ty, CastLength::Refuse),
        LogicalType::Char(n) => fit(text.trim_end_matches(' '), n, ty, CastLength::Refuse),
        _ => Ok(text),
    }
}

fn fit(text: &str, n: u32, ty: LogicalType, length: CastLength) -> Result<&str> {
    if text.len() <= n as usize {
        return Ok(text);
    }
    let Some((at, _)) = text.char_indices().nth(n as usize) else {
        return Ok(text);
    };
    // Blanks beyond the length are cut without an error, as the SQL standard has it.
    if length == CastLength::Cut || text[at..].bytes().all(|b| b == b' ') {
        return Ok(&text[..at]);
    }
    let ty = match ty {
        LogicalType::Varchar(n) => format!("character varying({n})"),
        _ => format!("character({n})"),
    };
    let message = format!("value too long for type {ty}");
    Err(Error::new(SqlState::STRING_TRUNCATION, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONEY: LogicalType = LogicalType::Decimal {
        precision: 15,
        scale: 2,
    };

    #[test]
    fn converts_as_postgresql_does() {
        let text = |t: &str, ty| cast(&Value::Text(t.into()), LogicalType::Text, ty, CastLength::Refuse);
        assert_eq!(text("12.345", MONEY).unwrap(), Value::Int(1235));
        assert_eq!(text(" 7 ", LogicalType::Integer).unwrap(), Value::Int(7));
        assert_eq!(
            text("ab  ", LogicalType::Char(3)).unwrap(),
            Value::Text("ab".into())
        );
        assert_eq!(text("", LogicalType::Char(1)).unwrap(), Value::Int(32));
        assert_eq!(
            text("abc", LogicalType::Varchar(2)).unwrap_err().state().0,
            "22001"
        );
        let cut = cast(
            &Value::Text("abc".into()),
            LogicalType::Text,
            LogicalType::Varchar(2),
            CastLength::Cut,
        );
        assert_eq!(cut.unwrap(), Value::Text("ab".into()));
        let double = |d, ty| cast(&Value::Double(d), LogicalType::Double, ty, CastLength::Cut);
        assert_eq!(double(2.5, LogicalType::Integer).unwrap(), Value::Int(2));
        assert_eq!(double(0.125, MONEY).unwrap(), Value::Int(13));
        assert_eq!(
            double(f64::NAN, LogicalType::Integer).unwrap_err().state().0,
            "22003"
        );
        assert_eq!(double(f64::NAN, MONEY).unwrap_err().state().0, "0A000");
        let money = cast(&Value::Int(1250), MONEY, LogicalType::Double, CastLength::Cut);
        assert_eq!(money.unwrap(), Value::Double(12.5));
        let far = cast(
            &Value::Int(107_000_000),
            LogicalType::Date,
            LogicalType::Timestamp,
            CastLength::Cut,
        );
        assert_eq!(far.unwrap_err().state().0, "22008");
    }
}
