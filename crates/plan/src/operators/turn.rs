//! The rows of the turn before, in a recursive query.

use super::node::{Needed, Node, RecursionId, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::given;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::role::Role;
use crate::verify::{Check, Visible};
use crate::{ColumnId, Expr};
use frazil_types::Result;

/// Rows of a turn of a recursion, of which nothing is known.
const TURN_ROWS: f64 = 100.0;

/// Rows of the turn before.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Of which recursion, in whose turn it is.
    pub id: RecursionId,
    /// Columns read: id in the plan, position among those of the recursion.
    pub columns: Vec<(ColumnId, usize)>,
}

impl<T: Tree> Node<T> for Turn {
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
        vec![]
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        vec![]
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.columns.iter().for_each(|c| visit(Role::Made, c.0));
    }

    fn recursion(&self) -> Option<RecursionId> {
        Some(self.id)
    }

    fn recursion_mut(&mut self) -> Option<&mut RecursionId> {
        Some(&mut self.id)
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.columns.iter_mut().for_each(|c| visit(Role::Made, &mut c.0));
    }

    fn at_most_one_row(&self) -> bool {
        false
    }

    fn surely_has_a_row(&self) -> bool {
        false
    }

    fn is_empty_where(&self, _empty: &[bool]) -> bool {
        false
    }

    fn prune(&mut self, needed: &mut dyn Needed) {
        self.columns.retain(|c| needed.contains(c.0));
    }

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        check.make(self.columns.iter().map(|c| c.0))?;
        Ok(self.columns.iter().map(|c| c.0).collect())
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for (id, _) in &self.columns {
            pass.keep(*id);
        }
    }

    fn most_rows(&self, _of: &dyn MostRows<T>) -> Option<u64> {
        None
    }

    fn about_rows(&self, _inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        TURN_ROWS
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        self.columns.iter().for_each(|c| pass.unknown(c.0));
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Rows of the turn before {}", given(&self.columns, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        let kept = self.columns.iter().filter(|c| needed.contains(&c.0));
        let source = builder.rows_of_turn(self.id, kept.copied().collect());
        Opened::of(source, builder.rows(op, &[]))
    }
}
