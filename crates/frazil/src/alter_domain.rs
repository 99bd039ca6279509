//! ALTER DOMAIN: what an action asks of values is asked of all columns of the domain, before the action is done.

use crate::own_queries::run_text;
use crate::query::Runner;
use frazil_catalog::{AlterDomain, AlterType, Catalog, ConstraintKind, DomainCheck, TableEntry, identifier};
use frazil_storage::{TableMode, Transaction};
use frazil_types::{Error, ObjectId, Result, SqlState, Value};
use std::sync::Arc;

/// A table with columns of a domain: their positions, and the condition of rows that each of them forbids.
struct Asked {
    table: Arc<TableEntry>,
    forbidden: Vec<(usize, String)>,
}

/// 23502 and 23514 if a column of the domain `id` has a value that an action does not allow.
pub fn check_rows(
    runner: &Runner,
    transaction: &mut Transaction,
    id: ObjectId,
    action: &AlterType,
) -> Result<()> {
    let AlterType::Domain(action) = action else {
        return Ok(());
    };
    let catalog = transaction.view().catalog().clone();
    let entry = catalog.user_type_of(id);
    let Some(domain) = entry.and_then(|entry| entry.as_domain()) else {
        return Ok(());
    };
    let (asked, is_null) = match action {
        AlterDomain::SetNotNull => (nulls(&catalog, id), true),
        AlterDomain::AddCheck {
            name,
            is_valid: true,
            texts,
            ..
        } if name.as_ref().is_none_or(|name| domain.check(name).is_none()) => {
            let text = |table: &TableEntry, at: usize| {
                let mut texts = texts.iter();
                let text = texts.find(|text| (text.table, text.column) == (table.id, at))?;
                Some(format!("not ({}\n)", text.text))
            };
            (conditions(&catalog, id, text), false)
        }
        AlterDomain::ValidateCheck { name } => match domain.check(name).filter(|check| !check.is_valid) {
            Some(check) => (copies(&catalog, id, check), false),
            None => return Ok(()),
        },
        AlterDomain::AddCheck { .. }
        | AlterDomain::SetDefault { .. }
        | AlterDomain::DropNotNull
        | AlterDomain::DropCheck { .. }
        | AlterDomain::RenameCheck { .. } => return Ok(()),
    };
    for asked in asked {
        transaction.lock_whole(asked.table.id, TableMode::Share)?;
        if let Some(column) = violating(runner, transaction, &catalog, &asked)? {
            return Err(violated(&asked.table, column, is_null));
        }
    }
    Ok(())
}

/// Each table with columns of a domain, and the conditions that `text` has for them.
fn conditions(
    catalog: &Catalog,
    domain: ObjectId,
    text: impl Fn(&TableEntry, usize) -> Option<String>,
) -> Vec<Asked> {
    let columns = catalog.columns_of_domain(domain).into_iter();
    let asked = columns.map(|(table, positions)| Asked {
        forbidden: (positions.into_iter())
            .filter_map(|at| Some((at, text(&table, at)?)))
            .collect(),
        table,
    });
    asked.filter(|asked| !asked.forbidden.is_empty()).collect()
}

/// NULL in a column that may have it.
fn nulls(catalog: &Catalog, domain: ObjectId) -> Vec<Asked> {
    conditions(catalog, domain, |table, at| {
        let column = &table.schema.columns[at];
        column
            .nullable
            .then(|| format!("{} is null", identifier(&column.name)))
    })
}

/// A value that violates the check that a column has from a domain's.
fn copies(catalog: &Catalog, domain: ObjectId, check: &DomainCheck) -> Vec<Asked> {
    conditions(catalog, domain, |table, at| {
        table
            .constraints
            .iter()
            .find_map(|constraint| match &constraint.kind {
                ConstraintKind::Check {
                    expression,
                    columns,
                    of_domain,
                    ..
                } if *of_domain == Some(check.id) && columns[..] == [at] => {
                    Some(format!("not ({expression}\n)"))
                }
                _ => None,
            })
    })
}

/// The position of the first column whose condition a row satisfies, of the first such row.
fn violating(
    runner: &Runner,
    transaction: &Transaction,
    catalog: &Catalog,
    asked: &Asked,
) -> Result<Option<usize>> {
    let name = catalog.qualified(asked.table.namespace, &asked.table.name);
    let (mut cases, mut any) = (String::new(), Vec::new());
    for (column, condition) in &asked.forbidden {
        cases.push_str(&format!(" when ({condition}) then {column}"));
        any.push(format!("({condition})"));
    }
    let any = any.join(" or ");
    let text = format!("select case{cases} end from {name} where {any}\nlimit 1");
    let rows = run_text(runner, transaction.snapshot(), &text)?;
    let first = rows.batches().iter().find(|batch| batch.rows > 0);
    let value = first
        .and_then(|batch| batch.columns.first())
        .map(|column| column.value(0));
    match value {
        Some(Value::Int(column)) => Ok(usize::try_from(column).ok()),
        _ => Ok(None),
    }
}

/// 23502 or 23514.
fn violated(table: &TableEntry, column: usize, is_null: bool) -> Error {
    let column = &table.schema.columns[column].name;
    let (state, what) = match is_null {
        true => (SqlState::NOT_NULL_VIOLATION, "null values"),
        false => (
            SqlState::CHECK_VIOLATION,
            "values that violate the new constraint",
        ),
    };
    let message = format!("column \"{column}\" of table \"{}\" contains {what}", table.name);
    Error::new(state, message)
        .of_table(&table.name)
        .in_namespace(table.namespace)
        .of_column(column)
}
