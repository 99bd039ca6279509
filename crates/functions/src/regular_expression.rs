//! PostgreSQL's regular expressions, by the crate `regex`: [`crate::are_syntax`] translates them. What the crate has
//! not (back-references, look-around) is refused. Of several alternatives that match at one place the first is taken,
//! where PostgreSQL takes the longest.

use crate::are_options::{Options, invalid};
use crate::are_syntax::translate;
use crate::byte_runs::ByteRuns;
use crate::matched_rest::in_front_of_rest;
use crate::vector::{Output, Row};
use frazil_types::{Error, Result};
use regex::{Captures, Regex, RegexBuilder};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Compiled expressions that a thread keeps.
const KEPT: usize = 64;

thread_local! {
    static COMPILED: RefCell<HashMap<(String, Options), Rc<Regex>>> = RefCell::default();
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
    /// The part of the expression in front of a `.*$` at its end: its matches begin, and have groups, where those of
    /// the expression do, which reach to the end of the text.
    pub in_front_of_rest: Option<Regex>,
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
    let (translated, options) = translated(pattern, flags)?;
    if options.is_literal && (options.is_expanded || options.stops_at_newline || options.has_lines) {
        return Err(invalid("invalid argument to regex function"));
    }
    let has_no_options = options == Options::default();
    let front = in_front_of_rest(&translated).filter(|_| has_no_options);
    Ok(Expression {
        byte_runs: ByteRuns::of(&translated).filter(|_| has_no_options),
        in_front_of_rest: front.map(|front| compile(&front, options)).transpose()?,
        pattern: pattern.to_owned(),
        flags: flags.to_owned(),
        regex: kept(&translated, options)?,
    })
}

/// An expression as the crate `regex` writes it, and its options.
fn translated(pattern: &str, flags: &str) -> Result<(String, Options)> {
    let mut options = Options::of_flags(flags)?;
    let body = &pattern[options.take_prefix(pattern)?..];
    let translated = match options.is_literal {
        true => regex::escape(body),
        false => translate(body, options)?,
    };
    Ok((translated, options))
}

/// PostgreSQL's regular expression `pattern`, compiled with its flags. Errors as of [`with_regex`].
pub(crate) fn compiled(pattern: &str, flags: &str) -> Result<Regex> {
    let (translated, options) = translated(pattern, flags)?;
    compile(&translated, options)
}

/// [`with_regex`] of an expression that is written as the crate `regex` reads it, without options.
pub(crate) fn with_raw_regex<T>(pattern: &str, f: impl FnOnce(&Regex) -> Result<T>) -> Result<T> {
    f(&*kept(pattern, Options::default())?)
}

/// The expression, compiled once for a thread.
fn kept(pattern: &str, options: Options) -> Result<Rc<Regex>> {
    COMPILED.with_borrow_mut(|compiled| {
        if compiled.len() > KEPT {
            compiled.clear();
        }
        Ok(match compiled.entry((pattern.to_string(), options)) {
            std::collections::hash_map::Entry::Occupied(known) => known.get().clone(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(Rc::new(compile(pattern, options)?)).clone()
            }
        })
    })
}

/// The matches of a text from a byte on, which do not overlap. As in PostgreSQL one of nothing may stand right behind
/// another, and what stands before the byte is still there for `^`, `\y` and their like.
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

/// The expression as the crate `regex` writes it, compiled. Error 2201B.
fn compile(pattern: &str, options: Options) -> Result<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder
        .case_insensitive(options.ignores_case)
        .dot_matches_new_line(!options.stops_at_newline)
        .multi_line(options.has_lines);
    builder.build().map_err(|e| {
        let reason = e.to_string();
        let reason = reason.lines().last().unwrap_or_default();
        invalid(reason.trim_start_matches("error: "))
    })
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
