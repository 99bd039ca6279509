//! Two samples compared: the ratio of their means with its interval, and a verdict by the three cases
//! of section 3.4.

use super::{Interval, Sample, welch};

/// Whether a case is better than its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Less time (or fewer bytes) than the baseline.
    Faster,
    /// More.
    Slower,
    /// The measurements do not tell.
    Indistinguishable,
}

impl Verdict {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Indistinguishable => "indistinguishable",
        }
    }
}

/// A case against its baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Baseline over case, of the geometric means: above 1 the case is better.
    pub ratio: f64,
    /// Confidence interval of the ratio.
    pub interval: Interval,
    /// Whether the difference is real.
    pub verdict: Verdict,
}

/// Compares positive values of which less is better.
///
/// The verdict follows section 3.4. (1) Disjoint confidence intervals: the lower mean wins. (2) The mean
/// of one lies in the other's interval: indistinguishable. (3) Otherwise Welch's test decides. The
/// intervals and means are those of the values as reported; the test, like the ratio's interval, is on
/// logarithms.
pub fn compare(baseline: &Sample, case: &Sample) -> Comparison {
    let test = welch(&baseline.logarithms(), &case.logarithms());
    let (of_baseline, of_case) = (baseline.interval(), case.interval());
    let distinguishable = if of_baseline.is_disjoint(&of_case) {
        true
    } else if of_baseline.contains(case.mean()) || of_case.contains(baseline.mean()) {
        false
    } else {
        test.is_significant()
    };
    let verdict = match distinguishable {
        false => Verdict::Indistinguishable,
        true if case.mean() < baseline.mean() => Verdict::Faster,
        true => Verdict::Slower,
    };
    Comparison {
        ratio: test.difference.exp(),
        interval: Interval {
            low: test.interval.low.exp(),
            high: test.interval.high.exp(),
        },
        verdict,
    }
}

/// Compares positive values that were measured in pairs, one right after the other: what disturbs the machine for
/// a while disturbs both and is no part of their ratio. The interval is Student's, of the mean logarithm of the
/// pairs' ratios; they differ where 1 lies outside. Values without a partner are left out.
pub fn compare_pairs(baseline: &Sample, case: &Sample) -> Comparison {
    let pairs = baseline.values().iter().zip(case.values());
    let logarithms = Sample::new(pairs.map(|(b, c)| (b / c).ln()).collect());
    let interval = logarithms.interval();
    Comparison {
        ratio: logarithms.mean().exp(),
        interval: Interval {
            low: interval.low.exp(),
            high: interval.high.exp(),
        },
        verdict: match interval.contains(0.0) {
            true => Verdict::Indistinguishable,
            false if logarithms.mean() > 0.0 => Verdict::Faster,
            false => Verdict::Slower,
        },
    }
}

/// Compares positive numbers that do not vary, such as bytes.
pub fn compare_exact(baseline: f64, case: f64) -> Comparison {
    let ratio = baseline / case;
    Comparison {
        ratio,
        interval: Interval {
            low: ratio,
            high: ratio,
        },
        verdict: match case.total_cmp(&baseline) {
            std::cmp::Ordering::Less => Verdict::Faster,
            std::cmp::Ordering::Equal => Verdict::Indistinguishable,
            std::cmp::Ordering::Greater => Verdict::Slower,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Welch;

    fn verdict(baseline: &[f64], case: &[f64]) -> Verdict {
        compare(&Sample::new(baseline.to_vec()), &Sample::new(case.to_vec())).verdict
    }

    #[test]
    fn disjoint_intervals_decide() {
        let (slow, fast) = ([10.0, 10.1, 9.9, 10.0, 10.05], [5.0, 5.1, 4.9, 5.0, 5.05]);
        assert_eq!(verdict(&slow, &fast), Verdict::Faster);
        assert_eq!(verdict(&fast, &slow), Verdict::Slower);
    }

    #[test]
    fn a_mean_inside_the_others_interval_is_indistinguishable() {
        // The shape of the paper's example: A varies widely, B hardly, B's mean is above A's.
        let (a, b) = ([1.4, 1.75, 1.75, 1.85, 2.0], [1.80, 1.81, 1.82, 1.83, 1.84]);
        assert_eq!(verdict(&a, &b), Verdict::Indistinguishable);
        assert_eq!(verdict(&b, &a), Verdict::Indistinguishable);
    }

    #[test]
    fn between_the_two_welch_decides() {
        // Equal variances of 0.01 over five runs: each interval has a radius of 0.1242, Welch's least
        // significant difference is 0.1458. So at 0.13 the means are outside each other's interval, the
        // intervals meet, and Welch sees nothing; at 0.2 Welch does.
        let sample = |mean: f64| Sample::new([-1.0, -1.0, 0.0, 1.0, 1.0].map(|d| mean + 0.1 * d).to_vec());
        let base = sample(10.0);
        let check = |case: &Sample| -> Welch {
            let (a, b) = (base.interval(), case.interval());
            assert!(!a.is_disjoint(&b) && !a.contains(case.mean()) && !b.contains(base.mean()));
            welch(&base.logarithms(), &case.logarithms())
        };
        assert!(!check(&sample(9.87)).is_significant());
        assert_eq!(compare(&base, &sample(9.87)).verdict, Verdict::Indistinguishable);
        assert!(check(&sample(9.8)).is_significant());
        assert_eq!(compare(&base, &sample(9.8)).verdict, Verdict::Faster);
        assert_eq!(compare(&sample(9.8), &base).verdict, Verdict::Slower);
    }

    #[test]
    fn the_ratio_is_of_geometric_means_with_its_interval() {
        let baseline = Sample::new(vec![8.0, 2.0, 4.0]);
        let case = Sample::new(vec![2.0, 0.5, 1.0]);
        let comparison = compare(&baseline, &case);
        assert!((comparison.ratio - 4.0).abs() < 1e-12);
        assert!(comparison.interval.contains(4.0));
        let product = comparison.interval.low * comparison.interval.high;
        assert!(
            (product - 16.0).abs() < 1e-9,
            "the interval is symmetric on logarithms"
        );
    }

    #[test]
    fn pairs_tell_what_a_noisy_machine_hides() {
        // Times of a machine that slows down to half its speed; the case is always 4 to 6 % faster.
        let baseline = Sample::new(vec![10.0, 12.0, 15.0, 18.0, 20.0]);
        let case = Sample::new(vec![9.5, 11.5, 14.1, 17.2, 19.0]);
        assert_eq!(compare(&baseline, &case).verdict, Verdict::Indistinguishable);
        let pairs = compare_pairs(&baseline, &case);
        assert_eq!(pairs.verdict, Verdict::Faster);
        assert!((1.04..1.06).contains(&pairs.ratio) && pairs.interval.contains(pairs.ratio));
        assert_eq!(compare_pairs(&case, &baseline).verdict, Verdict::Slower);
        let one = |v: f64| Sample::new(vec![v]);
        assert_eq!(
            compare_pairs(&one(2.0), &one(1.0)).verdict,
            Verdict::Indistinguishable
        );
        assert_eq!(
            compare_pairs(&baseline, &baseline).verdict,
            Verdict::Indistinguishable
        );
    }

    #[test]
    fn exact_numbers_compare_by_themselves() {
        let comparison = compare_exact(3.0, 2.0);
        assert_eq!((comparison.ratio, comparison.verdict), (1.5, Verdict::Faster));
        assert_eq!(compare_exact(2.0, 3.0).verdict, Verdict::Slower);
        assert_eq!(compare_exact(2.0, 2.0).verdict, Verdict::Indistinguishable);
    }

    #[test]
    fn single_runs_tell_nothing() {
        let one = |v: f64| Sample::new(vec![v]);
        let comparison = compare(&one(10.0), &one(1.0));
        assert_eq!(comparison.verdict, Verdict::Indistinguishable);
        assert_eq!(
            (comparison.interval.low, comparison.interval.high),
            (0.0, f64::INFINITY)
        );
    }
}
