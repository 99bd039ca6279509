//! Functions that take texts apart: their parts are arrays of texts.

use crate::array_function::{ArrayFunction, Gives, Takes::Of, array_functions};
use crate::build::{LENGTH, TEXT};
use crate::regular_expression::{captures, with_regex};
use crate::type_rules::Kind::{Boolean, Integer, Text};
use crate::vector::{Output, Row};
use frazil_types::array::{self, ArrayBuilder, Dimension};
use frazil_types::session_settings;
use frazil_types::{Error, Result, SqlState, Value};
use regex::{Captures, Match, Regex};

const TEXTS: Gives = Gives::ArrayOf(Text);
const INTEGERS: Gives = Gives::ArrayOf(Integer);

pub(super) static FUNCTIONS: &[ArrayFunction] = array_functions! {
    "current_schemas", [Of(Boolean)], TEXTS, Null, schemas, "the schemas of the search path; with true including `pg_catalog`";
    "parse_ident", [Of(Text)], TEXTS, Null, |r, o| identifiers(r, true, o), "the parts of a name such as `a.\"B\"`";
    "parse_ident", [Of(Text), Of(Boolean)], TEXTS, Null, |r, o| identifiers(r, r.bool(1), o),
        "the parts of a name; with false whatever stands behind it is left out";
    "pg_blocking_pids", [Of(Integer)], INTEGERS, Null, blocking,
        "the sessions that keep a session waiting for a lock, by the numbers of pg_backend_pid";
    "pg_safe_snapshot_blocking_pids", [Of(Integer)], INTEGERS, Null,
        |_, o| o.bytes(&array::encode_list(&[], LENGTH)?), "an empty array: sessions wait for no process";
    "regexp_match", [Of(Text), Of(Text)], TEXTS, Null, first_match, "the texts that the groups of a regular expression, or the whole, match first";
    "regexp_match", [Of(Text), Of(Text), Of(Text)], TEXTS, Null, first_match, "what the groups of a regular expression match first, with flags";
    "regexp_matches_all", [Of(Text), Of(Text)], TEXTS, Null, matches, "the rows of `regexp_matches` in an array of two dimensions";
    "regexp_matches_all", [Of(Text), Of(Text), Of(Text)], TEXTS, Null, matches, "the rows of `regexp_matches` in an array of two dimensions";
    "regexp_split_to_array", [Of(Text), Of(Text)], TEXTS, Null, regex_parts, "the parts between the matches of a regular expression";
    "regexp_split_to_array", [Of(Text), Of(Text), Of(Text)], TEXTS, Null, regex_parts,
        "the parts between the matches of a regular expression, with flags";
    "string_to_array", [Of(Text), Of(Text)], TEXTS, Called, parts, "the parts between the separators; without one (NULL) the characters";
    "string_to_array", [Of(Text), Of(Text), Of(Text)], TEXTS, Called, parts,
        "the parts between the separators, those that are the third argument being NULL";
};

/// Bytes of an array in the making that are not counted.
const SMALL_ARRAY: usize = 16 << 10;

/// Puts the array of the parts. The budget counts a long array while it is made. Errors 53200, 54000.
fn put<'t>(parts: impl Iterator<Item = Option<&'t str>>, out: &mut Output<'_>) -> Result<()> {
    let mut array = ArrayBuilder::new(TEXT.native());
    let mut held = out.context().budget().reservation();
    for part in parts {
        array.push(part.map(str::as_bytes))?;
        if array.bytes() > held.bytes() + SMALL_ARRAY {
            out.check()?;
            held.grow(array.bytes() - held.bytes())?;
        }
    }
    held.grow(held.bytes())?;
    out.bytes(&array.finish())
}

fn blocking(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let session = session_settings::of_statement();
    let session = session.ok_or_else(|| Error::internal("sessions that wait, outside of a session"))?;
    let numbers = i32::try_from(row.int(0)).map(|number| session.blocking(number));
    let numbers = numbers.unwrap_or_default().into_iter();
    let numbers: Vec<Value> = numbers.map(|number| Value::Int(number.into())).collect();
    out.bytes(&array::encode_list(&numbers, LENGTH)?)
}

fn schemas(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let all = [Some("pg_catalog"), Some("public")];
    put(all.into_iter().skip(usize::from(!row.bool(0))), out)
}

fn parts(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    if row.is_null(0) {
        return out.null();
    }
    let (text, null) = (
        row.text(0),
        (row.arguments() > 2 && !row.is_null(2)).then(|| row.text(2)),
    );
    let or_null = |part| Some(part).filter(|part| null != Some(*part));
    match () {
        () if text.is_empty() => put(std::iter::empty(), out),
        () if row.is_null(1) => {
            let characters = text.char_indices();
            put(
                characters.map(|(at, c)| or_null(&text[at..][..c.len_utf8()])),
                out,
            )
        }
        () if row.text(1).is_empty() => put(std::iter::once(or_null(text)), out),
        () => put(text.split(row.text(1)).map(or_null), out),
    }
}

/// The flags of the third argument without `g`, and whether that is among them.
fn flags(row: &Row<'_>) -> (String, bool) {
    let flags = if row.arguments() > 2 { row.text(2) } else { "" };
    (flags.replace('g', ""), flags.contains('g'))
}

/// The error 22023 of flag `g` where a function has one match, or all, anyway.
fn not_global(function: &str, hint: &str) -> Error {
    let message = format!("{function}() does not support the \"global\" option");
    let error = Error::new(SqlState::INVALID_PARAMETER, message);
    match hint {
        "" => error,
        hint => error.with_hint(hint),
    }
}

/// What the groups match, or the whole where there are none.
fn groups<'t>(captures: &Captures<'t>) -> Vec<Option<&'t str>> {
    let first = usize::from(captures.len() > 1);
    captures
        .iter()
        .skip(first)
        .map(|group| group.map(|m| m.as_str()))
        .collect()
}

fn first_match(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (flags, is_global) = flags(row);
    if is_global {
        return Err(not_global(
            "regexp_match",
            "Use the regexp_matches function instead.",
        ));
    }
    let found = with_regex(row.text(1), &flags, |regex| {
        Ok(regex.captures(row.text(0)).map(|c| groups(&c)))
    })?;
    match found {
        Some(groups) => put(groups.into_iter(), out),
        None => out.null(),
    }
}

fn matches(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (flags, is_global) = flags(row);
    let most = if is_global { usize::MAX } else { 1 };
    let rows: Vec<Vec<Option<&str>>> = with_regex(row.text(1), &flags, |regex| {
        Ok(captures(regex, row.text(0), 0)
            .take(most)
            .map(|c| groups(&c))
            .collect())
    })?;
    let value = |part: &Option<&str>| part.map_or(Value::Null, |part| Value::Text(part.to_owned()));
    let values: Vec<Value> = rows.iter().flatten().map(value).collect();
    let line = |length: usize| Dimension {
        length: length as u32,
        lower: 1,
    };
    let shape = rows.first().map(|row| [line(rows.len()), line(row.len())]);
    out.bytes(&array::encode(
        shape.as_ref().map_or(&[], |shape| &shape[..]),
        &values,
        TEXT,
    )?)
}

/// The parts between matches. One of nothing splits between two characters, not at an end or right behind another match.
fn split<'t>(regex: &'t Regex, text: &'t str) -> impl Iterator<Item = &'t str> {
    let (mut found, mut next) = (regex.find_iter(text), Some(0));
    std::iter::from_fn(move || {
        let start = next?;
        let is_between = |m: &Match<'_>| !m.is_empty() || m.start() != start && m.start() != text.len();
        let separator = found.find(is_between);
        next = separator.map(|m| m.end());
        Some(&text[start..separator.map_or(text.len(), |m| m.start())])
    })
}

fn regex_parts(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let (flags, is_global) = flags(row);
    if is_global {
        return Err(not_global("regexp_split_to_array", ""));
    }
    with_regex(row.text(1), &flags, |regex| {
        put(split(regex, row.text(0)).map(Some), out)
    })
}

/// parse_ident. Error 22023.
fn identifiers(row: &Row<'_>, is_strict: bool, out: &mut Output<'_>) -> Result<()> {
    let text = row.text(0);
    let invalid = |detail: &str| {
        let message = format!("string is not a valid identifier: \"{text}\"");
        let error = Error::new(SqlState::INVALID_PARAMETER, message);
        match detail {
            "" => error,
            detail => error.with_detail(detail),
        }
    };
    let begins = |c: char| c == '_' || c.is_alphabetic() || !c.is_ascii();
    let goes_on = |c: char| begins(c) || c == '$' || c.is_ascii_digit();
    let (mut parts, mut rest, mut behind_point) = (Vec::new(), text.trim_ascii_start(), false);
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (mut part, mut left) = (String::new(), quoted);
            loop {
                let (before, behind) = left
                    .split_once('"')
                    .ok_or_else(|| invalid("String has unclosed double quotes."))?;
                part.push_str(before);
                left = behind;
                match left.strip_prefix('"') {
                    Some(behind) => {
                        part.push('"');
                        left = behind;
                    }
                    None => break,
                }
            }
            if part.is_empty() {
                return Err(invalid("Quoted identifier must not be empty."));
            }
            parts.push(part);
            rest = left;
        } else if rest.starts_with(begins) {
            let end = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
            parts.push(rest[..end].to_lowercase());
            rest = &rest[end..];
        } else {
            return Err(invalid(match (behind_point, rest.starts_with('.')) {
                (_, true) => "No valid identifier before \".\".",
                (true, false) => "No valid identifier after \".\".",
                (false, false) => "",
            }));
        }
        rest = rest.trim_ascii_start();
        match rest.strip_prefix('.') {
            Some(behind) => {
                behind_point = true;
                rest = behind.trim_ascii_start();
            }
            None if rest.is_empty() || !is_strict => break,
            None => return Err(invalid("")),
        }
    }
    put(parts.iter().map(|part| Some(part.as_str())), out)
}
