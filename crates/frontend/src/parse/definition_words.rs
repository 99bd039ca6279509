//! The words of CREATE TABLE that sqlparser does not read: columns without types and WITH [NO] DATA of CREATE TABLE …
//! AS are written otherwise, UNLOGGED is left out.

use super::tokens::{end_of_parenthesis, is_word};
use frazil_types::Result;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The type of a column of CREATE TABLE … AS that has a name alone: no type that a statement can write.
pub(crate) const UNTYPED: &str = "\u{0}untyped";

/// Rewrites a statement that creates a table. 0A000.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>) -> Result<()> {
    let is = |at: usize, keyword| words.get(at).is_some_and(|w| is_word(w, keyword));
    if !is(0, Keyword::CREATE) {
        return Ok(());
    }
    if is(1, Keyword::UNLOGGED) && is(2, Keyword::TABLE) {
        // Rows of such a table are kept like those of others.
        words.remove(1);
    }
    let is = |at: usize, keyword| words.get(at).is_some_and(|w| is_word(w, keyword));
    let Some(table) = (1..4).find(|at| is(*at, Keyword::TABLE)) else {
        return Ok(());
    };
    let body = words[table..]
        .iter()
        .position(|w| w.token == Token::LParen || is_word(w, Keyword::AS));
    let Some(body) = body.map(|at| table + at) else {
        return Ok(());
    };
    if words[body].token == Token::LParen {
        columns(words, body)?;
        take_not_valid(words, body);
        take_without_oids(words, body);
    }
    with_data(words, body);
    Ok(())
}

/// In the list of columns that opens at `open`, refuses EXCLUDE, and gives the columns of a list of names a type.
fn columns(words: &mut Vec<TokenWithSpan>, open: usize) -> Result<()> {
    let (mut depth, mut close) = (0_usize, words.len());
    for (at, word) in words.iter().enumerate().skip(open) {
        match word.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            close = at;
            break;
        }
        let begins = depth == 1 && matches!(words[at - 1].token, Token::LParen | Token::Comma);
        if begins {
            super::objects::refuse_exclusion(&words[at..])?;
        }
    }
    let behind = [Keyword::AS, Keyword::WITH, Keyword::ON];
    let is_query = words
        .get(close + 1)
        .is_some_and(|w| behind.iter().any(|k| is_word(w, *k)));
    let items = words.get(open + 1..close).unwrap_or_default();
    let are_names = items.len() % 2 == 1
        && items.iter().enumerate().all(|(at, w)| match at % 2 {
            0 => matches!(w.token, Token::Word(_)),
            _ => w.token == Token::Comma,
        });
    if is_query && are_names {
        for at in (open + 1..close).step_by(2).rev() {
            let ty = TokenWithSpan::new(Token::make_word(UNTYPED, Some('"')), words[at].span);
            words.insert(at + 1, ty);
        }
    }
    Ok(())
}

/// Takes NOT VALID off constraints: a table that is created has no rows that violate them.
fn take_not_valid(words: &mut Vec<TokenWithSpan>, open: usize) {
    let mut at = open + 1;
    while at + 1 < words.len() {
        let is_behind = words[at - 1].token == Token::RParen;
        let is_valid = match &words[at + 1].token {
            Token::Word(w) => w.quote_style.is_none() && w.value.eq_ignore_ascii_case("valid"),
            _ => false,
        };
        match is_behind && is_valid && is_word(&words[at], Keyword::NOT) {
            true => drop(words.drain(at..at + 2)),
            false => at += 1,
        }
    }
}

/// Takes WITHOUT OIDS from behind the columns: no table has oids.
fn take_without_oids(words: &mut Vec<TokenWithSpan>, open: usize) {
    let close = end_of_parenthesis(words, open);
    let is_oids = |word: &TokenWithSpan| match &word.token {
        Token::Word(w) => w.quote_style.is_none() && w.value.eq_ignore_ascii_case("oids"),
        _ => false,
    };
    let pairs = words.get(close..).unwrap_or_default().windows(2);
    let found = (close..)
        .zip(pairs)
        .find(|(_, pair)| is_word(&pair[0], Keyword::WITHOUT) && is_oids(&pair[1]));
    if let Some((at, _)) = found {
        words.drain(at..at + 2);
    }
}

/// Takes WITH DATA off the end of CREATE TABLE … AS; with WITH NO DATA the query gives no rows.
fn with_data(words: &mut Vec<TokenWithSpan>, body: usize) {
    let is_no_data = match &words[..] {
        [.., with, data] if is_word(with, Keyword::WITH) && is_word(data, Keyword::DATA) => false,
        [.., with, no, data]
            if is_word(with, Keyword::WITH) && is_word(no, Keyword::NO) && is_word(data, Keyword::DATA) =>
        {
            true
        }
        _ => return,
    };
    let mut depth = 0_usize;
    let query = words[body..].iter().position(|w| {
        match w.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is_word(w, Keyword::AS)
    });
    let Some(query) = query.map(|at| body + at + 1) else {
        return;
    };
    words.truncate(words.len() - if is_no_data { 3 } else { 2 });
    if !is_no_data || query >= words.len() {
        return;
    }
    let end = words[words.len() - 1].span;
    let none = [
        Token::RParen,
        Token::make_keyword("AS"),
        Token::make_word("source", Some('"')),
        Token::make_keyword("LIMIT"),
        Token::Number("0".to_string(), false),
    ];
    words.extend(none.map(|token| TokenWithSpan::new(token, end)));
    let begin = words[query].span;
    let all = [
        Token::make_keyword("SELECT"),
        Token::Mul,
        Token::make_keyword("FROM"),
        Token::LParen,
    ];
    words.splice(query..query, all.map(|token| TokenWithSpan::new(token, begin)));
}
