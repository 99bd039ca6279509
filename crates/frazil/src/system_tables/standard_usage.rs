//! Rows of `information_schema` about uses: tables of views, types and domains of columns, elements of arrays.

use super::catalog_rows::{column_number, own_relations};
use super::cells::{Cells, DATABASE};
use super::standard_columns::of_type;
use super::virtual_table::Context;
use frazil_catalog::{Catalog, Relation, TypeEntry};
use frazil_types::{ColumnDef, ObjectId, Result};

/// Tables and views that views read.
pub(super) fn tables_of_views(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let mut rows = Vec::new();
    for view in catalog.views() {
        let mut read: Vec<ObjectId> = view.reads.iter().filter_map(|reading| reading.id).collect();
        read.sort_unstable();
        read.dedup();
        for relation in read.into_iter().filter_map(|id| catalog.relation_of(id)) {
            rows.push(
                Cells::new()
                    .with("view_catalog", DATABASE)
                    .with("view_schema", catalog.qualified(view.namespace, "").schema)
                    .with("view_name", view.name.as_str())
                    .with("table_catalog", DATABASE)
                    .with("table_schema", catalog.qualified(relation.namespace(), "").schema)
                    .with("table_name", relation.name()),
            );
        }
    }
    Ok(rows)
}

/// A column of a relation that a statement made.
struct SeenColumn<'a> {
    schema: String,
    relation: &'a str,
    is_view: bool,
    number: u32,
    column: &'a ColumnDef,
}

impl SeenColumn<'_> {
    /// The row that names the column.
    fn row(&self) -> Cells {
        Cells::new()
            .with("table_catalog", DATABASE)
            .with("table_schema", self.schema.as_str())
            .with("table_name", self.relation)
            .with("column_name", self.column.name.as_str())
    }
}

fn columns<'a>(context: &'a Context<'_>) -> impl Iterator<Item = SeenColumn<'a>> {
    let visible = own_relations(context).filter(|seen| !context.is_of_others(&seen.schema));
    visible.flat_map(|seen| {
        let all = seen.columns.iter().enumerate();
        let named = all.map(|(at, column)| SeenColumn {
            schema: seen.schema.to_string(),
            relation: seen.name,
            is_view: seen.is_view,
            number: column_number(seen.columns, at),
            column,
        });
        named.collect::<Vec<_>>()
    })
}

/// The domain of a column.
fn domain_of<'a>(column: &ColumnDef, catalog: &'a Catalog) -> Option<&'a TypeEntry> {
    let entry = catalog.user_type_of(column.domain_id()?)?;
    Some(entry)
}

/// Columns of domains.
pub(super) fn columns_of_domains(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let rows = columns(context).filter_map(|seen| {
        let domain = domain_of(seen.column, catalog)?;
        Some(
            seen.row()
                .with("domain_catalog", DATABASE)
                .with("domain_schema", catalog.qualified(domain.namespace, "").schema)
                .with("domain_name", domain.name.as_str()),
        )
    });
    Ok(rows.collect())
}

/// Columns with their types; that of a domain is its base.
pub(super) fn columns_of_types(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let wanted = ["udt_catalog", "udt_schema", "udt_name"];
    let rows = columns(context).map(|seen| {
        let mut ty = of_type(Cells::new(), seen.column.ty, catalog);
        ty.0.retain(|(name, _)| wanted.contains(name));
        let mut row = seen.row();
        row.0.append(&mut ty.0);
        row
    });
    Ok(rows.collect())
}

/// The elements of columns that are arrays. `collection_type_identifier` is the column's `dtd_identifier`.
pub(super) fn elements(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let measures = |name: &str| {
        name.starts_with("numeric_") || name.starts_with("character_") || name.starts_with("datetime_")
    };
    let rows = columns(context).filter_map(|seen| {
        let element = seen.column.ty.element()?;
        let number = seen.number.to_string();
        let row = Cells::new()
            .with("object_catalog", DATABASE)
            .with("object_schema", seen.schema.as_str())
            .with("object_name", seen.relation)
            .with("object_type", if seen.is_view { "VIEW" } else { "TABLE" })
            .with("collection_type_identifier", number.as_str())
            .with("dtd_identifier", format!("a{number}"));
        let mut row = of_type(row, element, catalog);
        // PostgreSQL leaves the measures of elements empty.
        row.0.retain(|(name, _)| !measures(name));
        Some(row)
    });
    Ok(rows.collect())
}

/// Relations that statements made, with the names of their schemas. Temporary ones are the session's own.
pub(super) fn visible<'a>(context: &'a Context<'_>) -> impl Iterator<Item = (String, &'a Relation)> {
    let catalog = context.catalog();
    let named = move |relation: &'a Relation| (catalog.qualified(relation.namespace(), "").schema, relation);
    let all = catalog.relations().map(named);
    all.filter(|(schema, _)| !context.is_of_others(schema))
}
