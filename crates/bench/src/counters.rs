//! Hardware counters by `perf_event_open`: instructions, core cycles, cache misses and branch misses of a piece
//! of work, in user mode, on the calling thread and those it starts.
//!
//! Not every machine lets a process count: virtual machines often have no counters, and
//! `/proc/sys/kernel/perf_event_paranoid` may forbid them. Then there are none, never an error, and reports say
//! "n/a". Turning a counter on costs up to a tenth of a millisecond in a virtual machine, so work is
//! counted apart from being timed.

/// Instructions, core cycles, cache misses and branch misses; `None` where the machine does not count them.
pub type Counts = [Option<f64>; 4];

/// The counters of the machine.
#[derive(Debug)]
pub struct Counters([Option<machine::Counter>; 4]);

impl Counters {
    /// Those that the machine has and lets us use.
    pub fn open() -> Counters {
        Counters(std::array::from_fn(machine::open))
    }

    /// Whether there is any.
    pub fn available(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// Counts what happens while `work` runs.
    pub fn count(&mut self, work: &mut dyn FnMut()) -> Counts {
        let before = self.0.each_mut().map(|counter| machine::start(counter.as_mut()?));
        work();
        let mut before = before.into_iter();
        self.0
            .each_mut()
            .map(|counter| machine::stop(counter.as_mut()?, before.next()??))
    }
}

/// The machine's counters, where there is a system call for them.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod machine {
    pub use perf_event::Counter;
    use perf_event::events::Hardware;
    use perf_event::{Builder, CountAndTime};

    const EVENTS: [Hardware; 4] = [
        Hardware::INSTRUCTIONS,
        Hardware::CPU_CYCLES,
        Hardware::CACHE_MISSES,
        Hardware::BRANCH_MISSES,
    ];

    /// The counter of an event.
    pub fn open(event: usize) -> Option<Counter> {
        let mut builder = Builder::new().kind(EVENTS[event]);
        builder.inherit(true);
        builder.build().ok()
    }

    /// Starts a counter; what it has counted before. (It cannot begin at zero: resetting leaves what other
    /// threads brought.)
    pub fn start(counter: &mut Counter) -> Option<CountAndTime> {
        let before = counter.read_count_and_time().ok()?;
        counter.enable().ok()?;
        Some(before)
    }

    /// Events since the start. Where counters take turns, as there are too few for all, the count is scaled by
    /// the time the counter had.
    pub fn stop(counter: &mut Counter, before: CountAndTime) -> Option<f64> {
        counter.disable().ok()?;
        let after = counter.read_count_and_time().ok()?;
        let events = after.count.checked_sub(before.count)? as f64;
        let enabled = after.time_enabled.checked_sub(before.time_enabled)? as f64;
        let running = after.time_running.checked_sub(before.time_running)? as f64;
        (running > 0.0).then(|| events * enabled / running)
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod machine {
    /// There is none.
    #[derive(Debug)]
    pub enum Counter {}

    pub fn open(_: usize) -> Option<Counter> {
        None
    }

    pub fn start(counter: &mut Counter) -> Option<()> {
        match *counter {}
    }

    pub fn stop(counter: &mut Counter, (): ()) -> Option<f64> {
        match *counter {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn work_takes_instructions_in_proportion_where_they_are_counted() {
        let mut counters = Counters::open();
        let mut count = |steps: u64| {
            counters.count(&mut || {
                for step in 0..steps {
                    black_box(step);
                }
            })[0]
        };
        if let (Some(few), Some(many)) = (count(100_000), count(1_000_000)) {
            assert!((8.0..12.0).contains(&(many / few)), "{few} and {many}");
        }
    }
}
