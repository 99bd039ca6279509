//! INSERT: the rows of a query or of VALUES, brought to the table's types.

use super::query::Literals;
use super::rows::Computed;
use super::{Binder, OutputColumn, Relation, error, finished, fold};
use crate::{Bound, Statement, TableEntry};
use frazil_functions::{CastContext, Operand};
use frazil_plan::{ColumnId, Expr, ExprKind, Operator};
use frazil_types::{ColumnDef, Error, LogicalType, Result, Span, SqlState, Value};
use sqlparser::ast::{Expr as SqlExpr, Ident, Insert, ObjectName, Query, SetExpr, TableObject, Values};

/// Position of a column; 42703 with the nearest name.
pub(crate) fn column_position(entry: &TableEntry, name: &str) -> Result<usize> {
    entry.schema.index_of(name).ok_or_else(|| {
        let message = format!("column \"{name}\" of relation \"{}\" does not exist", entry.name);
        let error = Error::new(SqlState::UNDEFINED_COLUMN, message);
        let names = entry.schema.columns.iter().map(|c| c.name.as_str());
        match frazil_catalog::nearest(name, names) {
            Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
            None => error,
        }
    })
}

/// Positions of the columns a statement names, or of all. 42701.
pub(super) fn positions<'n>(
    entry: &TableEntry,
    names: impl ExactSizeIterator<Item = (&'n str, Span)>,
) -> Result<Vec<usize>> {
    if names.len() == 0 {
        return Ok((0..entry.schema.columns.len()).collect());
    }
    let mut out = Vec::with_capacity(names.len());
    for (name, span) in names {
        let position = column_position(entry, name).map_err(|e| e.at_span(span))?;
        if out.contains(&position) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(error(SqlState::DUPLICATE_COLUMN, message, span));
        }
        out.push(position);
    }
    Ok(out)
}

pub(super) fn null_in(entry: &TableEntry, column: &ColumnDef) -> Error {
    Error::new(
        SqlState::NOT_NULL_VIOLATION,
        format!(
            "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
            column.name, entry.name
        ),
    )
}

/// The table inserted into, and the columns that are given.
struct Target {
    entry: TableEntry,
    positions: Vec<usize>,
    /// Where the statement names them; empty if it does not.
    names: Vec<Span>,
}

impl Target {
    fn column(&self, at: usize) -> &ColumnDef {
        &self.entry.schema.columns[self.positions[at]]
    }

    /// 42601 if there are more or fewer values than columns.
    fn check_width(&self, given: &[Span]) -> Result<()> {
        let (message, span) = if let Some(more) = given.get(self.positions.len()) {
            ("INSERT has more expressions than target columns", *more)
        } else if let Some(more) = self.names.get(given.len()) {
            ("INSERT has more target columns than expressions", *more)
        } else {
            return Ok(());
        };
        Err(error(SqlState::SYNTAX_ERROR, message, span))
    }
}

/// Binds INSERT.
pub(crate) fn insert<'a>(mut binder: Binder<'a>, insert: &'a Insert) -> Result<Bound> {
    refuse(insert)?;
    let TableObject::TableName(name) = &insert.table else {
        return Err(Error::unsupported("INSERT INTO anything but a table"));
    };
    let entry = binder.table_to_change(name, "INSERT into")?;
    let names: Vec<(String, Span)> = insert
        .columns
        .iter()
        .map(|name| column_name(&binder, name))
        .collect::<Result<_>>()?;
    let target = Target {
        positions: positions(&entry, names.iter().map(|(n, span)| (n.as_str(), *span)))?,
        entry,
        names: names.iter().map(|n| n.1).collect(),
    };
    let relation = match insert.source.as_deref() {
        None => Relation::new(super::rows::one_row(), Vec::new()),
        Some(source) => match plain_values(source) {
            Some(values) => binder.rows_to_insert(values, &target)?,
            None => binder.query_to_insert(source, &target)?,
        },
    };
    let root = binder.complete(relation, &target)?;
    finished(binder, root, Vec::new(), Statement::Insert)
}

fn column_name(binder: &Binder, name: &ObjectName) -> Result<(String, Span)> {
    let span = binder.name_span(name);
    match &name.0[..] {
        [part] => part.as_ident().map(|ident| (fold(ident), span)),
        _ => None,
    }
    .ok_or_else(|| binder.syntax_error(&name.to_string(), span))
}

fn refuse(i: &Insert) -> Result<()> {
    super::refuse::first(&[
        (i.or.is_some(), "INSERT OR"),
        (i.ignore, "INSERT IGNORE"),
        (i.table_alias.is_some(), "an alias of INSERT's table"),
        (i.overwrite, "INSERT OVERWRITE"),
        (!i.assignments.is_empty(), "INSERT … SET"),
        (i.partitioned.is_some(), "PARTITION"),
        (!i.after_columns.is_empty(), "columns behind PARTITION"),
        (i.on.is_some(), "ON CONFLICT"),
        (i.returning.is_some(), "RETURNING"),
        (i.output.is_some(), "OUTPUT"),
        (i.replace_into, "REPLACE INTO"),
        (i.insert_alias.is_some(), "an alias of INSERT's rows"),
        (i.settings.is_some(), "SETTINGS"),
        (i.format_clause.is_some(), "FORMAT"),
        (i.has_table_keyword, "INSERT INTO TABLE"),
        (i.multi_table_insert_type.is_some(), "INSERT into several tables"),
        (!i.optimizer_hints.is_empty(), "an optimizer hint"),
    ])
}

/// The rows of VALUES that stand alone: each value is cast to its column, and may be DEFAULT.
fn plain_values(source: &Query) -> Option<&Values> {
    match (&*source.body, source) {
        (
            SetExpr::Values(values),
            Query {
                with: None,
                order_by: None,
                limit_clause: None,
                fetch: None,
                ..
            },
        ) => Some(values),
        _ => None,
    }
}

fn is_default(e: &SqlExpr) -> bool {
    matches!(e, SqlExpr::Identifier(Ident { value, quote_style: None, .. }) if value.eq_ignore_ascii_case("default"))
}

impl<'a> Binder<'a> {
    fn rows_to_insert(&mut self, values: &'a Values, target: &Target) -> Result<Relation> {
        let width = values.rows.first().map_or(0, |r| r.content.len());
        let mut rows = Vec::with_capacity(values.rows.len());
        let mut nullable = vec![false; width];
        for row in &values.rows {
            let spans: Vec<Span> = row.content.iter().map(|e| self.leaf_span(e)).collect();
            if row.content.len() != width {
                let message = "VALUES lists must all be the same length";
                let span = spans.first().copied().unwrap_or(Span::NONE);
                return Err(error(SqlState::SYNTAX_ERROR, message, span));
            }
            target.check_width(&spans)?;
            let mut bound = Vec::with_capacity(width);
            for (at, e) in row.content.iter().enumerate() {
                let column = target.column(at);
                let value = if is_default(e) {
                    default_of(column)?
                } else {
                    let value = self.single_value(e)?;
                    self.assigned(value, &target.entry, column)?
                };
                if !column.nullable && is_null(&value) {
                    return Err(null_in(&target.entry, column).at_span(value.span));
                }
                nullable[at] |= value.nullable;
                bound.push(value);
            }
            rows.push(bound);
        }
        let mut columns = Vec::with_capacity(width);
        for (at, nullable) in nullable.into_iter().enumerate() {
            let column = target.column(at);
            let id = self.columns.add(column.name.clone(), column.ty, nullable);
            columns.push(OutputColumn::new(column.name.clone(), id));
        }
        Ok(self.rows_of(columns, rows))
    }

    fn query_to_insert(&mut self, source: &'a Query, target: &Target) -> Result<Relation> {
        let types: Vec<LogicalType> = (0..target.positions.len())
            .map(|at| target.column(at).ty)
            .collect();
        let relation = self.query_of(source, Literals::Targets(&types))?;
        let spans: Vec<Span> = relation.columns.iter().map(|c| c.span).collect();
        target.check_width(&spans)?;
        let mut computed = Computed::default();
        let mut columns = Vec::with_capacity(relation.columns.len());
        for (at, given) in relation.columns.into_iter().enumerate() {
            let column = target.column(at);
            if self.columns[given.id].ty == column.ty {
                columns.push(given);
                continue;
            }
            let value = Expr::column(given.id, &self.columns).at(given.span).into();
            let e = self.assigned(value, &target.entry, column)?;
            let id = self.columns.add(column.name.clone(), e.ty, e.nullable);
            computed.expressions.push((id, e));
            columns.push(OutputColumn::new(given.name, id));
        }
        Ok(Relation::new(computed.above(relation.op), columns))
    }

    /// A value cast to a column's type. 42804.
    fn assigned(&mut self, value: Operand, entry: &TableEntry, column: &ColumnDef) -> Result<Expr> {
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

    /// An Insert of the given columns and the defaults of the others.
    fn complete(&mut self, relation: Relation, target: &Target) -> Result<Operator> {
        let Relation { op, columns: given } = relation;
        let mut computed = Computed::default();
        let mut columns: Vec<ColumnId> = Vec::with_capacity(target.entry.schema.columns.len());
        for (position, column) in target.entry.schema.columns.iter().enumerate() {
            let at = target.positions.iter().position(|p| *p == position);
            if let Some(given) = at.and_then(|at| given.get(at)) {
                columns.push(given.id);
                continue;
            }
            let e = default_of(column)?;
            if is_null(&e) && !column.nullable {
                return Err(null_in(&target.entry, column));
            }
            let id = self.columns.add(column.name.clone(), column.ty, e.nullable);
            computed.expressions.push((id, e));
            columns.push(id);
        }
        Ok(Operator::Insert {
            table: target.entry.id,
            name: target.entry.name.clone(),
            input: Box::new(computed.above(op)),
            columns,
        })
    }
}

fn default_of(column: &ColumnDef) -> Result<Expr> {
    match column.constant_default() {
        Some(value) => Ok(Expr::constant(value, column.ty)),
        None => Err(Error::unsupported(format!(
            "the computed DEFAULT of column \"{}\"",
            column.name
        ))),
    }
}

fn is_null(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Constant(Value::Null))
}
