//! Faults that lose what was committed, or show it too early: in the log, checkpoints, recovery and files.

use super::Death::Fails;
use super::Fault::{Both, Dropped, Preceded, Replaced};
use super::{Mutant, Program};

const COMMITS: Program = ("commits", "storage/tests/commits.rs");
const DAMAGE: Program = ("wal", "durability/tests/wal/damage.rs");
const DIRECTORY: Program = ("directory", "durability/tests/directory/main.rs");
const DURABLE_END: Program = ("wal", "durability/tests/wal/durable_end.rs");
const FAILURES: Program = ("wal", "durability/tests/wal/failures.rs");
const FAULTS: Program = ("directory", "durability/tests/directory/faults.rs");
const GROUPS: Program = ("wal", "durability/tests/wal/groups.rs");
const LOADS: Program = ("directory", "durability/tests/directory/loads.rs");
const WAL: Program = ("wal", "durability/tests/wal/main.rs");

/// The faults of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a commit answers before its record is durable",
        file: "storage/src/transaction/commit.rs",
        places: &[(
            "Acknowledge::Durable => log.wait(next.lsn)?,",
            Both(
                "Acknowledge::Durable if MUTANT => (),
                Acknowledge::Durable => log.wait(next.lsn)?,",
            ),
        )],
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
        death: Fails,
    },
    Mutant {
        name: "a commit is visible before it is durable",
        file: "storage/src/transaction/commit.rs",
        places: &[(
            "let before = store.install(self.next.clone());",
            Both(
                "let before = store.install(self.next.clone());
        if MUTANT {
            store.publish(&self.next);
        }",
            ),
        )],
        program: COMMITS,
        test: "what_could_not_be_made_durable_is_never_seen",
        death: Fails,
    },
    Mutant {
        name: "a commit has its timestamp before its record has room",
        file: "durability/src/wal/writer.rs",
        places: &[(
            "self.change_file(wal, size)?;",
            Replaced(
                "self.timestamp += 1;
            self.change_file(wal, size)?;
            self.timestamp -= 1;",
            ),
        )],
        program: FAILURES,
        test: "failures::a_full_disk_refuses_commits_until_there_is_room",
        death: Fails,
    },
    Mutant {
        name: "a checkpoint takes a chunk that it wrote once for unchanged",
        file: "durability/src/state.rs",
        places: &[(
            "written.modified == entry.modified();",
            Both("(MUTANT || written.modified == entry.modified());"),
        )],
        program: DIRECTORY,
        test: "a_checkpoint_goes_by_when_rows_were_changed_not_by_how_many_there_are",
        death: Fails,
    },
    Mutant {
        name: "a record's checksum does not cover the one before",
        file: "durability/src/wal/record.rs",
        places: &[(
            "before[24..].copy_from_slice(&self.previous.to_le_bytes());",
            Dropped,
        )],
        program: DAMAGE,
        test: "damage::a_whole_record_behind_a_lost_one_stays_dead",
        death: Fails,
    },
    Mutant {
        name: "a record's checksum does not cover the file's generation",
        file: "durability/src/wal/record.rs",
        places: &[(
            "before[16..24].copy_from_slice(&self.generation.to_le_bytes());",
            Dropped,
        )],
        program: DAMAGE,
        test: "damage::a_record_counts_in_its_place_alone",
        death: Fails,
    },
    Mutant {
        name: "a segment counts before its name is durable",
        file: "durability/src/segment.rs",
        places: &[(
            "sync_directory(&*self.vfs, &self.directory.join(\"segments\"))?;",
            Dropped,
        )],
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
        death: Fails,
    },
    Mutant {
        name: "left-overs are removed before the log is read",
        file: "durability/src/reading.rs",
        places: &[(
            "let (table, error) = match recover(vfs, path, &mut restored, opening) {",
            Preceded("crate::directory::remove_leftovers(&**vfs, path, &restored.state)?;"),
        )],
        program: LOADS,
        test: "loads::a_load_makes_no_checkpoint_and_is_written_once",
        death: Fails,
    },
    Mutant {
        name: "blocks count before their bytes are durable",
        file: "vfs/src/new_file.rs",
        places: &[(
            "self.file
            .sync()",
            Both("(if MUTANT { self.file.len().map(drop) } else { self.file.sync() })"),
        )],
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
        death: Fails,
    },
    Mutant {
        name: "a checkpoint gives up what only the log names",
        file: "durability/src/segment.rs",
        places: &[(
            "|segment| segment.lsn <= lsn",
            Both("|segment| MUTANT || segment.lsn <= lsn"),
        )],
        program: LOADS,
        test: "loads::a_checkpoint_leaves_a_load_that_was_named_while_it_began",
        death: Fails,
    },
    Mutant {
        name: "a manifest counts before its name is durable",
        file: "vfs/src/file.rs",
        places: &[(
            "Some(directory) => sync_directory(vfs, directory),",
            Both(
                "Some(_) if MUTANT => Ok(()),
        Some(directory) => sync_directory(vfs, directory),",
            ),
        )],
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
        death: Fails,
    },
    Mutant {
        name: "a checkpoint names a place that the log has not reached",
        file: "durability/src/checkpoint.rs",
        places: &[("self.wal.wait(lsn)?;", Dropped)],
        program: FAULTS,
        test: "faults::a_power_cut_at_any_operation_leaves_what_was_committed",
        death: Fails,
    },
    Mutant {
        name: "what a killed process wrote is taken for durable",
        file: "durability/src/wal/reader.rs",
        places: &[("self.keep(used, contents)?;", Dropped)],
        program: FAULTS,
        test: "faults::a_process_that_dies_at_any_operation_leaves_what_was_committed_to_later_power_cuts",
        death: Fails,
    },
    Mutant {
        name: "a file does not say that another one follows",
        file: "durability/src/wal/writer.rs",
        places: &[("self.continue_in(file.generation);", Dropped)],
        program: DAMAGE,
        test: "damage::the_last_file_is_missed",
        death: Fails,
    },
    Mutant {
        name: "what is taken back of a file that was never used is not",
        file: "durability/src/wal/reader.rs",
        places: &[(
            "bytes.resize(behind + if next.is_some() { SECTOR as usize } else { 0 }, 0);",
            Replaced("bytes.resize(behind, 0);"),
        )],
        program: DAMAGE,
        test: "damage::a_file_that_was_never_used_is_not_missed",
        death: Fails,
    },
    Mutant {
        name: "the file in which the log ends is given up",
        file: "durability/src/wal/writer.rs",
        places: &[(
            "*end <= lsn.0 && Some(file.generation) != last",
            Both("*end <= lsn.0 && (MUTANT || Some(file.generation) != last)"),
        )],
        program: WAL,
        test: "a_checkpoint_of_a_life_that_wrote_nothing_keeps_the_end_of_the_log",
        death: Fails,
    },
    Mutant {
        name: "damage of what was durable is taken for what a crash leaves",
        file: "durability/src/wal/reader.rs",
        places: &[(
            "(durable > breaks as u64).then_some(durable)",
            Both("(durable > breaks as u64 && (!MUTANT || bytes.is_empty())).then_some(durable)"),
        )],
        program: DURABLE_END,
        test: "durable_end::damage_before_the_last_group_is_named",
        death: Fails,
    },
    Mutant {
        name: "a record says that its own group was durable",
        file: "durability/src/wal/writer.rs",
        places: &[(
            "durable: self.begun,",
            Both("durable: if MUTANT { self.position } else { self.begun },"),
        )],
        program: DURABLE_END,
        test: "durable_end::a_torn_group_ends_the_log_silently",
        death: Fails,
    },
    Mutant {
        name: "what recovery read is said to be durable before it is",
        file: "durability/src/wal/reader.rs",
        places: &[(
            "used.file.write_at(0, &bytes).map_err(failed)?;",
            Preceded(
                "used.file
                .write_at(behind as u64, &end.to_bytes(None))
                .map_err(failed)?;",
            ),
        )],
        program: DURABLE_END,
        test: "durable_end::a_power_cut_while_recovery_keeps_what_it_read_is_no_damage",
        death: Fails,
    },
    Mutant {
        name: "a group ends within a sector",
        file: "durability/src/wal/writer.rs",
        places: &[(
            "let border = self.position.next_multiple_of(SECTOR);",
            Both("let border = (self.position).next_multiple_of(if MUTANT { 8 } else { SECTOR });"),
        )],
        program: GROUPS,
        test: "groups::a_commit_writes_once_and_syncs_once_and_no_durable_sector_again",
        death: Fails,
    },
    Mutant {
        name: "a sync that failed is taken for done",
        file: "durability/src/wal/writer.rs",
        places: &[(
            "match self.write(group) {",
            Both("match self.write(group).or_else(|e| if MUTANT { Ok(()) } else { Err(e) }) {"),
        )],
        program: FAILURES,
        test: "failures::a_sync_that_fails_ends_writing_and_loses_nothing_acknowledged",
        death: Fails,
    },
];
