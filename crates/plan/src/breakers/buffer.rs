//! Rows kept in columns: a result, what a write keeps, a shared subplan, a scalar subquery, the first rows of any.

use super::keeps::{Computed, Keeps, Which};
use crate::display_expression::Names;
use crate::display_operator::limits;
use crate::{ColumnId, Expr, RowCount};

/// Rows kept in columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// The stored columns.
    pub columns: Vec<ColumnId>,
    /// Rows kept, after `offset`.
    pub limit: Option<RowCount>,
    /// Rows skipped.
    pub offset: RowCount,
}

impl Keeps for Buffer {
    fn name(&self) -> &'static str {
        "buffer"
    }

    fn reads(&self) -> Vec<ColumnId> {
        self.columns.clone()
    }

    fn expressions(&self) -> Vec<&Expr> {
        vec![]
    }

    fn computed_mut(&mut self) -> Vec<Computed<'_>> {
        vec![]
    }

    fn takes_vectors(&self) -> bool {
        true
    }

    fn looks_up(&self) -> bool {
        false
    }

    fn text(&self, _keys: &[Expr], names: &Names) -> String {
        let columns = names.list(self.columns.iter().copied());
        format!(" ({columns}){}", limits(&self.limit, &self.offset, names))
    }

    fn rows_text(&self, _which: Which) -> &'static str {
        "buffer"
    }
}
