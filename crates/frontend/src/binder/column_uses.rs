//! Which columns of a table the query of a view reads: those that it names, those that `*` stands for, and those that USING,
//! NATURAL and the column names of an alias take. PostgreSQL lets no other column be dropped under the view.

use super::view::Names;
use super::{Binder, OutputColumn};
use frazil_catalog::ViewEntry;
use frazil_plan::ColumnId;
use frazil_types::{ObjectId, Result};
use sqlparser::ast::Query;
use std::collections::HashSet;

/// What a query reads, as far as it is bound.
#[derive(Default)]
pub(super) struct ColumnUses {
    /// Columns of tables: the table, the position, and the column in the plan.
    scanned: Vec<(ObjectId, usize, ColumnId)>,
    used: HashSet<ColumnId>,
}

/// The positions of the columns of a table that the query of a view reads, views that it reads left out.
pub(crate) fn columns_read<'a>(
    mut binder: Binder<'a>,
    view: &'a ViewEntry,
    query: &'a Query,
    table: ObjectId,
) -> Result<Vec<usize>> {
    binder.takes_parameters = false;
    binder.names = Names::View(view);
    binder.uses = Some(ColumnUses::default());
    binder.top_query(query)?;
    let uses = binder.uses.take().unwrap_or_default();
    let of_table =
        (uses.scanned.iter()).filter(|(scanned, _, id)| *scanned == table && uses.used.contains(id));
    Ok(of_table.map(|(_, position, _)| *position).collect())
}

impl Binder<'_> {
    /// Notes that a column is read, if somebody asks for that.
    pub(super) fn note_use(&mut self, column: ColumnId) {
        if let Some(uses) = &mut self.uses {
            uses.used.insert(column);
        }
    }

    /// Notes that columns of a table are there to be read, by their positions.
    pub(super) fn note_scan(&mut self, table: ObjectId, columns: &[OutputColumn]) {
        if let Some(uses) = &mut self.uses {
            let columns = columns.iter().enumerate();
            uses.scanned
                .extend(columns.map(|(position, c)| (table, position, c.id)));
        }
    }
}
