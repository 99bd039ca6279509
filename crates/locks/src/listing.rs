//! Claims, locks, waits and open transactions as data, for system tables.

use crate::held::{Target, TxnId};
use crate::locks::Locks;
use crate::mode::AnyMode;
use crate::sync::lock;
use crate::waiter::Awaited;
use frazil_types::ObjectId;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Claims of one transaction in one mode on rows of one chunk or on keys of one index, or a table lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Its owner.
    pub transaction: TxnId,
    /// The table, the row of the least offset, or the key of the least hash.
    pub first: Target,
    /// Its mode.
    pub mode: AnyMode,
    /// Rows or keys; 0 for a table lock.
    pub rows: usize,
}

/// A thread that waits.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Its transaction.
    pub transaction: TxnId,
    /// The row, table or key; `None` if it waits for the end of a transaction.
    pub target: Option<Target>,
    /// The mode that it asks for; `None` if it waits without asking to hold anything.
    pub mode: Option<AnyMode>,
    /// The transaction whose end it waits for, or whose change of the row.
    pub awaited: Option<TxnId>,
    /// The transactions that keep it waiting: `awaited`, or those that hold the target in a mode in its way.
    pub blockers: Vec<TxnId>,
    /// The time when it began to wait.
    pub since: Instant,
}

/// An open transaction.
#[derive(Clone, Copy, Debug)]
pub struct OpenTransaction {
    /// Its number.
    pub id: TxnId,
    /// The time when it began.
    pub since: Instant,
    /// The number of the session whose statement began it.
    pub session: Option<u64>,
    /// Rows claimed; a row counts once for each mode and savepoint.
    pub rows: usize,
    /// True if one of its threads waits.
    pub waits: bool,
    /// True if it sees one version of the data to its end.
    pub keeps_view: bool,
    /// Number of times that a statement of it ran again.
    pub runs_again: u64,
}

impl Locks {
    /// Everything that is held, by transaction. Looks at one shard after the other: what changes meanwhile may be
    /// missing or there twice.
    pub fn holdings(&self) -> Vec<Holding> {
        let mut groups: BTreeMap<(TxnId, ObjectId, Option<u32>, AnyMode), Holding> = BTreeMap::new();
        self.0.holdings.summary(|transaction, first, mode, rows| {
            let (table, chunk) = match first {
                Target::Row(table, row) => (table, Some(row.chunk())),
                Target::Table(id) | Target::Key(id, _) => (id, None),
            };
            let holding = Holding {
                transaction,
                first,
                mode,
                rows: 0,
            };
            let group = groups.entry((transaction, table, chunk, mode)).or_insert(holding);
            group.first = group.first.min(first);
            group.rows += rows;
        });
        groups.into_values().collect()
    }

    /// All waits, the longest first.
    pub fn waits(&self) -> Vec<Wait> {
        let waits = lock(&self.0.waits);
        let mut all: Vec<Wait> = waits
            .all()
            .map(|waiter| {
                let (target, mode, awaited) = match waiter.awaited {
                    Awaited::Grant(target, held, _) => (Some(target), Some(held.mode), None),
                    Awaited::Release(target, holder) => (Some(target), None, Some(holder)),
                    Awaited::End(txn) => (None, None, Some(txn)),
                };
                let blockers = match waiter.awaited {
                    Awaited::Grant(target, held, _) => {
                        let mut holders = self.0.holdings.with(target, |place| place.in_the_way(held));
                        holders.sort();
                        holders.dedup();
                        holders
                    }
                    Awaited::Release(..) | Awaited::End(_) => awaited.into_iter().collect(),
                };
                Wait {
                    transaction: waiter.transaction.id,
                    target,
                    mode,
                    awaited,
                    blockers,
                    since: waiter.since,
                }
            })
            .collect();
        all.sort_by_key(|wait| (wait.since, wait.transaction));
        all
    }

    /// All open transactions, in the order of their numbers.
    pub fn transactions(&self) -> Vec<OpenTransaction> {
        self.transactions_with(&self.holdings())
    }

    /// As [`Locks::transactions`], with the claims that are held.
    pub fn transactions_with(&self, holdings: &[Holding]) -> Vec<OpenTransaction> {
        let mut rows: BTreeMap<TxnId, usize> = BTreeMap::new();
        for holding in holdings
            .iter()
            .filter(|holding| matches!(holding.first, Target::Row(..)))
        {
            *rows.entry(holding.transaction).or_default() += holding.rows;
        }
        let open = self.0.registry.list();
        let waits = lock(&self.0.waits);
        let describe = |state: &std::sync::Arc<crate::registry::TransactionState>| OpenTransaction {
            id: state.id,
            since: state.since,
            session: state.session,
            rows: rows.get(&state.id).copied().unwrap_or(0),
            waits: !waits.waiters_of(state.id).is_empty(),
            keeps_view: state.keeps_view.load(Ordering::Relaxed),
            runs_again: state.runs_again.load(Ordering::Relaxed),
        };
        open.iter().map(describe).collect()
    }
}
