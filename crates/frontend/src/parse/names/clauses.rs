//! Beginnings of statements, queries and clauses.

use super::{Pass, Place};
use frazil_types::{Error, Result};
use sqlparser::tokenizer::Token;

impl Pass<'_> {
    /// The first word of a statement or query, or a clause behind a query in parentheses.
    pub(super) fn begin(&mut self, at: usize) -> Result<usize> {
        if self.level().operand && self.level().place == Place::Begin {
            return self.clause(at);
        }
        if self.is(at, &["select"]) {
            self.enter(Place::Items);
        } else if self.is(at, &["values"]) {
            self.enter(Place::Expression);
        } else if self.is(at, &["with"]) {
            self.enter(Place::With);
            let names = self.is_word(at + 2) && !self.is(at + 2, &["as"]);
            return Ok(1 + usize::from(self.is(at + 1, &["recursive"]) && names));
        } else if self.is(at, &["insert"]) && self.is(at + 1, &["into"]) {
            self.enter(Place::Insert);
            return Ok(2);
        } else if self.is(at, &["update"]) {
            self.enter(Place::Relations);
            self.level().updates = true;
        } else if self.is(at, &["delete"]) && self.is(at + 1, &["from"]) {
            self.enter(Place::Relations);
            return Ok(2);
        } else if self.levels.len() == 1 {
            self.enter(Place::Definition);
        } else {
            // A parenthesis that holds an expression after all.
            self.enter(Place::Expression);
            return self.expression(at);
        }
        Ok(1)
    }

    /// A word of a definition.
    pub(super) fn definition(&mut self, at: usize) -> Result<usize> {
        if self.is(at, &["select"]) {
            return self.begin(at);
        }
        if self.is(at, &["as"]) && self.is(at + 1, &["with"]) {
            return Ok(1 + self.begin(at + 1)?);
        }
        if self.is(at, &["check"]) {
            self.parenthesis = Some(Place::Expression);
        }
        let is_behind_type = at > 1
            && (self.is_token(at - 1, &Token::RParen)
                || self.is_word(at - 1) && !self.is(at - 1, &["default"]));
        if self.is(at, &["autoincrement", "auto_increment"]) && is_behind_type && self.ends_item(at + 1) {
            return Err(Error::unsupported("AUTOINCREMENT"));
        }
        if is_behind_type {
            self.refuse_structure(at)?;
        }
        if self.is(at, &["array"]) && is_behind_type {
            self.brackets_for_array(at);
        }
        Ok(1)
    }

    /// A word among WITH queries.
    pub(super) fn with(&mut self, at: usize) -> Result<usize> {
        if !self.level().operand {
            self.plain_name(at)?;
            self.parenthesis = Some(Place::Columns);
            return Ok(self.take(1, true));
        }
        match self.is(at, &["select", "values", "insert", "update", "delete"]) {
            true => self.begin(at),
            false => Ok(1),
        }
    }

    /// A word that may begin a clause; others stay as they are.
    pub(super) fn clause(&mut self, at: usize) -> Result<usize> {
        let by = 1 + usize::from(self.is(at + 1, &["by"]));
        match self.text(at).unwrap_or_default().to_ascii_lowercase().as_str() {
            "select" => self.enter(Place::Items),
            "from" => self.enter(Place::Relations),
            "where" | "having" | "limit" | "offset" | "qualify" | "values" => self.enter(Place::Expression),
            "group" => {
                self.enter(Place::Expression);
                return Ok(by + usize::from(self.is(at + by, &["all", "distinct"])));
            }
            "order" => {
                self.enter(Place::Expression);
                return Ok(by);
            }
            // WITH [NO] DATA stands behind the query of CREATE TABLE AS.
            "fetch" | "for" | "with" => self.enter(Place::Rest),
            "window" => self.enter(Place::Windows),
            "union" | "intersect" | "except" => {
                self.enter(Place::Begin);
                return Ok(1 + usize::from(self.is(at + 1, &["all", "distinct"])));
            }
            "returning" => self.enter(Place::Items),
            "on" if self.is(at + 1, &["conflict", "duplicate"]) => {
                self.enter(Place::Conflict);
                return Ok(2);
            }
            "on" => {
                self.note_condition(at);
                let level = self.level();
                (level.place, level.operand) = (Place::Condition, false);
            }
            "using" if self.is_token(at + 1, &Token::LParen) && !self.level().joins.is_empty() => {
                self.note_condition(at);
                self.parenthesis = Some(Place::Columns);
                let level = self.level();
                (level.place, level.operand) = (Place::Relations, true);
            }
            "using" if self.is(at + 1, &["sample"]) => return Err(Error::unsupported("USING SAMPLE")),
            "using" => self.enter(Place::Relations),
            _ => {}
        }
        Ok(1)
    }

    /// A word of a clause that is left as it is.
    pub(super) fn rest(&mut self, at: usize) -> Result<usize> {
        match self.is(at, &["returning", "union", "intersect", "except"])
            || self.is(at, &["on"]) && self.is(at + 1, &["conflict"])
        {
            true => self.clause(at),
            false => Ok(1),
        }
    }

    /// A word among the windows of WINDOW.
    pub(super) fn named_window(&mut self, at: usize) -> Result<usize> {
        if !self.level().operand {
            self.plain_name(at)?;
            return Ok(self.take(1, true));
        }
        if self.is(at, &["as"]) {
            self.parenthesis = Some(Place::Window);
            return Ok(1);
        }
        self.clause(at)
    }

    /// A word of a window in parentheses.
    pub(super) fn window(&mut self, at: usize) -> Result<usize> {
        let by = self.is(at + 1, &["by"]);
        if by && self.is(at, &["partition", "order"]) {
            return Ok(self.take(2, false));
        }
        let level = self.level();
        let is_first = level.begins && !level.operand;
        level.begins = false;
        if (is_first || self.level().operand) && self.is(at, &["rows", "range", "groups"]) {
            self.enter(Place::Rest);
            return Ok(1);
        }
        self.expression(at)
    }
}
