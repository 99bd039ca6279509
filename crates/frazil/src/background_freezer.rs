//! Freezes full chunks that have gone cold, and blocks again that would be held otherwise today, in a thread of its
//! own that mostly sleeps.
//!
//! A chunk is taken to be cold once it has been full for the cooling time; then all full chunks are
//! frozen, one small transaction each, as long as nobody else is writing. Blocks are built anew one by one,
//! within a budget of bytes a second, so that what they take from statements is bounded.
//!
//! While commits come often, the thread looks each millisecond for index entries that they have left to it.
//!
//! What fails, a panic included, is counted and kept (`SHOW frazil.background_failures`), and the thread goes on: with the
//! next table, and at the next tick.

use frazil_storage::Store;
use frazil_types::{Error, Result};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it looks.
const TICK: Duration = Duration::from_millis(500);
/// Time between two removals of the index entries that commits leave. Commits leave few entries in this time, and a
/// core that is otherwise idle wakes up for some microseconds.
const MOMENT: Duration = Duration::from_millis(1);
/// The cooling time unless it is set.
pub const DEFAULT_COOLING: Duration = Duration::from_secs(60);
/// Bytes of blocks built anew in a second unless it is set.
pub const DEFAULT_REFREEZE_BUDGET: u64 = 8 << 20;
const NEVER: u64 = u64::MAX;

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub struct BackgroundFreezer {
    cooling: Arc<AtomicU64>,
    refreeze_budget: Arc<AtomicU64>,
    failures: Arc<Failures>,
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundFreezer {
    /// Starts it. Without a thread nothing is frozen but on demand.
    pub fn start(store: Arc<Store>) -> BackgroundFreezer {
        let cooling = Arc::new(AtomicU64::new(DEFAULT_COOLING.as_millis() as u64));
        let (running, ended) = channel::<()>();
        let refreeze_budget = Arc::new(AtomicU64::new(DEFAULT_REFREEZE_BUDGET));
        let failures = Arc::new(Failures::default());
        let mut work = Work {
            store,
            cooling: cooling.clone(),
            refreeze_budget: refreeze_budget.clone(),
            failures: failures.clone(),
            ended,
            full_since: None,
            budget: Budget::default(),
            before: Instant::now(),
        };
        let thread = std::thread::Builder::new().name("frazil-freezer".to_owned());
        let thread = thread.spawn(move || {
            while work.rest() {
                work.tick();
            }
            work.store.stop_serving_commits();
        });
        BackgroundFreezer {
            cooling,
            refreeze_budget,
            failures,
            running: Some(running),
            thread: thread.ok(),
        }
    }

    /// Sets the cooling time; `None` for never.
    pub fn set_cooling(&self, cooling: Option<Duration>) {
        let millis = cooling.map_or(NEVER, |c| c.as_millis() as u64);
        self.cooling.store(millis, Ordering::Relaxed);
    }

    /// The cooling time.
    pub fn cooling(&self) -> Option<Duration> {
        Some(self.cooling.load(Ordering::Relaxed))
            .filter(|&c| c != NEVER)
            .map(Duration::from_millis)
    }

    /// What failed since it started.
    pub fn failures(&self) -> &Arc<Failures> {
        &self.failures
    }

    /// Sets the bytes of blocks that may be built anew in a second; 0 for none.
    pub fn set_refreeze_budget(&self, bytes: u64) {
        self.refreeze_budget.store(bytes, Ordering::Relaxed);
    }

    /// The bytes of blocks that may be built anew in a second.
    pub fn refreeze_budget(&self) -> u64 {
        self.refreeze_budget.load(Ordering::Relaxed)
    }
}

/// Bytes that may be spent. What is spent beyond them is a debt to be paid first.
#[derive(Debug, Default)]
struct Budget {
    left: f64,
}

impl Budget {
    /// Adds what a time is worth; a second's worth is kept at most.
    fn grow(&mut self, bytes_a_second: u64, time: Duration) {
        let most = bytes_a_second as f64;
        self.left = (self.left + most * time.as_secs_f64()).min(most);
    }

    fn spend(&mut self, bytes: u64) {
        self.left -= bytes as f64;
    }

    fn allows(&self) -> bool {
        self.left > 0.0
    }
}

impl Drop for BackgroundFreezer {
    fn drop(&mut self) {
        self.running.take();
        if let Some(thread) = self.thread.take() {
            // It ends at its next step; a panic in it has nobody to go to.
            let _ = thread.join();
        }
    }
}

/// What the thread works on.
struct Work {
    store: Arc<Store>,
    cooling: Arc<AtomicU64>,
    refreeze_budget: Arc<AtomicU64>,
    failures: Arc<Failures>,
    ended: Receiver<()>,
    full_since: Option<Instant>,
    budget: Budget,
    before: Instant,
}

impl Work {
    /// Rests until the next tick, and serves commits meanwhile. False at the end.
    fn rest(&self) -> bool {
        let store = &self.store;
        let is_serving = self.failures.note(|| Ok(store.serve_commits()));
        let (until, moment) = match is_serving {
            Some(true) => (Instant::now() + TICK, MOMENT),
            Some(false) | None => (Instant::now(), TICK),
        };
        loop {
            if self.ended.recv_timeout(moment) != Err(RecvTimeoutError::Timeout) {
                return false;
            }
            if Instant::now() >= until {
                return true;
            }
            self.failures.note(|| {
                store.remove_left_entries();
                Ok(())
            });
        }
    }

    fn tick(&mut self) {
        if self.store.is_read_only() {
            self.store.end_epochs();
            return;
        }
        let limit = self.cooling.load(Ordering::Relaxed);
        if limit == NEVER || !has_full_hot_chunk(&self.store) {
            self.full_since = None;
        } else if self.full_since.get_or_insert_with(Instant::now).elapsed() >= Duration::from_millis(limit) {
            self.freeze_all();
            self.full_since = None;
        }
        self.store.end_epochs();
        let now = Instant::now();
        let a_second = self.refreeze_budget.load(Ordering::Relaxed);
        self.budget.grow(a_second, now - self.before);
        self.before = now;
        self.refreeze();
    }

    /// Freezes what is full. An error is that of a chunk that cannot be read, which every statement on it will report,
    /// or that cannot be held as its table's options ask, which FREEZE TABLE will report.
    fn freeze_all(&self) {
        while self.failures.note(|| self.store.freeze_step()) == Some(true) {
            if self.has_ended() {
                return;
            }
        }
    }

    /// Builds blocks anew within the budget. Errors are those of freezing; the next step leaves the block out.
    fn refreeze(&mut self) {
        while self.budget.allows() && !self.has_ended() {
            match self.failures.note(|| self.store.refreeze_step()) {
                Some(Some(step)) => self.budget.spend(step.bytes),
                Some(None) | None => return,
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.try_recv() == Err(TryRecvError::Disconnected)
    }
}

/// What failed in the background, where no statement reports it.
#[derive(Debug, Default)]
pub struct Failures(Mutex<(u64, Option<Error>)>);

impl Failures {
    /// Does a piece of work; what fails is counted, a panic too, and gives `None`.
    pub fn note<T>(&self, work: impl FnOnce() -> Result<T>) -> Option<T> {
        let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|p| Err(Error::of_panic(&*p)));
        done.map_err(|error| {
            let mut known = self.0.lock().unwrap_or_else(|e| e.into_inner());
            *known = (known.0 + 1, Some(error));
        })
        .ok()
    }
}

/// How many, and the last one's message.
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.0.lock().unwrap_or_else(|e| e.into_inner());
        match &known.1 {
            None => write!(f, "0"),
            Some(last) => write!(f, "{}, the last: {} {}", known.0, last.state(), last.message()),
        }
    }
}

fn has_full_hot_chunk(store: &Store) -> bool {
    let snapshot = store.snapshot();
    (snapshot.tables()).any(|t| t.sealed().any(|entry| entry.is_hot()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_kept_and_work_goes_on() {
        let failures = Failures::default();
        assert_eq!(failures.to_string(), "0");
        assert_eq!(failures.note(|| Ok(7)), Some(7));
        assert_eq!(failures.note(|| -> Result<u8> { panic!("the {}th", 4) }), None);
        assert_eq!(failures.to_string(), "1, the last: XX000 panic: the 4th");
        assert_eq!(
            failures.note(|| -> Result<u8> { Err(Error::internal("no")) }),
            None
        );
        assert_eq!(failures.to_string(), "2, the last: XX000 no");
        assert_eq!(failures.note(|| Ok(8)), Some(8));
    }

    #[test]
    fn a_budget_is_kept_over_time() {
        let mut budget = Budget::default();
        assert!(!budget.allows());
        let (mut spent, mut blocks) = (0, [700u64, 3_000, 50, 1].into_iter().cycle());
        for tick in 1..=1000 {
            budget.grow(1_000, Duration::from_millis(500));
            while budget.allows() {
                let bytes = blocks.next().expect("there are always more");
                budget.spend(bytes);
                spent += bytes;
            }
            let (least, most) = (tick * 500, tick * 500 + 3_000);
            assert!((least..=most).contains(&spent), "{spent} bytes in {tick} ticks");
        }
        budget.spend(1);
        budget.grow(0, Duration::from_secs(3600));
        assert!(!budget.allows(), "a budget of 0 allows nothing");
        budget.grow(1_000, Duration::from_secs(3600));
        assert!(budget.left <= 1_000.0, "an hour of peace is not saved up");
    }
}
