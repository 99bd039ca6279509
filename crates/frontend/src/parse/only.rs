//! What stands beside tables in FROM and sqlparser does not read: ONLY, which changes nothing where no table inherits
//! of another, is left out; ROWS FROM becomes a function of a name that no statement can write; an alias of USING is
//! refused.
//!
//! The list of columns behind a call becomes a type, and what has one stands in ROWS FROM: `f(x) AS t (a integer)`
//! becomes
//! `ROWS FROM (f(x)::TABLE (a integer)) AS t`.

use super::source::{Source, near};
use super::tokens::{end_of_parenthesis, is_word};
use frazil_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The function that ROWS FROM is.
pub(crate) const ROWS_FROM: &str = "\u{0}rows from";

/// Leaves out ONLY in front of tables, with the parentheses around the table, and the FROM of ROWS FROM; writes lists
/// of columns as types. 0A000, 42601.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>, source: &Source) -> Result<()> {
    refuse(words, source)?;
    sample_seeds(words);
    leave_out(words);
    lists_as_types(words);
    Ok(())
}

fn leave_out(words: &mut Vec<TokenWithSpan>) {
    let concerns = |w: &TokenWithSpan| is_word(w, Keyword::ONLY) || is_word(w, Keyword::ROWS);
    if !words.iter().any(concerns) {
        return;
    }
    let mut relations = Relations::new();
    let mut left_out = vec![false; words.len()];
    for at in 0..words.len() {
        if !relations.begins_at(words, at) {
            continue;
        }
        if is_rows_from(&words[at..]) {
            left_out[at + 1] = true;
            words[at].token = Token::make_word(ROWS_FROM, Some('"'));
        } else if is_word(&words[at], Keyword::ONLY) {
            left_out[at] = true;
            if words.get(at + 1).is_some_and(|w| w.token == Token::LParen) {
                let name = words[at + 2..].iter();
                let is_name = |w: &&TokenWithSpan| matches!(w.token, Token::Word(_) | Token::Period);
                let close = at + 2 + name.take_while(is_name).count();
                if words.get(close).is_some_and(|w| w.token == Token::RParen) {
                    (left_out[at + 1], left_out[close]) = (true, true);
                }
            }
        }
    }
    let mut left_out = left_out.into_iter();
    words.retain(|_| !left_out.next().unwrap_or(false));
}

/// Which words of a statement begin a relation, looked at one after the other.
struct Relations {
    /// Of each open parenthesis, and around them all: whether a comma adds a relation.
    in_from: Vec<bool>,
}

impl Relations {
    fn new() -> Relations {
        Relations { in_from: vec![false] }
    }

    /// Whether the next word, at `at`, begins a relation.
    fn begins_at(&mut self, words: &[TokenWithSpan], at: usize) -> bool {
        let last = self.in_from.len() - 1;
        match &words[at].token {
            Token::LParen => self.in_from.push(false),
            Token::RParen if last > 0 => {
                self.in_from.pop();
            }
            Token::Word(w) => {
                if w.quote_style.is_none() {
                    self.in_from[last] = lists_relations(w.keyword).unwrap_or(self.in_from[last]);
                }
                return at > 0 && stands_before_table(&words[at - 1], self.in_from[last]);
            }
            _ => {}
        }
        false
    }
}

/// Writes each list of columns as the type of the call before it.
fn lists_as_types(words: &mut Vec<TokenWithSpan>) {
    let mut relations = Relations::new();
    // Of each open parenthesis, whether it is that of ROWS FROM.
    let mut is_rows_from = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let in_rows_from = is_rows_from.last() == Some(&true);
        match &words[at].token {
            Token::LParen => is_rows_from.push(at > 0 && is_named_rows_from(&words[at - 1])),
            Token::RParen => {
                is_rows_from.pop();
            }
            Token::Word(_) if in_rows_from && is_word(&words[at], Keyword::AS) && at + 1 < words.len() => {
                list_as_type(words, at);
            }
            _ => {}
        }
        if relations.begins_at(words, at)
            && let Some(end) = end_of_call(words, at)
            && let Some(list) = list_of_columns(words, end)
        {
            put_in_rows_from(words, at, end, list);
        }
        at += 1;
    }
}

/// Writes the AS at `at` and the list of columns behind it as a type.
fn list_as_type(words: &mut Vec<TokenWithSpan>, at: usize) {
    if words[at - 1].token == Token::RParen && words[at + 1].token == Token::LParen {
        words[at].token = Token::DoubleColon;
        let table = TokenWithSpan::new(Token::make_keyword("TABLE"), words[at + 1].span);
        words.insert(at + 1, table);
    }
}

/// Puts the call from `begin` to `end` with the list of columns that opens at `list` in ROWS FROM. What stands between,
/// an alias perhaps, goes behind.
fn put_in_rows_from(words: &mut Vec<TokenWithSpan>, begin: usize, end: usize, list: usize) {
    let close = end_of_parenthesis(words, list);
    words[end..close].rotate_left(list - end);
    let length = close - list;
    let has_alias = list - end > 1 || !is_word(&words[end + length], Keyword::AS);
    let at = |token, word: &TokenWithSpan| TokenWithSpan::new(token, word.span);
    let closing = at(Token::RParen, &words[end + length - 1]);
    match has_alias {
        true => words.insert(end + length, closing),
        // AS alone, before the list.
        false => words[end + length] = closing,
    }
    let opening = [
        at(Token::DoubleColon, &words[end]),
        at(Token::make_keyword("TABLE"), &words[end]),
    ];
    words.splice(end..end, opening);
    let opening = [
        at(Token::make_word(ROWS_FROM, Some('"')), &words[begin]),
        at(Token::LParen, &words[begin]),
    ];
    words.splice(begin..begin, opening);
}

/// The place behind a call of a function whose name begins at `at`, if there is one.
fn end_of_call(words: &[TokenWithSpan], at: usize) -> Option<usize> {
    let is_clause = is_word(&words[at], Keyword::LATERAL) || is_word(&words[at], Keyword::ONLY);
    let mut open = at + 1;
    while let Some([dot, name]) = words.get(open..open + 2)
        && dot.token == Token::Period
        && matches!(name.token, Token::Word(_))
    {
        open += 2;
    }
    let calls = words.get(open)?.token == Token::LParen && !is_clause;
    calls.then(|| end_of_parenthesis(words, open))
}

/// Where the list of columns opens that stands at `at`, behind AS or an alias, if it is one: its first column has a
/// type.
fn list_of_columns(words: &[TokenWithSpan], at: usize) -> Option<usize> {
    let is_as = is_word(words.get(at)?, Keyword::AS);
    let behind = at + usize::from(is_as);
    let open = match &words.get(behind)?.token {
        Token::LParen if is_as => return Some(behind),
        // Names have lost their keywords (`names`).
        Token::Word(w) if w.keyword == Keyword::NoKeyword => behind + 1,
        _ => return None,
    };
    match words.get(open..open + 3)? {
        [open_word, name, ty]
            if open_word.token == Token::LParen
                && [name, ty].iter().all(|w| matches!(w.token, Token::Word(_))) =>
        {
            Some(open)
        }
        _ => None,
    }
}

fn is_named_rows_from(word: &TokenWithSpan) -> bool {
    matches!(&word.token, Token::Word(w) if w.value == ROWS_FROM)
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

/// Writes `TABLESAMPLE method (percentage) REPEATABLE (seed)` as `TABLESAMPLE method ((percentage, seed))`: sqlparser
/// reads no seed but a number. Several arguments, which no method takes, become one with NULL as its seed.
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

fn refuse(words: &[TokenWithSpan], source: &Source) -> Result<()> {
    for (at, word) in words.iter().enumerate() {
        let next = |n: usize| words.get(at + n);
        if let (Token::DoubleColon, Some(ty)) = (&word.token, next(1))
            && is_word(ty, Keyword::TABLE)
        {
            return Err(near(source, ty.span.start, source.token_text(ty.span)));
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
