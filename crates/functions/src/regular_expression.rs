//! PostgreSQL's regular expressions, by the crate `regex`: its escapes, brackets, quantifiers and flags, translated. What it has
//! not (back-references, look-around) is refused. Of several alternatives that match at one place the first is taken,
//! where PostgreSQL takes the longest.

use crate::byte_runs::ByteRuns;
use crate::quantifiers::Quantifiers;
use crate::vector::{Output, Row};
use frazil_types::{Error, Result, SqlState};
use regex::{Captures, Regex, RegexBuilder};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Compiled expressions that a thread keeps.
const KEPT: usize = 64;

thread_local! {
    static COMPILED: RefCell<HashMap<(String, String), Rc<Regex>>> = RefCell::default();
}

/// What `f` makes of PostgreSQL's regular expression `pattern` with its flags. 2201B, 0A000; 22023 for a flag.
pub(crate) fn with_regex<T>(pattern: &str, flags: &str, f: impl FnOnce(&Regex) -> Result<T>) -> Result<T> {
    with_expression(pattern, flags, |e| f(&e.regex))
}

/// A compiled expression.
pub(crate) struct Expression {
    /// As PostgreSQL writes it.
    pattern: String,
    flags: String,
    pub regex: Rc<Regex>,
    /// How matches are found faster, where the expression is so simple.
    pub byte_runs: Option<ByteRuns>,
}

/// [`with_regex`] with what else is known of the expression, which is kept for the next row.
pub(crate) fn with_expression<T>(
    pattern: &str,
    flags: &str,
    f: impl FnOnce(&Expression) -> Result<T>,
) -> Result<T> {
    thread_local! {
        static LAST: RefCell<Option<Rc<Expression>>> = const { RefCell::new(None) };
    }
    let expression = LAST.with_borrow_mut(|last| match last {
        Some(last) if last.pattern == pattern && last.flags == flags => Ok(last.clone()),
        other => Ok::<_, Error>(other.insert(Rc::new(expression(pattern, flags)?)).clone()),
    })?;
    f(&expression)
}

fn expression(pattern: &str, flags: &str) -> Result<Expression> {
    let literal = flags.contains('q');
    let translated = if literal {
        regex::escape(pattern)
    } else {
        translate(pattern, flags.contains('x'))?
    };
    let regex = kept(&translated, flags)?;
    Ok(Expression {
        byte_runs: ByteRuns::of(&translated, flags),
        pattern: pattern.to_owned(),
        flags: flags.to_owned(),
        regex,
    })
}

/// PostgreSQL's regular expression `pattern`, compiled with its flags. Errors as of [`with_regex`].
pub(crate) fn compiled(pattern: &str, flags: &str) -> Result<Regex> {
    match flags.contains('q') {
        true => compile(&regex::escape(pattern), flags),
        false => compile(&translate(pattern, flags.contains('x'))?, flags),
    }
}

/// [`with_regex`] of an expression that is written as the crate `regex` reads it.
pub(crate) fn with_raw_regex<T>(
    pattern: &str,
    flags: &str,
    f: impl FnOnce(&Regex) -> Result<T>,
) -> Result<T> {
    f(&*kept(pattern, flags)?)
}

/// The expression, compiled once for a thread.
fn kept(pattern: &str, flags: &str) -> Result<Rc<Regex>> {
    COMPILED.with_borrow_mut(|compiled| {
        if compiled.len() > KEPT {
            compiled.clear();
        }
        let key = (pattern.to_string(), flags.to_string());
        Ok(match compiled.entry(key) {
            std::collections::hash_map::Entry::Occupied(known) => known.get().clone(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(Rc::new(compile(pattern, flags)?)).clone()
            }
        })
    })
}

/// The matches of a text from a byte on, which do not overlap. As in PostgreSQL one of nothing may stand right behind another, and what
/// stands before the byte is still there for `^`, `\y` and their like.
pub(crate) fn matches(regex: &Regex, text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut at = Some(from);
    std::iter::from_fn(move || {
        let found = regex.find_at(text, at?)?.range();
        at = behind(text, &found);
        Some(found)
    })
}

/// [`matches`] with their groups.
pub(crate) fn captures<'t>(regex: &Regex, text: &'t str, from: usize) -> impl Iterator<Item = Captures<'t>> {
    let mut at = Some(from);
    std::iter::from_fn(move || {
        let found = regex.captures_at(text, at?)?;
        at = behind(text, &found.get_match().range());
        Some(found)
    })
}

/// Where the search for the next match begins; `None` behind the text.
fn behind(text: &str, found: &Range<usize>) -> Option<usize> {
    match found.is_empty() {
        true => text[found.end..].chars().next().map(|c| found.end + c.len_utf8()),
        false => Some(found.end),
    }
}

/// The expression as the crate `regex` writes it, compiled with PostgreSQL's flags. 2201B; 22023 for a flag.
fn compile(pattern: &str, flags: &str) -> Result<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.dot_matches_new_line(true);
    for flag in flags.chars() {
        match flag {
            'i' => builder.case_insensitive(true),
            'c' => builder.case_insensitive(false),
            'n' | 'm' => builder.multi_line(true).dot_matches_new_line(false),
            's' => builder.multi_line(false).dot_matches_new_line(true),
            'w' => builder.multi_line(true),
            'p' => builder.dot_matches_new_line(false),
            'x' => builder.ignore_whitespace(true),
            'e' | 't' | 'q' | 'g' => &mut builder,
            other => {
                let message = format!("invalid regular expression option: \"{other}\"");
                return Err(Error::new(SqlState::INVALID_PARAMETER, message));
            }
        };
    }
    builder.build().map_err(|e| {
        let reason = e.to_string();
        let reason = reason
            .lines()
            .last()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        Error::new(
            SqlState::INVALID_REGULAR_EXPRESSION,
            format!("invalid regular expression: {reason}"),
        )
    })
}

/// PostgreSQL's escapes, brackets and quantifiers as the crate `regex` writes them. Blanks and comments of an expanded
/// expression stay.
fn translate(pattern: &str, is_expanded: bool) -> Result<String> {
    let mut out = String::with_capacity(pattern.len());
    let mut quantifiers = Quantifiers::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escaped(chars.next(), &mut quantifiers, &mut out)?,
            '(' if chars.next_if_eq(&'?').is_some() => {
                if matches!(chars.peek(), Some('=' | '!' | '<')) {
                    return Err(Error::unsupported("look-around in a regular expression"));
                }
                out.push_str("(?");
                for c in chars.by_ref() {
                    out.push(c);
                    if matches!(c, ':' | ')' | '>') {
                        break;
                    }
                }
                quantifiers.constraint();
            }
            '[' => {
                bracket(&mut chars, &mut out);
                quantifiers.atom();
            }
            c if is_expanded && c.is_whitespace() => out.push(c),
            '#' if is_expanded => {
                out.push(c);
                out.extend(chars.by_ref().take_while(|c| *c != '\n'));
                out.push('\n');
            }
            c => quantifiers.write(c, &mut chars, &mut out)?,
        }
    }
    Ok(out)
}

/// Writes what stands behind a backslash.
fn escaped(c: Option<char>, quantifiers: &mut Quantifiers, out: &mut String) -> Result<()> {
    match c {
        Some('m') => out.push_str(r"\b{start}"),
        Some('M') => out.push_str(r"\b{end}"),
        Some('y') => out.push_str(r"\b"),
        Some('Y') => out.push_str(r"\B"),
        Some('Z') => out.push_str(r"\z"),
        Some('1'..='9') => {
            return Err(Error::unsupported("a back-reference in a regular expression"));
        }
        Some(c) => out.extend(['\\', c]),
        None => {
            let message = "invalid regular expression: invalid escape \\ sequence";
            return Err(Error::new(SqlState::INVALID_REGULAR_EXPRESSION, message));
        }
    }
    match c {
        Some('m' | 'M' | 'y' | 'Y' | 'Z' | 'A') => quantifiers.constraint(),
        _ => quantifiers.atom(),
    }
    Ok(())
}

/// A bracket expression behind its `[`: in PostgreSQL only classes, `^`, `-` and `]` are special in it.
fn bracket(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    out.push('[');
    if chars.peek() == Some(&'^') {
        chars.next();
        out.push('^');
    }
    let mut first = true;
    while let Some(c) = chars.next() {
        match c {
            ']' if !first => {
                out.push(']');
                return;
            }
            ']' => out.push_str(r"\]"),
            '[' if chars.peek() == Some(&':') => {
                out.push('[');
                for c in chars.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            '[' | '&' | '~' => out.extend(['\\', c]),
            '\\' => {
                out.push('\\');
                out.extend(chars.next());
            }
            c => out.push(c),
        }
        first = false;
    }
}

pub(crate) fn regex_row(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let matched = with_regex(row.text(1), "", |regex| Ok(regex.is_match(row.text(0))))?;
    out.bool(matched)
}

pub(crate) fn regex_insensitive_row(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let matched = with_regex(row.text(1), "i", |regex| Ok(regex.is_match(row.text(0))))?;
    out.bool(matched)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_expressions_read_postgresqls_escapes() {
        let matches = |t: &str, p: &str, f: &str| with_regex(p, f, |r| Ok(r.is_match(t)));
        assert!(matches("a word", r"\mword\M", "").unwrap());
        assert!(matches("x[y", "[[]", "").unwrap());
        assert!(matches("a&&b", "[&]", "").unwrap());
        assert!(matches("a\nb", "a.b", "").unwrap());
        assert!(!matches("a\nb", "a.b", "n").unwrap());
        assert!(matches("ABC", "b", "i").unwrap());
        let state = |p: &str| matches("", p, "").unwrap_err().state().0;
        assert_eq!(state("(a"), "2201B");
        assert_eq!(state(r"(a)\1"), "0A000");
        assert_eq!(state("(?=a)"), "0A000");
        assert_eq!(matches("", "a", "y").unwrap_err().state().0, "22023");
    }
}
