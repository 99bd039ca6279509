//! A directory that this process has open.

use crate::checkpoint::{CheckpointReport, History, MadeCheckpoint};
use crate::commits::ClosedLog;
use crate::following::{Following, ReadDirectory, read_beside_writer};
use crate::manifest::Manifest;
use crate::opening::Opening;
use crate::progress::{CheckpointCause, CheckpointProgress, Pace, Running};
use crate::published_folder::{open_snapshot_manifest, snapshot_at};
use crate::published_snapshot::{MARKER, PublishedSnapshot};
use crate::reading::{
    absent, faults_of, names_in, read_manifest, refuse_without_manifest, restore_and_recover,
};
use crate::recovery::{Recovered, RecoveryReport};
use crate::restore::Restored;
use crate::salvage::{Loss, Losses, leave_out_damage};
use crate::segment::{Segments, segment_number};
use crate::state::{State, named_segments};
use crate::wal::{DatabaseId, Wal, WalOptions, WalPosition};
use frazil_catalog::Catalog;
use frazil_storage::{Log, Lsn, Store, TableSnapshot, read_only};
use frazil_types::{Cancel, Error, ObjectId, Result, SqlState};
use frazil_vfs::{
    Access, DirectoryLock, HeldDirectory, IoCounters, ReadOnlyVfs, SystemVfs, Vfs, create_directory,
    hold_directory, io_error, read_file, replace_file, stopped_by, sync_directory, sync_directory_and_above,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A database on a directory. Its tables are used through [`Directory::store`], whose commits are durable when they return.
#[derive(Debug)]
pub struct Directory {
    pub(crate) files: Arc<Files>,
    store: Arc<Store>,
    access: Access,
    recovery: RecoveryReport,
    losses: Vec<Loss>,
    has_indexes: bool,
    /// The state of reading it beside others who may write it.
    following: Option<Following>,
}

/// The files of a directory. Commits end in them: see `commits.rs`.
#[derive(Debug)]
pub(crate) struct Files {
    pub vfs: Arc<dyn Vfs>,
    pub path: PathBuf,
    pub state: Mutex<State>,
    pub segments: Arc<Segments>,
    pub running: Running,
    /// How many wait for the checkpoint that is being made.
    pub waiting: AtomicU64,
    pub lock: Arc<DirectoryLock>,
    pub wal: Wal,
    /// Where the log goes on behind the last checkpoint.
    pub checkpointed: AtomicU64,
    pub history: Mutex<History>,
}

/// Where the last checkpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastCheckpoint {
    /// Its number among those since the directory was opened; 0: it was made before.
    pub number: u64,
    /// Where the log goes on behind it.
    pub lsn: Lsn,
}

impl Directory {
    /// Opens a directory, making it if it is not there or empty. One process at a time: 55006 for a second, and while others
    /// have it open to read it.
    pub fn open(path: &Path) -> Result<Directory> {
        Directory::open_over(Arc::new(SystemVfs::default()), path)
    }

    /// Opens a directory of another file system than the operating system's, as [`Directory::open`] does.
    pub fn open_over(vfs: Arc<dyn Vfs>, path: &Path) -> Result<Directory> {
        Directory::open_with(vfs, path, WalOptions::default())
    }

    /// Opens a directory whose log is written in a way of its own.
    pub fn open_with(vfs: Arc<dyn Vfs>, path: &Path, options: WalOptions) -> Result<Directory> {
        let opening = Opening {
            log: options,
            ..Opening::to(Access::Write)
        };
        Directory::open_as(vfs, path, &opening)
    }

    /// Opens a directory as [`Opening`] says. With [`Access::Read`] it must be there (58P01), and nothing about it
    /// changes, what the log has behind the last checkpoint is done again in memory, and whatever would write is 25006.
    /// Another process may write it meanwhile ([`crate::following`]), unless it is salvaged.
    ///
    /// A published folder is opened as a directory is, with [`Access::Read`] alone (25006), and shows the newest
    /// snapshot; the path of a snapshot in it ([`PublishedSnapshot::path`]) shows that one.
    pub fn open_as(vfs: Arc<dyn Vfs>, path: &Path, opening: &Opening<'_>) -> Result<Directory> {
        let begun = Instant::now();
        let stopped = stopped_by(&vfs, &opening.cancel);
        if let Some((folder, number)) = snapshot_at(&*stopped, path)? {
            return Directory::open_snapshot(stopped, folder, number, opening);
        }
        prepare(&*stopped, path, opening.access)?;
        // From here on nothing that happens to the path or to the process leads to another directory.
        let HeldDirectory { vfs, path } = hold_directory(&*vfs, path)?;
        if opening.access == Access::Read && !opening.salvages {
            return Directory::open_beside_writer(Arc::new(ReadOnlyVfs::of(vfs)), path, opening, begun);
        }
        let (files, path) = (&*vfs, path.as_path());
        if opening.access == Access::Write {
            create_directory(files, &path.join("segments"))?;
        }
        let lock = Arc::new(DirectoryLock::acquire(files, path, opening.access)?);
        let manifest = match opening.access {
            Access::Write => open_manifest(files, path)?,
            Access::Read => read_manifest(files, path)?,
        };
        let (restored, mut recovered) = restore_and_recover(&vfs, path, manifest, opening)?;
        let Restored {
            mut catalog,
            mut tables,
            state,
            losses,
            faults: _,
        } = restored;
        let losses = left_out(&mut catalog, &mut tables, losses)?;
        let leftovers = match opening.access {
            Access::Write => remove_leftovers(files, path, &state)?,
            Access::Read => 0,
        };
        let last_segment = leftovers.max(state.last_segment());
        recovered.report.took = begun.elapsed();
        let end = (recovered.lsn, recovered.timestamp);
        let damaged = faults_of(&catalog, &state);
        let store = Store::restore(catalog, end, tables.into_values().collect(), damaged);
        let segments = Segments::new(vfs.clone(), path, lock.clone(), last_segment);
        segments.name(state.segments_of_redo(recovered.lsn));
        let files = Arc::new(Files {
            path: path.to_path_buf(),
            vfs,
            checkpointed: AtomicU64::new(state.manifest.log.position.0),
            state: Mutex::new(state),
            segments: Arc::new(segments),
            running: Running::default(),
            waiting: AtomicU64::new(0),
            lock,
            wal: recovered.wal,
            history: Mutex::default(),
        });
        match opening.access {
            Access::Write => store.begin_log(files.clone()),
            Access::Read => store.refuse_writers(),
        }
        Ok(Directory {
            files,
            store,
            access: opening.access,
            recovery: recovered.report,
            losses,
            has_indexes: opening.builds_indexes(),
            following: None,
        })
    }

    /// Opens a directory to be read, whoever writes it meanwhile.
    fn open_beside_writer(
        vfs: Arc<dyn Vfs>,
        path: PathBuf,
        opening: &Opening<'_>,
        begun: Instant,
    ) -> Result<Directory> {
        let ReadDirectory {
            mut restored,
            mut recovered,
            mark,
        } = read_beside_writer(&stopped_by(&vfs, &opening.cancel), &path, opening)?;
        recovered.report.took = begun.elapsed();
        let tables = std::mem::take(&mut restored.tables);
        let store = Store::restore(
            restored.catalog.clone(),
            (recovered.lsn, recovered.timestamp),
            tables.into_values().collect(),
            faults_of(&restored.catalog, &restored.state),
        );
        store.refuse_writers();
        let Recovered {
            wal, tail, report, ..
        } = recovered;
        let tail = tail.ok_or_else(|| Error::internal("a log that is read has no end"))?;
        let from = restored.state.manifest.log.position;
        let following = Following::behind(&vfs, &path, (restored, tail, mark), &store, begun);
        let following = following.with_indexes_of(opening);
        Ok(Directory {
            files: Files::of_reader(vfs, path, (State::default(), from), wal),
            store,
            access: Access::Read,
            recovery: report,
            losses: Vec::new(),
            has_indexes: opening.builds_indexes(),
            following: Some(following),
        })
    }

    /// Opens a snapshot of a published folder, which stays the one that is shown. 58P01 if the folder does not have it,
    /// 25006 unless it is opened to be read.
    fn open_snapshot(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        number: u64,
        opening: &Opening<'_>,
    ) -> Result<Directory> {
        if opening.access == Access::Write {
            return Err(published(folder));
        }
        let begun = Instant::now();
        let HeldDirectory { vfs, path } = hold_directory(&*vfs, folder)?;
        let vfs: Arc<dyn Vfs> = Arc::new(ReadOnlyVfs::of(vfs));
        let manifest = open_snapshot_manifest(&*vfs, &path, number)?;
        let (mut restored, mut recovered) = restore_and_recover(&vfs, &path, manifest, opening)?;
        if !restored.state.damaged.is_empty() {
            // A PUBLISH that removes the snapshot meanwhile removes its segments, too.
            open_snapshot_manifest(&*vfs, &path, number)?;
        }
        let losses = left_out(
            &mut restored.catalog,
            &mut restored.tables,
            restored.losses.take(),
        )?;
        recovered.report.took = begun.elapsed();
        let store = Store::restore(
            restored.catalog.clone(),
            (recovered.lsn, recovered.timestamp),
            restored.tables.into_values().collect(),
            faults_of(&restored.catalog, &restored.state),
        );
        store.refuse_writers();
        let from = restored.state.manifest.log.position;
        Ok(Directory {
            files: Files::of_reader(vfs, path, (restored.state, from), recovered.wal),
            store,
            access: Access::Read,
            recovery: recovered.report,
            losses,
            has_indexes: opening.builds_indexes(),
            following: None,
        })
    }

    /// True if a path leads to a snapshot of a published folder ([`PublishedSnapshot::path`]).
    pub fn is_snapshot(vfs: &dyn Vfs, path: &Path) -> Result<bool> {
        snapshot_at(vfs, path).map(|found| found.is_some())
    }

    /// The published snapshot that it shows by now; `None` if it is not a published folder.
    pub fn published(&self) -> Option<PublishedSnapshot> {
        match &self.following {
            Some(following) => following.published(),
            None => self.files.state().manifest.published,
        }
    }

    /// Shows in its store what another process had made durable in it when this was called, or `lag` before. Does
    /// nothing for a directory that is written here.
    pub fn follow(&self, lag: Duration, cancel: &Cancel) -> Result<()> {
        match &self.following {
            Some(following) => following.follow(&self.store, lag, cancel),
            None => Ok(()),
        }
    }

    /// True if [`Directory::follow`] asks an object store, which may not answer for half a minute.
    pub fn follows_elsewhere(&self) -> bool {
        self.following.as_ref().is_some_and(Following::is_elsewhere)
    }

    /// True if it is read, and moves on to what others write in it.
    pub fn moves_on(&self) -> bool {
        self.following.is_some()
    }

    /// Number of times that it was read anew since it was opened, because the log had been cut behind what was read.
    pub fn moves(&self) -> u64 {
        self.following.as_ref().map_or(0, Following::moves)
    }

    /// The id of its database: no other database has it, but copies of its files do.
    pub fn database(&self) -> DatabaseId {
        match &self.following {
            Some(following) => following.database(),
            None => self.files.state().manifest.database,
        }
    }

    /// Its absolute path when it was opened.
    pub fn path(&self) -> &Path {
        &self.files.path
    }

    /// Its tables.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// False if it was opened to be salvaged or without indexes: its indexes are empty, and must not be asked.
    pub fn has_indexes(&self) -> bool {
        self.has_indexes
    }

    /// Whether it is written, or read.
    pub fn access(&self) -> Access {
        self.access
    }

    /// 58030 once writing the log has failed.
    pub fn check(&self) -> Result<()> {
        self.files.wal.check()
    }

    /// Its log.
    pub fn wal(&self) -> &Wal {
        &self.files.wal
    }

    /// What was asked of its file system since it was opened, of all files together.
    pub fn io(&self) -> &IoCounters {
        self.files.vfs.counters()
    }

    /// What was done again when it was opened.
    pub fn recovery(&self) -> RecoveryReport {
        self.recovery
    }

    /// Writes the committed state to segments, so that the log before it is not needed any more; readers and the writer go on
    /// meanwhile. After an error the directory holds what it held, or already the new state, and the next checkpoint tries again. 08003
    /// in a forked child, 25006 if the directory is only read.
    pub fn checkpoint(&self) -> Result<CheckpointReport> {
        self.check_writable()?;
        let mut state = self.files.state_at_once();
        self.checkpoint_in(&mut state, CheckpointCause::Request, &|_| ())
    }

    /// As [`Directory::checkpoint`], and says why; who else writes is spared as `pace` says.
    pub fn checkpoint_at(&self, cause: CheckpointCause, pace: Pace<'_>) -> Result<CheckpointReport> {
        self.check_writable()?;
        self.checkpoint_in(&mut self.files.state(), cause, pace)
    }

    /// 08003 in a forked child, 25006 if the directory is only read.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.files.lock.check_owner()?;
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(read_only()),
        }
    }

    pub(crate) fn checkpoint_in(
        &self,
        state: &mut State,
        cause: CheckpointCause,
        pace: Pace<'_>,
    ) -> Result<CheckpointReport> {
        let snapshot = self.store.snapshot();
        let written = self
            .files
            .checkpoint(state, &snapshot, snapshot.lsn(), (cause, pace));
        written.map_err(|failure| failure.error)
    }

    /// The checkpoint that is being made.
    pub fn running_checkpoint(&self) -> Option<CheckpointProgress> {
        self.files.running.get()
    }

    /// Whether somebody waits for the checkpoint that is being made.
    pub fn is_checkpoint_awaited(&self) -> bool {
        self.files.waiting.load(Ordering::Relaxed) > 0
    }

    /// The last checkpoints since it was opened, in order.
    pub fn checkpoints(&self) -> Vec<MadeCheckpoint> {
        self.files.history().all()
    }

    /// The end of its log, or of the part that was read beside a writer.
    pub fn position(&self) -> WalPosition {
        let read = self.following.as_ref().map(Following::position);
        read.unwrap_or_else(|| self.files.wal.position())
    }

    /// Where the last checkpoint is.
    pub fn last_checkpoint(&self) -> LastCheckpoint {
        if let Some(following) = &self.following {
            return LastCheckpoint {
                number: 0,
                lsn: following.manifest_lsn(),
            };
        }
        LastCheckpoint {
            number: self.files.history().last_number(),
            lsn: Lsn(self.files.checkpointed.load(Ordering::Relaxed)),
        }
    }

    /// Bytes of redo that segments have in the place of the log, of commits that no checkpoint has.
    pub fn redo_in_segments(&self) -> u64 {
        self.files.segments.redo_bytes()
    }

    /// Makes the log durable up to a place in it. 08007 if that cannot be, 08003 in a forked child.
    pub fn flush(&self, lsn: Lsn) -> Result<()> {
        self.files.lock.check_owner()?;
        self.files.wal.wait(lsn)
    }

    /// Makes the last checkpoint of a directory that is going to be closed, if it may be written.
    pub fn write_out(&self) -> Result<()> {
        match self.access {
            Access::Write => self.checkpoint().map(drop),
            Access::Read => Ok(()),
        }
    }

    /// Everything that is left out of it, if it was opened to be salvaged.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Makes a checkpoint and gives the directory up. No commit gets into it afterwards: 08003.
    pub fn close(self) -> Result<()> {
        self.write_out()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Whoever holds the store holds the lock of the directory no longer.
        self.store.set_log(Arc::new(ClosedLog));
    }
}

/// Leaves damage out of a directory that is salvaged, and returns what is lost by that.
fn left_out(
    catalog: &mut Catalog,
    tables: &mut BTreeMap<ObjectId, TableSnapshot>,
    losses: Option<Losses>,
) -> Result<Vec<Loss>> {
    let Some(mut losses) = losses else {
        return Ok(Vec::new());
    };
    *catalog = leave_out_damage(catalog, tables, &mut losses)?;
    Ok(losses.into_all())
}

impl Files {
    /// The files of a directory that is read without a lock. The manifest has the commits before the position `from` of the
    /// log. The log's files belong to the writer, who removes them and uses them again.
    fn of_reader(vfs: Arc<dyn Vfs>, path: PathBuf, (state, from): (State, Lsn), wal: Wal) -> Arc<Files> {
        wal.let_go();
        let lock = Arc::new(DirectoryLock::none(&path));
        Arc::new(Files {
            checkpointed: AtomicU64::new(from.0),
            state: Mutex::new(state),
            segments: Arc::new(Segments::new(vfs.clone(), &path, lock.clone(), 0)),
            running: Running::default(),
            waiting: AtomicU64::new(0),
            lock,
            wal,
            history: Mutex::default(),
            path,
            vfs,
        })
    }
}

/// Makes a directory that is written, unless it is there. 22023 for a directory of something else, 25006 for a published
/// folder that is to be written, 58P01 for a directory that is to be read and is not there.
fn prepare(vfs: &dyn Vfs, path: &Path, access: Access) -> Result<()> {
    let names = refuse_foreign(vfs, path)?;
    match access {
        Access::Write if names.iter().any(|name| name == MARKER) => Err(published(path)),
        Access::Write => create_directory(vfs, path),
        Access::Read => refuse_absent(vfs, path),
    }
}

/// 25006: a published folder is only read.
fn published(folder: &Path) -> Error {
    let message = format!("\"{}\" is a published folder: it is only read", folder.display());
    Error::new(SqlState::READ_ONLY_TRANSACTION, message).with_hint(
        "open it read-only; BACKUP of the database that was published makes a copy that can be written",
    )
}

/// A directory that is only read is not made.
pub(crate) fn refuse_absent(vfs: &dyn Vfs, path: &Path) -> Result<()> {
    match vfs
        .entry(path)
        .map_err(|e| io_error("open directory", path, &e))?
    {
        Some(_) => Ok(()),
        None => Err(absent(path, "does not exist")),
    }
}

/// The manifest of a directory, which may be new. Afterwards its name is durable, and it has the database's id.
fn open_manifest(vfs: &dyn Vfs, path: &Path) -> Result<Manifest> {
    let manifest_path = path.join("manifest");
    let (mut manifest, is_new, is_older) = match read_file(vfs, &manifest_path)? {
        Some(bytes) => {
            let manifest = Manifest::from_bytes(&manifest_path, &bytes)?;
            (manifest, false, Manifest::is_older(&bytes))
        }
        None => {
            refuse_without_manifest(vfs, path)?;
            (Manifest::default(), true, false)
        }
    };
    match is_new {
        // The names of the directory and of those above it, by whomever they were made.
        true => sync_directory_and_above(vfs, path)?,
        // Who wrote this manifest may have died before its name was durable. Until it is, the one before may come back, and
        // with it the need for the segments that it names.
        false => sync_directory(vfs, path)?,
    }
    let is_nameless = manifest.database == DatabaseId::default();
    if is_nameless {
        // The records of its log name it. An empty database is one, too.
        manifest.database = DatabaseId::random();
    }
    if is_nameless || is_older {
        // An older program, which would take the log for one of its own, is to refuse the directory before it reads it.
        replace_file(vfs, &manifest_path, &manifest.to_checked_bytes(&manifest_path)?)?;
    }
    Ok(manifest)
}

/// An existing directory of something else is not to be filled with our files. Returns the names in the directory.
pub(crate) fn refuse_foreign(vfs: &dyn Vfs, path: &Path) -> Result<Vec<OsString>> {
    let names = match vfs.list(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        names => names.map_err(|e| io_error("open directory", path, &e))?,
    };
    let holds = |wanted: &str| names.iter().any(|name| name == wanted);
    if holds(MARKER) && !holds("manifest") {
        return Err(absent(path, "has no published snapshot yet")
            .with_hint("its first PUBLISH is running, or has not ended: publish again"));
    }
    let ours = ["manifest", "manifest.new", "segments", "lock", "log"];
    let foreign = names.iter().find(|name| !ours.iter().any(|o| name == o));
    match foreign {
        Some(name) if !names.iter().any(|n| n == "manifest") => Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!(
                "directory \"{}\" is not a Frazil database: it holds \"{}\" and no manifest",
                path.display(),
                name.to_string_lossy()
            ),
        )
        .with_hint("name an empty or new directory")),
        _ => Ok(names),
    }
}

/// Removes segments that the manifest does not name: a crash left them behind. Files of other names stay. Returns the
/// greatest number of a segment that is there or could not be removed.
pub(crate) fn remove_leftovers(vfs: &dyn Vfs, path: &Path, state: &State) -> Result<u64> {
    let _ = vfs.remove(&path.join("manifest.new"));
    let named = named_segments(&state.manifest);
    let mut greatest = 0;
    let segments = path.join("segments");
    for name in names_in(vfs, &segments)? {
        let Some(number) = name.to_str().and_then(segment_number) else {
            continue;
        };
        // One that cannot be removed harms nobody and is tried again by the next open.
        let is_needed = named.contains(&number)
            || state.segments.contains_key(&number)
            || (state.damaged.values()).any(|table| table.new_segments().any(|needed| needed == number));
        let is_gone = !is_needed && vfs.remove(&segments.join(&name)).is_ok();
        if !is_gone {
            greatest = greatest.max(number);
        }
    }
    Ok(greatest)
}
