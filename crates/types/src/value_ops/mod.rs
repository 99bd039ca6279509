//! The one meaning of a value's cast, arithmetic and comparison, with PostgreSQL's errors. Folding of constants,
//! parameters, files' fields and vector functions call it; generated code is compared with it.

mod arithmetic;
mod cast;
mod compare;
mod interval;
mod read;
mod read_interval;
mod read_iso_interval;

pub use arithmetic::{arithmetic, check_range, multiply_round, negate, quotient, range_of, remainder};
pub use cast::{CastLength, cannot_cast, cast, double_to_decimal, kept_text};
pub use compare::{compare_decimals, compare_doubles, interval_span, order};
pub use interval::{
    Divide, add_intervals, age, justify_days, justify_hours, justify_interval, multiply_interval,
    negate_interval, timestamp_difference,
};
pub use read::{read, read_boolean, read_date, read_double, read_integer};
pub use read_interval::{IntervalFields, parse_interval, truncate};

/// Arithmetic of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
}
