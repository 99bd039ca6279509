//! Names of the catalog: what a written name means by the session's path, and the errors of names that mean nothing.
//!
//! A name is resolved here, once. What comes behind has a [`QualifiedName`] or an id.

use super::rights::check_schema;
use crate::{CatalogView, TableEntry, catalog_view};
use frazil_catalog::{
    PUBLIC, PUBLIC_ALIAS, QualifiedName, SYSTEM_SCHEMA, SearchPath, SequenceEntry, TypeEntry, WrittenName,
    is_temporary_schema, not_a_sequence,
};
use frazil_types::{Error, ObjectId, Result, Span, SqlState};
use sqlparser::ast::Ident;
use std::sync::Arc;

/// The name of a schema: [`PUBLIC_ALIAS`] means [`PUBLIC`], unless there is a schema of that name, and `pg_temp` the
/// schema of the session's temporary objects.
pub(crate) fn schema_name(catalog: &dyn CatalogView, written: &str) -> String {
    match written == PUBLIC_ALIAS && !catalog.has_schema(PUBLIC_ALIAS) {
        true => PUBLIC.to_string(),
        false => catalog.path().resolved(written).to_string(),
    }
}

/// The possible meanings of a name, in the order in which a path is searched.
fn candidates(catalog: &dyn CatalogView, path: &SearchPath, written: &WrittenName) -> Vec<QualifiedName> {
    let schema = written.schema.as_deref();
    path.candidates(&WrittenName {
        schema: schema.map(|schema| schema_name(catalog, schema)),
        name: written.name.clone(),
    })
}

/// The table or view that a name means along a path.
pub(crate) fn find_relation(
    catalog: &dyn CatalogView,
    path: &SearchPath,
    written: &WrittenName,
) -> Option<(QualifiedName, catalog_view::Relation)> {
    let mut candidates = candidates(catalog, path, written).into_iter();
    candidates.find_map(|name| catalog.relation(&name).map(|relation| (name, relation)))
}

/// The index that a name means along the session's path.
pub(super) fn index_named(catalog: &dyn CatalogView, written: &WrittenName) -> Option<ObjectId> {
    let candidates = candidates(catalog, catalog.path(), written);
    candidates.iter().find_map(|name| catalog.index_id(name))
}

/// The sequence that a name means along a path. 42P01 if there is none, 42809 if another relation has the name.
pub(crate) fn find_sequence(
    catalog: &dyn CatalogView,
    path: &SearchPath,
    written: &WrittenName,
) -> Result<Arc<SequenceEntry>> {
    check_written(catalog, written)?;
    for name in candidates(catalog, path, written) {
        if let Some(sequence) = catalog.sequence(&name) {
            return Ok(sequence);
        }
        if catalog.has_relation(&name) || catalog.relation(&name).is_some() {
            return Err(not_a_sequence(&written.name));
        }
    }
    Err(missing_relation(catalog, written))
}

/// 42501 unless the current role may find names in the schema that a name is written with.
fn check_written(catalog: &dyn CatalogView, written: &WrittenName) -> Result<()> {
    match &written.schema {
        Some(schema) => check_schema(catalog, &schema_name(catalog, schema)),
        None => Ok(()),
    }
}

/// The type that a name means along a path, unless a built-in one has the name.
pub(crate) fn find_type(
    catalog: &dyn CatalogView,
    path: &SearchPath,
    written: &WrittenName,
) -> Option<(QualifiedName, Arc<TypeEntry>)> {
    let mut candidates = candidates(catalog, path, written).into_iter();
    candidates.find_map(|name| catalog.user_type(&name).map(|entry| (name, entry)))
}

/// The name of a table, view or index that is to be dropped. One that there is not is given the schema in which an
/// error shall miss it.
pub(crate) fn to_drop(catalog: &dyn CatalogView, written: &WrittenName) -> QualifiedName {
    first_or_missing(catalog, written, |name| catalog.has_relation(name))
}

/// The name of a type that is to be dropped: see [`to_drop`].
pub(crate) fn type_to_drop(catalog: &dyn CatalogView, written: &WrittenName) -> QualifiedName {
    first_or_missing(catalog, written, |name| catalog.user_type(name).is_some())
}

fn first_or_missing(
    catalog: &dyn CatalogView,
    written: &WrittenName,
    is_there: impl Fn(&QualifiedName) -> bool,
) -> QualifiedName {
    let all = candidates(catalog, catalog.path(), written);
    if let Some(found) = all.iter().find(|name| is_there(name)) {
        return found.clone();
    }
    let missing = all.iter().find(|name| catalog.has_schema(&name.schema));
    let missing = missing.or(all.first()).cloned();
    match &written.schema {
        Some(_) => missing.unwrap_or_else(|| QualifiedName::in_public(&written.name)),
        // No schema of the path may exist: the system's is always there.
        None => missing
            .filter(|name| catalog.has_schema(&name.schema))
            .unwrap_or_else(|| QualifiedName::new(SYSTEM_SCHEMA, &written.name)),
    }
}

/// The name of something that is to be created: in its schema, else in the first one of the path that there is. 3F000
/// if there is none.
pub(crate) fn to_create(catalog: &dyn CatalogView, written: &WrittenName) -> Result<QualifiedName> {
    if let Some(schema) = &written.schema {
        let schema = schema_name(catalog, schema);
        if is_temporary_schema(&schema)
            && catalog.path().temporary() != Some(&schema)
            && catalog.has_schema(&schema)
        {
            let message = "cannot create relations in temporary schemas of other sessions";
            return Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, message));
        }
        return Ok(QualifiedName::new(schema, &written.name));
    }
    match current_schema(catalog) {
        Some(schema) => Ok(QualifiedName::new(schema, &written.name)),
        None => Err(Error::new(
            SqlState::INVALID_SCHEMA,
            "no schema has been selected to create in",
        )
        .with_hint("SET search_path to a schema that there is, or write the schema before the name")),
    }
}

/// The name of a temporary relation that is to be created. 42P16 if it is written with the schema of lasting ones.
pub(crate) fn to_create_temporary(catalog: &dyn CatalogView, written: &WrittenName) -> Result<QualifiedName> {
    let Some(schema) = catalog.path().temporary() else {
        return Err(Error::unsupported("a temporary object without a session"));
    };
    match &written.schema {
        Some(other) if schema_name(catalog, other) != schema => {
            let message = "cannot create temporary relation in non-temporary schema";
            Err(Error::new(SqlState::INVALID_TABLE_DEFINITION, message))
        }
        Some(_) | None => Ok(QualifiedName::new(schema, &written.name)),
    }
}

/// 0A000 for a temporary relation of another session.
pub(crate) fn refuse_of_others(catalog: &dyn CatalogView, name: &QualifiedName) -> Result<()> {
    match is_temporary_schema(&name.schema) && catalog.path().temporary() != Some(&name.schema) {
        true => Err(Error::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "cannot access temporary tables of other sessions",
        )),
        false => Ok(()),
    }
}

/// The schemas of the session's path that there are.
pub(crate) fn current_schemas(catalog: &dyn CatalogView) -> impl Iterator<Item = &str> {
    let path = catalog.path();
    let schemas = path.schemas().iter().map(|schema| path.resolved(schema));
    let is_there = move |schema: &&str| {
        *schema == SYSTEM_SCHEMA || path.temporary() == Some(schema) || catalog.has_schema(schema)
    };
    schemas.filter(is_there)
}

/// The schema in which names without a schema are created.
pub(crate) fn current_schema(catalog: &dyn CatalogView) -> Option<&str> {
    current_schemas(catalog).next()
}

/// A table. 42P01 with the nearest name if there is none, 42809 for a view.
pub(crate) fn find_table(catalog: &dyn CatalogView, written: &WrittenName) -> Result<TableEntry> {
    check_written(catalog, written)?;
    match find_relation(catalog, catalog.path(), written) {
        Some((name, catalog_view::Relation::Table(table))) => {
            refuse_of_others(catalog, &name).map(|()| table)
        }
        Some((_, catalog_view::Relation::View(_))) => Err(frazil_catalog::not_a_table(&written.name)),
        None if find_sequence(catalog, catalog.path(), written).is_ok() => {
            Err(frazil_catalog::not_a_table(&written.name))
        }
        None => Err(missing_relation(catalog, written)),
    }
}

/// The identity of a table of the catalog. 42P01 also for a table of the system, 42809 for a view.
pub(crate) fn find_own_table(catalog: &dyn CatalogView, written: &WrittenName) -> Result<ObjectId> {
    let table = find_table(catalog, written)?;
    let id = catalog.catalog_id(table.id);
    id.ok_or_else(|| missing_relation(catalog, written))
}

/// The identity of a table that a statement empties or defines otherwise. 55006 if the session uses it.
pub(crate) fn find_unused_table(
    catalog: &dyn CatalogView,
    written: &WrittenName,
    what: &str,
) -> Result<ObjectId> {
    let table = find_own_table(catalog, written)?;
    catalog.refuse_used(table, what).map(|()| table)
}

/// 42P01 with the nearest name among those that the session sees.
pub(crate) fn missing_relation(catalog: &dyn CatalogView, written: &WrittenName) -> Error {
    let message = format!("relation \"{written}\" does not exist");
    let error = Error::new(SqlState::UNDEFINED_TABLE, message);
    let schemas = match &written.schema {
        Some(schema) => vec![schema_name(catalog, schema)],
        None => {
            let (path, temporary) = (catalog.path(), catalog.path().temporary());
            let path = path
                .schemas()
                .iter()
                .map(String::as_str)
                .chain(temporary)
                .map(str::to_string);
            path.chain([SYSTEM_SCHEMA.to_string()]).collect()
        }
    };
    let mut names = catalog.relation_names();
    names.retain(|name| schemas.contains(&name.schema));
    match frazil_catalog::nearest(&written.name, names.iter().map(|name| name.name.as_str())) {
        Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
        None => error,
    }
}

/// 42704, or 3F000 if the name has a schema that there is not.
pub(crate) fn missing_type(catalog: &dyn CatalogView, written: &WrittenName) -> Error {
    let schema = written
        .schema
        .as_deref()
        .map(|schema| schema_name(catalog, schema));
    match schema {
        Some(schema) if schema != SYSTEM_SCHEMA && !catalog.has_schema(&schema) => {
            frazil_catalog::missing_schema(&schema)
        }
        Some(_) | None => {
            let message = format!("type \"{written}\" does not exist");
            Error::new(SqlState::UNDEFINED_OBJECT, message)
        }
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
