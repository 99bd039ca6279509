//! CREATE, ALTER and DROP of objects, and actions of ALTER TABLE, that PostgreSQL has and Frazil does not: refused by
//! their names before sqlparser, which knows few of them, calls them mistakes.

use super::cursor::Cursor;
use super::tokens::is_word;
use frazil_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Kinds of objects behind CREATE [OR REPLACE], ALTER or DROP, sorted.
const OBJECTS: [&str; 27] = [
    "access",
    "aggregate",
    "cast",
    "collation",
    "conversion",
    "database",
    "event",
    "extension",
    "foreign",
    "function",
    "language",
    "large",
    "macro",
    "operator",
    "policy",
    "procedure",
    "publication",
    "routine",
    "rule",
    "server",
    "statistics",
    "subscription",
    "system",
    "tablespace",
    "text",
    "transform",
    "trigger",
];

/// 0A000 for a statement on an object of a kind that there is not.
pub(super) fn refuse(cursor: &Cursor, first: &str) -> Result<()> {
    let word = |at: usize| match cursor.rest().get(at).map(|t| &t.token) {
        Some(Token::Word(w)) if w.quote_style.is_none() => w.value.to_lowercase(),
        _ => String::new(),
    };
    let replaces = first == "create" && word(1) == "or" && word(2) == "replace";
    let mut kind = word(if replaces { 3 } else { 1 });
    if ["trusted", "procedural", "constraint"].contains(&kind.as_str()) {
        kind = word(if replaces { 4 } else { 2 });
    }
    let is_none = OBJECTS.binary_search(&kind.as_str()).is_ok()
        || kind == "user" && word(2) != "."
        || first == "alter" && kind == "schema";
    if is_none {
        let (first, kind) = (first.to_uppercase(), kind.to_uppercase());
        return Err(Error::unsupported(format!("{first} {kind}")));
    }
    if first == "alter" && kind == "table" {
        return alter_table(cursor.rest());
    }
    Ok(())
}

/// Actions of ALTER TABLE by their first words.
const ACTIONS: [&[&str]; 21] = [
    &["owner", "to"],
    &["set", "schema"],
    &["set", "tablespace"],
    &["set", "logged"],
    &["set", "unlogged"],
    &["set", "without"],
    &["set", "access"],
    &["reset"],
    &["enable"],
    &["disable"],
    &["cluster", "on"],
    &["inherit"],
    &["no", "inherit"],
    &["of"],
    &["not", "of"],
    &["replica"],
    &["attach"],
    &["detach"],
    &["force"],
    &["no", "force"],
    &["alter", "constraint"],
];

/// Actions of ALTER COLUMN by their first words.
const COLUMN_ACTIONS: [&[&str]; 10] = [
    &["set", "statistics"],
    &["set", "storage"],
    &["set", "compression"],
    &["set", "("],
    &["set", "generated"],
    &["reset"],
    &["restart"],
    &["add", "generated"],
    &["drop", "identity"],
    &["drop", "expression"],
];

/// 0A000 for an action that there is not.
fn alter_table(words: &[TokenWithSpan]) -> Result<()> {
    let is = |at: usize, wanted: &str| words.get(at).is_some_and(|word| is_text(word, wanted));
    let mut at = 2;
    if is(at, "if") && is(at + 1, "exists") {
        at += 2;
    }
    at += usize::from(is(at, "only")) + 1;
    while words.get(at).is_some_and(|w| w.token == Token::Period) {
        at += 2;
    }
    at += usize::from(words.get(at).is_some_and(|w| w.token == Token::Mul));
    let (mut depth, mut begins) = (0_usize, true);
    for (at, word) in words.iter().enumerate().skip(at) {
        if begins && depth == 0 {
            action(&words[at..])?;
        }
        begins = word.token == Token::Comma;
        match word.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

fn action(words: &[TokenWithSpan]) -> Result<()> {
    refuse_exclusion(words)?;
    let is_column = begins(words, &["alter"]) && !begins(words, &["alter", "constraint"]);
    let (actions, words) = match is_column {
        true => {
            let column = 1 + usize::from(begins(words, &["alter", "column"]));
            (&COLUMN_ACTIONS[..], words.get(column + 1..).unwrap_or_default())
        }
        false => (&ACTIONS[..], words),
    };
    match actions.iter().find(|action| begins(words, action)) {
        Some(action) => {
            let what = action.join(" ").to_uppercase().replace('(', "(…)");
            let of = if is_column {
                "ALTER COLUMN … "
            } else {
                "ALTER TABLE … "
            };
            Err(Error::unsupported(format!("{of}{what}")))
        }
        None => Ok(()),
    }
}

/// 0A000 for EXCLUDE at the beginning of an item of CREATE TABLE, or behind ADD.
pub(super) fn refuse_exclusion(words: &[TokenWithSpan]) -> Result<()> {
    let words = words
        .get(usize::from(begins(words, &["add"]))..)
        .unwrap_or_default();
    let named = 2 * usize::from(begins(words, &["constraint"]));
    let words = words.get(named..).unwrap_or_default();
    let excludes = begins(words, &["exclude", "using"]) || begins(words, &["exclude", "("]);
    match excludes {
        true => Err(Error::unsupported("an EXCLUDE constraint")),
        false => Ok(()),
    }
}

fn begins(words: &[TokenWithSpan], texts: &[&str]) -> bool {
    words.len() >= texts.len() && texts.iter().zip(words).all(|(text, word)| is_text(word, text))
}

fn is_text(word: &TokenWithSpan, text: &str) -> bool {
    match &word.token {
        Token::Word(w) => w.quote_style.is_none() && w.value.eq_ignore_ascii_case(text),
        Token::LParen => text == "(",
        _ => false,
    }
}

/// True for a statement on a view with ALTER.
pub(super) fn alters_view(cursor: &Cursor) -> bool {
    let word = cursor.rest().get(1);
    word.is_some_and(|t| is_word(t, Keyword::VIEW))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kinds_are_sorted() {
        assert!(super::OBJECTS.is_sorted());
    }
}
