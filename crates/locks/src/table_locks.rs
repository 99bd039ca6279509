//! Locks on tables: weak ones in slots by transaction, all others in shards by table.
//!
//! Whoever writes rows locks its table, and the store, in a mode that all other writers take, too. In one map under one
//! latch they would meet at each statement, although none is in another's way. So the three modes that conflict with
//! none of each other (ACCESS SHARE, ROW SHARE, ROW EXCLUSIVE) are kept in a slot of the transaction, as PostgreSQL's
//! fast path does.
//!
//! A shard is *open* or *closed*. While it is open, all locks on its tables are weak, nobody waits, and the locks are
//! in slots. Whoever wants to see all locks on a table closes the shard under its latch: one slot after the other, it
//! moves the locks on tables of the shard from the slot to the shard and marks the shard as closed there, both under
//! the latch of the slot. So a weak lock is taken before its slot is emptied, and then moved, or it finds the mark and
//! goes to the shard. When only weak locks are left and nobody waits, the shard opens again: the locks move back, then
//! the marks go.
//!
//! Latches are taken in the order shard, slot. A transaction that frees a lock looks in its slot, then in the shard,
//! then, under the latch of the shard, in its slot again. *Without the third look, a lock that moves back between the
//! first two looks is never freed.*

use crate::hashing::{IdMap, hash_of};
use crate::held::{Held, Placed, TxnId};
use crate::holders::{Holders, OwnLocks};
use crate::mode::{AnyMode, Modes, TableMode};
use crate::sync::{Mutex, MutexGuard, lock};
use frazil_types::ObjectId;

/// Shards of tables. A power of two. Some times the threads that a machine has; loom looks at two.
const SHARDS: usize = if cfg!(test) { 2 } else { 256 };
/// Slots of weak locks. A power of two: transactions are counted, so that their low bits spread them.
const SLOTS: usize = if cfg!(test) { 2 } else { 64 };
/// Tables without locks that a shard keeps, so that locking and freeing one table allocates nothing.
const KEPT: usize = 4;

/// The locks on all tables.
pub(crate) struct TableLocks {
    shards: Box<[Mutex<Shard>]>,
    slots: Box<[Slot]>,
}

#[derive(Default)]
struct Shard {
    tables: IdMap<ObjectId, Holders>,
    is_closed: bool,
}

/// Weak locks of some transactions, in a pair of cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Slot(Mutex<WeakLocks>);

struct WeakLocks {
    held: IdMap<(TxnId, ObjectId), OwnLocks>,
    /// `is_closed[i]`: weak locks on tables of shard `i` go to the shard.
    is_closed: [bool; SHARDS],
}

impl Default for WeakLocks {
    fn default() -> WeakLocks {
        WeakLocks {
            held: IdMap::default(),
            is_closed: [false; SHARDS],
        }
    }
}

/// True for a mode that conflicts with no weak one.
fn is_weak(mode: AnyMode) -> bool {
    mode.bit() & weak() != 0
}

/// The weak modes.
fn weak() -> Modes {
    let modes = [
        TableMode::AccessShare,
        TableMode::RowShare,
        TableMode::RowExclusive,
    ];
    modes
        .iter()
        .fold(0, |all, mode| all | AnyMode::Table(*mode).bit())
}

/// The place of a table's shard. Shards and buckets of a map come from different bits.
fn shard_of(table: ObjectId) -> usize {
    (hash_of(table) >> 24) as usize % SHARDS
}

impl WeakLocks {
    /// Takes a weak lock, which nobody is in the way of.
    fn place(&mut self, table: ObjectId, held: Held) -> Placed {
        match self.held.get_mut(&(held.txn, table)) {
            Some(own) if held.mode.conflicts() & !own.conflicts() == 0 => Placed::Covered,
            Some(own) => {
                own.push(held);
                Placed::New
            }
            None => {
                self.held.insert((held.txn, table), OwnLocks::of(held));
                Placed::New
            }
        }
    }

    /// Takes away the locks of a transaction on a table from a level on. Returns false if there were none at all.
    fn free(&mut self, table: ObjectId, txn: TxnId, from: u32) -> bool {
        let Some(own) = self.held.remove(&(txn, table)) else {
            return false;
        };
        if let Some(kept) = own.below(from) {
            self.held.insert((txn, table), kept);
        }
        true
    }
}

impl TableLocks {
    pub fn new() -> TableLocks {
        TableLocks {
            shards: (0..SHARDS).map(|_| Mutex::new(Shard::default())).collect(),
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
        }
    }

    fn slot(&self, txn: TxnId) -> MutexGuard<'_, WeakLocks> {
        lock(&self.slots[txn.0 as usize % SLOTS].0)
    }

    /// Locks a table if nobody is in the way and nobody waits.
    pub fn place(&self, table: ObjectId, held: Held) -> Placed {
        let at = shard_of(table);
        if is_weak(held.mode) {
            let mut slot = self.slot(held.txn);
            if !slot.is_closed[at] {
                return slot.place(table, held);
            }
        }
        let mut shard = lock(&self.shards[at]);
        if is_weak(held.mode) && !shard.is_closed {
            // The shard was opened meanwhile.
            return self.slot(held.txn).place(table, held);
        }
        self.close(&mut shard, at);
        let placed = shard.tables.entry(table).or_default().place(held);
        self.open_if_weak(&mut shard, at);
        placed
    }

    /// Looks at all locks on a table, and may change them.
    pub fn with<R>(&self, table: ObjectId, look: impl FnOnce(&mut Holders) -> R) -> R {
        let at = shard_of(table);
        let mut shard = lock(&self.shards[at]);
        self.close(&mut shard, at);
        let found = look(shard.tables.entry(table).or_default());
        self.open_if_weak(&mut shard, at);
        found
    }

    /// Takes away the locks of a transaction on a table from a level on. Returns true if somebody waits for the table.
    pub fn free(&self, table: ObjectId, txn: TxnId, from: u32) -> bool {
        if self.slot(txn).free(table, txn, from) {
            return false;
        }
        let at = shard_of(table);
        let mut shard = lock(&self.shards[at]);
        if !shard.is_closed {
            self.slot(txn).free(table, txn, from);
            return false;
        }
        let Some(holders) = shard.tables.get_mut(&table) else {
            return false;
        };
        holders.free(txn, from);
        let is_waited = holders.is_waited;
        self.open_if_weak(&mut shard, at);
        is_waited
    }

    /// Calls `each` with every lock.
    pub fn each(&self, mut each: impl FnMut(ObjectId, Held)) {
        for slot in &self.slots {
            for ((_, table), own) in &lock(&slot.0).held {
                own.all().for_each(|held| each(*table, *held));
            }
        }
        for shard in &self.shards {
            for (table, holders) in &lock(shard).tables {
                holders.holders(|held| each(*table, held));
            }
        }
    }

    /// Closes the shard at a place, whose latch the caller has.
    fn close(&self, shard: &mut Shard, at: usize) {
        if shard.is_closed {
            return;
        }
        for slot in &self.slots {
            let mut slot = lock(&slot.0);
            slot.is_closed[at] = true;
            for ((_, table), own) in slot.held.extract_if(|(_, table), _| shard_of(*table) == at) {
                shard.tables.entry(table).or_default().add_all(own);
            }
        }
        shard.is_closed = true;
    }

    /// Opens the shard at a place, whose latch the caller has, if only weak locks are left and nobody waits.
    fn open_if_weak(&self, shard: &mut Shard, at: usize) {
        if !shard.tables.values().all(|holders| holders.is_within(weak())) {
            return;
        }
        for (table, holders) in &mut shard.tables {
            for own in holders.take_all() {
                let txn = own.txn();
                self.slot(txn).held.insert((txn, *table), own);
            }
        }
        for slot in &self.slots {
            lock(&slot.0).is_closed[at] = false;
        }
        shard.is_closed = false;
        if shard.tables.len() > KEPT {
            shard.tables.clear();
        }
    }
}
