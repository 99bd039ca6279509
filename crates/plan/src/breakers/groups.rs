//! The groups of an aggregation.

use super::keeps::{Computed, Keeps, Which};
use crate::display_expression::Names;
use crate::display_operator::aggregation;
use crate::{AggregateCall, ColumnId, Expr};

/// Groups and their aggregates.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupTable {
    /// Group columns and what they are.
    pub groups: Vec<(ColumnId, Expr)>,
    /// Aggregates. DISTINCT ones have been rewritten away, save where `distinct` still says so: groups keep rows for those.
    pub aggregates: Vec<(ColumnId, AggregateCall)>,
    /// Groups expected.
    pub estimated_groups: f64,
    /// Rows it takes in at most, where that is known: sums of bounded values use it.
    pub row_bound: Option<u64>,
    /// Number of groups after which no more rows are needed. `None`: all rows are.
    pub enough: Option<u64>,
}

impl GroupTable {
    /// The columns that it makes: its groups, then its aggregates.
    pub fn columns(&self) -> impl Iterator<Item = ColumnId> {
        let aggregates = self.aggregates.iter().map(|a| a.0);
        self.groups.iter().map(|g| g.0).chain(aggregates)
    }
}

impl Keeps for GroupTable {
    fn name(&self) -> &'static str {
        "groups"
    }

    fn reads(&self) -> Vec<ColumnId> {
        vec![]
    }

    fn expressions(&self) -> Vec<&Expr> {
        let calls = self.aggregates.iter().map(|a| &a.1);
        let parts = calls.flat_map(AggregateCall::expressions);
        self.groups.iter().map(|g| &g.1).chain(parts).collect()
    }

    fn computed_mut(&mut self) -> Vec<Computed<'_>> {
        let groups = self.groups.iter_mut().map(|g| Computed {
            values: vec![&mut g.1],
            filter: None,
        });
        let calls = self.aggregates.iter_mut().map(|(_, call)| {
            let keys = call.order.iter_mut().map(|key| &mut key.e);
            let arguments = call.argument.iter_mut().chain(&mut call.second);
            Computed {
                values: arguments.chain(keys).collect(),
                filter: call.filter.as_mut(),
            }
        });
        groups.chain(calls).collect()
    }

    fn takes_vectors(&self) -> bool {
        false
    }

    fn looks_up(&self) -> bool {
        !self.groups.is_empty()
    }

    fn text(&self, _keys: &[Expr], names: &Names) -> String {
        let text = aggregation(&self.groups, &self.aggregates, names);
        match (self.groups.is_empty(), self.enough) {
            (true, _) => text,
            (false, None) => format!("{text}, about {:.0} groups", self.estimated_groups),
            (false, Some(enough)) => format!("{text}, until there are {enough} groups"),
        }
    }

    fn rows_text(&self, _which: Which) -> &'static str {
        "groups"
    }
}
