//! The list of columns of ON DELETE SET NULL and SET DEFAULT, which sqlparser does not read. Its names go to the end of
//! the list of referenced columns, behind the name [`SET_COLUMNS`], which no statement can write.

use super::tokens::is_word;
use frazil_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Stands before the columns that ON DELETE sets.
pub(crate) const SET_COLUMNS: &str = "\u{0}set columns";

/// Rewrites the foreign keys of a statement. 0A000 for a list behind ON UPDATE.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>) -> Result<()> {
    if !words.iter().any(|word| is_word(word, Keyword::REFERENCES)) {
        return Ok(());
    }
    let mut at = 0;
    while at + 5 < words.len() {
        let list = at + 4;
        let is = |n: usize, keyword| is_word(&words[at + n], keyword);
        let sets = is(2, Keyword::SET) && (is(3, Keyword::NULL) || is(3, Keyword::DEFAULT));
        let is_action = is(0, Keyword::ON) && (is(1, Keyword::DELETE) || is(1, Keyword::UPDATE)) && sets;
        if !is_action || words[list].token != Token::LParen {
            at += 1;
            continue;
        }
        if is(1, Keyword::UPDATE) {
            let action = if is(3, Keyword::NULL) {
                "SET NULL"
            } else {
                "SET DEFAULT"
            };
            return Err(Error::unsupported(format!(
                "a column list with ON UPDATE {action}"
            )));
        }
        let Some(close) = words[list..].iter().position(|word| word.token == Token::RParen) else {
            return Ok(());
        };
        let names: Vec<TokenWithSpan> = words.drain(list..=list + close).collect();
        insert(words, at, &names);
        at += 1;
    }
    Ok(())
}

/// Puts the names of a list, which comes with its parentheses, behind the referenced columns of the last REFERENCES
/// before a place.
fn insert(words: &mut Vec<TokenWithSpan>, before: usize, list: &[TokenWithSpan]) {
    let references = words[..before]
        .iter()
        .rposition(|word| is_word(word, Keyword::REFERENCES));
    let Some(references) = references else { return };
    let mut behind = references + 2;
    while words.get(behind).is_some_and(|word| word.token == Token::Period) {
        behind += 2;
    }
    let span = list[0].span;
    let sign = |token: Token| TokenWithSpan::new(token, span);
    let mut names = vec![sign(Token::make_word(SET_COLUMNS, Some('"'))), sign(Token::Comma)];
    names.extend_from_slice(&list[1..list.len() - 1]);
    let has_list = words.get(behind).is_some_and(|word| word.token == Token::LParen);
    let close = words[behind..before]
        .iter()
        .position(|word| word.token == Token::RParen);
    match close.filter(|_| has_list) {
        Some(close) => {
            names.insert(0, sign(Token::Comma));
            words.splice(behind + close..behind + close, names);
        }
        None => {
            names.insert(0, sign(Token::LParen));
            names.push(sign(Token::RParen));
            words.splice(behind..behind, names);
        }
    }
}
