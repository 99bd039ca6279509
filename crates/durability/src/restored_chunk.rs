//! A block in a segment as a chunk of its table: what opening asks of it, and a checkpoint of each block that it
//! writes.

use crate::manifest::ChunkRecord;
use frazil_block::BuildOptions;
use frazil_storage::segment_block::open_block;
use frazil_storage::{BuiltFor, ChunkEntry, DeletedRows, FrozenChunk, Table};
use frazil_types::{CHUNK_ROWS, ColumnDef, Error, Result, SqlState};
use frazil_vfs::MappedFile;
use std::collections::HashMap;
use std::sync::Arc;

/// A chunk that a record of the log names.
pub(crate) fn restore_named(
    segments: &HashMap<u64, Arc<MappedFile>>,
    table: &Table,
    record: &ChunkRecord,
) -> Result<ChunkEntry> {
    restore_chunk(segments, table, &Arc::new(table.asked_options()), record)
}

pub(crate) fn restore_chunk(
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
    let frozen = FrozenChunk {
        block,
        origin: Some(origin.clone().into()),
        visits: Arc::default(),
        built_for: BuiltFor::new(Some(asked.clone()).filter(|_| !record.stale)),
    };
    let entry = fit(table, record, frozen).map_err(damaged)?;
    let entry = restore_deleted(segments, record, entry, &damaged)?;
    let deleted = entry.view().rows() - entry.view().live_rows();
    check_nulls(table, &entry, deleted).map_err(damaged)?;
    Ok(entry)
}

/// A block as a chunk of a table, with the table's columns and no row deleted; otherwise what keeps it from being
/// one. Opening asks this of each chunk, and a checkpoint of each that it writes.
pub(crate) fn fit(table: &Table, record: &ChunkRecord, frozen: FrozenChunk) -> Result<ChunkEntry, String> {
    let block = &frozen.block;
    if block.rows() != record.rows {
        return Err(format!(
            "it has {} rows, the manifest says {}",
            block.rows(),
            record.rows
        ));
    }
    if block.columns() != record.columns.len() {
        return Err(format!(
            "it has {} columns, the manifest says {}",
            block.columns(),
            record.columns.len()
        ));
    }
    let entry = ChunkEntry::frozen(record.number, frozen, record.columns.clone());
    let entry = table.show(entry).map_err(|e| e.message().to_string())?;
    let columns = table.schema().columns.iter().enumerate();
    let is_other =
        |(i, c): &(usize, &ColumnDef)| entry.block().is_none_or(|block| !block.entry(*i).fits(c.ty));
    match columns.into_iter().find(is_other) {
        Some((_, column)) => Err(format!(
            "its columns are not those of the table: column \"{}\" does not hold values of type {}",
            column.name, column.ty
        )),
        None => Ok(entry),
    }
}

/// Checks that a column that is NOT NULL has no more NULLs than the `deleted` rows, which may be older than NOT NULL.
/// An error says what is wrong.
pub(crate) fn check_nulls(table: &Table, entry: &ChunkEntry, deleted: u32) -> Result<(), String> {
    let has_nulls = |i: usize| (entry.block()).is_some_and(|block| block.entry(i).null_count > deleted);
    let mut columns = table.schema().columns.iter().enumerate();
    match columns.find(|(i, column)| !column.nullable && has_nulls(*i)) {
        Some((_, column)) => Err(format!(
            "its columns are not those of the table: column \"{}\" has NULLs, and is NOT NULL",
            column.name
        )),
        None => Ok(()),
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
    let range = place.offset..place.offset.saturating_add(place.bytes);
    let bytes = (file.bytes().get(range.start as usize..range.end as usize)).unwrap_or_default();
    let is_whole = || bytes.len() == CHUNK_ROWS / 8 && crc32c::crc32c(bytes) == crc;
    file.fetch(range.clone())?;
    if !is_whole() && !(file.fetch_anew(range)? && is_whole()) {
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
