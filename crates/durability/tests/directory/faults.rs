//! Every operation on a file fails once, in every way, and the power is cut at each: what was committed is there when the
//! directory is opened again, and of what failed all or nothing.

use crate::{batch, define, insert, numbers, read_of};
use frazil_block::BuildOptions;
use frazil_catalog::{DropRelations, QualifiedName};
use frazil_durability::Directory;
use frazil_durability::wal::WalOptions;
use frazil_storage::{Acknowledge, Freezer, Snapshot, Transaction};
use frazil_testkit::sim_vfs::FAILURES;
use frazil_testkit::{Failure, SimVfs};
use frazil_types::{Cancel, ObjectId, Result, RowId, SqlState};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The ids and numbers of each table's rows, by the table's name.
type Contents = BTreeMap<String, Vec<(RowId, i128)>>;

/// Files of so few sectors that they change often.
const SMALL: WalOptions = WalOptions {
    first_file_bytes: 3 * 4096,
    most_file_bytes: 6 * 4096,
};

fn path() -> &'static Path {
    Path::new("/data/db")
}

fn open(sim: &SimVfs) -> Result<Directory> {
    Directory::open_with(sim.vfs(), path(), SMALL)
}

fn contents(snapshot: &Snapshot) -> Contents {
    let names = snapshot.catalog().tables().map(|t| t.name.clone());
    names
        .map(|name| {
            let rows = read_of(snapshot, &name).unwrap();
            (name, rows)
        })
        .collect()
}

/// True if the files of a table are damaged or gone.
fn is_damaged(directory: &Directory) -> bool {
    directory.store().snapshot().damaged().count() > 0
}

/// What a database went through.
struct Run {
    sim: SimVfs,
    /// What was there after the last commit that was acknowledged, and durable.
    acknowledged: Contents,
    /// What commits since would have left whose outcome is unknown.
    unknown: Vec<Contents>,
    /// What failed.
    errors: Vec<frazil_types::Error>,
    /// A file that opening needed was gone: once it was missed by its name, nothing is promised any more.
    is_missing: bool,
}

impl Run {
    fn new(sim: SimVfs) -> Run {
        Run {
            sim,
            acknowledged: Contents::new(),
            unknown: Vec::new(),
            errors: Vec::new(),
            is_missing: false,
        }
    }

    /// Opens the directory; a second time if the first one failed.
    fn open(&mut self) -> Option<Directory> {
        for _ in 0..2 {
            match open(&self.sim) {
                Ok(directory) if is_damaged(&directory) => {
                    self.is_missing = true;
                }
                Ok(directory) => {
                    let found = contents(&directory.store().snapshot());
                    self.check(&found);
                    // From now on this is what counts.
                    self.acknowledged = found;
                    self.unknown.clear();
                    return Some(directory);
                }
                Err(e) => {
                    self.is_missing |= e.state() == SqlState::UNDEFINED_FILE;
                    self.errors.push(e);
                }
            }
            if self.is_missing {
                break;
            }
        }
        None
    }

    fn commit(&mut self, directory: &Directory, work: impl FnOnce(&mut Transaction)) {
        self.commit_as(directory, Acknowledge::Durable, work);
    }

    fn commit_as(
        &mut self,
        directory: &Directory,
        acknowledge: Acknowledge,
        work: impl FnOnce(&mut Transaction),
    ) {
        self.try_commit(directory, acknowledge, |t| {
            work(t);
            Ok(())
        });
    }

    /// Work that fails is rolled back.
    fn try_commit(
        &mut self,
        directory: &Directory,
        acknowledge: Acknowledge,
        work: impl FnOnce(&mut Transaction) -> Result<()>,
    ) {
        let store = directory.store();
        let before = contents(&store.snapshot());
        let mut transaction = store.begin(Duration::ZERO, &Cancel::new()).unwrap();
        if let Err(e) = work(&mut transaction) {
            return self.errors.push(e);
        }
        let after = contents(transaction.view());
        match transaction.commit_as(acknowledge) {
            Ok(_) => {
                assert!(
                    contents(&store.snapshot()) == after,
                    "a commit is visible when it returns"
                );
                match acknowledge {
                    // It waited for nothing.
                    _ if after == before => {}
                    Acknowledge::Durable => {
                        self.acknowledged = after;
                        self.unknown.clear();
                    }
                    Acknowledge::Placed => self.unknown.push(after),
                }
            }
            Err(e) => {
                assert!(contents(&store.snapshot()) == before, "{e}");
                if e.state() == SqlState::TRANSACTION_RESOLUTION_UNKNOWN {
                    self.unknown.push(after);
                }
                self.errors.push(e);
            }
        }
    }

    fn checkpoint(&mut self, directory: &Directory) {
        self.errors.extend(directory.checkpoint().err());
    }

    fn check(&self, found: &Contents) {
        let sizes = |c: &Contents| c.iter().map(|(n, r)| (n.clone(), r.len())).collect::<Vec<_>>();
        let mut expected = std::iter::once(&self.acknowledged).chain(&self.unknown);
        assert!(
            expected.clone().any(|c| c == found),
            "found {:?} instead of {:?}; {:?}",
            sizes(found),
            expected.by_ref().map(sizes).collect::<Vec<_>>(),
            self.errors
        );
    }
}

fn freeze(transaction: &mut Transaction, id: ObjectId, order_by: Option<usize>) -> Result<()> {
    (transaction.freeze_table(id, order_by, BuildOptions::default(), &Cancel::new())).map(drop)
}

/// Adds rows as a block, as a bulk load does.
fn load(transaction: &mut Transaction, id: ObjectId, numbers: std::ops::Range<i128>) -> Result<()> {
    let table = transaction.view().table(id)?.table().clone();
    let block = Freezer::default().freeze_batch(&table, &batch(numbers))?;
    transaction.writer(id)?.block(block).map(drop)
}

/// Loads of several kinds, the last one of them behind the last checkpoint: of the numbers from 0 on, 500 stay.
fn loads(run: &mut Run, directory: &Directory, name: &str) {
    let Some(bulk) = table(run, directory, name) else {
        return;
    };
    let durable = Acknowledge::Durable;
    run.try_commit(directory, durable, |t| load(t, bulk, 0..200));
    run.try_commit(directory, durable, |t| {
        load(t, bulk, 200..300)?;
        let savepoint = t.savepoint();
        load(t, bulk, 5_000..5_100)?;
        t.rollback_to(savepoint);
        insert(t, bulk, 300..310);
        load(t, bulk, 310..400)?;
        delete(t, bulk, name, |n| n == 250);
        Ok(())
    });
    // What is rolled back leaves no file behind.
    if let Ok(mut rolled_back) = directory.store().begin(Duration::ZERO, &Cancel::new()) {
        run.errors
            .extend(load(&mut rolled_back, bulk, 6_000..6_010).err());
    }
    run.checkpoint(directory);
    run.try_commit(directory, Acknowledge::Placed, |t| load(t, bulk, 400..450));
    run.try_commit(directory, durable, |t| load(t, bulk, 450..501));
    run.commit(directory, |t| delete(t, bulk, name, |n| n == 17));
    run.commit(directory, |t| insert(t, bulk, 501..502));
}

fn delete(transaction: &mut Transaction, id: ObjectId, name: &str, wanted: impl Fn(i128) -> bool) {
    let rows = read_of(transaction.view(), name).unwrap();
    let rows: Vec<RowId> = rows.iter().filter(|r| wanted(r.1)).map(|r| r.0).collect();
    transaction.writer(id).unwrap().delete(&rows).unwrap();
}

/// The table of a name, made if it is not there.
fn table(run: &mut Run, directory: &Directory, name: &str) -> Option<ObjectId> {
    let known = |directory: &Directory| {
        let snapshot = directory.store().snapshot();
        snapshot
            .table_named(QualifiedName::in_public(name))
            .ok()
            .map(|t| t.table().id())
    };
    if known(directory).is_none() {
        run.commit(directory, |t| {
            define(t, name);
        });
    }
    known(directory)
}

/// Rows come, go, freeze and move, tables come and go, transactions are rolled back, and checkpoints are made, three databases' lives
/// long. Ends early where nothing can be opened or no table can be made.
fn workload(run: &mut Run) {
    let Some(directory) = run.open() else { return };
    let Some(id) = table(run, &directory, "t") else {
        return;
    };
    run.commit(&directory, |t| insert(t, id, 0..300));
    run.try_commit(&directory, Acknowledge::Durable, |t| freeze(t, id, None));
    // What is rolled back leaves cells behind, and numbers of chunks.
    if let Ok(mut rolled_back) = directory.store().begin(Duration::ZERO, &Cancel::new()) {
        insert(&mut rolled_back, id, 300..320);
    }
    run.commit(&directory, |t| insert(t, id, 300..350));
    run.checkpoint(&directory);
    run.commit(&directory, |t| delete(t, id, "t", |n| n % 3 == 0));
    run.commit(&directory, |t| {
        insert(t, id, 350..360);
        let savepoint = t.savepoint();
        insert(t, id, 360..370);
        delete(t, id, "t", |n| n < 100);
        t.rollback_to(savepoint);
        insert(t, id, 370..375);
    });
    let Some(other) = table(run, &directory, "other") else {
        return;
    };
    run.commit(&directory, |t| insert(t, other, 0..20));
    run.commit_as(&directory, Acknowledge::Placed, |t| insert(t, other, 20..25));
    run.commit_as(&directory, Acknowledge::Placed, |t| {
        delete(t, other, "other", |n| n < 3)
    });
    run.checkpoint(&directory);
    run.commit(&directory, |t| t.truncate(other).unwrap());
    run.commit(&directory, |t| insert(t, other, 40..45));
    loads(run, &directory, "bulk");
    drop(directory);
    let Some(directory) = run.open() else { return };
    if directory.store().snapshot().table_named("other").is_ok() {
        run.commit(&directory, |t| {
            t.drop_relations(&DropRelations::table("other")).unwrap()
        });
    }
    let Some(id) = table(run, &directory, "t") else {
        return;
    };
    run.commit(&directory, |t| insert(t, id, 1_000..1_040));
    run.try_commit(&directory, Acknowledge::Durable, |t| freeze(t, id, Some(0)));
    run.commit(&directory, |t| delete(t, id, "t", |n| n == 1_001));
    run.checkpoint(&directory);
    run.commit(&directory, |t| insert(t, id, 2_000..2_001));
    run.checkpoint(&directory);
    run.commit(&directory, |t| {
        let more = define(t, "more");
        insert(t, more, 0..10);
    });
    drop(directory);
    let Some(directory) = run.open() else { return };
    loads(run, &directory, "again");
    run.checkpoint(&directory);
    if directory.store().snapshot().table_named("again").is_ok() {
        run.commit(&directory, |t| {
            t.drop_relations(&DropRelations::table("again")).unwrap()
        });
    }
    run.checkpoint(&directory);
}

/// Number of operations of a workload in which nothing fails.
fn operations() -> u64 {
    let mut run = Run::new(SimVfs::new(1));
    workload(&mut run);
    assert!(run.errors.is_empty(), "{:?}", run.errors);
    assert_eq!(run.acknowledged["t"].len(), 233 + 15 + 40);
    assert_eq!(run.acknowledged["more"].len(), 10);
    assert_eq!(run.acknowledged["bulk"].len(), 500);
    run.sim.operations()
}

/// Opens what a power cut left, and once more after a second one while it was opened: that changes nothing.
fn opens_after_power_cuts(mut run: Run, second: u64) {
    run.sim = run.sim.restart_after_power_cut();
    run.sim.fail_at(second, Failure::PowerCut);
    if let Ok(directory) = open(&run.sim) {
        let found = contents(&directory.store().snapshot());
        run.check(&found);
        run.acknowledged = found;
        run.unknown.clear();
    }
    run.sim = run.sim.restart_after_power_cut();
    let directory = open(&run.sim).unwrap_or_else(|e| panic!("{e}: {:#?}", run.sim.trace()));
    run.check(&contents(&directory.store().snapshot()));
}

#[test]
fn a_power_cut_at_any_operation_leaves_what_was_committed() {
    let operations = operations();
    assert!(operations >= 300, "{operations}");
    for nth in 0..operations {
        for seed in 0..3 {
            let mut run = Run::new(SimVfs::new(seed * 1_000 + nth));
            run.sim.fail_at(nth, Failure::PowerCut);
            workload(&mut run);
            opens_after_power_cuts(run, (nth + 5 * seed) % 31);
        }
    }
}

#[test]
fn a_process_that_dies_at_any_operation_leaves_what_was_committed_to_later_power_cuts() {
    for nth in 0..operations() {
        let mut run = Run::new(SimVfs::new(nth));
        run.sim.fail_at(nth, Failure::PowerCut);
        workload(&mut run);
        run.sim = run.sim.restart_after_kill();
        // The next process goes on where the dead one ended, and the power is cut then: also if it has only looked at what is there, which
        // counts from then on.
        if let Some(directory) = run.open().filter(|_| nth % 3 > 0) {
            if let Some(id) = table(&mut run, &directory, "next") {
                run.commit(&directory, |t| insert(t, id, 0..10));
            }
            match nth % 3 {
                1 => run.checkpoint(&directory),
                _ => drop(directory),
            }
        }
        opens_after_power_cuts(run, nth % 17);
    }
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
            let codes = [
                SqlState::IO_ERROR,
                SqlState::DISK_FULL,
                SqlState::UNDEFINED_FILE,
                SqlState::TRANSACTION_RESOLUTION_UNKNOWN,
            ];
            let is_known = |e: &frazil_types::Error| codes.contains(&e.state());
            assert!(run.errors.iter().all(is_known), "{:?}", run.errors);
            assert!(!run.is_missing || failure == Failure::Vanished);
            if run.is_missing {
                continue;
            }
            run.sim = match nth % 2 {
                0 => run.sim.restart_after_power_cut(),
                _ => run.sim.restart_after_kill(),
            };
            match open(&run.sim) {
                // A segment that somebody removed is missed by its table.
                Ok(directory) if is_damaged(&directory) => assert_eq!(failure, Failure::Vanished),
                Ok(directory) => run.check(&contents(&directory.store().snapshot())),
                // What somebody removed is missed by its name.
                Err(e) => assert!(
                    failure == Failure::Vanished && e.message().contains(" \"/"),
                    "{failure:?} of operation {nth}: {e}"
                ),
            }
        }
    }
}

#[test]
fn a_full_disk_ends_commits_and_checkpoints_until_there_is_room_again() {
    let mut refused = 0;
    for room in (0..60_000).step_by(1_999) {
        let mut run = Run::new(SimVfs::new(room));
        let directory = run.open().unwrap();
        let id = table(&mut run, &directory, "t").unwrap();
        run.commit(&directory, |t| insert(t, id, 0..300));
        run.checkpoint(&directory);
        run.sim.set_capacity(run.sim.used() + room);
        for n in 0..10 {
            run.commit(&directory, |t| insert(t, id, 300 + n * 30..330 + n * 30));
            if n % 3 == 0 {
                run.checkpoint(&directory);
            }
        }
        let is_full = |e: &frazil_types::Error| e.state() == SqlState::DISK_FULL;
        assert!(run.errors.iter().all(is_full), "{:?}", run.errors);
        refused += run.errors.len();
        run.sim.set_capacity(u64::MAX);
        run.commit(&directory, |t| insert(t, id, 900..910));
        run.checkpoint(&directory);
        assert_eq!(run.acknowledged["t"].last().unwrap().1, 909);
        drop(directory);
        opens_after_power_cuts(run, room);
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn failed_checkpoints_leave_no_files_behind() {
    for nth in 0..40 {
        let mut run = Run::new(SimVfs::new(nth));
        let directory = run.open().unwrap();
        let id = table(&mut run, &directory, "t").unwrap();
        run.commit(&directory, |t| insert(t, id, 0..500));
        run.checkpoint(&directory);
        run.commit(&directory, |t| insert(t, id, 500..700));
        run.sim.fail_at(run.sim.operations() + nth, Failure::Undone);
        run.checkpoint(&directory);
        run.sim.heal();
        for more in 0..2 {
            run.commit(&directory, |t| insert(t, id, 1_000 + more..1_001 + more));
            run.checkpoint(&directory);
        }
        assert_eq!(numbers(directory.store()).len(), 702);
        let files = |name: &str| frazil_vfs::Vfs::list(&run.sim, &path().join(name)).unwrap();
        assert!(
            files("segments").len() <= 3,
            "operation {nth}: {:?}",
            files("segments")
        );
        assert!(files("log").len() <= 5, "operation {nth}: {:?}", files("log"));
        assert_eq!(run.acknowledged["t"].len(), 702);
    }
}

/// The names of a new directory are durable only once the directories above are synced, by whomever they were made.
#[test]
fn the_directories_above_a_new_one_are_synced() {
    for nth in 0..30 {
        let mut run = Run::new(SimVfs::new(nth));
        run.sim.fail_at(nth, Failure::PowerCut);
        let _ = open(&run.sim);
        // It died while the names were made; the next one finds some.
        run.sim = run.sim.restart_after_kill();
        let is_new = run.sim.read(&path().join("manifest")).is_none();
        let directory = run.open().unwrap();
        table(&mut run, &directory, "t").unwrap();
        let synced = run.sim.trace();
        for above in ["/", "/data", "/data/db"].into_iter().filter(|_| is_new) {
            let wanted = format!("sync directory {above}");
            assert!(synced.contains(&wanted), "{wanted} is not among {synced:#?}");
        }
        drop(directory);
        opens_after_power_cuts(run, 100);
    }
}
