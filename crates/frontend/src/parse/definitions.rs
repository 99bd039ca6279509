//! Where the expressions of a definition stand: the text of a CHECK and of a DEFAULT is kept as written.

use super::tokens::is_word;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span as TokenSpan, Token, TokenWithSpan};

/// What may follow the expression of a DEFAULT: another clause of the column.
const CLAUSES: [Keyword; 11] = [
    Keyword::CHECK,
    Keyword::COLLATE,
    Keyword::CONSTRAINT,
    Keyword::DEFAULT,
    Keyword::DEFERRABLE,
    Keyword::GENERATED,
    Keyword::NOT,
    Keyword::NULL,
    Keyword::PRIMARY,
    Keyword::REFERENCES,
    Keyword::UNIQUE,
];

/// The expressions of CHECK (…), DEFAULT … and GENERATED ALWAYS AS (…) in a statement that defines a table, none inside
/// another.
pub(super) fn expressions(words: &[TokenWithSpan]) -> Vec<TokenSpan> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let from = at + 1;
        let opens = words.get(from).is_some_and(|t| t.token == Token::LParen);
        let is_always = at > 0 && is_word(&words[at - 1], Keyword::ALWAYS);
        let is_before = is_word(&words[at], Keyword::CHECK) || is_always && is_word(&words[at], Keyword::AS);
        let (from, to) = if is_before && opens {
            (from + 1, closing(words, from))
        } else if is_word(&words[at], Keyword::DEFAULT) {
            (from, end_of_default(words, from))
        } else {
            at += 1;
            continue;
        };
        if let Some(expression) = words.get(from..to).filter(|e| !e.is_empty()) {
            let span = TokenSpan::new(
                expression[0].span.start,
                expression[expression.len() - 1].span.end,
            );
            found.push(span);
        }
        at = to.max(at + 1);
    }
    found
}

/// Position of the parenthesis that closes the one at `open`; the number of words if none does.
fn closing(words: &[TokenWithSpan], open: usize) -> usize {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate().skip(open) {
        match word.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    words.len()
}

/// Position of the first word behind a DEFAULT's expression, which begins at `from`.
fn end_of_default(words: &[TokenWithSpan], from: usize) -> usize {
    // Parentheses and CASEs that are open.
    let (mut depth, mut cases) = (0, 0);
    for (at, word) in words.iter().enumerate().skip(from) {
        match word.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return at,
            Token::RParen => depth -= 1,
            Token::Comma if depth == 0 => return at,
            _ if is_word(word, Keyword::CASE) => cases += 1,
            _ if is_word(word, Keyword::END) => cases -= 1,
            _ if depth == 0
                && cases == 0
                && at > from
                && CLAUSES.iter().any(|&clause| is_word(word, clause)) =>
            {
                return at;
            }
            _ => {}
        }
    }
    words.len()
}
