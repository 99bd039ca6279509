//! The shell for a person: lines are edited, completed, coloured and remembered.

use crate::backend::Backend;
use crate::complaint::Complaint;
use crate::completion::complete;
use crate::copying::is_end;
use crate::highlight::highlighted;
use crate::shell::{Next, Shell};
use crate::text::StatementReader;
use console::Term;
use frazil::{Block, Error, SqlState};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a table that a person at a terminal sees at most, unless `.maxrows` says otherwise.
const MAX_ROWS: usize = 60;
/// Statements that the history keeps.
const HISTORY: usize = 10_000;

/// What the line editor asks while a line is typed.
struct Assistant {
    backend: Arc<dyn Backend>,
    /// The lines of the statement above the one that is edited.
    before: String,
    has_colours: bool,
}

impl Helper for Assistant {}
impl Validator for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let (typed, behind) = line.split_at(at);
        let offer = complete(&*self.backend, &self.before, typed, behind);
        Ok((offer.start, offer.words))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        match self.has_colours {
            true => highlighted(&self.before, line),
            false => Cow::Borrowed(line),
        }
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        self.has_colours
    }
}

/// Lines as a person gives them: one that is typed, or those of a paste, which the line editor hands over at once.
struct Lines {
    editor: Editor<Assistant, DefaultHistory>,
    /// Lines of a paste that are not taken yet.
    pasted: VecDeque<String>,
}

impl Lines {
    /// The next line. `before`: the lines of the statement above it.
    fn next(&mut self, prompt: &str, before: &str) -> rustyline::Result<String> {
        if let Some(line) = self.pasted.pop_front() {
            return Ok(line);
        }
        if let Some(assistant) = self.editor.helper_mut() {
            before.clone_into(&mut assistant.before);
        }
        let text = self.editor.readline(prompt)?;
        self.pasted.extend(
            text.split('\n')
                .map(|line| line.trim_end_matches('\r').to_owned()),
        );
        Ok(self.pasted.pop_front().unwrap_or_default())
    }
}

/// The prompt, always as wide: whether a transaction is open (`*`) or has failed (`!`), whether an untaken branch of `\if` skips what
/// is typed (`@`), and what is open in a statement that goes on.
fn prompt(shell: &Shell, reader: &StatementReader) -> String {
    let state = match shell.backend.block() {
        _ if !shell.branches.is_taken() => "@",
        Block::Failed => "!",
        Block::Open => "*",
        Block::Idle => "",
    };
    match reader.is_empty() {
        true => format!("frazil{state}> "),
        false => format!("   ..{}> ", reader.open_mark().unwrap_or('.')),
    }
}

/// Serves a person until they leave. Errors are shown and forgotten.
pub fn interact(shell: &mut Shell) -> Result<(), Complaint> {
    shell.display.max_rows.get_or_insert(MAX_ROWS);
    shell.output.pages = Term::stdout().is_term();
    // A person sees what failed and goes on.
    shell.bail = true;
    let mut lines = Lines {
        editor: editor(&shell.backend).map_err(editor_failed)?,
        pasted: VecDeque::new(),
    };
    let history = history_file();
    if let Some(path) = &history {
        // A missing history is an empty one.
        let _ = lines.editor.load_history(path);
    }
    if !shell.quiet {
        println!("Frazil {}. \\? for help, \\q to leave.", frazil::VERSION);
        if let Some(server) = &shell.place.server {
            println!(
                "The database is \"{}\" on the server {}.",
                server.database,
                server.place()
            );
        }
        shell.place.told().iter().for_each(|text| println!("{text}"));
    }
    let served = serve(shell, &mut lines);
    if let Some(path) = &history {
        let _ = lines.editor.save_history(path);
    }
    served
}

fn serve(shell: &mut Shell, lines: &mut Lines) -> Result<(), Complaint> {
    let mut reader = StatementReader::default();
    let mut typed = String::new();
    loop {
        let before = match reader.pending() {
            "" => String::new(),
            pending => format!("{pending}\n"),
        };
        match lines.next(&prompt(shell, &reader), &before) {
            Ok(line) => {
                // People may have resized it while they typed.
                shell.display.terminal = Some(usize::from(Term::stdout().size().1));
                typed.push_str(&line);
                let mut result = shell.take_line(&mut reader, &line);
                while let Some(statement) = shell.copying.take() {
                    result = copy_typed_rows(shell, lines, &statement);
                    if result.is_ok() {
                        result = shell.run_pieces(&mut reader);
                    }
                }
                if let Some(assistant) = lines.editor.helper_mut() {
                    // It may be another database by now.
                    assistant.backend = shell.backend.clone();
                }
                if reader.is_empty() {
                    // Only a full disk or the like keeps history from growing; that is no reason to stop.
                    let _ = lines.editor.add_history_entry(std::mem::take(&mut typed).trim());
                } else {
                    typed.push('\n');
                }
                match result {
                    Ok(Next::Leave) => return Ok(()),
                    Ok(Next::More) => {}
                    Err(complaint) => complaint.print(),
                }
            }
            Err(ReadlineError::Interrupted) => {
                reader.clear();
                typed.clear();
                shell.branches.clear();
            }
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(editor_failed(error)),
        }
    }
}

/// Runs a COPY FROM STDIN with rows that are typed.
fn copy_typed_rows(shell: &mut Shell, lines: &mut Lines, statement: &str) -> Result<Next, Complaint> {
    println!("Type the rows, then \\. on a line of its own.");
    let mut rows = String::new();
    loop {
        match lines.next(">> ", "") {
            Ok(line) if is_end(&line) => break,
            Ok(line) => rows.push_str(&(line + "\n")),
            Err(ReadlineError::Eof) => break,
            Err(ReadlineError::Interrupted) => return Ok(Next::More),
            Err(error) => return Err(editor_failed(error)),
        }
    }
    let rows = Box::new(std::io::Cursor::new(rows.into_bytes()));
    shell.run_copy(statement, Some(rows)).map(|()| Next::More)
}

fn editor(backend: &Arc<dyn Backend>) -> rustyline::Result<Editor<Assistant, DefaultHistory>> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .max_history_size(HISTORY)?
        .history_ignore_space(true)
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Assistant {
        backend: backend.clone(),
        before: String::new(),
        has_colours: std::env::var_os("NO_COLOR").is_none(),
    }));
    Ok(editor)
}

fn editor_failed(error: ReadlineError) -> Complaint {
    Complaint::from(Error::new(
        SqlState::IO_ERROR,
        format!("cannot read from the terminal: {error}"),
    ))
}

fn history_file() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("FRAZIL_HISTORY") {
        return Some(PathBuf::from(path));
    }
    Some(Path::new(&std::env::var_os("HOME")?).join(".frazil_history"))
}
