//! What one version of a table shows of a chunk: which of its rows, and which of those are deleted. Rows are read
//! through a [`ChunkView`] alone.

use crate::bounds::Widening;
use crate::chunk::{Chunk, FrozenChunk};
use crate::chunk_view::ChunkView;
use crate::columns::Columns;
use crate::deleted_rows::DeletedRows;
use crate::hot_chunk::HotChunk;
use crate::merged_slots::{KnownSlots, merge_slots};
use frazil_block::Block;
use frazil_catalog::TableEntry;
use frazil_types::{CHUNK_ROWS, ColumnNumber, Error, Result, Schema};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Weak};

/// A chunk as one version of a table shows it.
#[derive(Clone, Debug)]
pub struct ChunkEntry {
    number: u32,
    chunk: Arc<Chunk>,
    /// Slots shown, marked ones included.
    rows: u32,
    /// Marked slots: they have rows that were deleted, or rows of a transaction that the version does not
    /// know to be committed. `None`: none.
    deleted: Option<Arc<DeletedRows>>,
    modified: u64,
    /// Which columns the chunk stores, in the order of its cells or its block.
    stored: Arc<[ColumnNumber]>,
    /// Shared by all entries that show these cells or this block, whatever columns of them.
    identity: Arc<()>,
}

/// Whose cells or block an entry shows: entries of the same ones are equal in it. It keeps the chunk's rows from being taken for
/// those of another, not from being freed.
#[derive(Clone, Debug)]
pub struct ChunkIdentity(Weak<()>);

impl ChunkIdentity {
    /// Whether some version still shows the chunk.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl PartialEq for ChunkIdentity {
    fn eq(&self, other: &ChunkIdentity) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ChunkIdentity {}

impl Hash for ChunkIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().addr().hash(state);
    }
}

impl ChunkEntry {
    /// An entry that shows all rows of a block, which stores the columns of these numbers.
    pub fn frozen(number: u32, frozen: FrozenChunk, stored: Arc<[ColumnNumber]>) -> ChunkEntry {
        ChunkEntry {
            number,
            rows: frozen.block.rows(),
            chunk: Arc::new(Chunk::Frozen(frozen)),
            deleted: None,
            modified: 0,
            stored,
            identity: Arc::default(),
        }
    }

    /// An entry that shows all rows written to a hot chunk, which stores the columns of these numbers.
    pub(crate) fn hot(number: u32, hot: HotChunk, stored: Arc<[ColumnNumber]>) -> ChunkEntry {
        ChunkEntry {
            number,
            rows: hot.written() as u32,
            chunk: Arc::new(Chunk::Hot(hot)),
            deleted: None,
            modified: 0,
            stored,
            identity: Arc::default(),
        }
    }

    /// The same rows, of which these are deleted. An internal error if there are not that many.
    pub fn with_deleted(self, deleted: DeletedRows) -> Result<ChunkEntry> {
        if deleted
            .iter()
            .last()
            .is_some_and(|last| u32::from(last) >= self.rows)
        {
            return Err(Error::internal(
                "a row is marked deleted that the chunk does not have",
            ));
        }
        Ok(ChunkEntry {
            deleted: Some(Arc::new(deleted)).filter(|d| d.count() > 0),
            ..self
        })
    }

    /// The same rows at the same offsets in another chunk, which stores the columns of these numbers, with the same ones deleted.
    pub(crate) fn with_chunk(&self, chunk: Chunk, stored: &Arc<[ColumnNumber]>) -> ChunkEntry {
        ChunkEntry {
            chunk: Arc::new(chunk),
            stored: stored.clone(),
            identity: Arc::default(),
            ..self.clone()
        }
    }

    /// The same rows in the same cells or the same block, of which the chunk shows other columns.
    pub(crate) fn reshaped(&self, chunk: Chunk) -> ChunkEntry {
        ChunkEntry {
            chunk: Arc::new(chunk),
            ..self.clone()
        }
    }

    /// The same rows in the chunk of another entry, which has them at the same offsets.
    pub(crate) fn held_as(&self, other: &ChunkEntry) -> ChunkEntry {
        ChunkEntry {
            chunk: other.chunk.clone(),
            stored: other.stored.clone(),
            identity: other.identity.clone(),
            ..self.clone()
        }
    }

    /// The chunk's number, the upper part of its row ids.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Timestamp of the commit that last wrote to or deleted from the chunk, in the transaction that does so already; 0
    /// if no commit since the database was opened has. Freezing changes no rows and does not count.
    pub fn modified(&self) -> u64 {
        self.modified
    }

    /// Its rows, to be read.
    pub fn view(&self) -> ChunkView<'_> {
        ChunkView::new(&self.chunk, self.rows, self.deleted.as_ref())
    }

    /// Which chunk it shows, whatever columns of it.
    pub fn identity(&self) -> ChunkIdentity {
        ChunkIdentity(Arc::downgrade(&self.identity))
    }

    /// Which columns its cells or its block store, in order. It shows those of its table.
    pub fn stored(&self) -> &Arc<[ColumnNumber]> {
        &self.stored
    }

    /// Whether both show the same chunk.
    pub fn shares_chunk(&self, other: &ChunkEntry) -> bool {
        Arc::ptr_eq(&self.chunk, &other.chunk)
    }

    /// True if both show the same slots of one chunk, and mark the same ones.
    pub(crate) fn shows_what(&self, other: &ChunkEntry) -> bool {
        let marks = |entry: &ChunkEntry| {
            entry
                .deleted
                .iter()
                .flat_map(|marks| marks.words())
                .collect::<Vec<_>>()
        };
        self.shares_chunk(other) && self.rows == other.rows && marks(self) == marks(other)
    }

    /// The chunk, to be kept alive.
    pub(crate) fn chunk(&self) -> &Arc<Chunk> {
        &self.chunk
    }

    /// Whether it is hot.
    pub fn is_hot(&self) -> bool {
        matches!(&*self.chunk, Chunk::Hot(_))
    }

    /// The block, if it is frozen.
    pub fn block(&self) -> Option<&Block> {
        self.frozen_chunk().map(|frozen| &frozen.block)
    }

    /// Returns the block if the chunk is frozen and the block has all of its columns, as a segment can have it.
    pub fn whole_block(&self) -> Option<&Block> {
        self.block().filter(|block| block.added_bytes() == 0)
    }

    /// The block and what is known beside it, if it is frozen.
    pub fn frozen_chunk(&self) -> Option<&FrozenChunk> {
        match &*self.chunk {
            Chunk::Hot(_) => None,
            Chunk::Frozen(frozen) => Some(frozen),
        }
    }

    /// Bytes of its rows in memory, or of its block.
    pub fn bytes(&self) -> usize {
        match &*self.chunk {
            Chunk::Hot(hot) => hot.bytes(),
            Chunk::Frozen(frozen) => frozen.block.bytes().len() + frozen.block.added_bytes(),
        }
    }

    /// Says in an error about this chunk's bytes which table, chunk and file they belong to.
    pub fn blame(&self, table: &TableEntry, error: Error) -> Error {
        let place = format!("table \"{}\", chunk {}", table.name, self.number);
        match self.frozen_chunk().and_then(|frozen| frozen.origin.as_ref()) {
            Some(origin) => error.in_context(format!("{origin}, {place}")),
            None => error.in_context(place),
        }
    }

    /// Checks all bytes of a block; a hot chunk has nothing to check.
    pub fn verify(&self, table: &TableEntry) -> Result<()> {
        match self.block() {
            Some(block) => block.verify().map_err(|e| self.blame(table, e)),
            None => Ok(()),
        }
    }

    /// Whether no row can be appended any more.
    pub(crate) fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// True for a block of which no row is live. No transaction has an open slot in a block, and each row that one has
    /// claimed to delete is live.
    pub(crate) fn is_dead_block(&self) -> bool {
        !self.is_hot() && self.view().live_rows() == 0
    }

    /// True if slots of the chunk were handed out that the entry does not know: transactions have them that are open,
    /// that were rolled back, or that committed later.
    pub(crate) fn is_shared(&self) -> bool {
        match &*self.chunk {
            Chunk::Hot(hot) => hot.written() > self.rows as usize,
            Chunk::Frozen(_) => false,
        }
    }

    /// Rows that can still be appended.
    pub(crate) fn room(&self) -> usize {
        match &*self.chunk {
            Chunk::Hot(hot) => CHUNK_ROWS - hot.written(),
            Chunk::Frozen(_) => 0,
        }
    }

    /// Marks a row deleted at the timestamp of the commit to come; whether it had not been. The offset is one of its rows'.
    pub(crate) fn delete(&mut self, offset: u16, now: u64) -> bool {
        debug_assert!(u32::from(offset) < self.rows);
        let fresh = Arc::make_mut(self.deleted.get_or_insert_default()).mark(offset);
        if fresh {
            self.modified = now;
        }
        fresh
    }

    /// Shows the rows in some slots of the chunk, whose cells were written, and clears their marks. Slots before them
    /// that the entry did not show are others' and get marks: those of transactions that are open, or that were
    /// rolled back.
    pub(crate) fn show_slots(&mut self, slots: Range<u32>, now: u64) {
        if self.rows < slots.start {
            let marks = Arc::make_mut(self.deleted.get_or_insert_default());
            for slot in self.rows..slots.start {
                marks.mark(slot as u16);
            }
        }
        let marked = slots.start..slots.end.min(self.rows);
        if !marked.is_empty()
            && let Some(marks) = &mut self.deleted
        {
            let marks = Arc::make_mut(marks);
            marked.for_each(|slot| marks.unmark(slot as u16));
            self.forget_no_marks();
        }
        self.rows = self.rows.max(slots.end);
        self.modified = now;
    }

    fn known_slots(&self) -> KnownSlots<'_> {
        KnownSlots {
            rows: self.rows,
            marks: self.deleted.as_deref(),
        }
    }

    /// Does in the newest entry of a chunk what a transaction did: `own` is its entry, made of `base`. An internal
    /// error if others did the same to one of the slots.
    pub(crate) fn merge(&mut self, base: &ChunkEntry, own: &ChunkEntry, now: u64) -> Result<()> {
        let newest = (self.rows, &mut self.deleted);
        self.rows = merge_slots(newest, base.known_slots(), own.known_slots())?;
        self.forget_no_marks();
        self.modified = now;
        Ok(())
    }

    /// Undoes [`ChunkEntry::show_slots`] of an entry that had shown `shown` slots. Slots before them that got marks
    /// then are others' and not shown any more; slots among them that the entry had shown get their marks back. Marks
    /// that slots had since were cleared.
    pub(crate) fn hide_slots(&mut self, slots: Range<u32>, shown: u32) {
        if shown < slots.start {
            if let Some(marks) = &mut self.deleted {
                let marks = Arc::make_mut(marks);
                (shown..slots.start).for_each(|slot| marks.unmark(slot as u16));
            }
        } else if shown > slots.start {
            let marks = Arc::make_mut(self.deleted.get_or_insert_default());
            for slot in slots.start..slots.end.min(shown) {
                marks.mark(slot as u16);
            }
        }
        self.rows = shown;
        self.forget_no_marks();
    }

    /// Shows rows again that were deleted.
    pub(crate) fn undelete(&mut self, offsets: &[u16]) {
        if let Some(marks) = &mut self.deleted {
            let marks = Arc::make_mut(marks);
            offsets.iter().for_each(|&offset| marks.unmark(offset));
        }
        self.forget_no_marks();
    }

    fn forget_no_marks(&mut self) {
        self.deleted = self.deleted.take().filter(|marks| marks.count() > 0);
    }

    /// True if an earlier entry of the same chunk lacks rows that this one shows.
    pub(crate) fn shows_more_than(&self, before: &ChunkEntry) -> bool {
        let (now, before) = (self.view(), before.view());
        let came_back = |slot: u32| before.is_deleted(slot as usize) && !now.is_deleted(slot as usize);
        now.rows() > before.rows() || before.deleted().is_some() && (0..now.rows()).any(came_back)
    }

    /// The first of some slots that shows a row.
    pub(crate) fn first_row_in(&self, slots: Range<u32>) -> Option<u32> {
        let view = self.view();
        (slots.start..slots.end.min(self.rows)).find(|slot| !view.is_deleted(*slot as usize))
    }

    /// True if rows of these columns can be written to the cells of the chunk.
    pub(crate) fn takes(&self, schema: &Schema) -> bool {
        match &*self.chunk {
            Chunk::Hot(hot) => hot.takes(schema),
            Chunk::Frozen(_) => false,
        }
    }

    /// Slots of the chunk that were ever filled.
    pub(crate) fn written(&self) -> usize {
        match &*self.chunk {
            Chunk::Hot(hot) => hot.written(),
            Chunk::Frozen(frozen) => frozen.block.rows() as usize,
        }
    }

    /// True if nobody but this entry knows the cells of its chunk, which is hot.
    pub(crate) fn is_alone(&mut self) -> bool {
        match Arc::get_mut(&mut self.chunk) {
            Some(Chunk::Hot(hot)) => hot.is_alone(),
            Some(Chunk::Frozen(_)) | None => false,
        }
    }

    /// Writes the first `slots.len()` rows of columns to these slots, and shows them. Slots before them that have no
    /// cells yet get some, and marks. An internal error for a frozen chunk.
    ///
    /// # Safety
    /// Nobody else writes the chunk, and nobody else reads it if some of the slots were written before.
    /// [`ChunkEntry::takes`] the columns, none of the slots shows a row, and the strings of the columns are alive.
    pub(crate) unsafe fn fill(
        &mut self,
        columns: Columns<'_>,
        slots: Range<u32>,
        widening: Option<Widening<'_>>,
        now: u64,
    ) -> Result<()> {
        let Chunk::Hot(hot) = &*self.chunk else {
            return Err(Error::internal("rows are written to a block"));
        };
        let mut dead = (slots.start as usize).saturating_sub(hot.written());
        while dead > 0 {
            // SAFETY: by contract.
            dead -= unsafe { hot.append(columns, 0, dead.min(slots.len()), None) }.len();
        }
        // SAFETY: by contract.
        unsafe { hot.fill(slots.start as usize, columns, slots.len(), widening) };
        self.show_slots(slots, now);
        Ok(())
    }

    /// Appends as many of the rows `rows` of columns as fit, which have the table's types; returns their offsets.
    /// Widens the table's bounds by them.
    /// An internal error for a frozen chunk.
    ///
    /// # Safety
    /// The strings of the columns are alive.
    pub(crate) unsafe fn append(
        &mut self,
        columns: Columns<'_>,
        rows: Range<usize>,
        widening: Option<Widening<'_>>,
        now: u64,
    ) -> Result<Range<usize>> {
        let Chunk::Hot(hot) = &*self.chunk else {
            return Err(Error::internal("rows are appended to a block"));
        };
        // SAFETY: by contract.
        let slots = unsafe { hot.append(columns, rows.start, rows.len(), widening) };
        if !slots.is_empty() {
            self.show_slots(slots.start as u32..slots.end as u32, now);
        }
        Ok(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot_layout::HotLayout;
    use frazil_types::{ColumnDef, ColumnVector, LogicalType, Value};

    #[test]
    fn cells_that_a_rollback_left_are_deleted_rows() {
        let schema = Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]);
        let hot = HotChunk::new(Arc::new(HotLayout::new(&schema, CHUNK_ROWS as u32))).unwrap();
        let before = ChunkEntry::hot(3, hot, Arc::default());
        let column = ColumnVector::from_values(LogicalType::Integer, &[1, 2, 3, 4, 5].map(Value::Int));
        let columns = [&column];
        // SAFETY: no other thread knows the chunk; there are no strings.
        let append = |entry: &mut ChunkEntry, rows, now| unsafe {
            entry.append(Columns::Mixed(&columns), 0..rows, None, now)
        };
        let mut rolled_back = before.clone();
        assert_eq!(append(&mut rolled_back, 5, 7).unwrap(), 0..5);
        let mut entry = before.clone();
        assert_eq!(append(&mut entry, 2, 8).unwrap(), 5..7);
        let view = entry.view();
        assert_eq!((view.rows(), view.live_rows(), entry.modified()), (7, 2, 8));
        assert!((0..7).all(|row| view.is_deleted(row) == (row < 5)));
        assert_eq!(before.view().rows(), 0);
    }
}
