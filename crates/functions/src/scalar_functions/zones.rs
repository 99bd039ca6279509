//! Functions of time zones: what a clock shows at an instant, and when it shows a time.

use super::fields::{is_time_field, timestamp_field, unit_name, unknown_field};
use super::time::timestamp_of;
use super::truncation::truncated;
use crate::function::{Function, rows as over};
use crate::type_rules::Kind::{Double, Integer, Interval, Text, Timestamp, TimestampTz};
use crate::vector::Row;
use frazil_types::abbreviation::Abbreviation;
use frazil_types::date::is_finite;
use frazil_types::{Error, Result, SqlState, Zone};

const MICROS_PER_SECOND: i64 = 1_000_000;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "make_timestamptz",
        overloads: &[
            over(
                &[Integer, Integer, Integer, Integer, Integer, Double],
                |r, o| {
                    let zone = o.ty().zone();
                    o.int(zone.instant(timestamp_of(r)?)?.into())
                },
                TimestampTz,
            ),
            over(
                &[Integer, Integer, Integer, Integer, Integer, Double, Text],
                |r, o| o.int(instant_by(r.text(6), timestamp_of(r)?)?.into()),
                TimestampTz,
            ),
        ],
        description: "the instant of a year, month, day, hour, minute and second in the session's zone or a named zone",
    },
    Function {
        name: "timezone",
        overloads: &[
            over(
                &[Text, Timestamp],
                |r, o| o.int(instant_in(r.text(0), r.int(1))?.into()),
                TimestampTz,
            ),
            over(
                &[Text, TimestampTz],
                |r, o| o.int(zone_named(r.text(0), r.int(1))?.local(r.int(1))?.into()),
                Timestamp,
            ),
            over(
                &[Interval, Timestamp],
                |r, o| o.int(zone_of(r.interval(0))?.instant(r.int(1))?.into()),
                TimestampTz,
            ),
            over(
                &[Interval, TimestampTz],
                |r, o| o.int(zone_of(r.interval(0))?.local(r.int(1))?.into()),
                Timestamp,
            ),
        ],
        description: "AT TIME ZONE: the instant of a timestamp in a zone, or the timestamp of an instant in a zone",
    },
];

/// The instant at which the clock of a zone's name or abbreviation shows a time. Error 22023.
fn instant_in(name: &str, local: i64) -> Result<i64> {
    match Abbreviation::named(name.trim()) {
        Some(abbreviation) => abbreviation.instant(local),
        None => Zone::named(name)?.instant(local),
    }
}

/// The zone of a name at an instant: an abbreviation comes before a zone that is called so, as PostgreSQL has it. Error 22023.
pub(super) fn zone_named(name: &str, instant: i64) -> Result<Zone> {
    match Abbreviation::named(name.trim()) {
        Some(abbreviation) => Ok(abbreviation.zone_at(instant)),
        None => Zone::named(name),
    }
}

/// The instant at which a zone's clock shows a time. The zone is named, or is an offset with a sign, east being positive unlike in
/// `AT TIME ZONE`. 22023.
fn instant_by(text: &str, local: i64) -> Result<i64> {
    match text.as_bytes().first() {
        Some(b'+') => instant_in(&text.replacen('+', "-", 1), local),
        Some(b'-') => instant_in(&text.replacen('-', "+", 1), local),
        Some(b'0'..=b'9') => {
            let message = format!("invalid input syntax for type numeric time zone: \"{text}\"");
            let hint = "numeric time zones begin with \"-\" or \"+\"";
            Err(Error::new(SqlState::INVALID_PARAMETER, message).with_hint(hint))
        }
        _ => instant_in(text, local),
    }
}

/// What an argument's zone shows at the instant that it is.
pub(super) fn local(row: &Row<'_>, argument: usize) -> Result<i64> {
    row.ty(argument).zone().local(row.int(argument))
}

/// The zone that is an interval ahead of UTC. 22023 for one of days or months.
fn zone_of(ahead: frazil_types::Interval) -> Result<Zone> {
    if ahead.months != 0 || ahead.days != 0 {
        let message = "interval time zone must not include months or days";
        return Err(Error::new(SqlState::INVALID_PARAMETER, message));
    }
    Zone::of_offset(ahead.micros / MICROS_PER_SECOND)
}

/// A field of an instant by a zone's clock, its offset among them; at the scale of its [`field_type`].
pub(super) fn instant_field(field: &str, micros: i64, zone: Zone) -> Result<i128> {
    let offset = i128::from(zone.at(micros).seconds);
    match field {
        "epoch" => Ok(micros.into()),
        "timezone" => Ok(offset),
        "timezone_hour" => Ok(offset / 3600),
        "timezone_minute" => Ok(offset / 60 % 60),
        _ => timestamp_field(field, zone.local(micros)?).map_err(|e| match e.state() {
            SqlState::INVALID_PARAMETER => unknown_field(field, "timestamp with time zone"),
            _ => e,
        }),
    }
}

/// Start of the unit that an instant lies in by a zone's clock. What is shorter than a day keeps the clock of the instant.
pub(super) fn instant_trunc(unit: &str, micros: i64, zone: Zone) -> Result<i64> {
    if !is_finite(micros) {
        return truncated(unit, micros);
    }
    let local = zone.local(micros)?;
    let start = truncated(unit, local)?;
    match is_time_field(&unit_name(unit)) {
        true => Ok(micros - (local - start)),
        false => zone.instant(start),
    }
}
