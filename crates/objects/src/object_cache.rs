//! A folder of local copies of objects, which is bounded, and which processes share.
//!
//! A copy is named by a hash of the object's URL, length and version, so an object that is written anew has another
//! one. Copies are filled as they are read ([`FilledFile`]). When the folder has more bytes than it may, the copies
//! that were opened longest ago are removed, except those that a process has open: the readers of a snapshot keep what
//! they have read of it until they close it or move to a later one.
//!
//! The folder is `FRAZIL_CACHE_DIR`, or `frazil` in `XDG_CACHE_HOME` or in `~/.cache`, or a folder in the temporary
//! one. `FRAZIL_CACHE_BYTES` bounds it. Both are variables of the process, because all its databases share the folder.

use frazil_types::{Error, Result, SqlState};
use frazil_vfs::{FillSource, FilledFile, io_error, remove_unused};
use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

/// Bytes of all copies unless `FRAZIL_CACHE_BYTES` says otherwise: 4 GiB, which notebooks and small machines have to
/// spare.
const DEFAULT_BYTES: u64 = 4 << 30;
/// The variable that bounds the folder.
const BYTES_VARIABLE: &str = "FRAZIL_CACHE_BYTES";
/// The variable that names the folder.
const FOLDER_VARIABLE: &str = "FRAZIL_CACHE_DIR";
/// The end of the names of copies. No other file of the folder is removed.
const SUFFIX: &str = ".copy";
/// Bytes of a block of a file's metadata, whatever the file system's blocks are.
const STAT_BLOCK: u64 = 512;

/// Least time between two looks through the folder that are due to copies being opened.
const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// The folder of this process.
static CACHE: OnceLock<Arc<ObjectCache>> = OnceLock::new();

/// A folder of copies.
#[derive(Debug)]
pub struct ObjectCache {
    folder: PathBuf,
    /// Bytes that all copies may have.
    most: u64,
    /// Copies that this process has open, by their names.
    open: Mutex<HashMap<String, Weak<FilledFile>>>,
    /// Bytes that were fetched since copies were last removed.
    fetched: AtomicU64,
    /// When a copy was opened that made the folder be looked through.
    looked_through: Mutex<Option<Instant>>,
}

impl ObjectCache {
    /// The folder that the environment names. 58030 if no folder can be written, 22023 for a bound that is not a
    /// number.
    pub fn of_process() -> Result<Arc<ObjectCache>> {
        if let Some(cache) = CACHE.get() {
            return Ok(cache.clone());
        }
        let most = match std::env::var(BYTES_VARIABLE) {
            Ok(text) => bytes_of(&text)?,
            Err(_) => DEFAULT_BYTES,
        };
        let cache = ObjectCache::at(usable_folder()?, most);
        Ok(CACHE.get_or_init(|| cache).clone())
    }

    /// Makes a folder the one of this process, unless it has one: for tests.
    pub fn stand_in(cache: Arc<ObjectCache>) {
        let _ = CACHE.set(cache);
    }

    /// A folder that is there, whose copies may have `most` bytes.
    pub fn at(folder: PathBuf, most: u64) -> Arc<ObjectCache> {
        Arc::new(ObjectCache {
            folder,
            most,
            open: Mutex::default(),
            fetched: AtomicU64::new(0),
            looked_through: Mutex::default(),
        })
    }

    /// The copy of an object of `bytes` bytes, at least one. `identity` tells it from all other objects and from what
    /// the object was before; `None` if nothing does: then no other process and no later opening finds the copy.
    pub(crate) fn copy_of(
        &self,
        identity: Option<&str>,
        bytes: u64,
        source: Box<dyn FillSource>,
    ) -> io::Result<Arc<FilledFile>> {
        self.remove_old_sometimes();
        let Some(identity) = identity else {
            let name = format!("{}-{:x}{SUFFIX}", std::process::id(), unique());
            let path = self.folder.join(name);
            let file = FilledFile::open(&path, bytes, source)?;
            std::fs::remove_file(&path)?;
            return Ok(Arc::new(file));
        };
        let name = format!(
            "{:032x}{SUFFIX}",
            fnv1a(format!("{identity}\n{bytes}").as_bytes())
        );
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(&name).and_then(Weak::upgrade) {
            return Ok(file);
        }
        let path = self.folder.join(&name);
        let file = Arc::new(FilledFile::open(&path, bytes, source)?);
        // The time by which the copies are removed. A file system that keeps none removes them in any order.
        let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        open.retain(|_, file| file.strong_count() > 0);
        open.insert(name, Arc::downgrade(&file));
        Ok(file)
    }

    /// Counts bytes that were fetched, and removes old copies once they are a sixteenth of what the folder may have.
    pub(crate) fn count(&self, bytes: u64) {
        let fetched = self.fetched.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if fetched > self.most / 16 {
            self.fetched.store(0, Ordering::Relaxed);
            self.remove_old();
        }
    }

    /// Removes old copies, unless that was done a moment ago: opening a snapshot opens a copy for each segment, and
    /// looking through the folder for each of them would take the square of their number.
    fn remove_old_sometimes(&self) {
        let mut last = self.looked_through.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() > LEAST_PAUSE) {
            *last = Some(Instant::now());
            drop(last);
            self.remove_old();
        }
    }

    /// Removes copies that no process has open, those that were opened longest ago first, until the folder has no more
    /// bytes than it may. Failures leave a copy to the next call.
    fn remove_old(&self) {
        let mut copies = self.copies();
        let mut sum: u64 = copies.iter().map(|(_, bytes, _)| bytes).sum();
        if sum <= self.most {
            return;
        }
        copies.sort_unstable();
        for (_, bytes, path) in copies {
            if sum <= self.most {
                return;
            }
            if remove_unused(&path).unwrap_or(false) {
                sum -= bytes;
            }
        }
    }

    /// The copies: when each was opened last, the bytes that it takes, and its path.
    fn copies(&self) -> Vec<(SystemTime, u64, PathBuf)> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let copies = entries.filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_copy = path.to_str()?.ends_with(SUFFIX);
            let found = is_copy.then(|| path.symlink_metadata().ok())??;
            Some((found.modified().ok()?, found.blocks() * STAT_BLOCK, path))
        });
        copies.collect()
    }

    /// Bytes that all copies take.
    pub fn bytes(&self) -> u64 {
        self.copies().iter().map(|(_, bytes, _)| bytes).sum()
    }
}

/// A number that this process gives once.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The hash FNV-1a of 128 bits: names stay the same from one version of the program to the next.
fn fnv1a(bytes: &[u8]) -> u128 {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in bytes {
        hash = (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    hash
}

/// The bytes that a variable says, as `4GB`, `512 MB` or `1000000`. 22023 for another text.
fn bytes_of(text: &str) -> Result<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor = match text[end..].trim_start() {
        "" | "B" => Some(1),
        "kB" => Some(1 << 10),
        "MB" => Some(1 << 20),
        "GB" => Some(1 << 30),
        "TB" => Some(1 << 40),
        _ => None,
    };
    let number: Option<u64> = text[..end].parse().ok();
    number
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor))
        .ok_or_else(|| {
            let message = format!("invalid value for the environment variable {BYTES_VARIABLE}: \"{text}\"");
            Error::new(SqlState::INVALID_PARAMETER, message)
                .with_hint("a number of bytes, perhaps with a unit: kB, MB, GB or TB")
        })
}

/// The first folder that this user can write.
fn usable_folder() -> Result<PathBuf> {
    let of_variable = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(folder) = of_variable(FOLDER_VARIABLE) {
        let made = make(&folder);
        return made
            .map(|_| folder.clone())
            .map_err(|e| io_error("use", &folder, &e));
    }
    let cache = of_variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
    let cache = cache.or_else(|| of_variable("HOME").map(|home| home.join(".cache")));
    if let Some(folder) = cache.map(|cache| cache.join("frazil"))
        && make(&folder).is_ok()
    {
        return Ok(folder);
    }
    temporary_folder().map_err(|(folder, error)| {
        let hint = format!("set {FOLDER_VARIABLE} to a folder that this process can write");
        io_error("use", &folder, &error).with_hint(hint)
    })
}

/// Makes a folder for its user alone, unless it is there, and writes a file in it. Returns the user who owns that file.
fn make(folder: &Path) -> io::Result<u32> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let probe = folder.join(format!("{}-{:x}.probe", std::process::id(), unique()));
    let user = File::create_new(&probe).and_then(|file| file.metadata());
    let _ = std::fs::remove_file(&probe);
    user.map(|user| user.uid())
}

/// A folder in the temporary one. There everybody makes folders, so one that another user owns or may read is not used.
fn temporary_folder() -> Result<PathBuf, (PathBuf, io::Error)> {
    let user = std::env::var("USER").unwrap_or_default();
    let is_name = user
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let folder = match is_name && !user.is_empty() {
        true => std::env::temp_dir().join(format!("frazil-cache-{user}")),
        false => std::env::temp_dir().join("frazil-cache"),
    };
    let usable = make(&folder).and_then(|user| {
        let found = folder.symlink_metadata()?;
        match found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
            true => Ok(()),
            false => Err(io::Error::other("another user owns it or may read it")),
        }
    });
    match usable {
        Ok(()) => Ok(folder),
        Err(error) => Err((folder, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::Cancel;

    /// Bytes of 7.
    #[derive(Debug)]
    struct Sevens;

    impl FillSource for Sevens {
        fn read_at(&self, _offset: u64, into: &mut [u8], _cancel: &Cancel) -> io::Result<()> {
            into.fill(7);
            Ok(())
        }
    }

    const COPY: u64 = 1 << 20;

    fn cache(name: &str, most: u64) -> Arc<ObjectCache> {
        let folder = std::env::temp_dir().join(format!("frazil-cache-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        make(&folder).unwrap();
        ObjectCache::at(folder, most)
    }

    fn filled(cache: &ObjectCache, identity: Option<&str>) -> Arc<FilledFile> {
        let copy = cache.copy_of(identity, COPY, Box::new(Sevens)).unwrap();
        copy.fetch(0..COPY, &Cancel::new()).unwrap();
        assert!(copy.bytes().iter().all(|byte| *byte == 7));
        copy
    }

    #[test]
    fn the_folder_is_bounded_and_what_is_open_stays() {
        let cache = cache("bounded", 3 * COPY + COPY / 2);
        let kept = filled(&cache, Some("kept"));
        for i in 0..10 {
            filled(&cache, Some(&format!("copy {i}")));
            // The file system's clock may be coarse.
            std::thread::sleep(std::time::Duration::from_millis(12));
        }
        cache.remove_old();
        assert!(cache.bytes() <= 3 * COPY + COPY / 2, "{}", cache.bytes());
        let again = cache.copy_of(Some("copy 9"), COPY, Box::new(Sevens)).unwrap();
        let fetched = again.fetch(0..COPY, &Cancel::new()).unwrap();
        assert_eq!(fetched, 0, "the newest copy is there");
        assert!(Arc::ptr_eq(&kept, &filled(&cache, Some("kept"))));
        drop((kept, again));
        let cache = ObjectCache::at(cache.folder.clone(), 0);
        cache.remove_old();
        assert_eq!(cache.bytes(), 0);
        std::fs::remove_dir_all(&cache.folder).unwrap();
    }

    #[test]
    fn an_object_without_a_version_leaves_no_copy() {
        let cache = cache("nameless", COPY);
        drop(filled(&cache, None));
        assert_eq!(std::fs::read_dir(&cache.folder).unwrap().count(), 0);
        std::fs::remove_dir_all(&cache.folder).unwrap();
    }

    #[test]
    fn a_bound_is_read_with_its_unit() {
        assert_eq!(bytes_of("4GB").unwrap(), 4 << 30);
        assert_eq!(bytes_of(" 512 MB ").unwrap(), 512 << 20);
        assert_eq!(bytes_of("0").unwrap(), 0);
        for text in ["", "GB", "-1", "1.5GB", "4gb", "99999999999TB", "1e3"] {
            assert_eq!(
                bytes_of(text).unwrap_err().state(),
                SqlState::INVALID_PARAMETER,
                "{text}"
            );
        }
    }
}
