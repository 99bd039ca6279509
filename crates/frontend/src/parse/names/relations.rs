//! Tables, functions and aliases in FROM, UPDATE, DELETE and INSERT.

use super::{Pass, Place};
use frazil_catalog::WordClass;
use frazil_types::{Error, Result};
use sqlparser::tokenizer::Token;

/// Words of a join that stand before JOIN.
const BEFORE_JOIN: [&str; 7] = ["natural", "cross", "inner", "left", "right", "full", "outer"];

impl Pass<'_> {
    /// A word among relations.
    pub(super) fn relation(&mut self, at: usize) -> Result<usize> {
        match self.level().operand {
            false => self.begin_relation(at),
            true => self.behind_relation(at),
        }
    }

    fn begin_relation(&mut self, at: usize) -> Result<usize> {
        let calls = self.is_token(at + 1, &Token::LParen);
        if self.is(at, &["lateral", "only"]) {
            return Ok(1);
        }
        let begins_query = self.is(at, &["select", "with"]) || self.is(at, &["values"]) && calls;
        if begins_query && self.is_first(at) {
            return self.begin(at);
        }
        let is_call = super::expressions::is_call_without_parentheses(self.text(at).unwrap_or_default());
        // PostgreSQL's grammar has this one with parentheses, too.
        let is_called = calls && self.is(at, &["current_schema"]);
        if is_call && !is_called && !self.is_token(at + 1, &Token::Period) {
            return Err(Error::unsupported("a function without parentheses in FROM"));
        }
        if self.is(at, &["rows"]) && self.is(at + 1, &["from"]) && self.is_token(at + 2, &Token::LParen) {
            self.parenthesis = Some(Place::Call);
            return Ok(self.take(2, true));
        }
        if calls {
            return self.called_relation(at);
        }
        self.table_name(at)
    }

    /// A function in FROM. The parenthesis behind it is next.
    fn called_relation(&mut self, at: usize) -> Result<usize> {
        match self.class(at) {
            None | Some(WordClass::Name | WordClass::FunctionOrType) => self.name(at),
            Some(WordClass::ColumnName) => {}
            Some(WordClass::Reserved) => return Err(self.near(at)),
        }
        self.parenthesis = Some(Place::Expression);
        Ok(self.take(1, true))
    }

    /// The name of a table, perhaps with its schema.
    pub(super) fn table_name(&mut self, at: usize) -> Result<usize> {
        self.plain_name(at)?;
        let mut end = at + 1;
        while self.is_token(end, &Token::Period) && self.is_word(end + 1) {
            self.name(end + 1);
            end += 2;
        }
        if end > at + 1 && self.is_token(end, &Token::LParen) && self.level().place == Place::Relations {
            self.parenthesis = Some(Place::Expression);
        }
        Ok(self.take(end - at, true))
    }

    fn behind_relation(&mut self, at: usize) -> Result<usize> {
        if self.is(at, &["as"]) {
            return self.alias_behind_as(at);
        }
        if self.is(at, &BEFORE_JOIN) {
            return Ok(1);
        }
        if self.is(at, &["semi", "anti"]) && self.is(at + 1, &["join"]) {
            return Ok(1);
        }
        if self.is(at, &["join"]) {
            self.note_join(at);
            return Ok(self.take(1, false));
        }
        if self.is(at, &["tablesample"]) {
            return Ok(2);
        }
        if self.is(at, &["repeatable"])
            && self.is_token(at - 1, &Token::RParen)
            && self.is_token(at + 1, &Token::LParen)
        {
            return Ok(1);
        }
        if self.is(at, &["with"]) && self.is(at + 1, &["ordinality"]) {
            return Ok(2);
        }
        if self.level().updates && self.is(at, &["set"]) {
            self.enter(Place::Assignments);
            return Ok(1);
        }
        if self.is(at, &["qualify"]) && !self.ends_item(at + 1) {
            return self.clause(at);
        }
        match self.class(at) {
            Some(WordClass::Reserved) => self.clause(at),
            Some(WordClass::FunctionOrType) => Err(self.near(at)),
            None | Some(WordClass::Name | WordClass::ColumnName) => {
                self.name(at);
                self.parenthesis = Some(Place::AliasColumns);
                Ok(1)
            }
        }
    }

    /// AS with the alias behind it, if it is not a list of columns alone.
    pub(super) fn alias_behind_as(&mut self, at: usize) -> Result<usize> {
        self.parenthesis = Some(Place::AliasColumns);
        if !self.is_word(at + 1) {
            return Ok(1);
        }
        self.plain_name(at + 1)?;
        Ok(2)
    }

    /// A word in a list of names of columns.
    pub(super) fn column(&mut self, at: usize) -> Result<usize> {
        let is_first = !self.level().operand;
        if is_first {
            self.plain_name(at)?;
            self.refuse_element(at)?;
        }
        Ok(self.take(1, true))
    }

    /// A word in the columns of an alias.
    pub(super) fn alias_column(&mut self, at: usize) -> Result<usize> {
        self.plain_name(at)?;
        let mut end = self.type_end(at + 1)?;
        if self.is(end, &["collate"]) {
            end += 2;
            while self.is_token(end, &Token::Period) {
                end += 2;
            }
        }
        Ok(self.take(end - at, true))
    }

    /// A word between INSERT INTO and the rows.
    pub(super) fn insert(&mut self, at: usize) -> Result<usize> {
        if !self.level().operand {
            return self.table_name(at);
        }
        if self.is(at, &["as"]) && self.is_word(at + 1) {
            self.plain_name(at + 1)?;
            return Ok(2);
        }
        if self.is(at, &["default", "overriding"]) {
            return Ok(2);
        }
        match self.is(at, &["select", "with", "values"]) {
            true => self.begin(at),
            false => self.clause(at),
        }
    }

    /// The column that SET changes.
    pub(super) fn assignment(&mut self, at: usize) -> Result<usize> {
        self.plain_name(at)?;
        self.refuse_element(at)?;
        let level = self.level();
        level.begins = false;
        level.operand = true;
        Ok(1)
    }

    /// 0A000 for the element of an array where a column is assigned: `a[1] = 2`.
    fn refuse_element(&self, at: usize) -> Result<()> {
        match self.is_token(at + 1, &Token::LBracket) {
            true => Err(Error::unsupported("assigning to an element of an array")
                .with_hint("assign the whole array: SET a = …")),
            false => Ok(()),
        }
    }

    /// A word of ON CONFLICT.
    pub(super) fn conflict(&mut self, at: usize) -> Result<usize> {
        if self.is(at, &["on"]) && self.is(at + 1, &["constraint"]) && self.is_word(at + 2) {
            self.plain_name(at + 2)?;
            return Ok(3);
        }
        if self.is(at, &["set"]) {
            self.enter(Place::Assignments);
            return Ok(1);
        }
        match self.is(at, &["where", "returning"]) {
            true => self.clause(at),
            false => Ok(1),
        }
    }
}
