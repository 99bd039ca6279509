//! The section in which commits take turns, and how long they hold it, once somebody asks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Commits, and their time before the section and in it, since timing began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitTimes {
    /// Commits that left the section.
    pub commits: u64,
    /// Time in which they waited for each other.
    pub waited: Duration,
    /// Time in the section.
    pub held: Duration,
}

/// The section. Commits read no clock until somebody asks for times.
#[derive(Debug, Default)]
pub(crate) struct Section {
    turn: Mutex<()>,
    is_timed: AtomicBool,
    commits: AtomicU64,
    waited_nanos: AtomicU64,
    held_nanos: AtomicU64,
}

/// A commit's turn. Dropping it ends the turn.
pub(crate) struct Turn<'a> {
    section: &'a Section,
    /// The beginning of the turn, if it is timed.
    begun: Option<Instant>,
    _turn: MutexGuard<'a, ()>,
}

impl Section {
    /// Waits until no other commit is in the section. Nobody waits for anything else in the section.
    pub fn enter(&self) -> Turn<'_> {
        let arrived = self.is_timed.load(Ordering::Relaxed).then(Instant::now);
        // A commit that panicked in it installed nothing.
        let turn = self.turn.lock().unwrap_or_else(|e| e.into_inner());
        let begun = arrived.map(|arrived| {
            let begun = Instant::now();
            add(&self.waited_nanos, begun - arrived);
            begun
        });
        Turn {
            section: self,
            begun,
            _turn: turn,
        }
    }

    /// Times commits from now on, and returns the times so far.
    pub fn time(&self) -> CommitTimes {
        self.is_timed.store(true, Ordering::Relaxed);
        CommitTimes {
            commits: self.commits.load(Ordering::Relaxed),
            waited: Duration::from_nanos(self.waited_nanos.load(Ordering::Relaxed)),
            held: Duration::from_nanos(self.held_nanos.load(Ordering::Relaxed)),
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(begun) = self.begun {
            add(&self.section.held_nanos, begun.elapsed());
            self.section.commits.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn add(nanos: &AtomicU64, time: Duration) {
    let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    nanos.fetch_add(time, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_counted_once_they_are_timed() {
        let section = Section::default();
        drop(section.enter());
        assert_eq!(section.time(), CommitTimes::default());
        drop(section.enter());
        drop(section.enter());
        assert_eq!(section.time().commits, 2);
    }
}
