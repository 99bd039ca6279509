//! Faults of versions: slots of rows, marks, merges, freezing beside writers, and entries that leave an index.

use super::Death::Fails;
use super::Fault::{Both, Preceded};
use super::{Mutant, Program, WITHIN};

const FREEZE: Program = ("freeze", "storage/tests/freeze.rs");
const MANY_WRITERS: Program = (WITHIN, "storage/src/many_writers.rs");
const OLD_READERS: Program = ("old_readers", "storage/tests/old_readers.rs");
const TABLE_INDEXES: Program = ("table_indexes", "storage/tests/table_indexes.rs");
const VISIBLE: Program = (WITHIN, "storage/src/visible.rs");

/// The faults of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a merge shows slots of open transactions",
        file: "storage/src/merged_slots.rs",
        places: &[(
            "let (of_base, of_own, of_newest) = (base.hidden(word), own.hidden(word), newest.hidden(word));",
            Both(
                "let of_newest = if MUTANT { newest.marked(word) } else { newest.hidden(word) };
        let (of_base, of_own) = (base.hidden(word), own.hidden(word));",
            ),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "a merge shows fewer slots than before",
        file: "storage/src/merged_slots.rs",
        places: &[(
            "let rows = newest.rows.max(own.rows);",
            Both("let rows = if MUTANT { own.rows } else { newest.rows.max(own.rows) };"),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "a mark outlives the commit of its transaction",
        file: "storage/src/merged_slots.rs",
        places: &[(
            "let kept = of_newest & !shown;",
            Both("let kept = of_newest & !(if MUTANT { 0 } else { shown });"),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "a slot is used again after its transaction went back",
        file: "storage/src/chunk_entry.rs",
        places: &[(
            "let slots = unsafe { hot.append(columns, rows.start, rows.len(), widening) };",
            Both(
                "let slots = match rows.start {
            0 if MUTANT && self.rows > 0 => unsafe {
                hot.fill(self.rows as usize, columns, rows.len(), widening);
                self.rows as usize..self.rows as usize + rows.len()
            },
            _ => unsafe { hot.append(columns, rows.start, rows.len(), widening) },
        };",
            ),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "a block takes the place of a chunk that shows more rows by now",
        file: "storage/src/freeze.rs",
        places: &[(
            "entry.shares_chunk(old) && !entry.shows_more_than(old);",
            Both("entry.shares_chunk(old) && (MUTANT || !entry.shows_more_than(old));"),
        )],
        program: MANY_WRITERS,
        test: "many_writers::a_chunk_that_shows_more_rows_than_its_block_stays",
        death: Fails,
    },
    Mutant {
        name: "recovery skips rows below those that it has",
        file: "storage/src/replay.rs",
        places: &[(
            "let filled = self.change(number, |entry| {",
            Preceded(
                "if (self.entry(number)).is_some_and(|entry| slots.end <= entry.view().rows()) {
                return Ok(());
            }",
            ),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "a merge clears marks of its neighbours' slots",
        file: "storage/src/merged_slots.rs",
        places: &[(
            "let (shown, deleted) = (of_base & !of_own,",
            Both("let (shown, deleted) = ((if MUTANT { of_newest } else { of_base }) & !of_own,"),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "a merge forgets deletes",
        file: "storage/src/merged_slots.rs",
        places: &[(
            "let merged = (kept | deleted)",
            Both("let merged = (kept | if MUTANT { 0 } else { deleted })"),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "what undoes a change is not found again on a later base",
        file: "storage/src/changes.rs",
        places: &[(
            "shown.max(known(chunk))",
            Both("if MUTANT { shown } else { shown.max(known(chunk)) }"),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "a chunk leaves although a slot in it is open",
        file: "storage/src/chunk_entry.rs",
        places: &[(
            "!self.is_hot() && self.view().live_rows() == 0",
            Both("(MUTANT || !self.is_hot()) && self.view().live_rows() == 0"),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "a reader takes an older version than the visible one",
        file: "storage/src/visible.rs",
        places: &[(
            "match seen.timestamp == self.timestamp.load(Ordering::Acquire) {",
            Both(
                "match MUTANT && self.is_filled.load(Ordering::Relaxed) || seen.timestamp == self.timestamp.load(Ordering::Acquire) {",
            ),
        )],
        program: VISIBLE,
        test: "visible::tests::a_version_is_seen_as_soon_as_it_is_shown",
        death: Fails,
    },
    Mutant {
        name: "an older version is kept although nobody looks at it",
        file: "storage/src/visible.rs",
        places: &[(
            "if !self.is_filled.load(Ordering::Relaxed) {",
            Both("if MUTANT || !self.is_filled.load(Ordering::Relaxed) {"),
        )],
        program: VISIBLE,
        test: "visible::tests::the_latest_version_is_seen_and_no_other_one_is_kept",
        death: Fails,
    },
    Mutant {
        name: "a commit installs what it merged although another one came between",
        file: "storage/src/transaction/commit.rs",
        places: &[(
            "let spoilt = match store.is_newest(&merged.0) {",
            Both("let spoilt = match MUTANT || store.is_newest(&merged.0) {"),
        )],
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
        death: Fails,
    },
    Mutant {
        name: "a large transaction goes on in a chunk that others fill",
        file: "storage/src/transaction.rs",
        places: &[(
            "if is_large && tail.is_shared() {",
            Both("if !MUTANT && is_large && tail.is_shared() {"),
        )],
        program: MANY_WRITERS,
        test: "many_writers::a_large_transaction_beside_others_fills_chunks_of_its_own",
        death: Fails,
    },
    Mutant {
        name: "a chunk is frozen with an open slot",
        file: "storage/src/freeze.rs",
        places: &[(
            "transaction.lock_table(table, TableMode::Exclusive);",
            Both(
                "transaction.lock_table(table, if MUTANT { TableMode::RowExclusive } else { TableMode::Exclusive });",
            ),
        )],
        program: FREEZE,
        test: "a_chunk_with_a_row_of_an_open_transaction_is_not_frozen",
        death: Fails,
    },
    Mutant {
        name: "entries leave although an old version shows their rows",
        file: "storage/src/entry_collector.rs",
        places: &[(
            "Asked::Committed(version) => version.shows_row(row),",
            Both("Asked::Committed(version) => !MUTANT && version.shows_row(row),"),
        )],
        program: OLD_READERS,
        test: "rows_that_an_old_version_shows_are_found_in_it",
        death: Fails,
    },
    Mutant {
        name: "entries leave before old versions are asked",
        file: "storage/src/entry_collector.rs",
        places: &[(
            "asks || dead.timestamp < shown_from",
            Both("MUTANT || asks || dead.timestamp < shown_from"),
        )],
        program: TABLE_INDEXES,
        test: "entries_of_dead_rows_stay_for_older_readers_and_leave_after_them",
        death: Fails,
    },
    Mutant {
        name: "earlier versions are not asked when a later one is gone",
        file: "storage/src/entry_collector.rs",
        places: &[(
            "self.push_dead(timestamp, held.into_values().flatten().collect());",
            Both(
                "let timestamp = if MUTANT { 0 } else { timestamp };
            self.push_dead(timestamp, held.into_values().flatten().collect());",
            ),
        )],
        program: OLD_READERS,
        test: "rows_of_several_old_versions_stay_until_the_last_of_these_is_gone",
        death: Fails,
    },
    Mutant {
        name: "a version of a transaction does not hold the one that it derives from",
        file: "storage/src/snapshot.rs",
        places: &[("_base: base,", Both("_base: if MUTANT { None } else { base },"))],
        program: OLD_READERS,
        test: "a_version_of_a_transaction_finds_rows_that_others_delete",
        death: Fails,
    },
];
