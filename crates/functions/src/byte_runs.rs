//! Regular expressions that are one class of ASCII characters, alone or with `+`, such as `[0-9]+`: matches are found
//! by a table of bytes. In UTF-8 no byte of another character is ASCII.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::Range;

/// Characters of a class, or runs of them.
pub(crate) struct ByteRuns {
    /// Whether a byte is one of the class.
    is_member: [bool; 256],
    /// Whether a match goes on while characters are of the class.
    is_run: bool,
}

impl ByteRuns {
    /// Of an expression in the syntax of the crate `regex`, which has no options; `None` if the expression is anything
    /// else.
    pub fn of(expression: &str) -> Option<ByteRuns> {
        let mut parser = ParserBuilder::new().dot_matches_new_line(true).build();
        let parsed = parser.parse(expression).ok()?;
        match parsed.kind() {
            HirKind::Repetition(r) if (r.min, r.max, r.greedy) == (1, None, true) => {
                ByteRuns::class(&r.sub, true)
            }
            _ => ByteRuns::class(&parsed, false),
        }
    }

    fn class(class: &Hir, is_run: bool) -> Option<ByteRuns> {
        let mut is_member = [false; 256];
        match class.kind() {
            HirKind::Class(Class::Unicode(class)) if class.is_ascii() => {
                for range in class.ranges() {
                    is_member[range.start() as usize..=range.end() as usize].fill(true);
                }
            }
            HirKind::Literal(literal) => match *literal.0 {
                [byte] if byte.is_ascii() => is_member[usize::from(byte)] = true,
                _ => return None,
            },
            _ => return None,
        }
        Some(ByteRuns { is_member, is_run })
    }

    /// All matches of a text that begin at a byte or behind, which do not overlap, in bytes.
    pub fn find_iter(&self, text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
        let mut at = from;
        std::iter::from_fn(move || {
            let found = self.find_at(text, at)?;
            at = found.end;
            Some(found)
        })
    }

    /// The first match in a text that begins at a byte or behind.
    #[inline]
    pub fn find_at(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let bytes = text.as_bytes().get(at..)?;
        let is_member = |byte: &u8| self.is_member[usize::from(*byte)];
        let start = bytes.iter().position(is_member)?;
        let len = match self.is_run {
            true => bytes[start..].iter().take_while(|byte| is_member(byte)).count(),
            false => 1,
        };
        Some(at + start..at + start + len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn finds_what_the_expression_matches() {
        let texts = [
            "",
            "a",
            "7",
            "ab 12 cd 345",
            "12",
            "ünïcödé 9é9",
            "  x\ty\n",
            "aaa",
            "\u{7f}\u{80}",
            "a+a",
            "[0-9]+",
        ];
        let expressions = [
            "[0-9]+",
            "[a-c]",
            "a+",
            "a",
            r"[ \t\n]+",
            "[[:digit:]]+",
            r"\+",
            "[^\u{80}-\u{10ffff}a]+",
        ];
        for expression in expressions {
            let (runs, regex) = (ByteRuns::of(expression).unwrap(), Regex::new(expression).unwrap());
            for text in texts {
                let all: Vec<_> = regex.find_iter(text).map(|m| m.range()).collect();
                assert_eq!(
                    runs.find_iter(text, 0).collect::<Vec<_>>(),
                    all,
                    "{expression} in {text:?}"
                );
                for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                    let expected = regex.find_at(text, at).map(|m| m.range());
                    assert_eq!(
                        runs.find_at(text, at),
                        expected,
                        "{expression} in {text:?} from {at}"
                    );
                }
            }
        }
    }

    #[test]
    fn leaves_all_others() {
        for other in [
            "",
            "ab",
            "é",
            "[0-9]*",
            "[0-9]+?",
            "[0-9]{2,}",
            "a|b+",
            "(a)",
            "^a",
            "[^a]+",
            r"\d+",
            "a+b",
            ".",
        ] {
            assert!(ByteRuns::of(other).is_none(), "{other}");
        }
    }
}
