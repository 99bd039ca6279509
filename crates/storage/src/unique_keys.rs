//! Entries of rows as they are written, and keys that only one row may have.
//!
//! Today there is one writer: a key is taken if a candidate is live in the transaction's own version. A row's key never changes,
//! because UPDATE gives the row another id, and ids of rows that were rolled back are not used again: so a candidate has the key.

use crate::snapshot::TableSnapshot;
use crate::table_indexes::{TableIndex, TableIndexes};
use frazil_index::{Inserted, OrderedIndex, Verdict};
use frazil_types::{EncodedKeys, Error, ObjectId, Result, RowId};

/// What stands in the way of an entry, other than the rows that a version shows.
pub(crate) enum Rivals<'a> {
    /// Nothing is looked at: the rows had their keys before.
    None,
    /// Live rows of the version.
    Live,
    /// Those, and rows for which the function is true: rows that the statement is going to replace after the one that is written.
    LiveOr(&'a dyn Fn(RowId) -> bool),
}

impl TableIndexes {
    /// Adds the entries of a row that was written, `keys[i].key(at)` being its key in index `i`. 23505 if a rival has the key of
    /// a unique index, 54000 for a key that is too long.
    pub(crate) fn add(
        &self,
        version: &TableSnapshot,
        keys: &[EncodedKeys],
        at: usize,
        row: RowId,
        rivals: &Rivals<'_>,
    ) -> Result<()> {
        for (index, keys) in self.iter().zip(keys) {
            index.check_length(keys.key(at), version.table().entry())?;
            let free = !index.entry().unique || index.entry().nulls_distinct && keys.has_null(at);
            let mut verdict = |other: RowId| rivals.verdict(version, other);
            let asked = !free && !matches!(rivals, Rivals::None);
            let asked = asked.then_some(&mut verdict as &mut dyn FnMut(RowId) -> Verdict);
            if let Inserted::Refused(rival) = index.tree().insert(keys.key(at), row, asked) {
                return Err(index.taken(version, rival));
            }
        }
        Ok(())
    }

    /// Whether a live row of the version has the key that a row would have in one of the arbiters.
    pub(crate) fn conflicts(
        &self,
        version: &TableSnapshot,
        keys: &[EncodedKeys],
        at: usize,
        arbiters: &[ObjectId],
    ) -> bool {
        let arbiters: Vec<ObjectId> = self.arbiters(arbiters).map(|index| index.entry().id).collect();
        self.iter()
            .zip(keys)
            .filter(|(index, keys)| {
                arbiters.contains(&index.entry().id) && !(index.entry().nulls_distinct && keys.has_null(at))
            })
            .any(|(index, keys)| {
                let mut live = false;
                index.tree().get(keys.key(at), &mut |row| {
                    live = version.shows(row);
                    !live
                });
                live
            })
    }
}

impl Rivals<'_> {
    fn verdict(&self, version: &TableSnapshot, row: RowId) -> Verdict {
        let counts = match self {
            Rivals::None => false,
            Rivals::Live => version.shows(row),
            Rivals::LiveOr(other) => version.shows(row) || other(row),
        };
        if counts { Verdict::Rival } else { Verdict::NoRival }
    }
}

impl TableIndex {
    /// 23505: a row in a version has the key that another row wants.
    fn taken(&self, version: &TableSnapshot, row: RowId) -> Error {
        let name = &self.entry().name;
        let message = format!("duplicate key value violates unique constraint \"{name}\"");
        match self.key_text(version, row) {
            Ok(key) => (self.violated(version.table().entry(), message))
                .with_detail(format!("Key {key} already exists.")),
            Err(unreadable) => unreadable,
        }
    }
}

impl TableSnapshot {
    /// Whether the version shows a row and the row is not deleted.
    pub fn shows(&self, row: RowId) -> bool {
        self.entry(row.chunk()).is_some_and(|entry| {
            let (view, offset) = (entry.view(), row.offset());
            u32::from(offset) < view.rows() && !view.is_deleted(offset.into())
        })
    }
}
