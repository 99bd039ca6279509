//! What is done with the statement that is being typed, or with the last one.

use super::command::{Call, Command, Takes};
use super::crosstab;
use crate::complaint::Complaint;
use crate::interrupt;
use crate::output::Expanded;
use crate::shell::Next;
use crate::target::Target;
use frazil::{Outcome, RawValue as Value};
use std::path::PathBuf;
use std::time::Duration;

/// Seconds between the runs of `\watch`.
const WATCH_SECONDS: f64 = 2.0;

pub const COMMANDS: &[Command] = &[
    Command {
        names: &["\\g"],
        arguments: "[FILE | |COMMAND]",
        help: "run the statement; its result goes to a file or a command",
        takes: Takes::File,
        run: |call| go(call, None),
    },
    Command {
        names: &["\\gx"],
        arguments: "[FILE | |COMMAND]",
        help: "like \\g, with one line for each value",
        takes: Takes::File,
        run: |call| go(call, Some(Expanded::On)),
    },
    Command {
        names: &["\\gset"],
        arguments: "[PREFIX]",
        help: "run the statement and store its one row in variables",
        takes: Takes::Words,
        run: set_variables,
    },
    Command {
        names: &["\\gexec"],
        arguments: "",
        help: "run the statement, then each value of its result as a statement",
        takes: Takes::Words,
        run: run_values,
    },
    Command {
        names: &["\\gdesc"],
        arguments: "",
        help: "names and types of the result's columns; the statement does not run",
        takes: Takes::Words,
        run: describe,
    },
    Command {
        names: &["\\bind"],
        arguments: "[VALUE …]",
        help: "values for $1, $2 … of the next statement",
        takes: Takes::Words,
        run: |call| {
            let values = call.words().into_iter().map(Value::Text);
            call.shell.bound = Some(values.collect());
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\crosstabview"],
        arguments: "[DOWN ACROSS VALUE RANK]",
        help: "run the statement and turn a column's values into columns",
        takes: Takes::Words,
        run: crosstab::crosstab,
    },
    Command {
        names: &["\\watch"],
        arguments: "[SECONDS] [c=RUNS]",
        help: "run the statement again and again, until Ctrl-C",
        takes: Takes::Words,
        run: watch,
    },
    Command {
        names: &["\\e", "\\edit"],
        arguments: "[FILE]",
        help: "edit the statement, or a file, with the program in EDITOR",
        takes: Takes::File,
        run: edit,
    },
    Command {
        names: &["\\p", "\\print"],
        arguments: "",
        help: "show the statement",
        takes: Takes::Words,
        run: |call| {
            let text = call.reader.pending();
            let text = if text.is_empty() {
                call.shell.last.as_deref().unwrap_or("")
            } else {
                text
            };
            call.shell.output.line(text)?;
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\r", "\\reset"],
        arguments: "",
        help: "discard what was typed of the statement",
        takes: Takes::Words,
        run: |call| {
            call.reader.clear();
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\w", "\\write"],
        arguments: "FILE",
        help: "write the statement to a file",
        takes: Takes::File,
        run: |call| {
            let path = call.needed("a file")?;
            let pending = call.reader.pending().to_owned();
            let text = if pending.is_empty() {
                call.shell.last.clone()
            } else {
                Some(pending)
            };
            std::fs::write(&path, text.unwrap_or_default() + "\n")
                .map_err(|e| Complaint::usage(format!("cannot write {path}: {e}")))?;
            Ok(Next::More)
        },
    },
];

/// Takes out the statement that was typed; the last one if there is none.
pub fn statement(call: &mut Call<'_>) -> Result<String, Complaint> {
    let text = call.reader.take().or_else(|| call.shell.last.clone());
    text.ok_or_else(|| Complaint::usage(format!("there is no statement for {}", call.name)))
}

fn go(call: &mut Call<'_>, expanded: Option<Expanded>) -> Result<Next, Complaint> {
    let target = match call.rest.starts_with('|') {
        true => Some(call.rest.clone()),
        false => call.one()?,
    };
    let text = statement(call)?;
    if let Some(target) = target {
        call.shell.output.redirect_once(Target::named(Some(&target))?);
    }
    let mut display = call.shell.display.clone();
    display.expanded = expanded.unwrap_or(display.expanded);
    call.shell.run_statement_as(&text, &display)?;
    Ok(Next::More)
}

/// Runs each value of a result, row by row. NULL is left out; an error ends it unless the shell goes on after errors.
fn run_values(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let text = statement(call)?;
    let expanded = call.shell.variables.expand(&text);
    call.shell.last = Some(text);
    let Outcome::Rows(rows) = call.shell.query(&expanded)?.outcome else {
        return Ok(Next::More);
    };
    let last = call.shell.last.clone();
    let columns = rows.schema().columns.clone();
    for row in rows.raw() {
        let values = row.iter().zip(&columns).filter(|(value, _)| !value.is_null());
        for (value, column) in values {
            let text = value.display(column.ty).to_string();
            let result = call.shell.run_statement(&text).map(|()| Next::More);
            call.shell.go_on(result)?;
        }
    }
    call.shell.last = last;
    Ok(Next::More)
}

/// Names and types of the columns that a statement would give.
fn describe(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let text = statement(call)?;
    let expanded = call.shell.variables.expand(&text);
    call.shell.last = Some(text);
    let backend = &call.shell.backend;
    let described = interrupt::cancelling(backend.canceler(), || backend.describe(&expanded))?;
    let rows = described.into_iter();
    let rows: Vec<Vec<Value>> = rows
        .map(|(name, ty)| vec![Value::Text(name), Value::Text(ty)])
        .collect();
    call.shell.show_rows(&["Column", "Type"], &rows)?;
    Ok(Next::More)
}

fn set_variables(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let prefix = call.one()?.unwrap_or_default();
    let text = statement(call)?;
    let expanded = call.shell.variables.expand(&text);
    call.shell.last = Some(text);
    let response = call.shell.query(&expanded)?;
    let rows = match response.outcome {
        Outcome::Rows(rows) if rows.len() == 1 => rows,
        Outcome::Rows(rows) => {
            return Err(call.wrong("a statement that gives one row", &rows.len().to_string()));
        }
        Outcome::Command { .. } => return Err(call.wrong("a statement that gives one row", "a command")),
    };
    let row = rows.raw().next().unwrap_or_default();
    for (column, value) in rows.schema().columns.iter().zip(row) {
        let name = format!("{prefix}{}", column.name);
        match value.is_null() {
            true => call.shell.variables.unset(&name),
            false => call
                .shell
                .variables
                .set(&name, value.display(column.ty).to_string()),
        }
    }
    Ok(Next::More)
}

fn watch(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let (mut seconds, mut runs) = (WATCH_SECONDS, u64::MAX);
    for word in call.words() {
        let (name, value) = word.split_once('=').unwrap_or(("i", &word));
        let number: Option<f64> = value.parse().ok().filter(|n: &f64| (0.0..1e9).contains(n));
        match (name, number) {
            ("i", Some(number)) => seconds = number,
            ("c", Some(number)) if number >= 1.0 => runs = number as u64,
            _ => return Err(call.wrong("seconds, or i=SECONDS c=RUNS", &word)),
        }
    }
    let text = statement(call)?;
    for run in 1..=runs {
        call.shell.run_statement(&text)?;
        if run < runs && interrupt::sleep(Duration::from_secs_f64(seconds)) {
            break;
        }
    }
    Ok(Next::More)
}

fn edit(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let given = call.one()?.map(PathBuf::from);
    let path = given
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("frazil-edit-{}.sql", std::process::id())));
    let cannot = |what: &str, e: &dyn std::fmt::Display| Complaint::usage(format!("cannot {what}: {e}"));
    if given.is_none() {
        let text = call
            .reader
            .take()
            .or_else(|| call.shell.last.clone())
            .unwrap_or_default();
        std::fs::write(&path, text + "\n").map_err(|e| cannot("write the statement for the editor", &e))?;
    }
    let names = ["FRAZIL_EDITOR", "VISUAL", "EDITOR"];
    let editor = names.into_iter().find_map(|name| std::env::var(name).ok());
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let mut program = std::process::Command::new("sh");
    program
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(&path);
    let status = interrupt::waiting(|| program.status());
    let text = std::fs::read_to_string(&path);
    if given.is_none() {
        // What stays behind in the directory for such files harms nobody.
        let _ = std::fs::remove_file(&path);
    }
    match status {
        Ok(status) if status.success() => {
            call.reader
                .set(text.map_err(|e| cannot("read what was edited", &e))?.trim());
            Ok(Next::More)
        }
        Ok(status) => Err(Complaint::usage(format!(
            "the editor {editor} ended with {status}"
        ))),
        Err(error) => Err(cannot("start the editor", &error)),
    }
}
