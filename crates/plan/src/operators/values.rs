//! Rows of expressions without columns.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::values;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::pipeline::Source;
use crate::role::Role;
use crate::verify::{Check, Visible, defect};
use crate::{ColumnId, Expr};
use frazil_types::Result;

/// Rows of expressions without columns. No columns and one row: SELECT without FROM.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// The columns made.
    pub columns: Vec<ColumnId>,
    /// The rows.
    pub rows: Vec<Vec<Expr>>,
}

impl<T: Tree> Node<T> for Values {
    fn inputs(&self) -> Vec<&T> {
        vec![]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![]
    }

    fn passes(&self) -> Vec<&T> {
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

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        for row in &self.rows {
            if row.len() != self.columns.len() {
                return Err(defect("a row of values has the wrong width"));
            }
            for (e, id) in row.iter().zip(&self.columns) {
                check.reads(e, &Visible::new(), "a row of values")?;
                check.same_type(*id, e)?;
            }
        }
        check.make(self.columns.iter().copied())?;
        Ok(self.columns.iter().copied().collect())
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        (self.rows.iter_mut().flatten()).for_each(|e| pass.expression(e));
        for (i, id) in self.columns.iter().enumerate() {
            pass.set(*id, self.rows.iter().any(|r| r[i].nullable));
        }
    }

    fn most_rows(&self, _of: &dyn MostRows<T>) -> Option<u64> {
        Some(self.rows.len() as u64)
    }

    fn about_rows(&self, _inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        self.rows.len() as f64
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for (i, id) in self.columns.iter().enumerate() {
            pass.any_of(*id, &self.rows.iter().map(|row| &row[i]).collect::<Vec<_>>());
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Values {}", values(&self.columns, &self.rows, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, _op: &T, _builder: &mut Builder<'_, T>, _needed: &NeededColumns) -> Opened {
        let source = Source::Values {
            columns: self.columns.clone(),
            rows: self.rows.clone(),
        };
        Opened::of(source, self.rows.len() as f64)
    }
}
