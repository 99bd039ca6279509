//! Reading a date, a time or both by a pattern whose separators must be those of the text, as SQL's standard has it for
//! `datetime()` in paths of JSON.

use super::date_pattern::{Field, Ordinal, Part, Pattern, Place, parts, with_pattern};
use super::read_date::{Input, Read, ends, invalid, out_of_range};
use frazil_types::Result;
use frazil_types::date::MICROS_PER_DAY;
use std::sync::LazyLock;

/// What a text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub kind: MomentKind,
    /// Microseconds since 1970-01-01 00:00, or since midnight, by the clock of its own offset.
    pub local: i64,
    /// Seconds that this clock is ahead of UTC; 0 if the kind has no zone.
    pub offset: i32,
}

/// The type of a [`Moment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MomentKind {
    Date,
    Time,
    TimeTz,
    Timestamp,
    TimestampTz,
}

/// Offsets of 16 hours and more are none.
const OFFSET_HOURS: i64 = 16;

/// Forms of ISO 8601 in the order in which they are tried, with digits of a second and without.
static FORMS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let clocks = ["HH24:MI:SS.US", "HH24:MI:SS"];
    let zones = ["TZH:TZM", "TZH", ""];
    let mut forms = vec![parts("yyyy-mm-dd")];
    for day in ["", "yyyy-mm-dd ", "yyyy-mm-dd\"T\""] {
        for clock in clocks {
            forms.extend(zones.iter().map(|zone| parts(&format!("{day}{clock}{zone}"))));
        }
    }
    forms
});

/// The moment that a text shows in one of the forms of ISO 8601; `None` if in none of them.
pub(crate) fn read_iso(text: &str) -> Option<Moment> {
    FORMS.iter().find_map(|form| read(text, form).ok())
}

/// The moment that a text shows by a template. Errors 22007, 22008; 0A000 for fields that only `to_char` has.
pub(crate) fn read_by(text: &str, template: &str) -> Result<Moment> {
    with_pattern(template, |pattern| read(text, pattern))
}

fn read(text: &str, pattern: &Pattern) -> Result<Moment> {
    let kind = kind_of(pattern)?;
    let mut fields = Read::default();
    let mut zone = ZoneRead::default();
    let mut input = Input {
        rest: text,
        skipped: 0,
    };
    let mut parts = pattern.iter().enumerate().peekable();
    while let Some((at, part)) = parts.next_if(|_| !input.rest.is_empty()) {
        match part {
            Part::Separator(c) | Part::Letter(c) => {
                input.rest = input.rest.strip_prefix(*c).ok_or_else(|| {
                    let what = if matches!(part, Part::Letter(_)) {
                        "character"
                    } else {
                        "separator"
                    };
                    invalid(format!("unmatched format {what} \"{c}\""))
                })?;
            }
            Part::Field(place) if place.field == Field::Exact => {}
            Part::Field(place) => {
                match place.field {
                    Field::ZoneHour => zone.read_hour(place, ends(pattern, at), &mut input)?,
                    Field::ZoneMinute => zone.minute = input.number(2, place, ends(pattern, at))?.0,
                    _ => fields.field(place, ends(pattern, at), &mut input)?,
                }
                if place.ordinal != Ordinal::None {
                    (0..2).for_each(|_| input.skip_character());
                }
            }
        }
    }
    if parts.next().is_some() {
        return Err(invalid(
            "input string is too short for datetime format".to_owned(),
        ));
    }
    if !input.rest.trim_start().is_empty() {
        let message = "trailing characters remain in input string after datetime format";
        return Err(invalid(message.to_owned()));
    }
    let local = fields.timestamp(text)?;
    Ok(Moment {
        kind,
        local: match kind {
            MomentKind::Time | MomentKind::TimeTz => local.rem_euclid(MICROS_PER_DAY),
            MomentKind::Date | MomentKind::Timestamp | MomentKind::TimestampTz => local,
        },
        offset: zone.seconds(text)?,
    })
}

/// What a text says of its offset.
#[derive(Debug, Default)]
struct ZoneRead {
    is_west: bool,
    hour: i64,
    minute: i64,
}

impl ZoneRead {
    fn read_hour(&mut self, place: &Place, ends: bool, input: &mut Input<'_>) -> Result<()> {
        self.is_west = input.rest.starts_with('-');
        input.rest = input.rest.strip_prefix(['+', '-', ' ']).unwrap_or(input.rest);
        self.hour = input.number(2, place, ends)?.0;
        Ok(())
    }

    /// Error 22008 beyond what zones have.
    fn seconds(&self, text: &str) -> Result<i32> {
        if !(0..OFFSET_HOURS).contains(&self.hour) || !(0..60).contains(&self.minute) {
            return Err(out_of_range(text));
        }
        let seconds = (self.hour * 60 + self.minute) as i32 * 60;
        Ok(if self.is_west { -seconds } else { seconds })
    }
}

/// What a pattern's fields show together. Error 22007 where that is no type, or for what is no separator.
fn kind_of(pattern: &Pattern) -> Result<MomentKind> {
    let (mut is_dated, mut is_timed, mut is_zoned) = (false, false, false);
    for part in pattern {
        let Part::Field(place) = part else {
            match part {
                Part::Separator(c) if !"-./,':; ".contains(*c) => {
                    return Err(invalid(format!("invalid datetime format separator: \"{c}\"")));
                }
                _ => continue,
            }
        };
        match place.field {
            Field::Exact => {}
            Field::ZoneHour | Field::ZoneMinute | Field::ZoneName | Field::Offset => is_zoned = true,
            Field::Half
            | Field::Fraction(_)
            | Field::Hour12
            | Field::Hour24
            | Field::Minute
            | Field::Millisecond
            | Field::SecondOfDay
            | Field::Second
            | Field::Microsecond => is_timed = true,
            _ => is_dated = true,
        }
    }
    match (is_dated, is_timed, is_zoned) {
        (true, true, true) => Ok(MomentKind::TimestampTz),
        (true, true, false) => Ok(MomentKind::Timestamp),
        (true, false, false) => Ok(MomentKind::Date),
        (false, true, true) => Ok(MomentKind::TimeTz),
        (false, true, false) => Ok(MomentKind::Time),
        (true, false, true) => Err(invalid("datetime format is zoned but not timed".to_owned())),
        (false, false, _) => Err(invalid("datetime format is not dated and not timed".to_owned())),
    }
}
