//! Dates and times that the method `datetime` reads: how they are shown and compared.

use super::evaluate::{Clock, Fault};
use crate::scalar_functions::{ExactMoment, MomentKind};
use frazil_types::date::{MICROS_PER_DAY, write_clock, write_day, write_era};
use frazil_types::{Error, SqlState};
use std::cmp::Ordering;
use std::fmt::Write;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The type's name, as the method `type` gives it.
pub(super) fn type_name(kind: MomentKind) -> &'static str {
    match kind {
        MomentKind::Date => "date",
        MomentKind::Time => "time without time zone",
        MomentKind::TimeTz => "time with time zone",
        MomentKind::Timestamp => "timestamp without time zone",
        MomentKind::TimestampTz => "timestamp with time zone",
    }
}

/// PostgreSQL's short name of the type.
fn short_name(kind: MomentKind) -> &'static str {
    match kind {
        MomentKind::Date => "date",
        MomentKind::Time => "time",
        MomentKind::TimeTz => "timetz",
        MomentKind::Timestamp => "timestamp",
        MomentKind::TimestampTz => "timestamptz",
    }
}

/// The moment in the form of ISO 8601.
pub(super) fn shown(moment: ExactMoment) -> String {
    let mut text = String::new();
    let (day, clock) = (
        moment.local.div_euclid(MICROS_PER_DAY),
        moment.local.rem_euclid(MICROS_PER_DAY),
    );
    let has_day = !matches!(moment.kind, MomentKind::Time | MomentKind::TimeTz);
    if has_day {
        let _ = write_day(&mut text, day as i32);
    }
    if moment.kind != MomentKind::Date {
        text.push_str(if has_day { "T" } else { "" });
        let _ = write_clock(&mut text, clock.unsigned_abs());
    }
    if matches!(moment.kind, MomentKind::TimeTz | MomentKind::TimestampTz) {
        let sign = if moment.offset < 0 { '-' } else { '+' };
        let minutes = moment.offset.unsigned_abs() / 60;
        let _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    }
    if has_day {
        let _ = write_era(&mut text, day as i32);
    }
    text
}

/// The order of two moments; `None` for those of which one has no day. Errors: 0A000 where a zone is needed to tell
/// and `clock` has none, 22008 beyond the calendar.
pub(super) fn order(l: ExactMoment, r: ExactMoment, clock: Option<Clock>) -> Result<Option<Ordering>, Fault> {
    use MomentKind::{Time, TimeTz, TimestampTz};
    let is_time = |moment: ExactMoment| matches!(moment.kind, Time | TimeTz);
    if is_time(l) != is_time(r) {
        return Ok(None);
    }
    let is_zoned = |moment: ExactMoment| matches!(moment.kind, TimeTz | TimestampTz);
    if !is_zoned(l) && !is_zoned(r) {
        return Ok(Some(l.local.cmp(&r.local)));
    }
    let needed = if is_time(l) { TimeTz } else { TimestampTz };
    let (l, r) = (in_zone(l, needed, clock)?, in_zone(r, needed, clock)?);
    let of_utc = utc(l).cmp(&utc(r));
    Ok(Some(match needed {
        // Of two times at one moment the one further east stands first.
        TimeTz => of_utc.then(r.offset.cmp(&l.offset)),
        _ => of_utc,
    }))
}

fn utc(moment: ExactMoment) -> i64 {
    moment.local - i64::from(moment.offset) * MICROS_PER_SECOND
}

/// The moment with the offset that the session's clock has then, or of a time, now.
fn in_zone(moment: ExactMoment, kind: MomentKind, clock: Option<Clock>) -> Result<ExactMoment, Fault> {
    if moment.kind == kind {
        return Ok(moment);
    }
    let Some(clock) = clock else {
        let (from, to) = (short_name(moment.kind), short_name(kind));
        let message = format!("cannot convert value from {from} to {to} without time zone usage");
        let error = Error::new(SqlState::FEATURE_NOT_SUPPORTED, message);
        return Err(Fault::Raised(
            error.with_hint("Use *_tz() function for time zone support."),
        ));
    };
    let offset = match kind {
        MomentKind::TimeTz => clock.zone.at(clock.now).seconds,
        _ => {
            let instant = clock.zone.instant(moment.local).map_err(Fault::Raised)?;
            ((moment.local - instant) / MICROS_PER_SECOND) as i32
        }
    };
    Ok(ExactMoment {
        kind,
        offset,
        ..moment
    })
}
