//! A sample: the values measured by repeating one thing, and what they say about its mean.

use super::{ALPHA, student_t};

/// An interval of numbers, its ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether no number lies in both.
    pub fn is_disjoint(&self, other: &Interval) -> bool {
        self.high < other.low || other.high < self.low
    }
}

/// Measured values, in the order in which they were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    values: Vec<f64>,
}

impl Sample {
    /// A sample of these values. Panics if there are none: nothing can be said about nothing.
    pub fn new(values: Vec<f64>) -> Sample {
        assert!(!values.is_empty(), "a sample needs a value");
        Sample { values }
    }

    /// The values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of values, as a float.
    pub fn count(&self) -> f64 {
        self.values.len() as f64
    }

    /// Arithmetic mean.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.count()
    }

    /// The middle value; of an even number the mean of the two in the middle.
    pub fn median(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() % 2 {
            1 => sorted[middle],
            _ => 0.5 * (sorted[middle - 1] + sorted[middle]),
        }
    }

    /// Variance of the population, estimated with n - 1; 0 for a single value.
    pub fn variance(&self) -> f64 {
        if self.values.len() < 2 {
            return 0.0;
        }
        let mean = self.mean();
        let squares = self.values.iter().map(|v| (v - mean) * (v - mean));
        squares.sum::<f64>() / (self.count() - 1.0)
    }

    /// Radius of the confidence interval of the mean: t\[1 - α/2, n - 1\] · σ / √n (section 3.2).
    /// Infinite for a single value. The paper's normal quantile for n ≥ 30 is the limit of Student's,
    /// which is used throughout.
    pub fn margin_of_error(&self) -> f64 {
        if self.values.len() < 2 {
            return f64::INFINITY;
        }
        let coefficient = student_t::quantile(1.0 - ALPHA / 2.0, self.count() - 1.0);
        coefficient * (self.variance() / self.count()).sqrt()
    }

    /// Confidence interval of the mean.
    pub fn interval(&self) -> Interval {
        let (mean, margin) = (self.mean(), self.margin_of_error());
        Interval {
            low: mean - margin,
            high: mean + margin,
        }
    }

    /// The logarithms of the values, which must be positive.
    pub fn logarithms(&self) -> Sample {
        Sample::new(self.values.iter().map(|v| v.ln()).collect())
    }

    /// The sample without its `index`-th value.
    pub fn without(&self, index: usize) -> Sample {
        let mut values = self.values.clone();
        values.remove(index);
        Sample::new(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn describes_its_values() {
        let odd = Sample::new(vec![3.0, 1.0, 2.0]);
        assert_eq!((odd.mean(), odd.median(), odd.variance()), (2.0, 2.0, 1.0));
        let even = Sample::new(vec![4.0, 1.0, 2.0, 3.0]);
        assert_eq!(even.median(), 2.5);
        let single = Sample::new(vec![7.0]);
        assert_eq!((single.median(), single.variance()), (7.0, 0.0));
        assert_eq!(single.interval().low, f64::NEG_INFINITY);
    }

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        // Jain, example 13.3: modelling errors of eight runs; their mean is 0. He takes 90 %, here it is 95 %.
        let sample = Sample::new(vec![-0.04, -0.19, 0.14, -0.09, -0.14, 0.19, 0.04, 0.09]);
        close(sample.mean(), 0.0, 1e-12);
        close(sample.variance().sqrt(), 0.136_695_7, 1e-7);
        let interval = sample.interval();
        close(interval.high, 2.364_624_252 * 0.136_695_7 / 8.0_f64.sqrt(), 1e-6);
        close(interval.low, -interval.high, 1e-12);
    }

    #[test]
    fn the_sleep_data_of_student_have_rs_interval() {
        // Student 1908, the differences of the two drugs; R: t.test(d) gives 0.7001142 to 2.4598858.
        let sample = Sample::new(vec![1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]);
        close(sample.mean(), 1.58, 1e-12);
        close(sample.interval().low, 0.700_114_2, 1e-7);
        close(sample.interval().high, 2.459_885_8, 1e-7);
    }

    #[test]
    fn the_papers_example_keeps_its_order() {
        // Section 3.1 gives means and variances of two layouts with five runs each. (The intervals it
        // prints are √5 · √5 as wide: σ was not divided by √n, and then multiplied by it.) The message is
        // the same: A's interval contains B's mean.
        let margin = |variance: f64| student_t::quantile(0.975, 4.0) * (variance / 5.0).sqrt();
        let a = Interval {
            low: 1.75 - margin(0.06),
            high: 1.75 + margin(0.06),
        };
        assert!(a.contains(1.82));
        assert!(margin(0.000_75) * 5.0 - 0.17 < 1e-3 && margin(0.06) * 5.0 - 1.52 < 1e-2);
    }

    #[test]
    fn intervals_meet_or_do_not() {
        let interval = |low, high| Interval { low, high };
        assert!(interval(1.0, 2.0).is_disjoint(&interval(2.1, 3.0)));
        assert!(interval(2.1, 3.0).is_disjoint(&interval(1.0, 2.0)));
        assert!(!interval(1.0, 2.0).is_disjoint(&interval(2.0, 3.0)));
    }
}
