//! Rows of types: `pg_type`, `pg_enum`.

use super::cells::Cells;
use super::numbers::{self, OWNER};
use super::roles::{acl_of, owner_of};
use super::virtual_table::Context;
use crate::table_info::default_text;
use frazil_catalog::{Catalog, Domain, SYSTEM_SCHEMA, TypeEntry};
use frazil_types::sql_type::{CatalogRow, NamedFunction, named_oid};
use frazil_types::{ColumnDef, Kind, Result, Value};

pub(super) fn types(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows: Vec<Cells> = Kind::ALL.into_iter().flat_map(built_in).collect();
    for entry in context.catalog().types() {
        rows.extend(defined(entry, context.catalog())?);
    }
    Ok(rows)
}

/// A built-in type and its arrays; nothing of the pseudo-types that stand for the types that statements define.
fn built_in(kind: Kind) -> Vec<Cells> {
    let info = kind.info();
    if kind.plain().is_none() {
        return Vec::new();
    }
    let namespace = numbers::system_namespace(SYSTEM_SCHEMA);
    let base = row(info.oid, info.typname, namespace, (info.typlen, &info.catalog));
    let name = format!("_{}", info.typname);
    let array = array(
        info.array_oid,
        &name,
        namespace,
        &info.catalog.of_arrays(info.oid),
    );
    vec![base.with("typarray", info.array_oid), array]
}

/// A type by its length and its facts.
fn row(oid: u32, name: &str, namespace: u32, (length, catalog): (i16, &CatalogRow)) -> Cells {
    let [input, output, receive, send] = catalog.input_output.map(function);
    let [modifier_input, modifier_output] = catalog.modifiers.map(function);
    Cells::new()
        .with("oid", oid)
        .with("typname", name)
        .with("typnamespace", namespace)
        .with("typowner", OWNER)
        .with("typlen", i32::from(length))
        .with("typbyval", numbers::is_passed_by_value(length))
        .with("typisdefined", true)
        .with("typdelim", ",")
        .with("typtypmod", -1)
        .with("typtype", catalog.form)
        .with("typcategory", catalog.category)
        .with("typispreferred", catalog.is_preferred)
        .with("typelem", catalog.element)
        .with("typalign", catalog.align)
        .with("typstorage", catalog.storage)
        .with("typcollation", catalog.collation)
        .with("typsubscript", function(catalog.subscript))
        .with("typinput", input)
        .with("typoutput", output)
        .with("typreceive", receive)
        .with("typsend", send)
        .with("typmodin", modifier_input)
        .with("typmodout", modifier_output)
}

/// A function as a regproc.
fn function((oid, name): NamedFunction) -> Value {
    Value::Bytes(named_oid(oid, name))
}

/// `typanalyze` of arrays.
const ARRAY_ANALYZE: NamedFunction = (3816, "array_typanalyze");

fn array(oid: u32, name: &str, namespace: u32, catalog: &CatalogRow) -> Cells {
    row(oid, name, namespace, (-1, catalog)).with("typanalyze", function(ARRAY_ANALYZE))
}

/// A type that a statement defined, and its arrays.
fn defined(entry: &TypeEntry, catalog: &Catalog) -> Result<[Cells; 2]> {
    let (owner, list) = (
        owner_of(catalog, entry.id.oid()).0,
        acl_of(catalog, entry.id.oid())?,
    );
    let (oid, namespace, ty) = (entry.id.oid(), entry.namespace.oid(), entry.ty());
    let arrays = entry.id.array_oid();
    let facts = numbers::catalog_row(ty);
    let facts = match entry.as_domain() {
        Some(_) => facts.of_domains(),
        None => facts,
    };
    let base = row(oid, &entry.name, namespace, (ty.info().typlen, &facts)).with("typarray", arrays);
    let base = match entry.as_domain() {
        Some(domain) => of_domain(base, domain),
        None => base,
    };
    let name = format!("_{}", entry.name);
    let array = array(arrays, &name, namespace, &facts.of_arrays(oid)).with("typowner", owner);
    Ok([base.with("typowner", owner).with("typacl", list), array])
}

/// Adds what a domain says beside the facts of its base.
fn of_domain(row: Cells, domain: &Domain) -> Cells {
    let mut column = ColumnDef::new("value", domain.base);
    column.default.clone_from(&domain.default);
    let is_array = domain.base.element().is_some();
    let analyze = if is_array { ARRAY_ANALYZE } else { (0, "-") };
    row.with("typanalyze", function(analyze))
        .with("typnotnull", !domain.nullable)
        .with("typbasetype", domain.base.oid())
        .with("typtypmod", (domain.base.info().modifier)(domain.base))
        .with("typndims", u32::from(is_array))
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
