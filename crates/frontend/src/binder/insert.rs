//! INSERT: the rows of a query or of VALUES, brought to the table's types.

use super::query::Literals;
use super::rows::Computed;
use super::scope::{Item, Level};
use super::target::is_default;
use super::written::{WriteQueries, Written};
use super::{Binder, OutputColumn, Relation, error, fold, system_columns};
use crate::{Bound, TableEntry};
use frazil_catalog::Rights;
use frazil_plan::{Change, ColumnId, Expr, Operator, PlanConflict, WriteKind};
use frazil_types::{ColumnDef, Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{Insert, ObjectName, OnInsert, Query, SetExpr, TableObject, Values};

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
    let written = binder.inserted(insert)?;
    binder.finish_write(written)
}

/// Binds the rows of INSERT.
fn inserted<'a>(binder: &mut Binder<'a>, insert: &'a Insert) -> Result<Written> {
    refuse(insert)?;
    let TableObject::TableName(name) = &insert.table else {
        return Err(Error::unsupported("INSERT INTO anything but a table"));
    };
    let entry = binder.table_to_change(name, "INSERT into")?;
    let names: Vec<(String, Span)> = insert
        .columns
        .iter()
        .map(|name| column_name(binder, name))
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
    let given = relation.columns.len().min(target.positions.len());
    binder.note_write(
        target.entry.id,
        Rights::INSERT,
        target.positions[..given].to_vec(),
    );
    let (op, columns) = binder.complete(relation, &target)?;
    binder.levels.push(Level::default());
    let written = binder.insertion(op, columns, &target, insert)?;
    binder.levels.pop();
    Ok(written)
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
        (i.overwrite, "INSERT OVERWRITE"),
        (!i.assignments.is_empty(), "INSERT … SET"),
        (i.partitioned.is_some(), "PARTITION"),
        (!i.after_columns.is_empty(), "columns behind PARTITION"),
        (
            matches!(i.on, Some(OnInsert::DuplicateKeyUpdate(_))),
            "ON DUPLICATE KEY (write ON CONFLICT)",
        ),
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

impl<'a> Binder<'a> {
    /// Binds the rows of INSERT.
    pub(super) fn inserted(&mut self, insert: &'a Insert) -> Result<Written> {
        inserted(self, insert)
    }

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
                let value = if is_default(e) || self.overrides(column) {
                    self.default_of(column)?
                } else {
                    self.check_inserted(column, spans[at])?;
                    let value = self.single_value(e)?;
                    self.assigned(value, &target.entry, column)?
                };
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
            self.check_inserted(column, given.span)?;
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

    /// A column for each of the table's: those that are given, and the defaults of the others. Nothing computes
    /// generated columns yet.
    fn complete(&mut self, relation: Relation, target: &Target) -> Result<(Operator, Vec<ColumnId>)> {
        let Relation { op, columns: given } = relation;
        let mut computed = Computed::default();
        let mut columns: Vec<ColumnId> = Vec::with_capacity(target.entry.schema.columns.len());
        for (position, column) in target.entry.schema.columns.iter().enumerate() {
            if column.is_generated() {
                columns.push(self.columns.add(column.name.clone(), column.ty, column.nullable));
                continue;
            }
            let at = target.positions.iter().position(|p| *p == position);
            let at = at.filter(|_| !self.overrides(column));
            if let Some(given) = at.and_then(|at| given.get(at)) {
                columns.push(given.id);
                continue;
            }
            let e = self.default_of(column)?;
            let id = self.columns.add(column.name.clone(), column.ty, e.nullable);
            computed.expressions.push((id, e));
            columns.push(id);
        }
        Ok((computed.above(op), columns))
    }

    /// The Write above rows of the table's columns.
    fn insertion(
        &mut self,
        op: Operator,
        mut columns: Vec<ColumnId>,
        target: &Target,
        i: &'a Insert,
    ) -> Result<Written> {
        let name = match &i.table_alias {
            Some(alias) => {
                self.not_reserved(&alias.alias)?;
                fold(&alias.alias)
            }
            None => target.entry.name.clone(),
        };
        for hidden in &target.entry.hidden {
            columns.push(self.columns.add(hidden.name.as_str(), hidden.ty, true));
        }
        columns.iter().for_each(|id| self.own(*id));
        let mut computed = Computed::default();
        for (position, id) in self.generated_values(&target.entry, &columns, None, None, &mut computed)? {
            columns[position] = id;
        }
        let op = computed.above(op);
        let mut computed = Computed::default();
        let checks = self.checks(&target.entry, &columns, None, None, &mut computed)?;
        let op = computed.above(op);
        let list = i.returning.as_deref();
        let mut queries = WriteQueries::default();
        let (conflict, op, output) = match &i.on {
            Some(OnInsert::OnConflict(on)) => {
                let (conflict, update) = self.on_conflict(&target.entry, &name, on)?;
                queries.update = update;
                queries.returning = self.returning_of_written(&target.entry, &name, list)?;
                (conflict, op, Vec::new())
            }
            _ if list.is_some_and(system_columns::are_in) => {
                queries.returning = self.returning_of_written(&target.entry, &name, list)?;
                (PlanConflict::Fail, op, Vec::new())
            }
            _ => {
                let mut copies = Computed::default();
                let shown = match list {
                    Some(_) => self.as_written(&target.entry, &columns, &mut copies),
                    None => columns.clone(),
                };
                self.note_target(&target.entry, &named(&target.entry, &shown));
                let seen = Item::named(&name, named(&target.entry, &shown)).of_table(&target.entry);
                let (op, output) = self.returning(list, vec![seen], copies.above(op))?;
                (PlanConflict::Fail, op, output)
            }
        };
        let change = Change {
            table: target.entry.id,
            name: target.entry.name.clone(),
            kind: WriteKind::Insert { columns, conflict },
            checks,
            returning: Vec::new(),
        };
        Ok(Written {
            op,
            change,
            output,
            queries,
        })
    }
}

/// Columns under the names that the table gives them.
pub(super) fn named(entry: &TableEntry, columns: &[ColumnId]) -> Vec<OutputColumn> {
    let pairs = entry.schema.columns.iter().zip(columns);
    pairs
        .map(|(column, id)| OutputColumn::new(column.name.clone(), *id))
        .collect()
}
