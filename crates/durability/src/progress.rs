//! How far a checkpoint is, and who sets its pace.

use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::{Instant, SystemTime};

/// Why a checkpoint is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointCause {
    /// Somebody wanted it.
    Request,
    /// The log had grown.
    Size,
    /// The last one was old.
    Time,
    /// A transaction was committed by it.
    Commit,
    /// A backup begins with it.
    Backup,
    /// A snapshot that is published begins with it.
    Publish,
}

impl fmt::Display for CheckpointCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CheckpointCause::Request => "request",
            CheckpointCause::Size => "size",
            CheckpointCause::Time => "time",
            CheckpointCause::Commit => "commit",
            CheckpointCause::Backup => "backup",
            CheckpointCause::Publish => "publish",
        })
    }
}

/// A checkpoint that is being made.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointProgress {
    /// Why it is made.
    pub cause: CheckpointCause,
    /// When it began.
    pub started: SystemTime,
    /// The same, by a clock that does not jump.
    pub began: Instant,
    /// Chunks that it has to write.
    pub chunks: u64,
    /// Those that are written.
    pub done: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// Called behind each chunk that a checkpoint writes: it goes on when this returns.
pub type Pace<'a> = &'a dyn Fn(&CheckpointProgress);

/// The checkpoint that is being made, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<Option<CheckpointProgress>>);

impl Running {
    fn lock(&self) -> MutexGuard<'_, Option<CheckpointProgress>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// It.
    pub fn get(&self) -> Option<CheckpointProgress> {
        *self.lock()
    }

    /// Starts a checkpoint of `chunks` chunks. It ends when the returned guard drops.
    pub fn begin<'a>(&'a self, cause: CheckpointCause, chunks: u64, pace: Pace<'a>) -> Steps<'a> {
        let progress = CheckpointProgress {
            cause,
            started: SystemTime::now(),
            began: Instant::now(),
            chunks,
            done: 0,
            bytes: 0,
        };
        *self.lock() = Some(progress);
        Steps {
            running: self,
            progress,
            pace,
        }
    }
}

/// The steps of a checkpoint.
pub(crate) struct Steps<'a> {
    running: &'a Running,
    pub progress: CheckpointProgress,
    pace: Pace<'a>,
}

impl Steps<'_> {
    /// A chunk was written, and so many bytes in all.
    pub fn wrote(&mut self, bytes: u64) {
        self.progress.done += 1;
        self.progress.bytes = bytes;
        *self.running.lock() = Some(self.progress);
        (self.pace)(&self.progress);
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        *self.running.lock() = None;
    }
}
