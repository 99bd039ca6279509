//! The target of ON CONFLICT, of which sqlparser reads plain names only. Keys and WHERE become assignments in front of
//! those of SET, to names that no statement can write: `ON CONFLICT (a, lower(b) text_ops) WHERE c DO NOTHING` is read
//! as `ON CONFLICT DO UPDATE SET [key] = a, [key] = lower(b), [class].text_ops = NULL, [where] = c, [nothing] = NULL`.

use super::source::Source;
use super::tokens::{end_of_parenthesis, is_word};
use frazil_types::{Error, Result, SqlState};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

/// A key of the target.
pub(crate) const KEY: &str = "\u{0}conflict key";
/// The operator class of the key before, whose name follows.
pub(crate) const CLASS: &str = "\u{0}conflict class";
/// The condition of the target.
pub(crate) const WHERE: &str = "\u{0}conflict where";
/// DO NOTHING.
pub(crate) const NOTHING: &str = "\u{0}conflict nothing";

/// Rewrites the targets of a statement. 42P10 for a key with an order.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>, source: &Source) -> Result<()> {
    let mut at = 0;
    while at + 2 < words.len() {
        let is_target = is_word(&words[at], Keyword::ON)
            && is_word(&words[at + 1], Keyword::CONFLICT)
            && words[at + 2].token == Token::LParen;
        if is_target && let Some((end, read)) = target(words, at + 2, source)? {
            words.splice(at + 2..end, read);
        }
        at += 1;
    }
    Ok(())
}

/// The words for the target whose list opens at a place, and the place behind NOTHING or SET. `None` for a target that
/// sqlparser refuses.
fn target(
    words: &[TokenWithSpan],
    open: usize,
    source: &Source,
) -> Result<Option<(usize, Vec<TokenWithSpan>)>> {
    let close = end_of_parenthesis(words, open);
    let is = |at: usize, keyword| words.get(at).is_some_and(|word| is_word(word, keyword));
    let Some(action) = action_behind(words, close) else {
        return Ok(None);
    };
    let does_nothing = is(action + 1, Keyword::NOTHING);
    let does_update = is(action + 1, Keyword::UPDATE) && is(action + 2, Keyword::SET);
    if !does_nothing && !does_update {
        return Ok(None);
    }
    let span = words[open].span;
    let mut read = Assignments(Vec::new());
    for key in keys(&words[open + 1..close - 1]) {
        if key.is_empty() {
            return Ok(None);
        }
        let Key { value, class, order } = Key::of(key);
        if let Some(order) = order {
            let message = format!("{order} is not allowed in ON CONFLICT clause");
            let place = source.position(source.byte(span.start));
            return Err(Error::new(SqlState::INVALID_COLUMN_REFERENCE, message).at_position(place));
        }
        read.add(KEY, &[], value, span);
        if !class.is_empty() {
            read.add(CLASS, class, &[], span);
        }
    }
    if is(close, Keyword::WHERE) {
        read.add(WHERE, &[], &words[close + 1..action], span);
    }
    let end = match does_nothing {
        true => {
            read.add(NOTHING, &[], &[], span);
            action + 2
        }
        false => {
            read.0.push(TokenWithSpan::new(Token::Comma, span));
            action + 3
        }
    };
    let does = ["DO", "UPDATE", "SET"];
    let does = does.map(|word| TokenWithSpan::new(Token::make_keyword(word), words[action].span));
    Ok(Some((end, does.into_iter().chain(read.0).collect())))
}

/// The place of DO behind a list and its condition.
fn action_behind(words: &[TokenWithSpan], close: usize) -> Option<usize> {
    let mut at = close;
    if is_word(words.get(at)?, Keyword::WHERE) {
        at += 1;
        while !is_word(words.get(at)?, Keyword::DO) {
            at = match words[at].token {
                Token::LParen => end_of_parenthesis(words, at),
                _ => at + 1,
            };
        }
        // A condition has at least one word.
        return (at > close + 1).then_some(at);
    }
    is_word(words.get(at)?, Keyword::DO).then_some(at)
}

/// The parts of a list between its commas.
fn keys(words: &[TokenWithSpan]) -> impl Iterator<Item = &[TokenWithSpan]> {
    let mut depth = 0_usize;
    words.split(move |word| {
        match word.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && word.token == Token::Comma
    })
}

/// A key as it is written.
struct Key<'w> {
    /// The column or expression with its collation.
    value: &'w [TokenWithSpan],
    /// The name of its operator class, or nothing.
    class: &'w [TokenWithSpan],
    /// Words for its order, if it has one.
    order: Option<&'static str>,
}

impl Key<'_> {
    fn of(words: &[TokenWithSpan]) -> Key<'_> {
        let value = end_of_value(words);
        let is_word = words
            .get(value)
            .is_some_and(|word| matches!(word.token, Token::Word(_)));
        let end = match order_at(words, value) {
            None if is_word => end_of_name(words, value),
            None | Some(_) => value,
        };
        let order = order_at(words, end);
        // An expression without its parentheses is refused by the binder.
        let is_whole = order.is_some() || end == words.len();
        Key {
            value: if is_whole { &words[..value] } else { words },
            class: if is_whole { &words[value..end] } else { &[] },
            order,
        }
    }
}

/// The place behind the column, call or parenthesis that begins a key, and behind its collation.
fn end_of_value(words: &[TokenWithSpan]) -> usize {
    let mut end = match words[0].token {
        Token::LParen => 0,
        _ => end_of_name(words, 0),
    };
    if words.get(end).is_some_and(|word| word.token == Token::LParen) {
        end = end_of_parenthesis(words, end);
    }
    match words.get(end).is_some_and(|word| is_word(word, Keyword::COLLATE)) {
        true => end_of_name(words, end + 1),
        false => end,
    }
}

/// The words of an error for the order that is written at a place. The words may have been read as names.
fn order_at(words: &[TokenWithSpan], at: usize) -> Option<&'static str> {
    let Token::Word(word) = &words.get(at)?.token else {
        return None;
    };
    let is = |text: &str| word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text);
    match (is("asc") || is("desc"), is("nulls")) {
        (true, _) => Some("ASC/DESC"),
        (false, true) => Some("NULLS FIRST/LAST"),
        (false, false) => None,
    }
}

/// The place behind a name, perhaps with a schema, that begins at a place.
fn end_of_name(words: &[TokenWithSpan], begin: usize) -> usize {
    let mut end = begin + 1;
    while words.get(end).is_some_and(|word| word.token == Token::Period) {
        end += 2;
    }
    end.min(words.len())
}

/// Assignments as they are made.
struct Assignments(Vec<TokenWithSpan>);

impl Assignments {
    /// Adds the assignment of a value to `to.name`, or to `to` if the name is empty. NULL stands for an empty value.
    fn add(&mut self, to: &str, name: &[TokenWithSpan], value: &[TokenWithSpan], span: Span) {
        let sign = |token: Token| TokenWithSpan::new(token, span);
        if !self.0.is_empty() {
            self.0.push(sign(Token::Comma));
        }
        self.0.push(sign(Token::make_word(to, Some('"'))));
        if !name.is_empty() {
            self.0.push(sign(Token::Period));
            self.0.extend_from_slice(name);
        }
        self.0.push(sign(Token::Eq));
        self.0.extend_from_slice(value);
        if value.is_empty() {
            self.0.push(sign(Token::make_keyword("NULL")));
        }
    }
}
