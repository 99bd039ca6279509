//! How far a running statement is: read by whoever watches, written by its workers.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
