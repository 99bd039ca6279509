//! The indexes of a table, beside its versions.
//!
//! A version of a table holds the list of its indexes; the trees are shared by all versions. An entry is a candidate: (key, row
//! id) says that the row was written with the key. Whether it is alive, and for whom, the versions say. So:
//! - entries are added after their rows, and before anybody can see the rows;
//! - a transaction notes what it added, and takes it out again where it returns to a savepoint or is dropped (`index_log.rs`);
//! - entries of deleted rows stay until no version is alive that shows the rows (`entry_collector.rs`);
//! - CREATE INDEX, DROP INDEX and TRUNCATE give the own version another list, so that there is nothing to undo.
//!
//! `index_build.rs` makes an index of rows that are there, `unique_keys.rs` checks keys as rows are written.

use crate::chunk::Chunk;
use crate::chunk_view::ChunkView;
use crate::columns::Columns;
use frazil_block::ColumnBuffer;
use frazil_catalog::{IndexEntry, TableEntry};
use frazil_index::{OrderedIndex, Tree};
use frazil_kernels::{Isa, Selection};
use frazil_types::{
    ColumnNumber, ColumnVector, EncodedKeys, Error, KeyPart, KeySpec, ObjectId, Result, RowId, Schema,
    SqlState, dispatch_native,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most bytes of a key.
pub const MOST_KEY_BYTES: usize = 2048;

/// The indexes of one version of a table.
#[derive(Debug, Default)]
pub struct TableIndexes {
    list: Vec<Arc<TableIndex>>,
}

/// One index: its definition and its entries.
#[derive(Debug)]
pub struct TableIndex {
    entry: Arc<IndexEntry>,
    spec: KeySpec,
    /// For each column of the key, how its part of the key is made.
    parts: Vec<KeySpec>,
    /// Positions of the key's columns in the table.
    columns: Vec<usize>,
    tree: Arc<Tree>,
    uses: Arc<AtomicU64>,
}

/// How keys of an index are made of a table's columns.
pub(crate) fn key_spec(entry: &IndexEntry, schema: &Schema) -> KeySpec {
    let parts = entry.stored_keys().map(|key| KeyPart {
        ty: schema.columns[key.column].ty,
        nullable: schema.columns[key.column].nullable,
        descending: key.descending,
        nulls_first: key.nulls_first,
    });
    KeySpec::new(parts.collect())
}

impl TableIndex {
    pub(crate) fn empty(entry: Arc<IndexEntry>, schema: &Schema) -> TableIndex {
        let spec = key_spec(&entry, schema);
        TableIndex {
            columns: entry.stored_keys().map(|key| key.column).collect(),
            tree: Arc::new(Tree::new(&spec)),
            uses: Arc::default(),
            parts: spec
                .parts()
                .iter()
                .map(|part| KeySpec::new(vec![*part]))
                .collect(),
            entry,
            spec,
        }
    }

    /// The same entries under another definition, which has another name, or another number for a column.
    pub(crate) fn renamed(&self, entry: Arc<IndexEntry>) -> TableIndex {
        TableIndex {
            columns: entry.stored_keys().map(|key| key.column).collect(),
            spec: self.spec.clone(),
            parts: self.parts.clone(),
            tree: self.tree.clone(),
            uses: self.uses.clone(),
            entry,
        }
    }

    /// Its definition.
    pub fn entry(&self) -> &Arc<IndexEntry> {
        &self.entry
    }

    /// How its keys are made of values of its columns.
    pub fn spec(&self) -> &KeySpec {
        &self.spec
    }

    /// How the part of its keys is made that comes of its `i`-th column.
    pub(crate) fn part(&self, i: usize) -> &KeySpec {
        &self.parts[i]
    }

    /// Positions in the table of the columns of its keys.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Its entries, to be changed.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Its entries, to be looked up. Each is a candidate: its row may not be there for the reader.
    pub fn candidates(&self) -> &dyn OrderedIndex {
        &*self.tree
    }

    /// Number of entries, those of dead rows that have not left yet included.
    pub fn entries(&self) -> u64 {
        self.tree.entries()
    }

    /// Bytes of its entries in memory.
    pub fn bytes(&self) -> usize {
        self.tree.bytes()
    }

    /// Counts a use, which `frazil_indexes` shows.
    pub fn count_use(&self) {
        self.uses.fetch_add(1, Ordering::Relaxed);
    }

    /// How often statements looked something up in it.
    pub fn uses(&self) -> u64 {
        self.uses.load(Ordering::Relaxed)
    }

    /// Counts look-ups anew.
    pub fn reset_uses(&self) {
        self.uses.store(0, Ordering::Relaxed);
    }

    /// The keys of rows of a chunk, in their order.
    pub(crate) fn read_keys(
        &self,
        view: ChunkView<'_>,
        selection: Selection<'_>,
        out: &mut EncodedKeys,
    ) -> Result<()> {
        let mut buffers = Vec::with_capacity(self.columns.len());
        for &column in &self.columns {
            let mut buffer = ColumnBuffer::new();
            view.read(Isa::detect(), column, selection, &mut buffer)?;
            buffer.flatten();
            buffers.push(buffer);
        }
        let parts = self.spec.parts().iter().zip(&buffers);
        let vectors: Vec<ColumnVector> = parts.map(|(part, buffer)| vector_of(part, buffer)).collect();
        self.spec.encode_columns(&vectors.iter().collect::<Vec<_>>(), out);
        Ok(())
    }

    /// Appends the key of one row of a chunk. False, and what was appended means nothing, if it has NULL in a column that allows
    /// none: so may rows that are gone.
    pub(crate) fn read_key(&self, view: ChunkView<'_>, offset: u16, out: &mut Vec<u8>) -> Result<bool> {
        for (i, &column) in self.columns.iter().enumerate() {
            let part = &self.spec.parts()[i];
            let value = view.value(column, part.ty, offset)?;
            if value.is_null() && !part.nullable {
                return Ok(false);
            }
            self.parts[i].encode(std::slice::from_ref(&value), out);
        }
        Ok(true)
    }

    /// True if a row of this key has no entry, because the condition of the index is not true for the row.
    pub(crate) fn leaves_out(&self, key: &[u8]) -> bool {
        self.entry.condition.is_some() && self.spec.parts()[0].is_null_in(key)
    }

    /// 54000 for a key that is too long.
    pub(crate) fn check_length(&self, key: &[u8], table: &TableEntry) -> Result<()> {
        if key.len() <= MOST_KEY_BYTES {
            return Ok(());
        }
        let message = format!(
            "index row size {} exceeds maximum {MOST_KEY_BYTES} for index \"{}\"",
            key.len(),
            self.entry.name
        );
        Err(Error::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
            .with_hint("values of more than some hundred characters are found by a scan; index a column of shorter ones")
            .of_table(&table.name))
    }
}

/// The values of a buffer as a column. Strings are those of the buffer, which must outlive the column.
fn vector_of(part: &KeyPart, buffer: &ColumnBuffer) -> ColumnVector {
    let mut vector = ColumnVector::new(part.ty, buffer.len());
    vector.resize(buffer.len());
    dispatch_native!(part.ty.native(), T => {
        vector.values_mut::<T>().copy_from_slice(buffer.values::<T>());
    });
    let validity = buffer.validity().unwrap_or(&[]);
    let nulls = validity.iter().enumerate().filter(|&(_, &valid)| valid == 0);
    nulls.for_each(|(row, _)| vector.set_null(row));
    vector
}

impl TableIndexes {
    pub(crate) fn of(list: Vec<Arc<TableIndex>>) -> TableIndexes {
        TableIndexes { list }
    }

    /// The indexes of a table without rows.
    pub(crate) fn empty(entry: &TableEntry) -> TableIndexes {
        let schema = entry.stored_schema();
        let empty = |index: &Arc<IndexEntry>| Arc::new(TableIndex::empty(index.clone(), &schema));
        TableIndexes {
            list: entry.indexes.iter().map(empty).collect(),
        }
    }

    /// The indexes, in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<TableIndex>> {
        self.list.iter()
    }

    /// An index by its identity.
    pub fn find(&self, id: ObjectId) -> Option<&Arc<TableIndex>> {
        self.list.iter().find(|index| index.entry.id == id)
    }

    /// True if one of them is unique.
    pub(crate) fn has_unique(&self) -> bool {
        self.list.iter().any(|index| index.entry.unique)
    }

    /// Whether the table has none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether an index decides if a row is left out: it is unique, and among those named, if any is named.
    pub(crate) fn is_arbiter(index: &TableIndex, named: &[ObjectId]) -> bool {
        index.entry.unique && (named.is_empty() || named.contains(&index.entry.id))
    }

    /// The keys of columns, for each index.
    pub(crate) fn keys(&self, columns: Columns<'_>) -> Vec<EncodedKeys> {
        let mut keys = Vec::new();
        self.keys_into(columns, &mut keys);
        keys
    }

    /// The same, in memory that may have served before.
    pub(crate) fn keys_into(&self, columns: Columns<'_>, keys: &mut Vec<EncodedKeys>) {
        keys.resize_with(self.list.len(), EncodedKeys::default);
        for (index, keys) in self.list.iter().zip(keys) {
            let column = |part: usize| columns.at(index.columns[part]);
            index.spec.encode_by(column, keys);
        }
    }

    /// Those of them that serve a table under another entry: their definitions are there, and their columns have the
    /// values that they had. `numbers`: those of the table's columns before and now.
    pub(crate) fn kept_by(
        &self,
        entry: &TableEntry,
        numbers: (&[ColumnNumber], &[ColumnNumber]),
        schema: &Schema,
    ) -> TableIndexes {
        let kept = self.list.iter().filter_map(|index| {
            let now = entry.indexes.iter().find(|now| now.id == index.entry.id)?;
            let before = index.columns.iter().map(|&column| numbers.0.get(column));
            let is_same = before.eq(now.stored_keys().map(|key| numbers.1.get(key.column)))
                && index.spec == key_spec(now, schema);
            is_same.then(|| Arc::new(index.renamed(now.clone())))
        });
        TableIndexes::of(kept.collect())
    }

    /// Adds the entries of a row that somebody else has inserted, and whose keys are at a position of `keys`. 54000 for
    /// a key that is too long.
    pub(crate) fn replay_entries(
        &self,
        (keys, at): (&[EncodedKeys], usize),
        row: RowId,
        table: &TableEntry,
    ) -> Result<()> {
        for (index, keys) in self.list.iter().zip(keys) {
            let key = keys.key(at);
            if !index.leaves_out(key) {
                index.check_length(key, table)?;
                index.tree.insert(key, row, None);
            }
        }
        Ok(())
    }

    /// The keys of all rows of a chunk, for each index.
    pub(crate) fn keys_of_chunk(&self, view: ChunkView<'_>) -> Result<Vec<EncodedKeys>> {
        let mut all = Vec::with_capacity(self.list.len());
        for index in &self.list {
            let mut keys = EncodedKeys::default();
            index.read_keys(view, Selection::all(0..view.rows()), &mut keys)?;
            all.push(keys);
        }
        Ok(all)
    }

    /// Removes the entries of rows of a chunk, which need not be shown by any version. `offsets` ascend.
    pub(crate) fn remove_entries(&self, chunk: &Arc<Chunk>, number: u32, offsets: &[u16]) -> Result<()> {
        let Some(&last) = offsets.last() else {
            return Ok(());
        };
        let view = ChunkView::new(chunk, u32::from(last) + 1, None);
        if let &[offset] = offsets {
            return self.remove_entries_of(view, RowId::new(number, offset));
        }
        let mut keys = EncodedKeys::default();
        for index in &self.list {
            index.read_keys(view, Selection::Positions(offsets), &mut keys)?;
            for (at, &offset) in offsets.iter().enumerate() {
                (index.tree).remove(keys.key(at), RowId::new(number, offset), &|| true);
            }
        }
        Ok(())
    }

    /// Removes the entries of one row.
    fn remove_entries_of(&self, view: ChunkView<'_>, row: RowId) -> Result<()> {
        let (mut key, mut keys) = (Vec::new(), EncodedKeys::default());
        for index in &self.list {
            key.clear();
            if index.read_key(view, row.offset(), &mut key)? {
                index.tree.remove(&key, row, &|| true);
            } else {
                index.read_keys(view, Selection::Positions(&[row.offset()]), &mut keys)?;
                index.tree.remove(keys.key(0), row, &|| true);
            }
        }
        Ok(())
    }
}
