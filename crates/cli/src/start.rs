//! The shell as the program starts it: opens a database, runs what the options say, closes it.

use crate::arguments::ShellOptions;
use crate::complaint::Complaint;
use crate::output::Expanded;
use crate::place::{self, Place};
use crate::remote::{self, Address, Remote};
use crate::script::Rows;
use crate::shell::{Next, Shell};
use crate::target::Target;
use crate::{editor, interrupt};
use frazil::{Access, Error, FileAccess, SqlState};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Opens the database, runs what the options say, closes it.
pub fn run(options: &ShellOptions) -> Result<(), Complaint> {
    let (mut shell, files) = match &options.paths[..] {
        [path] if path.to_str().is_some_and(remote::is_url) => (on_server(path, options)?, &[][..]),
        paths => on_files(paths, options)?,
    };
    shell.tells_opened = io::stdin().is_terminal() && !options.quiet;
    let opened = files.iter().try_for_each(|file| shell.open_file(file));
    let result = (opened.and_then(|()| shell.obey(options))).and_then(|()| shell.run_options(options));
    let result = result.map_err(|complaint| match shell.backend.is_lost() {
        true => complaint.of_connection(),
        false => complaint,
    });
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

/// A shell on the database of a directory or in memory, and the files that become its tables.
fn on_files<'a>(paths: &'a [PathBuf], options: &ShellOptions) -> Result<(Shell, &'a [PathBuf]), Complaint> {
    let (directory, files) = place::parts(paths)?;
    interrupt::install();
    let access = match options.readonly {
        true => Access::Read,
        false => Access::Write,
    };
    let allowed = FileAccess::of_text(&options.file_access).map_err(Complaint::opening)?;
    let (place, database) = Place::open(directory, access, &allowed)?;
    let mut shell = Shell::new(database.connect());
    shell.place = place;
    Ok((shell, files))
}

/// A shell on a server.
fn on_server(url: &Path, options: &ShellOptions) -> Result<Shell, Complaint> {
    let url = url.to_string_lossy();
    if options.readonly {
        let error = Error::new(
            SqlState::INVALID_PARAMETER,
            "--readonly takes the directory of a database",
        );
        let hint = "on a server, SET default_transaction_read_only TO on";
        return Err(Complaint::from(error.with_hint(hint)).of_connection());
    }
    interrupt::install();
    let address = Address::of_environment(&url);
    let connected = address.and_then(|address| Ok((Remote::connect(&address)?, address)));
    let (remote, address) = connected.map_err(|error| Complaint::from(error).of_connection())?;
    let mut shell = Shell::new(remote);
    shell.place = Place::server(address);
    Ok(shell)
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
