//! Numbers of jsonb: decimals of any length, held as their digits.

use crate::{Error, Result, SqlState};
use std::cmp::Ordering;

/// Most digits before the point, PostgreSQL's limit of numeric.
const MAX_WHOLE: i64 = 131_072;
/// Most digits behind the point, PostgreSQL's limit of numeric.
const MAX_SCALE: i64 = 16_383;

/// The digits of a number by JSON's grammar without its exponent: 1e2 is 100, -0.50 stays, -0 is 0.
/// Error 22003 beyond numeric.
pub fn plain(text: &str) -> Result<String> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (sign, unsigned) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    // An exponent beyond i64 is beyond numeric; for zero, only a negative one is, as it asks for digits behind the point.
    let exponent = exponent.map_or(Ok(0), |e| e.parse::<i64>().map_err(|_| overflow()))?;
    let digits = format!("{whole}{fraction}");
    let point = (whole.len() as i64).saturating_add(exponent);
    let scale = (digits.len() as i64).saturating_sub(point).max(0);
    let leading = digits.bytes().take_while(|&d| d == b'0').count();
    let is_zero = leading == digits.len();
    if scale > MAX_SCALE || !is_zero && point.saturating_sub(leading as i64) > MAX_WHOLE {
        return Err(overflow());
    }
    let sign = if is_zero { "" } else { sign };
    if is_zero {
        return Ok(if scale == 0 {
            "0".to_owned()
        } else {
            format!("0.{}", "0".repeat(scale as usize))
        });
    }
    Ok(if point <= 0 {
        format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
    } else if point >= digits.len() as i64 {
        let zeros = "0".repeat(point as usize - digits.len());
        format!("{sign}{}{zeros}", &digits[leading..])
    } else {
        let (whole, fraction) = digits.split_at(point as usize);
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            whole => whole,
        };
        format!("{sign}{whole}.{fraction}")
    })
}

/// The digits with the other sign; zero has none.
pub fn negated(digits: &str) -> String {
    let is_zero = digits.bytes().all(|b| matches!(b, b'0' | b'.'));
    match digits.strip_prefix('-') {
        Some(rest) => rest.to_owned(),
        None if is_zero => digits.to_owned(),
        None => format!("-{digits}"),
    }
}

/// Compares two numbers, for the bytes of what [`plain`] gave: 1.0 and 1 are equal.
#[inline]
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    match (a.strip_prefix(b"-"), b.strip_prefix(b"-")) {
        (None, None) => compare_magnitudes(a, b),
        (Some(a), Some(b)) => compare_magnitudes(b, a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
    }
}

fn compare_magnitudes(a: &[u8], b: &[u8]) -> Ordering {
    let ((a, a_fraction), (b, b_fraction)) = (at_point(a), at_point(b));
    let by_whole = a.len().cmp(&b.len()).then_with(|| a.cmp(b));
    by_whole.then_with(|| without_zeros(a_fraction).cmp(without_zeros(b_fraction)))
}

/// The digits before the point and behind it.
fn at_point(digits: &[u8]) -> (&[u8], &[u8]) {
    match digits.iter().position(|&byte| byte == b'.') {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[]),
    }
}

/// A fraction without the zeros at its end.
fn without_zeros(fraction: &[u8]) -> &[u8] {
    let zeros = fraction.iter().rev().take_while(|&&digit| digit == b'0').count();
    &fraction[..fraction.len() - zeros]
}

fn overflow() -> Error {
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "value overflows numeric format")
}

/// Appends bytes whose order is that of the numbers, for what [`plain`] gave: 1.0 and 1 have the same.
pub(super) fn push_key(text: &str, out: &mut Vec<u8>) {
    let unsigned = text.trim_start_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.bytes().take_while(|&d| d == b'0').count();
    let significant = digits[leading..].trim_end_matches('0');
    if significant.is_empty() {
        return out.push(1);
    }
    let is_negative = text.starts_with('-');
    // Digits before the point, or minus the zeros behind it: the greater of two numbers has more. Both limits fit in i32.
    let magnitude = whole.len() as i32 - leading as i32;
    out.push(if is_negative { 0 } else { 2 });
    let start = out.len();
    out.extend((magnitude as u32 ^ 1 << 31).to_be_bytes());
    out.extend(significant.bytes());
    out.push(0);
    if is_negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}
