//! The comments of LIKE … INCLUDING COMMENTS: those on columns, CHECK constraints and indexes of a relation become
//! comments on their copies in a table that was just created.

use crate::{Catalog, Commented, ConstraintKind, IndexEntry, Relation, TableEntry};
use frazil_types::{ObjectId, Result};
use std::sync::Arc;

/// LIKE … INCLUDING COMMENTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedComments {
    /// The relation whose columns were copied.
    pub source: ObjectId,
    /// Position of the first copied column in the new table.
    pub first: usize,
    /// True if CHECK constraints were copied.
    pub constraints: bool,
    /// The number of indexes without constraints that the table got of others before; `None` if indexes were not
    /// copied.
    pub indexes: Option<usize>,
}

impl Catalog {
    /// The next version, in which a new table has the comments of what was copied into it; this version without any.
    pub fn copy_comments(&self, table: &TableEntry, copied: &CopiedComments) -> Result<Catalog> {
        if self.comments.is_empty() {
            return Ok(self.clone());
        }
        let mut found: Vec<(Commented, Arc<str>)> = Vec::new();
        let mut copy = |from: Option<Commented>, to: Option<Commented>| {
            if let (Some(from), Some(to)) = (from, to) {
                found.extend(self.comment(from).map(|text| (to, text.clone())));
            }
        };
        let source = self.relation_of(copied.source);
        let columns = source.map_or(0, |source| match source {
            Relation::Table(table) => table.schema.columns.len(),
            Relation::View(view) => view.schema.columns.len(),
        });
        for column in 0..columns {
            let from = self.column_key(copied.source, column);
            copy(from, self.column_key(table.id, copied.first + column));
        }
        if let Some(Relation::Table(source)) = source {
            for check in source.constraints.iter().filter(|_| copied.constraints) {
                let is_check = matches!(check.kind, ConstraintKind::Check { .. });
                let own = table.constraint(&check.name).filter(|_| is_check);
                copy(
                    Some(Commented::Object(check.id)),
                    own.map(|own| Commented::Object(own.id)),
                );
            }
            for (from, to) in copied_indexes(source, table, copied) {
                copy(Some(Commented::Object(from.id)), Some(Commented::Object(to.id)));
            }
        }
        if found.is_empty() {
            return Ok(self.clone());
        }
        let mut next = self.next();
        Arc::make_mut(&mut next.comments).extend(found);
        Ok(next)
    }
}

/// The indexes of the source, each with its copy. Indexes of constraints are found by their columns, the others by
/// their order.
fn copied_indexes<'a>(
    source: &'a TableEntry,
    table: &'a TableEntry,
    copied: &CopiedComments,
) -> Vec<(&'a IndexEntry, &'a IndexEntry)> {
    let Some(before) = copied.indexes else {
        return Vec::new();
    };
    let plain = |index: &&&Arc<IndexEntry>| index.constraint.is_none();
    let columns = |index: &IndexEntry, first: usize| -> Vec<usize> {
        index.keys.iter().map(|key| key.column + first).collect()
    };
    let mut pairs: Vec<(&IndexEntry, &IndexEntry)> = Vec::new();
    for from in source.indexes.iter().filter(|index| index.constraint.is_some()) {
        let wanted = columns(from, copied.first);
        let to = table.indexes.iter().find(|to| {
            let is_taken = pairs.iter().any(|(_, taken)| taken.id == to.id);
            to.constraint.is_some() && !is_taken && columns(to, 0) == wanted
        });
        pairs.extend(to.map(|to| (&**from, &**to)));
    }
    let from = source.indexes.iter().filter(|index| plain(&index));
    let to = table.indexes.iter().filter(|index| plain(&index)).skip(before);
    pairs.extend(from.zip(to).map(|(from, to)| (&**from, &**to)));
    pairs
}
