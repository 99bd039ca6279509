//! Commands of the shell itself: a backslash or a dot at the start of a line.

use crate::output::Mode;
use clap::ValueEnum;
use frazil::{Error, SqlState};
use std::path::PathBuf;

/// A command of the shell.
#[derive(Debug, PartialEq)]
pub enum MetaCommand {
    /// List tables, views or both.
    List(Listed),
    /// Columns of one table or view.
    Describe(String),
    /// CREATE statement of one table or view, or of all.
    Schema(Option<String>),
    /// Times on or off; the other way round if not said.
    Timing(Option<bool>),
    /// Expanded display on or off.
    Expanded(Option<bool>),
    /// Format of results.
    Mode(Mode),
    /// Most rows shown; 0 for all.
    MaxRows(usize),
    /// Run a file.
    Read(PathBuf),
    /// What commands there are.
    Help,
    /// Leave.
    Quit,
}

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Tables and views.
    All,
    /// Tables.
    Tables,
    /// Views.
    Views,
}

/// Help on the commands.
pub const HELP: &str = "\
\\d  .tables                 list tables and views
\\dt  \\dv                    list tables, list views
\\d NAME                     columns of a table or view
.schema [NAME]              CREATE statements of tables and views
\\timing [on|off]  .timer    show times
\\x [on|off]                 one line a value
.mode box|csv|json|markdown format of results
.maxrows N                  most rows shown in a box; 0 for all
\\i FILE  .read FILE         run a file
\\q  .quit  .exit            leave
Statements end with a semicolon. Ctrl-C cancels a query, Ctrl-D leaves.
";

/// Whether a line is meant for the shell.
pub fn is_meta(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('\\') || (line.starts_with('.') && line[1..].starts_with(|c: char| c.is_alphabetic()))
}

/// Reads a command.
pub fn parse(line: &str) -> Result<MetaCommand, Error> {
    let line = line.trim().trim_end_matches(';').trim_end();
    let (name, argument) = match line.split_once(char::is_whitespace) {
        Some((name, argument)) => (name, Some(argument.trim()).filter(|a| !a.is_empty())),
        None => (line, None),
    };
    Ok(match (name, argument) {
        ("\\d" | ".tables", None) => MetaCommand::List(Listed::All),
        ("\\dt", None) => MetaCommand::List(Listed::Tables),
        ("\\dv" | ".views", None) => MetaCommand::List(Listed::Views),
        ("\\d", Some(table)) => MetaCommand::Describe(folded(table)),
        (".schema", table) => MetaCommand::Schema(table.map(folded)),
        ("\\timing" | ".timer", to) => MetaCommand::Timing(switch(name, to)?),
        ("\\x", to) => MetaCommand::Expanded(switch(name, to)?),
        (".mode", Some(mode)) => MetaCommand::Mode(parse_mode(mode)?),
        (".maxrows", Some(rows)) => {
            MetaCommand::MaxRows(rows.parse().map_err(|_| wrong(name, "a number of rows", rows))?)
        }
        ("\\i" | ".read", Some(path)) => MetaCommand::Read(PathBuf::from(path.trim_matches('\''))),
        ("\\?" | "\\h" | ".help", _) => MetaCommand::Help,
        ("\\q" | ".quit" | ".exit", _) => MetaCommand::Quit,
        ("\\i" | ".read" | ".mode" | ".maxrows", None) => return Err(wrong(name, "an argument", "none")),
        _ => {
            return Err(
                Error::new(SqlState::SYNTAX_ERROR, format!("unknown command {name}"))
                    .with_hint("\\? lists the commands"),
            );
        }
    })
}

fn folded(name: &str) -> String {
    match name.strip_prefix('"').and_then(|n| n.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => name.to_lowercase(),
    }
}

fn switch(name: &str, argument: Option<&str>) -> Result<Option<bool>, Error> {
    match argument {
        None => Ok(None),
        Some("on") => Ok(Some(true)),
        Some("off") => Ok(Some(false)),
        Some(other) => Err(wrong(name, "on or off", other)),
    }
}

fn parse_mode(text: &str) -> Result<Mode, Error> {
    Mode::from_str(text, true).map_err(|_| wrong(".mode", "box, csv, json or markdown", text))
}

fn wrong(name: &str, wanted: &str, got: &str) -> Error {
    Error::new(
        SqlState::INVALID_PARAMETER,
        format!("{name} takes {wanted}, not {got}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_dialects_are_understood() {
        let same = |a: &str, b: &str| assert_eq!(parse(a).ok(), parse(b).ok());
        same("\\d", ".tables");
        same("\\dv", ".views");
        same("\\timing on", ".timer on");
        same("\\i a b.sql", ".read a b.sql");
        same("\\q", ".exit");
        assert_eq!(parse("\\d T;").ok(), Some(MetaCommand::Describe("t".into())));
        assert!(parse("\\timing maybe").is_err() && parse(".nothing").is_err());
        assert!(is_meta(".tables") && is_meta(" \\d") && !is_meta(".5 + 1") && !is_meta("select 1"));
    }
}
