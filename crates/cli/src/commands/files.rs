//! Reading files, and sending results to them.

use super::command::{Call, Command, Takes};
use crate::backend::RelationKind;
use crate::complaint::Complaint;
use crate::dump::{self, Form, RowForm};
use crate::shell::Next;
use crate::target::Target;
use crate::text::unquoted;
use frazil::{Error, SqlState};
use std::path::Path;

pub const COMMANDS: &[Command] = &[
    Command {
        names: &["\\i", ".read"],
        arguments: "FILE",
        help: "run the statements of a file",
        takes: Takes::File,
        run: |call| {
            let path = call.needed("a file")?;
            call.shell.run_file(Path::new(&path))
        },
    },
    Command {
        names: &["\\o", ".output"],
        arguments: "[FILE | |COMMAND]",
        help: "send results to a file or a command; without one, here",
        takes: Takes::File,
        run: |call| {
            let target = target(call)?;
            call.shell.output.redirect(target);
            Ok(Next::More)
        },
    },
    Command {
        names: &[".once"],
        arguments: "FILE | |COMMAND",
        help: "send the next result to a file or a command",
        takes: Takes::File,
        run: |call| {
            let target = target(call)?;
            call.shell.output.redirect_once(target);
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\copy"],
        arguments: "TABLE from|to 'FILE' [options]",
        help: "COPY with a file; the words are COPY's",
        takes: Takes::Line,
        run: |call| {
            let words = call.rest.trim_end_matches(';').to_owned();
            call.shell.run_copy_words(&words)?;
            Ok(Next::More)
        },
    },
    Command {
        names: &[".import"],
        arguments: "[--csv] [--skip 1] FILE TABLE",
        help: "load a file in the mode's format into a table, created if need be",
        takes: Takes::File,
        run: import,
    },
    Command {
        names: &[".dump"],
        arguments: "[--inserts] [TABLE …]",
        help: "write tables and views as SQL that re-creates them",
        takes: Takes::Relations,
        run: |call| {
            let is_option = |word: &String| word == "--inserts";
            let (options, names): (Vec<_>, Vec<_>) = call.words().into_iter().partition(is_option);
            let form = match options.is_empty() {
                true => RowForm::Copy,
                false => RowForm::Inserts,
            };
            let names: Vec<String> = names.iter().map(|name| unquoted(name)).collect();
            dump::write(call.shell, &names, Form::whole(form))?;
            Ok(Next::More)
        },
    },
];

fn target(call: &Call<'_>) -> Result<Target, Complaint> {
    let name = match call.rest.starts_with('|') {
        true => Some(call.rest.clone()),
        false => call.one()?,
    };
    Target::named(name.as_deref()).map_err(|error| {
        let name = name.unwrap_or_default();
        Complaint::from(Error::new(
            SqlState::of_io(&error),
            format!("cannot write to {name}: {error}"),
        ))
    })
}

fn import(call: &mut Call<'_>) -> Result<Next, Complaint> {
    use crate::output::Mode;
    let mut mode = call.shell.display.mode;
    let mut header = false;
    let mut names = Vec::new();
    let mut words = call.words().into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--csv" | "-csv" => mode = Mode::Csv,
            "--skip" | "-skip" => match words.next().as_deref() {
                Some("0") => header = false,
                Some("1") => header = true,
                other => return Err(call.wrong("--skip 0 or 1", other.unwrap_or("nothing"))),
            },
            _ => names.push(word),
        }
    }
    let [path, table] = &names[..] else {
        return Err(call.wrong("a file and a table", &format!("{} names", names.len())));
    };
    let own = match mode {
        Mode::Tabs => "\t",
        Mode::List | Mode::Unaligned => "|",
        _ => ",",
    };
    let delimiter = call.shell.display.separator.as_deref().unwrap_or(own);
    let quoted = |text: &str| text.replace('\'', "''");
    let (path, delimiter) = (quoted(path), quoted(delimiter));
    let found = call.shell.backend.structure(&unquoted(table));
    let is_there = found.is_ok_and(|found| found.kind == RelationKind::Table);
    let imported = match is_there {
        true => call.shell.run_copy_words(&format!(
            "{table} from '{path}' (format csv, header {header}, delimiter '{delimiter}')"
        )),
        false => {
            let command = ".import into a table that does not exist";
            call.shell.embedded(command, "create the table first")?;
            call.shell.run_statement(&format!(
                "create table {table} as select * from read_csv('{path}', delimiter => '{delimiter}')"
            ))
        }
    };
    imported.map_err(Complaint::without_statement)?;
    Ok(Next::More)
}
