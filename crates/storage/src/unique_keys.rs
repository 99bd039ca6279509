//! Entries of rows as they are written, and keys that only one row may have.
//!
//! Today there is one writer: a key is taken if a candidate is live in the transaction's own version. A row's key never changes,
//! because UPDATE gives the row another id, and ids of rows that were rolled back are not used again: so a candidate has the key.

use crate::snapshot::TableSnapshot;
use crate::table_indexes::{TableIndex, TableIndexes};
use frazil_index::{Inserted, OrderedIndex, Verdict};
use frazil_types::{EncodedKeys, Error, ObjectId, Result, RowId, SqlState};

/// What stands in the way of an entry, other than the rows that a version shows.
pub(crate) enum Rivals<'a> {
    /// Nothing is looked at: the rows had their keys before.
    None,
    /// Live rows of the version.
    Live,
    /// Those, and rows for which the function is true: rows that the statement is going to replace after the one that is written.
    LiveOr(&'a dyn Fn(RowId) -> bool),
    /// Live rows. Nothing was in the way in these indexes when the statement began: what is there now the statement itself wrote.
    /// They are asked first, and refuse with 21000.
    OfUpsert(&'a [ObjectId]),
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
        let arbiters = rivals.arbiters();
        let is_arbiter = |index: &TableIndex| arbiters.contains(&index.entry().id);
        for (index, keys) in self.iter().zip(keys).filter(|(index, _)| is_arbiter(index)) {
            if index.add(version, (keys, at), row, rivals)?.is_some() {
                return Err(met_twice());
            }
        }
        for (index, keys) in self.iter().zip(keys).filter(|(index, _)| !is_arbiter(index)) {
            if let Some(rival) = index.add(version, (keys, at), row, rivals)? {
                return Err(index.taken(version, rival));
            }
        }
        Ok(())
    }

    /// A live row of the version that has the key which a row would have in one of the arbiters.
    pub(crate) fn conflict(
        &self,
        version: &TableSnapshot,
        keys: &[EncodedKeys],
        at: usize,
        arbiters: &[ObjectId],
    ) -> Option<RowId> {
        let counts = |index: &TableIndex, keys: &EncodedKeys| {
            TableIndexes::is_arbiter(index, arbiters) && !(index.entry().nulls_distinct && keys.has_null(at))
        };
        (self.iter().zip(keys))
            .filter(|(index, keys)| counts(index, keys))
            .find_map(|(index, keys)| {
                let mut live = None;
                index.tree().get(keys.key(at), &mut |row| {
                    live = version.shows(row).then_some(row);
                    live.is_none()
                });
                live
            })
    }

    /// Whether setting some columns of a row may give it a key that another one has.
    pub(crate) fn sets_a_key(&self, columns: &[usize]) -> bool {
        let is_set = |index: &TableIndex| index.columns().iter().any(|c| columns.contains(c));
        self.iter().any(|index| index.entry().unique && is_set(index))
    }
}

/// 21000: what stands in a row's way was written by the same statement.
fn met_twice() -> Error {
    Error::new(
        SqlState::CARDINALITY_VIOLATION,
        "ON CONFLICT DO UPDATE command cannot affect row a second time",
    )
    .with_hint("make sure that no two rows of the statement have the same key")
}

impl Rivals<'_> {
    /// The indexes of ON CONFLICT DO UPDATE.
    fn arbiters(&self) -> &[ObjectId] {
        match self {
            Rivals::OfUpsert(arbiters) => arbiters,
            Rivals::None | Rivals::Live | Rivals::LiveOr(_) => &[],
        }
    }

    fn verdict(&self, version: &TableSnapshot, row: RowId) -> Verdict {
        let counts = match self {
            Rivals::None => false,
            Rivals::Live | Rivals::OfUpsert(_) => version.shows(row),
            Rivals::LiveOr(other) => version.shows(row) || other(row),
        };
        if counts { Verdict::Rival } else { Verdict::NoRival }
    }
}

impl TableIndex {
    /// Adds the entry of a row whose key is that of row `at` of `keys`, unless a rival has the key of a unique index: the rival.
    /// 54000.
    fn add(
        &self,
        version: &TableSnapshot,
        (keys, at): (&EncodedKeys, usize),
        row: RowId,
        rivals: &Rivals<'_>,
    ) -> Result<Option<RowId>> {
        self.check_length(keys.key(at), version.table().entry())?;
        let free = !self.entry().unique || self.entry().nulls_distinct && keys.has_null(at);
        let mut verdict = |other: RowId| rivals.verdict(version, other);
        let asked = !free && !matches!(rivals, Rivals::None);
        let asked = asked.then_some(&mut verdict as &mut dyn FnMut(RowId) -> Verdict);
        Ok(match self.tree().insert(keys.key(at), row, asked) {
            Inserted::Refused(rival) => Some(rival),
            Inserted::Added | Inserted::Present => None,
        })
    }

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
