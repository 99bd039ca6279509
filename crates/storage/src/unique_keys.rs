//! Entries of rows as they are written, and keys that only one row may have.
//!
//! A row is written and claimed, then its entries are added. For an entry in a unique index each candidate with its key
//! is judged under the latch of the leaf, so that of two that add the same key one sees the other: first who has
//! claimed
//! the candidate, then the newest version ([`Beside::meets`]). A candidate that an open transaction inserts or deletes
//! is waited for outside of the latch, and the entry is tried again.
//!
//! A row's key never changes, because UPDATE gives the row another id, and ids of rows that were rolled back are not
//! used again: so a candidate has the key.

use crate::other_writers::{Beside, Met};
use crate::row_queue::Contested;
use crate::snapshot::TableSnapshot;
use crate::table_indexes::{TableIndex, TableIndexes};
use frazil_index::{Inserted, OrderedIndex, Verdict};
use frazil_types::{EncodedKeys, Error, ObjectId, Result, RowId, SqlState};

/// What stands in the way of an entry, other than the rows that a version shows.
pub(crate) enum Rivals<'a> {
    /// Nothing is looked at: the rows had their keys before.
    None,
    /// Nothing, as the rows keep the keys of those that they replace. But a row that may share a key until it is checked is
    /// gone with its check if the transaction replaces it, so deferrable indexes look again.
    Kept,
    /// Live rows of the version.
    Live,
    /// Those, and rows for which the function is true: rows that the statement is going to replace after the one that is written.
    LiveOr(&'a dyn Fn(RowId) -> bool),
    /// Live rows. Nothing was in the way in these indexes when the statement began: what the transaction sees there now
    /// the statement itself wrote. They are asked first, and refuse with 21000.
    OfUpsert(&'a [ObjectId]),
    /// Live rows. Nothing was in the way in these indexes, or in any if the list is empty, a moment ago.
    OfSkip(&'a [ObjectId]),
}

impl TableIndexes {
    /// Adds the entries of a row that was written, `keys[i].key(at)` being its key in index `i`. 23505 if a rival has
    /// the key of a unique index, 54000 for a key that is too long. A rival in a deferrable index makes the row one of
    /// `contested`.
    pub(crate) fn add(
        &self,
        beside: &Beside<'_>,
        (keys, at): (&[EncodedKeys], usize),
        row: RowId,
        rivals: &Rivals<'_>,
        contested: &mut Contested,
    ) -> Result<()> {
        for (index, keys) in self
            .iter()
            .zip(keys)
            .filter(|(index, _)| rivals.is_asked_first(index))
        {
            match index.add(beside, (keys, at), row, rivals)? {
                Added::Free => {}
                Added::Contested => contested.push((index.entry().id, row)),
                Added::Refused(Met::Live) if matches!(rivals, Rivals::OfUpsert(_)) => return Err(met_twice()),
                Added::Refused(_) => return Err(beside.others.newer_in(beside.own.table().id())),
            }
        }
        for (index, keys) in self
            .iter()
            .zip(keys)
            .filter(|(index, _)| !rivals.is_asked_first(index))
        {
            match index.add(beside, (keys, at), row, rivals)? {
                Added::Free => {}
                Added::Contested => contested.push((index.entry().id, row)),
                Added::Refused(_) => return Err(index.taken(beside.own, row)),
            }
        }
        Ok(())
    }

    /// A live row that has the key which a row would have in one of the arbiters. Waits for open transactions that
    /// insert or delete such a row. 40001 if the transaction does not see the row; 55000 if an arbiter is deferrable;
    /// 40P01, 55P03, 57014.
    pub(crate) fn conflict(
        &self,
        beside: &Beside<'_>,
        keys: &[EncodedKeys],
        at: usize,
        arbiters: &[ObjectId],
    ) -> Result<Option<RowId>> {
        for (index, keys) in self.iter().zip(keys) {
            if !TableIndexes::is_arbiter(index, arbiters) {
                continue;
            }
            if index.is_deferrable() {
                return Err(deferrable_arbiter(beside.own, index));
            }
            let shares = index.entry().nulls_distinct && keys.has_null(at);
            if shares || index.leaves_out(keys.key(at)) {
                continue;
            }
            loop {
                let mut met = None;
                index.tree().get(keys.key(at), &mut |row| {
                    met = Some((row, beside.meets(row))).filter(|met| met.1 != Met::Dead);
                    met.is_none()
                });
                match met {
                    None | Some((_, Met::Dead)) => break,
                    Some((row, Met::Live)) => return Ok(Some(row)),
                    Some((_, Met::Unseen)) => return Err(beside.others.newer_in(beside.own.table().id())),
                    Some((row, Met::Open(holder))) => beside.wait(row, holder)?,
                }
            }
        }
        Ok(None)
    }

    /// Whether setting some columns of a row may give it a key that another one has.
    pub(crate) fn sets_a_key(&self, columns: &[usize]) -> bool {
        let is_set = |index: &TableIndex| index.columns().iter().any(|c| columns.contains(c));
        self.iter().any(|index| index.entry().unique && is_set(index))
    }
}

/// 55000.
fn deferrable_arbiter(version: &TableSnapshot, index: &TableIndex) -> Error {
    let message =
        "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters";
    Error::new(SqlState::NOT_IN_STATE, message)
        .of_table(&version.table().entry().name)
        .of_constraint(&index.entry().name)
}

/// An entry that an index was asked to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Added {
    /// Added, or left out by the condition of a partial index; no row may have the key.
    Free,
    /// Added to a deferrable index; another row may have the key.
    Contested,
    /// Not added: the state of the row that has the key.
    Refused(Met),
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
    /// True for an index of ON CONFLICT.
    fn is_asked_first(&self, index: &TableIndex) -> bool {
        match self {
            Rivals::OfUpsert(arbiters) => arbiters.contains(&index.entry().id),
            Rivals::OfSkip(arbiters) => TableIndexes::is_arbiter(index, arbiters),
            Rivals::None | Rivals::Kept | Rivals::Live | Rivals::LiveOr(_) => false,
        }
    }

    fn meets(&self, beside: &Beside<'_>, row: RowId) -> Met {
        match self {
            Rivals::None | Rivals::Kept => Met::Dead,
            Rivals::LiveOr(other) if other(row) => Met::Live,
            Rivals::Live | Rivals::LiveOr(_) | Rivals::OfUpsert(_) | Rivals::OfSkip(_) => beside.meets(row),
        }
    }
}

impl TableIndex {
    /// Adds the entry of a row whose key is that of row `at` of `keys`, unless a live row has the key of a unique
    /// index that is not deferrable. Waits for open transactions that insert or delete such a row. 54000, 40P01, 55P03,
    /// 57014.
    fn add(
        &self,
        beside: &Beside<'_>,
        (keys, at): (&EncodedKeys, usize),
        row: RowId,
        rivals: &Rivals<'_>,
    ) -> Result<Added> {
        if self.leaves_out(keys.key(at)) {
            return Ok(Added::Free);
        }
        self.check_length(keys.key(at), beside.own.table().entry())?;
        let is_free = !self.entry().unique || self.entry().nulls_distinct && keys.has_null(at);
        let is_deferrable = self.is_deferrable();
        let is_asked = !is_free
            && match rivals {
                Rivals::None => false,
                Rivals::Kept => is_deferrable,
                Rivals::Live | Rivals::LiveOr(_) | Rivals::OfUpsert(_) | Rivals::OfSkip(_) => true,
            };
        let mut added = Added::Free;
        loop {
            let mut met = Met::Dead;
            let mut verdict = |other: RowId| {
                if is_deferrable {
                    if added == Added::Free && beside.meets(other) != Met::Dead {
                        added = Added::Contested;
                    }
                    return Verdict::NoRival;
                }
                met = rivals.meets(beside, other);
                match met {
                    Met::Dead => Verdict::NoRival,
                    Met::Live | Met::Unseen | Met::Open(_) => Verdict::Rival,
                }
            };
            let asked = is_asked.then_some(&mut verdict as &mut dyn FnMut(RowId) -> Verdict);
            match (self.tree().insert(keys.key(at), row, asked), met) {
                (Inserted::Added | Inserted::Present, _) => return Ok(added),
                (Inserted::Refused(rival), Met::Open(holder)) => beside.wait(rival, holder)?,
                (Inserted::Refused(_), met) => return Ok(Added::Refused(met)),
            }
        }
    }

    /// 23505: another row has the key of a row that a version shows.
    pub(crate) fn taken(&self, version: &TableSnapshot, row: RowId) -> Error {
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
