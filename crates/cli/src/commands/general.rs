//! Leaving, help, other programs, times.

use super::command::{Call, Command, SWITCH, Takes};
use super::{GROUPS, named};
use crate::complaint::Complaint;
use crate::interrupt;
use crate::remote::{self, Address};
use crate::shell::Next;
use frazil::Access;
use std::path::PathBuf;

pub const COMMANDS: &[Command] = &[
    Command {
        names: &["\\q", ".quit", ".exit"],
        arguments: "",
        help: "leave",
        takes: Takes::Words,
        run: |_| Ok(Next::Leave),
    },
    Command {
        names: &["\\?", ".help", "\\h", "\\help"],
        arguments: "[COMMAND]",
        help: "the commands, or one of them",
        takes: Takes::Words,
        run: help,
    },
    Command {
        names: &["\\timing", ".timer"],
        arguments: "[on|off]",
        help: "show the time that statements take",
        takes: SWITCH,
        run: |call| {
            call.shell.timing = call.switch(call.shell.timing)?;
            Ok(Next::More)
        },
    },
    Command {
        names: &[".stats"],
        arguments: "[on|off]",
        help: "show the rows of statements and the memory of the program",
        takes: SWITCH,
        run: |call| {
            call.shell.stats = call.switch(call.shell.stats)?;
            Ok(Next::More)
        },
    },
    Command {
        names: &[".bail"],
        arguments: "[on|off]",
        help: "end a script at its first error",
        takes: SWITCH,
        run: |call| {
            call.shell.bail = call.switch(call.shell.bail)?;
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\echo", "\\qecho", ".print"],
        arguments: "[TEXT]",
        help: "write a text to the output",
        takes: Takes::Words,
        run: |call| {
            let text = call.words().join(" ");
            call.shell.output.line(&text)?;
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\warn"],
        arguments: "[TEXT]",
        help: "write a text to standard error",
        takes: Takes::Words,
        run: |call| {
            eprintln!("{}", call.words().join(" "));
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\!", ".shell", ".system"],
        arguments: "[COMMAND]",
        help: "run a command of the operating system, or its shell",
        takes: Takes::Line,
        run: run_program,
    },
    Command {
        names: &["\\cd", ".cd"],
        arguments: "[DIRECTORY]",
        help: "change the working directory",
        takes: Takes::File,
        run: change_directory,
    },
    Command {
        names: &["\\c", "\\connect"],
        arguments: "[DIRECTORY|FILE|URL]",
        help: "open another database, or reconnect to this one",
        takes: Takes::File,
        run: connect,
    },
    Command {
        names: &[".open"],
        arguments: "[--readonly] [PATH …|URL]",
        help: "open another database; without a name, one in memory",
        takes: Takes::File,
        run: |call| {
            let mut access = Access::Write;
            let mut paths = Vec::new();
            for word in call.words() {
                match word.as_str() {
                    "--readonly" | "-readonly" => access = Access::Read,
                    option if option.starts_with('-') => return Err(call.wrong("--readonly", option)),
                    ":memory:" => {}
                    path => paths.push(PathBuf::from(path)),
                }
            }
            open(call, &paths, access)
        },
    },
    Command {
        names: &["\\conninfo"],
        arguments: "",
        help: "show which database is open",
        takes: Takes::Words,
        run: |call| {
            let place = &call.shell.place;
            let text = match (&place.server, &place.directory) {
                (Some(server), _) => format!(
                    "The database is \"{}\" on the server {}, as role \"{}\".",
                    server.database,
                    server.place(),
                    server.user
                ),
                (None, Some(directory)) => format!("The database is the directory {}.", directory.display()),
                (None, None) => "The database is in memory.".to_owned(),
            };
            call.shell.output.line(&text)?;
            Ok(Next::More)
        },
    },
];

/// Opens another database, or this one again. On a server the words are psql's: database, role, host and port.
fn connect(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let words = call.words();
    let is_place = matches!(&words[..], [word] if remote::is_url(word) || word.contains('/'));
    if let Some(server) = call.shell.place.server.clone().filter(|_| !is_place) {
        call.shell.connect(&server.changed(&words)?)?;
        return Ok(Next::More);
    }
    let paths = match (call.one()?, &call.shell.place.directory) {
        (Some(path), _) => vec![PathBuf::from(path)],
        (None, Some(directory)) => vec![directory.clone()],
        // A database in memory is gone with its last connection.
        (None, None) => {
            call.shell.reconnect()?;
            return Ok(Next::More);
        }
    };
    let access = call.shell.place.access;
    open(call, &paths, access)
}

/// Opens another database, and says what it is.
fn open(call: &mut Call<'_>, paths: &[PathBuf], access: Access) -> Result<Next, Complaint> {
    if let [path] = paths
        && let Some(url) = path.to_str().filter(|path| remote::is_url(path))
    {
        call.shell.connect(&Address::of_environment(url)?)?;
        return Ok(Next::More);
    }
    call.shell.switch(paths, access)?;
    if let (true, Some(text)) = (call.shell.tells_opened, call.shell.place.told()) {
        println!("{text}");
    }
    Ok(Next::More)
}

fn help(call: &mut Call<'_>) -> Result<Next, Complaint> {
    if let Some(name) = call.one()? {
        let found = [format!("\\{name}"), format!(".{name}"), name.clone()];
        let command = found.iter().find_map(|name| named(name));
        let command = command.ok_or_else(|| super::command::unknown(&name))?;
        call.shell.output.line(&line(command))?;
        return Ok(Next::More);
    }
    call.shell.output.write(|out| {
        for (i, (title, commands)) in GROUPS.iter().enumerate() {
            writeln!(out, "{}{title}", if i > 0 { "\n" } else { "" })?;
            (commands.iter()).try_for_each(|command| writeln!(out, "  {}", line(command)))?;
        }
        writeln!(
            out,
            "\nStatements end with a semicolon. Tab completes, Ctrl-R searches, Ctrl-C cancels, Ctrl-D leaves."
        )
    })?;
    Ok(Next::More)
}

/// Characters of the longest call, two blanks behind it.
const CALL_WIDTH: usize = 40;

fn line(command: &Command) -> String {
    let call = format!("{} {}", command.names.join(" "), command.arguments);
    format!("{call:<CALL_WIDTH$}{}", command.help)
}

fn run_program(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let mut program = std::process::Command::new("sh");
    if !call.rest.is_empty() {
        program.arg("-c").arg(&call.rest);
    }
    let status = interrupt::waiting(|| program.status())?;
    match status.success() {
        true => Ok(Next::More),
        false => Err(Complaint::usage(format!("the command ended with {status}"))),
    }
}

fn change_directory(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let home = || std::env::var("HOME").unwrap_or_else(|_| "/".to_owned());
    let directory = call.one()?.unwrap_or_else(home);
    std::env::set_current_dir(&directory)
        .map_err(|e| Complaint::usage(format!("cannot work in {directory}: {e}")))?;
    Ok(Next::More)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_does_stands_apart_from_its_call() {
        for command in super::super::all() {
            let line = line(command);
            let call = line.strip_suffix(command.help).expect("the help ends the line");
            assert!(
                call.chars().count() == CALL_WIDTH && call.ends_with("  "),
                "{line}"
            );
        }
    }
}
