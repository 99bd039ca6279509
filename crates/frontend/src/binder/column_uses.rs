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
}

impl ColumnUses {
    /// Notes that a column is read.
    pub fn note(&mut self, column: ColumnId) {
        self.used.insert(column);
    }

    /// Notes that columns of a table are there to be read, by their positions.
    pub fn note_scan(&mut self, table: ObjectId, columns: &[OutputColumn]) {
        let columns = columns.iter().enumerate();
        self.scanned
            .extend(columns.map(|(position, c)| (table, position, c.id)));
    }

    /// The positions of the columns of a table that are read.
    pub fn positions_of(&self, table: ObjectId) -> Vec<usize> {
        let scanned = self.scanned.iter();
        let read = scanned.filter(|(scanned, _, id)| *scanned == table && self.used.contains(id));
        read.map(|(_, position, _)| *position).collect()
    }
}
