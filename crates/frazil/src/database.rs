//! A database: its tables, its memory budget and its worker threads, shared by all connections.

use crate::activity::Roster;
use crate::background_checkpointer::{BackgroundCheckpointer, CheckpointPolicy};
use crate::background_freezer::BackgroundFreezer;
use crate::elsewhere;
use crate::gate::{Gate, Inside};
use crate::notifications::Exchange;
use crate::parameters;
use crate::plan_cache::PlanCache;
use crate::statistics::DatabaseStatistics;
use frazil_durability::{Access, Directory, Inspection, Loss, Opening};
use frazil_exec::WorkerPool;
use frazil_files::{FileAccess, FooterCache};
use frazil_storage::{CommitTimes, Store};
use frazil_types::{Cancel, Error, MemoryBudget, Result, SqlState, session_settings};
use frazil_vfs::{Process, SystemVfs, Vfs};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

/// Share of the machine's memory that statements may use unless `memory_limit` says otherwise.
const MEMORY_SHARE: f64 = 0.8;

/// The path of a database in memory; so is the empty one.
const IN_MEMORY: &str = ":memory:";

/// A database in memory or on a directory. Clones are the same database.
///
/// It belongs to the process that opened it. A child forked from that process cannot use it (08003), and leaves the
/// directory and its lock alone when it drops it.
#[derive(Clone, Debug)]
pub struct Database(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<Store>,
    // None in memory, and once closed.
    directory: Mutex<Option<Arc<Directory>>>,
    gate: Gate,
    // Held by the one who closes.
    closing: Mutex<()>,
    process: Process,
    budget: MemoryBudget,
    pool: Arc<WorkerPool>,
    freezer: Arc<BackgroundFreezer>,
    // None in memory, and once closed.
    checkpointer: Mutex<Option<BackgroundCheckpointer>>,
    checkpoints: Arc<CheckpointPolicy>,
    plans: PlanCache,
    statistics: DatabaseStatistics,
    exchange: Exchange,
    roster: Roster,
    footers: Arc<FooterCache>,
    /// What its connections begin with.
    file_access: FileAccess,
    /// The name by which a server serves it.
    name: OnceLock<String>,
    /// Dropped last, when the directory is free again.
    presence: Arc<()>,
}

/// A database that ends when nobody uses it.
#[derive(Debug)]
pub(crate) struct WeakDatabase {
    database: Weak<Inner>,
    presence: Weak<()>,
}

impl WeakDatabase {
    /// The database, unless nobody uses it any more.
    pub fn upgrade(&self) -> Option<Database> {
        self.database.upgrade().map(Database)
    }

    /// True once the database has been dropped, and has left its directory.
    pub fn is_gone(&self) -> bool {
        self.presence.strong_count() == 0
    }
}

/// How a database is opened: a builder.
///
/// ```
/// # fn main() -> frazil::Result<()> {
/// let database = frazil::OpenOptions::new()
///     .file_access(frazil::FileAccess::Off)
///     .open(":memory:")?;
/// assert!(database.connect().execute("select * from 'data.csv'").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    access: Access,
    file_access: FileAccess,
}

impl OpenOptions {
    /// A database that is written, whose statements may name all files that the process may open.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Opens the directory only to read it, or to write it as well.
    pub fn read_only(mut self, is_read_only: bool) -> OpenOptions {
        self.access = match is_read_only {
            true => Access::Read,
            false => Access::Write,
        };
        self
    }

    /// Says which files statements may name. A connection can narrow it, by `SET file_access`, and never widen it.
    pub fn file_access(mut self, access: FileAccess) -> OpenOptions {
        self.file_access = access;
        self
    }

    /// Says whether the directory is written.
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// The files that statements may name.
    pub(crate) fn files(&self) -> &FileAccess {
        &self.file_access
    }

    /// Opens the database of a directory, as [`Database::open`] or [`Database::open_read_only`] does.
    pub fn open(&self, directory: impl AsRef<Path>) -> Result<Database> {
        self.open_as(directory, &Opening::to(self.access))
    }

    /// Opens it as [`Opening`] says, whose `access` counts: 57014 if it is stopped.
    pub fn open_as(&self, directory: impl AsRef<Path>, opening: &Opening<'_>) -> Result<Database> {
        let directory = directory.as_ref();
        if !is_in_memory(directory) {
            elsewhere::check_readable(directory, opening.access)?;
            let elsewhere = elsewhere::folder_at(directory, &Cancel::new())?;
            let opened = match elsewhere {
                Some((vfs, folder)) => Directory::open_as(vfs, &folder, opening)?,
                None => Directory::open_as(Arc::new(SystemVfs::default()), directory, opening)?,
            };
            elsewhere::check_published(directory, &opened)?;
            let directory = opened;
            let store = directory.store().clone();
            return Ok(Database::new(store, Some(directory), self.file_access.clone()));
        }
        match opening.access {
            Access::Write => Ok(Database::new(Store::new(), None, self.file_access.clone())),
            Access::Read => Err(Error::new(
                SqlState::INVALID_PARAMETER,
                "a database in memory is new and empty: it cannot be opened read-only",
            )),
        }
    }
}

/// True for the paths of databases in memory.
pub(crate) fn is_in_memory(path: &Path) -> bool {
    path.as_os_str().is_empty() || path == Path::new(IN_MEMORY)
}

impl Drop for Inner {
    fn drop(&mut self) {
        let directory = self.directory.get_mut().unwrap_or_else(|e| e.into_inner());
        if !self.process.is_current() {
            // The threads are the parent's, and so are the directory and its lock. What would join the ones or write to
            // the other is never dropped.
            let checkpointer = self.checkpointer.get_mut().unwrap_or_else(|e| e.into_inner());
            std::mem::forget((
                self.pool.clone(),
                self.freezer.clone(),
                directory.take(),
                checkpointer.take(),
            ));
            return;
        }
        let checkpointer = self.checkpointer.get_mut().unwrap_or_else(|e| e.into_inner());
        drop(checkpointer.take());
        if let Some(directory) = directory.take() {
            // Nobody is left to hear of a failure; whoever wants to know calls `close`.
            let _ = directory.write_out();
        }
    }
}

impl Database {
    /// An empty database in memory.
    pub fn memory() -> Result<Database> {
        Ok(Database::new(Store::new(), None, FileAccess::On))
    }

    /// The database of a directory, which is made if it does not exist. 55006 if it is open for writing already, in
    /// another process or in this one: [`OpenOptions::open_shared`] shares it within a process. The empty path and
    /// `:memory:` are databases in memory.
    pub fn open(directory: impl AsRef<Path>) -> Result<Database> {
        Database::open_as(directory, &Opening::to(Access::Write))
    }

    /// The database of a directory that is there, to be read: any number of processes may have it open so, whether
    /// another one writes it or none does. Each statement sees what was committed when it began (or `read_lag` before).
    /// Nothing about the directory changes; a statement that would write is 25006. 22023 for a database in memory.
    ///
    /// A published folder in an object store is opened by its URL, and a snapshot in it by
    /// `URL/snapshots/NUMBER`. Blocks are fetched as statements read them, and kept in a folder of copies on the disk,
    /// which `FRAZIL_CACHE_DIR` names and `FRAZIL_CACHE_BYTES` bounds. The store is asked for a newer snapshot once a
    /// second at most.
    /// 08001 if it does not answer, 42501 if it denies access, 58P01 if nothing is there.
    pub fn open_read_only(directory: impl AsRef<Path>) -> Result<Database> {
        Database::open_as(directory, &Opening::to(Access::Read))
    }

    /// The database of a directory, opened as [`Opening`] says: 57014 if it is stopped.
    pub fn open_as(directory: impl AsRef<Path>, opening: &Opening<'_>) -> Result<Database> {
        OpenOptions::new().open_as(directory, opening)
    }

    /// The database of a directory of another file system than the operating system's, as [`Database::open`] has those
    /// of the operating system: tests have one that fails and forgets.
    pub fn open_over(vfs: Arc<dyn Vfs>, directory: &Path) -> Result<Database> {
        Database::open_over_as(vfs, directory, &Opening::to(Access::Write))
    }

    /// The same, opened as [`Opening`] says.
    pub fn open_over_as(vfs: Arc<dyn Vfs>, directory: &Path, opening: &Opening<'_>) -> Result<Database> {
        let directory = Directory::open_as(vfs, directory, opening)?;
        Ok(Database::new(
            directory.store().clone(),
            Some(directory),
            FileAccess::On,
        ))
    }

    /// Compares all files of a directory with their checksums, without opening it. Nobody writes the directory as long
    /// as what was found is held; others may read it. `watch` hears how many bytes of all were read. 55006 if somebody
    /// writes it, 58P01 if it is not there, 22023 if it is not a database's, 57014.
    pub fn inspect(directory: &Path, cancel: &Cancel, watch: &dyn Fn(u64, u64)) -> Result<Inspection> {
        elsewhere::refuse_url(
            directory,
            "comparing files with their checksums",
            "statements that read the folder compare what they read",
        )?;
        let vfs: Arc<dyn Vfs> = Arc::new(SystemVfs::default());
        frazil_durability::inspect(&vfs, directory, cancel, watch)
    }

    fn new(store: Arc<Store>, directory: Option<Directory>, file_access: FileAccess) -> Database {
        frazil_functions::start_of_process();
        let freezer = Arc::new(BackgroundFreezer::start(store.clone()));
        let directory = directory.map(Arc::new);
        let checkpoints = Arc::new(CheckpointPolicy::default());
        let written = directory
            .clone()
            .filter(|directory| directory.access() == Access::Write);
        let checkpointer = written.map(|directory| {
            let failures = freezer.failures().clone();
            BackgroundCheckpointer::start(directory, checkpoints.clone(), failures)
        });
        Database(Arc::new(Inner {
            freezer,
            checkpointer: Mutex::new(checkpointer),
            checkpoints,
            store,
            directory: Mutex::new(directory),
            gate: Gate::default(),
            exchange: Exchange::default(),
            roster: Roster::default(),
            closing: Mutex::new(()),
            process: Process::current(),
            budget: MemoryBudget::new(Database::default_memory_limit()),
            pool: Arc::new(WorkerPool::new()),
            plans: PlanCache::default(),
            statistics: DatabaseStatistics::new(parameters::now_micros()),
            footers: Arc::default(),
            file_access,
            name: OnceLock::new(),
            presence: Arc::default(),
        }))
    }

    /// The database, to be used as long as others use it.
    pub(crate) fn downgrade(&self) -> WeakDatabase {
        WeakDatabase {
            database: Arc::downgrade(&self.0),
            presence: Arc::downgrade(&self.0.presence),
        }
    }

    /// 08003 in a forked child.
    pub(crate) fn check_process(&self) -> Result<()> {
        self.0.process.check()
    }

    /// `memory_limit` unless it is set.
    pub(crate) fn default_memory_limit() -> usize {
        physical_memory().map_or(usize::MAX, |bytes| (bytes as f64 * MEMORY_SHARE) as usize)
    }

    /// Ends the database for all its connections. New statements are refused (08003), running ones are waited for, open
    /// transactions are rolled back. Afterwards a directory holds everything that was committed, and another process
    /// may open it. If writing it fails, nothing is closed: statements go on, and `close` may be called again. A
    /// database whose log has failed is closed also with an error: it opens with what is durable.
    pub fn close(self) -> Result<()> {
        self.0.process.check()?;
        let _closing = self.0.closing.lock().unwrap_or_else(|e| e.into_inner());
        self.0.gate.shut();
        let Some(directory) = self.directory() else {
            return Ok(());
        };
        let written = directory.write_out();
        if written.is_err() && directory.check().is_ok() {
            self.0.gate.reopen();
            return written;
        }
        let mut checkpointer = self.0.checkpointer.lock().unwrap_or_else(|e| e.into_inner());
        drop(checkpointer.take());
        *self.lock_directory() = None;
        written
    }

    /// Writes everything that was committed to segments of the directory: opening it has nothing to do again then.
    /// 25006 if it is only read.
    pub fn checkpoint(&self) -> Result<()> {
        self.0.process.check()?;
        match self.directory() {
            Some(directory) => directory.checkpoint().map(drop),
            None => Ok(()),
        }
    }

    /// Copies what is committed to another directory, which is not there or empty, while others read and write. 22023
    /// if that holds something,
    /// 0A000 in memory, 57014 if it is stopped; after an error there is no backup.
    pub fn backup(&self, to: impl AsRef<Path>, cancel: &Cancel) -> Result<()> {
        self.0.process.check()?;
        match self.directory() {
            Some(directory) => {
                let hint = "PUBLISH TO 'URL' writes a snapshot there, which is only read";
                elsewhere::refuse_url(to.as_ref(), "a backup", hint)?;
                directory.backup(to.as_ref(), cancel).map(drop)
            }
            None => Err(Error::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "a database in memory has no files to back up",
            )
            .with_hint("COPY writes tables to files")),
        }
    }

    /// Lets a statement in, which `close` then waits for. 08003 once the database is closed, and in a forked child.
    pub(crate) fn enter(&self) -> Result<Inside<'_>> {
        self.0.process.check()?;
        self.0.gate.enter()
    }

    /// 08003 once the database is closed, and in a forked child.
    pub(crate) fn check_open(&self) -> Result<()> {
        self.0.process.check()?;
        self.0.gate.check()
    }

    fn lock_directory(&self) -> MutexGuard<'_, Option<Arc<Directory>>> {
        self.0.directory.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Its directory. `None` in memory, and once closed.
    pub(crate) fn directory(&self) -> Option<Arc<Directory>> {
        self.lock_directory().clone()
    }

    /// Number of statements that wait for other transactions.
    pub fn waiting_statements(&self) -> usize {
        self.0.store.locks().map_or(0, |locks| locks.waits().len())
    }

    /// Number of waits of statements for other transactions since the database was opened.
    pub fn waits_so_far(&self) -> u64 {
        self.0.store.locks().map_or(0, |locks| locks.counters().waits)
    }

    /// Times the section in which commits take turns from now on, and returns the times so far.
    pub fn time_commits(&self) -> CommitTimes {
        self.0.store.time_commits()
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.0.store
    }

    /// True if anything was ever committed to it, also if nothing of it is left.
    pub fn has_commits(&self) -> bool {
        self.0.store.snapshot().timestamp() > 0
    }

    /// Whether it was opened to be read.
    pub fn is_read_only(&self) -> bool {
        self.0.store.is_read_only()
    }

    /// The tables that could not be read when the directory was opened, each an error that says why: XX001. Their
    /// statements fail with it; everything else is there.
    pub fn damaged_tables(&self) -> Vec<Error> {
        let snapshot = self.0.store.snapshot();
        snapshot.damaged().map(|(_, error)| error.clone()).collect()
    }

    /// Everything that is left out of a database that was opened to be salvaged.
    pub fn losses(&self) -> Vec<Loss> {
        self.directory()
            .map_or(Vec::new(), |directory| directory.losses().to_vec())
    }

    /// Whether it lies in a directory.
    pub(crate) fn is_durable(&self) -> bool {
        self.directory().is_some()
    }

    /// The sessions.
    pub(crate) fn roster(&self) -> &Roster {
        &self.0.roster
    }

    /// When checkpoints are made in the background.
    pub(crate) fn checkpoints(&self) -> &CheckpointPolicy {
        &self.0.checkpoints
    }

    pub(crate) fn freezer(&self) -> &BackgroundFreezer {
        &self.0.freezer
    }

    pub(crate) fn exchange(&self) -> &Exchange {
        &self.0.exchange
    }

    /// The counts of its transactions, rows and statements.
    pub(crate) fn statistics(&self) -> &DatabaseStatistics {
        &self.0.statistics
    }

    pub(crate) fn plan_cache(&self) -> &PlanCache {
        &self.0.plans
    }

    /// Footers of the Parquet files that statements read.
    pub(crate) fn footers(&self) -> &Arc<FooterCache> {
        &self.0.footers
    }

    /// Files that statements of its connections may name, unless they narrow it.
    pub(crate) fn file_access(&self) -> &FileAccess {
        &self.0.file_access
    }

    /// The name of the database: `frazil`, unless a server serves it by another one.
    pub fn name(&self) -> &str {
        self.0
            .name
            .get()
            .map_or(session_settings::DATABASE, String::as_str)
    }

    /// Gives the database the name by which a server serves it. The first name stays.
    pub fn serve_as(&self, name: &str) {
        // A second server of a database in one process has its clients connect by another name.
        let _ = self.0.name.set(name.to_owned());
    }

    /// The memory that statements share, bounded by `memory_limit`: a server counts against it what it holds for its
    /// clients.
    pub fn budget(&self) -> &MemoryBudget {
        &self.0.budget
    }

    pub(crate) fn pool(&self) -> &WorkerPool {
        &self.0.pool
    }
}

/// Bytes of memory the machine has, where the system tells.
fn physical_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
