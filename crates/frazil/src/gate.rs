//! The gate that statements come in by. Closing a database shuts it, waits for those inside, and only then writes
//! what they committed.

use frazil_types::{Error, Result, SqlState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// Set when the gate is shut; the other bits count who is inside.
const SHUT: usize = 1 << (usize::BITS - 1);

/// Counts those inside, and lets nobody in once it is shut.
#[derive(Debug, Default)]
pub struct Gate {
    state: AtomicUsize,
    waiting: Mutex<()>,
    left: Condvar,
}

/// Somebody inside, until it is dropped.
#[derive(Debug)]
pub struct Inside<'a>(&'a Gate);

impl Gate {
    /// Comes in; 08003 once the gate is shut.
    pub fn enter(&self) -> Result<Inside<'_>> {
        let inside = Inside(self);
        match self.state.fetch_add(1, Ordering::AcqRel) & SHUT {
            0 => Ok(inside),
            _ => Err(closed()),
        }
    }

    /// 08003 once the gate is shut.
    pub fn check(&self) -> Result<()> {
        match self.state.load(Ordering::Acquire) & SHUT {
            0 => Ok(()),
            _ => Err(closed()),
        }
    }

    /// Lets nobody in any more, and waits until nobody is inside.
    pub fn shut(&self) {
        self.state.fetch_or(SHUT, Ordering::AcqRel);
        let mut waiting = self.waiting.lock().unwrap_or_else(|e| e.into_inner());
        while self.state.load(Ordering::Acquire) != SHUT {
            waiting = self.left.wait(waiting).unwrap_or_else(|e| e.into_inner());
        }
    }

    /// Lets everybody in again.
    pub fn reopen(&self) {
        self.state.fetch_and(!SHUT, Ordering::AcqRel);
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if self.0.state.fetch_sub(1, Ordering::AcqRel) == SHUT | 1 {
            // Under the lock: who waits has looked before it, or looks after it.
            let _waiting = self.0.waiting.lock().unwrap_or_else(|e| e.into_inner());
            self.0.left.notify_all();
        }
    }
}

fn closed() -> Error {
    Error::new(SqlState::CONNECTION_DOES_NOT_EXIST, "the database was closed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn whoever_is_inside_is_waited_for_and_nobody_else_comes_in() {
        for _ in 0..50 {
            let (gate, entered, left) = (
                Arc::new(Gate::default()),
                Arc::new(AtomicU32::new(0)),
                Arc::new(AtomicU32::new(0)),
            );
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let (gate, entered, left) = (gate.clone(), entered.clone(), left.clone());
                    std::thread::spawn(move || {
                        while let Ok(inside) = gate.enter() {
                            entered.fetch_add(1, Ordering::SeqCst);
                            std::thread::yield_now();
                            left.fetch_add(1, Ordering::SeqCst);
                            drop(inside);
                        }
                    })
                })
                .collect();
            while entered.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            gate.shut();
            let (before, after) = (left.load(Ordering::SeqCst), entered.load(Ordering::SeqCst));
            assert_eq!(before, after);
            assert_eq!(
                gate.enter().expect_err("it is shut").state(),
                SqlState::CONNECTION_DOES_NOT_EXIST
            );
            threads.into_iter().for_each(|t| t.join().expect("no panic"));
            assert_eq!(entered.load(Ordering::SeqCst), after);
            gate.reopen();
            drop(gate.enter().expect("it is open again"));
        }
    }
}
