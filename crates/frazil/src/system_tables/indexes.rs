//! Rows of `pg_index` and `pg_indexes`.

use super::catalog_rows::{column_number, own_wanted_relations};
use super::cells::{Cells, vector};
use super::named_relations::Naming;
use super::numbers;
use super::virtual_table::Context;
use super::wanted::Cell;
use crate::table_info::index_definition;
use frazil_catalog::{ConstraintKind, Deferral, IndexEntry, TableEntry};
use frazil_types::{ColumnDef, LogicalType, Result};

/// Bits of `indoption`.
const DESCENDING: i64 = 1;
const NULLS_FIRST: i64 = 2;

fn is_primary(table: &TableEntry, index: &IndexEntry) -> bool {
    let mut constraints = table.constraints.iter();
    constraints.any(|c| matches!(c.kind, ConstraintKind::PrimaryKey { index: key } if key == index.id))
}

pub(super) fn indexes(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows = Vec::new();
    let naming = Naming {
        oid: "indrelid",
        name: "",
    };
    for table in own_wanted_relations(context, naming).filter_map(|seen| seen.table) {
        for index in &table.indexes {
            let numbers = [
                ("indrelid", Cell::Number(table.id.oid())),
                ("indexrelid", Cell::Number(index.id.oid())),
            ];
            if context.wants(&numbers) {
                rows.push(row(table, index)?);
            }
        }
    }
    Ok(rows)
}

fn row(table: &TableEntry, index: &IndexEntry) -> Result<Cells> {
    let columns: Vec<&ColumnDef> = table.stored_columns().collect();
    let keys = index.keys.iter().map(|key| key.column);
    let all = keys.clone().chain(index.include.iter().copied());
    let number = |column: usize| match table.hidden_column(column) {
        Some(_) => 0,
        None => column_number(&table.schema.columns, column).into(),
    };
    let numbers: Vec<i64> = all.map(number).collect();
    let options: Vec<i64> = (index.keys.iter())
        .map(|key| i64::from(key.descending) * DESCENDING + i64::from(key.nulls_first) * NULLS_FIRST)
        .collect();
    let types = || keys.clone().map(|column| columns[column].ty);
    let collations: Vec<i64> = types().map(|ty| numbers::collation(ty).into()).collect();
    let classes: Vec<i64> = types().map(|ty| numbers::operator_class(ty).into()).collect();
    let hidden = keys
        .clone()
        .filter(|column| table.hidden_column(*column).is_some());
    let expressions: Vec<String> = hidden.map(|column| table.key_text(column).into_owned()).collect();
    let condition = table.condition_text(index);
    let cells = match expressions.is_empty() {
        true => Cells::new(),
        false => Cells::new().with("indexprs", expressions.join(", ")),
    };
    let cells = match condition {
        Some(condition) => cells.with("indpred", format!("({condition})")),
        None => cells,
    };
    Ok(cells
        .with("indexrelid", index.id.oid())
        .with("indrelid", table.id.oid())
        .with("indnatts", numbers.len())
        .with("indnkeyatts", index.keys.len())
        .with("indisunique", index.unique)
        .with("indnullsnotdistinct", !index.nulls_distinct)
        .with("indisprimary", is_primary(table, index))
        .with("indimmediate", index.deferral == Deferral::Never)
        .with("indisvalid", true)
        .with("indisready", true)
        .with("indislive", true)
        .with("indkey", vector(&numbers, LogicalType::SmallInt)?)
        .with("indcollation", vector(&collations, LogicalType::Oid)?)
        .with("indclass", vector(&classes, LogicalType::Oid)?)
        .with("indoption", vector(&options, LogicalType::SmallInt)?))
}

pub(super) fn listed(context: &Context<'_>) -> Result<Vec<Cells>> {
    let mut rows = Vec::new();
    let naming = Naming {
        oid: "",
        name: "tablename",
    };
    for seen in own_wanted_relations(context, naming) {
        let Some(table) = seen.table else { continue };
        if !context.wants(&[("tablename", Cell::Text(seen.name))]) {
            continue;
        }
        let name = context
            .catalog()
            .qualified(table.namespace, &table.name)
            .to_string();
        for index in &table.indexes {
            rows.push(
                Cells::new()
                    .with("schemaname", &*seen.schema)
                    .with("tablename", seen.name)
                    .with("indexname", index.name.as_str())
                    .with("indexdef", index_definition(&name, table, index)),
            );
        }
    }
    Ok(rows)
}
