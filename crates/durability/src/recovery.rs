//! Recovery: what the log has behind the manifest is done again on the tables that the manifest named: changes of a table in the order
//! of their commits, those of several tables beside each other (`replay.rs`), and between them, alone, what is not about rows.
//!
//! Nothing that a commit did is done twice: the manifest says with which commit it ends, and commits have their timestamps without a
//! gap. A record that does not fit is an error with its place in the log, and nothing is removed before all of them were
//! done. Indexes are built afterwards.
//!
//! A reader beside a writer does again what comes to the log later, by the same code ([`catch_up`]): on the tables that
//! it has shown so far, each of which is taken in when its first change comes.
//!
//! Changes of a table that cannot be read are kept for it ([`crate::kept_changes`]). A table whose changes cannot be
//! done again is one: recovery begins anew without it.

use crate::catalog_change::CatalogChange;
use crate::damaged::DamagedTable;
use crate::kept_changes::{KeptChange, kept_changes};
use crate::manifest::{ChunkRecord, Manifest, TableRecord};
use crate::opening::{Opening, OpeningProgress, OpeningStep};
use crate::replay::Dealer;
use crate::restore::Restored;
use crate::restored_chunk::restore_named;
use crate::segment::{open_segment, redo_in};
use crate::state::State;
use crate::wal::record::Record;
use crate::wal::{BESIDE_COMMITS, LogOpening, LogTail, Reached, Replayed, Visitor, WAY_OUT, Wal};
use frazil_catalog::{Position, Relation, TableEntry};
use frazil_storage::redo::{Change, LoadedBlock, RawChange, changes_at, raw_changes};
use frazil_storage::{Followed, Lsn, RedoPlace, SegmentPlace, Snapshot, Store, Table, TableSnapshot};
use frazil_types::{Error, MemoryBudget, ObjectId, Result, SqlState};
use frazil_vfs::{Access, MappedFile, Vfs};
use std::collections::HashSet;
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
    /// The place at which it goes on, for somebody who reads beside a writer.
    pub tail: Option<LogTail>,
}

/// Where the log of a directory lies.
pub(crate) fn log_path(directory: &Path) -> PathBuf {
    directory.join("log")
}

/// Why a log was not done again.
pub(crate) enum Failure {
    /// The changes of this table cannot be done again.
    Table(ObjectId, Error),
    /// The log cannot be read, or the system lacks what it takes.
    All(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::All(error)
    }
}

/// Opens the log of a directory and does again what its records say. XX001 for what is damaged, missing or does not fit.
pub(crate) fn recover(
    vfs: &Arc<dyn Vfs>,
    directory: &Path,
    restored: &mut Restored,
    opening: &Opening<'_>,
) -> Result<Recovered, Failure> {
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
            restated: HashSet::new(),
            dealer: Dealer::new(scope, tables, threads, opening.salvages),
            shown: None,
            has_other_catalog: false,
            fault: None,
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
        let done = (replay.kept_changes())
            .and_then(|()| Wal::open_for(vfs.clone(), &path, log, &mut replay))
            .and_then(|(wal, replayed)| {
                let tables = replay.dealer.rest().map_err(|e| replay.blame(e))?;
                Ok((wal, replayed, tables))
            });
        let (wal, replayed, tables) = match done {
            Ok(done) => done,
            Err(error) => return Err(replay.failure(error)),
        };
        replay.tell_losses(&replayed);
        let report = replay.report(replayed.position.0 - place.position.0);
        let timestamp = replay.timestamp;
        drop(replay);
        restored.tables = tables;
        Ok::<_, Failure>((wal, replayed, timestamp, report))
    })?;
    if !opening.salvages {
        check_generation(&path, replayed.generation(), place.generation)?;
    }
    let tail = || LogTail::behind(vfs, &path, database, &replayed);
    Ok(Recovered {
        tail: (opening.access == Access::Read).then(tail),
        wal,
        lsn: replayed.position,
        timestamp,
        report,
    })
}

/// The version that a reader has shown so far.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub store: &'a Store,
    pub version: &'a Snapshot,
}

/// Does again what came to a log since it was read, on top of what was shown, and gives what is to be shown next;
/// `None` if no commit came. With [`Reached::Cut`] nothing is to be shown. After an error, what was shown stays, and
/// cannot be followed any further.
pub(crate) fn catch_up(
    (vfs, directory): (&dyn Vfs, &Path),
    shown: Shown<'_>,
    restored: &mut Restored,
    tail: &mut LogTail,
    opening: &Opening<'_>,
) -> Result<(Reached, Option<Followed>)> {
    let path = log_path(directory);
    // A writer may go on all the while: what it had written when this began is enough.
    let (reached, end) = tail.look_ahead()?;
    if reached == Reached::Cut || end == tail.position() {
        return Ok((reached, None));
    }
    std::thread::scope(|scope| {
        let from = tail.position().0;
        let timestamp = shown.version.timestamp();
        let mut replay = Replay {
            vfs,
            directory,
            restored: &mut *restored,
            restated: HashSet::new(),
            // Statements of other sessions use the other cores meanwhile.
            dealer: Dealer::new(scope, Default::default(), 1, false),
            shown: Some(shown),
            has_other_catalog: false,
            fault: None,
            timestamp,
            commits: 0,
            opening,
            path: &path,
            from,
            most: from,
        };
        let reached = tail.read_on(end, &mut replay)?;
        let mut tables = replay.dealer.rest().map_err(|e| replay.blame(e))?;
        if reached == Reached::Cut || replay.commits == 0 {
            return Ok((reached, None));
        }
        let indexed = tables.values_mut().filter(|_| opening.builds_indexes());
        for table in indexed {
            table.build_indexes(&opening.cancel, &mut MemoryBudget::unlimited().reservation())?;
        }
        let followed = Followed {
            catalog: replay.has_other_catalog.then(|| replay.restored.catalog.clone()),
            lsn: tail.position(),
            timestamp: replay.timestamp,
            tables: tables.into_values().collect(),
        };
        Ok((reached, Some(followed)))
    })
}

/// XX001 if the newest file of a log is older than the last checkpoint knew.
fn check_generation(path: &Path, newest: u64, known: u64) -> Result<()> {
    if newest >= known {
        return Ok(());
    }
    Err(Error::new(
        SqlState::DATA_CORRUPTED,
        format!(
            "the log in \"{}\" ends with generation {newest}, but the last checkpoint knew generation {known}: a file is missing",
            path.display(),
        ),
    )
    .with_hint(WAY_OUT))
}

/// What is being done again.
struct Replay<'a, 'scope, 'env> {
    vfs: &'a dyn Vfs,
    directory: &'a Path,
    /// What the log changes. The dealer has the tables.
    restored: &'a mut Restored,
    dealer: Dealer<'scope, 'env>,
    /// The tables that were not changed yet, for somebody who reads beside a writer.
    shown: Option<Shown<'a>>,
    has_other_catalog: bool,
    /// The table whose change failed that concerns it alone, and was done by this thread.
    fault: Option<ObjectId>,
    /// Of the last commit that was done.
    timestamp: u64,
    commits: u64,
    /// Sequences of which a commit of the log says where they stand.
    restated: HashSet<ObjectId>,
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

    /// Tells what was left out by those who salvage.
    fn tell_losses(&mut self, replayed: &Replayed) {
        let failed = self.dealer.take_failed();
        let log = self.path.display();
        let Restored { catalog, losses, .. } = &mut *self.restored;
        let Some(losses) = losses else { return };
        if let Some(damage) = &replayed.damage {
            losses.add(None, format!("commits are left out: {}", damage.message()));
        }
        for (id, why) in failed {
            let name = catalog.table_by_id(id).map(|entry| entry.name.as_str());
            losses.add(
                name,
                format!(
                    "what comes then in the log is left out: log \"{log}\": {}",
                    why.message()
                ),
            );
        }
    }

    /// Goes on behind something that failed, if that is told and left out. Otherwise returns the error.
    fn leave_out(&mut self, table: ObjectId, error: Error) -> Result<()> {
        let Restored { catalog, losses, .. } = &mut *self.restored;
        match losses {
            Some(losses) if error.state().is_of_data() => {
                let name = catalog.table_by_id(table).map(|entry| entry.name.as_str());
                losses.add(
                    name,
                    format!("a change in the log is left out: {}", error.message()),
                );
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// Tells whether an error that ended the work concerns one table.
    fn failure(&self, error: Error) -> Failure {
        match self.fault.or_else(|| self.dealer.failed_table()) {
            Some(table) if error.state().is_damage() => Failure::Table(table, error),
            _ => Failure::All(error),
        }
    }

    /// Does again the changes that tables have beside their chunks: they came before those of the log.
    fn kept_changes(&mut self) -> Result<()> {
        let tables = self.restored.state.manifest.tables.iter();
        let tables = tables.filter_map(|t| Some((t.entry.id, t.behind.clone()?)));
        for (id, behind) in tables.collect::<Vec<_>>() {
            if !self.dealer.has(id) {
                continue;
            }
            self.fault = Some(id);
            let mut kept = Vec::new();
            for (place, crc) in &behind.places {
                kept.push(kept_bytes(&self.restored.state, place, *crc)?);
            }
            for bytes in &kept {
                kept_changes(bytes)?
                    .into_iter()
                    .try_for_each(|change| self.kept_change(id, &change))?;
            }
            let mut tables = self.dealer.rest()?;
            let entry = self.restored.catalog.table_by_id(id);
            if let (Some(table), Some(entry)) = (tables.get_mut(&id), entry) {
                table.replay_entry(entry.clone())?;
            }
            self.dealer.go_on(tables);
            self.fault = None;
        }
        Ok(())
    }

    /// Does a change of a table again that was kept for it. The catalog has it already.
    fn kept_change(&mut self, id: ObjectId, change: &KeptChange<'_>) -> Result<()> {
        for raw in raw_changes(change.bytes) {
            let raw = raw?;
            if raw.table.is_some() {
                self.dealer.change(id, change.place, raw.bytes, change.offset)?;
                continue;
            }
            self.restored.tables = self.dealer.rest()?;
            for change in changes_at(raw.bytes, change.offset) {
                match change? {
                    Change::Load { table, block } => self.load(table, &block)?,
                    Change::Catalog(bytes) => {
                        let change = self.catalog_change(bytes)?;
                        let entry = change.changed.iter().find_map(|relation| match relation {
                            Relation::Table(entry) if entry.id == id => Some(entry.clone()),
                            Relation::Table(_) | Relation::View(_) => None,
                        });
                        if let (Some(entry), Some(table)) = (entry, self.restored.tables.get_mut(&id)) {
                            table.replay_entry(entry)?;
                        }
                    }
                    _ => {
                        return Err(Error::new(
                            SqlState::DATA_CORRUPTED,
                            "a change of another kind was kept",
                        ));
                    }
                }
            }
            self.dealer.go_on(std::mem::take(&mut self.restored.tables));
        }
        Ok(())
    }

    /// Begins a table that the log makes as a damaged one, if it is one; false if it is not.
    fn begin_damaged(&mut self, entry: &TableEntry) -> bool {
        let Some(fault) = self.restored.faults.get(&entry.id) else {
            return false;
        };
        let record = TableRecord {
            entry: entry.clone(),
            next_chunk: 0,
            distinct: None,
            chunks: Vec::new(),
            behind: None,
        };
        let damaged = DamagedTable::of_record(&record, fault);
        self.restored.state.damaged.insert(entry.id, damaged);
        true
    }

    fn catalog_change(&self, bytes: &[u8]) -> Result<CatalogChange> {
        CatalogChange::from_bytes(bytes, &self.restored.catalog)
            .map_err(|what| Error::new(SqlState::DATA_CORRUPTED, what))
    }

    /// Keeps a change of a table that is damaged; false if the table is not.
    fn keep(&mut self, table: ObjectId, place: (u64, u64), raw: &RawChange<'_>) -> bool {
        let Some(damaged) = self.restored.state.damaged.get_mut(&table) else {
            return false;
        };
        damaged.changes.add(&KeptChange {
            place,
            offset: raw.offset,
            bytes: raw.bytes,
        });
        true
    }

    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let blame = |e: Error| e.in_context(format!("position {}", record.position));
        if record.timestamp == BESIDE_COMMITS {
            return self.beside(record).map_err(blame);
        }
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
            match elsewhere(&change).map_err(blame)? {
                Some(redo) => self.elsewhere(&redo, place)?,
                None => self.change(&change, place)?,
            }
        }
        Ok(())
    }

    /// Does the changes of a commit again that are in a segment, which stays until a checkpoint has the commit.
    fn elsewhere(&mut self, redo: &RedoPlace, place: (u64, u64)) -> Result<()> {
        let blame = |e: Error| e.in_context(format!("position {}", place.0));
        let segment = self.segment(redo.place.segment).map_err(blame)?;
        let bytes = redo_in(&segment, redo).map_err(blame)?;
        *self.restored.state.redo.entry(redo.place.segment).or_default() += redo.place.bytes;
        for change in raw_changes(bytes) {
            self.change(&change.map_err(blame)?, place)?;
        }
        Ok(())
    }

    /// Does a change of a commit again.
    fn change(&mut self, change: &RawChange<'_>, place: (u64, u64)) -> Result<()> {
        let blame = |e: Error| e.in_context(format!("position {}", place.0));
        let Some(table) = change.table else {
            self.restored.tables = self.dealer.rest()?;
            let mut changes = changes_at(change.bytes, change.offset);
            changes
                .try_for_each(|read| self.alone(read?, place, change))
                .map_err(blame)?;
            self.dealer.go_on(std::mem::take(&mut self.restored.tables));
            return Ok(());
        };
        if !self.dealer.has(table)
            && let Some(version) = self.shown_version(table)
        {
            self.dealer.take_in(table, version);
        }
        let is_there =
            self.dealer.change(table, place, change.bytes, change.offset)? || self.keep(table, place, change);
        match is_there {
            true => Ok(()),
            false => Err(blame(is_missing(table))),
        }
    }

    /// The commits and rows that were done again, of `bytes` bytes of the log.
    fn report(&self, bytes: u64) -> RecoveryReport {
        RecoveryReport {
            commits: self.commits,
            rows: self.dealer.rows(),
            bytes,
            took: Duration::ZERO,
        }
    }

    /// The version of a table that was shown, to be changed.
    fn shown_version(&self, table: ObjectId) -> Option<TableSnapshot> {
        let Shown { store, version } = self.shown?;
        store.version_to_follow(version, table)
    }

    /// Takes in a table that was shown, while no table is being changed.
    fn take_in(&mut self, table: ObjectId) {
        if !self.restored.tables.contains_key(&table)
            && let Some(version) = self.shown_version(table)
        {
            self.restored.tables.insert(table, version);
        }
    }

    /// A segment, which is opened if it is not open.
    fn segment(&mut self, number: u64) -> Result<Arc<MappedFile>> {
        match self.restored.state.segments.entry(number) {
            Entry::Occupied(open) => Ok(open.get().clone()),
            Entry::Vacant(place) => {
                let segment = open_segment(self.vfs, self.directory, number)?;
                Ok(place.insert(segment).clone())
            }
        }
    }

    /// A sequence stands at a position, unless a commit has dropped it.
    fn sequence(&self, sequence: ObjectId, position: Position) {
        if let Some(entry) = self.restored.catalog.sequence_of(sequence) {
            entry.state.replay(position);
        }
    }

    /// A record that is not of a commit: it says where sequences stand. The manifest knows it better if it was written
    /// later, unless a commit since then says where the sequence stands.
    fn beside(&mut self, record: &Record<'_>) -> Result<()> {
        let is_known = record.position < self.restored.state.manifest.sequences_at.0;
        for change in changes_at(record.payload, 0) {
            match change? {
                Change::Sequence { sequence, .. } if is_known && !self.restated.contains(&sequence) => {}
                Change::Sequence { sequence, position } => self.sequence(sequence, position),
                _ => {
                    return Err(Error::new(
                        SqlState::DATA_CORRUPTED,
                        "a record that is not of a commit says what only a commit can do",
                    ));
                }
            }
        }
        Ok(())
    }

    /// A change that is done while no other one is.
    fn alone(&mut self, change: Change<'_>, place: (u64, u64), raw: &RawChange<'_>) -> Result<()> {
        match change {
            Change::Load { table, block } => {
                if self.keep(table, place, raw) {
                    let damaged = self.restored.state.damaged.get_mut(&table).into_iter();
                    damaged.for_each(|damaged| damaged.changes.segments.extend([block.place.segment]));
                    return Ok(());
                }
                self.fault = Some(table);
                let loaded = self.load(table, &block);
                loaded.or_else(|error| self.leave_out(table, error))?;
                self.fault = None;
                Ok(())
            }
            Change::Catalog(bytes) => {
                let change = self.catalog_change(bytes)?;
                self.catalog(&change, place, raw)
            }
            Change::Elsewhere(_) => Err(Error::new(
                SqlState::DATA_CORRUPTED,
                "redo in a segment names redo in another place",
            )),
            Change::Sequence { sequence, position } => {
                self.restated.insert(sequence);
                self.sequence(sequence, position);
                Ok(())
            }
            Change::Insert { .. }
            | Change::Delete { .. }
            | Change::Truncate(_)
            | Change::Removed { .. }
            | Change::Filled { .. }
            | Change::Held(_) => Err(Error::internal("a table's own change was not dealt out")),
        }
    }

    /// A block that lies in a segment, which stays until a checkpoint has it.
    fn load(&mut self, id: ObjectId, block: &LoadedBlock) -> Result<()> {
        self.take_in(id);
        if !self.restored.tables.contains_key(&id) {
            return Err(is_missing(id));
        }
        self.segment(block.place.segment)?;
        let Restored { tables, state, .. } = &mut *self.restored;
        let table = tables.get_mut(&id).ok_or_else(|| is_missing(id))?;
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

    fn catalog(&mut self, change: &CatalogChange, place: (u64, u64), raw: &RawChange<'_>) -> Result<()> {
        self.restored.catalog = change.apply(&self.restored.catalog);
        self.has_other_catalog = true;
        for id in &change.dropped {
            self.restored.tables.remove(id);
            self.restored.state.damaged.remove(id);
        }
        for relation in &change.changed {
            let Relation::Table(entry) = relation else {
                continue;
            };
            if self.keep(entry.id, place, raw) || self.begin_damaged(entry) {
                continue;
            }
            self.take_in(entry.id);
            let tables = &mut self.restored.tables;
            match tables.get_mut(&entry.id) {
                Some(table) => {
                    self.fault = Some(entry.id);
                    let replayed = table.replay_entry(entry.clone());
                    replayed.or_else(|error| self.leave_out(entry.id, error))?;
                    self.fault = None;
                }
                None => {
                    let table = TableSnapshot::new(Table::new(entry.clone(), 0), Vec::new(), None);
                    tables.insert(entry.id, table);
                }
            }
        }
        Ok(())
    }
}

/// Returns the place of the changes that replace a change, if it names redo in a segment.
fn elsewhere(change: &RawChange<'_>) -> Result<Option<RedoPlace>> {
    if change.table.is_some() {
        return Ok(None);
    }
    match changes_at(change.bytes, change.offset).next().transpose()? {
        Some(Change::Elsewhere(redo)) => Ok(Some(redo)),
        _ => Ok(None),
    }
}

/// The bytes of changes that were kept of a table. XX001 if they are damaged.
fn kept_bytes(state: &State, place: &SegmentPlace, crc: u32) -> Result<Vec<u8>> {
    let file = state.segments.get(&place.segment);
    let end = place.offset.saturating_add(place.bytes) as usize;
    let bytes = file.and_then(|file| file.bytes().get(place.offset as usize..end));
    match bytes.filter(|bytes| crc32c::crc32c(bytes) == crc) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Err(Error::new(
            SqlState::DATA_CORRUPTED,
            format!(
                "changes that were kept of it at offset {} of segment {} are damaged",
                place.offset, place.segment
            ),
        )),
    }
}

fn is_missing(id: ObjectId) -> Error {
    Error::new(SqlState::DATA_CORRUPTED, format!("table {} is not there", id.0))
}
