//! The columns of tables that a query reads, as far as it is bound.

use super::OutputColumn;
use frazil_plan::ColumnId;
use frazil_types::ObjectId;
use std::collections::HashSet;

/// What a query reads, as far as it is bound.
#[derive(Default)]
pub(super) struct ColumnUses {
    /// Columns of tables: the table, the position, and the column in the plan.
    scanned: Vec<(ObjectId, usize, ColumnId)>,
    used: HashSet<ColumnId>,
    /// Columns that are read from groups because the primary key of their table is grouped by.
    keyed: HashSet<ColumnId>,
}

/// Uses of one table by a query.
pub(crate) struct TableUses {
    /// Positions of the columns that are read.
    pub columns: Vec<usize>,
    /// True if the query is valid only as long as the table has its primary key.
    pub needs_key: bool,
}

impl ColumnUses {
    /// Notes that a column is read.
    pub fn note(&mut self, column: ColumnId) {
        self.used.insert(column);
    }

    /// Notes that a column is read because the key of its table is grouped by.
    pub fn note_keyed(&mut self, column: ColumnId) {
        self.keyed.insert(column);
    }

    /// Notes that columns of a table are there to be read, by their positions.
    pub fn note_scan(&mut self, table: ObjectId, columns: &[OutputColumn]) {
        let columns = columns.iter().enumerate();
        self.scanned
            .extend(columns.map(|(position, c)| (table, position, c.id)));
    }

    /// Uses of a table by what is bound so far.
    pub fn of(&self, table: ObjectId) -> TableUses {
        let scanned = || self.scanned.iter().filter(|(scanned, _, _)| *scanned == table);
        let read = scanned().filter(|(_, _, id)| self.used.contains(id));
        TableUses {
            columns: read.map(|(_, position, _)| *position).collect(),
            needs_key: scanned().any(|(_, _, id)| self.keyed.contains(id)),
        }
    }
}
