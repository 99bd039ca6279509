//! Primary keys of the tables in FROM: where a query groups by one, each other column of its table has one value in a
//! group, and is read as if it were grouped by, too.

use super::Binder;
use super::scope::KeyedTable;
use crate::TableEntry;
use frazil_catalog::{Constraint, ConstraintKind};
use frazil_plan::ColumnId;

impl Binder<'_> {
    /// Notes the primary key, unless it is deferrable, of a table that the query being bound reads by columns `ids`,
    /// in the table's order.
    pub(super) fn note_key(&mut self, table: &TableEntry, ids: Vec<ColumnId>) {
        let is_primary = |c: &&Constraint| matches!(c.kind, ConstraintKind::PrimaryKey { .. });
        let id = table
            .constraints
            .iter()
            .find(is_primary)
            .and_then(Constraint::index);
        let Some(index) = id.and_then(|id| {
            table
                .indexes
                .iter()
                .find(|index| index.id == id && index.is_key())
        }) else {
            return;
        };
        let key: Option<Vec<ColumnId>> = index
            .keys
            .iter()
            .map(|key| ids.get(key.column).copied())
            .collect();
        if let Some(key) = key {
            self.level().keyed_tables.push(KeyedTable { key, columns: ids });
        }
    }
}
