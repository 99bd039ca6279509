//! A file system in memory that does what a real one may do at its worst, by a seed.
//!
//! What was not synced is lost or kept by a power cut, sector by sector and name by name, in no order. A write may be cut
//! short at a sector's border. Any operation may fail, be done and reported as failed all the same, find the disk full or
//! its file gone, or be the last before the power is cut. After a sync that failed, what it should have written is on the
//! disk or not, and a later sync that succeeds changes nothing of that, as systems do that forget which pages they could not
//! write. Every operation is counted and traced.

mod disk;

use crate::Random;
use disk::{At, Disk, NodeId, SECTOR};
use frazil_vfs::{Access, Entry, HeldDirectory, Holder, IoCounters, Locking, Mapping, Vfs, VfsFile, VfsLock};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// What happens to an operation that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It is not done, and reported as an I/O error. A sync may have made any part durable.
    Undone,
    /// It is done, and reported as an I/O error all the same.
    Done,
    /// A write ends after some whole sectors with an I/O error. Other operations: as [`Failure::Undone`].
    Short,
    /// The disk is full: a write ends after some whole sectors, what would make a name makes none. Other operations: as
    /// [`Failure::Undone`].
    Full,
    /// The file that a path leads to is gone. Operations on open files: as [`Failure::Undone`].
    Vanished,
    /// The power is cut while it runs: it is done, done in part, or not. Nothing works until
    /// [`SimVfs::restart_after_power_cut`].
    PowerCut,
}

/// All of them.
pub const FAILURES: [Failure; 6] = [
    Failure::Undone,
    Failure::Done,
    Failure::Short,
    Failure::Full,
    Failure::Vanished,
    Failure::PowerCut,
];

/// A file system in memory. Clones are the same one.
#[derive(Clone)]
pub struct SimVfs {
    shared: Arc<Shared>,
    /// The directory that is held, and the path that leads there whatever happens.
    held: Option<(PathBuf, NodeId)>,
}

struct Shared {
    state: Mutex<State>,
    interruption: Mutex<Option<Interruption>>,
    counters: IoCounters,
}

impl fmt::Debug for SimVfs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimVfs({} operations)", self.operations())
    }
}

/// What happens before an operation whose line in the trace begins so.
struct Interruption {
    line: &'static str,
    happens: Box<dyn FnOnce() + Send>,
}

struct State {
    disk: Disk,
    /// The process's working directory, and its path.
    working: (PathBuf, NodeId),
    random: Random,
    powered: bool,
    /// Whether anything can be changed.
    medium: Access,
    /// Whether directories can be locked.
    has_locks: bool,
    /// Directories that are locked; how many read them, or that one writes.
    locked: HashMap<NodeId, Locked>,
    trace: Vec<String>,
    failures: Vec<(When, Failure)>,
    /// Operations that failed as they were asked to: their numbers.
    struck: Vec<u64>,
}

enum When {
    /// The operation with this number.
    At(u64),
    /// Any operation, with this probability.
    Chance(f64),
}

/// How a directory is locked.
enum Locked {
    ByWriter,
    /// By so many who read.
    ByReaders(usize),
}

/// What an operation is to do, as the test decided.
enum Fate {
    Succeed,
    Fail(Failure),
}

const POWER_IS_CUT: &str = "the power is cut (simulated)";
const IO_ERROR: &str = "input/output error (simulated)";

fn failed() -> io::Error {
    io::Error::other(IO_ERROR)
}

impl SimVfs {
    /// An empty file system. What it does at its worst follows from the seed.
    pub fn new(seed: u64) -> SimVfs {
        SimVfs::with(Disk::new(), Random::new(seed))
    }

    fn with(disk: Disk, random: Random) -> SimVfs {
        let state = State {
            disk,
            working: (PathBuf::from("/"), 0),
            random,
            powered: true,
            medium: Access::Write,
            has_locks: true,
            locked: HashMap::new(),
            trace: Vec::new(),
            failures: Vec::new(),
            struck: Vec::new(),
        };
        let shared = Shared {
            state: Mutex::new(state),
            interruption: Mutex::new(None),
            counters: IoCounters::default(),
        };
        SimVfs {
            shared: Arc::new(shared),
            held: None,
        }
    }

    /// It, as what databases are opened over.
    pub fn vfs(&self) -> Arc<dyn Vfs> {
        Arc::new(self.clone())
    }

    /// Has the operation with this number fail; the first one has number 0.
    pub fn fail_at(&self, operation: u64, failure: Failure) {
        self.state().failures.push((When::At(operation), failure));
    }

    /// Has each operation fail with this probability.
    pub fn fail_by_chance(&self, probability: f64, failure: Failure) {
        self.state().failures.push((When::Chance(probability), failure));
    }

    /// Runs something before the next operation whose line in the trace begins so, on the thread that asks for that operation:
    /// what another thread may do meanwhile, always at the same place.
    pub fn run_before(&self, line: &'static str, happens: impl FnOnce() + Send + 'static) {
        let happens = Box::new(happens);
        *self.interruption() = Some(Interruption { line, happens });
    }

    /// Ends all failures that were asked for.
    pub fn heal(&self) {
        self.state().failures.clear();
    }

    /// Has the medium refuse every change from now on, or take them again.
    pub fn set_medium(&self, medium: Access) {
        self.state().medium = medium;
    }

    /// Has the file system lock directories, or say that it cannot, as some of the network do.
    pub fn set_has_locks(&self, has_locks: bool) {
        self.state().has_locks = has_locks;
    }

    /// Limits the bytes of all files together.
    pub fn set_capacity(&self, bytes: u64) {
        self.state().disk.capacity = bytes;
    }

    /// Bytes of all files together.
    pub fn used(&self) -> u64 {
        self.state().disk.used()
    }

    /// Number of operations so far.
    pub fn operations(&self) -> u64 {
        self.state().trace.len() as u64
    }

    /// One line an operation, in order.
    pub fn trace(&self) -> Vec<String> {
        self.state().trace.clone()
    }

    /// Numbers of the operations that failed as they were asked to.
    pub fn struck(&self) -> Vec<u64> {
        self.state().struck.clone()
    }

    /// Cuts the power, if it is not cut yet, and starts anew with what is on the disk.
    pub fn restart_after_power_cut(&self) -> SimVfs {
        self.restart(|disk, random| disk.cut_power(random))
    }

    /// The process dies, the system lives: nothing that was written is lost, durable or not.
    pub fn restart_after_kill(&self) -> SimVfs {
        self.restart(|_, _| ())
    }

    /// Another file system that holds what this one holds, and goes on by itself. Locks are not taken along.
    pub fn copy(&self, seed: u64) -> SimVfs {
        SimVfs::with(self.state().disk.clone(), Random::new(seed))
    }

    fn restart(&self, happens: impl FnOnce(&mut Disk, &mut Random)) -> SimVfs {
        let mut state = self.state();
        state.powered = false;
        let mut disk = std::mem::replace(&mut state.disk, Disk::new());
        let mut random = state.random.clone();
        happens(&mut disk, &mut random);
        SimVfs::with(disk, random)
    }

    /// What a process reads of a file.
    pub fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        let node = state.disk.find(self.at(&state, path)).ok()?;
        state.disk.bytes(node).ok().map(<[u8]>::to_vec)
    }

    /// Changes a file behind the back of whoever has it open; durable at once.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn tamper(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let node = state.disk.find(self.at(&state, path)).expect("the file is there");
        state.disk.replace(node, change);
    }

    /// Has the process work in another directory: relative paths start there.
    ///
    /// # Panics
    /// If there is no such directory.
    pub fn change_directory(&self, path: &Path) {
        let mut state = self.state();
        let node = state
            .disk
            .find(self.at(&state, path))
            .expect("the directory is there");
        let path = state.working.0.join(path);
        state.working = (path, node);
    }

    /// Gives a directory another path, behind the back of whoever has it open; durable at once.
    ///
    /// # Panics
    /// If there is no such directory, or the other path is taken.
    pub fn move_directory(&self, from: &Path, to: &Path) {
        let mut state = self.state();
        let (from, to) = (self.at(&state, from), self.at(&state, to));
        state.disk.move_directory(from, to).expect("it can be moved");
    }

    /// Makes a symbolic link, or turns one elsewhere; durable at once. What takes away the name of a link takes that of what it leads to:
    /// databases make no links.
    ///
    /// # Panics
    /// If its directory is not there.
    pub fn turn_link(&self, path: &Path, target: &Path) {
        let mut state = self.state();
        let at = self.at(&state, path);
        state.disk.turn_link(at, target).expect("the directory is there");
    }

    /// Where a path starts: from the held directory if it leads below that, or from the working directory.
    fn at<'p>(&self, state: &State, path: &'p Path) -> At<'p> {
        let held = self.held.as_ref();
        let below = held.and_then(|(held, node)| Some((path.strip_prefix(held).ok()?, *node)));
        let (path, from) = below.unwrap_or((path, state.working.1));
        At { from, path }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn interruption(&self) -> MutexGuard<'_, Option<Interruption>> {
        self.shared.interruption.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Counts an operation and says what is to become of it.
    fn begin(&self, what: impl FnOnce() -> String) -> io::Result<(MutexGuard<'_, State>, Fate)> {
        let what = what();
        let now = self.interruption().take_if(|i| what.starts_with(i.line));
        if let Some(Interruption { happens, .. }) = now {
            happens();
        }
        let mut state = self.state();
        if !state.powered {
            return Err(io::Error::other(POWER_IS_CUT));
        }
        let number = state.trace.len() as u64;
        state.trace.push(what);
        let State { failures, random, .. } = &mut *state;
        let failure = failures.iter().find(|(when, _)| match when {
            When::At(operation) => *operation == number,
            When::Chance(probability) => random.share() < *probability,
        });
        let fate = failure.map_or(Fate::Succeed, |(_, failure)| Fate::Fail(*failure));
        if let Fate::Fail(_) = fate {
            state.struck.push(number);
        }
        Ok((state, fate))
    }

    /// An operation on a name that is made, changed or taken away. `makes_name` as in [`SimVfs::on_path`].
    fn on_name<T>(
        &self,
        what: &str,
        path: &Path,
        makes_name: bool,
        operation: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> io::Result<T> {
        self.on_path(what, path, makes_name, |state| {
            state.check_medium()?;
            operation(state)
        })
    }

    /// An operation on what a path leads to. `makes_name`: whether a full disk makes it fail.
    fn on_path<T>(
        &self,
        what: &str,
        path: &Path,
        makes_name: bool,
        operation: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> io::Result<T> {
        let (mut state, fate) = self.begin(|| format!("{what} {}", path.display()))?;
        match fate {
            Fate::Succeed => operation(&mut state),
            Fate::Fail(Failure::Done) => operation(&mut state).and(Err(failed())),
            Fate::Fail(Failure::Full) if makes_name => Err(io::ErrorKind::StorageFull.into()),
            Fate::Fail(Failure::Vanished) => {
                let at = self.at(&state, path);
                let _ = state.disk.unlink(at);
                operation(&mut state)
            }
            Fate::Fail(Failure::PowerCut) => {
                if state.random.below(2) == 0 {
                    let _ = operation(&mut state);
                }
                state.powered = false;
                Err(io::Error::other(POWER_IS_CUT))
            }
            Fate::Fail(Failure::Undone | Failure::Short | Failure::Full) => Err(failed()),
        }
    }

    fn sync(
        &self,
        what: &str,
        path: &Path,
        find: impl FnOnce(&State) -> io::Result<NodeId>,
    ) -> io::Result<()> {
        let (mut state, fate) = self.begin(|| format!("{what} {}", path.display()))?;
        let node = find(&state)?;
        let State { disk, random, .. } = &mut *state;
        match fate {
            Fate::Succeed => {
                disk.sync(node);
                Ok(())
            }
            Fate::Fail(Failure::Done) => {
                disk.sync(node);
                Err(failed())
            }
            Fate::Fail(Failure::PowerCut) => {
                if random.below(2) == 0 {
                    disk.sync(node);
                }
                state.powered = false;
                Err(io::Error::other(POWER_IS_CUT))
            }
            Fate::Fail(_) => {
                disk.fail_sync(node, random);
                Err(failed())
            }
        }
    }

    fn write(&self, file: &SimFile, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let what = || format!("write {} at {offset} bytes {}", file.path.display(), bytes.len());
        let (mut state, fate) = self.begin(what)?;
        state.check_medium()?;
        if file.access == Access::Read {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let State { disk, random, .. } = &mut *state;
        let room = disk.room(file.node, offset, bytes.len());
        let short = whole_sectors(offset, bytes.len(), random);
        let (kept, error) = match fate {
            Fate::Succeed if room < bytes.len() => (room, Some(io::ErrorKind::StorageFull.into())),
            Fate::Succeed => (bytes.len(), None),
            Fate::Fail(Failure::Done) => (bytes.len(), Some(failed())),
            Fate::Fail(Failure::Undone | Failure::Vanished) => (0, Some(failed())),
            Fate::Fail(Failure::Short) => (short, Some(failed())),
            Fate::Fail(Failure::Full) => (short, Some(io::ErrorKind::StorageFull.into())),
            Fate::Fail(Failure::PowerCut) => (
                match random.below(2) {
                    0 => short,
                    _ => bytes.len(),
                },
                Some(io::Error::other(POWER_IS_CUT)),
            ),
        };
        disk.write(file.node, offset, &bytes[..kept.min(room)])?;
        state.powered &= !matches!(fate, Fate::Fail(Failure::PowerCut));
        error.map_or(Ok(()), Err)
    }

    fn handle(&self, node: NodeId, path: &Path, access: Access) -> Box<dyn VfsFile> {
        Box::new(SimFile {
            vfs: self.clone(),
            node,
            access,
            path: path.to_path_buf(),
        })
    }
}

impl State {
    /// Refuses a change of a medium that cannot be written.
    fn check_medium(&self) -> io::Result<()> {
        match self.medium {
            Access::Write => Ok(()),
            Access::Read => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
        }
    }
}

/// Bytes from the front of a write that end at some border of a sector, before its last byte.
fn whole_sectors(offset: u64, len: usize, random: &mut Random) -> usize {
    let first = SECTOR - offset as usize % SECTOR;
    let borders = len.saturating_sub(first).div_ceil(SECTOR);
    match random.index(borders + 1) {
        0 => 0,
        sectors => (first + (sectors - 1) * SECTOR).min(len),
    }
}

impl Vfs for SimVfs {
    fn hold(&self, directory: &Path) -> io::Result<HeldDirectory> {
        let held = self.on_path("hold", directory, false, |state| {
            let node = state.disk.find(self.at(state, directory))?;
            state.disk.names(node)?;
            Ok((state.working.0.join(directory), node))
        })?;
        let vfs = SimVfs {
            shared: self.shared.clone(),
            held: Some(held.clone()),
        };
        Ok(HeldDirectory {
            vfs: Arc::new(vfs),
            path: held.0,
        })
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn VfsFile>> {
        let node = self.on_path("open", path, false, |state| {
            let node = state.disk.find(self.at(state, path))?;
            state.disk.bytes(node)?;
            match access {
                Access::Write => state.check_medium().map(|()| node),
                Access::Read => Ok(node),
            }
        })?;
        Ok(self.handle(node, path, access))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        let node = self.on_name("create", path, true, |state| {
            let at = self.at(state, path);
            state.disk.create(at)
        })?;
        Ok(self.handle(node, path, Access::Write))
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.on_name("create directory", path, true, |state| {
            let at = self.at(state, path);
            state.disk.create_directory(at).map(drop)
        })
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.shared.counters.count_directory_sync();
        self.sync("sync directory", path, |state| {
            state.disk.find(self.at(state, path))
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.on_name("rename", from, true, |state| {
            let (from, to) = (self.at(state, from), self.at(state, to));
            state.disk.rename(from, to)
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.on_name("remove", path, false, |state| {
            let at = self.at(state, path);
            state.disk.unlink(at)
        })
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        self.on_path("list", directory, false, |state| {
            let node = state.disk.find(self.at(state, directory))?;
            state.disk.names(node)
        })
    }

    fn entry(&self, path: &Path) -> io::Result<Option<Entry>> {
        self.on_path("look at", path, false, |state| {
            match state.disk.find(self.at(state, path)) {
                Ok(node) if state.disk.is_directory(node) => Ok(Some(Entry::Directory)),
                Ok(_) => Ok(Some(Entry::File)),
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    Ok(None)
                }
                Err(e) => Err(e),
            }
        })
    }

    fn is_within(&self, directory: &Path, above: &Path) -> io::Result<bool> {
        self.on_path("look above", directory, false, |state| {
            let below = state.disk.find(self.at(state, directory))?;
            let above = state.disk.find(self.at(state, above))?;
            Ok(state.disk.is_within(below, above))
        })
    }

    fn map(&self, path: &Path) -> io::Result<Mapping> {
        self.on_path("map", path, false, |state| {
            let node = state.disk.find(self.at(state, path))?;
            state.disk.bytes(node).map(Mapping::copied)
        })
    }

    fn lock(&self, directory: &Path, access: Access) -> io::Result<Locking> {
        let node = self.on_path("lock", directory, access == Access::Write, |state| {
            let node = state.disk.find(self.at(state, directory))?;
            if access == Access::Write {
                state.check_medium()?;
                let lock = At {
                    from: node,
                    path: Path::new("lock"),
                };
                let _ = state.disk.create(lock);
            }
            Ok(node)
        })?;
        let mut state = self.state();
        if !state.has_locks {
            return Ok(Locking::Unsupported);
        }
        match (state.locked.get_mut(&node), access) {
            (None, Access::Write) => drop(state.locked.insert(node, Locked::ByWriter)),
            (None, Access::Read) => drop(state.locked.insert(node, Locked::ByReaders(1))),
            (Some(Locked::ByReaders(count)), Access::Read) => *count += 1,
            (Some(Locked::ByReaders(_)), Access::Write) => {
                return Ok(Locking::Theirs(Holder::Readers(Vec::new())));
            }
            (Some(Locked::ByWriter), _) => {
                return Ok(Locking::Theirs(Holder::Writer("simulated".to_string())));
            }
        }
        drop(state);
        Ok(Locking::Ours(Box::new(SimLock {
            vfs: self.clone(),
            directory: node,
        })))
    }

    fn space(&self, directory: &Path) -> io::Result<u64> {
        self.on_path("ask for space", directory, false, |state| {
            state.disk.find(self.at(state, directory))?;
            Ok(state.disk.space())
        })
    }

    fn counters(&self) -> &IoCounters {
        &self.shared.counters
    }
}

#[derive(Debug)]
struct SimFile {
    vfs: SimVfs,
    node: NodeId,
    path: PathBuf,
    access: Access,
}

impl VfsFile for SimFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let what = || format!("read {} at {offset} bytes {}", self.path.display(), into.len());
        let (mut state, fate) = self.vfs.begin(what)?;
        if let Fate::Fail(failure) = fate {
            state.powered &= failure != Failure::PowerCut;
            return Err(failed());
        }
        let bytes = state.disk.bytes(self.node)?;
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let read = rest.len().min(into.len());
        into[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.vfs.shared.counters.count_write(bytes.len());
        self.vfs.write(self, offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.vfs.shared.counters.count_file_sync();
        self.vfs.sync("sync", &self.path, |_| Ok(self.node))
    }

    fn len(&self) -> io::Result<u64> {
        self.vfs.on_path("measure", &self.path, false, |state| {
            state.disk.bytes(self.node).map(|b| b.len() as u64)
        })
    }
}

#[derive(Debug)]
struct SimLock {
    vfs: SimVfs,
    directory: NodeId,
}

impl VfsLock for SimLock {
    fn remove(&self, name: &Path) -> io::Result<()> {
        self.vfs.on_name("remove locked", name, false, |state| {
            let at = At {
                from: self.directory,
                path: name,
            };
            state.disk.unlink(at)
        })
    }
}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut state = self.vfs.state();
        match state.locked.get_mut(&self.directory) {
            Some(Locked::ByReaders(count)) if *count > 1 => *count -= 1,
            _ => drop(state.locked.remove(&self.directory)),
        }
    }
}
