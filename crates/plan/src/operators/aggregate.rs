//! Groups and their aggregates.

use super::node::{Needed, Node, Tree};
use crate::Columns;
use crate::breakers::{Breaker, GroupTable};
use crate::display_expression::Names;
use crate::display_operator::aggregation;
use crate::facts::{AboutRows, Facts, KnownValues, MostRows};
use crate::nullability::Nullability;
use crate::opening::{Builder, NeededColumns, Opened, rows_of};
use crate::operators::{Map, Values};
use crate::role::Role;
use crate::verify::{Check, Visible, defect};
use crate::{AggregateCall, ColumnId, Expr, Operator};
use frazil_types::Result;

/// Groups. Without groups: one row, also for no input.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate<T> {
    /// Input.
    pub input: Box<T>,
    /// Group columns made, and the expressions grouped by. NULLs are one group.
    pub groups: Vec<(ColumnId, Expr)>,
    /// Aggregates made.
    pub aggregates: Vec<(ColumnId, AggregateCall)>,
}

impl<T> Aggregate<T> {
    /// True if there is one group, and all that is computed is its number of rows.
    pub(crate) fn counts_all_rows(&self) -> bool {
        self.groups.is_empty() && self.aggregates.iter().all(|(_, call)| is_of_all_rows(call))
    }
}

impl Operator {
    /// Changes each aggregation by `rewrite`. The columns that it returns are computed by a map above the aggregation.
    pub fn rewrite_aggregations(
        &mut self,
        rewrite: &mut dyn FnMut(&mut Aggregate<Operator>) -> Vec<(ColumnId, Expr)>,
    ) {
        let inputs = self.inputs_mut();
        inputs
            .into_iter()
            .for_each(|input| input.rewrite_aggregations(rewrite));
        let Operator::Aggregate(aggregate) = self else {
            return;
        };
        let above = rewrite(aggregate);
        if !above.is_empty() {
            let below = std::mem::replace(self, Values::nothing(Vec::new()));
            *self = Map::above(below, above);
        }
    }
}

fn is_of_all_rows(call: &AggregateCall) -> bool {
    call.counts_rows() && !call.distinct && call.filter.is_none()
}

impl<T: Tree> Node<T> for Aggregate<T> {
    fn inputs(&self) -> Vec<&T> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut T> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&T> {
        vec![]
    }

    fn unlockable(&self) -> Option<&'static str> {
        Some("GROUP BY clause")
    }

    fn expressions(&self) -> Vec<&Expr> {
        let calls = self.aggregates.iter().map(|a| &a.1);
        let parts = calls.flat_map(|c| c.expressions());
        self.groups.iter().map(|g| &g.1).chain(parts).collect()
    }

    fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        let calls = self.aggregates.iter_mut().map(|a| &mut a.1);
        let parts = calls.flat_map(|c| c.expressions_mut());
        self.groups.iter_mut().map(|g| &mut g.1).chain(parts).collect()
    }

    fn ids(&self, visit: &mut dyn FnMut(Role, ColumnId)) {
        self.groups.iter().for_each(|g| visit(Role::Made, g.0));
        self.aggregates.iter().for_each(|a| visit(Role::Made, a.0));
    }

    fn ids_mut(&mut self, visit: &mut dyn FnMut(Role, &mut ColumnId)) {
        self.groups.iter_mut().for_each(|g| visit(Role::Made, &mut g.0));
        self.aggregates
            .iter_mut()
            .for_each(|a| visit(Role::Made, &mut a.0));
    }

    fn at_most_one_row(&self) -> bool {
        self.groups.is_empty()
    }

    fn surely_has_a_row(&self) -> bool {
        self.groups.is_empty()
    }

    fn is_empty_where(&self, empty: &[bool]) -> bool {
        !self.groups.is_empty() && empty.first() == Some(&true)
    }

    fn prune(&mut self, needed: &mut dyn Needed) {
        self.aggregates.retain(|a| needed.contains(a.0));
    }

    fn verify(&self, check: &mut Check<'_>) -> Result<Visible> {
        let visible = check.tree(&*self.input)?;
        for (id, e) in &self.groups {
            check.reads(e, &visible, "a group key")?;
            check.same_type(*id, e)?;
        }
        for (id, call) in &self.aggregates {
            if call.argument.is_none() != call.counts_rows() {
                return Err(defect(format!("{:?} with a wrong argument", call.function)));
            }
            if call.counts_rows() && call.distinct == call.order.is_empty() {
                return Err(defect("rows that are told apart by no key, or counted by one"));
            }
            for e in call.values() {
                check.reads(e, &visible, "an aggregate")?;
            }
            if let Some(e) = &call.filter {
                check.predicate(e, &visible, "an aggregate's filter")?;
            }
            check.is_of_type(*id, call.ty, "an aggregate")?;
        }
        let made = || {
            self.groups
                .iter()
                .map(|g| g.0)
                .chain(self.aggregates.iter().map(|a| a.0))
        };
        check.make(made())?;
        Ok(made().collect())
    }

    fn null_supplied(&self) -> Vec<&T> {
        vec![]
    }

    fn find_nullable(&mut self, pass: &mut Nullability<'_>) {
        for (id, e) in &mut self.groups {
            pass.expression(e);
            pass.set(*id, e.nullable);
        }
        let grouped = !self.groups.is_empty();
        for (id, call) in &mut self.aggregates {
            call.expressions_mut().for_each(|e| pass.expression(e));
            let may_be_null = |e: &Expr| e.nullable;
            let second = call.second.iter().filter(|_| call.function.asks_second());
            let nullable = !call.function.counts()
                && (!grouped || call.filter.is_some() || call.argument.iter().chain(second).any(may_be_null));
            pass.set(*id, nullable);
        }
    }

    fn most_rows(&self, of: &dyn MostRows<T>) -> Option<u64> {
        match self.groups.is_empty() {
            true => Some(1),
            false => of.operator(&self.input),
        }
    }

    fn about_rows(&self, inputs: &[f64], of: &dyn AboutRows) -> f64 {
        of.groups(&self.groups, inputs[0])
    }

    fn learn(&self, inputs: &[f64], facts: &mut dyn Facts) {
        for (id, e) in &self.groups {
            facts.computed(*id, e);
        }
        let rows = facts.groups(&self.groups, inputs[0]);
        for (id, _) in &self.aggregates {
            facts.aggregated(*id, Some(rows));
        }
    }

    fn find_bounds(&self, pass: &mut dyn KnownValues<T>) {
        pass.aggregate(&self.input, &self.groups, &self.aggregates);
    }

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Aggregate{}", aggregation(&self.groups, &self.aggregates, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &T, builder: &mut Builder<'_, T>, needed: &NeededColumns) -> Opened {
        let aggregates = self.aggregates.iter().filter(|a| needed.contains(&a.0));
        let aggregates: Vec<_> = aggregates.cloned().collect();
        let parts = (aggregates.iter()).flat_map(|a| a.1.expressions());
        let computed = self.groups.iter().map(|g| &g.1).chain(parts);
        let below = computed.flat_map(Expr::columns_read).collect();
        let opened = builder.open(&self.input, &below);
        let rows = builder.rows(op, &[opened.rows]);
        let table = GroupTable {
            groups: self.groups.clone(),
            aggregates,
            estimated_groups: rows,
            row_bound: builder.row_bound(&self.input),
            enough: None,
        };
        let columns = table.columns().collect();
        let id = builder.fill(Breaker::Groups(table), opened, vec![]);
        Opened::of(rows_of(id, columns), rows)
    }
}
