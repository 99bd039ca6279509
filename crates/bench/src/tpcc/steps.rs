//! Times of the statements of transactions.

use frazil::Value;
use frazil_tpcc::{Answer, Engine, Latencies, Session, Step};
use frazil_types::Result;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// An engine whose statements are timed.
pub struct Timed {
    engine: Box<dyn Engine>,
    /// `times[step as usize]` has those of a step.
    times: Mutex<Vec<Latencies>>,
}

impl Timed {
    /// An engine whose statements were not timed yet.
    pub fn new(engine: Box<dyn Engine>) -> Timed {
        Timed {
            engine,
            times: Mutex::new(vec![Latencies::default(); Step::ALL.len()]),
        }
    }

    /// Forgets all times.
    pub fn forget(&self) {
        *self.times() = vec![Latencies::default(); Step::ALL.len()];
    }

    /// All times together.
    pub fn total(&self) -> Duration {
        self.times().iter().map(Latencies::sum).sum()
    }

    /// The names of the statements that ran, with their times.
    pub fn steps(&self) -> Vec<(&'static str, Latencies)> {
        let times = self.times();
        let named = Step::ALL.iter().zip(times.iter());
        named
            .filter(|(_, times)| times.count() > 0)
            .map(|(step, times)| (step.name(), times.clone()))
            .collect()
    }

    fn times(&self) -> MutexGuard<'_, Vec<Latencies>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for Timed {
    fn with_session(&self, work: &mut dyn FnMut(&mut dyn Session) -> Result<()>) -> Result<()> {
        self.engine.with_session(&mut |inner| {
            work(&mut TimedSession {
                inner,
                times: self.times(),
            })
        })
    }
}

struct TimedSession<'s> {
    inner: &'s mut dyn Session,
    times: MutexGuard<'s, Vec<Latencies>>,
}

impl Session for TimedSession<'_> {
    fn run(&mut self, step: Step, values: &[Value]) -> Result<Answer> {
        let began = Instant::now();
        let answer = self.inner.run(step, values);
        self.times[step as usize].add(began.elapsed());
        answer
    }
}
