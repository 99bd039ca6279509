//! The redo of one transaction.

use super::{LoadedBlock, RedoBuffer};
use crate::chunk_entry::{ChunkEntry, ChunkIdentity};
use crate::columns::Columns;
use crate::log::{Durability, NamedBlocks, RedoPlace, Reserved, SegmentPlace};
use crate::snapshot::Snapshot;
use frazil_block::Block;
use frazil_catalog::Position;
use frazil_types::{ColumnNumber, Error, ObjectId, Result, RowId};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of redo in memory, by and large: a transaction that writes more writes them to a file while it goes on.
const MOST_BYTES: usize = 64 << 20;
/// The greatest record, in bytes: more redo goes to a file before the transaction has its place in the log. The section
/// of commits copies as much in some 200 µs.
const MOST_IN_RECORD: usize = 1 << 20;
/// Bytes of a record for which room is made ahead. For smaller ones the next file of the log is nearly always there.
const LEAST_ANNOUNCED: usize = 4 << 10;
/// The greatest entry, in bytes. A transaction with a row that is larger is committed whole.
const MOST_IN_ENTRY: usize = 1 << 30;

/// What a transaction writes down for the log.
#[derive(Debug)]
pub(crate) struct TransactionRedo {
    /// None: there is no log.
    buffer: Option<RedoBuffer>,
    /// The transaction did more than redo says.
    is_whole: bool,
    /// Redo in the file of `named`, which comes before that in `buffer`.
    spilled: Vec<Spilled>,
    /// Bytes in `buffer` from which on they go to a file.
    most_in_memory: usize,
    /// Blocks that are to be named.
    named: Option<Named>,
    /// The chunk of the last rows, if its block can stand for all of them.
    filling: Option<Filling>,
    /// True once something was done to temporary objects, which no record says.
    leaves_out: bool,
}

/// A chunk that the transaction began, and did nothing since but to append to it.
#[derive(Clone, Copy, Debug)]
struct Filling {
    table: ObjectId,
    chunk: u32,
    /// Bytes of redo before its first row.
    from: usize,
}

/// Redo in a file.
#[derive(Clone, Copy, Debug)]
struct Spilled {
    /// Bytes of redo before it.
    from: usize,
    redo: RedoPlace,
}

impl Spilled {
    /// Bytes of redo up to its end.
    fn end(&self) -> usize {
        self.from + self.redo.used as usize
    }
}

/// A block that lies in a file of its own, durably, before the transaction begins that adds it.
#[derive(Debug)]
pub(crate) struct WrittenBlock {
    /// The file.
    pub file: Box<dyn NamedBlocks>,
    /// Where the block lies in it.
    pub place: SegmentPlace,
}

/// Blocks in a file, and which chunks they are.
#[derive(Debug)]
struct Named {
    file: Box<dyn NamedBlocks>,
    chunks: Vec<NamedChunk>,
    /// True once the record names redo in the file.
    has_redo: bool,
}

#[derive(Debug)]
struct NamedChunk {
    table: ObjectId,
    number: u32,
    identity: ChunkIdentity,
    place: SegmentPlace,
    /// Bytes of redo up to the end of what names it.
    end: usize,
}

impl Named {
    fn of(file: Box<dyn NamedBlocks>) -> Named {
        Named {
            file,
            chunks: Vec::new(),
            has_redo: false,
        }
    }

    /// True if a record names something in the file.
    fn is_needed(&self) -> bool {
        self.has_redo || !self.chunks.is_empty()
    }

    /// The chunks that a version still has as they lie in the file.
    fn chunks_of(&self, version: &Snapshot) -> Vec<(Arc<ChunkEntry>, SegmentPlace)> {
        let entry = |chunk: &NamedChunk| {
            let entry = version.table(chunk.table).ok()?.entry(chunk.number)?;
            (entry.identity() == chunk.identity).then(|| (entry.clone(), chunk.place))
        };
        self.chunks.iter().filter_map(entry).collect()
    }
}

impl TransactionRedo {
    /// Nothing yet; nothing ever without a log.
    pub fn new(has_log: bool) -> TransactionRedo {
        TransactionRedo {
            buffer: has_log.then(RedoBuffer::default),
            is_whole: false,
            spilled: Vec::new(),
            most_in_memory: MOST_BYTES,
            named: None,
            filling: None,
            leaves_out: false,
        }
    }

    /// Notes that something was done to temporary objects.
    pub fn leave_out(&mut self) {
        self.leaves_out = true;
    }

    /// True if all that was done was done to temporary objects.
    pub fn is_of_temporary(&self) -> bool {
        self.leaves_out && !self.is_whole && self.len() == 0
    }

    /// True for a temporary table: what is done to it is left out.
    fn is_left_out(&mut self, table: ObjectId) -> bool {
        self.leaves_out |= table.is_temporary();
        table.is_temporary()
    }

    /// Whether there is a log.
    pub fn is_wanted(&self) -> bool {
        self.buffer.is_some()
    }

    /// Whether what is done goes into a record.
    pub fn is_recorded(&self) -> bool {
        self.is_wanted() && !self.is_whole
    }

    /// A moment to return to: the bytes so far, which are not replaced from now on.
    pub fn mark(&mut self) -> usize {
        self.filling = None;
        self.len()
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.in_files() + self.in_memory()
    }

    /// Bytes in files.
    fn in_files(&self) -> usize {
        self.spilled.last().map_or(0, Spilled::end)
    }

    /// Bytes in memory.
    pub fn in_memory(&self) -> usize {
        self.buffer.as_ref().map_or(0, RedoBuffer::len)
    }

    /// Forgets what was done since there were `len` bytes. What no record says is not forgotten: it is no harm to commit whole.
    pub fn truncate(&mut self, len: usize) {
        self.filling = None;
        self.cut(len);
        if let Some(named) = &mut self.named {
            named.chunks.retain(|chunk| chunk.end <= len);
        }
    }

    fn cut(&mut self, len: usize) {
        let in_files = self.in_files();
        if let Some(buffer) = &mut self.buffer {
            buffer.truncate(len.saturating_sub(in_files));
        }
        self.spilled.retain(|spilled| spilled.from < len);
        if let Some(last) = self.spilled.last_mut() {
            last.redo.used = last.redo.used.min((len - last.from) as u64);
        }
    }

    /// True if redo should go to a file.
    pub fn is_crowded(&self) -> bool {
        self.in_memory() > self.most_in_memory
    }

    /// Writes what is in memory to a file. If that fails, it stays in memory until there is twice as much.
    pub fn spill(&mut self, log: &Arc<dyn Durability>) -> Result<()> {
        let Some(buffer) = self.buffer.as_ref().filter(|buffer| !buffer.is_empty()) else {
            return Ok(());
        };
        self.most_in_memory = MOST_BYTES.max(2 * buffer.len());
        let named = match &mut self.named {
            Some(named) => named,
            none => none.insert(Named::of(log.clone().write_blocks()?)),
        };
        let redo = named.file.write_redo(buffer.bytes())?;
        let from = self.in_files();
        self.spilled.push(Spilled { from, redo });
        self.buffer = Some(RedoBuffer::default());
        self.most_in_memory = MOST_BYTES;
        Ok(())
    }

    /// The record that says what was done; `None` if no record does.
    pub fn record(&self) -> Option<&[u8]> {
        let buffer = self.buffer.as_ref()?;
        (!self.is_whole && !buffer.is_empty()).then(|| buffer.bytes())
    }

    /// Makes the record that is going to be appended small, and makes durable what it names. Called at the end of the
    /// transaction, before it has its place in the log: what follows for the record is short.
    pub fn prepare(&mut self, log: Option<&Arc<dyn Durability>>) -> Result<()> {
        let Some(log) = log.filter(|_| self.is_recorded() && self.len() > 0) else {
            return Ok(());
        };
        if self.in_memory() > MOST_IN_RECORD {
            self.spill(log)?;
        }
        if let (Some(named), Some(rest)) = (&mut self.named, &mut self.buffer)
            && !self.spilled.is_empty()
        {
            named.has_redo = true;
            let mut record = RedoBuffer::default();
            (self.spilled.drain(..)).for_each(|spilled| record.elsewhere(&spilled.redo));
            record.append(rest);
            *rest = record;
        }
        if self.in_memory() >= LEAST_ANNOUNCED {
            log.make_room(self.in_memory());
        }
        match &mut self.named {
            Some(named) if named.is_needed() => named.file.sync(),
            _ => Ok(()),
        }
    }

    /// Appends the record that says what was done to the log; `None` if no record does. [`TransactionRedo::prepare`]
    /// was called. `next` is what the transaction leaves. Nothing is appended after an error.
    pub fn reserve(&mut self, log: &dyn Durability, next: &Snapshot) -> Result<Option<Reserved>> {
        let named = self.named.take().filter(Named::is_needed);
        let Some(record) = self.record() else {
            return Ok(None);
        };
        let Some(named) = named else {
            return log.reserve(record).map(Some);
        };
        let chunks = named.chunks_of(next);
        let reserved = log.reserve(record)?;
        named.file.keep(reserved.lsn, &chunks);
        Ok(Some(reserved))
    }

    /// The chunk that the row of this id begins or goes on filling.
    fn filling(&self, table: ObjectId, first: RowId) -> Option<Filling> {
        let chunk = first.chunk();
        let goes_on = self.filling.filter(|f| f.table == table && f.chunk == chunk);
        let begins = (first.offset() == 0).then(|| Filling {
            table,
            chunk,
            from: self.len(),
        });
        goes_on.or(begins)
    }

    /// Whether the block of a chunk should stand for its rows: those that are written down, and the last ones of so many bytes, of
    /// which the first one has this id and which are not.
    pub fn is_filled(&mut self, table: ObjectId, first: RowId, bytes: usize, is_full: bool) -> bool {
        if self.is_left_out(table)
            || !self.is_recorded()
            || !(is_full || self.in_memory() + bytes > MOST_BYTES)
        {
            return false;
        }
        self.filling = self.filling(table, first);
        self.filling.is_some()
    }

    /// Forgets the rows of a chunk that [`TransactionRedo::is_filled`] was true for.
    pub fn forget_filled(&mut self) {
        if let Some(filling) = self.filling.take() {
            self.cut(filling.from);
        }
    }

    /// Rows of columns were inserted into one chunk, or into several if there is no log, and got these ids.
    pub fn insert(&mut self, table: ObjectId, ids: &[RowId], columns: Columns<'_>, rows: Range<usize>) {
        debug_assert_eq!(ids.len(), rows.len());
        if self.is_left_out(table) {
            return;
        }
        let filling = self.filling(table, ids[0]);
        self.insert_entries(table, ids, columns, rows);
        self.filling = filling.filter(|_| self.is_recorded());
    }

    /// Writes down that rows were inserted, half of them at a time if they are too large for an entry.
    fn insert_entries(&mut self, table: ObjectId, ids: &[RowId], columns: Columns<'_>, rows: Range<usize>) {
        // Before anything is copied: an entry has less than 4 GiB, rows may have more.
        if !self.is_recorded() || columns.bytes(rows.clone()) <= MOST_IN_ENTRY {
            return self.write(|buffer| buffer.insert_columns(table, ids[0], columns, rows));
        }
        if rows.len() == 1 {
            return self.whole();
        }
        let half = rows.len() / 2;
        let middle = rows.start + half;
        self.insert_entries(table, &ids[..half], columns, rows.start..middle);
        self.insert_entries(table, &ids[half..], columns, middle..rows.end);
    }

    /// A table got a chunk that is a block, and some rows of it may be deleted. After an error no record says what was done: what the file
    /// lacks by then is not known, and a savepoint may have been made after other blocks of it.
    pub fn block(&mut self, log: &Arc<dyn Durability>, table: ObjectId, entry: &ChunkEntry) -> Result<()> {
        if self.is_left_out(table) {
            return Ok(());
        }
        let named = self.name_block(log, table, entry);
        if named.is_err() {
            self.whole();
        }
        named
    }

    /// The same of a block that is written already: the first one of the transaction.
    pub fn written_block(
        &mut self,
        table: ObjectId,
        entry: &ChunkEntry,
        written: WrittenBlock,
    ) -> Result<()> {
        let is_left_out = self.is_left_out(table);
        let Some(block) = entry.block().filter(|_| self.is_recorded() && !is_left_out) else {
            return Ok(());
        };
        if self.named.is_some() {
            return Err(Error::internal(
                "a block has a file of its own beside another one",
            ));
        }
        self.named = Some(Named::of(written.file));
        self.name(table, entry, block, written.place);
        Ok(())
    }

    fn name_block(&mut self, log: &Arc<dyn Durability>, table: ObjectId, entry: &ChunkEntry) -> Result<()> {
        let Some(block) = entry.block().filter(|_| self.is_recorded()) else {
            return Ok(());
        };
        let named = match &mut self.named {
            Some(named) => named,
            none => none.insert(Named::of(log.clone().write_blocks()?)),
        };
        let place = named.file.write(block)?;
        self.name(table, entry, block, place);
        Ok(())
    }

    /// Writes down where the block of a chunk lies.
    fn name(&mut self, table: ObjectId, entry: &ChunkEntry, block: &Block, place: SegmentPlace) {
        let chunk = entry.number();
        let block = LoadedBlock {
            chunk,
            rows: block.rows(),
            checksum: block.checksum(),
            place,
        };
        self.write(|buffer| buffer.load(table, block));
        let deleted = entry.view().deleted().map(|deleted| deleted.iter());
        let deleted: Vec<RowId> = (deleted.into_iter().flatten())
            .map(|offset| RowId::new(chunk, offset))
            .collect();
        if !deleted.is_empty() {
            self.write(|buffer| buffer.delete(table, &deleted));
        }
        let end = self.len();
        if let Some(named) = &mut self.named {
            named.chunks.push(NamedChunk {
                table,
                number: chunk,
                identity: entry.identity(),
                place,
                end,
            });
        }
    }

    /// A chunk got a column, whose values a block has. `None`: a chunk got one that no record says.
    pub fn filled(&mut self, table: ObjectId, filled: Option<(u32, ColumnNumber, &Block)>) {
        if self.is_left_out(table) {
            return;
        }
        match filled {
            // Before anything is copied.
            Some((_, _, block)) if block.bytes().len() > MOST_IN_ENTRY => self.whole(),
            Some((chunk, column, block)) => self.write(|buffer| buffer.filled(table, chunk, column, block)),
            None => self.whole(),
        }
    }

    /// Chunks are gone from a table.
    pub fn removed(&mut self, table: ObjectId, chunks: &[u32]) {
        if !chunks.is_empty() && !self.is_left_out(table) {
            self.write(|buffer| buffer.removed(table, chunks));
        }
    }

    /// Rows were deleted.
    pub fn delete(&mut self, table: ObjectId, rows: &[Option<RowId>]) {
        if rows.iter().any(Option::is_some) && !self.is_left_out(table) {
            self.write(|buffer| buffer.delete_some(table, rows));
        }
    }

    /// Rows of a table are in blocks now, or in others.
    pub fn held(&mut self, table: ObjectId) {
        if !self.is_left_out(table) {
            self.write(|buffer| buffer.held(table));
        }
    }

    /// All rows of a table were removed.
    pub fn truncate_table(&mut self, table: ObjectId) {
        if !self.is_left_out(table) {
            self.write(|buffer| buffer.truncate_table(table));
        }
    }

    /// The catalog is another one: how it came from the one before.
    pub fn catalog(&mut self, change: &[u8]) {
        self.write(|buffer| buffer.catalog(change));
    }

    /// A sequence that the transaction made or restarted stands at a position when the transaction commits.
    pub fn sequence(&mut self, sequence: ObjectId, position: Position) {
        if !self.is_left_out(sequence) {
            self.write(|buffer| buffer.sequence(sequence, position));
        }
    }

    /// Notes that redo does not say all that was done.
    fn whole(&mut self) {
        self.is_whole = true;
        self.spilled.clear();
        self.named = None;
        if let Some(buffer) = &mut self.buffer {
            *buffer = RedoBuffer::default();
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut RedoBuffer)) {
        self.filling = None;
        let Some(buffer) = self.buffer.as_mut().filter(|_| !self.is_whole) else {
            return;
        };
        write(buffer);
    }
}
