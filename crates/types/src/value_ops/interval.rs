//! Arithmetic on intervals and between timestamps.

use crate::date::{MICROS_PER_DAY, civil_from_days, days_in_month, is_finite};
use crate::{Error, Interval, Result, SqlState};

const DAYS_PER_MONTH: i64 = 30;
const MICROS_PER_SECOND: i64 = 1_000_000;

fn out_of_range() -> Error {
    Error::new(SqlState::DATETIME_OVERFLOW, "interval out of range")
}

/// a + b. Error 22008.
pub fn add_intervals(a: Interval, b: Interval) -> Result<Interval> {
    let sum = || {
        Some(Interval {
            months: a.months.checked_add(b.months)?,
            days: a.days.checked_add(b.days)?,
            micros: a.micros.checked_add(b.micros)?,
        })
    };
    sum().ok_or_else(out_of_range)
}

/// −i. Error 22008.
pub fn negate_interval(i: Interval) -> Result<Interval> {
    let negated = || {
        Some(Interval {
            months: i.months.checked_neg()?,
            days: i.days.checked_neg()?,
            micros: i.micros.checked_neg()?,
        })
    };
    negated().ok_or_else(out_of_range)
}

/// i × factor, or i ÷ factor: fractions of months become days, those of days become time. Errors 22008, 22012.
pub fn multiply_interval(i: Interval, factor: f64, divide: Divide) -> Result<Interval> {
    if divide == Divide::Yes && factor == 0.0 {
        return Err(Error::new(SqlState::DIVISION_BY_ZERO, "division by zero"));
    }
    let scaled = |v: f64| {
        if divide == Divide::Yes {
            v / factor
        } else {
            v * factor
        }
    };
    // To the microsecond, so that a double's last bits do not leave a stray second.
    let rounded = |v: f64| (v * 1e6).round_ties_even() / 1e6;
    let whole = |v: f64| {
        let fits = v >= f64::from(i32::MIN) && v <= f64::from(i32::MAX);
        if fits { Ok(v as i32) } else { Err(out_of_range()) }
    };
    let (exact_months, exact_days) = (scaled(f64::from(i.months)), scaled(f64::from(i.days)));
    let months = whole(exact_months)?;
    let days = whole(exact_days)?;
    let month_days = rounded((exact_months - f64::from(months)) * DAYS_PER_MONTH as f64);
    let mut seconds = rounded(
        (exact_days - f64::from(days) + month_days - month_days.trunc())
            * (MICROS_PER_DAY / MICROS_PER_SECOND) as f64,
    );
    let mut days = i64::from(days);
    if seconds.abs() >= 86_400.0 {
        days += (seconds / 86_400.0) as i64;
        seconds -= (seconds / 86_400.0).trunc() * 86_400.0;
    }
    days += month_days.trunc() as i64;
    let micros = (scaled(i.micros as f64) + seconds * 1e6).round_ties_even();
    if !(i64::MIN as f64..i64::MAX as f64).contains(&micros) {
        return Err(out_of_range());
    }
    Ok(Interval {
        months,
        days: i32::try_from(days).map_err(|_| out_of_range())?,
        micros: micros as i64,
    })
}

/// Whether [`multiply_interval`] divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divide {
    /// It divides.
    Yes,
    /// It multiplies.
    No,
}

/// a − b of timestamps: days and time, no months. Error 22008.
pub fn timestamp_difference(a: i64, b: i64) -> Result<Interval> {
    if !is_finite(a) || !is_finite(b) {
        let message = "cannot subtract infinite timestamps";
        return Err(Error::new(SqlState::DATETIME_OVERFLOW, message));
    }
    let micros = a.checked_sub(b).ok_or_else(out_of_range)?;
    justify_hours(Interval {
        micros,
        ..Interval::default()
    })
}

/// Whole days of time become days, of one sign with it. Error 22008.
pub fn justify_hours(i: Interval) -> Result<Interval> {
    let whole = i32::try_from(i.micros / MICROS_PER_DAY).map_err(|_| out_of_range())?;
    let mut days = i.days.checked_add(whole).ok_or_else(out_of_range)?;
    let mut micros = i.micros % MICROS_PER_DAY;
    if days > 0 && micros < 0 {
        micros += MICROS_PER_DAY;
        days -= 1;
    } else if days < 0 && micros > 0 {
        micros -= MICROS_PER_DAY;
        days += 1;
    }
    Ok(Interval { days, micros, ..i })
}

/// Thirty days become a month, of one sign with it. Error 22008.
pub fn justify_days(i: Interval) -> Result<Interval> {
    const DAYS: i32 = DAYS_PER_MONTH as i32;
    let mut months = i.months.checked_add(i.days / DAYS).ok_or_else(out_of_range)?;
    let mut days = i.days % DAYS;
    if months > 0 && days < 0 {
        days += DAYS;
        months -= 1;
    } else if months < 0 && days > 0 {
        days -= DAYS;
        months += 1;
    }
    Ok(Interval { months, days, ..i })
}

/// [`justify_hours`] and [`justify_days`], all of one sign. Error 22008.
pub fn justify_interval(i: Interval) -> Result<Interval> {
    const DAYS: i32 = DAYS_PER_MONTH as i32;
    let whole = i32::try_from(i.micros / MICROS_PER_DAY).map_err(|_| out_of_range())?;
    let days = i.days.checked_add(whole).ok_or_else(out_of_range)?;
    let mut micros = i.micros % MICROS_PER_DAY;
    let mut months = i.months.checked_add(days / DAYS).ok_or_else(out_of_range)?;
    let mut days = days % DAYS;
    if months > 0 && (days < 0 || days == 0 && micros < 0) {
        days += DAYS;
        months -= 1;
    } else if months < 0 && (days > 0 || days == 0 && micros > 0) {
        days -= DAYS;
        months += 1;
    }
    if days > 0 && micros < 0 {
        micros += MICROS_PER_DAY;
        days -= 1;
    } else if days < 0 && micros > 0 {
        micros -= MICROS_PER_DAY;
        days += 1;
    }
    Ok(Interval { months, days, micros })
}

/// age(a, b): years, months, days and time between two timestamps by the calendar. Error 22008 if one is infinite.
pub fn age(a: i64, b: i64) -> Result<Interval> {
    if !is_finite(a) || !is_finite(b) {
        return Err(Error::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range"));
    }
    if a < b {
        return negate_interval(age_forward(b, a));
    }
    Ok(age_forward(a, b))
}

/// [`age`] where `a` is not before `b`. Borrowed days are those of the earlier timestamp's month.
fn age_forward(a: i64, b: i64) -> Interval {
    let split = |t: i64| {
        (
            civil_from_days(t.div_euclid(MICROS_PER_DAY) as i32),
            t.rem_euclid(MICROS_PER_DAY),
        )
    };
    let ((ya, ma, da), ta) = split(a);
    let ((yb, mb, db), tb) = split(b);
    let mut months = (ya - yb) * 12 + ma as i32 - mb as i32;
    let mut days = da as i32 - db as i32;
    let mut micros = ta - tb;
    if micros < 0 {
        micros += MICROS_PER_DAY;
        days -= 1;
    }
    if days < 0 {
        days += days_in_month(yb, mb) as i32;
        months -= 1;
    }
    Interval { months, days, micros }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date::write_interval;
    use crate::date_input::parse_timestamp;
    use crate::value_ops::parse_interval;

    fn written(i: Interval) -> String {
        let mut out = String::new();
        write_interval(&mut out, i).unwrap();
        out
    }

    #[test]
    fn arithmetic_follows_postgresql() {
        let i = |text| parse_interval(text, None).unwrap();
        let times = |text, factor, divide| written(multiply_interval(i(text), factor, divide).unwrap());
        assert_eq!(times("1 day", 1.5, Divide::No), "1 day 12:00:00");
        assert_eq!(times("1 month", 0.1, Divide::No), "3 days");
        assert_eq!(times("1 mon 1 day", 3.0, Divide::Yes), "10 days 08:00:00");
        assert_eq!(
            multiply_interval(i("1 day"), 0.0, Divide::Yes)
                .unwrap_err()
                .state()
                .0,
            "22012"
        );
        assert_eq!(
            multiply_interval(i("1 year"), 1e12, Divide::No)
                .unwrap_err()
                .state()
                .0,
            "22008"
        );
        let at = |text| parse_timestamp(text).unwrap();
        assert_eq!(
            written(age(at("2024-03-31"), at("2024-02-29 12:00")).unwrap()),
            "1 mon 1 day 12:00:00"
        );
        assert_eq!(
            written(age(at("2024-02-29 12:00"), at("2024-03-31")).unwrap()),
            "-1 mons -1 days -12:00:00"
        );
        let difference = timestamp_difference(at("2024-01-01"), at("2023-12-30 12:00")).unwrap();
        assert_eq!(written(difference), "1 day 12:00:00");
        assert_eq!(
            written(justify_interval(i("35 days 30:00:00")).unwrap()),
            "1 mon 6 days 06:00:00"
        );
        assert_eq!(written(justify_days(i("35 days")).unwrap()), "1 mon 5 days");
        assert_eq!(written(justify_hours(i("27:00")).unwrap()), "1 day 03:00:00");
    }
}
