//! Names → columns: those of the query, then of the queries around it.

use super::naming::schema_name;
use super::scope::{Found, Item};
use super::{Binder, OutputColumn, error, fold};
use frazil_catalog::WrittenName;
use frazil_functions::Operand;
use frazil_plan::{ColumnId, Expr};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::Ident;

/// What a name alone means among the columns of some relations.
fn find(items: &[Item], name: &str) -> Found {
    let found = items.iter().filter(|i| i.is_unqualified).map(|i| i.find(name));
    found.fold(Found::None, Found::and)
}

/// Columns that are found by their names alone.
pub(super) fn unqualified(items: &[Item]) -> impl Iterator<Item = &OutputColumn> {
    items
        .iter()
        .filter(|i| i.is_unqualified)
        .flat_map(|i| i.columns.iter())
}

impl Binder<'_> {
    /// A column reference. 42703, 42702, 42P01.
    pub(super) fn column(&mut self, parts: &[Ident]) -> Result<Expr> {
        let span = parts
            .iter()
            .fold(Span::NONE, |span, part| span.to(self.span(part)));
        if let [name] = parts
            && let Some(e) = self.alias_in_qualify(name)
        {
            return Ok(e.at(span));
        }
        let id = match parts {
            [name] => self.unqualified_column(name, span)?,
            [table, name] => self.qualified_column(&WrittenName::unqualified(fold(table)), name, span)?,
            [schema, table, name] => {
                let table = WrittenName {
                    schema: Some(fold(schema)),
                    name: fold(table),
                };
                self.qualified_column(&table, name, span)?
            }
            [_, _, _, _, _, ..] => {
                let names: Vec<String> = parts.iter().map(fold).collect();
                let message = format!(
                    "improper qualified name (too many dotted names): {}",
                    names.join(".")
                );
                return Err(error(SqlState::SYNTAX_ERROR, message, span));
            }
            [.., table, _] => return Err(self.missing_relation(&fold(table), span)),
            [] => return Err(error(SqlState::UNDEFINED_COLUMN, "a column without a name", span)),
        };
        self.within_reach(id, span)?;
        self.refer(id, span);
        Ok(Expr::column(id, &self.columns).at(span))
    }

    /// What a name that is no input column means in QUALIFY, if an item of the select list has it.
    fn alias_in_qualify(&mut self, ident: &Ident) -> Option<Expr> {
        if self.level().aliases.is_empty() {
            return None;
        }
        let name = fold(ident);
        if find(&self.level().items, &name) != Found::None {
            return None;
        }
        let found = self.level().aliases.iter().find(|a| a.0 == name)?;
        match &found.1 {
            Operand::Typed(e) => Some(e.clone()),
            Operand::Unknown(_) => None,
        }
    }

    /// 42P10 for a column of the target of UPDATE or DELETE in its own FROM or USING.
    fn within_reach(&self, id: ColumnId, span: Span) -> Result<()> {
        let hidden = self.levels.iter().flat_map(|l| &l.target);
        let found = hidden.into_iter().find(|i| i.columns.iter().any(|c| c.id == id));
        let Some(name) = found.and_then(|i| i.name.as_deref()) else {
            return Ok(());
        };
        let message = format!("invalid reference to FROM-clause entry for table \"{name}\"");
        let detail = format!(
            "there is an entry for table \"{name}\", but it cannot be referenced from this part of the query"
        );
        Err(error(SqlState::INVALID_COLUMN_REFERENCE, message, span).with_detail(detail))
    }

    /// The column of this query's FROM that a name alone means, if there is exactly one.
    pub(super) fn input_column(&mut self, name: &str) -> Option<ColumnId> {
        match find(&self.level().items, name) {
            Found::One(id) => Some(id),
            Found::None | Found::Several => None,
        }
    }

    /// True if a name alone means one column or several, of this query or one around it.
    pub(super) fn is_column(&self, name: &str) -> bool {
        let mut levels = self.levels.iter();
        levels.any(|level| find(&level.items, name) != Found::None)
    }

    fn unqualified_column(&self, ident: &Ident, span: Span) -> Result<ColumnId> {
        let name = fold(ident);
        for level in self.levels.iter().rev() {
            match find(&level.items, &name) {
                Found::One(id) => return Ok(id),
                Found::Several => return Err(ambiguous(&name, span)),
                Found::None => {}
            }
        }
        self.not_reserved(ident)?;
        if let Some(item) = self.relation(&name) {
            if let Some(value) = item.value {
                return Ok(value);
            }
            let error = Error::unsupported(format!("the row of \"{name}\" as a value"));
            return Err(error.at_span(span));
        }
        let message = format!("column \"{name}\" does not exist");
        let missing = error(SqlState::UNDEFINED_COLUMN, message, span);
        let known = self.levels.iter().rev().flat_map(|l| unqualified(&l.items));
        Err(with_nearest(missing, &name, known))
    }

    /// The relation that a name means, by query the nearest. A name with a schema means a relation without an alias.
    /// 42P09 if relations of several schemas have the name.
    pub(super) fn relation_named(&self, written: &WrittenName, span: Span) -> Result<Option<&Item>> {
        let schema = written
            .schema
            .as_deref()
            .map(|schema| schema_name(self.catalog, schema));
        let is_it = |i: &&Item| {
            let is_of_schema = schema.is_none() || i.schema.as_deref() == schema.as_deref();
            i.name.as_deref() == Some(written.name.as_str()) && is_of_schema
        };
        for level in self.levels.iter().rev() {
            let mut found = level.items.iter().filter(is_it);
            match (found.next(), found.next()) {
                (None, _) => {}
                (Some(item), None) => return Ok(Some(item)),
                (Some(_), Some(_)) => {
                    let message = format!("table reference \"{}\" is ambiguous", written.name);
                    return Err(error(SqlState::AMBIGUOUS_ALIAS, message, span)
                        .with_hint("put the schema before the table's name, or give the tables aliases"));
                }
            }
        }
        Ok(None)
    }

    /// The relation of a name that is nearest, by query.
    pub(super) fn relation(&self, name: &str) -> Option<&Item> {
        let named = |i: &&Item| i.name.as_deref() == Some(name);
        self.levels.iter().rev().find_map(|l| l.items.iter().find(named))
    }

    fn qualified_column(&self, table: &WrittenName, ident: &Ident, span: Span) -> Result<ColumnId> {
        let Some(item) = self.relation_named(table, span)? else {
            return Err(self.missing_relation(&table.name, span));
        };
        let table = &table.name;
        let name = fold(ident);
        match item.find(&name) {
            Found::One(id) => Ok(id),
            Found::Several => Err(ambiguous(&name, span)),
            Found::None => {
                let message = format!("column {table}.{name} does not exist");
                let missing = error(SqlState::UNDEFINED_COLUMN, message, span);
                Err(with_nearest(missing, &name, item.columns.iter()))
            }
        }
    }

    /// 42P01 for the name of a relation that no query has in sight.
    pub(super) fn missing_relation(&self, table: &str, span: Span) -> Error {
        let hidden = self.levels.iter().flat_map(|l| &l.lateral);
        if hidden.into_iter().any(|i| i.name.as_deref() == Some(table)) {
            let message = format!("invalid reference to FROM-clause entry for table \"{table}\"");
            let hint = format!(
                "there is an entry for table \"{table}\", but it cannot be referenced from this part of the query; \
                 LATERAL before a subquery lets it"
            );
            return error(SqlState::UNDEFINED_TABLE, message, span).with_hint(hint);
        }
        let message = format!("missing FROM-clause entry for table \"{table}\"");
        let missing = error(SqlState::UNDEFINED_TABLE, message, span);
        let known = self.levels.iter().flat_map(|l| &l.items);
        match frazil_catalog::nearest(table, known.filter_map(|i| i.name.as_deref())) {
            Some(near) => missing.with_hint(format!("did you mean \"{near}\"?")),
            None => missing,
        }
    }

    /// The name of a column as messages give it, with that of its relation.
    pub(super) fn full_name(&self, id: ColumnId) -> String {
        for item in self.levels.iter().rev().flat_map(|l| &l.items) {
            if let (Some(table), Some(column)) = (&item.name, item.columns.iter().find(|c| c.id == id)) {
                return format!("{table}.{}", column.name);
            }
            let mut system = item.system.iter();
            if let (Some(table), Some((column, _))) = (&item.name, system.find(|shown| shown.1 == id)) {
                return format!("{table}.{}", column.name());
            }
        }
        self.columns[id].label.clone()
    }
}

fn ambiguous(name: &str, span: Span) -> Error {
    let message = format!("column reference \"{name}\" is ambiguous");
    error(SqlState::AMBIGUOUS_COLUMN, message, span).with_hint("put the table's name or alias before it")
}

fn with_nearest<'c>(missing: Error, name: &str, known: impl Iterator<Item = &'c OutputColumn>) -> Error {
    match frazil_catalog::nearest(name, known.map(|c| c.name.as_str())) {
        Some(near) => missing.with_hint(format!("did you mean \"{near}\"?")),
        None => missing,
    }
}
