//! The words of dates and times.

/// The meaning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The transaction's start.
    Now,
    /// Midnight of the day `n` days after today.
    Today(i32),
    /// `allballs`: midnight in UTC.
    Midnight,
    /// 1970-01-01 00:00 UTC.
    Epoch,
    /// `infinity` and, with `false`, `-infinity`.
    Infinity(bool),
    /// `at` and `on`.
    Filler,
    /// AM, and with `true` PM.
    Half(bool),
    /// AD, and with `true` BC.
    Era(bool),
    /// A month, from 1.
    Month(i32),
    /// A day of the week, which is not compared with the date.
    Weekday,
    /// `dst` behind a zone: its clock is an hour ahead.
    DaylightSaving,
    /// The field that the number behind it sets.
    Label(Label),
    /// `t` between a date and a time.
    T,
}

/// The field that a number behind a label sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Julian,
    /// A time without colons: the label is `t`.
    Time,
    /// One that no number may follow: `dow`, `doy`, `isodow`, `isoyear`.
    Other,
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

const WEEKDAYS: &str = "sun sunday mon monday tue tues tuesday wed weds wednesday thu thur thurs thursday fri friday sat saturday";

/// The meaning of a word in lower case.
pub(super) fn word(text: &str) -> Option<Word> {
    let is_month = |name: &&str| text == *name || text == &name[..3];
    if let Some(month) = MONTHS.iter().position(is_month) {
        return Some(Word::Month(month as i32 + 1));
    }
    if WEEKDAYS.split(' ').any(|day| day == text) {
        return Some(Word::Weekday);
    }
    Some(match text {
        "sept" => Word::Month(9),
        "now" => Word::Now,
        "yesterday" => Word::Today(-1),
        "today" => Word::Today(0),
        "tomorrow" => Word::Today(1),
        "allballs" => Word::Midnight,
        "epoch" => Word::Epoch,
        "infinity" => Word::Infinity(true),
        "-infinity" => Word::Infinity(false),
        "at" | "on" => Word::Filler,
        "am" => Word::Half(false),
        "pm" => Word::Half(true),
        "ad" => Word::Era(false),
        "bc" => Word::Era(true),
        "dst" => Word::DaylightSaving,
        "y" => Word::Label(Label::Year),
        "m" => Word::Label(Label::Month),
        "d" => Word::Label(Label::Day),
        "h" => Word::Label(Label::Hour),
        "mm" => Word::Label(Label::Minute),
        "s" => Word::Label(Label::Second),
        "j" | "jd" | "julian" => Word::Label(Label::Julian),
        "dow" | "doy" | "isodow" | "isoyear" => Word::Label(Label::Other),
        "t" => Word::T,
        _ => return None,
    })
}
