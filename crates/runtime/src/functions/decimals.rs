//! Decimals of up to 38 digits, as 128-bit unscaled integers.

use crate::abi::{PipelineContext, STATUS_FAILED, STATUS_OK};
use frazil_types::decimal::{POWERS_OF_TEN, divide_round, rescale};
use frazil_types::{Error, SqlState};

type Wide = *const i128;
type WideOut = *mut i128;

/// 10^38: no decimal reaches it.
const LIMIT: u128 = POWERS_OF_TEN[38].unsigned_abs();

/// Writes a value below 10^`precision`, or fails.
///
/// # Safety
/// `out` must be valid for a write.
unsafe fn put(value: Option<i128>, precision: i32, out: WideOut) -> u32 {
    let limit = POWERS_OF_TEN[precision.clamp(0, 38) as usize].unsigned_abs();
    match value {
        Some(v) if v.unsigned_abs() < limit => {
            // SAFETY: by contract.
            unsafe { out.write_unaligned(v) };
            STATUS_OK
        }
        _ => STATUS_FAILED,
    }
}

/// # Safety
/// `a` and `b` must be valid for reads, `out` for a write.
pub unsafe fn decimal_mul(a: Wide, b: Wide, out: WideOut) -> u32 {
    // SAFETY: by contract.
    unsafe { put(a.read_unaligned().checked_mul(b.read_unaligned()), 38, out) }
}

/// a × 10^shift / b, rounded half away from zero; `None` beyond 38 digits. b is not 0.
pub(crate) fn scaled_quotient(a: i128, b: i128, shift: u32) -> Option<i128> {
    let power = *POWERS_OF_TEN.get(shift as usize)?;
    if let Some(scaled) = a.checked_mul(power) {
        return Some(divide_round(scaled, b));
    }
    // The product needs more than 128 bits: divide as with pen and paper, as many digits at a time as the rest, which is
    // below the divisor, leaves room for.
    let divisor = b.unsigned_abs();
    let mut quotient = a.unsigned_abs() / divisor;
    let mut rest = a.unsigned_abs() % divisor;
    let room = (u128::MAX / divisor).ilog10();
    let mut left = shift;
    while left > 0 && room > 0 {
        let digits = room.min(left);
        let power = POWERS_OF_TEN[digits as usize].unsigned_abs();
        let dividend = rest * power;
        quotient = quotient.checked_mul(power)?.checked_add(dividend / divisor)?;
        rest = dividend % divisor;
        left -= digits;
    }
    for _ in 0..left {
        let digit;
        (digit, rest) = next_digit(rest, divisor);
        quotient = quotient.checked_mul(10)?.checked_add(digit)?;
    }
    if rest >= divisor.div_ceil(2) && rest != 0 {
        quotient += 1;
    }
    if quotient >= LIMIT {
        return None;
    }
    Some(if (a < 0) == (b < 0) {
        quotient as i128
    } else {
        -(quotient as i128)
    })
}

/// Ten times a rest by a divisor above it, for which 128 bits have no room, and the rest then.
fn next_digit(rest: u128, divisor: u128) -> (u128, u128) {
    let (mut digit, mut tenfold) = (0, 0u128);
    for _ in 0..10 {
        // Both are below the divisor, at most 2^127, so the sum fits.
        tenfold += rest;
        if tenfold >= divisor {
            tenfold -= divisor;
            digit += 1;
        }
    }
    (digit, tenfold)
}

/// # Safety
/// As [`decimal_mul`]; `context` must be the pipeline's.
pub unsafe fn decimal_div(context: *mut PipelineContext, a: Wide, b: Wide, shift: i32, out: WideOut) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let (a, b) = (a.read_unaligned(), b.read_unaligned());
        if b == 0 {
            return (*context).fail(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
        }
        put(scaled_quotient(a, b, shift.max(0) as u32), 38, out)
    }
}

/// # Safety
/// As [`decimal_mul`].
pub unsafe fn decimal_rem(a: Wide, b: Wide, out: WideOut) -> u32 {
    // SAFETY: by contract.
    unsafe {
        match b.read_unaligned() {
            0 => STATUS_FAILED,
            // i128::MIN % -1 overflows in the machine, not in arithmetic.
            b => put(Some(a.read_unaligned().wrapping_rem(b)), 38, out),
        }
    }
}

/// # Safety
/// As [`decimal_mul`].
pub unsafe fn decimal_rescale(a: Wide, from: i32, to: i32, precision: i32, out: WideOut) -> u32 {
    // SAFETY: by contract.
    unsafe { put(rescale(a.read_unaligned(), from as u8, to as u8), precision, out) }
}

/// # Safety
/// As [`decimal_mul`].
pub unsafe fn decimal_check(a: Wide, precision: i32) -> u32 {
    let mut ignored = 0;
    // SAFETY: by contract.
    unsafe { put(Some(a.read_unaligned()), precision, &mut ignored) }
}

/// # Safety
/// As [`decimal_mul`].
pub unsafe fn decimal_floor(a: Wide, scale: i32, out: WideOut) {
    let power = POWERS_OF_TEN[scale.clamp(0, 38) as usize];
    // SAFETY: by contract.
    unsafe { out.write_unaligned(a.read_unaligned().div_euclid(power)) }
}

/// # Safety
/// As [`decimal_mul`].
pub unsafe fn decimal_ceil(a: Wide, scale: i32, out: WideOut) {
    let power = POWERS_OF_TEN[scale.clamp(0, 38) as usize];
    // SAFETY: by contract. Decimals are far from i128::MIN.
    unsafe { out.write_unaligned(-(a.read_unaligned().wrapping_neg()).div_euclid(power)) }
}

/// # Safety
/// As [`decimal_mul`].
pub unsafe fn decimal_to_double(a: Wide, scale: i32) -> f64 {
    // SAFETY: by contract.
    let value = unsafe { a.read_unaligned() };
    let scale = scale.clamp(0, 38) as usize;
    // Both exact as doubles: one rounding, the nearest.
    if value.unsigned_abs() <= 1 << 53 && scale <= 22 {
        return value as f64 / POWERS_OF_TEN[scale] as f64;
    }
    let mut text = String::new();
    let written = frazil_types::decimal::write(&mut text, value, scale as u8);
    written.ok().and_then(|()| text.parse().ok()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::strings::tests::context;

    fn div(a: i128, b: i128, shift: i32) -> Result<i128, String> {
        context(|c| {
            let mut out = 0;
            // SAFETY: the context is alive.
            unsafe {
                match decimal_div(c, &a, &b, shift, &mut out) {
                    STATUS_OK => Ok(out),
                    _ => Err(match (*c).error.error.take() {
                        Some(error) => error.state().0.to_owned(),
                        None => "beyond".to_owned(),
                    }),
                }
            }
        })
    }

    #[test]
    fn divides_exactly() {
        assert_eq!(div(10, 3, 6), Ok(3_333_333));
        assert_eq!(div(-20, 3, 0), Ok(-7));
        assert_eq!(div(5, 0, 0), Err("22012".into()));
        let big = POWERS_OF_TEN[37];
        assert_eq!(div(big, 1, 6), Err("beyond".into()));
        // Beyond 128 bits on the way.
        assert_eq!(div(big, big, 10), Ok(POWERS_OF_TEN[10]));
        assert_eq!(
            div(big * 9 + 8, 7 * big, 30),
            Ok(1_285_714_285_714_285_714_285_714_285_714)
        );
        assert_eq!(div(-2 * big, 3 * big, 20), Ok(-66_666_666_666_666_666_667));
    }

    #[test]
    fn the_long_way_agrees_with_the_short() {
        for a in [1i128, 7, 999_999, 123_456_789_012] {
            for b in [1i128, 3, -7, 64, 1_000_003] {
                for shift in [0u32, 1, 5, 12] {
                    let short = scaled_quotient(a, b, shift).unwrap();
                    // Both sides times a large power: the same quotient, beyond 128 bits on the way.
                    for power in [26, 30, 34, 37].map(|digits| POWERS_OF_TEN[digits]) {
                        if let (Some(a), Some(b)) = (a.checked_mul(power), b.checked_mul(power)) {
                            assert_eq!(scaled_quotient(a, b, shift), Some(short), "{a} {b} {shift}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rescales_and_checks() {
        let mut out = 0;
        // SAFETY: locals.
        unsafe {
            assert_eq!(decimal_rescale(&1255, 2, 1, 10, &mut out), STATUS_OK);
            assert_eq!(out, 126);
            assert_eq!(decimal_rescale(&1255, 2, 4, 5, &mut out), STATUS_FAILED);
            assert_eq!(
                decimal_rescale(&POWERS_OF_TEN[37], 0, 10, 38, &mut out),
                STATUS_FAILED
            );
            assert_eq!(
                decimal_mul(&POWERS_OF_TEN[20], &POWERS_OF_TEN[17], &mut out),
                STATUS_OK
            );
            assert_eq!(
                decimal_mul(&POWERS_OF_TEN[20], &POWERS_OF_TEN[18], &mut out),
                STATUS_FAILED
            );
            assert_eq!(
                [decimal_check(&999, 3), decimal_check(&1000, 3)],
                [STATUS_OK, STATUS_FAILED]
            );
            assert_eq!(decimal_rem(&-7, &3, &mut out), STATUS_OK);
            assert_eq!(out, -1);
            assert_eq!(decimal_rem(&7, &0, &mut out), STATUS_FAILED);
            for (value, ceil, floor) in [(150, 2, 1), (-150, -1, -2), (200, 2, 2), (0, 0, 0)] {
                decimal_ceil(&value, 2, &mut out);
                assert_eq!(out, ceil);
                decimal_floor(&value, 2, &mut out);
                assert_eq!(out, floor);
            }
        }
    }

    #[test]
    fn converts_to_doubles() {
        // SAFETY: locals.
        unsafe {
            assert_eq!(decimal_to_double(&15, 2), 0.15);
            assert_eq!(
                decimal_to_double(&-123_456_789_012_345_678_901, 10),
                -12_345_678_901.234_568
            );
        }
    }
}
