//! Models that loom runs through all schedules of a few threads: the six that the protocol stands on, and the two
//! rules, of rows and of keys, whose opposite loom must refute.

use crate::{Claimed, Claims, KeyMode, Locks, Mode, Outcome, Patience, TableMode};
use frazil_types::{Cancel, MemoryBudget, ObjectId, Result, RowId, SqlState};
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::sync::atomic::{AtomicUsize, Ordering};

const TABLE: ObjectId = ObjectId(1);
const ROW: RowId = RowId(5);
const OTHER_ROW: RowId = RowId(6);

/// Runs a model through all schedules in which a thread is stopped at most `stops` times where it could go on. The
/// model says whether the case arose for which it is there: it must in some schedules, but not in all.
fn explore(stops: usize, model: impl Fn() -> bool + Sync + Send + 'static) {
    let mut schedules = loom::model::Builder::new();
    schedules.preemption_bound = Some(stops);
    let seen = std::sync::Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let counts = seen.clone();
    schedules.check(move || {
        let arose = model();
        counts[usize::from(arose)].fetch_add(1, Ordering::Relaxed);
    });
    let [without, with] = [0, 1].map(|at: usize| seen[at].load(Ordering::Relaxed));
    println!("{with} of {} schedules", with + without);
    assert!(with > 0 && without > 0, "{with} with the case, {without} without");
}

/// A database with one row, whose newest version says how often the row was changed, and whether it is live.
struct OneRow {
    locks: Locks,
    newest: Mutex<(u32, bool)>,
}

impl OneRow {
    fn new() -> OneRow {
        OneRow {
            locks: Locks::new(MemoryBudget::unlimited()),
            newest: Mutex::new((0, true)),
        }
    }

    fn claims(&self) -> Claims {
        self.locks.claims(TABLE)
    }

    /// True if a thread waited.
    fn has_waited(&self) -> bool {
        self.locks.counters().waits > 0
    }

    fn is_quiet(&self) -> bool {
        self.locks.holdings().is_empty()
            && self.locks.waits().is_empty()
            && self.locks.transactions().is_empty()
    }
}

fn wait_for_ever(cancel: &Cancel) -> Patience<'_> {
    Patience { until: None, cancel }
}

/// Order of the steps of a transaction that deletes the row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Claim, look, install, free.
    Right,
    /// The look comes before the claim.
    LookFirst,
    /// The claim is freed before the version is installed.
    FreeFirst,
}

/// Deletes the row if it is live. Returns true if this transaction did.
fn delete(database: &OneRow, order: Order) -> bool {
    let cancel = Cancel::new();
    let owner = database.locks.begin();
    let looked = database.newest.lock().unwrap().1;
    let claimed = database
        .claims()
        .claim_waiting(ROW, Mode::Update, &owner, wait_for_ever(&cancel));
    claimed.unwrap();
    let is_live = match order {
        Order::LookFirst => looked,
        Order::Right | Order::FreeFirst => database.newest.lock().unwrap().1,
    };
    if order == Order::FreeFirst {
        drop(owner);
        database.newest.lock().unwrap().1 = false;
    } else {
        database.newest.lock().unwrap().1 = false;
        drop(owner);
    }
    is_live
}

fn two_delete(order: Order) {
    explore(5, move || {
        let database = Arc::new(OneRow::new());
        let other = database.clone();
        let other = thread::spawn(move || delete(&other, order));
        let deleted = delete(&database, order);
        assert!(deleted != other.join().unwrap(), "one of two deletes the row");
        assert!(database.is_quiet());
        database.has_waited()
    });
}

#[test]
fn who_claims_then_looks_sees_every_commit_that_held_the_row() {
    two_delete(Order::Right);
}

#[test]
#[should_panic(expected = "one of two deletes the row")]
fn a_look_before_the_claim_is_refuted() {
    two_delete(Order::LookFirst);
}

#[test]
#[should_panic(expected = "one of two deletes the row")]
fn a_claim_freed_before_the_version_is_installed_is_refuted() {
    two_delete(Order::FreeFirst);
}

/// A parent and its child: what is committed of them.
struct Family {
    locks: Locks,
    /// True if the parent is there, and true if the child is.
    newest: Mutex<(bool, bool)>,
}

const INDEX: ObjectId = ObjectId(2);
const KEY: u64 = 9;

/// Inserts the child unless its parent is gone, or deletes the parent unless it has a child, in an order of steps.
/// Returns true if it was done.
fn write(family: &Family, mode: KeyMode, order: Order) -> bool {
    let cancel = Cancel::new();
    let owner = family.locks.begin();
    let looked = *family.newest.lock().unwrap();
    let claimed = owner.claim_key_waiting(INDEX, KEY, mode, wait_for_ever(&cancel));
    assert_ne!(claimed.unwrap(), Claimed::Covered);
    let (parent, child) = match order {
        Order::LookFirst => looked,
        Order::Right | Order::FreeFirst => *family.newest.lock().unwrap(),
    };
    let owner = match order {
        Order::FreeFirst => {
            drop(owner);
            None
        }
        Order::Right | Order::LookFirst => Some(owner),
    };
    let is_done = match mode {
        KeyMode::Referenced => parent,
        KeyMode::Removed => !child,
    };
    match mode {
        _ if !is_done => {}
        KeyMode::Referenced => family.newest.lock().unwrap().1 = true,
        KeyMode::Removed => family.newest.lock().unwrap().0 = false,
    }
    drop(owner);
    is_done
}

fn child_beside_delete(order: Order) {
    explore(5, move || {
        let family = Arc::new(Family {
            locks: Locks::new(MemoryBudget::unlimited()),
            newest: Mutex::new((true, false)),
        });
        let other = family.clone();
        let other = thread::spawn(move || write(&other, KeyMode::Removed, order));
        let inserted = write(&family, KeyMode::Referenced, order);
        assert!(
            inserted != other.join().unwrap(),
            "the child or its parent's delete is refused"
        );
        assert!(family.locks.holdings().is_empty());
        family.locks.counters().waits > 0
    });
}

#[test]
fn a_child_beside_its_parents_delete_has_its_parent_or_is_refused() {
    child_beside_delete(Order::Right);
}

#[test]
#[should_panic(expected = "the child or its parent's delete is refused")]
fn a_look_for_the_parent_before_the_claim_is_refuted() {
    child_beside_delete(Order::LookFirst);
}

#[test]
#[should_panic(expected = "the child or its parent's delete is refused")]
fn a_key_freed_before_the_child_is_installed_is_refuted() {
    child_beside_delete(Order::FreeFirst);
}

/// Adds one to the row's counter in two steps, which only the claim keeps together.
fn count(database: &OneRow) {
    let cancel = Cancel::new();
    let owner = database.locks.begin();
    let claimed = database
        .claims()
        .claim_waiting(ROW, Mode::NoKeyUpdate, &owner, wait_for_ever(&cancel));
    claimed.unwrap();
    let before = database.newest.lock().unwrap().0;
    database.newest.lock().unwrap().0 = before + 1;
    drop(owner);
}

#[test]
fn a_queue_is_handed_over_to_one_after_the_other() {
    explore(3, || {
        let database = Arc::new(OneRow::new());
        let others: Vec<_> = (0..2)
            .map(|_| {
                let database = database.clone();
                thread::spawn(move || count(&database))
            })
            .collect();
        count(&database);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(database.newest.lock().unwrap().0, 3);
        assert!(database.is_quiet());
        database.has_waited()
    });
}

#[test]
fn a_waiter_that_is_cancelled_beside_the_end_of_the_holder_leaves_nothing() {
    explore(5, || {
        let database = Arc::new(OneRow::new());
        let cancel = Cancel::new();
        let holder = database.locks.begin();
        let held = database.claims().claim(ROW, Mode::Update, &holder).unwrap();
        assert_eq!(held, Outcome::Granted);
        let waits = {
            let (database, cancel) = (database.clone(), cancel.clone());
            thread::spawn(move || {
                let owner = database.locks.begin();
                let claims = database.claims();
                let claimed = claims.claim_waiting(ROW, Mode::Update, &owner, wait_for_ever(&cancel));
                let holder = claims.holder(ROW).map(|(txn, _)| txn);
                match claimed {
                    Ok(()) => assert_eq!(holder, Some(owner.id())),
                    Err(error) => {
                        assert_eq!(error.state(), SqlState::QUERY_CANCELED);
                        assert_ne!(holder, Some(owner.id()));
                    }
                }
            })
        };
        let aborts = thread::spawn(move || drop(holder));
        cancel.cancel();
        waits.join().unwrap();
        aborts.join().unwrap();
        assert!(database.is_quiet());
        database.has_waited()
    });
}

#[test]
fn a_chunk_moves_only_while_no_row_of_it_is_claimed() {
    explore(5, || {
        let database = Arc::new(OneRow::new());
        let mover = {
            let database = database.clone();
            thread::spawn(move || {
                let owner = database.locks.begin();
                let Some(chunk) = database.claims().claim_chunk(0, &owner) else {
                    return false;
                };
                let is_live = database.newest.lock().unwrap().1;
                // The row gets another id: nobody finds it under this one.
                database.newest.lock().unwrap().1 = false;
                drop(chunk);
                assert!(is_live, "a row that was claimed has moved");
                true
            })
        };
        let cancel = Cancel::new();
        let owner = database.locks.begin();
        let claims = database.claims();
        claims
            .claim_waiting(ROW, Mode::Update, &owner, wait_for_ever(&cancel))
            .unwrap();
        let (before, was_live) = *database.newest.lock().unwrap();
        database.newest.lock().unwrap().0 = before + 1;
        assert_eq!(
            database.newest.lock().unwrap().1,
            was_live,
            "the chunk moved below a claim"
        );
        drop(owner);
        let moved = mover.join().unwrap();
        assert!(moved || was_live, "found gone, but nobody moved it");
        assert!(database.is_quiet());
        database.has_waited()
    });
}

/// Claims `first`, then `second`.
fn cross(database: &OneRow, first: RowId, second: Option<RowId>) -> Result<()> {
    let cancel = Cancel::new();
    let owner = database.locks.begin();
    let claims = database.claims();
    claims.claim_waiting(first, Mode::Update, &owner, wait_for_ever(&cancel))?;
    match second {
        Some(row) => claims.claim_waiting(row, Mode::Update, &owner, wait_for_ever(&cancel)),
        None => owner.lock_table_waiting(TABLE, TableMode::Exclusive, wait_for_ever(&cancel)),
    }
}

#[test]
fn a_circle_of_two_rows_has_one_victim_or_none_arises() {
    explore(5, || {
        let database = Arc::new(OneRow::new());
        let other = database.clone();
        let other = thread::spawn(move || cross(&other, OTHER_ROW, Some(ROW)));
        let results = [cross(&database, ROW, Some(OTHER_ROW)), other.join().unwrap()];
        let failed: Vec<_> = results
            .iter()
            .filter_map(|result| result.as_ref().err())
            .collect();
        assert!(failed.len() <= 1);
        assert!(
            failed
                .iter()
                .all(|error| error.state() == SqlState::DEADLOCK_DETECTED)
        );
        assert_eq!(database.locks.counters().deadlocks, failed.len() as u64);
        assert!(database.is_quiet());
        failed.len() == 1
    });
}

#[test]
fn a_circle_of_a_row_and_a_table_is_found_from_either_side() {
    explore(5, || {
        let database = Arc::new(OneRow::new());
        let other = {
            let database = database.clone();
            thread::spawn(move || {
                let cancel = Cancel::new();
                let owner = database.locks.begin();
                owner.lock_table_waiting(TABLE, TableMode::Exclusive, wait_for_ever(&cancel))?;
                database
                    .claims()
                    .claim_waiting(ROW, Mode::Update, &owner, wait_for_ever(&cancel))
            })
        };
        let results = [cross(&database, ROW, None), other.join().unwrap()];
        let failed = results.iter().filter(|result| result.is_err()).count();
        assert!(failed <= 1);
        assert!(database.is_quiet());
        failed == 1
    });
}

#[test]
fn the_end_of_a_transaction_wakes_who_waits_for_it() {
    explore(5, || {
        let database = Arc::new(OneRow::new());
        let writer = database.locks.begin();
        let txn = writer.id();
        let ends = thread::spawn(move || drop(writer));
        let cancel = Cancel::new();
        let owner = database.locks.begin();
        owner.wait(txn, wait_for_ever(&cancel)).unwrap();
        ends.join().unwrap();
        drop(owner);
        assert!(database.is_quiet());
        database.has_waited()
    });
}

#[test]
fn the_end_of_a_change_wakes_who_waits_for_the_key() {
    explore(5, || {
        let database = Arc::new(OneRow::new());
        let mut writer = database.locks.begin();
        let txn = writer.id();
        let savepoint = writer.mark();
        let claimed = database.claims().claim(ROW, Mode::Insert, &writer).unwrap();
        assert_eq!(claimed, Outcome::Granted);
        let undoes = thread::spawn(move || {
            writer.free_since(savepoint);
            writer
        });
        let cancel = Cancel::new();
        let owner = database.locks.begin();
        database
            .claims()
            .wait_for_change(ROW, txn, &owner, wait_for_ever(&cancel))
            .unwrap();
        drop((undoes.join().unwrap(), owner));
        assert!(database.is_quiet());
        database.has_waited()
    });
}

/// Locks the table, and counts itself as a holder of the mode while it has the lock.
fn hold_table(database: &OneRow, mode: TableMode) {
    let cancel = Cancel::new();
    let owner = database.locks.begin();
    owner
        .lock_table_waiting(TABLE, mode, wait_for_ever(&cancel))
        .unwrap();
    {
        let mut newest = database.newest.lock().unwrap();
        assert!(newest.1, "two locks that conflict are held at once");
        newest.1 = false;
    }
    database.newest.lock().unwrap().1 = true;
}

#[test]
fn a_lock_that_keeps_writers_away_sees_the_lock_of_each_writer() {
    explore(4, || {
        let database = Arc::new(OneRow::new());
        let other = database.clone();
        let other = thread::spawn(move || hold_table(&other, TableMode::Share));
        hold_table(&database, TableMode::RowExclusive);
        other.join().unwrap();
        assert!(database.is_quiet());
        database.has_waited()
    });
}

#[test]
fn a_lock_that_is_gathered_and_goes_back_while_it_is_freed_is_freed() {
    explore(4, || {
        let database = Arc::new(OneRow::new());
        let writer = database.locks.begin();
        let locked = writer.lock_table(TABLE, TableMode::RowExclusive).unwrap();
        assert_eq!(locked, Outcome::Granted);
        let other = database.clone();
        let other = thread::spawn(move || {
            let owner = other.locks.begin();
            owner.lock_table(TABLE, TableMode::Exclusive).unwrap()
        });
        drop(writer);
        let is_met = other.join().unwrap() != Outcome::Granted;
        assert!(database.is_quiet());
        is_met
    });
}
