//! The words of CREATE INDEX and DROP INDEX that sqlparser does not read everywhere: CONCURRENTLY and TABLESPACE.
//! Both change nothing of an index: it is built beside readers, and there is one place for all.

use super::keywords::fold;
use super::source::Source;
use super::tokens::is_word;
use frazil_types::{Error, Result, SqlState};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The tablespaces that each database of PostgreSQL has.
const TABLESPACES: [&str; 2] = ["pg_default", "pg_global"];

/// Takes CONCURRENTLY out of a statement that makes or drops indexes. Returns the name by which an error calls the
/// statement, `None` without the word.
pub(super) fn take_concurrently(words: &mut Vec<TokenWithSpan>) -> Option<&'static str> {
    let is = |at: usize, keyword| words.get(at).is_some_and(|word| is_word(word, keyword));
    let (begin, what) = match (is(0, Keyword::CREATE), is(0, Keyword::DROP)) {
        (true, _) if is(1, Keyword::UNIQUE) => (2, "CREATE INDEX CONCURRENTLY"),
        (true, _) => (1, "CREATE INDEX CONCURRENTLY"),
        (_, true) => (1, "DROP INDEX CONCURRENTLY"),
        (false, false) => return None,
    };
    if !is(begin, Keyword::INDEX) || !is(begin + 1, Keyword::CONCURRENTLY) {
        return None;
    }
    words.remove(begin + 1);
    Some(what)
}

/// Takes TABLESPACE and its name out of CREATE INDEX. 42704 for a tablespace that does not exist.
pub(super) fn take_tablespace(words: &mut Vec<TokenWithSpan>, source: &Source) -> Result<()> {
    let is = |at: usize, keyword| words.get(at).is_some_and(|word| is_word(word, keyword));
    let kind = 1 + usize::from(is(1, Keyword::UNIQUE));
    if !is(0, Keyword::CREATE) || !is(kind, Keyword::INDEX) {
        return Ok(());
    }
    let Some(columns) = words.iter().position(|word| word.token == Token::LParen) else {
        return Ok(());
    };
    let mut depth = 0_usize;
    let place = words.iter().skip(columns).position(|word| {
        match word.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is_word(word, Keyword::TABLESPACE)
    });
    let Some(at) = place.map(|at| at + columns) else {
        return Ok(());
    };
    let Some(Token::Word(name)) = words.get(at + 1).map(|word| &word.token) else {
        return Ok(());
    };
    let name = fold(name);
    if !TABLESPACES.contains(&name.as_str()) {
        let message = format!("tablespace \"{name}\" does not exist");
        let place = source.position(source.byte(words[at + 1].span.start));
        return Err(Error::new(SqlState::UNDEFINED_OBJECT, message).at_position(place));
    }
    words.drain(at..at + 2);
    Ok(())
}
