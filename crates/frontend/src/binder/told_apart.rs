//! Two names of one column, told apart: GROUP BY and grouping sets go by the columns that a FROM clause shows, as
//! PostgreSQL's do, while a subquery in FROM may show one column under several names.

use super::from::FromRows;
use super::rows::{Computed, one_row};
use super::scope::Item;
use super::{Binder, OutputColumn};
use frazil_plan::ColumnId;
use std::collections::{HashMap, HashSet};

impl Binder<'_> {
    /// Gives each column of each relation a [`ColumnId`] of its own: copies stand above the rows for those that come
    /// again. Columns that a join with USING merges stay those of its sides.
    pub(super) fn told_apart(&mut self, mut rows: FromRows) -> FromRows {
        let mut seen = HashSet::new();
        let mut copies = Computed::default();
        // By name and column, for the columns that joins show without their relation.
        let mut shown_as: HashMap<(String, ColumnId), ColumnId> = HashMap::new();
        let (named, unnamed): (Vec<usize>, Vec<usize>) =
            (0..rows.items.len()).partition(|at| rows.items[*at].name.is_some());
        for at in named.into_iter().chain(unnamed) {
            let item = &rows.items[at];
            let is_join = item.name.is_none();
            let mut columns = item.columns.to_vec();
            for column in &mut columns {
                let key = (column.name.clone(), column.id);
                if is_join && let Some(id) = shown_as.get(&key) {
                    column.id = *id;
                    continue;
                }
                if !seen.insert(column.id) {
                    column.id = self.copied(column.id, &mut copies);
                }
                shown_as.entry(key).or_insert(column.id);
            }
            rows.items[at] = of_columns(item, columns);
        }
        let op = std::mem::replace(&mut rows.op, one_row());
        rows.op = copies.above(op);
        rows
    }
}

/// The relation with other columns, and with the one of them as its value that stands in the place of what was its
/// value.
fn of_columns(item: &Item, columns: Vec<OutputColumn>) -> Item {
    let place = item
        .value
        .and_then(|id| item.columns.iter().position(|c| c.id == id));
    let value = place.map(|at| columns[at].id);
    let mut told = item.with_columns(columns);
    told.value = value.or(item.value);
    told
}
