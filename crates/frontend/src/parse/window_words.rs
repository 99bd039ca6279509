//! What sqlparser reads of a window's frame otherwise than PostgreSQL. EXCLUDE at its end becomes the last item of the
//! window's ORDER BY, or of its PARTITION BY, under a name that no statement can write. An offset that begins with a quoted
//! literal gets parentheses: it would be taken for an interval.

use super::tokens::is_word;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Begins the name of the item; behind it stands what is excluded.
pub(crate) const EXCLUDE: &str = "\u{0}exclude ";

/// Rewrites the frames of a statement.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at < words.len() {
        if is_word(&words[at], Keyword::EXCLUDE) {
            at = take_out(words, at);
        }
        if is_word(&words[at], Keyword::PRECEDING) || is_word(&words[at], Keyword::FOLLOWING) {
            at += parenthesize(words, at);
        }
        at += 1;
    }
}

/// Puts parentheses around the offset that ends before `end`, if it begins with a quoted literal; how many tokens they are.
fn parenthesize(words: &mut Vec<TokenWithSpan>, end: usize) -> usize {
    let before = [
        Keyword::BETWEEN,
        Keyword::AND,
        Keyword::ROWS,
        Keyword::RANGE,
        Keyword::GROUPS,
    ];
    let mut depth = 0_usize;
    let begin = (0..end).rev().find(|at| match words[*at].token {
        Token::RParen => {
            depth += 1;
            false
        }
        Token::LParen if depth > 0 => {
            depth -= 1;
            false
        }
        Token::LParen => true,
        _ => depth == 0 && before.iter().any(|k| is_word(&words[*at], *k)),
    });
    let Some(begin) = begin.map(|at| at + 1) else {
        return 0;
    };
    if begin == end || !matches!(words[begin].token, Token::SingleQuotedString(_)) {
        return 0;
    }
    let (open, close) = (words[begin].span, words[end - 1].span);
    words.insert(end, TokenWithSpan::new(Token::RParen, close));
    words.insert(begin, TokenWithSpan::new(Token::LParen, open));
    2
}

/// Takes the exclusion that begins at `at` out of its frame, if it is one; the place to go on behind.
fn take_out(words: &mut Vec<TokenWithSpan>, at: usize) -> usize {
    let Some((excluded, length)) = excluded(words, at) else {
        return at;
    };
    let Some(place) = Place::of(words, at) else {
        return at;
    };
    words.drain(at..at + length);
    let span = words[place.unit].span;
    let name = Token::make_word(&format!("{EXCLUDE}{excluded}"), Some('"'));
    let item = match place.has_list {
        true => vec![Token::Comma, name],
        false => vec![Token::make_keyword("PARTITION"), Token::make_keyword("BY"), name],
    };
    let items = item.len();
    let item = item.into_iter().map(|token| TokenWithSpan::new(token, span));
    words.splice(place.unit..place.unit, item);
    at + items - 1
}

/// What is excluded, if `at` is the last part of a frame, and how many tokens say so.
fn excluded(words: &[TokenWithSpan], at: usize) -> Option<(&'static str, usize)> {
    let before = words.get(at.checked_sub(1)?)?;
    let ends_bound = [Keyword::PRECEDING, Keyword::FOLLOWING, Keyword::ROW];
    if !ends_bound.iter().any(|k| is_word(before, *k)) {
        return None;
    }
    let forms: [(&str, &[&str]); 4] = [
        ("current row", &["current", "row"]),
        ("group", &["group"]),
        ("ties", &["ties"]),
        ("no others", &["no", "others"]),
    ];
    let is = |word: Option<&TokenWithSpan>, text: &str| matches!(word.map(|w| &w.token), Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(text));
    let found = forms.into_iter().find(|(_, form)| {
        let said = form.iter().enumerate();
        said.into_iter().all(|(i, text)| is(words.get(at + 1 + i), text))
    })?;
    let length = 1 + found.1.len();
    let closes = words.get(at + length).is_some_and(|w| w.token == Token::RParen);
    closes.then_some((found.0, length))
}

/// Where a frame begins.
struct Place {
    /// ROWS, RANGE or GROUPS.
    unit: usize,
    /// True if PARTITION BY or ORDER BY stands before it.
    has_list: bool,
}

impl Place {
    /// The beginning of the frame that ends before `end`.
    fn of(words: &[TokenWithSpan], end: usize) -> Option<Place> {
        let units = [Keyword::ROWS, Keyword::RANGE, Keyword::GROUPS];
        let (mut depth, mut unit) = (0_usize, None);
        for at in (0..end).rev() {
            let word = &words[at];
            match word.token {
                Token::RParen => depth += 1,
                Token::LParen if depth == 0 => break,
                Token::LParen => depth -= 1,
                _ if depth > 0 => {}
                _ if unit.is_none() && units.iter().any(|k| is_word(word, *k)) => unit = Some(at),
                _ if unit.is_some() && is_word(word, Keyword::BY) => {
                    return unit.map(|unit| Place { unit, has_list: true });
                }
                _ => {}
            }
        }
        unit.map(|unit| Place {
            unit,
            has_list: false,
        })
    }
}
