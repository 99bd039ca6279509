//! Rows with what window functions make of them.

use super::keeps::{Computed, Keeps, Which};
use crate::display_expression::Names;
use crate::display_window;
use crate::{ColumnId, Expr, SortKey, WindowCall};

/// Rows over which window functions are computed when all are there. They come out in the order of the last step.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowTable {
    /// Columns kept: those that somebody reads above, keys, arguments.
    pub columns: Vec<ColumnId>,
    /// What is computed, step by step.
    pub steps: Vec<WindowSort>,
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

    fn text(&self, _keys: &[Expr], names: &Names) -> String {
        let columns = names.list(self.columns.iter().copied());
        format!(" ({columns}){}", display_window::steps(&self.steps, names))
    }

    fn rows_text(&self, _which: Which) -> &'static str {
        "windows"
    }
}
