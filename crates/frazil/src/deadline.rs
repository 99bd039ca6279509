//! statement_timeout: a thread that waits beside the statement and sets its cancel flag.

use frazil_types::Cancel;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Cancels a statement when its time is up; dropped at the statement's end.
pub struct Deadline {
    // Dropping it wakes the thread.
    _running: Option<Sender<()>>,
}

impl Deadline {
    /// Starts the clock, if there is a limit.
    pub fn start(limit: Option<Duration>, cancel: &Cancel) -> Deadline {
        let Some(limit) = limit else {
            return Deadline { _running: None };
        };
        let (running, ended) = channel();
        let cancel = cancel.clone();
        std::thread::spawn(move || {
            if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                cancel.time_out();
            }
        });
        Deadline {
            _running: Some(running),
        }
    }
}
