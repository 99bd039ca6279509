//! Indexes beside the versions of a table: every write keeps them, what is undone leaves no entry, entries of dead rows leave when
//! nobody can see the rows, and a key is taken by one row.

mod support;

use frazil_block::BuildOptions;
use frazil_catalog::{IndexKey, NewIndex};
use frazil_index::{Direction, KeyRange};
use frazil_storage::{
    Conflict, NewRows, ScanOptions, Store, TableIndex, TableSnapshot, Transaction, Written,
};
use frazil_types::{
    Cancel, ColumnDef, Error, LogicalType, ObjectId, Result, RowBatch, RowId, Schema, SqlState, Value,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use support::*;

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        ColumnDef::new("a", LogicalType::Integer).not_null(),
        ColumnDef::new("b", LogicalType::Text),
        ColumnDef::new("c", LogicalType::BigInt),
    ]))
}

fn row(a: i128, b: Option<&str>, c: i128) -> Vec<Value> {
    let text = b.map_or(Value::Null, |b| Value::Text(b.into()));
    vec![Value::Int(a), text, Value::Int(c)]
}

fn rows(rows: &[Vec<Value>]) -> RowBatch {
    batch(&schema(), rows)
}

fn new_index(name: &str, columns: &[usize], unique: bool) -> NewIndex {
    NewIndex {
        name: Some(name.into()),
        if_not_exists: false,
        table: ObjectId(1),
        keys: columns.iter().map(|&c| IndexKey::ascending(c)).collect(),
        include: Vec::new(),
        unique,
        nulls_distinct: true,
        hidden: Vec::new(),
        condition: None,
    }
}

/// A table with indexes, and the id of the table.
fn table(indexes: &[(&str, &[usize], bool)]) -> (Arc<Store>, ObjectId) {
    let (store, id) = store_with(schema(), 65_536);
    let mut transaction = begin(&store);
    for (name, columns, unique) in indexes {
        let new = new_index(name, columns, *unique);
        transaction.create_index(new, &Cancel::new()).unwrap();
    }
    transaction.commit().unwrap();
    (store, id)
}

fn version(store: &Arc<Store>, id: ObjectId) -> Arc<TableSnapshot> {
    store.snapshot().table(id).unwrap().clone()
}

fn try_insert(
    transaction: &mut Transaction,
    id: ObjectId,
    new: &[Vec<Value>],
    conflict: Conflict<'_>,
) -> Result<Written> {
    let batch = rows(new);
    transaction
        .writer(id)
        .unwrap()
        .insert(&NewRows::of(&batch), conflict)
}

fn freeze(transaction: &mut Transaction, id: ObjectId, order_by: Option<usize>) {
    (transaction.freeze_table(id, order_by, BuildOptions::default(), &Cancel::new())).unwrap();
}

/// The row ids of an index, in the order of keys.
fn entries(index: &TableIndex) -> Vec<RowId> {
    let mut found = Vec::new();
    (index.candidates()).range(KeyRange::default(), Direction::Ascending, &mut |_, row| {
        found.push(row);
        true
    });
    found
}

/// Each live row is found by its key in every index; with `exact`, no other entry is there.
fn check_indexes(version: &Arc<TableSnapshot>, exact: bool) {
    let live = scan(version, &[], ScanOptions::default());
    for index in version.indexes().iter() {
        for (id, row) in &live {
            let values: Vec<Value> = index.columns().iter().map(|&c| row[c].clone()).collect();
            let mut key = Vec::new();
            index.spec().encode(&values, &mut key);
            let mut found = false;
            index.candidates().get(&key, &mut |candidate| {
                found |= candidate == *id;
                !found
            });
            assert!(found, "{row:?} at {id:?} is not in index {}", index.entry().name);
        }
        if exact {
            let entries: BTreeSet<RowId> = entries(index).into_iter().collect();
            let live: BTreeSet<RowId> = live.iter().map(|r| r.0).collect();
            assert_eq!(entries, live, "index {}", index.entry().name);
            assert_eq!(index.candidates().entries(), live.len() as u64);
        }
    }
}

fn text_of(error: &Error) -> (SqlState, &str, &str) {
    (error.state(), error.message(), error.detail().unwrap_or(""))
}

#[test]
fn a_key_is_taken_by_one_row_and_the_error_says_which() {
    let (store, id) = table(&[("t_a_b_key", &[0, 1], true)]);
    let mut transaction = begin(&store);
    try_insert(
        &mut transaction,
        id,
        &[row(1, Some("x"), 1), row(1, None, 1)],
        Conflict::Fail,
    )
    .unwrap();
    // NULLs differ from each other.
    try_insert(&mut transaction, id, &[row(1, None, 2)], Conflict::Fail).unwrap();
    let moment = transaction.savepoint();
    let refused = try_insert(
        &mut transaction,
        id,
        &[row(2, Some("y"), 1), row(1, Some("x"), 2)],
        Conflict::Fail,
    );
    let error = refused.unwrap_err();
    assert_eq!(
        text_of(&error),
        (
            SqlState::UNIQUE_VIOLATION,
            "duplicate key value violates unique constraint \"t_a_b_key\"",
            "Key (a, b)=(1, x) already exists."
        )
    );
    assert_eq!(
        (error.table(), error.constraint()),
        (Some("t"), Some("t_a_b_key"))
    );
    transaction.rollback_to(moment);
    // The row that was inserted before the one that failed is gone, and so is its entry.
    try_insert(&mut transaction, id, &[row(2, Some("y"), 1)], Conflict::Fail).unwrap();
    transaction.commit().unwrap();
    check_indexes(&version(&store, id), true);
}

#[test]
fn the_first_row_that_is_refused_decides_whatever_refuses_it() {
    let (store, id) = table(&[("t_a_key", &[0], true)]);
    let mut transaction = begin(&store);
    try_insert(&mut transaction, id, &[row(1, None, 1)], Conflict::Fail).unwrap();
    let null = vec![Value::Null, Value::Null, Value::Null];
    let moment = transaction.savepoint();
    for (new, state) in [
        (vec![row(1, None, 2), null.clone()], SqlState::UNIQUE_VIOLATION),
        (
            vec![row(2, None, 2), null.clone(), row(1, None, 1)],
            SqlState::NOT_NULL_VIOLATION,
        ),
        (vec![row(3, None, 2), row(3, None, 3)], SqlState::UNIQUE_VIOLATION),
    ] {
        let error = try_insert(&mut transaction, id, &new, Conflict::Fail).unwrap_err();
        assert_eq!(error.state(), state, "{new:?}");
        transaction.rollback_to(moment.clone());
    }
}

#[test]
fn rows_in_conflict_are_left_out_also_those_of_one_statement() {
    let (store, id) = table(&[("t_a_key", &[0], true), ("t_c_key", &[2], true)]);
    let a = store.snapshot().catalog().index(&"t_a_key".into()).unwrap().id;
    let mut transaction = begin(&store);
    try_insert(&mut transaction, id, &[row(1, None, 1)], Conflict::Fail).unwrap();
    let new = [row(1, None, 7), row(2, None, 2), row(2, None, 3), row(3, None, 4)];
    let written = try_insert(&mut transaction, id, &new, Conflict::Skip { arbiters: &[a] }).unwrap();
    let some: Vec<bool> = written.rows.iter().map(Option::is_some).collect();
    assert_eq!((written.count, some), (2, vec![false, true, false, true]));
    // A conflict in an index that is no arbiter fails.
    let other = try_insert(
        &mut transaction,
        id,
        &[row(9, None, 4)],
        Conflict::Skip { arbiters: &[a] },
    );
    assert_eq!(other.unwrap_err().constraint(), Some("t_c_key"));
    let any = try_insert(
        &mut transaction,
        id,
        &[row(9, None, 4)],
        Conflict::Skip { arbiters: &[] },
    );
    assert_eq!(any.unwrap().count, 0);
}

#[test]
fn an_update_meets_keys_of_rows_that_it_replaces_later() {
    let (store, id) = table(&[("t_a_key", &[0], true)]);
    let mut transaction = begin(&store);
    let ids = insert(
        &mut transaction,
        id,
        &rows(&[row(1, None, 1), row(2, None, 2), row(3, None, 3)]),
    );
    let moment = transaction.savepoint();
    let set = |values: &[i128]| {
        let rows: Vec<Vec<Value>> = values.iter().map(|&v| vec![Value::Int(v)]).collect();
        batch(
            &Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]),
            &rows,
        )
    };
    let new = set(&[2, 3, 4]);
    let up = transaction
        .writer(id)
        .unwrap()
        .update(&ids, &[0], &NewRows::of(&new));
    assert_eq!(text_of(&up.unwrap_err()).2, "Key (a)=(2) already exists.");
    transaction.rollback_to(moment);
    let new = set(&[0, 1, 2]);
    (transaction
        .writer(id)
        .unwrap()
        .update(&ids, &[0], &NewRows::of(&new)))
    .unwrap();
    transaction.commit().unwrap();
    check_indexes(&version(&store, id), true);
}

#[test]
fn a_unique_index_over_duplicates_says_which_key_and_how_often() {
    let (store, id) = table(&[]);
    let mut transaction = begin(&store);
    insert(
        &mut transaction,
        id,
        &rows(&[
            row(5, None, 1),
            row(7, Some("x"), 1),
            row(5, None, 1),
            row(5, None, 2),
        ]),
    );
    freeze(&mut transaction, id, None);
    insert(&mut transaction, id, &rows(&[row(7, Some("x"), 1)]));
    let error = (transaction.create_index(new_index("i", &[0], true), &Cancel::new())).unwrap_err();
    assert_eq!(
        text_of(&error),
        (
            SqlState::UNIQUE_VIOLATION,
            "could not create unique index \"i\"",
            "Key (a)=(5) is duplicated."
        )
    );
    assert!(error.hint().unwrap().starts_with("3 rows have this key"));
    // NULL is no duplicate.
    let error = (transaction.create_index(new_index("i", &[0, 1], true), &Cancel::new())).unwrap_err();
    assert_eq!(error.detail(), Some("Key (a, b)=(7, x) is duplicated."));
    transaction
        .create_index(new_index("i", &[0, 1], false), &Cancel::new())
        .unwrap();
    transaction.commit().unwrap();
    check_indexes(&version(&store, id), true);
}

#[test]
fn a_key_that_is_too_long_is_refused() {
    let (store, id) = table(&[("i", &[1], false)]);
    let mut transaction = begin(&store);
    let long = "x".repeat(3000);
    let error = try_insert(&mut transaction, id, &[row(1, Some(&long), 1)], Conflict::Fail).unwrap_err();
    assert_eq!(error.state(), SqlState::PROGRAM_LIMIT_EXCEEDED);
    assert!(
        error.message().contains("exceeds maximum 2048 for index \"i\""),
        "{}",
        error.message()
    );
}

#[test]
fn entries_of_dead_rows_stay_for_older_readers_and_leave_after_them() {
    let (store, id) = table(&[("t_a_key", &[0], true)]);
    let mut transaction = begin(&store);
    let ids = insert(&mut transaction, id, &rows(&[row(1, None, 1), row(2, None, 2)]));
    transaction.commit().unwrap();
    let reader = store.snapshot();
    let mut transaction = begin(&store);
    delete(&mut transaction, id, &ids[..1]);
    transaction.commit().unwrap();
    check_indexes(reader.table(id).unwrap(), true);
    assert_eq!(version(&store, id).table().waiting_entries(), 1);
    // The key is free again.
    let mut transaction = begin(&store);
    insert(&mut transaction, id, &rows(&[row(1, None, 3)]));
    transaction.commit().unwrap();
    check_indexes(reader.table(id).unwrap(), false);
    drop(reader);
    store.freeze_step().unwrap();
    assert_eq!(version(&store, id).table().waiting_entries(), 0);
    check_indexes(&version(&store, id), true);
}

#[test]
fn a_key_is_free_although_the_entry_of_its_dead_row_is_left_to_a_worker() {
    let (store, id) = table(&[("t_a_key", &[0], true), ("t_c", &[2], false)]);
    let write = |c: i128| {
        let mut transaction = begin(&store);
        let ids = insert(&mut transaction, id, &rows(&[row(1, None, c)]));
        transaction.commit().unwrap();
        ids
    };
    let remove = |ids: &[RowId]| {
        let mut transaction = begin(&store);
        delete(&mut transaction, id, ids);
        transaction.commit().unwrap();
    };
    (0..100).for_each(|c| remove(&write(c)));
    assert!(store.serve_commits());
    for left in 1..10 {
        remove(&write(left));
        assert_eq!(version(&store, id).table().waiting_entries(), left as u64);
    }
    write(10);
    check_indexes(&version(&store, id), false);
    let mut transaction = begin(&store);
    let error = try_insert(&mut transaction, id, &[row(1, None, 11)], Conflict::Fail).unwrap_err();
    assert_eq!(error.state(), SqlState::UNIQUE_VIOLATION);
    transaction.rollback();
    store.remove_left_entries();
    check_indexes(&version(&store, id), true);
}

#[test]
fn whatever_a_transaction_does_the_indexes_agree_with_the_rows() {
    for seed in 1..=12 {
        let (store, id) = table(&[("u", &[0], true), ("n", &[1, 2], false)]);
        let mut random = Random::new(seed);
        for _ in 0..12 {
            let mut transaction = begin(&store);
            for _ in 0..random.index(5) {
                change(&mut transaction, id, &mut random);
                check_indexes(transaction.view().table(id).unwrap(), false);
            }
            if random.below(4) == 0 {
                transaction.rollback();
            } else {
                transaction.commit().unwrap();
            }
            check_indexes(&version(&store, id), true);
        }
    }
}

/// A statement, undone if it fails, and sometimes though it does not.
fn change(transaction: &mut Transaction, id: ObjectId, random: &mut Random) {
    let moment = transaction.savepoint();
    let live = scan(transaction.view().table(id).unwrap(), &[], ScanOptions::default());
    let some: Vec<RowId> = live
        .iter()
        .map(|r| r.0)
        .filter(|_| random.below(3) == 0)
        .collect();
    let fresh = |count: usize, random: &mut Random| -> Vec<Vec<Value>> {
        let text = |n: u64| {
            if n == 0 {
                None
            } else {
                Some(["x", "y", "a text of more than twelve bytes"][n as usize % 3])
            }
        };
        (0..count)
            .map(|_| {
                row(
                    random.below(60) as i128,
                    text(random.below(4)),
                    random.below(5) as i128,
                )
            })
            .collect()
    };
    let done = match random.below(8) {
        0 => transaction.writer(id).unwrap().delete(&some).map(drop),
        1 | 2 => {
            let new = fresh(some.len(), random);
            let a: Vec<Vec<Value>> = new.into_iter().map(|r| vec![r[0].clone()]).collect();
            let new = batch(&Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]), &a);
            transaction
                .writer(id)
                .unwrap()
                .update(&some, &[0], &NewRows::of(&new))
                .map(drop)
        }
        3 => {
            freeze(transaction, id, [None, Some(2)][random.index(2)]);
            Ok(())
        }
        4 if random.below(4) == 0 => transaction.truncate(id),
        5 => {
            let new = fresh(20, random);
            try_insert(transaction, id, &new, Conflict::Skip { arbiters: &[] }).map(drop)
        }
        _ => {
            let count = random.index(6);
            let new = fresh(count, random);
            try_insert(transaction, id, &new, Conflict::Fail).map(drop)
        }
    };
    if done.is_err() || random.below(5) == 0 {
        transaction.rollback_to(moment);
    }
}
