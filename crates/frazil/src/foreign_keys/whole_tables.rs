//! Checks a foreign key for all rows of a child by one join: of a constraint that comes, and of new rows that are the
//! greater part of their table.

use super::key_values::KeyPair;
use super::lookups::NewChildren;
use crate::own_queries::run_text;
use crate::query::Runner;
use frazil_catalog::{TableEntry, identifier};
use frazil_storage::{Snapshot, Transaction};
use frazil_types::{Error, Result, Value};
use std::sync::Arc;

/// Rows from which on a join may be cheaper than a look into the index for each: it is planned and compiled anew.
const MANY: usize = 20_000;

/// True if a join of all rows costs less than to look for each row's parent: the rows are many, and at least half
/// of the table. False if rows that were there before need not satisfy the constraint.
pub fn is_cheaper(snapshot: &Snapshot, pair: &KeyPair, children: &NewChildren<'_>) -> Result<bool> {
    let rows = children.rows.len();
    let all = snapshot.table(pair.child.id)?.rows();
    Ok(rows >= MANY && pair.key.is_valid && rows as u64 >= all / 2)
}

/// True if a row of the child has a key that is not one of the parent, or one that MATCH FULL refuses.
pub fn has_orphan(runner: &Runner, snapshot: Arc<Snapshot>, pair: &KeyPair) -> Result<bool> {
    Ok(orphan(runner, snapshot, pair)?.is_some())
}

/// Checks all rows of the child of a constraint. 23503.
pub(crate) fn validate(
    runner: &Runner,
    transaction: &Transaction,
    child: &TableEntry,
    constraint: &str,
) -> Result<()> {
    let catalog = transaction.view().catalog().clone();
    let child = catalog.table_by_id(child.id);
    let child = child.ok_or_else(|| Error::internal("a constraint of a table that is not there"))?;
    let Some((constraint, key)) = child.foreign_keys().find(|(c, _)| c.name == constraint) else {
        return Ok(());
    };
    let pair = KeyPair::new(&catalog, child, constraint, key)?;
    match orphan(runner, transaction.snapshot(), &pair)? {
        None => Ok(()),
        Some(key) => Err(violation(&pair, &key)),
    }
}

/// Looks for rows of a child that violate a foreign key: returns how many there are, and the errors of at most `most`
/// of them. 57014, 53200.
pub(crate) fn violations(
    runner: &Runner,
    snapshot: &Arc<Snapshot>,
    pair: &KeyPair,
    most: usize,
) -> Result<(u64, Vec<Error>)> {
    let text = text_of(snapshot, pair, "count(*) over (), ", most);
    let rows = run_text(runner, snapshot.clone(), &text)?;
    let (mut count, mut errors) = (0, Vec::new());
    for batch in rows.batches() {
        for row in 0..batch.rows {
            let mut values = batch.columns.iter().map(|column| column.value(row));
            count = values.next().and_then(|value| value.as_int()).unwrap_or(0) as u64;
            errors.push(violation(pair, &values.collect::<Vec<_>>()));
        }
    }
    Ok((count, errors))
}

/// 23503: the error of a child whose key violates the constraint.
fn violation(pair: &KeyPair, key: &[Value]) -> Error {
    match key.iter().any(Value::is_null) {
        true => pair.mixed(),
        false => pair.orphan(key),
    }
}

/// The key of a row that violates the constraint.
fn orphan(runner: &Runner, snapshot: Arc<Snapshot>, pair: &KeyPair) -> Result<Option<Vec<Value>>> {
    let text = text_of(&snapshot, pair, "", 1);
    let rows = run_text(runner, snapshot, &text)?;
    let first = rows.batches().iter().find(|batch| batch.rows > 0);
    Ok(first.map(|batch| batch.columns.iter().map(|column| column.value(0)).collect()))
}

/// A query for the keys of at most `most` rows that violate a constraint. `first`: columns before those of the key.
fn text_of(snapshot: &Snapshot, pair: &KeyPair, first: &str, most: usize) -> String {
    let catalog = snapshot.catalog();
    let named = |table: &TableEntry| catalog.qualified(table.namespace, &table.name);
    let columns = |of: &str, table: &TableEntry, positions: &[usize]| -> Vec<String> {
        let names = positions
            .iter()
            .map(|&at| identifier(&table.schema.columns[at].name));
        names.map(|name| format!("{of}.{name}")).collect()
    };
    let child = columns("c", &pair.child, &pair.child_columns);
    let parent = columns("p", &pair.parent, &pair.parent_columns);
    let types = pair.parent_types.iter().zip(&pair.child_types);
    let equal = parent
        .iter()
        .zip(&child)
        .zip(types)
        .map(|((p, c), (parent, child))| {
            // Without the cast both would be texts, whose blanks at the end count.
            match parent.is_padded() && !child.is_padded() {
                true => format!("{p} = {c}::bpchar"),
                false => format!("{p} = {c}"),
            }
        });
    let equal = equal.collect::<Vec<_>>().join(" and ");
    let all = |what: &str| {
        let each = child.iter().map(|column| format!("{column} is {what}"));
        each.collect::<Vec<_>>().join(" and ")
    };
    let no_null = all("not null");
    let mut condition = format!(
        "{no_null} and not exists (select 1 from {} as p where {equal})",
        named(&pair.parent)
    );
    if pair.key.match_full {
        condition = format!("({condition}) or (not ({no_null}) and not ({}))", all("null"));
    }
    format!(
        "select {first}{} from {} as c where {condition}\nlimit {most}",
        child.join(", "),
        named(&pair.child)
    )
}
