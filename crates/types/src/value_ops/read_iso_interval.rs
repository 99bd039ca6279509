//! Intervals as ISO 8601 writes them: `P1Y2M3W4DT5H6M7S`, `P0001-02-03T04:05:06` and `P00010203T040506`.

use super::read_interval::{
    HOUR, MINUTE, Number, SECOND, Sum, Unit, field_overflow, invalid, number, number_error,
};
use crate::Result;

const YEAR: Unit = Unit::Years(1);
const DAY: Unit = Unit::Days(1);

/// A date or time: its units, what separates them where they are not named, and how many digits it has without
/// separators.
struct Half {
    named: &'static [(char, Unit)],
    in_order: [Unit; 3],
    separator: char,
    digits: usize,
}

const DATE: Half = Half {
    named: &[('Y', YEAR), ('M', Unit::Month), ('W', Unit::Days(7)), ('D', DAY)],
    in_order: [YEAR, Unit::Month, DAY],
    separator: '-',
    digits: 8,
};
const TIME: Half = Half {
    named: &[('H', HOUR), ('M', MINUTE), ('S', SECOND)],
    in_order: [HOUR, MINUTE, SECOND],
    separator: ':',
    digits: 6,
};

/// Adds what stands behind the `P`. Letters are upper-case.
pub(super) fn add(iso: &str, text: &str, sum: &mut Sum) -> Result<()> {
    let (date, time) = match iso.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (iso, None),
    };
    if date.is_empty() && time.is_none() {
        return Err(invalid(text));
    }
    add_half(date, &DATE, text, sum)?;
    add_half(time.unwrap_or_default(), &TIME, text, sum)
}

fn add_half(half: &str, kind: &Half, text: &str, sum: &mut Sum) -> Result<()> {
    let mut rest = half;
    let mut is_first = true;
    while !rest.is_empty() {
        let (n, digits, after) = unsigned_plus(rest, text)?;
        let mut chars = after.chars();
        match chars.next() {
            None if is_first && digits == kind.digits => return add_digits(n, kind, text, sum),
            Some(c) if kind.named.iter().any(|named| named.0 == c) => {
                let unit = kind.named.iter().find(|named| named.0 == c);
                let unit = unit.ok_or_else(|| invalid(text))?.1;
                sum.add(n, unit).ok_or_else(|| field_overflow(text))?;
            }
            None if is_first => return add_in_order(rest, kind, text, sum),
            Some(c) if is_first && c == kind.separator => return add_in_order(rest, kind, text, sum),
            _ => return Err(invalid(text)),
        }
        (rest, is_first) = (chars.as_str(), false);
    }
    Ok(())
}

/// A number without `+`, the count of digits before its point, and what follows.
fn unsigned_plus<'a>(rest: &'a str, text: &str) -> Result<(Number, usize, &'a str)> {
    if rest.starts_with('+') {
        return Err(invalid(text));
    }
    let (n, _, after) = number(rest).ok_or_else(|| number_error(rest, text))?;
    let digits = rest.trim_start_matches('-').bytes();
    Ok((n, digits.take_while(u8::is_ascii_digit).count(), after))
}

/// `1-2-3` and `4:5:6`, or the first of them.
fn add_in_order(half: &str, kind: &Half, text: &str, sum: &mut Sum) -> Result<()> {
    let mut rest = half;
    for (at, unit) in kind.in_order.into_iter().enumerate() {
        if at > 0 {
            let Some(next) = rest.strip_prefix(kind.separator) else {
                break;
            };
            rest = next;
        }
        let (n, _, after) = unsigned_plus(rest, text)?;
        sum.add(n, unit).ok_or_else(|| field_overflow(text))?;
        rest = after;
    }
    match rest.is_empty() {
        true => Ok(()),
        false => Err(invalid(text)),
    }
}

/// `YYYYMMDD` and `HHMMSS`, with a fraction of the last.
fn add_digits(n: Number, kind: &Half, text: &str, sum: &mut Sum) -> Result<()> {
    let parts = [n.whole / 10_000, n.whole / 100 % 100, n.whole % 100];
    for (at, (whole, unit)) in parts.into_iter().zip(kind.in_order).enumerate() {
        let fraction = if at == 2 { n.fraction } else { 0.0 };
        sum.add(Number { whole, fraction }, unit)
            .ok_or_else(|| field_overflow(text))?;
    }
    Ok(())
}
