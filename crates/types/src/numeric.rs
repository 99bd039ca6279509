//! Values of `numeric` without precision: exact numbers of up to 38 digits, each with its own digits after the point.
//!
//! In columns a value is a short byte string. Its first part orders and equals values as numbers, so that 1.5 and 1.50
//! have one [key](Numeric::key); the last byte is the number of digits after the point, which only the text shows:
//!
//! | part | bytes |
//! |---|---|
//! | sign and magnitude | 128 for zero, else 128 ± (39 + the power of ten of the first digit) |
//! | digits | two a byte plus 1, the first ones first, without zeros at the end; of negative numbers 255 minus that |
//! | end | 0, of negative numbers 255; none for zero |
//! | scale | 0 to 38 |
//!
//! Nineteen digits or fewer take at most 13 bytes.
//!
//! Digits after the point that do not fit into 38 digits are rounded away, half away from zero; digits before it that
//! do not fit are an error (22003).

use crate::decimal::{self, POWERS_OF_TEN, divide_round};
use crate::logical_type::DECIMAL_MAX_DIGITS as DIGITS;
use crate::{Error, LogicalType, Result, SqlState, Value, value_ops};
use std::cmp::Ordering;
use std::fmt;

/// The byte that zero begins with.
const ZERO: u8 = 128;
/// Added to the power of ten of the first digit, so that it is positive.
const FIRST_POWER: i32 = 39;
/// Significant digits of a quotient: PostgreSQL's NUMERIC_MIN_SIG_DIGITS.
const QUOTIENT_DIGITS: i32 = 16;
/// Decimal digits of PostgreSQL's unit, by which it counts the digits of a quotient.
const UNIT_DIGITS: i32 = 4;

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

    // --- bytes ----------------------------------------------------------------------------------

    /// Bytes of the number in columns.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(12);
        match self.first_power() {
            None => bytes.push(ZERO),
            Some(power) => {
                let start = if self.coefficient < 0 { u8::MAX } else { 0 };
                let magnitude = (FIRST_POWER + power) as u8;
                bytes.push(if self.coefficient < 0 {
                    ZERO - magnitude
                } else {
                    ZERO + magnitude
                });
                let mut digits = self.coefficient.unsigned_abs();
                // All 38 places are used, so that the first digit is in the first byte.
                digits *= POWERS_OF_TEN[usize::from(DIGITS) - 1 - digits.ilog10() as usize].unsigned_abs();
                let mut pairs: Vec<u8> = Vec::with_capacity(usize::from(DIGITS) / 2);
                while digits > 0 {
                    pairs.push((digits % 100) as u8);
                    digits /= 100;
                }
                let zeros = pairs.iter().take_while(|pair| **pair == 0).count();
                bytes.extend(pairs[zeros..].iter().rev().map(|pair| start ^ (pair + 1)));
                bytes.push(start);
            }
        }
        bytes.push(self.scale);
        bytes
    }

    /// The number that [`Numeric::to_bytes`] wrote. Error XX001 for other bytes.
    pub fn of_bytes(bytes: &[u8]) -> Result<Numeric> {
        read_bytes(bytes).ok_or_else(|| Error::new(SqlState::DATA_CORRUPTED, "a numeric value is damaged"))
    }

    /// The part of a number's bytes by which numbers are ordered and equal.
    #[inline]
    pub fn key(bytes: &[u8]) -> &[u8] {
        bytes.split_last().map_or(bytes, |(_, key)| key)
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

/// The bytes of [`Numeric::to_bytes`], read; `None` for others.
fn read_bytes(bytes: &[u8]) -> Option<Numeric> {
    let (&scale, key) = bytes.split_last()?;
    if scale > DIGITS {
        return None;
    }
    let (&first, rest) = key.split_first()?;
    if first == ZERO {
        return rest.is_empty().then_some(Numeric {
            coefficient: 0,
            scale,
        });
    }
    let is_negative = first < ZERO;
    let start = if is_negative { u8::MAX } else { 0 };
    let power = i32::from(first.abs_diff(ZERO)) - FIRST_POWER;
    let (&end, pairs) = rest.split_last()?;
    if end != start || pairs.is_empty() || pairs.len() > usize::from(DIGITS) / 2 {
        return None;
    }
    let mut digits = 0_i128;
    for pair in pairs {
        let pair = (start ^ pair).checked_sub(1).filter(|pair| *pair < 100)?;
        digits = digits * 100 + i128::from(pair);
    }
    // The digits begin at the power of the first one; the coefficient ends at the scale.
    let missing = power + i32::from(scale) + 1 - 2 * pairs.len() as i32;
    let coefficient = match usize::try_from(missing) {
        Ok(missing) => digits.checked_mul(*POWERS_OF_TEN.get(missing)?)?,
        Err(_) => {
            let surplus = *POWERS_OF_TEN.get(missing.unsigned_abs() as usize)?;
            (digits % surplus == 0).then_some(digits / surplus)?
        }
    };
    let coefficient = if is_negative { -coefficient } else { coefficient };
    let number = fits(coefficient, scale)?;
    (number.first_power() == Some(power)).then_some(number)
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
mod tests {
    use super::*;

    fn number(text: &str) -> Numeric {
        Numeric::read(text).unwrap()
    }

    /// SplitMix64.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        }

        fn below(&mut self, limit: u64) -> u64 {
            self.next() % limit
        }

        /// A number of any length and scale; many have zeros at the end, and many are near to others.
        fn number(&mut self) -> Numeric {
            let wide = (u128::from(self.next()) << 64 | u128::from(self.next())) as i128;
            let head = wide % POWERS_OF_TEN[1 + self.below(38) as usize];
            let zeros = POWERS_OF_TEN[self.below(39) as usize];
            let longer = head.checked_mul(zeros).filter(|v| fits(*v, 0).is_some());
            let coefficient = longer.filter(|_| self.below(2) == 0).unwrap_or(head);
            Numeric::new(coefficient, self.below(39) as u8).unwrap()
        }
    }

    /// Pairs of numbers, half of them equal but for their scales.
    fn pairs() -> impl Iterator<Item = (Numeric, Numeric)> {
        let mut random = Random(48);
        (0..20_000).map(move |_| {
            let (a, other) = (random.number(), random.number());
            let b = match random.below(2) {
                0 => other,
                _ => a.trimmed().rounded(random.below(39) as i32),
            };
            (a, b)
        })
    }

    #[test]
    fn bytes_come_back_and_are_ordered_as_numbers() {
        for (a, b) in pairs() {
            let (in_bytes, other) = (a.to_bytes(), b.to_bytes());
            let back = Numeric::of_bytes(&in_bytes).unwrap();
            assert_eq!((back.coefficient, back.scale), (a.coefficient, a.scale), "{a}");
            assert_eq!(
                Numeric::key(&in_bytes).cmp(Numeric::key(&other)),
                a.cmp(&b),
                "{a} {b}"
            );
            assert_eq!(
                in_bytes.cmp(&other),
                a.cmp(&b).then(a.scale.cmp(&b.scale)),
                "{a} {b}"
            );
            let read = Numeric::read(&a.to_string()).unwrap();
            assert_eq!((read.coefficient, read.scale), (a.coefficient, a.scale), "{a}");
        }
    }

    #[test]
    fn damaged_bytes_are_refused_or_are_of_a_number() {
        let mut random = Random(49);
        for (a, _) in pairs() {
            let mut bytes = a.to_bytes();
            match random.below(3) {
                0 => bytes.truncate(random.below(bytes.len() as u64) as usize),
                1 => bytes.push(random.next() as u8),
                _ => {
                    let at = random.below(bytes.len() as u64) as usize;
                    bytes[at] = random.next() as u8;
                }
            }
            if let Ok(number) = Numeric::of_bytes(&bytes) {
                assert_eq!(number.to_bytes(), bytes);
            }
        }
        assert_eq!(
            Numeric::of_bytes(&[]).unwrap_err().state(),
            SqlState::DATA_CORRUPTED
        );
    }

    #[test]
    fn sums_and_quotients_hold_what_numbers_do() {
        for (a, b) in pairs() {
            let scale = a.scale.max(b.scale);
            if let Ok(sum) = a.plus(b)
                && sum.scale == scale
                && let Ok(back) = sum.minus(b)
            {
                assert_eq!(back, a, "{a} {b}");
            }
            if b.coefficient == 0 {
                assert_eq!(a.divided(b).unwrap_err().state(), SqlState::DIVISION_BY_ZERO);
                continue;
            }
            let rest = a.remainder(b).unwrap();
            assert!(rest.abs() < b.abs(), "{a} {b}");
            if let Ok(sum) = a.whole_quotient(b).and_then(|whole| whole.times(b)?.plus(rest))
                && sum.scale == scale
            {
                assert_eq!(sum, a, "{a} {b}");
            }
        }
    }

    #[test]
    fn values_keep_their_digits() {
        for text in [
            "0",
            "0.00",
            "1.50",
            "-1.5",
            "100",
            "0.001",
            "12345678901234567890123456789012345678",
        ] {
            assert_eq!(number(text).to_string(), text);
        }
        for (text, shown) in [
            ("1e3", "1000"),
            ("1.5e1", "15"),
            (".5", "0.5"),
            ("1e-3", "0.001"),
            ("+7.", "7"),
            ("1.50e-1", "0.150"),
        ] {
            assert_eq!(number(text).to_string(), shown, "{text}");
        }
        assert_eq!(number("1.5"), number("1.50"));
        assert_eq!(
            Numeric::read("1e38").unwrap_err().state(),
            SqlState::NUMERIC_OUT_OF_RANGE
        );
        assert_eq!(Numeric::read("1x").unwrap_err().state(), SqlState::INVALID_TEXT);
        assert_eq!(Numeric::read("").unwrap_err().state(), SqlState::INVALID_TEXT);
        assert_eq!(
            Numeric::read("NaN").unwrap_err().state(),
            SqlState::FEATURE_NOT_SUPPORTED
        );
        let long = number("1.23456789012345678901234567890123456789999");
        assert_eq!(long.to_string(), "1.2345678901234567890123456789012345679");
    }

    #[test]
    fn results_have_postgresqls_digits() {
        let divided = |a: &str, b: &str| number(a).divided(number(b)).unwrap().to_string();
        assert_eq!(divided("1", "3"), "0.33333333333333333333");
        assert_eq!(divided("10", "4"), "2.5000000000000000");
        assert_eq!(divided("100000", "3"), "33333.333333333333");
        assert_eq!(divided("1.5", "0.0003"), "5000.0000000000000000");
        assert_eq!(divided("0", "7"), "0.00000000000000000000");
        assert_eq!(divided("-2.00", "0.5"), "-4.0000000000000000");
        assert_eq!(number("1.50").times(number("2.0")).unwrap().to_string(), "3.000");
        assert_eq!(number("1.5").plus(number("2.25")).unwrap().to_string(), "3.75");
        assert_eq!(number("-7.5").remainder(number("2")).unwrap().to_string(), "-1.5");
        assert_eq!(
            number("-7.5").whole_quotient(number("2")).unwrap().to_string(),
            "-3"
        );
        assert_eq!(number("2.5").rounded(0).to_string(), "3");
        assert_eq!(number("2.5").rounded(3).to_string(), "2.500");
        assert_eq!(number("1250").rounded(-2).to_string(), "1300");
        assert_eq!(number("-2.5").floor().to_string(), "-3");
        assert_eq!(number("-2.5").ceil().to_string(), "-2");
        assert_eq!(number("-2.57").truncated(1).to_string(), "-2.5");
        assert_eq!(number("1.500").trimmed().to_string(), "1.5");
        assert_eq!(Numeric::of_double(0.1, 15).unwrap().to_string(), "0.1");
    }
}
