//! Welch's t-test: whether two samples of unequal variances have the same mean (Welch 1947; Runtime
//! Fragility, section 3.4).

use super::{ALPHA, Interval, Sample, student_t};

/// What the test says about the difference of two means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Mean of the first less mean of the second.
    pub difference: f64,
    /// Its confidence interval.
    pub interval: Interval,
    /// The statistic; 0 where both samples are without variance and equal.
    pub t: f64,
    /// Degrees of freedom after Welch and Satterthwaite.
    pub freedom: f64,
    /// Probability of a statistic at least as far from 0 if the means were equal.
    pub p: f64,
}

impl Welch {
    /// Whether the means differ, with the confidence of the interval.
    pub fn is_significant(&self) -> bool {
        self.p < ALPHA
    }
}

/// Tests two samples. If one has a single value, nothing can be said: p is 1, the interval infinite.
pub fn welch(a: &Sample, b: &Sample) -> Welch {
    let difference = a.mean() - b.mean();
    if a.values().len() < 2 || b.values().len() < 2 {
        return Welch {
            difference,
            interval: around(difference, f64::INFINITY),
            t: 0.0,
            freedom: 0.0,
            p: 1.0,
        };
    }
    let (va, vb) = (a.variance() / a.count(), b.variance() / b.count());
    let error = (va + vb).sqrt();
    if error == 0.0 {
        return without_variance(difference);
    }
    let freedom = (va + vb).powi(2) / (va * va / (a.count() - 1.0) + vb * vb / (b.count() - 1.0));
    let t = difference / error;
    Welch {
        difference,
        interval: around(
            difference,
            error * student_t::quantile(1.0 - ALPHA / 2.0, freedom),
        ),
        t,
        freedom,
        p: 2.0 * student_t::probability(-t.abs(), freedom),
    }
}

/// Values that do not vary differ or they do not.
fn without_variance(difference: f64) -> Welch {
    let equal = difference == 0.0;
    Welch {
        difference,
        interval: around(difference, 0.0),
        t: if equal {
            0.0
        } else {
            difference.signum() * f64::INFINITY
        },
        freedom: f64::INFINITY,
        p: if equal { 1.0 } else { 0.0 },
    }
}

fn around(middle: f64, radius: f64) -> Interval {
    Interval {
        low: middle - radius,
        high: middle + radius,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn the_sleep_data_of_student_have_rs_result() {
        // R: t.test(extra ~ group, data = sleep).
        let a = Sample::new(vec![0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]);
        let b = Sample::new(vec![1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]);
        let result = welch(&a, &b);
        close(result.t, -1.8608, 5e-5);
        close(result.freedom, 17.776, 5e-4);
        close(result.p, 0.07939, 5e-6);
        close(result.interval.low, -3.365_483_2, 1e-7);
        close(result.interval.high, 0.205_483_2, 1e-7);
        assert!(!result.is_significant());
    }

    #[test]
    fn unequal_sizes_and_variances() {
        // From the definition, by hand: variances 1 and 100 over 4 and 3 values.
        let a = Sample::new(vec![9.0, 10.0, 11.0, 10.0]);
        let b = Sample::new(vec![30.0, 40.0, 50.0]);
        let (va, vb) = (2.0 / 3.0 / 4.0, 100.0 / 3.0);
        let result = welch(&a, &b);
        close(result.t, -30.0 / f64::sqrt(va + vb), 1e-12);
        close(
            result.freedom,
            (va + vb) * (va + vb) / (va * va / 3.0 + vb * vb / 2.0),
            1e-12,
        );
        assert!(result.is_significant());
    }

    #[test]
    fn single_and_constant_values_are_no_trap() {
        let single = Sample::new(vec![1.0]);
        let constant = Sample::new(vec![2.0; 5]);
        assert!(!welch(&single, &constant).is_significant());
        assert_eq!(welch(&constant, &constant).p, 1.0);
        assert!(welch(&constant, &Sample::new(vec![3.0; 5])).is_significant());
    }
}
