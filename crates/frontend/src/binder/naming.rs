//! Names as the catalog keeps them, and the errors of those that it does not have.

use crate::{CatalogView, TableEntry, catalog_view};
use frazil_types::{Error, Result, Span, SqlState};
use sqlparser::ast::Ident;

/// A table of the catalog. 42P01 with the nearest name if there is none, 42809 for a view.
pub(crate) fn find_table(catalog: &dyn CatalogView, name: &str) -> Result<TableEntry> {
    match catalog.relation(name) {
        Some(catalog_view::Relation::Table(table)) => Ok(table),
        Some(catalog_view::Relation::View(_)) => Err(frazil_catalog::not_a_table(name)),
        None => Err(missing_relation(catalog, name)),
    }
}

/// 42P01 with the nearest name.
pub(crate) fn missing_relation(catalog: &dyn CatalogView, name: &str) -> Error {
    let message = format!("relation \"{name}\" does not exist");
    let error = Error::new(SqlState::UNDEFINED_TABLE, message);
    let names = catalog.relation_names();
    match frazil_catalog::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
        None => error,
    }
}

/// A name as the catalog keeps it.
pub(crate) fn fold(ident: &Ident) -> String {
    if ident.quote_style.is_some() {
        ident.value.clone()
    } else {
        ident.value.to_lowercase()
    }
}

/// An error of a SQLSTATE at a place.
pub(super) fn error(state: SqlState, message: impl Into<String>, span: Span) -> Error {
    Error::new(state, message).at_span(span)
}
