//! Exact decimals as unscaled integers: 12.50 at scale 2 is 1250.

use crate::{Error, Result, SqlState};
use std::fmt;

/// 10^n for n up to 38.
pub const fn power_of_ten(n: u8) -> i128 {
    let mut value = 1;
    let mut i = 0;
    while i < n {
        value *= 10;
        i += 1;
    }
    value
}

/// 10^0 to 10^38.
pub const POWERS_OF_TEN: [i128; 39] = {
    let mut powers = [1; 39];
    let mut i = 0;
    while i < 39 {
        powers[i] = power_of_ten(i as u8);
        i += 1;
    }
    powers
};

/// Quotient rounded half away from zero. `divisor` must not be 0.
pub fn divide_round(value: i128, divisor: i128) -> i128 {
    let quotient = value / divisor;
    let rest = value.wrapping_sub(quotient.wrapping_mul(divisor));
    if rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2) && rest != 0 {
        quotient + if (value < 0) == (divisor < 0) { 1 } else { -1 }
    } else {
        quotient
    }
}

/// Changes the scale, rounding half away from zero; `None` on overflow of 128 bits.
pub fn rescale(value: i128, from: u8, to: u8) -> Option<i128> {
    if to >= from {
        value.checked_mul(*POWERS_OF_TEN.get(usize::from(to - from))?)
    } else {
        Some(divide_round(value, *POWERS_OF_TEN.get(usize::from(from - to))?))
    }
}

/// Checks that a value has at most `precision` digits. Error 22003.
pub fn check_precision(value: i128, precision: u8, scale: u8) -> Result<i128> {
    if value.unsigned_abs() < POWERS_OF_TEN[usize::from(precision)].unsigned_abs() {
        return Ok(value);
    }
    Err(overflow(precision, scale))
}

/// The error for a value that a decimal type cannot hold.
pub fn overflow(precision: u8, scale: u8) -> Error {
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "numeric field overflow").with_detail(format!(
        "a field with precision {precision}, scale {scale} must round to an absolute value less than 10^{}",
        precision - scale
    ))
}

/// Reads a decimal text (`-12.345`, `.5`, `1e3`) at a type's scale, rounding half away from zero.
/// Errors: 22P02 for what is no number, 22003 for what does not fit.
pub fn parse(text: &str, precision: u8, scale: u8) -> Result<i128> {
    let invalid = || {
        Error::new(
            SqlState::INVALID_TEXT,
            format!("invalid input syntax for type decimal: \"{text}\""),
        )
    };
    let trimmed = text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let (mantissa, exponent) = match trimmed.find(['e', 'E']) {
        Some(at) => (
            &trimmed[..at],
            trimmed[at + 1..].parse::<i32>().map_err(|_| invalid())?,
        ),
        None => (trimmed, 0),
    };
    let (negative, digits) = match mantissa.as_bytes().first() {
        Some(b'-') => (true, &mantissa[1..]),
        Some(b'+') => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty()
        || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit())
    {
        return Err(invalid());
    }
    // Digits before the place at which the value is rounded.
    let kept = i64::from(scale) + i64::from(exponent) + whole.len() as i64;
    let mut value: i128 = 0;
    let mut place = 0i64;
    for digit in whole.bytes().chain(fraction.bytes()) {
        if place >= kept {
            if place == kept && digit >= b'5' {
                value += 1;
            }
            break;
        }
        value = tenfold(value, digit - b'0').ok_or_else(|| overflow(precision, scale))?;
        place += 1;
    }
    while place < kept && value != 0 {
        value = tenfold(value, 0).ok_or_else(|| overflow(precision, scale))?;
        place += 1;
    }
    check_precision(if negative { -value } else { value }, precision, scale)
}

/// A number with one more digit behind it; `None` beyond 38 digits.
fn tenfold(value: i128, digit: u8) -> Option<i128> {
    let more = value.checked_mul(10)?.checked_add(digit.into())?;
    (more < POWERS_OF_TEN[38]).then_some(more)
}

/// Writes an unscaled value with its point.
pub fn write(f: &mut dyn fmt::Write, value: i128, scale: u8) -> fmt::Result {
    if scale == 0 {
        return write!(f, "{value}");
    }
    let power = POWERS_OF_TEN[usize::from(scale)].unsigned_abs();
    let magnitude = value.unsigned_abs();
    let sign = if value < 0 { "-" } else { "" };
    write!(
        f,
        "{sign}{}.{:0width$}",
        magnitude / power,
        magnitude % power,
        width = usize::from(scale)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes() {
        for (text, value) in [
            ("12.50", 1250),
            ("-0.01", -1),
            (".5", 50),
            ("1e2", 10_000),
            ("0.005", 1),
            ("-0.005", -1),
            ("7", 700),
            ("1e-9999999", 0),
            ("0e999999999", 0),
            ("0.4999999999999999999999999999999999999999999999", 50),
            (&format!("{}1", "0".repeat(5000)), 100),
        ] {
            assert_eq!(parse(text, 15, 2).unwrap(), value, "{text}");
        }
        let mut out = String::new();
        write(&mut out, -5, 2).unwrap();
        assert_eq!(out, "-0.05");
        assert_eq!(parse("1,5", 15, 2).unwrap_err().state(), SqlState::INVALID_TEXT);
        assert_eq!(
            parse("1000", 5, 2).unwrap_err().state(),
            SqlState::NUMERIC_OUT_OF_RANGE
        );
    }

    #[test]
    fn rounds_half_away_from_zero() {
        assert_eq!([5, -5, 4, 15].map(|v| divide_round(v, 10)), [1, -1, 0, 2]);
        assert_eq!(divide_round(1, 3), 0);
        assert_eq!(divide_round(2, 3), 1);
    }
}
