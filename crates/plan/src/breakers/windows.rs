//! Rows with what window functions make of them.

use super::keeps::{Computed, Keeps, Which};
use crate::display_expression::Names;
use crate::display_window;
use crate::{ColumnId, Expr, SortKey, WindowCall, WindowFunction};

/// Rows over which window functions are computed when all are there. They come out in the order of the last step.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowTable {
    /// Columns kept: those that somebody reads above, keys, arguments.
    pub columns: Vec<ColumnId>,
    /// What is computed, step by step.
    pub steps: Vec<WindowSort>,
    /// The rank of its only window, and the greatest one that is asked for: see [`crate::operators::Window`].
    pub most: Option<(ColumnId, u64)>,
}

/// An order of the rows, and the windows that are computed in it.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowSort {
    /// Keys, most significant first.
    pub keys: Vec<SortKey>,
    /// The windows.
    pub windows: Vec<SortedWindow>,
}

/// A window over sorted rows.
#[derive(Clone, Debug, PartialEq)]
pub struct SortedWindow {
    /// Number of leading keys that make a partition.
    pub partition: usize,
    /// Number of keys behind them that order its rows.
    pub order: usize,
    /// The columns made. Arguments, filters and offsets are columns that are kept, and constants that are no strings.
    pub calls: Vec<(ColumnId, WindowCall)>,
}

impl WindowTable {
    /// Columns that window functions make.
    pub fn made(&self) -> impl Iterator<Item = ColumnId> {
        let windows = self.steps.iter().flat_map(|step| &step.windows);
        windows.flat_map(|w| &w.calls).map(|(id, _)| *id)
    }
}

impl WindowTable {
    /// True if windows of all rows tell rows by the order in which they come.
    pub fn takes_given_order(&self) -> bool {
        let windows = self.steps.iter().flat_map(|step| &step.windows);
        let mut unordered = windows.filter(|window| window.partition == 0 && window.order == 0);
        unordered.any(|window| window.calls.iter().any(|(_, call)| call.tells_peers_apart()))
    }

    /// The function of the rank of which not all are asked for, and the greatest one.
    pub fn top(&self) -> Option<(WindowFunction, u64)> {
        let (id, most) = self.most?;
        let calls = self.steps.iter().flat_map(|s| &s.windows).flat_map(|w| &w.calls);
        let call = calls.into_iter().find(|c| c.0 == id)?;
        Some((call.1.function, most))
    }
}

impl Keeps for WindowTable {
    fn name(&self) -> &'static str {
        "windows"
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
        format!(" ({columns}){}", display_window::steps(self, names))
    }

    fn rows_text(&self, _which: Which) -> &'static str {
        "windows"
    }
}
