//! Rings of transactions that wait for each other: exactly one fails with 40P01, the others go on.

use frazil_locks::{Claims, Locks, Mode, Outcome, Owner, Patience, TableMode};
use frazil_testkit::Random;
use frazil_types::{Cancel, MemoryBudget, ObjectId, Result, RowId, SqlState};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

/// A ring that was not found by then never is: nothing waits for the time, unless the search is blind.
const HANGS: Duration = Duration::from_secs(20);

/// A thing that a member of a ring holds and the one before it wants.
#[derive(Clone, Copy, Debug)]
enum Thing {
    /// A row, in a mode that conflicts with itself.
    Row(ObjectId, RowId, Mode),
    /// A key: the row that has it was inserted or deleted by an open transaction.
    Key(ObjectId, RowId),
    /// A table.
    Table(ObjectId, TableMode),
    /// The end of the transaction, as who waits for a place in the catalog.
    End,
}

fn some_thing(random: &mut Random, member: usize) -> Thing {
    let table = ObjectId(member as u32 + 1);
    let row = RowId::new(random.below(3) as u32, member as u16);
    match random.below(8) {
        0..=2 => {
            let modes = [Mode::NoKeyUpdate, Mode::Update];
            Thing::Row(ObjectId(100), row, modes[random.index(2)])
        }
        3..=4 => Thing::Key(ObjectId(100), row),
        5..=6 => {
            let modes = [
                TableMode::ShareUpdateExclusive,
                TableMode::ShareRowExclusive,
                TableMode::Exclusive,
                TableMode::AccessExclusive,
            ];
            Thing::Table(table, modes[random.index(4)])
        }
        _ => Thing::End,
    }
}

fn hold(locks: &Locks, thing: Thing, owner: &Owner) {
    let outcome = match thing {
        Thing::Row(table, row, mode) => locks.claims(table).claim(row, mode, owner),
        Thing::Key(table, row) => locks.claims(table).claim(row, Mode::Insert, owner),
        Thing::Table(table, mode) => owner.lock_table(table, mode),
        Thing::End => Ok(Outcome::Granted),
    };
    assert_eq!(outcome.unwrap(), Outcome::Granted);
}

/// Waits for what the next member holds.
fn want(locks: &Locks, thing: Thing, holder: frazil_locks::TxnId, owner: &Owner) -> Result<()> {
    let cancel = Cancel::new();
    let patience = Patience {
        until: Some(Instant::now() + HANGS),
        cancel: &cancel,
    };
    match thing {
        Thing::Row(table, row, mode) => locks.claims(table).claim_waiting(row, mode, owner, patience),
        Thing::Key(table, row) => {
            let claims: Claims = locks.claims(table);
            while claims.holder(row).is_some() {
                claims.wait_for_change(row, holder, owner, patience)?;
            }
            Ok(())
        }
        Thing::Table(table, mode) => owner.lock_table_waiting(table, mode, patience),
        Thing::End => owner.wait(holder, patience),
    }
}

/// Runs one ring. Returns the details of the errors.
fn ring(seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let locks = Locks::new(MemoryBudget::unlimited());
    let size = 2 + random.index(7);
    let things: Vec<Thing> = (0..size).map(|member| some_thing(&mut random, member)).collect();
    let owners: Vec<Owner> = (0..size).map(|_| locks.begin()).collect();
    let ids: Vec<_> = owners.iter().map(Owner::id).collect();
    owners
        .iter()
        .zip(&things)
        .for_each(|(owner, thing)| hold(&locks, *thing, owner));
    let start = Arc::new(Barrier::new(size));
    let threads: Vec<_> = (owners.into_iter().enumerate())
        .map(|(member, owner)| {
            let next = (member + 1) % size;
            let (locks, start, thing, holder) = (locks.clone(), start.clone(), things[next], ids[next]);
            thread::spawn(move || {
                start.wait();
                want(&locks, thing, holder, &owner)
            })
        })
        .collect();
    let results: Vec<Result<()>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let errors: Vec<_> = results.into_iter().filter_map(Result::err).collect();
    assert!(
        errors
            .iter()
            .all(|error| error.state() == SqlState::DEADLOCK_DETECTED),
        "{errors:?}"
    );
    assert!(locks.holdings().is_empty() && locks.waits().is_empty() && locks.transactions().is_empty());
    let lines = |error: &frazil_types::Error| error.detail().unwrap_or("").lines().count();
    assert!(
        errors.iter().all(|error| lines(error) == size),
        "seed {seed}: {errors:?}"
    );
    errors
        .iter()
        .map(|error| error.detail().unwrap_or("").to_owned())
        .collect()
}

#[test]
fn a_thousand_rings_have_one_victim_each() {
    for seed in 1..=1000 {
        let victims = ring(seed);
        assert_eq!(victims.len(), 1, "seed {seed}: {victims:?}");
    }
}
