//! Everything that is held, in shards by table and chunk, or by key: two claims meet only if their chunks or keys share
//! a shard.

use crate::chunk_claims::ChunkClaims;
use crate::hashing::{IdMap, hash_of};
use crate::held::{Held, Placed, Target, TxnId};
use crate::holders::Holders;
use crate::mode::{AnyMode, Modes};
use crate::sync::{Mutex, MutexGuard, lock};
use crate::table_locks::TableLocks;
use frazil_types::ObjectId;

/// Shards of chunks and of keys. A power of two. Some times the threads that a machine has; loom looks at
/// two.
const SHARDS: usize = if cfg!(test) { 2 } else { 256 };
/// Chunks without claims that a shard keeps, so that claiming and freeing one row allocates nothing.
const KEPT: usize = 4;
/// Most rows that the hash of a kept chunk has room for.
const KEPT_ROWS: usize = 28;

type ChunkShard = IdMap<(ObjectId, u32), ChunkClaims>;
type KeyShard = IdMap<(ObjectId, u64), Holders>;

/// All claims and table locks of a database.
pub(crate) struct Holdings {
    chunks: Box<[Mutex<ChunkShard>]>,
    tables: TableLocks,
    keys: Box<[Mutex<KeyShard>]>,
}

/// One row, table or key under the latch of its shard.
pub(crate) enum Place<'a> {
    Row(&'a mut ChunkClaims, u16),
    Whole(&'a mut Holders),
}

impl Place<'_> {
    /// Calls `each` with every claim or lock.
    pub fn holders(&self, each: impl FnMut(Held)) {
        match self {
            Place::Row(chunk, offset) => chunk.holders(*offset, each),
            Place::Whole(holders) => holders.holders(each),
        }
    }

    /// Transactions other than `wanted.txn` whose claims conflict with `wanted`. One may be named twice.
    pub fn in_the_way(&self, wanted: Held) -> Vec<TxnId> {
        let mut found = Vec::new();
        if matches!(self, Place::Whole(holders) if !holders.is_in_the_way(wanted)) {
            return found;
        }
        self.holders(|held| {
            if held.txn != wanted.txn && held.mode.conflicts_with(wanted.mode) {
                found.push(held.txn);
            }
        });
        found
    }

    /// The modes that conflict with what a transaction holds.
    pub fn own(&self, txn: TxnId) -> Modes {
        if let Place::Whole(holders) = self {
            return holders.own(txn);
        }
        let mut own = 0;
        self.holders(|held| own |= if held.txn == txn { held.mode.conflicts() } else { 0 });
        own
    }

    /// Records a claim that conflicts with none.
    pub fn add(&mut self, held: Held) -> Placed {
        match self {
            Place::Row(chunk, offset) => chunk.add(*offset, held),
            Place::Whole(holders) => holders.add(held),
        }
    }

    /// Notes whether somebody waits.
    pub fn set_waited(&mut self, is_waited: bool) {
        match self {
            Place::Row(chunk, offset) => chunk.set_waited(*offset, is_waited),
            Place::Whole(holders) => holders.is_waited = is_waited,
        }
    }
}

impl Holdings {
    pub fn new() -> Holdings {
        Holdings {
            chunks: (0..SHARDS).map(|_| Mutex::new(ChunkShard::default())).collect(),
            tables: TableLocks::new(),
            keys: (0..SHARDS).map(|_| Mutex::new(KeyShard::default())).collect(),
        }
    }

    fn chunk_shard(&self, table: ObjectId, chunk: u32) -> MutexGuard<'_, ChunkShard> {
        // Shards and buckets of a map come from different bits.
        lock(&self.chunks[(hash_of((table, chunk)) >> 24) as usize % SHARDS])
    }

    fn key_shard(&self, index: ObjectId, hash: u64) -> MutexGuard<'_, KeyShard> {
        lock(&self.keys[(hash_of((index, hash)) >> 24) as usize % SHARDS])
    }

    /// Takes `held` if nobody is in the way and nobody waits.
    pub fn place(&self, target: Target, held: Held) -> Placed {
        match target {
            Target::Row(table, row) => {
                let mut shard = self.chunk_shard(table, row.chunk());
                let claims = shard.entry((table, row.chunk())).or_default();
                claims.place(row.offset(), held)
            }
            Target::Table(table) => self.tables.place(table, held),
            Target::Key(index, hash) => {
                let mut shard = self.key_shard(index, hash);
                shard.entry((index, hash)).or_default().place(held)
            }
        }
    }

    /// Looks at one row, table or key, and may change it.
    pub fn with<R>(&self, target: Target, look: impl FnOnce(&mut Place<'_>) -> R) -> R {
        match target {
            Target::Row(table, row) => self.with_chunk(table, row.chunk(), |claims| {
                look(&mut Place::Row(claims, row.offset()))
            }),
            Target::Table(table) => self
                .tables
                .with(table, |holders| look(&mut Place::Whole(holders))),
            Target::Key(index, hash) => {
                let mut shard = self.key_shard(index, hash);
                let holders = shard.entry((index, hash)).or_default();
                let found = look(&mut Place::Whole(holders));
                forget_idle_key(&mut shard, (index, hash));
                found
            }
        }
    }

    /// Looks at the claims of one chunk, and may change them.
    pub fn with_chunk<R>(&self, table: ObjectId, chunk: u32, look: impl FnOnce(&mut ChunkClaims) -> R) -> R {
        let mut shard = self.chunk_shard(table, chunk);
        let found = look(shard.entry((table, chunk)).or_default());
        forget_idle_chunk(&mut shard, (table, chunk));
        found
    }

    /// Takes away what a transaction holds of a target from a level on, bitmaps apart. Returns true if somebody waits
    /// for it.
    pub fn free(&self, target: Target, txn: TxnId, from: u32) -> bool {
        match target {
            Target::Row(table, row) => {
                let mut shard = self.chunk_shard(table, row.chunk());
                let Some(claims) = shard.get_mut(&(table, row.chunk())) else {
                    return false;
                };
                let is_waited = claims.free(row.offset(), txn, from);
                if claims.is_empty() && (claims.capacity() > KEPT_ROWS || shard.len() > KEPT) {
                    shard.remove(&(table, row.chunk()));
                }
                is_waited
            }
            Target::Table(table) => self.tables.free(table, txn, from),
            Target::Key(index, hash) => {
                let mut shard = self.key_shard(index, hash);
                let Some(holders) = shard.get_mut(&(index, hash)) else {
                    return false;
                };
                holders.free(txn, from);
                let is_waited = holders.is_waited;
                forget_idle_key(&mut shard, (index, hash));
                is_waited
            }
        }
    }

    /// Calls `each` with groups of claims, with table locks and with claims on keys: transaction, first row, table or
    /// key, mode, number of rows or keys.
    pub fn summary(&self, mut each: impl FnMut(TxnId, Target, AnyMode, usize)) {
        for shard in &self.chunks {
            for ((table, chunk), claims) in lock(shard).iter() {
                claims.summary(|txn, mode, first, rows| {
                    let row = frazil_types::RowId::new(*chunk, first);
                    each(txn, Target::Row(*table, row), mode, rows);
                });
            }
        }
        let mut lock_of = |table, held: Held| each(held.txn, Target::Table(table), held.mode, 0);
        self.tables.each(&mut lock_of);
        for shard in &self.keys {
            for ((index, hash), holders) in lock(shard).iter() {
                holders.holders(|held| each(held.txn, Target::Key(*index, *hash), held.mode, 1));
            }
        }
    }
}

fn forget_idle_chunk(shard: &mut ChunkShard, key: (ObjectId, u32)) {
    let is_crowded = shard.len() > KEPT;
    let goes = |claims: &ChunkClaims| claims.is_empty() && (is_crowded || claims.capacity() > KEPT_ROWS);
    if shard.get(&key).is_some_and(goes) {
        shard.remove(&key);
    }
}

/// Keys are many, and the next claim is on another one: none is kept.
fn forget_idle_key(shard: &mut KeyShard, key: (ObjectId, u64)) {
    if shard.get(&key).is_some_and(Holders::is_idle) {
        shard.remove(&key);
    }
}
