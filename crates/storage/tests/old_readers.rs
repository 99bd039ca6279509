//! Index entries beside old readers: entries of rows that no living version shows leave at once, or with a worker in
//! the background while commits come often, and entries of rows that one shows stay until it is gone.
//!
//! Mutants of `src/entry_collector.rs` and `src/snapshot.rs`, each with the test that notices it:
//! - entries leave although an old version shows their rows (`version.shows(row))` answers false):
//!   [`rows_that_an_old_version_shows_are_found_in_it`];
//! - earlier versions are not asked once a later one is gone (`let_go` gives the rows the timestamp 0):
//!   [`rows_of_several_old_versions_stay_until_the_last_of_these_is_gone`];
//! - a private version does not hold the one that it derives from (`_base: None`):
//!   [`a_version_of_a_transaction_finds_rows_that_others_delete`].

mod support;

use frazil_catalog::{IndexKey, NewIndex};
use frazil_index::{Direction, KeyRange};
use frazil_storage::{ScanOptions, Snapshot, Store, TableSnapshot};
use frazil_types::{Cancel, ColumnDef, LogicalType, ObjectId, RowId, Schema, Value};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::*;

/// Deleted rows for which old versions are not asked yet: see `entry_collector.rs`.
const UNASKED: usize = 16;
/// Commits by which a worker takes over, and rows that commits leave to it at most: see `left_entries.rs`.
const FREQUENT: usize = 100;
const MOST_LEFT: usize = 256;

fn schema() -> Arc<Schema> {
    let columns = ["k", "v"].map(|name| ColumnDef::new(name, LogicalType::Integer).not_null());
    Arc::new(Schema::new(columns.to_vec()))
}

/// A table with an index on its keys, and what happens to it.
struct Table {
    store: Arc<Store>,
    id: ObjectId,
}

impl Table {
    /// A table of rows with these keys, and the ids of the rows.
    fn of(keys: std::ops::Range<i128>) -> (Table, Vec<RowId>) {
        let (store, id) = store_with(schema(), 65_536);
        let table = Table { store, id };
        let mut transaction = begin(&table.store);
        let index = NewIndex {
            name: Some("t_k".into()),
            if_not_exists: false,
            table: id,
            keys: vec![IndexKey::ascending(0)],
            include: Vec::new(),
            unique: false,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        };
        transaction.create_index(index, &Cancel::new()).unwrap();
        transaction.commit().unwrap();
        let ids = keys.map(|key| table.insert(key)).collect();
        (table, ids)
    }

    fn insert(&self, key: i128) -> RowId {
        let mut transaction = begin(&self.store);
        let ids = insert(&mut transaction, self.id, &row(key));
        transaction.commit().unwrap();
        ids[0]
    }

    fn delete(&self, row: RowId) {
        let mut transaction = begin(&self.store);
        delete(&mut transaction, self.id, &[row]);
        transaction.commit().unwrap();
    }

    /// Gives a row another id, as UPDATE does.
    fn update(&self, at: &mut RowId, key: i128) {
        let mut transaction = begin(&self.store);
        delete(&mut transaction, self.id, &[*at]);
        *at = insert(&mut transaction, self.id, &row(key))[0];
        transaction.commit().unwrap();
    }

    fn version<'a>(&self, snapshot: &'a Snapshot) -> &'a Arc<TableSnapshot> {
        snapshot.table(self.id).unwrap()
    }

    fn waiting(&self) -> u64 {
        self.version(&self.store.snapshot()).table().waiting_entries()
    }

    /// The rows of the index.
    fn entries(&self) -> BTreeSet<RowId> {
        let snapshot = self.store.snapshot();
        let index = self.version(&snapshot).indexes().iter().next().unwrap().clone();
        let mut found = BTreeSet::new();
        (index.candidates()).range(KeyRange::default(), Direction::Ascending, &mut |_, row| {
            assert!(found.insert(row), "{row:?} is there twice");
            true
        });
        found
    }

    fn rows(&self, snapshot: &Snapshot) -> BTreeSet<RowId> {
        let rows = scan(self.version(snapshot), &[], ScanOptions::default());
        rows.into_iter().map(|row| row.0).collect()
    }

    /// Each row of a version is in the index.
    fn check_found(&self, snapshot: &Snapshot) {
        let rows = self.rows(snapshot);
        let entries = self.entries();
        let lost: Vec<_> = rows.difference(&entries).collect();
        assert!(lost.is_empty(), "not in the index: {lost:?}");
    }

    /// The index has the rows that one of some versions or the newest one shows, and no other, once the background
    /// freezer has been here.
    fn check_exact(&self, readers: &[&Snapshot]) {
        self.store.freeze_step().unwrap();
        let mut shown = self.rows(&self.store.snapshot());
        let live = shown.len() as u64;
        readers.iter().for_each(|reader| shown.extend(self.rows(reader)));
        assert_eq!(self.entries(), shown);
        assert_eq!(self.waiting(), shown.len() as u64 - live);
    }
}

fn row(key: i128) -> frazil_types::RowBatch {
    batch(&schema(), &[vec![Value::Int(key), Value::Int(0)]])
}

#[test]
fn rows_that_come_and_go_beside_an_old_reader_leave_no_entries() {
    let (table, mut ids) = Table::of(0..10);
    let reader = table.store.snapshot();
    for n in 0..300 {
        table.update(&mut ids[n % 10], n as i128 % 10);
        let most = 20 + UNASKED;
        assert!(
            table.entries().len() <= most,
            "{} after {n}",
            table.entries().len()
        );
    }
    table.check_found(&reader);
    table.check_exact(&[&reader]);
    assert_eq!(table.waiting(), 10);
    drop(reader);
    // A commit that is no reader's matter takes out what nobody sees any more.
    table.update(&mut ids[0], 0);
    assert_eq!((table.waiting(), table.entries().len()), (0, 10));
}

#[test]
fn rows_that_an_old_version_shows_are_found_in_it() {
    let (table, ids) = Table::of(0..40);
    let reader = table.store.snapshot();
    ids.iter().for_each(|id| table.delete(*id));
    assert_eq!(table.waiting(), 40);
    table.check_found(&reader);
    table.check_exact(&[&reader]);
}

#[test]
fn rows_of_several_old_versions_stay_until_the_last_of_these_is_gone() {
    for gone_first in 0..3 {
        let (table, ids) = Table::of(0..40);
        let mut readers = Vec::new();
        for key in 0..3 {
            readers.push(table.store.snapshot());
            table.insert(100 + key);
        }
        ids.iter().for_each(|id| table.delete(*id));
        while !readers.is_empty() {
            table.check_exact(&readers.iter().map(|reader| &**reader).collect::<Vec<_>>());
            readers.remove(gone_first % readers.len());
        }
        table.check_exact(&[]);
    }
}

#[test]
fn a_version_of_a_transaction_finds_rows_that_others_delete() {
    let (table, ids) = Table::of(0..40);
    let mut transaction = begin(&table.store);
    insert(&mut transaction, table.id, &row(50));
    // A cursor of the transaction, which goes over to later versions meanwhile.
    let cursor = transaction.snapshot();
    ids.iter().for_each(|id| table.delete(*id));
    transaction.renew().unwrap();
    table.store.freeze_step().unwrap();
    table.check_found(&cursor);
    table.check_found(&transaction.snapshot());
    drop(cursor);
    transaction.commit().unwrap();
    table.check_exact(&[]);
}

#[test]
fn a_version_that_outlives_its_transaction_finds_the_rows_of_this() {
    let (table, ids) = Table::of(0..40);
    let mut transaction = begin(&table.store);
    let own: Vec<RowId> = (40..60)
        .map(|key| insert(&mut transaction, table.id, &row(key))[0])
        .collect();
    let view = transaction.snapshot();
    delete(&mut transaction, table.id, &own[..10]);
    transaction.commit().unwrap();
    own[10..].iter().chain(&ids).for_each(|id| table.delete(*id));
    table.store.freeze_step().unwrap();
    table.check_found(&view);
    assert_eq!(table.waiting(), 60);
    drop(view);
    table.check_exact(&[]);
}

#[test]
fn more_old_versions_than_are_asked_hold_their_rows() {
    let (table, ids) = Table::of(0..20);
    let mut readers = Vec::new();
    for key in 0..200 {
        readers.push(table.store.snapshot());
        table.insert(100 + key);
    }
    ids.iter().for_each(|id| table.delete(*id));
    while let Some(reader) = readers.pop() {
        table.store.freeze_step().unwrap();
        table.check_found(&reader);
    }
    table.check_exact(&[]);
}

#[test]
fn the_index_has_what_living_versions_show_whatever_happens() {
    for seed in 1..=8 {
        let (table, mut live) = Table::of(0..10);
        let mut random = Random::new(seed);
        let mut readers: Vec<Arc<Snapshot>> = Vec::new();
        for _ in 0..200 {
            match random.index(8) {
                0 | 1 => live.push(table.insert(random.below(50).into())),
                2 | 3 if !live.is_empty() => {
                    let at = random.index(live.len());
                    table.update(&mut live[at], random.below(50).into());
                }
                4 if live.len() > 5 => table.delete(live.swap_remove(random.index(live.len()))),
                5 if readers.len() < 6 => readers.push(table.store.snapshot()),
                6 if !readers.is_empty() => drop(readers.swap_remove(random.index(readers.len()))),
                _ => {
                    // Undone.
                    let mut transaction = begin(&table.store);
                    insert(&mut transaction, table.id, &row(7));
                }
            }
            readers.iter().for_each(|reader| table.check_found(reader));
            if random.below(10) == 0 {
                table.check_exact(&readers.iter().map(|reader| &**reader).collect::<Vec<_>>());
            }
        }
        readers.clear();
        table.check_exact(&[]);
    }
}

#[test]
fn frequent_commits_leave_a_bounded_number_of_entries_to_a_worker() {
    let (table, mut ids) = Table::of(0..10);
    let mut update = |n: usize| table.update(&mut ids[n % 10], n as i128 % 10);
    assert!(!table.store.serve_commits(), "insertions leave no entries");
    (0..FREQUENT - 1).for_each(&mut update);
    assert!(!table.store.serve_commits());
    (0..FREQUENT).for_each(&mut update);
    assert_eq!(table.entries().len(), 10, "nobody serves yet");
    assert!(table.store.serve_commits());
    (0..7).for_each(&mut update);
    assert_eq!((table.waiting(), table.entries().len()), (7, 17));
    table.store.remove_left_entries();
    assert_eq!((table.waiting(), table.entries().len()), (0, 10));
    // The worker is kept from its work.
    let mut most = 0;
    for n in 0..3 * MOST_LEFT {
        update(n);
        most = most.max(table.entries().len());
    }
    assert!((20..10 + MOST_LEFT).contains(&most), "{most} entries");
    assert!(table.store.serve_commits());
    assert_eq!(table.entries().len(), 10);
    update(3);
    assert!(!table.store.serve_commits(), "commits have become rare");
    update(4);
    assert_eq!((table.waiting(), table.entries().len()), (0, 10));
    (0..FREQUENT).for_each(&mut update);
    assert!(table.store.serve_commits());
    update(5);
    table.store.stop_serving_commits();
    update(6);
    assert_eq!((table.waiting(), table.entries().len()), (0, 10));
}

#[test]
fn rows_that_an_old_version_shows_are_found_beside_a_worker() {
    let (table, mut ids) = Table::of(0..40);
    (0..FREQUENT).for_each(|n| table.update(&mut ids[n % 40], n as i128 % 40));
    assert!(table.store.serve_commits());
    let reader = table.store.snapshot();
    (0..40).for_each(|n| table.update(&mut ids[n], n as i128));
    let between = table.store.snapshot();
    ids.iter().for_each(|id| table.delete(*id));
    assert_eq!(table.waiting(), 80);
    table.store.remove_left_entries();
    table.check_found(&reader);
    table.check_exact(&[&reader, &between]);
    drop(reader);
    table.insert(100);
    table.store.remove_left_entries();
    table.check_exact(&[&between]);
}

#[test]
fn writers_and_a_worker_at_once_lose_no_entry() {
    let (table, ids) = Table::of(0..40);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                table.store.serve_commits();
                for _ in 0..20 {
                    table.store.remove_left_entries();
                    std::thread::yield_now();
                }
            }
        });
        let writers: Vec<_> = ids
            .chunks(20)
            .map(|own| {
                let (table, mut own) = (&table, own.to_vec());
                scope.spawn(move || {
                    for n in 0..400 {
                        let reader = table.store.snapshot();
                        table.update(&mut own[n % 20], n as i128);
                        if n % 50 == 0 {
                            table.check_found(&reader);
                        }
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_over.store(true, Ordering::Relaxed);
        worker.join().unwrap();
    });
    table.store.stop_serving_commits();
    table.check_exact(&[]);
}
