//! Makes durable what nobody waits for, and checkpoints when the log has grown or time has passed, in a thread of its own
//! that mostly sleeps.
//!
//! What was committed with `synchronous_commit = off` is durable at the second tick after it at the latest, if the disk is as fast.
//! A checkpoint in the background rests as long as it works, so that it takes little from those who write, unless somebody waits for it or the log grows
//! faster than it gets done; meanwhile what nobody waits for is made durable as ever.
//! A checkpoint that fails is counted with what fails in the background, and tried again after a while.

use crate::background_freezer::Failures;
use frazil_durability::{CheckpointCause, CheckpointProgress, Directory};
use frazil_storage::Lsn;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it looks.
const TICK: Duration = Duration::from_millis(100);
/// How long a checkpoint that failed is not tried again.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest rest of a checkpoint between two chunks, and how often it looks meanwhile whether it is to hurry.
const LONGEST_REST: Duration = Duration::from_secs(1);
const MOMENT: Duration = Duration::from_millis(5);
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
            ended,
            end_before: Cell::new(Lsn(0)),
            looked: Cell::new(Instant::now()),
            worked: Cell::new(Instant::now()),
            checkpointed: Instant::now(),
            number: 0,
            not_before: None,
        };
        let thread = std::thread::Builder::new().name("frazil-checkpointer".to_owned());
        let thread = thread.spawn(move || {
            while work.ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
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
    ended: Receiver<()>,
    /// Where the log ended when it was looked at last, and when that was.
    end_before: Cell<Lsn>,
    looked: Cell<Instant>,
    /// When the checkpoint that is being made went on.
    worked: Cell<Instant>,
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
        let end = self.flush();
        let Some(cause) = self.due(end) else {
            return;
        };
        self.worked.set(Instant::now());
        let pace = |progress: &CheckpointProgress| self.rest(cause, progress);
        let made = self.failures.note(|| self.directory.checkpoint_at(cause, &pace));
        self.not_before = made.is_none().then(|| Instant::now() + PATIENCE);
    }

    /// Makes durable what was committed before the last look. Returns where the log ends.
    fn flush(&self) -> Lsn {
        let position = self.directory.wal().position();
        let before = self.end_before.replace(position.end);
        self.looked.set(Instant::now());
        if position.durable < before {
            // Whoever waits for it hears of what fails.
            let _ = self.failures.note(|| self.directory.flush(before));
        }
        position.end
    }

    /// Rests as long as the checkpoint worked.
    fn rest(&self, cause: CheckpointCause, progress: &CheckpointProgress) {
        let until = Instant::now() + self.worked.get().elapsed().min(LONGEST_REST);
        while progress.done < progress.chunks && !self.is_urgent(cause) {
            if self.looked.get().elapsed() >= TICK {
                self.flush();
            }
            let left = until.saturating_duration_since(Instant::now()).min(MOMENT);
            if left.is_zero() || self.ended.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
                break;
            }
        }
        self.worked.set(Instant::now());
    }

    /// Whether the checkpoint is not to rest: somebody waits for it, or the log has grown to twice what made it due.
    fn is_urgent(&self, cause: CheckpointCause) -> bool {
        let bytes = self.log_since(self.directory.last_checkpoint().lsn, self.end_before.get());
        let is_long = (self.policy.log_bytes()).is_some_and(|most| bytes / 2 >= most.max(1));
        self.directory.is_checkpoint_awaited() || (cause == CheckpointCause::Size && is_long)
    }

    /// Bytes of the log from a checkpoint to its end, and of redo that segments have in its place.
    fn log_since(&self, checkpoint: Lsn, end: Lsn) -> u64 {
        end.0.saturating_sub(checkpoint.0) + self.directory.redo_in_segments()
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
        let bytes = self.log_since(last.lsn, end);
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
