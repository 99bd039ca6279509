//! `pg_get_keywords`: the words of PostgreSQL 15's grammar, with what each can name.

use frazil_types::{Result, Value};
use std::sync::LazyLock;

const WORDS: &str = include_str!("keywords.txt");

/// A word of the grammar.
struct Keyword {
    word: &'static str,
    /// U: unreserved, C: neither function nor type, T: function or type only, R: reserved.
    class: &'static str,
    /// True if a select list can have the word as a label without AS.
    is_bare: bool,
}

static KEYWORDS: LazyLock<Vec<Keyword>> = LazyLock::new(|| {
    let lines = WORDS.lines().filter(|line| !line.starts_with('#'));
    let keyword = |line: &'static str| {
        let mut parts = line.split(' ');
        Some(Keyword {
            word: parts.next()?,
            class: parts.next()?,
            is_bare: parts.next()? == "bare",
        })
    };
    lines.filter_map(keyword).collect()
});

/// The description of a class.
fn class_text(class: &str) -> &'static str {
    match class {
        "C" => "unreserved (cannot be function or type name)",
        "T" => "reserved (can be function or type name)",
        "R" => "reserved",
        _ => "unreserved",
    }
}

fn texts(of: fn(&Keyword) -> &'static str) -> impl Iterator<Item = Result<Value>> {
    KEYWORDS
        .iter()
        .map(move |keyword| Ok(Value::Text(of(keyword).to_owned())))
}

/// The words, in order.
pub(crate) fn words() -> impl Iterator<Item = Result<Value>> {
    texts(|keyword| keyword.word)
}

/// `classes()[i]`: the letter of the class of word `i`.
pub(crate) fn classes() -> impl Iterator<Item = Result<Value>> {
    texts(|keyword| keyword.class)
}

/// `class_texts()[i]`: the class of word `i` in English.
pub(crate) fn class_texts() -> impl Iterator<Item = Result<Value>> {
    texts(|keyword| class_text(keyword.class))
}

/// `bare()[i]`: true if word `i` can be a label without AS.
pub(crate) fn bare() -> impl Iterator<Item = Result<Value>> {
    KEYWORDS.iter().map(|keyword| Ok(Value::Bool(keyword.is_bare)))
}

/// `bare_texts()[i]`: the same of word `i` in English.
pub(crate) fn bare_texts() -> impl Iterator<Item = Result<Value>> {
    texts(|keyword| match keyword.is_bare {
        true => "can be bare label",
        false => "requires AS",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use frazil_catalog::{WordClass, is_bare_label, word_class};

    /// Both lists say what a word can name.
    #[test]
    fn the_words_are_those_that_names_are_checked_by() {
        assert_eq!(KEYWORDS.len(), 460);
        for keyword in KEYWORDS.iter() {
            let class = match word_class(keyword.word) {
                WordClass::Name => "U",
                WordClass::ColumnName => "C",
                WordClass::FunctionOrType => "T",
                WordClass::Reserved => "R",
            };
            assert_eq!(class, keyword.class, "{}", keyword.word);
            assert_eq!(is_bare_label(keyword.word), keyword.is_bare, "{}", keyword.word);
        }
    }
}
