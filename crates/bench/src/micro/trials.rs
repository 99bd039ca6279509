//! Trials of a group, run in turns so that what disturbs the machine for a while disturbs all alike. Each run
//! is timed, and then done once more with the machine's counters on.

use super::clock::{Cost, LEAST_NS, time};
use crate::counters::{Counters, Counts};
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;

/// A case and its work.
pub struct Trial<'a> {
    /// Name of the case.
    pub case: String,
    /// Units, e.g. values, that `work` deals with.
    pub units: f64,
    /// The work, which leaves no trace.
    pub work: Box<dyn FnMut() + 'a>,
}

/// Results of one case: cost per unit of work for each run.
pub struct Outcome {
    /// Name of the case.
    pub case: String,
    /// Cost of each run, per unit of work.
    pub runs: Vec<Cost>,
    /// Hardware events of the runs, a unit of work.
    pub events: Vec<Counts>,
}

/// Names of what is measured: nanoseconds, cycles by the clock, and events by the machine's counters.
#[derive(Clone, Copy, Debug)]
pub struct Metrics {
    /// E.g. `ns_per_value`.
    pub ns: &'static str,
    /// E.g. `cycles_per_value`.
    pub cycles: &'static str,
    /// Of the events that [`Counters`] count.
    pub events: [&'static str; 4],
}

/// What a scan costs a value.
pub const PER_VALUE: Metrics = Metrics {
    ns: "ns_per_value",
    cycles: "cycles_per_value",
    events: [
        "instructions_per_value",
        "counted_cycles_per_value",
        "cache_misses_per_value",
        "branch_misses_per_value",
    ],
};

/// Runs each trial once to warm up and `runs` times; each round begins with another.
pub fn run(runs: usize, mut trials: Vec<Trial<'_>>) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = (trials.iter())
        .map(|trial| Outcome {
            case: trial.case.clone(),
            runs: Vec::with_capacity(runs),
            events: Vec::with_capacity(runs),
        })
        .collect();
    let mut counters = Counters::open();
    for round in 0..=runs {
        for turn in 0..trials.len() {
            let at = (turn + round) % trials.len();
            let trial = &mut trials[at];
            let cost = time(trial.units, &mut trial.work);
            if round > 0 {
                outcomes[at].runs.push(cost);
                outcomes[at].events.push(count(&mut counters, trial, cost));
            }
        }
    }
    outcomes
}

/// Hardware events of a unit of work that takes `cost`: short work is repeated until what the counters
/// themselves add is lost in it.
fn count(counters: &mut Counters, trial: &mut Trial<'_>, cost: Cost) -> Counts {
    if !counters.available() {
        return Counts::default();
    }
    let repetitions = (LEAST_NS / (cost.ns * trial.units)).ceil().max(1.0);
    let counts = counters.count(&mut || (0..repetitions as usize).for_each(|_| (trial.work)()));
    counts.map(|count| Some(count? / (repetitions * trial.units)))
}

impl Outcome {
    /// With the runs of another outcome of the same case.
    pub fn and(mut self, other: Outcome) -> Outcome {
        self.runs.extend(other.runs);
        self.events.extend(other.events);
        self
    }

    /// Mean nanoseconds a unit.
    pub fn mean_ns(&self) -> f64 {
        self.runs.iter().map(|cost| cost.ns).sum::<f64>() / self.runs.len() as f64
    }

    /// The middle of the nanoseconds a unit.
    pub fn median_ns(&self) -> f64 {
        Sample::new(self.runs.iter().map(|cost| cost.ns).collect()).median()
    }

    /// Adds what was measured to a report.
    pub fn add_to(&self, report: &mut Report, experiment: &'static str, metrics: Metrics) {
        let mut add = |metric, unit, read: fn(&Cost) -> f64| {
            report.add(Measurement {
                experiment,
                case: self.case.clone(),
                metric,
                unit,
                values: Values::Measured(Sample::new(self.runs.iter().map(read).collect())),
            });
        };
        add(metrics.ns, "ns", |cost| cost.ns);
        add(metrics.cycles, "cycles", |cost| cost.cycles);
        for (event, metric) in metrics.events.into_iter().enumerate() {
            let counts: Option<Vec<f64>> = self.events.iter().map(|counts| counts[event]).collect();
            report.add(Measurement {
                experiment,
                case: self.case.clone(),
                metric,
                unit: "events",
                values: Values::Counted(counts.filter(|c| !c.is_empty()).map(Sample::new)),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn rounds_begin_with_another_trial() {
        let log = RefCell::new(Vec::new());
        let trial = |name: &'static str| {
            let log = &log;
            Trial {
                case: name.to_owned(),
                units: 1.0,
                work: Box::new(move || {
                    log.borrow_mut().push(name);
                    std::thread::sleep(std::time::Duration::from_millis(21));
                }),
            }
        };
        let outcomes = run(2, vec![trial("a"), trial("b")]);
        // Counting does the work of a run once more.
        let mut log = log.into_inner();
        if Counters::open().available() {
            assert_eq!(log.len(), 10);
            log.dedup();
            assert_eq!(log, ["a", "b", "a", "b"]);
        } else {
            assert_eq!(log, ["a", "b", "b", "a", "a", "b"]);
        }
        assert_eq!(outcomes[1].case, "b");
        assert_eq!(outcomes[1].runs.len(), 2);
        assert!(outcomes[0].mean_ns() > 2e7);
    }
}
