//! LATERAL, as it is bound.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::role::Role;
use crate::verify::{Check, Visible, defect};
use crate::{ColumnId, Expr};
use frazil_types::Result;

/// Each row of `outer` with the rows of `inner` for it: LATERAL. `inner` reads columns of `outer`. Made by the
/// binder alone; unnesting turns it into a [`Join`](super::Join).
#[derive(Clone, Debug, PartialEq)]
pub struct DependentJoin<T> {
    /// The rows that `inner` depends on.
    pub outer: Box<T>,
    /// The rows for each of them.
    pub inner: Box<T>,
    /// A further condition on a pair; part of the match, not a filter after it.
    pub condition: Option<Expr>,
    /// LEFT JOIN LATERAL: a row of `outer` without a match comes once, the columns of `inner` NULL.
    pub keep_outer: bool,
}

impl<T: Tree> Node<T> for DependentJoin<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.outer, &self.inner]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.outer, &mut self.inner]
    }

    fn passes(&self) -> Vec<&T> {
        vec![&self.outer, &self.inner]
    }

    fn expressions(&self) -> Vec<&Expr> {
        self.condition.iter().collect()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        self.condition.iter_mut().collect()
    }

    fn ids(&self, _visit: &mut dyn FnMut(Role, ColumnId)) {}

    fn ids_mut(&mut self, _visit: &mut dyn FnMut(Role, &mut ColumnId)) {}

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

    fn verify(&self, _check: &mut Check<'_>) -> Result<Visible> {
        Err(defect("a dependent join that was not unnested"))
    }

    fn null_supplied(&self) -> Vec<&T> {
        if self.keep_outer {
            vec![&self.inner]
        } else {
            vec![]
        }
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        self.condition.iter_mut().for_each(|e| pass.expression(e));
    }

    fn most_rows(&self, _of: &dyn MostRows<T>) -> Option<u64> {
        None
    }

    fn about_rows(&self, inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        inputs[0] * inputs[1]
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for e in self.expressions() {
            pass.expression(e);
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        let kind = if self.keep_outer { "left" } else { "inner" };
        let on = self.condition.as_ref().map(|c| format!(" on {}", names.expr(c)));
        format!("Dependent join {kind}{}", on.unwrap_or_default())
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, _op: &T, _builder: &mut Builder<'_, T>, _needed: &NeededColumns) -> Opened {
        unreachable!("a dependent join that was not unnested")
    }
}
