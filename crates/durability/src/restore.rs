//! Opening: from a manifest back to tables. Blocks stay in their files and are checked when they are
//! first touched; only a table's last hot chunk is read, to become hot again.

use crate::damaged::DamagedTable;
use crate::manifest::{Manifest, TableRecord};
use crate::opening::{Opening, OpeningProgress, OpeningStep};
use crate::restored_chunk::restore_chunk;
use crate::salvage::{Losses, salvage_table};
use crate::segment::{fetch_headers, looked_over, open_segment, open_segments};
use crate::sequences::SequenceRecord;
use crate::state::{Places, State};
use frazil_catalog::{Catalog, Entries, Relation, TableEntry};
use frazil_storage::{Table, TableSnapshot};
use frazil_types::{CHUNK_ROWS, Error, MemoryBudget, ObjectId, Result};
use frazil_vfs::{MappedFile, Vfs};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What a manifest says there is.
pub(crate) struct Restored {
    pub catalog: Catalog,
    /// By their ids, without indexes.
    pub tables: BTreeMap<ObjectId, TableSnapshot>,
    pub state: State,
    /// Everything that is left out; `None`: nothing may be.
    pub losses: Option<Losses>,
    /// Tables that are not to be opened, also if the log makes them.
    pub faults: Faults,
}

/// Tables that are not to be opened, and why: it was seen when they were.
pub(crate) type Faults = BTreeMap<ObjectId, Error>;

/// The tables of a manifest, and what is known of its files. A table that cannot be read is damaged, unless the
/// system does not let it be read: 57014, 53000, 53200, 55006, 58030.
pub(crate) fn restore(
    vfs: &dyn Vfs,
    directory: &Path,
    manifest: Manifest,
    faults: &Faults,
    mut losses: Option<Losses>,
) -> Result<Restored> {
    let catalog = restore_catalog(&manifest);
    let named: HashSet<u64> = manifest.tables.iter().flat_map(TableRecord::segments).collect();
    let looked = looked_over(vfs, directory, (named.len(), named.len()))?;
    let vfs = looked.as_deref().unwrap_or(vfs);
    let mut segments = OpenedSegments::default();
    if vfs.is_elsewhere() {
        segments.open_elsewhere(vfs, directory, named)?;
        // Headers of all tables are fetched at once: many tables have one block.
        fetch_headers(&segments.opened, manifest.places());
    }
    let mut state = State::default();
    let mut tables = BTreeMap::new();
    for record in &manifest.tables {
        let id = record.entry.id;
        let restored = match (faults.get(&id), &mut losses) {
            (_, Some(losses)) => {
                segments.open_some(vfs, directory, record)?;
                salvage_table(&segments.opened, &segments.failed, record, losses)
            }
            (Some(fault), None) => Err(fault.clone()),
            (None, None) => segments.open_all(vfs, directory, record).and_then(|()| {
                let entry = entry_to_restore(&catalog, record)?;
                restore_table(&segments.opened, record, entry, &mut state.places)
            }),
        };
        match restored {
            Ok(table) => drop(tables.insert(id, table)),
            Err(fault) if fault.state().is_damage() => {
                let damaged = DamagedTable::of_record(record, &fault);
                state.damaged.insert(id, damaged);
            }
            Err(error) => return Err(error),
        }
    }
    for unread in &manifest.unread {
        if let Some(losses) = &mut losses {
            losses.add(Some(&unread.name), format!("it is left out: {}", unread.why));
        }
        state.damaged.insert(unread.id, DamagedTable::of_unread(unread));
    }
    let segments = segments.opened;
    Ok(Restored {
        catalog,
        tables,
        state: State {
            manifest,
            segments,
            ..state
        },
        losses,
        faults: faults.clone(),
    })
}

/// A table of a manifest that names `all` segments, of which those of the table alone are opened.
pub(crate) fn restore_alone(
    vfs: &dyn Vfs,
    directory: &Path,
    record: &TableRecord,
    all: usize,
) -> Result<TableSnapshot> {
    let named: HashSet<u64> = record.segments().collect();
    let looked = looked_over(vfs, directory, (named.len(), all))?;
    let vfs = looked.as_deref().unwrap_or(vfs);
    let mut segments = OpenedSegments::default();
    if vfs.is_elsewhere() {
        segments.open_elsewhere(vfs, directory, named)?;
    }
    segments.open_all(vfs, directory, record)?;
    let entry = Arc::new(record.entry_of_chunks().clone());
    restore_table(&segments.opened, record, entry, &mut Places::default())
}

/// The entry that a table's chunks are restored with. *A copy of the catalog's would be taken for another definition of
/// the table: each later definition, of whatever table, would define this one again and wait for its writers.*
fn entry_to_restore(catalog: &Catalog, record: &TableRecord) -> Result<Arc<TableEntry>> {
    match &record.behind {
        Some(behind) => Ok(Arc::new(behind.entry.clone())),
        None => {
            let entry = catalog.table_by_id(record.entry.id);
            entry
                .cloned()
                .ok_or_else(|| Error::internal("a table of the manifest is not in its catalog"))
        }
    }
}

/// The catalog of a manifest.
pub(crate) fn restore_catalog(manifest: &Manifest) -> Catalog {
    let entries = manifest.tables.iter().map(|t| Arc::new(t.entry.clone()));
    let unread = manifest.unread.iter().map(|t| Arc::new(t.entry()));
    let views = manifest.views.iter().cloned().map(Relation::View);
    let entries = Entries {
        schemas: (manifest.schemas.clone()).unwrap_or_else(|| Catalog::new().entries().schemas),
        relations: entries.chain(unread).map(Relation::Table).chain(views).collect(),
        types: manifest.types.clone(),
        sequences: manifest.sequences.iter().map(SequenceRecord::restored).collect(),
        comments: manifest.comments.clone(),
        access: manifest.access.clone(),
    };
    Catalog::restore(manifest.catalog_version, manifest.last_table, entries)
}

/// Segments that tables need, each opened once.
#[derive(Default)]
struct OpenedSegments {
    opened: HashMap<u64, Arc<MappedFile>>,
    failed: HashMap<u64, Error>,
}

impl OpenedSegments {
    /// Opens segments that are elsewhere, many at a time. A segment that is not there or cannot be opened fails when a
    /// table needs it. An error that says nothing of the segments is returned: 57014, 08001.
    fn open_elsewhere(&mut self, vfs: &dyn Vfs, directory: &Path, numbers: HashSet<u64>) -> Result<()> {
        let numbers: Vec<u64> = numbers.into_iter().collect();
        for (number, file) in open_segments(vfs, directory, &numbers) {
            match file {
                Ok(file) => drop(self.opened.insert(number, file)),
                Err(error) if error.state().is_of_data() => drop(self.failed.insert(number, error)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Opens those that a table needs, as far as they are there and can be opened.
    fn open_some(&mut self, vfs: &dyn Vfs, directory: &Path, record: &TableRecord) -> Result<()> {
        for segment in record.segments() {
            if self.failed.contains_key(&segment) || self.opened.contains_key(&segment) {
                continue;
            }
            match open_segment(vfs, directory, segment) {
                Ok(file) => drop(self.opened.insert(segment, file)),
                Err(error) if error.state().is_of_data() => drop(self.failed.insert(segment, error)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Opens those that a table needs; the error of the first one that does not open.
    fn open_all(&mut self, vfs: &dyn Vfs, directory: &Path, record: &TableRecord) -> Result<()> {
        for segment in record.segments() {
            if let Some(error) = self.failed.get(&segment) {
                return Err(error.clone());
            }
            if let Entry::Vacant(place) = self.opened.entry(segment) {
                match open_segment(vfs, directory, segment) {
                    Ok(file) => drop(place.insert(file)),
                    Err(error) => {
                        self.failed.insert(segment, error.clone());
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }
}

fn restore_table(
    segments: &HashMap<u64, Arc<MappedFile>>,
    record: &TableRecord,
    entry: Arc<TableEntry>,
    places: &mut Places,
) -> Result<TableSnapshot> {
    let table = Table::new(entry, record.next_chunk);
    if let Some(distinct) = &record.distinct {
        table.set_distinct(distinct.clone());
    }
    let asked = Arc::new(table.asked_options());
    fetch_headers(segments, record.places());
    let mut sealed = Vec::new();
    let mut tail = None;
    for chunk in &record.chunks {
        let entry = restore_chunk(segments, &table, &asked, chunk)?;
        if chunk.hot && tail.is_none() && chunk.rows < CHUNK_ROWS as u32 {
            let thawed = entry.thaw(&table)?;
            places.add(&thawed, chunk.clone());
            tail = Some(thawed);
        } else {
            places.add(&entry, chunk.clone());
            sealed.push(entry);
        }
    }
    Ok(TableSnapshot::new(table, sealed, tail))
}

/// Builds the indexes of tables, those of several tables at a time. `commits`: those that were done again before. An
/// error comes with the table whose index cannot be built.
pub(crate) fn build_indexes(
    tables: &mut BTreeMap<ObjectId, TableSnapshot>,
    opening: &Opening<'_>,
    commits: u64,
) -> Result<(), (ObjectId, Error)> {
    let indexed = |table: &&mut TableSnapshot| !table.table().entry().indexes.is_empty();
    let size = |table: &TableSnapshot| table.rows() * table.table().entry().indexes.len() as u64;
    let count = tables.values_mut().filter(indexed).count();
    let (done, total) = (AtomicU64::new(0), tables.values().map(size).sum());
    let watch = |rows| {
        (opening.watch)(OpeningProgress {
            step: OpeningStep::Indexes,
            done: done.fetch_add(rows, Ordering::Relaxed) + rows,
            total,
            commits,
        });
    };
    if count > 0 {
        watch(0);
    }
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let waiting = Mutex::new(tables.values_mut().filter(indexed));
    let failed: Mutex<Option<(ObjectId, Error)>> = Mutex::new(None);
    // Who fails stops the others.
    let cancel = opening.cancel.child();
    let work = || {
        loop {
            let next = waiting.lock().unwrap_or_else(|e| e.into_inner()).next();
            let Some(table) = next else { return };
            if let Err(e) = table.build_indexes(&cancel, &mut MemoryBudget::unlimited().reservation()) {
                let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
                // What the cancel makes of the others' work is no cause.
                failed.get_or_insert((table.table().id(), e));
                cancel.stop_siblings();
                return;
            }
            watch(size(table));
        }
    };
    let work = || cancel.during(work);
    std::thread::scope(|scope| {
        for _ in 1..cores.min(count) {
            // If the system gives no further thread, those that there are do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    match failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some(failed) => Err(failed),
        None => Ok(()),
    }
}
