//! Formats of dates and times as `dateformat` and `timestampformat` of `read_csv` say them, by strptime's letters.

use frazil_types::{Error, Result, SqlState, date};

/// A format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatePattern {
    text: String,
    parts: Vec<Part>,
}

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A character that stands for itself.
    Same(char),
    /// `%Y`: up to four digits.
    Year,
    /// `%y`: two digits, 69 to 99 in the 20th century.
    ShortYear,
    /// `%m`
    Month,
    /// `%b` and `%B`: an English name of a month, or its first three letters.
    MonthName,
    /// `%d`
    Day,
    /// `%a` and `%A`: an English name of a weekday, or its first three letters, which say nothing.
    Weekday,
    /// `%H`
    Hour,
    /// `%I`: an hour of half a day.
    HalfHour,
    /// `%p`: AM or PM.
    Half,
    /// `%M`
    Minute,
    /// `%S`
    Second,
    /// `%f`: up to six digits of a fraction of a second.
    Fraction,
    /// `%z`: an offset from UTC, or Z.
    Offset,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// The values that a text has.
#[derive(Default)]
struct Found {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    micros: u32,
    is_afternoon: Option<bool>,
    offset: String,
}

impl DatePattern {
    /// The format of a text. 22023 for letters that there are not, and for a format without a year, a month or a day.
    pub fn new(format: &str) -> Result<DatePattern> {
        let refused = |what: String| Error::new(SqlState::INVALID_PARAMETER, format!("\"{format}\" {what}"));
        let mut parts = Vec::new();
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                parts.push(Part::Same(letter));
                continue;
            }
            let letter = match letters.next() {
                // Numbers may have a leading zero or not in any case.
                Some('-') => letters.next(),
                letter => letter,
            };
            match letter {
                Some('T') => parts.extend(pieces([Part::Hour, Part::Minute, Part::Second], ':')),
                Some('F') => parts.extend(pieces([Part::Year, Part::Month, Part::Day], '-')),
                letter => parts.push(letter.and_then(Part::of).ok_or_else(|| {
                    let shown = letter.map_or_else(String::new, |letter| letter.to_string());
                    refused(format!("has %{shown}, which is not part of a date or time here"))
                })?),
            }
        }
        let has = |wanted: &[Part]| parts.iter().any(|part| wanted.contains(part));
        let is_date =
            has(&[Part::Year, Part::ShortYear]) && has(&[Part::Month, Part::MonthName]) && has(&[Part::Day]);
        match is_date {
            true => Ok(DatePattern {
                text: format.to_owned(),
                parts,
            }),
            false => Err(refused(
                "needs a year (%Y), a month (%m) and a day (%d)".to_owned(),
            )),
        }
    }

    /// A text of this format as SQL has it, with a time; `None` for a text of another format, and for a day or a time
    /// that does not exist.
    pub fn to_iso(&self, text: &str) -> Option<String> {
        let (mut rest, mut found) = (text.trim(), Found::default());
        for part in &self.parts {
            rest = part.read(rest, &mut found)?;
        }
        if !rest.is_empty() {
            return None;
        }
        let Found {
            year,
            month,
            day,
            minute,
            second,
            micros,
            ..
        } = found;
        let hour = match found.is_afternoon {
            None => found.hour,
            Some(is_afternoon) if (1..=12).contains(&found.hour) => {
                found.hour % 12 + 12 * u32::from(is_afternoon)
            }
            Some(_) => return None,
        };
        let is_day = (1..=12).contains(&month)
            && day >= 1
            && day <= date::days_in_month(i32::try_from(year).ok()?, month);
        let exists = year > 0 && is_day && hour < 24 && minute < 60 && second < 60;
        let offset = &found.offset;
        exists.then(|| {
            format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}{offset}")
        })
    }

    /// The error for a text that does not have this format. 22007.
    pub fn refused(&self, text: &str) -> Error {
        let shown: String = text.chars().take(100).collect();
        let message = format!(
            "\"{shown}\" is not a date or time of the format \"{}\"",
            self.text
        );
        Error::new(SqlState::INVALID_DATETIME, message)
    }
}

/// Three parts with a mark between them.
fn pieces([a, b, c]: [Part; 3], mark: char) -> [Part; 5] {
    [a, Part::Same(mark), b, Part::Same(mark), c]
}

impl Part {
    /// The part of a letter behind `%`.
    fn of(letter: char) -> Option<Part> {
        Some(match letter {
            'Y' => Part::Year,
            'y' => Part::ShortYear,
            'm' => Part::Month,
            'b' | 'B' | 'h' => Part::MonthName,
            'd' | 'e' => Part::Day,
            'a' | 'A' => Part::Weekday,
            'H' => Part::Hour,
            'I' => Part::HalfHour,
            'p' => Part::Half,
            'M' => Part::Minute,
            'S' => Part::Second,
            'f' => Part::Fraction,
            'z' => Part::Offset,
            '%' => Part::Same('%'),
            _ => return None,
        })
    }

    /// Reads the part at the beginning of a text; the rest of it. `None` if the text begins otherwise.
    fn read<'t>(self, text: &'t str, found: &mut Found) -> Option<&'t str> {
        let number = |most: usize, to: &mut u32| {
            let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
            *to = text[..count].parse().ok()?;
            Some(&text[count..])
        };
        match self {
            Part::Same(letter) => text.strip_prefix(letter),
            Part::Year => number(4, &mut found.year),
            Part::ShortYear => {
                let rest = number(2, &mut found.year)?;
                found.year += if found.year < 69 { 2000 } else { 1900 };
                Some(rest)
            }
            Part::Month => number(2, &mut found.month),
            Part::MonthName => {
                let (month, rest) = named(text, &MONTHS)?;
                found.month = month as u32 + 1;
                Some(rest)
            }
            Part::Day => number(2, &mut found.day),
            Part::Weekday => named(text, &WEEKDAYS).map(|(_, rest)| rest),
            Part::Hour | Part::HalfHour => number(2, &mut found.hour),
            Part::Half => {
                let half = text.get(..2)?;
                let is_afternoon = half.eq_ignore_ascii_case("pm");
                found.is_afternoon = Some(is_afternoon);
                (is_afternoon || half.eq_ignore_ascii_case("am")).then(|| &text[2..])
            }
            Part::Minute => number(2, &mut found.minute),
            Part::Second => number(2, &mut found.second),
            Part::Fraction => {
                let rest = number(6, &mut found.micros)?;
                let digits = text.len() - rest.len();
                found.micros *= 10_u32.pow(6 - digits as u32);
                Some(rest)
            }
            Part::Offset => {
                let is_part = |b: &u8| b.is_ascii_digit() || b"+-:Zz".contains(b);
                let count = text.bytes().take_while(is_part).count();
                text[..count].clone_into(&mut found.offset);
                (count > 0).then(|| &text[count..])
            }
        }
    }
}

/// The position of a name, or of its first three letters, at the beginning of a text, and the rest of the text.
fn named<'t>(text: &'t str, names: &[&str]) -> Option<(usize, &'t str)> {
    let count = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let word = text[..count].to_ascii_lowercase();
    let is_same = |name: &&str| word == **name || word == name[..3];
    Some((names.iter().position(is_same)?, &text[count..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read() {
        for (format, text, iso) in [
            ("%d-%m-%Y", "29-2-2024", Some("2024-02-29 00:00:00.000000")),
            ("%Y%m%d", "20240229", Some("2024-02-29 00:00:00.000000")),
            ("%m/%d/%y", "02/29/24", Some("2024-02-29 00:00:00.000000")),
            ("%d %b %Y", "29 FEB 2024", Some("2024-02-29 00:00:00.000000")),
            (
                "%A, %B %-d %Y",
                "Thursday, February 29 2024",
                Some("2024-02-29 00:00:00.000000"),
            ),
            (
                "%F %T.%f",
                "2024-02-29 23:59:58.5",
                Some("2024-02-29 23:59:58.500000"),
            ),
            (
                "%d.%m.%Y %I:%M %p",
                "29.02.2024 12:05 am",
                Some("2024-02-29 00:05:00.000000"),
            ),
            (
                "%FT%T%z",
                "2024-02-29T01:02:03+02:00",
                Some("2024-02-29 01:02:03.000000+02:00"),
            ),
            ("%Y%%%m%%%d", "2024%2%29", Some("2024-02-29 00:00:00.000000")),
            ("%d-%m-%Y", "30-2-2024", None),
            ("%d-%m-%Y", "2024-02-29", None),
            ("%d-%m-%Y", "29-2-2024 x", None),
            ("%d-%m-%Y", "", None),
            ("%d.%m.%Y %I:%M %p", "29.02.2024 13:05 am", None),
        ] {
            let pattern = DatePattern::new(format).expect(format);
            assert_eq!(pattern.to_iso(text).as_deref(), iso, "{text} by {format}");
        }
        for bad in ["%Y-%m", "%Q%Y%m%d", "%", "", "%Y-%m-%d %"] {
            let error = DatePattern::new(bad).expect_err(bad);
            assert_eq!(error.state(), SqlState::INVALID_PARAMETER, "{error}");
        }
    }
}
