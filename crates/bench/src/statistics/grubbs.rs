//! Grubbs' test for one outlier, with the condition the paper adds (section 3.3).

use super::{ALPHA, Sample, student_t};

/// Below this share of the mean, the margin of error is small enough not to look for outliers: in
/// samples of fewer than eight values the test alone finds them too often (section 3.3).
const LEAST_MARGIN_OVER_MEAN: f64 = 0.025;

/// Grubbs' statistic: the largest distance from the mean, in standard deviations, and whose it is.
fn statistic(sample: &Sample) -> (f64, usize) {
    let mean = sample.mean();
    let deviation = sample.variance().sqrt();
    let distances = sample.values().iter().map(|v| (v - mean).abs() / deviation);
    distances
        .zip(0..)
        .fold((0.0, 0), |most, next| if next.0 > most.0 { next } else { most })
}

/// What the statistic of `n` values of one normal distribution exceeds with probability `alpha` only
/// (two-sided: the outlier may be the least or the greatest value).
fn critical_value(n: f64, alpha: f64) -> f64 {
    let t = student_t::quantile(1.0 - alpha / (2.0 * n), n - 2.0);
    (n - 1.0) / n.sqrt() * (t * t / (n - 2.0 + t * t)).sqrt()
}

/// Index of the value that does not fit the others, if there is one.
pub fn outlier(sample: &Sample) -> Option<usize> {
    if sample.values().len() < 3 || sample.variance() == 0.0 {
        return None;
    }
    if sample.margin_of_error() / sample.mean().abs() < LEAST_MARGIN_OVER_MEAN {
        return None;
    }
    let (distance, index) = statistic(sample);
    (distance > critical_value(sample.count(), ALPHA)).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_grubbs_own() {
        // Two-sided at 5 % (one-sided at 2.5 %): Grubbs and Beck 1972, table I.
        for (n, wanted) in [
            (3.0, 1.155),
            (4.0, 1.481),
            (5.0, 1.715),
            (6.0, 1.887),
            (7.0, 2.020),
            (8.0, 2.126),
            (10.0, 2.290),
            (20.0, 2.709),
            (30.0, 2.908),
        ] {
            let value = critical_value(n, 0.05);
            assert!((value - wanted).abs() < 1.1e-3, "n = {n}: {value}, not {wanted}");
        }
        // One-sided at 5 %, as NIST's handbook computes it for eight values.
        assert!((critical_value(8.0, 0.10) - 2.0317).abs() < 1e-4);
    }

    #[test]
    fn the_mass_spectrometer_of_nist_has_one() {
        // NIST/SEMATECH e-Handbook, 1.3.5.17.1 (Tietjen and Moore 1972): G = 2.4687.
        let values = vec![199.31, 199.53, 200.19, 200.82, 201.92, 201.95, 202.18, 245.57];
        let sample = Sample::new(values);
        assert!((statistic(&sample).0 - 2.4687).abs() < 1e-4);
        assert_eq!(outlier(&sample), Some(7));
        assert_eq!(outlier(&sample.without(7)), None);
    }

    #[test]
    fn a_narrow_interval_forgives() {
        // By Grubbs alone the last value is an outlier; at 0.1 % of the mean nobody cares.
        let narrow = Sample::new(vec![100.0, 100.01, 99.99, 100.0, 100.3]);
        assert!(statistic(&narrow).0 > critical_value(5.0, 0.05));
        assert_eq!(outlier(&narrow), None);
        let wide = Sample::new(vec![100.0, 100.01, 99.99, 100.0, 130.0]);
        assert_eq!(outlier(&wide), Some(4));
    }

    #[test]
    fn the_least_value_may_be_it_and_equal_values_never() {
        let low = Sample::new(vec![10.0, 10.1, 10.2, 9.9, 4.0]);
        assert_eq!(outlier(&low), Some(4));
        assert_eq!(outlier(&Sample::new(vec![5.0; 6])), None);
        assert_eq!(outlier(&Sample::new(vec![5.0, 500.0])), None);
    }
}
