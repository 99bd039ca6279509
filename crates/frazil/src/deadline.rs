//! statement_timeout. One thread for all connections sleeps until the earliest deadline and sets the cancel flags of the
//! statements whose time is up.
//!
//! A statement takes its own connection's lock when it starts and when it ends, and wakes the thread only where that sleeps
//! longer than the statement may run. Statements with one limit that follow each other never do: the thread wakes by itself
//! once in that time, and sleeps on if what it waited for has ended.

use frazil_types::{Cancel, Error, Result, SqlState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The clock of a connection.
#[derive(Debug)]
pub struct Clock(Arc<Slot>);

/// What a connection and the thread share.
#[derive(Debug)]
struct Slot {
    /// When the running statement's time is up. The flag is set under this lock, and only while the statement runs.
    until: Mutex<Option<Instant>>,
    cancel: Cancel,
}

/// Cancels a statement when its time is up; dropped at the statement's end, and from then on it cancels nothing.
pub struct Deadline(Option<Arc<Slot>>);

impl Clock {
    /// A clock that sets this flag.
    pub fn new(cancel: Cancel) -> Clock {
        let slot = Arc::new(Slot {
            until: Mutex::default(),
            cancel,
        });
        WATCH.state().slots.push(Arc::downgrade(&slot));
        Clock(slot)
    }

    /// Starts it, if there is a limit. 53000 if the system gives no thread for it.
    pub fn start(&self, limit: Option<Duration>) -> Result<Deadline> {
        // What is too far away to be told is no limit.
        let Some(until) = limit.and_then(|limit| Instant::now().checked_add(limit)) else {
            return Ok(Deadline(None));
        };
        *self.0.until() = Some(until);
        let deadline = Deadline(Some(self.0.clone()));
        WATCH.expect(until)?;
        Ok(deadline)
    }
}

impl Slot {
    fn until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the flag if the time is up; when it will be, otherwise.
    fn look(&self, now: Instant) -> Option<Instant> {
        let mut until = self.until();
        if until.is_some_and(|until| until <= now) {
            self.cancel.time_out();
            *until = None;
        }
        *until
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        if let Some(slot) = &self.0 {
            let mut until = slot.until();
            *until = None;
            // It may have struck when the statement had just ended: that was not meant for the next one.
            slot.cancel.forget_time_out();
        }
    }
}

/// The thread, and whom it watches.
struct Watch {
    state: Mutex<Watched>,
    wake: Condvar,
    /// When the thread looks again: nanoseconds behind [`epoch`], none of them sooner than it will.
    looks_at: AtomicU64,
}

struct Watched {
    slots: Vec<Weak<Slot>>,
    is_running: bool,
}

static WATCH: Watch = Watch {
    state: Mutex::new(Watched {
        slots: Vec::new(),
        is_running: false,
    }),
    wake: Condvar::new(),
    looks_at: AtomicU64::new(NEVER),
};

const NEVER: u64 = u64::MAX;

fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

fn nanoseconds(at: Instant) -> u64 {
    u64::try_from(at.saturating_duration_since(epoch()).as_nanos()).unwrap_or(NEVER)
}

impl Watch {
    fn state(&self) -> MutexGuard<'_, Watched> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that the thread looks at all slots at this time or before. The slot's time was set before: a look that
    /// missed it had announced itself, and ends by telling when the next one is.
    fn expect(&self, until: Instant) -> Result<()> {
        let until = nanoseconds(until);
        if self.looks_at.load(Ordering::SeqCst) <= until {
            return Ok(());
        }
        let mut state = self.state();
        if !state.is_running {
            let thread = std::thread::Builder::new().name("frazil-deadline".to_owned());
            thread.spawn(|| WATCH.run()).map_err(no_thread)?;
            state.is_running = true;
        }
        if self.looks_at.load(Ordering::SeqCst) > until {
            self.looks_at.store(until, Ordering::SeqCst);
            self.wake.notify_one();
        }
        Ok(())
    }

    fn run(&self) {
        let mut state = self.state();
        loop {
            // Who sets a time from here on may not be seen, and waits for the lock to say so.
            self.looks_at.store(NEVER, Ordering::SeqCst);
            let now = Instant::now();
            let mut next = None;
            state.slots.retain(|slot| {
                let Some(slot) = slot.upgrade() else { return false };
                let until = slot.look(now);
                next = next.into_iter().chain(until).min();
                true
            });
            self.looks_at
                .store(next.map_or(NEVER, nanoseconds), Ordering::SeqCst);
            state = match next {
                Some(next) => {
                    let left = next.saturating_duration_since(now);
                    let waited = self.wake.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => (self.wake.wait(state)).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

fn no_thread(error: std::io::Error) -> Error {
    Error::new(
        SqlState::INSUFFICIENT_RESOURCES,
        format!("could not start a thread for statement_timeout: {error}"),
    )
    .with_hint("without statement_timeout no thread is needed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_running_statement_is_cancelled_in_time() {
        let cancel = Cancel::new();
        let clock = Clock::new(cancel.clone());
        let deadline = clock.start(Some(Duration::from_millis(1))).expect("a thread");
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
        let clock = Clock::new(cancel.clone());
        for round in 0..400u64 {
            let limit = Duration::from_micros(20 + round % 100);
            let begun = Instant::now();
            let deadline = clock.start(Some(limit)).expect("a thread");
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
        let clock = Clock::new(cancel.clone());
        let deadline = clock.start(Some(Duration::from_secs(3600))).expect("a thread");
        cancel.cancel();
        drop(deadline);
        assert!(cancel.is_set());
    }

    #[test]
    fn each_of_many_clocks_strikes_at_its_own_time() {
        let cancels: Vec<Cancel> = (0..50).map(|_| Cancel::new()).collect();
        let clocks: Vec<Clock> = cancels.iter().map(|c| Clock::new(c.clone())).collect();
        let begun = Instant::now();
        let limit = |i: usize| match i % 2 {
            0 => Duration::from_micros(3000 - 50 * i as u64),
            _ => Duration::from_secs(3600),
        };
        let deadlines: Vec<Deadline> = (clocks.iter().enumerate())
            .map(|(i, clock)| clock.start(Some(limit(i))).expect("a thread"))
            .collect();
        for (i, cancel) in cancels.iter().enumerate().step_by(2) {
            while !cancel.is_set() {
                std::thread::yield_now();
            }
            assert!(begun.elapsed() >= limit(i));
        }
        assert!(cancels.iter().skip(1).step_by(2).all(|c| !c.is_set()));
        drop(deadlines);
    }
}
