//! The schemas of a manifest.

use crate::comments::read_u32;
use frazil_catalog::{Catalog, SchemaEntry};
use frazil_types::ObjectId;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The schemas of a catalog; `None` if it has the one alone that a new database has.
pub(crate) fn schemas_of(catalog: &Catalog) -> Option<Vec<Arc<SchemaEntry>>> {
    let schemas: Vec<Arc<SchemaEntry>> = catalog.schemas().cloned().collect();
    let is_new = matches!(&schemas[..], [only] if only.is_first_public());
    (!is_new).then_some(schemas)
}

/// The schemas, by name.
pub(crate) fn write_schemas(schemas: &[Arc<SchemaEntry>]) -> Json {
    let schemas = schemas.iter();
    schemas
        .map(|schema| json!({ "id": schema.id.0, "name": schema.name }))
        .collect()
}

/// The schemas that [`write_schemas`] wrote.
pub(crate) fn read_schemas(json: &Json) -> Option<Vec<Arc<SchemaEntry>>> {
    let schemas = json.as_array()?.iter().map(|schema| {
        let id = ObjectId(read_u32(&schema["id"])?);
        Some(Arc::new(SchemaEntry::new(id, schema["name"].as_str()?)))
    });
    schemas.collect()
}
