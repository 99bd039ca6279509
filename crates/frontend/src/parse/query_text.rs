//! Finds the relations that the text of a query names, so that the text can be written anew with other names.

use super::dialect::FrazilDialect;
use super::keywords::fold;
use super::source::Source;
use super::tokenize;
use super::tokens::is_word;
use crate::limits::Limits;
use frazil_types::Result;
use sqlparser::keywords::{Keyword, RESERVED_FOR_TABLE_ALIAS};
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::Range;

/// The tokens of a query.
pub struct QueryText {
    words: Vec<TokenWithSpan>,
    /// True where a relation of FROM, or of TABLE, begins at a token.
    begins_relation: Vec<bool>,
    source: Source,
}

/// A relation of a query that is named with its schema: `s.t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QualifiedPlace {
    /// In FROM.
    Relation {
        /// The bytes of both names.
        bytes: Range<usize>,
        /// True if it has an alias, or nothing can name it.
        is_named: bool,
    },
    /// Before a column or `*`.
    Qualifier {
        /// The bytes of both names.
        bytes: Range<usize>,
    },
}

impl QueryText {
    /// Reads a query. 42601.
    pub fn of(text: &str) -> Result<QueryText> {
        let source = Source::new(text);
        let limits = Limits::none();
        let dialect = FrazilDialect::new(limits.cancel.clone());
        let (mut words, _) = tokenize(text, &source, &dialect, &limits)?;
        words.retain(|word| !matches!(word.token, Token::Whitespace(_) | Token::EOF));
        let begins_relation = begins_relation(&words);
        Ok(QueryText {
            words,
            begins_relation,
            source,
        })
    }

    /// The byte behind WITH or WITH RECURSIVE, if the query begins so.
    pub fn behind_with(&self) -> Option<usize> {
        let [first, second, ..] = self.words.as_slice() else {
            return None;
        };
        let last = match is_word(second, Keyword::RECURSIVE) {
            true => second,
            false => first,
        };
        is_word(first, Keyword::WITH).then(|| self.source.byte(last.span.end))
    }

    /// True if a word of the query is this name.
    pub fn has(&self, name: &str) -> bool {
        (0..self.words.len()).any(|at| self.is_name(at, name))
    }

    /// True if the query may define a WITH query of this name.
    pub fn may_define(&self, name: &str) -> bool {
        (0..self.words.len()).any(|at| {
            let behind = self.words.get(at + 1);
            self.is_name(at, name)
                && behind.is_some_and(|word| word.token == Token::LParen || is_word(word, Keyword::AS))
        })
    }

    /// The places where the query names a relation with its schema, in the order of the text.
    pub fn places_of(&self, schema: &str, name: &str) -> Vec<QualifiedPlace> {
        let mut places = Vec::new();
        for at in 0..self.words.len() {
            let is_qualified = self.is_name(at, schema)
                && !self.is_token(at.wrapping_sub(1), &Token::Period)
                && self.is_token(at + 1, &Token::Period)
                && self.is_name(at + 2, name);
            if !is_qualified {
                continue;
            }
            let (from, to) = (self.words[at].span.start, self.words[at + 2].span.end);
            let bytes = self.source.byte(from)..self.source.byte(to);
            if self.is_token(at + 3, &Token::Period) {
                places.push(QualifiedPlace::Qualifier { bytes });
            } else if self.begins_relation[at] && !self.is_token(at + 3, &Token::LParen) {
                let is_named = self.is_alias(at + 3) || self.takes_no_alias(at);
                places.push(QualifiedPlace::Relation { bytes, is_named });
            }
        }
        places
    }

    fn is_token(&self, at: usize, token: &Token) -> bool {
        self.words.get(at).is_some_and(|word| word.token == *token)
    }

    fn is_name(&self, at: usize, name: &str) -> bool {
        matches!(self.words.get(at).map(|word| &word.token), Some(Token::Word(w)) if fold(w) == name)
    }

    /// True if the relation at `at` is that of `TABLE s.t` or `ONLY (s.t)`.
    fn takes_no_alias(&self, at: usize) -> bool {
        let in_parentheses = self.is_token(at.wrapping_sub(1), &Token::LParen);
        self.is_behind(at, &[Keyword::TABLE]) || in_parentheses && self.is_behind(at - 1, &[Keyword::ONLY])
    }

    /// True if one of these words stands before `at`.
    fn is_behind(&self, at: usize, words: &[Keyword]) -> bool {
        let before = at.checked_sub(1).map(|at| &self.words[at]);
        before.is_some_and(|before| words.iter().any(|word| is_word(before, *word)))
    }

    /// True if the word behind a relation is its alias.
    fn is_alias(&self, at: usize) -> bool {
        match self.words.get(at).map(|word| &word.token) {
            Some(Token::Word(w)) if w.quote_style.is_some() => true,
            Some(Token::Word(w)) => {
                w.keyword == Keyword::AS || !RESERVED_FOR_TABLE_ALIAS.contains(&w.keyword)
            }
            _ => false,
        }
    }
}

/// Tells of each token if a relation of FROM begins there, or that of TABLE.
fn begins_relation(words: &[TokenWithSpan]) -> Vec<bool> {
    let is = |at: usize, keywords: &[Keyword]| {
        let word = words.get(at);
        word.is_some_and(|word| keywords.iter().any(|keyword| is_word(word, *keyword)))
    };
    // Each open parenthesis, and around them all: a query is in it, and a comma adds a relation.
    let mut levels = vec![(true, false)];
    let mut begins = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let last = levels.len() - 1;
        let (is_query, in_from) = levels[last];
        let before = at.wrapping_sub(1);
        let is_compared =
            is(before, &[Keyword::FROM]) && is(at.wrapping_sub(2), &[Keyword::DISTINCT]) && in_from;
        let separated = in_from
            && words
                .get(before)
                .is_some_and(|w| matches!(w.token, Token::Comma | Token::LParen));
        let begins_here = separated
            || is_query && is(before, &[Keyword::FROM]) && !is_compared
            || is(
                before,
                &[Keyword::JOIN, Keyword::LATERAL, Keyword::ONLY, Keyword::TABLE],
            );
        begins.push(begins_here);
        match word.token {
            Token::LParen => {
                let holds_query = is(
                    at + 1,
                    &[Keyword::SELECT, Keyword::WITH, Keyword::VALUES, Keyword::TABLE],
                );
                let in_join = !holds_query && begins_here;
                levels.push((holds_query || in_join, in_join));
            }
            Token::RParen if last > 0 => {
                levels.pop();
            }
            _ if is(at, &[Keyword::FROM]) => levels[last].1 |= is_query,
            _ if is(at, &ENDS_FROM) => levels[last].1 = false,
            _ => {}
        }
    }
    begins
}

/// Words that end FROM.
const ENDS_FROM: [Keyword; 13] = [
    Keyword::SELECT,
    Keyword::WHERE,
    Keyword::GROUP,
    Keyword::HAVING,
    Keyword::WINDOW,
    Keyword::UNION,
    Keyword::INTERSECT,
    Keyword::EXCEPT,
    Keyword::ORDER,
    Keyword::LIMIT,
    Keyword::OFFSET,
    Keyword::FETCH,
    Keyword::FOR,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<String> {
        let places = QueryText::of(text).unwrap().places_of("s", "t");
        let shown = |place| match place {
            QualifiedPlace::Relation { bytes, is_named } => {
                format!("{}{}", &text[bytes], ["", "+"][is_named as usize])
            }
            QualifiedPlace::Qualifier { bytes } => format!("{}!", &text[bytes]),
        };
        places.into_iter().map(shown).collect()
    }

    #[test]
    fn relations_are_found_with_their_schema() {
        let all = |of: &[&str]| of.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(written("select * from t"), all(&[]));
        assert_eq!(written("select 'ä', s.t.a from s.t"), all(&["s.t!", "s.t"]));
        assert_eq!(
            written("select \"s\" . \"t\".* from S.T x, s.t as y join s.t using (a) where s.u.t = 1"),
            all(&["\"s\" . \"t\"!", "S.T+", "s.t+", "s.t"])
        );
        assert_eq!(
            written("select s.t(1) from s.t tablesample system (1)"),
            all(&["s.t"])
        );
        assert_eq!(
            written("select (select max(a) from s.t) from s.t where true"),
            all(&["s.t", "s.t"])
        );
        assert_eq!(
            written("table s.t union select 1 from only (s.t), only s.t"),
            all(&["s.t+", "s.t+", "s.t"])
        );
        assert_eq!(written("select s.a from u s join s.t x on true"), all(&["s.t+"]));
        assert_eq!(
            written("select s.t, (s.t) from u s where s.t is distinct from s.t"),
            all(&[])
        );
        assert_eq!(
            written(
                "select extract(day from s.t) from u, (s.t x join (u join s.t using (a)) on f(1, s.t)), s.t y"
            ),
            all(&["s.t+", "s.t", "s.t+"])
        );
    }

    #[test]
    fn with_and_names_are_found() {
        let text = QueryText::of("WITH RECURSIVE t as (select 1) select * from \"T\"").unwrap();
        assert_eq!(text.behind_with(), Some(14));
        assert!(text.may_define("t") && text.has("T") && !text.may_define("T") && !text.has("x"));
        assert_eq!(
            QueryText::of("(with t as (select 1) select 2)")
                .unwrap()
                .behind_with(),
            None
        );
    }
}
