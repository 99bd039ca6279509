//! Every operation on a file fails once, in every way, and the power is cut at each: what a finished checkpoint held is
//! there when the directory is opened again.

use crate::{append, begin, create, delete, freeze, numbers, read};
use frazil_catalog::DropRelations;
use frazil_durability::Directory;
use frazil_storage::Store;
use frazil_testkit::sim_vfs::FAILURES;
use frazil_testkit::{Failure, SimVfs};
use frazil_types::{Result, SqlState};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The numbers of each table's rows, by the table's name.
type Contents = BTreeMap<String, Vec<i128>>;

fn path() -> &'static Path {
    Path::new("/data/db")
}

fn contents(store: &Arc<Store>) -> Result<Contents> {
    let snapshot = store.snapshot();
    let names = snapshot.catalog().tables().map(|t| t.name.clone());
    names
        .map(|name| {
            let rows = read(store, &name)?;
            Ok((name, rows.into_iter().map(|r| r.1).collect()))
        })
        .collect()
}

/// What a database went through.
struct Run {
    sim: SimVfs,
    /// What the last finished checkpoint held. `None`: not even opening was finished.
    acknowledged: Option<Contents>,
    /// What a checkpoint that failed since would have held.
    attempted: Vec<Contents>,
    /// What failed.
    errors: Vec<frazil_types::Error>,
}

impl Run {
    fn new(sim: SimVfs) -> Run {
        Run {
            sim,
            acknowledged: None,
            attempted: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Opens the directory; a second time if the first one failed.
    fn open(&mut self) -> Option<Directory> {
        for _ in 0..2 {
            match Directory::open_over(self.sim.vfs(), path()) {
                Ok(directory) => {
                    let found = contents(directory.store()).unwrap();
                    self.check(&found);
                    self.acknowledged.get_or_insert(found);
                    return Some(directory);
                }
                Err(e) => self.errors.push(e),
            }
        }
        None
    }

    fn checkpoint(&mut self, directory: &Directory) {
        let held = contents(directory.store()).unwrap();
        match directory.checkpoint() {
            Ok(_) => {
                self.acknowledged = Some(held);
                self.attempted.clear();
            }
            Err(e) => {
                self.errors.push(e);
                self.attempted.push(held);
            }
        }
    }

    fn check(&self, found: &Contents) {
        let sizes = |c: &Contents| c.iter().map(|(n, r)| (n.clone(), r.len())).collect::<Vec<_>>();
        let expected = self.acknowledged.iter().chain(&self.attempted);
        let empty = Contents::new();
        assert!(
            expected.clone().any(|c| c == found) || self.acknowledged.is_none() && *found == empty,
            "found {:?} instead of {:?}; {:?}",
            sizes(found),
            expected.map(sizes).collect::<Vec<_>>(),
            self.errors
        );
    }
}

/// CREATE, INSERT, FREEZE, DELETE, DROP and checkpoints, two databases' lives long. Ends early where nothing can be opened.
fn workload(run: &mut Run) {
    let Some(directory) = run.open() else { return };
    let id = create(directory.store(), "t");
    append(directory.store(), id, 0..300);
    run.checkpoint(&directory);
    freeze(directory.store(), id);
    append(directory.store(), id, 300..350);
    run.checkpoint(&directory);
    delete(directory.store(), id, |n| n % 3 == 0);
    let other = create(directory.store(), "other");
    append(directory.store(), other, 0..20);
    run.checkpoint(&directory);
    drop(directory);
    let Some(directory) = run.open() else { return };
    if directory.store().snapshot().table_named("other").is_ok() {
        let mut transaction = begin(directory.store());
        transaction
            .drop_relations(&DropRelations::table("other"))
            .unwrap();
        transaction.commit();
    }
    let id = match directory.store().snapshot().table_named("t") {
        Ok(table) => table.table().entry().id,
        Err(_) => create(directory.store(), "t"),
    };
    append(directory.store(), id, 1_000..1_040);
    freeze(directory.store(), id);
    run.checkpoint(&directory);
    append(directory.store(), id, 2_000..2_001);
    run.checkpoint(&directory);
}

/// Number of operations of a workload in which nothing fails.
fn operations() -> u64 {
    let mut run = Run::new(SimVfs::new(1));
    workload(&mut run);
    assert!(run.errors.is_empty(), "{:?}", run.errors);
    assert_eq!(run.acknowledged.as_ref().unwrap()["t"].len(), 233 + 41);
    run.sim.operations()
}

/// Opens what a power cut left, and once more after a second one while it was opened.
fn opens_after_power_cuts(mut run: Run, second: u64) {
    run.sim = run.sim.restart_after_power_cut();
    run.sim.fail_at(second, Failure::PowerCut);
    let _ = Directory::open_over(run.sim.vfs(), path()).map(|d| run.check(&contents(d.store()).unwrap()));
    run.sim = run.sim.restart_after_power_cut();
    let trace = || run.sim.trace();
    let directory =
        Directory::open_over(run.sim.vfs(), path()).unwrap_or_else(|e| panic!("{e}: {:#?}", trace()));
    run.check(&contents(directory.store()).unwrap());
}

#[test]
fn a_power_cut_at_any_operation_leaves_the_last_checkpoint() {
    let operations = operations();
    assert!(operations > 80, "{operations}");
    for nth in 0..operations {
        for seed in 0..4 {
            let mut run = Run::new(SimVfs::new(seed * 1_000 + nth));
            run.sim.fail_at(nth, Failure::PowerCut);
            workload(&mut run);
            assert!(!run.errors.is_empty(), "operation {nth}");
            opens_after_power_cuts(run, (nth + 5 * seed) % 23);
        }
    }
}

#[test]
fn a_process_that_dies_at_any_operation_leaves_the_last_checkpoint_to_later_power_cuts() {
    for nth in 0..operations() {
        let mut run = Run::new(SimVfs::new(nth));
        run.sim.fail_at(nth, Failure::PowerCut);
        workload(&mut run);
        run.sim = run.sim.restart_after_kill();
        opens_after_power_cuts_of_the_next(run, nth);
    }
}

/// The next process goes on where the dead one ended, and the power is cut then.
fn opens_after_power_cuts_of_the_next(mut run: Run, nth: u64) {
    if let Some(directory) = run.open() {
        // What was found is what counts from now on, whichever checkpoint it was of.
        run.acknowledged = Some(contents(directory.store()).unwrap());
        run.attempted.clear();
        let id = create(directory.store(), "next");
        append(directory.store(), id, 0..10);
        match nth % 2 {
            0 => run.checkpoint(&directory),
            _ => drop(directory),
        }
    }
    opens_after_power_cuts(run, nth % 17);
}

#[test]
fn whatever_fails_the_directory_holds_what_was_acknowledged() {
    for failure in FAILURES.into_iter().filter(|f| *f != Failure::PowerCut) {
        for nth in 0..operations() {
            let mut run = Run::new(SimVfs::new(nth));
            run.sim.fail_at(nth, failure);
            workload(&mut run);
            let named = |e: &frazil_types::Error| e.message().contains(" \"/");
            assert!(run.errors.iter().all(named), "{:?}", run.errors);
            let codes = [SqlState::IO_ERROR, SqlState::DISK_FULL, SqlState::UNDEFINED_FILE];
            assert!(
                run.errors.iter().all(|e| codes.contains(&e.state())),
                "{:?}",
                run.errors
            );
            run.sim = match nth % 2 {
                0 => run.sim.restart_after_power_cut(),
                _ => run.sim.restart_after_kill(),
            };
            match Directory::open_over(run.sim.vfs(), path()) {
                Ok(directory) => run.check(&contents(directory.store()).unwrap()),
                // What somebody removed is missed by its name.
                Err(e) => assert!(
                    failure == Failure::Vanished && e.state() == SqlState::UNDEFINED_FILE,
                    "{failure:?} of operation {nth}: {e}"
                ),
            }
        }
    }
}

#[test]
fn a_full_disk_ends_checkpoints_until_there_is_room_again() {
    for room in (0..12_000).step_by(397) {
        let mut run = Run::new(SimVfs::new(room));
        let directory = run.open().unwrap();
        let id = create(directory.store(), "t");
        append(directory.store(), id, 0..300);
        run.checkpoint(&directory);
        run.sim.set_capacity(run.sim.used() + room);
        append(directory.store(), id, 300..600);
        run.checkpoint(&directory);
        assert!(
            run.errors.iter().all(|e| e.state() == SqlState::DISK_FULL),
            "{:?}",
            run.errors
        );
        run.sim.set_capacity(u64::MAX);
        run.checkpoint(&directory);
        assert_eq!(run.acknowledged.as_ref().unwrap()["t"].len(), 600);
        drop(directory);
        opens_after_power_cuts(run, room);
    }
}

#[test]
fn failed_checkpoints_leave_no_files_behind() {
    for nth in 0..40 {
        let mut run = Run::new(SimVfs::new(nth));
        let directory = run.open().unwrap();
        let id = create(directory.store(), "t");
        append(directory.store(), id, 0..500);
        run.checkpoint(&directory);
        append(directory.store(), id, 500..700);
        run.sim.fail_at(run.sim.operations() + nth, Failure::Undone);
        run.checkpoint(&directory);
        run.sim.heal();
        for more in 0..2 {
            append(directory.store(), id, 1_000 + more..1_001 + more);
            run.checkpoint(&directory);
        }
        assert_eq!(numbers(directory.store()).len(), 702);
        let segments = frazil_vfs::Vfs::list(&run.sim, &path().join("segments")).unwrap();
        assert!(segments.len() <= 3, "operation {nth}: {segments:?}");
        assert_eq!(run.acknowledged.unwrap()["t"].len(), 702);
    }
}

/// The names of a new directory are durable only once the directories above are synced, by whomever they were made.
#[test]
fn the_directories_above_a_new_one_are_synced() {
    for nth in 0..30 {
        let mut run = Run::new(SimVfs::new(nth));
        run.sim.fail_at(nth, Failure::PowerCut);
        let _ = Directory::open_over(run.sim.vfs(), path());
        // It died while the names were made; the next one finds some.
        run.sim = run.sim.restart_after_kill();
        let is_new = run.sim.read(&path().join("manifest")).is_none();
        let directory = run.open().unwrap();
        create(directory.store(), "t");
        run.checkpoint(&directory);
        let synced = run.sim.trace();
        for above in ["/", "/data", "/data/db"].into_iter().filter(|_| is_new) {
            let wanted = format!("sync directory {above}");
            assert!(synced.contains(&wanted), "{wanted} is not among {synced:#?}");
        }
        drop(directory);
        opens_after_power_cuts(run, 100);
    }
}
