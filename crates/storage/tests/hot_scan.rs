//! Scans of hot chunks against the naive oracle, over layouts, windows and instruction sets; versions
//! beside a writer; what rolled-back writers leave behind.

mod support;

use frazil_kernels::Isa;
use frazil_storage::{Conflict, NewRows, ScanOptions, TableMode};
use frazil_types::{Cancel, RowId, SqlState, Value};
use std::time::Duration;
use support::*;

#[test]
fn every_layout_window_and_isa_agrees_with_the_oracle() {
    let mut random = Random::new(7);
    for (k, rows, window, stage) in [
        (65_536, 70_000, 4096, 1024),
        (65_536, 300, 65_536, 64),
        (4096, 9000, 1024, 1024),
        (1000, 2500, 4096, 1024),
        (64, 700, 640, 128),
        (3, 500, 64, 1024),
        (1, 500, 4096, 65_536),
    ] {
        let schema = schema();
        let (store, id) = store_with(schema.clone(), k);
        let mut transaction = begin(&store);
        let mut expected = Vec::new();
        while expected.len() < rows {
            let fresh = random.rows(&schema, (rows - expected.len()).min(40_000));
            insert(&mut transaction, id, &batch(&schema, &fresh));
            expected.extend(fresh);
        }
        let gone: Vec<usize> = (0..rows).filter(|_| random.below(10) == 0).collect();
        let ids: Vec<RowId> = gone.iter().map(|&r| RowId(r as u64)).collect();
        for deletes in [false, true] {
            if deletes {
                assert_eq!(delete(&mut transaction, id, &ids), ids.len() as u64);
                assert_eq!(delete(&mut transaction, id, &ids), 0);
            }
            let snapshot = transaction.snapshot().table(id).unwrap().clone();
            for isa in Isa::available() {
                for round in 0..12 {
                    let restrictions: Vec<_> = (0..round % 4).map(|_| random.restriction(&schema)).collect();
                    let options = ScanOptions {
                        isa,
                        window_rows: window,
                        stage_rows: stage,
                        lend_columns: round % 2 == 0,
                        ..ScanOptions::default()
                    };
                    let got = scan(&snapshot, &restrictions, options);
                    let want: Vec<(usize, &Vec<Value>)> = (expected.iter().enumerate())
                        .filter(|(r, _)| !deletes || gone.binary_search(r).is_err())
                        .filter(|(_, row)| restrictions.iter().all(|x| satisfies(&row[x.column], &x.kind)))
                        .collect();
                    assert_eq!(got.len(), want.len(), "k {k}, {restrictions:?}");
                    for ((id, row), (at, expected)) in got.iter().zip(want) {
                        assert_eq!(id.0 as usize, at);
                        assert!(same(std::slice::from_ref(row), std::slice::from_ref(expected)));
                    }
                }
            }
        }
    }
}

#[test]
fn a_snapshot_never_changes_and_a_rollback_leaves_no_trace() {
    let schema = schema();
    let mut random = Random::new(3);
    let (store, id) = store_with(schema.clone(), 65_536);
    let rows = random.rows(&schema, 10);
    let mut transaction = begin(&store);
    insert(&mut transaction, id, &batch(&schema, &rows[..4]));
    let own = transaction.snapshot();
    assert_eq!(own.table(id).unwrap().rows(), 4);
    assert_eq!(store.snapshot().table(id).unwrap().rows(), 0);
    transaction.commit().unwrap();
    let before = store.snapshot().table(id).unwrap().clone();

    let mut transaction = begin(&store);
    insert(&mut transaction, id, &batch(&schema, &rows[4..7]));
    let savepoint = transaction.savepoint();
    delete(&mut transaction, id, &[RowId(0), RowId(5)]);
    insert(&mut transaction, id, &batch(&schema, &rows));
    transaction.rollback_to(savepoint);
    assert_eq!(transaction.snapshot().table(id).unwrap().rows(), 7);
    transaction.rollback();
    assert_eq!(store.snapshot().table(id).unwrap().rows(), 4);

    let mut transaction = begin(&store);
    insert(&mut transaction, id, &batch(&schema, &rows[7..]));
    transaction.commit().unwrap();
    let after = store.snapshot().table(id).unwrap().clone();
    let values = |s| -> Vec<Vec<Value>> {
        scan(s, &[], ScanOptions::default())
            .into_iter()
            .map(|r| r.1)
            .collect()
    };
    assert!(same(&values(&before), &rows[..4]));
    assert!(same(&values(&after), &[&rows[..4], &rows[7..]].concat()));
    assert_eq!(after.rows(), 7);
    assert!(after.timestamp() > before.timestamp());
}

#[test]
fn whoever_changes_a_whole_table_waits_for_its_writers_and_they_for_it() {
    let (store, id) = store_with(schema(), 65_536);
    let mut first = begin(&store);
    let mut second = begin(&store);
    second.lock_table(id, TableMode::RowExclusive).unwrap();
    let lasts = Duration::from_millis(20);
    let error = store.begin_alone(lasts, &Cancel::new()).unwrap_err();
    assert_eq!(error.state(), SqlState::LOCK_NOT_AVAILABLE);
    first.set_patience(lasts, &Cancel::new());
    assert_eq!(
        first.truncate(id).unwrap_err().state(),
        SqlState::LOCK_NOT_AVAILABLE
    );
    drop(second);
    let point = first.savepoint();
    first.truncate(id).unwrap();
    // Whoever writes another table, or nothing yet, does not wait for it.
    let mut third = begin(&store);
    third.set_patience(lasts, &Cancel::new());
    let error = third.lock_table(id, TableMode::RowExclusive).unwrap_err();
    assert_eq!(error.state(), SqlState::LOCK_NOT_AVAILABLE);
    assert!(
        error
            .detail()
            .is_some_and(|detail| detail.contains("ROW EXCLUSIVE")),
        "{error:?}"
    );
    let cancel = Cancel::new();
    cancel.cancel();
    third.set_patience(Duration::from_secs(60), &cancel);
    let error = third.lock_table(id, TableMode::RowExclusive).unwrap_err();
    assert_eq!(error.state(), SqlState::QUERY_CANCELED);
    first.rollback_to(point);
    third.set_patience(Duration::ZERO, &Cancel::new());
    third.lock_table(id, TableMode::RowExclusive).unwrap();
    drop((first, third));
    store
        .begin_alone(Duration::ZERO, &Cancel::new())
        .unwrap()
        .rollback();
}

#[test]
fn null_in_a_not_null_column_appends_nothing() {
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let mut rows = Random::new(1).rows(&schema, 3);
    rows[2][0] = Value::Null;
    let mut transaction = begin(&store);
    let refused = batch(&schema, &rows);
    let error = (transaction.writer(id).unwrap())
        .insert(&NewRows::of(&refused), Conflict::Fail)
        .unwrap_err();
    assert_eq!(error.state(), SqlState::NOT_NULL_VIOLATION);
    assert!(error.message().contains("\"c0\""));
    assert_eq!(transaction.snapshot().table(id).unwrap().rows(), 0);
}

#[test]
fn readers_run_beside_the_writer() {
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let rows = Random::new(5).rows(&schema, 100);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = 0;
                    while seen < 5_000 {
                        let snapshot = store.snapshot().table(id).unwrap().clone();
                        let got = scan(&snapshot, &[], ScanOptions::default());
                        assert_eq!(got.len() % 100, 0, "a commit is seen whole or not at all");
                        assert!(got.len() >= seen);
                        seen = got.len();
                        if let Some((_, row)) = got.last() {
                            assert!(same(std::slice::from_ref(row), &rows[99..]));
                        }
                    }
                })
            })
            .collect();
        for _ in 0..50 {
            let mut transaction = begin(&store);
            insert(&mut transaction, id, &batch(&schema, &rows[..50]));
            insert(&mut transaction, id, &batch(&schema, &rows[50..]));
            transaction.commit().unwrap();
        }
        readers.into_iter().for_each(|r| r.join().unwrap());
    });
}
