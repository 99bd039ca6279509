//! Indexes over rows that are there already, hot and frozen: read chunk by chunk, sorted, and added in order.

use crate::row_fetch::RowFetch;
use crate::snapshot::TableSnapshot;
use crate::table_indexes::{TableIndex, TableIndexes, key_spec};
use frazil_catalog::{IndexEntry, TableEntry};
use frazil_index::SortedEntries;
use frazil_kernels::Selection;
use frazil_types::{Cancel, EncodedKeys, Error, Reservation, Result, RowId, SqlState, Value};
use std::sync::Arc;

impl TableSnapshot {
    /// Builds the indexes that the table's entry names and the version does not have. `memory` grows by the bytes of the new indexes;
    /// what building them takes besides comes out of the same budget and is given back. 23505 if one is unique and rows have the same
    /// key, 54000 for a key that is too long, 53200, 57014.
    pub fn build_indexes(&mut self, cancel: &Cancel, memory: &mut Reservation) -> Result<()> {
        let indexes = TableIndexes::for_entry(self.table().entry(), self, cancel, memory)?;
        self.set_indexes(indexes);
        Ok(())
    }
}

impl TableIndexes {
    /// The indexes of a table's entry over the rows of a version. Those that the version has keep their entries. The errors of
    /// building one.
    fn for_entry(
        entry: &TableEntry,
        version: &TableSnapshot,
        cancel: &Cancel,
        memory: &mut Reservation,
    ) -> Result<TableIndexes> {
        let mut list = Vec::with_capacity(entry.indexes.len());
        for wanted in &entry.indexes {
            let same = |index: &&Arc<TableIndex>| {
                index.entry().id == wanted.id && *index.spec() == key_spec(wanted, version.schema())
            };
            list.push(Arc::new(match version.indexes().iter().find(same) {
                Some(index) => index.renamed(wanted.clone()),
                None => TableIndex::build(wanted.clone(), version, cancel, memory)?,
            }));
        }
        Ok(TableIndexes::of(list))
    }
}

impl TableIndex {
    /// An index over the live rows of a version. 23505 if it is unique and two rows have one key: the error names the key, and
    /// how many rows have it; 54000 for a key that is too long; 53200; 57014. `memory` grows by the bytes of the index.
    pub(crate) fn build(
        entry: Arc<IndexEntry>,
        version: &TableSnapshot,
        cancel: &Cancel,
        memory: &mut Reservation,
    ) -> Result<TableIndex> {
        let index = TableIndex::empty(entry, version.schema());
        let rows = usize::try_from(version.rows()).unwrap_or(usize::MAX);
        let mut held = memory.budget().reserve(SortedEntries::bytes_of_rows(rows))?;
        let (mut sorted, mut keys_held) = (SortedEntries::with_rows(rows), 0);
        let mut keys = EncodedKeys::default();
        for chunk in version.chunks() {
            cancel.check()?;
            let view = chunk.view();
            let all = Selection::all(0..view.rows());
            index
                .read_keys(view, all, &mut keys)
                .map_err(|e| chunk.blame(version.table().entry(), e))?;
            let is_wanted =
                |offset: &usize| !view.is_deleted(*offset) && !index.leaves_out(keys.key(*offset));
            for offset in (0..keys.len()).filter(is_wanted) {
                index.check_length(keys.key(offset), version.table().entry())?;
                let shares = !index.entry().unique || index.entry().nulls_distinct && keys.has_null(offset);
                sorted.push(
                    keys.key(offset),
                    RowId::new(chunk.number(), offset as u16),
                    shares,
                );
            }
            held.grow(sorted.key_bytes() - keys_held)?;
            keys_held = sorted.key_bytes();
        }
        cancel.check()?;
        sorted.sort();
        if let Some((row, count)) = sorted.duplicate() {
            return Err(index.cannot_be_unique(version, row, count));
        }
        let mut counted = 0;
        let mut count = || -> Result<()> {
            cancel.check()?;
            let bytes = index.bytes();
            memory.grow(bytes - counted)?;
            counted = bytes;
            Ok(())
        };
        index.tree().load(&sorted, &mut count)?;
        count()?;
        Ok(index)
    }

    /// The names of the key's columns and a row's values, as in `(a, b)=(1, x)`.
    pub(crate) fn key_text(&self, version: &TableSnapshot, row: RowId) -> Result<String> {
        let entry = version.table().entry();
        let keys: Vec<usize> = self.entry().keys.iter().map(|key| key.column).collect();
        let names: Vec<_> = keys.iter().map(|&key| entry.key_text(key)).collect();
        let values = RowFetch::new(version).fetch_columns(&[row], &keys)?;
        let texts: Vec<String> = (values.columns.iter())
            .map(|column| match column.value(0) {
                Value::Null => "null".to_string(),
                value => value.display(column.ty()).to_string(),
            })
            .collect();
        Ok(format!("({})=({})", names.join(", "), texts.join(", ")))
    }

    pub(crate) fn violated(&self, table: &TableEntry, message: String) -> Error {
        Error::new(SqlState::UNIQUE_VIOLATION, message)
            .of_table(&table.name)
            .in_namespace(table.namespace)
            .of_constraint(&self.entry().name)
    }

    /// 23505: `count` rows of a version have the key of one row.
    fn cannot_be_unique(&self, version: &TableSnapshot, row: RowId, count: u64) -> Error {
        let message = format!("could not create unique index \"{}\"", self.entry().name);
        match self.key_text(version, row) {
            Ok(key) => (self.violated(version.table().entry(), message))
                .with_detail(format!("Key {key} is duplicated."))
                .with_hint(format!(
                    "{count} rows have this key; update or delete all but one of them"
                )),
            Err(unreadable) => unreadable,
        }
    }
}
