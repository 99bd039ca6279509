//! A part of a script in which no command runs but the one that ends it. pg_dump puts its output between `\restrict`
//! and `\unrestrict`, so that no data of a dump is taken for a command.

use super::command::{Call, Command, Takes};
use crate::complaint::Complaint;
use crate::shell::Next;

/// The name of the command that is heard in the restricted part.
const END: &str = "\\unrestrict";

pub const COMMANDS: &[Command] = &[
    Command {
        names: &["\\restrict"],
        arguments: "KEY",
        help: "run no command until \\unrestrict with the same key",
        takes: Takes::Words,
        run: |call| {
            let key = call.needed("a key")?;
            call.shell.restricted_by = Some(key);
            Ok(Next::More)
        },
    },
    Command {
        names: &[END],
        arguments: "KEY",
        help: "end \\restrict",
        takes: Takes::Words,
        run: |call| {
            let key = call.needed("a key")?;
            match &call.shell.restricted_by {
                None => Err(Complaint::usage(format!("{END} stands without its \\restrict"))),
                Some(wanted) if *wanted != key => Err(Complaint::usage(format!("{END}: wrong key"))),
                Some(_) => {
                    call.shell.restricted_by = None;
                    Ok(Next::More)
                }
            }
        },
    },
];

/// Refuses a command in the restricted part, unless it is the one that ends it.
pub fn check(call: &Call<'_>) -> Result<(), Complaint> {
    match call.shell.restricted_by.is_some() && call.name != END {
        true => Err(Complaint::usage(format!(
            "{} is not allowed between \\restrict and \\unrestrict",
            call.name
        ))),
        false => Ok(()),
    }
}
