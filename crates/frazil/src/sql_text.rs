//! Cuts text into what programs around SQL must tell apart: words, numbers, strings, quoted names, comments. Where a
//! statement ends, what is coloured or completed and where variables and parameters stand follows from these.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// White space.
    Blank,
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A string: `'…'`, `e'…'` or `$tag$…$tag$`.
    Text,
    /// A name in double quotes.
    QuotedName,
    /// A comment of either kind.
    Comment,
    /// Any other character.
    Symbol,
}

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// False if the text ends before the token does.
    pub closed: bool,
}

/// The tokens of `text`; together they are the text.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let (kind, length, closed) = token(rest, first);
        let range = at..at + length;
        at += length;
        Some(Token { kind, range, closed })
    })
}

/// TokenKind and bytes of the token that `rest` begins with, and whether the token ends before the text does.
fn token(rest: &str, first: char) -> (TokenKind, usize, bool) {
    let run = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
    match first {
        c if c.is_whitespace() => (TokenKind::Blank, run(char::is_whitespace), true),
        '\'' => quoted(TokenKind::Text, rest, 1, '\'', false),
        'e' | 'E' if rest[1..].starts_with('\'') => quoted(TokenKind::Text, rest, 2, '\'', true),
        '"' => quoted(TokenKind::QuotedName, rest, 1, '"', false),
        '$' => match dollar_tag(rest) {
            Some(tag) => until(TokenKind::Text, rest, tag.len(), tag),
            None => (TokenKind::Symbol, 1, true),
        },
        '-' if rest.starts_with("--") => match rest.find('\n') {
            Some(end) => (TokenKind::Comment, end + 1, true),
            None => (TokenKind::Comment, rest.len(), false),
        },
        '/' if rest.starts_with("/*") => block_comment(rest),
        c if c.is_ascii_digit() => (TokenKind::Number, number(rest), true),
        c if is_of_word(c) => (TokenKind::Word, run(is_of_word), true),
        c => (TokenKind::Symbol, c.len_utf8(), true),
    }
}

/// The line of `text` that character `position` (from 1) is in, with its number, and a line with a caret under the
/// character.
pub fn pointer(text: &str, position: usize) -> String {
    let before: String = text.chars().take(position.saturating_sub(1)).collect();
    let number = before.matches('\n').count();
    let column = before.chars().rev().take_while(|&c| c != '\n').count();
    let line = text.lines().nth(number).unwrap_or_default();
    let label = format!("LINE {}: ", number + 1);
    let blank = " ".repeat(label.len() + column);
    format!("{label}{}\n{blank}^", line.replace('\t', " "))
}

/// True for what a name without quotes is made of.
pub fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn quoted(kind: TokenKind, rest: &str, start: usize, mark: char, escapes: bool) -> (TokenKind, usize, bool) {
    let mut at = start;
    while let Some(found) = rest[at..].find([mark, '\\']) {
        let end = at + found + 1;
        let is_escape = rest.as_bytes()[end - 1] == b'\\';
        if is_escape {
            let escaped = rest[end..].chars().next().filter(|_| escapes);
            at = end + escaped.map_or(0, char::len_utf8);
        } else if rest[end..].starts_with(mark) {
            at = end + 1;
        } else {
            return (kind, end, true);
        }
    }
    (kind, rest.len(), false)
}

fn until(kind: TokenKind, rest: &str, start: usize, end: &str) -> (TokenKind, usize, bool) {
    match rest[start..].find(end) {
        Some(found) => (kind, start + found + end.len(), true),
        None => (kind, rest.len(), false),
    }
}

/// Comments nest, as in PostgreSQL.
fn block_comment(rest: &str) -> (TokenKind, usize, bool) {
    let (mut depth, mut at) = (1, 2);
    while let Some(found) = rest[at..].find(['*', '/']) {
        at += found;
        if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
        } else if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else {
            at += 1;
        }
        if depth == 0 {
            return (TokenKind::Comment, at, true);
        }
    }
    (TokenKind::Comment, rest.len(), false)
}

fn number(rest: &str) -> usize {
    let mut previous = '0';
    let end = rest.find(|c: char| {
        let is_sign_of_exponent = matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
        previous = c;
        !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || is_sign_of_exponent)
    });
    end.unwrap_or(rest.len())
}

/// The `$tag$` that `text` begins with; `None` for a parameter such as `$1`.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 2;
    let name = &text[1..end - 1];
    let fits = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (fits && !name.starts_with(|c: char| c.is_ascii_digit())).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        (tokens(text).filter(|t| t.kind != TokenKind::Blank))
            .map(|t| (t.kind, &text[t.range]))
            .collect()
    }

    #[test]
    fn tokens_are_told_apart() {
        assert_eq!(
            kinds("select e'a\\'b', 'it''s\\', $x$;'$x$, $1, \"q\"\"n\", 1e-5, a$b -- c"),
            [
                (TokenKind::Word, "select"),
                (TokenKind::Text, "e'a\\'b'"),
                (TokenKind::Symbol, ","),
                (TokenKind::Text, "'it''s\\'"),
                (TokenKind::Symbol, ","),
                (TokenKind::Text, "$x$;'$x$"),
                (TokenKind::Symbol, ","),
                (TokenKind::Symbol, "$"),
                (TokenKind::Number, "1"),
                (TokenKind::Symbol, ","),
                (TokenKind::QuotedName, "\"q\"\"n\""),
                (TokenKind::Symbol, ","),
                (TokenKind::Number, "1e-5"),
                (TokenKind::Symbol, ","),
                (TokenKind::Word, "a$b"),
                (TokenKind::Comment, "-- c"),
            ]
        );
        assert_eq!(
            kinds("/* a /* b */ c */x"),
            [(TokenKind::Comment, "/* a /* b */ c */"), (TokenKind::Word, "x")]
        );
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        let text = "select 1,\n\tx from t";
        assert_eq!(pointer(text, 12), "LINE 2:  x from t\n         ^");
        assert_eq!(pointer("größe", 6), "LINE 1: größe\n             ^");
    }

    #[test]
    fn what_the_text_cuts_off_is_open() {
        for text in ["'a", "\"a", "e'\\'", "$$ $", "/* */ /* /* */", "-- a"] {
            assert!(tokens(text).last().is_some_and(|t| !t.closed), "{text}");
            assert_eq!(tokens(text).last().map(|t| t.range.end), Some(text.len()));
        }
    }
}
