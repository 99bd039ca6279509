//! Rows of `information_schema`: schemas, tables, views, domains.

use super::catalog_rows::{Seen, wanted_relations};
use super::cells::{Cells, DATABASE, yes_or_no};
use super::named_relations::BY_TABLE_NAME;
use super::numbers;
use super::standard_columns::of_type;
use super::virtual_table::Context;
use super::wanted::Cell;
use crate::table_info::{default_text, view_text};
use frazil_catalog::{Guarded, Role, RoleId, ViewEntry, is_temporary_schema};
use frazil_types::{ColumnDef, Result};
use std::sync::Arc;

pub(super) fn catalog_name(_: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(vec![Cells::new().with("catalog_name", DATABASE)])
}

pub(super) fn character_sets(_: &Context<'_>) -> Result<Vec<Cells>> {
    Ok(vec![
        Cells::new()
            .with("character_set_name", "UTF8")
            .with("character_repertoire", "UCS")
            .with("form_of_use", "UTF8")
            .with("default_collate_catalog", DATABASE)
            .with("default_collate_schema", "pg_catalog")
            .with("default_collate_name", "C"),
    ])
}

pub(super) fn roles(context: &Context<'_>) -> Result<Vec<Cells>> {
    let access = context.catalog().access();
    let current = context.user.current;
    let enabled = access
        .roles
        .values()
        .filter(|role| access.has_privileges_of(current, role.id));
    let row = |role: &Arc<Role>| Cells::new().with("role_name", role.name.as_str());
    Ok(enabled.map(row).collect())
}

pub(super) fn schemata(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let row = |(name, _): (String, u32)| {
        let schema = catalog.schema(&name);
        let owner = schema.map_or(RoleId::SUPERUSER, |schema| {
            catalog.owner_of(Guarded::Object(schema.id))
        });
        Cells::new()
            .with("catalog_name", DATABASE)
            .with("schema_name", name)
            .with("schema_owner", catalog.access().role_name(owner))
    };
    Ok(numbers::namespaces(context.catalog())
        .into_iter()
        .map(row)
        .collect())
}

pub(super) fn tables(context: &Context<'_>) -> Result<Vec<Cells>> {
    let is_shown = |seen: &Seen<'_>| !seen.is_materialized && !context.is_of_others(&seen.schema);
    let visible = wanted_relations(context, BY_TABLE_NAME).filter(is_shown);
    let wanted = visible.filter(|seen| context.wants(&[("table_name", Cell::Text(seen.name))]));
    let rows = wanted.map(|seen| {
        let table = match is_temporary_schema(&seen.schema) {
            true => "LOCAL TEMPORARY",
            false => "BASE TABLE",
        };
        Cells::new()
            .with("table_catalog", DATABASE)
            .with("table_schema", &*seen.schema)
            .with("table_name", seen.name)
            .with("table_type", if seen.is_view { "VIEW" } else { table })
            .with("is_insertable_into", yes_or_no(!seen.is_view))
            .with("is_typed", "NO")
    });
    Ok(rows.collect())
}

pub(super) fn views(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let schema = |view: &ViewEntry| catalog.qualified(view.namespace, "").schema;
    let visible = catalog
        .views()
        .filter(|view| !context.is_of_others(&schema(view)));
    let wanted = visible.filter(|view| context.wants(&[("table_name", Cell::Text(&view.name))]));
    let rows = wanted.map(|view| {
        Cells::new()
            .with("table_catalog", DATABASE)
            .with("table_schema", catalog.qualified(view.namespace, "").schema)
            .with("table_name", view.name.as_str())
            .with("view_definition", view_text(view, catalog))
            .with("check_option", "NONE")
            .with("is_updatable", "NO")
            .with("is_insertable_into", "NO")
            .with("is_trigger_updatable", "NO")
            .with("is_trigger_deletable", "NO")
            .with("is_trigger_insertable_into", "NO")
    });
    Ok(rows.collect())
}

pub(super) fn domains(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let rows = catalog.domains().map(|(entry, domain)| {
        let mut column = ColumnDef::new("value", domain.base);
        column.default.clone_from(&domain.default);
        of_type(Cells::new(), domain.base, catalog)
            .with("domain_catalog", DATABASE)
            .with("domain_schema", catalog.qualified(entry.namespace, "").schema)
            .with("domain_name", entry.name.as_str())
            .with("domain_default", default_text(&column))
            .with("dtd_identifier", "1")
    });
    Ok(rows.collect())
}
