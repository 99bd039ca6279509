//! Whole rows as values: `t` where no column has the name, `(t).a`, `ROW(…)`. A row is kept as its columns
//! ([`Record`]) wherever these are asked for: in tests for NULL, comparisons, `count`, functions that make JSON. Only
//! a function or result of any type gets one value of the row.

use super::row_value::is_row;
use super::{Binder, OutputColumn, error, fold};
use crate::parse::ROW_OF;
use frazil_functions::{Operand, Record};
use frazil_plan::{ColumnId, Expr};
use frazil_types::{Result, Span, SqlState};
use sqlparser::ast::{AccessExpr, Expr as SqlExpr, Ident};
use std::rc::Rc;

/// Functions that make JSON of values of any type.
const TO_JSON: &[&str] = &[
    "json_agg",
    "json_build_array",
    "json_build_object",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_object_agg",
    "to_json",
    "to_jsonb",
];

/// A relation whose name stands where a value does.
pub(super) struct WholeRow {
    columns: Rc<[OutputColumn]>,
    /// A column that is NULL in rows that an outer join made without the relation; `None` if it makes none.
    mark: Option<ColumnId>,
    span: Span,
}

impl WholeRow {
    /// The place of its name.
    pub fn span(&self) -> Span {
        self.span
    }
}

impl<'a> Binder<'a> {
    /// The relation that an expression names; `None` for any other expression, and for a name that a column has.
    pub(super) fn whole_row(&mut self, e: &SqlExpr) -> Result<Option<WholeRow>> {
        let name = match e {
            SqlExpr::Nested(inner) => return self.whole_row(inner),
            SqlExpr::Identifier(name) => name,
            _ => return Ok(None),
        };
        let written = fold(name);
        let row = written.strip_prefix(ROW_OF);
        let folded = row.unwrap_or(&written);
        let Some(item) = self.relation(folded).filter(|item| item.value.is_none()) else {
            return match row {
                Some(row) => Err(self.missing_relation(row, self.span(name))),
                None => Ok(None),
            };
        };
        let (columns, marker) = (item.columns.clone(), item.marker);
        let is_item = self
            .levels
            .last()
            .is_some_and(|level| level.aliases.iter().any(|a| a.0 == folded));
        if row.is_none() && (is_item || self.is_column(folded)) {
            return Ok(None);
        }
        let span = self.span(name);
        let nullable = |id: ColumnId| self.columns[id].nullable;
        let mark = match marker {
            Some(marker) => Some(marker).filter(|id| nullable(*id)),
            None if columns.iter().all(|c| nullable(c.id)) => {
                self.nesting.want_marks()?;
                None
            }
            None => None,
        };
        Ok(Some(WholeRow { columns, mark, span }))
    }

    /// The columns of a row, and what tells whether it is there.
    pub(super) fn record_of(&mut self, row: WholeRow) -> Record {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for column in row.columns.iter() {
            self.refer(column.id, row.span);
            names.push(column.name.clone());
            values.push(Expr::column(column.id, &self.columns).at(row.span));
        }
        let mark = row.mark.map(|id| {
            self.refer(id, row.span);
            Expr::column(id, &self.columns)
        });
        Record {
            names,
            values,
            open: Vec::new(),
            mark,
        }
    }

    /// The row that an expression is, by its columns: a whole row, `ROW(…)` or `(a, b)`.
    pub(super) fn record(&mut self, e: &'a SqlExpr, parts_as: PartsAs) -> Result<Option<(Record, Span)>> {
        if let Some(row) = self.whole_row(e)? {
            let span = row.span;
            return Ok(Some((self.record_of(row), span)));
        }
        let written = match e {
            _ if !is_row(e) => return Ok(None),
            SqlExpr::Nested(inner) => return self.record(inner, parts_as),
            _ => super::row_value::row_expressions(e),
        };
        let parts = match (parts_as, written) {
            (PartsAs::Json, Some(written)) => {
                super::list_limits::row_parts(written.len(), self.leaf_span(e))?;
                written
                    .into_iter()
                    .map(|part| self.json_part(part))
                    .collect::<Result<_>>()?
            }
            _ => self.row_value(e)?.unwrap_or_default(),
        };
        let span = super::expression::row_span(&parts);
        let open = parts
            .iter()
            .map(|part| matches!(part, Operand::Unknown(_)))
            .collect();
        let values = parts.into_iter().map(|part| self.typing.settle(part));
        let values = values.collect::<Result<Vec<Expr>>>()?;
        let names = (1..=values.len()).map(|n| format!("f{n}")).collect();
        Ok(Some((
            Record {
                names,
                values,
                open,
                mark: None,
            },
            span,
        )))
    }

    /// A part of a row that becomes JSON: rows within it are objects.
    fn json_part(&mut self, e: &'a SqlExpr) -> Result<Operand> {
        match self.record(e, PartsAs::Json)? {
            Some((record, span)) => Ok(record.json(Expr::truth(false))?.at(span).into()),
            None => self.expression(e),
        }
    }

    /// A row as one value; `None` for any other expression.
    pub(super) fn row_as_value(&mut self, e: &'a SqlExpr) -> Result<Option<Operand>> {
        let record = self.record(e, PartsAs::Values)?;
        Ok(record.map(|(record, span)| record.value().at(span).into()))
    }

    /// The arguments of a function that makes JSON, whose rows are objects of JSON; `None` for other functions.
    pub(super) fn json_arguments(
        &mut self,
        name: &str,
        list: &[&'a SqlExpr],
    ) -> Result<Option<Vec<Operand>>> {
        if !TO_JSON.contains(&name) {
            return Ok(None);
        }
        let mut arguments = Vec::with_capacity(list.len());
        for e in list {
            arguments.push(match self.record(e, PartsAs::Json)? {
                Some((record, at)) if matches!(name, "json_agg" | "jsonb_agg") => {
                    record.json_element()?.at(at).into()
                }
                Some((record, at)) => record.json(Expr::truth(false))?.at(at).into(),
                None => self.expression(e)?,
            });
        }
        Ok(Some(arguments))
    }

    /// `row_to_json(row [, boolean])`; `None` for another function, and for an argument that is not a row.
    pub(super) fn row_to_json(
        &mut self,
        name: &str,
        list: &[&'a SqlExpr],
        span: Span,
    ) -> Result<Option<Operand>> {
        let (row, in_lines) = match (name, list) {
            ("row_to_json", [row]) => (*row, None),
            ("row_to_json", [row, in_lines]) => (*row, Some(*in_lines)),
            _ => return Ok(None),
        };
        let Some((record, _)) = self.record(row, PartsAs::Json)? else {
            return Ok(None);
        };
        let in_lines = in_lines.map(|e| self.expression(e)).transpose()?;
        Ok(Some(self.typing.row_to_json(record, in_lines, span)?.into()))
    }

    /// `(t).a`: the column, and how many accesses name it; `None` for what is not a field of a whole row. 42703.
    pub(super) fn field_of_row(&mut self, root: &SqlExpr, chain: &[AccessExpr]) -> Result<Option<Expr>> {
        let (SqlExpr::Nested(_), Some(AccessExpr::Dot(SqlExpr::Identifier(field)))) = (root, chain.first())
        else {
            return Ok(None);
        };
        let Some(row) = self.whole_row(root)? else {
            return Ok(None);
        };
        let (name, span) = (fold(field), self.span(field));
        let Some(column) = row.columns.iter().find(|c| c.name == name) else {
            let message = format!("column \"{name}\" not found in data type {}", self.name_of(root));
            return Err(error(SqlState::UNDEFINED_COLUMN, message, span));
        };
        self.refer(column.id, row.span.to(span));
        Ok(Some(Expr::column(column.id, &self.columns).at(row.span.to(span))))
    }

    /// A field of a column of row values whose fields are known; `None` for any other expression. 42703.
    pub(super) fn field_of_column(&self, row: &Expr, field: &Ident) -> Result<Option<Expr>> {
        let Some(fields) = row.as_column().and_then(|id| self.row_fields.get(&id)) else {
            return Ok(None);
        };
        let name = fold(field);
        let Some(position) = fields.iter().position(|known| known.0 == name) else {
            let message = format!("could not identify column \"{name}\" in record data type");
            return Err(error(SqlState::UNDEFINED_COLUMN, message, self.span(field)));
        };
        let read = self
            .typing
            .field_of_row(row.clone(), position, fields[position].1)?;
        Ok(Some(read))
    }

    fn name_of(&self, e: &SqlExpr) -> String {
        match e {
            SqlExpr::Nested(inner) => self.name_of(inner),
            SqlExpr::Identifier(name) => fold(name),
            other => other.to_string(),
        }
    }
}

/// The form that rows within a row take.
#[derive(Clone, Copy)]
pub(super) enum PartsAs {
    /// Each is one value.
    Values,
    /// Each is an object of JSON.
    Json,
}
