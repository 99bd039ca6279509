//! Reading statements and commands from texts, files and standard input.

use crate::commands;
use crate::complaint::Complaint;
use crate::copying;
use crate::shell::{Next, Shell};
use crate::text::{Piece, StatementReader};
use frazil::{Error, SqlState};
use std::io::{self, BufRead, Read};
use std::path::Path;

/// Files that read each other stop here.
const MAX_DEPTH: usize = 16;

/// Where the rows of COPY FROM STDIN stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// In the lines behind the statement.
    Inline,
    /// In standard input.
    Stdin,
}

impl Shell {
    /// Runs the statements and commands of a text.
    pub fn run_text(&mut self, text: &str) -> Result<Next, Complaint> {
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
    pub fn run_lines(&mut self, input: &mut dyn BufRead, rows: Rows) -> Result<Next, Complaint> {
        // Conditionals end where they begin, in one file.
        let outer = std::mem::take(&mut self.branches);
        let result = self.run_pieces_of(input, rows);
        let is_open = !std::mem::replace(&mut self.branches, outer).is_empty();
        match result {
            Ok(Next::More) if is_open => {
                let open = Complaint::usage("the input ends inside of \\if: \\endif is missing");
                self.go_on(Err(open))
            }
            result => result,
        }
    }

    fn run_pieces_of(&mut self, input: &mut dyn BufRead, rows: Rows) -> Result<Next, Complaint> {
        let mut reader = StatementReader::default();
        let mut line = String::new();
        loop {
            line.clear();
            let is_last = input.read_line(&mut line)? == 0;
            let mut next = match is_last {
                false => self.take_line(&mut reader, line.trim_end_matches(['\n', '\r']))?,
                true => match reader.take() {
                    Some(statement) if self.branches.is_taken() => {
                        let result = self.run_statement(&statement).map(|()| Next::More);
                        self.go_on(result)?
                    }
                    Some(_) | None => Next::More,
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
                Piece::Statement(_) if !self.branches.is_taken() => Ok(Next::More),
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
