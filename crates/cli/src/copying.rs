//! COPY with the shell at its other end: rows that follow the statement, up to a line `\.`, and rows that go where
//! results go.

use crate::complaint::Complaint;
use crate::interrupt;
use crate::shell::Shell;
use crate::target::Target;
use crate::text::{TokenKind, tokens};
use frazil::{CopyStreams, Error, Response, SqlState};
use std::io::{self, BufRead, Read, Write};
use std::process::Stdio;

/// The line behind the last row.
const END: &str = "\\.";

/// What the shell is to a COPY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyRole {
    /// FROM STDIN: gives the rows.
    Source,
    /// TO STDOUT, or between a table and a file.
    Target,
}

/// The role that a statement has for the shell; `None` if it is not COPY.
pub fn role(statement: &str) -> Option<CopyRole> {
    let words = outer_words(statement);
    if words.first()? != "copy" {
        return None;
    }
    let is_source = words.windows(2).any(|w| w[0] == "from" && w[1] == "stdin");
    Some(if is_source {
        CopyRole::Source
    } else {
        CopyRole::Target
    })
}

/// Whether a COPY writes TO STDOUT.
pub fn is_to_client(statement: &str) -> bool {
    outer_words(statement)
        .windows(2)
        .any(|w| w[0] == "to" && w[1] == "stdout")
}

/// The words of a statement outside of parentheses, in lower case.
fn outer_words(statement: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut words = Vec::new();
    for token in tokens(statement).filter(|t| !matches!(t.kind, TokenKind::Blank | TokenKind::Comment)) {
        let text = &statement[token.range];
        match text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if depth == 0 => words.push(text.to_ascii_lowercase()),
            _ => {}
        }
    }
    words
}

/// The rows that lines hold, up to the end mark or the end of the input.
pub fn inline_rows(input: &mut dyn BufRead) -> io::Result<Vec<u8>> {
    let mut rows = Vec::new();
    loop {
        let start = rows.len();
        if input.read_until(b'\n', &mut rows)? == 0 || rows[start..].trim_ascii_end() == END.as_bytes() {
            if rows[start..].trim_ascii_end() == END.as_bytes() {
                rows.truncate(start);
            }
            return Ok(rows);
        }
    }
}

/// Whether a line ends the rows that are typed.
pub fn is_end(line: &str) -> bool {
    line.trim_end() == END
}

struct Ends<'a> {
    input: Option<Box<dyn Read + Send>>,
    output: &'a mut dyn Write,
}

impl CopyStreams for Ends<'_> {
    fn input(&mut self) -> Box<dyn Read + Send> {
        self.input.take().unwrap_or_else(|| Box::new(io::empty()))
    }

    fn output(&mut self) -> &mut dyn Write {
        self.output
    }
}

impl Shell {
    /// Runs COPY; `input`: the rows of FROM STDIN.
    pub fn copy(&mut self, text: &str, input: Option<Box<dyn Read + Send>>) -> Result<Response, Complaint> {
        let backend = &self.backend;
        let mut given = None;
        // A reader that has seen enough is not a failure, as with results.
        self.output.write(|out| {
            let mut out = Watched { out, failed: None };
            let mut ends = Ends {
                input,
                output: &mut out,
            };
            let result = interrupt::cancelling(backend.canceler(), || backend.copy(text, &mut ends));
            match out.failed {
                Some(error) => Err(error),
                None => {
                    given = Some(result);
                    Ok(())
                }
            }
        })?;
        match given {
            Some(result) => result.map_err(|error| Complaint::from(error).of_statement(text)),
            None => Ok(Response::default()),
        }
    }
}

/// The other end of a `\copy`.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// A file, or a program behind `|`.
    Named(String),
    /// The script or terminal, or standard output.
    Here,
}

/// The words of `\copy` as a statement whose other end is the client, and that end. `None` for words that name none.
fn client_copy(words: &str) -> Option<(String, End)> {
    let text = format!("copy {words}");
    let mut depth = 0_usize;
    let direction = tokens(&text).find_map(|token| {
        let word = &text[token.range.clone()];
        match word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let word = word.to_ascii_lowercase();
        (depth == 0 && matches!(word.as_str(), "from" | "to")).then_some((word, token.range.end))
    });
    let (direction, at) = direction?;
    let client = if direction == "from" { "stdin" } else { "stdout" };
    let behind = text[at..].trim_start();
    let (first, rest) = first_word(behind);
    let (end, rest) = match first.to_ascii_lowercase().as_str() {
        "" => return None,
        "stdin" | "stdout" | "pstdin" | "pstdout" => (End::Here, rest),
        "program" => {
            let (program, rest) = first_word(rest.trim_start());
            (End::Named(format!("|{}", unquoted_text(program))), rest)
        }
        _ => (End::Named(unquoted_text(first)), rest),
    };
    Some((format!("{} {client}{rest}", &text[..at]), end))
}

/// A text in quotes, or what stands before the first blank, and what is behind.
fn first_word(text: &str) -> (&str, &str) {
    let end = match text.starts_with('\'') {
        true => tokens(text).next().map_or(text.len(), |token| token.range.end),
        false => text.find(char::is_whitespace).unwrap_or(text.len()),
    };
    text.split_at(end)
}

fn unquoted_text(word: &str) -> String {
    match word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
        Some(text) => text.replace("''", "'"),
        None => word.to_owned(),
    }
}

impl Shell {
    /// Runs `\copy`: a file is one of this machine, wherever the database is.
    pub fn run_copy_words(&mut self, words: &str) -> Result<(), Complaint> {
        let named = match self.backend.embedded() {
            // The database reads and writes the file itself, in all formats.
            Some(_) => None,
            None => client_copy(words),
        };
        let Some((statement, end)) = named else {
            return self.run_statement(&format!("copy {words}"));
        };
        let End::Named(name) = end else {
            return self.run_statement(&statement);
        };
        let text = self.variables.expand(&statement);
        self.last = Some(statement);
        let unusable = |error: io::Error| {
            let message = format!("\"{name}\" cannot be used: {error}");
            Complaint::from(Error::new(SqlState::of_io(&error), message))
        };
        if role(&text) == Some(CopyRole::Target) {
            let target = Target::named(Some(&name)).map_err(unusable)?;
            self.output.redirect_once(target);
            return self.run_file_copy(&text, None);
        }
        let Some(program) = name.strip_prefix('|') else {
            let file = std::fs::File::open(&name).map_err(unusable)?;
            return self.run_file_copy(&text, Some(Box::new(file)));
        };
        let mut child = std::process::Command::new("sh");
        child.arg("-c").arg(program).stdout(Stdio::piped());
        let mut child = child.spawn().map_err(unusable)?;
        let rows = child
            .stdout
            .take()
            .map(|rows| Box::new(rows) as Box<dyn Read + Send>);
        let copied = self.run_file_copy(&text, rows);
        let status = interrupt::waiting(|| child.wait())?;
        copied?;
        match status.success() {
            true => Ok(()),
            false => Err(Complaint::usage(format!(
                "the program \"{program}\" ended with {status}"
            ))),
        }
    }
}

/// Remembers why its bytes were not taken.
struct Watched<'a> {
    out: &'a mut dyn Write,
    failed: Option<io::Error>,
}

impl Watched<'_> {
    fn noted<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| self.failed = Some(error.kind().into()))
    }
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.noted(flushed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_from_stdin_takes_rows() {
        assert_eq!(
            role("COPY t (a) /* x */ from stdin (header)"),
            Some(CopyRole::Source)
        );
        assert_eq!(
            role("copy (select * from stdin) to stdout"),
            Some(CopyRole::Target)
        );
        assert_eq!(role("copy t from 'stdin'"), Some(CopyRole::Target));
        assert_eq!(role("select 1"), None);
    }

    #[test]
    fn the_file_of_copy_is_the_clients() {
        let cut = |words: &str| client_copy(words).expect("it names an end");
        let named = |text: &str| End::Named(text.to_owned());
        assert_eq!(
            cut("t (a, b) from 'it''s.csv' (format csv)"),
            (
                "copy t (a, b) from stdin (format csv)".to_owned(),
                named("it's.csv")
            )
        );
        assert_eq!(
            cut("(select 1 from t) TO /tmp/x.txt with csv"),
            (
                "copy (select 1 from t) TO stdout with csv".to_owned(),
                named("/tmp/x.txt")
            )
        );
        assert_eq!(
            cut("t from program 'cat x'"),
            ("copy t from stdin".to_owned(), named("|cat x"))
        );
        assert_eq!(cut("t to stdout"), ("copy t to stdout".to_owned(), End::Here));
        assert_eq!(client_copy("t from"), None);
        assert_eq!(client_copy("t"), None);
    }

    #[test]
    fn rows_end_at_the_mark_or_the_end() {
        let mut input = &b"1,2\n3,4\n\\.\r\nselect 1;"[..];
        assert_eq!(inline_rows(&mut input).expect("it reads"), b"1,2\n3,4\n");
        assert_eq!(input, b"select 1;");
        assert_eq!(inline_rows(&mut &b"1\n2"[..]).expect("it reads"), b"1\n2");
    }
}
