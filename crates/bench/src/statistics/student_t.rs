//! Student's t distribution: its distribution function by the regularized incomplete beta function, and
//! the quantiles that intervals and tests are made of.

/// Natural logarithm of the gamma function for `x > 0` (Lanczos' approximation, g = 7, nine terms:
/// relative error below 1e-14).
fn ln_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const FIRST: f64 = 0.999_999_999_999_809_9;
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        // The series converges right of 1/2; the reflection formula brings the rest there.
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = TERMS
        .iter()
        .zip(1..)
        .fold(FIRST, |s, (t, i)| s + t / (x + f64::from(i)));
    let t = x + G + 0.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The regularized incomplete beta function I_x(a, b), by its continued fraction, evaluated from the
/// front (Lentz).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast left of the mean; on the right the symmetry helps.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    front.exp() / a * beta_fraction(a, b, x)
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..=500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Probability that a variable with `freedom` degrees of freedom (any number above 0) is at most `t`.
pub(super) fn probability(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The t that a variable with `freedom` degrees of freedom stays below with probability `p`.
pub(super) fn quantile(p: f64, freedom: f64) -> f64 {
    if p < 0.5 {
        return -quantile(1.0 - p, freedom);
    }
    let mut high = 1.0;
    while probability(high, freedom) < p && high < 1e300 {
        high *= 2.0;
    }
    // Bisection: the function is monotone, and 200 halvings leave no bit to gain.
    let mut low = 0.0;
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if probability(middle, freedom) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Jain, The Art of Computer Systems Performance Analysis, table A.4; more digits from R's qt().
        for (p, freedom, wanted) in [
            (0.975, 1.0, 12.706_204_736),
            (0.975, 2.0, 4.302_652_730),
            (0.975, 4.0, 2.776_445_105),
            (0.975, 9.0, 2.262_157_163),
            (0.975, 29.0, 2.045_229_642),
            (0.975, 120.0, 1.979_930_405),
            (0.95, 4.0, 2.131_846_786),
            (0.995, 4.0, 4.604_094_871),
            (0.9995, 10.0, 4.586_893_859),
            (0.5, 3.0, 0.0),
            (0.025, 4.0, -2.776_445_105),
        ] {
            let t = quantile(p, freedom);
            assert!((t - wanted).abs() < 2e-9, "t[{p}, {freedom}] = {t}, not {wanted}");
        }
    }

    #[test]
    fn many_degrees_of_freedom_are_the_normal_distribution() {
        assert!((quantile(0.975, 1e7) - 1.959_963_985).abs() < 1e-6);
    }

    #[test]
    fn closed_forms_agree() {
        // One degree of freedom is Cauchy's distribution, two have an algebraic one.
        for t in [-7.0, -1.0, -0.1, 0.0, 0.3, 2.0, 40.0] {
            let cauchy = 0.5 + f64::atan(t) / std::f64::consts::PI;
            assert!((probability(t, 1.0) - cauchy).abs() < 1e-12, "{t}");
            let two = 0.5 + t / (2.0 * f64::sqrt(2.0 + t * t));
            assert!((probability(t, 2.0) - two).abs() < 1e-12, "{t}");
        }
    }

    #[test]
    fn gamma_is_the_factorial() {
        for (n, factorial) in [(1.0, 1.0_f64), (2.0, 1.0), (5.0, 24.0), (11.0, 3_628_800.0)] {
            assert!((ln_gamma(n) - factorial.ln()).abs() < 1e-12, "{n}");
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-13);
        assert!((ln_gamma(0.25) - 3.625_609_908_221_908_f64.ln()).abs() < 1e-12);
    }
}
