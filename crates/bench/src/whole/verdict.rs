//! Verdicts on claims.

use crate::bound::Bound;
use crate::report::{Measurement, Report, Values};
use crate::statistics::{Interval, compare_exact, compare_pairs};
use std::fmt;

/// Stands in the names of cases for each of the names that a ratio holds for.
const EACH: &str = "{}";

/// The cases that a ratio must hold for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// All cases.
    All,
    /// At least one of them: a claim that says "up to".
    Any,
}

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
        /// Replace `{}` in both names. Empty if the names have no `{}`.
        each: &'static [&'static str],
        /// The part of `each` that the ratio must hold for.
        of: Of,
        /// The metric, of which less is better.
        metric: &'static str,
        /// The bound of the ratio.
        least: f64,
    },
    /// The metric of a case is within a bound.
    Figure {
        /// Name of the experiment.
        experiment: &'static str,
        /// Name of the case.
        case: &'static str,
        /// The metric.
        metric: &'static str,
        /// The bound.
        bound: Bound,
    },
    /// Not measured by this command, for this reason.
    Elsewhere(&'static str),
    /// The place claims no figure; these words say what it shows.
    Shows(&'static str),
}

/// A figure with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    value: f64,
    interval: Interval,
    /// The case that is farthest from the bound, if there are several.
    of: Option<String>,
}

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The whole interval is within the bound.
    Confirmed(Found),
    /// The whole interval is beyond the bound.
    Refuted(Found),
    /// The bound is in the interval.
    NotToldApart(Found),
    /// Without a figure, for this reason.
    NotMeasured(String),
    /// The place claims no figure.
    NoClaim(&'static str),
}

impl Measure {
    /// The experiment that measures it.
    pub fn experiment(&self) -> Option<&'static str> {
        match self {
            Measure::Ratio { experiment, .. } | Measure::Figure { experiment, .. } => Some(experiment),
            Measure::Elsewhere(_) | Measure::Shows(_) => None,
        }
    }

    /// The bound, for reports.
    pub fn bound(&self) -> String {
        match self {
            Measure::Ratio {
                least, of: Of::All, ..
            } => Bound::Least(*least).to_string(),
            Measure::Ratio {
                least, of: Of::Any, ..
            } => format!("up to {least}"),
            Measure::Figure { bound, .. } => bound.to_string(),
            Measure::Elsewhere(_) | Measure::Shows(_) => String::new(),
        }
    }

    /// Cases and metrics that the report of its experiment must have, each case once.
    pub fn needs(&self) -> Vec<(String, &'static str)> {
        match *self {
            Measure::Ratio {
                case,
                baseline,
                each,
                metric,
                ..
            } => {
                let pairs = pairs(case, baseline, each).into_iter();
                let mut needed: Vec<String> = pairs.flat_map(|(case, baseline)| [case, baseline]).collect();
                needed.dedup();
                needed.into_iter().map(|case| (case, metric)).collect()
            }
            Measure::Figure { case, metric, .. } => vec![(case.to_owned(), metric)],
            Measure::Elsewhere(_) | Measure::Shows(_) => Vec::new(),
        }
    }

    /// Judges by the report of its experiment.
    pub fn judge(&self, report: &Report) -> Verdict {
        match *self {
            Measure::Elsewhere(why) => Verdict::NotMeasured(why.to_owned()),
            Measure::Shows(what) => Verdict::NoClaim(what),
            Measure::Figure {
                case, metric, bound, ..
            } => match find(report, case, metric) {
                Some(of) if matches!(of.values, Values::Counted(None)) => not_counted(metric),
                Some(of) => verdict(of.figures().mean, of.figures().interval, None, bound),
                None => missing(case, metric),
            },
            Measure::Ratio {
                case,
                baseline,
                each,
                of,
                metric,
                least,
                ..
            } => judge_ratios(report, &pairs(case, baseline, each), of, (metric, least)),
        }
    }
}

/// The names of a case and its baseline for each of the names that replace `{}`.
fn pairs(case: &str, baseline: &str, each: &[&str]) -> Vec<(String, String)> {
    match each {
        [] => vec![(case.to_owned(), baseline.to_owned())],
        each => (each.iter())
            .map(|name| (case.replace(EACH, name), baseline.replace(EACH, name)))
            .collect(),
    }
}

/// With [`Of::All`], refuted if one of the ratios is, and confirmed if all are; the figure is the least ratio. With
/// [`Of::Any`], the other way round, and the figure is the greatest.
fn judge_ratios(
    report: &Report,
    pairs: &[(String, String)],
    of: Of,
    (metric, least): (&str, f64),
) -> Verdict {
    let mut judged = Vec::new();
    for (case, baseline) in pairs {
        let name = (pairs.len() > 1).then(|| case.clone());
        match judge_ratio(report, (case, baseline), metric, (least, name)) {
            Verdict::NotMeasured(why) => return Verdict::NotMeasured(why),
            verdict => judged.push(verdict),
        }
    }
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Refuted(_) => 0,
        Verdict::NotToldApart(_) => 1,
        Verdict::Confirmed(_) => 2,
        Verdict::NotMeasured(_) | Verdict::NoClaim(_) => 3,
    };
    let ratio = |verdict: &Verdict| verdict.found().map_or(f64::NAN, |found| found.value);
    let order = |a: &Verdict, b: &Verdict| rank(a).cmp(&rank(b)).then(ratio(a).total_cmp(&ratio(b)));
    let decides = match of {
        Of::All => judged.into_iter().min_by(order),
        Of::Any => judged.into_iter().max_by(order),
    };
    decides.unwrap_or_else(|| Verdict::NotMeasured("the claim names no case".to_owned()))
}

fn judge_ratio(
    report: &Report,
    (case, baseline): (&str, &str),
    metric: &str,
    (least, name): (f64, Option<String>),
) -> Verdict {
    let values = |case| find(report, case, metric).map(|m| &m.values);
    let compared = match (values(baseline), values(case)) {
        (
            Some(Values::Measured(baseline) | Values::Counted(Some(baseline))),
            Some(Values::Measured(case) | Values::Counted(Some(case))),
        ) => compare_pairs(baseline, case),
        (Some(Values::Counted(None)), _) | (_, Some(Values::Counted(None))) => return not_counted(metric),
        (Some(Values::Exact(baseline)), Some(Values::Exact(case))) => compare_exact(*baseline, *case),
        (_, None) => return missing(case, metric),
        (..) => return missing(baseline, metric),
    };
    verdict(compared.ratio, compared.interval, name, Bound::Least(least))
}

fn find<'r>(report: &'r Report, case: &str, metric: &str) -> Option<&'r Measurement> {
    let mut measured = report.measurements().iter();
    measured.find(|m| m.case == case && m.metric == metric)
}

fn missing(case: &str, metric: &str) -> Verdict {
    Verdict::NotMeasured(format!("the experiment has no {metric} of {case}"))
}

fn not_counted(metric: &str) -> Verdict {
    Verdict::NotMeasured(format!("the machine does not count {metric}"))
}

fn verdict(value: f64, interval: Interval, of: Option<String>, bound: Bound) -> Verdict {
    let found = Found { value, interval, of };
    match (bound.admits(interval.low), bound.admits(interval.high)) {
        (true, true) => Verdict::Confirmed(found),
        (false, false) => Verdict::Refuted(found),
        (true, false) | (false, true) => Verdict::NotToldApart(found),
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
            Verdict::NoClaim(what) => Verdict::NoClaim(what),
        }
    }

    fn found(&self) -> Option<&Found> {
        match self {
            Verdict::Confirmed(of) | Verdict::Refuted(of) | Verdict::NotToldApart(of) => Some(of),
            Verdict::NotMeasured(_) | Verdict::NoClaim(_) => None,
        }
    }

    /// The figure with its interval; empty without one.
    pub fn figures(&self) -> String {
        let Some(Found { value, interval, of }) = self.found() else {
            return String::new();
        };
        let figures = match interval.low == interval.high {
            true => format!("{value:.2}"),
            false => format!("{value:.2} ({:.2} to {:.2})", interval.low, interval.high),
        };
        match of {
            Some(case) => format!("{figures} for {case}"),
            None => figures,
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
            Verdict::NoClaim(what) => write!(f, "no figure to measure: {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Sample;

    fn add(report: &mut Report, case: &str, values: Values) {
        report.add(Measurement {
            experiment: "tpch",
            case: case.to_owned(),
            metric: "execute",
            unit: "ms",
            values,
        });
    }

    fn measured(values: &[f64]) -> Values {
        Values::Measured(Sample::new(values.to_vec()))
    }

    fn report(baseline: &[f64], case: &[f64]) -> Report {
        let mut report = Report::default();
        add(&mut report, "old", measured(baseline));
        add(&mut report, "new", measured(case));
        report
    }

    fn measure(least: f64) -> Measure {
        Measure::Ratio {
            experiment: "tpch",
            case: "new",
            baseline: "old",
            each: &[],
            of: Of::All,
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
        assert!(matches!(undecided, Verdict::NotToldApart(of) if of.value > 1.9));
    }

    #[test]
    fn a_claim_on_several_cases_stands_or_falls_with_the_worst() {
        let mut report = Report::default();
        for (case, values) in [
            ("old/q1", [4.0, 4.02, 3.98]),
            ("new/q1", [1.0, 1.01, 0.99]),
            ("old/q2", [2.0, 2.02, 1.98]),
            ("new/q2", [1.0, 1.01, 0.99]),
            ("old/q3", [9.0, 4.0, 1.0]),
            ("new/q3", [1.0, 3.0, 2.0]),
        ] {
            add(&mut report, case, measured(&values));
        }
        let judge_of = |of, each, least| {
            let measure = Measure::Ratio {
                experiment: "tpch",
                case: "new/{}",
                baseline: "old/{}",
                each,
                of,
                metric: "execute",
                least,
            };
            measure.judge(&report)
        };
        let judge = |each, least| judge_of(Of::All, each, least);
        let both = judge(&["q1", "q2"], 1.5);
        assert!(matches!(both, Verdict::Confirmed(_)));
        assert!(both.figures().starts_with("2.0") && both.figures().ends_with(" for new/q2"));
        assert!(matches!(judge(&["q1", "q2"], 3.0), Verdict::Refuted(_)));
        // A noisy case leaves the claim open, unless another case refutes it.
        assert!(matches!(judge(&["q1", "q3"], 1.5), Verdict::NotToldApart(_)));
        let refuted = judge(&["q1", "q2", "q3"], 3.0);
        assert!(matches!(refuted, Verdict::Refuted(_)) && refuted.figures().ends_with("new/q2"));
        // "Up to" asks for one case.
        let one = judge_of(Of::Any, &["q1", "q2", "q3"], 3.0);
        assert!(matches!(one, Verdict::Confirmed(_)) && one.figures().ends_with("new/q1"));
        assert!(matches!(
            judge_of(Of::Any, &["q1", "q2"], 5.0),
            Verdict::Refuted(_)
        ));
        assert_eq!(
            judge(&["q1", "q4"], 1.0).to_string(),
            "not measured: the experiment has no execute of new/q4"
        );
    }

    #[test]
    fn a_figure_is_held_against_its_bound() {
        let judge = |values, bound| {
            let mut report = Report::default();
            add(&mut report, "size", values);
            let measure = Measure::Figure {
                experiment: "tpch",
                case: "size",
                metric: "execute",
                bound,
            };
            measure.judge(&report)
        };
        let exact = judge(Values::Exact(0.4), Bound::Most(0.62));
        assert!(matches!(exact, Verdict::Confirmed(_)) && exact.figures() == "0.40");
        assert!(matches!(
            judge(Values::Exact(0.4), Bound::Least(0.62)),
            Verdict::Refuted(_)
        ));
        let noisy = judge(measured(&[0.4, 0.5, 0.6, 0.7]), Bound::Most(0.56));
        assert!(matches!(noisy, Verdict::NotToldApart(_)), "{}", noisy.figures());
        assert_eq!(
            judge(Values::Counted(None), Bound::Most(1.0)).to_string(),
            "not measured: the machine does not count execute"
        );
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
        let drawing = Measure::Shows("a block").judge(&Report::default());
        assert_eq!(drawing.to_string(), "no figure to measure: a block");
        assert_eq!(
            (Measure::Shows("a block").bound(), drawing.figures()),
            Default::default()
        );
    }
}
