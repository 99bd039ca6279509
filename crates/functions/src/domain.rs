//! A value becomes one of a domain: its conditions are asked of it.

use crate::build::{boolean, int, text};
use crate::vector::{OnNull, Output, Row, rows};
use frazil_plan::{COUNT, Expr};
use frazil_types::{Error, ObjectId, Result, SqlState};

/// A domain as its errors tell of it.
#[derive(Clone, Copy, Debug)]
pub struct Blamed<'a> {
    /// The identity of its schema.
    pub namespace: ObjectId,
    /// Its name.
    pub domain: &'a str,
}

impl Blamed<'_> {
    /// The arguments of a function that the error is made of, with those before them.
    fn arguments(self, value: Expr, condition: Expr, message: &str) -> Vec<Expr> {
        let namespace = int(self.namespace.0.into(), COUNT);
        vec![value, condition, text(message), text(self.domain), namespace]
    }
}

/// The error of a row whose arguments are those of [`Blamed::arguments`].
fn blamed(row: &Row<'_>, state: SqlState) -> Error {
    let error = Error::new(state, row.text(2)).of_type(row.text(3));
    match u32::try_from(row.int(4)) {
        Ok(namespace) => error.in_namespace(ObjectId(namespace)),
        Err(_) => error,
    }
}

/// The value, if a condition is true or NULL; else the error 23514 with a message, which names the constraint `check`.
pub fn satisfying(value: Expr, condition: Expr, of: Blamed<'_>, (check, message): (&str, &str)) -> Expr {
    fn run(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
        if !row.is_null(1) && !row.bool(1) {
            return Err(blamed(row, SqlState::CHECK_VIOLATION).of_constraint(row.text(5)));
        }
        out.value(&row.value(0))
    }
    let (ty, nullable) = (value.ty, value.nullable);
    let mut arguments = of.arguments(value, condition, message);
    arguments.push(text(check));
    let mut checked = rows("domain", OnNull::Called, run, arguments, ty);
    checked.nullable = nullable;
    checked
}

/// The value, if it is not NULL; else the error 23502 with a message.
pub fn not_null(value: Expr, of: Blamed<'_>, message: &str) -> Expr {
    fn run(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
        if row.is_null(0) {
            return Err(blamed(row, SqlState::NOT_NULL_VIOLATION));
        }
        out.value(&row.value(0))
    }
    let ty = value.ty;
    let arguments = of.arguments(value, boolean(true), message);
    rows("domain", OnNull::Called, run, arguments, ty)
}
