//! Variables.

use super::command::{Call, Command, Takes};
use crate::complaint::Complaint;
use crate::shell::Next;

pub const COMMANDS: &[Command] = &[
    Command {
        names: &["\\set"],
        arguments: "[NAME [VALUE]]",
        help: "set a variable; :NAME, :'NAME' and :\"NAME\" insert it",
        takes: Takes::Words,
        run: set,
    },
    Command {
        names: &["\\unset"],
        arguments: "NAME",
        help: "remove a variable",
        takes: Takes::Words,
        run: |call| {
            let name = call.needed("a name")?;
            call.shell.variables.unset(&name);
            Ok(Next::More)
        },
    },
];

fn set(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let words = call.words();
    let Some((name, values)) = words.split_first() else {
        let lines: Vec<String> = (call.shell.variables.iter())
            .map(|(name, value)| format!("{name} = '{value}'"))
            .collect();
        if !lines.is_empty() {
            call.shell.output.line(&lines.join("\n"))?;
        }
        return Ok(Next::More);
    };
    let fits = |c: char| c.is_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(fits) {
        return Err(call.wrong("a name of letters, digits and _", name));
    }
    let value = values.concat();
    if name == "ON_ERROR_STOP" {
        call.shell.bail = !matches!(value.as_str(), "off" | "0" | "false");
    }
    call.shell.variables.set(name, value);
    Ok(Next::More)
}
