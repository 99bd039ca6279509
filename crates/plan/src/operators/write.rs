//! What the operator at the root of INSERT, UPDATE and DELETE does ([`Write`]).
//!
//! What a write needs is a column of its input: new values, row ids, results of CHECK constraints, and what
//! RETURNING shows. All rows of the input are kept until the last one is computed, so that a statement reads nothing of
//! what it writes; then they are written in their order, and RETURNING shows the kept columns of those that were.
//!
//! INSERT with ON CONFLICT learns only as it writes what becomes of a row. The writer looks up which rows of the table are in the
//! way; a query of its own over those and the rows that they stop (`Write::update`) computes what DO UPDATE makes of
//! them, and another one over the rows that were written (`Write::returning`) what RETURNING shows.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_operator::write_text;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::plan::Plan;
use crate::role::Role;
use crate::verify::{self, Check, Visible, defect};
use crate::{CONDITION, Change, ColumnId, Expr};
use frazil_types::Result;

/// Writes the rows of its input into a table, or changes or deletes the table's rows that they name.
#[derive(Clone, Debug, PartialEq)]
pub struct Write<T> {
    /// Input.
    pub input: Box<T>,
    /// What it does with a row.
    pub change: Change,
    /// Of ON CONFLICT DO UPDATE what becomes of rows that are in the way: see [`ConflictUpdate`].
    pub update: Option<Box<Plan<T>>>,
    /// RETURNING of an INSERT with ON CONFLICT: a query over the rows that were written, whose columns
    /// ([`Operator::Given`]) are the table's.
    pub returning: Option<Box<Plan<T>>>,
}

impl<T> Write<T> {
    /// Writes rows, computes nothing else.
    pub fn new(input: T, change: Change) -> Write<T> {
        Write {
            input: Box::new(input),
            change,
            update: None,
            returning: None,
        }
    }

    /// The queries that are run between and after its writing.
    pub fn queries(&self) -> impl Iterator<Item = &Plan<T>> {
        self.update.iter().chain(&self.returning).map(|plan| &**plan)
    }
}

impl<T: Tree> Node<T> for Write<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.input]
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
        self.change.ids(visit);
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.change.ids_mut(visit);
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

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let visible = check.tree(&*self.input)?;
        for id in self.change.kept() {
            check.reads_column(id, &visible, "a write")?;
        }
        for (_, id) in &self.change.checks {
            check.is_of_type(*id, CONDITION, "a condition of a write")?;
        }
        self.queries().try_for_each(verify::plan)?;
        match (self.change.conflict_update(), &self.update) {
            (None, None) => {}
            (Some(update), Some(query)) if query.output.len() == update.width() => {}
            _ => return Err(defect("a write whose query does not compute what it sets")),
        }
        Ok(self.change.returning.iter().copied().collect())
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, _pass: &mut Nullability<'_>) {}

    fn most_rows(&self, _of: &dyn MostRows<T>) -> Option<u64> {
        Some(0)
    }

    fn about_rows(&self, _inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        0.0
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for e in self.expressions() {
            pass.expression(e);
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        let mut text = write_text(&self.change, names);
        text[..1].make_ascii_uppercase();
        text
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, _op: &T, _builder: &mut Builder<'_, T>, _needed: &NeededColumns) -> Opened {
        unreachable!("a write below the root")
    }
}
