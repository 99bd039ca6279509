//! Patterns of dates and times, as `to_char`, `to_date` and `to_timestamp` take them.

use std::cell::RefCell;
use std::rc::Rc;

/// What a keyword stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Era,
    Half,
    Century,
    DayName,
    DayShort,
    DayOfYear,
    IsoDayOfYear,
    DayOfMonth,
    DayOfWeek,
    IsoDayOfWeek,
    /// So many digits of a second.
    Fraction(usize),
    /// Not a field: what is read has the widths of the pattern.
    Exact,
    Hour12,
    Hour24,
    IsoWeek,
    /// So many digits.
    IsoYear(usize),
    JulianDay,
    Minute,
    Millisecond,
    MonthName,
    MonthShort,
    Month,
    Offset,
    Quarter,
    RomanMonth,
    SecondOfDay,
    Second,
    ZoneHour,
    ZoneMinute,
    ZoneName,
    Microsecond,
    Week,
    WeekOfMonth,
    YearWithComma,
    /// So many digits.
    Year(usize),
}

use Field::*;

/// Keywords, the longer ones in front. Those of digits stand in lower case, too.
const KEYWORDS: &[(&str, Field)] = &[
    ("A.D.", Era),
    ("A.M.", Half),
    ("AD", Era),
    ("AM", Half),
    ("B.C.", Era),
    ("BC", Era),
    ("CC", Century),
    ("DAY", DayName),
    ("DDD", DayOfYear),
    ("DD", DayOfMonth),
    ("DY", DayShort),
    ("Day", DayName),
    ("Dy", DayShort),
    ("D", DayOfWeek),
    ("FF1", Fraction(1)),
    ("FF2", Fraction(2)),
    ("FF3", Fraction(3)),
    ("FF4", Fraction(4)),
    ("FF5", Fraction(5)),
    ("FF6", Fraction(6)),
    ("FX", Exact),
    ("HH24", Hour24),
    ("HH12", Hour12),
    ("HH", Hour12),
    ("IDDD", IsoDayOfYear),
    ("ID", IsoDayOfWeek),
    ("IW", IsoWeek),
    ("IYYY", IsoYear(4)),
    ("IYY", IsoYear(3)),
    ("IY", IsoYear(2)),
    ("I", IsoYear(1)),
    ("J", JulianDay),
    ("MI", Minute),
    ("MM", Month),
    ("MONTH", MonthName),
    ("MON", MonthShort),
    ("MS", Millisecond),
    ("Month", MonthName),
    ("Mon", MonthShort),
    ("OF", Offset),
    ("P.M.", Half),
    ("PM", Half),
    ("Q", Quarter),
    ("RM", RomanMonth),
    ("SSSSS", SecondOfDay),
    ("SSSS", SecondOfDay),
    ("SS", Second),
    ("TZH", ZoneHour),
    ("TZM", ZoneMinute),
    ("TZ", ZoneName),
    ("US", Microsecond),
    ("WW", Week),
    ("W", WeekOfMonth),
    ("Y,YYY", YearWithComma),
    ("YYYY", Year(4)),
    ("YYY", Year(3)),
    ("YY", Year(2)),
    ("Y", Year(1)),
];

/// The ending of an ordinal number behind a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ordinal {
    None,
    Upper,
    Lower,
}

/// A keyword in a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub field: Field,
    /// As the pattern has it.
    pub keyword: String,
    /// FM stands before it: it is written without blanks and zeros around it.
    pub is_tight: bool,
    /// TM stands before it: a name is written without blanks behind it.
    pub is_translated: bool,
    pub ordinal: Ordinal,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Field(Place),
    /// A blank or punctuation.
    Separator(char),
    Letter(char),
}

/// The letters that a name is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    Upper,
    Capital,
    Lower,
}

impl Place {
    /// The letters of the keyword.
    pub fn letters(&self) -> Letters {
        let mut letters = self.keyword.chars().filter(char::is_ascii_alphabetic);
        match (letters.next(), letters.next()) {
            (Some(first), _) if first.is_ascii_lowercase() => Letters::Lower,
            (_, Some(second)) if second.is_ascii_lowercase() => Letters::Capital,
            _ => Letters::Upper,
        }
    }

    /// Whether its text is digits.
    pub fn is_number(&self) -> bool {
        !matches!(
            self.field,
            Era | Half
                | DayName
                | DayShort
                | Exact
                | MonthName
                | MonthShort
                | Offset
                | RomanMonth
                | ZoneHour
                | ZoneName
        )
    }
}

/// A pattern's parts.
pub(super) type Pattern = Vec<Part>;

/// Calls `run` with the parts of a pattern: they are kept for the next row, whose pattern mostly is the same.
pub(super) fn with_pattern<R>(text: &str, run: impl FnOnce(&Pattern) -> R) -> R {
    thread_local! {
        static LAST: RefCell<(String, Rc<Pattern>)> = RefCell::default();
    }
    let pattern = LAST.with_borrow_mut(|(known, pattern)| {
        if known != text {
            (*known, *pattern) = (text.to_owned(), Rc::new(parts(text)));
        }
        pattern.clone()
    });
    run(&pattern)
}

pub(super) fn parts(text: &str) -> Pattern {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (mut is_tight, mut is_translated) = (false, false);
        for prefix in ["FM", "fm", "TM", "tm"] {
            if let Some(behind) = rest.strip_prefix(prefix) {
                is_tight = prefix.eq_ignore_ascii_case("fm");
                is_translated = !is_tight;
                rest = behind;
                break;
            }
        }
        if let Some((keyword, field)) = keyword_at(rest) {
            rest = &rest[keyword.len()..];
            let mut ordinal = Ordinal::None;
            for (suffix, meaning) in [
                ("TH", Ordinal::Upper),
                ("th", Ordinal::Lower),
                ("SP", Ordinal::None),
            ] {
                if let Some(behind) = rest.strip_prefix(suffix) {
                    (ordinal, rest) = (meaning, behind);
                    break;
                }
            }
            out.push(Part::Field(Place {
                field,
                keyword: keyword.to_owned(),
                is_tight,
                is_translated,
                ordinal,
            }));
        } else {
            rest = literal(rest, &mut out);
        }
    }
    out
}

/// The keyword that a text begins with, in its own letters.
fn keyword_at(text: &str) -> Option<(&str, Field)> {
    let is_there =
        |keyword: &str| text.starts_with(keyword) || text.starts_with(&keyword.to_ascii_lowercase());
    let found = KEYWORDS.iter().find(|(keyword, _)| is_there(keyword))?;
    Some((&text[..found.0.len()], found.1))
}

/// Takes a text in double quotes, or one character, and gives what is behind it.
fn literal<'t>(text: &'t str, out: &mut Pattern) -> &'t str {
    let mut rest = text.chars();
    match rest.next() {
        Some('"') => {
            while let Some(c) = rest.next() {
                match c {
                    '"' => break,
                    '\\' => out.extend(rest.next().map(Part::Letter)),
                    c => out.push(Part::Letter(c)),
                }
            }
        }
        Some('\\') if rest.as_str().starts_with('"') => out.extend(rest.next().map(Part::Letter)),
        Some(c) if c.is_ascii_alphanumeric() || !c.is_ascii() => out.push(Part::Letter(c)),
        Some(c) => out.push(Part::Separator(c)),
        None => {}
    }
    rest.as_str()
}

pub(in crate::scalar_functions) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// From Sunday on.
pub(in crate::scalar_functions) const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
pub(super) const ROMAN: [&str; 12] = [
    "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_keyword_counts() {
        let fields = |text: &str| {
            let field = |part: Part| match part {
                Part::Field(place) => Some(place.field),
                Part::Separator(_) | Part::Letter(_) => None,
            };
            parts(text).into_iter().filter_map(field).collect::<Vec<_>>()
        };
        assert_eq!(fields("YYYYMMDD"), [Year(4), Month, DayOfMonth]);
        assert_eq!(fields("FMDayDDD\"DD\""), [DayName, DayOfYear]);
        assert_eq!(fields("SSSSSss"), [SecondOfDay, Second]);
        assert_eq!(fields("Y,YYYiyyy"), [YearWithComma, IsoYear(4)]);
        assert_eq!(parts("\\\"x"), [Part::Letter('"'), Part::Letter('x')]);
    }
}
