//! Makes durable what nobody waits for, and checkpoints when the log has grown or time has passed, in a thread of its own
//! that mostly sleeps.
//!
//! What was committed with `synchronous_commit = off` is durable at the second tick after it at the latest, if the disk is as fast.
//! A checkpoint that fails is counted with what fails in the background, and tried again after a while.

use crate::background_freezer::Failures;
use frazil_durability::{CheckpointCause, Directory};
use frazil_storage::Lsn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it looks.
const TICK: Duration = Duration::from_millis(100);
/// How long a checkpoint that failed is not tried again.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of the log behind the last checkpoint, unless they are set.
pub const DEFAULT_LOG_BYTES: u64 = 64 << 20;
/// Age of the last checkpoint, unless it is set.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);
const NEVER: u64 = u64::MAX;

/// When checkpoints are made.
#[derive(Debug)]
pub struct CheckpointPolicy {
    log_bytes: AtomicU64,
    timeout: AtomicU64,
}

impl Default for CheckpointPolicy {
    fn default() -> CheckpointPolicy {
        CheckpointPolicy {
            log_bytes: AtomicU64::new(DEFAULT_LOG_BYTES),
            timeout: AtomicU64::new(DEFAULT_TIMEOUT.as_millis() as u64),
        }
    }
}

impl CheckpointPolicy {
    /// Sets the bytes of the log behind the last checkpoint that make another one due; `None`: however many.
    pub fn set_log_bytes(&self, bytes: Option<u64>) {
        self.log_bytes.store(bytes.unwrap_or(NEVER), Ordering::Relaxed);
    }

    /// These bytes.
    pub fn log_bytes(&self) -> Option<u64> {
        Some(self.log_bytes.load(Ordering::Relaxed)).filter(|&b| b != NEVER)
    }

    /// Sets the age of the last checkpoint that makes another one due, if something was committed since; `None`: however old.
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        let millis = timeout.map_or(NEVER, |t| t.as_millis() as u64);
        self.timeout.store(millis, Ordering::Relaxed);
    }

    /// This age.
    pub fn timeout(&self) -> Option<Duration> {
        Some(self.timeout.load(Ordering::Relaxed))
            .filter(|&t| t != NEVER)
            .map(Duration::from_millis)
    }
}

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub struct BackgroundCheckpointer {
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundCheckpointer {
    /// Starts it. Without a thread there are checkpoints on demand alone, and what nobody waits for is durable with the next commit that
    /// somebody waits for.
    pub fn start(
        directory: Arc<Directory>,
        policy: Arc<CheckpointPolicy>,
        failures: Arc<Failures>,
    ) -> BackgroundCheckpointer {
        let (running, ended) = channel::<()>();
        let mut work = Work {
            directory,
            policy,
            failures,
            end_before: Lsn(0),
            checkpointed: Instant::now(),
            number: 0,
            not_before: None,
        };
        let thread = std::thread::Builder::new().name("frazil-checkpointer".to_owned());
        let thread = thread.spawn(move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                work.tick();
            }
        });
        BackgroundCheckpointer {
            running: Some(running),
            thread: thread.ok(),
        }
    }
}

impl Drop for BackgroundCheckpointer {
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
    directory: Arc<Directory>,
    policy: Arc<CheckpointPolicy>,
    failures: Arc<Failures>,
    /// Where the log ended at the last tick.
    end_before: Lsn,
    /// When the last checkpoint was seen, and its number.
    checkpointed: Instant,
    number: u64,
    /// When the next one may be tried.
    not_before: Option<Instant>,
}

impl Work {
    fn tick(&mut self) {
        if self.directory.check().is_err() {
            return;
        }
        let position = self.directory.wal().position();
        if position.durable < self.end_before {
            // Whoever waits for it hears of what fails.
            let _ = self.failures.note(|| self.directory.flush(self.end_before));
        }
        self.end_before = position.end;
        let Some(cause) = self.due(position.end) else {
            return;
        };
        let made = self.failures.note(|| self.directory.checkpoint_for(cause));
        self.not_before = made.is_none().then(|| Instant::now() + PATIENCE);
    }

    /// Why a checkpoint is due, if one is.
    fn due(&mut self, end: Lsn) -> Option<CheckpointCause> {
        let last = self.directory.last_checkpoint();
        if last.number != self.number {
            (self.number, self.checkpointed) = (last.number, Instant::now());
        }
        if self.not_before.is_some_and(|time| Instant::now() < time) {
            return None;
        }
        let bytes = end.0.saturating_sub(last.lsn.0);
        if self.policy.log_bytes().is_some_and(|most| bytes >= most.max(1)) {
            return Some(CheckpointCause::Size);
        }
        let is_old = (self.policy.timeout()).is_some_and(|age| self.checkpointed.elapsed() >= age);
        (is_old && bytes > 0).then(|| {
            self.checkpointed = Instant::now();
            CheckpointCause::Time
        })
    }
}
