//! The shell: reads statements and commands from arguments, files, standard input or a person.

use crate::arguments::ShellOptions;
use crate::commands::{self, Next};
use crate::complaint::Complaint;
use crate::copying;
use crate::output::{Display, Expanded};
use crate::target::{Output, Target};
use crate::text::{Piece, StatementReader, Variables};
use crate::{editor, interrupt, opening};
use frazil::{Access, Connection, Error, SqlState, identifier};
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Files that read each other stop here.
const MAX_DEPTH: usize = 16;

/// A connection, and what people have said of how statements run and results are shown.
pub struct Shell {
    /// Where statements run.
    pub connection: Connection,
    /// The directory of the database; `None` in memory.
    pub directory: Option<PathBuf>,
    /// How results look.
    pub display: Display,
    /// Where results go.
    pub output: Output,
    /// What `\set` has set.
    pub variables: Variables,
    /// Whether times are shown.
    pub timing: bool,
    /// Whether rows and memory are shown.
    pub stats: bool,
    /// Whether a script ends at its first error.
    pub bail: bool,
    /// Whether nothing but results and errors is said.
    pub quiet: bool,
    /// The statement that ran last, for `\g` and `\watch`.
    pub last: Option<String>,
    /// Whether an error was told that did not end the script.
    pub failed: bool,
    /// A COPY FROM STDIN whose rows come next.
    pub copying: Option<String>,
    /// Files that are being read by one another.
    depth: usize,
}

/// Where the rows of COPY FROM STDIN stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// In the lines behind the statement.
    Inline,
    /// In standard input.
    Stdin,
}

/// Whether a path ends as files of rows do: whoever mistypes one wants no database of that name.
fn is_named_as_data(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let bare = (name.strip_suffix(".gz").or(name.strip_suffix(".zst"))).unwrap_or(&name);
    let ends = [".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"];
    ends.iter().any(|end| bare.ends_with(end))
}

/// Opens the database, runs what the options say, closes it.
pub fn run(options: &ShellOptions) -> Result<(), Complaint> {
    let (directory, file) = match &options.directory {
        Some(path) if path.is_file() || (is_named_as_data(path) && !path.exists()) => (None, Some(path)),
        directory => (directory.as_ref(), None),
    };
    interrupt::install();
    let access = match options.readonly {
        true => Access::Read,
        false => Access::Write,
    };
    let database = opening::open(directory.map(PathBuf::as_path), access)?;
    let mut shell = Shell::new(database.connect());
    shell.directory = directory.cloned();
    let opened = file.map_or(Ok(()), |file| shell.open_file(file, options.quiet));
    let result = (opened.and_then(|()| shell.obey(options))).and_then(|()| shell.run_options(options));
    let failed = shell.failed;
    drop(shell);
    let closed = database.close().map_err(Complaint::from);
    result.and(closed)?;
    match failed {
        true => Err(Complaint::told()),
        false => Ok(()),
    }
}

impl Shell {
    /// A shell on a connection, writing boxes.
    pub fn new(connection: Connection) -> Shell {
        Shell {
            connection,
            directory: None,
            display: Display::default(),
            output: Output::new(),
            variables: Variables::default(),
            timing: false,
            stats: false,
            bail: true,
            quiet: false,
            last: None,
            failed: false,
            copying: None,
            depth: 0,
        }
    }

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

    /// Makes a table of a file, called as the file is up to its first dot.
    fn open_file(&mut self, file: &Path, quiet: bool) -> Result<(), Complaint> {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let name = identifier(name.split('.').next().unwrap_or_default());
        let path = file.display().to_string().replace('\'', "''");
        self.query(&format!("create table {name} as select * from '{path}'"))
            .map_err(Complaint::into_opening)?;
        if io::stdin().is_terminal() && !quiet {
            println!("{} is the table {name}.", file.display());
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

    fn run_text(&mut self, text: &str) -> Result<Next, Complaint> {
        self.run_lines(&mut text.as_bytes(), Rows::Stdin)
    }

    /// Runs the statements and commands of a file.
    pub fn run_file(&mut self, path: &Path) -> Result<Next, Complaint> {
        let file = std::fs::File::open(path).map_err(|e| {
            Complaint::opening(Error::new(
                SqlState::UNDEFINED_FILE,
                format!("cannot open {}: {e}", path.display()),
            ))
        })?;
        if self.depth == MAX_DEPTH {
            return Err(Complaint::from(Error::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("{} is read more than {MAX_DEPTH} files deep", path.display()),
            )));
        }
        self.depth += 1;
        let result = self.run_lines(&mut io::BufReader::new(file), Rows::Inline);
        self.depth -= 1;
        result
    }

    /// Runs statements and commands to the end of the input or, unless the shell goes on after errors, the first error.
    fn run_lines(&mut self, input: &mut dyn BufRead, rows: Rows) -> Result<Next, Complaint> {
        let mut reader = StatementReader::default();
        let mut line = String::new();
        loop {
            line.clear();
            let is_last = input.read_line(&mut line)? == 0;
            let mut next = match is_last {
                false => self.take_line(&mut reader, line.trim_end_matches(['\n', '\r']))?,
                true => match reader.take() {
                    Some(statement) => {
                        let result = self.run_statement(&statement).map(|()| Next::More);
                        self.go_on(result)?
                    }
                    None => Next::More,
                },
            };
            while let Some(statement) = self.copying.take() {
                let rows: Box<dyn Read + Send> = match rows {
                    Rows::Inline => Box::new(io::Cursor::new(copying::inline_rows(input)?)),
                    Rows::Stdin => Box::new(io::stdin()),
                };
                let result = self.run_copy(&statement, Some(rows)).map(|()| Next::More);
                self.go_on(result)?;
                next = self.run_pieces(&mut reader)?;
            }
            if is_last || next == Next::Leave {
                return Ok(next);
            }
        }
    }

    /// Tells of an error and goes on, if the shell does so.
    fn go_on(&mut self, result: Result<Next, Complaint>) -> Result<Next, Complaint> {
        match result {
            Err(complaint) if !self.bail => {
                complaint.print();
                self.failed = true;
                Ok(Next::More)
            }
            result => result,
        }
    }

    /// Adds a line, and runs the statements and commands that are whole now.
    pub fn take_line(&mut self, reader: &mut StatementReader, line: &str) -> Result<Next, Complaint> {
        reader.push_line(line);
        self.run_pieces(reader)
    }

    /// Runs the statements and commands that are whole, up to a COPY that waits for its rows.
    pub fn run_pieces(&mut self, reader: &mut StatementReader) -> Result<Next, Complaint> {
        while self.copying.is_none()
            && let Some(piece) = reader.next_piece()
        {
            let result = match piece {
                Piece::Statement(statement) => self.run_statement(&statement).map(|()| Next::More),
                Piece::Command(line) => commands::run(self, reader, &line),
            };
            if self.go_on(result)? == Next::Leave {
                return Ok(Next::Leave);
            }
        }
        Ok(Next::More)
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
