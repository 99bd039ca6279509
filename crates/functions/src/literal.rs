//! Numbers as written.

use crate::build::int;
use crate::convert::decimal;
use crate::{Operand, Typing};
use frazil_plan::{Expr, ExprKind};
use frazil_types::decimal::POWERS_OF_TEN;
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value, value_ops};

/// Most digits of a decimal.
const DIGITS: usize = frazil_types::logical_type::DECIMAL_MAX_DIGITS as usize;

/// Digits of which every number fits into 64 bits.
const SHORT: usize = 18;

impl Typing {
    /// A number as written, without sign: integers as narrow as they fit, all else an exact decimal; `0x`, `0o`, `0b`
    /// and `_` between digits as PostgreSQL 16 has them. With an exponent that 38 digits have no room for, it is a
    /// double. 42601 for what is not a number, 22003 beyond 38 digits and beyond doubles.
    pub fn number_literal(text: &str, span: Span) -> Result<Operand> {
        if text.len() <= SHORT
            && text.bytes().all(|b| b.is_ascii_digit())
            && let Ok(value) = text.parse()
        {
            return Ok(int(value, integer_type(value)).at(span).into());
        }
        let lower = text.to_ascii_lowercase();
        let radix = match lower.get(..2) {
            Some("0x") => Some(16),
            Some("0o") => Some(8),
            Some("0b") => Some(2),
            _ => None,
        };
        let number = match radix {
            Some(radix) => whole(&lower[2..], radix, text),
            None => decimal_literal(&lower, text),
        };
        let e = number.map_err(|e| e.at_span(span))?;
        Ok(e.at(span).into())
    }
}

/// A literal with the sign before it, which is part of it: `-2147483648` is an `integer` although `2147483648` is
/// none. 22003.
pub fn negated_literal(literal: &Expr) -> Result<Expr> {
    let ExprKind::Constant(value) = &literal.kind else {
        return Err(Error::internal("a literal that is no constant"));
    };
    match value {
        Value::Int(n) if literal.ty.is_integer() || literal.ty == decimal(DIGITS as u8, 0) => {
            Ok(int(-n, integer_type(-n)))
        }
        value => Ok(Expr::constant(value_ops::negate(value, literal.ty)?, literal.ty)),
    }
}

fn trailing_junk(text: &str) -> Error {
    let message = format!("trailing junk after numeric literal at or near \"{text}\"");
    Error::new(SqlState::SYNTAX_ERROR, message)
}

fn too_wide() -> Error {
    let message = "numeric literal has more than 38 digits";
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
}

/// The narrowest integer type of a value, else a decimal.
fn integer_type(value: i128) -> LogicalType {
    LogicalType::of_value(&Value::Int(value))
}

fn whole(digits: &str, radix: u32, text: &str) -> Result<Expr> {
    // PostgreSQL allows `_` before each digit here.
    let plain = digits.replace('_', "");
    if plain.is_empty() || digits.ends_with('_') || digits.contains("__") {
        return Err(trailing_junk(text));
    }
    if !plain.chars().all(|c| c.is_digit(radix)) {
        return Err(trailing_junk(text));
    }
    let value = i128::from_str_radix(&plain, radix).map_err(|_| too_wide())?;
    if value >= POWERS_OF_TEN[DIGITS] {
        return Err(too_wide());
    }
    Ok(int(value, integer_type(value)))
}

fn decimal_literal(lower: &str, text: &str) -> Result<Expr> {
    let misplaced = |part: &str| part.starts_with('_') || part.ends_with('_') || part.contains("__");
    if lower.split(['.', 'e', '+', '-']).any(misplaced) {
        return Err(trailing_junk(text));
    }
    let plain = lower.replace('_', "");
    if !is_number(&plain) {
        return Err(trailing_junk(text));
    }
    if let Some((value, ty)) = exact_number(&plain) {
        return Ok(int(value, ty));
    }
    let double = plain.parse::<f64>().ok().filter(|v| v.is_finite() && *v != 0.0);
    match double.filter(|_| plain.contains('e')) {
        Some(double) => Ok(Expr::literal(Value::Double(double))),
        None => Err(too_wide()),
    }
}

/// Digits with at most one point, and an exponent.
fn is_number(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once('e').map_or((text, None), |(m, e)| (m, Some(e)));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_is_number = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    !(whole.is_empty() && fraction.is_empty()) && digits(whole) && digits(fraction) && exponent_is_number
}

/// The value and type of a number, perhaps with a sign. `None` if it is not one, or has more than 38 digits.
pub(crate) fn exact_number(text: &str) -> Option<(i128, LogicalType)> {
    let lower = text.to_ascii_lowercase();
    let (negative, unsigned) = match lower.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, lower.strip_prefix('+').unwrap_or(&lower)),
    };
    if !is_number(unsigned) {
        return None;
    }
    let (mantissa, exponent) = match unsigned.split_once('e') {
        Some((m, e)) => (m, Some(e.parse::<i32>().ok()?)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let scale = fraction.len() as i64 - i64::from(exponent.unwrap_or(0));
    let significant = all.trim_start_matches('0');
    let zeros = usize::try_from(-scale).unwrap_or(0);
    if significant.len() > DIGITS
        || scale > DIGITS as i64
        || !significant.is_empty() && significant.len() + zeros > DIGITS
    {
        return None;
    }
    let value: i128 = if significant.is_empty() {
        0
    } else {
        significant.parse().ok()?
    };
    let value = if significant.is_empty() {
        0
    } else {
        value * POWERS_OF_TEN[zeros]
    };
    let signed = if negative { -value } else { value };
    if exponent.is_none() && !mantissa.contains('.') {
        return Some((signed, integer_type(signed)));
    }
    let scale = scale.max(0) as u8;
    let count = value.checked_ilog10().map_or(1, |n| n as u8 + 1);
    Some((signed, decimal(count.max(scale), scale)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_plan::ExprKind;

    fn read(text: &str) -> Result<(i128, LogicalType), &'static str> {
        match Typing::number_literal(text, Span::NONE) {
            Ok(Operand::Typed(e)) => match e.kind {
                ExprKind::Constant(Value::Int(v)) => Ok((v, e.ty)),
                _ => Err("not a number"),
            },
            Ok(_) => Err("no type"),
            Err(e) => Err(e.state().0),
        }
    }

    #[test]
    fn integers_are_as_narrow_as_they_fit() {
        assert_eq!(read("2147483647"), Ok((2_147_483_647, LogicalType::Integer)));
        assert_eq!(read("2147483648"), Ok((2_147_483_648, LogicalType::BigInt)));
        assert_eq!(
            read("9223372036854775808"),
            Ok((9_223_372_036_854_775_808, decimal(38, 0)))
        );
        assert_eq!(read("1_000"), Ok((1000, LogicalType::Integer)));
    }

    #[test]
    fn other_bases_are_those_of_postgresql_16() {
        assert_eq!(read("0b101"), Ok((5, LogicalType::Integer)));
        assert_eq!(read("0o17"), Ok((15, LogicalType::Integer)));
        assert_eq!(read("0xFF_FF"), Ok((65_535, LogicalType::Integer)));
        assert_eq!(read("0b12"), Err("42601"));
        assert_eq!(read("0x"), Err("42601"));
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(read("1e2"), Ok((100, decimal(3, 0))));
        assert_eq!(read("1.50"), Ok((150, decimal(3, 2))));
        assert_eq!(read(".5"), Ok((5, decimal(1, 1))));
        assert_eq!(read("5."), Ok((5, decimal(1, 0))));
        assert_eq!(read("1.5e-3"), Ok((15, decimal(4, 4))));
        assert_eq!(read("0.000"), Ok((0, decimal(3, 3))));
        for text in ["1e400", "1e-400"] {
            assert_eq!(read(text), Err("22003"));
        }
        assert_eq!(read("123456789012345678901234567890123456789"), Err("22003"));
    }

    #[test]
    fn exponents_beyond_decimals_make_doubles() {
        for (text, value) in [("1e300", 1e300), ("5e-324", 5e-324), ("1.5E39", 1.5e39)] {
            let Ok(Operand::Typed(e)) = Typing::number_literal(text, Span::NONE) else {
                panic!("{text}");
            };
            assert_eq!(e, Expr::constant(Value::Double(value), LogicalType::Double));
        }
    }

    #[test]
    fn junk_is_named() {
        for text in ["123abc", "1__0", "1_", "1e", "1.2.3", "1_.5"] {
            assert_eq!(read(text), Err("42601"), "{text}");
        }
    }
}
