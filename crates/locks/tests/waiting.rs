//! Waits: their order, their ends, and that nothing is left of them.

use frazil_locks::{AnyMode, Claims, Locks, Mode, Outcome, Owner, Patience, TableMode, Target, TxnId};
use frazil_types::{Cancel, MemoryBudget, ObjectId, RowId, SqlState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const TABLE: ObjectId = ObjectId(1);
const ROW: RowId = RowId(77);

fn new() -> (Locks, Claims) {
    let locks = Locks::new(MemoryBudget::unlimited());
    let claims = locks.claims(TABLE);
    (locks, claims)
}

fn patient(cancel: &Cancel) -> Patience<'_> {
    Patience { until: None, cancel }
}

fn claim(claims: &Claims, mode: Mode, owner: &Owner) -> Outcome {
    claims.claim(ROW, mode, owner).unwrap()
}

/// Returns when `count` threads wait.
fn until_waiting(locks: &Locks, count: usize) {
    while locks.waits().len() != count {
        thread::yield_now();
    }
}

fn is_quiet(locks: &Locks) -> bool {
    locks.holdings().is_empty() && locks.waits().is_empty() && locks.transactions().is_empty()
}

/// A thread that claims the row, notes its name, and ends.
fn claimer(
    locks: &Locks,
    mode: Mode,
    name: &'static str,
    order: &Arc<Mutex<Vec<&'static str>>>,
) -> JoinHandle<()> {
    let (locks, order) = (locks.clone(), order.clone());
    thread::spawn(move || {
        let owner = locks.begin();
        let claims = locks.claims(TABLE);
        claims
            .claim_waiting(ROW, mode, &owner, patient(&Cancel::new()))
            .unwrap();
        order.lock().unwrap().push(name);
    })
}

#[test]
fn a_newcomer_does_not_pass_those_who_wait() {
    let (locks, claims) = new();
    let order = Arc::new(Mutex::new(Vec::new()));
    let holder = locks.begin();
    assert_eq!(claim(&claims, Mode::Share, &holder), Outcome::Granted);
    let writer = claimer(&locks, Mode::Update, "writer", &order);
    until_waiting(&locks, 1);
    let newcomer = locks.begin();
    let writes = locks.waits()[0].transaction;
    assert_eq!(
        claim(&claims, Mode::Share, &newcomer),
        Outcome::Held(writes),
        "shares with the holder alone"
    );
    assert_eq!(claim(&claims, Mode::Share, &holder), Outcome::Granted);
    let reader = claimer(&locks, Mode::Share, "reader", &order);
    until_waiting(&locks, 2);
    assert_eq!(
        claim(&claims, Mode::Update, &holder),
        Outcome::Granted,
        "a holder may strengthen its own"
    );
    drop((holder, newcomer));
    writer.join().unwrap();
    reader.join().unwrap();
    assert_eq!(*order.lock().unwrap(), ["writer", "reader"]);
    assert!(is_quiet(&locks));
}

#[test]
fn a_holder_that_wants_more_comes_before_newcomers() {
    let (locks, claims) = new();
    let (first, second) = (locks.begin(), locks.begin());
    assert_eq!(claim(&claims, Mode::KeyShare, &first), Outcome::Granted);
    assert_eq!(claim(&claims, Mode::KeyShare, &second), Outcome::Granted);
    let order = Arc::new(Mutex::new(Vec::new()));
    let newcomer = claimer(&locks, Mode::Update, "newcomer", &order);
    until_waiting(&locks, 1);
    let strengthens = {
        let (claims, order) = (claims.clone(), order.clone());
        thread::spawn(move || {
            claims
                .claim_waiting(ROW, Mode::Update, &second, patient(&Cancel::new()))
                .unwrap();
            order.lock().unwrap().push("holder");
        })
    };
    until_waiting(&locks, 2);
    drop(first);
    strengthens.join().unwrap();
    newcomer.join().unwrap();
    assert_eq!(*order.lock().unwrap(), ["holder", "newcomer"]);
    assert!(is_quiet(&locks));
}

#[test]
fn the_statement_that_gives_up_makes_way() {
    let (locks, claims) = new();
    let holder = locks.begin();
    assert_eq!(claim(&claims, Mode::Share, &holder), Outcome::Granted);
    let cancel = Cancel::new();
    let writer = {
        let (locks, cancel) = (locks.clone(), cancel.clone());
        thread::spawn(move || {
            let owner = locks.begin();
            let claims = locks.claims(TABLE);
            claims
                .claim_waiting(ROW, Mode::Update, &owner, patient(&cancel))
                .unwrap_err()
        })
    };
    until_waiting(&locks, 1);
    let reader = claimer(&locks, Mode::Share, "reader", &Arc::default());
    until_waiting(&locks, 2);
    cancel.time_out();
    let error = writer.join().unwrap();
    assert_eq!(error.state(), SqlState::QUERY_CANCELED);
    assert_eq!(error.message(), "canceling statement due to statement timeout");
    reader.join().unwrap();
    drop(holder);
    assert!(is_quiet(&locks));
    assert_eq!((locks.counters().waits, locks.counters().cancels), (2, 1));
}

#[test]
fn a_wait_that_lasts_too_long_is_55p03_and_a_free_row_needs_no_time() {
    let (locks, claims) = new();
    let (holder, other) = (locks.begin(), locks.begin());
    assert_eq!(claim(&claims, Mode::Update, &holder), Outcome::Granted);
    let cancel = Cancel::new();
    let impatient = Patience {
        until: Some(Instant::now()),
        cancel: &cancel,
    };
    let attempts = [
        claims.claim_waiting(ROW, Mode::KeyShare, &other, impatient),
        claims.wait_for_change(ROW, holder.id(), &other, impatient),
        other.wait(holder.id(), impatient),
        claims.claim_all_waiting(ROW.chunk(), &[1, 2, ROW.offset()], Mode::Share, &other, impatient),
    ];
    for attempt in attempts {
        let error = attempt.unwrap_err();
        assert_eq!(error.state(), SqlState::LOCK_NOT_AVAILABLE);
        assert_eq!(error.message(), "canceling statement due to lock timeout");
        assert!(error.detail().is_some() && error.hint().is_some());
    }
    assert_eq!(locks.counters().timeouts, 4);
    assert!(locks.waits().is_empty());
    let soon = Patience {
        until: Some(Instant::now() + Duration::from_millis(1)),
        cancel: &cancel,
    };
    assert!(
        holder
            .lock_table_waiting(TABLE, TableMode::Exclusive, impatient)
            .is_ok()
    );
    assert!(other.lock_table_waiting(TABLE, TableMode::Share, soon).is_err());
    let id = holder.id();
    drop(holder);
    claims
        .claim_waiting(ROW, Mode::Update, &other, impatient)
        .unwrap();
    claims.wait_for_change(ROW, id, &other, impatient).unwrap();
    other.wait(id, impatient).unwrap();
}

#[test]
fn a_panic_frees_what_its_thread_held_and_poisons_nothing() {
    let (locks, claims) = new();
    let owner = locks.begin();
    assert_eq!(claim(&claims, Mode::Update, &owner), Outcome::Granted);
    assert_eq!(
        owner.lock_table(TABLE, TableMode::Exclusive).unwrap(),
        Outcome::Granted
    );
    let waits = claimer(&locks, Mode::Update, "next", &Arc::default());
    until_waiting(&locks, 1);
    let panics = catch_unwind(AssertUnwindSafe(move || {
        let _owner = owner;
        std::panic::resume_unwind(Box::new("a statement panics"));
    }));
    assert!(panics.is_err());
    waits.join().unwrap();
    let other = locks.begin();
    assert_eq!(
        other.lock_table(TABLE, TableMode::AccessExclusive).unwrap(),
        Outcome::Granted
    );
    drop(other);
    assert!(is_quiet(&locks));
}

#[test]
fn going_back_to_a_savepoint_wakes_who_waits_for_what_came_after_it() {
    let (locks, claims) = new();
    let mut owner = locks.begin();
    assert_eq!(claim(&claims, Mode::KeyShare, &owner), Outcome::Granted);
    let savepoint = owner.mark();
    assert_eq!(owner.mark(), savepoint, "nothing came between");
    assert_eq!(claim(&claims, Mode::Update, &owner), Outcome::Granted);
    let waits = claimer(&locks, Mode::Share, "reader", &Arc::default());
    until_waiting(&locks, 1);
    owner.free_since(savepoint);
    waits.join().unwrap();
    assert_eq!(
        claims.holder(ROW),
        Some((owner.id(), Mode::KeyShare)),
        "the earlier claim stays"
    );
    assert_eq!(claim(&claims, Mode::Update, &owner), Outcome::Granted);
    owner.free_since(savepoint);
    assert_eq!(
        claims.holder(ROW),
        Some((owner.id(), Mode::KeyShare)),
        "a mark stays valid"
    );
}

#[test]
fn a_circle_that_needs_only_a_place_in_a_queue_has_no_victim() {
    let (locks, claims) = new();
    let other_row = RowId(78);
    // One reads the table and will want the row; the second holds the row and will read the table; the third waits to
    // lock the table between them.
    let (first, second) = (locks.begin(), locks.begin());
    assert_eq!(
        first.lock_table(TABLE, TableMode::AccessShare).unwrap(),
        Outcome::Granted
    );
    assert_eq!(
        claims.claim(other_row, Mode::Update, &second).unwrap(),
        Outcome::Granted
    );
    let locker = {
        let locks = locks.clone();
        thread::spawn(move || {
            let owner = locks.begin();
            owner.lock_table_waiting(TABLE, TableMode::AccessExclusive, patient(&Cancel::new()))
        })
    };
    until_waiting(&locks, 1);
    let reader = thread::spawn(move || {
        let cancel = Cancel::new();
        second.lock_table_waiting(TABLE, TableMode::AccessShare, patient(&cancel))
    });
    until_waiting(&locks, 2);
    let cancel = Cancel::new();
    claims
        .claim_waiting(other_row, Mode::Update, &first, patient(&cancel))
        .unwrap();
    reader.join().unwrap().unwrap();
    drop(first);
    locker.join().unwrap().unwrap();
    assert_eq!((locks.counters().deadlocks, locks.counters().overtakings), (0, 1));
    assert!(is_quiet(&locks));
}

#[test]
fn two_who_share_a_row_and_both_want_to_change_it_are_a_circle() {
    let (locks, claims) = new();
    let sharers = [locks.begin(), locks.begin()];
    for owner in &sharers {
        assert_eq!(claim(&claims, Mode::Share, owner), Outcome::Granted);
    }
    let [first, second] = sharers;
    let (first_id, second_id) = (first.id(), second.id());
    let raises = {
        let claims = claims.clone();
        thread::spawn(move || claims.claim_waiting(ROW, Mode::Update, &first, patient(&Cancel::new())))
    };
    until_waiting(&locks, 1);
    let error = claims
        .claim_waiting(ROW, Mode::Update, &second, patient(&Cancel::new()))
        .unwrap_err();
    assert_eq!(
        (error.state(), error.message()),
        (SqlState::DEADLOCK_DETECTED, "deadlock detected")
    );
    let row = "row (0,77) of table 1";
    let expected = format!(
        "Transaction {second_id} waits for a claim UPDATE on {row}; blocked by transaction {first_id}.\n\
         Transaction {first_id} waits for a claim UPDATE on {row}; blocked by transaction {second_id}."
    );
    assert_eq!(error.detail(), Some(expected.as_str()));
    assert!(
        locks.holdings().len() == 2,
        "the victim holds what it held until it ends"
    );
    drop(second);
    raises.join().unwrap().unwrap();
    assert!(is_quiet(&locks));
}

#[test]
fn claims_wait_for_a_move_and_a_move_leaves_claimed_chunks_alone() {
    let (locks, claims) = new();
    let (mover, owner) = (locks.begin(), locks.begin());
    assert_eq!(
        claims.claim(RowId::new(1, 5), Mode::KeyShare, &owner).unwrap(),
        Outcome::Granted
    );
    assert!(claims.claim_chunk(1, &mover).is_none());
    let chunk = claims.claim_chunk(0, &mover).unwrap();
    assert!(claims.claim_chunk(0, &owner).is_none());
    assert_eq!(claim(&claims, Mode::KeyShare, &owner), Outcome::Held(mover.id()));
    let waits = claimer(&locks, Mode::Update, "writer", &Arc::default());
    until_waiting(&locks, 1);
    drop(chunk);
    waits.join().unwrap();
    drop((mover, owner));
    assert!(is_quiet(&locks));
}

#[test]
fn the_lists_say_who_holds_and_who_waits() {
    let (locks, claims) = new();
    let owner = locks.begin();
    let offsets: Vec<u16> = (10..1000).collect();
    assert_eq!(claims.claim_all(2, &offsets, Mode::Update, &owner).unwrap(), None);
    assert_eq!(
        owner.lock_table(TABLE, TableMode::RowExclusive).unwrap(),
        Outcome::Granted
    );
    let held: Vec<_> = locks
        .holdings()
        .iter()
        .map(|h| (h.transaction, h.first, h.mode, h.rows))
        .collect();
    let expected = [
        (
            owner.id(),
            Target::Table(TABLE),
            AnyMode::Table(TableMode::RowExclusive),
            0,
        ),
        (
            owner.id(),
            Target::Row(TABLE, RowId::new(2, 10)),
            AnyMode::Row(Mode::Update),
            990,
        ),
    ];
    assert_eq!(held, expected);
    let waiter = {
        let (locks, txn) = (locks.clone(), owner.id());
        thread::spawn(move || locks.begin().wait(txn, patient(&Cancel::new())))
    };
    until_waiting(&locks, 1);
    let wait = locks.waits().remove(0);
    assert_eq!(
        (wait.awaited, wait.target, wait.mode),
        (Some(owner.id()), None, None)
    );
    let open = locks.transactions();
    let shown: Vec<_> = open.iter().map(|open| (open.id, open.rows, open.waits)).collect();
    assert_eq!(shown, [(owner.id(), 990, false), (wait.transaction, 0, true)]);
    assert!(open[0].since <= open[1].since);
    drop(owner);
    waiter.join().unwrap().unwrap();
}

#[test]
fn five_hundred_sessions_change_one_row_one_after_the_other() {
    const SESSIONS: usize = 500;
    let (locks, _) = new();
    let counter = Arc::new(AtomicU64::new(0));
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|_| {
            let (locks, counter) = (locks.clone(), counter.clone());
            thread::Builder::new().stack_size(64 << 10).spawn(move || {
                let claims = locks.claims(TABLE);
                for _ in 0..4 {
                    let owner = locks.begin();
                    claims
                        .claim_waiting(ROW, Mode::NoKeyUpdate, &owner, patient(&Cancel::new()))
                        .unwrap();
                    let before = counter.load(Ordering::Relaxed);
                    counter.store(before + 1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    sessions
        .into_iter()
        .for_each(|session| session.unwrap().join().unwrap());
    assert_eq!(counter.load(Ordering::Relaxed), 4 * SESSIONS as u64);
    assert!(is_quiet(&locks));
}

#[test]
fn ten_thousand_sessions_hold_and_share() {
    let (locks, claims) = new();
    let owners: Vec<Owner> = (0..10_000).map(|_| locks.begin()).collect();
    for (at, owner) in owners.iter().enumerate() {
        let own = RowId::new(at as u32 % 50, 1000 + (at / 50) as u16);
        assert_eq!(claims.claim(own, Mode::Update, owner).unwrap(), Outcome::Granted);
        if at % 5 == 0 {
            assert_eq!(claim(&claims, Mode::KeyShare, owner), Outcome::Granted);
        }
        assert_eq!(
            owner.lock_table(TABLE, TableMode::RowExclusive).unwrap(),
            Outcome::Granted
        );
    }
    let ids: Vec<TxnId> = locks.transactions().iter().map(|open| open.id).collect();
    assert_eq!(ids, owners.iter().map(Owner::id).collect::<Vec<_>>());
    assert_eq!(
        locks.holdings().iter().map(|held| held.rows).sum::<usize>(),
        12_000
    );
    drop(owners);
    assert!(is_quiet(&locks));
}
