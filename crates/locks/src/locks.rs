//! All locks of a database: how transactions begin, and how an attempt becomes a wait.

use crate::claims::Claims;
use crate::deadlock;
use crate::held::{Held, Placed, Target, TxnId};
use crate::holdings::Holdings;
use crate::left_behind::LeftBehind;
use crate::owner::Owner;
use crate::registry::{Registry, TransactionState};
use crate::sync::{Mutex, lock};
use crate::waiter::{Awaited, Patience, Waiter, Woken};
use crate::waits::{Attempt, Counters, Waits, is_changed_by};
use frazil_types::{Error, MemoryBudget, ObjectId, Result, SqlState};
use std::fmt;
use std::sync::Arc;

/// The claims and locks of one database. Cheap to clone.
#[derive(Clone)]
pub struct Locks(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub holdings: Holdings,
    pub registry: Registry,
    pub waits: Mutex<Waits>,
    pub left_behind: LeftBehind,
    pub budget: MemoryBudget,
}

impl fmt::Debug for Locks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locks").finish_non_exhaustive()
    }
}

impl Locks {
    /// Nothing is locked. `budget`: what claims take their memory from.
    pub fn new(budget: MemoryBudget) -> Locks {
        Locks(Arc::new(Shared {
            holdings: Holdings::new(),
            registry: Registry::new(),
            waits: Mutex::new(Waits::default()),
            left_behind: LeftBehind::new(),
            budget,
        }))
    }

    /// Begins a transaction that may hold claims and locks. It ends when the owner is dropped.
    pub fn begin(&self) -> Owner {
        Owner::new(self.0.clone(), self.0.registry.begin())
    }

    /// The claims on the rows of a table.
    pub fn claims(&self, table: ObjectId) -> Claims {
        Claims::new(self.0.clone(), table)
    }

    /// Numbers of events since the database was opened.
    pub fn counters(&self) -> Counters {
        lock(&self.0.waits).counters
    }
}

impl Shared {
    /// Claims what could not be claimed by a look at its shard alone. Waits if `patience` is given; else the outcome
    /// is the transaction in the way. 40P01, 55P03 and 57014 come from the wait alone.
    pub fn contend(
        &self,
        target: Target,
        held: Held,
        transaction: &Arc<TransactionState>,
        patience: Option<Patience<'_>>,
    ) -> Result<Contended> {
        let waiter = {
            let mut waits = lock(&self.waits);
            let attempt = waits.attempt(&self.holdings, target, held, transaction, patience.is_some());
            let (blocker, is_holder) = match attempt {
                Attempt::Placed(placed) => return Ok(Contended::Placed(placed)),
                Attempt::Blocked(blocker, is_holder) => (blocker, is_holder),
            };
            if patience.is_none() {
                return Ok(Contended::Blocked(blocker));
            }
            let place = waits.next_place(is_holder);
            let waiter = Arc::new(Waiter::new(
                transaction.clone(),
                Awaited::Grant(target, held, place),
            ));
            self.enter(&mut waits, &waiter)?;
            waiter
        };
        if let Some(patience) = patience {
            self.sleep(&waiter, patience)?;
        }
        Ok(Contended::Placed(Placed::New))
    }

    /// Waits until a transaction does not change a row any more, or ends. Returns at once if it does not now.
    pub fn watch(
        &self,
        transaction: &Arc<TransactionState>,
        awaited: Awaited,
        patience: Patience<'_>,
    ) -> Result<()> {
        let waiter = {
            let mut waits = lock(&self.waits);
            let is_due = match awaited {
                Awaited::Release(target, holder) => self.holdings.with(target, |place| {
                    let is_changed = is_changed_by(place, holder);
                    if is_changed {
                        place.set_waited(true);
                    }
                    is_changed
                }),
                Awaited::End(txn) => self.registry.watch(txn),
                Awaited::Grant(..) => return Err(Error::internal("a claim is not an event to watch")),
            };
            if !is_due {
                return Ok(());
            }
            let waiter = Arc::new(Waiter::new(transaction.clone(), awaited));
            self.enter(&mut waits, &waiter)?;
            waiter
        };
        self.sleep(&waiter, patience)
    }

    fn enter(&self, waits: &mut Waits, waiter: &Arc<Waiter>) -> Result<()> {
        waits.enter(&self.holdings, &self.registry, waiter);
        deadlock::resolve(waits, &self.holdings, waiter)
    }

    /// Sleeps until the event comes. Whoever gives up in the moment in which it comes takes it.
    fn sleep(&self, waiter: &Arc<Waiter>, patience: Patience<'_>) -> Result<()> {
        let woken = waiter.sleep(patience);
        if woken == Woken::Served {
            return Ok(());
        }
        let mut waits = lock(&self.waits);
        if waiter.is_served() {
            return Ok(());
        }
        waits.leave(&self.holdings, waiter);
        if woken == Woken::TimedOut {
            waits.counters.timeouts += 1;
            return Err(Error::new(
                SqlState::LOCK_NOT_AVAILABLE,
                "canceling statement due to lock timeout",
            )
            .with_detail(format!("The statement waited for {}.", waiter.awaited))
            .with_hint("end the transaction in the way, or raise lock_timeout"));
        }
        waits.counters.cancels += 1;
        let by_user = || {
            Error::new(
                SqlState::QUERY_CANCELED,
                "canceling statement due to user request",
            )
        };
        Err(patience.cancel.check().err().unwrap_or_else(by_user))
    }

    /// Serves those who wait for what was just freed.
    pub fn serve(&self, targets: &[Target], ended: Option<TxnId>) {
        if targets.is_empty() && ended.is_none() {
            return;
        }
        let mut waits = lock(&self.waits);
        targets
            .iter()
            .for_each(|target| waits.regrant(&self.holdings, *target));
        if let Some(txn) = ended {
            waits.serve_end(txn);
        }
    }
}

/// Outcome of [`Shared::contend`].
pub(crate) enum Contended {
    /// Held; see [`Placed`].
    Placed(Placed),
    /// This transaction is in the way.
    Blocked(TxnId),
}
