//! Every pair of modes against PostgreSQL's tables, by claims and locks of two transactions.

use crate::reference::{ROW_MODES, TABLE_MODES, conflict};
use frazil_locks::{AnyMode, Locks, Mode, Outcome};
use frazil_types::{MemoryBudget, ObjectId, RowId};

const TABLE: ObjectId = ObjectId(7);

#[test]
fn rows_conflict_as_in_the_manual() {
    for first in ROW_MODES {
        for second in ROW_MODES {
            let locks = Locks::new(MemoryBudget::unlimited());
            let (claims, row) = (locks.claims(TABLE), RowId::new(3, 9));
            let (holder, other) = (locks.begin(), locks.begin());
            assert_eq!(claims.claim(row, first, &holder).unwrap(), Outcome::Granted);
            let expected = match conflict(AnyMode::Row(first), AnyMode::Row(second)) {
                true => Outcome::Held(holder.id()),
                false => Outcome::Granted,
            };
            assert_eq!(
                claims.claim(row, second, &other).unwrap(),
                expected,
                "{first:?}, {second:?}"
            );
            drop(holder);
            assert_eq!(claims.claim(row, second, &other).unwrap(), Outcome::Granted);
        }
    }
}

#[test]
fn a_holder_strengthens_its_claim_unless_another_holder_is_in_the_way() {
    for shared in ROW_MODES {
        for more in ROW_MODES {
            let locks = Locks::new(MemoryBudget::unlimited());
            let (claims, row) = (locks.claims(TABLE), RowId::new(3, 9));
            let (holder, other) = (locks.begin(), locks.begin());
            assert_eq!(
                claims.claim(row, Mode::KeyShare, &holder).unwrap(),
                Outcome::Granted
            );
            let is_shared = claims.claim(row, shared, &other).unwrap() == Outcome::Granted;
            let is_free =
                more == Mode::KeyShare || !is_shared || !conflict(AnyMode::Row(shared), AnyMode::Row(more));
            let expected = match is_free {
                true => Outcome::Granted,
                false => Outcome::Held(other.id()),
            };
            assert_eq!(
                claims.claim(row, more, &holder).unwrap(),
                expected,
                "{shared:?}, {more:?}"
            );
        }
    }
}

#[test]
fn tables_conflict_as_in_the_manual() {
    for first in TABLE_MODES {
        for second in TABLE_MODES {
            let locks = Locks::new(MemoryBudget::unlimited());
            let (holder, other) = (locks.begin(), locks.begin());
            assert_eq!(holder.lock_table(TABLE, first).unwrap(), Outcome::Granted);
            let expected = match conflict(AnyMode::Table(first), AnyMode::Table(second)) {
                true => Outcome::Held(holder.id()),
                false => Outcome::Granted,
            };
            assert_eq!(
                other.lock_table(TABLE, second).unwrap(),
                expected,
                "{first:?}, {second:?}"
            );
            assert_eq!(other.lock_table(ObjectId(8), second).unwrap(), Outcome::Granted);
            drop(holder);
            assert_eq!(other.lock_table(TABLE, second).unwrap(), Outcome::Granted);
        }
    }
}

#[test]
fn conflicts_are_symmetric_and_never_join_rows_and_tables() {
    let all: Vec<AnyMode> = ROW_MODES
        .map(AnyMode::Row)
        .into_iter()
        .chain(TABLE_MODES.map(AnyMode::Table))
        .collect();
    for a in &all {
        for b in &all {
            assert_eq!(a.conflicts_with(*b), conflict(*a, *b), "{a}, {b}");
            assert_eq!(a.conflicts_with(*b), b.conflicts_with(*a), "{a}, {b}");
        }
    }
}

#[test]
fn a_lock_for_update_does_not_hide_that_its_holder_deletes_the_row() {
    let locks = Locks::new(MemoryBudget::unlimited());
    let (claims, row) = (locks.claims(TABLE), RowId::new(0, 7));
    let mut owner = locks.begin();
    assert_eq!(
        claims.claim(row, Mode::ForUpdate, &owner).unwrap(),
        Outcome::Granted
    );
    assert_eq!(claims.holder(row), Some((owner.id(), Mode::ForUpdate)));
    let mark = owner.mark();
    assert_eq!(claims.claim(row, Mode::Update, &owner).unwrap(), Outcome::Granted);
    assert_eq!(claims.holder(row), Some((owner.id(), Mode::Update)));
    owner.free_since(mark);
    assert_eq!(claims.holder(row), Some((owner.id(), Mode::ForUpdate)));
}

#[test]
fn the_holder_is_the_strongest_one() {
    let locks = Locks::new(MemoryBudget::unlimited());
    let (claims, row) = (locks.claims(TABLE), RowId::new(0, 0));
    let (a, b) = (locks.begin(), locks.begin());
    assert_eq!(claims.holder(row), None);
    assert_eq!(claims.claim(row, Mode::KeyShare, &a).unwrap(), Outcome::Granted);
    assert_eq!(
        claims.claim(row, Mode::NoKeyUpdate, &b).unwrap(),
        Outcome::Granted
    );
    assert_eq!(claims.holder(row), Some((b.id(), Mode::NoKeyUpdate)));
    assert_eq!(
        claims.claim(row, Mode::Update, &b).unwrap(),
        Outcome::Held(a.id())
    );
    drop(b);
    assert_eq!(claims.holder(row), Some((a.id(), Mode::KeyShare)));
    let inserted = RowId::new(0, 1);
    assert_eq!(
        claims.claim(inserted, Mode::Insert, &a).unwrap(),
        Outcome::Granted
    );
    assert_eq!(
        claims.claim(inserted, Mode::Update, &a).unwrap(),
        Outcome::Granted
    );
    assert_eq!(
        claims.holder(inserted),
        Some((a.id(), Mode::Insert)),
        "a row that its inserter deletes"
    );
}
