//! Generated columns: their expressions in definitions, and their values in rows that statements write. An expression
//! reads the other columns of its row, and nothing that could differ when the row is written again.

use super::create_table::both;
use super::insert::named;
use super::rows::Computed;
use super::scope::{Clause, Item, Level};
use super::{Binder, OutputColumn, error, finished};
use crate::{Bound, Statement, TableEntry};
use frazil_catalog::QualifiedName;
use frazil_functions::{CastContext, Operand};
use frazil_plan::operators::Scan;
use frazil_plan::subquery::has_subquery;
use frazil_plan::{ColumnId, Expr, ExprKind, Operator};
use frazil_types::{ColumnDef, ColumnDefault, Error, LogicalType, Result, Schema, Span, SqlState};
use sqlparser::ast::{ColumnDef as SqlColumn, ColumnOption, Expr as SqlExpr, GeneratedAs};

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
            clause: Clause::Generated,
            ..Level::default()
        });
        let bound = self.expression(e);
        self.levels.pop();
        let value = self.generated_value(bound?, &schema.columns[position])?;
        let mut reads = Vec::new();
        for reference in &self.references[named_before..] {
            let Some(read) = ids.iter().position(|id| *id == reference.id) else {
                continue;
            };
            if schema.columns[read].is_generated() {
                let name = &schema.columns[read].name;
                let message =
                    format!("cannot use generated column \"{name}\" in column generation expression");
                return Err(
                    error(SqlState::INVALID_OBJECT_DEFINITION, message, reference.span)
                        .with_detail("A generated column cannot reference another generated column."),
                );
            }
            reads.push(read);
        }
        let has_hidden = self.typing.hidden_parameters().len() > hidden_before;
        if self.calls_stable || has_hidden || !is_immutable(&value) {
            let message = "generation expression is not immutable";
            return Err(error(SqlState::INVALID_OBJECT_DEFINITION, message, value.span));
        }
        reads.sort_unstable();
        reads.dedup();
        Ok(reads)
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
        if entry.schema.generated().next().is_none() {
            return Ok(values);
        }
        let row = Item::named(&entry.name, named(entry, columns)).in_schema(&entry.schema_name);
        for (position, column) in entry.schema.columns.iter().enumerate() {
            let Some(ColumnDefault::Generated { text, reads }) = &column.default else {
                continue;
            };
            let is_touched =
                |touched: &[usize]| touched.iter().any(|at| *at == position || reads.contains(at));
            if !touched.is_none_or(is_touched) {
                continue;
            }
            let bound = self.stored(text, vec![row.clone()], Clause::Generated)?;
            let span = bound.span();
            let mut value = self
                .typing
                .cast(bound, column.ty, CastContext::Assignment, span)?;
            if let Some(guard) = guard {
                value = self.where_true(guard.clone(), value)?;
            }
            values.push((position, self.as_column(value, &column.name, computed)));
        }
        Ok(values)
    }
}

/// The values of the generated columns of a table's rows, as a query.
pub(crate) fn generated_query(mut binder: Binder<'_>, entry: &TableEntry) -> Result<Bound> {
    let (mut read, mut ids) = (Vec::new(), Vec::new());
    for (position, column) in entry.schema.columns.iter().enumerate() {
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
    });
    let mut computed = Computed::default();
    let values = binder.generated_values(entry, &ids, None, None, &mut computed)?;
    let column = |(at, id): (usize, ColumnId)| OutputColumn::new(entry.schema.columns[at].name.as_str(), id);
    let output = values.into_iter().map(column).collect();
    finished(binder, computed.above(op), output, Statement::Query)
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
