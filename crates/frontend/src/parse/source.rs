//! Where a token stands in the text: sqlparser counts lines and characters, spans count bytes.

use frazil_types::{Error, Span, SqlState};
use sqlparser::tokenizer::{Location, Span as TokenSpan};
use std::sync::Arc;

/// Characters between two entries of [`Source::marks`].
const STRIDE: usize = 64;

/// A text with the index that finds a line's and a character's byte in constant time.
#[derive(Debug)]
pub(crate) struct Source {
    text: String,
    /// Number of characters before each line.
    lines: Vec<u32>,
    /// Byte of every [`STRIDE`]th character; empty if the text is ASCII.
    marks: Vec<u32>,
}

impl Source {
    pub fn new(text: &str) -> Source {
        let mut lines = vec![0];
        let mut marks = Vec::new();
        let ascii = text.is_ascii();
        for (count, (at, c)) in text.char_indices().enumerate() {
            if !ascii && count % STRIDE == 0 {
                marks.push(at as u32);
            }
            if c == '\n' {
                lines.push(count as u32 + 1);
            }
        }
        let text = text.to_string();
        Source { text, lines, marks }
    }

    /// The byte at a location; the text's end for one outside.
    pub fn byte(&self, at: Location) -> usize {
        let line = (at.line as usize).saturating_sub(1);
        let Some(before) = self.lines.get(line) else {
            return self.text.len();
        };
        let count = *before as usize + (at.column as usize).saturating_sub(1);
        if self.marks.is_empty() {
            return count.min(self.text.len());
        }
        let Some(&mark) = self.marks.get(count / STRIDE) else {
            return self.text.len();
        };
        let mut rest = self.text[mark as usize..].char_indices();
        let found = rest.nth(count % STRIDE);
        found.map_or(self.text.len(), |(i, _)| mark as usize + i)
    }

    /// The character from 1 that starts at a byte: an error's position.
    pub fn position(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        if self.marks.is_empty() {
            return byte + 1;
        }
        let stride = self.marks.partition_point(|m| (*m as usize) <= byte).max(1) - 1;
        let from = self.marks[stride] as usize;
        let within = self.text.get(from..byte).map_or(0, |t| t.chars().count());
        stride * STRIDE + within + 1
    }

    /// The text of a token.
    pub fn token_text(&self, span: TokenSpan) -> &str {
        let (from, to) = (self.byte(span.start), self.byte(span.end));
        self.text.get(from..to).unwrap_or_default()
    }
}

/// Where a statement stands in its script.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    source: Arc<Source>,
    start: usize,
    end: usize,
    /// Whether what stands there has a place in what the user wrote: a view's query has none where the view is read.
    is_written: bool,
}

impl Place {
    pub fn new(source: &Arc<Source>, start: usize, end: usize) -> Place {
        Place {
            source: Arc::clone(source),
            start,
            end: end.max(start),
            is_written: true,
        }
    }

    /// The same text as another statement's, which reads the view whose query it is: all spans are [`Span::NONE`].
    pub fn of_view(&self) -> Place {
        Place {
            is_written: false,
            ..self.clone()
        }
    }

    /// The statement's text.
    pub fn text(&self) -> &str {
        self.source.text.get(self.start..self.end).unwrap_or_default()
    }

    /// A token's span in the statement's text.
    pub fn span(&self, span: TokenSpan) -> Span {
        if span.start.line == 0 || !self.is_written {
            return Span::NONE;
        }
        let byte = |at| self.source.byte(at).saturating_sub(self.start);
        Span::new(byte(span.start), byte(span.end))
    }

    /// The operator of `length` bytes behind an operand that ends at `span`.
    pub fn operator_after(&self, span: Span, length: usize) -> Span {
        if !span.is_some() {
            return span;
        }
        let mut at = span.end as usize;
        let text = self.text();
        while let Some(rest) = text.get(at..) {
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ')');
            at += rest.len() - trimmed.len();
            let comment = comment_length(trimmed);
            if comment == 0 {
                break;
            }
            at += comment;
        }
        Span::new(at, at + length)
    }

    /// The prefix operator or keyword of `length` bytes before an operand at `span`.
    pub fn keyword_before(&self, span: Span, length: usize) -> Span {
        if !span.is_some() {
            return span;
        }
        let before = self.text().get(..span.start as usize).unwrap_or_default();
        let end = before
            .trim_end_matches(|c: char| c.is_whitespace() || c == '(')
            .len();
        let start = end.saturating_sub(length);
        if self.text().is_char_boundary(start) {
            return Span::new(start, end);
        }
        span
    }

    /// An error with the position that its span has in the script, unless the error has a position.
    pub fn located(&self, error: Error) -> Error {
        error.placed_behind(
            self.source.text.get(..self.start).unwrap_or_default(),
            self.text(),
        )
    }
}

/// Length of the comment that a text begins with.
fn comment_length(text: &str) -> usize {
    if text.starts_with("--") {
        return text.find('\n').map_or(text.len(), |end| end + 1);
    }
    if !text.starts_with("/*") {
        return 0;
    }
    let (mut depth, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The syntax error at a token. 42601.
pub(super) fn near(source: &Source, at: Location, text: &str) -> Error {
    let message = format!("syntax error at or near \"{text}\"");
    Error::new(SqlState::SYNTAX_ERROR, message).at_position(source.position(source.byte(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_positions_of_locations_agree() {
        for text in ["select 1,\n  x", "sélect 'größe', x\nfrom ü -- ï\n, t"] {
            let text = text.repeat(40);
            let source = Source::new(&text);
            let (mut line, mut column) = (1, 1);
            for (count, (byte, c)) in text.char_indices().enumerate() {
                assert_eq!(source.byte(Location::new(line, column)), byte);
                assert_eq!(source.position(byte), count + 1);
                if c == '\n' {
                    (line, column) = (line + 1, 1);
                } else {
                    column += 1;
                }
            }
        }
    }

    #[test]
    fn operators_are_found_between_operands() {
        let text = "(a) /* ) + */ -- +\n + b";
        let source = Arc::new(Source::new(text));
        let place = Place::new(&source, 0, text.len());
        let found = place.operator_after(Span::new(1, 2), 1);
        assert_eq!(found.start as usize, text.rfind('+').unwrap());
        assert_eq!(place.keyword_before(Span::new(1, 2), 1), Span::new(0, 0));
    }
}
