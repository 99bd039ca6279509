//! Bounds of figures, and the sentences that say whether they hold.

use crate::report::Report;
use crate::statistics::Interval;
use std::fmt;

/// A bound of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// The figure is at least this.
    Least(f64),
    /// The figure is at most this.
    Most(f64),
}

impl Bound {
    /// Concludes with a figure and the verdict.
    pub fn judge(self, report: &mut Report, name: &str, value: f64, unit: &str) {
        let sentence = format!("{name}: {value:.2}{unit}, {}", self.verdict(value));
        report.conclude(sentence);
    }

    /// Concludes with the ratio of the case that was compared last: its baseline's time over its own. With
    /// [`Bound::Most`], its own time over the baseline's.
    pub fn judge_last_ratio(self, report: &mut Report, name: &str) {
        let Some(of) = report.ratios().last().map(|ratio| ratio.all) else {
            return;
        };
        let (value, interval) = match self {
            Bound::Least(_) => (of.ratio, of.interval),
            Bound::Most(_) => {
                let interval = Interval {
                    low: 1.0 / of.interval.high,
                    high: 1.0 / of.interval.low,
                };
                (1.0 / of.ratio, interval)
            }
        };
        let sentence = format!(
            "{name}: {value:.2} ({:.2} to {:.2}), {}",
            interval.low,
            interval.high,
            self.verdict(value)
        );
        report.conclude(sentence);
    }

    /// True if a figure is within the bound.
    pub fn admits(self, value: f64) -> bool {
        match self {
            Bound::Least(least) => value >= least,
            Bound::Most(most) => value <= most,
        }
    }

    fn verdict(self, value: f64) -> String {
        let holds = if self.admits(value) { "within" } else { "beyond" };
        format!("{holds} {self}")
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Least(least) => write!(f, "at least {least}"),
            Bound::Most(most) => write!(f, "at most {most}"),
        }
    }
}
