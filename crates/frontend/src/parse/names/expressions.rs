//! Words in expressions and select lists: operands, operators, labels.

use super::{Pass, Place};
use frazil_catalog::{WordClass, is_bare_label};
use frazil_types::Result;
use sqlparser::tokenizer::Token;

/// Reserved words that are operands, or end one.
const OPERANDS: [&str; 14] = [
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "false",
    "localtime",
    "localtimestamp",
    "null",
    "session_user",
    "true",
    "user",
];

/// True for a function that is called without parentheses.
pub(super) fn is_call_without_parentheses(word: &str) -> bool {
    let is = |known: &&str| {
        known.eq_ignore_ascii_case(word) && !["default", "false", "null", "true"].contains(known)
    };
    OPERANDS.iter().any(is) || word.eq_ignore_ascii_case("current_schema")
}

/// Functions of a grammar of their own that parentheses may follow.
const OWN_CALLS: [&str; 14] = [
    "coalesce",
    "exists",
    "extract",
    "greatest",
    "grouping",
    "least",
    "normalize",
    "nullif",
    "overlay",
    "position",
    "row",
    "substring",
    "trim",
    "xmlconcat",
];

/// Reserved words that stand before an operand, or where an operand might.
const BEFORE_OPERAND: [&str; 18] = [
    "all",
    "any",
    "array",
    "asymmetric",
    "both",
    "cast",
    "distinct",
    "else",
    "leading",
    "not",
    "on",
    "some",
    "symmetric",
    "table",
    "then",
    "trailing",
    "variadic",
    "when",
];

/// Reserved words that end an expression, or a list of none.
const CLAUSES: [&str; 17] = [
    "except",
    "fetch",
    "for",
    "from",
    "group",
    "having",
    "intersect",
    "limit",
    "offset",
    "on",
    "order",
    "returning",
    "select",
    "union",
    "where",
    "window",
    "with",
];

/// Words that may stand behind a select list.
const BEHIND_ITEMS: [&str; 18] = [
    "except",
    "fetch",
    "for",
    "from",
    "group",
    "having",
    "intersect",
    "into",
    "limit",
    "offset",
    "on",
    "order",
    "qualify",
    "returning",
    "union",
    "where",
    "window",
    "with",
];

/// Words behind an operand after which none is due.
const POSTFIX: [&str; 18] = [
    "asc",
    "day",
    "desc",
    "following",
    "hour",
    "isnull",
    "minute",
    "month",
    "notnull",
    "nulls",
    "first",
    "last",
    "preceding",
    "row",
    "rows",
    "second",
    "year",
    "only",
];

/// Functions whose arguments have keywords among them.
const OWN_ARGUMENTS: [&str; 5] = ["substring", "trim", "overlay", "position", "cast"];

/// Words between operands that IS stands before.
const BEHIND_IS: [&str; 10] = [
    "document",
    "false",
    "nfc",
    "nfd",
    "nfkc",
    "nfkd",
    "normalized",
    "null",
    "true",
    "unknown",
];

impl Pass<'_> {
    /// A word in an expression.
    pub(super) fn expression(&mut self, at: usize) -> Result<usize> {
        match self.level().operand {
            false => self.operand(at),
            true => self.behind_operand(at),
        }
    }

    /// A word where an operand is due.
    fn operand(&mut self, at: usize) -> Result<usize> {
        let calls = self.is_token(at + 1, &Token::LParen);
        match self.class(at) {
            None => Ok(self.take(1, true)),
            Some(WordClass::Reserved) => self.reserved_operand(at),
            Some(WordClass::Name | WordClass::ColumnName) if self.is_typed_text(at) => {
                let text = self.plain_type_end(at);
                let end = match self.is(at, &["interval"]) {
                    true => self.fields_end(text + 1),
                    false => text + 1,
                };
                Ok(self.take(end - at, true))
            }
            Some(WordClass::ColumnName) if self.is(at, &["grouping"]) && self.is(at + 1, &["sets"]) => {
                Ok(self.take(2, false))
            }
            Some(WordClass::ColumnName) if calls => self.own_call(at),
            Some(WordClass::Name) if calls && self.is(at, &["operator"]) => Err(self.near(at)),
            Some(WordClass::Name | WordClass::ColumnName) => {
                self.name(at);
                Ok(self.take(1, true))
            }
            Some(WordClass::FunctionOrType) if calls => {
                self.name(at);
                Ok(self.take(1, true))
            }
            Some(WordClass::FunctionOrType) if self.is(at, &["collation"]) && self.is(at + 1, &["for"]) => {
                Ok(self.take(2, true))
            }
            Some(WordClass::FunctionOrType)
                if self.is(at, &["current_schema"]) && !self.is_token(at + 1, &Token::Period) =>
            {
                Ok(self.call(at))
            }
            Some(WordClass::FunctionOrType) => Err(self.near(at)),
        }
    }

    /// A function that is written without parentheses, which it gets.
    fn call(&mut self, at: usize) -> usize {
        self.name(at);
        self.inserted.push((at + 1, Token::LParen));
        self.inserted.push((at + 1, Token::RParen));
        self.take(1, true)
    }

    /// A call with a grammar of its own. The parenthesis behind the word is next.
    fn own_call(&mut self, at: usize) -> Result<usize> {
        let is_query = self.is(at, &["values"]) && self.is_first(at);
        let lacks_in = self.is(at, &["position"]) && !self.has_inside(at + 1, "in");
        if !self.is(at, &OWN_CALLS) && !is_query || lacks_in {
            return Err(self.near(at));
        }
        if self.is(at, &["overlay"]) && !self.has_inside(at + 1, "placing") {
            self.name(at);
            return Ok(self.take(1, true));
        }
        if self.is(at, &OWN_ARGUMENTS) {
            self.parenthesis = Some(Place::Call);
        }
        if self.is(at, &["extract"]) {
            // The field is not a name.
            self.levels.push(super::Level::new(Place::Call));
            return Ok(self.take(3, true));
        }
        let awaits = self.is(at, &["exists", "row", "values"]);
        Ok(self.take(1, !awaits))
    }

    /// True if a word stands in the parentheses that open at `open`, and in none within them.
    fn has_inside(&self, open: usize, word: &str) -> bool {
        let mut depth = 0_usize;
        for at in open..self.words.len() {
            match self.words[at].token {
                Token::LParen => depth += 1,
                Token::RParen if depth <= 1 => return false,
                Token::RParen => depth -= 1,
                _ if depth == 1 && self.is(at, &[word]) => return true,
                _ => {}
            }
        }
        false
    }

    /// True for a type with a text behind it, at `at`.
    fn is_typed_text(&self, at: usize) -> bool {
        self.is_string(self.plain_type_end(at))
    }

    /// A reserved word where an operand is due.
    fn reserved_operand(&mut self, at: usize) -> Result<usize> {
        if self.is(at, &["case"]) {
            self.level().cases += 1;
            return Ok(self.take(1, false));
        }
        if self.is(at, &["end"]) && self.level().cases > 0 {
            self.level().cases -= 1;
            return Ok(self.take(1, true));
        }
        if self.is(at, &["select", "with"]) && self.is_first(at) {
            return self.begin(at);
        }
        if self.is_token(at + 1, &Token::LParen) && !self.may_open(at) {
            return Err(self.near(at));
        }
        if self.is(at, &["current_role"]) {
            return Ok(self.call(at));
        }
        if self.is(at, &["cast"]) {
            self.parenthesis = Some(Place::Call);
        }
        if self.is(at, &["on"]) && at > 0 && self.is(at - 1, &["distinct"]) {
            self.parenthesis = Some(Place::DistinctOn);
        }
        if self.is(at, &BEFORE_OPERAND) {
            return Ok(self.take(1, false));
        }
        if self.is(at, &OPERANDS) {
            return Ok(self.take(1, true));
        }
        match self.is(at, &CLAUSES) {
            true => self.clause_of(at),
            false => Err(self.near(at)),
        }
    }

    /// True if a reserved word, where an operand is due, may have a parenthesis behind it.
    fn may_open(&mut self, at: usize) -> bool {
        let (place, cases) = (self.level().place, self.level().cases);
        if self.is(at, &["when", "then", "else"]) {
            return cases > 0;
        }
        if self.is(at, &["both", "leading", "trailing", "for"]) {
            return place == Place::Call;
        }
        if self.is(at, &["any", "some"]) {
            let before = at.checked_sub(1).map(|before| &self.words[before].token);
            return !matches!(before, None | Some(Token::Word(_) | Token::Comma | Token::LParen));
        }
        if self.is(at, &["on"]) {
            return at > 0 && self.is(at - 1, &["distinct"]);
        }
        let opens = [
            "all",
            "array",
            "cast",
            "current_time",
            "current_timestamp",
            "distinct",
            "from",
            "having",
            "limit",
            "localtime",
            "localtimestamp",
            "not",
            "offset",
            "symmetric",
            "variadic",
            "where",
        ];
        self.is(at, &opens)
    }

    /// A clause, or in a call with a grammar of its own a part of that.
    fn clause_of(&mut self, at: usize) -> Result<usize> {
        match self.level().place == Place::Call && self.is(at, &["from", "for"]) {
            true => Ok(self.take(1, false)),
            false => self.clause(at),
        }
    }

    /// A word behind an operand.
    fn behind_operand(&mut self, at: usize) -> Result<usize> {
        let Some(text) = self.text(at) else {
            return Ok(1);
        };
        let is_label = is_bare_label(text) && self.ends_item(at + 1);
        let (place, cases) = (self.level().place, self.level().cases);
        if cases > 0 && self.is(at, &["end"]) {
            self.level().cases -= 1;
            return Ok(1);
        }
        if place == Place::Items && cases == 0 && is_label {
            self.name(at);
            return Ok(1);
        }
        if self.is(at, &["as"]) {
            return self.behind_as(at, place == Place::Items);
        }
        if place == Place::Condition && self.joins_at(at) {
            self.level().place = Place::Relations;
            return self.relation(at);
        }
        if self.is(at, &["do"]) {
            self.enter(Place::Conflict);
            return Ok(1);
        }
        if self.is(at, &CLAUSES) || self.is(at, &["qualify"]) || self.begins_using(at) {
            return self.clause_of(at);
        }
        self.operator(at)
    }

    /// True if the words of a join are at `at`.
    fn joins_at(&self, at: usize) -> bool {
        self.is(
            at,
            &["join", "natural", "cross", "inner", "left", "right", "full"],
        ) || self.is(at, &["semi", "anti"]) && self.is(at + 1, &["join"])
    }

    /// True if the condition of a join with names is at `at`: USING (…).
    fn begins_using(&mut self, at: usize) -> bool {
        self.level().place == Place::Condition && self.is(at, &["using"])
    }

    /// AS, and the label or type behind it.
    fn behind_as(&mut self, at: usize, is_item: bool) -> Result<usize> {
        if is_item {
            self.name(at + 1);
            return Ok(1 + usize::from(self.is_word(at + 1)));
        }
        if self.is_token(at + 1, &Token::LParen) {
            self.parenthesis = Some(Place::AliasColumns);
            return Ok(1);
        }
        Ok(self.type_end(at + 1)? - at)
    }

    /// An operator of words, or what it begins with.
    fn operator(&mut self, at: usize) -> Result<usize> {
        if self.is(at, &["is"]) {
            let not = usize::from(self.is(at + 1, &["not"]));
            let behind = self.is(at + 1 + not, &BEHIND_IS);
            let form = self.is(at + 1 + not, &["nfc", "nfd", "nfkc", "nfkd"]);
            return Ok(self.take(1 + not + usize::from(behind) + usize::from(form), behind));
        }
        if self.is(at, &["not"]) && self.is(at + 1, &["like", "ilike", "similar", "in", "between"]) {
            let to = self.is(at + 1, &["similar"]);
            return Ok(self.take(2 + usize::from(to), false));
        }
        if self.is(at, &["similar"]) {
            return Ok(self.take(2, false));
        }
        if self.is(at, &["at"]) && self.is(at + 1, &["time"]) {
            return Ok(self.take(3, false));
        }
        if self.is(at, &["collate"]) {
            return Ok(self.take(2, true));
        }
        if self.is(at, &["within"]) {
            return Ok(self.take(2, false));
        }
        if self.is(at, &["ignore", "respect"]) && self.is(at + 1, &["nulls"]) {
            return Ok(self.take(2, true));
        }
        if self.is(at, &["over"]) {
            self.parenthesis = Some(Place::Window);
            if self.is_word(at + 1) {
                self.plain_name(at + 1)?;
                return Ok(2);
            }
            return Ok(1);
        }
        let is_postfix = self.is(at, &POSTFIX);
        Ok(self.take(1, is_postfix))
    }

    /// True if an item of a select list is over before `at`.
    pub(super) fn ends_item(&self, at: usize) -> bool {
        match self.words.get(at).map(|w| &w.token) {
            None | Some(Token::Comma | Token::RParen) => true,
            Some(_) => self.is(at, &BEHIND_ITEMS),
        }
    }
}
