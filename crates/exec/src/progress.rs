//! How far a running statement is: read by whoever watches, written by its workers.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The share of the work, one in so many, that is done before it is said how long the rest takes.
const KNOWN: u64 = 20;

/// Work done and to do, in morsels over all pipelines of the statement, and what is being done.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    phase: Mutex<Cow<'static, str>>,
    /// Whether the phase was said since the last beginning.
    is_said: AtomicBool,
}

impl Progress {
    /// Nothing done of nothing.
    pub fn new() -> Progress {
        Progress::default()
    }

    /// Units done.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Units known so far; it may grow as pipelines open.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// What is being done, in a few words.
    pub fn phase(&self) -> String {
        self.phase.lock().unwrap_or_else(|e| e.into_inner()).to_string()
    }

    /// How long the rest takes if it goes as what is done, in words (`about 12 s left`), `elapsed` after the beginning. `None` while too
    /// little is done to tell, or nothing is left.
    pub fn left(&self, elapsed: Duration) -> Option<String> {
        remaining(elapsed, self.done(), self.total()).map(in_words)
    }

    /// Begins anew.
    pub fn reset(&self) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
        if self.is_said.load(Ordering::Relaxed) {
            self.enter("");
            self.is_said.store(false, Ordering::Relaxed);
        }
    }

    /// Says what is being done from now on.
    pub fn enter(&self, phase: impl Into<Cow<'static, str>>) {
        *self.phase.lock().unwrap_or_else(|e| e.into_inner()) = phase.into();
        self.is_said.store(true, Ordering::Relaxed);
    }

    /// Adds units to do.
    pub fn expect(&self, units: u64) {
        self.total.fetch_add(units, Ordering::Relaxed);
    }

    /// Marks units done.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }
}

/// How long the rest takes if it goes as what is done.
fn remaining(elapsed: Duration, done: u64, total: u64) -> Option<Duration> {
    let is_known = done > 0 && done < total && done >= total / KNOWN;
    is_known.then(|| elapsed.mul_f64((total - done) as f64 / done as f64))
}

/// `about 12 s left`.
fn in_words(left: Duration) -> String {
    match left.as_secs() + 1 {
        seconds @ ..=90 => format!("about {seconds} s left"),
        seconds @ ..=5400 => format!("about {} min left", seconds.div_ceil(60)),
        seconds => format!("about {} h left", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_taken_to_go_as_what_is_done() {
        let second = Duration::from_secs(1);
        assert_eq!(remaining(10 * second, 25, 100), Some(30 * second));
        for (done, total) in [(0, 0), (0, 100), (4, 100), (100, 100), (120, 100)] {
            assert_eq!(remaining(second, done, total), None);
        }
        let progress = Progress::new();
        progress.expect(100);
        assert_eq!(progress.left(second), None);
        progress.advance(50);
        assert_eq!(progress.left(second), Some("about 2 s left".to_owned()));
    }

    #[test]
    fn times_are_told_roughly() {
        let told = [0, 89, 90, 3600, 7200].map(|seconds| in_words(Duration::from_secs(seconds)));
        let wanted = ["1 s", "90 s", "2 min", "61 min", "3 h"].map(|time| format!("about {time} left"));
        assert_eq!(told, wanted);
    }
}
