//! Values of `numeric` without precision: exact numbers of up to 38 digits, each with its own digits after the point.
//!
//! In columns a value is a short byte string: [`encoded`] has its form.
//!
//! Digits after the point that do not fit into 38 digits are rounded away, half away from zero; digits before it that
//! do not fit are an error (22003).

mod encoded;

pub use encoded::Encoded;

use crate::decimal::{self, POWERS_OF_TEN, divide_round};
use crate::logical_type::DECIMAL_MAX_DIGITS as DIGITS;
use crate::{Error, LogicalType, Result, SqlState, Value, value_ops};
use std::cmp::Ordering;
use std::fmt;

/// Significant digits of a quotient: PostgreSQL's NUMERIC_MIN_SIG_DIGITS.
const QUOTIENT_DIGITS: i32 = 16;
/// Decimal digits of PostgreSQL's unit, by which it counts the digits of a quotient.
const UNIT_DIGITS: i32 = 4;

/// The side of a number on which its bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The bound is not greater.
    Below,
    /// The bound is not less.
    Above,
}

/// An exact number with its digits after the point. Equality and order are those of the numbers: 1.5 equals 1.50.
#[derive(Clone, Copy, Debug)]
pub struct Numeric {
    /// The number times 10^`scale`; fewer than 39 digits.
    coefficient: i128,
    /// Digits after the point, 0 to 38.
    scale: u8,
}

impl Numeric {
    /// A decimal of a scale up to 38. Error 22003 for more than 38 digits.
    pub fn new(coefficient: i128, scale: u8) -> Result<Numeric> {
        fits(coefficient, scale).ok_or_else(overflow)
    }

    /// The number times 10^[`Numeric::scale`].
    pub fn coefficient(self) -> i128 {
        self.coefficient
    }

    /// Digits after the point.
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// Reads a number: digits with a point and an exponent. Errors: 22P02 for what is not one, 22003 for more than 38
    /// digits before the point, 0A000 for NaN and infinity.
    pub fn read(text: &str) -> Result<Numeric> {
        let trimmed = value_ops::trimmed(text);
        let unsigned = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
        if ["nan", "inf", "infinity"]
            .iter()
            .any(|word| unsigned.eq_ignore_ascii_case(word))
        {
            return Err(Error::unsupported(format!("a numeric {unsigned}")));
        }
        let invalid = || value_ops::invalid(LogicalType::Numeric, text);
        let (mantissa, exponent) = match trimmed.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| invalid())?),
            None => (trimmed, 0),
        };
        let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let scale = (fraction as i64 - i64::from(exponent)).clamp(0, DIGITS.into()) as u8;
        // A number that does not fit loses digits after the point.
        let mut scales = (0..=scale).rev();
        let read = scales.find_map(|scale| match decimal::parse(trimmed, DIGITS, scale) {
            Ok(coefficient) => Some(Ok(Numeric { coefficient, scale })),
            Err(e) if e.state() == SqlState::NUMERIC_OUT_OF_RANGE => None,
            Err(_) => Some(Err(invalid())),
        });
        read.unwrap_or_else(|| Err(overflow()))
    }

    /// The number of a double's or real's `digits` most significant digits. Errors: 22003 for infinity and what has
    /// more than 38 digits, 0A000 for NaN.
    pub fn of_double(v: f64, digits: usize) -> Result<Numeric> {
        if v.is_nan() {
            return Err(Error::unsupported("a numeric NaN"));
        }
        if v.is_infinite() {
            return Err(overflow());
        }
        Numeric::read(&format!("{v:.*e}", digits - 1)).map(Numeric::trimmed)
    }

    /// The nearest double.
    pub fn to_double(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The number over 10^`places`: its digits stay, as far as there is room.
    pub fn shifted(self, places: usize) -> Numeric {
        let scale = usize::from(self.scale).saturating_add(places);
        let surplus = scale.saturating_sub(DIGITS.into());
        Numeric {
            coefficient: POWERS_OF_TEN
                .get(surplus)
                .map_or(0, |power| divide_round(self.coefficient, *power)),
            scale: scale.min(DIGITS.into()) as u8,
        }
    }

    /// The coefficient at another scale, rounded half away from zero; `None` beyond 128 bits.
    pub fn at_scale(self, scale: u8) -> Option<i128> {
        decimal::rescale(self.coefficient, self.scale, scale)
    }

    /// The number without zeros at the end of its fraction.
    pub fn trimmed(mut self) -> Numeric {
        while self.scale > 0 && self.coefficient % 10 == 0 {
            self = Numeric {
                coefficient: self.coefficient / 10,
                scale: self.scale - 1,
            };
        }
        self
    }

    /// The power of ten of the first digit: 0 of 1 to 9.99; `None` of zero.
    fn first_power(self) -> Option<i32> {
        let power = self.coefficient.unsigned_abs().checked_ilog10()? as i32;
        Some(power - i32::from(self.scale))
    }

    // --- arithmetic -----------------------------------------------------------------------------

    /// The number with the other sign.
    pub fn negated(self) -> Numeric {
        Numeric {
            coefficient: -self.coefficient,
            ..self
        }
    }

    /// The number without its sign.
    pub fn abs(self) -> Numeric {
        Numeric {
            coefficient: self.coefficient.abs(),
            ..self
        }
    }

    /// The sum. Error 22003.
    pub fn plus(self, other: Numeric) -> Result<Numeric> {
        let scale = self.scale.max(other.scale);
        let at = |scale: u8| {
            let sum = self.at_scale(scale)?.checked_add(other.at_scale(scale)?)?;
            fits(sum, scale)
        };
        (0..=scale).rev().find_map(at).ok_or_else(overflow)
    }

    /// The difference. Error 22003.
    pub fn minus(self, other: Numeric) -> Result<Numeric> {
        self.plus(other.negated())
    }

    /// The product, which has the digits after the point of both. Error 22003.
    pub fn times(self, other: Numeric) -> Result<Numeric> {
        let scale = self.scale + other.scale;
        let at = |drop: u8| {
            let product = value_ops::multiply_round(self.coefficient, other.coefficient, drop)?;
            fits(product, scale - drop)
        };
        let mut drops = scale.saturating_sub(DIGITS)..=scale.min(DIGITS);
        drops.find_map(at).ok_or_else(overflow)
    }

    /// The quotient, with PostgreSQL's digits after the point: 16 significant ones at least, and those of both numbers.
    /// Errors 22003, 22012.
    pub fn divided(self, by: Numeric) -> Result<Numeric> {
        if by.coefficient == 0 {
            return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
        }
        let scale = self.quotient_scale(by);
        let at = |scale: u8| {
            let (a, b) = ((self.coefficient, self.scale), (by.coefficient, by.scale));
            fits(value_ops::quotient(a, b, scale)?, scale)
        };
        (0..=scale).rev().find_map(at).ok_or_else(overflow)
    }

    /// Digits after the point of a quotient: PostgreSQL's select_div_scale.
    fn quotient_scale(self, by: Numeric) -> u8 {
        let ((a, first_a), (b, first_b)) = (self.first_unit(), by.first_unit());
        let units = a - b - i32::from(first_a <= first_b);
        let least = i32::from(self.scale.max(by.scale));
        (QUOTIENT_DIGITS - units * UNIT_DIGITS)
            .max(least)
            .clamp(0, DIGITS.into()) as u8
    }

    /// The power and the value of the first of PostgreSQL's units of four digits; zeros for zero.
    fn first_unit(self) -> (i32, i128) {
        let Some(power) = self.first_power() else {
            return (0, 0);
        };
        let unit = power.div_euclid(UNIT_DIGITS);
        // Digits that stand behind the first unit.
        let behind = i32::from(self.scale) + unit * UNIT_DIGITS;
        let digits = self.coefficient.abs();
        let first = match usize::try_from(behind) {
            Ok(behind) => digits / POWERS_OF_TEN[behind.min(usize::from(DIGITS))],
            Err(_) => digits * POWERS_OF_TEN[behind.unsigned_abs() as usize],
        };
        (unit, first)
    }

    /// The remainder of a division with a whole quotient; it has the sign of the dividend. Error 22012.
    pub fn remainder(self, by: Numeric) -> Result<Numeric> {
        if by.coefficient == 0 {
            return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
        }
        let (a, b) = ((self.coefficient, self.scale), (by.coefficient, by.scale));
        Numeric::new(value_ops::remainder(a, b), self.scale.max(by.scale))
    }

    /// The whole part of the quotient. Errors 22003, 22012.
    pub fn whole_quotient(self, by: Numeric) -> Result<Numeric> {
        let rest = self.remainder(by)?;
        Ok(self.minus(rest)?.divided(by)?.rounded(0))
    }

    /// The greatest number of which both are whole multiples, with the digits of the one that has more. Error 22003.
    pub fn greatest_divisor(self, other: Numeric) -> Result<Numeric> {
        let scale = self.scale.max(other.scale);
        let (mut a, mut b) = (self.abs(), other.abs());
        while b.coefficient != 0 {
            (a, b) = (b, a.remainder(b)?);
        }
        Numeric::new(a.at_scale(scale).ok_or_else(overflow)?, scale)
    }

    /// The least number that is a whole multiple of both, with the digits of the one that has more; 0 if one is 0.
    /// Error 22003.
    pub fn least_multiple(self, other: Numeric) -> Result<Numeric> {
        let scale = self.scale.max(other.scale);
        if self.coefficient == 0 || other.coefficient == 0 {
            return Numeric::new(0, scale);
        }
        let factor = self.whole_quotient(self.greatest_divisor(other)?)?;
        let multiple = factor.times(other)?.abs();
        Numeric::new(multiple.at_scale(scale).ok_or_else(overflow)?, scale)
    }

    // --- digits ---------------------------------------------------------------------------------

    /// The number rounded half away from zero to `digits` digits after the point, of which it has as many then; to tens
    /// and so on for fewer than none. A number that has no room for more digits stays as it is.
    pub fn rounded(self, digits: i32) -> Numeric {
        self.cut(digits, divide_round)
    }

    /// Like [`Numeric::rounded`], but towards zero.
    pub fn truncated(self, digits: i32) -> Numeric {
        self.cut(digits, |v, power| v / power)
    }

    /// The nearest multiple of 10^-`scale` on a side, times 10^`scale`: not above the number, or not below it. One of
    /// more than 38 digits is ±10^38, which is beyond all decimals of that scale.
    pub fn bound(self, scale: u8, side: Side) -> i128 {
        let limit = POWERS_OF_TEN[usize::from(DIGITS)];
        if scale >= self.scale {
            let beyond = if self.coefficient < 0 { -limit } else { limit };
            let exact = self.at_scale(scale);
            return exact.map_or(beyond, |exact| exact.clamp(-limit, limit));
        }
        let power = POWERS_OF_TEN[usize::from(self.scale - scale)];
        match side {
            Side::Below => self.coefficient.div_euclid(power),
            Side::Above => -(-self.coefficient).div_euclid(power),
        }
    }

    /// The greatest whole number that is not greater.
    pub fn floor(self) -> Numeric {
        self.cut(0, i128::div_euclid)
    }

    /// The least whole number that is not less.
    pub fn ceil(self) -> Numeric {
        self.cut(0, |v, power| -(-v).div_euclid(power))
    }

    fn cut(self, digits: i32, divide: fn(i128, i128) -> i128) -> Numeric {
        let scale = digits.clamp(0, DIGITS.into()) as u8;
        if scale >= self.scale && digits >= 0 {
            let wider = (self.scale..=scale)
                .rev()
                .find_map(|scale| fits(self.at_scale(scale)?, scale));
            return wider.unwrap_or(self);
        }
        let drop = i64::from(self.scale) - i64::from(digits);
        let whole_power = POWERS_OF_TEN.get(digits.min(0).unsigned_abs() as usize);
        let coefficient = match (
            usize::try_from(drop)
                .ok()
                .and_then(|drop| POWERS_OF_TEN.get(drop)),
            whole_power,
        ) {
            (Some(power), Some(whole)) => divide(self.coefficient, *power).checked_mul(*whole).unwrap_or(0),
            _ => 0,
        };
        Numeric { coefficient, scale }
    }
}

/// The number if it has at most 38 digits.
fn fits(coefficient: i128, scale: u8) -> Option<Numeric> {
    let limit = POWERS_OF_TEN[usize::from(DIGITS)].unsigned_abs();
    (coefficient.unsigned_abs() < limit && scale <= DIGITS).then_some(Numeric { coefficient, scale })
}

/// Error 22003 of a number with more than 38 digits before the point.
pub fn overflow() -> Error {
    let detail = format!("a numeric has at most {DIGITS} digits before the point");
    Error::new(SqlState::NUMERIC_OUT_OF_RANGE, "value overflows numeric format").with_detail(detail)
}

impl From<Numeric> for Value {
    fn from(number: Numeric) -> Value {
        Value::Bytes(number.to_bytes())
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.coefficient, self.scale)
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Numeric) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Numeric {}

impl PartialOrd for Numeric {
    fn partial_cmp(&self, other: &Numeric) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Numeric {
    fn cmp(&self, other: &Numeric) -> Ordering {
        let at = |n: &Numeric| (n.coefficient, n.scale);
        value_ops::compare_decimals(at(self), at(other))
    }
}

#[cfg(test)]
mod tests;
