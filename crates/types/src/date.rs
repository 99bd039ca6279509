//! The proleptic Gregorian calendar: dates as days, timestamps as microseconds since 1970-01-01.

use crate::zone::{Zone, write_offset};
use crate::{Error, Interval, Result, SqlState};
use std::fmt;

/// Microseconds of a day.
pub const MICROS_PER_DAY: i64 = 86_400_000_000;
/// Years of [`DAYS`]; year 0 is 1 BC.
const YEARS: std::ops::RangeInclusive<i32> = -4713..=5_874_897;
/// Days since 1970-01-01 of the earliest and the latest date, as PostgreSQL has them: from 4714-11-24 BC, Julian day 0, to
/// 5874897-12-31.
pub const DAYS: std::ops::RangeInclusive<i32> = -2_440_588..=2_145_042_905;

/// The date `infinity`, later than every day of the calendar.
pub const INFINITE_DAY: i32 = i32::MAX;
/// The date `-infinity`.
pub const MINUS_INFINITE_DAY: i32 = i32::MIN;
/// The timestamp `infinity`, of instants as well: later than every other one.
pub const INFINITE_MICROS: i64 = i64::MAX;
/// The timestamp `-infinity`.
pub const MINUS_INFINITE_MICROS: i64 = i64::MIN;

/// True for a date that is neither `infinity` nor `-infinity`.
#[inline]
pub fn is_finite_day(days: i32) -> bool {
    days != INFINITE_DAY && days != MINUS_INFINITE_DAY
}

/// True for a timestamp or instant that is neither `infinity` nor `-infinity`.
#[inline]
pub fn is_finite(micros: i64) -> bool {
    micros != INFINITE_MICROS && micros != MINUS_INFINITE_MICROS
}

/// The timestamp of a date that is infinite; `None` for days of the calendar.
#[inline]
pub fn infinite_micros_of_day(days: i32) -> Option<i64> {
    match days {
        INFINITE_DAY => Some(INFINITE_MICROS),
        MINUS_INFINITE_DAY => Some(MINUS_INFINITE_MICROS),
        _ => None,
    }
}

/// The date of a timestamp that is infinite; `None` for all others.
#[inline]
pub fn infinite_day_of_micros(micros: i64) -> Option<i32> {
    match micros {
        INFINITE_MICROS => Some(INFINITE_DAY),
        MINUS_INFINITE_MICROS => Some(MINUS_INFINITE_DAY),
        _ => None,
    }
}

/// Days since 1970-01-01 of a calendar day (month 1–12, day 1–31), without checks.
pub fn days_from_civil(year: i32, month: u32, day: u32) -> i32 {
    let y = i64::from(year) - i64::from(month <= 2);
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let shifted = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * shifted + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era - 719_468) as i32
}

/// Year, month (1–12) and day (1–31) of days since 1970-01-01. Years begin in March here, so that the leap day is a year's last one; the
/// year of a century and the month of a year are the high bits of products (Neri, Schneider: Euclidean affine functions and their
/// application to calendar algorithms, 2023).
#[inline]
pub fn civil_from_days(days: i32) -> (i32, u32, u32) {
    /// Cycles of 400 years that are added, so that every i32 is a day from 0 on.
    const CYCLES: i64 = 14_700;
    let day = (i64::from(days) + 719_468 + 146_097 * CYCLES) as u64;
    let (century, of_century) = ((4 * day + 3) / 146_097, (4 * day + 3) % 146_097 / 4);
    let product = 2_939_745 * (4 * of_century + 3);
    let year = 100 * century + (product >> 32);
    let of_year = (product & 0xffff_ffff) / 2_939_745 / 4;
    let product = 2141 * of_year + 197_913;
    let (month, day) = (product >> 16, (product & 0xffff) / 2141 + 1);
    let is_next = of_year >= 306;
    let year = year as i64 - 400 * CYCLES + i64::from(is_next);
    let month = if is_next { month - 12 } else { month };
    (year as i32, month as u32, day as u32)
}

/// Days of a month.
pub fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a day of a month (year 0: 1 BC). `None` outside [`DAYS`].
pub fn calendar_day(year: i32, month: u32, day: u32) -> Option<i32> {
    let in_years = YEARS.contains(&year).then(|| days_from_civil(year, month, day));
    in_years.filter(|days| DAYS.contains(days))
}

/// Adds an interval to a date; months first, clipped to the month's end, then days. The interval's
/// microseconds count in whole days only. Error 22008 outside the calendar.
pub fn add_interval_to_date(days: i32, interval: Interval) -> Result<i32> {
    if !is_finite_day(days) {
        return Ok(days);
    }
    let moved = add_months(days, interval.months)?;
    let whole = i64::from(moved) + i64::from(interval.days) + interval.micros.div_euclid(MICROS_PER_DAY);
    in_calendar(whole)
}

/// Adds an interval to a timestamp. Error 22008 outside the calendar.
pub fn add_interval_to_timestamp(micros: i64, interval: Interval) -> Result<i64> {
    if !is_finite(micros) {
        return Ok(micros);
    }
    let days = micros.div_euclid(MICROS_PER_DAY);
    let moved = add_months(in_calendar(days)?, interval.months)?;
    let moved = in_calendar(i64::from(moved) + i64::from(interval.days))?;
    let start = i64::from(moved).checked_mul(MICROS_PER_DAY);
    let start = start.and_then(|start| start.checked_add(micros.rem_euclid(MICROS_PER_DAY)));
    let sum = start.and_then(|start| start.checked_add(interval.micros));
    let sum = sum
        .filter(|sum| is_finite(*sum))
        .ok_or_else(|| Error::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range"))?;
    in_calendar(sum.div_euclid(MICROS_PER_DAY)).map(|_| sum)
}

/// Adds an interval to an instant: its months and days by the calendar of a zone, then the rest as time that goes by. Error 22008.
pub fn add_interval_to_instant(micros: i64, interval: Interval, zone: Zone) -> Result<i64> {
    if !is_finite(micros) {
        return Ok(micros);
    }
    let moved = match (interval.months, interval.days) {
        (0, 0) => micros,
        _ => {
            let by = Interval {
                micros: 0,
                ..interval
            };
            zone.instant(add_interval_to_timestamp(zone.local(micros)?, by)?)?
        }
    };
    let sum = moved.checked_add(interval.micros).filter(|sum| is_finite(*sum));
    sum.ok_or_else(|| Error::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range"))
}

fn in_calendar(days: i64) -> Result<i32> {
    let days = i32::try_from(days).ok().filter(|days| DAYS.contains(days));
    days.ok_or_else(|| Error::new(SqlState::DATETIME_OVERFLOW, "date out of range"))
}

fn add_months(days: i32, months: i32) -> Result<i32> {
    if months == 0 {
        return Ok(days);
    }
    let (year, month, day) = civil_from_days(days);
    let total = i64::from(year) * 12 + i64::from(month) - 1 + i64::from(months);
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
    let year = i32::try_from(year).unwrap_or(i32::MAX);
    if !YEARS.contains(&year) {
        return Err(Error::new(SqlState::DATETIME_OVERFLOW, "date out of range"));
    }
    Ok(days_from_civil(year, month, day.min(days_in_month(year, month))))
}

/// Writes a date as `YYYY-MM-DD`, ` BC` behind years before 1, or `infinity`, `-infinity`.
pub fn write_date(f: &mut dyn fmt::Write, days: i32) -> fmt::Result {
    if let Some(micros) = infinite_micros_of_day(days) {
        return write_infinity(f, micros);
    }
    write_day(f, days)?;
    write_era(f, days)
}

/// Writes a day as `YYYY-MM-DD`. The year counts from 1, in its era.
pub fn write_day(f: &mut dyn fmt::Write, days: i32) -> fmt::Result {
    let (year, month, day) = civil_from_days(days);
    // Year 0 is 1 BC.
    let year = if year > 0 { year } else { 1 - year };
    write!(f, "{year:04}-{month:02}-{day:02}")
}

/// Writes ` BC` if a day is before the year 1.
pub fn write_era(f: &mut dyn fmt::Write, days: i32) -> fmt::Result {
    match civil_from_days(days).0 > 0 {
        true => Ok(()),
        false => f.write_str(" BC"),
    }
}

fn write_infinity(f: &mut dyn fmt::Write, micros: i64) -> fmt::Result {
    f.write_str(if micros > 0 { "infinity" } else { "-infinity" })
}

/// Writes a timestamp as `YYYY-MM-DD HH:MM:SS[.ffffff]`, trailing zeros dropped and ` BC` behind years before 1, or
/// `infinity`, `-infinity`.
pub fn write_timestamp(f: &mut dyn fmt::Write, micros: i64) -> fmt::Result {
    if !is_finite(micros) {
        return write_infinity(f, micros);
    }
    write_moment(f, micros)?;
    write_era(f, day_of(micros))
}

/// Writes a finite timestamp without its era.
fn write_moment(f: &mut dyn fmt::Write, micros: i64) -> fmt::Result {
    write_day(f, day_of(micros))?;
    f.write_char(' ')?;
    write_clock(f, micros.rem_euclid(MICROS_PER_DAY).unsigned_abs())
}

fn day_of(micros: i64) -> i32 {
    micros.div_euclid(MICROS_PER_DAY) as i32
}

/// Writes an instant as a zone's clock shows it, with its offset from UTC: `2024-07-01 14:00:00+02`.
pub fn write_instant(f: &mut dyn fmt::Write, micros: i64, zone: Zone) -> fmt::Result {
    if !is_finite(micros) {
        return write_infinity(f, micros);
    }
    let local = zone.local(micros).unwrap_or(micros);
    write_moment(f, local)?;
    write_offset(f, zone.at(micros).seconds)?;
    write_era(f, day_of(local))
}

/// Writes microseconds as `HH:MM:SS[.ffffff]`, trailing zeros dropped.
pub fn write_clock(f: &mut dyn fmt::Write, micros: u64) -> fmt::Result {
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    write!(
        f,
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )?;
    if fraction != 0 {
        let text = format!("{fraction:06}");
        write!(f, ".{}", text.trim_end_matches('0'))?;
    }
    Ok(())
}

/// Writes an interval as PostgreSQL does, e.g. `1 year 2 mons 3 days 04:05:06`. A part behind a negative one shows
/// its sign.
pub fn write_interval(f: &mut dyn fmt::Write, interval: Interval) -> fmt::Result {
    let (mut first, mut negative) = (true, false);
    for (amount, unit) in [
        (interval.months / 12, "year"),
        (interval.months % 12, "mon"),
        (interval.days, "day"),
    ] {
        if amount == 0 {
            continue;
        }
        let space = if first { "" } else { " " };
        let plus = if negative && amount > 0 { "+" } else { "" };
        let plural = if amount == 1 { "" } else { "s" };
        write!(f, "{space}{plus}{amount} {unit}{plural}")?;
        (first, negative) = (false, amount < 0);
    }
    if interval.micros == 0 && !first {
        return Ok(());
    }
    f.write_str(if first { "" } else { " " })?;
    f.write_str(match interval.micros {
        micros if micros < 0 => "-",
        _ if negative => "+",
        _ => "",
    })?;
    write_clock(f, interval.micros.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date_input::{parse_date, parse_instant, parse_timestamp, parse_timestamp_in_utc};

    #[test]
    fn calendar_round_trips() {
        for days in (-800_000..800_000).step_by(61) {
            let (y, m, d) = civil_from_days(days);
            assert_eq!(days_from_civil(y, m, d), days);
        }
        let (mut year, mut month, mut day) = (-4713, 11, 24);
        for days in *DAYS.start()..400_000 {
            assert_eq!(civil_from_days(days), (year, month, day));
            day += 1;
            if day > days_in_month(year, month) {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
        assert_eq!(civil_from_days(*DAYS.end()), (5_874_897, 12, 31));
        assert_eq!(civil_from_days(i32::MAX), (5_881_580, 7, 11));
        assert_eq!(civil_from_days(i32::MIN), (-5_877_641, 6, 23));
        assert_eq!(parse_date("1998-09-02").unwrap(), 10_471);
        assert_eq!(
            parse_date("1998-02-29").unwrap_err().state(),
            SqlState::DATETIME_OVERFLOW
        );
    }

    #[test]
    fn years_before_one_are_written_with_their_era() {
        let days = parse_date("0044-03-15 BC").unwrap();
        assert_eq!(parse_date("-0043-03-15").unwrap(), days);
        let mut out = String::new();
        write_date(&mut out, days).unwrap();
        assert_eq!(out, "0044-03-15 BC");
        let mut out = String::new();
        write_date(&mut out, parse_date("0001-12-31 BC").unwrap()).unwrap();
        assert_eq!(out, "0001-12-31 BC");
        let at = parse_timestamp("0044-03-15 12:00:00 BC").unwrap();
        assert_eq!(at, i64::from(days) * MICROS_PER_DAY + MICROS_PER_DAY / 2);
        assert_eq!(parse_date("19980902").unwrap(), 10_471);
    }

    #[test]
    fn dates_end_where_postgresql_has_their_end() {
        for (text, days) in [("5874897-12-31", *DAYS.end()), ("4714-11-24 BC", *DAYS.start())] {
            assert_eq!(parse_date(text).unwrap(), days, "{text}");
            let step = if days < 0 { -1 } else { 1 };
            let beyond = Interval {
                days: step,
                ..Interval::default()
            };
            let error = add_interval_to_date(days, beyond).unwrap_err();
            assert_eq!(error.state(), SqlState::DATETIME_OVERFLOW, "{text}");
            assert_eq!(error.message(), "date out of range");
        }
        for text in ["5874898-01-01", "4714-11-23 BC", "9999999-01-01"] {
            assert_eq!(
                parse_date(text).unwrap_err().state(),
                SqlState::DATETIME_OVERFLOW,
                "{text}"
            );
        }
    }

    #[test]
    fn timestamps_end_where_64_bits_do() {
        let last = "294247-01-10 04:00:54.775806";
        assert_eq!(parse_timestamp(last).unwrap(), i64::MAX - 1);
        for text in ["294247-01-10 04:00:54.775807", "294270-01-01"] {
            assert_eq!(
                parse_timestamp(text).unwrap_err().state(),
                SqlState::DATETIME_OVERFLOW,
                "{text}"
            );
        }
        let day = Interval {
            days: 1,
            ..Interval::default()
        };
        assert_eq!(
            add_interval_to_timestamp(i64::MAX - 1, day).unwrap_err().state(),
            SqlState::DATETIME_OVERFLOW
        );
    }

    #[test]
    fn infinity_is_read_written_and_stays() {
        let month = Interval {
            months: 1,
            ..Interval::default()
        };
        for (text, micros, days) in [
            ("infinity", INFINITE_MICROS, INFINITE_DAY),
            ("-infinity", MINUS_INFINITE_MICROS, MINUS_INFINITE_DAY),
        ] {
            let (mut date, mut timestamp, mut instant) = (String::new(), String::new(), String::new());
            write_date(&mut date, days).unwrap();
            write_timestamp(&mut timestamp, micros).unwrap();
            write_instant(&mut instant, micros, Zone::UTC).unwrap();
            assert_eq!([date.as_str(), &timestamp, &instant], [text; 3]);
            assert_eq!(parse_date(text).ok(), Some(days));
            assert_eq!(parse_timestamp(&text.to_uppercase()).ok(), Some(micros));
            assert_eq!(parse_instant(text, Zone::UTC).ok(), Some(micros));
            assert_eq!(add_interval_to_date(days, month).ok(), Some(days));
            assert_eq!(add_interval_to_timestamp(micros, month).ok(), Some(micros));
            assert_eq!(
                add_interval_to_instant(micros, month, Zone::UTC).ok(),
                Some(micros)
            );
        }
        assert_eq!(parse_date("Epoch").ok(), Some(0));
    }

    #[test]
    fn intervals_show_a_sign_behind_a_negative_part() {
        let written = |months, days, micros| {
            let mut out = String::new();
            write_interval(&mut out, Interval { months, days, micros }).unwrap();
            out
        };
        assert_eq!(written(14, 3, 0), "1 year 2 mons 3 days");
        assert_eq!(written(0, -1, 3_600_000_000), "-1 days +01:00:00");
        assert_eq!(written(-1, 1, 0), "-1 mons +1 day");
        assert_eq!(written(0, 0, -1), "-00:00:00.000001");
        assert_eq!(written(0, 0, i64::MIN), "-2562047788:00:54.775808");
        assert_eq!(written(0, 0, 0), "00:00:00");
    }

    #[test]
    fn months_clip_to_the_end() {
        let start = parse_date("2024-01-31").unwrap();
        let moved = add_interval_to_date(
            start,
            Interval {
                months: 1,
                ..Interval::default()
            },
        )
        .unwrap();
        assert_eq!(moved, parse_date("2024-02-29").unwrap());
    }

    #[test]
    fn timestamps_round_trip() {
        for text in [
            "1970-01-01 00:00:00",
            "1969-12-31 23:59:59.5",
            "2024-02-29 12:34:56.000001",
        ] {
            let mut out = String::new();
            write_timestamp(&mut out, parse_timestamp(text).unwrap()).unwrap();
            assert_eq!(out, text);
        }
    }

    #[test]
    fn timestamps_may_name_a_zone_which_does_not_count() {
        let plain = parse_timestamp("2013-01-01 10:00:00").unwrap();
        for text in [
            "2013-01-01T10:00:00Z",
            "2013-01-01T10:00:00.000+00:00",
            "2013-01-01 10:00+00",
            "2013-01-01T10:00:00+01",
            "2013-01-01T10:00:00-05:00",
            "2013-01-01 10:00 Europe/Berlin",
            "20130101 100000 PST",
            "2013-01-01 10:00 am CET",
        ] {
            assert_eq!(parse_timestamp(text).ok(), Some(plain), "{text}");
        }
        for text in ["2013-01-01T10:00:00ZZ", "2013-01-01 10:00 pmx"] {
            assert!(parse_timestamp(text).is_err(), "{text}");
        }
        let utc = |text: &str| parse_timestamp_in_utc(text).ok();
        assert_eq!(utc("2013-01-01T10:00:00Z"), Some(plain));
        assert_eq!(utc("2013-01-01T10:00:00+01"), None);
    }
}
