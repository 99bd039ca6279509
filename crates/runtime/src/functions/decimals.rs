//! Decimals of up to 38 digits, as 128-bit unscaled integers.

use crate::abi::{STATUS_FAILED, STATUS_OK};
use frazil_types::decimal::{POWERS_OF_TEN, rescale};

type Wide = *const i128;
type WideOut = *mut i128;

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
