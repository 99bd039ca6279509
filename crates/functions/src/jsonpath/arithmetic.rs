//! Exact decimals of any length, as numbers of jsonb are: what paths compute with them has PostgreSQL's digits.

use frazil_types::json::Arithmetic;
use frazil_types::{Error, Result, SqlState};
use num_bigint::{BigInt, Sign};

/// Significant digits that a quotient has at least.
const QUOTIENT_DIGITS: i64 = 16;
/// Most digits behind the point of a quotient.
const MAX_QUOTIENT_SCALE: i64 = 1_000;
/// Most digits behind the point, and before it.
const MAX_SCALE: usize = 16_383;
const MAX_WHOLE: usize = 131_072;
/// PostgreSQL's digits stand in groups of four: a quotient's scale is counted in them.
const GROUP: usize = 4;

/// `digits` · 10^−`scale`.
struct Decimal {
    digits: BigInt,
    scale: usize,
}

impl Decimal {
    fn of(text: &str) -> Result<Decimal> {
        let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits = BigInt::parse_bytes(text.replace('.', "").as_bytes(), 10);
        let digits = digits.ok_or_else(|| Error::internal("a number of jsonb that is none"))?;
        Ok(Decimal { digits, scale })
    }

    /// The unscaled number at a scale that is not below its own.
    fn at(&self, scale: usize) -> BigInt {
        &self.digits * ten_to(scale - self.scale)
    }

    /// Error 22003 beyond numeric.
    fn into_text(self) -> Result<String> {
        let sign = if self.digits.sign() == Sign::Minus {
            "-"
        } else {
            ""
        };
        let digits = self.digits.magnitude().to_string();
        let digits = format!("{digits:0>width$}", width = self.scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - self.scale);
        if whole.len() > MAX_WHOLE {
            let message = "value overflows numeric format";
            return Err(Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
        }
        Ok(match fraction.is_empty() {
            true => format!("{sign}{whole}"),
            false => format!("{sign}{whole}.{fraction}"),
        })
    }
}

fn ten_to(n: usize) -> BigInt {
    BigInt::from(10).pow(n as u32)
}

/// What an operator makes of two numbers. Errors 22012, 22003.
pub(super) fn compute(op: Arithmetic, l: &str, r: &str) -> Result<String> {
    let (a, b) = (Decimal::of(l)?, Decimal::of(r)?);
    let scale = a.scale.max(b.scale);
    if matches!(op, Arithmetic::Divide | Arithmetic::Remainder) && b.digits.sign() == Sign::NoSign {
        return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
    }
    let result = match op {
        Arithmetic::Add => Decimal {
            digits: a.at(scale) + b.at(scale),
            scale,
        },
        Arithmetic::Subtract => Decimal {
            digits: a.at(scale) - b.at(scale),
            scale,
        },
        Arithmetic::Remainder => Decimal {
            digits: a.at(scale) % b.at(scale),
            scale,
        },
        Arithmetic::Multiply => {
            let exact = a.scale + b.scale;
            let product = a.digits * b.digits;
            let kept = exact.min(MAX_SCALE);
            Decimal {
                digits: rounded(product, &ten_to(exact - kept)),
                scale: kept,
            }
        }
        Arithmetic::Divide => {
            let kept = quotient_scale(l, r, scale);
            // (a / 10^as) / (b / 10^bs) = a · 10^bs / (b · 10^as), to `kept` digits.
            let dividend = a.digits * ten_to(b.scale + kept);
            let divisor = b.digits * ten_to(a.scale);
            Decimal {
                digits: rounded(dividend, &divisor),
                scale: kept,
            }
        }
    };
    result.into_text()
}

/// The quotient, rounded half away from zero.
fn rounded(dividend: BigInt, divisor: &BigInt) -> BigInt {
    let is_negative = (dividend.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus);
    let (quotient, rest) = (&dividend / divisor, &dividend % divisor);
    match (
        BigInt::from(rest.magnitude() * 2u8 >= *divisor.magnitude() && rest.sign() != Sign::NoSign),
        is_negative,
    ) {
        (up, true) => quotient - up,
        (up, false) => quotient + up,
    }
}

/// Digits behind the point of a quotient: at least 16 significant ones, and no fewer than an operand has (`scale`).
fn quotient_scale(l: &str, r: &str, scale: usize) -> usize {
    let ((l_weight, l_first), (r_weight, r_first)) = (first_group(l), first_group(r));
    let weight = l_weight - r_weight - i64::from(l_first <= r_first);
    let digits = QUOTIENT_DIGITS - weight * GROUP as i64;
    digits.max(scale as i64).clamp(0, MAX_QUOTIENT_SCALE) as usize
}

/// The first group of four digits that is not zero, and its place: 0 just before the point. Zeros of zero.
fn first_group(text: &str) -> (i64, u32) {
    let unsigned = text.trim_start_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let value = |group: &str| group.parse::<u32>().unwrap_or(0);
    let whole = whole.trim_start_matches('0');
    if !whole.is_empty() {
        let first = (whole.len() - 1) % GROUP + 1;
        return (((whole.len() - 1) / GROUP) as i64, value(&whole[..first]));
    }
    let zeros = fraction.bytes().take_while(|b| *b == b'0').count();
    if zeros == fraction.len() {
        return (0, 0);
    }
    let start = zeros / GROUP * GROUP;
    let group: String = fraction[start..]
        .chars()
        .chain("000".chars())
        .take(GROUP)
        .collect();
    (-1 - (start / GROUP) as i64, value(&group))
}

/// The whole number not below a number, or not above it.
pub(super) fn whole(text: &str, is_ceiling: bool) -> Result<String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let has_rest = fraction.bytes().any(|b| b != b'0');
    let is_negative = text.starts_with('-');
    if has_rest && is_negative != is_ceiling {
        let step = if is_ceiling {
            Arithmetic::Add
        } else {
            Arithmetic::Subtract
        };
        return compute(step, whole_or_zero(whole), "1");
    }
    Ok(whole_or_zero(whole).to_owned())
}

fn whole_or_zero(whole: &str) -> &str {
    if whole == "-0" { "0" } else { whole }
}

/// The position that a number is, without its fraction; `None` beyond integer.
pub(super) fn position(text: &str) -> Option<i64> {
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    whole.parse::<i32>().ok().map(i64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_postgresqls_digits() {
        use Arithmetic::*;
        for (l, op, r, wanted) in [
            ("7", Divide, "3", "2.3333333333333333"),
            ("100000", Divide, "7", "14285.714285714286"),
            ("0.00001", Divide, "7", "0.000001428571428571428571"),
            ("1", Divide, "100000000", "0.0000000100000000000000000000"),
            ("-7.25", Remainder, "3", "-1.25"),
            ("7.25", Multiply, "1.10", "7.9750"),
            ("0.1", Add, "0.2", "0.3"),
            ("1", Subtract, "1.50", "-0.50"),
        ] {
            assert_eq!(compute(op, l, r).unwrap(), wanted, "{l} {} {r}", op.symbol());
        }
        let by_zero = compute(Divide, "1", "0.0").unwrap_err();
        assert_eq!(by_zero.state(), SqlState::DIVISION_BY_ZERO);
        for (text, up, down) in [
            ("1.5", "2", "1"),
            ("-1.5", "-1", "-2"),
            ("-0.5", "0", "-1"),
            ("3.00", "3", "3"),
        ] {
            assert_eq!(
                (whole(text, true).unwrap(), whole(text, false).unwrap()),
                (up.into(), down.into())
            );
        }
    }
}
