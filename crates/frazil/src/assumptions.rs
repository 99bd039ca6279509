//! What a compiled statement relies on, table by table, and whether it holds for a statement's view.
//!
//! Rows are counted in the view itself. Bounds are those that hold every row ever written to the table: writers widen
//! them before their rows can be seen, so that a view taken before they are looked at has no row beyond them. As long
//! as their epoch has not ended nothing needs to be compared.

use frazil_plan::{Assumption, Bounds};
use frazil_storage::{TableSnapshot, WidestBounds};
use frazil_types::ObjectId;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is relied on of one table.
#[derive(Debug)]
pub struct TableAssumptions {
    /// The table.
    pub table: ObjectId,
    /// Positions of columns, and the ranges that hold their values.
    bounds: Vec<(usize, Bounds)>,
    /// Positions of columns without NULL.
    not_null: Vec<usize>,
    /// Most rows.
    ceiling: u64,
    /// The epoch of the table's bounds for which bounds and NULLs were found right last; `NEVER` at first.
    epoch: AtomicU64,
}

/// An epoch that no table comes to.
const NEVER: u64 = u64::MAX;

/// The assumptions of a plan, a list for each table.
pub fn by_table(assumptions: &[Assumption]) -> Vec<TableAssumptions> {
    let mut tables: Vec<TableAssumptions> = Vec::new();
    for assumption in assumptions {
        let table = assumption.table();
        let at = tables.iter().position(|t| t.table == table).unwrap_or_else(|| {
            tables.push(TableAssumptions::new(table));
            tables.len() - 1
        });
        let list = &mut tables[at];
        match *assumption {
            Assumption::Bounds { column, bounds, .. } => list.bounds.push((column, bounds)),
            Assumption::NotNull { column, .. } => list.not_null.push(column),
            Assumption::Rows { ceiling, .. } => list.ceiling = list.ceiling.min(ceiling),
        }
    }
    tables
}

impl TableAssumptions {
    fn new(table: ObjectId) -> TableAssumptions {
        TableAssumptions {
            table,
            bounds: Vec::new(),
            not_null: Vec::new(),
            ceiling: u64::MAX,
            epoch: AtomicU64::new(NEVER),
        }
    }

    /// Whether they hold for the table as a statement's view shows it.
    pub fn hold(&self, view: &TableSnapshot) -> bool {
        if view.rows() > self.ceiling {
            return false;
        }
        let bounds = view.table().bounds();
        if self.epoch.load(Ordering::Relaxed) == bounds.epoch() {
            return true;
        }
        bounds.look(|widest| {
            let holds = self.hold_within(widest);
            if holds {
                self.epoch.store(widest.epoch, Ordering::Relaxed);
            }
            holds
        })
    }

    fn hold_within(&self, widest: &WidestBounds) -> bool {
        let mut bounds = self.bounds.iter();
        bounds.all(|(column, assumed)| {
            (widest.columns[*column].range).is_none_or(|(min, max)| assumed.min <= min && max <= assumed.max)
        }) && !self.not_null.iter().any(|&c| widest.columns[c].has_nulls)
    }
}
