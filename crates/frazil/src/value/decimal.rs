//! Exact numbers.

use frazil_types::logical_type::DECIMAL_MAX_DIGITS;
use frazil_types::{Error, LogicalType, Result, SqlState, Value as RawValue, decimal};
use std::fmt;
use std::str::FromStr;

/// An exact number: 12.50 is 1250 with a scale of 2. Two of another scale or precision are not equal here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    unscaled: i128,
    precision: u8,
    scale: u8,
}

impl Decimal {
    /// `unscaled` / 10^`scale`, of type decimal(38, `scale`). 22003 for more than 38 digits or a scale beyond 38.
    pub fn new(unscaled: i128, scale: u8) -> Result<Decimal> {
        Decimal::with_precision(unscaled, DECIMAL_MAX_DIGITS, scale)
    }

    /// `unscaled` / 10^`scale`, of type decimal(`precision`, `scale`). 22003 for more digits, a precision beyond 38
    /// or a scale beyond the precision.
    pub fn with_precision(unscaled: i128, precision: u8, scale: u8) -> Result<Decimal> {
        if !(1..=DECIMAL_MAX_DIGITS).contains(&precision) || scale > precision {
            let message = format!("decimal({precision}, {scale}) is not a type");
            return Err(Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
                .with_hint("a decimal has 1 to 38 digits, and a scale of at most as many"));
        }
        let decimal = Decimal::of_raw(unscaled, precision, scale);
        decimal.checked().map(|_| decimal)
    }

    /// The number times 10^scale.
    pub fn unscaled(self) -> i128 {
        self.unscaled
    }

    /// Digits in all.
    pub fn precision(self) -> u8 {
        self.precision
    }

    /// Digits behind the point.
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        // The text of a decimal is a number that Rust reads.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    pub(super) fn of_raw(unscaled: i128, precision: u8, scale: u8) -> Decimal {
        Decimal {
            unscaled,
            precision,
            scale,
        }
    }

    pub(super) fn ty(self) -> LogicalType {
        LogicalType::Decimal {
            precision: self.precision,
            scale: self.scale,
        }
    }

    /// The unscaled number. 22003 if it has more digits than the type.
    pub(super) fn checked(self) -> Result<i128> {
        decimal::check_precision(self.unscaled, self.precision, self.scale)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", RawValue::Int(self.unscaled).display(self.ty()))
    }
}

impl FromStr for Decimal {
    type Err = Error;

    /// Reads all digits of a number, with as many behind the point as the text has. 22P02; 22003 for more than 38
    /// digits.
    fn from_str(text: &str) -> Result<Decimal> {
        let (mantissa, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
        let behind = mantissa
            .split_once('.')
            .map_or(0, |(_, behind)| behind.len() as i64);
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let scale = u8::try_from((behind - exponent).max(0)).unwrap_or(u8::MAX);
        if scale > DECIMAL_MAX_DIGITS {
            let message = format!(
                "\"{text}\" has more digits behind the point than a decimal, which has {DECIMAL_MAX_DIGITS}"
            );
            return Err(Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
        }
        let unscaled = decimal::parse(text, DECIMAL_MAX_DIGITS, scale)?;
        Decimal::new(unscaled, scale)
    }
}
