//! Names of tables and views that a program gives: folded, alone or behind a schema and a dot.

use frazil_catalog::{Catalog, PUBLIC, QualifiedName, SearchPath, WrittenName};

/// The table, view or index that a name means: one that the path finds under the whole name, else one of the schema
/// before the first dot. A name that means nothing is one of the path's first schema.
pub(crate) fn resolved(catalog: &Catalog, path: &SearchPath, name: &str) -> QualifiedName {
    let found = |written: WrittenName| {
        let candidates = path.candidates(&catalog.without_alias(&written)).into_iter();
        candidates.into_iter().find(|name| catalog.has_relation(name))
    };
    let in_schema = || {
        let (schema, name) = name.split_once('.')?;
        found(WrittenName {
            schema: Some(schema.to_owned()),
            name: name.to_owned(),
        })
    };
    let missing = || {
        let schemas = path.schemas().iter();
        let first = schemas
            .into_iter()
            .find(|schema| catalog.schema(schema).is_some());
        QualifiedName::new(first.map_or(PUBLIC, String::as_str), name)
    };
    found(WrittenName::unqualified(name))
        .or_else(in_schema)
        .unwrap_or_else(missing)
}
