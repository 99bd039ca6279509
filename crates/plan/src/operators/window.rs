//! Window functions.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::display_expression::Names;
use crate::display_window;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened};
use crate::role::Role;
use crate::verify::{Check, Visible};
use crate::{ColumnId, Expr, SortKey, WindowCall};
use frazil_types::Result;

/// Adds what functions make of the rows around each row: those of its partition, in an order.
#[derive(Clone, Debug, PartialEq)]
pub struct Window<T> {
    /// Input.
    pub input: Box<T>,
    /// Rows equal in these columns are a partition, NULLs counting as equal. Without one all rows are.
    pub partition: Vec<ColumnId>,
    /// The order within a partition, most significant key first. Rows equal in it are peers.
    pub order: Vec<SortKey>,
    /// Columns made.
    pub calls: Vec<(ColumnId, WindowCall)>,
    /// One of them, a rank, and a number: nobody asks for rows whose rank is above it. They may be given nevertheless.
    pub most: Option<(ColumnId, u64)>,
}

impl<T: Tree> Node<T> for Window<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn unlockable(&self) -> Option<&'static str> {
        Some("window functions")
    }

    fn expressions(&self) -> Vec<&Expr> {
        (self.calls.iter()).flat_map(|c| c.1.expressions()).collect()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        (self.calls.iter_mut())
            .flat_map(|c| c.1.expressions_mut())
            .collect()
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.partition.iter().for_each(|id| visit(Role::Read, *id));
        self.order.iter().for_each(|k| visit(Role::Read, k.column));
        self.calls.iter().for_each(|c| visit(Role::Made, c.0));
        self.most.iter().for_each(|m| visit(Role::MadeAlready, m.0));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.partition.iter_mut().for_each(|id| visit(Role::Read, id));
        self.order
            .iter_mut()
            .for_each(|k| visit(Role::Read, &mut k.column));
        self.calls.iter_mut().for_each(|c| visit(Role::Made, &mut c.0));
        self.most
            .iter_mut()
            .for_each(|m| visit(Role::MadeAlready, &mut m.0));
    }

    fn at_most_one_row(&self) -> bool {
        self.input.node().at_most_one_row()
    }

    fn surely_has_a_row(&self) -> bool {
        self.input.node().surely_has_a_row()
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        empty[0]
    }

    fn prune(&mut self, needed: &mut dyn Needed) {
        self.calls.retain(|c| needed.contains(c.0));
        self.most = self.most.filter(|m| needed.contains(m.0));
    }

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let mut visible = check.tree(&*self.input)?;
        let order = self.order.iter().map(|k| k.column);
        for id in self.partition.iter().copied().chain(order) {
            check.reads_column(id, &visible, "a window")?;
        }
        for (id, call) in &self.calls {
            for e in call.expressions() {
                check.reads(e, &visible, "a window function")?;
            }
            if let Some(e) = &call.filter {
                check.predicate(e, &visible, "the filter of a window function")?;
            }
            check.is_of_type(*id, call.ty, "a window function")?;
        }
        let made = || self.calls.iter().map(|c| c.0);
        check.make(made())?;
        visible.extend(made());
        Ok(visible)
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for (id, call) in &mut self.calls {
            call.expressions_mut().for_each(|e| pass.expression(e));
            pass.set(*id, call.function.is_nullable());
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        of.operator(&self.input)
    }

    fn about_rows(&self, inputs: &[f64], _of: &dyn AboutRows) -> f64 {
        inputs[0]
    }

    fn learn(&self, _inputs: &[f64], facts: &mut dyn Facts) {
        for (id, _) in &self.calls {
            facts.aggregated(*id, None);
        }
    }

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        pass.windows(&self.input, &self.calls);
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!(
            "Window{}{}: {}",
            display_window::over(self.partition.iter().copied(), &self.order, names),
            display_window::most(self.most, names),
            display_window::calls(&self.calls, names)
        )
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        builder.windows(op, needed)
    }
}
