//! Whether the indexes of a version of a table agree with its rows, in both directions: each live row is found by its key, and each
//! entry leads to a row that has its key, or to one that the version does not show.
//!
//! An entry names its row by id, so a live row that has one entry under its own key has no other one exactly if there are as many
//! entries of live rows as live rows. So the second direction is a count, and only where it fails are keys compared one by one.
//! Writers may go on meanwhile: entries of rows that the version shows stay as long as the version is held.

use crate::chunk_entry::ChunkEntry;
use crate::snapshot::TableSnapshot;
use crate::table_indexes::TableIndex;
use frazil_index::{Direction, KeyRange};
use frazil_kernels::Selection;
use frazil_types::{Cancel, EncodedKeys, Result, RowId};

/// Faults of an index that are told; more are counted.
const MOST_FAULTS: usize = 20;

/// Entries that are looked at between two questions for cancellation.
const STEP: u64 = 1 << 16;

/// What the check of one index found.
#[derive(Clone, Debug, Default)]
pub struct IndexCheck {
    /// Live rows, of a partial index those for which its condition is true.
    pub rows: u64,
    /// Entries of live rows.
    pub live_entries: u64,
    /// Entries of rows that the version does not show: deleted ones whose entries have not left, and ones of other transactions.
    pub other_entries: u64,
    /// Number of faults.
    pub faults: u64,
    /// The first faults, each a sentence.
    pub told: Vec<String>,
}

impl IndexCheck {
    fn fault(&mut self, text: impl FnOnce() -> String) {
        self.faults += 1;
        if self.told.len() < MOST_FAULTS {
            self.told.push(text());
        }
    }
}

impl TableSnapshot {
    /// Compares an index of the version with its rows. 57014, or the error of a block that cannot be read.
    pub fn check_index(&self, index: &TableIndex, cancel: &Cancel) -> Result<IndexCheck> {
        let mut check = IndexCheck::default();
        for entry in self.chunks() {
            cancel.check()?;
            self.check_chunk(index, entry, &mut check)
                .map_err(|e| entry.blame(self.table().entry(), e))?;
        }
        self.count_entries(index, cancel, &mut check)?;
        if check.live_entries != check.rows {
            self.compare_entries(index, cancel, &mut check)?;
        }
        Ok(check)
    }

    /// Looks up each live row of a chunk by its key.
    fn check_chunk(&self, index: &TableIndex, entry: &ChunkEntry, check: &mut IndexCheck) -> Result<()> {
        let view = entry.view();
        let mut keys = EncodedKeys::default();
        index.read_keys(view, Selection::all(0..view.rows()), &mut keys)?;
        let is_wanted = |offset: &usize| !view.is_deleted(*offset) && !index.leaves_out(keys.key(*offset));
        for offset in (0..keys.len()).filter(is_wanted) {
            let row = RowId::new(entry.number(), offset as u16);
            let shares = !index.entry().unique || index.entry().nulls_distinct && keys.has_null(offset);
            let key = keys.key(offset);
            let found = index.candidates().contains(key, row);
            // Each pair of rivals is told once, for the later one. Looking ends with the first rival, so that one key
            // of many rows costs each of them a few steps.
            let mut rival = None;
            if !shares {
                index.candidates().get(key, &mut |other| {
                    rival = Some(other).filter(|other| *other < row && self.shows(*other));
                    other < row && rival.is_none()
                });
            }
            check.rows += 1;
            if !found {
                check.fault(|| format!("{} is not found by its key", name(row)));
            }
            if let Some(other) = rival {
                check.fault(|| format!("{} has the key of {}", name(row), name(other)));
            }
        }
        Ok(())
    }

    /// Counts entries, and checks their order.
    fn count_entries(&self, index: &TableIndex, cancel: &Cancel, check: &mut IndexCheck) -> Result<()> {
        let mut last: Option<(Vec<u8>, RowId)> = None;
        each_entry(index, cancel, &mut |key, row| {
            match self.shows(row) {
                true => check.live_entries += 1,
                false => check.other_entries += 1,
            }
            if (last.as_ref()).is_some_and(|(before, other)| (before.as_slice(), *other) >= (key, row)) {
                check.fault(|| format!("the entry of {} stands out of order", name(row)));
            }
            let (mut bytes, _) = last.take().unwrap_or((Vec::new(), row));
            bytes.clear();
            bytes.extend_from_slice(key);
            last = Some((bytes, row));
            Ok(())
        })
    }

    /// Tells which entries of live rows do not have the keys of these rows.
    fn compare_entries(&self, index: &TableIndex, cancel: &Cancel, check: &mut IndexCheck) -> Result<()> {
        let mut keys = EncodedKeys::default();
        each_entry(index, cancel, &mut |key, row| {
            let Some(entry) = self.entry(row.chunk()).filter(|_| self.shows(row)) else {
                return Ok(());
            };
            let position = [row.offset()];
            index.read_keys(entry.view(), Selection::Positions(&position), &mut keys)?;
            // Keys that are shown may have zeros behind their end.
            let own = keys.key(0);
            if !key.starts_with(own) || key[own.len()..].iter().any(|&byte| byte != 0) {
                check.fault(|| format!("an entry of {} has another key than the row", name(row)));
            }
            Ok(())
        })
    }
}

/// Shows all entries in order until an error.
fn each_entry(
    index: &TableIndex,
    cancel: &Cancel,
    entry: &mut dyn FnMut(&[u8], RowId) -> Result<()>,
) -> Result<()> {
    let mut result = Ok(());
    let mut count = 0;
    let mut show = |key: &[u8], row: RowId| {
        count += 1;
        let go_on = if count % STEP == 0 { cancel.check() } else { Ok(()) };
        result = go_on.and_then(|()| entry(key, row));
        result.is_ok()
    };
    (index.candidates()).range(KeyRange::default(), Direction::Ascending, &mut show);
    result
}

fn name(row: RowId) -> String {
    format!("row {} of chunk {}", row.offset(), row.chunk())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_rows::NewRows;
    use crate::store::Store;
    use crate::table_writer::Conflict;
    use frazil_catalog::{IndexKey, NewIndex, TableOptions};
    use frazil_index::OrderedIndex;
    use frazil_types::{ColumnDef, ColumnVector, LogicalType, ObjectId, RowBatch, Schema, Value};
    use std::sync::Arc;
    use std::time::Duration;

    /// A table of rows 0 to 9, of which row 3 is deleted, with a unique index on its one column.
    fn version() -> Arc<TableSnapshot> {
        let store = Store::new();
        let cancel = Cancel::new();
        let mut transaction = store.begin(Duration::ZERO, &cancel).unwrap();
        let schema = Schema::new(vec![ColumnDef::new("a", LogicalType::Integer)]);
        let id = transaction
            .create_table("t", Arc::new(schema), TableOptions::default())
            .unwrap()
            .id;
        let index = NewIndex {
            name: Some("t_a".into()),
            if_not_exists: false,
            table: ObjectId(1),
            keys: vec![IndexKey::ascending(0)],
            include: Vec::new(),
            unique: true,
            nulls_distinct: true,
            hidden: Vec::new(),
            condition: None,
        };
        transaction.create_index(index, &cancel).unwrap();
        let values: Vec<Value> = (0..10).map(Value::Int).collect();
        let batch = RowBatch {
            columns: vec![ColumnVector::from_values(LogicalType::Integer, &values)],
            rows: values.len(),
        };
        let mut writer = transaction.writer(id).unwrap();
        writer.insert(&NewRows::of(&batch), Conflict::Fail).unwrap();
        writer.delete(&[RowId::new(0, 3)]).unwrap();
        transaction.commit().unwrap();
        store.snapshot().table(id).unwrap().clone()
    }

    fn key(of: i128) -> EncodedKeys {
        let version = version();
        let index = version.indexes().iter().next().unwrap();
        let column = ColumnVector::from_values(LogicalType::Integer, &[Value::Int(of)]);
        let mut keys = EncodedKeys::default();
        index.spec().encode_columns(&[&column], &mut keys);
        keys
    }

    /// What is found after the index was changed behind the table's back.
    fn found(change: impl FnOnce(&TableIndex)) -> IndexCheck {
        let version = version();
        let index = version.indexes().iter().next().unwrap();
        change(index);
        version.check_index(index, &Cancel::new()).unwrap()
    }

    #[test]
    fn an_index_that_agrees_with_its_rows_has_no_fault() {
        let check = found(|_| ());
        assert_eq!(
            (check.rows, check.live_entries, check.other_entries, check.faults),
            (9, 9, 0, 0)
        );
    }

    #[test]
    fn entries_that_are_missing_too_many_or_of_another_key_are_told() {
        let remove = |index: &TableIndex, row: u16, of: i128| {
            assert!((index.tree()).remove(key(of).key(0), RowId::new(0, row), &|| true));
        };
        let add = |index: &TableIndex, row: u16, of: i128| {
            index.tree().insert(key(of).key(0), RowId::new(0, row), None);
        };
        let missing = found(|index| remove(index, 5, 5));
        assert_eq!(missing.told, ["row 5 of chunk 0 is not found by its key"]);
        // As many entries of live rows as there are live rows, and yet two faults.
        let moved = found(|index| {
            remove(index, 5, 5);
            add(index, 5, 50);
        });
        assert_eq!(moved.told, ["row 5 of chunk 0 is not found by its key"]);
        let stray = found(|index| add(index, 5, 50));
        assert_eq!(
            stray.told,
            ["an entry of row 5 of chunk 0 has another key than the row"]
        );
        let rival = found(|index| add(index, 6, 5));
        assert_eq!(rival.faults, 1);
        // Entries of rows that nobody shows are candidates like others.
        let candidate = found(|index| add(index, 77, 5));
        assert_eq!((candidate.other_entries, candidate.faults), (1, 0));
    }
}
