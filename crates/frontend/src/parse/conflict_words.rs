//! The target of ON CONFLICT. sqlparser reads a list of plain names; here each may be in parentheses, and the condition
//! of a partial index may follow.

use super::source::Source;
use super::tokens::is_word;
use frazil_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Takes the parentheses from names in targets. 0A000 for a condition: ON CONFLICT does not look for partial indexes.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>, source: &Source) -> Result<()> {
    let mut at = 0;
    while at + 2 < words.len() {
        let is_target = is_word(&words[at], Keyword::ON)
            && is_word(&words[at + 1], Keyword::CONFLICT)
            && words[at + 2].token == Token::LParen;
        at += 1;
        if !is_target {
            continue;
        }
        let behind = bare_names(words, at + 2);
        if let Some(word) = words.get(behind).filter(|word| is_word(word, Keyword::WHERE)) {
            let what = "a WHERE condition of the target of ON CONFLICT";
            return Err(Error::unsupported(what).at_position(source.position(source.byte(word.span.start))));
        }
        at = behind;
    }
    Ok(())
}

/// Writes `(name)` as `name` in the list that begins at a place; the place behind the list.
fn bare_names(words: &mut Vec<TokenWithSpan>, begin: usize) -> usize {
    let mut at = begin;
    while at + 2 < words.len() && words[at].token != Token::RParen {
        let is_bare = words[at].token == Token::LParen
            && matches!(words[at + 1].token, Token::Word(_))
            && words[at + 2].token == Token::RParen;
        if is_bare {
            words.remove(at + 2);
            words.remove(at);
        }
        at += 1;
    }
    at + 1
}
