//! Time zones: what a session's clock shows. Zones are those of the IANA database by their names, and fixed offsets from UTC.
//!
//! A [`LogicalType::TimestampTz`](crate::LogicalType::TimestampTz) carries the zone of the session that bound it, so that whatever
//! reads, writes or takes apart a value knows the zone by the type. What is stored knows none: it is an instant.
//!
//! The tables of the database end some decades ahead. A later time is looked up in a year before their end whose calendar is the
//! same, as the rules of today go on for ever.

use crate::date::{MICROS_PER_DAY, civil_from_days, days_from_civil, is_finite};
use crate::{Error, Result, SqlState};
use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::{OffsetComponents, OffsetName, TZ_VARIANTS, Tz};
use std::fmt;

const MICROS_PER_SECOND: i64 = 1_000_000;
/// Least offset from UTC that there is not, in seconds: 16 hours.
const OFFSET_END: i32 = 16 * 3600;
/// Years whose calendars stand for those of later years: of 28 in a row each calendar is one.
const LAST_YEARS: std::ops::RangeInclusive<i32> = 2010..=2037;
/// The earliest year that is looked up; no zone changed its clock before.
const FIRST_YEAR: i32 = 1800;

/// A time zone: a place in the table of names, or below zero a fixed offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Zone(i32);

impl Default for Zone {
    fn default() -> Zone {
        Zone::UTC
    }
}

/// What a zone's clock shows at some instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneOffset {
    /// Seconds ahead of UTC.
    pub seconds: i32,
    /// What the time is called there, `CEST`; empty for a fixed offset that has no name.
    pub abbreviation: String,
}

/// A zone of the IANA database, and its clock at some instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedZone {
    /// Its name.
    pub name: &'static str,
    /// Its clock.
    pub offset: ZoneOffset,
    /// True for daylight saving time.
    pub is_daylight: bool,
}

impl Zone {
    /// The zones of the IANA database at an instant, in microseconds since 1970-01-01 00:00 UTC.
    pub fn all(micros: i64) -> impl Iterator<Item = ListedZone> {
        let instant = DateTime::from_timestamp(looked_up(micros), 0).unwrap_or_default();
        TZ_VARIANTS.iter().zip(0..).map(move |(tz, place)| ListedZone {
            name: tz.name(),
            offset: Zone(place).at(micros),
            is_daylight: !tz
                .offset_from_utc_datetime(&instant.naive_utc())
                .dst_offset()
                .is_zero(),
        })
    }

    /// Universal time.
    pub const UTC: Zone = Zone::fixed(0);

    /// A clock so many seconds ahead of UTC, less than 16 hours either way.
    const fn fixed(seconds: i32) -> Zone {
        Zone(-OFFSET_END - 1 + seconds)
    }

    /// A clock so many seconds ahead of UTC. Error 22023 from 16 hours on.
    pub fn of_offset(seconds: i64) -> Result<Zone> {
        match i32::try_from(seconds) {
            Ok(seconds) if -OFFSET_END < seconds && seconds < OFFSET_END => Ok(Zone::fixed(seconds)),
            _ => Err(unknown(&format!("{seconds} seconds"))),
        }
    }

    /// The zone with a name in any case: of the IANA database, or as POSIX writes offsets, `-02` or `XYZ-2` being two hours east.
    /// Error 22023.
    pub fn named(name: &str) -> Result<Zone> {
        let name = name.trim();
        if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("z") {
            return Ok(Zone::UTC);
        }
        let zone = of_table(name).or_else(|| of_posix(name));
        zone.ok_or_else(|| unknown(name))
    }

    /// True if its clock has never been set to another offset.
    pub fn has_one_offset(self) -> bool {
        let Some(tz) = self.table_place().and_then(|at| TZ_VARIANTS.get(at)) else {
            return true;
        };
        let quarters =
            (FIRST_YEAR..*LAST_YEARS.end()).flat_map(|year| [1, 4, 7, 10].map(|month| (year, month)));
        let mut offsets = quarters.map(|(year, month)| {
            let seconds = i64::from(days_from_civil(year, month, 1)) * (MICROS_PER_DAY / MICROS_PER_SECOND);
            let instant = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
            tz.offset_from_utc_datetime(&instant.naive_utc())
                .fix()
                .local_minus_utc()
        });
        let first = offsets.next();
        offsets.all(|offset| Some(offset) == first)
    }

    /// The number that stands for it within one process.
    pub fn code(self) -> u32 {
        self.0 as u32
    }

    /// The zone of a [`Zone::code`]; `None` if there is none.
    pub fn of_code(code: u32) -> Option<Zone> {
        let zone = Zone(code as i32);
        let known = match zone.table_place() {
            Some(at) => at < TZ_VARIANTS.len(),
            None => zone.fixed_seconds().abs() < OFFSET_END,
        };
        known.then_some(zone)
    }

    fn table_place(self) -> Option<usize> {
        usize::try_from(self.0).ok()
    }

    fn fixed_seconds(self) -> i32 {
        self.0.saturating_add(OFFSET_END + 1)
    }

    /// Its clock at an instant, in microseconds since 1970-01-01 00:00 UTC.
    pub fn at(self, micros: i64) -> ZoneOffset {
        let Some(tz) = self.table_place().and_then(|at| TZ_VARIANTS.get(at)) else {
            let seconds = self.fixed_seconds();
            let abbreviation = if seconds == 0 {
                "UTC".to_owned()
            } else {
                String::new()
            };
            return ZoneOffset {
                seconds,
                abbreviation,
            };
        };
        let instant = DateTime::from_timestamp(looked_up(micros), 0).unwrap_or_default();
        let offset = tz.offset_from_utc_datetime(&instant.naive_utc());
        let seconds = offset.fix().local_minus_utc();
        ZoneOffset {
            seconds,
            abbreviation: offset
                .abbreviation()
                .map_or_else(|| digits_of(seconds), str::to_owned),
        }
    }

    /// Seconds that its clock is ahead of UTC at an instant.
    fn seconds_at(self, micros: i64) -> i64 {
        let seconds = match self.table_place().and_then(|at| TZ_VARIANTS.get(at)) {
            None => self.fixed_seconds(),
            Some(tz) => {
                let instant = DateTime::from_timestamp(looked_up(micros), 0).unwrap_or_default();
                tz.offset_from_utc_datetime(&instant.naive_utc())
                    .fix()
                    .local_minus_utc()
            }
        };
        seconds.into()
    }

    /// What its clock and calendar show at an instant; infinity stays. Error 22008.
    pub fn local(self, micros: i64) -> Result<i64> {
        if !is_finite(micros) {
            return Ok(micros);
        }
        let shown = micros.checked_add(self.seconds_at(micros) * MICROS_PER_SECOND);
        shown
            .filter(|shown| is_finite(*shown))
            .ok_or_else(|| Error::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range"))
    }

    /// The instant at which its clock and calendar show a time. Of two the later one, which is the one of standard time; a time that
    /// is skipped goes by the clock before; infinity stays. Error 22008.
    pub fn instant(self, local: i64) -> Result<i64> {
        if !is_finite(local) {
            return Ok(local);
        }
        let at = |seconds: i64| local.checked_sub(seconds * MICROS_PER_SECOND);
        let before = self.seconds_at(local.saturating_sub(MICROS_PER_DAY));
        let after = self.seconds_at(local.saturating_add(MICROS_PER_DAY));
        let shows = |seconds: i64| at(seconds).is_some_and(|instant| self.seconds_at(instant) == seconds);
        let seconds = if shows(after) || before == after {
            after
        } else {
            before
        };
        let instant = at(seconds).filter(|instant| is_finite(*instant));
        instant.ok_or_else(|| Error::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range"))
    }
}

/// The second at which the tables are asked for an instant.
fn looked_up(micros: i64) -> i64 {
    let days = micros.div_euclid(MICROS_PER_DAY) as i32;
    let year = civil_from_days(days).0;
    let stand_in = match year {
        year if year < FIRST_YEAR => FIRST_YEAR,
        year if year > *LAST_YEARS.end() => {
            let first = |year| days_from_civil(year, 1, 1);
            let shape = |year| (first(year).rem_euclid(7), first(year + 1) - first(year));
            LAST_YEARS
                .rev()
                .find(|y| shape(*y) == shape(year))
                .unwrap_or(year)
        }
        year => year,
    };
    let moved = i64::from(days_from_civil(year, 1, 1)) - i64::from(days_from_civil(stand_in, 1, 1));
    micros.div_euclid(MICROS_PER_SECOND) - moved * (MICROS_PER_DAY / MICROS_PER_SECOND)
}

/// A zone of the IANA database. Names as it spells them are found by their hash.
fn of_table(name: &str) -> Option<Zone> {
    let spelled = name.parse::<Tz>().ok().map(|tz| tz as usize);
    let place = spelled.filter(|&at| TZ_VARIANTS.get(at).is_some_and(|tz| tz.name() == name));
    let place = place.or_else(|| {
        TZ_VARIANTS
            .iter()
            .position(|tz| tz.name().eq_ignore_ascii_case(name))
    });
    place.map(|at| Zone(at as i32))
}

/// An offset as POSIX writes it: letters, or any in angle brackets, which may be left out, and hours west of Greenwich with minutes.
fn of_posix(name: &str) -> Option<Zone> {
    let rest = match name.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>')?.1,
        None => name.trim_start_matches(|c: char| c.is_ascii_alphabetic()),
    };
    let (sign, digits) = match rest.as_bytes().first()? {
        b'-' => (1, &rest[1..]),
        b'+' => (-1, &rest[1..]),
        b'0'..=b'9' if rest.len() < name.len() => (-1, rest),
        _ => return None,
    };
    let fields: Vec<&str> = digits.split(':').collect();
    let is_number = |f: &&str| (1..=2).contains(&f.len()) && f.bytes().all(|b| b.is_ascii_digit());
    if fields.len() > 3 || !fields.iter().all(is_number) {
        return None;
    }
    let number = |i: usize| fields.get(i).map_or(0, |f| f.parse::<i64>().unwrap_or(0));
    Zone::of_offset(sign * ((number(0) * 60 + number(1)) * 60 + number(2))).ok()
}

/// What a zone without abbreviations calls an offset: `+11`, `+0545`.
fn digits_of(seconds: i32) -> String {
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
    match (minutes / 60, minutes % 60) {
        (hours, 0) => format!("{sign}{hours:02}"),
        (hours, minutes) => format!("{sign}{hours:02}{minutes:02}"),
    }
}

fn unknown(name: &str) -> Error {
    let message = format!("time zone \"{name}\" not recognized");
    Error::new(SqlState::INVALID_PARAMETER, message)
        .with_hint("a zone is a name such as 'Europe/Berlin', 'UTC' or an offset")
}

/// Writes an offset as timestamps show it: `+02`, `-03:30`, `+00:53:28`.
pub fn write_offset(f: &mut dyn fmt::Write, seconds: i32) -> fmt::Result {
    let (sign, all) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs());
    write!(f, "{sign}{:02}", all / 3600)?;
    if all % 3600 != 0 {
        write!(f, ":{:02}", all / 60 % 60)?;
    }
    if all % 60 != 0 {
        write!(f, ":{:02}", all % 60)?;
    }
    Ok(())
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.table_place().and_then(|at| TZ_VARIANTS.get(at)) {
            Some(tz) => f.write_str(tz.name()),
            None if *self == Zone::UTC => f.write_str("UTC"),
            None => {
                // As PostgreSQL shows it: the offset, and the offset as POSIX counts it.
                f.write_str("<")?;
                write_offset(f, self.fixed_seconds())?;
                f.write_str(">")?;
                let mut west = String::new();
                write_offset(&mut west, -self.fixed_seconds())?;
                f.write_str(&west)
            }
        }
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date::write_timestamp;
    use crate::date_input::parse_timestamp;

    fn zone(name: &str) -> Zone {
        Zone::named(name).expect("a zone")
    }

    /// What a zone's clock shows when it is so late in UTC.
    fn shown(name: &str, utc: &str) -> String {
        let instant = parse_timestamp(utc).expect("a time");
        let mut text = String::new();
        write_timestamp(&mut text, zone(name).local(instant).expect("in range")).expect("written");
        write_offset(&mut text, zone(name).at(instant).seconds).expect("written");
        text
    }

    /// When it is so late by a zone's clock.
    fn instant(name: &str, local: &str) -> String {
        let mut text = String::new();
        let micros = zone(name)
            .instant(parse_timestamp(local).expect("a time"))
            .expect("in range");
        write_timestamp(&mut text, micros).expect("written");
        text
    }

    #[test]
    fn clocks_are_set_as_postgresql_sets_them() {
        assert_eq!(
            shown("Europe/Berlin", "2024-07-01 12:00"),
            "2024-07-01 14:00:00+02"
        );
        assert_eq!(
            shown("europe/berlin", "1850-01-01 00:00"),
            "1850-01-01 00:53:28+00:53:28"
        );
        assert_eq!(
            shown("Asia/Kolkata", "2024-07-01 12:00"),
            "2024-07-01 17:30:00+05:30"
        );
        assert_eq!(
            shown("America/St_Johns", "2024-01-01 12:00"),
            "2024-01-01 08:30:00-03:30"
        );
        // A time that comes twice, one that never comes, and their neighbours.
        assert_eq!(
            instant("Europe/Berlin", "2024-10-27 02:30"),
            "2024-10-27 01:30:00"
        );
        assert_eq!(
            instant("Europe/Berlin", "2024-10-27 01:59:59"),
            "2024-10-26 23:59:59"
        );
        assert_eq!(
            instant("Europe/Berlin", "2024-03-31 02:30"),
            "2024-03-31 01:30:00"
        );
        assert_eq!(
            instant("Europe/Berlin", "2024-03-31 03:00"),
            "2024-03-31 01:00:00"
        );
        assert_eq!(
            instant("America/New_York", "2024-11-03 01:30"),
            "2024-11-03 06:30:00"
        );
    }

    #[test]
    fn the_rules_of_today_go_on_for_ever() {
        assert_eq!(
            shown("Europe/Berlin", "2150-07-01 12:00"),
            "2150-07-01 14:00:00+02"
        );
        assert_eq!(
            shown("Europe/Berlin", "2150-01-01 12:00"),
            "2150-01-01 13:00:00+01"
        );
        assert_eq!(
            shown("America/New_York", "29999-07-01 12:00"),
            "29999-07-01 08:00:00-04"
        );
        // The last Sunday of March 2100 is the 28th.
        assert_eq!(
            shown("Europe/Berlin", "2100-03-28 00:59:59"),
            "2100-03-28 01:59:59+01"
        );
        assert_eq!(
            shown("Europe/Berlin", "2100-03-28 01:00"),
            "2100-03-28 03:00:00+02"
        );
        assert_eq!(
            shown("Europe/Berlin", "-4000-07-01 12:00"),
            "4001-07-01 12:53:28 BC+00:53:28"
        );
    }

    #[test]
    fn zones_have_names_abbreviations_and_offsets() {
        let seconds = |name: &str| zone(name).at(0).seconds;
        assert_eq!(
            (seconds("+02"), seconds("-03:30"), seconds("XYZ-2")),
            (-7200, 12600, 7200)
        );
        assert_eq!((seconds("<+05>-5"), seconds("EST5EDT")), (18000, -18000));
        for wrong in ["Nowhere/Land", "", "+", "+17", "5", "Europe", "CEST", "+1:2:3:4"] {
            let error = Zone::named(wrong).expect_err("no zone");
            assert_eq!(error.state(), SqlState::INVALID_PARAMETER, "{wrong}");
        }
        assert_eq!(
            Zone::of_offset(7200).map(|z| z.to_string()).ok().as_deref(),
            Some("<+02>-02")
        );
        for name in ["Europe/Berlin", "UTC", "+02", "-03:30"] {
            assert_eq!(Zone::of_code(zone(name).code()), Some(zone(name)));
        }
        assert_eq!(Zone::of_code(u32::MAX / 2), None);
    }
}
