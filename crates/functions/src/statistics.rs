//! Aggregates of spread and dependence, made of sums and counts that are aggregates themselves.
//!
//! Of exact numbers the sums of values and of squares are exact, and so is what is divided in the end. Of doubles the
//! engine adds up products of deviations as it goes (`AggregateFunction::Deviations`), as the difference of two large
//! sums has few digits.

use crate::aggregate::{Aggregated, sum_type};
use crate::arithmetic::{numbers, numeric};
use crate::build::{case, int, is_null, null};
use crate::convert::{WIDEST, as_double, convert, decimal, digits};
use crate::numeric::as_numeric;
use crate::numeric_aggregates::{of_parts, parts_of};
use crate::ordered_set::keys_of;
use crate::vector::{OnNull, Output, Row, rows};
use frazil_plan::aggregates::GroupState;
use frazil_plan::{AggregateCall, AggregateFunction, Expr, ExprKind, ScalarFunction};
use frazil_types::decimal::POWERS_OF_TEN;
use frazil_types::numeric::{Numeric, overflow};
use frazil_types::value_ops::{ArithmeticOp, CastLength};
use frazil_types::{CompareOp, LogicalType, Result, Value};

/// The spread of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    /// Whether the values are a sample: their deviations are divided by one less than their number.
    pub of_sample: bool,
    /// The square root of it.
    pub root: bool,
}

/// What is computed of pairs (y, x) of doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfPairs {
    Correlation,
    /// Whether they are a sample.
    Covariance(bool),
    AverageX,
    AverageY,
    Count,
    Intercept,
    RSquared,
    Slope,
    SumXX,
    SumXY,
    SumYY,
}

/// Digits after the point of values whose squares are exact.
const SQUARED_SCALE: u8 = WIDEST / 2;

/// stddev, variance and their like of one number.
pub(crate) fn spread(what: Spread, x: Expr, distinct: bool, filter: Option<Expr>) -> Aggregated {
    let call = |call: AggregateCall| AggregateCall {
        distinct,
        filter: filter.clone(),
        ..call
    };
    let scale = x.ty.scale().filter(|scale| *scale <= SQUARED_SCALE);
    let Some(scale) = scale else {
        return match x.ty.is_float() {
            true => of_doubles(what, x, &call),
            false => of_numerics(what, as_numeric(x), distinct, filter),
        };
    };
    let (precision, _) = digits(x.ty);
    let squared = decimal(precision.saturating_mul(2).min(WIDEST), 2 * scale);
    let count = call(AggregateCall::count(Some(x.clone())));
    let number = convert(x.clone(), decimal(precision, scale), CastLength::Refuse);
    let sum = call(AggregateCall::sum(x.clone(), sum_type(x.ty)));
    let sum_of_squares = decimal(WIDEST, 2 * scale);
    let squares = match distinct {
        true => {
            let function = AggregateFunction::SumOfSquares;
            call(AggregateCall::new(function, Some(number), sum_of_squares))
        }
        false => {
            let nullable = number.nullable;
            let product = ExprKind::Arithmetic(ArithmeticOp::Mul, Box::new(number.clone()), Box::new(number));
            let product = Expr::new(product, squared, nullable);
            call(AggregateCall::sum(product, sum_of_squares))
        }
    };
    Aggregated {
        grouped: Vec::new(),
        calls: vec![count, sum, squares],
        value: Some(Box::new(move |made| what.of_sums(made))),
    }
}

impl Spread {
    /// The spread by a count, a sum and a sum of squares of exact numbers.
    fn of_sums(self, made: Vec<Expr>) -> Expr {
        let (name, run): (&str, crate::vector::RowFn) = match (self.of_sample, self.root) {
            (true, true) => ("stddev_samp", exact::<true, true>),
            (true, false) => ("var_samp", exact::<true, false>),
            (false, true) => ("stddev_pop", exact::<false, true>),
            (false, false) => ("var_pop", exact::<false, false>),
        };
        rows(name, OnNull::Null, run, made, LogicalType::Numeric)
    }
}

/// The spread of doubles. `call` gives a call its DISTINCT and its filter.
fn of_doubles(what: Spread, x: Expr, call: &dyn Fn(AggregateCall) -> AggregateCall) -> Aggregated {
    let count = call(AggregateCall::count(Some(x.clone())));
    let x = as_double(x);
    let double = x.ty;
    let deviations = call(AggregateCall::new(AggregateFunction::Deviations, Some(x), double));
    Aggregated {
        grouped: Vec::new(),
        calls: vec![count, deviations],
        value: Some(Box::new(move |made: Vec<Expr>| {
            let [n, sum] = of(made);
            let variance = divided(sum, n, what.of_sample);
            match what.root {
                true => sqrt(variance),
                false => variance,
            }
        })),
    }
}

/// The spread of numerics, by the sums that theirs are made of.
fn of_numerics(what: Spread, x: Expr, distinct: bool, filter: Option<Expr>) -> Aggregated {
    let keys = distinct.then(|| keys_of([x.clone()]));
    let parts = |x: &Expr| parts_of(GroupState::Sum, x, keys.clone(), filter.clone()).unwrap_or_default();
    let count = AggregateCall {
        distinct,
        order: keys.clone().unwrap_or_default(),
        filter: filter.clone(),
        ..AggregateCall::count(Some(x.clone()))
    };
    let square = numeric(ArithmeticOp::Mul, x.clone(), x.clone());
    let (sums, squares) = (parts(&x), parts(&square));
    let (first, second) = (1, 1 + sums.len());
    let calls = [count].into_iter().chain(sums).chain(squares).collect();
    Aggregated {
        grouped: Vec::new(),
        calls,
        value: Some(Box::new(move |mut made: Vec<Expr>| {
            let squares = of_parts(made.split_off(second));
            let sum = of_parts(made.split_off(first));
            made.extend([sum, squares]);
            what.of_sums(made)
        })),
    }
}

/// corr and its like of pairs of doubles; a pair with a NULL does not count.
pub(crate) fn of_pairs(what: OfPairs, y: Expr, x: Expr, distinct: bool, filter: Option<Expr>) -> Aggregated {
    let double = x.ty;
    let both = |value: &Expr, other: &Expr| case(vec![(is_null(other.clone()), null(double))], value.clone());
    let (y, x) = (both(&y, &x), both(&x, &y));
    let call = |call: AggregateCall| AggregateCall {
        distinct,
        order: if distinct {
            keys_of([y.clone(), x.clone()])
        } else {
            Vec::new()
        },
        filter: filter.clone(),
        ..call
    };
    let n = call(AggregateCall::count(Some(x.clone())));
    let sum = |v: &Expr| call(AggregateCall::sum(v.clone(), double));
    let products = |v: &Expr, w: &Expr| AggregateCall {
        second: Some(w.clone()),
        ..call(AggregateCall::new(
            AggregateFunction::Deviations,
            Some(v.clone()),
            double,
        ))
    };
    let (xx, yy, xy) = (products(&x, &x), products(&y, &y), products(&x, &y));
    let calls = match what {
        OfPairs::Count => vec![n],
        OfPairs::SumXX => vec![xx],
        OfPairs::SumYY => vec![yy],
        OfPairs::SumXY => vec![xy],
        OfPairs::AverageX => vec![n, sum(&x)],
        OfPairs::AverageY => vec![n, sum(&y)],
        OfPairs::Covariance(_) => vec![n, xy],
        OfPairs::Correlation | OfPairs::RSquared => vec![xx, yy, xy],
        OfPairs::Slope => vec![xx, xy],
        OfPairs::Intercept => vec![n, sum(&x), sum(&y), xx, xy],
    };
    Aggregated {
        calls,
        value: Some(Box::new(move |made| pairs_value(what, made))),
        grouped: Vec::new(),
    }
}

/// The value over the counts, sums and products of pairs.
fn pairs_value(what: OfPairs, made: Vec<Expr>) -> Expr {
    let (name, run): (&str, crate::vector::RowFn) = match what {
        OfPairs::Count | OfPairs::SumXX | OfPairs::SumYY | OfPairs::SumXY => {
            let [value] = of(made);
            return value;
        }
        OfPairs::AverageX | OfPairs::AverageY => {
            let [n, sum] = of(made);
            return divided(sum, n, false);
        }
        OfPairs::Covariance(of_sample) => {
            let [n, xy] = of(made);
            return divided(xy, n, of_sample);
        }
        OfPairs::Correlation => ("corr", correlation),
        OfPairs::RSquared => ("regr_r2", r_squared),
        OfPairs::Slope => ("regr_slope", slope),
        OfPairs::Intercept => ("regr_intercept", intercept),
    };
    let made: Vec<Expr> = made.into_iter().map(as_double).collect();
    let double = Expr::literal(Value::Double(0.0)).ty;
    rows(name, OnNull::Null, run, made, double)
}

/// PostgreSQL does not look for overflow in the last steps, either: the quotient of an infinite product is 0, or NaN.
fn correlation(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let [xx, yy, xy] = [0, 1, 2].map(|at| row.double(at));
    match xx == 0.0 || yy == 0.0 {
        true => out.null(),
        false => out.double(xy / (xx * yy).sqrt()),
    }
}

fn r_squared(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let [xx, yy, xy] = [0, 1, 2].map(|at| row.double(at));
    match (xx == 0.0, yy == 0.0) {
        (true, _) => out.null(),
        (false, true) => out.double(1.0),
        (false, false) => out.double((xy * xy) / (xx * yy)),
    }
}

fn slope(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (xx, xy) = (row.double(0), row.double(1));
    match xx == 0.0 {
        true => out.null(),
        false => out.double(xy / xx),
    }
}

fn intercept(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let [n, x, y, xx, xy] = [0, 1, 2, 3, 4].map(|at| row.double(at));
    match xx == 0.0 {
        true => out.null(),
        false => out.double((y - x * xy / xx) / n),
    }
}

/// The square root of a double.
fn sqrt(e: Expr) -> Expr {
    crate::build::call(ScalarFunction::Sqrt, vec![e])
}

/// The columns that calls have made, which are so many.
fn of<const N: usize>(made: Vec<Expr>) -> [Expr; N] {
    let mut made = made.into_iter();
    std::array::from_fn(|_| made.next().unwrap_or_else(|| Expr::literal(Value::Null)))
}

/// A sum over n, or over n − 1; NULL where that is not above 0.
fn divided(sum: Expr, n: Expr, of_sample: bool) -> Expr {
    let least = int(of_sample.into(), n.ty);
    let enough = ExprKind::Compare(CompareOp::Gt, Box::new(n.clone()), Box::new(least.clone()));
    let n = match of_sample {
        true => numbers(ArithmeticOp::Sub, n, least),
        false => n,
    };
    let quotient = numbers(ArithmeticOp::Div, sum, as_double(n));
    let nothing = null(quotient.ty);
    case(vec![(Expr::boolean(enough, false), quotient)], nothing)
}

/// The spread by a count, a sum and a sum of squares, which are exact numbers. Error 22003.
fn exact<const OF_SAMPLE: bool, const ROOT: bool>(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let n = row.wide(0);
    let divisor = n - i128::from(OF_SAMPLE);
    if divisor <= 0 {
        return out.null();
    }
    let (sum, squares) = (row.numeric(1)?, row.numeric(2)?);
    // The squares have twice the digits after the point, as far as 38 digits have room for them.
    let scale = squares.scale();
    let known = match sum.scale() * 2 == scale {
        true => fraction(n, sum.coefficient(), squares.coefficient(), divisor),
        false => None,
    };
    let Some((above, below)) = known else {
        return out.numeric(approximate(n, sum, squares, divisor, ROOT)?);
    };
    if above == 0 {
        return out.numeric(Numeric::new(0, 0)?);
    }
    // As PostgreSQL: the root is that of the rounded variance, with its digits after the point.
    let variance = Numeric::new(above, scale)?.divided(Numeric::new(below, 0)?)?;
    if !ROOT {
        return out.numeric(variance);
    }
    let places = variance.scale();
    let unit = POWERS_OF_TEN[usize::from(places)].unsigned_abs();
    let root = root(variance.coefficient().unsigned_abs(), unit, places);
    let root = root.and_then(|root| i128::try_from(root).ok());
    out.numeric(Numeric::new(root.ok_or_else(overflow)?, places)?)
}

/// The spread as far as doubles tell it, of numbers of more digits than 38 have room for. Error 22003.
fn approximate(n: i128, sum: Numeric, squares: Numeric, divisor: i128, is_root: bool) -> Result<Numeric> {
    let (n, sum, squares) = (n as f64, sum.to_double(), squares.to_double());
    let variance = ((squares - sum * sum / n) / divisor as f64).max(0.0);
    Numeric::of_double(
        if is_root { variance.sqrt() } else { variance },
        f64::DIGITS as usize,
    )
}

/// The variance as a fraction of two numbers of at most 38 digits, the first one with the digits after the point of the
/// squares; `None` if it has too many.
fn fraction(n: i128, sum: i128, squares: i128, divisor: i128) -> Option<(i128, i128)> {
    // Σx² − (Σx)²/n with Σx = mn + r is (Σx² − m²n − 2mr) − r²/n: no term is larger than the sum of squares.
    let (m, r) = (sum / n, sum % n);
    let near = squares
        .checked_sub(m.checked_mul(m)?.checked_mul(n)?)?
        .checked_sub(m.checked_mul(r)?.checked_mul(2)?)?;
    let rest = r.checked_mul(r)?;
    let exact = near.checked_mul(n).and_then(|v| v.checked_sub(rest));
    let limit = POWERS_OF_TEN[usize::from(WIDEST)];
    let exact = exact.zip(n.checked_mul(divisor));
    let (above, below) = match exact.filter(|(above, below)| *above < limit && *below < limit) {
        Some(both) => both,
        None => (near.checked_sub(rest / n)?, divisor),
    };
    (0 <= above && above < limit).then_some((above, below))
}

/// The square root of a fraction with so many digits after the point, as with pen and paper: two digits of it give one
/// of the root. It begins with as many as a number of 128 bits has, of which the machine takes the root, and goes on
/// with as many at once as the root times them leaves room for.
fn root(above: u128, below: u128, places: u8) -> Option<u128> {
    let (mut whole, mut rest) = (above / below, above % below);
    let mut places = u32::from(places);
    let begun = pairs_for(whole, below, places);
    places -= begun;
    whole = with_digits(whole, &mut rest, below, begun)?;
    let mut root = whole.isqrt();
    let mut left = whole - root * root;
    while places > 0 {
        // Of as many digits as the root has, what divides them is not far from the whole: few guesses are too large.
        let most = root.checked_ilog10().map_or(places, |digits| digits + 1);
        let pairs = pairs_for(root.checked_mul(2)?, below, places.min(most)).max(1);
        places -= pairs;
        left = with_digits(left, &mut rest, below, pairs)?;
        if root == 0 {
            root = left.isqrt();
            left -= root * root;
            continue;
        }
        let power = 10u128.pow(pairs);
        let twice = root.checked_mul(2)?.checked_mul(power)?;
        let mut next = (left / twice).min(power - 1);
        let product = |next: u128| twice.checked_add(next)?.checked_mul(next);
        let is_too_large = |next: u128| product(next).is_none_or(|product| product > left);
        while is_too_large(next) {
            next -= 1;
        }
        left -= (twice + next) * next;
        root = root * power + next;
    }
    Some(root + u128::from(left > root))
}

/// How many pairs of digits, of `wanted`, a number and the rest of a division have room for in 128 bits.
fn pairs_for(number: u128, below: u128, wanted: u32) -> u32 {
    let room = u128::MAX / number.max(below).saturating_add(1);
    (room.max(1).ilog10() / 2).min(wanted)
}

/// A number with as many pairs of the digits of `rest / below` behind it; `rest` is what the division leaves.
fn with_digits(number: u128, rest: &mut u128, below: u128, pairs: u32) -> Option<u128> {
    let power = 10u128.pow(2 * pairs);
    let dividend = match rest.checked_mul(power) {
        Some(dividend) => dividend,
        // A pair alone, whose rest has no room for two digits more: one after the other.
        None => {
            let tenfold = rest.checked_mul(10)?;
            let (first, second) = (tenfold / below, (tenfold % below).checked_mul(10)?);
            *rest = second % below;
            return number
                .checked_mul(power)?
                .checked_add(first * 10 + second / below);
        }
    };
    *rest = dividend % below;
    number.checked_mul(power)?.checked_add(dividend / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variances_and_their_roots_are_exact() {
        // 5, 5, 7, 6, 2, 1.
        assert_eq!(fraction(6, 26, 140, 5), Some((164, 30)));
        assert_eq!(root(164, 30, 16), Some(23_380_903_889_000_243));
        assert_eq!(root(9, 1, 0), Some(3));
        assert_eq!(root(2, 1, 20), Some(141_421_356_237_309_504_880));
        assert_eq!(root(0, 7, 3), Some(0));
        // Deviations far below the mean, and squares at the end of 128 bits.
        let far = 10i128.pow(18);
        assert_eq!(
            fraction(3, 3 * far + 6, 3 * far * far + 12 * far + 14, 2),
            Some((6, 6))
        );
        assert_eq!(root(1, 10u128.pow(20), 12), Some(100));
        assert_eq!(root(1, 10u128.pow(38), 20), Some(10));
        assert_eq!(root(u128::MAX, 1, 0), Some(1 << 64));
        assert_eq!(fraction(2, i128::MAX, i128::MAX, 1), None);
    }

    /// [`root`] digit by digit.
    fn plain_root(above: u128, below: u128, places: u8) -> Option<u128> {
        let (mut whole, mut rest) = (above / below, above % below);
        let mut pairs = Vec::new();
        while whole > 0 {
            pairs.push(whole % 100);
            whole /= 100;
        }
        pairs.reverse();
        for _ in 0..2 * places {
            let tenfold = rest.checked_mul(10)?;
            pairs.push(tenfold / below);
            rest = tenfold % below;
        }
        let behind = pairs.len() - 2 * usize::from(places);
        let digits = pairs.split_off(behind);
        pairs.extend(digits.chunks(2).map(|pair| pair[0] * 10 + pair[1]));
        let (mut root, mut left) = (0u128, 0u128);
        for pair in pairs {
            left = left.checked_mul(100)?.checked_add(pair)?;
            let twenty = root.checked_mul(20)?;
            let fits = |d: &u128| {
                (twenty + d)
                    .checked_mul(*d)
                    .is_some_and(|product| product <= left)
            };
            let digit = (0..10).rev().find(fits)?;
            left -= (twenty + digit) * digit;
            root = root * 10 + digit;
        }
        Some(root + u128::from(left > root))
    }

    #[test]
    fn many_digits_at_once_are_those_of_one_after_the_other() {
        let numbers = |shift: u32| (0..40u128).map(move |n| (n * n * n + n + 1) << shift);
        for above in [0, 3, 40, 90].into_iter().flat_map(numbers) {
            for below in [0, 7, 33, 64, 100].into_iter().flat_map(numbers).step_by(3) {
                for places in [0, 1, 2, 9, 16, 20, 23] {
                    let plain = plain_root(above, below, places);
                    if plain.is_some() {
                        assert_eq!(root(above, below, places), plain, "{above} {below} {places}");
                    }
                }
            }
        }
    }
}
