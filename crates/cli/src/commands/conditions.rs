//! Which part of a script runs: `\if`, `\elif`, `\else`, `\endif`.

use super::command::{Call, Command, Takes};
use crate::branches::truth;
use crate::complaint::Complaint;
use crate::shell::Next;

pub const COMMANDS: &[Command] = &[
    Command {
        names: &["\\if"],
        arguments: "TRUTH",
        help: "run what follows if TRUTH, often a variable, is true",
        takes: Takes::Words,
        run: |call| {
            let truth = match call.shell.branches.is_taken() {
                true => condition(call),
                false => Ok(false),
            };
            // What is neither true nor false does not run.
            let runs = *truth.as_ref().unwrap_or(&false);
            call.shell.branches.begin(runs, call.reader.pending());
            truth.map(|_| Next::More)
        },
    },
    Command {
        names: &["\\elif"],
        arguments: "TRUTH",
        help: "run what follows if TRUTH is true and nothing ran since \\if",
        takes: Takes::Words,
        run: |call| {
            let truth = match is_asked(call)? {
                true => condition(call),
                false => Ok(false),
            };
            let runs = *truth.as_ref().unwrap_or(&false);
            turn(call, runs, false)?;
            truth.map(|_| Next::More)
        },
    },
    Command {
        names: &["\\else"],
        arguments: "",
        help: "run what follows if nothing ran since \\if",
        takes: Takes::Words,
        run: |call| {
            let runs = is_asked(call)?;
            turn(call, runs, true)
        },
    },
    Command {
        names: &["\\endif"],
        arguments: "",
        help: "end \\if",
        takes: Takes::Words,
        run: |call| {
            if call.shell.branches.is_empty() {
                return Err(misplaced(call));
            }
            if let Some(pending) = call.shell.branches.end() {
                call.reader.set(&pending);
            }
            Ok(Next::More)
        },
    },
];

/// True if a command is one of these, which are heard in parts that do not run.
pub fn is_one(command: &Command) -> bool {
    COMMANDS.iter().any(|own| own.names == command.names)
}

fn condition(call: &Call<'_>) -> Result<bool, Complaint> {
    let text = call.rest.trim_matches('\'');
    truth(text).ok_or_else(|| call.wrong("true or false", &format!("\"{text}\"")))
}

/// True if the condition of another part counts.
fn is_asked(call: &Call<'_>) -> Result<bool, Complaint> {
    call.shell.branches.asks().ok_or_else(|| misplaced(call))
}

fn turn(call: &mut Call<'_>, runs: bool, is_else: bool) -> Result<Next, Complaint> {
    if let Some(pending) = call.shell.branches.turn(runs, is_else) {
        call.reader.set(&pending);
    }
    Ok(Next::More)
}

fn misplaced(call: &Call<'_>) -> Complaint {
    Complaint::usage(format!("{} stands without its \\if", call.name))
}
