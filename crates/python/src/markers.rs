//! The ways in which PEP 249 lets a statement mark its parameters. A text is rewritten to `$1`, `$2` and so on, which is
//! what the engine knows; those are taken in every style.

use crate::errors::ProgrammingError;
use frazil::sql_text::{Token, TokenKind, tokens};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Rewritten texts that a connection keeps at most.
const MOST_KEPT: usize = 256;

/// How parameters are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamStyle {
    /// `?`
    Qmark,
    /// `:1`
    Numeric,
    /// `:name`
    Named,
    /// `%s`
    Format,
    /// `%(name)s`
    Pyformat,
    /// `$1`, and nothing else.
    NumericDollar,
}

/// The styles by the names that PEP 249 gives them.
const NAMES: [(&str, ParamStyle); 6] = [
    ("qmark", ParamStyle::Qmark),
    ("numeric", ParamStyle::Numeric),
    ("named", ParamStyle::Named),
    ("format", ParamStyle::Format),
    ("pyformat", ParamStyle::Pyformat),
    ("numeric_dollar", ParamStyle::NumericDollar),
];

impl ParamStyle {
    /// The style of a name. ProgrammingError if there is none.
    pub fn named(name: &str) -> PyResult<ParamStyle> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, style)| *style).ok_or_else(|| {
            let known: Vec<&str> = NAMES.iter().map(|(known, _)| *known).collect();
            let message = format!(
                "there is no paramstyle \"{name}\"; there are {}",
                known.join(", ")
            );
            ProgrammingError::new_err(message)
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(_, style)| *style == self)
            .map_or("", |(name, _)| name)
    }

    /// The style in which a statement is read that is given values by name, or in order.
    pub fn of_call(self, by_name: bool) -> ParamStyle {
        match (self, by_name) {
            (ParamStyle::Pyformat, true) => ParamStyle::Pyformat,
            (_, true) => ParamStyle::Named,
            (ParamStyle::Pyformat, false) => ParamStyle::Format,
            (ParamStyle::Named, false) => ParamStyle::Qmark,
            (style, false) => style,
        }
    }

    /// The character with which markers begin; `None`: no text is rewritten.
    fn mark(self) -> Option<char> {
        match self {
            ParamStyle::Qmark => Some('?'),
            ParamStyle::Numeric | ParamStyle::Named => Some(':'),
            ParamStyle::Format | ParamStyle::Pyformat => Some('%'),
            ParamStyle::NumericDollar => None,
        }
    }
}

/// A text whose parameters are `$1`, `$2` and so on.
#[derive(Debug, PartialEq, Eq)]
pub struct Marked {
    /// The text.
    pub sql: String,
    /// The names of `$1`, `$2` and so on, if they have names.
    pub names: Option<Vec<String>>,
    /// Markers that take the next value each.
    pub in_order: usize,
    /// Rewritten pieces, in the text's order.
    changes: Vec<Change>,
}

/// A rewritten piece of a text.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    /// Bytes of the marker in the text as it was given.
    given: Range<usize>,
    /// Bytes of the marker in the rewritten text.
    made: Range<usize>,
}

impl Marked {
    /// The position in the text as it was given, of a position in the rewritten text: characters from 1.
    pub fn given_position(&self, given: &str, position: usize) -> usize {
        let found = self.sql.char_indices().nth(position - 1);
        let byte = found.map_or(self.sql.len(), |(byte, _)| byte);
        let before = self.changes.partition_point(|change| change.made.start <= byte);
        let byte = match before.checked_sub(1).map(|last| &self.changes[last]) {
            None => byte,
            Some(change) if byte < change.made.end => change.given.start,
            Some(change) => byte - change.made.end + change.given.end,
        };
        given.get(..byte).unwrap_or(given).chars().count() + 1
    }
}

/// Rewritten texts of a connection.
#[derive(Debug, Default)]
pub struct MarkedTexts(Mutex<HashMap<(ParamStyle, String), Arc<Marked>>>);

impl MarkedTexts {
    /// A text in a style, rewritten. ProgrammingError for markers of two kinds, or one that is none.
    pub fn get(&self, style: ParamStyle, sql: &str) -> PyResult<Arc<Marked>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (style, sql.to_owned());
        if let Some(known) = kept.get(&key) {
            return Ok(known.clone());
        }
        let made = Arc::new(rewrite(style, sql)?);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, made.clone());
        Ok(made)
    }
}

/// Whether a text may have markers that are to be rewritten.
pub fn has_markers(style: ParamStyle, sql: &str) -> bool {
    style.mark().is_some_and(|mark| sql.contains(mark))
}

/// What stands in place of a marker.
enum Marker {
    /// The next value.
    Next,
    /// The value at a position, counted from 1.
    At(String),
    /// The value of a name.
    Name(String),
    /// A sign that is written twice.
    Sign(&'static str),
}

/// Rewrites markers outside of strings, quoted names and comments.
fn rewrite(style: ParamStyle, sql: &str) -> PyResult<Marked> {
    let all: Vec<Token> = tokens(sql).collect();
    let text = |at: usize| all.get(at).map_or("", |token| &sql[token.range.clone()]);
    let mut out = String::with_capacity(sql.len() + 16);
    let (mut names, mut next, mut at): (Vec<String>, usize, usize) = (Vec::new(), 0, 0);
    let (mut dollars, mut changes) = (false, Vec::new());
    while at < all.len() {
        let is_dollar = text(at) == "$" && all.get(at + 1).is_some_and(|t| t.kind == TokenKind::Number);
        dollars |= is_dollar;
        let found = match all[at].kind {
            TokenKind::Symbol => marker(style, &all, at, &text)?,
            _ => None,
        };
        let Some((marker, length)) = found else {
            // What is written twice is no marker: a cast.
            let length = if text(at) == ":" && text(at + 1) == ":" {
                2
            } else {
                1
            };
            (at..at + length).for_each(|at| out.push_str(text(at)));
            at += length;
            continue;
        };
        let made = out.len();
        match marker {
            Marker::Next => {
                next += 1;
                out.push_str(&format!("${next}"));
            }
            Marker::At(position) => out.push_str(&format!("${position}")),
            Marker::Name(name) => {
                let known = names.iter().position(|n| *n == name);
                let place = known.unwrap_or(names.len());
                if known.is_none() {
                    names.push(name);
                }
                out.push_str(&format!("${}", place + 1));
            }
            Marker::Sign(sign) => out.push_str(sign),
        }
        changes.push(Change {
            given: all[at].range.start..all[at + length - 1].range.end,
            made: made..out.len(),
        });
        at += length;
    }
    if dollars && (next > 0 || !names.is_empty()) {
        let message = "the statement marks some parameters by $ and a number, others in another way";
        return Err(ProgrammingError::new_err(message));
    }
    let by_name = matches!(style, ParamStyle::Named | ParamStyle::Pyformat) && !dollars;
    Ok(Marked {
        sql: out,
        names: by_name.then_some(names),
        in_order: next,
        changes,
    })
}

/// The marker that begins with the symbol at a token, and the tokens that it takes.
fn marker<'a>(
    style: ParamStyle,
    all: &[Token],
    at: usize,
    text: &impl Fn(usize) -> &'a str,
) -> PyResult<Option<(Marker, usize)>> {
    let kind = |at: usize| all.get(at).map(|token| token.kind);
    Ok(match (style, text(at)) {
        (ParamStyle::Qmark, "?") if text(at + 1) == "?" => Some((Marker::Sign("?"), 2)),
        (ParamStyle::Qmark, "?") => Some((Marker::Next, 1)),
        (ParamStyle::Numeric, ":") if kind(at + 1) == Some(TokenKind::Number) => {
            Some((Marker::At(text(at + 1).to_owned()), 2))
        }
        (ParamStyle::Named, ":") if kind(at + 1) == Some(TokenKind::Word) => {
            Some((Marker::Name(text(at + 1).to_owned()), 2))
        }
        (ParamStyle::Format | ParamStyle::Pyformat, "%") if text(at + 1) == "%" => {
            Some((Marker::Sign("%"), 2))
        }
        (ParamStyle::Format, "%") if text(at + 1) == "s" => Some((Marker::Next, 2)),
        (ParamStyle::Pyformat, "%") if text(at + 1) == "(" => {
            if kind(at + 2) != Some(TokenKind::Word) || text(at + 3) != ")" || text(at + 4) != "s" {
                let message = "a parameter is marked as %(name)s, and the sign % is written as %%";
                return Err(ProgrammingError::new_err(message));
            }
            Some((Marker::Name(text(at + 2).to_owned()), 5))
        }
        (ParamStyle::Format | ParamStyle::Pyformat, "%") => {
            let message = "a parameter is marked as %s or %(name)s, and the sign % is written as %%";
            return Err(ProgrammingError::new_err(message));
        }
        _ => None,
    })
}
