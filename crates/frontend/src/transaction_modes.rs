//! The modes of transactions.

use std::fmt;
use std::str::FromStr;

/// Isolation levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// The same as [`Isolation::ReadCommitted`].
    ReadUncommitted,
    /// Each statement sees what is committed when it begins.
    #[default]
    ReadCommitted,
    /// All statements see what was committed before the first. A change of a row that others have changed since is
    /// refused.
    RepeatableRead,
    /// [`Isolation::RepeatableRead`] for a transaction that writes alone, before which nobody wrote: that is
    /// serializable.
    Serializable,
}

const NAMES: [(&str, Isolation); 4] = [
    ("read uncommitted", Isolation::ReadUncommitted),
    ("read committed", Isolation::ReadCommitted),
    ("repeatable read", Isolation::RepeatableRead),
    ("serializable", Isolation::Serializable),
];

impl Isolation {
    /// True if all statements of a transaction see one version of the database.
    pub fn keeps_snapshot(self) -> bool {
        matches!(self, Isolation::RepeatableRead | Isolation::Serializable)
    }
}

impl FromStr for Isolation {
    type Err = String;

    fn from_str(text: &str) -> Result<Isolation, String> {
        let found = NAMES.iter().find(|name| name.0 == text);
        found.map(|name| name.1).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|name| name.0).collect();
            format!("there is no isolation level \"{text}\", but {}", names.join(", "))
        })
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES
            .iter()
            .find(|name| name.1 == *self)
            .map_or("", |name| name.0);
        f.write_str(name)
    }
}

/// Modes that a statement gives; `None`: those there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionModes {
    /// ISOLATION LEVEL.
    pub isolation: Option<Isolation>,
    /// True for READ ONLY.
    pub read_only: Option<bool>,
}
