//! The list of what a transaction did. It can be done again on top of another version of the store, which is how a
//! commit is merged with those before it, and undone back to a mark, which is how a savepoint is returned to.
//!
//! The transaction keeps a version of its own beside the list, because its statements see what it did. That version
//! is always its base with the list done again. So if nobody has committed since the base, the version is what a
//! merge would make, and is installed as it is: a commit of a row copies the paths to it once. In builds with debug
//! assertions each commit is merged all the same, and both are compared.
//!
//! Between two statements a transaction goes over to a later base, on top of which the list is done again
//! ([`Changes::rebase`]). Tables that nobody else has changed since are taken over as they are.
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
    /// Rows came to slots of a chunk, whose entry had shown `shown` slots.
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

    /// True for a change of the catalog or of a table as a whole.
    fn is_whole(&self) -> bool {
        matches!(self, Change::Replaced { .. } | Change::Catalog(_))
    }

    /// The table that was replaced.
    fn replaced(&self) -> Option<ObjectId> {
        match self {
            Change::Replaced { table, .. } => Some(*table),
            Change::Inserted { .. }
            | Change::Deleted { .. }
            | Change::Began { .. }
            | Change::Sealed { .. }
            | Change::Catalog(_) => None,
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
    /// Number of changes of the catalog and of tables as a whole.
    wholes: usize,
}

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
        self.wholes = 0;
    }

    /// Does everything again on top of a version of the store in which nobody else has changed `tables`, those that the
    /// changes are of: they are taken over. `None` if somebody has, or if the changes are not of rows alone. However
    /// much was done, this costs no more.
    pub fn taken_over(
        &self,
        tables: impl Iterator<Item = ObjectId> + Clone,
        (newest, base, own): (&Snapshot, &Snapshot, &Snapshot),
    ) -> Option<Snapshot> {
        if self.wholes > 0 || !tables.clone().all(|id| is_as_it_was(newest, base, id)) {
            return None;
        }
        let mut next = newest.clone();
        tables.for_each(|id| take_over(&mut next, own, id));
        Some(next)
    }

    /// Rows came to slots of a chunk of which `shown` slots were shown.
    pub fn inserted(&mut self, table: ObjectId, chunk: u32, slots: Range<u32>, shown: u32) {
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
        self.done.push(Change::Began { table, begun, tail });
    }

    /// A chunk joined a table, or took the place of its tail.
    pub fn sealed(&mut self, table: ObjectId, now: Arc<ChunkEntry>, tail: Option<Arc<ChunkEntry>>) {
        self.done.push(Change::Sealed { table, now, tail });
    }

    /// A table is going to be another one as a whole.
    pub fn replaced(&mut self, table: ObjectId, before: Option<Arc<TableSnapshot>>) {
        self.wholes += 1;
        self.done.push(Change::Replaced { table, before });
    }

    /// The catalog is going to be another one.
    pub fn catalog(&mut self, before: Arc<Catalog>) {
        self.wholes += 1;
        self.done.push(Change::Catalog(before));
    }

    /// Undoes what was done since a moment, in the transaction's own version.
    pub fn undo_to(&mut self, mark: Mark, own: &mut Snapshot) {
        for change in self.done.drain(mark.done..).rev() {
            self.wholes -= usize::from(change.is_whole());
            undo(change, &self.offsets, own);
        }
        self.offsets.truncate(mark.offsets);
        self.marked = mark.done;
    }

    /// Does everything again on top of a version of the store, whose timestamp stays. `own` is the transaction's own
    /// version of `base`, which has the tables that were replaced. An internal error if another transaction has changed
    /// what this one had claimed: the catalog, a table that was replaced, a row that was deleted.
    pub fn on(&self, newest: &Snapshot, base: &Snapshot, own: &Snapshot) -> Result<Snapshot> {
        self.merged((newest, base, own), |id| !is_as_it_was(newest, base, id))
    }

    /// As [`Changes::on`]; tables for which `is_moved` is false are taken over from `own`.
    fn merged(
        &self,
        (newest, base, own): (&Snapshot, &Snapshot, &Snapshot),
        is_moved: impl Fn(ObjectId) -> bool,
    ) -> Result<Snapshot> {
        let mut next = newest.clone();
        let timestamp = newest.timestamp + 1;
        let replaced: BTreeSet<ObjectId> = self.done.iter().filter_map(Change::replaced).collect();
        let mut taken = BTreeSet::new();
        for change in &self.done {
            match change.table() {
                Some(id) if replaced.contains(&id) || taken.contains(&id) => {}
                Some(id) if !is_moved(id) => {
                    taken.insert(id);
                    take_over(&mut next, own, id);
                }
                Some(id) => {
                    let table = table_of(&mut next, id)?;
                    self.redo(change, table, timestamp)?;
                    table.make_unseen();
                }
                None => next.catalog = catalog_on(&own.catalog, newest, base)?,
            }
        }
        for id in replaced {
            take_over_replaced(&mut next, (newest, base, own), id)?;
        }
        Ok(next)
    }

    /// As [`Changes::on`], to go on from there: what undoes a change is what undoes it in the result. Later
    /// marks and earlier ones stay valid. Tables that were replaced are taken over as they are. An internal error if
    /// others have changed one of them, or lasting objects of the catalog beside the transaction.
    /// `transaction`: see [`TableSnapshot::make_private`].
    pub fn rebase(
        &mut self,
        (newest, base, own): (&Snapshot, &Snapshot, &Snapshot),
        transaction: &Arc<()>,
    ) -> Result<Snapshot> {
        let mut next = newest.clone();
        let timestamp = newest.timestamp + 1;
        let replaced: BTreeSet<ObjectId> = self.done.iter().filter_map(Change::replaced).collect();
        let mut taken = BTreeSet::new();
        for &id in &replaced {
            take_over_replaced(&mut next, (newest, base, own), id)?;
            taken.insert(id);
        }
        for at in 0..self.done.len() {
            let id = match &mut self.done[at] {
                Change::Catalog(before) => {
                    *before = catalog_on(before, newest, base)?;
                    next.catalog = catalog_on(&own.catalog, newest, base)?;
                    continue;
                }
                Change::Replaced { table, .. }
                | Change::Inserted { table, .. }
                | Change::Deleted { table, .. }
                | Change::Began { table, .. }
                | Change::Sealed { table, .. } => *table,
            };
            if taken.contains(&id) {
                continue;
            }
            if is_as_it_was(newest, base, id) {
                taken.insert(id);
                take_over(&mut next, own, id);
                continue;
            }
            let table = table_of(&mut next, id)?;
            let tail = table.tail().map(|tail| tail.number());
            let shown = |chunk: u32| table.entry(chunk).map_or(0, |entry| entry.view().rows());
            let before = match &self.done[at] {
                Change::Inserted { chunk, .. } => shown(*chunk),
                _ => 0,
            };
            self.redo(&self.done[at], table, timestamp)?;
            if !table.is_private() {
                table.make_private(newest.tables.get(id.0).cloned(), transaction);
            }
            match &mut self.done[at] {
                Change::Inserted { shown, .. } => *shown = before,
                Change::Began { begun, tail: old, .. } => {
                    let is_tail = table.tail().is_some_and(|now| now.number() == begun.number());
                    *old = tail.filter(|_| is_tail);
                }
                Change::Deleted { .. }
                | Change::Sealed { .. }
                | Change::Replaced { .. }
                | Change::Catalog(_) => {}
            }
        }
        Ok(next)
    }

    /// Does a change of the rows of a table again.
    fn redo(&self, change: &Change, table: &mut TableSnapshot, timestamp: u64) -> Result<()> {
        let gone = || Error::internal("a chunk that a transaction wrote to is gone");
        match change {
            Change::Inserted { chunk, slots, .. } => table
                .change(*chunk, |entry| entry.show_slots(slots.clone(), timestamp))
                .ok_or_else(gone),
            Change::Deleted { chunk, offsets, .. } => {
                let offsets = &self.offsets[offsets.clone()];
                let were_live = table.change(*chunk, |entry| {
                    offsets.iter().all(|&offset| {
                        u32::from(offset) < entry.view().rows() && entry.delete(offset, timestamp)
                    })
                });
                match were_live.ok_or_else(gone)? {
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

    /// Describes how a version differs from the one that the changes make of a base; `None` if it does not.
    pub fn difference(&self, base: &Snapshot, own: &Snapshot) -> Option<String> {
        let merged = match self.merged((base, base, own), |_| true) {
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
fn undo(change: Change, offsets: &[u16], own: &mut Snapshot) {
    let id = change.table();
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
        ) => drop(table.change(chunk, |entry| entry.hide_slots(slots, shown))),
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
