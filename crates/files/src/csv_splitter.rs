//! Splits CSV bytes into fields (RFC 4180, with a choice of delimiter, quote and escape).
//!
//! Ours rather than a crate's: PostgreSQL tells an unquoted empty field (NULL) from a quoted one (the
//! empty string), which parsers that hand out unquoted bytes cannot; and it decides the load time.

use memchr::{memchr, memchr3};

/// The characters that have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// Between fields.
    pub delimiter: u8,
    /// Around fields that contain marks.
    pub quote: u8,
    /// Before a quote within quotes; the quote itself by default.
    pub escape: u8,
    /// At the beginning of a line that is no record.
    pub comment: Option<u8>,
    /// Whether spaces in front of a quote are no part of the field.
    pub padded: bool,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks {
            delimiter: b',',
            quote: b'"',
            escape: b'"',
            comment: None,
            padded: false,
        }
    }
}

/// One record: the fields' bytes one after another, unquoted.
#[derive(Debug, Default)]
pub struct Record {
    bytes: Vec<u8>,
    fields: Vec<Field>,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    end: usize,
    quoted: bool,
}

impl Record {
    /// Takes all fields away.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
    }

    /// Appends bytes to the field that is being read.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Ends a field of the text format, which stands in the input as `raw`: that of NULL is like one of CSV without
    /// quotes, any other like one with them.
    pub(crate) fn end_text_field(&mut self, raw: &[u8], null: &[u8]) {
        let is_null = raw == null;
        if is_null {
            let start = self.fields.last().map_or(0, |field| field.end);
            self.bytes.truncate(start);
            self.bytes.extend_from_slice(null);
        }
        self.fields.push(Field {
            end: self.bytes.len(),
            quoted: !is_null,
        });
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field's bytes, and whether it was quoted.
    pub fn field(&self, index: usize) -> (&[u8], bool) {
        let start = if index == 0 { 0 } else { self.fields[index - 1].end };
        let field = self.fields[index];
        (&self.bytes[start..field.end], field.quoted)
    }

    /// Whether the record is a line with nothing on it.
    pub fn is_blank_line(&self) -> bool {
        self.fields.len() == 1 && self.fields[0].end == 0 && !self.fields[0].quoted
    }
}

/// How splitting a record ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Split {
    /// A whole record, of this many input bytes and lines.
    Record {
        /// Bytes of input.
        bytes: usize,
        /// Line ends passed.
        lines: u64,
    },
    /// A line that is no record, of this many input bytes.
    Comment {
        /// Bytes of input.
        bytes: usize,
    },
    /// The input ends within the record: more is needed.
    Incomplete,
    /// A quote is open at the end of the file.
    OpenQuote,
    /// The mark behind the last record.
    End,
}

/// Splits the first record off `input`. `last`: nothing follows the input.
pub fn split(input: &[u8], marks: Marks, last: bool, record: &mut Record) -> Split {
    record.clear();
    if marks.comment.is_some() && input.first() == marks.comment.as_ref() {
        return comment(input, last);
    }
    let mut at = 0;
    let mut lines = 0;
    loop {
        let Some(start) = field_start(input, at, marks, last) else {
            return Split::Incomplete;
        };
        at = start;
        let quoted = input.get(at) == Some(&marks.quote);
        if quoted {
            match unquote(&input[at + 1..], marks, last, &mut record.bytes) {
                Quoted::Closed { bytes, lines: passed } => {
                    at += 1 + bytes;
                    lines += passed;
                }
                Quoted::Open if last => return Split::OpenQuote,
                Quoted::Open => return Split::Incomplete,
            }
        }
        let rest = &input[at..];
        let found = memchr3(marks.delimiter, b'\n', b'\r', rest);
        if found.is_none() && !last {
            return Split::Incomplete;
        }
        record
            .bytes
            .extend_from_slice(&rest[..found.unwrap_or(rest.len())]);
        let end = record.bytes.len();
        record.fields.push(Field { end, quoted });
        let bytes = match found {
            None => input.len(),
            Some(found) if rest[found] == marks.delimiter => {
                at += found + 1;
                continue;
            }
            Some(found) => match line_end(input, at + found, last) {
                Some(bytes) => bytes,
                None => return Split::Incomplete,
            },
        };
        return Split::Record {
            bytes,
            lines: lines + 1,
        };
    }
}

/// Position of the field that begins at `at`: behind spaces before a quote if fields are padded. `None` if the input
/// ends in the spaces, and more follows.
fn field_start(input: &[u8], at: usize, marks: Marks, last: bool) -> Option<usize> {
    if !marks.padded {
        return Some(at);
    }
    let spaces = input[at..].iter().take_while(|&&b| b == b' ').count();
    match input.get(at + spaces) {
        Some(next) if *next == marks.quote => Some(at + spaces),
        None if !last => None,
        Some(_) | None => Some(at),
    }
}

/// Position behind the line end (LF, CR or CR LF) at `at`. `None` if the input ends with a CR, and more follows.
fn line_end(input: &[u8], at: usize, last: bool) -> Option<usize> {
    match (input[at], input.get(at + 1)) {
        (b'\r', Some(b'\n')) => Some(at + 2),
        (b'\r', None) if !last => None,
        _ => Some(at + 1),
    }
}

/// The line that the input begins with.
fn comment(input: &[u8], last: bool) -> Split {
    match memchr::memchr2(b'\n', b'\r', input) {
        Some(at) if input[at] == b'\r' => match input.get(at + 1) {
            Some(b'\n') => Split::Comment { bytes: at + 2 },
            None if !last => Split::Incomplete,
            Some(_) | None => Split::Comment { bytes: at + 1 },
        },
        Some(at) => Split::Comment { bytes: at + 1 },
        None if last => Split::Comment { bytes: input.len() },
        None => Split::Incomplete,
    }
}

enum Quoted {
    Closed { bytes: usize, lines: u64 },
    Open,
}

/// Copies a quoted field's content; `input` begins behind the opening quote.
fn unquote(input: &[u8], marks: Marks, last: bool, out: &mut Vec<u8>) -> Quoted {
    let mut at = 0;
    let mut lines = 0;
    loop {
        let found = if marks.escape == marks.quote {
            memchr(marks.quote, &input[at..])
        } else {
            memchr::memchr2(marks.quote, marks.escape, &input[at..])
        };
        let Some(found) = found else { return Quoted::Open };
        let part = &input[at..at + found];
        lines += part.iter().filter(|&&b| b == b'\n').count() as u64;
        out.extend_from_slice(part);
        let mark = input[at + found];
        at += found + 1;
        let next = input.get(at).copied();
        if mark == marks.escape && next.is_some_and(|n| n == marks.quote || n == marks.escape) {
            out.extend(next);
            at += 1;
        } else if mark == marks.quote {
            if next.is_none() && !last {
                return Quoted::Open;
            }
            return Quoted::Closed { bytes: at, lines };
        } else {
            out.push(mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: Marks = Marks {
        delimiter: b',',
        quote: b'"',
        escape: b'"',
        comment: None,
        padded: false,
    };

    fn fields(input: &str) -> (Vec<(String, bool)>, Split) {
        let mut record = Record::default();
        let split = split(input.as_bytes(), MARKS, true, &mut record);
        let text = |i| {
            let (bytes, quoted): (&[u8], bool) = record.field(i);
            (String::from_utf8(bytes.to_vec()).unwrap(), quoted)
        };
        ((0..record.len()).map(text).collect(), split)
    }

    #[test]
    fn splits_quotes_and_line_ends() {
        let plain = |s: &str| (s.to_string(), false);
        let quoted = |s: &str| (s.to_string(), true);
        assert_eq!(
            fields("a,,b\r\nrest"),
            (
                vec![plain("a"), plain(""), plain("b")],
                Split::Record { bytes: 6, lines: 1 }
            )
        );
        assert_eq!(
            fields("\"x\"\"y\nz\",\"\"\n"),
            (
                vec![quoted("x\"y\nz"), quoted("")],
                Split::Record { bytes: 12, lines: 2 }
            )
        );
        assert_eq!(fields("\"open").1, Split::OpenQuote);
        assert_eq!(fields("last").0, [plain("last")]);
    }

    #[test]
    fn a_record_cut_anywhere_is_incomplete_or_the_same() {
        let whole = b"1,\"a \"\"q\"\"\r\n b\",x\r\n";
        let mut record = Record::default();
        for cut in 0..whole.len() {
            assert_eq!(
                split(&whole[..cut], MARKS, false, &mut record),
                Split::Incomplete,
                "cut at {cut}"
            );
        }
        assert_eq!(
            split(whole, MARKS, false, &mut record),
            Split::Record {
                bytes: whole.len(),
                lines: 2
            }
        );
    }
}
