//! The clock at the time of a call, and waiting for it.

use crate::function::{Function, volatile};
use crate::type_rules::Kind::{Double, Interval, Text, TimestampTz};
use crate::vector::{Output, Row};
use frazil_types::Result;
use frazil_types::date::{MICROS_PER_DAY, civil_from_days};
use frazil_types::value_ops::interval_span;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "clock_timestamp",
        overloads: &[volatile(&[], |_, o| o.int(now().into()), TimestampTz)],
        description: "the time of the call",
    },
    Function {
        name: "pg_sleep",
        overloads: &[volatile(&[Double], |r, o| sleep(r.double(0) * 1e6, o), Text)],
        description: "waits n seconds; returns an empty text",
    },
    Function {
        name: "pg_sleep_for",
        overloads: &[volatile(
            &[Interval],
            |r, o| sleep(interval_span(r.interval(0)) as f64, o),
            Text,
        )],
        description: "waits for an interval; returns an empty text",
    },
    Function {
        name: "pg_sleep_until",
        overloads: &[volatile(
            &[TimestampTz],
            |r, o| sleep((r.wide(0) - i128::from(now())) as f64, o),
            Text,
        )],
        description: "waits until a time; returns an empty text",
    },
];

/// Microseconds since 1970 at which this process opened its first database: the first call says so.
pub fn start_of_process() -> i64 {
    static START: OnceLock<i64> = OnceLock::new();
    *START.get_or_init(now)
}

/// Microseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as i64
}

/// Time between two looks at whether the statement is cancelled.
const NAP: Duration = Duration::from_millis(5);
/// Longest wait, in microseconds: a thousand years. Longer ones end with it.
const LONGEST: f64 = 3.2e16;

/// Waits so many microseconds, not at all for NaN and negative numbers. Error 57014 as soon as the statement is cancelled.
fn sleep(micros: f64, out: &mut Output) -> Result<()> {
    let begun = Instant::now();
    let length = Duration::from_micros(micros.clamp(0.0, LONGEST) as u64);
    while let Some(rest) = length.checked_sub(begun.elapsed()).filter(|rest| !rest.is_zero()) {
        out.check()?;
        std::thread::sleep(rest.min(NAP));
    }
    out.text("")
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
/// Weekdays from that of 1970-01-01 on.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// An instant as `Thu Nov 26 12:44:29.123456 2026 UTC`, by the clock of its type's zone.
pub(super) fn time_of_day(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let zone = row.ty(0).zone();
    let local = zone.local(row.int(0))?;
    let (days, clock) = (local.div_euclid(MICROS_PER_DAY), local.rem_euclid(MICROS_PER_DAY));
    let (year, month, day) = civil_from_days(days as i32);
    let (weekday, month) = (WEEKDAYS[days.rem_euclid(7) as usize], MONTHS[month as usize - 1]);
    let (seconds, micros) = (clock / 1_000_000, clock % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let abbreviation = zone.at(row.int(0)).abbreviation;
    out.text(&format!(
        "{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02}.{micros:06} {year} {abbreviation}"
    ))
}
