//! Conversion of one constant from a type to another, as PostgreSQL does it: checked, half away from
//! zero for numerics, half to even from doubles.

use frazil_types::date::{self, MICROS_PER_DAY};
use frazil_types::decimal::{self, POWERS_OF_TEN};
use frazil_types::{Error, LogicalType, Result, SqlState, Value};

/// The value as `to`; NULL stays NULL. Errors 22003, 22007, 22008, 22P02, 22001, 42846.
pub(crate) fn convert(value: &Value, from: LogicalType, to: LogicalType) -> Result<Value> {
    if value.is_null() || from == to {
        return Ok(value.clone());
    }
    match (value, to) {
        (Value::Text(text), _) => from_text(text, to),
        (_, LogicalType::Char(_) | LogicalType::Varchar(_) | LogicalType::Text) => {
            let text = match value {
                // As a text a boolean is spelled out; in a result it is one letter.
                Value::Bool(b) => b.to_string(),
                _ => value.display(from).to_string(),
            };
            from_text(
                if from == LogicalType::Char(1) {
                    text.trim_end_matches(' ')
                } else {
                    &text
                },
                to,
            )
        }
        (Value::Int(v), _) if from.scale().is_some() => from_exact(*v, from.scale().unwrap_or(0), from, to),
        (Value::Double(v), _) => from_double(*v, to),
        (Value::Int(v), LogicalType::Timestamp) if from == LogicalType::Date => {
            Ok(Value::Int(v * i128::from(MICROS_PER_DAY)))
        }
        (Value::Int(v), LogicalType::Date) if from == LogicalType::Timestamp => {
            Ok(Value::Int(v.div_euclid(i128::from(MICROS_PER_DAY))))
        }
        (Value::Bool(b), LogicalType::Integer) => Ok(Value::Int(i128::from(*b))),
        _ => Err(cannot_cast(from, to)),
    }
}

/// The error for a pair of types without a conversion.
pub(crate) fn cannot_cast(from: LogicalType, to: LogicalType) -> Error {
    Error::new(SqlState("42846"), format!("cannot cast type {from} to {to}"))
}

/// The error for an integer outside its type.
pub(crate) fn out_of_range(ty: LogicalType) -> Error {
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, format!("{ty} out of range"))
}

/// Checks that an unscaled value fits in a numeric type.
pub(crate) fn check_range(v: i128, ty: LogicalType) -> Result<Value> {
    let fits = match ty {
        LogicalType::SmallInt => i16::try_from(v).is_ok(),
        LogicalType::Integer => i32::try_from(v).is_ok(),
        LogicalType::BigInt => i64::try_from(v).is_ok(),
        LogicalType::Decimal { precision, scale } => {
            return decimal::check_precision(v, precision, scale).map(Value::Int);
        }
        _ => true,
    };
    if fits {
        Ok(Value::Int(v))
    } else {
        Err(out_of_range(ty))
    }
}

fn from_exact(v: i128, scale: u8, from: LogicalType, to: LogicalType) -> Result<Value> {
    match to {
        LogicalType::Double => {
            let mut text = String::new();
            let _ = decimal::write(&mut text, v, scale);
            Ok(Value::Double(text.parse().unwrap_or(f64::NAN)))
        }
        LogicalType::Boolean if from == LogicalType::Integer => Ok(Value::Bool(v != 0)),
        _ => match to.scale() {
            Some(wanted) => {
                let rescaled = decimal::rescale(v, scale, wanted).ok_or_else(|| out_of_range(to))?;
                check_range(rescaled, to)
            }
            None => Err(cannot_cast(from, to)),
        },
    }
}

fn from_double(v: f64, to: LogicalType) -> Result<Value> {
    match to {
        LogicalType::Decimal { precision, scale } if v.is_finite() => {
            decimal::parse(&format!("{v:e}"), precision, scale).map(Value::Int)
        }
        _ if to.is_integer() && v.is_finite() => {
            let whole = v.round_ties_even();
            if whole.abs() >= 1e19 {
                return Err(out_of_range(to));
            }
            check_range(whole as i128, to)
        }
        _ if to.is_numeric() => Err(out_of_range(to)),
        _ => Err(cannot_cast(LogicalType::Double, to)),
    }
}

fn from_text(text: &str, to: LogicalType) -> Result<Value> {
    let invalid = || {
        Error::new(
            SqlState::INVALID_TEXT,
            format!("invalid input syntax for type {to}: \"{text}\""),
        )
    };
    match to {
        LogicalType::Boolean => match text.trim().to_ascii_lowercase().as_str() {
            "t" | "true" | "yes" | "on" | "y" | "1" => Ok(Value::Bool(true)),
            "f" | "false" | "no" | "off" | "n" | "0" => Ok(Value::Bool(false)),
            _ => Err(invalid()),
        },
        LogicalType::SmallInt | LogicalType::Integer | LogicalType::BigInt => {
            let trimmed = text.trim();
            let digits = trimmed.trim_start_matches(['-', '+']);
            if digits.is_empty()
                || trimmed.len() > digits.len() + 1
                || !digits.bytes().all(|b| b.is_ascii_digit())
            {
                return Err(invalid());
            }
            let v: i128 = trimmed.parse().map_err(|_| out_of_range(to))?;
            check_range(v, to)
        }
        LogicalType::Double => text.trim().parse().map(Value::Double).map_err(|_| invalid()),
        LogicalType::Decimal { precision, scale } => decimal::parse(text, precision, scale).map(Value::Int),
        LogicalType::Date => date::parse_date(text)
            .or_else(|e| match date::parse_timestamp(text) {
                Ok(t) => Ok(t.div_euclid(MICROS_PER_DAY) as i32),
                Err(_) => Err(e),
            })
            .map(|d| Value::Int(d.into())),
        LogicalType::Timestamp => date::parse_timestamp(text).map(|t| Value::Int(t.into())),
        LogicalType::Interval => {
            Err(Error::unsupported("cast of text to interval").with_hint("write interval '3 days'"))
        }
        LogicalType::Text => Ok(Value::Text(text.to_string())),
        LogicalType::Varchar(n) => fit(text, n, to).map(Value::Text),
        LogicalType::Char(1) => {
            let kept = fit(text.trim_end_matches(' '), 1, to)?;
            Ok(Value::Int(kept.chars().next().map_or(32, |c| c as i128)))
        }
        LogicalType::Char(n) => fit(text.trim_end_matches(' '), n, to).map(Value::Text),
    }
}

fn fit(text: &str, n: u32, ty: LogicalType) -> Result<String> {
    if text.chars().count() <= n as usize {
        return Ok(text.to_string());
    }
    // Blanks beyond the length are cut without an error, as the SQL standard has it.
    let (at, _) = text.char_indices().nth(n as usize).unwrap_or((text.len(), ' '));
    if text[at..].bytes().all(|b| b == b' ') {
        return Ok(text[..at].to_string());
    }
    Err(Error::new(
        SqlState::STRING_TRUNCATION,
        format!("value too long for type {ty}"),
    ))
}

/// The largest unscaled value of an exact numeric type; the smallest is at or next to its negative.
pub(crate) fn range_of(ty: LogicalType) -> Option<(i128, i128)> {
    Some(match ty {
        LogicalType::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        LogicalType::Integer => (i32::MIN.into(), i32::MAX.into()),
        LogicalType::BigInt => (i64::MIN.into(), i64::MAX.into()),
        LogicalType::Decimal { precision, .. } => {
            let max = POWERS_OF_TEN[usize::from(precision)] - 1;
            (-max, max)
        }
        _ => return None,
    })
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
        let text = |t: &str, ty| convert(&Value::Text(t.into()), LogicalType::Text, ty);
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
        assert_eq!(text("x", LogicalType::BigInt).unwrap_err().state().0, "22P02");
        assert_eq!(
            text("99999", LogicalType::SmallInt).unwrap_err().state().0,
            "22003"
        );
        let double = |d, ty| convert(&Value::Double(d), LogicalType::Double, ty);
        assert_eq!(double(2.5, LogicalType::Integer).unwrap(), Value::Int(2));
        assert_eq!(double(0.125, MONEY).unwrap(), Value::Int(13));
        assert!(double(f64::NAN, LogicalType::Integer).is_err());
        let money = convert(&Value::Int(1250), MONEY, LogicalType::Double);
        assert_eq!(money.unwrap(), Value::Double(12.5));
    }
}
