//! DELETE: a query for row ids under a Delete.

use super::rows::filtered;
use super::scope::{Clause, Level};
use super::{Binder, OutputColumn, Relation, finished};
use crate::{Bound, Statement, TableEntry};
use frazil_plan::{ColumnId, Expr, JoinKind, Operator};
use frazil_types::{Error, LogicalType, Result, Span};
use sqlparser::ast::{Delete, FromTable, TableAlias, TableFactor, TableWithJoins};

/// Binds DELETE.
pub(crate) fn delete<'a>(mut binder: Binder<'a>, d: &'a Delete) -> Result<Bound> {
    super::refuse::first(&[
        (!d.tables.is_empty(), "DELETE of several tables"),
        (d.returning.is_some(), "RETURNING"),
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
    let (table, name) = (entry.id, entry.name.clone());
    binder.levels.push(Level::default());
    let (input, row_id) = binder.rows_to_delete(entry, alias.as_ref(), d)?;
    binder.levels.pop();
    let root = Operator::Delete {
        table,
        name,
        input: Box::new(input),
        row_id,
    };
    finished(binder, root, Vec::new(), Statement::Delete)
}

impl<'a> Binder<'a> {
    fn rows_to_delete(
        &mut self,
        entry: TableEntry,
        alias: Option<&'a TableAlias>,
        d: &'a Delete,
    ) -> Result<(Operator, ColumnId)> {
        let mut columns = Vec::new();
        let mut read = Vec::new();
        for (position, column) in entry.schema.columns.iter().enumerate() {
            let id = self.columns.add(column.name.as_str(), column.ty, column.nullable);
            read.push((id, position));
            columns.push(OutputColumn::new(column.name.as_str(), id));
        }
        let row_id = self.columns.add("row id", LogicalType::BigInt, false);
        let op = Operator::Scan {
            table: entry.id,
            name: entry.name.clone(),
            columns: read,
            row_id: Some(row_id),
            restrictions: Vec::new(),
            disjunctions: Vec::new(),
        };
        let mut rows = self.item(Relation::new(op, columns), Some(&entry.name), alias, false)?;
        let mut id = row_id;
        if let Some(using) = &d.using {
            let others = self.from(using)?;
            self.distinct_names(&rows.items, &others.items, Span::NONE)?;
            let all = super::join::Joined::plain(JoinKind::Inner);
            rows = self.combine(rows, others, all, Span::NONE)?;
        }
        self.level().items = rows.items;
        let condition = match &d.selection {
            Some(condition) => {
                let bound = self.in_clause(Clause::Where, |b| b.expression(condition))?;
                Some(self.typing.predicate(bound, "WHERE")?)
            }
            None => None,
        };
        let mut op = filtered(rows.op, condition);
        if d.using.is_some() {
            // A row that goes together with several others is deleted once.
            id = self.columns.add("row id", LogicalType::BigInt, false);
            op = Operator::Aggregate {
                input: Box::new(op),
                groups: vec![(id, Expr::column(row_id, &self.columns))],
                aggregates: Vec::new(),
            };
        }
        Ok((op, id))
    }
}
