//! The sizes of the experiment, and how its parts report.

use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use std::path::PathBuf;

/// The sizes of a run.
pub struct Plan {
    /// Name of the experiment.
    pub experiment: &'static str,
    /// Factor of all sizes: 1 for those of the bounds.
    pub scale: f64,
    /// Timed runs of each case, after one that warms up.
    pub runs: usize,
    /// The program that serves as a peer, as `peer` says; with `None`, a peer is a thread with a database of its own.
    pub program: Option<PathBuf>,
}

impl Plan {
    /// A number at this scale, at least `least`.
    pub fn scaled(&self, full: usize, least: usize) -> usize {
        ((full as f64 * self.scale) as usize).max(least)
    }

    /// Adds the values of a case.
    pub fn add(
        &self,
        report: &mut Report,
        case: &str,
        (metric, unit): (&'static str, &'static str),
        values: Vec<f64>,
    ) {
        report.add(Measurement {
            experiment: self.experiment,
            case: case.to_owned(),
            metric,
            unit,
            values: Values::Measured(Sample::new(values)),
        });
    }
}
