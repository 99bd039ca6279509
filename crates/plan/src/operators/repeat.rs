//! Rows given several times: INTERSECT ALL and EXCEPT ALL.

use super::node::{Needed, Node, Role};
use crate::Columns;
use crate::display_expression::Names;
use crate::pipeline::PipelineOperator;
use crate::pipeline_builder::{Builder, NeededColumns, Opened};
use crate::{ColumnId, Expr, Operator};

/// Repeats each row of its input as often as a column says.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    /// Input.
    pub input: Box<Operator>,
    /// A bigint column: how often its row is given. A row with NULL, 0 or less is not given at all.
    pub count: ColumnId,
}

impl Node for Repeat {
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
        vec![]
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        vec![]
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        visit(Role::Read, self.count);
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        visit(Role::Read, &mut self.count);
    }

    fn at_most_one_row(&self) -> bool {
        false
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.first() == Some(&true)
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Repeat {} times", names.name(self.count))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &Operator, builder: &mut Builder<'_>, needed: &NeededColumns) -> Opened {
        let mut below = needed.clone();
        below.insert(self.count);
        let opened = builder.open(&self.input, &below);
        let rows = builder.rows(op, &[opened.rows]);
        opened.append(PipelineOperator::Repeat { count: self.count }, rows)
    }
}
