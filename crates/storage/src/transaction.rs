//! The one writing transaction: it makes the next version of the store in private, statement by
//! statement, and publishes it whole at commit. Rolling back drops the private version; nothing that
//! was published has been touched. A savepoint is the private version of an earlier moment.

use crate::chunk::{Chunk, ChunkSlot, Deleted};
use crate::hot_chunk::HotChunk;
use crate::snapshot::{Snapshot, Table, TableSnapshot};
use crate::store::Store;
use frazil_catalog::{Catalog, DropRelations, NewView, TableEntry, TableOptions};
use frazil_types::{CHUNK_ROWS, Error, MatchBits, ObjectId, Result, RowBatch, RowId, Schema, SqlState};
use std::collections::HashMap;
use std::sync::Arc;

/// A transaction that may write. Dropped without [`Transaction::commit`], it leaves no trace.
#[derive(Debug)]
pub struct Transaction {
    store: Arc<Store>,
    next: Arc<Snapshot>,
    changed: bool,
    /// Tables whose version is this transaction's own, in the order in which they were first changed.
    own: Vec<ObjectId>,
}

/// A moment of a transaction that it can return to: the start of a statement.
#[derive(Debug)]
pub struct Savepoint {
    next: Arc<Snapshot>,
    changed: bool,
    own: usize,
}

impl Transaction {
    pub(crate) fn new(store: Arc<Store>, next: Arc<Snapshot>) -> Transaction {
        Transaction {
            store,
            next,
            changed: false,
            own: Vec::new(),
        }
    }

    /// What the transaction's next statement sees: the committed state and its own earlier effects.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.next.clone()
    }

    /// The same, to be looked at.
    pub fn view(&self) -> &Snapshot {
        &self.next
    }

    /// Remembers this moment.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint {
            next: self.next.clone(),
            changed: self.changed,
            own: self.own.len(),
        }
    }

    /// Undoes everything since `savepoint`.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        self.next = savepoint.next;
        self.changed = savepoint.changed;
        self.own.truncate(savepoint.own);
    }

    /// Publishes what was done and lets the next writer in. Returns the timestamp of the commit. Distinct values of tables
    /// that a chunk was added to are estimated first, so that the next query does not wait for that.
    pub fn commit(mut self) -> u64 {
        if !self.changed {
            return self.next.timestamp;
        }
        let before = self.store.snapshot();
        let next = Arc::make_mut(&mut self.next);
        next.timestamp += 1;
        let timestamp = next.timestamp;
        for id in &self.own {
            // A table that was dropped afterwards is not there.
            let Some(table) = next.tables.get_mut(*id) else {
                continue;
            };
            if table.sealed().len() > before.tables.get(*id).map_or(0, |b| b.sealed().len()) {
                // Whoever reads a chunk that cannot be read hears of it; an estimate is not worth a failed commit.
                let _ = table.distinct();
            }
            Arc::make_mut(table).stamp(timestamp);
        }
        self.store.publish(self.next.clone());
        timestamp
    }

    /// Drops what was done and lets the next writer in.
    pub fn rollback(self) {}

    /// Creates a table. An interval column is refused: it is an expression's type.
    pub fn create_table(
        &mut self,
        name: &str,
        schema: Arc<Schema>,
        options: TableOptions,
    ) -> Result<Arc<TableEntry>> {
        if let Some(column) = (schema.columns.iter()).find(|c| c.ty == frazil_types::LogicalType::Interval) {
            return Err(Error::unsupported(format!(
                "column \"{}\" of type interval",
                column.name
            )));
        }
        let (catalog, entry) = self.next.catalog.create_table(name, schema, options)?;
        let next = self.next_mut();
        next.catalog = Arc::new(catalog);
        let table = Table::new(entry.clone(), 0);
        next.tables
            .insert(entry.id, Arc::new(TableSnapshot::empty(table)));
        self.own.push(entry.id);
        Ok(entry)
    }

    /// Changes how a table's rows are to be held: rows that are written or frozen from now on. What there is
    /// stays as it is.
    pub fn set_options(&mut self, name: &str, options: TableOptions) -> Result<()> {
        let (catalog, entry) = self.next.catalog.set_options(name, options)?;
        self.next_mut().catalog = Arc::new(catalog);
        let version = self.table_mut(entry.id)?;
        *version = version.with_entry(entry);
        Ok(())
    }

    /// Creates a view or replaces its query; see [`Catalog::create_view`].
    pub fn create_view(&mut self, view: NewView) -> Result<()> {
        let catalog = self.next.catalog.create_view(view)?;
        self.set_catalog(catalog);
        Ok(())
    }

    /// Drops tables or views; see [`Catalog::drop_relations`]. The chunks of a table are freed with the last snapshot
    /// that shows them.
    pub fn drop_relations(&mut self, drop: &DropRelations) -> Result<()> {
        let (catalog, ids) = self.next.catalog.drop_relations(drop)?;
        self.set_catalog(catalog);
        for id in ids {
            self.next_mut().tables.remove(id);
        }
        Ok(())
    }

    /// Goes over to another version of the catalog, if it is another.
    fn set_catalog(&mut self, catalog: Catalog) {
        if catalog.version() != self.next.catalog.version() {
            self.next_mut().catalog = Arc::new(catalog);
        }
    }

    /// Appends rows; 23502 for NULL in a NOT NULL column, and then none of them is appended.
    pub fn append(&mut self, table: ObjectId, batch: &RowBatch) -> Result<()> {
        let version = self.table_mut(table)?;
        check_batch(version.table(), batch)?;
        let mut done = 0;
        while done < batch.rows {
            done += append_to_tail(version, batch, done)?;
        }
        Ok(())
    }

    /// Deletes rows by their ids; returns how many there were that had not been deleted before. An id
    /// that names no row is an internal error.
    pub fn delete(&mut self, table: ObjectId, rows: &[RowId]) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        let mut by_chunk: HashMap<u32, Vec<u16>> = HashMap::new();
        for row in rows {
            by_chunk.entry(row.chunk()).or_default().push(row.offset());
        }
        let version = self.table_mut(table)?;
        let mut deleted = 0;
        version.update_chunks(|slot| {
            if let Some(offsets) = by_chunk.get(&slot.number)
                && offsets.iter().all(|&o| u32::from(o) < slot.rows)
            {
                by_chunk
                    .remove(&slot.number)
                    .into_iter()
                    .for_each(|o| deleted += slot.delete(&o));
            }
        });
        match by_chunk.into_keys().next() {
            None => Ok(deleted),
            Some(chunk) => Err(Error::internal(format!(
                "a row to delete lies in chunk {chunk}, which table \"{}\" does not have",
                self.next.table(table)?.table().name()
            ))),
        }
    }

    pub(crate) fn next_mut(&mut self) -> &mut Snapshot {
        self.changed = true;
        Arc::make_mut(&mut self.next)
    }

    pub(crate) fn table_mut(&mut self, id: ObjectId) -> Result<&mut TableSnapshot> {
        self.changed = true;
        let table = (Arc::make_mut(&mut self.next).tables.get_mut(id))
            .ok_or_else(|| Error::internal(format!("table {} is not in the transaction", id.0)))?;
        let version = Arc::make_mut(table);
        if !version.is_private() {
            version.make_private();
            self.own.push(id);
        }
        Ok(version)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.store.writer_ends();
    }
}

/// Column count, types and NOT NULL of rows that are to enter a table.
pub fn check_batch(table: &Table, batch: &RowBatch) -> Result<()> {
    let columns = &table.schema().columns;
    if batch.columns.len() != columns.len() {
        return Err(Error::internal(format!(
            "{} columns for table \"{}\" of {}",
            batch.columns.len(),
            table.name(),
            columns.len()
        )));
    }
    for (column, vector) in columns.iter().zip(&batch.columns) {
        if vector.native() != column.ty.native() || vector.len() != batch.rows {
            return Err(Error::internal(format!(
                "{} values of {} for column \"{}\" of type {}",
                vector.len(),
                vector.ty(),
                column.name,
                column.ty
            )));
        }
        if !column.nullable && vector.nulls().is_some_and(|n| n.count() > 0) {
            return Err(Error::new(
                SqlState::NOT_NULL_VIOLATION,
                format!(
                    "null value in column \"{}\" of table \"{}\" violates its NOT NULL constraint",
                    column.name,
                    table.name()
                ),
            ));
        }
    }
    Ok(())
}

/// Appends as many rows from `from` on as fit in the tail, after making one if there is none. Returns
/// their number.
fn append_to_tail(version: &mut TableSnapshot, batch: &RowBatch, from: usize) -> Result<usize> {
    let full = version
        .tail()
        .is_some_and(|t| t.hot().is_none_or(|h| h.written() == CHUNK_ROWS));
    if full {
        // Dead cells at its end, if a rollback left some, are simply not shown.
        version.seal_tail();
    }
    let mut slot = match version.tail() {
        Some(tail) => tail.clone(),
        None => new_tail(version)?,
    };
    let chunk = slot.chunk.clone();
    let Chunk::Hot(hot) = &*chunk else {
        return Err(Error::internal("the tail of a table is frozen"));
    };
    let start = hot.written();
    slot.bury(start as u32);
    let count = (batch.rows - from).min(CHUNK_ROWS - start);
    version.table().bounds().take_in(batch, from, from + count);
    // SAFETY: a transaction exists, so this thread is the one writer; strings of a batch are kept alive by it.
    unsafe { hot.append(batch, from, count) };
    slot.rows = (start + count) as u32;
    version.set_tail(slot);
    Ok(count)
}

fn new_tail(version: &TableSnapshot) -> Result<ChunkSlot> {
    let table = version.table();
    let hot = HotChunk::new(table.layout().clone())?;
    if !version.sealed().is_empty() {
        // A table that has filled one chunk will fill another; one of a few rows stays small.
        hot.expect_to_fill();
    }
    Ok(ChunkSlot {
        number: table.take_chunk_number(),
        chunk: Arc::new(Chunk::Hot(hot)),
        rows: 0,
        deleted: None,
    })
}

impl ChunkSlot {
    /// Deletes rows; returns how many had not been deleted before.
    fn delete(&mut self, offsets: &[u16]) -> u64 {
        let mut deleted = match &self.deleted {
            Some(d) => (**d).clone(),
            None => Deleted {
                bits: MatchBits::zeros(CHUNK_ROWS),
                count: 0,
            },
        };
        let before = deleted.count;
        for &offset in offsets {
            if !deleted.bits.get(usize::from(offset)) {
                deleted.bits.set(usize::from(offset), true);
                deleted.count += 1;
            }
        }
        let count = deleted.count - before;
        self.deleted = Some(Arc::new(deleted));
        u64::from(count)
    }

    /// Counts the cells from the rows shown up to `written` as deleted rows: a transaction that was
    /// rolled back wrote them.
    fn bury(&mut self, written: u32) {
        let dead: Vec<u16> = (self.rows..written).map(|r| r as u16).collect();
        self.rows = written;
        if !dead.is_empty() {
            self.delete(&dead);
        }
    }
}
