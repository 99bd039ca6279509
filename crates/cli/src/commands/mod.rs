//! Commands of the shell: a backslash, as psql's users type, or a dot, as sqlite3's do. A command is a line of a table.

mod crosstab;
mod describe;
mod files;
mod general;
mod looks;
mod objects;
mod statements;
mod variables;

use crate::complaint::Complaint;
use crate::shell::Shell;
use crate::text::{StatementReader, split};
use frazil::{Error, SqlState};

/// Whether to go on reading.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Read on.
    More,
    /// Leave the shell.
    Leave,
}

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

/// All commands: a title and its commands.
pub const GROUPS: &[(&str, &[Command])] = &[
    ("General", general::COMMANDS),
    ("Statements", statements::COMMANDS),
    ("Files", files::COMMANDS),
    ("Tables, views, functions", objects::COMMANDS),
    ("How results look", looks::COMMANDS),
    ("Variables", variables::COMMANDS),
];

/// The words of switches.
const SWITCH: Takes = Takes::OneOf(&["on", "off"]);

/// Every command.
pub fn all() -> impl Iterator<Item = &'static Command> {
    GROUPS.iter().flat_map(|group| group.1)
}

/// The command of a name.
pub fn named(name: &str) -> Option<&'static Command> {
    all().find(|command| command.names.contains(&name))
}

/// Runs a line that begins with a command, and the commands that follow on the line behind a backslash.
pub fn run(shell: &mut Shell, reader: &mut StatementReader, line: &str) -> Result<Next, Complaint> {
    let mut line = line.to_owned();
    loop {
        let (name, behind) = line.split_at(line.find(char::is_whitespace).unwrap_or(line.len()));
        let name = name.trim_end_matches(';');
        let command = named(name).ok_or_else(|| unknown(name))?;
        let is_whole = command.takes == Takes::Line || name.starts_with('.');
        let (rest, next) = match is_whole {
            true => (behind, ""),
            false => behind.split_at(next_command(behind)),
        };
        let rest = match command.takes {
            Takes::Line => rest.trim().to_owned(),
            _ => shell
                .variables
                .expand(rest.trim().trim_end_matches(';').trim_end()),
        };
        let mut call = Call {
            shell,
            reader,
            name,
            rest,
        };
        if (command.run)(&mut call)? == Next::Leave {
            return Ok(Next::Leave);
        }
        match next {
            "" => return Ok(Next::More),
            next => line = next.to_owned(),
        }
    }
}

/// Where the next command begins: at a backslash behind a blank, outside of quotes.
fn next_command(text: &str) -> usize {
    let mut quote = None;
    let mut was_blank = true;
    for (at, c) in text.char_indices() {
        match quote {
            None if c == '\\' && was_blank => return at,
            None => quote = Some(c).filter(|c| matches!(c, '\'' | '"')),
            Some(q) if q == c => quote = None,
            Some(_) => {}
        }
        was_blank = c.is_whitespace();
    }
    text.len()
}

fn unknown(name: &str) -> Complaint {
    let error = Error::new(SqlState::SYNTAX_ERROR, format!("unknown command {name}"));
    Complaint::from(error.with_hint("\\? lists the commands"))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lines_of_help_short() {
        let mut names: Vec<&str> = all().flat_map(|c| c.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(all().all(|c| !c.help.is_empty() && c.help.len() <= 70));
    }

    #[test]
    fn commands_follow_each_other_on_a_line() {
        assert_eq!(next_command(" on \\t"), 4);
        assert_eq!(next_command(" 'a \\t' a\\b"), " 'a \\t' a\\b".len());
    }
}
