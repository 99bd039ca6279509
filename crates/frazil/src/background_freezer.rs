//! Freezes full chunks that have gone cold, and blocks again that would be held otherwise today, in a thread of its
//! own that mostly sleeps.
//!
//! A chunk is taken to be cold once it has been full for the cooling time; then all full chunks are
//! frozen, one small transaction each, as long as nobody else is writing. Blocks are built anew one by one,
//! within a budget of bytes a second, so that what they take from statements is bounded.

use frazil_storage::Store;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it looks.
const TICK: Duration = Duration::from_millis(500);
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
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundFreezer {
    /// Starts it. Without a thread nothing is frozen but on demand.
    pub fn start(store: Arc<Store>) -> BackgroundFreezer {
        let cooling = Arc::new(AtomicU64::new(DEFAULT_COOLING.as_millis() as u64));
        let (running, ended) = channel::<()>();
        let refreeze_budget = Arc::new(AtomicU64::new(DEFAULT_REFREEZE_BUDGET));
        let (limit, a_second) = (cooling.clone(), refreeze_budget.clone());
        let thread = std::thread::Builder::new().name("frazil-freezer".to_owned());
        let thread = thread.spawn(move || {
            let mut full_since: Option<Instant> = None;
            let (mut budget, mut before) = (Budget::default(), Instant::now());
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let limit = limit.load(Ordering::Relaxed);
                if limit == NEVER || !has_full_hot_chunk(&store) {
                    full_since = None;
                } else if full_since.get_or_insert_with(Instant::now).elapsed()
                    >= Duration::from_millis(limit)
                {
                    freeze_all(&store, &ended);
                    full_since = None;
                }
                store.end_epochs();
                let now = Instant::now();
                budget.grow(a_second.load(Ordering::Relaxed), now - before);
                before = now;
                refreeze(&store, &mut budget, &ended);
            }
        });
        BackgroundFreezer {
            cooling,
            refreeze_budget,
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

fn has_full_hot_chunk(store: &Store) -> bool {
    let snapshot = store.snapshot();
    (snapshot.tables()).any(|t| t.sealed().iter().any(|slot| slot.hot().is_some()))
}

fn freeze_all(store: &Arc<Store>, ended: &Receiver<()>) {
    // An error is that of a chunk that cannot be read, which every statement on it will report, or that
    // cannot be held as its table's options ask, which FREEZE TABLE will report.
    while store.freeze_step().unwrap_or(false) {
        if has_ended(ended) {
            return;
        }
    }
}

fn refreeze(store: &Arc<Store>, budget: &mut Budget, ended: &Receiver<()>) {
    // Errors are those of freezing; the next step leaves the block out.
    while budget.allows() && !has_ended(ended) {
        match store.refreeze_step() {
            Ok(Some(step)) => budget.spend(step.bytes),
            Ok(None) | Err(_) => return,
        }
    }
}

fn has_ended(ended: &Receiver<()>) -> bool {
    ended.try_recv() == Err(TryRecvError::Disconnected)
}

#[cfg(test)]
mod tests {
    use super::*;

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
