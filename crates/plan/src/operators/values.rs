//! Rows of expressions without columns.

use super::node::{Needed, Node, Role};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::values;
use crate::pipeline::Source;
use crate::pipeline_builder::{Builder, NeededColumns, Opened};
use crate::{ColumnId, Expr, Operator};

/// Rows of expressions without columns. No columns and one row: SELECT without FROM.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// The columns made.
    pub columns: Vec<ColumnId>,
    /// The rows.
    pub rows: Vec<Vec<Expr>>,
}

impl Values {
    /// No rows.
    pub fn nothing(columns: Vec<ColumnId>) -> Operator {
        let rows = vec![];
        Operator::Values(Values { columns, rows })
    }
}

impl Node for Values {
    fn inputs(&self) -> Vec<&Operator> {
        vec![]
    }

    fn inputs_mut(&mut self) -> Vec<&mut Operator> {
        vec![]
    }

    fn passes(&self) -> Vec<&Operator> {
        vec![]
    }

    fn expressions(&self) -> Vec<&Expr> {
        self.rows.iter().flatten().collect()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        self.rows.iter_mut().flatten().collect()
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.columns.iter().for_each(|id| visit(Role::Made, *id));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.columns.iter_mut().for_each(|id| visit(Role::Made, id));
    }

    fn at_most_one_row(&self) -> bool {
        self.rows.len() <= 1
    }

    fn surely_has_a_row(&self) -> bool {
        !self.rows.is_empty()
    }

    fn is_empty_where(&self, _empty: &[bool]) -> bool {
        false
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Values {}", values(&self.columns, &self.rows, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, _op: &Operator, _builder: &mut Builder<'_>, _needed: &NeededColumns) -> Opened {
        let source = Source::Values {
            columns: self.columns.clone(),
            rows: self.rows.clone(),
        };
        Opened::of(source, self.rows.len() as f64)
    }
}
