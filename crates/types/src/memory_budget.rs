//! The memory budget: what queries may hold in hash tables, sorters and results. Over it a statement
//! fails with 53200 and gives back what it took; nothing else is harmed.

use crate::{Error, Result, SqlState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limit in bytes shared by all that reserve from it.
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit: AtomicUsize,
    used: AtomicUsize,
    peak: AtomicUsize,
}

impl MemoryBudget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> MemoryBudget {
        MemoryBudget(Arc::new(Inner {
            limit: AtomicUsize::new(limit),
            used: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
        }))
    }

    /// A budget that never refuses.
    pub fn unlimited() -> MemoryBudget {
        MemoryBudget::new(usize::MAX)
    }

    /// Changes the limit; what is reserved stays.
    pub fn set_limit(&self, limit: usize) {
        self.0.limit.store(limit, Ordering::Relaxed);
    }

    /// Bytes it may hand out in all.
    pub fn limit(&self) -> usize {
        self.0.limit.load(Ordering::Relaxed)
    }

    /// Bytes handed out now.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Most bytes ever handed out at once.
    pub fn peak(&self) -> usize {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// An empty reservation to grow.
    pub fn reservation(&self) -> Reservation {
        Reservation {
            budget: self.clone(),
            bytes: 0,
        }
    }

    /// `bytes` bytes at once. Error 53200 over the limit.
    pub fn reserve(&self, bytes: usize) -> Result<Reservation> {
        let mut reservation = self.reservation();
        reservation.grow(bytes)?;
        Ok(reservation)
    }

    fn take(&self, bytes: usize) -> Result<()> {
        let limit = self.limit();
        let within = |used: usize| used.checked_add(bytes).filter(|&after| after <= limit);
        // What is refused is never counted, so that it cannot make others fail meanwhile.
        match self
            .0
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, within)
        {
            Ok(before) => {
                self.0.peak.fetch_max(before + bytes, Ordering::Relaxed);
                Ok(())
            }
            Err(before) => Err(Error::new(
                SqlState::OUT_OF_MEMORY,
                format!(
                    "out of memory: {bytes} more bytes over the {before} in use exceed the budget of {limit}"
                ),
            )
            .with_hint("raise memory_limit, or let the query keep fewer rows")),
        }
    }
}

/// Bytes taken from a budget; given back when dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: MemoryBudget,
    bytes: usize,
}

impl Reservation {
    /// Takes `bytes` more; an error of condition 53200 changes nothing.
    pub fn grow(&mut self, bytes: usize) -> Result<()> {
        self.budget.take(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Gives back `bytes` of those held; all if it holds fewer.
    pub fn shrink(&mut self, bytes: usize) {
        let given = bytes.min(self.bytes);
        self.budget.0.used.fetch_sub(given, Ordering::Relaxed);
        self.bytes -= given;
    }

    /// The budget it is taken from.
    pub fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.0.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
