//! Rows of `information_schema` about constraints. As in PostgreSQL, NOT NULL of a column is a CHECK there, with a name
//! of numbers.

use super::catalog_rows::{Seen, column_number, own_wanted_relations};
use super::cells::Cells;
use super::cells::{DATABASE, yes_or_no};
use super::constraints::{SeenConstraint, all, of_tables};
use super::named_relations::BY_TABLE_NAME;
use super::virtual_table::Context;
use super::wanted::Cell;
use crate::table_info::check_text;
use frazil_catalog::{ConstraintKind, Deferral, DomainCheck};
use frazil_types::Result;

/// The constraint, and its table under the names that most of these views have.
fn of_table(schema: &str, name: &str, table: &str) -> Cells {
    named(schema, name)
        .with("table_catalog", DATABASE)
        .with("table_schema", schema)
        .with("table_name", table)
}

fn named(schema: &str, name: &str) -> Cells {
    Cells::new()
        .with("constraint_catalog", DATABASE)
        .with("constraint_schema", schema)
        .with("constraint_name", name)
}

/// False if no row is needed whose `table_name` is a relation's.
fn wants_table(context: &Context<'_>, seen: &Seen<'_>) -> bool {
    context.wants(&[("table_name", Cell::Text(seen.name))])
}

/// A column that is NOT NULL: its schema, its table, the name of the constraint, its own name.
fn not_null(context: &Context<'_>) -> Vec<[String; 4]> {
    let mut found = Vec::new();
    let all = own_wanted_relations(context, BY_TABLE_NAME);
    for seen in all.filter(|seen| seen.table.is_some() && wants_table(context, seen)) {
        for (position, column) in seen
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.has_own_not_null())
        {
            let number = column_number(seen.columns, position);
            let name = format!("{}_{}_{number}_not_null", seen.namespace, seen.oid);
            found.push([
                seen.schema.to_string(),
                seen.name.to_owned(),
                name,
                column.name.clone(),
            ]);
        }
    }
    found
}

pub(super) fn constraints(context: &Context<'_>) -> Result<Vec<Cells>> {
    let more = |row: Cells, kind: &str| row.with("constraint_type", kind).with("enforced", "YES");
    let wanted = of_tables(context, BY_TABLE_NAME, |seen| wants_table(context, seen));
    let rows = wanted.map(|seen| {
        let row = of_table(&seen.schema, &seen.constraint.name, &seen.table.name);
        let deferral = seen.table.deferral_of(seen.constraint);
        let row = more(row, seen.kind().1)
            .with("is_deferrable", yes_or_no(deferral != Deferral::Never))
            .with("initially_deferred", yes_or_no(deferral == Deferral::Deferred));
        match seen.constraint.kind {
            ConstraintKind::Unique { index } => {
                let distinct = seen.table.index(index).is_some_and(|index| index.nulls_distinct);
                row.with("nulls_distinct", yes_or_no(distinct))
            }
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Check { .. }
            | ConstraintKind::ForeignKey(_) => row,
        }
    });
    let not_null = not_null(context).into_iter();
    let not_null = not_null.map(|[schema, table, name, _]| {
        more(of_table(&schema, &name, &table), "CHECK")
            .with("is_deferrable", "NO")
            .with("initially_deferred", "NO")
    });
    Ok(rows.chain(not_null).collect())
}

pub(super) fn checks(context: &Context<'_>) -> Result<Vec<Cells>> {
    let checks = all(context).filter(|seen| seen.kind().0 == "c");
    let rows = checks.map(|seen| {
        let definition = seen.definition();
        let clause = definition.strip_prefix("CHECK ").unwrap_or(&definition);
        named(&seen.schema, &seen.constraint.name).with("check_clause", clause)
    });
    let not_null = not_null(context).into_iter().map(|[schema, _, name, column]| {
        named(&schema, &name).with("check_clause", format!("{column} IS NOT NULL"))
    });
    let of_domains = checks_of_domains(context).map(|(schema, _, check)| {
        let definition = check_text(&check.expression, check.is_valid);
        let clause = definition.strip_prefix("CHECK ").unwrap_or(&definition);
        named(&schema, &check.name).with("check_clause", clause)
    });
    Ok(rows.chain(of_domains).chain(not_null).collect())
}

/// The checks of all domains, each with the schema and the name of its domain.
fn checks_of_domains<'a>(
    context: &'a Context<'_>,
) -> impl Iterator<Item = (String, &'a str, &'a DomainCheck)> {
    let catalog = context.catalog();
    catalog.domains().flat_map(move |(entry, domain)| {
        let schema = catalog.qualified(entry.namespace, "").schema;
        let checks = domain.checks.iter();
        checks.map(move |check| (schema.clone(), entry.name.as_str(), check))
    })
}

/// Checks of domains.
pub(super) fn of_domains(context: &Context<'_>) -> Result<Vec<Cells>> {
    let rows = checks_of_domains(context).map(|(schema, domain, check)| {
        named(&schema, &check.name)
            .with("domain_catalog", DATABASE)
            .with("domain_schema", schema.as_str())
            .with("domain_name", domain)
            .with("is_deferrable", "NO")
            .with("initially_deferred", "NO")
    });
    Ok(rows.collect())
}

/// The columns of a constraint with their positions in it, from 1.
fn columns<'a>(seen: &'a SeenConstraint<'_>) -> impl Iterator<Item = (usize, &'a str)> {
    let columns = seen.columns().into_iter();
    columns
        .enumerate()
        .map(|(at, column)| (at + 1, seen.table.schema.columns[column].name.as_str()))
}

pub(super) fn keys(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows = Vec::new();
    let wanted = of_tables(context, BY_TABLE_NAME, |seen| wants_table(context, seen));
    for seen in wanted.filter(|seen| seen.kind().0 != "c") {
        for (place, column) in columns(&seen) {
            rows.push(
                of_table(&seen.schema, &seen.constraint.name, &seen.table.name)
                    .with("column_name", column)
                    .with("ordinal_position", place)
                    .with("position_in_unique_constraint", place_in_parent(&seen, place)),
            );
        }
    }
    Ok(rows)
}

/// The position, from 1, in the parent's key of the column that the child's column at a position from 1 refers to.
/// `None` for a constraint that is not a foreign key.
fn place_in_parent(seen: &SeenConstraint<'_>, place: usize) -> Option<usize> {
    let (key, parent) = seen.foreign_key()?;
    let (_, positions) = seen.used();
    let column = positions.get(place - 1)?;
    let mut keys = parent.index(key.index)?.keys.iter();
    keys.position(|key| key.column == *column).map(|at| at + 1)
}

/// A constraint, and the table whose key it uses: of a foreign key the parent.
fn used(seen: &SeenConstraint<'_>) -> Cells {
    let (table, _) = seen.used();
    let schema = seen.catalog.qualified(table.namespace, "").schema;
    named(&seen.schema, &seen.constraint.name)
        .with("table_catalog", DATABASE)
        .with("table_schema", schema)
        .with("table_name", table.name.as_str())
}

/// Foreign keys with the keys that they refer to. A unique index without a constraint has no name there.
pub(super) fn references(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows = Vec::new();
    for seen in all(context) {
        let Some((key, parent)) = seen.foreign_key() else {
            continue;
        };
        let constraint = parent.index(key.index).and_then(|index| index.constraint.clone());
        let schema = seen.catalog.qualified(parent.namespace, "").schema;
        let row = named(&seen.schema, &seen.constraint.name)
            .with(
                "unique_constraint_catalog",
                constraint.is_some().then_some(DATABASE),
            )
            .with("unique_constraint_schema", constraint.is_some().then_some(schema))
            .with("unique_constraint_name", constraint)
            .with("match_option", if key.match_full { "FULL" } else { "NONE" })
            .with("update_rule", key.on_update.words())
            .with("delete_rule", key.on_delete.words());
        rows.push(row);
    }
    Ok(rows)
}

pub(super) fn columns_used(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows = Vec::new();
    for seen in all(context) {
        let (table, positions) = seen.used();
        for position in positions {
            let column = table.schema.columns[position].name.as_str();
            rows.push(used(&seen).with("column_name", column));
        }
    }
    Ok(rows)
}

pub(super) fn tables_used(context: &Context<'_>) -> Result<Vec<Cells>> {
    let keys = all(context).filter(|seen| seen.kind().0 != "c");
    Ok(keys.map(|seen| used(&seen)).collect())
}
