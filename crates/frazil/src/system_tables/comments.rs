//! Rows of `pg_description` and `pg_shdescription`.

use super::cells::Cells;
use super::numbers::DATABASE;
use super::oid_of;
use super::virtual_table::Context;
use super::wanted::Cell;
use frazil_catalog::{Catalog, Commented, SYSTEM_SCHEMA};
use frazil_types::{ObjectId, Result, attribute_number};

/// The table of `pg_catalog` that shows an object.
pub(crate) fn class_of(catalog: &Catalog, id: ObjectId) -> &'static str {
    if catalog.schema_of(id).is_some() {
        return "pg_namespace";
    }
    if catalog.user_type_of(id).is_some() {
        return "pg_type";
    }
    let mut constraints = catalog.tables().flat_map(|table| &table.constraints);
    let is_one = constraints.any(|constraint| constraint.id == id);
    match is_one || catalog.check_of_domain(id).is_some() {
        true => "pg_constraint",
        false => "pg_class",
    }
}

pub(super) fn comments(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.snapshot.catalog();
    let mut rows = Vec::new();
    let mut add = |id: ObjectId, class: &str, part: u32, text: &str| {
        let class = oid_of(SYSTEM_SCHEMA, class).unwrap_or_default();
        let row = Cells::new().with("objoid", id.oid()).with("classoid", class);
        rows.push(row.with("objsubid", part).with("description", text));
    };
    for (of, text) in catalog.comments() {
        let object = match of {
            Commented::Database => continue,
            Commented::Object(id) | Commented::Column(id, _) => id,
        };
        if !context.wants(&[("objoid", Cell::Number(object.oid()))]) {
            continue;
        }
        match of {
            Commented::Database => {}
            Commented::Object(id) => add(id, class_of(catalog, id), 0, &text),
            Commented::Column(id, _) => {
                let columns = match catalog.relation_of(id) {
                    Some(frazil_catalog::Relation::Table(table)) => &table.schema.columns,
                    Some(frazil_catalog::Relation::View(view)) => &view.schema.columns,
                    None => continue,
                };
                let mut positions = 0..columns.len();
                let is_it = |at: &usize| catalog.column_key(id, *at) == Some(of);
                if let Some(position) = positions.find(is_it) {
                    add(id, "pg_class", attribute_number(columns, position), &text);
                }
            }
        }
    }
    Ok(rows)
}

pub(super) fn of_database(context: &Context<'_>) -> Result<Vec<Cells>> {
    let comment = context.snapshot.catalog().comment(Commented::Database);
    let row = comment.map(|text| {
        let class = oid_of(SYSTEM_SCHEMA, "pg_database").unwrap_or_default();
        let row = Cells::new().with("objoid", DATABASE).with("classoid", class);
        row.with("description", &**text)
    });
    Ok(row.into_iter().collect())
}
