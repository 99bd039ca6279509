//! VALUES.

use super::list_limits;
use super::rows::{Computed, one_row};
use super::scope::{Clause, Level};
use super::{Binder, OutputColumn, Relation, error};
use frazil_functions::{CastContext, Operand};
use frazil_plan::operators::{UnionAll, Values};
use frazil_plan::subquery::has_subquery;
use frazil_plan::{ColumnId, Expr, Operator};
use frazil_types::{Result, Span, SqlState};
use sqlparser::ast::{Expr as SqlExpr, Values as SqlValues};

impl<'a> Binder<'a> {
    /// Rows whose columns get the common types of their values.
    pub(super) fn values(&mut self, values: &'a SqlValues) -> Result<Relation> {
        self.levels.push(Level {
            clause: Clause::Values,
            ..Level::default()
        });
        let rows = self.value_rows(values);
        self.levels.pop();
        let rows = rows?;
        let width = rows.first().map_or(0, Vec::len);
        let mut types = Vec::with_capacity(width);
        for at in 0..width {
            let parts: Vec<&Operand> = rows.iter().map(|row| &row[at]).collect();
            types.push(self.typing.common_type(&parts, "VALUES")?);
        }
        let mut typed = Vec::with_capacity(rows.len());
        let mut nullable = vec![false; width];
        for row in rows {
            let mut cast = Vec::with_capacity(width);
            for (at, value) in row.into_iter().enumerate() {
                let span = value.span();
                let e = self.typing.cast(value, types[at], CastContext::Implicit, span)?;
                nullable[at] |= e.nullable;
                cast.push(e);
            }
            typed.push(cast);
        }
        let mut columns = Vec::with_capacity(width);
        for at in 0..width {
            let name = format!("column{}", at + 1);
            let id = self.columns.add(name.clone(), types[at], nullable[at]);
            columns.push(OutputColumn::new(name, id));
        }
        Ok(self.rows_of(columns, typed))
    }

    /// The rows as written. 42601 if they are of different widths.
    fn value_rows(&mut self, values: &'a SqlValues) -> Result<Vec<Vec<Operand>>> {
        let mut rows: Vec<Vec<Operand>> = Vec::with_capacity(values.rows.len());
        for row in &values.rows {
            list_limits::targets(row.content.len(), self.last_span(&row.content))?;
            let mut bound = Vec::with_capacity(row.content.len());
            for e in &row.content {
                bound.push(self.expression(e)?);
            }
            if rows.first().is_some_and(|first| first.len() != bound.len()) {
                let span = bound.first().map_or(Span::NONE, Operand::span);
                let message = "VALUES lists must all be the same length";
                return Err(error(SqlState::SYNTAX_ERROR, message, span));
            }
            rows.push(bound);
        }
        Ok(rows)
    }

    /// A value of VALUES, outside any query.
    pub(super) fn single_value(&mut self, e: &'a SqlExpr) -> Result<Operand> {
        self.levels.push(Level {
            clause: Clause::Values,
            ..Level::default()
        });
        let value = self.expression(e);
        self.levels.pop();
        value
    }
}

impl Binder<'_> {
    /// A relation of rows. Rows that read a subquery or a column of a query around them are computed each above a row
    /// without columns.
    pub(super) fn rows_of(&mut self, columns: Vec<OutputColumn>, rows: Vec<Vec<Expr>>) -> Relation {
        let ids: Vec<ColumnId> = columns.iter().map(|c| c.id).collect();
        let is_plain = |e: &Expr| !has_subquery(e) && e.columns_read().is_empty();
        if rows.iter().flatten().all(is_plain) {
            return Relation::new(Operator::Values(Values { columns: ids, rows }), columns);
        }
        let mut inputs = Vec::with_capacity(rows.len());
        for row in rows {
            let mut expressions = Vec::with_capacity(row.len());
            for (e, column) in row.into_iter().zip(&columns) {
                let id = self.columns.add(column.name.clone(), e.ty, e.nullable);
                expressions.push((id, e));
            }
            let made = expressions.iter().map(|e| e.0).collect();
            inputs.push((Computed { expressions }.above(one_row()), made));
        }
        Relation::new(Operator::UnionAll(UnionAll { inputs, columns: ids }), columns)
    }
}
