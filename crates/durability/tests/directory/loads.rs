//! Blocks that a record of the log names: their segments are there before it, and stay until a checkpoint has the commit.

use crate::{Temporary, append, batch, begin, create, delete, freeze, numbers, read, segments};
use frazil_block::BuildOptions;
use frazil_catalog::DropRelations;
use frazil_durability::Directory;
use frazil_storage::{Acknowledge, Freezer, TableMode, Transaction};
use frazil_testkit::SimVfs;
use frazil_types::{Cancel, ObjectId, RowId, SqlState};
use frazil_vfs::Vfs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Adds rows as a block.
fn load(transaction: &mut Transaction, id: ObjectId, numbers: Range<i128>) {
    let table = transaction.view().table(id).unwrap().table().clone();
    let block = Freezer::default().freeze_batch(&table, &batch(numbers)).unwrap();
    transaction.writer(id).unwrap().block(block).unwrap();
}

fn commit(directory: &Directory, work: impl FnOnce(&mut Transaction)) {
    let mut transaction = begin(directory.store());
    work(&mut transaction);
    transaction.commit().unwrap();
}

#[test]
fn a_load_makes_no_checkpoint_and_is_written_once() {
    let temporary = Temporary::new("load");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    commit(&directory, |t| load(t, id, 0..500));
    append(directory.store(), id, 500..510);
    delete(directory.store(), id, |n| n % 100 == 7);
    commit(&directory, |t| {
        t.freeze_table(id, Some(0), BuildOptions::default(), &Cancel::new())
            .unwrap();
    });
    commit(&directory, |t| load(t, id, 510..600));
    delete(directory.store(), id, |n| n == 555);
    assert!(directory.checkpoints().is_empty());
    let expected = read(directory.store(), "t").unwrap();
    assert_eq!(expected.len(), 593);
    drop(directory);
    // Done again from the log, twice.
    for _ in 0..2 {
        let directory = temporary.open();
        assert!(directory.recovery().commits > 0);
        assert_eq!(read(directory.store(), "t").unwrap(), expected);
    }
    let directory = temporary.open();
    assert_eq!(segments(&temporary.0), 3);
    let written = directory.checkpoint().unwrap();
    assert_eq!(written.blocks, 0, "the blocks lie in segments already");
    drop(directory);
    let directory = temporary.open();
    assert_eq!(directory.recovery().commits, 0);
    assert_eq!(read(directory.store(), "t").unwrap(), expected);
    // The block whose rows moved is not needed any more.
    assert!(segments(&temporary.0) <= 3);
    commit(&directory, |t| {
        t.drop_relations(&DropRelations::table("t")).unwrap();
    });
    directory.close().unwrap();
    assert_eq!(segments(&temporary.0), 0);
}

#[test]
fn what_is_rolled_back_or_emptied_leaves_no_segment() {
    let temporary = Temporary::new("unloaded");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    let mut transaction = begin(directory.store());
    load(&mut transaction, id, 0..100);
    assert_eq!(segments(&temporary.0), 1);
    transaction.rollback();
    assert_eq!(segments(&temporary.0), 0);
    commit(&directory, |t| {
        let savepoint = t.savepoint();
        load(t, id, 0..100);
        t.rollback_to(savepoint);
        load(t, id, 100..110);
        t.truncate(id).unwrap();
    });
    append(directory.store(), id, 0..3);
    let directory = reopened(&temporary, directory);
    assert_eq!(numbers(directory.store()), [0, 1, 2]);
    directory.checkpoint().unwrap();
    assert_eq!(segments(&temporary.0), 1);
}

fn reopened(temporary: &Temporary, directory: Directory) -> Directory {
    drop(directory);
    temporary.open()
}

/// A transaction that outlives its database removes no file of the next one.
#[test]
fn a_load_that_outlives_its_database_leaves_the_next_one_alone() {
    let temporary = Temporary::new("outlived-load");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    let mut late = begin(directory.store());
    load(&mut late, id, 0..100);
    assert_eq!(segments(&temporary.0), 1);
    let directory = reopened(&temporary, directory);
    assert_eq!(segments(&temporary.0), 0, "nothing names it");
    commit(&directory, |t| load(t, id, 0..50));
    let before = segments(&temporary.0);
    assert_eq!(
        late.commit().unwrap_err().state(),
        SqlState::CONNECTION_DOES_NOT_EXIST
    );
    assert_eq!(segments(&temporary.0), before);
    let directory = reopened(&temporary, directory);
    assert_eq!(numbers(directory.store()).len(), 50);
}

#[test]
fn a_segment_that_the_log_names_is_missed_by_its_name() {
    let temporary = Temporary::new("named");
    let directory = temporary.open();
    let id = create(directory.store(), "t");
    freeze(directory.store(), id);
    commit(&directory, |t| load(t, id, 0..100));
    drop(directory);
    let path = temporary.0.join("segments/00000001.seg");
    let bytes = std::fs::read(&path).unwrap();
    let check = || {
        let directory = Directory::open(&temporary.0).unwrap();
        let snapshot = directory.store().snapshot();
        let error = snapshot.table_named("t").unwrap_err();
        assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "{error}");
        assert!(error.message().contains("00000001.seg\""), "{error}");
    };
    let damages: [&[u8]; 3] = [&bytes[..bytes.len() - 1], &bytes[..70], b"something else"];
    for damaged in damages {
        std::fs::write(&path, damaged).unwrap();
        check();
    }
    std::fs::remove_file(&path).unwrap();
    check();
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(numbers(temporary.open().store()).len(), 100);
}

/// Loads and checkpoints beside each other: a checkpoint that does not have a commit leaves the segment that its record names.
#[test]
fn a_checkpoint_leaves_a_load_that_was_named_while_it_began() {
    let sim = SimVfs::new(1);
    let directory = Arc::new(Directory::open_over(sim.vfs(), Path::new("/db")).unwrap());
    let id = create(directory.store(), "t");
    commit_unsynced(&directory, id, 0..10);
    // The checkpoint knows its commits, and waits until they are in the log.
    let beside = Arc::downgrade(&directory);
    sim.run_before("sync /db/log/", move || {
        commit_unsynced(&beside.upgrade().unwrap(), id, 10..20);
    });
    directory.checkpoint().unwrap();
    commit(&directory, |t| load(t, id, 20..30));
    let sim = sim.restart_after_power_cut();
    let directory = Directory::open_over(sim.vfs(), Path::new("/db")).unwrap();
    assert_eq!(numbers(directory.store()), (0..30).collect::<Vec<_>>());
}

/// Loads numbers, and does not wait until they are durable.
fn commit_unsynced(directory: &Directory, id: ObjectId, numbers: Range<i128>) {
    let mut transaction = directory.store().begin(Duration::ZERO, &Cancel::new()).unwrap();
    load(&mut transaction, id, numbers);
    transaction.commit_as(Acknowledge::Placed).unwrap();
}

#[test]
fn checkpoints_beside_loads_leave_what_the_log_names() {
    for seed in 0..6 {
        let sim = SimVfs::new(seed);
        let directory = Directory::open_over(sim.vfs(), Path::new("/db")).unwrap();
        let id = create(directory.store(), "t");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let at_end = frazil_testkit::RaisedAtEnd(&is_over);
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    directory.checkpoint().unwrap();
                }
            });
            for n in 0..60 {
                let mut transaction = directory.store().begin(Duration::ZERO, &Cancel::new()).unwrap();
                load(&mut transaction, id, n * 10..n * 10 + 10);
                let acknowledge = [Acknowledge::Durable, Acknowledge::Placed][n as usize % 2];
                transaction.commit_as(acknowledge).unwrap();
            }
            commit(&directory, |t| load(t, id, 600..605));
            drop(at_end);
        });
        let sim = sim.restart_after_power_cut();
        let directory = Directory::open_over(sim.vfs(), Path::new("/db")).unwrap();
        assert_eq!(numbers(directory.store()), (0..605).collect::<Vec<_>>());
    }
}

/// Rows that move in the background are on the disk before the table is locked: others write while the disk works.
#[test]
fn others_write_while_the_segment_of_a_background_move_is_synced() {
    let sim = SimVfs::new(1);
    let directory = Arc::new(Directory::open_over(sim.vfs(), Path::new("/db")).unwrap());
    let id = create(directory.store(), "t");
    commit(&directory, |t| load(t, id, 0..500));
    delete(directory.store(), id, |n| n % 5 != 0);
    let beside = Arc::downgrade(&directory);
    let seen = Arc::new(AtomicBool::new(false));
    let was_seen = seen.clone();
    sim.run_before("sync /db/segments/", move || {
        let directory = beside.upgrade().unwrap();
        // Nobody else has the lock; what is written meanwhile moves along.
        let mut transaction = directory.store().begin(Duration::ZERO, &Cancel::new()).unwrap();
        transaction
            .writer(id)
            .unwrap()
            .delete(&[RowId::new(0, 10)])
            .unwrap();
        transaction.commit_as(Acknowledge::Placed).unwrap();
        was_seen.store(true, Ordering::Relaxed);
    });
    assert!(directory.store().freeze_step().unwrap());
    assert!(seen.load(Ordering::Relaxed), "the segment was not synced");
    let expected: Vec<i128> = (0..500).filter(|n| n % 5 == 0 && *n != 10).collect();
    assert_eq!(numbers(directory.store()), expected);
    // A move that finds somebody writing to the table leaves no file.
    delete(directory.store(), id, |n| n % 3 != 0);
    let files = || sim.list(Path::new("/db/segments")).unwrap().len();
    let before = files();
    let mut writer = begin(directory.store());
    writer.lock_table(id, TableMode::RowExclusive).unwrap();
    assert!(!directory.store().freeze_step().unwrap());
    assert_eq!(files(), before);
    drop(writer);
    assert!(directory.store().freeze_step().unwrap());
    commit(&directory, |t| load(t, id, 500..501));
    let expected: Vec<i128> = (0..501)
        .filter(|n| (n % 15 == 0 && *n < 500) || *n == 500)
        .collect();
    let sim = sim.restart_after_power_cut();
    let directory = Directory::open_over(sim.vfs(), Path::new("/db")).unwrap();
    assert_eq!(numbers(directory.store()), expected);
}
