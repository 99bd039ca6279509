//! Lines of the report, as the papers' files write them.

use crate::bound::Bound;
use crate::whole::verdict::{Measure, Of};

/// A paper and its claims.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Its name in reports.
    pub name: &'static str,
    /// Its claims, in the order of the report.
    pub lines: &'static [Line],
}

/// Place, words and measure of a claim.
pub type Line = (&'static str, &'static str, Measure);

/// The baseline's metric over the case's is at least `least`.
pub const fn ratio(
    experiment: &'static str,
    (case, baseline): (&'static str, &'static str),
    metric: &'static str,
    least: f64,
) -> Measure {
    each(experiment, (case, baseline), &[], metric, least)
}

/// The ratio holds for each of the names that replace `{}` in the names of the cases.
pub const fn each(
    experiment: &'static str,
    (case, baseline): (&'static str, &'static str),
    each: &'static [&'static str],
    metric: &'static str,
    least: f64,
) -> Measure {
    Measure::Ratio {
        experiment,
        case,
        baseline,
        each,
        of: Of::All,
        metric,
        least,
    }
}

/// The ratio holds for at least one of the names that replace `{}` in the names of the cases.
pub const fn up_to(
    experiment: &'static str,
    (case, baseline): (&'static str, &'static str),
    each: &'static [&'static str],
    metric: &'static str,
    least: f64,
) -> Measure {
    Measure::Ratio {
        experiment,
        case,
        baseline,
        each,
        of: Of::Any,
        metric,
        least,
    }
}

/// The metric of a case is at least `least`.
pub const fn at_least(
    experiment: &'static str,
    case: &'static str,
    metric: &'static str,
    least: f64,
) -> Measure {
    Measure::Figure {
        experiment,
        case,
        metric,
        bound: Bound::Least(least),
    }
}

/// The metric of a case is at most `most`.
pub const fn at_most(
    experiment: &'static str,
    case: &'static str,
    metric: &'static str,
    most: f64,
) -> Measure {
    Measure::Figure {
        experiment,
        case,
        metric,
        bound: Bound::Most(most),
    }
}

/// Nanoseconds of a lookup, in several experiments.
pub const LOOKUP: &str = "ns_per_lookup";
/// Nanoseconds of a value, in experiments on kernels.
pub const VALUE: &str = "ns_per_value";
