//! Groups and their aggregates.

use super::node::{Needed, Node, Role};
use crate::Columns;
use crate::breakers::{Breaker, GroupTable};
use crate::display_expression::Names;
use crate::display_operator::aggregation;
use crate::pipeline_builder::{Builder, NeededColumns, Opened, rows_of};
use crate::{AggregateCall, ColumnId, Expr, Operator};

/// Groups. Without groups: one row, also for no input.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Input.
    pub input: Box<Operator>,
    /// Group columns made, and the expressions grouped by. NULLs are one group.
    pub groups: Vec<(ColumnId, Expr)>,
    /// Aggregates made.
    pub aggregates: Vec<(ColumnId, AggregateCall)>,
}

impl Aggregate {
    /// Groups of an operator's rows.
    pub fn above(
        input: Operator,
        groups: Vec<(ColumnId, Expr)>,
        aggregates: Vec<(ColumnId, AggregateCall)>,
    ) -> Operator {
        Operator::Aggregate(Aggregate {
            input: Box::new(input),
            groups,
            aggregates,
        })
    }
}

impl Node for Aggregate {
    fn inputs(&self) -> Vec<&Operator> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut Operator> {
        vec![&mut self.input]
    }

    fn passes(&self) -> Vec<&Operator> {
        vec![]
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

    fn text(&self, names: &Names, _columns: &Columns) -> String {
        format!("Aggregate{}", aggregation(&self.groups, &self.aggregates, names))
    }

    fn input_title(&self, _i: usize) -> &'static str {
        ""
    }

    fn open(&self, op: &Operator, builder: &mut Builder<'_>, needed: &NeededColumns) -> Opened {
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
        };
        let columns = table.columns().collect();
        let id = builder.fill(Breaker::Groups(table), opened, vec![]);
        Opened::of(rows_of(id, columns), rows)
    }
}
