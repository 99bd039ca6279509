//! statement_timeout: a thread that waits beside the statement and sets its cancel flag.

use frazil_types::{Cancel, Error, Result, SqlState};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Cancels a statement when its time is up; dropped at the statement's end, and from then on it cancels nothing.
pub struct Deadline {
    clock: Option<Arc<Clock>>,
}

/// What the statement and the waiting thread share. The flag is set under the lock, and only while the statement runs.
struct Clock {
    ended: Mutex<bool>,
    wake: Condvar,
    cancel: Cancel,
}

impl Deadline {
    /// Starts the clock, if there is a limit. 53000 if the system gives no thread for it.
    pub fn start(limit: Option<Duration>, cancel: &Cancel) -> Result<Deadline> {
        let Some(limit) = limit else {
            return Ok(Deadline { clock: None });
        };
        let clock = Arc::new(Clock {
            ended: Mutex::new(false),
            wake: Condvar::new(),
            cancel: cancel.clone(),
        });
        let waiting = clock.clone();
        let thread = std::thread::Builder::new().name("frazil-deadline".to_owned());
        thread.spawn(move || waiting.wait(limit)).map_err(|e| {
            Error::new(
                SqlState::INSUFFICIENT_RESOURCES,
                format!("could not start a thread for statement_timeout: {e}"),
            )
            .with_hint("without statement_timeout a statement needs none")
        })?;
        Ok(Deadline { clock: Some(clock) })
    }
}

impl Clock {
    fn ended(&self) -> MutexGuard<'_, bool> {
        self.ended.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn wait(&self, limit: Duration) {
        let waited = self.wake.wait_timeout_while(self.ended(), limit, |ended| !*ended);
        let (ended, _) = waited.unwrap_or_else(|e| e.into_inner());
        if !*ended {
            self.cancel.time_out();
        }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if let Some(clock) = &self.clock {
            let mut ended = clock.ended();
            *ended = true;
            // It may have struck when the statement had just ended: that was not meant for the next one.
            clock.cancel.forget_time_out();
            clock.wake.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_running_statement_is_cancelled_in_time() {
        let cancel = Cancel::new();
        let deadline = Deadline::start(Some(Duration::from_millis(1)), &cancel).expect("a thread");
        while !cancel.is_set() {
            std::thread::yield_now();
        }
        let error = cancel.check().expect_err("its time is up");
        assert!(error.message().contains("statement timeout"), "{error}");
        drop(deadline);
        cancel.check().expect("the next statement is not cancelled");
    }

    #[test]
    fn an_ended_statement_passes_its_deadline_on_to_nobody() {
        let cancel = Cancel::new();
        for round in 0..400u64 {
            let limit = Duration::from_micros(20 + round % 100);
            let begun = Instant::now();
            let deadline = Deadline::start(Some(limit), &cancel).expect("a thread");
            while begun.elapsed() < limit {
                std::hint::spin_loop();
            }
            drop(deadline);
            for _ in 0..200 {
                cancel.check().expect("the next statement is not cancelled");
                std::hint::spin_loop();
            }
        }
    }

    #[test]
    fn what_the_user_cancelled_stays_so() {
        let cancel = Cancel::new();
        let deadline = Deadline::start(Some(Duration::from_secs(3600)), &cancel).expect("a thread");
        cancel.cancel();
        drop(deadline);
        assert!(cancel.is_set());
    }
}
