//! Where the expressions of a definition stand: the text of a CHECK, of a DEFAULT and of an index is kept as written.

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
    if let Some(found) = of_index(words) {
        return found;
    }
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
            found.push(span_of(expression));
        }
        at = to.max(at + 1);
    }
    found
}

/// The place of some words, at least one.
fn span_of(words: &[TokenWithSpan]) -> TokenSpan {
    TokenSpan::new(words[0].span.start, words[words.len() - 1].span.end)
}

/// The keys that are expressions, and the condition, of CREATE INDEX; `None` for another statement.
fn of_index(words: &[TokenWithSpan]) -> Option<Vec<TokenSpan>> {
    let is = |at: usize, keyword| words.get(at).is_some_and(|word| is_word(word, keyword));
    let kind = 1 + usize::from(is(1, Keyword::UNIQUE));
    if !is(0, Keyword::CREATE) || !is(kind, Keyword::INDEX) {
        return None;
    }
    let open = words.iter().position(|word| word.token == Token::LParen)?;
    let end = closing(words, open);
    let mut found = Vec::new();
    let mut at = open + 1;
    while at < end {
        // A call is kept whole, another expression without the parentheses around it.
        let parenthesis = (at..end).find(|&at| words[at].token == Token::LParen);
        let comma = (at..end).find(|&at| words[at].token == Token::Comma);
        let Some(parenthesis) = parenthesis.filter(|at| comma.is_none_or(|comma| *at < comma)) else {
            at = comma.map_or(end, |comma| comma + 1);
            continue;
        };
        let close = closing(words, parenthesis);
        let key = match parenthesis == at {
            true => words.get(at + 1..close),
            false => words.get(at..=close),
        };
        found.extend(key.filter(|key| !key.is_empty()).map(span_of));
        at = (close..end)
            .find(|&at| words[at].token == Token::Comma)
            .map_or(end, |comma| comma + 1);
    }
    let condition = (end..words.len()).find(|&at| is(at, Keyword::WHERE));
    let condition = condition.and_then(|at| words.get(at + 1..));
    found.extend(condition.filter(|words| !words.is_empty()).map(span_of));
    Some(found)
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
