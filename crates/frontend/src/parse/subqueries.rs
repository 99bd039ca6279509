//! A pass over the tokens of a statement: finds the parentheses around queries, and shows sqlparser those that it would read
//! otherwise than PostgreSQL.
//!
//! sqlparser takes a parenthesis for a query's if SELECT or WITH stands behind it. PostgreSQL also reads `(VALUES …)`, and
//! `((SELECT 1) UNION SELECT 2)`, which is known by what stands behind the inner parenthesis. The dialect asks for these
//! by their places. ANY and ALL get a second pair of parentheses, an IN list that begins with a subquery a mark, and the
//! query of an INSERT loses parentheses that sqlparser would take for a list of columns.

use super::dialect::ITEM;
use super::tokens::is_word;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use std::collections::HashSet;

/// What is between a pair of parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// No query.
    Other,
    /// A query that sqlparser knows by its first word.
    Select,
    /// A query that sqlparser does not know.
    Query,
    /// A pair of parentheses with a query in them, and nothing else.
    Parentheses,
}

impl Inside {
    fn is_query(self) -> bool {
        self != Inside::Other
    }
}

/// The pairs of parentheses of a statement, by the places of their tokens.
struct Pairs {
    /// Of an opening one that is closed: the place of the other.
    closing: Vec<usize>,
    inside: Vec<Inside>,
}

impl Pairs {
    fn of(words: &[TokenWithSpan]) -> Pairs {
        let mut pairs = Pairs {
            closing: vec![usize::MAX; words.len()],
            inside: vec![Inside::Other; words.len()],
        };
        let mut open = Vec::new();
        for (at, word) in words.iter().enumerate() {
            match word.token {
                Token::LParen => open.push(at),
                Token::RParen => {
                    if let Some(first) = open.pop() {
                        pairs.closing[first] = at;
                        pairs.inside[first] = pairs.inside_of(words, first);
                    }
                }
                _ => {}
            }
        }
        pairs
    }

    /// What is in a pair whose inner pairs are known.
    fn inside_of(&self, words: &[TokenWithSpan], first: usize) -> Inside {
        let is = |keyword| words.get(first + 1).is_some_and(|w| is_word(w, keyword));
        if is(Keyword::SELECT) || is(Keyword::WITH) {
            return Inside::Select;
        }
        let opens = |at: usize| words.get(at).is_some_and(|w| w.token == Token::LParen);
        if is(Keyword::VALUES) && opens(first + 2) {
            return Inside::Query;
        }
        if !opens(first + 1) || !self.inside[first + 1].is_query() {
            return Inside::Other;
        }
        let behind = self.closing[first + 1] + 1;
        match words.get(behind) {
            Some(_) if behind == self.closing[first] => Inside::Parentheses,
            Some(word) if goes_on(word) => Inside::Query,
            _ => Inside::Other,
        }
    }

    fn is_query(&self, at: usize) -> bool {
        self.inside.get(at).is_some_and(|inside| inside.is_query())
    }
}

/// Whether a query in parentheses goes on with this word.
fn goes_on(word: &TokenWithSpan) -> bool {
    let words = [
        Keyword::UNION,
        Keyword::INTERSECT,
        Keyword::EXCEPT,
        Keyword::ORDER,
        Keyword::LIMIT,
        Keyword::OFFSET,
        Keyword::FETCH,
        Keyword::FOR,
    ];
    words.iter().any(|keyword| is_word(word, *keyword))
}

/// The tokens as sqlparser is to see them, and the places of parentheses that it does not know to be a query's.
pub(super) fn shown(mut words: Vec<TokenWithSpan>) -> (Vec<TokenWithSpan>, HashSet<Location>) {
    if !words
        .iter()
        .any(|w| w.token == Token::LParen || is_word(w, Keyword::TABLE))
    {
        return (words, HashSet::new());
    }
    inserted_queries(&mut words);
    let pairs = Pairs::of(&words);
    let mut queries = HashSet::new();
    // Tokens to be put in front of one that there is.
    let mut added: Vec<(usize, Token)> = Vec::new();
    for at in 0..words.len() {
        if words[at].token != Token::LParen {
            continue;
        }
        let before = |n: usize| at.checked_sub(n).map(|at| &words[at]);
        if pairs.inside[at] == Inside::Query {
            queries.insert(words[at].span.start);
            if before(1).is_some_and(is_quantifier) && before(2).is_some_and(is_operator) {
                added.push((at, Token::LParen));
                added.push((pairs.closing[at], Token::RParen));
            }
        }
        let begins_list = before(1).is_some_and(|w| w.token == Token::LParen)
            && before(2).is_some_and(|w| is_word(w, Keyword::IN))
            && !pairs.is_query(at - 1);
        let is_item = begins_list
            && pairs.closing[at] != usize::MAX
            && (pairs.is_query(at)
                || words
                    .get(pairs.closing[at] + 1)
                    .is_some_and(|w| w.token == Token::Comma));
        if is_item {
            added.push((at, Token::make_word(ITEM, Some('"'))));
        }
    }
    (with_added(words, added), queries)
}

fn is_quantifier(word: &TokenWithSpan) -> bool {
    let words = [Keyword::ANY, Keyword::ALL, Keyword::SOME];
    words.iter().any(|keyword| is_word(word, *keyword))
}

/// Whether a token may be the operator in front of ANY: ALL stands behind UNION and in calls, too.
fn is_operator(word: &TokenWithSpan) -> bool {
    !matches!(
        word.token,
        Token::Word(_) | Token::LParen | Token::RParen | Token::Comma
    )
}

fn with_added(words: Vec<TokenWithSpan>, mut added: Vec<(usize, Token)>) -> Vec<TokenWithSpan> {
    if added.is_empty() {
        return words;
    }
    added.sort_by_key(|a| a.0);
    let mut out = Vec::with_capacity(words.len() + added.len());
    let mut added = added.into_iter().peekable();
    for (at, word) in words.into_iter().enumerate() {
        while let Some((_, token)) = added.next_if(|a| a.0 == at) {
            out.push(TokenWithSpan::new(token, word.span));
        }
        out.push(word);
    }
    out
}

/// Writes the query of each INSERT, also of those in WITH, as sqlparser reads it: TABLE t as SELECT, what is in parentheses
/// without them, or, where more of the query follows, in a SELECT.
fn inserted_queries(words: &mut Vec<TokenWithSpan>) {
    let begins = |words: &[TokenWithSpan], at: usize| {
        let next = words.get(at + 1);
        is_word(&words[at], Keyword::INSERT) && next.is_some_and(|next| is_word(next, Keyword::INTO))
    };
    for at in (0..words.len()).rev() {
        if begins(words, at) && is_rewritten(words, behind_target(words, at + 2)) {
            let end = end_of(words, at);
            let mut insert: Vec<TokenWithSpan> = words[at..end].to_vec();
            inserted_query(&mut insert);
            words.splice(at..end, insert);
        }
    }
}

/// True if a query that sqlparser does not read may follow the target of an INSERT.
fn is_rewritten(words: &[TokenWithSpan], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    word.token == Token::LParen || is_word(word, Keyword::TABLE)
}

/// The end of the statement that begins at `at`: the parenthesis that closes around it, or the end of the tokens.
fn end_of(words: &[TokenWithSpan], at: usize) -> usize {
    let mut depth = 0_usize;
    let end = words[at..].iter().position(|word| match word.token {
        Token::LParen => {
            depth += 1;
            false
        }
        Token::RParen if depth == 0 => true,
        Token::RParen => {
            depth -= 1;
            false
        }
        _ => false,
    });
    end.map_or(words.len(), |end| at + end)
}

/// Writes the query of the INSERT that the tokens are.
fn inserted_query(words: &mut Vec<TokenWithSpan>) {
    let pairs = Pairs::of(words);
    let mut at = behind_target(words, 2);
    if words.get(at).is_some_and(|w| w.token == Token::LParen) && !pairs.is_query(at) {
        // The columns.
        at = pairs.closing[at].saturating_add(1);
    }
    if at > words.len() {
        return;
    }
    let (mut first, mut last) = (at, words.len());
    let mut more = None;
    while pairs.is_query(first) && !words.get(first + 1).is_some_and(|w| is_word(w, Keyword::SELECT)) {
        let behind = pairs.closing[first] + 1;
        match words.get(behind).filter(|_| behind < last) {
            Some(word) if goes_on(word) => {
                more = Some(behind);
                break;
            }
            Some(word) if !is_word(word, Keyword::ON) && !is_word(word, Keyword::RETURNING) => break,
            _ => (first, last) = (first + 1, behind - 1),
        }
    }
    words.drain(last..last + (first - at));
    if let Some(behind) = more {
        in_select(words, first, behind);
    } else if words.get(first).is_some_and(|w| is_word(w, Keyword::TABLE)) {
        let span = words[first].span;
        let select = [
            Token::make_keyword("SELECT"),
            Token::Mul,
            Token::make_keyword("FROM"),
        ];
        words.splice(first..=first, select.map(|token| TokenWithSpan::new(token, span)));
    }
    words.drain(at..first);
}

/// The place behind the name of a table at `at`, and behind its alias.
fn behind_target(words: &[TokenWithSpan], at: usize) -> usize {
    let is = |at: usize, keyword| words.get(at).is_some_and(|w| is_word(w, keyword));
    let mut at = at + 1;
    while words.get(at).is_some_and(|w| w.token == Token::Period) {
        at += 2;
    }
    if is(at, Keyword::AS) {
        return at + 2;
    }
    let begins = [
        Keyword::TABLE,
        Keyword::SELECT,
        Keyword::VALUES,
        Keyword::WITH,
        Keyword::DEFAULT,
    ];
    let is_alias = words.get(at).is_some_and(|w| match &w.token {
        Token::Word(w) => !w.value.eq_ignore_ascii_case("overriding"),
        _ => false,
    });
    if is_alias && !begins.iter().any(|keyword| is(at, *keyword)) {
        at += 1;
    }
    at
}

/// Writes the query in the parentheses from `first` up to `behind` as one that begins with SELECT.
fn in_select(words: &mut Vec<TokenWithSpan>, first: usize, behind: usize) {
    let span = words[behind - 1].span;
    let end = [
        Token::make_keyword("AS"),
        Token::make_word("source", Some('"')),
        Token::RParen,
    ];
    words.splice(behind..behind, end.map(|token| TokenWithSpan::new(token, span)));
    let span = words[first].span;
    let select = [
        Token::LParen,
        Token::make_keyword("SELECT"),
        Token::Mul,
        Token::make_keyword("FROM"),
    ];
    words.splice(first..first, select.map(|token| TokenWithSpan::new(token, span)));
}
