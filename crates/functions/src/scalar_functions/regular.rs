//! Functions of regular expressions, and `substring`, which takes them too.

use super::bytes;
use crate::function::{Function, plan, rows};
use crate::regular_expression::{captures, matches, with_expression, with_regex};
use crate::similar::similar_part;
use crate::type_rules::Kind::{Boolean, Integer, Text};
use crate::vector::{Output, Row, check_length};
use frazil_plan::ScalarFunction;
use frazil_types::{Error, Result, SqlState};
use regex::{Captures, Match};
use std::ops::Range;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "regexp_count",
        overloads: &[
            rows(&[Text, Text], count, Integer),
            rows(&[Text, Text, Integer], count, Integer),
            rows(&[Text, Text, Integer, Text], count, Integer),
        ],
        description: "the number of matches of a regular expression, from a position, with flags",
    },
    Function {
        name: "regexp_instr",
        overloads: &[
            rows(&[Text, Text], instr, Integer),
            rows(&[Text, Text, Integer], instr, Integer),
            rows(&[Text, Text, Integer, Integer], instr, Integer),
            rows(&[Text, Text, Integer, Integer, Integer], instr, Integer),
            rows(&[Text, Text, Integer, Integer, Integer, Text], instr, Integer),
            rows(
                &[Text, Text, Integer, Integer, Integer, Text, Integer],
                instr,
                Integer,
            ),
        ],
        description: "the position of the n-th match, or of a group of it; with 1 as the fifth argument, the position after it; 0 if there is none",
    },
    Function {
        name: "regexp_like",
        overloads: &[
            rows(&[Text, Text], like, Boolean),
            rows(&[Text, Text, Text], like, Boolean),
        ],
        description: "true if a regular expression matches, with flags",
    },
    Function {
        name: "regexp_replace",
        overloads: &[
            rows(&[Text, Text, Text], replace, Text),
            rows(&[Text, Text, Text, Text], replace, Text),
            rows(&[Text, Text, Text, Integer], replace_from, Text),
            rows(&[Text, Text, Text, Integer, Integer], replace_from, Text),
            rows(&[Text, Text, Text, Integer, Integer, Text], replace_from, Text),
        ],
        description: "the first match, with flag g every match, replaced; `\\1` to `\\9` stand for groups, `\\&` for the match",
    },
    Function {
        name: "regexp_substr",
        overloads: &[
            rows(&[Text, Text], substr, Text),
            rows(&[Text, Text, Integer], substr, Text),
            rows(&[Text, Text, Integer, Integer], substr, Text),
            rows(&[Text, Text, Integer, Integer, Text], substr, Text),
            rows(&[Text, Text, Integer, Integer, Text, Integer], substr, Text),
        ],
        description: "the n-th match from a position, with flags, or a group of it; NULL if there is none",
    },
    Function {
        name: "substring",
        overloads: &[
            plan(&[Text, Integer], ScalarFunction::Substring, Text),
            plan(&[Text, Integer, Integer], ScalarFunction::Substring, Text),
            rows(&[Text, Text], matched_part, Text),
            rows(&[Text, Text, Text], similar_part, Text),
            bytes::SUBSTRING,
            bytes::SUBSTRING_OF,
        ],
        description: "the part from a position, of a length; or what a regular expression, or its first group, matches",
    },
    Function {
        name: "substring_similar",
        overloads: &[rows(&[Text, Text, Text], similar_part, Text)],
        description: "the part of a text between the separators of an SQL pattern",
    },
];

fn invalid(name: &str, value: i64) -> Error {
    let message = format!("invalid value for parameter \"{name}\": {value}");
    Error::new(SqlState::INVALID_PARAMETER, message)
}

/// An integer argument of at least `least`, or what it is where it is missing. Error 22023.
fn number(row: &Row<'_>, argument: usize, name: &str, least: i64, missing: i64) -> Result<usize> {
    let value = if row.arguments() > argument {
        row.int(argument)
    } else {
        missing
    };
    if value < least {
        return Err(invalid(name, value));
    }
    Ok(value as usize)
}

/// Flags, of which `g` is for regexp_replace alone. Error 22023.
fn flags<'a>(row: &'a Row<'_>, argument: usize, function: &str) -> Result<&'a str> {
    let flags = if row.arguments() > argument {
        row.text(argument)
    } else {
        ""
    };
    if flags.contains('g') {
        let message = format!("{function} does not support the \"global\" option");
        return Err(Error::new(SqlState::INVALID_PARAMETER, message));
    }
    Ok(flags)
}

/// Where character `n`, from 1, begins.
fn byte_of(text: &str, n: usize) -> Option<usize> {
    let starts = text.char_indices().map(|c| c.0).chain([text.len()]);
    starts.into_iter().nth(n - 1)
}

fn count(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let start = number(row, 2, "start", 1, 1)?;
    let flags = flags(row, 3, "regexp_count()")?;
    let text = row.text(0);
    let found = with_regex(row.text(1), flags, |regex| {
        Ok(byte_of(text, start).map_or(0, |at| matches(regex, text, at).count()))
    })?;
    out.int(found as i128)
}

fn like(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let flags = flags(row, 2, "regexp_like()")?;
    out.bool(with_regex(row.text(1), flags, |regex| {
        Ok(regex.is_match(row.text(0)))
    })?)
}

fn instr(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let start = number(row, 2, "start", 1, 1)?;
    let nth = number(row, 3, "n", 1, 1)?;
    let end = number(row, 4, "endoption", 0, 0)?;
    if end > 1 {
        return Err(invalid("endoption", end as i64));
    }
    let flags = flags(row, 5, "regexp_instr()")?;
    let group = number(row, 6, "subexpr", 0, 0)?;
    let text = row.text(0);
    let at = with_regex(row.text(1), flags, |regex| {
        let found = byte_of(text, start).and_then(|from| match group {
            0 => matches(regex, text, from).nth(nth - 1),
            _ => {
                let found = captures(regex, text, from).nth(nth - 1);
                found.and_then(|c| Some(group_of(&c, group)?.range()))
            }
        });
        Ok(found.map(|m| if end == 1 { m.end } else { m.start }))
    })?;
    out.int(at.map_or(0, |at| text[..at].chars().count() as i128 + 1))
}

/// A group of a match; without groups the whole match is the first one.
fn group_of<'t>(captures: &Captures<'t>, group: usize) -> Option<Match<'t>> {
    let is_whole = captures.len() == 1 && group == 1;
    captures.get(if is_whole { 0 } else { group })
}

fn substr(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let start = number(row, 2, "start", 1, 1)?;
    let nth = number(row, 3, "n", 1, 1)?;
    let flags = flags(row, 4, "regexp_substr()")?;
    let group = number(row, 5, "subexpr", 0, 0)?;
    let text = row.text(0);
    let found = with_regex(row.text(1), flags, |regex| {
        let found = byte_of(text, start).and_then(|at| captures(regex, text, at).nth(nth - 1));
        Ok(found.and_then(|c| group_of(&c, group)).map(|m| m.as_str()))
    })?;
    match found {
        Some(found) => out.text(found),
        None => out.null(),
    }
}

/// A replacement text with the groups of a match put in; `whole` is what is matched.
fn push_replacement(replacement: &str, whole: &str, captures: &Captures<'_>, out: &mut String) {
    let mut chars = replacement.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('&') => out.push_str(whole),
            Some(d @ '1'..='9') => {
                out.push_str(captures.get(d as usize - '0' as usize).map_or("", |m| m.as_str()));
            }
            Some('\\') => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
}

/// Which matches are replaced.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    All,
    Nth(usize),
}

fn replaced(row: &Row<'_>, start: usize, which: Which, flags: &str, out: &mut Output) -> Result<()> {
    let text = row.text(0);
    with_expression(row.text(1), flags, |expression| {
        // From behind the text's end nothing matches.
        let Some(start) = byte_of(text, start) else {
            out.scratch.push_str(text);
            return Ok(());
        };
        let mut copied = 0;
        if !row.text(2).contains('\\') {
            return match &expression.byte_runs {
                Some(runs) => replace_matches(runs.find_iter(text, start), text, row.text(2), which, out),
                None => {
                    let matches = matches(&expression.regex, text, start);
                    replace_matches(matches, text, row.text(2), which, out)
                }
            };
        }
        if let (Some(front), Which::Nth(1)) = (&expression.in_front_of_rest, which) {
            let Some(captures) = front.captures_at(text, start) else {
                out.scratch.push_str(text);
                return Ok(());
            };
            let (before, whole) = text.split_at(captures.get_match().start());
            out.scratch.push_str(before);
            push_replacement(row.text(2), whole, &captures, &mut out.scratch);
            check_length(out.scratch.len())?;
            return out.check();
        }
        for (i, captures) in captures(&expression.regex, text, start).enumerate() {
            if matches!(which, Which::Nth(n) if n != i + 1) {
                continue;
            }
            let whole = captures.get_match();
            out.scratch.push_str(&text[copied..whole.start()]);
            push_replacement(row.text(2), whole.as_str(), &captures, &mut out.scratch);
            check_length(out.scratch.len())?;
            out.check()?;
            copied = whole.end();
            if which != Which::All {
                break;
            }
        }
        out.scratch.push_str(&text[copied..]);
        Ok(())
    })?;
    out.scratch()
}

/// Adds a text to the one in the making, its matches replaced by a text that names no group. Errors 54000, 57014.
fn replace_matches(
    matches: impl Iterator<Item = Range<usize>>,
    text: &str,
    by: &str,
    which: Which,
    out: &mut Output,
) -> Result<()> {
    let mut copied = 0;
    for (i, found) in matches.enumerate() {
        if matches!(which, Which::Nth(n) if n != i + 1) {
            continue;
        }
        out.scratch.push_str(&text[copied..found.start]);
        out.scratch.push_str(by);
        check_length(out.scratch.len())?;
        out.check()?;
        copied = found.end;
        if which != Which::All {
            break;
        }
    }
    out.scratch.push_str(&text[copied..]);
    Ok(())
}

fn replace(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let flags = if row.arguments() > 3 { row.text(3) } else { "" };
    let which = if flags.contains('g') {
        Which::All
    } else {
        Which::Nth(1)
    };
    if flags.starts_with(|c: char| c.is_ascii_digit()) {
        let message = format!("invalid regular expression option: \"{}\"", &flags[..1]);
        return Err(Error::new(SqlState::INVALID_PARAMETER, message)
            .with_hint("if you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly"));
    }
    replaced(row, 1, which, flags, out)
}

fn replace_from(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let start = number(row, 3, "start", 1, 1)?;
    let nth = number(row, 4, "n", 0, 1)?;
    let flags = if row.arguments() > 5 { row.text(5) } else { "" };
    let all = nth == 0 || row.arguments() <= 4 && flags.contains('g');
    replaced(
        row,
        start,
        if all { Which::All } else { Which::Nth(nth) },
        flags,
        out,
    )
}

fn matched_part(row: &Row<'_>, out: &mut Output) -> Result<()> {
    let found = with_regex(row.text(1), "", |regex| {
        let captures = regex.captures(row.text(0));
        Ok(captures
            .and_then(|c| c.get(if c.len() > 1 { 1 } else { 0 }))
            .map(|m| m.as_str()))
    })?;
    match found {
        Some(found) => out.text(found),
        None => out.null(),
    }
}
