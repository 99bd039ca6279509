//! Index entries of dead rows that commits have left to a worker when a checkpoint is made, the directory is closed, or
//! the power is cut. No entry is written to a file, so each index has the entries of its rows, and no others, when the
//! directory is opened again.

use crate::{batch, begin, create, read, row};
use frazil_catalog::{IndexKey, NewIndex};
use frazil_durability::Directory;
use frazil_durability::wal::WalOptions;
use frazil_storage::{Conflict, NewRows, Store};
use frazil_testkit::{Failure, SimVfs};
use frazil_types::{Cancel, ObjectId, Result, RowId, SqlState};
use std::path::Path;
use std::sync::Arc;

/// Numbers in the table.
const ROWS: usize = 20;
/// Commits by which a worker takes over: see `left_entries.rs` of the storage.
const FREQUENT: usize = 100;
/// Updates whose entries wait.
const LEFT: usize = 30;

/// Times that the power is cut while rows are updated.
const CUTS: usize = 12;

/// Files of so few sectors that they change often.
const SMALL: WalOptions = WalOptions {
    first_file_bytes: 3 * 4096,
    most_file_bytes: 6 * 4096,
};

fn open(sim: &SimVfs) -> Result<Directory> {
    Directory::open_with(sim.vfs(), Path::new("/data/db"), SMALL)
}

/// A table `t` of [`ROWS`] numbers with a unique index on them and another one on the names.
fn table(store: &Arc<Store>) -> ObjectId {
    let id = create(store, "t");
    for (column, unique) in [(0, true), (1, false)] {
        let mut transaction = begin(store);
        let index = NewIndex {
            name: Some(format!("t_{column}")),
            if_not_exists: false,
            table: id,
            keys: vec![IndexKey::ascending(column)],
            include: Vec::new(),
            unique,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        };
        transaction.create_index(index, &Cancel::new()).unwrap();
        transaction.commit().unwrap();
    }
    crate::append(store, id, 0..ROWS as i128);
    id
}

/// Ids of the rows, by their numbers.
fn ids(store: &Arc<Store>) -> Vec<RowId> {
    let mut rows = read(store, "t").unwrap();
    rows.sort_by_key(|row| row.1);
    rows.into_iter().map(|row| row.0).collect()
}

/// Gives some rows other ids, as UPDATE does: that of `number`, and of the next ones. The errors of a commit.
fn update(store: &Arc<Store>, id: ObjectId, count: usize, number: usize) -> Result<()> {
    let mut ids = ids(store);
    for at in (number..number + count).map(|n| n % ROWS) {
        let mut transaction = begin(store);
        transaction.writer(id)?.delete(&[ids[at]])?;
        let new = batch(at as i128..at as i128 + 1);
        let written = transaction
            .writer(id)?
            .insert(&NewRows::of(&new), Conflict::Fail)?;
        transaction.commit()?;
        ids[at] = written.rows[0].expect("the row is new");
    }
    Ok(())
}

/// Updates until commits leave entries to a worker, and then as often that [`LEFT`] rows wait for it.
fn leave_entries(store: &Arc<Store>, id: ObjectId) -> Result<()> {
    update(store, id, FREQUENT, 0)?;
    assert!(store.serve_commits(), "commits are frequent");
    update(store, id, LEFT, 0)?;
    assert_eq!(waiting(store, id), LEFT as u64);
    Ok(())
}

fn waiting(store: &Arc<Store>, id: ObjectId) -> u64 {
    store.snapshot().table(id).unwrap().table().waiting_entries()
}

/// Each index agrees with the rows, and has `others` entries besides.
fn check(store: &Arc<Store>, id: ObjectId, others: u64) {
    let snapshot = store.snapshot();
    let version = snapshot.table(id).unwrap();
    for index in version.indexes().iter() {
        let found = version.check_index(index, &Cancel::new()).unwrap();
        assert_eq!(found.faults, 0, "{:?}", found.told);
        assert_eq!((found.rows, found.other_entries), (ROWS as u64, others));
    }
    let mut numbers: Vec<i128> = read(store, "t").unwrap().into_iter().map(|row| row.1).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..ROWS as i128));
}

/// A number that is there is refused, and one that is not is free.
fn check_keys(store: &Arc<Store>, id: ObjectId) {
    let mut transaction = begin(store);
    let mut insert = |number: i128| {
        let mut writer = transaction.writer(id).unwrap();
        writer.insert(&NewRows::of(&batch(number..number + 1)), Conflict::Fail)
    };
    assert_eq!(insert(ROWS as i128).unwrap().count, 1);
    let error = insert(3).unwrap_err();
    assert_eq!(error.state(), SqlState::UNIQUE_VIOLATION, "{error}, {:?}", row(3));
    transaction.rollback();
}

#[test]
fn a_directory_that_is_closed_while_entries_wait_opens_without_them() {
    for ends_well in [true, false] {
        let sim = SimVfs::new(1);
        let directory = open(&sim).unwrap();
        let id = table(directory.store());
        leave_entries(directory.store(), id).unwrap();
        check(directory.store(), id, LEFT as u64);
        match ends_well {
            true => directory.close().unwrap(),
            false => drop(directory),
        }
        let directory = open(&sim).unwrap();
        assert_eq!(waiting(directory.store(), id), 0);
        check(directory.store(), id, 0);
        check_keys(directory.store(), id);
        update(directory.store(), id, 1, 3).unwrap();
        check(directory.store(), id, 0);
    }
}

#[test]
fn a_checkpoint_while_entries_wait_takes_none_of_them_along() {
    let sim = SimVfs::new(2);
    let directory = open(&sim).unwrap();
    let id = table(directory.store());
    leave_entries(directory.store(), id).unwrap();
    directory.checkpoint().unwrap();
    check(directory.store(), id, LEFT as u64);
    update(directory.store(), id, 1, 5).unwrap();
    // A block takes the place of the rows, and their entries still wait.
    crate::freeze(directory.store(), id);
    update(directory.store(), id, 1, 6).unwrap();
    directory.checkpoint().unwrap();
    check(directory.store(), id, waiting(directory.store(), id));
    directory.store().remove_left_entries();
    check(directory.store(), id, 0);
    update(directory.store(), id, 1, 7).unwrap();
    assert_eq!(waiting(directory.store(), id), 1);
    drop(directory);
    let directory = open(&sim).unwrap();
    check(directory.store(), id, 0);
    check_keys(directory.store(), id);
}

/// Leaves entries, makes a checkpoint, and leaves others. The first error of a file.
fn life(directory: &Directory, id: ObjectId) -> Result<()> {
    leave_entries(directory.store(), id)?;
    directory.checkpoint()?;
    update(directory.store(), id, LEFT, 3)?;
    directory.store().remove_left_entries();
    update(directory.store(), id, 1, 1)
}

#[test]
fn a_power_cut_while_entries_wait_leaves_indexes_that_agree_with_the_rows() {
    let begun = SimVfs::new(3);
    let directory = open(&begun).unwrap();
    let id = table(directory.store());
    drop(directory);
    let quiet = begun.copy(4);
    let directory = open(&quiet).unwrap();
    let first = quiet.operations();
    life(&directory, id).unwrap();
    let operations = quiet.operations();
    drop(directory);
    assert!(
        operations > first + 2 * FREQUENT as u64,
        "{first} to {operations}"
    );
    // The power is cut at some operations of updates, and at more of those around the checkpoint and behind it.
    let last = operations.saturating_sub(LEFT as u64);
    let mut cut = 0;
    let cuts = (first..last).step_by((operations - first) as usize / CUTS);
    for nth in cuts.chain((last..operations).step_by(4)) {
        let sim = begun.copy(nth);
        sim.fail_at(nth, Failure::PowerCut);
        let Ok(directory) = open(&sim) else {
            continue;
        };
        // A power cut in work that nobody waits for ends no life.
        cut += usize::from(life(&directory, id).is_err());
        drop(directory);
        let sim = match nth % 2 {
            0 => sim.restart_after_power_cut(),
            _ => sim.restart_after_kill(),
        };
        let directory = open(&sim).unwrap();
        assert_eq!(waiting(directory.store(), id), 0);
        check(directory.store(), id, 0);
        check_keys(directory.store(), id);
    }
    assert!(cut >= CUTS, "{cut} lives ended");
}
