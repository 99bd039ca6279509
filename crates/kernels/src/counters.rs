//! Proof that a fast path ran: calls per kernel and instruction set.
//!
//! A call is counted, not a value, in a shard of the calling thread, so counting costs about a
//! nanosecond and workers share no cache line. Reading sums the shards.

use crate::Isa;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Range tests to match bits.
    Between,
    /// Code sets to match bits.
    InSet,
    /// Match bits to positions.
    Positions,
    /// Range tests at positions (reduce matches).
    Reduce,
    /// Copies of native values.
    Copy,
    /// Unpacking by frame of reference.
    Unpack,
    /// Unpacking through a dictionary.
    Dictionary,
    /// Validity bytes.
    Validity,
    /// Hashes of a column.
    Hash,
    /// Prefetching of hash table slots.
    Prefetch,
    /// LIKE over a vector or heap of strings.
    Like,
    /// Anything on bit-packed codes.
    BitPacked,
    /// Anything on ByteSlice codes.
    ByteSlice,
    /// Anything on vertically bit-parallel codes.
    Vbp,
    /// Anything on horizontally bit-parallel codes.
    Hbp,
    /// Probe keys against the keys of a build side.
    EarlyProbe,
}

const KERNELS: usize = 16;
const CELLS: usize = KERNELS * Isa::ALL.len();

type Shard = [AtomicU64; CELLS];

static SHARDS: Mutex<Vec<Arc<Shard>>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: Arc<Shard> = register();
}

fn register() -> Arc<Shard> {
    let shard = Arc::new(std::array::from_fn(|_| AtomicU64::new(0)));
    let mut shards = SHARDS.lock().unwrap_or_else(PoisonError::into_inner);
    retire_shards_of_ended_threads(&mut shards);
    shards.push(Arc::clone(&shard));
    shard
}

/// Adds the counts of threads that have ended to the first shard, which has no thread.
fn retire_shards_of_ended_threads(shards: &mut Vec<Arc<Shard>>) {
    if shards.is_empty() {
        shards.push(Arc::new(std::array::from_fn(|_| AtomicU64::new(0))));
    }
    let ended: Vec<Arc<Shard>> = shards
        .split_off(1)
        .into_iter()
        .filter_map(|shard| keep_or_yield(shard, shards))
        .collect();
    for (cell, total) in shards[0].iter().enumerate() {
        for shard in &ended {
            total.fetch_add(shard[cell].load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

fn keep_or_yield(shard: Arc<Shard>, kept: &mut Vec<Arc<Shard>>) -> Option<Arc<Shard>> {
    if Arc::strong_count(&shard) == 1 {
        return Some(shard);
    }
    kept.push(shard);
    None
}

/// Counts one call and returns the instruction set it runs on: `isa`, lowered to what the machine has.
#[inline]
pub(crate) fn enter(kernel: Kernel, isa: Isa) -> Isa {
    let isa = isa.effective();
    MINE.with(|shard| {
        let cell = &shard[cell(kernel, isa)];
        // Only this thread writes its shard: a plain load and store loses nothing.
        cell.store(cell.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    });
    isa
}

fn cell(kernel: Kernel, isa: Isa) -> usize {
    kernel as usize * Isa::ALL.len() + isa as usize
}

/// Calls of a kernel on an instruction set since the program began, on all threads.
pub fn calls(kernel: Kernel, isa: Isa) -> u64 {
    let shards = SHARDS.lock().unwrap_or_else(PoisonError::into_inner);
    shards
        .iter()
        .map(|shard| shard[cell(kernel, isa)].load(Ordering::Relaxed))
        .sum()
}

/// Calls of a kernel on any instruction set.
pub fn calls_on_any(kernel: Kernel) -> u64 {
    Isa::ALL.into_iter().map(|isa| calls(kernel, isa)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_ended_threads_stay() {
        let before = calls(Kernel::Like, Isa::Scalar);
        for _ in 0..3 {
            std::thread::spawn(|| enter(Kernel::Like, Isa::Scalar))
                .join()
                .unwrap();
        }
        assert!(calls(Kernel::Like, Isa::Scalar) >= before + 3);
        assert!(calls_on_any(Kernel::Like) >= 3);
    }
}
