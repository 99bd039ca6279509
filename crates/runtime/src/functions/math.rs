//! Functions on doubles.

use crate::abi::{PipelineContext, STATUS_FAILED, STATUS_OK};
use crate::row_layout::SqlOrder;
use frazil_types::{Error, SqlState};

/// # Safety
/// `out` must be valid for a write.
pub unsafe extern "C" fn double_to_integer(v: f64, min: i64, max: i64, out: *mut i64) -> u32 {
    let rounded = v.round_ties_even();
    // Bounds as doubles: max + 1 is exact for every integer type, as is min.
    if !(rounded >= min as f64 && rounded < max as f64 + if max == i64::MAX { 0.0 } else { 1.0 }) {
        return STATUS_FAILED;
    }
    // SAFETY: by contract.
    unsafe { out.write_unaligned(rounded as i64) };
    STATUS_OK
}

/// # Safety
/// None needed; unsafe like all functions of the table.
pub unsafe extern "C" fn double_compare(a: f64, b: f64) -> i32 {
    // SAFETY: doubles refer to nothing.
    unsafe { a.order(b) as i32 }
}

/// # Safety
/// None needed; unsafe like all functions of the table.
pub unsafe extern "C" fn double_rem(a: f64, b: f64) -> f64 {
    a % b
}

/// # Safety
/// None needed; unsafe like all functions of the table.
pub unsafe extern "C" fn double_round(v: f64, digits: i32) -> f64 {
    if digits == 0 {
        return v.round_ties_even();
    }
    let power = 10f64.powi(digits.clamp(-308, 308).abs());
    let rounded = if digits > 0 {
        (v * power).round() / power
    } else {
        (v / power).round() * power
    };
    // So many digits that scaling overflows: nothing to round.
    if rounded.is_finite() { rounded } else { v }
}

/// # Safety
/// `context` must be the pipeline's, `out` valid for a write.
unsafe fn put(context: *mut PipelineContext, value: f64, arguments: &[f64], out: *mut f64) -> u32 {
    // SAFETY: by contract.
    unsafe {
        if value.is_infinite() && arguments.iter().all(|a| a.is_finite()) {
            return fail(
                context,
                SqlState::NUMERIC_OUT_OF_RANGE,
                "value out of range: overflow",
            );
        }
        out.write_unaligned(value);
    }
    STATUS_OK
}

/// # Safety
/// `context` must be the pipeline's.
unsafe fn fail(context: *mut PipelineContext, state: SqlState, message: &str) -> u32 {
    // SAFETY: by contract.
    unsafe { (*context).fail(Error::new(state, message)) }
}

/// Invalid argument for a power function.
const INVALID_POWER: SqlState = SqlState("2201F");
/// Invalid argument for a logarithm.
const INVALID_LOGARITHM: SqlState = SqlState("2201E");

/// # Safety
/// As [`put`].
pub unsafe extern "C" fn sqrt(context: *mut PipelineContext, v: f64, out: *mut f64) -> u32 {
    // SAFETY: by contract.
    unsafe {
        if v < 0.0 {
            return fail(
                context,
                INVALID_POWER,
                "cannot take square root of a negative number",
            );
        }
        put(context, v.sqrt(), &[v], out)
    }
}

/// # Safety
/// As [`put`].
pub unsafe extern "C" fn power(
    context: *mut PipelineContext,
    base: f64,
    exponent: f64,
    out: *mut f64,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        if base == 0.0 && exponent < 0.0 {
            return fail(
                context,
                INVALID_POWER,
                "zero raised to a negative power is undefined",
            );
        }
        if base < 0.0 && exponent.is_finite() && exponent.fract() != 0.0 {
            let message = "a negative number raised to a non-integer power yields a complex result";
            return fail(context, INVALID_POWER, message);
        }
        put(context, base.powf(exponent), &[base, exponent], out)
    }
}

/// # Safety
/// As [`put`].
pub unsafe extern "C" fn ln(context: *mut PipelineContext, v: f64, out: *mut f64) -> u32 {
    // SAFETY: by contract.
    unsafe {
        if v == 0.0 {
            return fail(context, INVALID_LOGARITHM, "cannot take logarithm of zero");
        }
        if v < 0.0 {
            return fail(
                context,
                INVALID_LOGARITHM,
                "cannot take logarithm of a negative number",
            );
        }
        put(context, v.ln(), &[v], out)
    }
}

/// # Safety
/// As [`put`].
pub unsafe extern "C" fn exp(context: *mut PipelineContext, v: f64, out: *mut f64) -> u32 {
    // SAFETY: by contract.
    unsafe {
        if v.exp() == 0.0 && v.is_finite() {
            return fail(
                context,
                SqlState::NUMERIC_OUT_OF_RANGE,
                "value out of range: underflow",
            );
        }
        put(context, v.exp(), &[v], out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::strings::tests::context;

    #[test]
    fn rounds_to_integers_half_to_even() {
        let to = |v, min, max| {
            let mut out = 0;
            // SAFETY: a local.
            (unsafe { double_to_integer(v, min, max, &mut out) } == STATUS_OK).then_some(out)
        };
        let (min, max) = (i64::from(i32::MIN), i64::from(i32::MAX));
        assert_eq!(
            [2.5, 3.5, -2.5].map(|v| to(v, min, max)),
            [Some(2), Some(4), Some(-2)]
        );
        assert_eq!(to(2_147_483_647.4, min, max), Some(max));
        assert_eq!(to(2_147_483_647.5, min, max), None);
        assert_eq!(to(-2_147_483_648.5, min, max), Some(min));
        assert_eq!(to(9_223_372_036_854_775_807.0, i64::MIN, i64::MAX), None);
        assert_eq!(
            to(-9_223_372_036_854_775_808.0, i64::MIN, i64::MAX),
            Some(i64::MIN)
        );
        assert_eq!(to(f64::NAN, i64::MIN, i64::MAX), None);
    }

    #[test]
    fn domains_are_checked() {
        let state = |f: &dyn Fn(*mut PipelineContext, *mut f64) -> u32| {
            context(|c| {
                let mut out = 0.0;
                match f(c, &mut out) {
                    STATUS_OK => Ok(out),
                    // SAFETY: the context is alive.
                    _ => Err(unsafe { (*c).error.error.take() }.unwrap().state().0),
                }
            })
        };
        // SAFETY: contexts and outs are alive.
        unsafe {
            assert_eq!(state(&|c, o| sqrt(c, 9.0, o)), Ok(3.0));
            assert_eq!(state(&|c, o| sqrt(c, -1.0, o)), Err("2201F"));
            assert_eq!(state(&|c, o| power(c, 2.0, 10.0, o)), Ok(1024.0));
            assert_eq!(state(&|c, o| power(c, 0.0, -1.0, o)), Err("2201F"));
            assert_eq!(state(&|c, o| power(c, -8.0, 0.5, o)), Err("2201F"));
            assert_eq!(state(&|c, o| power(c, 1e300, 2.0, o)), Err("22003"));
            assert_eq!(state(&|c, o| ln(c, 1.0, o)), Ok(0.0));
            assert_eq!(state(&|c, o| ln(c, 0.0, o)), Err("2201E"));
            assert_eq!(state(&|c, o| exp(c, 1000.0, o)), Err("22003"));
            assert_eq!(state(&|c, o| exp(c, -1e4, o)), Err("22003"));
            assert_eq!(state(&|c, o| exp(c, f64::NEG_INFINITY, o)), Ok(0.0));
            assert_eq!([2.5, 3.5, -0.5].map(|v| double_round(v, 0)), [2.0, 4.0, 0.0]);
            assert_eq!(double_round(2.345, 2), 2.35);
            assert_eq!(double_round(-1250.0, -2), -1300.0);
            assert_eq!(double_round(1e300, 200), 1e300);
            assert_eq!([double_compare(f64::NAN, 1.0), double_compare(-0.0, 0.0)], [1, 0]);
            assert_eq!(double_rem(7.5, 2.0), 1.5);
        }
    }
}
