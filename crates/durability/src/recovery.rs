//! Recovery: what the log has behind the manifest is done again, commit after commit, on the tables that the manifest named.
//!
//! Nothing that a commit did is done twice: the manifest says with which commit it ends, and commits have their timestamps without a
//! gap. A record that does not fit is an error with its place in the log, and nothing is removed before all of them were
//! done. Indexes are built afterwards.

use crate::catalog_change::CatalogChange;
use crate::manifest::{ChunkRecord, Manifest};
use crate::restore::{Restored, restore_named};
use crate::segment::open_segment;
use crate::wal::record::Record;
use crate::wal::{Wal, WalOptions};
use frazil_catalog::Relation;
use frazil_storage::redo::{Change, LoadedBlock, RedoColumns, changes};
use frazil_storage::{Lsn, Table, TableSnapshot};
use frazil_types::{Error, LogicalType, ObjectId, Result, RowId, SqlState};
use frazil_vfs::Vfs;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was done again when a directory was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Commits.
    pub commits: u64,
    /// Rows that they inserted and deleted.
    pub rows: u64,
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
    options: WalOptions,
) -> Result<Recovered> {
    let Manifest {
        database,
        log: place,
        timestamp,
        ..
    } = restored.state.manifest;
    let path = log_path(directory);
    let mut replay = Replay {
        vfs: &**vfs,
        directory,
        restored,
        timestamp,
        report: RecoveryReport::default(),
    };
    let begin = (place.position, timestamp);
    let (wal, replayed) = Wal::open(vfs.clone(), &path, database, begin, options, &mut |record| {
        replay.record(record).map_err(|e| {
            e.in_context(format!(
                "log \"{}\", position {}",
                path.display(),
                record.position
            ))
        })
    })?;
    let newest = replayed.generation();
    if newest < place.generation {
        return Err(Error::new(
            SqlState::DATA_CORRUPTED,
            format!(
                "the log in \"{}\" ends with generation {newest}, but the last checkpoint knew generation {}: a file is missing",
                path.display(),
                place.generation
            ),
        )
        .with_hint("restore it from a copy of the directory"));
    }
    Ok(Recovered {
        wal,
        lsn: replayed.position,
        timestamp: replay.timestamp,
        report: replay.report,
    })
}

/// What is being done again.
struct Replay<'a> {
    vfs: &'a dyn Vfs,
    directory: &'a Path,
    restored: &'a mut Restored,
    /// Of the last commit that was done.
    timestamp: u64,
    report: RecoveryReport,
}

impl Replay<'_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        if record.timestamp != self.timestamp + 1 {
            return Err(Error::new(
                SqlState::DATA_CORRUPTED,
                format!(
                    "commit {} comes behind commit {}: one is missing",
                    record.timestamp, self.timestamp
                ),
            ));
        }
        self.timestamp = record.timestamp;
        self.report.commits += 1;
        changes(record.payload).try_for_each(|change| self.change(change?))
    }

    fn change(&mut self, change: Change<'_>) -> Result<()> {
        match change {
            Change::Insert {
                table,
                first,
                columns,
            } => self.insert(table, first, columns),
            Change::Delete { table, rows } => {
                self.report.rows += rows.len() as u64;
                let timestamp = self.timestamp;
                self.table(table)?.replay_delete(&rows, timestamp)
            }
            Change::Truncate(table) => {
                self.table(table)?.replay_truncate();
                Ok(())
            }
            Change::Catalog(bytes) => match CatalogChange::from_bytes(bytes) {
                Some(change) => self.catalog(&change),
                None => Err(Error::new(
                    SqlState::DATA_CORRUPTED,
                    "a field of a change of the catalog is missing or of the wrong kind",
                )),
            },
            // Blocks that no checkpoint has are built again when their rows are cold.
            Change::Held(_) => Ok(()),
            Change::Load { table, block } => self.load(table, &block),
            Change::Removed { table, chunks } => {
                self.table(table)?.replay_removed(&chunks);
                Ok(())
            }
            Change::Sequence { .. } => Err(Error::new(
                SqlState::DATA_CORRUPTED,
                "a commit did what this Frazil writes no record of",
            )),
        }
    }

    fn insert(&mut self, table: ObjectId, first: RowId, columns: RedoColumns<'_>) -> Result<()> {
        self.report.rows += columns.rows() as u64;
        let timestamp = self.timestamp;
        let table = self.table(table)?;
        let types: Vec<LogicalType> = table.schema().columns.iter().map(|c| c.ty).collect();
        table.replay_insert(first, &columns.read(&types)?, timestamp)
    }

    /// A block that lies in a segment, which stays until a checkpoint has it.
    fn load(&mut self, id: ObjectId, block: &LoadedBlock) -> Result<()> {
        self.report.rows += u64::from(block.rows);
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
        state.places.add(&entry, record);
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

    fn table(&mut self, id: ObjectId) -> Result<&mut TableSnapshot> {
        (self.restored.tables.get_mut(&id)).ok_or_else(|| is_missing(id))
    }
}

fn is_missing(id: ObjectId) -> Error {
    Error::new(SqlState::DATA_CORRUPTED, format!("table {} is not there", id.0))
}
