//! Numbers of `pg_catalog`: oids of schemas and types, modifiers of types, and names of types by PostgreSQL's rules.

use super::virtual_table::STANDARD_SCHEMA;
use frazil_catalog::{Catalog, SYSTEM_SCHEMA};
use frazil_types::sql_type::CatalogRow;
use frazil_types::{ColumnDef, LogicalType, ObjectId};

/// PostgreSQL's number of `pg_catalog`.
const SYSTEM_NAMESPACE: u32 = 11;
/// A number of `information_schema`.
const STANDARD_NAMESPACE: u32 = 13_000;
/// PostgreSQL's number of the user who made the server.
pub(super) const OWNER: u32 = 10;
/// The number of the database.
pub(crate) const DATABASE: u32 = 5;
/// PostgreSQL's number of the method that stores tables.
pub(super) const HEAP: u32 = 2;
/// PostgreSQL's number of B-trees, which is what indexes are called.
pub(super) const BTREE: u32 = 403;

/// The bit that makes the oid of a view the oid of its rule.
const RULE_OFFSET: u32 = 1 << 30;
/// The first number of what has no identity in the catalog: defaults of columns.
pub(super) const FIRST_UNNAMED: u32 = 3 << 30;

/// Schemas with their oids, those of the system first.
pub fn namespaces(catalog: &Catalog) -> Vec<(String, u32)> {
    let system = [
        (SYSTEM_SCHEMA.to_owned(), SYSTEM_NAMESPACE),
        (STANDARD_SCHEMA.to_owned(), STANDARD_NAMESPACE),
    ];
    let own = catalog
        .schemas()
        .map(|schema| (schema.name.clone(), schema.id.oid()));
    system.into_iter().chain(own).collect()
}

/// The oid of a system schema.
pub(super) fn system_namespace(name: &str) -> u32 {
    match name {
        STANDARD_SCHEMA => STANDARD_NAMESPACE,
        _ => SYSTEM_NAMESPACE,
    }
}

/// The oid of the rule of a view.
pub(super) fn rule_oid(view: u32) -> u32 {
    view | RULE_OFFSET
}

/// The oid of a column's type: that of its domain if it has one.
pub(super) fn column_type(column: &ColumnDef) -> u32 {
    column.domain_id().map_or_else(|| column.ty.oid(), ObjectId::oid)
}

/// The modifier of a column, which a domain has instead of its columns.
pub(super) fn column_modifier(column: &ColumnDef) -> i32 {
    match column.domain {
        Some(_) => -1,
        None => (column.ty.info().modifier)(column.ty),
    }
}

/// True if PostgreSQL passes values of a length in a register (`typbyval`).
pub(super) fn is_passed_by_value(length: i16) -> bool {
    matches!(length, 1 | 2 | 4 | 8)
}

/// The collation of a type: 0 if its values are not texts.
pub(super) fn collation(ty: LogicalType) -> u32 {
    catalog_row(ty).collation
}

/// The facts that `pg_type` shows of a type. Those of arrays derive from their elements.
pub(super) fn catalog_row(ty: LogicalType) -> CatalogRow {
    match ty.element() {
        Some(element) => element.info().catalog.of_arrays(element.oid()),
        None => ty.info().catalog,
    }
}

/// PostgreSQL's short name of a type; of an array that of its elements behind a bar.
pub(super) fn short_name(ty: LogicalType, catalog: &Catalog) -> String {
    match (ty.enumeration(), ty.element()) {
        (Some(e), _) => {
            let entry = catalog.user_type_of(ObjectId(e.id()));
            entry.map_or_else(String::new, |entry| entry.name.clone())
        }
        (_, Some(element)) => format!("_{}", short_name(element, catalog)),
        (None, None) => ty.info().typname.to_owned(),
    }
}

/// The first number of operator classes: there is one for each type.
const FIRST_CLASS: u32 = 14_000;

/// The number of the operator class that indexes of a type have.
pub(super) fn operator_class(ty: LogicalType) -> u32 {
    FIRST_CLASS + ty.kind() as u32
}
