//! Generated columns: their expressions in definitions, and their values in rows that statements write. An expression
//! reads the other columns of its row, and nothing that could differ when the row is written again.

use super::insert::named;
use super::rows::Computed;
use super::scope::{Clause, Item, Level, Reference};
use super::{Binder, OutputColumn, error, finished};
use crate::{Bound, Statement, TableEntry};
use frazil_catalog::{IndexEntry, QualifiedName};
use frazil_functions::{CastContext, Operand};
use frazil_plan::operators::Scan;
use frazil_plan::subquery::has_subquery;
use frazil_plan::{ColumnId, Expr, ExprKind, Operator, Stored, StoredExpression};
use frazil_types::{ColumnDef, ColumnDefault, Error, LogicalType, Result, Schema, Span, SqlState};
use sqlparser::ast::{ColumnDef as SqlColumn, ColumnOption, Expr as SqlExpr, GeneratedAs};
use std::sync::Arc;

impl<'a> Binder<'a> {
    /// Makes a column an identity or generated column, whose expression is bound later. `has_default`: the column has a
    /// source of values already. 42601, 22023, 0A000 for an expression that is not STORED.
    pub(super) fn generated_option(
        &mut self,
        column: &mut ColumnDef,
        has_default: bool,
        option: &ColumnOption,
        span: Span,
    ) -> Result<()> {
        let e = match option {
            ColumnOption::Generated {
                generated_as: GeneratedAs::Always,
                generation_expr: None,
                ..
            } => return self.identity(column, has_default, true, span),
            ColumnOption::Generated {
                generated_as: GeneratedAs::ByDefault,
                generation_expr: None,
                ..
            } => return self.identity(column, has_default, false, span),
            ColumnOption::Generated {
                generated_as: GeneratedAs::ExpStored,
                generation_expr: Some(e),
                ..
            } => e,
            _ => return Err(Error::unsupported("a generated column that is not STORED").at_span(span)),
        };
        if column.is_generated() {
            let name = &column.name;
            let message = format!("multiple generation clauses specified for column \"{name}\"");
            return Err(error(SqlState::SYNTAX_ERROR, message, span));
        }
        let sequence = self.column_sequence.as_ref();
        if sequence.is_some_and(|sequence| sequence.identity.is_some()) {
            return Err(both(column, "identity and generation expression", span));
        }
        if has_default || column.default.is_some() {
            return Err(both(column, "default and generation expression", span));
        }
        column.default = Some(ColumnDefault::Generated {
            text: self.written(e),
            reads: Vec::new(),
        });
        Ok(())
    }

    /// Binds the expression of a column if it is a generated one, once the other columns are known, and notes which
    /// columns it reads. 42P17 for generated columns among these and for an expression that is not immutable, 42804,
    /// 0A000.
    pub(super) fn generation(
        &mut self,
        table: &QualifiedName,
        schema: &mut Schema,
        position: usize,
        definition: &'a SqlColumn,
    ) -> Result<()> {
        let is_expression = |option: &'a ColumnOption| match option {
            ColumnOption::Generated { generation_expr, .. } => generation_expr.as_ref(),
            _ => None,
        };
        let mut options = definition.options.iter().map(|option| &option.option);
        let Some(e) = options.find_map(is_expression) else {
            return Ok(());
        };
        let reads = self.generation_reads(table, schema, position, e)?;
        let text = self.written(e);
        schema.columns[position].default = Some(ColumnDefault::Generated { text, reads });
        Ok(())
    }

    /// Positions of the columns that an expression of the column at `position` reads.
    fn generation_reads(
        &mut self,
        table: &QualifiedName,
        schema: &Schema,
        position: usize,
        e: &'a SqlExpr,
    ) -> Result<Vec<usize>> {
        let over = self.over_row(table, schema, Clause::Generated, e)?;
        let value = self.generated_value(over.bound, &schema.columns[position])?;
        for (read, span) in &over.reads {
            if schema.columns[*read].is_generated() {
                let name = &schema.columns[*read].name;
                let message =
                    format!("cannot use generated column \"{name}\" in column generation expression");
                return Err(error(SqlState::INVALID_OBJECT_DEFINITION, message, *span)
                    .with_detail("A generated column cannot reference another generated column."));
            }
        }
        if !self.stays_the_same(&value, over.hidden_before) {
            let message = "generation expression is not immutable";
            return Err(error(SqlState::INVALID_OBJECT_DEFINITION, message, value.span));
        }
        Ok(positions(&over.reads))
    }

    /// Binds an expression over the columns of a table's row.
    pub(super) fn over_row(
        &mut self,
        table: &QualifiedName,
        schema: &Schema,
        clause: Clause,
        e: &'a SqlExpr,
    ) -> Result<OverRow> {
        let mut columns = Vec::with_capacity(schema.columns.len());
        for column in &schema.columns {
            let id = self.columns.add(column.name.as_str(), column.ty, column.nullable);
            columns.push(OutputColumn::new(column.name.as_str(), id));
        }
        let ids: Vec<ColumnId> = columns.iter().map(|column| column.id).collect();
        let (named_before, hidden_before) = (self.references.len(), self.typing.hidden_parameters().len());
        self.calls_stable = false;
        self.levels.push(Level {
            items: vec![Item::named(&table.name, columns).in_schema(&table.schema)],
            clause,
            ..Level::default()
        });
        let bound = self.expression(e);
        self.levels.pop();
        let read =
            |reference: &Reference| Some((ids.iter().position(|id| *id == reference.id)?, reference.span));
        Ok(OverRow {
            bound: bound?,
            reads: self.references[named_before..].iter().filter_map(read).collect(),
            hidden_before,
        })
    }

    /// True if the value of an expression that was just bound is the same whenever it is computed. `hidden_before`:
    /// number of hidden parameters before.
    pub(super) fn stays_the_same(&self, value: &Expr, hidden_before: usize) -> bool {
        let has_hidden = self.typing.hidden_parameters().len() > hidden_before;
        !self.calls_stable && !has_hidden && is_immutable(value)
    }

    /// The value of a generated column as its type. 42804, 0A000 for a subquery.
    fn generated_value(&mut self, bound: Operand, column: &ColumnDef) -> Result<Expr> {
        let value = self.default_cast(bound, column)?;
        match has_subquery(&value) {
            true => {
                Err(Error::unsupported("a subquery in a column generation expression").at_span(value.span))
            }
            false => Ok(value),
        }
    }

    /// The values of generated columns for rows of a table's `columns`: positions, and columns that are computed. With
    /// `touched`, only those at one of these positions and those that read one of them. Where `guard` is not true they
    /// are not computed.
    pub(super) fn generated_values(
        &mut self,
        entry: &TableEntry,
        columns: &[ColumnId],
        touched: Option<&[usize]>,
        guard: Option<&Expr>,
        computed: &mut Computed,
    ) -> Result<Vec<(usize, ColumnId)>> {
        let mut values = Vec::new();
        if !entry.stored_columns().any(ColumnDef::is_generated) {
            return Ok(values);
        }
        let row = Item::named(&entry.name, named(entry, columns)).in_schema(&entry.schema_name);
        for (position, column) in entry.stored_columns().enumerate() {
            let Some(ColumnDefault::Generated { text, reads }) = &column.default else {
                continue;
            };
            let is_touched =
                |touched: &[usize]| touched.iter().any(|at| *at == position || reads.contains(at));
            if !touched.is_none_or(is_touched) {
                continue;
            }
            let value = match position >= entry.schema.columns.len() {
                true => self.hidden_value(entry, position, condition_of(entry, position), &row)?,
                false => self.stored(text, vec![row.clone()], Clause::Generated)?,
            };
            let span = value.span();
            let mut value = self
                .typing
                .cast(value, column.ty, CastContext::Assignment, span)?;
            if let Some(guard) = guard {
                value = self.where_true(guard.clone(), value)?;
            }
            values.push((position, self.as_column(value, &column.name, computed)));
        }
        Ok(values)
    }

    /// The value of a hidden column of a row. A condition is true or NULL. An expression of a partial index is computed
    /// only where the condition is true, as PostgreSQL does: it may fail elsewhere.
    /// `condition`: the position of the index's condition.
    pub(super) fn hidden_value(
        &mut self,
        entry: &TableEntry,
        position: usize,
        condition: Option<usize>,
        row: &Item,
    ) -> Result<Operand> {
        let Some(condition) = condition else {
            return self.hidden_expression(entry, position, row);
        };
        let holds = self.hidden_expression(entry, condition, row)?;
        let holds = self.typing.predicate(holds, "WHERE")?;
        let value = match condition == position {
            true => Expr::truth(true),
            false => {
                let value = self.hidden_expression(entry, position, row)?;
                self.typing.settle(value)?
            }
        };
        Ok(self.where_true(holds, value)?.into())
    }

    /// The expression or condition of an index that the hidden column at `position` stores, over a row.
    pub(super) fn hidden_expression(
        &mut self,
        entry: &TableEntry,
        position: usize,
        row: &Item,
    ) -> Result<Operand> {
        let default = entry
            .stored_column(position)
            .and_then(|column| column.default.as_ref());
        let text = default
            .and_then(ColumnDefault::expression)
            .ok_or_else(|| Error::internal("a hidden column without an expression"))?;
        self.stored(text, vec![row.clone()], Clause::Generated)
    }
}

/// 42601 for a column that gets its values from two sources.
pub(super) fn both(column: &ColumnDef, what: &str, span: Span) -> Error {
    let message = format!("both {what} specified for column \"{}\"", column.name);
    error(SqlState::SYNTAX_ERROR, message, span)
}

/// The position of the condition of the index that has a hidden column, if it is a partial index.
fn condition_of(entry: &TableEntry, hidden: usize) -> Option<usize> {
    let is_of = |index: &&Arc<IndexEntry>| index.stored_keys().any(|key| key.column == hidden);
    entry.indexes.iter().find(is_of)?.condition
}

/// An expression over a row.
pub(super) struct OverRow {
    pub bound: Operand,
    /// Positions of the columns that are named, and where.
    pub reads: Vec<(usize, Span)>,
    /// Number of hidden parameters that the statement had before.
    pub hidden_before: usize,
}

/// The positions of columns, ascending.
pub(super) fn positions(reads: &[(usize, Span)]) -> Vec<usize> {
    let mut positions: Vec<usize> = reads.iter().map(|(position, _)| *position).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// The values of the generated columns of a table's rows, as a query.
pub(crate) fn generated_query(mut binder: Binder<'_>, entry: &TableEntry) -> Result<Bound> {
    let (mut read, mut ids) = (Vec::new(), Vec::new());
    for (position, column) in entry.stored_columns().enumerate() {
        let id = binder
            .columns
            .add(column.name.as_str(), column.ty, column.nullable);
        binder.own(id);
        ids.push(id);
        if !column.is_generated() {
            read.push((id, position));
        }
    }
    let op = Operator::Scan(Scan {
        table: entry.id,
        name: entry.name.clone(),
        columns: read,
        row_id: None,
        restrictions: Vec::new(),
        disjunctions: Vec::new(),
        places: Vec::new(),
    });
    let mut computed = Computed::default();
    let values = binder.generated_values(entry, &ids, None, None, &mut computed)?;
    let column = |(_, id): (usize, ColumnId)| OutputColumn::new(binder.columns[id].label.as_str(), id);
    let output = values.into_iter().map(column).collect();
    finished(binder, computed.above(op), output, Statement::Query)
}

/// The expressions and conditions of a table's indexes, over the positions of its columns.
pub(crate) fn stored_expressions(
    mut binder: Binder<'_>,
    entry: &TableEntry,
) -> Result<Vec<StoredExpression>> {
    // These are the first columns of the binder: their ids are their positions.
    let mut ids = Vec::with_capacity(entry.schema.columns.len());
    for column in &entry.schema.columns {
        let id = binder
            .columns
            .add(column.name.as_str(), column.ty, column.nullable);
        ids.push(id);
    }
    let row = Item::named(&entry.name, named(entry, &ids)).in_schema(&entry.schema_name);
    let mut expressions = Vec::with_capacity(entry.hidden.len());
    for (at, column) in entry.hidden.iter().enumerate() {
        let position = entry.schema.columns.len() + at;
        let bound = binder.hidden_expression(entry, position, &row)?;
        let stored = match condition_of(entry, position) {
            None => Stored::Always,
            Some(condition) if condition == position => Stored::WhereTrue,
            Some(condition) => Stored::Where(condition),
        };
        let value = match stored {
            Stored::WhereTrue => binder.typing.predicate(bound, "WHERE")?,
            Stored::Always | Stored::Where(_) => binder.typing.settle(bound)?,
        };
        expressions.push(StoredExpression {
            position,
            name: column.name.clone(),
            ty: column.ty,
            value,
            stored,
        });
    }
    Ok(expressions)
}

/// Functions and operators of instants that do not read the time zone.
const OF_INSTANTS: [&str; 3] = ["-", "age", "timezone"];

/// True if an expression gives the same value whenever it is computed: no part of it reads a clock, a setting, the time
/// zone among these, or the catalog.
fn is_immutable(e: &Expr) -> bool {
    let mut is_immutable = true;
    e.walk(&mut |part| {
        let depends = match &part.kind {
            ExprKind::VectorFunction(function, _) if function.0.is_volatile() => true,
            ExprKind::Cast(from) => is_stable_cast(from.ty, part.ty),
            ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_) | ExprKind::Subquery(_) => true,
            ExprKind::VectorFunction(function, arguments) => {
                let is_free = OF_INSTANTS.contains(&function.0.name());
                !is_free && arguments.iter().any(|e| e.ty.is_zoned())
            }
            ExprKind::Function(_, arguments) => {
                !part.ty.is_zoned() && arguments.iter().any(|e| e.ty.is_zoned())
            }
            ExprKind::Extract(_, from) | ExprKind::AddInterval(from, _) => from.ty.is_zoned(),
            ExprKind::Column(_)
            | ExprKind::Constant(_)
            | ExprKind::Let { .. }
            | ExprKind::Compare(..)
            | ExprKind::Distinct { .. }
            | ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Not(_)
            | ExprKind::IsNull(_)
            | ExprKind::Arithmetic(..)
            | ExprKind::Negate(_)
            | ExprKind::Case { .. }
            | ExprKind::Like { .. }
            | ExprKind::InList { .. } => false,
        };
        is_immutable &= !depends;
    });
    is_immutable
}

/// True for a cast whose result depends on settings in PostgreSQL: between texts and what has a date or time of day,
/// whose form `DateStyle` decides, and between an instant and what the time zone makes of it.
fn is_stable_cast(from: LogicalType, to: LogicalType) -> bool {
    let is_moment = |ty: LogicalType| ty.is_day() || ty.is_local_time() || ty.is_zoned();
    let of_text = |a: LogicalType, b: LogicalType| a.is_string() && is_moment(b);
    of_text(from, to) || of_text(to, from) || from.is_zoned() != to.is_zoned()
}
