//! CREATE INDEX. An expression or a condition becomes a hidden column of the table.

use super::generated_columns::{OverRow, positions};
use super::scope::Clause;
use super::{Binder, error, fold, operator_class};
use crate::{Bound, Definition, TableEntry};
use frazil_catalog::{IndexKey, NewIndex};
use frazil_plan::CONDITION;
use frazil_plan::subquery::has_subquery;
use frazil_types::{ColumnDef, ColumnDefault, Error, LogicalType, Result, SqlState, Zone};
use sqlparser::ast::{CreateIndex, Expr as SqlExpr, Ident, IndexColumn, IndexType, ObjectName};

/// Binds CREATE INDEX.
pub(crate) fn create_index<'a>(mut binder: Binder<'a>, create: &'a CreateIndex) -> Result<Bound> {
    refuse(create)?;
    operator_class::check_options(&create.with)?;
    let id = binder.own_table(&create.table_name)?;
    let entry = binder.table(&create.table_name)?;
    // Expressions are analyzed before the table is looked at.
    if create.predicate.is_none() && create.columns.iter().all(is_column) {
        binder.catalog.refuse_used(id, "CREATE INDEX")?;
    }
    let columns = create.columns.len() + create.include.len();
    super::list_limits::index_columns(columns, binder.name_span(&create.table_name))?;
    let name = create
        .name
        .as_ref()
        .map(|name| index_name(&binder, name))
        .transpose()?;
    let mut parts = Parts::new(&entry);
    for part in &create.columns {
        parts.key(&mut binder, part)?;
    }
    let mut include = Vec::with_capacity(create.include.len());
    for column in &create.include {
        include.push(position(&binder, &entry, column)?);
    }
    let condition = match &create.predicate {
        Some(condition) => Some(parts.condition(&mut binder, condition)?),
        None => None,
    };
    Ok(Bound::plain(Definition::CreateIndex(NewIndex {
        name,
        if_not_exists: create.if_not_exists,
        table: id,
        keys: parts.keys,
        include,
        unique: create.unique,
        nulls_distinct: create.nulls_distinct != Some(false),
        hidden: parts.hidden,
        condition,
    })))
}

/// True for a part of a key that names a column.
fn is_column(part: &IndexColumn) -> bool {
    matches!(part.column.expr, SqlExpr::Identifier(_))
}

fn refuse(c: &CreateIndex) -> Result<()> {
    if let Some(method) = c.using.as_ref().filter(|m| **m != IndexType::BTree) {
        return Err(
            Error::unsupported(format!("an index USING {method}")).with_hint("all indexes are USING btree")
        );
    }
    super::refuse::first(&[(
        !c.index_options.is_empty() || !c.alter_options.is_empty(),
        "index options",
    )])
}

/// An index's own name: it lies in its table's schema.
fn index_name(binder: &Binder, name: &ObjectName) -> Result<String> {
    match &name.0[..] {
        [part] => match part.as_ident() {
            Some(ident) => {
                binder.not_reserved(ident)?;
                Ok(fold(ident))
            }
            None => Err(binder.syntax_error(&name.to_string(), binder.name_span(name))),
        },
        _ => Err(binder.syntax_error(".", binder.name_span(name))),
    }
}

/// The parts of an index as they are bound.
struct Parts<'e> {
    entry: &'e TableEntry,
    keys: Vec<IndexKey>,
    /// The expressions, and last the condition.
    hidden: Vec<ColumnDef>,
    /// The names of the index's columns.
    names: Vec<String>,
}

impl<'e> Parts<'e> {
    fn new(entry: &'e TableEntry) -> Parts<'e> {
        Parts {
            entry,
            keys: Vec::new(),
            hidden: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Binds a key. 42703, 42704 for a type without an order, and the errors of an expression.
    fn key<'a>(&mut self, binder: &mut Binder<'a>, part: &'a IndexColumn) -> Result<()> {
        let (mut e, mut collation) = (&part.column.expr, None);
        if let SqlExpr::BinaryOp { op, .. } = e {
            // An expression that is not a call needs parentheses.
            return Err(binder.syntax_error(&op.to_string(), binder.leaf_span(e)));
        }
        loop {
            match e {
                SqlExpr::Nested(inner) => e = inner,
                SqlExpr::Collate {
                    expr: inner,
                    collation: name,
                } => (e, collation) = (inner, Some(name)),
                _ => break,
            }
        }
        let (column, ty, span) = match e {
            SqlExpr::Identifier(name) => {
                let column = position(binder, self.entry, name)?;
                let column_def = &self.entry.schema.columns[column];
                self.names.push(column_def.name.clone());
                (column, column_def.ty, binder.span(name))
            }
            _ => {
                let ty = self.expression(binder, e)?;
                (self.last(), ty, binder.leaf_span(e))
            }
        };
        operator_class::must_compare(ty, span)?;
        if let Some(collation) = collation {
            binder.collation_of(collation, ty)?;
        }
        if let Some(class) = &part.operator_class {
            operator_class::check_class(binder, class, ty)?;
        }
        let descending = part.column.options.asc == Some(false);
        self.keys.push(IndexKey {
            column,
            descending,
            nulls_first: part.column.options.nulls_first.unwrap_or(descending),
        });
        Ok(())
    }

    /// The position of the hidden column that came last.
    fn last(&self) -> usize {
        self.entry.schema.columns.len() + self.hidden.len() - 1
    }

    /// Binds a key that is an expression, and returns its type.
    fn expression<'a>(&mut self, binder: &mut Binder<'a>, e: &'a SqlExpr) -> Result<LogicalType> {
        let over = self.over_row(binder, Clause::IndexExpression, e)?;
        if over.bound.ty().is_none() {
            let message = "data type unknown has no default operator class for access method \"btree\"";
            return Err(Error::new(SqlState::UNDEFINED_OBJECT, message).with_hint(
                "You must specify an operator class for the index or define a default operator class for the \
                 data type.",
            ));
        }
        let name = match binder.column_names.of(e) {
            name if name == "?column?" => "expr".to_string(),
            name => name,
        };
        let name = self.free_name(name);
        let value = binder.typing.settle(over.bound)?;
        let ty = value.ty.in_zone(Zone::UTC);
        if has_subquery(&value) {
            return Err(binder.has_subquery("expression", e));
        }
        if !binder.stays_the_same(&value, over.hidden_before) {
            return Err(not_immutable("expression"));
        }
        if ty == LogicalType::Record {
            let message = format!("column \"{name}\" has pseudo-type record");
            return Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, message));
        }
        if !ty.info().is_stored {
            let what = format!("an index on values of type {}", ty.name());
            return Err(Error::unsupported(what).at_span(binder.leaf_span(e)));
        }
        self.add(name.clone(), ty, binder.written(e), positions(&over.reads));
        self.names.push(name);
        Ok(ty)
    }

    /// Binds the condition of a partial index. Returns the position of its column. 42804.
    fn condition<'a>(&mut self, binder: &mut Binder<'a>, e: &'a SqlExpr) -> Result<usize> {
        let over = self.over_row(binder, Clause::IndexPredicate, e)?;
        let value = binder.typing.predicate(over.bound, "WHERE")?;
        if has_subquery(&value) {
            return Err(binder.has_subquery("predicate", e));
        }
        if !binder.stays_the_same(&value, over.hidden_before) {
            return Err(not_immutable("predicate"));
        }
        // Keys are computed where the condition holds: they depend on what it reads.
        let reads = positions(&over.reads);
        for key in &mut self.hidden {
            if let Some(ColumnDefault::Generated { reads: of_key, .. }) = &mut key.default {
                of_key.extend(&reads);
                of_key.sort_unstable();
                of_key.dedup();
            }
        }
        let mut inner = e;
        while let SqlExpr::Nested(nested) = inner {
            inner = nested;
        }
        self.add("condition".to_string(), CONDITION, binder.written(inner), reads);
        Ok(self.last())
    }

    /// Binds an expression over the table's row. 0A000 if it reads a generated column.
    fn over_row<'a>(&self, binder: &mut Binder<'a>, clause: Clause, e: &'a SqlExpr) -> Result<OverRow> {
        let over = binder.over_row(&self.entry.qualified(), &self.entry.schema, clause, e)?;
        let columns = &self.entry.schema.columns;
        match over.reads.iter().find(|(read, _)| columns[*read].is_generated()) {
            Some((_, span)) => Err(Error::unsupported(
                "an expression of an index that reads a generated column",
            )
            .at_span(*span)),
            None => Ok(over),
        }
    }

    fn add(&mut self, name: String, ty: LogicalType, text: String, mut reads: Vec<usize>) {
        if reads.is_empty() {
            // A constant is computed together with the first column.
            reads.push(0);
        }
        self.hidden.push(ColumnDef {
            default: Some(ColumnDefault::Generated { text, reads }),
            ..ColumnDef::new(name, ty)
        });
    }

    /// The name, or the name with a number behind it, that no column of the index has.
    fn free_name(&self, name: String) -> String {
        let is_free = |name: &String| !self.names.contains(name);
        let mut numbered = (1..).map(|number| format!("{name}{number}"));
        match is_free(&name) {
            true => name,
            false => numbered.find(is_free).unwrap_or_default(),
        }
    }
}

/// 42P17.
fn not_immutable(what: &str) -> Error {
    let message = format!("functions in index {what} must be marked IMMUTABLE");
    Error::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// Position of a column. 42703.
fn position(binder: &Binder, entry: &TableEntry, name: &Ident) -> Result<usize> {
    let (name, span) = (fold(name), binder.span(name));
    entry.schema.index_of(&name).ok_or_else(|| {
        let missing = error(
            SqlState::UNDEFINED_COLUMN,
            format!("column \"{name}\" does not exist"),
            span,
        );
        match frazil_catalog::nearest(&name, entry.schema.columns.iter().map(|c| c.name.as_str())) {
            Some(near) => missing.with_hint(format!("did you mean \"{near}\"?")),
            None => missing,
        }
    })
}
