//! Checks a foreign key for all rows of a child by one join: of a constraint that comes, and of new rows that are the
//! greater part of their table.

use super::key_values::KeyPair;
use super::lookups::NewChildren;
use crate::own_queries::run_text;
use crate::query::Runner;
use frazil_catalog::{TableEntry, identifier};
use frazil_storage::Transaction;
use frazil_types::{Error, Result, Value};

/// Rows from which on a join may be cheaper than a look into the index for each: it is planned and compiled anew.
const MANY: usize = 20_000;

/// True if a join of all rows costs less than to look for each row's parent: the rows are many, and at least half
/// of the table. False if rows that were there before need not satisfy the constraint.
pub fn is_cheaper(transaction: &Transaction, pair: &KeyPair, children: &NewChildren<'_>) -> Result<bool> {
    let rows = children.rows.len();
    let all = transaction.view().table(pair.child.id)?.rows();
    Ok(rows >= MANY && pair.key.is_valid && rows as u64 >= all / 2)
}

/// True if a row of the child has a key that is not one of the parent, or one that MATCH FULL refuses.
pub fn has_orphan(runner: &Runner, transaction: &Transaction, pair: &KeyPair) -> Result<bool> {
    Ok(orphan(runner, transaction, pair)?.is_some())
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
    match orphan(runner, transaction, &pair)? {
        None => Ok(()),
        Some(key) if key.iter().any(Value::is_null) => Err(pair.mixed()),
        Some(key) => Err(pair.orphan(&key)),
    }
}

/// The key of a row that violates the constraint.
fn orphan(runner: &Runner, transaction: &Transaction, pair: &KeyPair) -> Result<Option<Vec<Value>>> {
    let catalog = transaction.view().catalog();
    let named = |table: &TableEntry| catalog.qualified(table.namespace, &table.name);
    let columns = |of: &str, table: &TableEntry, positions: &[usize]| -> Vec<String> {
        let names = positions
            .iter()
            .map(|&at| identifier(&table.schema.columns[at].name));
        names.map(|name| format!("{of}.{name}")).collect()
    };
    let child = columns("c", &pair.child, &pair.child_columns);
    let parent = columns("p", &pair.parent, &pair.parent_columns);
    let equal = parent.iter().zip(&child).map(|(p, c)| format!("{p} = {c}"));
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
    let text = format!(
        "select {} from {} as c where {condition}\nlimit 1",
        child.join(", "),
        named(&pair.child)
    );
    let rows = run_text(runner, transaction, &text)?;
    let first = rows.batches().iter().find(|batch| batch.rows > 0);
    Ok(first.map(|batch| batch.columns.iter().map(|column| column.value(0)).collect()))
}
