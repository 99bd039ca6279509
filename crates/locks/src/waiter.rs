//! A thread that waits: what for, and the seat where it sleeps.

use crate::held::{Held, Target, TxnId};
use crate::mode::AnyMode;
use crate::registry::TransactionState;
use crate::sync::{Condvar, Mutex, lock};
use frazil_types::Cancel;
use std::fmt;
use std::sync::Arc;
use std::task::Wake;
use std::time::Instant;

/// Limits of a wait.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'a> {
    /// End of the wait, with 55P03. `None`: no limit. A time that is past: 55P03 at once, unless there is nothing to
    /// wait for.
    pub until: Option<Instant>,
    /// Ends the wait with 57014.
    pub cancel: &'a Cancel,
}

/// Place in a queue: holders that want more come first, then newcomers, each in the order of their arrival.
pub(crate) type QueuePlace = (bool, u64);

/// An event that a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Awaited {
    /// Being granted `held` in the queue of a row or table.
    Grant(Target, Held, QueuePlace),
    /// The holder's last claim on the row that stops a writer of it.
    Release(Target, TxnId),
    /// The end of a transaction.
    End(TxnId),
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Grant(target, held, _) => match held.mode {
                AnyMode::Row(mode) => write!(f, "a claim {} on {target}", AnyMode::Row(mode)),
                AnyMode::Table(mode) => write!(f, "a lock {} on {target}", AnyMode::Table(mode)),
            },
            Awaited::Release(target, holder) => write!(f, "what transaction {holder} does to {target}"),
            Awaited::End(txn) => write!(f, "the end of transaction {txn}"),
        }
    }
}

/// A waiting thread.
pub(crate) struct Waiter {
    pub transaction: Arc<TransactionState>,
    pub awaited: Awaited,
    pub since: Instant,
    /// True once the event has come. Set under the lock of the waits.
    has_come: Mutex<bool>,
    bell: Condvar,
}

/// Why a thread woke up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The event has come.
    Served,
    /// The limit of time was reached.
    TimedOut,
    /// The statement was cancelled.
    Cancelled,
}

impl Waiter {
    pub fn new(transaction: Arc<TransactionState>, awaited: Awaited) -> Waiter {
        Waiter {
            transaction,
            awaited,
            since: Instant::now(),
            has_come: Mutex::new(false),
            bell: Condvar::new(),
        }
    }

    /// Says that the event has come.
    pub fn serve(&self) {
        *lock(&self.has_come) = true;
        self.bell.notify_all();
    }

    /// True if the event has come.
    pub fn is_served(&self) -> bool {
        *lock(&self.has_come)
    }

    /// Sleeps until the event comes, the time is up or the statement is cancelled.
    pub fn sleep(self: &Arc<Self>, patience: Patience<'_>) -> Woken {
        let _alarm = patience.cancel.alarm(self.clone().into());
        let mut has_come = lock(&self.has_come);
        loop {
            if *has_come {
                return Woken::Served;
            }
            if patience.cancel.is_set() {
                return Woken::Cancelled;
            }
            has_come = match patience.until {
                None => self.bell.wait(has_come).unwrap_or_else(|e| e.into_inner()),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Woken::TimedOut;
                    }
                    let woken = self.bell.wait_timeout(has_come, left);
                    woken.unwrap_or_else(|e| e.into_inner()).0
                }
            };
        }
    }
}

impl Wake for Waiter {
    /// The statement was cancelled. Taking the lock lets a thread that has just looked at the flag fall asleep first.
    fn wake(self: Arc<Self>) {
        drop(lock(&self.has_come));
        self.bell.notify_all();
    }
}
