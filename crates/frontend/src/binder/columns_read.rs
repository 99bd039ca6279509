//! Columns of a table that the query of a view reads: those that it names, those that `*` stands for, and those that
//! USING, NATURAL and the column names of an alias take. PostgreSQL lets no other column be dropped under the view. A
//! view that reads columns because it groups by their table's primary key depends on that key, too.

use super::column_uses::{ColumnUses, TableUses};
use super::nesting::Names;
use super::{Binder, OutputColumn};
use frazil_catalog::ViewEntry;
use frazil_plan::ColumnId;
use frazil_types::{ObjectId, Result};
use sqlparser::ast::Query;

/// Uses of a table by the query of a view, without those of further views that it reads.
pub(crate) fn columns_read<'a>(
    mut binder: Binder<'a>,
    view: &'a ViewEntry,
    query: &'a Query,
    table: ObjectId,
) -> Result<TableUses> {
    binder.takes_parameters = false;
    binder.with_all_rights();
    binder.names = Names::View(view);
    binder.uses = Some(ColumnUses::default());
    binder.top_query(query)?;
    let uses = binder.uses.take().unwrap_or_default();
    Ok(uses.of(table))
}

impl Binder<'_> {
    /// Notes that a column is read, if somebody asks for that.
    pub(super) fn note_use(&mut self, column: ColumnId) {
        self.note_right(column);
        if let Some(uses) = &mut self.uses {
            uses.note(column);
        }
    }

    /// Notes that a column is read because the key of its table is grouped by, if somebody asks for that.
    pub(super) fn note_keyed(&mut self, column: ColumnId) {
        if let Some(uses) = &mut self.uses {
            uses.note_keyed(column);
        }
    }

    /// Notes that columns of a table are there to be read, by their positions.
    pub(super) fn note_scan(&mut self, table: ObjectId, columns: &[OutputColumn]) {
        if let Some(uses) = &mut self.uses {
            uses.note_scan(table, columns);
        }
    }
}
