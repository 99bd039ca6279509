//! The transactions that are open.

use crate::held::TxnId;
use crate::sync::{Mutex, MutexGuard, lock};
use frazil_types::statement_clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Shards of the registry. A power of two: ids are counted, so that their low bits spread them.
const SHARDS: usize = if cfg!(test) { 1 } else { 64 };

/// An open transaction, as others see it.
pub(crate) struct TransactionState {
    pub id: TxnId,
    pub since: Instant,
    /// The session whose statement began it.
    pub session: Option<u64>,
    /// True once somebody waited for what the transaction holds. Until then no circle goes through it, and its waits
    /// need no search. Read and set under the lock of the waits.
    pub blocks: AtomicBool,
    /// True if the transaction sees one version of the data to its end. For lists alone.
    pub keeps_view: AtomicBool,
    /// Number of times that a statement of it ran again. For lists alone.
    pub runs_again: AtomicU64,
    /// True once somebody waited for its end. Set under the lock of its shard of the registry.
    is_watched: AtomicBool,
}

pub(crate) struct Registry {
    next: AtomicU64,
    shards: Box<[Mutex<States>]>,
}

/// Transactions of one shard. Even with a thousand open ones a shard has few, so that a list costs less than a hash.
type States = Vec<Arc<TransactionState>>;

fn find(states: &States, id: TxnId) -> Option<usize> {
    states.iter().position(|state| state.id == id)
}

impl Registry {
    pub fn new() -> Registry {
        Registry {
            next: AtomicU64::new(1),
            shards: (0..SHARDS).map(|_| Mutex::new(States::new())).collect(),
        }
    }

    fn shard(&self, id: TxnId) -> MutexGuard<'_, States> {
        lock(&self.shards[id.0 as usize % self.shards.len()])
    }

    /// Begins a transaction.
    pub fn begin(&self) -> Arc<TransactionState> {
        let state = Arc::new(TransactionState {
            id: TxnId(self.next.fetch_add(1, Ordering::Relaxed)),
            since: Instant::now(),
            session: statement_clock::session(),
            blocks: AtomicBool::new(false),
            keeps_view: AtomicBool::new(false),
            runs_again: AtomicU64::new(0),
            is_watched: AtomicBool::new(false),
        });
        self.shard(state.id).push(state.clone());
        state
    }

    /// Ends a transaction. Returns true if somebody may wait for its end.
    pub fn end(&self, id: TxnId) -> bool {
        let mut shard = self.shard(id);
        let ended = find(&shard, id).map(|at| shard.swap_remove(at));
        drop(shard);
        ended.is_some_and(|state| state.is_watched.load(Ordering::Relaxed))
    }

    /// Notes that somebody waits for the end of a transaction, whose end then says so. Returns false if it has ended.
    pub fn watch(&self, id: TxnId) -> bool {
        let shard = self.shard(id);
        let state = find(&shard, id).map(|at| &shard[at]);
        state
            .inspect(|state| state.is_watched.store(true, Ordering::Relaxed))
            .is_some()
    }

    /// Notes that somebody waits for what a transaction holds. Called under the lock of the waits.
    pub fn set_blocks(&self, id: TxnId) {
        let shard = self.shard(id);
        if let Some(at) = find(&shard, id) {
            shard[at].blocks.store(true, Ordering::Relaxed);
        }
    }

    /// All open transactions, in the order of their ids.
    pub fn list(&self) -> Vec<Arc<TransactionState>> {
        let shards = self.shards.iter().map(lock);
        let mut all: Vec<_> = shards.flat_map(|shard| shard.clone()).collect();
        all.sort_by_key(|state| state.id);
        all
    }
}
