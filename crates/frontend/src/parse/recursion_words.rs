//! SEARCH and CYCLE behind a WITH query, which sqlparser does not read: they become an ORDER BY at the query's end, whose names no
//! statement can write. `(…) SEARCH DEPTH FIRST BY a, b SET s CYCLE a SET c TO 'Y' DEFAULT 'N' USING p` is read as
//! `(… ORDER BY [depth], a, b, [set], s, [cycle], a, [set], c, [to], 'Y', [default], 'N', [using], p)`.

use super::cursor::Cursor;
use super::source::Source;
use frazil_types::{Error, Result};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// SEARCH DEPTH FIRST BY, before the columns.
pub(crate) const DEPTH: &str = "\u{0}search depth";
/// SEARCH BREADTH FIRST BY, before the columns.
pub(crate) const BREADTH: &str = "\u{0}search breadth";
/// CYCLE, before the columns.
pub(crate) const CYCLE: &str = "\u{0}cycle";
/// Before the name of the column that orders, or marks.
pub(crate) const SET: &str = "\u{0}set";
/// Before the mark of a row that closes a cycle.
pub(crate) const TO: &str = "\u{0}to";
/// Before the mark of any other row.
pub(crate) const DEFAULT: &str = "\u{0}default";
/// Before the name of the path's column.
pub(crate) const USING: &str = "\u{0}using";

/// Rewrites the WITH queries of a statement. 42601; 0A000 where one has an order already.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>, source: &Source) -> Result<()> {
    let mut at = 0;
    while at < words.len() {
        if words[at].token == Token::RParen && begins(&words[at + 1..]) {
            let mut clauses = Clauses {
                cursor: Cursor::new(source, words),
                items: Vec::new(),
            };
            (0..=at).for_each(|_| {
                clauses.cursor.next();
            });
            clauses.read()?;
            let (end, items) = (words.len() - clauses.cursor.rest().len(), clauses.items);
            if super::tokens::has_order(words, at) {
                return Err(Error::unsupported("ORDER BY in a recursive query"));
            }
            words.drain(at + 1..end);
            at += items.len();
            words.splice(at - items.len()..at - items.len(), items);
        }
        at += 1;
    }
    Ok(())
}

/// True if SEARCH or CYCLE is next.
fn begins(words: &[TokenWithSpan]) -> bool {
    let word = |n: usize, text: &str| words.get(n).is_some_and(|w| is_text(w, text));
    let is_search = word(0, "search") && (word(1, "depth") || word(1, "breadth")) && word(2, "first");
    let named = words.get(1).is_some_and(|w| matches!(w.token, Token::Word(_)));
    let goes_on = words.get(2).is_some_and(|w| w.token == Token::Comma) || word(2, "set");
    is_search || word(0, "cycle") && named && goes_on
}

fn is_text(word: &TokenWithSpan, text: &str) -> bool {
    matches!(&word.token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(text))
}

/// The clauses, and what they become.
struct Clauses<'a> {
    cursor: Cursor<'a>,
    items: Vec<TokenWithSpan>,
}

impl Clauses<'_> {
    fn read(&mut self) -> Result<()> {
        if self.cursor.take("search") {
            let order = match self.cursor.take("depth") {
                true => DEPTH,
                false => BREADTH,
            };
            if order == BREADTH {
                self.cursor.expect_word("breadth")?;
            }
            self.cursor.expect_word("first")?;
            self.cursor.expect_word("by")?;
            self.marked(order);
            self.names()?;
            self.named("set", SET)?;
        }
        if self.cursor.take("cycle") {
            self.marked(CYCLE);
            self.names()?;
            self.named("set", SET)?;
            if self.cursor.take("to") {
                self.marked(TO);
                self.constant("default")?;
                self.cursor.expect_word("default")?;
                self.marked(DEFAULT);
                self.constant("using")?;
            }
            self.named("using", USING)?;
        }
        Ok(())
    }

    /// The next item, a name that says what follows.
    fn marked(&mut self, mark: &str) {
        let mark = Token::make_word(mark, Some('"'));
        let at = self.cursor.rest().first();
        if let Some(span) = at.map(|w| w.span) {
            let lead = match self.items.is_empty() {
                true => vec![Token::make_keyword("ORDER"), Token::make_keyword("BY")],
                false => vec![Token::Comma],
            };
            let all = lead.into_iter().chain([mark]);
            self.items
                .extend(all.map(|token| TokenWithSpan::new(token, span)));
        }
    }

    /// The next item, as it stands.
    fn item(&mut self, words: &[TokenWithSpan]) {
        if let Some(first) = words.first() {
            self.items.push(TokenWithSpan::new(Token::Comma, first.span));
        }
        self.items.extend_from_slice(words);
    }

    fn name(&mut self) -> Result<()> {
        let word = self.cursor.rest().first().cloned();
        self.cursor.name()?;
        self.item(word.as_slice());
        Ok(())
    }

    fn names(&mut self) -> Result<()> {
        self.name()?;
        while self.cursor.take_token(&Token::Comma) {
            self.name()?;
        }
        Ok(())
    }

    fn named(&mut self, word: &str, mark: &str) -> Result<()> {
        self.cursor.expect_word(word)?;
        self.marked(mark);
        self.name()
    }

    /// A constant, as far as a word that ends it: PostgreSQL takes no expressions here.
    fn constant(&mut self, end: &str) -> Result<()> {
        let words = self.cursor.rest();
        let literal = |w: &TokenWithSpan| {
            let words = [Keyword::TRUE, Keyword::FALSE, Keyword::NULL];
            let is_word = words.iter().any(|k| super::tokens::is_word(w, *k));
            is_word
                || !matches!(
                    w.token,
                    Token::Word(_) | Token::LParen | Token::Minus | Token::Plus
                )
        };
        let length = words.iter().position(|w| is_text(w, end)).unwrap_or(words.len());
        let is_typed = |w: &[TokenWithSpan]| matches!(w, [.., last] if literal(last));
        if length == 0 || length == 1 && !literal(&words[0]) || !is_typed(&words[..length]) {
            return Err(self.cursor.error());
        }
        self.item(&words[..length]);
        words[..length].iter().for_each(|_| {
            self.cursor.next();
        });
        Ok(())
    }
}
