//! Verdicts on claims.

use crate::report::{Report, Values};
use crate::statistics::{Comparison, compare_exact, compare_pairs};
use std::fmt;

/// The way to measure a claim.
#[derive(Clone, Copy, Debug)]
pub enum Measure {
    /// The baseline's metric over the case's is at least `least`.
    Ratio {
        /// Name of the experiment.
        experiment: &'static str,
        /// Name of the case.
        case: &'static str,
        /// Name of the case that it is compared with.
        baseline: &'static str,
        /// The metric, of which less is better.
        metric: &'static str,
        /// The bound of the ratio.
        least: f64,
    },
    /// Not measured by this command, for this reason.
    Elsewhere(&'static str),
}

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The whole interval is within the bound.
    Confirmed(Comparison),
    /// The whole interval is beyond the bound.
    Refuted(Comparison),
    /// The bound is in the interval.
    NotToldApart(Comparison),
    /// Without a figure, for this reason.
    NotMeasured(String),
}

impl Measure {
    /// The experiment that measures it.
    pub fn experiment(&self) -> Option<&'static str> {
        match self {
            Measure::Ratio { experiment, .. } => Some(experiment),
            Measure::Elsewhere(_) => None,
        }
    }

    /// The bound, for reports.
    pub fn bound(&self) -> String {
        match self {
            Measure::Ratio { least, .. } => format!("at least {least}"),
            Measure::Elsewhere(_) => String::new(),
        }
    }

    /// Judges by the report of its experiment.
    pub fn judge(&self, report: &Report) -> Verdict {
        let (case, baseline, metric, least) = match *self {
            Measure::Elsewhere(why) => return Verdict::NotMeasured(why.to_owned()),
            Measure::Ratio {
                case,
                baseline,
                metric,
                least,
                ..
            } => (case, baseline, metric, least),
        };
        let find = |case: &str| {
            let mut measured = report.measurements().iter();
            measured.find(|m| m.case == case && m.metric == metric)
        };
        let compared = match (find(baseline).map(|m| &m.values), find(case).map(|m| &m.values)) {
            (Some(Values::Measured(baseline)), Some(Values::Measured(case))) => compare_pairs(baseline, case),
            (Some(Values::Exact(baseline)), Some(Values::Exact(case))) => compare_exact(*baseline, *case),
            _ => {
                let missing = if find(case).is_none() { case } else { baseline };
                return Verdict::NotMeasured(format!("the experiment has no {metric} of {missing}"));
            }
        };
        match compared.interval {
            interval if interval.low >= least => Verdict::Confirmed(compared),
            interval if interval.high < least => Verdict::Refuted(compared),
            _ => Verdict::NotToldApart(compared),
        }
    }
}

impl Verdict {
    /// The figures without a decision.
    pub fn undecided(self) -> Verdict {
        match self {
            Verdict::Confirmed(of) | Verdict::Refuted(of) | Verdict::NotToldApart(of) => {
                Verdict::NotToldApart(of)
            }
            Verdict::NotMeasured(why) => Verdict::NotMeasured(why),
        }
    }

    /// The ratio with its interval; empty without one.
    pub fn figures(&self) -> String {
        match self {
            Verdict::Confirmed(of) | Verdict::Refuted(of) | Verdict::NotToldApart(of) => {
                format!(
                    "{:.2} ({:.2} to {:.2})",
                    of.ratio, of.interval.low, of.interval.high
                )
            }
            Verdict::NotMeasured(_) => String::new(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Confirmed(_) => f.write_str("confirmed"),
            Verdict::Refuted(_) => f.write_str("refuted"),
            Verdict::NotToldApart(_) => f.write_str("not told apart"),
            Verdict::NotMeasured(why) => write!(f, "not measured: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Measurement;
    use crate::statistics::Sample;

    fn report(baseline: &[f64], case: &[f64]) -> Report {
        let mut report = Report::default();
        for (name, values) in [("old", baseline), ("new", case)] {
            report.add(Measurement {
                experiment: "tpch",
                case: name.to_owned(),
                metric: "execute",
                unit: "ms",
                values: Values::Measured(Sample::new(values.to_vec())),
            });
        }
        report
    }

    fn measure(least: f64) -> Measure {
        Measure::Ratio {
            experiment: "tpch",
            case: "new",
            baseline: "old",
            metric: "execute",
            least,
        }
    }

    #[test]
    fn the_interval_decides() {
        let twice = report(&[2.0, 2.02, 1.98, 2.01], &[1.0, 1.0, 1.01, 0.99]);
        assert!(matches!(measure(1.5).judge(&twice), Verdict::Confirmed(_)));
        assert!(matches!(measure(3.0).judge(&twice), Verdict::Refuted(_)));
        assert!(matches!(measure(2.0).judge(&twice), Verdict::NotToldApart(_)));
        assert!(measure(2.0).judge(&twice).figures().starts_with("2.0"));
        let undecided = measure(1.5).judge(&twice).undecided();
        assert!(matches!(undecided, Verdict::NotToldApart(of) if of.ratio > 1.9));
    }

    #[test]
    fn a_claim_without_figures_says_why() {
        let nothing = measure(1.0).judge(&Report::default());
        assert_eq!(
            nothing.to_string(),
            "not measured: the experiment has no execute of new"
        );
        let elsewhere = Measure::Elsewhere("needs a file").judge(&Report::default());
        assert_eq!(elsewhere.to_string(), "not measured: needs a file");
        assert_eq!(elsewhere.figures(), "");
    }
}
