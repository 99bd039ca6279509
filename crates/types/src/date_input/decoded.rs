//! Results of the decoders: a moment by some clock, or why a text is refused.

use crate::abbreviation::Abbreviation;
use crate::date::{MICROS_PER_DAY, calendar_day, is_finite};
use crate::zone::Zone;
use crate::{Error, Result, SqlState, statement_clock};

/// Why a text is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is not a date or time: 22007.
    Syntax,
    /// A field has a value that does not exist: 22008.
    Field,
    /// As `Field`, of a month or a day: another order of the fields may be meant.
    MonthOrDay,
    /// No zone is so far from UTC: 22009.
    Displacement,
    /// There is no zone of this name: 22023.
    Zone(String),
}

pub(super) type Decode<T> = std::result::Result<T, Refusal>;

impl Refusal {
    /// The error of a text for a type, which is called `kind`.
    pub fn error(self, kind: &str, text: &str) -> Error {
        let field = || {
            let message = format!("date/time field value out of range: \"{text}\"");
            Error::new(SqlState::DATETIME_OVERFLOW, message)
        };
        match self {
            Refusal::Syntax => Error::new(
                SqlState::INVALID_DATETIME,
                format!("invalid input syntax for type {kind}: \"{text}\""),
            ),
            Refusal::Field => field(),
            Refusal::MonthOrDay => {
                field().with_hint("dates are read as year-month-day, or as month/day/year")
            }
            Refusal::Displacement => Error::new(
                SqlState("22009"),
                format!("time zone displacement out of range: \"{text}\""),
            ),
            Refusal::Zone(name) => Error::new(
                SqlState::INVALID_PARAMETER,
                format!("time zone \"{name}\" not recognized"),
            ),
        }
    }
}

/// By which clock a text's time is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// A clock with a fixed number of seconds ahead of UTC.
    Ahead(i64),
    /// The clock of a zone.
    Zone(Zone),
    /// The clock of an abbreviation whose offset has changed over the years.
    Abbreviation(Abbreviation),
    /// The session's.
    Session,
}

impl Clock {
    /// The instant at which the clock shows `local`. Error 22008.
    pub fn instant(self, local: i64, session: Zone) -> Result<i64> {
        match self {
            Clock::Ahead(seconds) => local
                .checked_sub(seconds * 1_000_000)
                .filter(|instant| is_finite(*instant))
                .ok_or_else(|| Error::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range")),
            Clock::Zone(zone) => zone.instant(local),
            Clock::Abbreviation(abbreviation) => abbreviation.instant(local),
            Clock::Session => session.instant(local),
        }
    }
}

/// The present by the session's clock: the day since 1970-01-01 and the microseconds of the day.
pub(super) fn today() -> (i32, i64) {
    let moment = statement_clock::moment();
    let local = moment.zone.local(moment.micros).unwrap_or(moment.micros);
    (
        local.div_euclid(MICROS_PER_DAY) as i32,
        local.rem_euclid(MICROS_PER_DAY),
    )
}

/// A day and a time by some clock.
pub(super) struct Moment {
    pub year: i32,
    pub month: u32,
    pub day: u32,
    /// Microseconds since midnight; a time that is written without colons may be later than 24:00.
    pub micros: i64,
    pub clock: Clock,
}

impl Moment {
    /// Days since 1970-01-01; `None` outside the calendar.
    pub fn day(&self) -> Option<i32> {
        calendar_day(self.year, self.month, self.day)
    }

    /// Microseconds since 1970-01-01; `None` outside the calendar.
    pub fn local(&self) -> Option<i64> {
        let days = i64::from(self.day()?).checked_mul(MICROS_PER_DAY)?;
        days.checked_add(self.micros).filter(|micros| is_finite(*micros))
    }
}

/// The moment that a text names.
pub(super) enum Decoded {
    Moment(Moment),
    /// 1970-01-01 00:00 UTC.
    Epoch,
    /// `infinity` or `-infinity` as a timestamp.
    Infinite(i64),
}
