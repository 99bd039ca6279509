//! `frazil_transactions`, a row for every transaction that writes or locks, and `frazil_locks`, a row for every kind of
//! lock that such a transaction holds or waits for.
//!
//! Making the rows takes the latch of one shard of locks after the other, and counts claims without listing them.

use super::virtual_table::{Columns, Context};
use crate::lock_waits::LockTable;
use frazil_catalog::Catalog;
use frazil_locks::{AnyMode, OpenTransaction, TableMode, Target, TxnId, Wait};
use frazil_storage::STORE;
use frazil_types::array::encode_list;
use frazil_types::{LogicalType, ObjectId, Result, Value};
use std::time::Instant;

pub(super) const TRANSACTIONS: Columns = &[
    ("transaction", "bigint"),
    ("pid", "integer"),
    ("milliseconds", "double precision"),
    ("isolation", "text"),
    ("state", "text"),
    ("waits_for", "bigint[]"),
    ("rows_claimed", "bigint"),
    ("times_run_again", "bigint"),
];

pub(super) const LOCKS: Columns = &[
    ("transaction", "bigint"),
    ("pid", "integer"),
    ("kind", "text"),
    ("schema_name", "text"),
    ("table_name", "text"),
    ("index_name", "text"),
    ("chunk", "bigint"),
    ("count", "bigint"),
    ("mode", "text"),
    ("granted", "boolean"),
    ("waits_for", "bigint[]"),
    ("waiting_milliseconds", "double precision"),
];

/// Milliseconds since a moment.
fn milliseconds(since: Instant) -> Value {
    Value::Double(since.elapsed().as_secs_f64() * 1e3)
}

fn number(txn: TxnId) -> Value {
    Value::Int(txn.0.into())
}

/// The number by which clients know the session of a transaction.
fn pid(locks: &LockTable, txn: TxnId) -> Value {
    locks
        .process_of(txn)
        .map_or(Value::Null, |pid| Value::Int(pid.into()))
}

/// A list of transactions.
fn list(transactions: &[TxnId]) -> Result<Value> {
    let numbers: Vec<Value> = transactions.iter().copied().map(number).collect();
    encode_list(&numbers, LogicalType::BigInt).map(Value::Bytes)
}

/// The transactions that write or lock, in the order in which they began.
pub(super) fn transactions(context: &Context<'_>) -> Result<Vec<Vec<Value>>> {
    let Some(own) = &context.session else {
        return Ok(Vec::new());
    };
    let locks = own.locks();
    let row = |open: &OpenTransaction| {
        let mut blockers: Vec<TxnId> = (locks.waits.iter())
            .filter(|wait| wait.transaction == open.id)
            .flat_map(|wait| wait.blockers.iter().copied())
            .collect();
        blockers.sort_unstable();
        blockers.dedup();
        let state = match open.waits {
            true => Some("waiting"),
            false => step(&locks, open),
        };
        Ok(vec![
            number(open.id),
            pid(&locks, open.id),
            milliseconds(open.since),
            Value::Text(level(&locks, open).to_owned()),
            state.map_or(Value::Null, |state| Value::Text(state.to_owned())),
            match open.waits {
                true => list(&blockers)?,
                false => Value::Null,
            },
            Value::Int(open.rows as i128),
            Value::Int(open.runs_again.into()),
        ])
    };
    locks.transactions.iter().map(row).collect()
}

/// The state of the session of a transaction; `None` if it is not a server's.
fn step(locks: &LockTable, open: &OpenTransaction) -> Option<&'static str> {
    let (_, _, now) = locks.sessions.get(&open.session?)?.activity().look();
    now.map(|now| now.step.name())
}

/// The isolation level of a transaction. A writer of SERIALIZABLE keeps all others away.
fn level(locks: &LockTable, open: &OpenTransaction) -> &'static str {
    let is_alone = || {
        let alone = (Target::Table(STORE), AnyMode::Table(TableMode::Exclusive));
        let mut held = locks.holdings.iter();
        held.any(|held| held.transaction == open.id && (held.first, held.mode) == alone)
    };
    match open.keeps_view {
        true if is_alone() => "serializable",
        true => "repeatable read",
        false => "read committed",
    }
}

/// Rows for the locks that transactions hold, then for those that they wait for, the longest wait first.
pub(super) fn locks(context: &Context<'_>) -> Result<Vec<Vec<Value>>> {
    let Some(own) = &context.session else {
        return Ok(Vec::new());
    };
    let locks = own.locks();
    let catalog = context.catalog();
    let held = locks.holdings.iter().map(|held| {
        let mut row = vec![number(held.transaction), pid(&locks, held.transaction)];
        row.extend(named(catalog, Some(held.first)));
        row.extend([
            match held.first {
                Target::Table(_) => Value::Null,
                Target::Row(..) | Target::Key(..) => Value::Int(held.rows as i128),
            },
            mode(Some(held.mode)),
            Value::Bool(true),
            Value::Null,
            Value::Null,
        ]);
        Ok(row)
    });
    let awaited = locks.waits.iter().map(|wait: &Wait| {
        let mut row = vec![number(wait.transaction), pid(&locks, wait.transaction)];
        row.extend(named(catalog, wait.target));
        row.extend([
            match wait.target {
                Some(Target::Row(..) | Target::Key(..)) => Value::Int(1),
                Some(Target::Table(_)) | None => Value::Null,
            },
            mode(wait.mode),
            Value::Bool(false),
            list(&wait.blockers)?,
            milliseconds(wait.since),
        ]);
        Ok(row)
    });
    held.chain(awaited).collect()
}

fn mode(mode: Option<AnyMode>) -> Value {
    mode.map_or(Value::Null, |mode| Value::Text(mode.to_string()))
}

/// Kind, schema, table, index and chunk of a target; `None` for the end of a transaction.
fn named(catalog: &Catalog, target: Option<Target>) -> [Value; 5] {
    let (kind, id, chunk) = match target {
        Some(Target::Table(STORE)) => ("database", None, None),
        Some(Target::Table(id)) => ("table", Some(id), None),
        Some(Target::Row(id, row)) => ("row", Some(id), Some(row.chunk())),
        Some(Target::Key(id, _)) => ("key", Some(id), None),
        None => ("transaction", None, None),
    };
    let (table, index) = id.map_or((None, None), |id| relation(catalog, id));
    let kind = if kind == "table" && index.is_some() {
        "index"
    } else {
        kind
    };
    let (schema, table) = table.unzip();
    let [schema, table, index] = [schema, table, index].map(|name| name.map_or(Value::Null, Value::Text));
    let chunk = chunk.map_or(Value::Null, |chunk| Value::Int(chunk.into()));
    [Value::Text(kind.to_owned()), schema, table, index, chunk]
}

/// The schema and name of a table, or of an index's table with the name of the index. A transaction that is not
/// committed may have made it: then the name is NULL.
fn relation(catalog: &Catalog, id: ObjectId) -> (Option<(String, String)>, Option<String>) {
    let named = |table| {
        let entry = catalog.table_by_id(table)?;
        Some((catalog.qualified(entry.namespace, "").schema, entry.name.clone()))
    };
    if let Some(table) = named(id) {
        return (Some(table), None);
    }
    match catalog.tables().find_map(|table| table.index(id)) {
        Some(index) => (named(index.table), Some(index.name.clone())),
        None => (None, None),
    }
}
