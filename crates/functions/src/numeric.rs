//! Functions of `numeric` without precision, whose values have their own digits after the point. They run as vector
//! functions; decimals have inline code.

use crate::convert::convert;
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use frazil_plan::Expr;
use frazil_types::numeric::Numeric;
use frazil_types::value_ops::CastLength;
use frazil_types::{LogicalType, Result};

const NUMERIC: LogicalType = LogicalType::Numeric;

/// An exact number as a numeric.
pub(crate) fn as_numeric(e: Expr) -> Expr {
    convert(e, NUMERIC, CastLength::Refuse)
}

/// True if a value's type is numeric without precision.
pub(crate) fn is_any_unscaled(values: &[Expr]) -> bool {
    values.iter().any(|e| e.ty.is_unscaled())
}

/// A function of exact numbers and integers, one of which is a numeric, that gives a numeric.
pub(crate) fn of(name: &'static str, run: RowFn, arguments: Vec<Expr>) -> Expr {
    rows(name, OnNull::Null, run, arguments, NUMERIC)
}

/// The result of a function of a row's two numbers.
pub(crate) fn pair(
    row: &Row<'_>,
    out: &mut Output<'_>,
    f: fn(Numeric, Numeric) -> Result<Numeric>,
) -> Result<()> {
    out.numeric(f(row.numeric(0)?, row.numeric(1)?)?)
}

/// The result of a function of a row's number.
pub(crate) fn one(row: &Row<'_>, out: &mut Output<'_>, f: fn(Numeric) -> Numeric) -> Result<()> {
    out.numeric(f(row.numeric(0)?))
}

/// The result of a function of a row's number and of a number of digits.
pub(crate) fn with_digits(row: &Row<'_>, out: &mut Output<'_>, f: fn(Numeric, i32) -> Numeric) -> Result<()> {
    let digits = row.int(1).clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    out.numeric(f(row.numeric(0)?, digits))
}
