//! Rows to be given out in an order.

use super::keeps::{Computed, Keeps, Which};
use crate::display_expression::Names;
use crate::display_operator::{by_keys, limits};
use crate::{ColumnId, Expr, RowCount, SortKey};

/// Rows that are sorted when all are there, and which of them are given out.
#[derive(Clone, Debug, PartialEq)]
pub struct SortTable {
    /// Keys, most significant first.
    pub keys: Vec<SortKey>,
    /// Number of leading keys that make a group. Limit and offset hold for each group; 0: for all rows.
    pub groups: usize,
    /// Columns kept, the keys among them.
    pub columns: Vec<ColumnId>,
    /// Rows given out, after `offset`.
    pub limit: Option<RowCount>,
    /// Rows skipped.
    pub offset: RowCount,
}

impl Keeps for SortTable {
    fn name(&self) -> &'static str {
        "sort"
    }

    fn reads(&self) -> Vec<ColumnId> {
        self.columns.clone()
    }

    fn expressions(&self) -> Vec<&Expr> {
        vec![]
    }

    fn computed_mut(&mut self) -> Vec<Computed<'_>> {
        vec![]
    }

    fn takes_vectors(&self) -> bool {
        false
    }

    fn looks_up(&self) -> bool {
        false
    }

    fn text(&self, _keys: &[Expr], names: &Names) -> String {
        let columns = names.list(self.columns.iter().copied());
        let (groups, keys) = self.keys.split_at(self.groups);
        let groups = match groups {
            [] => String::new(),
            groups => format!(", for each ({})", names.list(groups.iter().map(|k| k.column))),
        };
        let keys = by_keys(keys, names);
        format!(
            " ({columns}){keys}{groups}{}",
            limits(&self.limit, &self.offset, names)
        )
    }

    fn rows_text(&self, _which: Which) -> &'static str {
        "sorted"
    }
}
