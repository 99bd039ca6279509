//! What a command is, and a call of one.

use crate::complaint::Complaint;
use crate::shell::{Next, Shell};
use crate::text::{StatementReader, split};
use frazil::{Error, SqlState};

/// A command.
pub struct Command {
    /// Its names.
    pub names: &'static [&'static str],
    /// Its arguments, for people.
    pub arguments: &'static str,
    /// What it does.
    pub help: &'static str,
    /// What is completed behind it, and how its arguments end.
    pub takes: Takes,
    /// Does it.
    pub run: fn(&mut Call<'_>) -> Result<Next, Complaint>,
}

/// What a command's arguments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// None, or words that nobody can guess.
    Words,
    /// Names of tables and views.
    Relations,
    /// A file.
    File,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A mode.
    Mode,
    /// The rest of the line, as it is.
    Line,
}

/// A command that is being run.
pub struct Call<'a> {
    /// The shell.
    pub shell: &'a mut Shell,
    /// What the command was read from; a beginning of a statement may be pending in it.
    pub reader: &'a mut StatementReader,
    /// The name that was typed.
    pub name: &'a str,
    /// What stands behind the name.
    pub rest: String,
}

/// The words of switches.
pub const SWITCH: Takes = Takes::OneOf(&["on", "off"]);

impl Call<'_> {
    /// The arguments.
    pub fn words(&self) -> Vec<String> {
        split(&self.rest)
    }

    /// The only argument, if there is one; 22023 for more.
    pub fn one(&self) -> Result<Option<String>, Complaint> {
        let mut words = self.words();
        match words.len() {
            0 | 1 => Ok(words.pop()),
            several => Err(self.wrong("one argument", &format!("{several} of them"))),
        }
    }

    /// The only argument; 22023 if there is none.
    pub fn needed(&self, what: &str) -> Result<String, Complaint> {
        self.one()?.ok_or_else(|| self.wrong(what, "nothing"))
    }

    /// `on` or `off`; without an argument the other of what was.
    pub fn switch(&self, was: bool) -> Result<bool, Complaint> {
        match self.one()?.as_deref() {
            None => Ok(!was),
            Some("on" | "yes" | "true" | "1") => Ok(true),
            Some("off" | "no" | "false" | "0") => Ok(false),
            Some(other) => Err(self.wrong("on or off", other)),
        }
    }

    /// Says that the command takes something else.
    pub fn wrong(&self, wanted: &str, got: &str) -> Complaint {
        Complaint::usage(format!("{} takes {wanted}, not {got}", self.name))
    }
}

/// 42601 for a command that there is not.
pub fn unknown(name: &str) -> Complaint {
    let error = Error::new(SqlState::SYNTAX_ERROR, format!("unknown command {name}"));
    Complaint::from(error.with_hint("\\? lists the commands"))
}
