//! COPY with the shell at its other end: rows that follow the statement, up to a line `\.`, and rows that go where
//! results go.

use crate::complaint::Complaint;
use crate::interrupt;
use crate::shell::Shell;
use crate::text::{TokenKind, tokens};
use frazil::{CopyStreams, Response};
use std::io::{self, BufRead, Read, Write};

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
    fn rows_end_at_the_mark_or_the_end() {
        let mut input = &b"1,2\n3,4\n\\.\r\nselect 1;"[..];
        assert_eq!(inline_rows(&mut input).expect("it reads"), b"1,2\n3,4\n");
        assert_eq!(input, b"select 1;");
        assert_eq!(inline_rows(&mut &b"1\n2"[..]).expect("it reads"), b"1\n2");
    }
}
