//! PostgreSQL 15's system tables: their columns from `relations.txt`, and the functions that fill them.
//!
//! A line of the file is a relation: `schema.name oid kind` and its columns, `name:type`, with `!` if NOT NULL.

use super::virtual_table::{CellsOf, Made, STANDARD_SCHEMA, VirtualTable, schema as schema_of};
use super::{
    activity_counts, built_in, catalog_rows, comments, constraints, depend, fixed, indexes,
    information_schema, privileges, roles, sequences, sessions, standard_columns, standard_constraints,
    standard_usage, types,
};
use frazil_catalog::SYSTEM_SCHEMA;
use frazil_types::{Error, Result};
use std::sync::OnceLock;

const RELATIONS: &str = include_str!("relations.txt");

/// The tables of `pg_catalog` that are not empty.
const CATALOG: &[(&str, CellsOf)] = &[
    ("pg_aggregate", built_in::aggregates),
    ("pg_am", fixed::access_methods),
    ("pg_amop", built_in::family_operators),
    ("pg_attrdef", catalog_rows::defaults),
    ("pg_attribute", catalog_rows::attributes),
    ("pg_auth_members", roles::members),
    ("pg_authid", roles::authids),
    ("pg_cast", built_in::casts),
    ("pg_class", catalog_rows::classes),
    ("pg_collation", fixed::collations),
    ("pg_constraint", constraints::constraints),
    ("pg_database", fixed::databases),
    ("pg_db_role_setting", roles::settings),
    ("pg_default_acl", roles::defaults),
    ("pg_depend", depend::dependencies),
    ("pg_description", comments::comments),
    ("pg_enum", types::labels),
    ("pg_group", roles::groups),
    ("pg_index", indexes::indexes),
    ("pg_indexes", indexes::listed),
    ("pg_language", fixed::languages),
    ("pg_matviews", catalog_rows::materialized_views),
    ("pg_namespace", catalog_rows::namespaces),
    ("pg_opclass", fixed::operator_classes),
    ("pg_operator", built_in::operators),
    ("pg_opfamily", fixed::operator_families),
    ("pg_proc", built_in::functions),
    ("pg_rewrite", catalog_rows::rules),
    ("pg_roles", roles::shown),
    ("pg_sequence", sequences::definitions),
    ("pg_shadow", roles::shadows),
    ("pg_shdescription", comments::of_database),
    ("pg_tables", catalog_rows::tables),
    ("pg_tablespace", fixed::tablespaces),
    ("pg_type", types::types),
    ("pg_user", roles::users),
    ("pg_views", catalog_rows::views),
];

/// The tables of `information_schema` that are not empty.
const STANDARD: &[(&str, CellsOf)] = &[
    ("character_sets", information_schema::character_sets),
    ("check_constraints", standard_constraints::checks),
    ("column_domain_usage", standard_usage::columns_of_domains),
    ("column_udt_usage", standard_usage::columns_of_types),
    ("columns", standard_columns::columns),
    ("constraint_column_usage", standard_constraints::columns_used),
    ("constraint_table_usage", standard_constraints::tables_used),
    ("domain_constraints", standard_constraints::of_domains),
    ("domains", information_schema::domains),
    ("element_types", standard_usage::elements),
    (
        "information_schema_catalog_name",
        information_schema::catalog_name,
    ),
    ("key_column_usage", standard_constraints::keys),
    ("referential_constraints", standard_constraints::references),
    ("schemata", information_schema::schemata),
    ("sequences", sequences::standard),
    ("table_constraints", standard_constraints::constraints),
    ("tables", information_schema::tables),
    ("view_table_usage", standard_usage::tables_of_views),
    ("views", information_schema::views),
];

/// The tables of `pg_catalog` that show more than the catalog.
const LIVE: &[(&str, CellsOf)] = &[
    ("pg_cursors", sessions::cursors),
    ("pg_locks", sessions::locks),
    ("pg_prepared_statements", sessions::prepared),
    ("pg_sequences", sequences::with_values),
    ("pg_settings", sessions::settings),
    ("pg_stat_activity", sessions::activity),
    ("pg_stat_all_indexes", activity_counts::of_indexes),
    ("pg_stat_all_tables", activity_counts::of_tables),
    ("pg_stat_database", activity_counts::database),
    ("pg_stat_user_indexes", activity_counts::of_indexes),
    ("pg_stat_user_tables", activity_counts::of_tables),
    ("pg_statio_all_tables", activity_counts::io_of_tables),
    ("pg_statio_user_tables", activity_counts::io_of_tables),
    ("pg_timezone_names", fixed::time_zones),
];

/// The tables of `information_schema` whose rows depend on the role that asks.
const STANDARD_LIVE: &[(&str, CellsOf)] = &[
    (
        "administrable_role_authorizations",
        privileges::administrable_roles,
    ),
    ("applicable_roles", privileges::applicable_roles),
    ("column_privileges", privileges::of_columns),
    ("enabled_roles", information_schema::roles),
    ("role_column_grants", privileges::roles_of_columns),
    ("role_routine_grants", privileges::roles_of_functions),
    ("role_table_grants", privileges::roles_of_tables),
    ("role_usage_grants", privileges::roles_of_usage),
    ("routine_privileges", privileges::of_functions),
    ("table_privileges", privileges::of_tables),
    ("usage_privileges", privileges::of_usage),
];

/// Schema and name of each table that is not empty.
#[cfg(test)]
pub(super) fn filled() -> impl Iterator<Item = (&'static str, &'static str)> {
    let catalog = CATALOG.iter().chain(LIVE).map(|(name, _)| (SYSTEM_SCHEMA, *name));
    let standard = STANDARD.iter().chain(STANDARD_LIVE);
    catalog.chain(standard.map(|(name, _)| (STANDARD_SCHEMA, *name)))
}

/// The tables of the file.
pub(super) fn tables() -> impl Iterator<Item = Result<VirtualTable>> {
    RELATIONS.lines().map(relation)
}

fn relation(line: &'static str) -> Result<VirtualTable> {
    let damaged = || Error::internal(format!("a line of relations.txt that is not a relation: {line}"));
    let mut words = line.splitn(4, ' ');
    let mut word = || words.next().ok_or_else(damaged);
    let (name, oid, kind, columns) = (word()?, word()?, word()?, word()?);
    let (schema, name) = name.split_once('.').ok_or_else(damaged)?;
    let (schema, filled, live) = match schema {
        SYSTEM_SCHEMA => (SYSTEM_SCHEMA, CATALOG, LIVE),
        _ => (STANDARD_SCHEMA, STANDARD, STANDARD_LIVE),
    };
    let parts: Option<Vec<(&str, &str)>> = columns
        .split(" | ")
        .map(|column| column.split_once(':'))
        .collect();
    let parts = parts.ok_or_else(damaged)?;
    let typed: Vec<(&str, &str)> = parts
        .iter()
        .map(|(name, ty)| (*name, ty.trim_end_matches('!')))
        .collect();
    let mut columns = schema_of(&typed)?;
    for (column, (_, ty)) in columns.columns.iter_mut().zip(&parts) {
        column.nullable = !ty.ends_with('!');
    }
    let cells = filled.iter().find(|(filled, _)| *filled == name);
    let live = live.iter().find(|(live, _)| *live == name);
    let made = match (cells, live) {
        (Some((_, cells)), _) => Made::FromCatalog(*cells),
        (None, Some((_, cells))) => Made::Live(*cells),
        (None, None) => Made::Empty,
    };
    Ok(VirtualTable {
        schema,
        name: name.to_owned(),
        oid: Some(oid.parse().map_err(|_| damaged())?),
        is_view: kind == "v",
        columns,
        made,
        read_columns: OnceLock::new(),
    })
}
