//! The shell as the program starts it: opens a database, runs what the options say, closes it.

use crate::arguments::ShellOptions;
use crate::complaint::Complaint;
use crate::output::Expanded;
use crate::place::{self, Place};
use crate::script::Rows;
use crate::shell::{Next, Shell};
use crate::target::Target;
use crate::{editor, interrupt};
use frazil::{Access, FileAccess};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Opens the database, runs what the options say, closes it.
pub fn run(options: &ShellOptions) -> Result<(), Complaint> {
    let (directory, files) = place::parts(&options.paths)?;
    interrupt::install();
    let access = match options.readonly {
        true => Access::Read,
        false => Access::Write,
    };
    let allowed = FileAccess::of_text(&options.file_access).map_err(Complaint::opening)?;
    let (place, database) = Place::open(directory, access, &allowed)?;
    let mut shell = Shell::new(database.connect());
    drop(database);
    shell.place = place;
    shell.tells_opened = io::stdin().is_terminal() && !options.quiet;
    let opened = files.iter().try_for_each(|file| shell.open_file(file));
    let result = (opened.and_then(|()| shell.obey(options))).and_then(|()| shell.run_options(options));
    let failed = shell.failed;
    let Shell {
        backend,
        place,
        output,
        ..
    } = shell;
    // A program that reads results ends first.
    drop(output);
    let closed = place.close(backend);
    result.and(closed)?;
    match failed {
        true => Err(Complaint::told()),
        false => Ok(()),
    }
}

impl Shell {
    /// Takes over what the options say of how the shell works.
    fn obey(&mut self, options: &ShellOptions) -> Result<(), Complaint> {
        self.display.mode = options.mode;
        self.display.headers = !options.noheader && !options.tuples_only;
        self.display.footer = !options.tuples_only;
        self.display.null.clone_from(&options.nullvalue);
        self.display.separator.clone_from(&options.separator);
        if options.expanded {
            self.display.expanded = Expanded::On;
        }
        self.timing = options.timing;
        self.bail = options.bail || !options.no_bail;
        self.quiet = options.quiet;
        if options.output.is_some() {
            self.output.redirect(Target::named(options.output.as_deref())?);
        }
        for variable in &options.variables {
            let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
            self.variables.set(name, value);
        }
        Ok(())
    }

    fn run_options(&mut self, options: &ShellOptions) -> Result<(), Complaint> {
        if let Some(path) = options.init.clone().or_else(|| start_file(options)) {
            // What is said at the start is no part of what the program writes.
            let quiet = std::mem::replace(&mut self.quiet, true);
            let result = self.run_file(&path);
            self.quiet = quiet;
            if result? == Next::Leave {
                return Ok(());
            }
        }
        for text in options.first.iter().chain(&options.commands) {
            if self.run_text(text)? == Next::Leave {
                return Ok(());
            }
        }
        for path in &options.files {
            if self.run_file(path)? == Next::Leave {
                return Ok(());
            }
        }
        if !options.commands.is_empty() || !options.files.is_empty() {
            return Ok(());
        }
        match io::stdin().is_terminal() && !options.batch {
            true => editor::interact(self),
            false => self.run_lines(&mut io::stdin().lock(), Rows::Inline).map(drop),
        }
    }
}

/// The file that is run at the start: FRAZILRC or ~/.frazilrc, if there is one.
fn start_file(options: &ShellOptions) -> Option<PathBuf> {
    if options.no_rc {
        return None;
    }
    let path = match std::env::var_os("FRAZILRC") {
        Some(path) => PathBuf::from(path),
        None => Path::new(&std::env::var_os("HOME")?).join(".frazilrc"),
    };
    path.is_file().then_some(path)
}
