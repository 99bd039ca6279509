//! Recovery: what the log has behind the manifest is done again on the tables that the manifest named: changes of a table in the order
//! of their commits, those of several tables beside each other (`replay.rs`), and between them, alone, what is not about rows.
//!
//! Nothing that a commit did is done twice: the manifest says with which commit it ends, and commits have their timestamps without a
//! gap. A record that does not fit is an error with its place in the log, and nothing is removed before all of them were
//! done. Indexes are built afterwards.

use crate::catalog_change::CatalogChange;
use crate::manifest::{ChunkRecord, Manifest};
use crate::opening::{Opening, OpeningProgress, OpeningStep};
use crate::replay::Dealer;
use crate::restore::{Restored, restore_named};
use crate::segment::open_segment;
use crate::wal::record::Record;
use crate::wal::{LogOpening, Visitor, WAY_OUT, Wal};
use frazil_catalog::Relation;
use frazil_storage::redo::{Change, LoadedBlock, changes_at, raw_changes};
use frazil_storage::{Lsn, Table, TableSnapshot};
use frazil_types::{Error, ObjectId, Result, SqlState};
use frazil_vfs::Vfs;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Commits, and bytes of one, after which who watches hears of it.
const COMMITS_UNWATCHED: u64 = 1 << 8;
const BYTES_UNWATCHED: usize = 1 << 20;

/// What was done again when a directory was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Commits.
    pub commits: u64,
    /// Rows that they inserted and deleted.
    pub rows: u64,
    /// Bytes of the log that say so.
    pub bytes: u64,
    /// How long opening took, indexes included.
    pub took: Duration,
}

/// A log that was opened, and how far it goes.
pub(crate) struct Recovered {
    pub wal: Wal,
    /// The end of the last commit.
    pub lsn: Lsn,
    /// Its timestamp.
    pub timestamp: u64,
    pub report: RecoveryReport,
}

/// Where the log of a directory lies.
pub(crate) fn log_path(directory: &Path) -> PathBuf {
    directory.join("log")
}

/// Opens the log of a directory and does again what its records say. XX001 for what is damaged, missing or does not fit.
pub(crate) fn recover(
    vfs: &Arc<dyn Vfs>,
    directory: &Path,
    restored: &mut Restored,
    opening: &Opening<'_>,
) -> Result<Recovered> {
    let Manifest {
        database,
        log: place,
        timestamp,
        ..
    } = restored.state.manifest;
    let path = log_path(directory);
    let (wal, replayed, timestamp, report) = std::thread::scope(|scope| {
        let tables = std::mem::take(&mut restored.tables);
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let mut replay = Replay {
            vfs: &**vfs,
            directory,
            restored: &mut *restored,
            dealer: Dealer::new(scope, tables, threads),
            timestamp,
            commits: 0,
            opening,
            path: &path,
            from: place.position.0,
            most: place.position.0,
        };
        let log = LogOpening {
            database,
            from: place.position,
            timestamp,
            access: opening.access,
            ends_at_damage: opening.salvages,
            options: opening.log,
        };
        let (wal, replayed) = Wal::open_for(vfs.clone(), &path, log, &mut replay)?;
        let tables = replay.dealer.rest().map_err(|e| replay.blame(e))?;
        let report = RecoveryReport {
            commits: replay.commits,
            rows: replay.dealer.rows(),
            bytes: replayed.position.0 - place.position.0,
            took: Duration::ZERO,
        };
        let timestamp = replay.timestamp;
        drop(replay);
        restored.tables = tables;
        Ok::<_, Error>((wal, replayed, timestamp, report))
    })?;
    let newest = replayed.generation();
    if newest < place.generation && !opening.salvages {
        return Err(Error::new(
            SqlState::DATA_CORRUPTED,
            format!(
                "the log in \"{}\" ends with generation {newest}, but the last checkpoint knew generation {}: a file is missing",
                path.display(),
                place.generation
            ),
        )
        .with_hint(WAY_OUT));
    }
    Ok(Recovered {
        wal,
        lsn: replayed.position,
        timestamp,
        report,
    })
}

/// What is being done again.
struct Replay<'a, 'scope, 'env> {
    vfs: &'a dyn Vfs,
    directory: &'a Path,
    /// What the log changes. The dealer has the tables.
    restored: &'a mut Restored,
    dealer: Dealer<'scope, 'env>,
    /// Of the last commit that was done.
    timestamp: u64,
    commits: u64,
    opening: &'a Opening<'a>,
    /// Of the log.
    path: &'a Path,
    /// The position that it begins with.
    from: u64,
    /// The position that it ends before.
    most: u64,
}

impl Visitor for Replay<'_, '_, '_> {
    fn begins(&mut self, most: Lsn) {
        self.most = most.0;
    }

    fn visit(&mut self, record: &Record<'_>) -> Result<()> {
        self.opening.cancel.check()?;
        self.record(record).map_err(|e| self.blame(e))?;
        if self.commits.is_multiple_of(COMMITS_UNWATCHED) || record.payload.len() >= BYTES_UNWATCHED {
            (self.opening.watch)(OpeningProgress {
                step: OpeningStep::Log,
                done: record.position - self.from,
                total: self.most.saturating_sub(self.from),
                commits: self.commits,
            });
        }
        Ok(())
    }
}

impl Replay<'_, '_, '_> {
    fn blame(&self, error: Error) -> Error {
        error.in_context(format!("log \"{}\"", self.path.display()))
    }

    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let blame = |e: Error| e.in_context(format!("position {}", record.position));
        if record.timestamp != self.timestamp + 1 {
            return Err(blame(Error::new(
                SqlState::DATA_CORRUPTED,
                format!(
                    "commit {} comes behind commit {}: one is missing",
                    record.timestamp, self.timestamp
                ),
            )));
        }
        self.timestamp = record.timestamp;
        self.commits += 1;
        let place = (record.position, record.timestamp);
        for change in raw_changes(record.payload) {
            let change = change.map_err(blame)?;
            let Some(table) = change.table else {
                self.restored.tables = self.dealer.rest()?;
                let mut changes = changes_at(change.bytes, change.offset);
                changes
                    .try_for_each(|change| self.alone(change?))
                    .map_err(blame)?;
                self.dealer.go_on(std::mem::take(&mut self.restored.tables));
                continue;
            };
            let is_there = self.dealer.change(table, place, change.bytes, change.offset)?;
            if !is_there {
                return Err(blame(is_missing(table)));
            }
        }
        Ok(())
    }

    /// A change that is done while no other one is.
    fn alone(&mut self, change: Change<'_>) -> Result<()> {
        match change {
            Change::Load { table, block } => self.load(table, &block),
            Change::Catalog(bytes) => match CatalogChange::from_bytes(bytes, &self.restored.catalog) {
                Some(change) => self.catalog(&change),
                None => Err(Error::new(
                    SqlState::DATA_CORRUPTED,
                    "a field of a change of the catalog is missing or of the wrong kind",
                )),
            },
            Change::Sequence { .. } => Err(Error::new(
                SqlState::DATA_CORRUPTED,
                "a commit did what this Frazil writes no record of",
            )),
            Change::Insert { .. }
            | Change::Delete { .. }
            | Change::Truncate(_)
            | Change::Removed { .. }
            | Change::Held(_) => Err(Error::internal("a table's own change was not dealt out")),
        }
    }

    /// A block that lies in a segment, which stays until a checkpoint has it.
    fn load(&mut self, id: ObjectId, block: &LoadedBlock) -> Result<()> {
        let Restored { tables, state, .. } = &mut *self.restored;
        let table = tables.get_mut(&id).ok_or_else(|| is_missing(id))?;
        let number = block.place.segment;
        if let Entry::Vacant(place) = state.segments.entry(number) {
            place.insert(open_segment(self.vfs, self.directory, number)?);
        }
        let record = ChunkRecord {
            number: block.chunk,
            hot: false,
            rows: block.rows,
            stale: false,
            columns: table.table().numbers().clone(),
            block: block.place,
            deleted: None,
        };
        let entry = restore_named(&state.segments, table.table(), &record)?;
        if entry
            .block()
            .is_none_or(|there| there.checksum() != block.checksum)
        {
            let other = Error::new(SqlState::DATA_CORRUPTED, "it is not the block that the log names");
            return Err(entry.blame(table.table().entry(), other));
        }
        state.places.add(&entry, record);
        self.dealer.count(u64::from(block.rows));
        table.replay_block(entry)
    }

    fn catalog(&mut self, change: &CatalogChange) -> Result<()> {
        let Restored { catalog, tables, .. } = &mut *self.restored;
        *catalog = change.apply(catalog);
        for id in &change.dropped {
            tables.remove(id);
        }
        for relation in &change.changed {
            let Relation::Table(entry) = relation else {
                continue;
            };
            match tables.get_mut(&entry.id) {
                Some(table) => table.replay_entry(entry.clone())?,
                None => {
                    let table = TableSnapshot::new(Table::new(entry.clone(), 0), Vec::new(), None);
                    tables.insert(entry.id, table);
                }
            }
        }
        Ok(())
    }
}

fn is_missing(id: ObjectId) -> Error {
    Error::new(SqlState::DATA_CORRUPTED, format!("table {} is not there", id.0))
}
