//! The names of types, which may be several words.

use super::Pass;
use frazil_catalog::WordClass;
use frazil_types::{Error, Result};
use sqlparser::tokenizer::Token;

/// Words that are types of their own grammar and no names of others.
const OWN: [&str; 19] = [
    "bigint",
    "bit",
    "boolean",
    "char",
    "character",
    "dec",
    "decimal",
    "float",
    "int",
    "integer",
    "interval",
    "national",
    "nchar",
    "numeric",
    "real",
    "smallint",
    "time",
    "timestamp",
    "varchar",
];

/// Types of other databases with a grammar that sqlparser knows: names here.
const FOREIGN: [&str; 16] = [
    "datetime64",
    "enum16",
    "enum8",
    "enum",
    "set",
    "struct",
    "map",
    "nested",
    "tuple",
    "trigger",
    "signed",
    "unsigned",
    "fixedstring",
    "lowcardinality",
    "nullable",
    "union",
];

const FIELDS: [&str; 6] = ["year", "month", "day", "hour", "minute", "second"];

impl Pass<'_> {
    /// The number of the word behind the type that begins at `at`; `at` if none does. ARRAY behind it becomes brackets.
    /// 42601 for a word that cannot be a type.
    pub(super) fn type_end(&mut self, at: usize) -> Result<usize> {
        if !self.is_word(at) {
            return Ok(at);
        }
        self.refuse_structure(at)?;
        let is_single = !self.is_token(at + 1, &Token::Period);
        let is_none = match self.class(at) {
            Some(WordClass::Reserved) => true,
            Some(WordClass::ColumnName) if self.is(at, &["national"]) => {
                !self.is(at + 1, &["char", "character"])
            }
            Some(WordClass::ColumnName) => !self.is(at, &OWN),
            Some(WordClass::Name | WordClass::FunctionOrType) | None => false,
        };
        if is_none && is_single {
            return Err(self.near(at));
        }
        if self.is(at, &FOREIGN) || !is_single || self.class(at) == Some(WordClass::FunctionOrType) {
            self.name(at);
        }
        let end = self.plain_type_end(at);
        if !self.is(end, &["array"]) {
            return Ok(self.brackets_end(end));
        }
        self.brackets_for_array(end);
        Ok(self.brackets_end(end + 1))
    }

    /// 0A000 for a type that is made of others.
    pub(super) fn refuse_structure(&self, at: usize) -> Result<()> {
        match self.is(at, &["struct", "map"]) && self.is_token(at + 1, &Token::LParen) {
            true => {
                Err(Error::unsupported("a type of structures or maps").with_hint("jsonb holds such values"))
            }
            false => Ok(()),
        }
    }

    /// Writes the ARRAY at `at` as brackets, unless it has some.
    pub(super) fn brackets_for_array(&mut self, at: usize) {
        self.removed.push(at);
        if !self.is_token(at + 1, &Token::LBracket) {
            self.inserted.push((at + 1, Token::LBracket));
            self.inserted.push((at + 1, Token::RBracket));
        }
    }

    fn brackets_end(&self, mut at: usize) -> usize {
        while self.is_token(at, &Token::LBracket) {
            let has_length = matches!(self.words.get(at + 1).map(|w| &w.token), Some(Token::Number(..)));
            let close = at + 1 + usize::from(has_length);
            if !self.is_token(close, &Token::RBracket) {
                return at;
            }
            at = close + 1;
        }
        at
    }

    /// The number of the word behind a type's name and numbers, without brackets.
    pub(super) fn plain_type_end(&self, at: usize) -> usize {
        let mut end = at + 1;
        while self.is_token(end, &Token::Period) && self.is_word(end + 1) {
            end += 2;
        }
        if self.is(at, &["double"]) && self.is(end, &["precision"]) {
            end += 1;
        }
        if self.is(at, &["national"]) && self.is(end, &["character", "char"]) {
            end += 1;
        }
        if self.is(end - 1, &["char", "character", "nchar", "bit"]) && self.is(end, &["varying"]) {
            end += 1;
        }
        if self.is(at, &["interval"]) {
            return self.fields_end(self.numbers_end(end));
        }
        end = self.numbers_end(end);
        if self.is(at, &["time", "timestamp"])
            && self.is(end, &["with", "without"])
            && self.is(end + 1, &["time"])
            && self.is(end + 2, &["zone"])
        {
            end += 3;
        }
        end
    }

    /// The number of the word behind the fields of an interval, `year to month` and the like.
    pub(super) fn fields_end(&self, at: usize) -> usize {
        if !self.is(at, &FIELDS) {
            return at;
        }
        match self.is(at + 1, &["to"]) && self.is(at + 2, &FIELDS) {
            true => self.numbers_end(at + 3),
            false => self.numbers_end(at + 1),
        }
    }

    /// The number of the word behind one or two numbers in parentheses.
    fn numbers_end(&self, at: usize) -> usize {
        let number = |n: usize| {
            let token = self.words.get(n).map(|w| &w.token);
            let (is_signed, digits) = match token {
                Some(Token::Minus | Token::Plus) => (true, self.words.get(n + 1).map(|w| &w.token)),
                token => (false, token),
            };
            matches!(digits, Some(Token::Number(..))).then(|| n + 1 + usize::from(is_signed))
        };
        if !self.is_token(at, &Token::LParen) {
            return at;
        }
        let Some(mut end) = number(at + 1) else {
            return at;
        };
        if self.is_token(end, &Token::Comma)
            && let Some(second) = number(end + 1)
        {
            end = second;
        }
        match self.is_token(end, &Token::RParen) {
            true => end + 1,
            false => at,
        }
    }
}
