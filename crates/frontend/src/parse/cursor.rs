//! Reads tokens one after another: statements that sqlparser does not know.

use super::keywords::fold;
use super::source::Source;
use frazil_catalog::WrittenName;
use frazil_types::{Error, Result, SqlState};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// A place among the tokens of a statement.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    pub(super) source: &'a Source,
    words: &'a [TokenWithSpan],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a Source, words: &'a [TokenWithSpan]) -> Cursor<'a> {
        Cursor { source, words, at: 0 }
    }

    /// The tokens not read yet.
    pub fn rest(&self) -> &'a [TokenWithSpan] {
        self.words.get(self.at..).unwrap_or_default()
    }

    /// The next word, folded, if the next token is one.
    pub fn word(&self) -> Option<String> {
        match &self.words.get(self.at)?.token {
            Token::Word(w) if w.quote_style.is_none() => Some(w.value.to_lowercase()),
            _ => None,
        }
    }

    pub fn peek(&self) -> Option<&Token> {
        self.words.get(self.at).map(|t| &t.token)
    }

    /// The token behind the next one.
    pub fn peek_behind(&self) -> Option<&Token> {
        self.words.get(self.at + 1).map(|t| &t.token)
    }

    pub fn next(&mut self) -> Option<Token> {
        let token = self.words.get(self.at).map(|t| t.token.clone());
        self.at += 1;
        token
    }

    pub fn take(&mut self, word: &str) -> bool {
        let found = self.word().as_deref() == Some(word);
        self.at += usize::from(found);
        found
    }

    pub fn take_token(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.take(word) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    pub fn expect(&mut self, token: &Token) -> Result<()> {
        if self.take_token(token) {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    /// The name of a table, column or the like, folded unless quoted. 42601 for a word that PostgreSQL reserves.
    pub fn name(&mut self) -> Result<String> {
        match self.word() {
            Some(word) if frazil_catalog::is_reserved(&word) => Err(self.error()),
            _ => self.label(),
        }
    }

    /// Any word as a name, folded unless quoted.
    pub fn label(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Word(w)) => {
                let name = fold(w);
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.error()),
        }
    }

    /// A table's name, perhaps with its schema before it.
    pub fn table_name(&mut self) -> Result<WrittenName> {
        let name = self.name()?;
        match self.take_token(&Token::Period) {
            true => Ok(WrittenName {
                schema: Some(name),
                name: self.label()?,
            }),
            false => Ok(WrittenName::unqualified(name)),
        }
    }

    /// The table of ALTER TABLE: [IF EXISTS] [ONLY] name [*]. True with it if IF EXISTS stands there; `None` without
    /// a name.
    pub fn altered_table(&mut self) -> Option<(WrittenName, bool)> {
        let if_exists = self.take("if") && self.take("exists");
        self.take("only");
        let table = self.table_name().ok()?;
        self.take_token(&Token::Mul);
        Some((table, if_exists))
    }

    pub fn dotted_name(&mut self) -> Result<String> {
        let mut name = self.name()?;
        while self.take_token(&Token::Period) {
            name = format!("{name}.{}", self.label()?);
        }
        Ok(name)
    }

    /// The tokens between the parenthesis that is next and the one that closes it; both are read.
    pub fn parenthesized(&mut self) -> Result<Vec<TokenWithSpan>> {
        self.expect(&Token::LParen)?;
        let (start, mut depth) = (self.at, 1);
        while depth > 0 {
            match self.next() {
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => depth -= 1,
                Some(_) => {}
                None => return Err(self.error()),
            }
        }
        Ok(self.words[start..self.at - 1].to_vec())
    }

    pub fn end(&self) -> Result<()> {
        if self.at >= self.words.len() {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    /// The syntax error at the next token.
    pub fn error(&self) -> Error {
        match self.words.get(self.at) {
            Some(t) => {
                let message = format!("syntax error at or near \"{}\"", self.source.token_text(t.span));
                let position = self.source.position(self.source.byte(t.span.start));
                Error::new(SqlState::SYNTAX_ERROR, message).at_position(position)
            }
            None => {
                let end = self.words.last().map_or(0, |t| self.source.byte(t.span.end));
                let message = "syntax error at end of input";
                Error::new(SqlState::SYNTAX_ERROR, message).at_position(self.source.position(end))
            }
        }
    }

    /// An error at the next token.
    pub fn error_of(&self, state: SqlState, message: impl Into<String>) -> Error {
        let error = Error::new(state, message.into());
        match self.error().position() {
            Some(position) => error.at_position(position),
            None => error,
        }
    }

    /// The syntax error at the token just read.
    pub fn error_before(&mut self) -> Error {
        self.at = self.at.saturating_sub(1);
        self.error()
    }
}
