//! Freezing again: blocks follow the use of their columns and the options of their table, no more often than it
//! pays, and the rows stay what and where they are.

mod support;

use frazil_block::{Encoding, Layout};
use frazil_catalog::{BlockOptions, TableOptions};
use frazil_storage::{ScanOptions, Store, TableScan};
use frazil_types::{
    Cancel, ColumnDef, CompareOp, LogicalType, ObjectId, Restriction, RestrictionKind, RowId, Schema,
    SqlState, Value,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::*;

const ROWS: i128 = 8_192;

/// `n` counts, `class` has few values, `x` is almost constant.
fn schema() -> Arc<Schema> {
    let columns = [
        ("n", LogicalType::Integer),
        ("class", LogicalType::Integer),
        ("x", LogicalType::Double),
    ];
    let columns = columns.map(|(name, ty)| ColumnDef::new(name, ty).not_null());
    Arc::new(Schema::new(columns.to_vec()))
}

fn rows(from: i128, count: i128) -> Vec<Vec<Value>> {
    let row = |i: i128| {
        let x = if i == 5 { 1.0 / 3.0 } else { 0.25 };
        vec![Value::Int(i), Value::Int(i * 7919 % 64), Value::Double(x)]
    };
    (from..from + count).map(row).collect()
}

/// A store with a table of so many blocks of so many rows.
fn frozen(blocks: i128, count: i128) -> (Arc<Store>, ObjectId) {
    let (store, id) = store_with(schema(), 65_536);
    for block in 0..blocks {
        let rows = batch(&schema(), &rows(block * count, count));
        let mut transaction = begin(&store);
        let table = transaction.snapshot().table(id).unwrap().table().clone();
        let block = frazil_storage::Freezer::default().freeze_batch(&table, &rows);
        transaction.writer(id).unwrap().block(block.unwrap()).unwrap();
        transaction.commit().unwrap();
    }
    (store, id)
}

fn set_options(store: &Arc<Store>, change: impl FnOnce(&mut TableOptions)) {
    let mut transaction = begin(store);
    let mut options = transaction
        .snapshot()
        .catalog()
        .table(&"t".into())
        .unwrap()
        .options
        .clone();
    change(&mut options);
    let id = transaction.snapshot().table_named("t").unwrap().table().id();
    transaction.set_options(id, options).unwrap();
    transaction.commit().unwrap();
}

/// Reads all columns of the rows whose class is one of 64, or of all rows.
fn read(store: &Arc<Store>, id: ObjectId, class: Option<i128>) {
    let restriction = class.map(|class| Restriction {
        column: 1,
        kind: RestrictionKind::Compare(CompareOp::Eq, Value::Int(class)),
    });
    let table = store.snapshot().table(id).unwrap().clone();
    let scan = TableScan::new(
        table,
        vec![0, 2],
        restriction.into_iter().collect(),
        ScanOptions::default(),
    );
    let scan = Arc::new(scan.unwrap());
    let mut cursor = scan.cursor();
    for morsel in 0..scan.morsels() {
        cursor.open(morsel).unwrap();
        while cursor.next().unwrap().is_some() {
            cursor.fetch(0).unwrap();
            cursor.fetch(1).unwrap();
        }
    }
}

/// How each column of each block is held.
fn held(store: &Arc<Store>, id: ObjectId) -> Vec<(Encoding, Layout)> {
    let table = store.snapshot().table(id).unwrap().clone();
    let blocks: Vec<_> = table.chunks().filter_map(|slot| slot.block().cloned()).collect();
    let columns = blocks
        .iter()
        .flat_map(|b| (0..b.columns()).map(move |c| b.entry(c)));
    columns.map(|e| (e.encoding, e.layout)).collect()
}

/// Steps until there is nothing to do; the number of blocks that were built anew.
fn settle(store: &Arc<Store>) -> usize {
    let mut rebuilt = 0;
    for _ in 0..1000 {
        match store.refreeze_step().unwrap() {
            Some(step) => rebuilt += usize::from(step.rebuilt),
            None => return rebuilt,
        }
    }
    panic!("it never ends");
}

#[test]
fn a_column_that_is_fetched_at_positions_is_held_for_that() {
    let (store, id) = frozen(2, ROWS);
    let before = held(&store, id);
    let table = store.snapshot().table(id).unwrap().clone();
    for i in 0..20 {
        read(&store, id, Some(i % 64));
    }
    assert_eq!(
        store.refreeze_step().unwrap(),
        None,
        "few accesses change nothing"
    );
    for i in 0..200 {
        read(&store, id, Some(i % 64));
    }
    let access = table.table().access().recent();
    assert_eq!(access.visits, 440);
    assert!(access.columns[1].tested > 400 * ROWS as u64 && access.columns[1].fetched == 0);
    assert!(
        access.columns[0].fetched > 400 * 100 && access.columns[0].scanned == 0,
        "{access:?}"
    );
    let step = store.refreeze_step().unwrap().unwrap();
    assert!(
        step.rebuilt && step.bytes > 1000,
        "{before:?} {:?}",
        held(&store, id)
    );
    assert_eq!(settle(&store), 1);
    let after = held(&store, id);
    assert_ne!(before[0], after[0], "the column that is fetched");
    assert_eq!((before[3], after[0]), (before[0], after[3]));
    let now = store.snapshot().table(id).unwrap().clone();
    let numbers = |t: &Arc<frazil_storage::TableSnapshot>| t.chunks().map(|s| s.number()).collect::<Vec<_>>();
    assert_eq!(numbers(&table), numbers(&now));
    let all = rows(0, 2 * ROWS);
    check_at_random(&mut Random::new(3), &now, &all, 4);
    check_at_random(&mut Random::new(4), &table, &all, 2);
    // It stays so as long as the use does.
    for i in 0..2_000 {
        read(&store, id, Some(i % 64));
        store.end_epochs();
    }
    assert_eq!(settle(&store), 0);
}

#[test]
fn a_use_that_swings_is_not_followed() {
    for period in [1, 8, 40] {
        let (store, id) = frozen(1, ROWS);
        let mut rebuilt = 0;
        for i in 0..3_000 {
            read(&store, id, (i / period % 2 == 0).then_some(i128::from(i) % 64));
            store.end_epochs();
            rebuilt += settle(&store);
        }
        assert!(rebuilt <= 1, "every {period}: {rebuilt} times");
    }
    // Slow swings are followed, ever more reluctantly.
    let (store, id) = frozen(1, ROWS);
    let mut rebuilt = 0;
    for i in 0..12_000 {
        read(&store, id, (i / 400 % 2 == 0).then_some(i128::from(i) % 64));
        store.end_epochs();
        rebuilt += settle(&store);
    }
    assert!(rebuilt <= 4, "{rebuilt} times");
}

#[test]
fn what_no_longer_matches_the_options_is_built_anew_at_once() {
    // Too large to be put together.
    let (store, id) = frozen(2, 33_000);
    assert_eq!(settle(&store), 0);
    set_options(&store, |o| o.blocks.layout = Some("vbp".to_string()));
    assert_eq!(settle(&store), 2);
    let vbp = held(&store, id);
    assert!(
        vbp.iter().all(|h| h.1 == Layout::Vbp || h.1 == Layout::None),
        "{vbp:?}"
    );
    // What is held as asked already is looked at, and left.
    set_options(&store, |o| {
        let asked = BlockOptions {
            layout: Some("vbp".to_string()),
            ..BlockOptions::default()
        };
        o.columns.insert(0, asked);
    });
    assert_eq!(settle(&store), 0);
    // The same by FREEZE TABLE, for all blocks in one transaction.
    let freeze = |store: &Arc<Store>| {
        let mut transaction = begin(store);
        let options = transaction.snapshot().table(id).unwrap().build_options();
        let report = transaction.freeze_table(id, None, options, &Cancel::new());
        transaction.commit().unwrap();
        report
    };
    set_options(&store, |o| {
        *o = TableOptions {
            blocks: BlockOptions {
                freeze_for: Some("point".to_string()),
                ..BlockOptions::default()
            },
            ..TableOptions::default()
        }
    });
    assert_eq!(freeze(&store).unwrap().blocks, 2);
    assert_eq!(freeze(&store).unwrap().blocks, 0);
    assert_eq!(settle(&store), 0);
    let now = store.snapshot().table(id).unwrap().clone();
    check_at_random(&mut Random::new(3), &now, &rows(0, 2 * 33_000), 2);
    // The first block has a double that is no decimal.
    set_options(&store, |o| {
        let asked = BlockOptions {
            encoding: Some("decimal".to_string()),
            ..BlockOptions::default()
        };
        o.columns.insert(2, asked);
    });
    let outcomes: Vec<_> = (0..4).map(|_| store.refreeze_step()).collect();
    assert_eq!(outcomes.iter().filter(|o| o.is_err()).count(), 1, "{outcomes:?}");
    assert!(
        matches!(outcomes[3], Ok(None)),
        "a refusal holds nobody up: {outcomes:?}"
    );
    assert_eq!(freeze(&store).unwrap_err().state(), SqlState::INVALID_PARAMETER);
}

#[test]
fn readers_and_deletes_go_on_meanwhile() {
    let (store, id) = frozen(4, ROWS);
    let all = rows(0, 4 * ROWS);
    let done = AtomicBool::new(false);
    let mut deleted = std::collections::BTreeSet::new();
    let rebuilt = std::thread::scope(|scope| {
        let at_end = frazil_testkit::RaisedAtEnd(&done);
        let worker = scope.spawn(|| {
            let mut rebuilt = 0;
            while !done.load(Ordering::Acquire) {
                rebuilt += store
                    .refreeze_step()
                    .unwrap()
                    .map_or(0, |s| usize::from(s.rebuilt));
            }
            rebuilt + settle(&store)
        });
        let reader = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                let table = store.snapshot().table(id).unwrap().clone();
                let seen = scan(&table, &[], ScanOptions::default());
                assert_eq!(seen.len() as u64, table.rows());
                for (place, row) in &seen {
                    // Rows keep their places.
                    let n = row[0].as_int().unwrap();
                    assert_eq!(i128::from(place.chunk()) * ROWS + i128::from(place.offset()), n);
                }
            }
        });
        let mut random = Random::new(7);
        for round in 0..40 {
            let wait = std::time::Duration::from_secs(20);
            let mut transaction = store.begin(wait, &Cancel::new()).unwrap();
            if round % 2 == 0 {
                let mut options = transaction
                    .snapshot()
                    .catalog()
                    .table(&"t".into())
                    .unwrap()
                    .options
                    .clone();
                options.blocks.layout = Some(Layout::ALL[round / 2 % 5].to_string());
                transaction.set_options(id, options).unwrap();
            }
            let table = transaction.snapshot().table(id).unwrap().clone();
            let low = random.below(4 * ROWS as u64) as i128;
            let restriction = Restriction {
                column: 0,
                kind: RestrictionKind::Between(Value::Int(low), Value::Int(low + 100)),
            };
            let found = scan(&table, &[restriction], ScanOptions::default());
            let ids: Vec<RowId> = found.iter().map(|r| r.0).collect();
            delete(&mut transaction, id, &ids);
            deleted.extend(found.iter().map(|r| r.1[0].as_int().unwrap()));
            transaction.commit().unwrap();
        }
        drop(at_end);
        reader.join().unwrap();
        worker.join().unwrap()
    });
    assert!(rebuilt >= 4, "{rebuilt}");
    let table = store.snapshot().table(id).unwrap().clone();
    let left: Vec<_> = (all.into_iter())
        .filter(|r| !deleted.contains(&r[0].as_int().unwrap()))
        .collect();
    check_at_random(&mut Random::new(2), &table, &left, 4);
    let last = Layout::ALL[19 % 5];
    assert!(
        held(&store, id)
            .iter()
            .all(|h| h.1 == last || h.1 == Layout::None),
        "{:?}",
        held(&store, id)
    );
}

#[test]
fn a_new_block_is_built_for_the_use_of_those_before_it() {
    let (store, id) = frozen(1, ROWS);
    for i in 0..200 {
        read(&store, id, Some(i % 64));
    }
    let mut transaction = begin(&store);
    insert(
        &mut transaction,
        id,
        &batch(&schema(), &rows(ROWS, 65_536 - ROWS)),
    );
    let options = transaction.snapshot().table(id).unwrap().build_options();
    transaction
        .freeze_table(id, None, options, &Cancel::new())
        .unwrap();
    transaction.commit().unwrap();
    let held = held(&store, id);
    assert_eq!(held[0].0, Encoding::FrameOfReference, "{held:?}");
    assert_eq!(settle(&store), 0);
}
