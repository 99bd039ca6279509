//! Databases that several parts of a process share: whoever opens a directory that the process has open joins the open
//! database.
//!
//! A directory is known by its identity (device and inode), not by the text of its path: relative paths and links
//! lead to the same database, and a new directory at the path of a removed one is another database. An open database
//! holds its directory, so the system does not give the identity to another directory meanwhile.

use crate::database::{Database, OpenOptions, WeakDatabase};
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{Access, Process};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// Sleep between two looks at a database that another thread is dropping.
const LOOK: Duration = Duration::from_millis(1);

/// A database that was opened by [`OpenOptions::open_shared`]. [`SharedDatabase::close`] closes the database if this
/// is the last handle on it.
///
/// A dropped handle closes nothing by itself: the database ends when its last handle, connection and statement are
/// dropped.
#[derive(Debug)]
pub struct SharedDatabase {
    database: Database,
    /// `None` in memory, and once closed.
    place: Option<Arc<Place>>,
}

/// A directory that is or was open. Whoever opens or closes the database holds `open`.
#[derive(Debug, Default)]
struct Place {
    open: Mutex<Option<Open>>,
    /// Handles that are neither closed nor dropped.
    handles: AtomicUsize,
}

/// The database that was last open on a directory.
#[derive(Debug)]
struct Open {
    database: WeakDatabase,
    options: OpenOptions,
}

/// Device and inode of a directory.
type Identity = (u64, u64);

/// The directories that a process has open. A forked child opens none of its parent's databases, and its copy of the
/// parent's list may be locked for ever; so the child has a list of its own.
#[derive(Debug, Default)]
struct OpenDirectories {
    process: OnceLock<Process>,
    places: Mutex<BTreeMap<Identity, Arc<Place>>>,
    /// The list of a forked child.
    forked: OnceLock<Box<OpenDirectories>>,
}

static DIRECTORIES: OpenDirectories = OpenDirectories {
    process: OnceLock::new(),
    places: Mutex::new(BTreeMap::new()),
    forked: OnceLock::new(),
};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl OpenDirectories {
    /// The list of this process.
    fn current() -> &'static OpenDirectories {
        let process = Process::current();
        let mut list = &DIRECTORIES;
        while *list.process.get_or_init(|| process) != process {
            list = list.forked.get_or_init(Box::default);
        }
        list
    }

    /// The place of a directory. Forgets places that nobody uses.
    fn place(places: &mut BTreeMap<Identity, Arc<Place>>, identity: Identity) -> Arc<Place> {
        places.retain(|_, place| Arc::strong_count(place) > 1 || place.is_in_use());
        places.entry(identity).or_default().clone()
    }
}

impl Place {
    fn is_in_use(&self) -> bool {
        match self.open.try_lock() {
            Ok(open) => open.as_ref().is_some_and(|open| !open.database.is_gone()),
            Err(_) => true,
        }
    }

    /// Joins the database that is open here, or opens it. `None` if `path` led elsewhere while it was opened.
    fn open(
        self: Arc<Place>,
        options: &OpenOptions,
        path: &Path,
        here: Option<Identity>,
    ) -> Result<Option<SharedDatabase>> {
        let mut open = lock(&self.open);
        let database = match open.as_ref().and_then(Open::database) {
            Some((database, opened)) => {
                check_same(opened, options, path)?;
                database
            }
            None => {
                let database = options.open(path)?;
                if here.is_some() && here != identity(path) {
                    return Ok(None);
                }
                *open = Some(Open {
                    database: database.downgrade(),
                    options: options.clone(),
                });
                database
            }
        };
        self.handles.fetch_add(1, Ordering::AcqRel);
        drop(open);
        Ok(Some(SharedDatabase {
            database,
            place: Some(self),
        }))
    }
}

impl Open {
    /// The database with the options it was opened with, unless it is closed. Waits for a thread that is dropping it,
    /// because the directory is locked until then.
    fn database(&self) -> Option<(Database, &OpenOptions)> {
        loop {
            if let Some(database) = self.database.upgrade() {
                return database.check_open().is_ok().then_some((database, &self.options));
            }
            if self.database.is_gone() {
                return None;
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// The identity of what a path leads to; `None` if nothing is there, or if the system does not say.
fn identity(path: &Path) -> Option<Identity> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// 55006 if a database that is open with options is opened with others.
fn check_same(opened: &OpenOptions, wanted: &OpenOptions, path: &Path) -> Result<()> {
    let how = match (opened.access(), wanted.access()) {
        (Access::Read, Access::Write) => "read-only",
        (Access::Write, Access::Read) => "for writing",
        _ if opened.files() != wanted.files() => "with another file_access",
        _ => return Ok(()),
    };
    let message = format!(
        "database directory \"{}\" is already open in this process {how}",
        path.display()
    );
    let hint =
        "use the read_only and file_access of the first connection, or close all its connections first";
    Err(Error::new(SqlState::OBJECT_IN_USE, message).with_hint(hint))
}

impl OpenOptions {
    /// Opens the database of a directory, or joins it if this process has it open by this function already. 55006 if
    /// it is open with other options, if another process has it open, or if this process has opened it by
    /// [`OpenOptions::open`], which never shares. Each database in memory is a new one, and
    /// each opening of a published folder in an object store reads for itself.
    ///
    /// ```
    /// # fn main() -> frazil::Result<()> {
    /// # let directory = std::env::temp_dir().join(format!("frazil-shared-doc-{}", std::process::id()));
    /// let first = frazil::OpenOptions::new().open_shared(&directory)?;
    /// let second = frazil::OpenOptions::new().open_shared(&directory)?;
    /// first.connect().execute("create table t (a integer)")?;
    /// first.close()?;
    /// second.connect().execute("insert into t values (1)")?;
    /// second.close()?; // closes the database
    /// # std::fs::remove_dir_all(&directory).map_err(|e| frazil::Error::internal(e.to_string()))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn open_shared(&self, directory: impl AsRef<Path>) -> Result<SharedDatabase> {
        let path = directory.as_ref();
        if crate::database::is_in_memory(path) || crate::elsewhere::is_url(path) {
            let database = self.open(path)?;
            return Ok(SharedDatabase {
                database,
                place: None,
            });
        }
        let list = OpenDirectories::current();
        loop {
            let mut places = lock(&list.places);
            let Some(here) = identity(path) else {
                // Under the lock, so that threads do not make the directory at the same time. An empty one opens at
                // once.
                let made = Arc::new(Place::default());
                let opened = made.clone().open(self, path, None)?;
                if let Some(identity) = identity(path) {
                    places.insert(identity, made);
                }
                match opened {
                    Some(database) => return Ok(database),
                    None => continue,
                }
            };
            let place = OpenDirectories::place(&mut places, here);
            drop(places);
            if let Some(database) = place.open(self, path, Some(here))? {
                return Ok(database);
            }
        }
    }
}

impl SharedDatabase {
    /// Gives up this handle, and closes the database as [`Database::close`] does if it was the last one. 08003 in a
    /// forked child, whose parent keeps the database.
    pub fn close(mut self) -> Result<()> {
        self.database.check_process()?;
        let Some(place) = self.place.take() else {
            return self.database.clone().close();
        };
        let _open = lock(&place.open);
        match place.handles.fetch_sub(1, Ordering::AcqRel) {
            1 => self.database.clone().close(),
            _ => Ok(()),
        }
    }
}

impl Deref for SharedDatabase {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl Drop for SharedDatabase {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            place.handles.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
