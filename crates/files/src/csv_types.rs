//! The type of a CSV column: the narrowest that all its values have.

use crate::date_form::{DateForm, DateForms};
use frazil_types::date_input::{parse_date, parse_instant, parse_timestamp_in_utc};
use frazil_types::{LogicalType, Zone, value_ops};

/// Digits of the widest decimal.
const DECIMAL_DIGITS: usize = 38;
/// The type of integers that are too long for bigint.
pub const LONG_INTEGER: LogicalType = LogicalType::widest_exact(0);

/// What a value in a file of texts looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A word for true or false.
    Truth,
    /// An integer of 64 bits.
    Whole,
    /// An integer of up to 38 digits.
    Long,
    /// Any other number.
    Number,
    /// A day.
    Day,
    /// A day and a time.
    Moment,
    /// A day and a time with its offset from UTC, or `Z`.
    Instant,
    /// A time of day.
    Time,
    /// An array or object of JSON.
    Nested,
    /// Nothing of that.
    Words,
}

impl Form {
    /// The type that such values have.
    pub fn ty(self) -> LogicalType {
        match self {
            Form::Truth => LogicalType::Boolean,
            Form::Whole => LogicalType::BigInt,
            Form::Long => LONG_INTEGER,
            Form::Number => LogicalType::Double,
            Form::Day => LogicalType::Date,
            Form::Moment => LogicalType::TIMESTAMP,
            Form::Instant => LogicalType::TIMESTAMPTZ,
            Form::Time => LogicalType::TIME,
            Form::Nested => LogicalType::Jsonb,
            Form::Words => LogicalType::Text,
        }
    }
}

/// The type that has the values of both.
pub fn wider(a: LogicalType, b: LogicalType) -> LogicalType {
    use LogicalType::{BigInt, Date, Double, Jsonb, Text};
    match (a, b) {
        (a, b) if a == b => a,
        // Every value of JSON is a document, too.
        (Jsonb, _) | (_, Jsonb) => Jsonb,
        (BigInt, Double) | (Double, BigInt) => Double,
        (BigInt, LONG_INTEGER) | (LONG_INTEGER, BigInt) => LONG_INTEGER,
        (LONG_INTEGER, Double) | (Double, LONG_INTEGER) => Double,
        (Date, LogicalType::TIMESTAMP) | (LogicalType::TIMESTAMP, Date) => LogicalType::TIMESTAMP,
        _ => Text,
    }
}

/// Types that a column's values have so far.
#[derive(Clone, Copy, Debug)]
pub struct Fits {
    boolean: bool,
    bigint: bool,
    /// Integers of up to 38 digits.
    long: bool,
    double: bool,
    /// Whether a double is one by its digits: without any, `NaN` and `inf` are words.
    has_number: bool,
    date: bool,
    timestamp: bool,
    instant: bool,
    time: bool,
    /// True if all values have the format of dates that the statement says.
    pub said_date: bool,
    /// True if all values have the format of timestamps that the statement says.
    pub said_timestamp: bool,
    forms: DateForms,
    /// Whether there was a value at all.
    pub any: bool,
}

/// The type of values that folders say: a whole number, day or time if all are one, else text.
pub fn type_of_folders<'a>(values: impl Iterator<Item = &'a str>) -> LogicalType {
    let mut fits = Fits::ALL;
    values.for_each(|value| fits.take(value));
    match fits.form() {
        (form @ (Form::Whole | Form::Day | Form::Moment), DateForm::Iso) => form.ty(),
        _ => Form::Words.ty(),
    }
}

impl Fits {
    /// All, as long as there is no value.
    pub const ALL: Fits = Fits {
        boolean: true,
        bigint: true,
        long: true,
        double: true,
        has_number: false,
        date: true,
        timestamp: true,
        instant: true,
        time: true,
        said_date: false,
        said_timestamp: false,
        forms: DateForms::ALL,
        any: false,
    };

    /// Takes one more value into account.
    pub fn take(&mut self, text: &str) {
        self.any = true;
        let text = text.trim();
        self.boolean = self.boolean && is_boolean(text);
        self.take_number(text);
        let has_date = text.len() >= 10 && text.is_char_boundary(10) && text.as_bytes()[4] == b'-';
        self.date = self.date && has_date && text.len() == 10 && parse_date(text).is_ok();
        let moment = if has_date { moment_form(text) } else { None };
        self.timestamp &= moment == Some(Form::Moment);
        self.instant &= moment == Some(Form::Instant);
        self.time = self.time && is_time(text);
        self.forms.take(text);
    }

    fn take_number(&mut self, text: &str) {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        // A number with a leading zero is a code, and would lose the zero.
        let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        let is_number = !is_code && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let is_integer = is_number && digits.bytes().all(|b| b.is_ascii_digit());
        self.bigint = self.bigint && is_integer && text.parse::<i64>().is_ok();
        self.long = self.long && is_integer && digits.len() <= DECIMAL_DIGITS;
        let is_word = ["nan", "inf", "infinity"]
            .iter()
            .any(|word| digits.eq_ignore_ascii_case(word));
        self.double = self.double && (is_number || is_word) && value_ops::read_double(text).is_ok();
        self.has_number |= is_number;
    }

    /// The first type that is left, and the form of its dates.
    pub fn ty(self) -> (LogicalType, DateForm) {
        let (form, dates) = self.form();
        (form.ty(), dates)
    }

    /// The first form that is left, and that of its dates.
    pub fn form(self) -> (Form, DateForm) {
        let form = match self {
            Fits { any: false, .. } => Form::Words,
            Fits { boolean: true, .. } => Form::Truth,
            Fits { bigint: true, .. } => Form::Whole,
            Fits { long: true, .. } => Form::Long,
            Fits {
                double: true,
                has_number: true,
                ..
            } => Form::Number,
            Fits { date: true, .. } => Form::Day,
            Fits { timestamp: true, .. } => Form::Moment,
            Fits { instant: true, .. } => Form::Instant,
            Fits { time: true, .. } => Form::Time,
            Fits { forms, .. } => {
                return match forms.only() {
                    Some((dates, false)) => (Form::Day, dates),
                    Some((dates, true)) => (Form::Moment, dates),
                    None => (Form::Words, DateForm::Iso),
                };
            }
        };
        (form, DateForm::Iso)
    }
}

fn is_boolean(text: &str) -> bool {
    ["true", "false", "t", "f", "yes", "no"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
}

/// The form of a timestamp that begins with an ISO date: an instant if it names its offset from UTC. `None` if it is
/// not a timestamp, or names a zone in another way.
pub fn moment_form(text: &str) -> Option<Form> {
    let time = text.get(10..)?;
    let has_offset = time.ends_with(['Z', 'z']) || time.contains(['+', '-']);
    let is_plain = time
        .bytes()
        .all(|c| !c.is_ascii_alphabetic() || matches!(c, b'T' | b't' | b'Z' | b'z'));
    match has_offset {
        true => (is_plain && parse_instant(text, Zone::UTC).is_ok()).then_some(Form::Instant),
        false => parse_timestamp_in_utc(text).is_ok().then_some(Form::Moment),
    }
}

fn is_time(text: &str) -> bool {
    let has_form = text.bytes().filter(|b| *b == b':').count() == 2
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'));
    has_form && value_ops::read(text, LogicalType::TIME).is_ok()
}
