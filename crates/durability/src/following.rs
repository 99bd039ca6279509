//! Reading a directory that another process writes.
//!
//! # What a reader reads
//!
//! A reader takes no lock and no part of the directory is its own: it could be any process that may read the files, and
//! any number of them may be there, whether somebody writes, has died, or comes back. It opens the directory as
//! recovery does: the manifest names the blocks, the marks of deleted rows and the catalog of one commit, and the log
//! behind it has the commits since. All of that is there when the writer acknowledges a commit. Then, at the begin of
//! each statement, it reads what came to the log since the last one, and does that again on the versions that it has
//! shown, by the code of recovery, and shows all of it as one version ([`frazil_storage::Followed`]).
//!
//! # Why that is consistent
//!
//! 1. *A record is a commit, and counts behind the one before it alone* ([`crate::wal`]). So what a reader has done
//!    again is a prefix of the log's order, and a commit is there whole or not at all. A record of which a part is
//!    written is not there yet.
//! 2. *Timestamps of commits have no gap.* A commit that a checkpoint has in the place of the log is missed at once.
//! 3. *Whoever acknowledges a commit has written it to the log, or put a manifest in place that has it.* A statement
//!    looks at the end of the log and then at the manifest. If that has a later commit than the end of the log, it
//!    reads the log once more, and then moves there.
//! 4. *What is read is synced before it is shown* ([`crate::wal::tail`]): a power cut takes nothing back that somebody
//!    saw.
//! 5. *The segments that a manifest or a record names were durable before, and never change.* A segment that is mapped
//!    stays readable when its name is removed. One that is gone before it is mapped means that the manifest that named
//!    it is not the last one any more.
//!
//! # When the log is cut
//!
//! A checkpoint replaces the manifest first, and then gives up the log before it and the segments that nobody needs. A
//! reader that has followed to the end needs neither: it goes on. One that has slept finds that the log goes on
//! elsewhere than where it stands, and *moves*: it reads the manifest and the log anew, as when it opened, and shows
//! the result in the place of what it had. Statements that run go on with the version that they began with, because
//! segments stay mapped as long as versions name them. If the manifest is replaced once more while it is being read,
//! that is seen by what is missing, and reading begins again.
//!
//! The store stays the same one when a reader moves, so sessions, settings and caches do. Entries of the catalog are
//! new ones then, so kept plans are bound again.
//!
//! # How much memory
//!
//! Rows that came by the log are in hot chunks, as in the writer's memory, and nobody freezes them here. So each
//! manifest is looked through: a chunk that it has as a block, with the rows that are shown of the chunk, becomes that
//! block ([`frazil_storage::TableSnapshot::replay_frozen`]), which is in a mapped file; and a block whose segment the
//! manifest does not name any more is taken from the one that it names. A row that came to a slot later than the block
//! was written keeps the chunk hot until the next checkpoint. So a reader holds what the writer holds: the rows behind
//! the last checkpoint, indexes, and mapped files.
//!
//! # Published folders
//!
//! A published folder has a manifest and segments, and no log ([`crate::published_folder`]). A reader moves to each new
//! snapshot that PUBLISH puts in place of the one before, at the begin of its next statement.
//!
//! # Several sessions
//!
//! One session looks at a time ([`crate::looks`]), and it alone has the [`Place`]. Other sessions ask for what the last
//! look found ([`Facts`]), which is under a lock that nobody holds while he reads a file.
//!
//! # What is not done
//!
//! Sequences are logged some values ahead, so a reader sees one where a crash would leave it.
//!
//! A log that is damaged while it is followed looks as one whose writer is slow: the reader shows what came before the
//! damage, until a manifest has more. Opening the directory anew tells damage from the torn end of a log, because
//! nothing is being written then. Files of a network file system may vanish while they are mapped, or be seen late:
//! readers beside a writer belong on its machine.

use crate::kept_changes::KeptChanges;
use crate::looks::{Looks, Outcome};
use crate::manifest::{ChunkRecord, Manifest};
use crate::opening::Opening;
use crate::published_snapshot::PublishedSnapshot;
use crate::reading::{faults_of, read_manifest, restore_and_recover};
use crate::recovery::{Recovered, Shown, catch_up};
use crate::restore::Restored;
use crate::restored_chunk::restore_named;
use crate::segment::open_segment;
use crate::state::{State, named_segments};
use crate::wal::{DatabaseId, LogTail, Reached, WalPosition};
use frazil_storage::{Followed, Lsn, Store, TableSnapshot};
use frazil_types::{Cancel, Error, ObjectId, Result, SqlState};
use frazil_vfs::{Access, Vfs, io_error, stopped_by};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Most times that a directory is read anew because its manifest was replaced meanwhile: a writer that makes
/// checkpoints without a pause is faster once, and not each time.
const MOST_MANIFESTS: usize = 100;
/// Most times that it is read anew because something did not fit that may have been in the middle of being written.
const MOST_TRIES: u32 = 4;
/// Time between two looks at a published folder in an object store, where each look is a request that costs money and
/// some 30 ms.
const LEAST_LAG_ELSEWHERE: Duration = Duration::from_secs(1);
/// The first pause between two such tries. Each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Tells a manifest from those before and behind it: its first bytes, which have the checksum of the others, and its
/// length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark(Vec<u8>, u64);

/// Bytes of a mark: the first line, and some behind it.
const MARK: usize = 64;

impl Mark {
    /// The mark of the manifest that is there.
    fn of(vfs: &dyn Vfs, directory: &Path) -> Result<Option<Mark>> {
        let path = directory.join("manifest");
        let look = || {
            let file = vfs.open(&path, Access::Read)?;
            let mut bytes = vec![0; MARK];
            let read = file.read_at(0, &mut bytes)?;
            bytes.truncate(read);
            Ok::<_, io::Error>(Mark(bytes, file.len()?))
        };
        match look() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            looked => looked.map(Some).map_err(|e| io_error("read", &path, &e)),
        }
    }
}

/// A directory as it was read, with the mark of its manifest.
pub(crate) struct ReadDirectory {
    pub restored: Restored,
    pub recovered: Recovered,
    pub mark: Option<Mark>,
}

/// Reads a directory that somebody else may write meanwhile: the last manifest and the log behind it.
pub(crate) fn read_beside_writer(
    vfs: &Arc<dyn Vfs>,
    path: &Path,
    opening: &Opening<'_>,
) -> Result<ReadDirectory> {
    let (mut manifests, mut tries) = (0, 0);
    loop {
        opening.cancel.check()?;
        let mark = Mark::of(&**vfs, path)?;
        let read = read_manifest(&**vfs, path)
            .and_then(|manifest| restore_and_recover(vfs, path, manifest, opening));
        let fault = match &read {
            Ok((restored, _)) if restored.state.damaged.is_empty() => None,
            // Tables that the manifest itself says are damaged stay so.
            Ok(_) => Some(SqlState::DATA_CORRUPTED),
            Err(error) => Some(error.state()),
        };
        let is_torn = fault.is_some_and(SqlState::is_damage);
        if is_torn && Mark::of(&**vfs, path)? != mark && manifests < MOST_MANIFESTS {
            manifests += 1;
            continue;
        }
        if is_torn && mark.is_some() && tries < MOST_TRIES {
            std::thread::sleep(FIRST_PAUSE * (1 << tries));
            tries += 1;
            continue;
        }
        let (restored, recovered) = read?;
        return Ok(ReadDirectory {
            restored,
            recovered,
            mark,
        });
    }
}

/// A reader of a directory that another process writes.
#[derive(Debug)]
pub(crate) struct Following {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    looks: Looks,
    /// Locked by the session whose turn it is to look.
    place: Mutex<Place>,
    facts: Mutex<Facts>,
    /// Number of times that the log was found cut.
    moves: AtomicU64,
    /// As [`Opening::without_indexes`] said.
    without_indexes: bool,
}

/// The place that a reader has reached.
struct Place {
    /// Without tables: the store has them.
    restored: Restored,
    tail: LogTail,
    /// The mark of the manifest that was read last.
    mark: Option<Mark>,
    /// A manifest whose blocks are to be taken over, once there is a next version to show.
    coming: Option<Manifest>,
    /// The tables of the store cannot be followed: the directory is read anew.
    is_lost: bool,
}

/// Facts about the place that a reader has reached.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// The end of what was read of the log.
    position: WalPosition,
    /// The place at which the log goes on behind the manifest that was read last.
    manifest_lsn: Lsn,
    /// The published snapshot that is shown.
    published: Option<PublishedSnapshot>,
    database: DatabaseId,
}

impl Facts {
    fn of(place: &Place) -> Facts {
        let shown = &place.restored.state.manifest;
        let last = place.coming.as_ref().unwrap_or(shown);
        Facts {
            position: place.tail.reached(),
            manifest_lsn: last.log.position,
            published: shown.published,
            database: shown.database,
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place")
            .field("tail", &self.tail)
            .finish_non_exhaustive()
    }
}

impl Following {
    /// Goes on behind what was read of a directory and is shown by a store. `looked`: when reading began.
    pub fn behind(
        vfs: &Arc<dyn Vfs>,
        path: &Path,
        read: (Restored, LogTail, Option<Mark>),
        store: &Store,
        looked: Instant,
    ) -> Following {
        let (restored, tail, mark) = read;
        let place = Place {
            restored: of_store(restored, store),
            tail,
            mark,
            coming: None,
            is_lost: false,
        };
        Following {
            vfs: vfs.clone(),
            path: path.to_path_buf(),
            looks: Looks::since(looked),
            facts: Mutex::new(Facts::of(&place)),
            place: Mutex::new(place),
            moves: AtomicU64::new(0),
            without_indexes: false,
        }
    }

    /// Leaves indexes out from now on if an opening says so.
    pub fn with_indexes_of(self, opening: &Opening<'_>) -> Following {
        Following {
            without_indexes: !opening.builds_indexes(),
            ..self
        }
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Number of times that the directory was read anew since it was opened, because the log was cut.
    pub fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// The end of what was read of the log.
    pub fn position(&self) -> WalPosition {
        self.facts().position
    }

    /// The id of the database that the directory holds.
    pub fn database(&self) -> DatabaseId {
        self.facts().database
    }

    /// The place at which the log goes on behind the manifest that was read last.
    pub fn manifest_lsn(&self) -> Lsn {
        self.facts().manifest_lsn
    }

    /// The published snapshot that is shown.
    pub fn published(&self) -> Option<PublishedSnapshot> {
        self.facts().published
    }

    /// True if a look is a request over a network.
    pub fn is_elsewhere(&self) -> bool {
        self.vfs.is_elsewhere()
    }

    /// Shows in a store what was durable when this was called, or `lag` before.
    /// A directory in an object store is looked at once a second at most.
    pub fn follow(&self, store: &Store, lag: Duration, cancel: &Cancel) -> Result<()> {
        let lag = match self.is_elsewhere() {
            true => lag.max(LEAST_LAG_ELSEWHERE),
            false => lag,
        };
        let Some(turn) = self.looks.turn(lag, cancel)? else {
            return Ok(());
        };
        let mut place = self.place.lock().unwrap_or_else(|e| e.into_inner());
        let looked = cancel.during(|| self.look(&mut place, store, cancel));
        *self.facts() = Facts::of(&place);
        // A published snapshot is replaced as a whole, so a failure leaves the one that is shown.
        let is_whole = !place.is_lost || self.is_elsewhere();
        drop(place);
        turn.end(match looked.clone() {
            Ok(()) => Outcome::Seen,
            Err(error) if is_whole => Outcome::Failed(error),
            Err(error) => Outcome::Lost(error),
        });
        looked
    }

    fn look(&self, place: &mut Place, store: &Store, cancel: &Cancel) -> Result<()> {
        let opening = Opening {
            cancel: cancel.clone(),
            without_indexes: self.without_indexes,
            ..Opening::to(Access::Read)
        };
        let vfs = stopped_by(&self.vfs, cancel);
        for _ in 0..MOST_MANIFESTS {
            if place.is_lost || self.catch_up(place, store, &opening)? == Reached::Cut {
                self.move_to_manifest(place, store, &opening)?;
            }
            let mark = Mark::of(&*vfs, &self.path)?;
            if mark == place.mark {
                return Ok(());
            }
            // The manifest may be replaced once more until it is read; the one that is read is not older.
            let manifest = read_manifest(&*vfs, &self.path)?;
            if manifest.database != place.restored.state.manifest.database {
                return Err(self.other_database());
            }
            if manifest.published != place.restored.state.manifest.published {
                // A published folder has no log: what came is in the manifest alone.
                place.is_lost = true;
                continue;
            }
            if manifest.timestamp > store.snapshot().timestamp() {
                // The log may have been written up to there since its end was looked at.
                let reached = self.catch_up(place, store, &opening)?;
                if reached == Reached::Cut || manifest.timestamp > store.snapshot().timestamp() {
                    place.is_lost = true;
                    continue;
                }
            }
            place.coming = Some(manifest);
            place.mark = mark;
        }
        Err(Error::new(
            SqlState::OBJECT_IN_USE,
            format!(
                "the checkpoints of database directory \"{}\" come faster than it can be read",
                self.path.display()
            ),
        )
        .with_hint("set max_wal_size and checkpoint_timeout to more where it is written"))
    }

    fn other_database(&self) -> Error {
        let path = self.path.display();
        Error::new(
            SqlState::OBJECT_IN_USE,
            format!("database directory \"{path}\" holds another database than when it was opened"),
        )
        .with_hint("close it and open it again")
    }

    /// Shows what came to the log.
    fn catch_up(&self, place: &mut Place, store: &Store, opening: &Opening<'_>) -> Result<Reached> {
        if self.vfs.is_elsewhere() && !place.is_lost {
            // A published folder has no log.
            return Ok(Reached::End);
        }
        let version = store.snapshot();
        let shown = Shown {
            store,
            version: &version,
        };
        let from = (&*self.vfs, self.path.as_path());
        let caught = catch_up(from, shown, &mut place.restored, &mut place.tail, opening);
        let damaged = place.restored.state.damaged.values_mut();
        damaged.for_each(|table| table.changes = KeptChanges::default());
        let (reached, followed) = match caught {
            Ok(caught) => caught,
            // The directory is read anew if something does not fit: a commit may be in the manifest alone, and a table
            // may be damaged.
            Err(error) if error.state().is_damage() => {
                place.is_lost = true;
                return Ok(Reached::Cut);
            }
            Err(error) => {
                place.is_lost = true;
                return Err(error);
            }
        };
        if let Some(mut followed) = followed {
            if let Some(manifest) = place.coming.take() {
                place.take_blocks((&*self.vfs, &self.path), shown, manifest, &mut followed);
            }
            store.show_followed(&version, followed);
        }
        Ok(reached)
    }

    /// Reads the directory anew, and shows what it has.
    fn move_to_manifest(&self, place: &mut Place, store: &Store, opening: &Opening<'_>) -> Result<()> {
        place.is_lost = true;
        let vfs = stopped_by(&self.vfs, &opening.cancel);
        let read = read_beside_writer(&vfs, &self.path, opening)?;
        let ReadDirectory {
            mut restored,
            recovered,
            mark,
        } = read;
        let Some(tail) = recovered.tail else {
            return Err(Error::internal("a log that is read has no end"));
        };
        if restored.state.manifest.database != place.restored.state.manifest.database {
            return Err(self.other_database());
        }
        let tables = std::mem::take(&mut restored.tables);
        let faults = faults_of(&restored.catalog, &restored.state);
        store.show_restored(
            restored.catalog.clone(),
            (recovered.lsn, recovered.timestamp),
            tables.into_values().collect(),
            faults,
        );
        *place = Place {
            restored: of_store(restored, store),
            tail,
            mark,
            coming: None,
            is_lost: false,
        };
        *self.facts() = Facts::of(place);
        self.moves.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// A directory as it was read, with the catalog that a store made of it.
fn of_store(restored: Restored, store: &Store) -> Restored {
    Restored {
        catalog: (**store.snapshot().catalog()).clone(),
        tables: BTreeMap::new(),
        ..restored
    }
}

impl Place {
    /// Takes blocks of a manifest into the version that is shown next, in the place of the chunks whose rows they have.
    /// A chunk whose block cannot be read stays as it is: the manifest may have been replaced since.
    fn take_blocks(
        &mut self,
        (vfs, directory): (&dyn Vfs, &Path),
        shown: Shown<'_>,
        manifest: Manifest,
        followed: &mut Followed,
    ) {
        let named = named_segments(&manifest);
        let last = manifest.last_segment;
        self.restored
            .state
            .segments
            .retain(|number, _| named.contains(number) || *number > last);
        let mut next: HashMap<ObjectId, TableSnapshot> = (followed.tables.drain(..))
            .map(|table| (table.table().id(), table))
            .collect();
        for record in &manifest.tables {
            let id = record.entry.id;
            let state = &mut self.restored.state;
            let Some(now) = next
                .get(&id)
                .or(shown.version.table(id).ok().map(|table| &**table))
            else {
                continue;
            };
            let is_wanted = |chunk: &&ChunkRecord| {
                let entry = now
                    .entry(chunk.number)
                    .filter(|entry| *entry.stored() == chunk.columns);
                !chunk.hot
                    && entry.is_some_and(|entry| {
                        entry.is_hot() || state.places.block_of(entry) != Some(chunk.block)
                    })
            };
            let wanted: Vec<&ChunkRecord> = record.chunks.iter().filter(is_wanted).collect();
            if wanted.is_empty() {
                continue;
            }
            let version = next.remove(&id);
            let version = version.or_else(|| shown.store.version_to_follow(shown.version, id));
            let Some(mut version) = version else { continue };
            for chunk in wanted {
                take_block(state, (vfs, directory), &mut version, chunk);
            }
            next.insert(id, version);
        }
        followed.tables = next.into_values().collect();
        self.restored.state.places.forget_gone();
        self.restored.state.manifest = manifest;
    }
}

/// Puts the block of a chunk in the place of the chunk, if it can be read and has the chunk's rows.
fn take_block(
    state: &mut State,
    (vfs, directory): (&dyn Vfs, &Path),
    version: &mut TableSnapshot,
    chunk: &ChunkRecord,
) {
    let deleted = chunk.deleted.map(|(place, _)| place.segment);
    for number in std::iter::once(chunk.block.segment).chain(deleted) {
        if let Entry::Vacant(place) = state.segments.entry(number) {
            let Ok(file) = open_segment(vfs, directory, number) else {
                return;
            };
            place.insert(file);
        }
    }
    let block = restore_named(&state.segments, version.table(), chunk);
    if let Ok(block) = block
        && version.replay_frozen(&block)
    {
        state.places.add_block(block.identity(), chunk.clone());
    }
}
