//! A folder of published snapshots, as PUBLISH writes it.
//!
//! ```text
//! FOLDER/published            the database whose snapshots these are; it is written first
//! FOLDER/segments/N.seg       blocks, as in a database directory: written once, and never changed
//! FOLDER/snapshots/00000007   the manifest of snapshot 7
//! FOLDER/manifest             the manifest of the newest snapshot
//! FOLDER/lock                 held by the process that publishes
//! ```
//!
//! A published folder is a database directory without a log, so readers open it by the code that opens directories
//! beside a writer.
//!
//! # After a power cut
//!
//! PUBLISH makes the new segments durable first, then the manifest under its number, and then replaces `manifest`: from
//! then on the snapshot is the newest one. A snapshot of a greater number than the newest, and a segment that no
//! snapshot names, are left-overs of a PUBLISH that did not end; the next one removes them. KEEP removes the manifests of
//! old snapshots, makes that durable, and only then removes segments: so a snapshot that is there has all of its
//! segments.
//!
//! # Folders in object stores
//!
//! A folder may be the beginning of the keys of a bucket. Writing an object and replacing `manifest` are durable and
//! happen as a whole, so after a kill or a power cut the folder is as above. But a bucket has no lock that ends with
//! its holder. A lock object would stay after a kill, and a lock with a time limit would be lost by a process that
//! sleeps while it uploads. So two PUBLISHes at once are told apart by the versions of `manifest`
//! ([`Vfs::is_elsewhere`]): a write of the file fails if it is not as this process last read or wrote it.
//!
//! 1. A PUBLISH begins by writing the newest manifest anew, with another number of the last segment: it *claims* the
//!    folder. Whoever claimed it before can install no snapshot from then on: 55006.
//! 2. The claimed number is beyond all segments that are there, and random. Segments of the claimant have greater
//!    numbers, so no two processes write one object.
//! 3. The number of the next snapshot is chosen before the claim, and is greater than those of all left-overs. The
//!    manifest under this number is written only if none is there: 55006.
//! 4. After the claim, left-overs up to the claimed number are removed: their writers can install nothing. After the
//!    install, only segments up to the number of the installed manifest are removed: those beyond belong to a later
//!    claimant, and so does a manifest of a greater number.
//! 5. The first PUBLISH has no manifest to claim. This PUBLISH removes nothing before its own manifest is there,
//!    which must be the first one: 55006 for the other of two.

use crate::manifest::Manifest;
use crate::published_snapshot::{
    MARKER, PublishedSnapshot, SNAPSHOTS, named_snapshot, snapshot_number, snapshot_path,
};
use crate::segment::segment_number;
use crate::state::named_segments;
use crate::wal::DatabaseId;
use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{
    Access, DirectoryLock, Entry, HeldDirectory, Vfs, create_directory, hold_directory, io_error, read_file,
    replace_file, sync_directory, sync_directory_and_above, take_replacement, write_replacement,
};
use std::collections::HashSet;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first words of the file that says whose folder it is; the id of the database follows.
const MARKER_TEXT: &str = "frazil published folder of database ";

/// A published folder that this process writes. Nobody else publishes to it meanwhile.
#[derive(Debug)]
pub(crate) struct PublishedFolder {
    pub vfs: Arc<dyn Vfs>,
    pub path: PathBuf,
    /// The manifest of the newest snapshot.
    pub newest: Option<Manifest>,
    /// The number of the next snapshot.
    pub next_number: u64,
    _lock: DirectoryLock,
}

/// Why a snapshot is not installed.
#[derive(Debug)]
pub(crate) struct NotInstalled {
    pub error: Error,
    /// True if the snapshot may be the newest one all the same.
    pub is_unknown: bool,
}

impl From<Error> for NotInstalled {
    fn from(error: Error) -> NotInstalled {
        NotInstalled {
            error,
            is_unknown: false,
        }
    }
}

impl PublishedFolder {
    /// Opens the folder of a database's snapshots, and makes it if it is not there or empty. 22023 for a folder that
    /// holds something else, 55006 while another PUBLISH writes it.
    pub fn open(vfs: &dyn Vfs, folder: &Path, database: DatabaseId) -> Result<PublishedFolder> {
        refuse_inner(vfs, folder)?;
        // Nothing is written to a folder that holds something else, not even a lock.
        newest_of(vfs, folder, database)?;
        create_directory_for(vfs, folder)?;
        let HeldDirectory { vfs, path } = hold_directory(vfs, folder)?;
        let lock = DirectoryLock::acquire(&*vfs, &path, Access::Write)
            .map_err(|e| e.in_context("another PUBLISH may be writing the folder"))?;
        let newest = newest_of(&*vfs, &path, database)?;
        let marker = path.join(MARKER);
        let is_marked = vfs
            .entry(&marker)
            .map_err(|e| io_error("open", &marker, &e))?
            .is_some();
        if !is_marked {
            replace_file(&*vfs, &marker, format!("{MARKER_TEXT}{database}\n").as_bytes())?;
        }
        create_directory_for(&*vfs, &path.join("segments"))?;
        create_directory_for(&*vfs, &path.join(SNAPSHOTS))?;
        match newest {
            _ if vfs.is_elsewhere() => {}
            None => sync_directory_and_above(&*vfs, &path)?,
            // The name of the newest manifest may not be durable yet. Until it is, the one before may come back, and
            // need its segments.
            Some(_) => sync_directory(&*vfs, &path)?,
        }
        let mut folder = PublishedFolder {
            vfs,
            path,
            newest,
            next_number: 0,
            _lock: lock,
        };
        folder.next_number = folder.free_number()?;
        folder.claim()?;
        if folder.newest.is_some() || !folder.vfs.is_elsewhere() {
            folder.remove_unneeded(usize::MAX, LeftOvers::Removed)?;
        }
        Ok(folder)
    }

    /// Keeps others from installing a snapshot, if the folder is in an object store and has one.
    fn claim(&mut self) -> Result<()> {
        if !self.vfs.is_elsewhere() {
            return Ok(());
        }
        let last_segment = self.last_segment()?;
        let Some(newest) = &self.newest else {
            return Ok(());
        };
        let claimed = Manifest {
            last_segment,
            ..newest.clone()
        };
        let path = self.path.join("manifest");
        replace_file(&*self.vfs, &path, &claimed.to_checked_bytes(&path)?).map_err(taken)?;
        self.newest = Some(claimed);
        Ok(())
    }

    /// The number of the newest snapshot; 0 if there is none.
    pub fn newest_number(&self) -> u64 {
        let published = self.newest.as_ref().and_then(|newest| newest.published);
        published.map_or(0, |snapshot| snapshot.number)
    }

    /// A number for the next snapshot. In an object store it is greater than those of all left-overs, whose writers may
    /// still be there.
    fn free_number(&self) -> Result<u64> {
        if !self.vfs.is_elsewhere() {
            return Ok(self.newest_number() + 1);
        }
        let names = names_of(&*self.vfs, &self.path.join(SNAPSHOTS))?;
        let numbers = names.iter().filter_map(|name| snapshot_number(name.to_str()?));
        Ok(numbers.max().unwrap_or(0).max(self.newest_number()) + 1)
    }

    /// The greatest number of a segment that the newest snapshot knows of or that is there. In an object store it is a
    /// greater one, which no other process has, by chance.
    pub fn last_segment(&self) -> Result<u64> {
        let known = self.newest.as_ref().map_or(0, |newest| newest.last_segment);
        let names = names_of(&*self.vfs, &self.path.join("segments"))?;
        let numbers = names.iter().filter_map(|name| segment_number(name.to_str()?));
        let last = numbers.max().unwrap_or(0).max(known);
        match self.vfs.is_elsewhere() {
            true => Ok(last + 1 + RandomState::new().build_hasher().finish() % MOST_LEFT_OUT),
            false => Ok(last),
        }
    }

    /// Makes a snapshot, whose segments are durable, the newest one. After an error the newest one is the one before,
    /// unless the error says that nobody knows.
    pub fn install(&mut self, snapshot: PublishedSnapshot, manifest: Manifest) -> Result<(), NotInstalled> {
        let (vfs, numbered) = (&*self.vfs, snapshot.path(&self.path));
        let newest = self.path.join("manifest");
        let bytes = manifest.to_checked_bytes(&numbered)?;
        let written =
            replace_file(vfs, &numbered, &bytes).and_then(|()| write_replacement(vfs, &newest, &bytes));
        if let Err(error) = written {
            // In an object store nobody knows whose manifest has the name now. The next PUBLISH removes a left-over.
            if !vfs.is_elsewhere() {
                let _ = vfs.remove(&numbered);
            }
            return Err(taken(error).into());
        }
        if let Err(error) = take_replacement(vfs, &newest) {
            self.check_installed(&numbered, &bytes, error)?;
        }
        self.newest = Some(manifest);
        Ok(())
    }

    /// Looks for a manifest whose writing ended with an error. The answer of an object store may get lost, and the
    /// request that was sent again meets the object that the first one wrote. In a folder nobody knows what is durable.
    fn check_installed(&self, numbered: &Path, bytes: &[u8], error: Error) -> Result<(), NotInstalled> {
        let unknown = |error| NotInstalled {
            error,
            is_unknown: true,
        };
        if !self.vfs.is_elsewhere() {
            return Err(unknown(error));
        }
        match read_file(&*self.vfs, &self.path.join("manifest")) {
            Ok(Some(found)) if found == bytes => Ok(()),
            Ok(_) if error.state() == SqlState::OBJECT_IN_USE => {
                // Nobody else writes a manifest of this number: who began before has found the name taken, and who
                // began later has chosen a greater number.
                let _ = self.vfs.remove(numbered);
                Err(taken(error).into())
            }
            Ok(_) | Err(_) => Err(unknown(error)),
        }
    }

    /// Removes all snapshots but the last `keep`, and the segments that no snapshot names then. A file that cannot be
    /// removed stays until the next PUBLISH.
    pub fn keep(&self, keep: usize) -> Result<()> {
        match self.vfs.is_elsewhere() {
            true => self.remove_unneeded(keep, LeftOvers::OfOthers),
            false => self.remove_unneeded(keep, LeftOvers::Removed),
        }
    }

    fn remove_unneeded(&self, keep: usize, left_overs: LeftOvers) -> Result<()> {
        let (vfs, snapshots) = (&*self.vfs, self.path.join(SNAPSHOTS));
        let names = names_of(vfs, &snapshots)?;
        let mut numbers: Vec<u64> = names
            .iter()
            .filter_map(|name| snapshot_number(name.to_str()?))
            .collect();
        numbers.sort_unstable();
        let newer = numbers.split_off(numbers.partition_point(|number| *number <= self.newest_number()));
        let mut kept = numbers.split_off(numbers.len().saturating_sub(keep));
        // One of a greater number came after the claim.
        let is_left_over = |number: &u64| *number < self.next_number || !vfs.is_elsewhere();
        let newer = match left_overs {
            LeftOvers::Removed => newer.into_iter().filter(is_left_over).collect(),
            LeftOvers::OfOthers => Vec::new(),
        };
        for number in numbers.into_iter().chain(newer) {
            match vfs.remove(&snapshot_path(&self.path, number)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => kept.push(number),
                _ => {}
            }
        }
        let unfinished = names
            .iter()
            .filter(|name| name.to_str().is_some_and(|name| name.ends_with(".new")));
        unfinished.for_each(|name| drop(vfs.remove(&snapshots.join(name))));
        let _ = vfs.remove(&self.path.join("manifest.new"));
        sync_directory(vfs, &snapshots)?;
        let mut needed: HashSet<u64> = self.newest.iter().flat_map(named_segments).collect();
        for number in kept {
            // Nobody knows which segments a damaged manifest needs.
            let Ok(Some(manifest)) = read_snapshot(vfs, &self.path, number) else {
                return Ok(());
            };
            needed.extend(named_segments(&manifest));
        }
        let segments = self.path.join("segments");
        // Segments beyond may be those of another process.
        let last = match (&self.newest, vfs.is_elsewhere()) {
            (Some(newest), true) => newest.last_segment,
            (None, true) => 0,
            (_, false) => u64::MAX,
        };
        for name in names_of(vfs, &segments)? {
            let number = name.to_str().and_then(segment_number);
            if number.is_some_and(|number| number <= last && !needed.contains(&number)) {
                let _ = vfs.remove(&segments.join(name));
            }
        }
        Ok(())
    }
}

/// A rule for snapshots that are newer than the newest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOvers {
    /// Nobody can install them any more, so they are removed.
    Removed,
    /// Another process may be about to install them.
    OfOthers,
}

/// A range of numbers of segments of which one is chosen, so that two processes choose one number once in billions of
/// times. Numbers have 64 bits, enough for as many choices.
const MOST_LEFT_OUT: u64 = 1 << 32;

/// An error of a file that another process has written meanwhile, as one of PUBLISH.
fn taken(error: Error) -> Error {
    match error.state() {
        SqlState::OBJECT_IN_USE => error
            .in_context("another PUBLISH has taken over the folder")
            .with_hint("publish from one process at a time; this PUBLISH has changed nothing"),
        _ => error,
    }
}

/// The names in a directory; none for one of an object store that holds nothing, which is not there.
fn names_of(vfs: &dyn Vfs, directory: &Path) -> Result<Vec<OsString>> {
    match vfs.list(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && vfs.is_elsewhere() => Ok(Vec::new()),
        names => names.map_err(|e| io_error("open directory", directory, &e)),
    }
}

/// Makes a directory, except in an object store, where directories need not be made.
fn create_directory_for(vfs: &dyn Vfs, directory: &Path) -> Result<()> {
    match vfs.is_elsewhere() {
        true => Ok(()),
        false => create_directory(vfs, directory),
    }
}

/// 22023 for a folder inside a published folder: `FOLDER/snapshots/00000007` and `FOLDER/segments` are not targets.
fn refuse_inner(vfs: &dyn Vfs, folder: &Path) -> Result<()> {
    let above = folder.ancestors().skip(1).take(2);
    for above in above.filter(|above| !above.as_os_str().is_empty()) {
        let marker = above.join(MARKER);
        let found = match vfs.entry(&marker) {
            // Credentials may be limited to the folder.
            Err(e) if vfs.is_elsewhere() && e.kind() == io::ErrorKind::PermissionDenied => None,
            found => found.map_err(|e| io_error("open", &marker, &e))?,
        };
        let is_published = found == Some(Entry::File)
            && read_file(vfs, &marker)?.is_some_and(|bytes| bytes.starts_with(MARKER_TEXT.as_bytes()));
        if is_published {
            let why = format!("is inside the published folder \"{}\"", above.display());
            return Err(refused(folder, &why));
        }
    }
    Ok(())
}

/// The manifest of a snapshot; `None` if the folder does not have it.
fn read_snapshot(vfs: &dyn Vfs, folder: &Path, number: u64) -> Result<Option<Manifest>> {
    let path = snapshot_path(folder, number);
    let bytes = read_file(vfs, &path)?;
    bytes.map(|bytes| Manifest::from_bytes(&path, &bytes)).transpose()
}

/// The manifest of a snapshot that is opened by its path. 58P01 if the folder does not have the snapshot.
pub(crate) fn open_snapshot_manifest(vfs: &dyn Vfs, folder: &Path, number: u64) -> Result<Manifest> {
    let newest = read_file(vfs, &folder.join("manifest"))?;
    let newest = newest.map(|bytes| Manifest::from_bytes(&folder.join("manifest"), &bytes));
    let newest = newest.transpose()?.and_then(|manifest| manifest.published);
    // One of a greater number is a left-over of a PUBLISH that did not end.
    let is_one = newest.is_some_and(|newest| number <= newest.number);
    let manifest = match is_one {
        true => read_snapshot(vfs, folder, number)?,
        false => None,
    };
    manifest.ok_or_else(|| {
        let message = format!(
            "published folder \"{}\" has no snapshot {number}",
            folder.display()
        );
        Error::new(SqlState::UNDEFINED_FILE, message)
            .with_hint("a later PUBLISH has removed it: KEEP says how many snapshots stay")
    })
}

/// The folder and the number of a published snapshot, if a path leads to one.
pub(crate) fn snapshot_at<'p>(vfs: &dyn Vfs, path: &'p Path) -> Result<Option<(&'p Path, u64)>> {
    let Some((folder, number)) = named_snapshot(path) else {
        return Ok(None);
    };
    let looked = |path: &Path| vfs.entry(path).map_err(|e| io_error("open", path, &e));
    let is_one = looked(path)? != Some(Entry::Directory) && looked(&folder.join(MARKER))?.is_some();
    Ok(is_one.then_some((folder, number)))
}

/// The manifest of the newest snapshot in a folder of a database's snapshots; `None` if there is none yet. 22023 if the
/// folder holds something else.
fn newest_of(vfs: &dyn Vfs, folder: &Path, database: DatabaseId) -> Result<Option<Manifest>> {
    let names = match vfs.list(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        names => names.map_err(|e| io_error("open directory", folder, &e))?,
    };
    let path = folder.join("manifest");
    if let Some(bytes) = read_file(vfs, &path)? {
        let manifest = Manifest::from_bytes(&path, &bytes)
            .map_err(|e| e.with_hint("publish to another folder, or remove this one"))?;
        return match manifest.published {
            None => Err(refused(folder, "is the directory of a database")),
            Some(_) if manifest.database != database => Err(of_another(folder)),
            Some(_) => Ok(Some(manifest)),
        };
    }
    let marker = folder.join(MARKER);
    if let Some(bytes) = read_file(vfs, &marker)? {
        let text = String::from_utf8_lossy(&bytes);
        let id = text
            .strip_prefix(MARKER_TEXT)
            .and_then(|id| id.trim_end().parse().ok());
        return match id {
            Some(id) if database == id => Ok(None),
            Some(_) => Err(of_another(folder)),
            None => Err(refused(
                folder,
                &format!("is not a published folder: it holds \"{MARKER}\""),
            )),
        };
    }
    // A power cut may leave these of a first PUBLISH.
    let ours = ["lock", "published.new"];
    match names.iter().find(|name| !ours.iter().any(|own| name == own)) {
        None => Ok(None),
        Some(name) => {
            let holds = format!(
                "is not a published folder: it holds \"{}\"",
                name.to_string_lossy()
            );
            Err(refused(folder, &holds))
        }
    }
}

fn of_another(folder: &Path) -> Error {
    refused(folder, "holds snapshots of another database")
}

fn refused(folder: &Path, why: &str) -> Error {
    let message = format!("folder \"{}\" {why}", folder.display());
    Error::new(SqlState::INVALID_PARAMETER, message)
        .with_hint("name an empty or new folder, or one that PUBLISH has written for this database")
}
