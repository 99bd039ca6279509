//! Arithmetic of values, checked.

use super::ArithmeticOp;
use crate::decimal::{self, POWERS_OF_TEN};
use crate::numeric::Numeric;
use crate::{Error, LogicalType, Result, SqlState, Value};

/// Most digits of a decimal.
const DIGITS: u8 = crate::logical_type::DECIMAL_MAX_DIGITS;

/// A value of a type that is held as an integer. Its error where it does not fit: 22003, or 22008.
pub fn check_range(v: i128, ty: LogicalType) -> Result<Value> {
    match ty.range() {
        Some((min, max)) if !(min..=max).contains(&v) => Err(ty.overflow()),
        Some(_) | None => Ok(Value::Int(v)),
    }
}

/// `a op b` as a value of the numeric type `ty`; NULL where one is. Quotients of decimals, and products whose
/// factors have more digits after the point than the result, are rounded half away from zero. Errors 22003, 22012.
pub fn arithmetic(
    op: ArithmeticOp,
    (a, at): (&Value, LogicalType),
    (b, bt): (&Value, LogicalType),
    ty: LogicalType,
) -> Result<Value> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (a, b) if ty.is_unscaled() => {
            numeric(op, exact_number(a, at)?, exact_number(b, bt)?).map(Value::from)
        }
        (Value::Double(a), Value::Double(b)) => doubles(op, *a, *b).map(Value::Double),
        (Value::Int(a), Value::Int(b)) => match (at.scale(), bt.scale(), ty.scale()) {
            (Some(sa), Some(sb), Some(scale)) => exact(op, (*a, sa), (*b, sb), scale, ty),
            _ => Err(Error::internal("arithmetic of values that are not numbers")),
        },
        _ => Err(Error::internal("arithmetic of values of different types")),
    }
}

/// A value of an exact type as a number with its digits after the point. Error XX001 for damaged bytes.
pub fn exact_number(value: &Value, ty: LogicalType) -> Result<Numeric> {
    match (value, ty.scale()) {
        (Value::Int(v), Some(scale)) => Numeric::new(*v, scale),
        (Value::Bytes(bytes), None) if ty.is_unscaled() => Numeric::of_bytes(bytes),
        _ => Err(Error::internal(
            "a numeric of a value that is not an exact number",
        )),
    }
}

/// `a op b` of numbers with their own digits after the point. Errors 22003, 22012.
pub fn numeric(op: ArithmeticOp, a: Numeric, b: Numeric) -> Result<Numeric> {
    match op {
        ArithmeticOp::Add => a.plus(b),
        ArithmeticOp::Sub => a.minus(b),
        ArithmeticOp::Mul => a.times(b),
        ArithmeticOp::Div => a.divided(b),
        ArithmeticOp::Rem => a.remainder(b),
    }
}

fn exact(
    op: ArithmeticOp,
    (a, sa): (i128, u8),
    (b, sb): (i128, u8),
    scale: u8,
    ty: LogicalType,
) -> Result<Value> {
    use ArithmeticOp::*;
    if matches!(op, Div | Rem) && b == 0 {
        return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
    }
    let rescaled = |v, from| decimal::rescale(v, from, scale);
    let result = match op {
        Add => rescaled(a, sa)
            .zip(rescaled(b, sb))
            .and_then(|(a, b)| a.checked_add(b)),
        Sub => rescaled(a, sa)
            .zip(rescaled(b, sb))
            .and_then(|(a, b)| a.checked_sub(b)),
        Rem => Some(remainder((a, sa), (b, sb))),
        Mul if sa + sb == scale => a.checked_mul(b),
        Mul => multiply_round(a, b, sa + sb - scale),
        Div if ty.is_integer() => a.checked_div(b),
        Div => quotient((a, sa), (b, sb), scale),
    };
    check_range(result.ok_or_else(|| ty.overflow())?, ty)
}

/// What is left of a decimal divided by another, with the sign of the first, at the larger of their scales. The divisor is not
/// 0. Nothing overflows: what is left has no more digits than either.
pub fn remainder((a, sa): (i128, u8), (b, sb): (i128, u8)) -> i128 {
    let power = |n: u8| POWERS_OF_TEN[usize::from(n)];
    if sa >= sb {
        // A divisor beyond 128 bits is more than any dividend.
        let Some(divisor) = b.checked_mul(power(sa - sb)) else {
            return a;
        };
        return a.checked_rem(divisor).unwrap_or(0);
    }
    if let Some(a) = a.checked_mul(power(sb - sa)) {
        return a.checked_rem(b).unwrap_or(0);
    }
    let divisor = b.unsigned_abs();
    // Less than the divisor, which is less than 2^127: a sum of two fits.
    let sum = |x: u128, y: u128| (x + y) % divisor;
    let mut rest = a.unsigned_abs() % divisor;
    for _ in sa..sb {
        let twice = sum(rest, rest);
        let eightfold = sum(sum(twice, twice), sum(twice, twice));
        rest = sum(eightfold, twice);
    }
    if a < 0 { -(rest as i128) } else { rest as i128 }
}

fn doubles(op: ArithmeticOp, a: f64, b: f64) -> Result<f64> {
    use ArithmeticOp::*;
    let (value, underflows) = match op {
        Add => (a + b, false),
        Sub => (a - b, false),
        Mul => (a * b, a != 0.0 && b != 0.0),
        Div if b == 0.0 && !a.is_nan() => {
            return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
        }
        Div => (a / b, a != 0.0 && !b.is_infinite()),
        Rem => (a % b, false),
    };
    let out_of_range = |what| {
        Err(Error::new(
            SqlState::NUMERIC_OUT_OF_RANGE,
            format!("value out of range: {what}"),
        ))
    };
    if value.is_infinite() && a.is_finite() && b.is_finite() {
        return out_of_range("overflow");
    }
    if value == 0.0 && underflows {
        return out_of_range("underflow");
    }
    Ok(value)
}

/// −value. Error 22003.
pub fn negate(value: &Value, ty: LogicalType) -> Result<Value> {
    match value {
        Value::Int(v) => check_range(-*v, ty),
        Value::Double(v) => Ok(Value::Double(-*v)),
        Value::Interval(i) => super::negate_interval(*i).map(Value::Interval),
        Value::Bytes(bytes) if ty.is_unscaled() => Ok(Numeric::of_bytes(bytes)?.negated().into()),
        other => Ok(other.clone()),
    }
}

/// The product of two magnitudes, as high and low half.
fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (low, mid, other, high) = (a0 * b0, a1 * b0, a0 * b1, a1 * b1);
    let carry = (low >> 64) + (mid & LOW) + (other & LOW);
    let high = high + (mid >> 64) + (other >> 64) + (carry >> 64);
    (high, low & LOW | carry << 64)
}

/// `(high, low) / divisor` rounded half up; `None` beyond 128 bits. The divisor is not 0 and below 2^127.
fn wide_quotient((high, low): (u128, u128), divisor: u128) -> Option<u128> {
    if high >= divisor {
        return None;
    }
    let (mut rest, mut quotient) = (high, 0u128);
    for bit in (0..128).rev() {
        rest = rest << 1 | low >> bit & 1;
        quotient <<= 1;
        if rest >= divisor {
            rest -= divisor;
            quotient |= 1;
        }
    }
    if rest >= divisor.div_ceil(2) {
        quotient = quotient.checked_add(1)?;
    }
    Some(quotient)
}

fn signed(magnitude: u128, negative: bool) -> Option<i128> {
    let v = i128::try_from(magnitude).ok()?;
    Some(if negative { -v } else { v })
}

/// `a × b / 10^drop`, rounded half away from zero; `None` beyond 128 bits.
pub fn multiply_round(a: i128, b: i128, drop: u8) -> Option<i128> {
    let power = POWERS_OF_TEN.get(usize::from(drop))?.unsigned_abs();
    if let Some(product) = a.checked_mul(b) {
        return Some(decimal::divide_round(product, power as i128));
    }
    let product = wide_product(a.unsigned_abs(), b.unsigned_abs());
    signed(wide_quotient(product, power)?, (a < 0) != (b < 0))
}

/// The quotient of two decimals at a wanted scale, rounded half away from zero; `None` beyond 128 bits.
/// The divisor is not 0.
pub fn quotient((a, sa): (i128, u8), (b, sb): (i128, u8), scale: u8) -> Option<i128> {
    // a/10^sa / (b/10^sb) * 10^scale = a * 10^(scale + sb - sa) / b
    let shift = i32::from(scale) + i32::from(sb) - i32::from(sa);
    if let Ok(shift) = usize::try_from(shift)
        && let Some(scaled) = POWERS_OF_TEN.get(shift).and_then(|power| a.checked_mul(*power))
    {
        return Some(decimal::divide_round(scaled, b));
    }
    let (a, negative) = (a.unsigned_abs(), (a < 0) != (b < 0));
    let power = |n: i32| Some(POWERS_OF_TEN[n.clamp(0, i32::from(DIGITS)) as usize].unsigned_abs());
    if shift < 0 {
        // A divisor beyond 128 bits is more than twice any dividend.
        let Some(divisor) = b.unsigned_abs().checked_mul(power(-shift)?) else {
            return Some(0);
        };
        let up = u128::from(a % divisor >= divisor.div_ceil(2));
        return signed(a / divisor + up, negative);
    }
    // Up to 76 digits: the first 38 by multiplication, the rest by a second step on what is left.
    if shift <= i32::from(DIGITS) {
        let product = wide_product(a, power(shift)?);
        return signed(wide_quotient(product, b.unsigned_abs())?, negative);
    }
    let first = wide_product(a, power(i32::from(DIGITS))?);
    let divisor = b.unsigned_abs();
    let whole = exact_quotient(first, divisor)?;
    let rest = {
        let (_, low) = wide_product(whole, divisor);
        first.1.wrapping_sub(low)
    };
    let more = power(shift - i32::from(DIGITS))?;
    let tail = wide_quotient(wide_product(rest, more), divisor)?;
    signed(whole.checked_mul(more)?.checked_add(tail)?, negative)
}

/// `(high, low) / divisor`, truncated; `None` beyond 128 bits.
fn exact_quotient(product: (u128, u128), divisor: u128) -> Option<u128> {
    let rounded = wide_quotient(product, divisor)?;
    let back = wide_product(rounded, divisor);
    Some(if back > product { rounded - 1 } else { rounded })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(precision: u8, scale: u8) -> LogicalType {
        LogicalType::Decimal { precision, scale }
    }

    fn int(op: ArithmeticOp, a: i128, b: i128, ty: LogicalType) -> Result<Value, &'static str> {
        arithmetic(op, (&Value::Int(a), ty), (&Value::Int(b), ty), ty).map_err(|e| e.state().0)
    }

    #[test]
    fn remainders_of_any_scales_do_not_overflow() {
        let most = POWERS_OF_TEN[38] - 1;
        assert_eq!(remainder((most, 0), (5, 1)), 0);
        assert_eq!(remainder((most, 0), (7, 1)), 3);
        assert_eq!(remainder((-most, 0), (7, 1)), -3);
        assert_eq!(remainder((15, 1), (most, 0)), 15);
        assert_eq!(remainder((most, 38), (1, 0)), most);
        assert_eq!(remainder((-75, 1), (2, 0)), -15);
        assert_eq!(remainder((most, 0), (most, 38)), 0);
        let (a, b) = (
            12_345_678_901_234_567_890_123_456_789_012_345_678,
            98_765_432_109_876_543_210_987_654_321_098_765_432,
        );
        assert_eq!(remainder((a, 3), (b, 30)), 24673779901579877990132831549026097608);
    }

    #[test]
    fn integers_overflow_at_their_type() {
        use ArithmeticOp::*;
        assert_eq!(int(Add, 32_767, 1, LogicalType::SmallInt), Err("22003"));
        assert_eq!(int(Mul, i64::MAX.into(), 2, LogicalType::BigInt), Err("22003"));
        assert_eq!(int(Div, i32::MIN.into(), -1, LogicalType::Integer), Err("22003"));
        assert_eq!(
            int(Rem, i32::MIN.into(), -1, LogicalType::Integer),
            Ok(Value::Int(0))
        );
        assert_eq!(int(Div, 1, 0, LogicalType::Integer), Err("22012"));
        assert_eq!(int(Div, -7, 2, LogicalType::Integer), Ok(Value::Int(-3)));
    }

    #[test]
    fn doubles_follow_postgresql() {
        let double = |op, a, b| {
            let ty = LogicalType::Double;
            let value = arithmetic(op, (&Value::Double(a), ty), (&Value::Double(b), ty), ty);
            match value.map_err(|e| e.state().0)? {
                Value::Double(v) => Ok(v),
                _ => Err("not a double"),
            }
        };
        assert!(double(ArithmeticOp::Div, f64::NAN, 0.0).unwrap().is_nan());
        assert_eq!(double(ArithmeticOp::Div, 1.0, 0.0), Err("22012"));
        assert_eq!(double(ArithmeticOp::Mul, 1e300, 1e300), Err("22003"));
        assert_eq!(double(ArithmeticOp::Mul, 1e-300, 1e-300), Err("22003"));
        assert_eq!(double(ArithmeticOp::Div, 1.0, f64::INFINITY), Ok(0.0));
    }

    #[test]
    fn decimals_beyond_128_bits_on_the_way() {
        let big = POWERS_OF_TEN[37];
        assert_eq!(quotient((big, 0), (big, 0), 10), Some(POWERS_OF_TEN[10]));
        assert_eq!(
            quotient((-2 * big, 0), (3 * big, 0), 20),
            Some(-66_666_666_666_666_666_667)
        );
        assert_eq!(quotient((1, 38), (1, 38), 38), Some(POWERS_OF_TEN[38]));
        assert_eq!(quotient((1, 0), (1, 38), 38), None);
        assert_eq!(
            quotient((1, 0), (POWERS_OF_TEN[37], 37), 37),
            Some(POWERS_OF_TEN[37])
        );
        assert_eq!(
            quotient((2, 0), (3 * POWERS_OF_TEN[36], 36), 20),
            Some(66_666_666_666_666_666_667)
        );
        assert_eq!(multiply_round(big, big, 37), Some(big));
        assert_eq!(multiply_round(-15, 1, 1), Some(-2));
        let ty = decimal(38, 0);
        assert_eq!(int(ArithmeticOp::Mul, big, 100, ty), Err("22003"));
    }

    #[test]
    fn wide_products_match_narrow_ones() {
        assert_eq!(
            wide_product(u128::from(u64::MAX), u128::from(u64::MAX)),
            (0, u128::from(u64::MAX) * u128::from(u64::MAX))
        );
        assert_eq!(wide_product(u128::MAX, 2), (1, u128::MAX - 1));
        assert_eq!(wide_quotient((1, 0), 1 << 100), Some(1 << 28));
        assert_eq!(wide_quotient((0, 15), 10), Some(2));
    }
}
