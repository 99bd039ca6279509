//! Salvage: a directory that is damaged is opened to be read, with everything that is whole. A column that is damaged
//! in a block is NULL in the block's rows; a block of which not even the header can be read is left out; and of the
//! log what comes before its damage is done again, where it fits. All that is left out is told ([`Loss`]).
//!
//! A column that is NOT NULL and damaged loses NOT NULL, and keys over the column are left out, so that what is there
//! can be loaded.

use crate::manifest::{ChunkRecord, TableRecord};
use crate::restored_chunk::restore_chunk;
use frazil_block::BuildOptions;
use frazil_catalog::{Catalog, ConstraintKind, Relation, TableEntry};
use frazil_storage::{ChunkEntry, Table, TableSnapshot};
use frazil_types::{CHUNK_ROWS, Error, ObjectId, Result};
use frazil_vfs::MappedFile;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

/// Something that is left out of a directory that is salvaged.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The table; `None`: it may concern several.
    pub table: Option<String>,
    /// The rows or columns that are left out, and why.
    pub what: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.table {
            Some(table) => write!(f, "table \"{table}\": {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// Everything that is left out so far.
#[derive(Debug, Default)]
pub(crate) struct Losses(Vec<Loss>);

impl Losses {
    pub fn add(&mut self, table: Option<&str>, what: String) {
        self.0.push(Loss {
            table: table.map(str::to_string),
            what,
        });
    }

    /// The rows of a chunk are left out.
    fn chunk(&mut self, table: &Table, record: &ChunkRecord, why: &Error) {
        let what = format!(
            "{} are left out: {}",
            rows_of(record.number, record.rows),
            why.message()
        );
        self.add(Some(table.name()), what);
    }

    /// Columns of a chunk are NULL.
    fn columns(&mut self, table: &Table, entry: &ChunkEntry, damaged: &[(usize, Error)]) {
        for (column, why) in damaged {
            let name = &table.schema().columns[*column].name;
            let rows = rows_of(entry.number(), entry.view().rows());
            let what = format!("{rows} have NULL in column \"{name}\": {}", why.message());
            self.add(Some(table.name()), what);
        }
    }

    pub fn into_all(self) -> Vec<Loss> {
        self.0
    }
}

fn rows_of(chunk: u32, rows: u32) -> String {
    format!("rows 0 to {} of chunk {chunk}", rows.saturating_sub(1))
}

/// The whole rows of a table that a manifest names, as far as its segments were opened; `failed` has why others were
/// not.
pub(crate) fn salvage_table(
    segments: &HashMap<u64, Arc<MappedFile>>,
    failed: &HashMap<u64, Error>,
    record: &TableRecord,
    losses: &mut Losses,
) -> Result<TableSnapshot> {
    let mut entry = record.entry_of_chunks().clone();
    loop {
        let table = Table::new(Arc::new(entry.clone()), record.next_chunk);
        let asked = Arc::new(table.asked_options());
        let mut told = Losses::default();
        let (mut sealed, mut tail) = (Vec::new(), None);
        let mut in_the_way = BTreeSet::new();
        for chunk in &record.chunks {
            let salvaged = match failed.get(&chunk.block.segment) {
                Some(why) => Err(why.clone()),
                None => salvage_chunk(segments, &table, &asked, chunk, &mut told),
            };
            let salvaged = match salvaged {
                Ok(salvaged) => salvaged,
                Err(why) => {
                    told.chunk(&table, chunk, &why);
                    continue;
                }
            };
            if !chunk.hot || tail.is_some() || chunk.rows >= CHUNK_ROWS as u32 {
                sealed.push(salvaged);
                continue;
            }
            // Rows of the log may follow in it. Its values are read here, and whatever is damaged of them.
            let whole = match salvaged.whole_columns(&table)? {
                Some((whole, damaged)) => {
                    told.columns(&table, &whole, &damaged);
                    in_the_way.extend(damaged.iter().map(|(column, _)| *column));
                    whole
                }
                None => salvaged,
            };
            in_the_way.retain(|column| !table.schema().columns[*column].nullable);
            if in_the_way.is_empty() {
                tail = Some(whole.thaw(&table)?);
            }
        }
        if in_the_way.is_empty() {
            losses.0.extend(told.0);
            return Ok(TableSnapshot::new(table, sealed, tail));
        }
        let columns = &mut Arc::make_mut(&mut entry.schema).columns;
        in_the_way
            .into_iter()
            .for_each(|column| columns[column].nullable = true);
    }
}

/// A chunk whose block can be opened. Where the marks of deleted rows are damaged, all rows are there.
fn salvage_chunk(
    segments: &HashMap<u64, Arc<MappedFile>>,
    table: &Table,
    asked: &Arc<BuildOptions>,
    record: &ChunkRecord,
    losses: &mut Losses,
) -> Result<ChunkEntry> {
    let is_there = |segment: u64| segments.contains_key(&segment);
    let has_marks = record.deleted.is_none_or(|(place, _)| is_there(place.segment));
    let restored = match has_marks {
        true => restore_chunk(segments, table, asked, record),
        false => Err(Error::internal("the marks of its deleted rows are gone")),
    };
    let Err(why) = restored else {
        return restored;
    };
    let unmarked = ChunkRecord {
        deleted: None,
        ..record.clone()
    };
    match record.deleted {
        Some(_) => {
            let all = restore_chunk(segments, table, asked, &unmarked).map_err(|_| why.clone())?;
            let rows = rows_of(record.number, record.rows);
            let what = format!("{rows} have deleted ones among them: {}", why.message());
            losses.add(Some(table.name()), what);
            Ok(all)
        }
        None => Err(why),
    }
}

/// Shows NULL for every column of every block that is damaged, and takes back what such columns must not be. Returns
/// the catalog with the tables as they are then.
pub(crate) fn leave_out_damage(
    catalog: &Catalog,
    tables: &mut BTreeMap<ObjectId, TableSnapshot>,
    losses: &mut Losses,
) -> Result<Catalog> {
    let mut changed: BTreeMap<ObjectId, Arc<TableEntry>> = BTreeMap::new();
    for (id, version) in tables.iter_mut() {
        let table = version.table().clone();
        let mut found = Vec::new();
        for entry in version.chunks() {
            found.extend(entry.whole_columns(&table)?);
        }
        // The tail may have been given such columns before.
        let mut damaged: BTreeSet<usize> = columns_with_nulls(version);
        for (entry, columns) in found {
            losses.columns(&table, &entry, &columns);
            damaged.extend(columns.iter().map(|(column, _)| *column));
            version.show_as(entry);
        }
        if let Some(relaxed) = relaxed(table.entry(), &damaged, losses) {
            let relaxed = Arc::new(relaxed);
            version.replay_entry(relaxed.clone())?;
            changed.insert(*id, relaxed);
        }
    }
    let mut entries = catalog.entries();
    for relation in &mut entries.relations {
        if let Some(entry) = changed.get(&relation.id()) {
            *relation = Relation::Table(entry.clone());
        }
    }
    Ok(Catalog::restore(catalog.version(), catalog.last_id(), entries))
}

/// The columns that are not nullable and have NULLs.
fn columns_with_nulls(version: &TableSnapshot) -> BTreeSet<usize> {
    let columns = version.schema().columns.iter().enumerate();
    let required = columns.filter(|(_, column)| !column.nullable);
    let has_nulls = |column: usize| {
        let mut hot = version.chunks().filter(|entry| entry.is_hot());
        hot.any(|entry| entry.view().bounds(column).nulls > 0)
    };
    required
        .map(|(column, _)| column)
        .filter(|column| has_nulls(*column))
        .collect()
}

/// The table without what rows with NULL in these columns violate; `None` if they violate nothing.
fn relaxed(entry: &TableEntry, damaged: &BTreeSet<usize>, losses: &mut Losses) -> Option<TableEntry> {
    let is_required = |column: &usize| (entry.schema.columns.get(*column)).is_some_and(|c| !c.nullable);
    let required: BTreeSet<usize> = damaged.iter().copied().filter(is_required).collect();
    if required.is_empty() {
        return None;
    }
    let mut entry = entry.clone();
    let columns = &mut Arc::make_mut(&mut entry.schema).columns;
    for column in &required {
        columns[*column].nullable = true;
        let what = format!(
            "NOT NULL of column \"{}\" is left out, because of its damage",
            columns[*column].name
        );
        losses.add(Some(&entry.name), what);
    }
    let names =
        |index: &frazil_catalog::IndexEntry| index.keys.iter().any(|key| required.contains(&key.column));
    let gone: Vec<ObjectId> = (entry.indexes.iter())
        .filter(|index| index.constraint.is_some() && names(index))
        .map(|index| index.id)
        .collect();
    entry.indexes.retain(|index| !gone.contains(&index.id));
    entry.constraints.retain(|constraint| match &constraint.kind {
        ConstraintKind::PrimaryKey { index } | ConstraintKind::Unique { index } => !gone.contains(index),
        ConstraintKind::Check { .. } | ConstraintKind::ForeignKey(_) => true,
    });
    if !gone.is_empty() {
        losses.add(
            Some(&entry.name),
            "the keys over this column are left out".to_string(),
        );
    }
    Some(entry)
}
