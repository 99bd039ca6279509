//! Whole rows that sqlparser does not read: `(t).*` in a select list, and `t.*` as an operand of a comparison, of IS or
//! of a cast.
//! The relation gets a name that no statement can write.

use super::dialect::{IS_DISTINCT_FROM, IS_NOT_DISTINCT_FROM};
use super::keywords::fold;
use super::tokens::is_word;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Begins the name of a relation that stands for its row even if a column has the name.
pub(crate) const ROW_OF: &str = "\u{0}row of ";

/// Writes `(t).*` as `t.*`, and `t.*` beside a comparison as `t`, with [`ROW_OF`] before the name.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>) {
    let is_star = |w: &[TokenWithSpan]| w[0].token == Token::Period && w[1].token == Token::Mul;
    if !words.windows(2).any(is_star) {
        return;
    }
    let mut at = 0;
    while at < words.len() {
        if is_fields(&words[at..]) && (at == 0 || begins_item(&words[at - 1])) {
            mark(&mut words[at + 1]);
            words.remove(at + 2);
            words.remove(at);
        } else if is_row(&words[at..]) {
            let is_compared = |word: Option<&TokenWithSpan>| word.is_some_and(compares);
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let is_qualified = before.is_some_and(|word| word.token == Token::Period);
            if !is_qualified
                && (is_compared(before)
                    || is_compared(words.get(at + 3))
                    || is_cast(&words[..at], &words[at + 3..]))
            {
                mark(&mut words[at]);
                words.drain(at + 1..at + 3);
            }
        }
        at += 1;
    }
}

/// True for `(name).*`.
fn is_fields(words: &[TokenWithSpan]) -> bool {
    matches!(words, [open, name, close, period, star, ..]
        if open.token == Token::LParen
            && matches!(name.token, Token::Word(_))
            && close.token == Token::RParen
            && period.token == Token::Period
            && star.token == Token::Mul)
}

/// True for `name.*`.
fn is_row(words: &[TokenWithSpan]) -> bool {
    matches!(words, [name, period, star, ..]
        if matches!(name.token, Token::Word(_)) && period.token == Token::Period && star.token == Token::Mul)
}

/// True if an item of a select list can follow the word.
fn begins_item(word: &TokenWithSpan) -> bool {
    let words = [
        Keyword::SELECT,
        Keyword::ALL,
        Keyword::DISTINCT,
        Keyword::RETURNING,
    ];
    word.token == Token::Comma || words.iter().any(|keyword| is_word(word, *keyword))
}

/// True if a cast stands around the words between these: `CAST(t.* AS …)`, `t.*::…`.
fn is_cast(before: &[TokenWithSpan], behind: &[TokenWithSpan]) -> bool {
    match (before, behind) {
        (_, [sign, ..]) if sign.token == Token::DoubleColon => true,
        ([.., cast, open], [word, ..]) => {
            is_word(cast, Keyword::CAST) && open.token == Token::LParen && is_word(word, Keyword::AS)
        }
        _ => false,
    }
}

fn compares(word: &TokenWithSpan) -> bool {
    match &word.token {
        Token::Eq | Token::Neq | Token::Lt | Token::LtEq | Token::Gt | Token::GtEq => true,
        Token::CustomBinaryOperator(name) => name == IS_DISTINCT_FROM || name == IS_NOT_DISTINCT_FROM,
        _ => is_word(word, Keyword::IS),
    }
}

fn mark(word: &mut TokenWithSpan) {
    if let Token::Word(name) = &word.token {
        word.token = Token::make_word(&format!("{ROW_OF}{}", fold(name)), Some('"'));
    }
}
