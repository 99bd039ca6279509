//! Rows of `information_schema.columns`.

use super::catalog_rows::{Seen, column_number, shown_default, wanted_relations};
use super::cells::Cells;
use super::cells::{DATABASE, yes_or_no};
use super::named_relations::BY_TABLE_NAME;
use super::numbers;
use super::virtual_table::Context;
use super::wanted::Cell;
use frazil_catalog::{Catalog, SYSTEM_SCHEMA};
use frazil_types::sql_type::C_COLLATION;
use frazil_types::{ColumnDef, ColumnDefault, LogicalType, ObjectId, Result};

pub(super) fn columns(context: &Context<'_>) -> Result<Vec<Cells>> {
    let catalog = context.catalog();
    let mut rows = Vec::new();
    let wants = |name: &str| context.wants(&[("table_name", Cell::Text(name))]);
    let is_shown = |seen: &Seen<'_>| !seen.is_materialized && !context.is_of_others(&seen.schema);
    let visible = wanted_relations(context, BY_TABLE_NAME).filter(is_shown);
    for seen in visible.filter(|seen| wants(seen.name)) {
        for (position, column) in seen.columns.iter().enumerate() {
            let number = column_number(seen.columns, position);
            let row = Cells::new()
                .with("table_catalog", DATABASE)
                .with("table_schema", &*seen.schema)
                .with("table_name", seen.name)
                .with("column_name", column.name.as_str())
                .with("ordinal_position", number)
                .with(
                    "column_default",
                    shown_default(column, catalog).filter(|_| !column.is_generated()),
                )
                .with("is_nullable", yes_or_no(column.nullable))
                .with("dtd_identifier", number.to_string())
                .with("is_self_referencing", "NO")
                .with(
                    "is_generated",
                    if column.is_generated() { "ALWAYS" } else { "NEVER" },
                )
                .with(
                    "generation_expression",
                    shown_default(column, catalog).filter(|_| column.is_generated()),
                )
                .with("is_updatable", yes_or_no(!seen.is_view));
            let row = of_type(of_identity(row, column, catalog), column.ty, catalog);
            let domain = column.domain_id().and_then(|id| catalog.user_type_of(id));
            rows.push(match domain {
                Some(entry) => row
                    .with("domain_catalog", DATABASE)
                    .with("domain_schema", catalog.qualified(entry.namespace, "").schema)
                    .with("domain_name", entry.name.as_str()),
                None => row,
            });
        }
    }
    Ok(rows)
}

/// Adds the columns that describe the sequence of an identity column.
fn of_identity(row: Cells, column: &ColumnDef, catalog: &Catalog) -> Cells {
    let Some(ColumnDefault::Identity { always, sequence }) = &column.default else {
        return row.with("is_identity", "NO").with("identity_cycle", "NO");
    };
    let generation = if *always { "ALWAYS" } else { "BY DEFAULT" };
    let row = row
        .with("is_identity", "YES")
        .with("identity_generation", generation);
    match catalog.sequence_of(*sequence) {
        Some(sequence) => {
            let of = &sequence.definition;
            row.with("identity_start", of.start.to_string())
                .with("identity_increment", of.increment.to_string())
                .with("identity_maximum", of.max.to_string())
                .with("identity_minimum", of.min.to_string())
                .with("identity_cycle", yes_or_no(of.cycle))
        }
        None => row.with("identity_cycle", "NO"),
    }
}

/// Adds the columns that describe a type; of a domain its base.
pub(super) fn of_type(row: Cells, ty: LogicalType, catalog: &Catalog) -> Cells {
    let entry = (ty.enumeration_within()).and_then(|e| catalog.user_type_of(ObjectId(e.id())));
    let schema = entry.map_or_else(
        || SYSTEM_SCHEMA.to_owned(),
        |entry| catalog.qualified(entry.namespace, "").schema,
    );
    let name = match (ty.enumeration(), ty.element()) {
        (Some(_), _) => "USER-DEFINED",
        (None, Some(_)) => "ARRAY",
        (None, None) => ty.name(),
    };
    let row = row
        .with("data_type", name)
        .with("udt_catalog", DATABASE)
        .with("udt_schema", schema)
        .with("udt_name", numbers::short_name(ty, catalog));
    measures(row, ty)
}

/// Lengths, digits, and a collation that is not the default one.
fn measures(row: Cells, ty: LogicalType) -> Cells {
    let info = ty.info();
    let measures = (info.measures)(ty);
    let row = row
        .with("numeric_precision", measures.precision)
        .with("numeric_precision_radix", measures.radix)
        .with("numeric_scale", measures.scale)
        .with("character_maximum_length", measures.characters)
        .with("character_octet_length", measures.octets)
        .with("datetime_precision", measures.second_digits);
    match info.catalog.collation {
        C_COLLATION => row
            .with("collation_catalog", DATABASE)
            .with("collation_schema", SYSTEM_SCHEMA)
            .with("collation_name", "C"),
        _ => row,
    }
}
