//! UPDATEs of one row each keep the columns that they do not set: NULLs and long texts, of hot rows and of frozen ones, committed
//! or rolled back, alone or among other rows of the transaction.

mod support;

use frazil_block::BuildOptions;
use frazil_storage::{NewRows, ScanOptions, Store, Transaction};
use frazil_types::{Cancel, ColumnVector, ObjectId, RowBatch, RowId, Schema, Value};
use std::sync::Arc;
use support::*;

/// Rows of the table.
const ROWS: u64 = 400;

/// Gives some columns of a row other values: the row's new id.
fn update(
    transaction: &mut Transaction,
    table: ObjectId,
    (id, set): (RowId, &[usize]),
    (schema, new): (&Schema, &[Value]),
) -> RowId {
    let column = |&c: &usize| ColumnVector::from_values(schema.columns[c].ty, &new[c..=c]);
    let batch = RowBatch {
        columns: set.iter().map(column).collect(),
        rows: 1,
    };
    let mut writer = transaction.writer(table).unwrap();
    let written = writer.update(&[id], set, &NewRows::of(&batch)).unwrap();
    assert_eq!(written.count, 1);
    written.rows[0].unwrap()
}

fn contents(store: &Arc<Store>, table: ObjectId) -> Vec<(RowId, Vec<Value>)> {
    scan(
        store.snapshot().table(table).unwrap(),
        &[],
        ScanOptions::default(),
    )
}

/// The ids of rows whose first column is their number.
fn ids_by_number(store: &Arc<Store>, table: ObjectId) -> Vec<RowId> {
    let mut found = contents(store, table);
    found.sort_by_key(|(_, row)| row[0].as_int());
    found.iter().map(|(id, _)| *id).collect()
}

#[test]
fn each_row_keeps_what_its_updates_do_not_set() {
    for k in [1, 64, 65_536] {
        let mut random = Random::new(u64::from(k) + 5);
        let schema = schema();
        let (store, table) = store_with(schema.clone(), k);
        let mut rows = random.rows(&schema, ROWS as usize);
        // The first column says which row it is.
        let number = |at: usize| Value::Int(at as i128);
        (0..rows.len()).for_each(|at| rows[at][0] = number(at));
        let mut transaction = begin(&store);
        let mut ids = insert(&mut transaction, table, &batch(&schema, &rows));
        transaction.commit().unwrap();
        for step in 0..1500 {
            let mut transaction = begin(&store);
            if step % 500 == 300 {
                transaction
                    .freeze_table(table, None, BuildOptions::default(), &Cancel::new())
                    .unwrap();
                transaction.commit().unwrap();
                ids = ids_by_number(&store, table);
                transaction = begin(&store);
            }
            let is_kept = random.below(4) > 0;
            for _ in 0..=random.below(2) {
                let at = random.below(ROWS) as usize;
                // In any order of the columns, none or all among them.
                let mut set: Vec<usize> = (0..schema.columns.len()).rev().collect();
                set.retain(|_| random.below(2) == 0);
                let mut new = random.rows(&schema, 1).remove(0);
                new[0] = number(at);
                let id = update(&mut transaction, table, (ids[at], &set), (&schema, &new));
                if is_kept {
                    ids[at] = id;
                    set.iter().for_each(|&c| rows[at][c] = new[c].clone());
                } else {
                    break;
                }
            }
            if is_kept {
                transaction.commit().unwrap();
            }
        }
        assert_eq!(ids, ids_by_number(&store, table));
        for (_, row) in contents(&store, table) {
            let at = row[0].as_int().unwrap() as usize;
            assert!(same(&[row], std::slice::from_ref(&rows[at])), "k {k}, row {at}");
        }
    }
}
