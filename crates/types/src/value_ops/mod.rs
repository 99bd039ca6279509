//! The one meaning of a value's cast, arithmetic and comparison, with PostgreSQL's errors. Folding of constants,
//! parameters, files' fields and vector functions call it; generated code is compared with it.

mod arithmetic;
mod cast;
pub mod casts;
mod compare;
mod date_part;
mod interval;
mod order_key;
mod read;
mod read_interval;
mod read_iso_interval;
mod series;

pub use arithmetic::{
    arithmetic, check_range, exact_number, multiply_round, negate, numeric, quotient, remainder,
};
pub(crate) use cast::to_string_type;
pub use cast::{
    CastLength, beyond_timestamps, cannot_cast, cast, cast_in_place, double_to_integer, infinite_difference,
    kept_text, round_from_2000, round_micros, written,
};
pub use casts::{Cast, CastContext, CastFailure, CastMethod};
pub use compare::{compare_decimals, compare_doubles, interval_span, order, order_as};
pub use date_part::{
    DatePart, INFINITE_EPOCH, INFINITE_YEAR, add_interval, date_part, extract, timestamp_part,
};
pub use interval::{
    Divide, add_intervals, age, justify_days, justify_hours, justify_interval, multiply_interval,
    negate_interval, timestamp_difference,
};
pub use order_key::order_key;
pub use read::{bytes_to_read, read, read_boolean, read_double, read_integer};
pub(crate) use read::{invalid, is_lost, trimmed};
pub use read_interval::{IntervalFields, parse_interval, truncate};
pub use series::Series;

/// Arithmetic of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithmeticOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`; of integers truncating.
    Div,
    /// `%`
    Rem,
}

impl ArithmeticOp {
    /// Its SQL text.
    pub fn symbol(self) -> &'static str {
        match self {
            ArithmeticOp::Add => "+",
            ArithmeticOp::Sub => "-",
            ArithmeticOp::Mul => "*",
            ArithmeticOp::Div => "/",
            ArithmeticOp::Rem => "%",
        }
    }
}
