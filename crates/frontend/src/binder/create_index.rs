//! CREATE INDEX.

use super::{Binder, error, fold, operator_class};
use crate::{Bound, Definition, TableEntry};
use frazil_catalog::{IndexKey, NewIndex};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use sqlparser::ast::{CreateIndex, Expr as SqlExpr, Ident, IndexColumn, IndexType, ObjectName};

/// Binds CREATE INDEX.
pub(crate) fn create_index(binder: &Binder, create: &CreateIndex) -> Result<Bound> {
    refuse(create)?;
    operator_class::check_options(&create.with)?;
    let id = binder.own_table(&create.table_name)?;
    let entry = binder.table(&create.table_name)?;
    let columns = create.columns.len() + create.include.len();
    super::list_limits::index_columns(columns, binder.name_span(&create.table_name))?;
    let name = create
        .name
        .as_ref()
        .map(|name| index_name(binder, name))
        .transpose()?;
    let mut keys = Vec::with_capacity(create.columns.len());
    for part in &create.columns {
        keys.push(key(binder, &entry, part)?);
    }
    let mut include = Vec::with_capacity(create.include.len());
    for column in &create.include {
        include.push(position(binder, &entry, column)?);
    }
    Ok(Bound::plain(Definition::CreateIndex(NewIndex {
        name,
        if_not_exists: create.if_not_exists,
        table: id,
        keys,
        include,
        unique: create.unique,
        nulls_distinct: create.nulls_distinct != Some(false),
    })))
}

fn refuse(c: &CreateIndex) -> Result<()> {
    if let Some(method) = c.using.as_ref().filter(|m| **m != IndexType::BTree) {
        return Err(
            Error::unsupported(format!("an index USING {method}")).with_hint("all indexes are USING btree")
        );
    }
    super::refuse::first(&[
        (c.predicate.is_some(), "a partial index"),
        (
            !c.index_options.is_empty() || !c.alter_options.is_empty(),
            "index options",
        ),
    ])
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

fn key(binder: &Binder, entry: &TableEntry, part: &IndexColumn) -> Result<IndexKey> {
    let (mut expr, mut collation) = (&part.column.expr, None);
    let name = loop {
        match expr {
            SqlExpr::Nested(inner) => expr = inner,
            SqlExpr::Collate {
                expr: inner,
                collation: name,
            } => (expr, collation) = (inner, Some(name)),
            SqlExpr::Identifier(name) => break name,
            _ => {
                let span = binder.leaf_span(&part.column.expr);
                return Err(Error::unsupported("an index on an expression").at_span(span));
            }
        }
    };
    let options = &part.column.options;
    let descending = options.asc == Some(false);
    let column = position(binder, entry, name)?;
    let ty = entry.schema.columns[column].ty;
    must_compare(ty, binder.span(name))?;
    if let Some(collation) = collation {
        binder.collation_of(collation, ty)?;
    }
    if let Some(class) = &part.operator_class {
        operator_class::check_class(binder, class, ty)?;
    }
    Ok(IndexKey {
        column,
        descending,
        nulls_first: options.nulls_first.unwrap_or(descending),
    })
}

/// Error 42704 for a key of a type whose values have no order.
pub(super) fn must_compare(ty: LogicalType, span: Span) -> Result<()> {
    if ty.is_comparable() {
        return Ok(());
    }
    let message = format!(
        "data type {} has no default operator class for access method \"btree\"",
        ty.name()
    );
    Err(error(SqlState::UNDEFINED_OBJECT, message, span).with_hint("jsonb has an order"))
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
