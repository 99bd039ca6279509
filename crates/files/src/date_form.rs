//! Dates as people write them: with slashes or points, the day, the month or the year first.

use crate::date_pattern::DatePattern;
use frazil_types::date;
use frazil_types::date_input::parse_timestamp_in_utc;
use std::sync::Arc;

/// The order of a date's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DateForm {
    /// `2024-02-29`, as SQL has it.
    #[default]
    Iso,
    /// `2024/02/29`, `2024.2.29`
    YearFirst,
    /// `29/02/2024`, `29.2.2024`
    DayFirst,
    /// `02/29/2024`
    MonthFirst,
    /// A format that a statement says.
    Said(Arc<DatePattern>),
}

impl DateForm {
    /// A date of this form, perhaps with a time behind it, as SQL has it; `None` for a text of another form, and for a
    /// day that does not exist.
    pub fn to_iso(&self, text: &str) -> Option<String> {
        if let DateForm::Said(pattern) = self {
            return pattern.to_iso(text);
        }
        let parts = Parts::of(text)?;
        let (year, month, day) = parts.ordered(self)?;
        Some(format!("{year:04}-{month:02}-{day:02}{}", parts.rest))
    }
}

/// The numbers of a date, and what follows.
struct Parts<'a> {
    mark: char,
    numbers: [u32; 3],
    digits: [usize; 3],
    rest: &'a str,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Option<Parts<'a>> {
        let text = text.trim();
        let mark = text.chars().find(|c| !c.is_ascii_digit())?;
        if !matches!(mark, '/' | '.' | '-') {
            return None;
        }
        let (mut numbers, mut digits, mut rest) = ([0; 3], [0; 3], text);
        for part in 0..3 {
            if part > 0 {
                rest = rest.strip_prefix(mark)?;
            }
            let count = rest.bytes().take_while(u8::is_ascii_digit).count();
            if count == 0 || count > 4 {
                return None;
            }
            (numbers[part], digits[part]) = (rest[..count].parse().ok()?, count);
            rest = &rest[count..];
        }
        (rest.is_empty() || rest.starts_with([' ', 'T'])).then_some(Parts {
            mark,
            numbers,
            digits,
            rest,
        })
    }

    /// Year, month and day, if this is their order and there is such a day.
    fn ordered(&self, form: &DateForm) -> Option<(u32, u32, u32)> {
        let ([a, b, c], [da, db, dc]) = (self.numbers, self.digits);
        let is_short = |digits: usize| digits <= 2;
        let (year, month, day, fits) = match form {
            DateForm::Iso => (a, b, c, self.mark == '-' && [da, db, dc] == [4, 2, 2]),
            DateForm::YearFirst => (a, b, c, da == 4 && is_short(db) && is_short(dc)),
            DateForm::DayFirst => (c, b, a, dc == 4 && is_short(da) && is_short(db)),
            DateForm::MonthFirst => (c, a, b, dc == 4 && is_short(da) && is_short(db)),
            DateForm::Said(_) => return None,
        };
        let is_day = (1..=12).contains(&month)
            && day >= 1
            && day <= date::days_in_month(i32::try_from(year).ok()?, month);
        (fits && year > 0 && is_day).then_some((year, month, day))
    }
}

/// The forms that all dates of a column have so far.
#[derive(Clone, Copy, Debug)]
pub struct DateForms {
    year_first: bool,
    day_first: bool,
    month_first: bool,
    /// Whether points stand between the parts: then the day comes first.
    has_points: bool,
    has_times: bool,
}

impl DateForms {
    /// All, as long as there is no date.
    pub const ALL: DateForms = DateForms {
        year_first: true,
        day_first: true,
        month_first: true,
        has_points: true,
        has_times: false,
    };

    /// Takes one more value into account.
    pub fn take(&mut self, text: &str) {
        let parts = Parts::of(text);
        let parts = parts.filter(|parts| {
            parts.rest.is_empty()
                || !parts.rest.contains(['+', '-', 'Z', 'z'])
                    && parse_timestamp_in_utc(&format!("2024-01-01{}", parts.rest)).is_ok()
        });
        let has = |form| parts.as_ref().is_some_and(|parts| parts.ordered(&form).is_some());
        self.year_first &= has(DateForm::YearFirst);
        self.day_first &= has(DateForm::DayFirst);
        self.month_first &= has(DateForm::MonthFirst);
        self.has_points &= parts.as_ref().is_some_and(|parts| parts.mark == '.');
        self.has_times |= parts.is_some_and(|parts| !parts.rest.is_empty());
    }

    /// The form, and whether there are times, where only one form is left: `01/02/2024` alone is in January or in
    /// February.
    pub fn only(self) -> Option<(DateForm, bool)> {
        let form = match (self.year_first, self.day_first, self.month_first) {
            (true, ..) => DateForm::YearFirst,
            (_, true, false) => DateForm::DayFirst,
            (_, false, true) => DateForm::MonthFirst,
            (_, true, true) if self.has_points => DateForm::DayFirst,
            (_, true, true) | (_, false, false) => return None,
        };
        Some((form, self.has_times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: &[&str]) -> Option<(DateForm, bool)> {
        let mut forms = DateForms::ALL;
        texts.iter().for_each(|text| forms.take(text));
        forms.only()
    }

    #[test]
    fn dates_tell_their_form_together() {
        assert_eq!(
            found(&["29/02/2024", "1/2/2023"]),
            Some((DateForm::DayFirst, false))
        );
        assert_eq!(
            found(&["02/29/2024", "1/2/2023"]),
            Some((DateForm::MonthFirst, false))
        );
        assert_eq!(
            found(&["2024/02/29 10:00", "2024/2/3"]),
            Some((DateForm::YearFirst, true))
        );
        assert_eq!(found(&["01.02.2024"]), Some((DateForm::DayFirst, false)));
        for no in [
            &["01/02/2024"][..],
            &["29/02/2023"],
            &["29/02/2024", "02/29/2024"],
            &["1/2"],
            &["1/2/3/4"],
            &["29/02/2024 noon"],
            &["29/02.2024"],
        ] {
            assert_eq!(found(no), None, "{no:?}");
        }
    }

    #[test]
    fn a_date_becomes_isos() {
        assert_eq!(
            DateForm::DayFirst.to_iso("29.2.2024 1:00").as_deref(),
            Some("2024-02-29 1:00")
        );
        assert_eq!(
            DateForm::MonthFirst.to_iso("2/29/2024").as_deref(),
            Some("2024-02-29")
        );
        assert_eq!(DateForm::MonthFirst.to_iso("2/30/2024"), None);
        assert_eq!(DateForm::DayFirst.to_iso("2024-02-29"), None);
    }
}
