//! Rows of types: `pg_type`, `pg_enum`.

use super::cells::Cells;
use super::numbers::{self, OWNER};
use super::virtual_table::Context;
use crate::table_info::default_text;
use frazil_catalog::{Domain, SYSTEM_SCHEMA, TypeEntry};
use frazil_types::sql_type::named_oid;
use frazil_types::{Category, ColumnDef, Kind, LogicalType, Result, Value};

pub(super) fn types(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows: Vec<Cells> = Kind::ALL.into_iter().flat_map(built_in).collect();
    for entry in context.catalog().types() {
        rows.extend(defined(entry));
    }
    Ok(rows)
}

/// A built-in type and its arrays.
fn built_in(kind: Kind) -> Vec<Cells> {
    let info = kind.info();
    if matches!(kind, Kind::Array | Kind::Enum) {
        return Vec::new();
    }
    let ty = kind.plain().unwrap_or_else(|| LogicalType::widest_exact(0));
    let namespace = numbers::system_namespace(SYSTEM_SCHEMA);
    let category = match kind {
        Kind::Uuid | Kind::Bytea | Kind::Json | Kind::Jsonb | Kind::JsonPath => "U",
        Kind::Record => "P",
        Kind::InternalChar => "Z",
        kind if kind == Kind::Oid || kind.is_named_oid() => "N",
        kind => letter(kind.category()),
    };
    let is_pseudo = kind == Kind::Record;
    let base = row(info.oid, info.typname, namespace, ty)
        .with("typtype", if is_pseudo { "p" } else { "b" })
        .with("typcategory", category)
        .with("typispreferred", kind.is_preferred() || kind == Kind::Oid)
        .with("typarray", info.array_oid)
        .with(
            "typelem",
            if kind == Kind::Name {
                Kind::InternalChar.info().oid
            } else {
                0
            },
        );
    let array = array(
        info.array_oid,
        &format!("_{}", info.typname),
        namespace,
        info.oid,
        ty,
    )
    .with("typtype", if is_pseudo { "p" } else { "b" });
    vec![base, array]
}

fn letter(category: Category) -> &'static str {
    match category {
        Category::Boolean => "B",
        Category::Numeric => "N",
        Category::DateTime => "D",
        Category::Timespan => "T",
        Category::String => "S",
        Category::Array => "A",
        Category::UserDefined => "U",
    }
}

/// The columns that all types fill.
fn row(oid: u32, name: &str, namespace: u32, ty: LogicalType) -> Cells {
    let (align, storage) = numbers::placement(ty);
    let length = numbers::length(ty);
    Cells::new()
        .with("oid", oid)
        .with("typname", name)
        .with("typnamespace", namespace)
        .with("typowner", OWNER)
        .with("typlen", length)
        .with("typbyval", matches!(length, 1 | 2 | 4 | 8))
        .with("typisdefined", true)
        .with("typdelim", ",")
        .with("typalign", align)
        .with("typstorage", storage)
        .with("typtypmod", -1)
        .with("typcollation", numbers::collation(ty))
}

fn array(oid: u32, name: &str, namespace: u32, element: u32, ty: LogicalType) -> Cells {
    let subscripts = Value::Bytes(named_oid(6179, "array_subscript_handler"));
    row(oid, name, namespace, LogicalType::TEXT_ARRAY)
        .with("typcategory", "A")
        .with("typelem", element)
        .with("typinput", Value::Bytes(named_oid(750, "array_in")))
        .with("typoutput", Value::Bytes(named_oid(751, "array_out")))
        .with("typreceive", Value::Bytes(named_oid(2400, "array_recv")))
        .with("typsend", Value::Bytes(named_oid(2401, "array_send")))
        .with("typsubscript", subscripts)
        .with("typcollation", numbers::collation(ty))
}

/// A type that a statement defined, and its arrays.
fn defined(entry: &TypeEntry) -> [Cells; 2] {
    let (oid, namespace, ty) = (entry.id.oid(), entry.namespace.oid(), entry.ty());
    let arrays = numbers::array_oid(oid);
    let base = row(oid, &entry.name, namespace, ty).with("typarray", arrays);
    let base = match entry.as_domain() {
        Some(domain) => of_domain(base, domain),
        None => base.with("typtype", "e").with("typcategory", "E"),
    };
    let name = format!("_{}", entry.name);
    [
        base,
        array(arrays, &name, namespace, oid, ty).with("typtype", "b"),
    ]
}

fn of_domain(row: Cells, domain: &Domain) -> Cells {
    let mut column = ColumnDef::new("value", domain.base);
    column.default.clone_from(&domain.default);
    row.with("typtype", "d")
        .with("typcategory", letter(domain.base.kind().category()))
        .with("typnotnull", !domain.nullable)
        .with("typbasetype", numbers::type_oid(domain.base))
        .with("typtypmod", numbers::modifier(domain.base))
        .with("typndims", u32::from(domain.base.element().is_some()))
        .with("typdefault", default_text(&column))
}

pub(super) fn labels(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows = Vec::new();
    for entry in context.catalog().types() {
        let labels = entry.as_enumeration().map(|e| e.labels());
        for (place, label) in labels.iter().flat_map(|labels| labels.iter()).enumerate() {
            rows.push(
                Cells::new()
                    .with("oid", numbers::FIRST_UNNAMED + (1 << 28) + rows.len() as u32)
                    .with("enumtypid", entry.id.oid())
                    .with("enumsortorder", Value::Double(place as f64 + 1.0))
                    .with("enumlabel", label.text.as_str()),
            );
        }
    }
    Ok(rows)
}
