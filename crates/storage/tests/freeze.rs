//! Freezing: the same rows come back, whatever the state of their chunks; rows deleted while a chunk
//! cools stay deleted; readers and writers go on.

mod support;

use frazil_block::BuildOptions;
use frazil_catalog::{BlockOptions, TableOptions};
use frazil_storage::{Freezer, NewRows, ScanOptions, Store};
use frazil_types::{
    Cancel, ColumnDef, CompareOp, LogicalType, ObjectId, Restriction, RestrictionKind, RowId, Schema,
    SqlState, Value,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::*;

fn freeze(store: &Arc<Store>, id: ObjectId, order_by: Option<usize>) -> u64 {
    let mut transaction = begin(store);
    let report = transaction
        .freeze_table(id, order_by, BuildOptions::default(), &Cancel::new())
        .unwrap();
    transaction.commit().unwrap();
    report.blocks
}

fn append(store: &Arc<Store>, id: ObjectId, rows: &[Vec<Value>]) {
    let mut transaction = begin(store);
    insert(&mut transaction, id, &batch(&schema(), rows));
    transaction.commit().unwrap();
}

#[test]
fn frozen_half_frozen_and_hot_answer_alike() {
    let mut random = Random::new(11);
    let schema = schema();
    for k in [65_536, 100] {
        let (store, id) = store_with(schema.clone(), k);
        let first = random.rows(&schema, 70_000);
        append(&store, id, &first);
        assert_eq!(freeze(&store, id, None), 2);
        let table = store.snapshot().table(id).unwrap().clone();
        assert!(table.chunks().all(|c| c.block().is_some()));
        check_at_random(&mut random, &table, &first, 6);

        let second = random.rows(&schema, 3_000);
        append(&store, id, &second);
        let mut both = [first.clone(), second].concat();
        let half = store.snapshot().table(id).unwrap().clone();
        assert!(half.tail().is_some_and(|t| t.is_hot()));
        check_at_random(&mut random, &half, &both, 4);

        let gone: Vec<usize> = (0..both.len()).filter(|_| random.below(7) == 0).collect();
        let ids: Vec<RowId> = {
            let all = scan(&half, &[], ScanOptions::default());
            gone.iter().map(|&r| all[r].0).collect()
        };
        let mut transaction = begin(&store);
        assert_eq!(delete(&mut transaction, id, &ids), ids.len() as u64);
        transaction.commit().unwrap();
        gone.iter().rev().for_each(|&r| drop(both.remove(r)));
        let thinned = store.snapshot().table(id).unwrap().clone();
        check_at_random(&mut random, &thinned, &both, 4);

        freeze(&store, id, None);
        let compact = store.snapshot().table(id).unwrap().clone();
        assert!(
            compact
                .chunks()
                .all(|c| c.view().deleted().is_none() && c.block().is_some())
        );
        check_at_random(&mut random, &compact, &both, 4);
        check_at_random(&mut random, &half, &[&first[..], &half_tail(&half)].concat(), 1);
    }
}

/// What an old snapshot still shows of its last chunk.
fn half_tail(half: &Arc<frazil_storage::TableSnapshot>) -> Vec<Vec<Value>> {
    let all = scan(half, &[], ScanOptions::default());
    all[70_000..].iter().map(|r| r.1.clone()).collect()
}

#[test]
fn sorting_orders_each_chunk_and_nulls_come_last() {
    let mut random = Random::new(5);
    let schema = schema();
    for column in 0..schema.columns.len() {
        let (store, id) = store_with(schema.clone(), 65_536);
        let mut rows = random.rows(&schema, 5_000);
        append(&store, id, &rows);
        freeze(&store, id, Some(column));
        rows.sort_by(|a, b| {
            let nulls = a[column].is_null().cmp(&b[column].is_null());
            nulls.then_with(|| order(&a[column], &b[column]))
        });
        let table = store.snapshot().table(id).unwrap().clone();
        check_at_random(&mut random, &table, &rows, 6);
    }
}

#[test]
fn sma_and_psma_are_seen_to_skip() {
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let mut rows = Random::new(5).rows(&schema, 65_536);
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = Value::Int(i as i128 / 8);
    }
    append(&store, id, &rows);
    freeze(&store, id, None);
    let table = store.snapshot().table(id).unwrap().clone();
    let counters = |value: i128| {
        let restriction = Restriction {
            column: 0,
            kind: RestrictionKind::Compare(CompareOp::Eq, Value::Int(value)),
        };
        let options = ScanOptions::default();
        let scan = frazil_storage::TableScan::new(table.clone(), vec![], vec![restriction], options);
        let scan = Arc::new(scan.unwrap());
        let mut cursor = scan.cursor();
        cursor.open(0).unwrap();
        while cursor.next().unwrap().is_some() {}
        scan.counters()
    };
    assert_eq!(counters(1 << 40).chunks_skipped_by_sma, 1);
    let narrowed = counters(77);
    assert_eq!(narrowed.rows_returned, 8);
    assert!(narrowed.rows_skipped_by_psma > 60_000, "{narrowed:?}");
    let statistics = table.statistics().unwrap();
    assert_eq!(statistics.rows, 65_536);
    assert_eq!(statistics.columns[0].bounds.range, Some((0, 8191)));
    let distinct = statistics.columns[0].distinct;
    assert!((4_000.0..=8192.0).contains(&distinct), "{distinct}");
    let shown = table.describe();
    assert_eq!(shown.len(), schema.columns.len());
    assert_eq!(shown[0].encoding, "frames of reference");
}

#[test]
fn a_column_whose_order_rows_come_in_spans_little_in_each_chunk() {
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let spreads = || {
        let statistics = store.snapshot().table(id).unwrap().statistics().unwrap();
        let spread = |column: &frazil_storage::ColumnStatistics| column.spread;
        statistics.columns.iter().map(spread).collect::<Vec<_>>()
    };
    let rows = |scattered: bool| {
        let mut rows = Random::new(3).rows(&schema, 65_536);
        for (i, row) in rows.iter_mut().enumerate() {
            let value = if scattered { i * 7919 % 65_536 * 4 } else { i };
            row[0] = Value::Int(value as i128);
        }
        rows
    };
    append(&store, id, &rows(false));
    assert_eq!(spreads()[0], None);
    append(&store, id, &rows(true));
    // A quarter of the range in the first chunk, all of it in the second.
    let spread = spreads()[0].unwrap();
    assert!((0.62..0.63).contains(&spread), "{spread}");
}

#[test]
fn freezing_in_the_background_keeps_readers_and_deletes_right() {
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let mut rows = Random::new(9).rows(&schema, 150_000);
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = Value::Int(i as i128);
    }
    append(&store, id, &rows);
    let done = AtomicBool::new(false);
    let mut deleted = std::collections::BTreeSet::new();
    std::thread::scope(|scope| {
        let at_end = frazil_testkit::RaisedAtEnd(&done);
        let freezer = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                store.freeze_step().unwrap();
            }
            while store.freeze_step().unwrap() {}
        });
        let mut random = Random::new(21);
        for round in 0..40 {
            // A delete finds its rows and deletes them in one transaction, as the statement does.
            let mut transaction = store
                .begin(std::time::Duration::from_secs(20), &Cancel::new())
                .unwrap();
            let table = transaction.snapshot().table(id).unwrap().clone();
            let low = random.below(150_000) as i128;
            let restriction = Restriction {
                column: 0,
                kind: RestrictionKind::Between(Value::Int(low), Value::Int(low + 500)),
            };
            let found = scan(&table, &[restriction], ScanOptions::default());
            let ids: Vec<RowId> = found.iter().map(|r| r.0).collect();
            delete(&mut transaction, id, &ids);
            if round % 4 == 3 {
                transaction.rollback();
            } else {
                deleted.extend(found.iter().map(|r| r.1[0].as_int().unwrap()));
                transaction.commit().unwrap();
            }
            let seen = store.snapshot().table(id).unwrap().rows();
            assert_eq!(seen as usize, 150_000 - deleted.len());
        }
        drop(at_end);
        freezer.join().unwrap();
    });
    let table = store.snapshot().table(id).unwrap().clone();
    assert_eq!(table.chunks().filter(|c| c.block().is_some()).count(), 2);
    rows.retain(|r| !deleted.contains(&r[0].as_int().unwrap()));
    check_at_random(&mut Random::new(2), &table, &rows, 4);
}

#[test]
fn a_loader_adds_blocks_directly() {
    let mut random = Random::new(13);
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let rows = random.rows(&schema, 9_000);
    append(&store, id, &rows[..1_000]);
    let mut transaction = begin(&store);
    let table = transaction.snapshot().table(id).unwrap().table().clone();
    let mut freezer = Freezer::default();
    let block = freezer
        .freeze_batch(&table, &batch(&schema, &rows[1_000..]))
        .unwrap();
    transaction.writer(id).unwrap().block(block).unwrap();
    transaction.commit().unwrap();
    let expected = [&rows[1_000..], &rows[..1_000]].concat();
    check_at_random(
        &mut random,
        &store.snapshot().table(id).unwrap().clone(),
        &expected,
        8,
    );
}

#[test]
fn distinct_values_are_estimated_when_a_chunk_is_frozen_not_when_rows_are_committed() {
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let rows = Random::new(27).rows(&schema, 66_000);
    let known = || store.snapshot().table(id).unwrap().table().known_distinct();
    append(&store, id, &rows);
    assert_eq!(known(), None);
    assert!(store.freeze_step().unwrap());
    let estimate = known().expect("a chunk was frozen");
    assert_eq!(estimate.rows, 66_000);
    assert_eq!(estimate.columns.len(), schema.columns.len());
    freeze(&store, id, None);
    assert_eq!(known(), Some(estimate), "no row came or went");
}

/// Row ids are what indexes hold: freezing must leave them alone, with deleted rows before others, too.
#[test]
fn freezing_keeps_row_ids() {
    let mut random = Random::new(31);
    let schema = schema();
    for in_background in [true, false] {
        let (store, id) = store_with(schema.clone(), 100);
        append(&store, id, &random.rows(&schema, 65_536));
        append(&store, id, &random.rows(&schema, 40_000));
        let all = scan(store.snapshot().table(id).unwrap(), &[], ScanOptions::default());
        let gone = |random: &mut Random| -> Vec<RowId> {
            let some = all.iter().filter(|_| random.below(5) == 0);
            some.map(|row| row.0).collect()
        };
        let mut transaction = begin(&store);
        delete(&mut transaction, id, &gone(&mut random));
        transaction.commit().unwrap();
        let live =
            |store: &Arc<Store>| scan(store.snapshot().table(id).unwrap(), &[], ScanOptions::default());
        let expected = live(&store);
        match in_background {
            true => assert!(store.freeze_step().unwrap()),
            false => assert_eq!(freeze(&store, id, None), 2),
        }
        let frozen = store.snapshot().table(id).unwrap().clone();
        assert!(frozen.chunk(0).block().is_some());
        let with_ids = |rows: &[(RowId, Vec<Value>)]| -> Vec<(RowId, Value)> {
            rows.iter().map(|(id, row)| (*id, row[0].clone())).collect()
        };
        assert_eq!(with_ids(&live(&store)), with_ids(&expected));
        let values: Vec<_> = expected.iter().map(|row| row.1.clone()).collect();
        check_at_random(&mut random, &frozen, &values, 4);
        // Deleted rows of a block can be fetched as before, and others deleted.
        let mut transaction = begin(&store);
        let more = gone(&mut random);
        delete(&mut transaction, id, &more);
        transaction.commit().unwrap();
        let mut expected = with_ids(&expected);
        expected.retain(|row| more.binary_search(&row.0).is_err());
        assert_eq!(with_ids(&live(&store)), expected);
    }
}

/// A statement that touches one row costs as much in a table of many chunks as in one of few.
#[test]
fn a_change_of_one_row_leaves_the_entries_of_all_other_chunks_alone() {
    let schema = schema();
    for chunks in [3u32, 3_000] {
        let (store, id) = store_with(schema.clone(), 65_536);
        let mut transaction = begin(&store);
        let table = transaction.snapshot().table(id).unwrap().table().clone();
        let rows = batch(&schema, &Random::new(3).rows(&schema, 5));
        for _ in 0..chunks {
            let block = Freezer::default().freeze_batch(&table, &rows).unwrap();
            transaction.writer(id).unwrap().block(block).unwrap();
        }
        transaction.commit().unwrap();
        let before = store.snapshot().table(id).unwrap().clone();
        let mut transaction = begin(&store);
        delete(&mut transaction, id, &[RowId::new(1, 4)]);
        let one = batch(&schema, &Random::new(4).rows(&schema, 1));
        let written = (transaction.writer(id).unwrap())
            .update(
                &[RowId::new(2, 0)],
                &(0..9).collect::<Vec<_>>(),
                &NewRows::of(&one),
            )
            .unwrap();
        assert_eq!(written.rows, [Some(RowId::new(chunks, 0))]);
        let timestamp = transaction.commit().unwrap();
        let after = store.snapshot().table(id).unwrap().clone();
        assert_eq!(after.rows(), u64::from(chunks) * 5 - 1);
        for old in before.chunks() {
            let new = after.entry(old.number()).unwrap();
            let is_changed = [1, 2].contains(&old.number());
            assert_eq!(Arc::ptr_eq(old, new), !is_changed);
            assert_eq!(new.modified(), if is_changed { timestamp } else { 0 });
        }
    }
}

/// A chunk is full, but one slot of it belongs to a transaction that is open: a block would lack the row for ever.
#[test]
fn a_chunk_with_a_row_of_an_open_transaction_is_not_frozen() {
    let mut random = Random::new(41);
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let rows = random.rows(&schema, 65_540);
    append(&store, id, &rows[..1]);
    let mut open = begin(&store);
    insert(&mut open, id, &batch(&schema, &rows[1..2]));
    append(&store, id, &rows[2..]);
    let first_chunk_is_hot = || store.snapshot().table(id).unwrap().chunk(0).is_hot();
    assert!(!store.freeze_step().unwrap() && first_chunk_is_hot());
    open.commit().unwrap();
    assert!(store.freeze_step().unwrap() && !first_chunk_is_hot());
    check_at_random(
        &mut random,
        &store.snapshot().table(id).unwrap().clone(),
        &rows,
        2,
    );
}

#[test]
fn thinned_blocks_are_rewritten_and_empty_ones_go() {
    let mut random = Random::new(29);
    let schema = schema();
    let (store, id) = store_with(schema.clone(), 65_536);
    let rows = random.rows(&schema, 3 * 65_536 + 10);
    append(&store, id, &rows);
    while store.freeze_step().unwrap() {}
    let ids = |chunk: u32, offsets: std::ops::Range<u16>| offsets.map(move |o| RowId::new(chunk, o));
    let mut transaction = begin(&store);
    let first = ids(0, 0..60_000);
    let second = ids(1, 0..u16::MAX).chain([RowId::new(1, u16::MAX)]);
    let gone: Vec<RowId> = first.chain(second).chain(ids(2, 0..10)).collect();
    delete(&mut transaction, id, &gone);
    let before = store.snapshot().table(id).unwrap().clone();
    transaction.commit().unwrap();
    // The block without rows has left with the commit.
    let after = store.snapshot().table(id).unwrap().clone();
    assert_eq!((before.chunk_count(), after.chunk_count()), (4, 3));
    assert_eq!(before.rows(), rows.len() as u64);
    assert!(store.freeze_step().unwrap());
    assert!(!store.freeze_step().unwrap());
    let table = store.snapshot().table(id).unwrap().clone();
    let shown: Vec<(u32, u32)> = table
        .chunks()
        .map(|c| (c.view().rows(), c.view().live_rows()))
        .collect();
    // The rewritten chunk has a number of its own, and stands behind the others.
    assert_eq!(shown, [(65_536, 65_526), (5_536, 5_536), (10, 10)]);
    let (second, third) = (2 * 65_536 + 10..3 * 65_536, 3 * 65_536..);
    let expected = [&rows[second], &rows[60_000..65_536], &rows[third]].concat();
    check_at_random(&mut random, &table, &expected, 2);
}

#[test]
fn a_table_that_cannot_be_held_as_asked_holds_up_no_other() {
    let store = Store::new();
    let schema = Arc::new(Schema::new(vec![ColumnDef::new("c", LogicalType::Double)]));
    let asked = BlockOptions {
        encoding: Some("decimal".to_string()),
        ..BlockOptions::default()
    };
    let mut options = TableOptions::default();
    options.columns.insert(0, asked);
    let rows = 65_537;
    let mut tables = Vec::new();
    let mut transaction = begin(&store);
    // A third is no decimal.
    for (name, part) in [("refused", 3.0), ("fitting", 4.0)] {
        let id = transaction
            .create_table(name, schema.clone(), options.clone())
            .unwrap()
            .id;
        let value = |i: usize| vec![Value::Double(i as f64 / part)];
        let values: Vec<Vec<Value>> = (0..rows).map(value).collect();
        insert(&mut transaction, id, &batch(&schema, &values));
        tables.push(id);
    }
    transaction.commit().unwrap();
    assert!(store.freeze_step().unwrap());
    let error = store.freeze_step().unwrap_err();
    assert_eq!(error.state(), SqlState::INVALID_PARAMETER);
    let frozen = |id| store.snapshot().table(id).unwrap().chunk(0).block().is_some();
    assert_eq!(
        tables.iter().map(|&id| frozen(id)).collect::<Vec<_>>(),
        [false, true]
    );
}
