//! Time in core cycles, without the counters of the machine.
//!
//! The papers give cycles. The time-stamp counter ticks at a fixed rate, whatever the core's frequency, so
//! its ticks are not core cycles; the [counters](crate::counters) that would tell are not to be had on every
//! machine. So cycles are calibrated: a chain of additions and exclusive ors, each of which waits for the one
//! before it and takes one cycle on every core we know, is timed right before and right after whatever is
//! measured. The chain's cycles over its nanoseconds are the frequency at that moment.

use std::hint::black_box;
use std::time::Instant;

/// What a unit of work took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Nanoseconds.
    pub ns: f64,
    /// Core cycles.
    pub cycles: f64,
}

/// Links of the chain: two operations each, about ten microseconds in all.
const LINKS: usize = 16_384;

/// Chains timed in a row, the fastest of which counts: disturbances only ever add time.
const CHAINS: usize = 3;

/// Work that takes less than this is repeated.
pub const LEAST_NS: f64 = 100_000.0;

/// Batches of work, the fastest of which counts.
const BATCHES: usize = 3;

/// Work that takes longer than this runs once.
const MOST_NS: f64 = 20_000_000.0;

/// Core cycles in a nanosecond, just now.
pub fn cycles_per_ns() -> f64 {
    let chain = |_| {
        let (plus, xor) = (black_box(0x9e37_79b9_7f4a_7c15), black_box(0x0123_4567_89ab_cdef));
        let begun = Instant::now();
        black_box(run_chain(black_box(1), plus, xor));
        begun.elapsed().as_nanos() as f64
    };
    let fastest = (0..CHAINS).map(chain).fold(f64::INFINITY, f64::min);
    (2 * LINKS) as f64 / fastest.max(1.0)
}

/// `(x + plus) ^ xor` again and again: neither the compiler nor the core can shorten it.
#[inline(never)]
fn run_chain(mut x: u64, plus: u64, xor: u64) -> u64 {
    for _ in 0..LINKS / 16 {
        for _ in 0..16 {
            x = x.wrapping_add(plus) ^ xor;
        }
    }
    x
}

/// Times `work` of `units` units: repeated until it takes long enough to be timed, in batches of which the
/// fastest counts.
pub fn time(units: f64, work: &mut dyn FnMut()) -> Cost {
    let before = cycles_per_ns();
    let mut fastest = nanoseconds(1, work);
    if fastest < MOST_NS {
        // The first time takes longest; what repeats too seldom for that is no batch.
        let mut batches = 0;
        while batches < BATCHES {
            let repetitions = (LEAST_NS / fastest).ceil().max(1.0) as usize;
            let taken = nanoseconds(repetitions, work);
            fastest = fastest.min(taken / repetitions as f64);
            batches += usize::from(taken > LEAST_NS / 2.0);
        }
    }
    let ns = fastest / units;
    Cost {
        ns,
        cycles: ns * before.max(cycles_per_ns()),
    }
}

fn nanoseconds(repetitions: usize, work: &mut dyn FnMut()) -> f64 {
    let begun = Instant::now();
    for _ in 0..repetitions {
        work();
    }
    (begun.elapsed().as_nanos() as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_has_between_half_and_eight_cycles_a_nanosecond() {
        let best = (0..20).map(|_| cycles_per_ns()).fold(0.0, f64::max);
        assert!((0.5..8.0).contains(&best), "{best}");
    }

    #[test]
    fn dependent_additions_take_a_cycle_each() {
        // The same chain measured as work: as many cycles as links and operations.
        let cost = (0..20)
            .map(|_| {
                time(1.0, &mut || {
                    _ = black_box(run_chain(black_box(1), black_box(3), black_box(5)))
                })
            })
            .fold(f64::INFINITY, |least, cost| least.min(cost.cycles));
        let wanted = (2 * LINKS) as f64;
        assert!((0.5..1.5).contains(&(cost / wanted)), "{cost} for {wanted}");
    }
}
