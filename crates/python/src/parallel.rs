//! Work on several threads beside the interpreter: a result becomes another library's columns.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Rows below which one thread is as fast.
const FEW_ROWS: usize = 20_000;
/// More threads than this wait for memory.
const MOST_THREADS: usize = 8;

/// What `make` gives for each number below `count`, in order; `rows`: rows that the results hold together.
pub fn each<T: Send>(count: usize, rows: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let most = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = most.min(MOST_THREADS).min(count);
    if threads < 2 || rows < FEW_ROWS {
        return (0..count).map(make).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return made;
            }
            made.push((at, make(at)));
        }
    };
    let mut all = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(made) => all.extend(made),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, made)| made).collect()
}
