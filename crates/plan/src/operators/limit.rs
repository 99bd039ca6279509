//! Some rows, in no order.

use super::node::{Needed, Node, Role};
use crate::{ColumnId, Expr, Operator, RowCount, row_count};

/// Some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Input.
    pub input: Box<Operator>,
    /// Rows kept, after `offset`.
    pub limit: Option<RowCount>,
    /// Rows skipped.
    pub offset: RowCount,
}

impl Node for Limit {
    fn inputs(&self) -> Vec<&Operator> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut Operator> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&Operator> {
        vec![&self.input]
    }

    fn expressions(&self) -> Vec<&Expr> {
        row_count::values(&self.limit, &self.offset)
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        row_count::values_mut(&mut self.limit, &mut self.offset)
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        row_count::ids(&self.limit, &self.offset, visit);
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        row_count::ids_mut(&mut self.limit, &mut self.offset, visit);
    }

    fn at_most_one_row(&self) -> bool {
        row_count::at_most_one(&self.limit) || self.input.at_most_one_row()
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.first() == Some(&true)
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}
}
