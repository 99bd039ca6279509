//! What stands beside tables in FROM and sqlparser does not read: ONLY, which changes nothing where no table inherits of another,
//! is left out; ROWS FROM becomes a function of a name that no statement can write; an alias of USING is refused.

use super::tokens::{end_of_parenthesis, is_word};
use frazil_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The function that ROWS FROM is.
pub(crate) const ROWS_FROM: &str = "\u{0}rows from";

/// Leaves out ONLY in front of tables, with the parentheses around the table, and the FROM of ROWS FROM. 0A000.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>) -> Result<()> {
    refuse(words)?;
    sample_seeds(words);
    let concerns = |w: &TokenWithSpan| is_word(w, Keyword::ONLY) || is_word(w, Keyword::ROWS);
    if !words.iter().any(concerns) {
        return Ok(());
    }
    // Of each open parenthesis: whether a comma adds a relation.
    let mut in_from = vec![false];
    let mut left_out = vec![false; words.len()];
    for at in 0..words.len() {
        match &words[at].token {
            Token::LParen => in_from.push(false),
            Token::RParen if in_from.len() > 1 => {
                in_from.pop();
            }
            Token::Word(w) if w.quote_style.is_none() => {
                let last = in_from.len() - 1;
                in_from[last] = lists_relations(w.keyword).unwrap_or(in_from[last]);
                let stands = at > 0 && stands_before_table(&words[at - 1], in_from[last]);
                if stands && is_rows_from(&words[at..]) {
                    left_out[at + 1] = true;
                    words[at].token = Token::make_word(ROWS_FROM, Some('"'));
                } else if stands && w.keyword == Keyword::ONLY {
                    left_out[at] = true;
                    if let [first, _, last] = words.get(at + 1..at + 4).unwrap_or_default()
                        && first.token == Token::LParen
                        && last.token == Token::RParen
                    {
                        (left_out[at + 1], left_out[at + 3]) = (true, true);
                    }
                }
            }
            _ => {}
        }
    }
    let mut left_out = left_out.into_iter();
    words.retain(|_| !left_out.next().unwrap_or(false));
    Ok(())
}

/// Whether relations follow a word, separated by commas; `None` for words that do not tell.
fn lists_relations(word: Keyword) -> Option<bool> {
    match word {
        Keyword::FROM | Keyword::USING => Some(true),
        Keyword::SELECT
        | Keyword::WHERE
        | Keyword::SET
        | Keyword::GROUP
        | Keyword::HAVING
        | Keyword::ORDER
        | Keyword::LIMIT
        | Keyword::OFFSET
        | Keyword::RETURNING => Some(false),
        _ => None,
    }
}

fn stands_before_table(before: &TokenWithSpan, in_from: bool) -> bool {
    let words = [
        Keyword::FROM,
        Keyword::JOIN,
        Keyword::LATERAL,
        Keyword::UPDATE,
        Keyword::USING,
    ];
    words.iter().any(|word| is_word(before, *word)) || in_from && before.token == Token::Comma
}

/// Writes `TABLESAMPLE method (percentage) REPEATABLE (seed)` as `TABLESAMPLE method ((percentage, seed))`: sqlparser reads
/// no seed but a number. Several arguments, which no method takes, become one with NULL as its seed.
fn sample_seeds(words: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at < words.len() {
        if is_word(&words[at], Keyword::TABLESAMPLE) {
            let open = words[at..].iter().position(|w| w.token == Token::LParen);
            if let Some(open) = open.map(|open| at + open) {
                let close = end_of_parenthesis(words, open);
                let is_next = matches!(&words[close..], [repeatable, open, ..]
                    if is_word(repeatable, Keyword::REPEATABLE) && open.token == Token::LParen);
                if is_next {
                    let end = end_of_parenthesis(words, close + 1);
                    let (first, last) = (words[open].clone(), words[end - 1].clone());
                    let comma = TokenWithSpan::new(Token::Comma, words[close].span);
                    words.insert(end, last);
                    // `)` REPEATABLE `(`
                    words.splice(close - 1..close + 2, [comma]);
                    words.insert(open, first);
                } else if has_comma(&words[open..close]) {
                    let (first, last) = (words[open].clone(), words[close - 1].clone());
                    let comma = TokenWithSpan::new(Token::Comma, last.span);
                    let null = TokenWithSpan::new(Token::make_keyword("NULL"), last.span);
                    words.splice(close - 1..close - 1, [comma, null, last]);
                    words.insert(open, first);
                }
            }
        }
        at += 1;
    }
}

/// Whether a comma stands in the outermost parentheses of a list.
fn has_comma(words: &[TokenWithSpan]) -> bool {
    let mut depth = 0;
    words.iter().any(|word| {
        match word.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 1 && word.token == Token::Comma
    })
}

/// Whether ROWS FROM and a parenthesis are next.
fn is_rows_from(words: &[TokenWithSpan]) -> bool {
    matches!(words, [rows, from, open, ..] if is_word(rows, Keyword::ROWS)
        && is_word(from, Keyword::FROM)
        && open.token == Token::LParen)
}

fn refuse(words: &[TokenWithSpan]) -> Result<()> {
    for (at, word) in words.iter().enumerate() {
        let next = |n: usize| words.get(at + n);
        let is_using = is_word(word, Keyword::USING) && next(1).is_some_and(|w| w.token == Token::LParen);
        if is_using && names_columns(&words[at + 2..]) {
            return Err(Error::unsupported("an alias of USING"));
        }
    }
    Ok(())
}

/// Whether names, a parenthesis and AS are next.
fn names_columns(words: &[TokenWithSpan]) -> bool {
    let end = words
        .iter()
        .position(|w| !matches!(w.token, Token::Word(_) | Token::Comma));
    let Some([close, word, ..]) = end.and_then(|end| words.get(end..)) else {
        return false;
    };
    close.token == Token::RParen && is_word(word, Keyword::AS) && !is_word(&words[0], Keyword::SELECT)
}
