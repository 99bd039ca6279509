//! DELETE: a query for row ids under a Write.

use super::join::Joined;
use super::rows::filtered;
use super::scope::Level;
use super::target::TargetRows;
use super::written::{WriteQueries, Written};
use super::{Binder, OutputColumn};
use crate::{Bound, TableEntry};
use frazil_catalog::Rights;
use frazil_plan::operators::Aggregate;
use frazil_plan::{Change, ColumnId, Expr, JoinKind, Operator, WriteKind};
use frazil_types::{Error, Result, Span};
use sqlparser::ast::{Delete, FromTable, TableAlias, TableFactor, TableWithJoins};

/// Binds DELETE.
pub(crate) fn delete<'a>(mut binder: Binder<'a>, d: &'a Delete) -> Result<Bound> {
    let written = binder.deleted(d)?;
    binder.finish_write(written)
}

fn deleted<'a>(binder: &mut Binder<'a>, d: &'a Delete) -> Result<Written> {
    super::refuse::first(&[
        (!d.tables.is_empty(), "DELETE of several tables"),
        (d.output.is_some(), "OUTPUT"),
        (!d.order_by.is_empty(), "DELETE … ORDER BY"),
        (d.limit.is_some(), "DELETE … LIMIT"),
        (!d.optimizer_hints.is_empty(), "an optimizer hint"),
    ])?;
    let FromTable::WithFromKeyword(from) = &d.from else {
        return Err(Error::new(
            frazil_types::SqlState::SYNTAX_ERROR,
            "syntax error: DELETE without FROM",
        ));
    };
    let [TableWithJoins { relation, joins }] = &from[..] else {
        return Err(Error::unsupported("DELETE from several tables"));
    };
    let TableFactor::Table { name, alias, .. } = relation else {
        return Err(Error::unsupported("DELETE from anything but a table"));
    };
    super::refuse::table_factor(relation)?;
    if !joins.is_empty() {
        return Err(Error::unsupported("DELETE from a join (write USING)"));
    }
    let entry = binder.table_to_change(name, "DELETE from")?;
    binder.note_write(entry.id, Rights::DELETE, Vec::new());
    binder.levels.push(Level::default());
    let deleted = binder.rows_to_delete(&entry, alias.as_ref(), d)?;
    binder.levels.pop();
    let change = Change {
        table: entry.id,
        name: entry.name.clone(),
        kind: WriteKind::Delete {
            row_id: deleted.row_id,
        },
        checks: Vec::new(),
        returning: Vec::new(),
    };
    Ok(Written {
        op: deleted.op,
        change,
        output: deleted.output,
        queries: WriteQueries::default(),
    })
}

/// Rows to be deleted, and what RETURNING shows of them.
struct Deleted {
    op: Operator,
    row_id: ColumnId,
    output: Vec<OutputColumn>,
}

impl<'a> Binder<'a> {
    /// Binds the rows of DELETE.
    pub(super) fn deleted(&mut self, d: &'a Delete) -> Result<Written> {
        deleted(self, d)
    }

    fn rows_to_delete(
        &mut self,
        entry: &TableEntry,
        alias: Option<&'a TableAlias>,
        d: &'a Delete,
    ) -> Result<Deleted> {
        let TargetRows { mut rows, row_id } = self.target_rows(entry, &entry.name, alias)?;
        if let Some(using) = &d.using {
            let others = self.others(&rows, using)?;
            rows = self.combine(rows, others, Joined::plain(JoinKind::Inner), Span::NONE)?;
        }
        self.level().items = rows.items.clone();
        let condition = self.where_condition(d.selection.as_ref())?;
        let op = filtered(rows.op, condition);
        if d.using.is_some() && d.returning.is_none() {
            // A row that goes together with several others is deleted once: so few rows are kept.
            let id = self.columns.add_row_id();
            let op = Operator::Aggregate(Aggregate {
                input: Box::new(op),
                groups: vec![(id, Expr::column(row_id, &self.columns))],
                aggregates: Vec::new(),
            });
            let output = Vec::new();
            return Ok(Deleted {
                op,
                row_id: id,
                output,
            });
        }
        let (op, output) = self.returning(d.returning.as_deref(), rows.items, op)?;
        Ok(Deleted { op, row_id, output })
    }
}
