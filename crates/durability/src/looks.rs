//! The looks of a process's sessions at a directory that another process writes: one session looks at a time.
//!
//! A look at a folder in an object store is a request over the network, and takes half a minute if the store does not
//! answer. So the other sessions do not queue for a mutex:
//!
//! 1. A statement that may show what the last look found goes on at once, also while another session looks.
//! 2. Any other statement looks itself, or waits for the session that looks.
//! 3. A wait ends with the flag of the waiting statement: 57014. A look ends with the flag of the looking statement;
//!    then one of the waiting statements looks.
//! 4. A look that fails for another reason fails for the statements that have waited for it, too. Otherwise each of
//!    them would wait for the silent store in turn.
//!
//! A look shows at least what was durable when it began, so its age is counted from its beginning. A statement that has
//! waited for a look compares ages as of its own beginning: however long the look took, it is not too old then.

use frazil_types::{Cancel, Error, Result, SqlState};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

/// The looks at a directory.
#[derive(Debug)]
pub(crate) struct Looks(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    last: Mutex<Last>,
    /// Signalled when a look has ended, and when the flag of a waiting statement is set.
    changed: Condvar,
}

#[derive(Debug)]
struct Last {
    /// When the last look began that succeeded; `None`: what is shown is not whole, and nobody may go on without a
    /// look.
    seen: Option<Instant>,
    /// True while a session looks.
    is_looking: bool,
    /// The number of the look that was begun last.
    number: u64,
    /// The look that failed last, unless it was stopped, and its error.
    failed: Option<(u64, Error)>,
}

/// The end of a look.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The directory is shown as the look found it.
    Seen,
    /// The version that was shown before is still shown.
    Failed(Error),
    /// The version that was shown before may be changed in part.
    Lost(Error),
}

/// The right to look. Dropped without an outcome, as by a panic, nobody may go on without a look.
#[derive(Debug)]
pub(crate) struct Turn<'l> {
    looks: &'l Shared,
    begun: Instant,
    outcome: Option<Outcome>,
}

impl Looks {
    /// No look since the one that began at `seen`, when the directory was opened.
    pub fn since(seen: Instant) -> Looks {
        Looks(Arc::new(Shared {
            last: Mutex::new(Last {
                seen: Some(seen),
                is_looking: false,
                number: 0,
                failed: None,
            }),
            changed: Condvar::new(),
        }))
    }

    /// Gives a statement the right to look; `None` if it may show what the last look found: that look began after this
    /// call, or at most `lag` before, and `lag` is not zero. 57014 if `cancel` ends the wait for another session's
    /// look, or the error of that look.
    pub fn turn(&self, lag: Duration, cancel: &Cancel) -> Result<Option<Turn<'_>>> {
        let called = Instant::now();
        let (mut alarm, mut awaited) = (None, None);
        let mut last = self.0.lock();
        loop {
            if last.is_young(called, lag) {
                return Ok(None);
            }
            if let Some((number, error)) = &last.failed
                && Some(*number) == awaited
            {
                return Err(error.clone());
            }
            if !last.is_looking {
                last.is_looking = true;
                last.number += 1;
                return Ok(Some(Turn {
                    looks: &self.0,
                    begun: Instant::now(),
                    outcome: None,
                }));
            }
            awaited = Some(last.number);
            alarm.get_or_insert_with(|| cancel.alarm(Waker::from(self.0.clone())));
            cancel.check()?;
            last = (self.0.changed.wait(last)).unwrap_or_else(|e| e.into_inner());
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Wakes the waiting sessions when the flag of one of them is set.
impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        // A session that has found its flag unset holds the lock until it sleeps.
        drop(self.lock());
        self.changed.notify_all();
    }
}

impl Last {
    /// True if a statement that began at `called` may show what was found.
    fn is_young(&self, called: Instant, lag: Duration) -> bool {
        let is_young =
            |seen: Instant| seen > called || !lag.is_zero() && called.saturating_duration_since(seen) <= lag;
        self.seen.is_some_and(is_young)
    }
}

impl Turn<'_> {
    /// Ends the look.
    pub fn end(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut last = self.looks.lock();
        last.is_looking = false;
        last.failed = None;
        let failed = match self.outcome.take() {
            Some(Outcome::Seen) => {
                last.seen = Some(self.begun);
                None
            }
            Some(Outcome::Failed(error)) => Some(error),
            Some(Outcome::Lost(error)) => {
                last.seen = None;
                Some(error)
            }
            None => {
                last.seen = None;
                None
            }
        };
        let number = last.number;
        last.failed = failed
            .filter(|error| error.state() != SqlState::QUERY_CANCELED)
            .map(|error| (number, error));
        drop(last);
        self.looks.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;

    const NOW: Duration = Duration::ZERO;
    const HOUR: Duration = Duration::from_secs(3600);

    fn looks() -> Arc<Looks> {
        Arc::new(Looks::since(Instant::now()))
    }

    fn silent() -> Error {
        Error::new(SqlState("08001"), "the store did not answer")
    }

    /// A statement that wants a look, on a thread of its own. The channel tells if it may look, or its error.
    fn statement(looks: &Arc<Looks>, cancel: &Cancel) -> Receiver<Result<bool>> {
        let (sender, told) = channel();
        let (looks, cancel) = (looks.clone(), cancel.clone());
        thread::spawn(move || {
            let turn = looks.turn(NOW, &cancel);
            let _ = sender.send(turn.as_ref().map(Option::is_some).map_err(Error::clone));
            if let Ok(Some(turn)) = turn {
                turn.end(Outcome::Seen);
            }
        });
        told
    }

    /// Begins statements, and returns once all of them wait.
    fn waiting(looks: &Arc<Looks>, cancels: &[Cancel]) -> Vec<Receiver<Result<bool>>> {
        let told = cancels.iter().map(|cancel| statement(looks, cancel)).collect();
        // Nothing tells that a thread sleeps. One that is late finds the same answers.
        thread::sleep(Duration::from_millis(50));
        told
    }

    fn answer(told: &Receiver<Result<bool>>) -> Result<bool, SqlState> {
        let told = told
            .recv_timeout(Duration::from_secs(30))
            .expect("it does not hang");
        told.map_err(|error| error.state())
    }

    #[test]
    fn what_is_young_enough_is_shown_while_another_session_looks() {
        let (looks, cancel) = (looks(), Cancel::new());
        let turn = looks
            .turn(NOW, &cancel)
            .expect("nobody looks")
            .expect("nothing is fresh");
        assert!(looks.turn(HOUR, &cancel).expect("it is young").is_none());
        turn.end(Outcome::Failed(silent()));
        assert!(looks.turn(HOUR, &cancel).expect("it still is").is_none());
        let turn = looks
            .turn(NOW, &cancel)
            .expect("nobody looks")
            .expect("it failed");
        turn.end(Outcome::Lost(silent()));
        let turn = looks
            .turn(HOUR, &cancel)
            .expect("nobody looks")
            .expect("nothing is whole");
        drop(turn);
        let turn = looks
            .turn(HOUR, &cancel)
            .expect("nobody looks")
            .expect("the look panicked");
        turn.end(Outcome::Seen);
        assert!(looks.turn(HOUR, &cancel).expect("it is young").is_none());
        assert!(looks.turn(NOW, &cancel).expect("nobody looks").is_some());
    }

    #[test]
    fn waiting_statements_share_the_next_look_and_its_error() {
        let looks = looks();
        let cancels = [(); 8].map(|()| Cancel::new());
        let turn = looks
            .turn(NOW, &cancels[0])
            .expect("nobody looks")
            .expect("it may");
        let told = waiting(&looks, &cancels);
        turn.end(Outcome::Failed(silent()));
        for told in &told {
            // A statement that came after the failure looks itself, and those that wait for it share what it finds.
            assert!(matches!(answer(told), Err(SqlState("08001")) | Ok(_)));
        }
        let turn = looks
            .turn(NOW, &cancels[0])
            .expect("nobody looks")
            .expect("it may");
        let told = waiting(&looks, &cancels);
        turn.end(Outcome::Seen);
        // The look began before the statements, so one of them looks at a time, and the others take its result.
        let looked = told
            .iter()
            .filter(|told| answer(told).expect("it succeeds"))
            .count();
        assert!((1..=cancels.len()).contains(&looked));
    }

    #[test]
    fn a_statement_that_waits_hears_its_own_flag_alone() {
        let looks = looks();
        let [looking, stopped, waits] = [(); 3].map(|()| Cancel::new());
        let turn = looks.turn(NOW, &looking).expect("nobody looks").expect("it may");
        let told = waiting(&looks, &[stopped.clone(), waits]);
        stopped.cancel();
        assert_eq!(answer(&told[0]), Err(SqlState::QUERY_CANCELED));
        assert!(told[1].try_recv().is_err(), "it waits");
        // A look that is stopped is not a failure: the next one looks.
        looking.cancel();
        turn.end(Outcome::Failed(looking.check().expect_err("it is set")));
        assert_eq!(answer(&told[1]), Ok(true));
        let turn = looks
            .turn(NOW, &Cancel::new())
            .expect("nobody looks")
            .expect("it may");
        let error = looks
            .turn(NOW, &stopped)
            .map(|_| ())
            .expect_err("its flag is set already");
        assert_eq!(error.state(), SqlState::QUERY_CANCELED);
        turn.end(Outcome::Seen);
    }
}
