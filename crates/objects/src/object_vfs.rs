//! A file system whose files are the objects of a bucket: what PUBLISH writes to, and what published snapshots are
//! read from.
//!
//! Paths are URLs. Directories are the beginnings of keys: they need not be made, and a sync of one does nothing,
//! because a store acknowledges what is durable.
//!
//! # Writing
//!
//! A file is written from its start to its end, and becomes an object when it is synced; nobody sees it before. A file
//! whose name ends in `.new` is kept in memory until it is renamed, because stores rename nothing: the rename puts its
//! bytes under the other name, in one request that happens as a whole or not at all.
//!
//! A bucket has no locks that end with the process that holds them. So a rename is a comparison, too: it replaces an
//! object only if that one is still as this file system last read or wrote it, and makes an object only if none is
//! there (55006 otherwise). [`Vfs::lock`] keeps only this process from writing a directory twice.
//!
//! # Reading
//!
//! A mapped file is a local copy that is filled as it is read ([`ObjectCache`]). Other files are read as a whole when
//! they are opened: they are manifests. One that did not change since is not read again.
//!
//! Mapping a file asks for its length and version. A listing tells them of a thousand files at once
//! ([`Vfs::looked_over`]): a version that did not change leads to the copy that is there.

use crate::object_cache::ObjectCache;
use crate::{ObjectMeta, ObjectStore, ObjectUrl, Put, Upload};
use frazil_types::{Cancel, Error, Result, SqlState};
use frazil_vfs::{
    Access, Entry, FillSource, HeldDirectory, Holder, IoCounters, Locking, Mapping, Vfs, VfsFile, VfsLock,
};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes up to which a file is written by one request. Longer ones are sent in parts.
const MOST_IN_ONE_PUT: usize = 8 << 20;
/// Bytes of the longest object that is read as a whole. The manifest of a database of 100 TB has fewer.
const MOST_WHOLE: u64 = 1 << 30;
/// Most times that a file is read anew because it changed between two requests.
const MOST_TRIES: usize = 4;

/// Directories that this process writes.
static LOCKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The objects of a bucket as files. Clones share what they know of the objects.
#[derive(Clone, Debug)]
pub struct ObjectVfs {
    store: Arc<ObjectStore>,
    cache: Arc<ObjectCache>,
    /// Stops its calls. Those that remove objects are sent all the same.
    cancel: Cancel,
    known: Arc<Known>,
    /// Objects of a folder as a listing told, by key. Others are asked for one by one.
    listed: Arc<HashMap<String, ObjectMeta>>,
}

/// The knowledge of a file system about the objects.
#[derive(Debug, Default)]
struct Known {
    counters: IoCounters,
    /// The versions of objects as they were last read or written, by key.
    versions: Mutex<HashMap<String, Option<String>>>,
    /// The bytes of files that are to be renamed, by key.
    replacements: Mutex<HashMap<String, Vec<u8>>>,
    /// Files that were created and not synced: there are no such objects.
    unfinished: Mutex<HashSet<String>>,
    /// Whole objects as they were last read.
    contents: Mutex<HashMap<String, (ObjectMeta, Arc<Vec<u8>>)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error of ours as one of a file system, which [`frazil_vfs::io_error`] takes out again.
fn passed_on(error: Error) -> io::Error {
    let kind = match error.state() {
        SqlState::UNDEFINED_FILE => io::ErrorKind::NotFound,
        SqlState::DUPLICATE_FILE => io::ErrorKind::AlreadyExists,
        SqlState::INSUFFICIENT_PRIVILEGE => io::ErrorKind::PermissionDenied,
        SqlState::OBJECT_IN_USE => io::ErrorKind::ResourceBusy,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

fn unsupported(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}

/// A URL as the path of a directory: without the slashes at its end.
pub fn url_path(url: &ObjectUrl) -> PathBuf {
    let key = url.key().trim_end_matches('/');
    PathBuf::from(url.with_key(key).to_string())
}

impl ObjectVfs {
    /// The bucket of an address, with the copies of this process. `cancel` stops calls: 57014.
    pub fn open(url: &ObjectUrl, cancel: &Cancel) -> Result<ObjectVfs> {
        let (store, cache) = (ObjectStore::open(url)?, ObjectCache::of_process()?);
        Ok(ObjectVfs::over(store, cache, cancel))
    }

    /// A bucket with a folder of copies.
    pub fn over(store: Arc<ObjectStore>, cache: Arc<ObjectCache>, cancel: &Cancel) -> ObjectVfs {
        ObjectVfs {
            store,
            cache,
            cancel: cancel.clone(),
            known: Arc::default(),
            listed: Arc::default(),
        }
    }

    fn url(&self, path: &Path) -> io::Result<ObjectUrl> {
        let url = path.to_str().and_then(ObjectUrl::parse);
        let not_one = || unsupported("the path is not the URL of an object");
        url.ok_or_else(not_one)?.map_err(passed_on)
    }

    /// The address of everything in a directory.
    fn prefix(&self, directory: &Path) -> io::Result<ObjectUrl> {
        let url = self.url(directory)?;
        let key = match url.key().trim_end_matches('/') {
            "" => String::new(),
            key => format!("{key}/"),
        };
        Ok(url.with_key(&key))
    }

    fn objects_in(&self, directory: &Path) -> io::Result<(ObjectUrl, Vec<ObjectMeta>)> {
        let prefix = self.prefix(directory)?;
        let objects = self.store.list(&prefix, &self.cancel).map_err(passed_on)?;
        Ok((prefix, objects))
    }

    fn meta(&self, url: &ObjectUrl) -> io::Result<ObjectMeta> {
        // Buckets have no object of the empty name.
        let found = match url.key() {
            "" => None,
            _ => self.store.meta(url, &self.cancel).map_err(passed_on)?,
        };
        found.ok_or_else(|| {
            let message = format!("\"{url}\" does not exist");
            passed_on(Error::new(SqlState::UNDEFINED_FILE, message))
        })
    }

    /// A whole object, which is read unless it was read in this version before.
    fn content(&self, url: &ObjectUrl) -> io::Result<Arc<Vec<u8>>> {
        let mut tries = 0;
        loop {
            let meta = self.meta(url)?;
            let known = lock(&self.known.contents).get(url.key()).cloned();
            if let Some((before, bytes)) = known
                && before.version.is_some()
                && before.version == meta.version
            {
                return Ok(bytes);
            }
            if meta.bytes > MOST_WHOLE {
                return Err(io::Error::other(format!(
                    "{url} has {} bytes: it is not of a published folder",
                    meta.bytes
                )));
            }
            let mut bytes = vec![0; meta.bytes as usize];
            tries += 1;
            match self.store.read_at(&meta, 0, &mut bytes, &self.cancel) {
                // The object was replaced or removed between the two requests.
                Err(e)
                    if [SqlState::IO_ERROR, SqlState::UNDEFINED_FILE].contains(&e.state())
                        && tries < MOST_TRIES =>
                {
                    continue;
                }
                read => read.map_err(passed_on)?,
            }
            let key = url.key().to_owned();
            lock(&self.known.versions).insert(key.clone(), meta.version.clone());
            let bytes = Arc::new(bytes);
            lock(&self.known.contents).insert(key, (meta, bytes.clone()));
            return Ok(bytes);
        }
    }

    /// Puts bytes in the place of the object that this file system knows, or makes an object.
    fn replace(&self, url: &ObjectUrl, bytes: Vec<u8>) -> io::Result<()> {
        let put = match lock(&self.known.versions).get(url.key()) {
            None => Put::New,
            Some(Some(version)) => Put::Version(version.clone()),
            // The store tells no versions, so nothing can be compared.
            Some(None) => Put::Replace,
        };
        let written = self.store.put(url, bytes, &put, &self.cancel);
        let version = written.map_err(|error| match error.state() {
            SqlState::SERIALIZATION_FAILURE | SqlState::DUPLICATE_FILE => {
                let message = format!("\"{url}\" was written by another process meanwhile");
                passed_on(Error::new(SqlState::OBJECT_IN_USE, message))
            }
            _ => passed_on(error),
        })?;
        lock(&self.known.contents).remove(url.key());
        lock(&self.known.versions).insert(url.key().to_owned(), version);
        Ok(())
    }
}

fn is_replacement(url: &ObjectUrl) -> bool {
    url.key().ends_with(".new")
}

impl Vfs for ObjectVfs {
    fn hold(&self, directory: &Path) -> io::Result<HeldDirectory> {
        let path = url_path(&self.url(directory)?);
        Ok(HeldDirectory {
            vfs: Arc::new(self.clone()),
            path,
        })
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn VfsFile>> {
        match access {
            Access::Write => Err(unsupported("an object is not changed in place")),
            Access::Read => Ok(Box::new(ReadObject(self.content(&self.url(path)?)?))),
        }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        let url = self.url(path)?;
        let key = url.key().to_owned();
        if is_replacement(&url) {
            lock(&self.known.replacements).insert(key, Vec::new());
            return Ok(Box::new(Replacement(self.known.clone(), url)));
        }
        lock(&self.known.unfinished).insert(key);
        Ok(Box::new(NewObject {
            vfs: self.clone(),
            url,
            state: Mutex::new(Written::Buffer(Vec::new())),
        }))
    }

    fn create_directory(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_directory(&self, _path: &Path) -> io::Result<()> {
        self.known.counters.count_directory_sync();
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (self.url(from)?, self.url(to)?);
        let bytes = lock(&self.known.replacements).remove(from.key());
        match bytes {
            Some(bytes) => self.replace(&to, bytes),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let url = self.url(path)?;
        if is_replacement(&url) {
            lock(&self.known.replacements).remove(url.key());
            return Ok(());
        }
        if lock(&self.known.unfinished).remove(url.key()) {
            return Ok(());
        }
        match self.store.remove(&url, &self.cancel) {
            // A statement that was cancelled removes what it has written, and does not wait for a silent store.
            Err(error) if error.state() == SqlState::QUERY_CANCELED => self.store.remove_briefly(&url),
            removed => removed,
        }
        .map_err(passed_on)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        let (prefix, objects) = self.objects_in(directory)?;
        if objects.is_empty() && !prefix.key().is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut names: Vec<&str> = (objects.iter())
            .filter_map(|object| object.url.key().strip_prefix(prefix.key())?.split('/').next())
            .filter(|name| !name.is_empty())
            .collect();
        names.dedup();
        Ok(names.into_iter().map(OsString::from).collect())
    }

    fn entry(&self, path: &Path) -> io::Result<Option<Entry>> {
        // Nothing is at a path that is not a URL.
        let Ok(url) = self.url(path) else {
            return Ok(None);
        };
        match self.meta(&url) {
            Ok(_) => return Ok(Some(Entry::File)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        let (prefix, objects) = self.objects_in(path)?;
        let is_one = prefix.key().is_empty() || !objects.is_empty();
        Ok(is_one.then_some(Entry::Directory))
    }

    fn is_within(&self, directory: &Path, above: &Path) -> io::Result<bool> {
        let (directory, above) = (self.prefix(directory)?, self.prefix(above)?);
        Ok(directory.to_string().starts_with(&above.to_string()))
    }

    fn map(&self, path: &Path) -> io::Result<Mapping> {
        let url = self.url(path)?;
        let meta = match self.listed.get(url.key()) {
            Some(meta) => meta.clone(),
            None => self.meta(&url)?,
        };
        if meta.bytes == 0 {
            return Ok(Mapping::copied(&[]));
        }
        let identity = meta
            .version
            .as_ref()
            .map(|version| format!("{}\n{version}", meta.url));
        let bytes = meta.bytes;
        let source = Box::new(Source {
            store: self.store.clone(),
            cache: self.cache.clone(),
            meta,
        });
        let copy = self.cache.copy_of(identity.as_deref(), bytes, source)?;
        Ok(Mapping::filled(copy))
    }

    fn lock(&self, directory: &Path, access: Access) -> io::Result<Locking> {
        let path = url_path(&self.url(directory)?);
        let mut locked = lock(&LOCKED);
        if access == Access::Write {
            if locked.contains(&path) {
                return Ok(Locking::Theirs(Holder::Writer(std::process::id().to_string())));
            }
            locked.push(path.clone());
        }
        Ok(Locking::Ours(Box::new(ObjectLock {
            vfs: self.clone(),
            path,
            access,
        })))
    }

    fn space(&self, _directory: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }

    fn counters(&self) -> &IoCounters {
        &self.known.counters
    }

    fn stopped_by(&self, cancel: &Cancel) -> Option<Arc<dyn Vfs>> {
        Some(Arc::new(ObjectVfs {
            cancel: cancel.clone(),
            ..self.clone()
        }))
    }

    fn looked_over(&self, directory: &Path) -> io::Result<Option<Arc<dyn Vfs>>> {
        let objects = match self.objects_in(directory) {
            // Whoever may read objects need not be allowed to list them.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
            found => found?.1,
        };
        let listed = objects
            .into_iter()
            .map(|object| (object.url.key().to_owned(), object));
        Ok(Some(Arc::new(ObjectVfs {
            listed: Arc::new(listed.collect()),
            ..self.clone()
        })))
    }

    fn is_elsewhere(&self) -> bool {
        true
    }
}

/// A lock among the threads of this process.
#[derive(Debug)]
struct ObjectLock {
    vfs: ObjectVfs,
    path: PathBuf,
    access: Access,
}

impl VfsLock for ObjectLock {
    fn remove(&self, name: &Path) -> io::Result<()> {
        self.vfs.remove(&self.path.join(name))
    }
}

impl Drop for ObjectLock {
    fn drop(&mut self) {
        if self.access == Access::Write {
            lock(&LOCKED).retain(|path| *path != self.path);
        }
    }
}

/// The bytes of an object for its local copy.
#[derive(Debug)]
struct Source {
    store: Arc<ObjectStore>,
    cache: Arc<ObjectCache>,
    meta: ObjectMeta,
}

impl FillSource for Source {
    fn read_at(&self, offset: u64, into: &mut [u8], cancel: &Cancel) -> io::Result<()> {
        let read = self.store.read_at(&self.meta, offset, into, cancel);
        read.map_err(|error| match error.state() {
            SqlState::UNDEFINED_FILE => {
                let message = format!("\"{}\" was removed while it was read", self.meta.url);
                let hint = "a later PUBLISH has removed the snapshot, and KEEP says how many snapshots stay; \
                            run the statement again to read the newest one";
                passed_on(Error::new(SqlState::UNDEFINED_FILE, message).with_hint(hint))
            }
            _ => passed_on(error),
        })?;
        self.cache.count(into.len() as u64);
        Ok(())
    }
}

fn not_written() -> io::Error {
    unsupported("an object that was read is not written")
}

/// An object that was read as a whole.
#[derive(Debug)]
struct ReadObject(Arc<Vec<u8>>);

impl VfsFile for ReadObject {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        let bytes = into.len().min(self.0.len() - from);
        into[..bytes].copy_from_slice(&self.0[from..from + bytes]);
        Ok(bytes)
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> io::Result<()> {
        Err(not_written())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }
}

/// A file that waits in memory until it is renamed.
#[derive(Debug)]
struct Replacement(Arc<Known>, ObjectUrl);

impl VfsFile for Replacement {
    fn read_at(&self, _offset: u64, _into: &mut [u8]) -> io::Result<usize> {
        Err(unsupported("an object is not read while it is written"))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.counters.count_write(bytes.len());
        let mut replacements = lock(&self.0.replacements);
        let written = replacements
            .get_mut(self.1.key())
            .ok_or(io::ErrorKind::NotFound)?;
        append(written, offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        let replacements = lock(&self.0.replacements);
        Ok(replacements
            .get(self.1.key())
            .map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Appends bytes, which are to begin where the others end.
fn append(to: &mut Vec<u8>, offset: u64, bytes: &[u8]) -> io::Result<()> {
    if offset != to.len() as u64 {
        return Err(unsupported("an object is written from its start to its end"));
    }
    to.extend_from_slice(bytes);
    Ok(())
}

/// A file that becomes an object when it is synced.
#[derive(Debug)]
struct NewObject {
    vfs: ObjectVfs,
    url: ObjectUrl,
    state: Mutex<Written>,
}

/// The written part of a new object.
#[derive(Debug)]
enum Written {
    /// Few bytes, none of which was sent.
    Buffer(Vec<u8>),
    /// The upload of its parts, and the bytes so far.
    Parts(Box<Upload>, u64),
    /// The object is there. Its length in bytes.
    Object(u64),
    /// A request failed.
    Failed,
}

impl NewObject {
    fn append(&self, state: Written, offset: u64, bytes: &[u8]) -> io::Result<Written> {
        match state {
            Written::Buffer(mut buffer) => {
                append(&mut buffer, offset, bytes)?;
                if buffer.len() <= MOST_IN_ONE_PUT {
                    return Ok(Written::Buffer(buffer));
                }
                let upload = self.vfs.store.upload(&self.url, &self.vfs.cancel);
                let mut upload = upload.map_err(passed_on)?;
                upload.write(&buffer).map_err(passed_on)?;
                Ok(Written::Parts(Box::new(upload), buffer.len() as u64))
            }
            Written::Parts(mut upload, len) if offset == len => {
                upload.write(bytes).map_err(passed_on)?;
                Ok(Written::Parts(upload, len + bytes.len() as u64))
            }
            Written::Parts(..) => Err(unsupported("an object is written from its start to its end")),
            Written::Object(_) => Err(unsupported("an object is not changed once it is there")),
            Written::Failed => Err(unsupported("writing the object has failed")),
        }
    }

    fn finish(&self, state: Written) -> io::Result<Written> {
        let len = match state {
            Written::Buffer(buffer) => {
                let len = buffer.len() as u64;
                self.vfs.replace(&self.url, buffer)?;
                len
            }
            Written::Parts(upload, len) => {
                upload.finish().map_err(passed_on)?;
                len
            }
            Written::Object(len) => return Ok(Written::Object(len)),
            Written::Failed => return Err(unsupported("writing the object has failed")),
        };
        lock(&self.vfs.known.unfinished).remove(self.url.key());
        Ok(Written::Object(len))
    }
}

impl VfsFile for NewObject {
    fn read_at(&self, _offset: u64, _into: &mut [u8]) -> io::Result<usize> {
        Err(unsupported("an object is not read while it is written"))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.vfs.known.counters.count_write(bytes.len());
        let mut state = lock(&self.state);
        let before = std::mem::replace(&mut *state, Written::Failed);
        *state = self.append(before, offset, bytes)?;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.vfs.known.counters.count_file_sync();
        let mut state = lock(&self.state);
        let before = std::mem::replace(&mut *state, Written::Failed);
        *state = self.finish(before)?;
        Ok(())
    }

    fn sync_so_far(&self) -> io::Result<()> {
        // Parts are on their way as soon as they are full.
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(match &*lock(&self.state) {
            Written::Buffer(buffer) => buffer.len() as u64,
            Written::Parts(_, len) | Written::Object(len) => *len,
            Written::Failed => 0,
        })
    }
}
