//! Numbers of `pg_catalog`: oids of schemas and types, modifiers of types, and names of types by PostgreSQL's rules.

use super::virtual_table::STANDARD_SCHEMA;
use frazil_catalog::{Catalog, SYSTEM_SCHEMA};
use frazil_types::logical_type::{MICRO_DIGITS, WITHOUT_LENGTH};
use frazil_types::{ColumnDef, LogicalType, ObjectId};

/// PostgreSQL's number of `pg_catalog`.
const SYSTEM_NAMESPACE: u32 = 11;
/// A number of `information_schema`.
const STANDARD_NAMESPACE: u32 = 13_000;
/// PostgreSQL's number of the user who made the server.
pub(super) const OWNER: u32 = 10;
/// The number of the database.
pub(super) const DATABASE: u32 = 5;
/// PostgreSQL's number of the method that stores tables.
pub(super) const HEAP: u32 = 2;
/// PostgreSQL's number of B-trees, which is what indexes are called.
pub(super) const BTREE: u32 = 403;
/// PostgreSQL's number of the default collation.
pub(super) const DEFAULT_COLLATION: u32 = 100;
/// The collation of names.
const C_COLLATION: u32 = 950;

/// The bit that makes the oid of a defined type the oid of its arrays.
const ARRAY_OFFSET: u32 = 1 << 31;
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

/// The oid of a type.
pub(super) fn type_oid(ty: LogicalType) -> u32 {
    match (ty, ty.element()) {
        (LogicalType::Enum(e), _) => ObjectId(e.id()).oid(),
        (_, Some(LogicalType::Enum(e))) => array_oid(ObjectId(e.id()).oid()),
        (ty, _) => ty.oid(),
    }
}

/// The oid of arrays of a type that a statement defined.
pub fn array_oid(oid: u32) -> u32 {
    oid | ARRAY_OFFSET
}

/// The type of whose arrays the oid is, if a statement defined it.
pub fn element_of_array(oid: u32) -> Option<u32> {
    (oid & ARRAY_OFFSET != 0).then_some(oid & !ARRAY_OFFSET)
}

/// The oid of a column's type: that of its domain if it has one.
pub(super) fn column_type(column: &ColumnDef) -> u32 {
    column.domain.map_or_else(|| type_oid(column.ty), ObjectId::oid)
}

/// The length or digits of a type as PostgreSQL keeps them; −1 of types without any.
pub(super) fn modifier(ty: LogicalType) -> i32 {
    match ty.element().unwrap_or(ty) {
        LogicalType::Char(n) | LogicalType::Varchar(n) if n != WITHOUT_LENGTH => n as i32 + 4,
        LogicalType::Decimal { precision, scale } => (i32::from(precision) << 16 | i32::from(scale)) + 4,
        LogicalType::Time(n) | LogicalType::Timestamp(n) | LogicalType::TimestampTz(_, n)
            if n < MICRO_DIGITS =>
        {
            n.into()
        }
        _ => -1,
    }
}

/// The modifier of a column, which a domain has instead of its columns.
pub(super) fn column_modifier(column: &ColumnDef) -> i32 {
    match column.domain {
        Some(_) => -1,
        None => modifier(column.ty),
    }
}

/// PostgreSQL's `typlen`: bytes of a value, −1 for values of any length.
pub(super) fn length(ty: LogicalType) -> i32 {
    match ty {
        LogicalType::Boolean | LogicalType::InternalChar => 1,
        LogicalType::SmallInt => 2,
        LogicalType::Integer
        | LogicalType::Real
        | LogicalType::Date
        | LogicalType::Oid
        | LogicalType::Enum(_) => 4,
        LogicalType::Regclass | LogicalType::Regtype | LogicalType::Regproc | LogicalType::Regnamespace => 4,
        LogicalType::BigInt
        | LogicalType::Double
        | LogicalType::Time(_)
        | LogicalType::Timestamp(_)
        | LogicalType::TimestampTz(..) => 8,
        LogicalType::Interval | LogicalType::Uuid => 16,
        LogicalType::Name => 64,
        LogicalType::Decimal { .. }
        | LogicalType::Numeric
        | LogicalType::Char(_)
        | LogicalType::Varchar(_)
        | LogicalType::Text
        | LogicalType::Bytea
        | LogicalType::Json
        | LogicalType::Jsonb
        | LogicalType::JsonPath
        | LogicalType::Record
        | LogicalType::Array(_) => -1,
    }
}

/// PostgreSQL's `typalign` and `typstorage`.
pub(super) fn placement(ty: LogicalType) -> (&'static str, &'static str) {
    match (length(ty), ty) {
        (1, _) | (64, _) | (_, LogicalType::Uuid) => ("c", "p"),
        (2, _) => ("s", "p"),
        (4, _) => ("i", "p"),
        (8 | 16, _) => ("d", "p"),
        (_, LogicalType::Decimal { .. } | LogicalType::Numeric) => ("i", "m"),
        _ => ("i", "x"),
    }
}

/// The collation of a type: 0 if its values are not texts.
pub(super) fn collation(ty: LogicalType) -> u32 {
    match ty.element().unwrap_or(ty) {
        LogicalType::Name => C_COLLATION,
        LogicalType::InternalChar => 0,
        ty if ty.is_string() => DEFAULT_COLLATION,
        _ => 0,
    }
}

/// PostgreSQL's short name of a type; of an array that of its elements behind a bar.
pub(super) fn short_name(ty: LogicalType, catalog: &Catalog) -> String {
    match (ty, ty.element()) {
        (LogicalType::Enum(e), _) => {
            let entry = catalog.user_type_of(ObjectId(e.id()));
            entry.map_or_else(String::new, |entry| entry.name.clone())
        }
        (_, Some(element)) => format!("_{}", short_name(element, catalog)),
        (ty, None) => ty.info().typname.to_owned(),
    }
}

/// The first number of operator classes: there is one for each type.
const FIRST_CLASS: u32 = 14_000;

/// The number of the operator class that indexes of a type have.
pub(super) fn operator_class(ty: LogicalType) -> u32 {
    FIRST_CLASS + ty.kind() as u32
}
