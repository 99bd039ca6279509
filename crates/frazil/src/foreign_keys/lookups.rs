//! Looks up parents of children by the parent's unique index, and children of keys by an index of the child, or by
//! a look at all its rows.

use super::key_values::KeyPair;
use crate::query::Runner;
use frazil_storage::{RowFetch, TableIndex, TableSnapshot, Transaction};
use frazil_types::key_encoding::EncodedKeys;
use frazil_types::{ColumnVector, Error, Result, RowBatch, RowId, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows whose columns are fetched together.
const STEP: usize = 4096;

/// Rows of a child to be checked.
pub struct NewChildren<'a> {
    /// The rows.
    pub rows: &'a [RowId],
    /// The rows that they replace, one for each; empty if they are new.
    pub before: &'a [RowId],
}

/// The index that a foreign key refers to, and the order in which its columns are those of the key.
struct ParentIndex<'v> {
    version: &'v TableSnapshot,
    index: &'v TableIndex,
    /// `order[i]`: which of the key's columns is the `i`-th of the index.
    order: Vec<usize>,
}

impl<'v> ParentIndex<'v> {
    fn of(transaction: &'v Transaction, pair: &KeyPair) -> Result<ParentIndex<'v>> {
        let version = transaction.view().table(pair.parent.id)?;
        let index = version.indexes().find(pair.key.index);
        let missing = || Error::internal("a foreign key without its unique index");
        let index = index.ok_or_else(missing)?;
        let order = order_of(index, &pair.parent_columns).ok_or_else(missing)?;
        Ok(ParentIndex {
            version,
            index,
            order,
        })
    }

    /// True if a row has a key, whose values are the parent's.
    fn has(&self, key: &[Value], scratch: &mut Vec<u8>) -> bool {
        encode(self.index, &self.order, key, scratch) && self.version.find_key(self.index, scratch).is_some()
    }
}

/// The places that the first columns of an index have among some columns, all of which they are; `None` if they are
/// not.
fn order_of(index: &TableIndex, columns: &[usize]) -> Option<Vec<usize>> {
    let first = index.columns().get(..columns.len())?;
    first
        .iter()
        .map(|column| columns.iter().position(|c| c == column))
        .collect()
}

/// The beginning of an index's key for values in another order. False if no row has such values.
fn encode(index: &TableIndex, order: &[usize], values: &[Value], out: &mut Vec<u8>) -> bool {
    out.clear();
    let mut parts = order.iter().enumerate();
    parts.all(|(part, &at)| index.append_part(part, &values[at], out))
}

/// True if a row of the parent has a key.
pub fn has_parent(transaction: &Transaction, pair: &KeyPair, key: &[Value]) -> Result<bool> {
    Ok(ParentIndex::of(transaction, pair)?.has(key, &mut Vec::new()))
}

/// The first row whose key is not one of the parent: its place and the error.
pub fn first_orphan(
    runner: &Runner,
    transaction: &Transaction,
    pair: &KeyPair,
    children: &NewChildren<'_>,
) -> Result<Option<(usize, Error)>> {
    let parent = ParentIndex::of(transaction, pair)?;
    let version = transaction.view().table(pair.child.id)?;
    let fetch = RowFetch::new(version);
    let mut scratch = Vec::new();
    let mut key: Vec<Value> = Vec::with_capacity(pair.child_columns.len());
    for (step, rows) in children.rows.chunks(STEP).enumerate() {
        runner.cancel().check()?;
        let from = step * STEP;
        let values = fetch.fetch_columns(rows, &pair.child_columns)?;
        let before = match children.before.get(from..from + rows.len()) {
            Some(before) => Some(fetch.fetch_columns(before, &pair.child_columns)?),
            None => None,
        };
        for (at, row) in rows.iter().enumerate() {
            key.clear();
            key.extend(values.columns.iter().map(|column| column.value(at)));
            let nulls = key.iter().filter(|value| value.is_null()).count();
            if nulls == key.len() || nulls > 0 && !pair.key.match_full || !version.shows(*row) {
                continue;
            }
            if nulls > 0 {
                return Ok(Some((from + at, pair.mixed())));
            }
            let stays = |before: &RowBatch| {
                let mut old = before.columns.iter().zip(&key);
                old.all(|(column, value)| column.value(at) == *value)
            };
            // A row that was there before a key that is NOT VALID may lack its parent until it is changed twice.
            let was_checked = || {
                let old = children.before.get(from + at);
                pair.key.is_valid || old.is_none_or(|old| !transaction.is_own(pair.child.id, *old))
            };
            if before.as_ref().is_some_and(stays) && was_checked() {
                continue;
            }
            let has = match pair.is_of_same_types() {
                true => parent.has(&key, &mut scratch),
                false => pair
                    .as_parent(&key)
                    .is_some_and(|key| parent.has(&key, &mut scratch)),
            };
            if !has {
                return Ok(Some((from + at, pair.orphan(&key))));
            }
        }
    }
    Ok(None)
}

/// The first of some keys of the parent that a row of the child refers to.
pub fn first_referenced(
    runner: &Runner,
    transaction: &Transaction,
    pair: &KeyPair,
    keys: &[&[Value]],
) -> Result<Option<usize>> {
    let mut first: Option<usize> = None;
    each_child(runner, transaction, pair, keys, &mut |_, key| {
        first = Some(first.map_or(key, |first| first.min(key)));
        false
    })?;
    Ok(first)
}

/// The rows of the child that refer to some keys of the parent, each with the number of its key.
pub fn children_of(
    runner: &Runner,
    transaction: &Transaction,
    pair: &KeyPair,
    keys: &[&[Value]],
) -> Result<Vec<(RowId, usize)>> {
    let mut found = Vec::new();
    each_child(runner, transaction, pair, keys, &mut |row, key| {
        found.push((row, key));
        true
    })?;
    Ok(found)
}

/// Shows the live rows of the child that refer to some keys, by an index in the order of the keys until `show` returns
/// false; else all of them.
fn each_child(
    runner: &Runner,
    transaction: &Transaction,
    pair: &KeyPair,
    keys: &[&[Value]],
    show: &mut dyn FnMut(RowId, usize) -> bool,
) -> Result<()> {
    let version = transaction.view().table(pair.child.id)?;
    if keys.is_empty() || version.rows() == 0 {
        return Ok(());
    }
    let usable = |index: &Arc<TableIndex>| Some((index.clone(), order_of(index, &pair.child_columns)?));
    let indexes = version.indexes().iter().filter(|_| pair.has_one_child_key());
    match indexes.filter_map(usable).next() {
        Some((index, order)) => by_index(runner, (version, &index, &order), pair, keys, show),
        None => by_scan(runner, version, pair, keys, show),
    }
}

fn by_index(
    runner: &Runner,
    (version, index, order): (&TableSnapshot, &TableIndex, &[usize]),
    pair: &KeyPair,
    keys: &[&[Value]],
    show: &mut dyn FnMut(RowId, usize) -> bool,
) -> Result<()> {
    let mut prefix = Vec::new();
    let mut goes_on = true;
    for (at, key) in keys.iter().enumerate() {
        if at % STEP == 0 {
            runner.cancel().check()?;
        }
        let Some(key) = pair.as_child(key) else { continue };
        if !encode(index, order, &key, &mut prefix) {
            continue;
        }
        version.rows_of_prefix(index, &prefix, &mut |row| {
            goes_on = show(row, at);
            goes_on
        });
        if !goes_on {
            break;
        }
    }
    index.count_use();
    Ok(())
}

fn by_scan(
    runner: &Runner,
    version: &TableSnapshot,
    pair: &KeyPair,
    keys: &[&[Value]],
    show: &mut dyn FnMut(RowId, usize) -> bool,
) -> Result<()> {
    let spec = pair.spec();
    let mut wanted: HashMap<Vec<u8>, usize> = HashMap::with_capacity(keys.len());
    for (at, key) in keys.iter().enumerate() {
        let mut bytes = Vec::new();
        spec.encode(key, &mut bytes);
        wanted.entry(bytes).or_insert(at);
    }
    let mut found = EncodedKeys::default();
    for entry in version.chunks() {
        let view = entry.view();
        let live = (0..view.rows()).filter(|&offset| !view.is_deleted(offset as usize));
        let rows: Vec<RowId> = live
            .map(|offset| RowId::new(entry.number(), offset as u16))
            .collect();
        for rows in rows.chunks(STEP) {
            runner.cancel().check()?;
            let values = RowFetch::new(version).fetch_columns(rows, &pair.child_columns)?;
            let mut columns: Vec<&ColumnVector> = values.columns.iter().collect();
            let converted = match pair.is_of_same_types() {
                true => None,
                false => Some(as_parents(pair, &values)),
            };
            if let Some(converted) = &converted {
                columns = converted.iter().collect();
            }
            spec.encode_columns(&columns, &mut found);
            for (at, row) in rows.iter().enumerate().filter(|(at, _)| !found.has_null(*at)) {
                if let Some(&wanted) = wanted.get(found.key(at)) {
                    show(*row, wanted);
                }
            }
        }
    }
    Ok(())
}

/// The children's keys as values of the parent's types. A row that refers to no parent has NULL in all columns.
fn as_parents(pair: &KeyPair, children: &RowBatch) -> Vec<ColumnVector> {
    let mut columns: Vec<Vec<Value>> = vec![Vec::with_capacity(children.rows); pair.parent_types.len()];
    for row in 0..children.rows {
        let key: Vec<Value> = children.columns.iter().map(|column| column.value(row)).collect();
        let is_null = key.iter().any(Value::is_null);
        let key = if is_null { None } else { pair.as_parent(&key) };
        let key = key.unwrap_or_else(|| vec![Value::Null; columns.len()]);
        columns
            .iter_mut()
            .zip(key)
            .for_each(|(column, value)| column.push(value));
    }
    let types = pair.parent_types.iter();
    types
        .zip(&columns)
        .map(|(ty, values)| ColumnVector::from_values(*ty, values))
        .collect()
}
