//! The shell: reads statements from arguments, files, standard input or a person, and shows results.

use crate::arguments::ShellOptions;
use crate::complaint::Complaint;
use crate::meta_command::{self, Listed, MetaCommand};
use crate::output::{self, Format, Mode};
use crate::statement_reader::StatementReader;
use crate::{interrupt, progress};
use frazil::{Connection, Database, Error, Outcome, Response, SqlState};
use rustyline::error::ReadlineError;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Rows of a box that a person at a terminal sees at most, unless `.maxrows` says otherwise.
const MAX_ROWS: usize = 60;
/// Files that read each other stop here.
const MAX_DEPTH: usize = 16;

/// Whether to go on reading.
#[derive(PartialEq)]
enum Next {
    More,
    Leave,
}

/// A connection and how its results are shown.
pub struct Shell {
    connection: Connection,
    format: Format,
    timing: bool,
    depth: usize,
}

/// Opens the database, runs what the options say, closes it.
pub fn run(options: &ShellOptions) -> Result<(), Complaint> {
    let database = match &options.directory {
        Some(directory) => Database::open(directory),
        None => Database::memory(),
    }
    .map_err(Complaint::opening)?;
    interrupt::install();
    let mut shell = Shell::new(database.connect());
    shell.format.mode = options.mode;
    shell.timing = options.timing;
    let result = shell.run_options(options);
    drop(shell);
    let closed = database.close().map_err(Complaint::from);
    result.and(closed)
}

impl Shell {
    /// A shell on a connection, writing boxes.
    pub fn new(connection: Connection) -> Shell {
        Shell {
            connection,
            format: Format {
                mode: Mode::Box,
                expanded: false,
                max_rows: None,
            },
            timing: false,
            depth: 0,
        }
    }

    fn run_options(&mut self, options: &ShellOptions) -> Result<(), Complaint> {
        for text in &options.commands {
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
        if io::stdin().is_terminal() {
            self.interact()
        } else {
            self.run_lines(&mut io::stdin().lock()).map(drop)
        }
    }

    fn run_text(&mut self, text: &str) -> Result<Next, Complaint> {
        self.run_lines(&mut text.as_bytes())
    }

    fn run_file(&mut self, path: &Path) -> Result<Next, Complaint> {
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
        let result = self.run_lines(&mut io::BufReader::new(file));
        self.depth -= 1;
        result
    }

    /// Runs statements and commands to the end of the input or the first error.
    fn run_lines(&mut self, input: &mut dyn BufRead) -> Result<Next, Complaint> {
        let mut reader = StatementReader::default();
        for line in input.lines() {
            if self.take_line(&mut reader, &line?)? == Next::Leave {
                return Ok(Next::Leave);
            }
        }
        if let Some(statement) = reader.finish() {
            self.run_statement(&statement)?;
        }
        Ok(Next::More)
    }

    fn take_line(&mut self, reader: &mut StatementReader, line: &str) -> Result<Next, Complaint> {
        if reader.is_empty() && meta_command::is_meta(line) {
            return self.run_meta(meta_command::parse(line)?);
        }
        for statement in reader.push_line(line) {
            self.run_statement(&statement)?;
        }
        Ok(Next::More)
    }

    /// Serves a person until they leave. Errors are shown and forgotten.
    pub fn interact(&mut self) -> Result<(), Complaint> {
        self.format.max_rows.get_or_insert(MAX_ROWS);
        let mut editor = rustyline::DefaultEditor::new().map_err(editor_failed)?;
        let history = history_file();
        if let Some(path) = &history {
            // A missing history is an empty one.
            let _ = editor.load_history(path);
        }
        println!("Frazil {}. \\? for help, \\q to leave.", frazil::VERSION);
        let mut reader = StatementReader::default();
        let mut typed = String::new();
        loop {
            let prompt = match (reader.is_empty(), self.connection.in_transaction()) {
                (true, false) => "frazil> ",
                (true, true) => "frazil*> ",
                (false, _) => "   ...> ",
            };
            match editor.readline(prompt) {
                Ok(line) => {
                    typed.push_str(&line);
                    let result = self.take_line(&mut reader, &line);
                    if reader.is_empty() {
                        // Only a full disk or the like keeps history from growing; it is no reason to stop.
                        let _ = editor.add_history_entry(std::mem::take(&mut typed).trim());
                    } else {
                        typed.push('\n');
                    }
                    match result {
                        Ok(Next::Leave) => break,
                        Ok(Next::More) => {}
                        Err(complaint) => complaint.print(),
                    }
                }
                Err(ReadlineError::Interrupted) => {
                    reader.clear();
                    typed.clear();
                }
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(editor_failed(error)),
            }
        }
        if let Some(path) = &history {
            let _ = editor.save_history(path);
        }
        Ok(())
    }

    fn run_statement(&mut self, statement: &str) -> Result<(), Complaint> {
        let connection = self.connection.clone();
        let begun = AtomicBool::new(false);
        let watched = |run: &mut dyn FnMut() -> frazil::Result<Response>| {
            interrupt::cancelling(connection.cancel_handle(), || {
                progress::watching(&connection, &begun, run)
            })
        };
        let complain = |error| Complaint::from(error).of_statement(statement);
        if !self.format.mode.is_streamed() {
            let response = watched(&mut || connection.execute(statement)).map_err(complain)?;
            return Ok(self.show(&response)?);
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut streamed = output::Streamed::new(&mut out, self.format.mode, &begun);
        let result = watched(&mut || connection.execute_into(statement, &[], &mut streamed));
        let written = streamed.finish(result.is_ok());
        match (result, written) {
            (Ok(response), Ok(())) => self.show_timing(&response),
            // What could not be written is told, not that the statement failed by it.
            (_, Err(error)) => closed_pipe_is_fine(error)?,
            (Err(error), Ok(())) => return Err(complain(error)),
        }
        Ok(())
    }

    fn show(&self, response: &Response) -> io::Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        let shown = match &response.outcome {
            Outcome::Rows(rows) => output::write_box(&mut out, rows, self.format),
            Outcome::Command { tag, rows } => match rows {
                Some(rows) => writeln!(out, "{tag} {rows}"),
                None => writeln!(out, "{tag}"),
            },
        };
        shown.and_then(|()| out.flush()).or_else(closed_pipe_is_fine)?;
        self.show_timing(response);
        Ok(())
    }

    fn show_timing(&self, response: &Response) {
        if self.timing {
            let t = &response.timing;
            let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
            eprintln!(
                "Time: {:.3} ms (plan {:.3}, compile {:.3}, execute {:.3})",
                ms(t.total()),
                ms(t.plan()),
                ms(t.compile),
                ms(t.execute)
            );
        }
    }

    fn run_meta(&mut self, command: MetaCommand) -> Result<Next, Complaint> {
        match command {
            MetaCommand::List(listed) => self.list(listed),
            MetaCommand::Describe(table) => self.describe(&table)?,
            MetaCommand::Schema(table) => self.print_schema(table.as_deref())?,
            MetaCommand::Timing(to) => self.timing = to.unwrap_or(!self.timing),
            MetaCommand::Expanded(to) => self.format.expanded = to.unwrap_or(!self.format.expanded),
            MetaCommand::Mode(mode) => self.format.mode = mode,
            MetaCommand::MaxRows(rows) => self.format.max_rows = Some(rows).filter(|&r| r > 0),
            MetaCommand::Read(path) => return self.run_file(&path),
            MetaCommand::Help => print!("{}", meta_command::HELP),
            MetaCommand::Quit => return Ok(Next::Leave),
        }
        Ok(Next::More)
    }

    fn list(&self, listed: Listed) {
        if listed != Listed::Views {
            for table in self.connection.tables() {
                println!("{} ({} rows)", table.name, table.rows);
            }
        }
        if listed != Listed::Tables {
            for view in self.connection.views() {
                println!("{} (view)", view.name);
            }
        }
    }

    fn describe(&self, name: &str) -> Result<(), Complaint> {
        let schema = match self.connection.view(name) {
            Some(view) => {
                println!("View {}", view.name);
                view.schema
            }
            None => {
                let table = self.connection.table(name)?;
                println!("Table {} ({} rows)", table.name, table.rows);
                table.schema
            }
        };
        let width = (schema.columns.iter())
            .map(|c| c.name.chars().count())
            .max()
            .unwrap_or(0);
        for column in &schema.columns {
            let null = if column.nullable { "" } else { " not null" };
            println!("  {:width$}  {}{null}", column.name, column.ty);
        }
        Ok(())
    }

    fn print_schema(&self, name: Option<&str>) -> Result<(), Complaint> {
        let Some(name) = name else {
            (self.connection.tables().iter()).for_each(|t| println!("{}", t.ddl()));
            (self.connection.views().iter()).for_each(|v| println!("{}", v.ddl()));
            return Ok(());
        };
        match self.connection.view(name) {
            Some(view) => println!("{}", view.ddl()),
            None => println!("{}", self.connection.table(name)?.ddl()),
        }
        Ok(())
    }
}

fn editor_failed(error: ReadlineError) -> Complaint {
    Complaint::from(Error::new(
        SqlState::IO_ERROR,
        format!("cannot read from the terminal: {error}"),
    ))
}

/// A reader such as `head` that has seen enough is no error.
fn closed_pipe_is_fine(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    }
}

fn history_file() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("FRAZIL_HISTORY") {
        return Some(PathBuf::from(path));
    }
    Some(Path::new(&std::env::var_os("HOME")?).join(".frazil_history"))
}
