//! The objects of a bucket, as calls that wait.

use crate::failure::{Request, Said};
use crate::object_url::StoreKind;
use crate::settings::{Client, Clients, Settings};
use crate::waiting::{Task, wait, wait_briefly};
use crate::{ObjectUrl, Upload};
use bytes::Bytes;
use frazil_types::{Cancel, Error, Result, SqlState};
use futures_util::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use object_store::{GetOptions, GetRange, ObjectStoreExt, PutMode, PutPayload, UpdateVersion};
use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that one request reads at most: a connection of S3 brings some 100 MB/s, so that the wait for its
/// first byte is short beside the rest.
pub(crate) const RANGE_BYTES: usize = 8 << 20;
/// Requests of one reader at a time.
pub(crate) const RANGES_AT_ONCE: usize = 4;

/// A bucket of a store. Threads share it; it holds open connections.
///
/// Errors of its calls name the object's URL and what to do: 58P01 for an object that is not there, 42501 for wrong or
/// missing credentials, 08001 for a store that does not answer in time (with the time), 53400 for one that refuses more
/// requests after all retries, 57014 once the statement is cancelled, 58030 for the rest, 22023 for a key that no store
/// has.
#[derive(Debug)]
pub struct ObjectStore {
    clients: Clients,
    /// `None` for a store in memory.
    kind: Option<StoreKind>,
    /// The store in memory, if it is one.
    memory: Option<Arc<ThrottledStore<InMemory>>>,
    /// Number of calls that were sent.
    requests: AtomicU64,
}

/// Facts that a store tells about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectMeta {
    /// Its address.
    pub url: ObjectUrl,
    /// Its length in bytes.
    pub bytes: u64,
    /// Changes with every write: the store's tag of what the object holds. `None` where the store has none.
    pub version: Option<String>,
}

/// The fate of an object that is there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is replaced.
    Replace,
    /// It stays: 58P02.
    New,
    /// It is replaced if it still has this version ([`ObjectMeta::version`]): 40001 otherwise.
    Version(String),
}

/// The bucket's root, a hash of the settings, and the process: a child has none of its parent's connections.
type OpenKey = (String, u64, u32);

/// The buckets that the process has opened.
static OPEN: LazyLock<Mutex<HashMap<OpenKey, Arc<ObjectStore>>>> = LazyLock::new(Mutex::default);
/// Stores that replace those of buckets, by the buckets' roots.
static STAND_INS: LazyLock<Mutex<HashMap<String, Arc<ObjectStore>>>> = LazyLock::new(Mutex::default);

impl ObjectStore {
    /// Opens the bucket of an address. A process opens each bucket once, and again if the variables that describe
    /// its store have changed. No request is made yet. 22023 for variables that describe no store, 58030 if the
    /// system trusts no certificates.
    pub fn open(url: &ObjectUrl) -> Result<Arc<ObjectStore>> {
        let stand_ins = STAND_INS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stand_ins.get(url.root()) {
            return Ok(store.clone());
        }
        drop(stand_ins);
        let settings = Settings::of_environment(url.kind());
        let key = (url.root().to_owned(), settings.hash(), std::process::id());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = open.get(&key) {
            return Ok(store.clone());
        }
        let store = ObjectStore::with(&settings, url)?;
        open.insert(key, store.clone());
        Ok(store)
    }

    /// The bucket of an address, by settings of its own.
    pub(crate) fn with(settings: &Settings, url: &ObjectUrl) -> Result<Arc<ObjectStore>> {
        Ok(Arc::new(ObjectStore {
            clients: settings.clients(url)?,
            kind: Some(url.kind()),
            memory: None,
            requests: AtomicU64::new(0),
        }))
    }

    /// A store in the memory of the process, for tests.
    pub fn in_memory() -> Arc<ObjectStore> {
        let memory = Arc::new(ThrottledStore::new(InMemory::new(), ThrottleConfig::default()));
        let client: Client = memory.clone();
        Arc::new(ObjectStore {
            clients: Clients {
                reads: client.clone(),
                writes: client,
            },
            kind: None,
            memory: Some(memory),
            requests: AtomicU64::new(0),
        })
    }

    /// Makes a store in memory answer each later read and listing after `wait`: tests' slow and silent stores. Another
    /// store stays as it is.
    pub fn slow_down(&self, wait: Duration) {
        if let Some(memory) = &self.memory {
            memory.config_mut(|config| {
                config.wait_get_per_call = wait;
                config.wait_list_per_call = wait;
            });
        }
    }

    /// Number of requests that this process has sent to the bucket, without repetitions and without parts of uploads. A
    /// listing counts once.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The client for requests with small bodies. Counts one request.
    fn reads(&self) -> Client {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.clients.reads.clone()
    }

    /// Makes a store the one that [`ObjectStore::open`] opens for the bucket of an address: tests' stores in memory.
    pub fn stand_in(url: &ObjectUrl, store: Arc<ObjectStore>) {
        let mut stand_ins = STAND_INS.lock().unwrap_or_else(PoisonError::into_inner);
        stand_ins.insert(url.root().to_owned(), store);
    }

    /// The client for requests that send parts of objects.
    pub(crate) fn writes(&self) -> &Client {
        &self.clients.writes
    }

    /// The objects whose keys begin with a prefix, which ends at a `/` or is empty, in the order of their keys. Empty
    /// objects that stand for folders, which some programs write, are left out if anything is in the folder.
    pub fn list(&self, prefix: &ObjectUrl, cancel: &Cancel) -> Result<Vec<ObjectMeta>> {
        let request = Request::new("list", prefix);
        let path = match prefix.key() {
            "" => None,
            key => Some(parsed(prefix, key.strip_suffix('/').unwrap_or(key))?),
        };
        let client = self.reads();
        let listed = wait(
            async move { client.list(path.as_ref()).try_collect::<Vec<_>>().await },
            cancel,
        )?;
        let mut found: Vec<ObjectMeta> = (listed.said(&request)?.into_iter())
            .filter(|object| object.location.as_ref().starts_with(prefix.key()))
            .map(|object| meta_of(prefix.with_key(object.location.as_ref()), object))
            .map(|meta| match self.kind {
                Some(StoreKind::Azure) => with_quotes(meta),
                _ => meta,
            })
            .collect();
        found.sort_unstable_by(|a, b| a.url.key().cmp(b.url.key()));
        let above = |object: &ObjectMeta| {
            let key = object.url.key();
            let ends = key.match_indices('/').map(|(end, _)| key[..end].to_owned());
            ends.collect::<Vec<_>>()
        };
        let folders: HashSet<String> = found.iter().flat_map(above).collect();
        found.retain(|object| object.bytes > 0 || !folders.contains(object.url.key()));
        Ok(found)
    }

    /// Asks for the facts about an object; `None` if it is not there.
    pub fn meta(&self, url: &ObjectUrl, cancel: &Cancel) -> Result<Option<ObjectMeta>> {
        let request = Request::new("look at", url);
        let (client, path) = (self.reads(), path_of(url)?);
        let found = wait(async move { client.head(&path).await }, cancel)?;
        match found {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            found => Ok(Some(meta_of(url.clone(), found.said(&request)?))),
        }
    }

    /// Fills `into` from byte `offset` of an object on; the object has these bytes. 58030 if it was written again since
    /// `meta` was asked for.
    pub fn read_at(&self, meta: &ObjectMeta, offset: u64, into: &mut [u8], cancel: &Cancel) -> Result<()> {
        let mut ranges = into.chunks_mut(RANGE_BYTES);
        let mut start = offset;
        // Some ranges are on the way while the first one is waited for, so that no more than these are in memory twice.
        let mut on_the_way = VecDeque::new();
        loop {
            while on_the_way.len() < RANGES_AT_ONCE
                && let Some(range) = ranges.next()
            {
                let request = self.range(meta, start, range.len())?;
                start = start.saturating_add(range.len() as u64);
                on_the_way.push_back((Task::begin(request)?, range));
            }
            let Some((read, range)) = on_the_way.pop_front() else {
                return Ok(());
            };
            range.copy_from_slice(&read.wait(cancel)??);
        }
    }

    /// A request for `bytes` bytes of an object from byte `offset` on, with the errors of [`ObjectStore::read_at`].
    pub(crate) fn range(
        &self,
        meta: &ObjectMeta,
        offset: u64,
        bytes: usize,
    ) -> Result<impl Future<Output = Result<Bytes>> + Send + use<>> {
        let mut request = Request::new("read", &meta.url);
        let (client, path) = (self.reads(), path_of(&meta.url)?);
        let options = GetOptions {
            if_match: meta.version.clone(),
            range: Some(GetRange::Bounded(offset..offset.saturating_add(bytes as u64))),
            ..GetOptions::default()
        };
        let whole = meta.bytes;
        Ok(async move {
            // It may have waited for others.
            request.begun = Instant::now();
            let got = client.get_opts(&path, options).await.said(&request)?;
            let is_same = got.meta.size == whole;
            let read = got.bytes().await.said(&request)?;
            match is_same && read.len() == bytes {
                true => Ok(read),
                false => Err(request.failed(&object_store::Error::Precondition {
                    path: String::new(),
                    source: "another length".into(),
                })),
            }
        })
    }

    /// Writes a whole object at once: readers see it whole or not at all. Returns its version, as
    /// [`ObjectMeta::version`].
    pub fn put(&self, url: &ObjectUrl, bytes: Vec<u8>, put: &Put, cancel: &Cancel) -> Result<Option<String>> {
        let request = Request::new("write", url);
        self.requests.fetch_add(1, Ordering::Relaxed);
        let (client, path) = (self.clients.writes.clone(), path_of(url)?);
        let (put, kind) = (put.clone(), self.kind);
        let is_versioned = matches!(put, Put::Version(_));
        let written = async move {
            let mode = match put {
                Put::Replace => PutMode::Overwrite,
                Put::New => PutMode::Create,
                Put::Version(version) => PutMode::Update(updated(&client, &path, version, kind).await?),
            };
            let payload = PutPayload::from(Bytes::from(bytes));
            client.put_opts(&path, payload, mode.into()).await
        };
        match wait(written, cancel)? {
            Ok(written) => Ok(written.e_tag),
            // Some stores name the same refusal otherwise: a conflict with another writer, or an object that is gone.
            Err(
                object_store::Error::Precondition { .. }
                | object_store::Error::AlreadyExists { .. }
                | object_store::Error::NotFound { .. },
            ) if is_versioned => {
                let message = format!("could not write \"{url}\": it was written by somebody else meanwhile");
                Err(Error::new(SqlState::SERIALIZATION_FAILURE, message).with_hint("run the statement again"))
            }
            Err(error) => Err(request.failed(&error)),
        }
    }

    /// Begins an object that is written in parts.
    pub fn upload(self: &Arc<Self>, url: &ObjectUrl, cancel: &Cancel) -> Result<Upload> {
        Ok(Upload::new(
            self.clone(),
            url.clone(),
            path_of(url)?,
            cancel.clone(),
        ))
    }

    /// Removes an object, or does nothing if it is not there.
    pub fn remove(&self, url: &ObjectUrl, cancel: &Cancel) -> Result<()> {
        let request = Request::new("remove", url);
        let (client, path) = (self.reads(), path_of(url)?);
        match wait(async move { client.delete(&path).await }, cancel)? {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            done => done.said(&request),
        }
    }

    /// Removes an object on behalf of a statement that was cancelled. The request goes on by itself if the store does
    /// not answer soon, and nobody hears of its failure.
    pub fn remove_briefly(&self, url: &ObjectUrl) -> Result<()> {
        let (client, path) = (self.reads(), path_of(url)?);
        let removed = async move { drop(client.delete(&path).await) };
        wait_briefly(removed);
        Ok(())
    }
}

/// Names the version that an object must still have. Google's store compares numbers of generations, not tags.
async fn updated(
    client: &Client,
    path: &Path,
    version: String,
    kind: Option<StoreKind>,
) -> object_store::Result<UpdateVersion> {
    if kind != Some(StoreKind::Google) {
        return Ok(UpdateVersion {
            e_tag: Some(version),
            version: None,
        });
    }
    let now = client.head(path).await?;
    match now.e_tag == Some(version) {
        true => Ok(UpdateVersion {
            e_tag: now.e_tag,
            version: now.version,
        }),
        false => Err(object_store::Error::Precondition {
            path: path.to_string(),
            source: "another version".into(),
        }),
    }
}

fn meta_of(url: ObjectUrl, meta: object_store::ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        url,
        bytes: meta.size,
        version: meta.e_tag,
    }
}

/// The facts with the version as HTTP writes it, in quotes, which Azure's listings leave out.
fn with_quotes(mut meta: ObjectMeta) -> ObjectMeta {
    if let Some(version) = &mut meta.version
        && !version.ends_with('"')
    {
        *version = format!("\"{version}\"");
    }
    meta
}

/// The key of an object as the client takes it. 42809 for a URL that ends at a `/` or has no key, 22023 as of
/// [`parsed`].
pub(crate) fn path_of(url: &ObjectUrl) -> Result<Path> {
    if url.key().is_empty() || url.key().ends_with('/') {
        let message = format!("\"{url}\" is a folder, not an object");
        let hint = format!(
            "name the objects in it by a pattern: '{}'",
            url.with_key(&format!("{}*", url.key()))
        );
        return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message).with_hint(hint));
    }
    parsed(url, url.key())
}

/// Reads a key. 22023 for one with an empty part, `.`, `..`, or a control character.
fn parsed(url: &ObjectUrl, key: &str) -> Result<Path> {
    Path::parse(key).map_err(|_| {
        let message = format!(
            "\"{url}\" is not the address of an object: its key has a part that is empty, \".\" or \"..\", or a \
             control character"
        );
        Error::new(SqlState::INVALID_PARAMETER, message).with_hint("copy the object to a key without it")
    })
}
