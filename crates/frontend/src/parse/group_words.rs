//! What sqlparser reads of GROUP BY otherwise than PostgreSQL. Sets of columns become calls and names that no statement can
//! write: GROUPING SETS (…) the call [`GROUPING_SETS`], the empty set the name [`EMPTY_SET`], and DISTINCT before the list its first
//! item, [`DISTINCT_SETS`]. ROLLUP and CUBE are calls as they stand. ALL before a list goes.

use super::tokens::is_word;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The function whose arguments are grouping sets.
pub(crate) const GROUPING_SETS: &str = "\u{0}grouping sets";
/// The grouping set without columns.
pub(crate) const EMPTY_SET: &str = "\u{0}()";
/// The first item of a list of which equal sets are one.
pub(crate) const DISTINCT_SETS: &str = "\u{0}distinct";

/// Words that end the list.
const ENDS: [Keyword; 13] = [
    Keyword::HAVING,
    Keyword::WINDOW,
    Keyword::QUALIFY,
    Keyword::ORDER,
    Keyword::LIMIT,
    Keyword::OFFSET,
    Keyword::FETCH,
    Keyword::FOR,
    Keyword::UNION,
    Keyword::INTERSECT,
    Keyword::EXCEPT,
    Keyword::ON,
    Keyword::RETURNING,
];

/// Rewrites the GROUP BY clauses of a statement.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>) {
    let begins = |pair: &[TokenWithSpan]| is_word(&pair[0], Keyword::GROUP) && is_word(&pair[1], Keyword::BY);
    if !words.windows(2).any(begins) {
        return;
    }
    let mut pass = Pass {
        out: Vec::with_capacity(words.len() + 2),
        lists: vec![false],
        is_item: false,
    };
    let mut at = 0;
    while at < words.len() {
        at += pass.next(&words[at..]);
    }
    *words = pass.out;
}

struct Pass {
    out: Vec<TokenWithSpan>,
    /// For each open parenthesis, and around them all, whether its commas separate items of a list.
    lists: Vec<bool>,
    /// Whether an item begins here.
    is_item: bool,
}

impl Pass {
    /// Takes what comes next, which there is; how many tokens it was.
    fn next(&mut self, words: &[TokenWithSpan]) -> usize {
        let is = |n: usize, keyword| words.get(n).is_some_and(|w| is_word(w, keyword));
        let token = |n: usize| words.get(n).map(|w: &TokenWithSpan| &w.token);
        let is_item = std::mem::replace(&mut self.is_item, false);
        if is(0, Keyword::GROUP) && is(1, Keyword::BY) {
            return self.clause(words);
        }
        if is_item && token(0) == Some(&Token::LParen) && token(1) == Some(&Token::RParen) {
            self.name(EMPTY_SET, &words[0]);
            return 2;
        }
        if is_item
            && is(0, Keyword::GROUPING)
            && words.get(1).is_some_and(is_sets)
            && token(2) == Some(&Token::LParen)
        {
            self.name(GROUPING_SETS, &words[0]);
            self.out.push(words[2].clone());
            self.lists.push(true);
            self.is_item = true;
            return 3;
        }
        match &words[0].token {
            Token::LParen => self.lists.push(false),
            Token::RParen if self.lists.len() > 1 => {
                self.lists.pop();
            }
            Token::Comma => self.is_item = self.lists.last() == Some(&true),
            _ if ends(&words[0]) => self.set_list(false),
            _ => {}
        }
        self.out.push(words[0].clone());
        1
    }

    /// GROUP BY, and what stands before its list.
    fn clause(&mut self, words: &[TokenWithSpan]) -> usize {
        self.out.extend_from_slice(&words[..2]);
        self.set_list(true);
        self.is_item = true;
        let Some(third) = words.get(2) else {
            return 2;
        };
        if is_word(third, Keyword::DISTINCT) {
            self.name(DISTINCT_SETS, third);
            self.out.push(TokenWithSpan::new(Token::Comma, third.span));
            return 3;
        }
        let goes_on = |word: &TokenWithSpan| word.token != Token::RParen && !ends(word);
        match is_word(third, Keyword::ALL) && words.get(3).is_some_and(goes_on) {
            true => 3,
            false => 2,
        }
    }

    fn set_list(&mut self, is_list: bool) {
        if let Some(last) = self.lists.last_mut() {
            *last = is_list;
        }
    }

    fn name(&mut self, name: &str, at: &TokenWithSpan) {
        let word = Token::make_word(name, Some('"'));
        self.out.push(TokenWithSpan::new(word, at.span));
    }
}

fn is_sets(word: &TokenWithSpan) -> bool {
    matches!(&word.token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("sets"))
}

fn ends(word: &TokenWithSpan) -> bool {
    ENDS.iter().any(|keyword| is_word(word, *keyword))
}
