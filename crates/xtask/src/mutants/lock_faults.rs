//! Faults of claims, locks and keys: two transactions change one row, a key is taken twice, a child loses its parent,
//! a deadlock is not found.

use super::Death::Fails;
use super::Fault::{Both, Dropped, Preceded, Replaced};
use super::{Mutant, Program, WITHIN};

const BULK: Program = ("model", "locks/tests/model/bulk.rs");
const FAMILIES: Program = ("database", "frazil/tests/database/families.rs");
const ISOLATION: Program = ("database", "frazil/tests/database/isolation.rs");
const LOCK_SCHEDULES: Program = (WITHIN, "locks/src/schedules.rs");
const RINGS: Program = ("rings", "locks/tests/rings.rs");
const SETTLING: Program = ("settling", "storage/tests/settling.rs");
const WAITING: Program = ("waiting", "locks/tests/waiting.rs");
const WRITERS: Program = ("database", "frazil/tests/database/writers.rs");

/// The faults of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a lock on a table that moved back to its slot is not freed",
        file: "locks/src/table_locks.rs",
        places: &[("self.slot(txn).free(table, txn, from);", Dropped)],
        program: LOCK_SCHEDULES,
        test: "schedules::a_lock_that_is_gathered_and_goes_back_while_it_is_freed_is_freed",
        death: Fails,
    },
    Mutant {
        name: "a writer does not hear that locks on its table were gathered",
        file: "locks/src/table_locks.rs",
        places: &[("slot.is_closed[at] = true;", Dropped)],
        program: LOCK_SCHEDULES,
        test: "schedules::a_lock_that_keeps_writers_away_sees_the_lock_of_each_writer",
        death: Fails,
    },
    Mutant {
        name: "a newcomer passes those who wait",
        file: "locks/src/waits.rs",
        places: &[(
            "None if own != 0 => None,",
            Both("None if own != 0 || MUTANT && others.next().is_some() => None,"),
        )],
        program: WAITING,
        test: "a_newcomer_does_not_pass_those_who_wait",
        death: Fails,
    },
    Mutant {
        name: "a queue grants the last one first",
        file: "locks/src/waits.rs",
        places: &[(
            "wanting.insert(at, waiter.clone());",
            Both(
                "let at = if MUTANT { wanting.len() - at } else { at };
                wanting.insert(at, waiter.clone());",
            ),
        )],
        program: WAITING,
        test: "a_newcomer_does_not_pass_those_who_wait",
        death: Fails,
    },
    Mutant {
        name: "ROLLBACK TO keeps a claim",
        file: "locks/src/chunk_claims.rs",
        places: &[(
            "bitmap.by.txn != txn || bitmap.by.level < from",
            Both("bitmap.by.txn != txn || bitmap.by.level < from || MUTANT && bitmap.by.level == from"),
        )],
        program: BULK,
        test: "bulk::single_claims_become_a_bitmap_and_go_back_by_savepoints",
        death: Fails,
    },
    Mutant {
        name: "ROLLBACK TO frees an earlier claim",
        file: "locks/src/chunk_claims.rs",
        places: &[(
            "bitmap.by.txn != txn || bitmap.by.level < from",
            Both("(bitmap.by.txn != txn || bitmap.by.level < from) && !(MUTANT && bitmap.by.txn == txn)"),
        )],
        program: BULK,
        test: "bulk::single_claims_become_a_bitmap_and_go_back_by_savepoints",
        death: Fails,
    },
    Mutant {
        name: "a claim that is raised after a savepoint forgets what it was",
        file: "locks/src/chunk_claims.rs",
        places: &[(
            "(other.txn, other.level) == (held.txn, held.level)",
            Both("other.txn == held.txn && (MUTANT || other.level == held.level)"),
        )],
        program: BULK,
        test: "bulk::a_claim_raised_after_a_savepoint_falls_back",
        death: Fails,
    },
    Mutant {
        name: "the detector is blind to keys",
        file: "locks/src/deadlock.rs",
        places: &[(
            "Awaited::Release(_, holder) => vec![holder],",
            Both(
                "Awaited::Release(..) if MUTANT => Vec::new(),
            Awaited::Release(_, holder) => vec![holder],",
            ),
        )],
        program: RINGS,
        test: "a_thousand_rings_have_one_victim_each",
        death: Fails,
    },
    Mutant {
        name: "the detector is blind to table locks",
        file: "locks/src/deadlock.rs",
        places: &[(
            "let mut found = self.holdings.with(target, |place| place.in_the_way(held));",
            Preceded(
                "match target {
                    Target::Row(..) => {}
                    Target::Table(_) | Target::Key(..) => return Vec::new(),
                }",
            ),
        )],
        program: RINGS,
        test: "a_thousand_rings_have_one_victim_each",
        death: Fails,
    },
    Mutant {
        name: "a row is looked at before it is claimed",
        file: "storage/src/transaction.rs",
        places: &[(
            "self.others.claim(&self.store, table, rows, mode)?;
        self.look_at_newest(table, rows)",
            Replaced(
                "self.look_at_newest(table, rows)?;
            self.others.claim(&self.store, table, rows, mode)",
            ),
        )],
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
        death: Fails,
    },
    Mutant {
        name: "a child's parent is looked for before its key is claimed",
        file: "frazil/src/foreign_keys/lookups.rs",
        places: &[(
            "transaction.claim_keys(parent, index, &wanted.numbers, KeyMode::Referenced)?;
        if let Some(found) = first_without_parent(transaction, pair, &wanted)? {
            return Ok(Some(found));
        }",
            Replaced(
                "let found = first_without_parent(transaction, pair, &wanted)?;
            transaction.claim_keys(parent, index, &wanted.numbers, KeyMode::Referenced)?;
            if found.is_some() {
                return Ok(found);
            }",
            ),
        )],
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
        death: Fails,
    },
    Mutant {
        name: "a child frees its parent's key with its statement",
        file: "frazil/src/foreign_keys/lookups.rs",
        places: &[(
            "transaction.claim_keys(parent, index, &wanted.numbers, KeyMode::Referenced)?;",
            Both(
                "let before = MUTANT.then(|| transaction.locks_before());
        transaction.claim_keys(parent, index, &wanted.numbers, KeyMode::Referenced)?;
        if let Some(before) = before {
            transaction.unlock_since(before);
        }",
            ),
        )],
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
        death: Fails,
    },
    Mutant {
        name: "a parent is looked for in the version that the statement began with",
        file: "frazil/src/foreign_keys/lookups.rs",
        places: &[(
            "let newest = transaction.newest_view()?;",
            Both("let newest = if MUTANT { transaction.snapshot() } else { transaction.newest_view()? };"),
        )],
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
        death: Fails,
    },
    Mutant {
        name: "children are looked for in the version that the statement began with",
        file: "frazil/src/foreign_keys/mod.rs",
        places: &[(
            "let newest = transaction.newest_view()?;
        let left",
            Both(
                "let newest = if MUTANT { transaction.snapshot() } else { transaction.newest_view()? };
        let left",
            ),
        )],
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
        death: Fails,
    },
    Mutant {
        name: "a key is waited for by who holds the row",
        file: "storage/src/key_claims.rs",
        places: &[(
            "owner.free_since(mark);
            }
            self.check_cancel()?;",
            Both(
                "if !MUTANT {
                    owner.free_since(mark);
                }
            }
            self.check_cancel()?;",
            ),
        )],
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
        death: Fails,
    },
    Mutant {
        name: "FOR UPDATE lets children come",
        file: "storage/src/row_locks.rs",
        places: &[(
            "RowLock::Update => self.claim_all(table, rows, None, lock.mode()),",
            Both(
                "RowLock::Update if MUTANT => self.claim_as(table, rows, lock.mode()),
            RowLock::Update => self.claim_all(table, rows, None, lock.mode()),",
            ),
        )],
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
        death: Fails,
    },
    Mutant {
        name: "many children claim no key",
        file: "storage/src/key_claims.rs",
        places: &[(
            "self.lock_table(index, if is_many { all } else { some })?;",
            Both("self.lock_table(index, if is_many && !MUTANT { all } else { some })?;"),
        )],
        program: FAMILIES,
        test: "families::many_keys_are_claimed_as_a_whole",
        death: Fails,
    },
    Mutant {
        name: "claims are freed before their commit is installed",
        file: "storage/src/transaction/commit.rs",
        places: &[(
            "let before = store.install(self.next.clone());",
            Preceded(
                "self.others.leave(None);
            std::thread::sleep(std::time::Duration::from_millis(20));",
            ),
        )],
        program: WRITERS,
        test: "writers::counters_lose_no_step",
        death: Fails,
    },
    Mutant {
        name: "a new row has an entry without a claim",
        file: "storage/src/table_writer.rs",
        places: &[("self.transaction.claim_new(table, ids)?;", Dropped)],
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
        death: Fails,
    },
    Mutant {
        name: "a key's verdict comes from the base",
        file: "storage/src/other_writers.rs",
        places: &[(
            "match newest.tables.get(id.0) {",
            Both(
                "let newest: &Snapshot = if MUTANT { base } else { &newest };
        match newest.tables.get(id.0) {",
            ),
        )],
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
        death: Fails,
    },
    Mutant {
        name: "a key's verdict asks the newest version before the claims",
        file: "storage/src/other_writers.rs",
        places: &[
            (
                "match claims.holder(row) {
            Some((holder, _)) if",
                Both(
                    "let early = MUTANT.then(|| self.store.newest());
        if MUTANT {
            std::thread::sleep(Duration::from_millis(20));
        }
        match claims.holder(row) {
            Some((holder, _)) if",
                ),
            ),
            (
                "let newest = self.store.newest();
        match newest.tables.get(id.0) {",
                Both(
                    "let newest = early.unwrap_or_else(|| self.store.newest());
        match newest.tables.get(id.0) {",
                ),
            ),
        ],
        program: WRITERS,
        test: "writers::of_threads_that_insert_the_same_keys_one_gets_each",
        death: Fails,
    },
    Mutant {
        name: "a new row has its entry before its claim",
        file: "storage/src/table_writer.rs",
        places: &[
            (
                "if is_unique {
            self.transaction.claim_new(table, ids)?;",
                Both(
                    "if is_unique && !MUTANT {
            self.transaction.claim_new(table, ids)?;",
                ),
            ),
            (
                "if !contested.is_empty() {",
                Preceded(
                    "std::thread::sleep(std::time::Duration::from_millis(2));
            self.transaction.claim_new(table, ids)?;",
                ),
            ),
        ],
        program: WRITERS,
        test: "writers::of_threads_that_insert_the_same_keys_one_gets_each",
        death: Fails,
    },
    Mutant {
        name: "who takes a row misses the commit of its last holder",
        file: "storage/src/settling.rs",
        places: &[(
            "if visible.timestamp < self.others.follows() {",
            Both("if !MUTANT && visible.timestamp < self.others.follows() {"),
        )],
        program: SETTLING,
        test: "who_holds_a_row_sees_the_commit_of_whoever_held_it_before",
        death: Fails,
    },
    Mutant {
        name: "a key is shown with the row that had it",
        file: "storage/src/other_writers.rs",
        places: &[(
            "if self.own.shows(row) {
            self.others.looks_at(newest);",
            Both(
                "if !MUTANT && self.own.shows(row) {
            self.others.looks_at(newest);",
            ),
        )],
        program: SETTLING,
        test: "a_key_that_was_free_is_not_shown_twice",
        death: Fails,
    },
];
