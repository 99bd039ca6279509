//! Aggregate functions.

use crate::{Operand, Typing};
use frazil_plan::{AggregateCall, Expr};
use frazil_types::{Error, Result, Span};

impl Typing {
    /// A call of an aggregate; `count(*)` has no argument and the name `count(*)`. 42883, 42725.
    pub fn aggregate(
        &self,
        name: &str,
        _arguments: Vec<Operand>,
        _distinct: bool,
        _filter: Option<Expr>,
        span: Span,
    ) -> Result<AggregateCall> {
        Err(Error::unsupported(name).at_span(span))
    }

    /// Whether a name is an aggregate's.
    pub fn is_aggregate(name: &str) -> bool {
        matches!(name, "count" | "sum" | "min" | "max" | "avg")
    }
}
