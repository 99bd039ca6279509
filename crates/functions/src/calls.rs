//! Calls of scalar functions by name, as statements have them: where there is no function of a name, the error says
//! which is nearest, or what does here what a function of that name does elsewhere.

use crate::foreign_names::instead_of;
use crate::resolve::NO_MATCH;
use crate::{Operand, Typing, nearest_function};
use frazil_plan::Columns;
use frazil_types::{Error, Result, Span};

impl Typing {
    /// A call of a scalar function by its name in lower case. 42883, 42725.
    pub fn call(
        &self,
        name: &str,
        arguments: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let made = self.call_of(name, arguments, columns);
        let e = made.map_err(|e| with_nearest(e, name).at_span(span))?;
        Ok(e.at(span).into())
    }
}

/// The error with the nearest name, if it is that of a call that fits no function.
fn with_nearest(error: Error, name: &str) -> Error {
    if error.hint() != Some(NO_MATCH) {
        return error;
    }
    if let Some(instead) = instead_of(name) {
        return error.with_hint(format!("write {instead}"));
    }
    match nearest_function(name) {
        Some(nearest) => error.with_hint(format!("did you mean {nearest}?")),
        None => error,
    }
}
