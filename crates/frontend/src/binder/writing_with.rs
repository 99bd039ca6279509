//! WITH queries that write. Each is a plan of its own, which runs before the statement does, on the same snapshot; what
//! its RETURNING shows is read as a table.

use super::common_tables::{PendingWrite, Returned, Rows};
use super::finish::plan_of;
use super::written::Written;
use super::{Binder, Relation, error};
use crate::WithWrite;
use frazil_types::{ColumnDef, Error, ObjectId, Result, Schema, Span, SqlState};
use sqlparser::ast::{Cte as SqlCte, SetExpr, Statement as Ast};

/// The id of the table that shows what the first WITH query returned; those of others count down from it. Ids of system
/// tables, files and frames are above.
pub const RETURNED_ID: u32 = u32::MAX - 4096;
/// WITH queries of a statement that write, at most.
pub const MOST_WRITES: usize = 64;

/// The statement that a WITH query is, if it writes.
pub(super) fn writing(definition: &SqlCte) -> Option<&Ast> {
    match &*definition.query.body {
        SetExpr::Insert(inner) | SetExpr::Update(inner) | SetExpr::Delete(inner) => Some(inner),
        _ => None,
    }
}

impl<'a> Binder<'a> {
    /// Binds a WITH query that writes. 54000 for too many.
    pub(super) fn writing_rows(
        &mut self,
        name: &str,
        definition: &'a SqlCte,
        inner: &'a Ast,
    ) -> Result<Rows> {
        let known = self.with_count();
        if let Some(with) = &definition.query.with {
            self.with(with)?;
        }
        let (written, returns) = match inner {
            Ast::Insert(insert) => (self.inserted(insert)?, insert.returning.is_some()),
            Ast::Update(update) => (self.updated(update)?, update.returning.is_some()),
            Ast::Delete(delete) => (self.deleted(delete)?, delete.returning.is_some()),
            other => return Err(Error::unsupported(format!("{other} in WITH"))),
        };
        self.forget_with(known);
        let shown = written.shown().to_vec();
        let table = self.pending(name, written)?;
        if !returns {
            return Ok(Rows::Silent);
        }
        let relation = self.with_names(Relation::new(super::rows::one_row(), shown), definition)?;
        let columns = relation.columns.into_iter();
        let columns = columns.map(|c| (c.name, self.columns[c.id].ty, self.columns[c.id].origin));
        let columns = columns.collect();
        Ok(Rows::Returned(Returned { table, columns }))
    }

    /// Takes a query that writes or locks rows before the statement runs. Returns the table that shows what the query
    /// returned. 54000 for too many.
    pub(super) fn pending(&mut self, name: &str, written: Written) -> Result<ObjectId> {
        if self.writes.len() >= MOST_WRITES {
            let message = format!("a statement has at most {MOST_WRITES} queries that write or lock rows");
            return Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
        }
        let table = ObjectId(RETURNED_ID - self.writes.len() as u32);
        self.writes.push(PendingWrite {
            name: name.to_string(),
            table,
            written,
        });
        Ok(table)
    }

    /// What a WITH query returned, for one more place that reads it.
    pub(super) fn returned_rows(&mut self, name: &str, returned: Returned) -> Relation {
        let columns = returned.columns.iter();
        let columns: Vec<ColumnDef> = columns.map(|(name, ty, _)| ColumnDef::new(name, *ty)).collect();
        let names = columns.iter().map(|c| c.name.clone()).collect();
        let relation = self.scan(returned.table, name, names, &Schema::new(columns));
        for (column, (.., origin)) in relation.columns.iter().zip(&returned.columns) {
            self.columns[column.id].origin = *origin;
        }
        relation
    }

    /// The plans of WITH queries that write, once all of the statement is bound.
    pub(super) fn planned_writes(&mut self) -> Result<Vec<WithWrite>> {
        let writes = std::mem::take(&mut self.writes).into_iter();
        let planned = writes.map(|write| {
            let (root, output) = self.write_operator(write.written)?;
            Ok(WithWrite {
                name: write.name,
                table: write.table,
                plan: plan_of(self, root, output)?,
            })
        });
        planned.collect()
    }
}

/// 0A000 for a WITH query that writes where none may stand.
pub(super) fn not_at_the_top(span: Span) -> Error {
    let message = "WITH clause containing a data-modifying statement must be at the top level";
    error(SqlState::FEATURE_NOT_SUPPORTED, message, span)
}
