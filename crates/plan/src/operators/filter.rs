//! Rows for which a predicate is true.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::pipeline::PipelineOperator;
use crate::role::Role;
use crate::verify::{Check, Visible};
use crate::{ColumnId, Expr};
use frazil_types::Result;

/// Rows for which the predicate is true.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter<T> {
    /// Input.
    pub input: Box<T>,
    /// The predicate.
    pub predicate: Expr,
}

impl<T: Tree> Node<T> for Filter<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn expressions(&self) -> Vec<&Expr> {
        vec![&self.predicate]
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        vec![&mut self.predicate]
    }

    fn ids(&self, _visit: &mut dyn FnMut(Role, ColumnId)) {}

    fn ids_mut(&mut self, _visit: &mut dyn FnMut(Role, &mut ColumnId)) {}

    fn at_most_one_row(&self) -> bool {
        self.input.node().at_most_one_row()
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.first() == Some(&true)
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let visible = check.tree(&*self.input)?;
        check.predicate(&self.predicate, &visible, "a filter")?;
        Ok(visible)
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        pass.expression(&mut self.predicate);
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        of.operator(&self.input)
    }

    fn about_rows(&self, inputs: &[f64], of: &dyn AboutRows) -> f64 {
        inputs[0] * of.predicate(&self.predicate)
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for e in self.expressions() {
            pass.expression(e);
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Filter {}", names.expr(&self.predicate))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        let mut below = needed.clone();
        below.extend(self.predicate.columns_read());
        let opened = builder.open(&self.input, &below);
        let rows = builder.rows(op, &[opened.rows]);
        opened.append(PipelineOperator::Filter(self.predicate.clone()), rows)
    }
}
