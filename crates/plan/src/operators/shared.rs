//! Rows of a subplan that is read several times.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::breakers::Which;
use crate::display_expression::Names;
use crate::display_operator::stored_columns;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::pipeline::Source;
use crate::role::Role;
use crate::verify::{Check, Visible};
use crate::{ColumnId, Expr, SharedId};
use frazil_types::Result;

/// Rows of a shared subplan.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Which.
    pub id: SharedId,
    /// Columns made: (new id, id in the shared plan).
    pub columns: Vec<(ColumnId, ColumnId)>,
}

impl<T: Tree> Node<T> for Shared {
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
        for (made, stored) in &self.columns {
            visit(Role::Made, *made);
            visit(Role::Stored, *stored);
        }
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        for (made, stored) in &mut self.columns {
            visit(Role::Made, made);
            visit(Role::Stored, stored);
        }
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
        self.columns.iter().for_each(|c| needed.add(&[c.1]));
    }

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        check.reads_shared(self.id, self.columns.iter().map(|c| c.1))?;
        for (made, stored) in &self.columns {
            check.same_type(*made, &Expr::column(*stored, check.columns()))?;
        }
        check.make(self.columns.iter().map(|c| c.0))?;
        Ok(self.columns.iter().map(|c| c.0).collect())
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for (made, stored) in &self.columns {
            pass.set(*made, pass.is_nullable(*stored));
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        of.shared(self.id)
    }

    fn about_rows(&self, _inputs: &[f64], of: &dyn AboutRows) -> f64 {
        of.shared(self.id)
    }

    fn learn(&self, _inputs: &[f64], facts: &mut dyn Facts) {
        for (made, stored) in &self.columns {
            facts.same(*made, *stored);
        }
    }

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        for (made, stored) in &self.columns {
            pass.same(*made, *stored);
        }
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Shared {} ({})", self.id.0, stored_columns(&self.columns, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        let kept = self.columns.iter().filter(|c| needed.contains(&c.0));
        let source = Source::Of {
            breaker: builder.buffer_of(self.id),
            columns: kept.copied().collect(),
            which: Which::All,
            late: None,
        };
        Opened::of(source, builder.rows(op, &[]))
    }
}
