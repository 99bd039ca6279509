//! Tells names from keywords, as PostgreSQL's grammar does, before sqlparser sees a statement.
//!
//! sqlparser has one list of words that no alias can be, and a grammar of its own for many others. PostgreSQL decides
//! by the class of a word ([`WordClass`]) and by its place: `select x top`, `from t start` and `select a and, b` are
//! fine, `from t left` is not. The pass walks over the tokens with a [`Level`] for each open parenthesis, which knows
//! the clause and whether an operand is due. A word that is a name loses its keyword, so that sqlparser takes it for an
//! identifier; a word that can be none at its place is 42601. What is a keyword stays as it is.
//!
//! Three forms are written otherwise on the way: joins whose ON comes late get parentheses ([`joins`]), `ARRAY` behind
//! a type becomes brackets ([`types`]), `current_schema` a call.

mod clauses;
mod expressions;
mod joins;
mod relations;
mod types;

use super::source::{Source, near};
use frazil_catalog::{WordClass, word_class};
use frazil_types::Result;
use joins::OpenJoin;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Marks the names of a statement. 42601 for a reserved word in a name's place.
pub(super) fn rewrite(words: &mut Vec<TokenWithSpan>, source: &Source) -> Result<()> {
    let mut pass = Pass {
        source,
        words,
        levels: vec![Level::new(Place::Begin)],
        parenthesis: None,
        inserted: Vec::new(),
        removed: Vec::new(),
    };
    let mut at = 0;
    while at < pass.words.len() {
        at += pass.token(at)?.max(1);
    }
    let Pass {
        mut inserted,
        removed,
        ..
    } = pass;
    if inserted.is_empty() && removed.is_empty() {
        return Ok(());
    }
    inserted.sort_by_key(|(at, _)| *at);
    let mut removed = removed.into_iter().peekable();
    let mut inserted = inserted.into_iter().peekable();
    let old = std::mem::take(words);
    let mut last = None;
    for (at, word) in old.into_iter().enumerate() {
        while let Some((_, token)) = inserted.next_if(|(before, _)| *before <= at) {
            words.push(TokenWithSpan::new(token, word.span));
        }
        last = Some(word.span);
        if removed.next_if_eq(&at).is_none() {
            words.push(word);
        }
    }
    if let Some(span) = last {
        words.extend(inserted.map(|(_, token)| TokenWithSpan::new(token, span)));
    }
    Ok(())
}

/// The part of a statement that a level is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A statement or query begins.
    Begin,
    /// A definition: words stay as they are until a query begins.
    Definition,
    /// Names and queries of WITH.
    With,
    /// The items of SELECT or RETURNING.
    Items,
    /// FROM and its like.
    Relations,
    /// The condition of a join.
    Condition,
    /// An expression, or several.
    Expression,
    /// The expressions of DISTINCT ON.
    DistinctOn,
    /// The arguments of a function with a grammar of its own: FROM and FOR are parts of it.
    Call,
    /// A list of names of columns.
    Columns,
    /// The columns of an alias, perhaps with types.
    AliasColumns,
    /// The table that INSERT names, up to the rows.
    Insert,
    /// SET of UPDATE and of ON CONFLICT.
    Assignments,
    /// ON CONFLICT up to SET.
    Conflict,
    /// OVER (…).
    Window,
    /// WINDOW w AS (…), …
    Windows,
    /// Words of a clause that stay as they are.
    Rest,
}

/// An open parenthesis or bracket, or all around them.
#[derive(Debug)]
struct Level {
    place: Place,
    /// True behind an operand, an item or a relation, false where one is due.
    operand: bool,
    /// True where an assignment begins.
    begins: bool,
    /// True for the relations of UPDATE, which SET ends.
    updates: bool,
    /// Number of open CASEs.
    cases: usize,
    /// Joins that wait for ON or USING.
    joins: Vec<OpenJoin>,
}

impl Level {
    fn new(place: Place) -> Level {
        Level {
            place,
            operand: false,
            begins: true,
            updates: false,
            cases: 0,
            joins: Vec::new(),
        }
    }
}

struct Pass<'a> {
    source: &'a Source,
    words: &'a mut Vec<TokenWithSpan>,
    levels: Vec<Level>,
    /// The contents of the parenthesis, if one is next.
    parenthesis: Option<Place>,
    /// Tokens to be put in front of the word of a number.
    inserted: Vec<(usize, Token)>,
    /// Numbers of words that go, ascending.
    removed: Vec<usize>,
}

impl Pass<'_> {
    /// Takes the token at `at`; how many tokens were taken.
    fn token(&mut self, at: usize) -> Result<usize> {
        let parenthesis = self.parenthesis.take();
        let (place, operand) = (self.level().place, self.level().operand);
        match self.words[at].token {
            Token::Word(_) => return self.word(at),
            Token::LParen => self.open(at, parenthesis),
            Token::LBracket => self.levels.push(Level::new(Place::Expression)),
            Token::RParen | Token::RBracket => {
                let is_open = self.levels.len() > 1;
                let closed = is_open.then(|| self.levels.pop()).flatten();
                // Behind DISTINCT ON (…) the select list begins.
                self.level().operand = closed.is_none_or(|level| level.place != Place::DistinctOn);
            }
            Token::Comma => self.comma(),
            Token::Period => return self.behind_period(at),
            Token::DoubleColon => {
                let end = self.type_end(at + 1)?;
                self.level().operand = true;
                return Ok(end - at);
            }
            Token::Mul if !operand => self.level().operand = true,
            // `update t * set`, `delete from t *`
            Token::Mul if place == Place::Relations => {}
            Token::Number(..) if place == Place::Relations && !operand => return Err(self.near(at)),
            _ => {
                let is_operand = is_literal(&self.words[at].token);
                let level = self.level();
                level.operand = is_operand;
                level.begins = false;
            }
        }
        Ok(1)
    }

    fn word(&mut self, at: usize) -> Result<usize> {
        let level = self.level();
        let begins = level.begins;
        match level.place {
            Place::Begin => self.begin(at),
            Place::Definition => self.definition(at),
            Place::With => self.with(at),
            Place::Relations => self.relation(at),
            Place::Insert => self.insert(at),
            Place::Columns => self.column(at),
            Place::AliasColumns => self.alias_column(at),
            Place::Assignments if begins => self.assignment(at),
            Place::Conflict => self.conflict(at),
            Place::Windows => self.named_window(at),
            Place::Window => self.window(at),
            Place::Rest => self.rest(at),
            Place::Items
            | Place::Condition
            | Place::Expression
            | Place::DistinctOn
            | Place::Call
            | Place::Assignments => self.expression(at),
        }
    }

    /// Opens a parenthesis, which holds `inside` unless its first word says otherwise.
    fn open(&mut self, at: usize, inside: Option<Place>) {
        let level = self.level();
        let place = inside.unwrap_or(match level.place {
            Place::Begin | Place::With => Place::Begin,
            Place::Definition => Place::Definition,
            Place::Relations if !level.operand => Place::Relations,
            Place::Assignments if level.begins => Place::Columns,
            Place::Insert => match self.begins_query(at + 1) {
                true => Place::Begin,
                false => Place::Columns,
            },
            Place::Items
            | Place::Relations
            | Place::Condition
            | Place::Expression
            | Place::DistinctOn
            | Place::Call
            | Place::Columns
            | Place::AliasColumns
            | Place::Assignments
            | Place::Conflict
            | Place::Window
            | Place::Windows
            | Place::Rest => Place::Expression,
        });
        self.levels.push(Level::new(place));
    }

    fn comma(&mut self) {
        let level = self.level();
        level.operand = false;
        level.begins = true;
        if matches!(level.place, Place::Relations | Place::Condition) {
            level.place = Place::Relations;
            level.joins.clear();
        }
    }

    /// The word behind a period: a label, whatever it is.
    fn behind_period(&mut self, at: usize) -> Result<usize> {
        self.level().operand = true;
        match self.words.get(at + 1).map(|w| &w.token) {
            Some(Token::Word(_)) => {
                self.name(at + 1);
                Ok(2)
            }
            Some(Token::Mul) => Ok(2),
            _ => Ok(1),
        }
    }

    fn level(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn enter(&mut self, place: Place) {
        let level = self.level();
        level.place = place;
        level.operand = false;
        level.begins = true;
        level.joins.clear();
    }

    /// Takes `count` words after which an operand is due, or not.
    fn take(&mut self, count: usize, operand: bool) -> usize {
        self.level().operand = operand;
        count
    }

    /// Makes the word at `at` an identifier for sqlparser.
    fn name(&mut self, at: usize) {
        if let Some(Token::Word(word)) = self.words.get_mut(at).map(|w| &mut w.token) {
            word.keyword = Keyword::NoKeyword;
        }
    }

    /// Makes the word at `at` the name of a column, table or alias. 42601 if it cannot be one.
    fn plain_name(&mut self, at: usize) -> Result<()> {
        match self.class(at) {
            None | Some(WordClass::Name | WordClass::ColumnName) => {
                self.name(at);
                Ok(())
            }
            Some(WordClass::FunctionOrType | WordClass::Reserved) => Err(self.near(at)),
        }
    }

    /// The class of an unquoted word; `None` for any other token.
    fn class(&self, at: usize) -> Option<WordClass> {
        self.text(at).map(word_class)
    }

    /// The text of an unquoted word.
    fn text(&self, at: usize) -> Option<&str> {
        match &self.words.get(at)?.token {
            Token::Word(w) if w.quote_style.is_none() => Some(&w.value),
            _ => None,
        }
    }

    /// True if the unquoted word at `at` is one of these.
    fn is(&self, at: usize, any: &[&str]) -> bool {
        self.text(at)
            .is_some_and(|text| any.iter().any(|word| text.eq_ignore_ascii_case(word)))
    }

    fn is_token(&self, at: usize, token: &Token) -> bool {
        self.words.get(at).is_some_and(|w| w.token == *token)
    }

    fn is_word(&self, at: usize) -> bool {
        matches!(self.words.get(at).map(|w| &w.token), Some(Token::Word(_)))
    }

    fn is_string(&self, at: usize) -> bool {
        matches!(
            self.words.get(at).map(|w| &w.token),
            Some(
                Token::SingleQuotedString(_)
                    | Token::EscapedStringLiteral(_)
                    | Token::UnicodeStringLiteral(_)
                    | Token::DollarQuotedString(_)
            )
        )
    }

    /// True if a query begins at `at`, perhaps in parentheses.
    fn begins_query(&self, at: usize) -> bool {
        self.is(at, &["select", "values"])
            || self.is(at, &["with", "table"]) && self.is_word(at + 1)
            || self.is_token(at, &Token::LParen)
    }

    /// True if the word at `at` is the first in parentheses.
    fn is_first(&self, at: usize) -> bool {
        at > 0 && self.is_token(at - 1, &Token::LParen)
    }

    fn near(&self, at: usize) -> frazil_types::Error {
        let span = self.words[at].span;
        near(self.source, span.start, self.source.token_text(span))
    }
}

fn is_literal(token: &Token) -> bool {
    matches!(
        token,
        Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::NationalStringLiteral(_)
            | Token::DollarQuotedString(_)
            | Token::Placeholder(_)
    )
}
