//! Patterns of SQL (`SIMILAR TO`, `SUBSTRING … SIMILAR`), by regular expressions.
//!
//! Two separators cut the pattern of SUBSTRING into a part before, the part that is returned and a part behind. The
//! part before takes
//! as little of the text as it can, then the part that is returned takes as much as it can. One expression says so if
//! neither part
//! leaves a choice but the length of one repetition; otherwise every place to cut the text is tried.

use crate::are_options::Options;
use crate::are_syntax::translate;
use crate::escape::escape_character;
use crate::regular_expression::with_raw_regex;
use crate::vector::{Output, Row};
use frazil_types::{Error, Result, SqlState};

/// The parts of a pattern as PostgreSQL's regular expressions: one, or with separators two or three. Errors 22025,
/// 2200C.
fn parts(pattern: &str, escape: &str) -> Result<Vec<String>> {
    let escape = escape_character(escape)?;
    let mut parts = vec![String::new()];
    let mut in_bracket = false;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let count = parts.len();
        let out = &mut parts[count - 1];
        if Some(c) == escape {
            match chars.next() {
                Some('"') if !in_bracket && count < 3 => parts.push(String::new()),
                Some('"') if !in_bracket => {
                    let message =
                        "SQL regular expression may not contain more than two escape-double-quote separators";
                    return Err(Error::new(SqlState("2200C"), message));
                }
                Some(c) => out.extend(['\\', c]),
                // An escape character at the end escapes nothing.
                None => {}
            }
            continue;
        }
        match c {
            '\\' => out.push_str(r"\\"),
            c if in_bracket => {
                in_bracket = c != ']';
                out.push(c);
            }
            '[' => {
                in_bracket = true;
                out.push('[');
            }
            '%' => out.push_str(".*"),
            '_' => out.push('.'),
            '(' => out.push_str("(?:"),
            '.' | '^' | '$' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    Ok(parts)
}

/// An expression that matches the whole of a text, as the crate `regex` reads it. Errors as of [`translate`].
fn whole(expression: &str) -> Result<String> {
    translate(&format!("^(?:{expression})$"), Options::default())
}

pub(crate) fn similar_row(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let pattern = whole(&parts(row.text(1), row.text(2))?.concat())?;
    let matched = with_raw_regex(&pattern, |regex| Ok(regex.is_match(row.text(0))))?;
    out.bool(matched)
}

/// SUBSTRING … SIMILAR: NULL if the text does not match.
pub(crate) fn similar_part(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let text = row.text(0);
    let mut parts = parts(row.text(1), row.text(2))?;
    if parts.len() == 1 {
        let matched = with_raw_regex(&whole(&parts[0])?, |regex| Ok(regex.is_match(text)))?;
        return if matched { out.text(text) } else { out.null() };
    }
    parts.resize(3, String::new());
    // An alternative ends where its part does.
    parts.iter_mut().for_each(|part| *part = format!("(?:{part})"));
    let found = match has_one_way(&parts[0]) && has_one_way(&parts[1]) {
        true => in_one_way(text, &parts)?,
        false => tried(text, &parts, out)?,
    };
    match found {
        Some(found) => out.text(found),
        None => out.null(),
    }
}

/// True if a regular expression has no alternatives, and at most one repetition: then shorter and longer matches
/// differ in its count.
fn has_one_way(expression: &str) -> bool {
    let mut repetitions = 0;
    let mut chars = expression.chars();
    let mut in_bracket = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '[' => in_bracket = true,
            ']' => in_bracket = false,
            '|' if !in_bracket => return false,
            '*' | '+' | '{' if !in_bracket => repetitions += 1,
            '(' if !in_bracket && chars.as_str().starts_with("?:") => drop(chars.nth(1)),
            '?' if !in_bracket => return false,
            _ => {}
        }
    }
    repetitions <= 1
}

/// The part that is returned, by one expression whose first part takes as little as it can.
fn in_one_way<'t>(text: &'t str, parts: &[String]) -> Result<Option<&'t str>> {
    let first = translate(&parts[0], Options::default())?;
    let lazy = lazy(&first);
    let (second, third) = (
        translate(&parts[1], Options::default())?,
        translate(&parts[2], Options::default())?,
    );
    let pattern = format!("^(?:{lazy})({second})(?:{third})$");
    with_raw_regex(&pattern, |regex| {
        let captures = regex.captures(text);
        Ok(captures.and_then(|c| c.get(1)).map(|found| found.as_str()))
    })
}

/// An expression whose repetition takes as little as it can.
fn lazy(expression: &str) -> String {
    let mut out = String::new();
    let mut chars = expression.chars();
    let (mut in_bracket, mut in_bound) = (false, false);
    while let Some(c) = chars.next() {
        out.push(c);
        match c {
            '\\' => out.extend(chars.next()),
            '[' => in_bracket = true,
            ']' => in_bracket = false,
            '{' if !in_bracket => in_bound = true,
            '*' | '+' if !in_bracket => out.push('?'),
            '}' if in_bound => {
                in_bound = false;
                out.push('?');
            }
            _ => {}
        }
    }
    out
}

/// The part that is returned, behind the first place and in front of the last one where the text can be cut. Error
/// 57014.
fn tried<'t>(text: &'t str, parts: &[String], out: &Output) -> Result<Option<&'t str>> {
    let is_match = |pattern: &str, part: &str| with_raw_regex(pattern, |regex| Ok(regex.is_match(part)));
    if !is_match(&whole(&parts.concat())?, text)? {
        return Ok(None);
    }
    let [first, second, third] = [whole(&parts[0])?, whole(&parts[1])?, whole(&parts[2])?];
    let behind = whole(&parts[1..].concat())?;
    let places = || text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let mut start = None;
    for at in places() {
        out.check()?;
        if is_match(&first, &text[..at])? && is_match(&behind, &text[at..])? {
            start = Some(at);
            break;
        }
    }
    let Some(start) = start else { return Ok(None) };
    let ends: Vec<usize> = places().filter(|at| *at >= start).collect();
    for end in ends.into_iter().rev() {
        out.check()?;
        if is_match(&second, &text[start..end])? && is_match(&third, &text[end..])? {
            return Ok(Some(&text[start..end]));
        }
    }
    Ok(None)
}
