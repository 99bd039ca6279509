//! Freezes full chunks that have gone cold, in a thread of its own that mostly sleeps.
//!
//! A chunk is taken to be cold once it has been full for the cooling time; then all full chunks are
//! frozen, one small transaction each, as long as nobody else is writing.

use frazil_storage::Store;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it looks.
const TICK: Duration = Duration::from_millis(500);
/// The cooling time unless it is set.
pub const DEFAULT_COOLING: Duration = Duration::from_secs(60);
const NEVER: u64 = u64::MAX;

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub struct BackgroundFreezer {
    cooling: Arc<AtomicU64>,
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundFreezer {
    /// Starts it. Without a thread nothing is frozen but on demand.
    pub fn start(store: Arc<Store>) -> BackgroundFreezer {
        let cooling = Arc::new(AtomicU64::new(DEFAULT_COOLING.as_millis() as u64));
        let (running, ended) = channel::<()>();
        let limit = cooling.clone();
        let thread = std::thread::Builder::new().name("frazil-freezer".to_owned());
        let thread = thread.spawn(move || {
            let mut full_since: Option<Instant> = None;
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
            }
        });
        BackgroundFreezer {
            cooling,
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

fn freeze_all(store: &Arc<Store>, ended: &std::sync::mpsc::Receiver<()>) {
    // An error is that of a chunk that cannot be read, which every statement on it will report, or that
    // cannot be held as its table's options ask, which FREEZE TABLE will report.
    while store.freeze_step().unwrap_or(false) {
        if ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected) {
            return;
        }
    }
}
