//! Pattern text → shape.

use super::{LikePattern, Shape};
use frazil_types::{Error, Result, SqlState};
use memchr::memmem::Finder;

/// What stands between two `%`: bytes and single-character wildcards.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    items: Vec<Item>,
}

#[derive(Clone, Debug)]
enum Item {
    Bytes(Vec<u8>),
    AnyChar,
}

impl Segment {
    fn push_char(&mut self, c: char) {
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        match self.items.last_mut() {
            Some(Item::Bytes(last)) => last.extend_from_slice(bytes),
            _ => self.items.push(Item::Bytes(bytes.to_vec())),
        }
    }

    /// Its bytes, if it has no wildcard.
    fn literal(&self) -> Option<&[u8]> {
        match &self.items[..] {
            [] => Some(&[]),
            [Item::Bytes(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// Where the segment ends if it matches `text` from `at` on; `at` is the start of a code point.
    pub(super) fn match_at(&self, text: &[u8], mut at: usize) -> Option<usize> {
        for item in &self.items {
            at += match item {
                Item::Bytes(bytes) => text[at..].starts_with(bytes).then_some(bytes.len())?,
                Item::AnyChar => char_len(*text.get(at)?).min(text.len() - at),
            };
        }
        Some(at)
    }
}

/// Bytes of the code point that begins with `first`.
fn char_len(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

impl LikePattern {
    /// Compiles a pattern; `escape` makes the next character stand for itself (backslash by default in
    /// SQL, `None` for `ESCAPE ''`). A pattern that ends in its escape is an error of condition 22025.
    pub fn compile(pattern: &str, escape: Option<char>) -> Result<LikePattern> {
        let segments = split(pattern, escape)?;
        Ok(LikePattern {
            shape: shape_of(segments),
        })
    }
}

/// The segments between the `%`s: one more than there are `%`s.
fn split(pattern: &str, escape: Option<char>) -> Result<Vec<Segment>> {
    let mut segments = vec![];
    let mut current = Segment::default();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            let Some(escaped) = chars.next() else {
                return Err(Error::new(
                    SqlState::INVALID_ESCAPE,
                    "LIKE pattern must not end with escape character",
                ));
            };
            current.push_char(escaped);
        } else if c == '%' {
            segments.push(std::mem::take(&mut current));
        } else if c == '_' {
            current.items.push(Item::AnyChar);
        } else {
            current.push_char(c);
        }
    }
    segments.push(current);
    Ok(segments)
}

fn shape_of(mut segments: Vec<Segment>) -> Shape {
    let literals: Option<Vec<&[u8]>> = segments.iter().map(Segment::literal).collect();
    match literals.as_deref() {
        Some([exact]) => Shape::Exact(exact.to_vec()),
        Some([prefix, needles @ .., suffix]) => Shape::Literal {
            prefix: prefix.to_vec(),
            needles: needles
                .iter()
                .filter(|needle| !needle.is_empty())
                .map(|needle| Finder::new(needle).into_owned())
                .collect(),
            suffix: suffix.to_vec(),
        },
        _ => {
            let first = segments.remove(0);
            match segments.pop() {
                None => Shape::Single(first),
                Some(last) => Shape::General {
                    first,
                    middle: segments,
                    last,
                },
            }
        }
    }
}
