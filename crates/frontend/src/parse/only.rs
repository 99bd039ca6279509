//! What stands beside tables in FROM and sqlparser does not read: ONLY, which changes nothing where no table inherits of another,
//! is left out; an alias of USING and ROWS FROM are refused.

use super::tokens::is_word;
use frazil_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Leaves out ONLY in front of tables, with the parentheses around the table. 0A000.
pub(super) fn leave_out(words: &mut Vec<TokenWithSpan>) -> Result<()> {
    refuse(words)?;
    if !words.iter().any(|w| is_word(w, Keyword::ONLY)) {
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
                let is_only = w.keyword == Keyword::ONLY
                    && at > 0
                    && stands_before_table(&words[at - 1], in_from[last]);
                if is_only {
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
    let words = [Keyword::FROM, Keyword::JOIN, Keyword::UPDATE, Keyword::USING];
    words.iter().any(|word| is_word(before, *word)) || in_from && before.token == Token::Comma
}

fn refuse(words: &[TokenWithSpan]) -> Result<()> {
    for (at, word) in words.iter().enumerate() {
        let next = |n: usize| words.get(at + n);
        if is_word(word, Keyword::ROWS)
            && next(1).is_some_and(|w| is_word(w, Keyword::FROM))
            && next(2).is_some_and(|w| w.token == Token::LParen)
        {
            return Err(Error::unsupported("ROWS FROM"));
        }
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
