//! LIKE among the columns of CREATE TABLE, which sqlparser does not read there: its words are taken off the statement.

use super::cursor::Cursor;
use super::source::Source;
use super::tokens::is_word;
use frazil_catalog::WrittenName;
use frazil_types::Result;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span as TokenSpan, Token, TokenWithSpan};

/// LIKE in the list of columns.
#[derive(Clone, Debug)]
pub(crate) struct WrittenLike {
    /// Number of columns before it in the list.
    pub position: usize,
    /// The table or view.
    pub name: WrittenName,
    /// The place of its word.
    pub span: TokenSpan,
    /// The parts that are copied beside columns and NOT NULL.
    pub parts: LikeParts,
}

/// INCLUDING: true for each part that is copied. There are no storage parameters and statistics to copy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LikeParts {
    pub defaults: bool,
    pub constraints: bool,
    pub indexes: bool,
    pub identity: bool,
    pub generated: bool,
    pub comments: bool,
}

impl LikeParts {
    /// Sets the part of a word; false if the word names none.
    fn set(&mut self, word: &str, is_included: bool) -> bool {
        match word {
            "defaults" => self.defaults = is_included,
            "constraints" => self.constraints = is_included,
            "indexes" => self.indexes = is_included,
            "identity" => self.identity = is_included,
            "generated" => self.generated = is_included,
            "comments" => self.comments = is_included,
            "all" => {
                *self = LikeParts {
                    defaults: is_included,
                    constraints: is_included,
                    indexes: is_included,
                    identity: is_included,
                    generated: is_included,
                    comments: is_included,
                }
            }
            "compression" | "statistics" | "storage" => {}
            _ => return false,
        }
        true
    }
}

/// Words that begin an item of the list which is not a column.
const CONSTRAINTS: [Keyword; 6] = [
    Keyword::CHECK,
    Keyword::CONSTRAINT,
    Keyword::EXCLUDE,
    Keyword::FOREIGN,
    Keyword::PRIMARY,
    Keyword::UNIQUE,
];

/// Takes each LIKE off a statement that creates a table. 42601.
pub(super) fn take(words: &mut Vec<TokenWithSpan>, source: &Source) -> Result<Vec<WrittenLike>> {
    let mut found = Vec::new();
    let Some(mut at) = list(words) else {
        return Ok(found);
    };
    let mut position = 0;
    while at < words.len() && words[at].token != Token::RParen {
        if !is_word(&words[at], Keyword::LIKE) {
            position += usize::from(!CONSTRAINTS.iter().any(|word| is_word(&words[at], *word)));
            at = next_item(words, at);
            continue;
        }
        let mut cursor = Cursor::new(source, &words[at + 1..]);
        let name = cursor.table_name()?;
        let mut parts = LikeParts::default();
        loop {
            let is_included = cursor.take("including");
            if !is_included && !cursor.take("excluding") {
                break;
            }
            let word = cursor.word().unwrap_or_default();
            if !parts.set(&word, is_included) {
                return Err(cursor.error());
            }
            cursor.next();
        }
        let end = words.len() - cursor.rest().len();
        let span = words[at].span;
        let ends_item = |word: &TokenWithSpan| matches!(word.token, Token::Comma | Token::RParen);
        if !words.get(end).is_some_and(ends_item) {
            return Err(cursor.error());
        }
        found.push(WrittenLike {
            position,
            name,
            span,
            parts,
        });
        // With the comma behind, or the one before if it is the last item.
        match (&words[end].token, &words[at - 1].token) {
            (Token::Comma, _) => drop(words.drain(at..=end)),
            (_, Token::Comma) => {
                words.drain(at - 1..end);
                at -= 1;
            }
            _ => drop(words.drain(at..end)),
        }
    }
    Ok(found)
}

/// The position of the first item of the list of columns, if the statement creates a table with one.
fn list(words: &[TokenWithSpan]) -> Option<usize> {
    let is = |at: usize, keyword| words.get(at).is_some_and(|w| is_word(w, keyword));
    let table = (1..4)
        .find(|at| is(*at, Keyword::TABLE))
        .filter(|_| is(0, Keyword::CREATE))?;
    let body = words[table..]
        .iter()
        .position(|w| w.token == Token::LParen || is_word(w, Keyword::AS))?;
    (words[table + body].token == Token::LParen).then_some(table + body + 1)
}

/// The position behind the comma that ends the item at `at`, or that of the parenthesis behind the last one.
fn next_item(words: &[TokenWithSpan], at: usize) -> usize {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate().skip(at) {
        match word.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return at,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 0 => return at + 1,
            _ => {}
        }
    }
    words.len()
}
