//! The hash table of a join's build side, or its rows in an order.

use super::keeps::{Computed, Keeps, Which};
use crate::display_expression::Names;
use crate::display_operator::first_text;
use crate::{ColumnId, Expr, FirstMatches, JoinKind};
use frazil_types::LogicalType;

/// What a join's table holds.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinTable {
    /// Type and nullability of the keys. No keys: a list, every probe row meets every build row.
    pub keys: Vec<(LogicalType, bool)>,
    /// True if the rows are sorted by their keys, and probes walk runs of them. The last key is that of a
    /// [`crate::Band`].
    pub in_order: bool,
    /// The matches of a probe row that are given, if not all are.
    pub first: Option<FirstMatches>,
    /// Build columns kept for whoever reads them above, or in the residual.
    pub payload: Vec<ColumnId>,
    /// How the join combines.
    pub kind: JoinKind,
    /// Whether rows carry a mark that a probe found them.
    pub marked: bool,
    /// See [`crate::Operator::Join`].
    pub null_aware: bool,
    /// Rows expected.
    pub estimated_rows: f64,
}

impl Keeps for JoinTable {
    fn name(&self) -> &'static str {
        "join"
    }

    fn reads(&self) -> Vec<ColumnId> {
        self.payload.clone()
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

    fn text(&self, keys: &[Expr], names: &Names) -> String {
        let payload = names.list(self.payload.iter().copied());
        let rows = self.estimated_rows;
        let first = self.first.as_ref();
        let first = first.map(|first| first_text(first, names)).unwrap_or_default();
        format!(
            " {} ({}){first} with ({payload}), about {rows:.0} rows",
            if self.in_order { "ordered by" } else { "on" },
            names.exprs(keys)
        )
    }

    fn rows_text(&self, which: Which) -> &'static str {
        match which {
            Which::All => "rows of join",
            Which::Matched => "matched rows of join",
            Which::Unmatched => "unmatched rows of join",
        }
    }
}
