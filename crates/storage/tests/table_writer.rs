//! The one way into a table: what it says of each row, and in which order it refuses them.

mod support;

use frazil_catalog::{NewConstraint, NewConstraintKind, NewTable, TableOptions};
use frazil_storage::{CheckResult, Conflict, Freezer, NewRows, ScanOptions, Store, Written};
use frazil_types::{
    Cancel, ColumnDef, ColumnVector, LogicalType, MemoryBudget, ObjectId, RowBatch, RowId, Schema, SqlState,
    Value,
};
use std::sync::Arc;
use support::*;

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        ColumnDef::new("a", LogicalType::Integer).not_null(),
        ColumnDef::new("b", LogicalType::Text),
        ColumnDef::new("c", LogicalType::BigInt).not_null(),
    ]))
}

fn row(i: i128) -> Vec<Value> {
    let text = format!("the text of the row with number {i}");
    vec![Value::Int(i), Value::Text(text), Value::Int(-i)]
}

fn table(rows: std::ops::Range<i128>) -> (Arc<Store>, ObjectId) {
    let (store, id) = store_with(schema(), 65_536);
    let mut transaction = begin(&store);
    insert(
        &mut transaction,
        id,
        &batch(&schema(), &rows.map(row).collect::<Vec<_>>()),
    );
    transaction.commit().unwrap();
    (store, id)
}

fn columns(types: &[LogicalType], rows: &[Vec<Value>]) -> RowBatch {
    let defs = types.iter().map(|&ty| ColumnDef::new("x", ty)).collect();
    batch(&Schema::new(defs), rows)
}

fn contents(store: &Arc<Store>, id: ObjectId) -> Vec<(RowId, Vec<Value>)> {
    scan(store.snapshot().table(id).unwrap(), &[], ScanOptions::default())
}

#[test]
fn rows_get_ids_in_order_across_chunks() {
    let (store, id) = table(0..65_530);
    let rows: Vec<_> = (65_530..65_550).map(row).collect();
    let mut transaction = begin(&store);
    let ids = insert(&mut transaction, id, &batch(&schema(), &rows));
    transaction.commit().unwrap();
    assert_eq!(ids, (65_530..65_550).map(RowId).collect::<Vec<_>>());
    let found = contents(&store, id);
    assert!(ids.iter().all(|&i| found[i.0 as usize] == (i, row(i.0.into()))));
}

#[test]
fn an_update_gives_new_values_to_the_columns_named_and_says_where_each_row_is() {
    for frozen in [false, true] {
        let (store, id) = table(0..100);
        if frozen {
            let mut transaction = begin(&store);
            let options = frazil_block::BuildOptions::default();
            transaction
                .freeze_table(id, None, options, &frazil_types::Cancel::new())
                .unwrap();
            transaction.commit().unwrap();
        }
        let old = contents(&store, id);
        let at = |i: usize| old[i].0;
        let mut transaction = begin(&store);
        delete(&mut transaction, id, &[at(7)]);
        let new = columns(
            &[LogicalType::BigInt, LogicalType::Text],
            &[
                vec![Value::Int(1000), Value::Null],
                vec![Value::Int(1001), Value::Text("short".into())],
                vec![Value::Int(1002), Value::Text("deleted before".into())],
                vec![
                    Value::Int(1003),
                    Value::Text("for the second time in this statement".into()),
                ],
                vec![
                    Value::Int(1004),
                    Value::Text("a text of more than twelve bytes".into()),
                ],
            ],
        );
        let ids = [at(50), at(3), at(7), at(50), at(99)];
        let written = (transaction.writer(id).unwrap())
            .update(&ids, &[2, 1], &NewRows::of(&new))
            .unwrap();
        transaction.commit().unwrap();
        assert_eq!(written.count, 3);
        let told: Vec<bool> = written.rows.iter().map(Option::is_some).collect();
        assert_eq!(told, [true, true, false, false, true]);
        let found = contents(&store, id);
        assert_eq!(found.len(), 99);
        let of = |row: usize| {
            let id = written.rows[row].unwrap();
            found.iter().find(|f| f.0 == id).unwrap().1.clone()
        };
        assert_eq!(of(0), [Value::Int(50), Value::Null, Value::Int(1000)]);
        assert_eq!(
            of(1),
            [Value::Int(3), Value::Text("short".into()), Value::Int(1001)]
        );
        let long = Value::Text("a text of more than twelve bytes".into());
        assert_eq!(of(4), [Value::Int(99), long, Value::Int(1004)]);
        let untouched = found.iter().filter(|f| f.1[2].as_int().unwrap() <= 0);
        let expected = old
            .iter()
            .enumerate()
            .filter(|(i, _)| ![3, 7, 50, 99].contains(i));
        assert!(untouched.eq(expected.map(|(_, row)| row)));
    }
}

#[test]
fn a_delete_counts_each_row_once() {
    let (store, id) = table(0..70_000);
    let mut transaction = begin(&store);
    let ids = [69_999, 5, 65_536, 5, 4].map(RowId);
    let written = transaction.writer(id).unwrap().delete(&ids).unwrap();
    let rows = [Some(ids[0]), Some(ids[1]), Some(ids[2]), None, Some(ids[4])];
    assert_eq!(
        written,
        Written {
            count: 4,
            rows: rows.to_vec()
        }
    );
    let again = transaction.writer(id).unwrap().delete(&ids[..2]).unwrap();
    assert_eq!(
        again,
        Written {
            count: 0,
            rows: vec![None, None]
        }
    );
    let none = transaction.writer(id).unwrap().delete(&[]).unwrap();
    assert_eq!(none, Written::default());
    let nowhere = transaction
        .writer(id)
        .unwrap()
        .delete(&[RowId::new(9, 0)])
        .unwrap_err();
    assert_eq!(nowhere.state(), SqlState::INTERNAL_ERROR);
    transaction.commit().unwrap();
    assert_eq!(contents(&store, id).len(), 69_996);
}

/// PostgreSQL checks row by row: NOT NULL by the position of columns, then CHECK by the name of constraints.
#[test]
fn the_first_row_that_is_refused_decides() {
    let (store, id) = table(0..10);
    let good = row(20);
    let null = |column: usize| {
        let mut row = row(21);
        row[column] = Value::Null;
        row
    };
    let holds = |values: &[Option<bool>]| {
        let values: Vec<Value> = values
            .iter()
            .map(|v| v.map_or(Value::Null, Value::Bool))
            .collect();
        ColumnVector::from_values(LogicalType::Boolean, &values)
    };
    let (yes, no) = (Some(true), Some(false));
    for (rows, z, a, expected) in [
        ([good.clone(), good.clone()], [yes, None], [yes, yes], None),
        (
            [good.clone(), null(2)],
            [yes, no],
            [yes, yes],
            Some("column \"c\""),
        ),
        (
            [good.clone(), null(2)],
            [no, yes],
            [yes, yes],
            Some("constraint \"z\""),
        ),
        (
            [good.clone(), null(0)],
            [yes, yes],
            [yes, no],
            Some("column \"a\""),
        ),
        ([null(2), null(0)], [no, no], [no, no], Some("column \"c\"")),
        (
            [good.clone(), good.clone()],
            [yes, no],
            [yes, no],
            Some("constraint \"a\""),
        ),
        (
            [good.clone(), good.clone()],
            [no, yes],
            [yes, no],
            Some("constraint \"z\""),
        ),
        ([good.clone(), null(1)], [yes, yes], [yes, yes], None),
    ] {
        let batch = batch(&schema(), &rows);
        let (z, a) = (holds(&z), holds(&a));
        let check = |name, holds| CheckResult { name, holds };
        let checks = [check("z", &z), check("a", &a)];
        let rows = NewRows {
            batch: &batch,
            checks: &checks,
        };
        let ids = [RowId(1), RowId(2)];
        let mut transaction = begin(&store);
        let mut writer = transaction.writer(id).unwrap();
        let inserted = writer.insert(&rows, Conflict::Fail).map(|w| w.count);
        let updated = writer.update(&ids, &[0, 1, 2], &rows).map(|w| w.count);
        for result in [inserted, updated] {
            match expected {
                None => assert_eq!(result.unwrap(), 2),
                Some(thing) => {
                    let error = result.unwrap_err();
                    assert!(error.message().contains(thing), "{error}");
                    let state = match thing.starts_with("column") {
                        true => SqlState::NOT_NULL_VIOLATION,
                        false => SqlState::CHECK_VIOLATION,
                    };
                    assert_eq!(error.state(), state);
                    let named = error.column().or(error.constraint()).unwrap();
                    assert!(thing.ends_with(&format!("\"{named}\"")) && error.table() == Some("t"));
                    assert_eq!(transaction_rows(&transaction, id), 10);
                }
            }
        }
        transaction.rollback();
    }
}

fn transaction_rows(transaction: &frazil_storage::Transaction, id: ObjectId) -> u64 {
    transaction.view().table(id).unwrap().rows()
}

#[test]
fn a_block_with_null_in_a_column_that_must_not_have_it_is_refused() {
    let (store, id) = table(0..10);
    let nullable = columns(
        &[LogicalType::Integer, LogicalType::Text, LogicalType::BigInt],
        &[vec![Value::Null, Value::Null, Value::Int(0)]],
    );
    let inputs: Vec<_> = (nullable.columns.iter())
        .map(|c| frazil_block::ColumnInput::of_vector(c, 0..1))
        .collect();
    let mut builder = frazil_block::BlockBuilder::new(frazil_block::BuildOptions::default());
    let block = builder.build(&inputs).unwrap();
    let narrow = builder.build(&inputs[..2]).unwrap();
    let mut transaction = begin(&store);
    let mut writer = transaction.writer(id).unwrap();
    let error = writer.block(block).unwrap_err();
    assert_eq!(error.state(), SqlState::NOT_NULL_VIOLATION);
    assert_eq!(
        writer.block(narrow).unwrap_err().state(),
        SqlState::INTERNAL_ERROR
    );
    assert_eq!(transaction_rows(&transaction, id), 10);
}

/// COPY and the like evaluate no expressions: a constraint that nobody looked at must not pass in silence.
#[test]
fn rows_without_a_result_for_each_check_are_refused() {
    let store = Store::new();
    let mut transaction = begin(&store);
    let check = NewConstraint {
        name: Some("small".to_string()),
        kind: NewConstraintKind::Check {
            expression: "a < 100".to_string(),
            columns: vec![0],
            is_valid: true,
            of_domain: None,
        },
    };
    let new = NewTable {
        name: "t".into(),
        schema: schema(),
        options: TableOptions::default(),
        constraints: vec![check],
    };
    let id = transaction.create(new).unwrap().id;
    let batch = batch(&schema(), &[row(1)]);
    let holds = ColumnVector::from_values(LogicalType::Boolean, &[Value::Null]);
    let table = transaction.view().table(id).unwrap().table().clone();
    let block = Freezer::default().freeze_batch(&table, &batch).unwrap();
    let mut writer = transaction.writer(id).unwrap();
    let unsupported = SqlState::FEATURE_NOT_SUPPORTED;
    let error = writer.insert(&NewRows::of(&batch), Conflict::Fail).unwrap_err();
    assert_eq!(error.state(), unsupported);
    assert_eq!(writer.block(block).unwrap_err().state(), unsupported);
    let checks = [CheckResult {
        name: "small",
        holds: &holds,
    }];
    let rows = NewRows {
        batch: &batch,
        checks: &checks,
    };
    assert_eq!(writer.insert(&rows, Conflict::Fail).unwrap().count, 1);
}

/// What a transaction deletes counts while it writes, also if it inserts nothing; it hears when it is to stop.
#[test]
fn deletes_count_against_the_memory_that_a_transaction_may_take() {
    let (store, id) = table(0..150_000);
    let ids: Vec<RowId> = contents(&store, id).into_iter().map(|(row, _)| row).collect();
    let budget = MemoryBudget::new(10 << 20);
    let cancel = Cancel::new();
    let mut transaction = begin(&store).within(&budget, &cancel);
    for some in ids.chunks(5_000) {
        assert_eq!(delete(&mut transaction, id, some), some.len() as u64);
    }
    let used = budget.used();
    assert!(
        (250_000..2_000_000).contains(&used),
        "{used} bytes for 150,000 rows in three chunks"
    );
    transaction.rollback();
    assert_eq!(budget.used(), 0);
    // One statement a row costs no more than what is kept of it.
    let mut transaction = begin(&store).within(&budget, &cancel);
    for row in &ids[..4_000] {
        delete(&mut transaction, id, &[*row]);
    }
    assert!(budget.used() < 1_000_000, "{}", budget.used());
    drop(transaction);
    budget.set_limit(100_000);
    let mut transaction = begin(&store).within(&budget, &cancel);
    let refused = transaction.writer(id).unwrap().delete(&ids).unwrap_err();
    assert_eq!(refused.state(), SqlState::OUT_OF_MEMORY);
    drop(transaction);
    budget.set_limit(10 << 20);
    cancel.cancel();
    let mut transaction = begin(&store).within(&budget, &cancel);
    let stopped = transaction.writer(id).unwrap().delete(&ids).unwrap_err();
    assert_eq!(stopped.state(), SqlState::QUERY_CANCELED);
    drop(transaction);
    assert_eq!((contents(&store, id).len(), budget.used()), (150_000, 0));
}
