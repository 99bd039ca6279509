//! WITH RECURSIVE: rows that are computed from the rows of the turn before, until a turn gives none.

use super::node::{Needed, Node, RecursionId, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::role::Role;
use crate::verify::{Check, Visible, defect};
use crate::{ColumnId, Expr};
use frazil_types::Result;

/// Turns of a recursion of which nothing is known.
const TURNS: f64 = 10.0;

/// All rows of all turns: the first turn is `start`, every other one is what `turn` makes of the rows of the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct Recursion<T> {
    /// What [`super::Turn`] reads in `turn`.
    pub id: RecursionId,
    /// The first rows, and the columns that become the output's, in order.
    pub start: (Box<T>, Vec<ColumnId>),
    /// A turn, and the columns that become the output's, in order.
    pub turn: (Box<T>, Vec<ColumnId>),
    /// The columns made.
    pub columns: Vec<ColumnId>,
    /// UNION: a row that equals an earlier one is dropped, NULLs being equal.
    pub distinct: bool,
    /// Rows after which nobody asks for more, if that is known.
    pub enough: Option<u64>,
}

impl<T: Tree> Node<T> for Recursion<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.start.0, &self.turn.0]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.start.0, &mut self.turn.0]
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
        self.columns.iter().for_each(|id| visit(Role::Made, *id));
        let read = self.start.1.iter().chain(&self.turn.1);
        read.for_each(|id| visit(Role::Read, *id));
    }

    fn recursion(&self) -> Option<RecursionId> {
        Some(self.id)
    }

    fn recursion_mut(&mut self) -> Option<&mut RecursionId> {
        Some(&mut self.id)
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.columns.iter_mut().for_each(|id| visit(Role::Made, id));
        let read = self.start.1.iter_mut().chain(&mut self.turn.1);
        read.for_each(|id| visit(Role::Read, id));
    }

    fn at_most_one_row(&self) -> bool {
        false
    }

    fn surely_has_a_row(&self) -> bool {
        self.start.0.node().surely_has_a_row()
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty[0]
    }

    fn prune(&mut self, _needed: &mut dyn Needed) {}

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        for (input, from) in [&self.start, &self.turn] {
            let visible = check.tree(&**input)?;
            if from.len() != self.columns.len() {
                return Err(defect("a recursion of inputs that are not as wide as it"));
            }
            for (id, made) in from.iter().zip(&self.columns) {
                check.reads_column(*id, &visible, "a recursion")?;
                let ty = check.columns()[*id].ty;
                check.is_of_type(*made, ty, "a recursion")?;
            }
        }
        check.make(self.columns.iter().copied())?;
        Ok(self.columns.iter().copied().collect())
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for id in &self.columns {
            pass.keep(*id);
        }
    }

    fn most_rows(&self, _of: &dyn MostRows<T>) -> Option<u64> {
        None
    }

    fn about_rows(&self, inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        inputs[0] + inputs[1] * TURNS
    }

    fn learn(&self, _inputs: &[f64], _facts: &mut dyn Facts) {}

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        // No bound of the first rows holds for those that are made of them.
        self.columns.iter().for_each(|id| pass.unknown(*id));
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        let list = |ids: &[ColumnId]| names.list(ids.iter().copied());
        let distinct = if self.distinct { ", each row once" } else { "" };
        let enough = self.enough.map(|n| format!(", until there are {n} rows"));
        format!(
            "Recursion ({}) of ({}), ({}){distinct}{}",
            list(&self.columns),
            list(&self.start.1),
            list(&self.turn.1),
            enough.unwrap_or_default()
        )
    }

    fn input_title(&self, i: usize) -> &'static str {
        match i {
            0 => "start: ",
            _ => "turn: ",
        }
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        builder.recursion(op, self, needed)
    }
}
