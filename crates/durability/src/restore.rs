//! Opening: from a manifest back to tables. Blocks stay in their files and are checked when they are
//! first touched; only a table's last hot chunk is read, to become hot again.

use crate::checkpoint::Places;
use crate::directory::State;
use crate::manifest::{ChunkRecord, Manifest, TableRecord};
use crate::opening::{Opening, OpeningProgress, OpeningStep};
use crate::segment::open_segment;
use frazil_block::{Block, BuildOptions};
use frazil_catalog::{Catalog, Relation};
use frazil_storage::segment_block::open_block;
use frazil_storage::{BuiltFor, ChunkEntry, DeletedRows, FrozenChunk, Table, TableSnapshot};
use frazil_types::{CHUNK_ROWS, Error, MemoryBudget, ObjectId, Result, SqlState};
use frazil_vfs::{MappedFile, Vfs};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What a manifest says there is.
pub(crate) struct Restored {
    pub catalog: Catalog,
    /// By their ids, without indexes.
    pub tables: BTreeMap<ObjectId, TableSnapshot>,
    pub state: State,
}

/// The tables of a manifest, and what is known of its files.
pub(crate) fn restore(vfs: &dyn Vfs, directory: &Path, manifest: Manifest) -> Result<Restored> {
    let segments = open_segments(vfs, directory, &manifest)?;
    let mut places = Places::default();
    let mut tables = BTreeMap::new();
    for record in &manifest.tables {
        let table = restore_table(&segments, record, &mut places)?;
        tables.insert(record.entry.id, table);
    }
    let entries = manifest.tables.iter().map(|t| Arc::new(t.entry.clone()));
    let views = manifest.views.iter().cloned().map(Relation::View);
    let relations = entries.map(Relation::Table).chain(views).collect();
    let state = State {
        places,
        segments,
        ..State::default()
    };
    Ok(Restored {
        catalog: Catalog::restore(
            manifest.catalog_version,
            manifest.last_table,
            relations,
            manifest.types.clone(),
        ),
        tables,
        state: State { manifest, ..state },
    })
}

fn open_segments(
    vfs: &dyn Vfs,
    directory: &Path,
    manifest: &Manifest,
) -> Result<HashMap<u64, Arc<MappedFile>>> {
    let mut segments = HashMap::new();
    for chunk in manifest.tables.iter().flat_map(|t| &t.chunks) {
        for place in std::iter::once(chunk.block).chain(chunk.deleted.map(|d| d.0)) {
            if segments.contains_key(&place.segment) {
                continue;
            }
            let file = open_segment(vfs, directory, place.segment)?;
            segments.insert(place.segment, file);
        }
    }
    Ok(segments)
}

fn restore_table(
    segments: &HashMap<u64, Arc<MappedFile>>,
    record: &TableRecord,
    places: &mut Places,
) -> Result<TableSnapshot> {
    let table = Table::new(Arc::new(record.entry.clone()), record.next_chunk);
    if let Some(distinct) = &record.distinct {
        table.set_distinct(distinct.clone());
    }
    let asked = Arc::new(table.asked_options());
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

/// Builds the indexes of tables, those of several tables at a time. `commits`: those that were done again before.
pub(crate) fn build_indexes(
    tables: &mut BTreeMap<ObjectId, TableSnapshot>,
    opening: &Opening<'_>,
    commits: u64,
) -> Result<()> {
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
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    // Who fails stops the others.
    let cancel = opening.cancel.child();
    let work = || {
        loop {
            let next = waiting.lock().unwrap_or_else(|e| e.into_inner()).next();
            let Some(table) = next else { return };
            if let Err(e) = table.build_indexes(&cancel, &mut MemoryBudget::unlimited().reservation()) {
                let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
                // What the cancel makes of the others' work is no cause.
                failed.get_or_insert(e);
                cancel.stop_siblings();
                return;
            }
            watch(size(table));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..cores.min(count) {
            // Where the system gives no further thread, those that there are do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    match failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// A chunk that a record of the log names.
pub(crate) fn restore_named(
    segments: &HashMap<u64, Arc<MappedFile>>,
    table: &Table,
    record: &ChunkRecord,
) -> Result<ChunkEntry> {
    restore_chunk(segments, table, &Arc::new(table.asked_options()), record)
}

fn restore_chunk(
    segments: &HashMap<u64, Arc<MappedFile>>,
    table: &Table,
    asked: &Arc<BuildOptions>,
    record: &ChunkRecord,
) -> Result<ChunkEntry> {
    let place = record.block;
    let file = &segments[&place.segment];
    let block = open_block(file, place.offset, place.bytes)?;
    let origin = format!("\"{}\", block at offset {}", file.path().display(), place.offset);
    let damaged = |what: String| {
        let context = format!("table \"{}\", chunk {}", table.name(), record.number);
        Error::new(SqlState::DATA_CORRUPTED, format!("{origin}, {context}: {what}"))
    };
    if block.rows() != record.rows {
        return Err(damaged(format!(
            "it has {} rows, the manifest says {}",
            block.rows(),
            record.rows
        )));
    }
    let is_stored = block.columns() == record.columns.len();
    let frozen = FrozenChunk {
        block,
        origin: Some(origin.clone().into()),
        visits: Arc::default(),
        built_for: BuiltFor::new(Some(asked.clone()).filter(|_| !record.stale)),
    };
    let others = || damaged("its columns are not those of the table".to_string());
    let entry = match is_stored {
        true => table.show(ChunkEntry::frozen(record.number, frozen, record.columns.clone())),
        false => return Err(others()),
    };
    let entry = entry.map_err(|_| others())?;
    let fits = |block: &Block| {
        let mut columns = table.schema().columns.iter().enumerate();
        columns.all(|(i, c)| block.entry(i).fits(c.ty))
    };
    if !entry.block().is_some_and(fits) {
        return Err(others());
    }
    let entry = restore_deleted(segments, record, entry, &damaged)?;
    // Rows that are deleted may be older than NOT NULL.
    let deleted = entry.view().rows() - entry.view().live_rows();
    let has_nulls = |block: &Block| {
        let mut columns = table.schema().columns.iter().enumerate();
        columns.any(|(i, c)| !c.nullable && block.entry(i).null_count > deleted)
    };
    match entry.block().is_some_and(has_nulls) {
        true => Err(others()),
        false => Ok(entry),
    }
}

/// The rows of a chunk with the marks of those that are deleted.
fn restore_deleted(
    segments: &HashMap<u64, Arc<MappedFile>>,
    record: &ChunkRecord,
    entry: ChunkEntry,
    damaged: &dyn Fn(String) -> Error,
) -> Result<ChunkEntry> {
    let Some((place, crc)) = record.deleted else {
        return Ok(entry);
    };
    let file = &segments[&place.segment];
    let end = place.offset.saturating_add(place.bytes) as usize;
    let bytes = file.bytes().get(place.offset as usize..end).unwrap_or_default();
    if bytes.len() != CHUNK_ROWS / 8 || crc32c::crc32c(bytes) != crc {
        return Err(damaged(format!(
            "the marks of its deleted rows at offset {} of \"{}\" are damaged",
            place.offset,
            file.path().display()
        )));
    }
    let words = bytes.chunks_exact(8);
    let words = words.map(|bytes| bytes.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)));
    (entry.with_deleted(DeletedRows::from_words(words)))
        .map_err(|_| damaged("a row is marked deleted that it does not have".to_string()))
}
