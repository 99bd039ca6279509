//! Looks up parents of children by the parent's unique index, and children of keys by an index of the child, or by
//! a look at all its rows.

use super::key_values::KeyPair;
use crate::query::Runner;
use frazil_storage::{KeyMode, RowFetch, Snapshot, TableIndex, TableSnapshot, Transaction, key_number};
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
    fn of(snapshot: &'v Snapshot, pair: &KeyPair) -> Result<ParentIndex<'v>> {
        let version = snapshot.table(pair.parent.id)?;
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
        self.encode(key, scratch) && self.has_bytes(scratch)
    }

    /// The bytes of a key, whose values are the parent's. Returns false if no row can have the key.
    fn encode(&self, key: &[Value], bytes: &mut Vec<u8>) -> bool {
        encode(self.index, &self.order, key, bytes)
    }

    /// True if a row has a key, by its bytes.
    fn has_bytes(&self, key: &[u8]) -> bool {
        self.version.find_key(self.index, key).is_some()
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
pub fn has_parent(snapshot: &Snapshot, pair: &KeyPair, key: &[Value]) -> Result<bool> {
    Ok(ParentIndex::of(snapshot, pair)?.has(key, &mut Vec::new()))
}

/// The numbers by which keys of the parent are claimed.
pub fn numbers_of(snapshot: &Snapshot, pair: &KeyPair, keys: &[Vec<Value>]) -> Result<Vec<u64>> {
    let parent = ParentIndex::of(snapshot, pair)?;
    let mut scratch = Vec::new();
    let number = |key: &Vec<Value>| parent.encode(key, &mut scratch).then(|| key_number(&scratch));
    Ok(keys.iter().filter_map(number).collect())
}

/// Rows of a child whose parents are to be looked for.
#[derive(Default)]
struct Wanted {
    /// For each row its place among all, its key, and the end in `bytes` of the parent's key; `None` if no parent can
    /// have the key.
    rows: Vec<(usize, Vec<Value>, Option<usize>)>,
    /// The keys of the parent's index, one behind the other.
    bytes: Vec<u8>,
    /// The numbers of the keys, each once.
    numbers: Vec<u64>,
    /// The place of a row behind all others that MATCH FULL refuses.
    mixed: Option<usize>,
}

/// The first row whose key is not one of the parent: its place and the error. The keys are claimed before they are
/// looked for, so that a parent that is found stays. 40001 if a parent has gone that a transaction still sees which
/// sees one version to its end; 40P01, 55P03, 57014, 53200.
pub fn first_orphan(
    runner: &Runner,
    transaction: &mut Transaction,
    pair: &KeyPair,
    children: &NewChildren<'_>,
) -> Result<Option<(usize, Error)>> {
    for from in (0..children.rows.len()).step_by(STEP) {
        runner.cancel().check()?;
        let wanted = wanted(transaction, pair, children, from)?;
        let (parent, index) = (pair.parent.id, pair.key.index);
        transaction.claim_keys(parent, index, &wanted.numbers, KeyMode::Referenced)?;
        if let Some(found) = first_without_parent(transaction, pair, &wanted)? {
            return Ok(Some(found));
        }
        if let Some(place) = wanted.mixed {
            return Ok(Some((place, pair.mixed())));
        }
    }
    Ok(None)
}

/// The keys of the rows of one step that need a parent.
fn wanted(
    transaction: &Transaction,
    pair: &KeyPair,
    children: &NewChildren<'_>,
    from: usize,
) -> Result<Wanted> {
    let rows = &children.rows[from..children.rows.len().min(from + STEP)];
    let parent = ParentIndex::of(transaction.view(), pair)?;
    let version = transaction.view().table(pair.child.id)?;
    let fetch = RowFetch::new(version);
    let values = fetch.fetch_columns(rows, &pair.child_columns)?;
    let before = match children.before.get(from..from + rows.len()) {
        Some(before) => Some(fetch.fetch_columns(before, &pair.child_columns)?),
        None => None,
    };
    let mut wanted = Wanted::default();
    let mut scratch = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let key: Vec<Value> = values.columns.iter().map(|column| column.value(at)).collect();
        let nulls = key.iter().filter(|value| value.is_null()).count();
        if nulls == key.len() || nulls > 0 && !pair.key.match_full || !version.shows(*row) {
            continue;
        }
        if nulls > 0 {
            wanted.mixed = Some(from + at);
            break;
        }
        let stays = |before: &RowBatch| {
            let mut old = before.columns.iter().zip(&key);
            old.all(|(column, value)| column.value(at) == *value)
        };
        // The transaction's own row was perhaps never checked: its check finds it replaced, or its key was NOT VALID.
        let was_checked = || {
            let old = children.before.get(from + at);
            old.is_none_or(|old| !transaction.is_own(pair.child.id, *old))
        };
        if before.as_ref().is_some_and(stays) && was_checked() {
            continue;
        }
        let has_key = match pair.is_of_same_types() {
            true => parent.encode(&key, &mut scratch),
            false => pair
                .as_parent(&key)
                .is_some_and(|key| parent.encode(&key, &mut scratch)),
        };
        let end = has_key.then(|| {
            wanted.bytes.extend(&scratch);
            wanted.numbers.push(key_number(&scratch));
            wanted.bytes.len()
        });
        wanted.rows.push((from + at, key, end));
    }
    wanted.numbers.sort_unstable();
    wanted.numbers.dedup();
    Ok(wanted)
}

/// The first row whose parent is not there: its place and the error. Its key is claimed.
fn first_without_parent(
    transaction: &mut Transaction,
    pair: &KeyPair,
    wanted: &Wanted,
) -> Result<Option<(usize, Error)>> {
    let newest = transaction.newest_view()?;
    let parent = ParentIndex::of(&newest, pair)?;
    // The version that the transaction sees to its end.
    let own = match transaction.is_behind_in(pair.parent.id) {
        true => Some(ParentIndex::of(transaction.view(), pair)?),
        false => None,
    };
    let mut begin = 0;
    for (place, key, end) in &wanted.rows {
        let Some(end) = *end else {
            return Ok(Some((*place, pair.orphan(key))));
        };
        let bytes = &wanted.bytes[begin..end];
        begin = end;
        if own.as_ref().is_some_and(|own| !own.has_bytes(bytes)) {
            return Ok(Some((*place, pair.orphan(key))));
        }
        if !parent.has_bytes(bytes) {
            return match own.is_some() {
                true => Err(transaction.meets_newer()),
                false => Ok(Some((*place, pair.orphan(key)))),
            };
        }
    }
    Ok(None)
}

/// The first of some keys of the parent that a row of the child refers to, and such a row.
pub fn first_referenced(
    runner: &Runner,
    snapshot: &Snapshot,
    pair: &KeyPair,
    keys: &[&[Value]],
) -> Result<Option<(usize, RowId)>> {
    let mut first: Option<(usize, RowId)> = None;
    each_child(runner, snapshot, pair, keys, &mut |row, key| {
        first = Some(first.map_or((key, row), |first| first.min((key, row))));
        false
    })?;
    Ok(first)
}

/// The rows of the child that refer to some keys of the parent, each with the number of its key.
pub fn children_of(
    runner: &Runner,
    snapshot: &Snapshot,
    pair: &KeyPair,
    keys: &[&[Value]],
) -> Result<Vec<(RowId, usize)>> {
    let mut found = Vec::new();
    each_child(runner, snapshot, pair, keys, &mut |row, key| {
        found.push((row, key));
        true
    })?;
    Ok(found)
}

/// Shows the live rows of the child that refer to some keys, by an index in the order of the keys until `show` returns
/// false; else all of them.
fn each_child(
    runner: &Runner,
    snapshot: &Snapshot,
    pair: &KeyPair,
    keys: &[&[Value]],
    show: &mut dyn FnMut(RowId, usize) -> bool,
) -> Result<()> {
    let version = snapshot.table(pair.child.id)?;
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
