//! A setting as data: its name, the values it takes, who can set it, and what SHOW gives.

use super::kind::{Read, ValueKind, takes_one};
use super::{Board, Settings};
use crate::database::Database;
use frazil_types::{Error, Result, SqlState};

/// One setting: a row of the table in [`super::all`].
#[derive(Clone, Copy)]
pub struct Setting {
    /// Name of the setting, as SHOW ALL gives it. Names are compared without case.
    pub name: &'static str,
    /// The values that it takes.
    pub kind: ValueKind,
    /// A sentence for SHOW ALL.
    pub about: &'static str,
    /// True if the server tells its clients each new value.
    pub is_reported: bool,
    pub(super) access: Access,
}

/// The place of a setting's value.
#[derive(Clone, Copy)]
pub(super) enum Access {
    /// A field of [`Settings`].
    Session {
        set: fn(&mut Settings, Read) -> Result<()>,
        show: fn(&Settings) -> String,
    },
    /// A text in [`Settings`] that SHOW gives.
    Kept {
        default: &'static str,
        /// The values that are supported; with an empty list all are.
        only: &'static [&'static str],
        /// Does what else the value means; nothing for a setting that changes no answer.
        apply: fn(&mut Settings, &Read) -> Result<()>,
    },
    /// The database: all connections share the value, at once and also after a ROLLBACK.
    Database {
        /// `None`: the default.
        set: fn(&Database, Option<Read>),
        show: fn(&Board) -> String,
        /// The text of the default.
        default: fn() -> String,
    },
    /// The mode of the open transaction.
    Transaction(fn(&Board) -> String),
    /// The session; it cannot be set.
    Shown(fn(&Board) -> String),
    /// A text that cannot be set.
    Constant(&'static str),
}

/// Sets a database's setting, shows it, and gives the text of its default.
type DatabaseDoors = (fn(&Database, Option<Read>), fn(&Board) -> String, fn() -> String);

impl Setting {
    pub(super) const fn session(
        name: &'static str,
        kind: ValueKind,
        set: fn(&mut Settings, Read) -> Result<()>,
        show: fn(&Settings) -> String,
        about: &'static str,
    ) -> Setting {
        Setting {
            name,
            kind,
            about,
            is_reported: false,
            access: Access::Session { set, show },
        }
    }

    pub(super) const fn kept(
        name: &'static str,
        kind: ValueKind,
        default: &'static str,
        about: &'static str,
    ) -> Setting {
        Setting {
            name,
            kind,
            about,
            is_reported: false,
            access: Access::Kept {
                default,
                only: &[],
                apply: |_, _| Ok(()),
            },
        }
    }

    /// Refuses all values but these with 0A000.
    pub(super) const fn only(self, only: &'static [&'static str]) -> Setting {
        let access = match self.access {
            Access::Kept { default, apply, .. } => Access::Kept { default, only, apply },
            _ => panic!("only kept settings have values that are refused"),
        };
        Setting { access, ..self }
    }

    /// Does something with each new value.
    pub(super) const fn applied(self, apply: fn(&mut Settings, &Read) -> Result<()>) -> Setting {
        let access = match self.access {
            Access::Kept { default, only, .. } => Access::Kept { default, only, apply },
            _ => panic!("only kept settings are applied"),
        };
        Setting { access, ..self }
    }

    pub(super) const fn database(
        name: &'static str,
        kind: ValueKind,
        (set, show, default): DatabaseDoors,
        about: &'static str,
    ) -> Setting {
        Setting {
            name,
            kind,
            about,
            is_reported: false,
            access: Access::Database { set, show, default },
        }
    }

    pub(super) const fn constant(name: &'static str, value: &'static str, about: &'static str) -> Setting {
        Setting {
            name,
            kind: ValueKind::Text,
            about,
            is_reported: false,
            access: Access::Constant(value),
        }
    }

    pub(super) const fn shown(
        name: &'static str,
        show: fn(&Board) -> String,
        about: &'static str,
    ) -> Setting {
        Setting {
            name,
            kind: ValueKind::Text,
            about,
            is_reported: false,
            access: Access::Shown(show),
        }
    }

    pub(super) const fn of_transaction(
        name: &'static str,
        kind: ValueKind,
        show: fn(&Board) -> String,
        about: &'static str,
    ) -> Setting {
        Setting {
            name,
            kind,
            about,
            is_reported: false,
            access: Access::Transaction(show),
        }
    }

    /// The same, told to clients.
    pub(super) const fn reported(self) -> Setting {
        Setting {
            is_reported: true,
            ..self
        }
    }

    /// True if all connections share the value.
    pub fn is_of_database(&self) -> bool {
        matches!(self.access, Access::Database { .. })
    }

    /// True if the value is a mode of the open transaction.
    pub fn is_of_transaction(&self) -> bool {
        matches!(self.access, Access::Transaction(_))
    }

    /// The text of several values, as SET takes them. 22023 unless the setting is a list.
    pub fn joined(&self, values: &[String]) -> Result<String> {
        match (self.kind, values) {
            (ValueKind::Names, names) => {
                let names = names.iter().map(|name| frazil_catalog::identifier(name));
                Ok(names.collect::<Vec<_>>().join(", "))
            }
            (_, [value]) => Ok(value.clone()),
            (ValueKind::List, values) => Ok(values.join(", ")),
            _ => Err(takes_one(self.name)),
        }
    }

    /// Changes a setting of the database, `None` to its default. 22023.
    pub fn set_in(&self, database: &Database, value: Option<&str>) -> Result<()> {
        let Access::Database { set, .. } = self.access else {
            return Err(Error::internal(format!("{} is not of the database", self.name)));
        };
        let read = value.map(|text| self.kind.read(self.name, text)).transpose()?;
        set(database, read);
        Ok(())
    }

    /// 55P02.
    pub(super) fn cannot_change(&self) -> Error {
        let message = format!("parameter \"{}\" cannot be changed", self.name);
        Error::new(SqlState::CANT_CHANGE_PARAMETER, message)
    }
}
