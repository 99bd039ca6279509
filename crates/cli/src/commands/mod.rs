//! Commands of the shell: a backslash, as psql's users type, or a dot, as sqlite3's do. A command is a line of a table.

mod command;
mod conditions;
mod crosstab;
mod describe;
mod files;
mod general;
mod looks;
mod objects;
mod restriction;
mod statements;
mod variables;

use crate::complaint::Complaint;
use crate::shell::{Next, Shell};
use crate::text::StatementReader;

use command::{Call, unknown};
pub use command::{Command, Takes};

/// All commands: a title and its commands.
pub const GROUPS: &[(&str, &[Command])] = &[
    ("General", general::COMMANDS),
    ("Statements", statements::COMMANDS),
    ("Files", files::COMMANDS),
    ("Tables, views, functions", objects::COMMANDS),
    ("How results look", looks::COMMANDS),
    ("Variables", variables::COMMANDS),
    ("Conditions", conditions::COMMANDS),
    ("Dumps", restriction::COMMANDS),
];

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
        let command = match named(name) {
            // What does not run need not be known.
            found if !shell.branches.is_taken() && !found.is_some_and(conditions::is_one) => {
                return Ok(Next::More);
            }
            Some(command) => command,
            None => return Err(unknown(name)),
        };
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
        restriction::check(&call)?;
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
