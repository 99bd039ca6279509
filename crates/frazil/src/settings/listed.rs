//! The rows of `pg_settings`: each setting with its description, its range and the values that it had.
//!
//! `postgresql.txt` has PostgreSQL's descriptions, for the settings that both have. A line is a setting: its name,
//! unit, category, short and long description, context, and the words of a choice, with `|` between. Everything else
//! comes from the table of settings, so that the rows show what Frazil does.

use super::kind::{Read, ValueKind};
use super::setting::{Access, Setting};
use super::{Board, Origin, Settings, all};
use crate::session_view::ListedSetting;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A line of `postgresql.txt`.
struct Described {
    unit: Option<&'static str>,
    category: &'static str,
    short: &'static str,
    extra: Option<&'static str>,
    context: &'static str,
    words: Option<Vec<&'static str>>,
}

static DESCRIBED: LazyLock<BTreeMap<&'static str, Described>> = LazyLock::new(|| {
    include_str!("postgresql.txt")
        .lines()
        .filter_map(described)
        .collect()
});

fn described(line: &'static str) -> Option<(&'static str, Described)> {
    let given = |text: &'static str| Some(text).filter(|text| !text.is_empty());
    let mut parts = line.split('|');
    let name = parts.next()?;
    let described = Described {
        unit: given(parts.next()?),
        category: parts.next()?,
        short: parts.next()?,
        extra: given(parts.next()?),
        context: parts.next()?,
        words: given(parts.next()?).map(|words| words.split(',').collect()),
    };
    Some((name, described))
}

/// The category of the settings that PostgreSQL does not have.
const OWN: &str = "Frazil";

/// Settings that PostgreSQL keeps out of SHOW ALL and `pg_settings`.
const HIDDEN: [&str; 4] = [
    "default_with_oids",
    "is_superuser",
    "role",
    "session_authorization",
];

/// True for a setting that SHOW ALL and `pg_settings` show.
pub(crate) fn is_listed(setting: &Setting) -> bool {
    !HIDDEN.contains(&setting.name)
}

/// The settings of a session, in the order of their names without case.
pub(crate) fn listed(board: &Board) -> Vec<ListedSetting> {
    let (settings, start) = board.both_settings();
    let mut rows: Vec<ListedSetting> = all()
        .filter(|setting| is_listed(setting))
        .map(|setting| row(setting, board, &settings, &start))
        .collect();
    rows.sort_by_key(|row| row.name.to_lowercase());
    rows
}

fn row(setting: &'static Setting, board: &Board, settings: &Settings, start: &Settings) -> ListedSetting {
    let described = DESCRIBED.get(setting.name);
    let unit = described.map_or_else(|| setting.kind.unit(), |described| described.unit);
    let shown = |text: String| in_units(setting, unit, text);
    let value = board.text(setting.name).unwrap_or_default();
    let default = default(setting).unwrap_or_else(|| value.clone());
    let reset = match (start.origin(setting.name), &setting.access) {
        (_, Access::Transaction(_)) => value.clone(),
        (Some(_), _) => start.show(setting.name).unwrap_or_default(),
        (None, _) => default.clone(),
    };
    let context = match (&setting.access, described) {
        (Access::Shown(_) | Access::Constant(_), _) => "internal",
        // SET changes it at once, for all sessions.
        (Access::Database { .. }, _) => "superuser",
        (_, Some(described)) => described.context,
        (_, None) => "user",
    };
    let source = match (&setting.access, settings.origin(setting.name)) {
        (Access::Transaction(_), _) => "override",
        (_, Some(Origin::Client)) => "client",
        (_, Some(Origin::Session)) => "session",
        (Access::Database { .. }, None) if value != default => "configuration file",
        (_, None) => "default",
    };
    ListedSetting {
        name: setting.name,
        unit,
        category: described.map_or(OWN, |described| described.category),
        short: described.map_or(setting.about, |described| described.short),
        extra: described.and_then(|described| described.extra),
        context,
        kind: kind_name(setting, &value),
        source,
        range: range(setting, unit, &value),
        words: words(setting, described),
        value: shown(value),
        default: shown(default),
        reset: shown(reset),
    }
}

/// The default as SHOW gives it; `None` for a setting that only shows something.
fn default(setting: &Setting) -> Option<String> {
    match &setting.access {
        Access::Session { show, .. } => Some(show(&Settings::default())),
        Access::Kept { default, .. } => Some((*default).to_owned()),
        Access::Database { default, .. } => Some(default()),
        Access::Constant(value) => Some((*value).to_owned()),
        Access::Transaction(_) | Access::Shown(_) => None,
    }
}

impl ValueKind {
    /// The unit of a setting that PostgreSQL does not have.
    fn unit(self) -> Option<&'static str> {
        match self {
            ValueKind::Time | ValueKind::TimeOrOff => Some("ms"),
            ValueKind::Size | ValueKind::SizeOrOff | ValueKind::Units(..) => Some("B"),
            ValueKind::Boolean
            | ValueKind::Integer(..)
            | ValueKind::Real(..)
            | ValueKind::Choice(_)
            | ValueKind::Text
            | ValueKind::List
            | ValueKind::Names => None,
        }
    }
}

/// Milliseconds or bytes of a unit.
fn unit_size(unit: &str) -> u64 {
    match unit {
        "s" => 1000,
        "kB" => 1 << 10,
        "8kB" => 8 << 10,
        "MB" => 1 << 20,
        _ => 1,
    }
}

/// A value as a number of units, if it is a time or a size that is a whole number of them; else as SHOW gives it.
fn in_units(setting: &Setting, unit: Option<&str>, text: String) -> String {
    let amount = match (unit, setting.kind.read(setting.name, &text)) {
        (Some(_), Ok(Read::Time(time))) => u64::try_from(time.as_millis()).ok(),
        (Some(_), Ok(Read::Size(bytes))) => Some(bytes),
        _ => None,
    };
    let size = unit.map_or(1, unit_size);
    match amount {
        Some(amount) if amount.is_multiple_of(size) => (amount / size).to_string(),
        _ => text,
    }
}

/// PostgreSQL's name of the kind of values.
fn kind_name(setting: &Setting, value: &str) -> &'static str {
    match (setting.kind, &setting.access) {
        (ValueKind::Boolean, _) => "bool",
        (ValueKind::Choice(_), _) if is_text(setting) => "string",
        (ValueKind::Choice(_), _) => "enum",
        (ValueKind::Real(..), _) => "real",
        (
            ValueKind::Integer(..)
            | ValueKind::Time
            | ValueKind::TimeOrOff
            | ValueKind::Size
            | ValueKind::SizeOrOff
            | ValueKind::Units(..),
            _,
        ) => "integer",
        // Constants have no kind of their own.
        (ValueKind::Text, Access::Constant(_)) if value.parse::<i64>().is_ok() => "integer",
        (ValueKind::Text, Access::Constant(_)) if matches!(value, "on" | "off") => "bool",
        (ValueKind::Text | ValueKind::List | ValueKind::Names, _) => "string",
    }
}

/// True for a choice that PostgreSQL takes for a text, because only Frazil has one word for it.
fn is_text(setting: &Setting) -> bool {
    let has_words = |described: &Described| described.words.is_some();
    DESCRIBED
        .get(setting.name)
        .is_some_and(|described| !has_words(described))
}

fn words(setting: &Setting, described: Option<&Described>) -> Option<Vec<&'static str>> {
    match (setting.kind, described) {
        (ValueKind::Choice(_), Some(described)) => described.words.clone(),
        (ValueKind::Choice(words), None) => Some(words.to_vec()),
        _ => None,
    }
}

/// The greatest number of units that an integer of PostgreSQL holds.
const MOST: u64 = i32::MAX as u64;

fn range(setting: &Setting, unit: Option<&str>, value: &str) -> Option<(String, String)> {
    let texts = |least: String, most: String| Some((least, most));
    match (setting.kind, &setting.access) {
        (ValueKind::Integer(least, most), _) => texts(least.to_string(), most.to_string()),
        (ValueKind::Real(least, most), _) => texts(real(least), real(most)),
        (ValueKind::Time | ValueKind::TimeOrOff, _) => {
            let most = MOST / unit.map_or(1, unit_size);
            texts("0".to_owned(), most.to_string())
        }
        (ValueKind::Units(least, _), _) => texts(least.to_string(), MOST.to_string()),
        (ValueKind::Size | ValueKind::SizeOrOff, _) => {
            let most = i64::MAX as u64 / unit.map_or(1, unit_size);
            texts("0".to_owned(), most.to_string())
        }
        (ValueKind::Text, Access::Constant(_)) if value.parse::<i64>().is_ok() => {
            texts(value.to_owned(), value.to_owned())
        }
        (
            ValueKind::Boolean | ValueKind::Choice(_) | ValueKind::Text | ValueKind::List | ValueKind::Names,
            _,
        ) => None,
    }
}

/// A number with six digits, as C's `%g` has it.
fn real(x: f64) -> String {
    match x == f64::MAX {
        true => "1.79769e+308".to_owned(),
        false => x.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::find;

    #[test]
    fn every_line_describes_a_setting() {
        let lines = include_str!("postgresql.txt").lines().count();
        assert_eq!(DESCRIBED.len(), lines);
        for (name, described) in &*DESCRIBED {
            let setting = find(name).unwrap_or_else(|| panic!("no setting {name}"));
            assert_eq!(setting.name, *name);
            for word in described.words.iter().flatten() {
                assert!(setting.kind.read(name, word).is_ok(), "{name} = {word}");
            }
        }
        for name in HIDDEN {
            assert!(find(name).is_some());
        }
    }
}
