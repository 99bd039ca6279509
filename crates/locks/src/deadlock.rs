//! Circles of waits. A circle closes in the moment when its last member begins to wait, so each new wait searches from
//! itself alone, under the lock of the waits.

use crate::hashing::IdMap;
use crate::held::{Target, TxnId};
use crate::holdings::Holdings;
use crate::mode::AnyMode;
use crate::waiter::{Awaited, QueuePlace, Waiter};
use crate::waits::Waits;
use frazil_types::{Error, Result, SqlState};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A search for a way back to the transaction of one waiter.
struct Search<'a> {
    waits: &'a Waits,
    holdings: &'a Holdings,
    start: TxnId,
    /// Waiters that were reached, by address.
    reached: HashSet<*const Waiter>,
    /// Place in a queue up to which waiters of a mode have been asked for those ahead of them: whoever waits in that
    /// mode closer to the front waits for no others.
    asked: IdMap<(Target, AnyMode), QueuePlace>,
}

/// A waiter on the way, and those it waits for that were not tried yet.
struct Step {
    waiter: Arc<Waiter>,
    untried: Vec<Arc<Waiter>>,
}

/// Ends the circles that a new waiter closes: lets somebody past a queue if that is enough, else fails with 40P01. A
/// waiter that fails has left. The other members of the circle go on when it frees what it holds.
pub(crate) fn resolve(waits: &mut Waits, holdings: &Holdings, waiter: &Arc<Waiter>) -> Result<()> {
    if !waiter.transaction.blocks.load(Ordering::Relaxed) {
        return Ok(());
    }
    while !waiter.is_served() {
        let Some(circle) = find(waits, holdings, waiter) else {
            return Ok(());
        };
        if circle.iter().any(|member| waits.let_past(holdings, member)) {
            continue;
        }
        waits.counters.deadlocks += 1;
        waits.leave(holdings, waiter);
        return Err(deadlock(&circle));
    }
    Ok(())
}

/// Finds a circle through a waiter: each member waits for the transaction of the next one, the last one for the first.
fn find(waits: &Waits, holdings: &Holdings, start: &Arc<Waiter>) -> Option<Vec<Arc<Waiter>>> {
    let mut search = Search {
        waits,
        holdings,
        start: start.transaction.id,
        reached: HashSet::from([Arc::as_ptr(start)]),
        asked: IdMap::default(),
    };
    let mut path = Vec::new();
    let mut next = Some(start.clone());
    loop {
        if let Some(waiter) = next.take() {
            let blockers = search.blockers(&waiter);
            let is_closed = blockers.contains(&search.start);
            let untried = search.waiters_of(&blockers);
            path.push(Step { waiter, untried });
            if is_closed {
                return Some(path.into_iter().map(|step| step.waiter).collect());
            }
        }
        match path.last_mut()?.untried.pop() {
            Some(waiter) if search.reached.insert(Arc::as_ptr(&waiter)) => next = Some(waiter),
            Some(_) => {}
            None => drop(path.pop()),
        }
    }
}

impl Search<'_> {
    /// The transactions that a waiter waits for: holders, and those ahead of it that it may not pass.
    fn blockers(&mut self, waiter: &Waiter) -> Vec<TxnId> {
        match waiter.awaited {
            Awaited::Release(_, holder) => vec![holder],
            Awaited::End(txn) => vec![txn],
            Awaited::Grant(target, held, place) => {
                let mut found = self.holdings.with(target, |place| place.in_the_way(held));
                let Some(queue) = self.waits.queue(target) else {
                    return found;
                };
                let key = (target, held.mode);
                let from = self.asked.get(&key).copied().unwrap_or((false, 0));
                self.asked.insert(key, from.max(place));
                let wanting = &queue.wanting;
                let first = wanting.partition_point(|other| other.queue_place() < Some(from));
                let ahead = wanting
                    .iter()
                    .skip(first)
                    .take_while(|other| other.queue_place() < Some(place));
                found.extend(
                    ahead
                        .filter(|other| other.stops(held))
                        .map(|other| other.transaction.id),
                );
                found
            }
        }
    }

    fn waiters_of(&self, transactions: &[TxnId]) -> Vec<Arc<Waiter>> {
        let all = transactions.iter().flat_map(|txn| self.waits.waiters_of(*txn));
        all.filter(|waiter| !self.reached.contains(&Arc::as_ptr(waiter)))
            .cloned()
            .collect()
    }
}

/// The error of the waiter that closed a circle.
fn deadlock(circle: &[Arc<Waiter>]) -> Error {
    let blockers = circle.iter().cycle().skip(1);
    let lines = circle.iter().zip(blockers).map(|(waiter, blocker)| {
        let (id, blocker) = (waiter.transaction.id, blocker.transaction.id);
        format!(
            "Transaction {id} waits for {}; blocked by transaction {blocker}.",
            waiter.awaited
        )
    });
    Error::new(SqlState::DEADLOCK_DETECTED, "deadlock detected")
        .with_detail(lines.collect::<Vec<_>>().join("\n"))
        .with_hint("run the transaction again")
}
