//! `date_trunc` of timestamps. Its unit mostly is a constant, and one row's timestamp near that of the row before: a thread keeps the
//! last unit, and the span of it that the last timestamp lay in.

use super::fields::{unit_name, unknown_field};
use frazil_types::Result;
use frazil_types::date::{MICROS_PER_DAY, civil_from_days, days_from_civil, is_finite};
use std::cell::RefCell;
use std::ops::Range;

const SECOND: i64 = 1_000_000;
/// The Monday after 1970-01-01.
const FIRST_MONDAY: i64 = 4 * MICROS_PER_DAY;

/// Buckets that timestamps are rounded down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Buckets of `length` µs that start at `origin` (µs since 1970-01-01).
    Clock { length: i64, origin: i64 },
    /// Buckets of `length` months that start at `origin` (months since January of year 0).
    Months { length: i64, origin: i64 },
}

impl Unit {
    /// A unit by one of its names. Error 22023.
    fn named(name: &str) -> Result<Unit> {
        let name = unit_name(name);
        let clock = |length: i64| Unit::Clock { length, origin: 0 };
        let months = |length: i64| Unit::Months { length, origin: 0 };
        // Spans of years begin with year 1, 101, …, those of decades with years that end in 0.
        let years = |years: i64| Unit::Months {
            length: 12 * years,
            origin: 12,
        };
        Ok(match name.as_str() {
            "microseconds" | "microsecond" => clock(1),
            "milliseconds" | "millisecond" => clock(1000),
            "second" | "seconds" => clock(SECOND),
            "minute" | "minutes" => clock(60 * SECOND),
            "hour" | "hours" => clock(3600 * SECOND),
            "day" | "days" => clock(MICROS_PER_DAY),
            "week" | "weeks" => Unit::Clock {
                length: 7 * MICROS_PER_DAY,
                origin: FIRST_MONDAY,
            },
            "month" | "months" => months(1),
            "quarter" => months(3),
            "year" | "years" => months(12),
            "decade" | "decades" => months(120),
            "century" | "centuries" => years(100),
            "millennium" | "millennia" => years(1000),
            other => return Err(unknown_field(other, "timestamp without time zone")),
        })
    }

    /// The span of a finite timestamp; what ends behind the last timestamp ends with `i64::MAX`, which is infinity.
    fn span(self, micros: i64) -> Range<i64> {
        match self {
            Unit::Clock { length, origin } => {
                let start = micros - (micros - origin).rem_euclid(length);
                start..start.saturating_add(length)
            }
            Unit::Months { length, origin } => {
                let (year, month, _) = civil_from_days(micros.div_euclid(MICROS_PER_DAY) as i32);
                let month = i64::from(year) * 12 + i64::from(month) - 1;
                let first = month - (month - origin).rem_euclid(length);
                let start = |month: i64| {
                    let day =
                        days_from_civil(month.div_euclid(12) as i32, month.rem_euclid(12) as u32 + 1, 1);
                    i64::from(day).saturating_mul(MICROS_PER_DAY)
                };
                start(first)..start(first + length)
            }
        }
    }
}

/// A unit by its name, and the span of it that was asked for last.
struct Truncation {
    name: String,
    unit: Unit,
    span: Range<i64>,
}

/// Start of the unit that a timestamp lies in; infinity stays. 22023 for an unknown unit.
pub(super) fn truncated(unit: &str, micros: i64) -> Result<i64> {
    thread_local! {
        static LAST: RefCell<Option<Truncation>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| {
        let last = match last {
            Some(last) if last.name == unit => last,
            other => other.insert(Truncation {
                name: unit.to_owned(),
                unit: Unit::named(unit)?,
                span: 0..0,
            }),
        };
        if !is_finite(micros) {
            return Ok(micros);
        }
        if !last.span.contains(&micros) {
            last.span = last.unit.span(micros);
        }
        Ok(last.span.start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_types::date::{DAYS, INFINITE_MICROS, MINUS_INFINITE_MICROS};

    /// The start of a unit as its name says it, one timestamp at a time.
    fn by_definition(unit: &str, micros: i64) -> i64 {
        let days = micros.div_euclid(MICROS_PER_DAY);
        let (year, month, _) = civil_from_days(days as i32);
        let start = |year: i32, month: u32| i64::from(days_from_civil(year, month, 1)) * MICROS_PER_DAY;
        let years = |span: i32| start((year - 1).div_euclid(span) * span + 1, 1);
        let clock = |length: i64| micros.div_euclid(length) * length;
        match unit {
            "us" => micros,
            "milliseconds" => clock(1000),
            "second" => clock(SECOND),
            "Minute" => clock(60 * SECOND),
            "hour" => clock(3600 * SECOND),
            "day" => days * MICROS_PER_DAY,
            "week" => (days - (days + 3).rem_euclid(7)) * MICROS_PER_DAY,
            "mon" => start(year, month),
            "quarter" => start(year, (month - 1) / 3 * 3 + 1),
            "year" => start(year, 1),
            "decade" => start(year.div_euclid(10) * 10, 1),
            "century" => years(100),
            _ => years(1000),
        }
    }

    #[test]
    fn spans_begin_where_the_calendar_says() {
        let units = [
            "us",
            "milliseconds",
            "second",
            "Minute",
            "hour",
            "day",
            "week",
            "mon",
            "quarter",
            "year",
            "decade",
            "century",
            "millennium",
        ];
        let first = i64::from(*DAYS.start()) * MICROS_PER_DAY;
        let mut at = 7_u64;
        for unit in units {
            let check = |micros: i64| {
                assert_eq!(
                    truncated(unit, micros).unwrap(),
                    by_definition(unit, micros),
                    "{unit} of {micros}"
                );
            };
            for micros in [first, -1, 0, 1, i64::MAX - 1, first + 400 * MICROS_PER_DAY] {
                check(micros);
            }
            for round in 0..3000 {
                at = at
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let anywhere = ((at >> 1) as i64).saturating_add(first * (round & 1)).max(first);
                let nearby = anywhere >> (at % 40);
                for micros in [
                    anywhere.min(i64::MAX - 1),
                    nearby,
                    nearby + 1,
                    nearby - 1,
                    -nearby.min(-first),
                ] {
                    check(micros.max(first));
                }
                let start = by_definition(unit, nearby);
                check((start - 1).max(first));
                check(start.max(first));
            }
            for infinite in [INFINITE_MICROS, MINUS_INFINITE_MICROS] {
                assert_eq!(truncated(unit, infinite).unwrap(), infinite);
            }
        }
        assert_eq!(
            truncated("fortnight", INFINITE_MICROS).unwrap_err().state().0,
            "22023"
        );
        assert_eq!(truncated("", 0).unwrap_err().state().0, "22023");
    }
}
