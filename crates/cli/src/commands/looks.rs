//! How results look: modes, headers, NULL, widths.

use super::command::{Call, Command, SWITCH, Takes};
use crate::complaint::Complaint;
use crate::output::{Expanded, Mode};
use crate::shell::Next;

pub const COMMANDS: &[Command] = &[
    Command {
        names: &[".mode"],
        arguments: "[MODE [TABLE]]",
        help: "form of results; TABLE is what INSERT statements name",
        takes: Takes::Mode,
        run: mode,
    },
    Command {
        names: &["\\x"],
        arguments: "[on|off|auto]",
        help: "one line for each value instead of each row",
        takes: Takes::OneOf(&["on", "off", "auto"]),
        run: |call| {
            call.shell.display.expanded = match call.one()?.as_deref() {
                Some("auto") => Expanded::Auto,
                _ if call.switch(call.shell.display.expanded == Expanded::On)? => Expanded::On,
                _ => Expanded::Off,
            };
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\a"],
        arguments: "",
        help: "values with | between them, or a table again",
        takes: Takes::Words,
        run: |call| toggle(call, Mode::Unaligned),
    },
    Command {
        names: &["\\H"],
        arguments: "",
        help: "HTML, or a table again",
        takes: Takes::Words,
        run: |call| toggle(call, Mode::Html),
    },
    Command {
        names: &["\\t"],
        arguments: "[on|off]",
        help: "only rows: no names of columns and no number of rows",
        takes: SWITCH,
        run: |call| {
            let display = &call.shell.display;
            let rows_only = call.switch(!display.headers && !display.footer)?;
            call.shell.display.headers = !rows_only;
            call.shell.display.footer = !rows_only;
            Ok(Next::More)
        },
    },
    Command {
        names: &[".headers", ".header"],
        arguments: "[on|off]",
        help: "show the names of columns",
        takes: SWITCH,
        run: |call| {
            call.shell.display.headers = call.switch(call.shell.display.headers)?;
            Ok(Next::More)
        },
    },
    Command {
        names: &[".nullvalue"],
        arguments: "TEXT",
        help: "how NULL is shown",
        takes: Takes::Words,
        run: |call| {
            call.shell.display.null = Some(call.needed("a text")?);
            Ok(Next::More)
        },
    },
    Command {
        names: &[".separator", "\\f"],
        arguments: "[TEXT]",
        help: "what separates values in csv, list and tabs",
        takes: Takes::Words,
        run: |call| {
            call.shell.display.separator = call.one()?.map(|text| text.replace("\\t", "\t"));
            Ok(Next::More)
        },
    },
    Command {
        names: &[".width"],
        arguments: "[NUMBER …]",
        help: "widths of columns; negative: align to the right, 0: fit the values",
        takes: Takes::Words,
        run: |call| {
            let widths = call.words().into_iter().map(|word| {
                let number: Option<i32> = word.parse().ok().filter(|n: &i32| n.unsigned_abs() < 10_000);
                number.ok_or_else(|| call.wrong("numbers", &word))
            });
            call.shell.display.widths = widths.collect::<Result<_, _>>()?;
            Ok(Next::More)
        },
    },
    Command {
        names: &[".maxrows"],
        arguments: "NUMBER",
        help: "most rows that a table shows; 0: all",
        takes: Takes::Words,
        run: |call| {
            let word = call.needed("a number of rows")?;
            let rows: usize = word.parse().map_err(|_| call.wrong("a number of rows", &word))?;
            call.shell.display.max_rows = Some(rows).filter(|&rows| rows > 0);
            Ok(Next::More)
        },
    },
    Command {
        names: &[".maxwidth"],
        arguments: "NUMBER",
        help: "width of a table on the terminal; 0: as wide as it needs",
        takes: Takes::Words,
        run: |call| {
            let word = call.needed("a number of columns")?;
            let width = word
                .parse()
                .map_err(|_| call.wrong("a number of columns", &word))?;
            call.shell.display.max_width = Some(width);
            Ok(Next::More)
        },
    },
    Command {
        names: &[".types"],
        arguments: "[on|off]",
        help: "types of columns below their names",
        takes: SWITCH,
        run: |call| {
            call.shell.display.types = call.switch(call.shell.display.types)?;
            Ok(Next::More)
        },
    },
    Command {
        names: &["\\pset"],
        arguments: "[NAME [VALUE]]",
        help: "format, null, expanded, columns, fieldsep, tuples_only, footer, …",
        takes: Takes::OneOf(&[
            "border",
            "columns",
            "expanded",
            "fieldsep",
            "footer",
            "format",
            "null",
            "pager",
            "tuples_only",
        ]),
        run: pset,
    },
];

/// The mode, or a table if it is the mode already.
fn toggle(call: &mut Call<'_>, mode: Mode) -> Result<Next, Complaint> {
    let display = &mut call.shell.display;
    display.mode = if display.mode == mode { Mode::Box } else { mode };
    Ok(Next::More)
}

fn parse_mode(name: &str) -> Result<Mode, Complaint> {
    Mode::named(name).ok_or_else(|| {
        let names: Vec<String> = Mode::names().collect();
        Complaint::usage(format!("there is no mode {name}; there are {}", names.join(", ")))
    })
}

fn mode(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let words = call.words();
    match &words[..] {
        [] => {
            let names = Mode::names().collect::<Vec<_>>().join(" ");
            call.shell.output.line(&names)?;
        }
        [name] => set_mode(call, parse_mode(name)?),
        [name, table] if parse_mode(name)? == Mode::Insert => {
            set_mode(call, Mode::Insert);
            call.shell.display.table.clone_from(table);
        }
        [_, more, ..] => return Err(call.wrong("a mode, and a table for insert", more)),
    }
    Ok(Next::More)
}

/// A mode begins with its own separator.
fn set_mode(call: &mut Call<'_>, mode: Mode) {
    call.shell.display.mode = mode;
    call.shell.display.separator = None;
}

fn pset(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let words = call.words();
    let Some(name) = words.first() else {
        return list(call);
    };
    let value = words.get(1).map_or("", String::as_str);
    let on = |was: bool| match value {
        "" => Ok(!was),
        "on" | "1" | "always" => Ok(true),
        "off" | "0" => Ok(false),
        other => Err(call.wrong("on or off", other)),
    };
    match name.as_str() {
        "null" => call.shell.display.null = Some(value.to_owned()),
        "fieldsep" => call.shell.display.separator = Some(value.replace("\\t", "\t")),
        "format" => {
            let mode = parse_mode(value)?;
            set_mode(call, mode);
        }
        "border" => match value {
            "1" => call.shell.display.mode = Mode::Aligned,
            "2" => call.shell.display.mode = Mode::Table,
            other => return Err(call.wrong("border 1 or 2", other)),
        },
        "x" | "expanded" if value == "auto" => call.shell.display.expanded = Expanded::Auto,
        "x" | "expanded" => {
            let expanded = on(call.shell.display.expanded == Expanded::On)?;
            call.shell.display.expanded = if expanded { Expanded::On } else { Expanded::Off };
        }
        "t" | "tuples_only" => {
            let rows_only = on(!call.shell.display.footer)?;
            call.shell.display.headers = !rows_only;
            call.shell.display.footer = !rows_only;
        }
        "columns" => {
            let width = value
                .parse()
                .map_err(|_| call.wrong("a number of columns", value))?;
            call.shell.display.max_width = Some(width);
        }
        "footer" => call.shell.display.footer = on(call.shell.display.footer)?,
        "pager" => call.shell.output.pages = on(call.shell.output.pages)?,
        other => {
            return Err(call.wrong(
                "format, null, expanded, columns, fieldsep, tuples_only, footer, pager or border",
                other,
            ));
        }
    }
    Ok(Next::More)
}

fn list(call: &mut Call<'_>) -> Result<Next, Complaint> {
    let display = call.shell.display.clone();
    let pages = call.shell.output.pages;
    call.shell.output.write(|out| {
        writeln!(out, "expanded    {:?}", display.expanded)?;
        writeln!(
            out,
            "fieldsep    '{}'",
            display.separator.as_deref().unwrap_or_default()
        )?;
        writeln!(out, "footer      {}", display.footer)?;
        writeln!(out, "format      {:?}", display.mode)?;
        writeln!(out, "null        '{}'", display.null())?;
        writeln!(out, "pager       {pages}")?;
        writeln!(out, "tuples_only {}", !display.headers && !display.footer)
    })?;
    Ok(Next::More)
}
