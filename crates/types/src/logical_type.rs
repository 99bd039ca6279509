//! The SQL types a column or expression can have, and how they are held natively.

use crate::NativeType;
use std::fmt;

/// A SQL type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicalType {
    /// true or false.
    Boolean,
    /// 16-bit integer.
    SmallInt,
    /// 32-bit integer.
    Integer,
    /// 64-bit integer.
    BigInt,
    /// IEEE 754 double.
    Double,
    /// Exact number of `precision` digits in all, `scale` of them after the point.
    Decimal {
        /// 1 to 38.
        precision: u8,
        /// 0 to `precision`.
        scale: u8,
    },
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since 1970-01-01 00:00:00, without a zone.
    Timestamp,
    /// Months, days and microseconds; an expression's type, not a column's.
    Interval,
    /// Blank-padded text of n characters; `Char(1)` is held as a code point (Data Blocks, section 3.3). With
    /// [`WITHOUT_LENGTH`] PostgreSQL's bpchar: a text of any length whose blanks at the end do not count.
    Char(u32),
    /// Text of at most n characters.
    Varchar(u32),
    /// Text.
    Text,
}

/// Decimals of more digits than this are held in 128 bits.
pub const DECIMAL_I64_DIGITS: u8 = 18;
/// Most digits of a decimal.
pub const DECIMAL_MAX_DIGITS: u8 = 38;

/// The length of a char or varchar that has none.
pub const WITHOUT_LENGTH: u32 = u32::MAX;

impl LogicalType {
    /// How values are held in storage: the widest form any value of the type needs.
    #[inline]
    pub fn native(self) -> NativeType {
        match self {
            LogicalType::Boolean => NativeType::Bool,
            LogicalType::SmallInt => NativeType::I16,
            LogicalType::Integer | LogicalType::Date | LogicalType::Char(1) => NativeType::I32,
            LogicalType::BigInt | LogicalType::Timestamp => NativeType::I64,
            LogicalType::Decimal { precision, .. } if precision <= DECIMAL_I64_DIGITS => NativeType::I64,
            LogicalType::Decimal { .. } | LogicalType::Interval => NativeType::I128,
            LogicalType::Double => NativeType::F64,
            LogicalType::Char(_) | LogicalType::Varchar(_) | LogicalType::Text => NativeType::String,
        }
    }

    /// Char, varchar or text.
    pub fn is_string(self) -> bool {
        matches!(
            self,
            LogicalType::Char(_) | LogicalType::Varchar(_) | LogicalType::Text
        )
    }

    /// Smallint, integer or bigint.
    pub fn is_integer(self) -> bool {
        matches!(
            self,
            LogicalType::SmallInt | LogicalType::Integer | LogicalType::BigInt
        )
    }

    /// Integer, decimal or double.
    pub fn is_numeric(self) -> bool {
        self.is_integer() || matches!(self, LogicalType::Decimal { .. } | LogicalType::Double)
    }

    /// Digits after the point of a decimal; 0 for integers; `None` for all else.
    pub fn scale(self) -> Option<u8> {
        match self {
            LogicalType::Decimal { scale, .. } => Some(scale),
            t if t.is_integer() => Some(0),
            _ => None,
        }
    }
}

impl fmt::Display for LogicalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogicalType::Boolean => f.write_str("boolean"),
            LogicalType::SmallInt => f.write_str("smallint"),
            LogicalType::Integer => f.write_str("integer"),
            LogicalType::BigInt => f.write_str("bigint"),
            LogicalType::Double => f.write_str("double precision"),
            LogicalType::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            LogicalType::Date => f.write_str("date"),
            LogicalType::Timestamp => f.write_str("timestamp"),
            LogicalType::Interval => f.write_str("interval"),
            LogicalType::Char(WITHOUT_LENGTH) => f.write_str("bpchar"),
            LogicalType::Char(n) => write!(f, "char({n})"),
            LogicalType::Varchar(WITHOUT_LENGTH) => f.write_str("varchar"),
            LogicalType::Varchar(n) => write!(f, "varchar({n})"),
            LogicalType::Text => f.write_str("text"),
        }
    }
}
