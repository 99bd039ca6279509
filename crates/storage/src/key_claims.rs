//! Claims on keys to which foreign keys refer: how a child and the removal of its parent meet.
//!
//! A row's id would not do, because UPDATE gives the row another id and leaves the key. So a key is claimed by its
//! index and the hash of its bytes; two keys with one hash only wait for each other.
//!
//! A child is written, then claims its keys *referenced*, then looks for its parents in the newest version. Whoever
//! deletes a parent or changes its key claims the key *removed* before it writes, and looks for children in the newest
//! version when its statement ends. Both keep the claim until their commit is installed. So of the two the second one
//! to be granted its claim sees what the first one committed. Each other order has a history that breaks it:
//!
//! - *Look, then claim:* the child finds its parent. The other transaction claims the key, finds no child, and
//!   commits. The child is granted its claim and commits without a parent.
//! - *Look into the version that the statement began with:* it shows a parent whose removal has been committed since.
//! - *Free at the end of the statement:* the child is written and not committed when the parent's removal looks for
//!   children.
//!
//! ROLLBACK TO frees a claim together with the row for which it was made. A check that is deferred claims when it is
//! done: until then the child counts for nobody, and it finds its parent gone if the removal was committed before.
//!
//! A row of a child that an open transaction deletes still refers to its parent: the look for children waits for the
//! end of the change. It does not wait for an UPDATE that leaves the child's unique keys ([`Mode::Rewrite`]), because
//! PostgreSQL answers at once. Actions claim the children as any write does; if one of them was changed meanwhile,
//! they look again. A child and a parent of one table, or of one transaction, meet like others: a transaction's own
//! claims are never in its way, and a claim is raised if nobody else refers to the key.
//!
//! READ COMMITTED goes over to the newest version for a check ([`Transaction::newest_view`]), so that its actions
//! change what the check found. REPEATABLE READ keeps its version. A child then needs its parent in both versions:
//! 23503 if its own version lacks the parent, 40001 if the parent has gone since. Children are looked for in the
//! newest version; one that the own version does not have stops a removal (23503), or an action (40001).
//!
//! A parent that comes needs no claim. A child whose parent is inserted by an open transaction does not see it and is
//! refused, as in PostgreSQL.
//!
//! # Two claims, and waiting with neither
//!
//! A change that removes a key claims the row as well, because others change the row and leave the key. It must not
//! hold one of them while it waits for the other: *A inserts a child, then updates the parent's row; B deletes the
//! parent.* If B waits for the key and has the row, A waits for B: a deadlock, where PostgreSQL, which has one lock
//! for both, goes on. *A updates the row, then inserts a child* would be one in the other order. So B tries both; if
//! one of them is not free it gives back what it got, waits for that one, and tries the other again.
//!
//! # Many keys
//!
//! A transaction that claims a key locks the index as a whole in a mode that says so (ROW SHARE for keys that are
//! referenced, ROW EXCLUSIVE for keys that are removed). One that would claim more than [`MOST_KEYS`] keys locks the
//! index in SHARE or ACCESS EXCLUSIVE mode and claims no key: it waits for all others, and they wait for it, but five
//! million children cost one lock.

use crate::other_writers::OtherWriters;
use crate::snapshot::{Snapshot, TableSnapshot};
use crate::store::Store;
use crate::table_indexes::TableIndex;
use crate::transaction::Transaction;
use frazil_kernels::hash::hash_bytes;
use frazil_locks::{Claimed, KeyMode, Mode, Outcome, Owner, TableMode};
use frazil_types::{Error, ObjectId, Result, RowBatch, RowId, SqlState, Value};
use std::sync::Arc;

/// Most keys that a transaction claims one by one: about 1.5 MiB.
const MOST_KEYS: usize = 4096;
/// Bytes of a claim on a key.
const KEY_BYTES: usize = 384;
/// Attempts at a row and its keys together, after which what is granted is kept while the rest is waited for. Each
/// attempt ends a wait for another transaction.
const MOST_ATTEMPTS: usize = 16;

/// A key by its index and the hash of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    index: ObjectId,
    hash: u64,
}

/// A claim that is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    Row,
    Key(Key),
}

/// Values that rows get.
#[derive(Clone, Copy, Debug)]
pub struct NewValues<'a> {
    /// Positions of the columns in the table.
    pub columns: &'a [usize],
    /// The values, a row for each: `batch.columns[i]` of `columns[i]`. `None`: they are not known yet.
    pub batch: Option<&'a RowBatch>,
}

/// The number by which a key is claimed: a hash of its bytes in the index that a foreign key refers to.
pub fn key_number(key: &[u8]) -> u64 {
    hash_bytes(key)
}

/// The modes in which an index is locked for some of its keys, and for all of them.
fn index_modes(mode: KeyMode) -> (TableMode, TableMode) {
    match mode {
        KeyMode::Referenced => (TableMode::RowShare, TableMode::Share),
        KeyMode::Removed => (TableMode::RowExclusive, TableMode::AccessExclusive),
    }
}

impl OtherWriters {
    /// Makes room for claims on some keys of an index. Returns false if they need not be made one by one: the
    /// transaction is alone, or has locked all keys. 40P01, 55P03, 57014.
    fn open_keys(&mut self, index: ObjectId, keys: usize, mode: KeyMode) -> Result<bool> {
        let (some, all) = index_modes(mode);
        if self.is_alone() || self.has_table(index, all) {
            return Ok(false);
        }
        let is_many = keys.saturating_add(self.keys()) > MOST_KEYS;
        self.lock_table(index, if is_many { all } else { some })?;
        Ok(!is_many)
    }

    /// Claims keys of an index, and waits for those in the way. 40P01, 55P03, 57014, 53200.
    fn claim_keys(&mut self, index: ObjectId, hashes: &[u64], mode: KeyMode) -> Result<()> {
        if hashes.is_empty() || !self.open_keys(index, hashes.len(), mode)? {
            return Ok(());
        }
        let mut new = 0;
        for &hash in hashes {
            new += usize::from(self.claim_key(Key { index, hash }, mode)?);
        }
        self.add_keys(new);
        Ok(())
    }

    /// Claims one key, and waits for those in the way. Returns false if the transaction had it.
    fn claim_key(&self, key: Key, mode: KeyMode) -> Result<bool> {
        let Some(owner) = self.claimant() else {
            return Ok(false);
        };
        let claimed = match owner.claim_key(key.index, key.hash, mode)? {
            Claimed::Held(_) => {
                self.check_cancel()?;
                owner.claim_key_waiting(key.index, key.hash, mode, self.patience())?
            }
            claimed => claimed,
        };
        Ok(claimed == Claimed::New)
    }

    /// Tries to claim a row, and its keys as removed. Returns the first of them that is not free; what came before is
    /// held then.
    fn try_row_and_keys(
        &self,
        (table, row): (ObjectId, RowId),
        keys: &[Key],
        mode: Mode,
    ) -> Result<Option<Blocked>> {
        let Some(owner) = self.claimant() else {
            return Ok(None);
        };
        if owner.claim(table, row, mode)? != Outcome::Granted {
            return Ok(Some(Blocked::Row));
        }
        for &key in keys {
            if let Claimed::Held(_) = owner.claim_key(key.index, key.hash, KeyMode::Removed)? {
                return Ok(Some(Blocked::Key(key)));
            }
        }
        Ok(None)
    }

    /// Claims a row, and its keys as removed: all of them or none. Returns false if another transaction is in the way
    /// of one.
    fn try_claim_row_and_keys(&mut self, row: (ObjectId, RowId), keys: &[Key], mode: Mode) -> Result<bool> {
        let before = self.owner_mut().map(Owner::mark);
        let blocked = self.try_row_and_keys(row, keys, mode)?;
        if let (Some(_), Some(owner), Some(mark)) = (blocked, self.owner_mut(), before) {
            owner.free_since(mark);
        }
        self.add_keys(if blocked.is_none() { keys.len() } else { 0 });
        Ok(blocked.is_none())
    }

    /// Claims a row, and its keys as removed, and waits for those in the way while it holds none of them. 40P01, 55P03,
    /// 57014, 53200.
    fn claim_row_and_keys(
        &mut self,
        store: &Store,
        row: (ObjectId, RowId),
        keys: &[Key],
        mode: Mode,
    ) -> Result<()> {
        let before = self.owner_mut().map(Owner::mark);
        for _ in 0..MOST_ATTEMPTS {
            let Some(blocked) = self.try_row_and_keys(row, keys, mode)? else {
                self.add_keys(keys.len());
                return Ok(());
            };
            if let (Some(owner), Some(mark)) = (self.owner_mut(), before) {
                owner.free_since(mark);
            }
            self.check_cancel()?;
            // It is held when the others are tried.
            match blocked {
                Blocked::Row => self.wait_for_row(store, row, mode)?,
                Blocked::Key(key) => drop(self.claim_key(key, KeyMode::Removed)?),
            }
        }
        self.wait_for_row(store, row, mode)?;
        for &key in keys {
            self.claim_key(key, KeyMode::Removed)?;
        }
        self.add_keys(keys.len());
        Ok(())
    }
}

/// The keys that a row loses, of those of some indexes. `new`: the values that the row gets, by their place in the
/// batch; `None` if it is deleted. A row that the version does not show loses none.
fn lost_keys(
    version: &TableSnapshot,
    indexes: &[ObjectId],
    row: RowId,
    new: Option<(NewValues<'_>, usize)>,
) -> Result<Vec<Key>> {
    let mut keys = Vec::with_capacity(indexes.len());
    let Some(entry) = version.entry(row.chunk()).filter(|_| version.shows(row)) else {
        return Ok(keys);
    };
    let mut bytes = Vec::new();
    for index in indexes.iter().filter_map(|id| version.indexes().find(*id)) {
        if let Some((new, at)) = new
            && !changes(index, new, at, &|column, part| {
                entry
                    .view()
                    .value(column, index.spec().parts()[part].ty, row.offset())
            })?
        {
            continue;
        }
        bytes.clear();
        if index.read_key(entry.view(), row.offset(), &mut bytes)? {
            keys.push(Key {
                index: index.entry().id,
                hash: key_number(&bytes),
            });
        }
    }
    Ok(keys)
}

/// The place of a row in a statement's list, and keys of it.
type KeysOfRow = (usize, Vec<Key>);

/// The rows that lose keys, by their places, each with the keys; `None` if they are more than `most`.
fn losses(
    version: &TableSnapshot,
    indexes: &[ObjectId],
    rows: &[RowId],
    new: Option<NewValues<'_>>,
    most: usize,
) -> Result<Option<Vec<KeysOfRow>>> {
    let mut lost = Vec::new();
    for (at, &row) in rows.iter().enumerate() {
        let keys = lost_keys(version, indexes, row, new.map(|new| (new, at)))?;
        if keys.is_empty() {
            continue;
        }
        if lost.len() == most {
            return Ok(None);
        }
        lost.push((at, keys));
    }
    Ok(Some(lost))
}

/// True if new values may change the key of a row in an index. `old` gives the row's values, by the column's position
/// and its place in the key.
fn changes(
    index: &TableIndex,
    new: NewValues<'_>,
    at: usize,
    old: &dyn Fn(usize, usize) -> Result<Value>,
) -> Result<bool> {
    for (part, &column) in index.columns().iter().enumerate() {
        if let Some(set) = new.columns.iter().position(|c| *c == column) {
            match new.batch {
                Some(batch) if batch.columns[set].value(at) == old(column, part)? => {}
                Some(_) | None => return Ok(true),
            }
        }
    }
    Ok(false)
}

impl Transaction {
    /// Claims keys of a parent by their numbers ([`key_number`]), and waits for those in the way, until the transaction
    /// ends or goes back to a savepoint. 40P01, 55P03, 57014, 53200.
    pub fn claim_keys(
        &mut self,
        parent: ObjectId,
        index: ObjectId,
        numbers: &[u64],
        mode: KeyMode,
    ) -> Result<()> {
        if parent.is_temporary() {
            return Ok(());
        }
        let before = self.others.keys();
        let claimed = self.others.claim_keys(index, numbers, mode);
        claimed.map_err(|error| self.of_keys(parent, error))?;
        let new = self.others.keys() - before;
        self.wrote(0, new * KEY_BYTES)
    }

    /// Claims all keys of an index of a parent, as [`Transaction::claim_keys`] does some.
    pub fn claim_all_keys(&mut self, parent: ObjectId, index: ObjectId, mode: KeyMode) -> Result<()> {
        if parent.is_temporary() {
            return Ok(());
        }
        let locked = self.others.lock_table(index, index_modes(mode).1);
        locked.map(drop).map_err(|error| self.of_keys(parent, error))
    }

    /// Claims rows that a statement is going to delete, or to give other values, as [`Transaction::claim`] does, and
    /// the keys that they lose and to which foreign keys refer.
    pub fn claim_with_keys(
        &mut self,
        table: ObjectId,
        rows: &[RowId],
        new: Option<NewValues<'_>>,
    ) -> Result<()> {
        let sets_a_key = match new {
            Some(new) => self.view().table(table)?.indexes().sets_a_key(new.columns),
            None => true,
        };
        let mode = if sets_a_key { Mode::Update } else { Mode::Rewrite };
        self.claim_all(table, rows, new, mode)
    }

    /// Claims rows in a mode, and the keys that they lose: those that [`Transaction::claim_with_keys`] names.
    pub(crate) fn claim_all(
        &mut self,
        table: ObjectId,
        rows: &[RowId],
        new: Option<NewValues<'_>>,
        mode: Mode,
    ) -> Result<()> {
        let indexes = self.referenced_indexes(table, new.map(|new| new.columns))?;
        if indexes.is_empty() {
            return self.claim_as(table, rows, mode);
        }
        let version = self.view().table(table)?.clone();
        let most = MOST_KEYS.saturating_sub(self.others.keys()) / indexes.len();
        let lost = match new {
            // Each row loses all of its keys.
            None if rows.len() > most => None,
            _ => losses(&version, &indexes, rows, new, most)?,
        };
        if lost.as_ref().is_some_and(Vec::is_empty) {
            return self.claim_as(table, rows, mode);
        }
        let count = lost
            .as_ref()
            .map_or(usize::MAX, |lost| lost.len() * indexes.len());
        let mut open = Vec::with_capacity(indexes.len());
        for index in indexes {
            let opened = self.others.open_keys(index, count, KeyMode::Removed);
            if opened.map_err(|error| self.of_keys(table, error))? {
                open.push(index);
            }
        }
        let Some(lost) = lost.filter(|_| !open.is_empty()) else {
            return self.claim_as(table, rows, mode);
        };
        let bytes = self.others.claim_bytes(rows) + lost.len() * open.len() * KEY_BYTES;
        self.wrote(0, bytes)?;
        let store = self.store().clone();
        let mut from = 0;
        for (at, mut keys) in lost {
            keys.retain(|key| open.contains(&key.index));
            self.others.claim(&store, table, &rows[from..at], mode)?;
            let claimed = self
                .others
                .claim_row_and_keys(&store, (table, rows[at]), &keys, mode);
            claimed.map_err(|error| self.of_keys(table, error))?;
            from = at + 1;
        }
        self.others.claim(&store, table, &rows[from..], mode)?;
        drop(version);
        self.look_at_newest(table, rows)
    }

    /// Claims a row, and the keys that it has, unless another transaction is in the way. Returns true if all are
    /// claimed. 40001 if the row is dead in the newest version; 53200.
    pub(crate) fn try_claim_all(&mut self, table: ObjectId, row: RowId, mode: Mode) -> Result<bool> {
        let mut indexes = self.referenced_indexes(table, None)?;
        let (some, all) = index_modes(KeyMode::Removed);
        indexes.retain(|index| !self.others.has_table(*index, all));
        for index in &indexes {
            if !self.others.has_table(*index, some) && !self.others.try_lock_table(*index, some)? {
                return Ok(false);
            }
        }
        if indexes.is_empty() {
            return self.try_claim(table, row, mode);
        }
        let bytes = self.others.claim_bytes(&[row]) + indexes.len() * KEY_BYTES;
        self.wrote(0, bytes)?;
        let keys = lost_keys(self.view().table(table)?, &indexes, row, None)?;
        let is_claimed = self.others.try_claim_row_and_keys((table, row), &keys, mode)?;
        if is_claimed {
            self.look_at_newest(table, &[row])?;
        }
        Ok(is_claimed)
    }

    /// The indexes of a table to which foreign keys refer, each once. `set`: only those with one of these columns.
    fn referenced_indexes(&self, table: ObjectId, set: Option<&[usize]>) -> Result<Vec<ObjectId>> {
        if table.is_temporary() || self.others.is_alone() {
            return Ok(Vec::new());
        }
        let references = self.view().catalog().references_to(table);
        let mut indexes: Vec<ObjectId> = references.iter().map(|reference| reference.key.index).collect();
        if indexes.is_empty() {
            return Ok(indexes);
        }
        indexes.sort_unstable();
        indexes.dedup();
        let known = self.view().table(table)?.indexes();
        indexes.retain(|id| {
            let is_set = |index: &Arc<TableIndex>| {
                set.is_none_or(|set| index.columns().iter().any(|column| set.contains(column)))
            };
            known.find(*id).is_some_and(is_set)
        });
        Ok(indexes)
    }

    /// Claims rows of a child on which a foreign key acts, as [`Transaction::claim_with_keys`] does. Returns false if
    /// one of them was changed since the version that the transaction sees; it sees that change then, and the rows are
    /// to be looked for again. 40001 if it sees one version to its end.
    pub fn claim_or_renew(
        &mut self,
        table: ObjectId,
        rows: &[RowId],
        new: Option<NewValues<'_>>,
    ) -> Result<bool> {
        match self.claim_with_keys(table, rows, new) {
            Err(error) if error.state() == SqlState::SERIALIZATION_FAILURE && !self.others.keeps_base() => {
                self.others.take_behind();
                self.renew().map(|()| false)
            }
            claimed => claimed.map(|()| true),
        }
    }

    /// Waits until nobody else deletes a row or changes a unique key of it. Returns false if nobody did. 40P01, 55P03,
    /// 57014.
    pub fn wait_for_change_of(&mut self, table: ObjectId, row: RowId) -> Result<bool> {
        if table.is_temporary() {
            return Ok(false);
        }
        self.others.wait_for_change_of(self.store(), table, row)
    }

    /// The newest version with what the transaction did: what checks of foreign keys look at. The transaction goes over
    /// to it, unless it sees one version to its end.
    pub fn newest_view(&mut self) -> Result<Arc<Snapshot>> {
        self.renew()?;
        let next = self.snapshot();
        let base = self.base.clone().filter(|base| !self.store().is_newest(base));
        // Without a base to keep, somebody has committed since it went over.
        let Some(base) = base.filter(|_| self.others.keeps_base()) else {
            return Ok(next);
        };
        let newest = self.store().newest();
        self.others.looks_at(&newest);
        self.memory().merge((&newest, &base, &next)).map(Arc::new)
    }

    /// True if the transaction sees one version to its end, and that is not the newest one of a table.
    pub fn is_behind_in(&self, table: ObjectId) -> bool {
        let base = self.base.as_ref().filter(|_| self.others.keeps_base());
        base.is_some_and(|base| !crate::changes::is_as_it_was(&self.store().newest(), base, table))
    }

    /// 40001: a row was changed by a commit that the transaction does not see.
    pub fn meets_newer(&self) -> Error {
        self.others.newer()
    }

    /// The error of a wait for a key of a table.
    fn of_keys(&self, table: ObjectId, error: Error) -> Error {
        if error.state() != SqlState::LOCK_NOT_AVAILABLE {
            return error;
        }
        let name = self
            .view()
            .table(table)
            .map_or_else(|_| table.0.to_string(), |t| t.table().name().to_owned());
        Error::new(SqlState::LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout")
            .with_detail(format!(
                "The statement waited for a row of table \"{name}\", or for a key of it to which foreign keys refer."
            ))
            .with_hint("end the transaction in the way, or raise lock_timeout")
    }
}
