//! Queues, and who waits for whom. One lock guards all of them; only threads that wait, that end a wait, or that free
//! what somebody waits for take it. Latches of shards are taken below it, never the other way round.

use crate::hashing::IdMap;
use crate::held::{Held, Placed, Target, TxnId};
use crate::holdings::{Holdings, Place};
use crate::mode::{AnyMode, Mode, Modes};
use crate::registry::{Registry, TransactionState};
use crate::waiter::{Awaited, QueuePlace, Waiter};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Numbers of events since the database was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Waits that began.
    pub waits: u64,
    /// Waits that ended with 40P01.
    pub deadlocks: u64,
    /// Waits that ended with 55P03.
    pub timeouts: u64,
    /// Waits that ended with 57014.
    pub cancels: u64,
    /// Waiters that were let past a queue, because they waited in a circle for nobody but others in the queue.
    pub overtakings: u64,
}

/// Those who wait for one row or table.
#[derive(Default)]
pub(crate) struct Queue {
    /// Threads that want to hold it, in the order of [`QueuePlace`].
    pub wanting: VecDeque<Arc<Waiter>>,
    /// Threads that wait until a certain transaction does not change it any more.
    watching: Vec<Arc<Waiter>>,
}

#[derive(Default)]
pub(crate) struct Waits {
    queues: IdMap<Target, Queue>,
    /// Threads that wait for the end of a transaction.
    ends: IdMap<TxnId, Vec<Arc<Waiter>>>,
    /// The waiting threads of a transaction.
    of: IdMap<TxnId, Vec<Arc<Waiter>>>,
    arrivals: u64,
    pub counters: Counters,
}

/// An attempt under the lock of the waits.
pub(crate) enum Attempt {
    /// Held; see [`Placed`].
    Placed(Placed),
    /// This transaction is in the way. The flag: it is one that asks to hold more than it does.
    Blocked(TxnId, bool),
}

impl Waits {
    /// Takes `held` if it conflicts with no holder and, for a newcomer, with nobody in the queue. If it does and
    /// `will_wait` is set, whoever frees the target from now on asks the queue.
    pub fn attempt(
        &self,
        holdings: &Holdings,
        target: Target,
        held: Held,
        transaction: &TransactionState,
        will_wait: bool,
    ) -> Attempt {
        let queue = self.queues.get(&target);
        holdings.with(target, |place| {
            let own = place.own(held.txn);
            if held.mode.conflicts() & !own == 0 {
                return Attempt::Placed(Placed::Covered);
            }
            let mut others = queue.into_iter().flat_map(|queue| &queue.wanting);
            let blocker = match place.in_the_way(held).first() {
                Some(&holder) => Some(holder),
                // A holder may have more at once: to wait behind those who wait for what it holds would be a deadlock.
                None if own != 0 => None,
                None => others
                    .find(|other| other.stops(held))
                    .map(|other| other.transaction.id),
            };
            if let Some(blocker) = blocker {
                if will_wait {
                    place.set_waited(true);
                }
                return Attempt::Blocked(blocker, own != 0);
            }
            if queue.is_some() {
                transaction.blocks.store(true, Ordering::Relaxed);
            }
            Attempt::Placed(place.add(held))
        })
    }

    /// A new place at the end of the queue, or behind the other holders that want more.
    pub fn next_place(&mut self, is_holder: bool) -> QueuePlace {
        self.arrivals += 1;
        (!is_holder, self.arrivals)
    }

    /// Lets a thread wait. Those it waits for learn that they are in the way.
    pub fn enter(&mut self, holdings: &Holdings, registry: &Registry, waiter: &Arc<Waiter>) {
        self.counters.waits += 1;
        let own = self.of.entry(waiter.transaction.id).or_default();
        let waits_already = !own.is_empty();
        own.push(waiter.clone());
        let is_holder = match waiter.awaited {
            Awaited::Grant(target, held, place) => {
                let wanting = &mut self.queues.entry(target).or_default().wanting;
                let at = wanting.partition_point(|other| other.queue_place() < Some(place));
                wanting.insert(at, waiter.clone());
                let holders = holdings.with(target, |place| place.in_the_way(held));
                holders.into_iter().for_each(|holder| registry.set_blocks(holder));
                !place.0
            }
            Awaited::Release(target, holder) => {
                self.queues
                    .entry(target)
                    .or_default()
                    .watching
                    .push(waiter.clone());
                registry.set_blocks(holder);
                false
            }
            Awaited::End(txn) => {
                self.ends.entry(txn).or_default().push(waiter.clone());
                registry.set_blocks(txn);
                false
            }
        };
        if waits_already || is_holder {
            waiter.transaction.blocks.store(true, Ordering::Relaxed);
        }
    }

    /// Takes a thread out that gives up, and serves whoever waited behind it.
    pub fn leave(&mut self, holdings: &Holdings, waiter: &Arc<Waiter>) {
        self.forget(waiter);
        let is_other = |other: &Arc<Waiter>| !Arc::ptr_eq(other, waiter);
        match waiter.awaited {
            Awaited::Grant(target, ..) | Awaited::Release(target, _) => {
                if let Some(queue) = self.queues.get_mut(&target) {
                    queue.wanting.retain(is_other);
                    queue.watching.retain(is_other);
                }
                self.regrant(holdings, target);
            }
            Awaited::End(txn) => {
                let watchers = self.ends.entry(txn).or_default();
                watchers.retain(is_other);
                if watchers.is_empty() {
                    self.ends.remove(&txn);
                }
            }
        }
    }

    /// Takes a thread off the list of those that wait.
    fn forget(&mut self, waiter: &Arc<Waiter>) {
        let id = waiter.transaction.id;
        if let Some(all) = self.of.get_mut(&id) {
            all.retain(|other| !Arc::ptr_eq(other, waiter));
            if all.is_empty() {
                self.of.remove(&id);
            }
        }
    }

    /// Serves those at the front of a queue whom nobody is in the way of any more, each before anybody behind it.
    pub fn regrant(&mut self, holdings: &Holdings, target: Target) {
        let Some(mut queue) = self.queues.remove(&target) else {
            return holdings.with(target, |place| place.set_waited(false));
        };
        let mut served = Vec::new();
        holdings.with(target, |place| {
            queue.watching.retain(|waiter| {
                let stays = waiter.is_kept_waiting(place);
                if !stays {
                    served.push(waiter.clone());
                }
                stays
            });
            let first = served.len();
            grant_from_the_front(&mut queue.wanting, place, &mut served);
            let is_empty = queue.wanting.is_empty() && queue.watching.is_empty();
            place.set_waited(!is_empty);
            if !is_empty {
                let holders = &served[first..];
                let now_block = holders.iter().map(|waiter| &waiter.transaction.blocks);
                now_block.for_each(|blocks| blocks.store(true, Ordering::Relaxed));
            }
        });
        if !(queue.wanting.is_empty() && queue.watching.is_empty()) {
            self.queues.insert(target, queue);
        }
        for waiter in served {
            self.forget(&waiter);
            waiter.serve();
        }
    }

    /// Serves those who wait for the end of a transaction.
    pub fn serve_end(&mut self, txn: TxnId) {
        for waiter in self.ends.remove(&txn).into_iter().flatten() {
            self.forget(&waiter);
            waiter.serve();
        }
    }

    /// Lets a waiter past its queue, unless a holder is in its way. Returns true if it was let.
    pub fn let_past(&mut self, holdings: &Holdings, waiter: &Arc<Waiter>) -> bool {
        let Awaited::Grant(target, held, _) = waiter.awaited else {
            return false;
        };
        let is_placed = holdings.with(target, |place| {
            let is_free = place.in_the_way(held).is_empty();
            if is_free {
                place.add(held);
            }
            is_free
        });
        if is_placed {
            if let Some(queue) = self.queues.get_mut(&target) {
                queue.wanting.retain(|other| !Arc::ptr_eq(other, waiter));
            }
            waiter.transaction.blocks.store(true, Ordering::Relaxed);
            self.forget(waiter);
            self.counters.overtakings += 1;
            waiter.serve();
            self.regrant(holdings, target);
        }
        is_placed
    }

    /// The queue of a row or table.
    pub fn queue(&self, target: Target) -> Option<&Queue> {
        self.queues.get(&target)
    }

    /// The waiting threads of a transaction.
    pub fn waiters_of(&self, txn: TxnId) -> &[Arc<Waiter>] {
        self.of.get(&txn).map_or(&[], Vec::as_slice)
    }

    /// All waiting threads.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Waiter>> {
        self.of.values().flatten()
    }
}

/// Grants what can be granted from the front of a queue: nobody gets past a waiter that it conflicts with.
fn grant_from_the_front(
    wanting: &mut VecDeque<Arc<Waiter>>,
    place: &mut Place<'_>,
    served: &mut Vec<Arc<Waiter>>,
) {
    let mut ahead: Modes = 0;
    let mut at = 0;
    while let Some(waiter) = wanting.get(at) {
        let Awaited::Grant(_, held, _) = waiter.awaited else {
            at += 1;
            continue;
        };
        if held.mode.conflicts() & ahead == 0 && place.in_the_way(held).is_empty() {
            place.add(held);
            served.extend(wanting.remove(at));
            continue;
        }
        if held.mode.stops_everybody() {
            return;
        }
        ahead |= held.mode.bit();
        at += 1;
    }
}

impl Waiter {
    /// The place in a queue, if it is in one.
    pub fn queue_place(&self) -> Option<QueuePlace> {
        match self.awaited {
            Awaited::Grant(_, _, place) => Some(place),
            Awaited::Release(..) | Awaited::End(_) => None,
        }
    }

    /// True if the waiter keeps another transaction, which comes later, from taking `held`.
    pub fn stops(&self, held: Held) -> bool {
        match self.awaited {
            Awaited::Grant(_, wanted, _) => wanted.txn != held.txn && wanted.mode.conflicts_with(held.mode),
            Awaited::Release(..) | Awaited::End(_) => false,
        }
    }

    /// True if the transaction that a watcher waits for still changes the row.
    fn is_kept_waiting(&self, place: &Place<'_>) -> bool {
        match self.awaited {
            Awaited::Release(_, holder) => is_changed_by(place, holder),
            Awaited::Grant(..) | Awaited::End(_) => true,
        }
    }
}

/// True if a transaction holds a row in a mode that says that it changes the row.
pub(crate) fn is_changed_by(place: &Place<'_>, txn: TxnId) -> bool {
    let mut is_changed = false;
    place.holders(|held| {
        let changes = matches!(
            held.mode,
            AnyMode::Row(Mode::Rewrite | Mode::Update | Mode::Insert)
        );
        is_changed |= held.txn == txn && changes;
    });
    is_changed
}
