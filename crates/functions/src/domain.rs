//! A value becomes one of a domain: its conditions are asked of it.

use crate::build::{boolean, text};
use crate::vector::{OnNull, Output, Row, rows};
use frazil_plan::Expr;
use frazil_types::{Error, Result, SqlState};

/// The value, where a condition is true or NULL; else the error 23514 with a message.
pub fn satisfying(value: Expr, condition: Expr, message: &str) -> Expr {
    fn run(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
        if !row.is_null(1) && !row.bool(1) {
            return Err(Error::new(SqlState::CHECK_VIOLATION, row.text(2)));
        }
        out.value(&row.value(0))
    }
    let (ty, nullable) = (value.ty, value.nullable);
    let mut checked = rows(
        "domain",
        OnNull::Called,
        run,
        vec![value, condition, text(message)],
        ty,
    );
    checked.nullable = nullable;
    checked
}

/// The value, if it is not NULL; else the error 23502 with a message.
pub fn not_null(value: Expr, message: &str) -> Expr {
    fn run(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
        if row.is_null(0) {
            return Err(Error::new(SqlState::NOT_NULL_VIOLATION, row.text(2)));
        }
        out.value(&row.value(0))
    }
    let ty = value.ty;
    rows(
        "domain",
        OnNull::Called,
        run,
        vec![value, boolean(true), text(message)],
        ty,
    )
}
