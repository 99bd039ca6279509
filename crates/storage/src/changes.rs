//! The list of what a transaction did. It can be done again on top of another version of the store, which is how a
//! commit is merged with those before it, and undone back to a mark, which is how a savepoint is returned to.
//!
//! The transaction keeps a version of its own beside the list, because its statements see what it did. That version
//! is always its base with the list done again. So if nobody has committed since the base, the version is what a
//! merge would make, and is installed as it is: a commit of a row copies the paths to it once. In builds with debug
//! assertions each commit is merged all the same, and both are compared.
//!
//! A merge takes over tables that nobody else has changed since the base. In others it compares the own version with
//! the base, chunk by chunk, and does to the chunks of the newest version what was done to those of the base
//! ([`crate::merged_slots`]). So it costs what was touched, however many statements touched it, and however much of
//! the table there is. Between two statements a transaction goes over to a later base in the same way
//! ([`Changes::rebase`]).
//!
//! Two transactions on one base commute where they touch different rows: each shows its own slots and marks those
//! that it deleted, and neither reads what the other one shows. What changes a table as a whole (definitions,
//! TRUNCATE, FREEZE) takes the place of the newest version of the table; whoever does that keeps other writers away
//! from the table.
//!
//! Undoing costs what is undone, however much the transaction did before; so does a mark, which is a length.

use crate::chunk_entry::ChunkEntry;
use crate::snapshot::{Snapshot, TableSnapshot};
use frazil_catalog::Catalog;
use frazil_types::{Error, ObjectId, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Changes, and offsets of deleted rows, whose memory serves the next transaction.
const MOST_KEPT: usize = 1 << 10;

/// Something that a transaction did.
#[derive(Debug)]
enum Change {
    /// Rows came to slots of a chunk, whose entry had shown `shown` slots. With a later base, it has shown those that
    /// the base has, too.
    Inserted {
        table: ObjectId,
        chunk: u32,
        slots: Range<u32>,
        shown: u32,
    },
    /// Rows of a chunk were deleted, which were live. `offsets` are positions in [`Changes::offsets`].
    Deleted {
        table: ObjectId,
        chunk: u32,
        offsets: Range<usize>,
    },
    /// A chunk was begun, which has no rows yet. The tail before it, if there was one, takes no further rows.
    Began {
        table: ObjectId,
        begun: ChunkEntry,
        tail: Option<u32>,
    },
    /// A chunk joined a table, or took the place of the transaction's own tail. It takes no further rows.
    Sealed {
        table: ObjectId,
        now: Arc<ChunkEntry>,
        tail: Option<Arc<ChunkEntry>>,
    },
    /// A table is another one as a whole, is new (`None`), or is gone.
    Replaced {
        table: ObjectId,
        before: Option<Arc<TableSnapshot>>,
    },
    /// The catalog is another one.
    Catalog(Arc<Catalog>),
}

impl Change {
    fn table(&self) -> Option<ObjectId> {
        match self {
            Change::Inserted { table, .. }
            | Change::Deleted { table, .. }
            | Change::Began { table, .. }
            | Change::Sealed { table, .. }
            | Change::Replaced { table, .. } => Some(*table),
            Change::Catalog(_) => None,
        }
    }
}

/// True if nobody has changed a table since the base.
pub(crate) fn is_as_it_was(newest: &Snapshot, base: &Snapshot, id: ObjectId) -> bool {
    match (newest.tables.get(id.0), base.tables.get(id.0)) {
        (Some(newest), Some(base)) => Arc::ptr_eq(newest, base),
        (newest, base) => newest.is_none() && base.is_none(),
    }
}

/// Gives a version the table that a transaction has.
fn take_over(next: &mut Snapshot, own: &Snapshot, id: ObjectId) {
    match own.tables.get(id.0) {
        Some(table) => next.tables.insert(id.0, table.clone()),
        None => next.tables.remove(id.0),
    }
}

/// A catalog of a transaction, on top of the newest version of the store.
fn catalog_on(own: &Arc<Catalog>, newest: &Snapshot, base: &Snapshot) -> Result<Arc<Catalog>> {
    match Arc::ptr_eq(&newest.catalog, &base.catalog) {
        true => Ok(own.clone()),
        // Others have defined temporary objects, or the transaction has defined nothing else.
        false => own.merged(&newest.catalog, &base.catalog).map(Arc::new),
    }
}

/// Gives a version the table that a transaction replaced. An internal error if others have changed the table.
fn take_over_replaced(
    next: &mut Snapshot,
    (newest, base, own): (&Snapshot, &Snapshot, &Snapshot),
    id: ObjectId,
) -> Result<()> {
    if !is_as_it_was(newest, base, id) {
        return Err(Error::internal("a table was changed that a transaction replaced"));
    }
    take_over(next, own, id);
    Ok(())
}

/// A table of a version, to be changed. An internal error if the table is gone.
fn table_of(next: &mut Snapshot, id: ObjectId) -> Result<&mut TableSnapshot> {
    let table = next.tables.get_mut(id.0);
    let table = table.ok_or_else(|| Error::internal("a table that was written is gone"))?;
    Ok(Arc::make_mut(table))
}

/// The blocks of some tables that have no live rows in a version, although an earlier one has others of them. Tables
/// whose columns changed are left to the freezer: a version shows other columns without a look at its chunks.
pub(crate) fn dead_blocks(
    tables: impl Iterator<Item = ObjectId>,
    (next, before): (&Snapshot, &Snapshot),
) -> Vec<(ObjectId, u32)> {
    let mut found = Vec::new();
    for id in tables {
        if let (Some(next), Some(before)) = (next.tables.get(id.0), before.tables.get(id.0))
            && Arc::ptr_eq(next.schema(), before.schema())
        {
            let dead = next.chunks_unlike(before).filter(|entry| entry.is_dead_block());
            found.extend(dead.map(|entry| (id, entry.number())));
        }
    }
    found
}

/// Takes chunks out of a version.
pub(crate) fn remove_chunks(next: &mut Snapshot, chunks: &[(ObjectId, u32)]) {
    for (id, number) in chunks {
        if let Some(table) = next.tables.get_mut(id.0) {
            Arc::make_mut(table).remove(*number);
        }
    }
}

/// As [`table_of`]; `None` if the changes of the table are in the version already.
fn unmerged(next: &mut Snapshot, id: ObjectId) -> Result<Option<&mut TableSnapshot>> {
    match next.tables.get(id.0).is_some_and(|table| table.is_private()) {
        true => Ok(None),
        false => table_of(next, id).map(Some),
    }
}

fn chunk_is_gone() -> Error {
    Error::internal("a chunk that a transaction wrote to is gone")
}

/// A moment of the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    done: usize,
    offsets: usize,
}

impl Mark {
    /// True if the moment is before a change, by the change's place in the list.
    pub fn is_before(self, place: usize) -> bool {
        self.done <= place
    }
}

/// All that a transaction did, in order.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    done: Vec<Change>,
    /// Offsets of deleted rows in their chunks.
    offsets: Vec<u16>,
    /// Changes before this one were marked and stay as they are; later ones may take in what follows them.
    marked: usize,
    /// Rows that were inserted.
    rows: usize,
    /// Places of the changes that are not of rows alone, ascending: in a merge these are done again one by one.
    rare: Vec<usize>,
}

/// The newest version, the base of a transaction, and the version that the transaction made of the base.
pub(crate) type Versions<'a> = (&'a Snapshot, &'a Snapshot, &'a Snapshot);

impl Changes {
    /// Bytes of a change, the offsets of deleted rows apart.
    pub const BYTES: usize = size_of::<Change>();

    /// Number of changes.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// True if nothing was done.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// This moment.
    pub fn mark(&mut self) -> Mark {
        self.marked = self.done.len();
        Mark {
            done: self.done.len(),
            offsets: self.offsets.len(),
        }
    }

    /// Forgets everything, and keeps memory for some changes.
    pub fn clear(&mut self) {
        self.done.clear();
        self.done.shrink_to(MOST_KEPT);
        self.offsets.clear();
        self.offsets.shrink_to(MOST_KEPT);
        self.marked = 0;
        self.rows = 0;
        self.rare.clear();
    }

    /// Rows that were inserted.
    pub fn rows(&self) -> usize {
        self.rows
    }

    fn push_rare(&mut self, change: Change) {
        self.rare.push(self.done.len());
        self.done.push(change);
    }

    /// Rows came to slots of a chunk of which `shown` slots were shown.
    pub fn inserted(&mut self, table: ObjectId, chunk: u32, slots: Range<u32>, shown: u32) {
        self.rows += slots.len();
        if self.done.len() > self.marked
            && let Some(Change::Inserted {
                table: of,
                chunk: into,
                slots: before,
                ..
            }) = self.done.last_mut()
            && (*of, *into, before.end) == (table, chunk, slots.start)
        {
            before.end = slots.end;
            return;
        }
        self.done.push(Change::Inserted {
            table,
            chunk,
            slots,
            shown,
        });
    }

    /// Rows of a chunk were deleted.
    pub fn deleted(&mut self, table: ObjectId, chunk: u32, offsets: impl Iterator<Item = u16>) {
        let from = self.offsets.len();
        self.offsets.extend(offsets);
        let offsets = from..self.offsets.len();
        if !offsets.is_empty() {
            self.done.push(Change::Deleted {
                table,
                chunk,
                offsets,
            });
        }
    }

    /// A chunk without rows became the tail, after the chunk of number `tail`.
    pub fn began(&mut self, table: ObjectId, begun: ChunkEntry, tail: Option<u32>) {
        self.push_rare(Change::Began { table, begun, tail });
    }

    /// A chunk joined a table, or took the place of its tail.
    pub fn sealed(&mut self, table: ObjectId, now: Arc<ChunkEntry>, tail: Option<Arc<ChunkEntry>>) {
        self.push_rare(Change::Sealed { table, now, tail });
    }

    /// A table is going to be another one as a whole.
    pub fn replaced(&mut self, table: ObjectId, before: Option<Arc<TableSnapshot>>) {
        self.push_rare(Change::Replaced { table, before });
    }

    /// The catalog is going to be another one.
    pub fn catalog(&mut self, before: Arc<Catalog>) {
        self.push_rare(Change::Catalog(before));
    }

    /// Undoes what was done since a moment, in the transaction's own version of `base`.
    pub fn undo_to(&mut self, mark: Mark, base: Option<&Snapshot>, own: &mut Snapshot) {
        for change in self.done.drain(mark.done..).rev() {
            if let Change::Inserted { slots, .. } = &change {
                self.rows -= slots.len();
            }
            undo(change, &self.offsets, base, own);
        }
        let kept = self.rare.partition_point(|place| *place < mark.done);
        self.rare.truncate(kept);
        self.offsets.truncate(mark.offsets);
        self.marked = mark.done;
    }

    /// Does everything again on top of the newest version, whose timestamp stays. `tables`: all that the changes are
    /// of. An internal error if another transaction has changed what this one had claimed: the catalog, a table that
    /// was replaced, a row that was deleted.
    pub fn on(&self, tables: impl Iterator<Item = ObjectId>, versions: Versions<'_>) -> Result<Snapshot> {
        let (newest, base, own) = versions;
        let mut next = newest.clone();
        let replaced = self.take_over_wholes(&mut next, versions)?;
        for id in tables.filter(|id| !replaced.contains(id)) {
            if is_as_it_was(newest, base, id) {
                take_over(&mut next, own, id);
            } else if let Some(table) = unmerged(&mut next, id)? {
                self.merge_table(table, versions, id)?;
                table.make_unseen();
            }
        }
        Ok(next)
    }

    /// As [`Changes::on`], to go on from there: what undoes a change is what undoes it in the result. Later
    /// marks and earlier ones stay valid. Tables that were replaced are taken over as they are. An internal error if
    /// others have changed one of them, or lasting objects of the catalog beside the transaction.
    /// `transaction`: see [`TableSnapshot::make_private`].
    pub fn rebase(
        &mut self,
        tables: impl Iterator<Item = ObjectId>,
        versions: Versions<'_>,
        transaction: &Arc<()>,
    ) -> Result<Snapshot> {
        let (newest, base, own) = versions;
        let mut next = newest.clone();
        let replaced = self.take_over_wholes(&mut next, versions)?;
        for &at in &self.rare {
            if let Change::Catalog(before) = &mut self.done[at] {
                *before = catalog_on(before, newest, base)?;
            }
        }
        for id in tables.filter(|id| !replaced.contains(id)) {
            if is_as_it_was(newest, base, id) {
                take_over(&mut next, own, id);
                continue;
            }
            let Some(table) = unmerged(&mut next, id)? else {
                continue;
            };
            for (at, now) in self.merge_table(table, versions, id)? {
                if let Change::Began { tail, .. } = &mut self.done[at] {
                    *tail = now;
                }
            }
            table.make_private(newest.tables.get(id.0).cloned(), transaction);
        }
        Ok(next)
    }

    /// Takes over what is not of rows alone: the catalog, and the tables that were replaced, which are returned.
    fn take_over_wholes(&self, next: &mut Snapshot, versions: Versions<'_>) -> Result<Vec<ObjectId>> {
        let (newest, base, own) = versions;
        let mut replaced = Vec::new();
        for &at in &self.rare {
            match &self.done[at] {
                Change::Catalog(_) => next.catalog = catalog_on(&own.catalog, newest, base)?,
                Change::Replaced { table, .. } if !replaced.contains(table) => {
                    take_over_replaced(next, versions, *table)?;
                    replaced.push(*table);
                }
                Change::Replaced { .. }
                | Change::Inserted { .. }
                | Change::Deleted { .. }
                | Change::Began { .. }
                | Change::Sealed { .. } => {}
            }
        }
        Ok(replaced)
    }

    /// Does in a table of the newest version what was done to it in the own one. Returns the tail that each chunk
    /// which was begun has now before it, by the place of the change.
    fn merge_table(
        &self,
        table: &mut TableSnapshot,
        (newest, base, own): Versions<'_>,
        id: ObjectId,
    ) -> Result<Vec<(usize, Option<u32>)>> {
        let timestamp = newest.timestamp + 1;
        let (Some(base), Some(own)) = (base.tables.get(id.0), own.tables.get(id.0)) else {
            return Err(Error::internal("a table that was written is gone"));
        };
        let mut tails = Vec::new();
        let of_table = |at: &&usize| self.done[**at].table() == Some(id);
        for &at in self.rare.iter().filter(of_table) {
            let before = table.tail().map(|tail| tail.number());
            self.redo(&self.done[at], table, timestamp)?;
            if let Change::Began { begun, .. } = &self.done[at] {
                let is_tail = table.tail().is_some_and(|now| now.number() == begun.number());
                tails.push((at, before.filter(|_| is_tail)));
            }
        }
        for entry in own.chunks_unlike(base) {
            let merged = table.change(entry.number(), |now| match base.entry(entry.number()) {
                Some(base) => now.merge(base, entry, timestamp),
                None => {
                    *now = (**entry).clone();
                    Ok(())
                }
            });
            match merged {
                Some(merged) => merged?,
                // All its rows were deleted, and what was done to it here was undone.
                None if base
                    .entry(entry.number())
                    .is_some_and(|base| entry.shows_what(base)) => {}
                None => return Err(chunk_is_gone()),
            }
        }
        Ok(tails)
    }

    /// Does a change of the rows of a table again.
    fn redo(&self, change: &Change, table: &mut TableSnapshot, timestamp: u64) -> Result<()> {
        match change {
            Change::Inserted { chunk, slots, .. } => table
                .change(*chunk, |entry| entry.show_slots(slots.clone(), timestamp))
                .ok_or_else(chunk_is_gone),
            Change::Deleted { chunk, offsets, .. } => {
                let offsets = &self.offsets[offsets.clone()];
                let were_live = table.change(*chunk, |entry| {
                    offsets.iter().all(|&offset| {
                        u32::from(offset) < entry.view().rows() && entry.delete(offset, timestamp)
                    })
                });
                match were_live.ok_or_else(chunk_is_gone)? {
                    true => Ok(()),
                    false => Err(Error::internal("two transactions deleted a row")),
                }
            }
            Change::Began { begun, .. } => {
                table.join(Arc::new(begun.clone()), true);
                Ok(())
            }
            Change::Sealed { now, .. } => {
                table.join(now.clone(), false);
                Ok(())
            }
            Change::Replaced { .. } | Change::Catalog(_) => Ok(()),
        }
    }

    /// Returns the version that the changes make of a base, done again one by one.
    fn done_again(&self, base: &Snapshot, own: &Snapshot) -> Result<Snapshot> {
        let mut next = base.clone();
        let replaced = self.take_over_wholes(&mut next, (base, base, own))?;
        for change in &self.done {
            if let Some(id) = change.table().filter(|id| !replaced.contains(id)) {
                self.redo(change, table_of(&mut next, id)?, base.timestamp + 1)?;
            }
        }
        Ok(next)
    }

    /// Describes how a version differs from the one that the changes make of a base; `None` if it does not.
    pub fn difference(&self, base: &Snapshot, own: &Snapshot) -> Option<String> {
        let merged = match self.done_again(base, own) {
            Ok(merged) => merged,
            Err(error) => return Some(error.to_string()),
        };
        let chunk = |change: &Change| match change {
            Change::Inserted { chunk, .. } | Change::Deleted { chunk, .. } => Some(*chunk),
            Change::Began { begun, .. } => Some(begun.number()),
            Change::Sealed { now, .. } => Some(now.number()),
            Change::Replaced { .. } | Change::Catalog(_) => None,
        };
        let mut touched: BTreeMap<ObjectId, BTreeSet<u32>> = BTreeMap::new();
        for change in &self.done {
            if let Some(table) = change.table() {
                touched.entry(table).or_default().extend(chunk(change));
            }
        }
        touched.iter().find_map(|(id, chunks)| {
            let (own, merged) = (own.tables.get(id.0)?, merged.tables.get(id.0)?);
            own.difference(merged, chunks)
        })
    }
}

/// Undoes a change in the version of the transaction that made it, whose later changes were undone.
fn undo(change: Change, offsets: &[u16], base: Option<&Snapshot>, own: &mut Snapshot) {
    let id = change.table();
    // The base may be a later one, and know more slots than the one that the change was made on.
    let known = |chunk: u32| {
        let entry = id.and_then(|id| base?.tables.get(id.0)?.entry(chunk));
        entry.map_or(0, |entry| entry.view().rows())
    };
    let table = id.and_then(|id| own.tables.get_mut(id.0)).map(Arc::make_mut);
    match (change, table) {
        (Change::Catalog(before), _) => own.catalog = before,
        (
            Change::Replaced {
                table: id,
                before: Some(before),
            },
            _,
        ) => own.tables.insert(id.0, before),
        (Change::Replaced { table, before: None }, _) => own.tables.remove(table.0),
        (
            Change::Inserted {
                chunk, slots, shown, ..
            },
            Some(table),
        ) => {
            let shown = shown.max(known(chunk));
            table.change(chunk, |entry| entry.hide_slots(slots, shown));
        }
        (
            Change::Deleted {
                chunk,
                offsets: deleted,
                ..
            },
            Some(table),
        ) => drop(table.change(chunk, |entry| entry.undelete(&offsets[deleted]))),
        (Change::Began { begun, tail, .. }, Some(table)) => {
            table.remove(begun.number());
            tail.into_iter().for_each(|number| table.unseal(number));
        }
        (Change::Sealed { now, tail: None, .. }, Some(table)) => table.remove(now.number()),
        (
            Change::Sealed {
                now,
                tail: Some(tail),
                ..
            },
            Some(table),
        ) => {
            // Another tail came with a later base: then the chunk takes no more rows.
            if table.tail().is_none() {
                table.unseal(now.number());
            }
            table.change(now.number(), |entry| *entry = (*tail).clone());
        }
        // The table is not there: what dropped it is undone before.
        (
            Change::Inserted { .. } | Change::Deleted { .. } | Change::Began { .. } | Change::Sealed { .. },
            None,
        ) => debug_assert!(false, "a table is gone that a transaction wrote to"),
    }
}
