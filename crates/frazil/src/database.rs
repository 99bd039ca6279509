//! A database: its tables, its memory budget and its worker threads, shared by all connections.

use crate::background_freezer::BackgroundFreezer;
use crate::connection::Connection;
use crate::plan_cache::PlanCache;
use frazil_durability::Directory;
use frazil_exec::WorkerPool;
use frazil_storage::Store;
use frazil_types::{Error, MemoryBudget, Result, SqlState};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Share of the machine's memory that statements may use unless `memory_limit` says otherwise.
const MEMORY_SHARE: f64 = 0.8;

/// A database in memory or on a directory. Clones are the same database.
#[derive(Clone, Debug)]
pub struct Database(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Arc<Store>,
    // None in memory, and once closed.
    directory: Mutex<Option<Directory>>,
    closed: AtomicBool,
    budget: MemoryBudget,
    pool: WorkerPool,
    freezer: BackgroundFreezer,
    plans: PlanCache,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let directory = self.directory.get_mut().unwrap_or_else(|e| e.into_inner());
        if let Some(directory) = directory.take() {
            // Nobody is left to hear of a failure; whoever wants to know calls `close`.
            let _ = directory.close();
        }
    }
}

impl Database {
    /// An empty database in memory.
    pub fn memory() -> Result<Database> {
        Ok(Database::new(Store::new(), None))
    }

    /// The database of a directory, which is made if it does not exist. One process at a time has it open.
    pub fn open(directory: &Path) -> Result<Database> {
        let directory = Directory::open(directory)?;
        Ok(Database::new(directory.store().clone(), Some(directory)))
    }

    fn new(store: Arc<Store>, directory: Option<Directory>) -> Database {
        Database(Arc::new(Inner {
            freezer: BackgroundFreezer::start(store.clone()),
            store,
            directory: Mutex::new(directory),
            closed: AtomicBool::new(false),
            budget: MemoryBudget::new(Database::default_memory_limit()),
            pool: WorkerPool::new(),
            plans: PlanCache::default(),
        }))
    }

    /// `memory_limit` unless it is set.
    pub(crate) fn default_memory_limit() -> usize {
        physical_memory().map_or(usize::MAX, |bytes| (bytes as f64 * MEMORY_SHARE) as usize)
    }

    /// A new connection with default settings.
    pub fn connect(&self) -> Connection {
        Connection::new(self.clone())
    }

    /// Ends the database for all its connections. A directory holds everything that was committed, and
    /// another process may open it.
    pub fn close(self) -> Result<()> {
        self.0.closed.store(true, Ordering::SeqCst);
        match self.directory().take() {
            Some(directory) => directory.close(),
            None => Ok(()),
        }
    }

    /// Writes everything to the directory, so that a crash afterwards loses nothing of it.
    pub fn checkpoint(&self) -> Result<()> {
        match &*self.directory() {
            Some(directory) => directory.checkpoint().map(drop),
            None => Ok(()),
        }
    }

    /// 08003 once the database is closed.
    pub(crate) fn check_open(&self) -> Result<()> {
        match self.0.closed.load(Ordering::SeqCst) {
            false => Ok(()),
            true => Err(Error::new(
                SqlState::CONNECTION_DOES_NOT_EXIST,
                "the database was closed",
            )),
        }
    }

    fn directory(&self) -> MutexGuard<'_, Option<Directory>> {
        self.0.directory.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.0.store
    }

    /// Whether it lies in a directory.
    pub(crate) fn is_durable(&self) -> bool {
        self.directory().is_some()
    }

    pub(crate) fn freezer(&self) -> &BackgroundFreezer {
        &self.0.freezer
    }

    pub(crate) fn plan_cache(&self) -> &PlanCache {
        &self.0.plans
    }

    pub(crate) fn budget(&self) -> &MemoryBudget {
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
