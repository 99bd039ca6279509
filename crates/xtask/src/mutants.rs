//! Mutants: faults of one line that would lose what was committed or break a rule of locks, each with the test that
//! must notice it. A test that lets its mutant live cannot fail where it should.
//!
//! [`check`] sees that each still has its line and its test; [`run`] makes them, one by one, in a copy of the tree.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fault, and the test that notices it.
#[derive(Debug)]
pub struct Mutant {
    /// What it does wrong.
    pub name: &'static str,
    /// The file, below `crates`.
    pub file: &'static str,
    /// Text that stands once in the file, without its end of line.
    pub line: &'static str,
    /// What stands there instead.
    pub mutated: &'static str,
    /// The test program, or `--lib` for the tests within a crate, and the file of the test below `crates`.
    pub program: (&'static str, &'static str),
    /// The test's path in its program.
    pub test: &'static str,
}

const COMMITS: (&str, &str) = ("commits", "storage/tests/commits.rs");
const DIRECTORY: (&str, &str) = ("directory", "durability/tests/directory/main.rs");
const LOADS: (&str, &str) = ("directory", "durability/tests/directory/loads.rs");
const FAULTS: (&str, &str) = ("directory", "durability/tests/directory/faults.rs");
const WAL: (&str, &str) = ("wal", "durability/tests/wal/main.rs");
const DURABLE_END: (&str, &str) = ("wal", "durability/tests/wal/durable_end.rs");
const DAMAGE: (&str, &str) = ("wal", "durability/tests/wal/damage.rs");
const FAILURES: (&str, &str) = ("wal", "durability/tests/wal/failures.rs");
const WAITING: (&str, &str) = ("waiting", "locks/tests/waiting.rs");
const BULK: (&str, &str) = ("model", "locks/tests/model/bulk.rs");
const RINGS: (&str, &str) = ("rings", "locks/tests/rings.rs");
const ISOLATION: (&str, &str) = ("database", "frazil/tests/database/isolation.rs");
const WRITERS: (&str, &str) = ("database", "frazil/tests/database/writers.rs");
const FAMILIES: (&str, &str) = ("database", "frazil/tests/database/families.rs");
const TABLE_INDEXES: (&str, &str) = ("table_indexes", "storage/tests/table_indexes.rs");
const LOCK_SCHEDULES: (&str, &str) = ("--lib", "locks/src/schedules.rs");
const MANY_WRITERS: (&str, &str) = ("--lib", "storage/src/many_writers.rs");
const GROUPS: (&str, &str) = ("wal", "durability/tests/wal/groups.rs");

/// All of them.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a lock on a table that moved back to its slot is not freed",
        file: "locks/src/table_locks.rs",
        line: "self.slot(txn).free(table, txn, from);",
        mutated: "",
        program: LOCK_SCHEDULES,
        test: "schedules::a_lock_that_is_gathered_and_goes_back_while_it_is_freed_is_freed",
    },
    Mutant {
        name: "a writer does not hear that locks on its table were gathered",
        file: "locks/src/table_locks.rs",
        line: "slot.is_closed[at] = true;",
        mutated: "",
        program: LOCK_SCHEDULES,
        test: "schedules::a_lock_that_keeps_writers_away_sees_the_lock_of_each_writer",
    },
    Mutant {
        name: "a commit answers before its record is durable",
        file: "storage/src/transaction.rs",
        line: "Acknowledge::Durable => log.wait(next.lsn)?,",
        mutated: "Acknowledge::Durable => (),",
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
    },
    Mutant {
        name: "a commit is visible before it is durable",
        file: "storage/src/transaction.rs",
        line: "let before = store.install(self.next.clone());",
        mutated: "let before = store.install(self.next.clone()); store.publish(&self.next);",
        program: COMMITS,
        test: "what_could_not_be_made_durable_is_never_seen",
    },
    Mutant {
        name: "a commit has its timestamp before its record has room",
        file: "durability/src/wal/writer.rs",
        line: "self.change_file(wal, size)?;",
        mutated: "self.timestamp += 1; self.change_file(wal, size)?; self.timestamp -= 1;",
        program: FAILURES,
        test: "failures::a_full_disk_refuses_commits_until_there_is_room",
    },
    Mutant {
        name: "a checkpoint takes a chunk that it wrote once for unchanged",
        file: "durability/src/checkpoint.rs",
        line: "written.modified == entry.modified();",
        mutated: "true;",
        program: DIRECTORY,
        test: "a_checkpoint_goes_by_when_rows_were_changed_not_by_how_many_there_are",
    },
    Mutant {
        name: "a record's checksum does not cover the one before",
        file: "durability/src/wal/record.rs",
        line: "before[24..].copy_from_slice(&self.previous.to_le_bytes());",
        mutated: "",
        program: DAMAGE,
        test: "damage::a_whole_record_behind_a_lost_one_stays_dead",
    },
    Mutant {
        name: "a record's checksum does not cover the file's generation",
        file: "durability/src/wal/record.rs",
        line: "before[16..24].copy_from_slice(&self.generation.to_le_bytes());",
        mutated: "",
        program: DAMAGE,
        test: "damage::a_record_counts_in_its_place_alone",
    },
    Mutant {
        name: "a segment counts before its name is durable",
        file: "durability/src/segment.rs",
        line: "sync_directory(&*self.vfs, &self.directory.join(\"segments\"))?;",
        mutated: "",
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
    },
    Mutant {
        name: "left-overs are removed before the log is read",
        file: "durability/src/directory.rs",
        line: "let (table, error) = match recover(vfs, path, &mut restored, opening) {",
        mutated: "remove_leftovers(&**vfs, path, &restored.state)?; let (table, error) = match recover(vfs, path, &mut restored, opening) {",
        program: LOADS,
        test: "loads::a_load_makes_no_checkpoint_and_is_written_once",
    },
    Mutant {
        name: "blocks count before their bytes are durable",
        file: "vfs/src/new_file.rs",
        line: ".sync()",
        mutated: ".len().map(drop)",
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
    },
    Mutant {
        name: "a checkpoint gives up what only the log names",
        file: "durability/src/segment.rs",
        line: "|segment| segment.lsn <= lsn",
        mutated: "|_| lsn >= Lsn(0)",
        program: LOADS,
        test: "loads::a_checkpoint_leaves_a_load_that_was_named_while_it_began",
    },
    Mutant {
        name: "a manifest counts before its name is durable",
        file: "vfs/src/file.rs",
        line: "Some(directory) => sync_directory(vfs, directory),",
        mutated: "Some(_) => Ok(()),",
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
    },
    Mutant {
        name: "a checkpoint names a place that the log has not reached",
        file: "durability/src/checkpoint.rs",
        line: "self.wal.wait(lsn)?;",
        mutated: "",
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
    },
    Mutant {
        name: "what a killed process wrote is taken for durable",
        file: "durability/src/wal/reader.rs",
        line: "self.keep(used, contents)?;",
        mutated: "",
        program: FAULTS,
        test: "faults::a_process_that_dies_at_any_operation_leaves_what_was_committed_to_later_power_cuts",
    },
    Mutant {
        name: "a file does not say that another one follows",
        file: "durability/src/wal/writer.rs",
        line: "self.continue_in(file.generation);",
        mutated: "",
        program: DAMAGE,
        test: "damage::the_last_file_is_missed",
    },
    Mutant {
        name: "what is taken back of a file that was never used is not",
        file: "durability/src/wal/reader.rs",
        line: "bytes.resize(behind + if next.is_some() { SECTOR as usize } else { 0 }, 0);",
        mutated: "bytes.resize(behind + if next.is_some() { 0 } else { 0 }, 0);",
        program: DAMAGE,
        test: "damage::a_file_that_was_never_used_is_not_missed",
    },
    Mutant {
        name: "the file in which the log ends is given up",
        file: "durability/src/wal/writer.rs",
        line: "partition(|(file, end)| *end <= lsn.0 && Some(file.generation) != last);",
        mutated: "partition(|(_, end)| *end <= lsn.0);",
        program: WAL,
        test: "a_checkpoint_of_a_life_that_wrote_nothing_keeps_the_end_of_the_log",
    },
    Mutant {
        name: "damage of what was durable is taken for what a crash leaves",
        file: "durability/src/wal/reader.rs",
        line: "(durable > breaks as u64).then_some(durable)",
        mutated: "(durable > breaks as u64 && bytes.is_empty()).then_some(durable)",
        program: DURABLE_END,
        test: "durable_end::damage_before_the_last_group_is_named",
    },
    Mutant {
        name: "a record says that its own group was durable",
        file: "durability/src/wal/writer.rs",
        line: "durable: self.begun,",
        mutated: "durable: self.position,",
        program: DURABLE_END,
        test: "durable_end::a_torn_group_ends_the_log_silently",
    },
    Mutant {
        name: "what recovery read is said to be durable before it is",
        file: "durability/src/wal/reader.rs",
        line: "used.file.write_at(0, &bytes).map_err(failed)?;",
        mutated: "used.file.write_at(behind as u64, &end.to_bytes(None)).and(used.file.write_at(0, &bytes)).map_err(failed)?;",
        program: DURABLE_END,
        test: "durable_end::a_power_cut_while_recovery_keeps_what_it_read_is_no_damage",
    },
    Mutant {
        name: "a group ends within a sector",
        file: "durability/src/wal/writer.rs",
        line: "let border = self.position.next_multiple_of(SECTOR);",
        mutated: "let border = self.position.next_multiple_of(8);",
        program: GROUPS,
        test: "groups::a_commit_writes_once_and_syncs_once_and_no_durable_sector_again",
    },
    Mutant {
        name: "a sync that failed is taken for done",
        file: "durability/src/wal/writer.rs",
        line: "match self.write(group) {",
        mutated: "match self.write(group).or(Ok(())) {",
        program: FAILURES,
        test: "failures::a_sync_that_fails_ends_writing_and_loses_nothing_acknowledged",
    },
    Mutant {
        name: "a newcomer passes those who wait",
        file: "locks/src/waits.rs",
        line: "None if own != 0 => None,",
        mutated: "None if own != 0 || others.next().is_some() => None,",
        program: WAITING,
        test: "a_newcomer_does_not_pass_those_who_wait",
    },
    Mutant {
        name: "a queue grants the last one first",
        file: "locks/src/waits.rs",
        line: "wanting.insert(at, waiter.clone());",
        mutated: "wanting.insert(wanting.len() - at, waiter.clone());",
        program: WAITING,
        test: "a_newcomer_does_not_pass_those_who_wait",
    },
    Mutant {
        name: "ROLLBACK TO keeps a claim",
        file: "locks/src/chunk_claims.rs",
        line: "bitmap.by.txn != txn || bitmap.by.level < from",
        mutated: "bitmap.by.txn != txn || bitmap.by.level <= from",
        program: BULK,
        test: "bulk::single_claims_become_a_bitmap_and_go_back_by_savepoints",
    },
    Mutant {
        name: "ROLLBACK TO frees an earlier claim",
        file: "locks/src/chunk_claims.rs",
        line: "bitmap.by.txn != txn || bitmap.by.level < from",
        mutated: "bitmap.by.txn != txn",
        program: BULK,
        test: "bulk::single_claims_become_a_bitmap_and_go_back_by_savepoints",
    },
    Mutant {
        name: "a claim that is raised after a savepoint forgets what it was",
        file: "locks/src/chunk_claims.rs",
        line: "(other.txn, other.level) == (held.txn, held.level)",
        mutated: "other.txn == held.txn",
        program: BULK,
        test: "bulk::a_claim_raised_after_a_savepoint_falls_back",
    },
    Mutant {
        name: "the detector is blind to keys",
        file: "locks/src/deadlock.rs",
        line: "Awaited::Release(_, holder) => vec![holder],",
        mutated: "Awaited::Release(..) => Vec::new(),",
        program: RINGS,
        test: "a_thousand_rings_have_one_victim_each",
    },
    Mutant {
        name: "the detector is blind to table locks",
        file: "locks/src/deadlock.rs",
        line: "self.holdings.with(target, |place| place.in_the_way(held));",
        mutated: "match target {
            Target::Row(..) => self.holdings.with(target, |place| place.in_the_way(held)),
            Target::Table(_) | Target::Key(..) => return Vec::new(),
        };",
        program: RINGS,
        test: "a_thousand_rings_have_one_victim_each",
    },
    Mutant {
        name: "a row is looked at before it is claimed",
        file: "storage/src/transaction.rs",
        line: "self.others.claim(&self.store, table, rows, mode)?;
        self.look_at_newest(table, rows)",
        mutated: "self.look_at_newest(table, rows)?;
        self.others.claim(&self.store, table, rows, mode)",
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
    },
    Mutant {
        name: "a child's parent is looked for before its key is claimed",
        file: "frazil/src/foreign_keys/lookups.rs",
        line: "transaction.claim_keys(parent, index, &wanted.numbers, KeyMode::Referenced)?;
        if let Some(found) = first_without_parent(transaction, pair, &wanted)? {
            return Ok(Some(found));
        }",
        mutated: "let found = first_without_parent(transaction, pair, &wanted)?;
        transaction.claim_keys(parent, index, &wanted.numbers, KeyMode::Referenced)?;
        if found.is_some() {
            return Ok(found);
        }",
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
    },
    Mutant {
        name: "a child frees its parent's key with its statement",
        file: "frazil/src/foreign_keys/lookups.rs",
        line: "transaction.claim_keys(parent, index, &wanted.numbers, KeyMode::Referenced)?;",
        mutated: "let before = transaction.locks_before();
        transaction.claim_keys(parent, index, &wanted.numbers, KeyMode::Referenced)?;
        transaction.unlock_since(before);",
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
    },
    Mutant {
        name: "a parent is looked for in the version that the statement began with",
        file: "frazil/src/foreign_keys/lookups.rs",
        line: "let newest = transaction.newest_view()?;",
        mutated: "let newest = transaction.snapshot();",
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
    },
    Mutant {
        name: "children are looked for in the version that the statement began with",
        file: "frazil/src/foreign_keys/mod.rs",
        line: "let newest = transaction.newest_view()?;
        let left",
        mutated: "let newest = transaction.snapshot();
        let left",
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
    },
    Mutant {
        name: "a key is waited for by who holds the row",
        file: "storage/src/key_claims.rs",
        line: "owner.free_since(mark);
            }
            self.check_cancel()?;",
        mutated: "let _ = (owner, mark);
            }
            self.check_cancel()?;",
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
    },
    Mutant {
        name: "FOR UPDATE lets children come",
        file: "storage/src/row_locks.rs",
        line: "RowLock::Update => self.claim_all(table, rows, None, lock.mode()),",
        mutated: "RowLock::Update => self.claim_as(table, rows, lock.mode()),",
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
    },
    Mutant {
        name: "many children claim no key",
        file: "storage/src/key_claims.rs",
        line: "self.lock_table(index, if is_many { all } else { some })?;",
        mutated: "self.lock_table(index, some)?;",
        program: FAMILIES,
        test: "families::many_keys_are_claimed_as_a_whole",
    },
    Mutant {
        name: "claims are freed before their commit is installed",
        file: "storage/src/transaction.rs",
        line: "let before = store.install(self.next.clone());",
        mutated: "self.others.leave();
        std::thread::sleep(Duration::from_millis(20)); let before = store.install(self.next.clone());",
        program: WRITERS,
        test: "writers::counters_lose_no_step",
    },
    Mutant {
        name: "a new row has an entry without a claim",
        file: "storage/src/table_writer.rs",
        line: "self.transaction.claim_new(table, ids)?;",
        mutated: "",
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
    },
    Mutant {
        name: "a key's verdict comes from the base",
        file: "storage/src/other_writers.rs",
        line: "let newest = self.store.newest();
        match newest.tables.get(id.0) {",
        mutated: "let newest = base;
        match newest.tables.get(id.0) {",
        program: ISOLATION,
        test: "isolation::sessions_side_by_side_answer_as_in_postgresql",
    },
    Mutant {
        name: "a merge shows slots of open transactions",
        file: "storage/src/chunk_entry.rs",
        line: "for slot in self.rows..slots.start {
                marks.mark",
        mutated: "for slot in slots.start..slots.start {
                marks.mark",
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
    },
    Mutant {
        name: "a merge shows fewer slots than before",
        file: "storage/src/chunk_entry.rs",
        line: "self.rows = self.rows.max(slots.end);",
        mutated: "self.rows = slots.end;",
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
    },
    Mutant {
        name: "a mark outlives the commit of its transaction",
        file: "storage/src/chunk_entry.rs",
        line: "marked.for_each(|slot| marks.unmark(slot as u16));",
        mutated: "marked.for_each(|slot| drop(marks.contains(slot as usize)));",
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
    },
    Mutant {
        name: "a slot is used again after its transaction went back",
        file: "storage/src/chunk_entry.rs",
        line: "let slots = unsafe { hot.append(columns, rows.start, rows.len(), widening) };",
        mutated: "let slots = match rows.start {
            0 if self.rows > 0 => unsafe {
                hot.fill(self.rows as usize, columns, rows.len(), widening);
                self.rows as usize..self.rows as usize + rows.len()
            },
            _ => unsafe { hot.append(columns, rows.start, rows.len(), widening) },
        };",
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
    },
    Mutant {
        name: "a block takes the place of a chunk that shows more rows by now",
        file: "storage/src/freeze.rs",
        line: "entry.shares_chunk(old) && !entry.shows_more_than(old);",
        mutated: "entry.shares_chunk(old) && (true || !entry.shows_more_than(old));",
        program: MANY_WRITERS,
        test: "many_writers::a_chunk_that_shows_more_rows_than_its_block_stays",
    },
    Mutant {
        name: "entries leave although an old version shows their rows",
        file: "storage/src/entry_collector.rs",
        line: "timestamp < shown_from);",
        mutated: "timestamp < shown_from.max(u64::MAX));",
        program: TABLE_INDEXES,
        test: "entries_of_dead_rows_stay_for_older_readers_and_leave_after_them",
    },
    Mutant {
        name: "recovery skips rows below those that it has",
        file: "storage/src/replay.rs",
        line: "self.replay_hot(number)?;
        let filled",
        mutated: "self.replay_hot(number)?;
        if self.entry(number).is_some_and(|entry| slots.end <= entry.view().rows()) {
            return Ok(());
        }
        let filled",
        program: MANY_WRITERS,
        test: "many_writers::commits_of_transactions_side_by_side_are_merged",
    },
];

impl Mutant {
    /// The file with the fault. An error if the line is not there, or several times.
    fn apply(&self, root: &Path) -> Result<(PathBuf, String), String> {
        let path = root.join("crates").join(self.file);
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", self.file))?;
        match text.matches(self.line).count() {
            1 => Ok((path, text.replace(self.line, self.mutated))),
            count => Err(format!("{}: {count} times in it: {}", self.file, self.line)),
        }
    }

    /// Whether its test is there.
    fn has_test(&self, root: &Path) -> bool {
        let function = self.test.rsplit("::").next().unwrap_or(self.test);
        let text = fs::read_to_string(root.join("crates").join(self.program.1));
        text.is_ok_and(|text| text.contains(&format!("fn {function}()")))
    }
}

/// What is wrong with the list.
pub fn check(root: &Path) -> Vec<String> {
    let mut wrong: Vec<String> = (MUTANTS.iter().filter_map(|m| m.apply(root).err())).collect();
    let untested = MUTANTS.iter().filter(|m| !m.has_test(root));
    wrong.extend(untested.map(|m| format!("{} has no test {}", m.program.1, m.test)));
    wrong
}

/// Makes each mutant whose name contains `wanted` in a copy of the tree below `target`, and runs its test there. An
/// error names those that live.
pub fn run(root: &Path, target: &Path, profile: &str, wanted: &str) -> Result<(), String> {
    let copy = target.join("mutants");
    let failed = |e: io::Error| format!("{}: {e}", copy.display());
    copy_tree(root, &copy).map_err(failed)?;
    let (mut alive, mut sound) = (Vec::new(), HashSet::new());
    for mutant in MUTANTS.iter().filter(|m| m.name.contains(wanted)) {
        let (path, text) = mutant.apply(&copy)?;
        let whole = fs::read_to_string(&path).map_err(failed)?;
        if !sound.contains(mutant.test) && test(&copy, profile, mutant)? {
            sound.insert(mutant.test);
        }
        fs::write(&path, text).map_err(failed)?;
        let mutated = test(&copy, profile, mutant);
        fs::write(&path, whole).map_err(failed)?;
        let verdict = match (sound.contains(mutant.test), mutated?) {
            (true, false) => "killed",
            (true, true) => "ALIVE",
            (false, _) => "its test fails without it",
        };
        println!("{verdict}: {} ({})", mutant.name, mutant.test);
        if verdict != "killed" {
            alive.push(mutant.name);
        }
    }
    match alive.is_empty() {
        true => Ok(()),
        false => Err(format!("not killed: {}", alive.join(", "))),
    }
}

/// Whether the mutant's test passes in the copy. An error if it does not compile.
fn test(copy: &Path, profile: &str, mutant: &Mutant) -> Result<bool, String> {
    let mut command = Command::new("cargo");
    // Not the tree's own: cargo takes what it built of one for what it built of the other.
    command
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", copy.join("target"));
    command.args(["test", "--quiet", "--profile", profile]);
    match mutant.program {
        ("--lib", file) => {
            let folder = file.split('/').next().unwrap_or_default();
            command.args(["--lib", "--package", &format!("frazil-{folder}")]);
        }
        (program, _) => {
            command.args(["--workspace", "--test", program]);
        }
    }
    command.args(["--", "--exact", mutant.test]);
    let output = command.output().map_err(|e| format!("cargo: {e}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match (output.status.success(), said.contains("running 1 test")) {
        (passed, true) => Ok(passed),
        _ => Err(format!(
            "{}: {}",
            mutant.name,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// Copies what is tracked or new in the tree, where it differs.
fn copy_tree(root: &Path, copy: &Path) -> io::Result<()> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()?;
    for name in String::from_utf8_lossy(&listed.stdout).split_terminator('\0') {
        let (from, to) = (root.join(name), copy.join(name));
        let Ok(bytes) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        if let Some(directory) = to.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&to, bytes)?;
    }
    Ok(())
}
