//! The result of a query while it is bound: an operator, and the columns that stand for its values.

use frazil_functions::Unknown;
use frazil_plan::{ColumnId, Operator};
use frazil_types::Span;

/// Rows and the columns that stand for a query's result, in order.
#[derive(Clone)]
pub(crate) struct Relation {
    pub op: Operator,
    pub columns: Vec<OutputColumn>,
}

/// A column of a query's result.
#[derive(Clone, Debug)]
pub(crate) struct OutputColumn {
    pub name: String,
    pub id: ColumnId,
    /// The literal, NULL or parameter that it is as long as nothing types it; then no operator makes the column.
    pub open: Option<Unknown>,
    /// Where what it is was written.
    pub span: Span,
}

impl OutputColumn {
    pub fn new(name: impl Into<String>, id: ColumnId) -> OutputColumn {
        OutputColumn {
            name: name.into(),
            id,
            open: None,
            span: Span::NONE,
        }
    }
}
