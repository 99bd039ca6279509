//! SET: new values of columns, alone, in lists, and from subqueries that give several.

use super::insert::column_position;
use super::query::Literals;
use super::row_value::row_expressions;
use super::scope::Clause;
use super::target::is_default;
use super::{Binder, error, fold, system_columns};
use crate::TableEntry;
use frazil_functions::Operand;
use frazil_plan::operators::{Aggregate, DependentJoin, Join};
use frazil_plan::{AggregateCall, Expr, ExprKind, JoinKind, Operator, ScalarFunction, free_columns};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::{Assignment, AssignmentTarget, Expr as SqlExpr, ObjectName, Query};

/// What SET asks for.
pub(super) struct Assignments {
    /// Positions of columns in the table, each once, and their new values, of the columns' types.
    pub values: Vec<(usize, Expr)>,
    /// Positions of generated columns that are set to DEFAULT: their values are computed.
    pub generated: Vec<usize>,
    /// Subqueries that give several values: each has exactly one row.
    rows: Vec<Operator>,
}

impl Assignments {
    /// The rows of `op`, each with those of the subqueries.
    pub fn joined(&self, op: Operator) -> Operator {
        self.rows.iter().fold(op, |op, row| {
            let (outer, row) = (Box::new(op), Box::new(row.clone()));
            if free_columns(&*row).is_empty() {
                return Operator::Join(Join {
                    kind: JoinKind::Inner,
                    build: row,
                    probe: outer,
                    keys: Vec::new(),
                    residual: None,
                    null_aware: false,
                    in_order: false,
                    first: None,
                });
            }
            Operator::DependentJoin(DependentJoin {
                outer,
                inner: row,
                condition: None,
                keep_outer: false,
            })
        })
    }
}

impl<'a> Binder<'a> {
    /// Binds SET over the relations in sight. 42703, 42601 for a column that is set twice, 42804.
    pub(super) fn assignments(&mut self, entry: &TableEntry, list: &'a [Assignment]) -> Result<Assignments> {
        let mut set = Assignments {
            values: Vec::with_capacity(list.len()),
            generated: Vec::new(),
            rows: Vec::new(),
        };
        let mut places = Vec::with_capacity(list.len());
        for Assignment { target, value } in list {
            match target {
                AssignmentTarget::ColumnName(name) => {
                    let position = self.set_column(entry, name)?;
                    places.push(self.name_span(name));
                    let value = self.in_clause(Clause::Set, |b| b.set_value(entry, position, value))?;
                    set.values.push((position, value));
                }
                AssignmentTarget::Tuple(names) => {
                    let positions: Vec<usize> = names
                        .iter()
                        .map(|n| self.set_column(entry, n))
                        .collect::<Result<_>>()?;
                    places.extend(names.iter().map(|n| self.name_span(n)));
                    self.in_clause(Clause::Set, |b| b.set_list(entry, &positions, value, &mut set))?;
                }
            }
        }
        for (at, (position, _)) in set.values.iter().enumerate() {
            if set.values[..at].iter().any(|v| v.0 == *position) {
                let name = &entry.schema.columns[*position].name;
                let message = format!("multiple assignments to same column \"{name}\"");
                return Err(error(SqlState::SYNTAX_ERROR, message, places[at]));
            }
        }
        let is_generated = |value: &(usize, Expr)| entry.schema.columns[value.0].is_generated();
        let (generated, values) = set.values.into_iter().partition(is_generated);
        let generated: Vec<(usize, Expr)> = generated;
        set.generated = generated.into_iter().map(|value| value.0).collect();
        set.values = values;
        Ok(set)
    }

    /// The column that SET names, which no table's name stands before.
    fn set_column(&self, entry: &TableEntry, name: &ObjectName) -> Result<usize> {
        let span = self.name_span(name);
        let mut parts = name.0.iter().filter_map(|p| p.as_ident());
        let Some(first) = parts.next() else {
            return Err(self.syntax_error(&name.to_string(), span));
        };
        let column = fold(first);
        if entry.schema.index_of(&column).is_none() {
            system_columns::refuse_value(&column, span)?;
        }
        let position = column_position(entry, &column).map_err(|e| e.at_span(span))?;
        match parts.next() {
            None => Ok(position),
            Some(field) => {
                let message = format!(
                    "cannot assign to field \"{}\" of column \"{column}\" because its type {} is not a composite type",
                    fold(field),
                    entry.schema.columns[position].ty
                );
                Err(error(SqlState::DATATYPE_MISMATCH, message, span))
            }
        }
    }

    fn set_value(&mut self, entry: &TableEntry, position: usize, value: &'a SqlExpr) -> Result<Expr> {
        let column = &entry.schema.columns[position];
        if is_default(value) {
            return self.default_of(column);
        }
        self.check_updated(column)?;
        let value = self.expression(value)?;
        self.assigned(value, entry, column)
    }

    /// `(a, b) = (x, y)`, `= row(x, y)`, `= (select x, y …)`.
    fn set_list(
        &mut self,
        entry: &TableEntry,
        positions: &[usize],
        value: &'a SqlExpr,
        set: &mut Assignments,
    ) -> Result<()> {
        let mut value = value;
        while let SqlExpr::Nested(inner) = value {
            value = inner;
        }
        if let SqlExpr::Subquery(query) = value {
            let row = self.subquery_row(positions.len(), query, set)?;
            for (position, value) in positions.iter().zip(row) {
                self.check_updated(&entry.schema.columns[*position])?;
                let value = self.assigned(value, entry, &entry.schema.columns[*position])?;
                set.values.push((*position, value));
            }
            return Ok(());
        }
        let parts = row_expressions(value).ok_or_else(|| {
            let what = "a source of several columns that is neither a subquery nor a row";
            Error::unsupported(what).at_span(self.leaf_span(value))
        })?;
        if parts.len() != positions.len() {
            let span = parts.first().map_or(Span::NONE, |p| self.leaf_span(p));
            return Err(wrong_width(span));
        }
        for (position, part) in positions.iter().zip(parts) {
            let value = self.set_value(entry, *position, part)?;
            set.values.push((*position, value));
        }
        Ok(())
    }

    /// The `width` values of a subquery's one row; NULLs if it has none, error 21000 if it has several.
    fn subquery_row(
        &mut self,
        width: usize,
        query: &'a Query,
        set: &mut Assignments,
    ) -> Result<Vec<Operand>> {
        let span = self.query_span(query);
        let relation = self.query_of(query, Literals::Settle)?;
        if relation.columns.len() != width {
            return Err(wrong_width(span));
        }
        let is_single = relation.op.at_most_one_row();
        let mut aggregates = Vec::with_capacity(width + 1);
        let count = AggregateCall::count(None);
        let rows = self.columns.add("rows", count.ty, false);
        self.own(rows);
        aggregates.push((rows, count));
        let mut values = Vec::with_capacity(width);
        for column in relation.columns {
            let value = Expr::column(column.id, &self.columns);
            let ty = value.ty;
            let one = self.columns.add(column.name, ty, true);
            self.own(one);
            aggregates.push((one, AggregateCall::any(value)));
            let mut value = Expr::column(one, &self.columns);
            if !is_single {
                let arguments = vec![value, Expr::column(rows, &self.columns)];
                value = Expr::new(ExprKind::Function(ScalarFunction::Single, arguments), ty, true);
            }
            values.push(value.at(span).into());
        }
        set.rows.push(Operator::Aggregate(Aggregate {
            input: Box::new(relation.op),
            groups: Vec::new(),
            aggregates,
        }));
        Ok(values)
    }

    /// The condition of WHERE.
    pub(super) fn where_condition(&mut self, condition: Option<&'a SqlExpr>) -> Result<Option<Expr>> {
        let Some(condition) = condition else {
            return Ok(None);
        };
        let bound = self.in_clause(Clause::Where, |b| b.expression(condition))?;
        self.typing.predicate(bound, "WHERE").map(Some)
    }
}

fn wrong_width(span: Span) -> Error {
    error(
        SqlState::SYNTAX_ERROR,
        "number of columns does not match number of values",
        span,
    )
}
