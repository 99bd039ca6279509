//! Some rows, in no order.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::limits;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened, rows_of};
use crate::role::Role;
use crate::verify::{Check, Visible};
use crate::{ColumnId, Expr, RowCount, row_count};
use frazil_types::Result;

/// Some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit<T> {
    /// Input.
    pub input: Box<T>,
    /// Rows kept, after `offset`.
    pub limit: Option<RowCount>,
    /// Rows skipped.
    pub offset: RowCount,
}

impl<T: Tree> Node<T> for Limit<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn limits_rows(&self) -> bool {
        true
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
        row_count::at_most_one(&self.limit) || self.input.node().at_most_one_row()
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty.first() == Some(&true)
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        check.row_counts(self.limit.iter().chain([&self.offset]))?;
        check.tree(&*self.input)
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for e in self.expressions_mut() {
            pass.expression(e);
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        row_count::most(of.operator(&self.input), &self.limit)
    }

    fn about_rows(&self, inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        row_count::about(inputs[0], &self.limit)
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for e in self.expressions() {
            pass.expression(e);
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Some rows{}", limits(&self.limit, &self.offset, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        let columns: Vec<ColumnId> = needed.iter().copied().collect();
        let (limit, offset) = (self.limit.clone(), self.offset.clone());
        let (id, rows) = builder.keep_in_buffer(&self.input, columns.clone(), limit, offset);
        Opened::of(rows_of(id, columns), builder.rows(op, &[rows]))
    }
}
