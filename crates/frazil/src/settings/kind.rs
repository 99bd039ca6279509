//! The values that settings take: how texts are read, and how values are shown.

use frazil_types::{Error, Result, SqlState};
use std::fmt;
use std::time::Duration;

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// `on` and `off`.
    Boolean,
    /// Whole numbers of this range, both ends included.
    Integer(i128, i128),
    /// Numbers of this range, both ends included.
    Real(f64, f64),
    /// A time; a number without a unit is in milliseconds.
    Time,
    /// A time, or `off`.
    TimeOrOff,
    /// Bytes.
    Size,
    /// Bytes, or `off`.
    SizeOrOff,
    /// `(least, bytes)`: a size in units of `bytes` bytes, at least `least` units; a number alone counts units.
    Units(u64, u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// Words separated by commas.
    List,
    /// Names separated by commas, in quotes if they need them.
    Names,
}

/// A value that was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// A [`ValueKind::Boolean`].
    Flag(bool),
    /// A [`ValueKind::Integer`].
    Number(i128),
    /// A [`ValueKind::Real`].
    Real(f64),
    /// A [`ValueKind::Time`].
    Time(Duration),
    /// A [`ValueKind::Size`] or [`ValueKind::Units`], in bytes.
    Size(u64),
    /// `off` of kinds that allow it.
    Off,
    /// A [`ValueKind::Choice`], as the list spells it.
    Choice(&'static str),
    /// A value of the other kinds.
    Text(String),
}

/// Shows the value as SHOW does: a time and a size with the largest unit that divides them.
impl fmt::Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Read::Flag(on) => f.write_str(shown_flag(*on)),
            Read::Number(n) => n.fmt(f),
            Read::Real(x) => x.fmt(f),
            Read::Time(time) => f.write_str(&shown_time(*time)),
            Read::Size(bytes) => f.write_str(&shown_size(*bytes)),
            Read::Off => f.write_str("off"),
            Read::Choice(word) => f.write_str(word),
            Read::Text(text) => f.write_str(text),
        }
    }
}

impl Read {
    /// The flag. XX000 for another kind, as for the functions below.
    pub fn flag(&self) -> Result<bool> {
        match self {
            Read::Flag(on) => Ok(*on),
            other => Err(other.unexpected()),
        }
    }

    /// The whole number.
    pub fn number(&self) -> Result<i128> {
        match self {
            Read::Number(n) => Ok(*n),
            other => Err(other.unexpected()),
        }
    }

    /// The time.
    pub fn time(&self) -> Result<Duration> {
        match self {
            Read::Time(time) => Ok(*time),
            other => Err(other.unexpected()),
        }
    }

    /// The word or text.
    pub fn word(&self) -> Result<&str> {
        match self {
            Read::Choice(word) => Ok(word),
            Read::Text(text) => Ok(text.trim()),
            other => Err(other.unexpected()),
        }
    }

    /// The time; zero if it is off.
    pub fn time_or_zero(&self) -> Duration {
        self.time().unwrap_or_default()
    }

    /// The size in bytes; zero if it is off.
    pub fn size_or_zero(&self) -> u64 {
        match self {
            Read::Size(bytes) => *bytes,
            _ => 0,
        }
    }

    fn unexpected(&self) -> Error {
        Error::internal(format!("a setting was read as {self:?}"))
    }
}

/// `on` or `off`.
pub fn shown_flag(value: bool) -> &'static str {
    if value { "on" } else { "off" }
}

const MILLIS: [(&str, u128); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("min", 60_000),
    ("s", 1_000),
    ("ms", 1),
];
const BYTES: [(&str, u64); 5] = [
    ("TB", 1 << 40),
    ("GB", 1 << 30),
    ("MB", 1 << 20),
    ("kB", 1 << 10),
    ("B", 1),
];
/// The longest time: PostgreSQL's, 2^31 − 1 milliseconds.
const LONGEST: Duration = Duration::from_millis(i32::MAX as u64);

/// A time with the largest unit that divides it; 0 has none.
pub fn shown_time(time: Duration) -> String {
    let millis = time.as_millis();
    let unit = MILLIS.iter().find(|unit| millis.is_multiple_of(unit.1));
    match unit {
        Some((name, length)) if millis > 0 => format!("{}{name}", millis / length),
        _ => "0".to_owned(),
    }
}

/// Bytes with the largest unit that divides them; 0 has none.
pub fn shown_size(bytes: u64) -> String {
    let unit = BYTES.iter().find(|unit| bytes.is_multiple_of(unit.1));
    match unit {
        Some((name, size)) if bytes > 0 => format!("{}{name}", bytes / size),
        _ => "0".to_owned(),
    }
}

/// `on` or `off`, or the word that a value shows where off is one of them.
pub fn or_off<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "off".to_owned(), show)
}

impl ValueKind {
    /// Reads a value of the setting `name`. 22023.
    pub fn read(self, name: &str, text: &str) -> Result<Read> {
        let trimmed = text.trim();
        let wrong = |wanted: &str| wrong(name, trimmed, wanted);
        let is_off = || trimmed.eq_ignore_ascii_case("off");
        match self {
            ValueKind::Boolean => flag(trimmed).map(Read::Flag).ok_or_else(|| wrong("on or off")),
            ValueKind::Integer(min, max) => (trimmed.parse().ok())
                .filter(|n| (min..=max).contains(n))
                .map(Read::Number)
                .ok_or_else(|| wrong(&format!("a whole number from {min} to {max}"))),
            ValueKind::Real(min, max) => (trimmed.parse().ok())
                .filter(|x| (min..=max).contains(x))
                .map(Read::Real)
                .ok_or_else(|| wrong(&format!("a number from {min} to {max}"))),
            ValueKind::TimeOrOff | ValueKind::SizeOrOff if is_off() => Ok(Read::Off),
            ValueKind::Time => duration(trimmed)
                .map(Read::Time)
                .ok_or_else(|| wrong("a time such as 500, '500ms', '10s' or '2min'")),
            ValueKind::TimeOrOff => duration(trimmed)
                .map(Read::Time)
                .ok_or_else(|| wrong("a time such as 500, '500ms', '10s' or '2min', or off")),
            ValueKind::Size => size(trimmed, 1)
                .map(Read::Size)
                .ok_or_else(|| wrong("a size such as '512MB' or '8GB'")),
            ValueKind::SizeOrOff => size(trimmed, 1)
                .map(Read::Size)
                .ok_or_else(|| wrong("a size such as '512MB' or '8GB', or off")),
            ValueKind::Units(least, unit) => size(trimmed, unit)
                .filter(|bytes| (least..=i32::MAX as u64).contains(&(bytes / unit)))
                .map(Read::Size)
                .ok_or_else(|| {
                    wrong(&format!(
                        "a size such as '64MB', at least {}",
                        shown_size(least * unit)
                    ))
                }),
            ValueKind::Choice(words) => (words.iter())
                .find(|word| word.eq_ignore_ascii_case(trimmed))
                .map(|word| Read::Choice(word))
                .ok_or_else(|| match words {
                    [""] => wrong("nothing but an empty text"),
                    words => wrong(&format!("one of {}", words.join(", "))),
                }),
            ValueKind::Text | ValueKind::List | ValueKind::Names => Ok(Read::Text(text.to_owned())),
        }
    }
}

/// 22023: SET gave a setting several values.
pub fn takes_one(name: &str) -> Error {
    let message = format!("SET {name} takes only one argument");
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// 22023: the setting takes something else.
pub fn wrong(name: &str, text: &str, wanted: impl fmt::Display) -> Error {
    let message = format!("{name} takes {wanted}, not \"{text}\"");
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// A truth value as PostgreSQL reads it: any beginning of `true`, `false`, `yes`, `no`, and of `on` and `off` at least
/// two letters; 1 and 0.
fn flag(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let begins = |word: &str, least: usize| text.len() >= least && word.starts_with(&text);
    let is_true = begins("true", 1) || begins("yes", 1) || text == "on" || text == "1";
    let is_false = begins("false", 1) || begins("no", 1) || begins("off", 2) || text == "0";
    (is_true || is_false).then_some(is_true)
}

/// Milliseconds, or a number with a unit: us, ms, s, min, h, d; rounded to milliseconds. `None` beyond [`LONGEST`].
fn duration(text: &str) -> Option<Duration> {
    let (amount, unit) = split_unit(text)?;
    let millis = match unit {
        "us" => 1e-3,
        "" => 1.0,
        unit => MILLIS.iter().find(|known| known.0 == unit)?.1 as f64,
    };
    let millis = (amount * millis).round();
    let longest = LONGEST.as_millis() as f64;
    (0.0..=longest)
        .contains(&millis)
        .then(|| Duration::from_millis(millis as u64))
}

/// Bytes: a number with a unit: B, kB, MB, GB, TB, or KiB and so on, each of 1,024 of the one before; or a number of
/// `default` bytes.
fn size(text: &str, default: u64) -> Option<u64> {
    let (amount, unit) = split_unit(text)?;
    let bytes = match unit.to_ascii_lowercase().as_str() {
        "" => default,
        "b" => 1,
        "kb" | "kib" | "k" => 1 << 10,
        "mb" | "mib" | "m" => 1 << 20,
        "gb" | "gib" | "g" => 1 << 30,
        "tb" | "tib" | "t" => 1 << 40,
        _ => return None,
    };
    if let Ok(whole) = text[..text.len() - unit.len()].trim().parse::<u64>() {
        return whole.checked_mul(bytes);
    }
    let bytes = (amount * bytes as f64).round();
    // Beyond 2^53 the number would be another one than the text says.
    (0.0..9e15).contains(&bytes).then_some(bytes as u64)
}

/// A number of at least 0 and what follows it.
fn split_unit(text: &str) -> Option<(f64, &str)> {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = text.find(|c: char| !is_of_number(c)).unwrap_or(text.len());
    let amount = text[..end].parse().ok()?;
    Some((amount, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_shown_as_postgresql_does() {
        let shown = |kind: ValueKind, text: &str| {
            let read = kind.read("x", text);
            read.map_or_else(|e| e.state().0.to_owned(), |read| read.to_string())
        };
        for (text, wanted) in [
            ("90000", "90s"),
            ("1500", "1500ms"),
            ("2h", "2h"),
            ("36h", "36h"),
            ("2 d", "2d"),
            ("0", "0"),
            ("1.5s", "1500ms"),
            ("100.4", "100ms"),
            ("600us", "1ms"),
            ("-1", "22023"),
            ("5 weeks", "22023"),
            ("2147483648", "22023"),
            ("off", "22023"),
        ] {
            assert_eq!(shown(ValueKind::Time, text), wanted, "{text}");
        }
        assert_eq!(shown(ValueKind::TimeOrOff, "OFF"), "off");
        for (text, wanted) in [
            ("100", "100kB"),
            ("64MB", "64MB"),
            ("1024 MB", "1GB"),
            ("1", "22023"),
            ("x", "22023"),
            ("3TB", "22023"),
        ] {
            assert_eq!(shown(ValueKind::Units(64, 1 << 10), text), wanted, "{text}");
        }
        assert_eq!(shown(ValueKind::Size, "8GB"), "8GB");
        assert_eq!(shown(ValueKind::Size, "1000"), "1000B");
        assert_eq!(shown(ValueKind::Size, "1.5kB"), "1536B");
        assert_eq!(shown(ValueKind::Size, "18446744073709551615TB"), "22023");
        for (text, wanted) in [
            ("of", "off"),
            ("o", "22023"),
            ("yes", "on"),
            ("T", "on"),
            ("n", "off"),
            ("2", "22023"),
            ("", "22023"),
        ] {
            assert_eq!(shown(ValueKind::Boolean, text), wanted, "{text}");
        }
        assert_eq!(shown(ValueKind::Choice(&["a b", "c"]), "A B"), "a b");
    }
}
