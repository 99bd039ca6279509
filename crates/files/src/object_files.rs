//! Objects of stores as files that a statement reads. A path that is a URL (`s3://bucket/key`) names one.
//!
//! A statement asks for each object's length and version once, and reads that version everywhere: an object that is
//! written again meanwhile is an error, not a mixture of both.

use bytes::Bytes;
use frazil_objects::{ObjectMeta, ObjectStore, ObjectUrl, ReadAhead};
use frazil_types::{Cancel, Error, MemoryBudget, Reservation, Result, SqlState};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Objects that a statement has met, by the paths that name them.
#[derive(Clone, Debug, Default)]
pub struct ObjectFiles(Arc<Mutex<HashMap<PathBuf, Arc<ObjectFile>>>>);

/// An object in one of its versions.
#[derive(Debug)]
pub(crate) struct ObjectFile {
    store: Arc<ObjectStore>,
    meta: ObjectMeta,
}

/// True for a path that names an object.
pub(crate) fn is_object(path: &Path) -> bool {
    path.to_str().is_some_and(is_object_url)
}

/// True for a text that names an object, well or not.
pub fn is_object_url(text: &str) -> bool {
    ObjectUrl::is_url(text)
}

/// The URL that a path is, if it is one. 22023 as of [`ObjectUrl::parse`].
pub(crate) fn url_of(path: &Path) -> Result<Option<ObjectUrl>> {
    path.to_str().and_then(ObjectUrl::parse).transpose()
}

impl ObjectFiles {
    /// The object that a path names; `None` for a path of this machine. 58P01 for an object that is not there, and the
    /// errors of [`ObjectStore`].
    pub(crate) fn find(&self, path: &Path, cancel: &Cancel) -> Result<Option<Arc<ObjectFile>>> {
        // Keys that a pattern has found may have letters that no URL has.
        let known = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(path)
            .cloned();
        if let Some(known) = known {
            return Ok(Some(known));
        }
        let Some(url) = url_of(path)? else {
            return Ok(None);
        };
        let store = ObjectStore::open(&url)?;
        let Some(meta) = store.meta(&url, cancel)? else {
            let message = format!("could not read \"{url}\": there is no such object");
            return Err(Error::new(SqlState::UNDEFINED_FILE, message));
        };
        Ok(Some(self.keep(path.to_path_buf(), store, meta)))
    }

    /// The paths of the objects that match a pattern, in the order of their keys. A URL without letters that stand for
    /// others is the path of one, which may not be there. 58P01 if none matches.
    pub(crate) fn matching(&self, pattern: &ObjectUrl, cancel: &Cancel) -> Result<Vec<PathBuf>> {
        if !pattern.is_pattern() {
            return Ok(vec![PathBuf::from(pattern.to_string())]);
        }
        let store = ObjectStore::open(pattern)?;
        let found = store.matching(pattern, cancel)?;
        let paths: Vec<PathBuf> = (found.into_iter())
            .map(|meta| {
                let path = PathBuf::from(meta.url.to_string());
                self.keep(path.clone(), store.clone(), meta);
                path
            })
            .collect();
        match paths.is_empty() {
            true => Err(Error::new(
                SqlState::UNDEFINED_FILE,
                format!("no object matches \"{pattern}\""),
            )),
            false => Ok(paths),
        }
    }

    fn keep(&self, path: PathBuf, store: Arc<ObjectStore>, meta: ObjectMeta) -> Arc<ObjectFile> {
        let file = Arc::new(ObjectFile { store, meta });
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.entry(path).or_insert(file).clone()
    }
}

impl ObjectFile {
    /// The length in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.meta.bytes
    }

    /// The text of the URL.
    pub(crate) fn name(&self) -> String {
        self.meta.url.to_string()
    }

    /// Changes with every write; `None` if the store does not tell.
    pub(crate) fn version(&self) -> Option<&str> {
        self.meta.version.as_deref()
    }

    /// Fills `into` from byte `offset` on. Errors as of [`ObjectStore::read_at`].
    pub(crate) fn read_at(&self, offset: u64, into: &mut [u8], cancel: &Cancel) -> Result<()> {
        self.store.read_at(&self.meta, offset, into, cancel)
    }

    /// The bytes from first to last, read ahead. What is read ahead counts towards the budget: 53200.
    pub(crate) fn stream(&self, cancel: &Cancel, budget: &MemoryBudget) -> Result<ObjectStream> {
        let whole = usize::try_from(self.meta.bytes).unwrap_or(usize::MAX);
        let memory = budget.reserve(whole.min(ReadAhead::MOST_BYTES))?;
        Ok(ObjectStream {
            ahead: ReadAhead::new(self.store.clone(), self.meta.clone(), cancel.clone()),
            range: Bytes::new(),
            _memory: memory,
        })
    }
}

/// The bytes of an object in order. Its errors are ours inside of the system's ([`own_error`]).
pub(crate) struct ObjectStream {
    ahead: ReadAhead,
    /// Bytes that were read and not asked for yet.
    range: Bytes,
    _memory: Reservation,
}

impl Read for ObjectStream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        if self.range.is_empty() {
            match self.ahead.next_range().map_err(io::Error::other)? {
                Some(range) => self.range = range,
                None => return Ok(0),
            }
        }
        let now = self.range.split_to(to.len().min(self.range.len()));
        to[..now.len()].copy_from_slice(&now);
        Ok(now.len())
    }
}

/// The error of ours that went through code which knows the system's errors only.
pub(crate) fn own_error(error: &io::Error) -> Option<Error> {
    error.get_ref()?.downcast_ref::<Error>().cloned()
}
