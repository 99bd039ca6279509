//! Sums of doubles and of products of their deviations, which fail with 22003 if finite values give an infinite sum, as
//! PostgreSQL's do.
//!
//! An infinite value makes a sum infinite or NaN without an error. So each addition is checked when it is made: later
//! an infinite sum does not tell whether a value was infinite, and two of them give NaN.

use frazil_types::{LogicalType, Result};

/// The sum of two doubles, and true if the sum is infinite although both are finite.
#[inline]
pub(crate) fn summed(a: f64, b: f64) -> (f64, bool) {
    let sum = a + b;
    (sum, sum.is_infinite() && a.is_finite() && b.is_finite())
}

/// 22003 if a sum of doubles has overflown.
#[inline]
pub(crate) fn check_overflow(is_overflown: bool) -> Result<()> {
    match is_overflown {
        true => Err(LogicalType::Double.overflow()),
        false => Ok(()),
    }
}

/// Parts of a sum of products of deviations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deviations {
    pub count: i64,
    pub sums: [f64; 2],
    products: f64,
    /// True if a sum or the products are infinite although all values are finite. Products with an infinite value are
    /// NaN, so infinite products have overflown.
    is_overflown: bool,
}

impl Deviations {
    /// A part: the number of its values, their sums and the sum of the products.
    pub fn of(count: i64, sums: [f64; 2], products: f64) -> Deviations {
        Deviations {
            count,
            sums,
            products,
            is_overflown: false,
        }
    }

    /// Adds a value, as generated code does.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let divisor = self.count_one([x, x]);
        let deviation = x * self.count as f64 - self.sums[0];
        self.products += deviation * deviation / divisor;
        self.is_overflown |= self.products.is_infinite();
    }

    /// The sum of the products. Error 22003 if it has overflown.
    #[inline]
    pub fn products(&self) -> Result<f64> {
        check_overflow(self.is_overflown)?;
        Ok(self.products)
    }

    /// Adds a pair of values.
    #[inline]
    pub fn add_pair(&mut self, x: f64, y: f64) {
        let scale = 1.0 / self.count_one([x, y]);
        let n = self.count as f64;
        self.products += (x * n - self.sums[0]) * (y * n - self.sums[1]) * scale;
        self.is_overflown |= self.products.is_infinite();
    }

    /// Counts a pair and sums it up; gives what products of its deviations are divided by.
    #[inline]
    fn count_one(&mut self, values: [f64; 2]) -> f64 {
        self.count += 1;
        self.add_sums(values);
        match self.count {
            1 => 1.0,
            n => n as f64 * (n - 1) as f64,
        }
    }

    #[inline]
    fn add_sums(&mut self, values: [f64; 2]) {
        for (sum, value) in self.sums.iter_mut().zip(values) {
            let (new, is_overflown) = summed(*sum, value);
            *sum = new;
            self.is_overflown |= is_overflown;
        }
    }

    /// Both parts together.
    pub fn merged(self, other: Deviations) -> Deviations {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { other } else { self };
        }
        let (m, n) = (self.count as f64, other.count as f64);
        let apart = |i: usize| self.sums[i] / m - other.sums[i] / n;
        let products = self.products + other.products + m * n * apart(0) * apart(1) / (m + n);
        let mut all = Deviations {
            count: self.count + other.count,
            products,
            is_overflown: self.is_overflown | other.is_overflown | products.is_infinite(),
            ..self
        };
        all.add_sums(other.sums);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Deviations;

    #[test]
    fn deviations_of_parts_are_those_of_all() {
        let values: Vec<f64> = (0..1000).map(|i| 1e9 + f64::from(i % 7)).collect();
        let added = |values: &[f64]| {
            let mut all = Deviations::default();
            values.iter().for_each(|x| all.add_pair(*x, -2.0 * x));
            all
        };
        let mean = values.iter().map(|x| x - 1e9).sum::<f64>() / 1000.0;
        let exact: f64 = values.iter().map(|x| -2.0 * (x - 1e9 - mean).powi(2)).sum();
        for cut in [0, 1, 2, 500, 999, 1000] {
            let (before, behind) = values.split_at(cut);
            let all = added(before).merged(added(behind));
            assert_eq!((all.count, all.sums), (1000, added(&values).sums), "{cut}");
            assert!(
                (all.products / exact - 1.0).abs() < 1e-9,
                "{cut}: {}",
                all.products
            );
        }
        let mut infinite = Deviations::default();
        infinite.add(f64::INFINITY);
        assert!(infinite.products.is_nan() && infinite.merged(added(&values)).products.is_nan());
    }
}
