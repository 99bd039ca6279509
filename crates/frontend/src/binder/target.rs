//! The table that a statement writes to: its rows with their ids, and values on their way into its columns.

use super::finish::plan_of;
use super::from::FromRows;
use super::rows::{Computed, one_row};
use super::scope::Clause;
use super::written::Written;
use super::{Binder, OutputColumn, Relation, error, finished};
use crate::{Bound, Statement, TableEntry, Writing};
use frazil_catalog::next_value_text;
use frazil_functions::{CastContext, Operand};
use frazil_plan::operators::Scan;
use frazil_plan::{ColumnId, Expr, Operator, Write};
use frazil_types::{ColumnDef, ColumnDefault, Result, SqlState, Value};
use sqlparser::ast::{Expr as SqlExpr, Ident, TableAlias};

/// The rows of the table, as one relation in sight, and the column of their ids.
pub(super) struct TargetRows {
    pub rows: FromRows,
    pub row_id: ColumnId,
}

impl<'a> Binder<'a> {
    /// A column of row ids.
    pub(super) fn row_id(&mut self) -> ColumnId {
        let row_id = self.columns.add_row_id();
        self.own(row_id);
        row_id
    }

    /// The rows of a table under a name, or that of an alias.
    pub(super) fn target_rows(
        &mut self,
        entry: &TableEntry,
        name: &str,
        alias: Option<&TableAlias>,
    ) -> Result<TargetRows> {
        let mut columns = Vec::with_capacity(entry.schema.columns.len());
        let mut read = Vec::with_capacity(entry.schema.columns.len());
        for (position, column) in entry.schema.columns.iter().enumerate() {
            let id = self.columns.add(column.name.as_str(), column.ty, column.nullable);
            read.push((id, position));
            columns.push(OutputColumn::new(column.name.as_str(), id));
        }
        self.originate(entry.oid, &entry.schema, &columns);
        self.note_target(entry, &columns);
        let row_id = self.row_id();
        let op = Operator::Scan(Scan {
            table: entry.id,
            name: entry.name.clone(),
            columns: read,
            row_id: Some(row_id),
            restrictions: Vec::new(),
            disjunctions: Vec::new(),
            places: Vec::new(),
        });
        let mut rows = self.item(Relation::new(op, columns), Some(name), alias, false)?;
        if let Some(oid) = entry.oid {
            self.show_system_columns(&mut rows, oid);
        }
        let rows = match alias {
            None => rows.in_schema(&entry.schema_name),
            Some(_) => rows,
        };
        Ok(TargetRows { rows, row_id })
    }

    /// A value cast to a column's type. 42804.
    pub(super) fn assigned(
        &mut self,
        value: Operand,
        entry: &TableEntry,
        column: &ColumnDef,
    ) -> Result<Expr> {
        let (span, ty) = (value.span(), value.ty());
        let cast = self.typing.cast(value, column.ty, CastContext::Assignment, span);
        cast.map_err(|e| match ty {
            Some(ty) if matches!(e.state().0, "42846" | "42804") => {
                let message = format!(
                    "column \"{}\" is of type {} but expression is of type {ty}",
                    column.name, column.ty
                );
                let hint = "You will need to rewrite or cast the expression.";
                error(SqlState::DATATYPE_MISMATCH, message, span)
                    .with_detail(format!("the table is \"{}\"", entry.name))
                    .with_hint(hint)
            }
            _ => e.at_span(span),
        })
    }

    /// The value of a column for which the statement has none. It is NULL for a generated column, whose value is
    /// computed when the values of the other columns are known.
    pub(super) fn default_of(&mut self, column: &ColumnDef) -> Result<Expr> {
        let text = match &column.default {
            None | Some(ColumnDefault::Generated { .. }) => {
                return Ok(Expr::constant(
                    Value::Null,
                    column.ty.in_zone(self.settings.zone).with_all_digits(),
                ));
            }
            Some(ColumnDefault::Value(value)) => {
                return Ok(Expr::constant(
                    value.clone(),
                    column.ty.in_zone(self.settings.zone).with_all_digits(),
                ));
            }
            Some(ColumnDefault::Expression(text)) => text.clone(),
            Some(ColumnDefault::Identity { sequence, .. }) => next_value_text(*sequence),
        };
        // The sequence of an identity column needs no right.
        let reader = self.reader;
        if matches!(column.default, Some(ColumnDefault::Identity { .. })) {
            self.with_all_rights();
        }
        let value = self.stored(&text, Vec::new(), Clause::Default);
        self.reader = reader;
        let value = value?;
        let span = value.span();
        self.typing.cast(value, column.ty, CastContext::Assignment, span)
    }

    /// The statement that writes so.
    pub(super) fn finish_write(self, written: Written) -> Result<Bound> {
        let (op, output) = self.write_operator(written)?;
        finished(self, op, output, |plan| Writing::Write(plan).into())
    }

    /// The Write above rows, and what it shows unless a query makes that.
    pub(super) fn write_operator(&self, written: Written) -> Result<(Operator, Vec<OutputColumn>)> {
        let Written {
            op,
            mut change,
            output,
            queries,
        } = written;
        change.returning = output.iter().map(|c| c.id).collect();
        let query = |query: Option<Relation>| {
            let complete = |query: Relation| plan_of(self, query.op, query.columns).map(Box::new);
            query.map(complete).transpose()
        };
        let write = Write {
            update: query(queries.update)?,
            returning: query(queries.returning)?,
            ..Write::new(op, change)
        };
        Ok((Operator::Write(Box::new(write)), output))
    }
}

/// The value of a column that is not given one, as a query.
pub(crate) fn default_query(mut binder: Binder<'_>, column: &ColumnDef) -> Result<Bound> {
    let value = binder.default_of(column)?;
    let mut computed = Computed::default();
    let id = binder.as_column(value, &column.name, &mut computed);
    let columns = vec![OutputColumn::new(column.name.as_str(), id)];
    finished(binder, computed.above(one_row()), columns, Statement::Query)
}

/// Whether a value is DEFAULT.
pub(super) fn is_default(e: &SqlExpr) -> bool {
    matches!(e, SqlExpr::Identifier(Ident { value, quote_style: None, .. }) if value.eq_ignore_ascii_case("default"))
}
