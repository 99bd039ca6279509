//! PostgreSQL's dialect as sqlparser knows it, with what it does otherwise than PostgreSQL set right.

use frazil_types::Cancel;
use sqlparser::ast::{
    BinaryOperator, ColumnOption, DataType, Expr, Ident, KeyOrIndexDisplay, NullsDistinctOption, ObjectName,
    TypedString, UnaryOperator, UniqueConstraint,
};
use sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, Word};
use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// The dialect of Frazil.
#[derive(Debug)]
pub(super) struct FrazilDialect {
    cancel: Cancel,
    stopped: Cell<bool>,
    /// Parentheses with queries in them, of the statement that is read.
    queries: RefCell<HashSet<Location>>,
    /// ANDs and ORs of long chains of the statement that is read.
    junctions: RefCell<HashSet<Location>>,
}

impl FrazilDialect {
    /// The dialect for one text. Reading it ends with an error once this is set, and cutting it into tokens ends: all
    /// that is left of the text is part of one word then.
    pub fn new(cancel: Cancel) -> FrazilDialect {
        FrazilDialect {
            cancel,
            stopped: Cell::new(false),
            queries: RefCell::default(),
            junctions: RefCell::default(),
        }
    }

    /// Ends cutting the text into tokens as a cancel does.
    pub fn stop(&self) {
        self.stopped.set(true);
    }

    /// Reads what begins with the parentheses at these places as subqueries.
    pub fn read_as_queries(&self, parentheses: HashSet<Location>) {
        self.queries.replace(parentheses);
    }

    /// Reads the chains of AND and OR with words at these places as balanced trees.
    pub fn balance(&self, junctions: HashSet<Location>) {
        self.junctions.replace(junctions);
    }

    /// The operator of a long chain that is next.
    fn junction(&self, parser: &Parser) -> Option<BinaryOperator> {
        let next = parser.peek_token_ref();
        let op = match &next.token {
            Token::Word(w) if w.keyword == Keyword::AND => BinaryOperator::And,
            Token::Word(w) if w.keyword == Keyword::OR => BinaryOperator::Or,
            _ => return None,
        };
        self.junctions.borrow().contains(&next.span.start).then_some(op)
    }

    fn is_over(&self) -> bool {
        self.stopped.get() || self.cancel.is_set()
    }
}

const POSTGRES: PostgreSqlDialect = PostgreSqlDialect {};

type ParsedOption = Result<Option<ColumnOption>, ParserError>;

/// Precedences between those that sqlparser names.
const OTHER_OPERATOR: u8 = 70;
const BETWEEN: u8 = 60;
const IS: u8 = 40;
const LOWEST: u8 = 0;
/// Tighter than every infix operator but `::` and `[`.
const SIGN: u8 = 120;

/// True for the word ISNULL, an operator behind its operand.
pub(super) fn is_isnull(word: &Word) -> bool {
    word.quote_style.is_none() && word.value.eq_ignore_ascii_case("isnull")
}

/// What [`super::tokens`] writes for IS [NOT] DISTINCT FROM, whose right side sqlparser would read too far.
pub(crate) const IS_DISTINCT_FROM: &str = "is distinct from";
pub(crate) const IS_NOT_DISTINCT_FROM: &str = "is not distinct from";

/// Marks the lower bound of BETWEEN SYMMETRIC: no name that a statement can write.
pub(crate) const SYMMETRIC: &str = "\u{0}symmetric";

/// Marks the last argument of a call as an array of arguments: no name that a statement can write.
pub(crate) const VARIADIC: &str = "\u{0}variadic";

/// Stands before the first item of an IN list where that is a subquery: sqlparser would take it for the only one. No
/// name that a statement can write.
pub(crate) const ITEM: &str = "\u{0}item";

impl Dialect for FrazilDialect {
    fn supports_create_index_with_clause(&self) -> bool {
        true
    }

    fn dialect(&self) -> TypeId {
        TypeId::of::<PostgreSqlDialect>()
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        POSTGRES.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '"'
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        POSTGRES.is_identifier_start(ch)
    }

    /// Once over, every character: the word at which the tokenizer is takes all that is left.
    fn is_identifier_part(&self, ch: char) -> bool {
        POSTGRES.is_identifier_part(ch) || self.is_over()
    }

    /// `name := value` in a call, PostgreSQL's older way to write `name => value`.
    fn supports_named_fn_args_with_assignment_operator(&self) -> bool {
        true
    }

    /// `{'name': 'type'}` in options of `read_csv`; refused everywhere else.
    fn supports_dictionary_syntax(&self) -> bool {
        true
    }

    /// Once over, so that a number becomes such a word, too.
    fn supports_numeric_prefix(&self) -> bool {
        self.is_over()
    }

    fn is_custom_operator_part(&self, ch: char) -> bool {
        POSTGRES.is_custom_operator_part(ch)
    }

    fn supports_unicode_string_literal(&self) -> bool {
        true
    }

    fn supports_string_escape_constant(&self) -> bool {
        true
    }

    fn supports_numeric_literal_underscores(&self) -> bool {
        true
    }

    fn supports_nested_comments(&self) -> bool {
        true
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_within_after_array_aggregation(&self) -> bool {
        true
    }

    /// ROLLUP and CUBE are read as calls: sqlparser would take parentheses in them for lists.
    fn supports_group_by_expr(&self) -> bool {
        false
    }

    fn supports_empty_projections(&self) -> bool {
        true
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }

    fn supports_notnull_operator(&self) -> bool {
        true
    }

    fn supports_interval_options(&self) -> bool {
        true
    }

    fn supports_comma_separated_trim(&self) -> bool {
        true
    }

    fn supports_insert_table_alias(&self) -> bool {
        true
    }

    fn supports_create_table_like_parenthesized(&self) -> bool {
        true
    }

    fn supports_comment_on(&self) -> bool {
        true
    }

    fn supports_array_typedef_with_brackets(&self) -> bool {
        true
    }

    fn supports_select_wildcard_exclude(&self) -> bool {
        true
    }

    fn supports_select_wildcard_replace(&self) -> bool {
        true
    }

    fn allow_extract_custom(&self) -> bool {
        true
    }

    fn allow_extract_single_quotes(&self) -> bool {
        true
    }

    fn supports_alter_column_type_using(&self) -> bool {
        true
    }

    /// UNIQUE NULLS [NOT] DISTINCT of a column, which sqlparser knows of tables alone.
    fn parse_column_option(&self, parser: &mut Parser) -> Result<Option<ParsedOption>, ParserError> {
        if !parser.parse_keywords(&[Keyword::UNIQUE, Keyword::NULLS]) {
            return Ok(None);
        }
        let nulls_distinct = match parser.parse_keyword(Keyword::NOT) {
            true => NullsDistinctOption::NotDistinct,
            false => NullsDistinctOption::Distinct,
        };
        parser.expect_keyword_is(Keyword::DISTINCT)?;
        let unique = UniqueConstraint {
            name: None,
            index_name: None,
            index_type_display: KeyOrIndexDisplay::None,
            index_type: None,
            columns: Vec::new(),
            index_options: Vec::new(),
            characteristics: parser.parse_constraint_characteristics()?,
            nulls_distinct,
        };
        Ok(Some(Ok(Some(ColumnOption::Unique(unique)))))
    }

    fn prec_value(&self, prec: Precedence) -> u8 {
        POSTGRES.prec_value(prec)
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        match &parser.peek_token_ref().token {
            Token::CustomBinaryOperator(name) if name == IS_DISTINCT_FROM || name == IS_NOT_DISTINCT_FROM => {
                Some(Ok(IS))
            }
            Token::Tilde
            | Token::TildeAsterisk
            | Token::ExclamationMarkTilde
            | Token::ExclamationMarkTildeAsterisk
            | Token::DoubleTilde
            | Token::DoubleTildeAsterisk
            | Token::ExclamationMarkDoubleTilde
            | Token::ExclamationMarkDoubleTildeAsterisk => Some(Ok(OTHER_OPERATOR)),
            // There is no postfix operator and no XOR in PostgreSQL.
            Token::ExclamationMark => Some(Ok(self.prec_unknown())),
            Token::Word(w) if w.keyword == Keyword::XOR => Some(Ok(self.prec_unknown())),
            Token::Word(w) if is_isnull(w) => Some(Ok(IS)),
            _ => POSTGRES.get_next_precedence(parser),
        }
    }

    /// Words that sqlparser does not read as a column's name when what they begin does not parse. Without this
    /// every level of nesting would be read twice.
    fn is_reserved_for_identifier(&self, kw: Keyword) -> bool {
        matches!(
            kw,
            Keyword::CASE
                | Keyword::CAST
                | Keyword::EXISTS
                | Keyword::NOT
                | Keyword::ARRAY
                | Keyword::EXTRACT
                | Keyword::POSITION
                | Keyword::SUBSTRING
                | Keyword::TRIM
                | Keyword::OVERLAY
                | Keyword::CURRENT_CATALOG
                | Keyword::CURRENT_USER
                | Keyword::SESSION_USER
                | Keyword::USER
                | Keyword::CURRENT_TIMESTAMP
                | Keyword::CURRENT_TIME
                | Keyword::CURRENT_DATE
                | Keyword::LOCALTIME
                | Keyword::LOCALTIMESTAMP
        )
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        if self.cancel.is_set() {
            return Some(Err(ParserError::ParserError("canceled".to_owned())));
        }
        match &parser.peek_token_ref().token {
            Token::Word(w) if w.value == ITEM => {
                parser.advance_token();
                Some(parser.parse_prefix())
            }
            Token::LParen
                if self
                    .queries
                    .borrow()
                    .contains(&parser.peek_token_ref().span.start) =>
            {
                Some(subquery(parser))
            }
            Token::Number(..) | Token::SingleQuotedString(_) => Some(parser.parse_value().map(Expr::Value)),
            Token::Word(w) if is_type(w) && before_text(parser) => Some(typed_text(parser)),
            Token::Word(w) if w.quote_style.is_none() && is_collation_for(parser, &w.value) => {
                Some(collation_for(parser))
            }
            Token::Word(w) if w.keyword == Keyword::NoKeyword && is_name(parser) => {
                Some(parser.parse_identifier().map(Expr::Identifier))
            }
            Token::Minus => Some(prefix(parser, UnaryOperator::Minus, SIGN)),
            Token::Plus => Some(prefix(parser, UnaryOperator::Plus, SIGN)),
            Token::Tilde => Some(prefix(parser, UnaryOperator::BitwiseNot, OTHER_OPERATOR)),
            Token::AtSign => Some(prefix(parser, UnaryOperator::PGAbs, OTHER_OPERATOR)),
            Token::PGSquareRoot => Some(prefix(parser, UnaryOperator::PGSquareRoot, OTHER_OPERATOR)),
            Token::PGCubeRoot => Some(prefix(parser, UnaryOperator::PGCubeRoot, OTHER_OPERATOR)),
            Token::Word(w) if w.quote_style.is_none() => match w.keyword {
                Keyword::CEIL
                | Keyword::FLOOR
                | Keyword::CONVERT
                | Keyword::SUBSTR
                | Keyword::TRY_CAST
                | Keyword::SAFE_CAST
                | Keyword::TRY_CONVERT => plain_name(parser),
                Keyword::OVERLAY if !has_placing(parser) => plain_name(parser),
                Keyword::EXTRACT | Keyword::SUBSTRING | Keyword::TRIM | Keyword::OVERLAY => {
                    let calls = parser.peek_nth_token_ref(1).token == Token::LParen;
                    if calls { None } else { plain_name(parser) }
                }
                Keyword::SYMMETRIC => Some(marked(parser, SYMMETRIC, BETWEEN)),
                Keyword::VARIADIC => Some(marked(parser, VARIADIC, LOWEST)),
                Keyword::INTERVAL if parser.peek_nth_token_ref(1).token == Token::LParen => {
                    interval_of_digits(parser)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// COLLATE behind what is no prefix, such as a cast; ISNULL, which sqlparser does not know; and long chains of AND
    /// and of OR.
    fn parse_infix(
        &self,
        parser: &mut Parser,
        expr: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        if matches!(&parser.peek_token_ref().token, Token::Word(w) if is_isnull(w)) {
            parser.advance_token();
            return Some(Ok(Expr::IsNull(Box::new(expr.clone()))));
        }
        if let Some(op) = self.junction(parser) {
            return Some(chain(parser, expr, &op, precedence));
        }
        if !parser.parse_keyword(Keyword::COLLATE) {
            return None;
        }
        let expr = Box::new(expr.clone());
        let name = parser.parse_object_name(false);
        Some(name.map(|collation| Expr::Collate { expr, collation }))
    }

    /// Words that are names have lost their keywords ([`super::names`]).
    fn is_column_alias(&self, kw: &Keyword, _: &mut Parser) -> bool {
        *kw == Keyword::NoKeyword
    }

    fn is_table_factor_alias(&self, _: bool, kw: &Keyword, _: &mut Parser) -> bool {
        *kw == Keyword::NoKeyword
    }
}

/// The rest of a chain of AND or of OR behind its first part, as a tree of logarithmic depth.
fn chain(
    parser: &mut Parser,
    first: &Expr,
    op: &BinaryOperator,
    precedence: u8,
) -> Result<Expr, ParserError> {
    let keyword = match op {
        BinaryOperator::And => Keyword::AND,
        _ => Keyword::OR,
    };
    let mut parts = vec![first.clone()];
    while parser.parse_keyword(keyword) {
        parts.push(parser.parse_subexpr(precedence)?);
    }
    Ok(balanced(parts, op))
}

/// The parts of a chain, at least one, joined in pairs, then pairs of pairs.
fn balanced(mut parts: Vec<Expr>, op: &BinaryOperator) -> Expr {
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            joined.push(match rest.next() {
                Some(right) => Expr::BinaryOp {
                    left: Box::new(left),
                    op: op.clone(),
                    right: Box::new(right),
                },
                None => left,
            });
        }
        parts = joined;
    }
    parts.remove(0)
}

/// Whether a word that is no keyword is a name by itself, or the first part of one. sqlparser tries every prefix of an
/// expression as a type first, and writes an error for each that is none.
fn is_name(parser: &Parser) -> bool {
    matches!(
        parser.peek_nth_token_ref(1).token,
        Token::EOF
            | Token::Comma
            | Token::RParen
            | Token::Period
            | Token::Plus
            | Token::Minus
            | Token::Mul
            | Token::Div
            | Token::Mod
            | Token::Eq
            | Token::Neq
            | Token::Lt
            | Token::Gt
            | Token::LtEq
            | Token::GtEq
            | Token::DoubleColon
            | Token::StringConcat
            | Token::Word(_)
    )
}

/// Whether a word may be the name of a type before a literal; INTERVAL has a grammar of its own.
fn is_type(word: &Word) -> bool {
    word.keyword != Keyword::INTERVAL && !super::keywords::is_reserved_keyword(word.keyword)
}

/// Whether a text stands behind a name, with the name of its schema perhaps.
fn before_text(parser: &Parser) -> bool {
    let is_text = |n: usize| {
        let token = &parser.peek_nth_token_ref(n).token;
        matches!(
            token,
            Token::SingleQuotedString(_) | Token::EscapedStringLiteral(_) | Token::UnicodeStringLiteral(_)
        )
    };
    match parser.peek_nth_token_ref(1).token {
        Token::Period => is_text(3),
        _ => is_text(1),
    }
}

/// `mood 'sad'`: a text as a value of a type that a statement may have defined.
fn typed_text(parser: &mut Parser) -> Result<Expr, ParserError> {
    Ok(Expr::TypedString(TypedString {
        data_type: parser.parse_data_type()?,
        value: parser.parse_value()?,
        uses_odbc_syntax: false,
    }))
}

fn prefix(parser: &mut Parser, op: UnaryOperator, precedence: u8) -> Result<Expr, ParserError> {
    parser.advance_token();
    let expr = Box::new(parser.parse_subexpr(precedence)?);
    Ok(Expr::UnaryOp { op, expr })
}

/// `interval(2) '…'`, of which sqlparser forgets the digits. `None` for anything else.
fn interval_of_digits(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let at = |n: usize| parser.peek_nth_token_ref(n).token.clone();
    let (Token::Number(digits, _), Token::RParen, Token::SingleQuotedString(_)) = (at(2), at(3), at(4))
    else {
        return None;
    };
    let precision = digits.parse().ok()?;
    for _ in 0..4 {
        parser.advance_token();
    }
    let typed = |value| {
        Expr::TypedString(TypedString {
            data_type: DataType::Interval {
                fields: None,
                precision: Some(precision),
            },
            value,
            uses_odbc_syntax: false,
        })
    };
    Some(parser.parse_value().map(typed))
}

fn subquery(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    let query = parser.parse_query()?;
    parser.expect_token(&Token::RParen)?;
    Ok(Expr::Subquery(query))
}

/// A word that sqlparser gives a grammar of its own, as the function or column that it names. `None` where it is
/// the first part of a longer name.
fn plain_name(parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
    let next = &parser.peek_nth_token_ref(1).token;
    let (calls, is_compound) = (*next == Token::LParen, *next == Token::Period);
    if is_compound {
        return None;
    }
    let name = match parser.parse_identifier() {
        Ok(name) => name,
        Err(e) => return Some(Err(e)),
    };
    if calls {
        return Some(parser.parse_function(ObjectName::from(vec![name])));
    }
    Some(Ok(Expr::Identifier(name)))
}

/// True if the call of `overlay` that comes next has PLACING between its arguments.
fn has_placing(parser: &Parser) -> bool {
    let mut depth = 0;
    for ahead in 1.. {
        match &parser.peek_nth_token_ref(ahead).token {
            Token::LParen => depth += 1,
            Token::RParen if depth <= 1 => return false,
            Token::RParen => depth -= 1,
            Token::Word(w) if depth == 1 && w.keyword == Keyword::PLACING => return true,
            Token::EOF => return false,
            _ if depth == 0 => return false,
            _ => {}
        }
    }
    false
}

/// True if `COLLATION FOR (` comes next.
fn is_collation_for(parser: &Parser, word: &str) -> bool {
    let is_for = |token: &Token| matches!(token, Token::Word(w) if w.keyword == Keyword::FOR);
    word.eq_ignore_ascii_case("collation")
        && is_for(&parser.peek_nth_token_ref(1).token)
        && parser.peek_nth_token_ref(2).token == Token::LParen
}

/// `COLLATION FOR (value)`, a call of `pg_collation_for`.
fn collation_for(parser: &mut Parser) -> Result<Expr, ParserError> {
    let span = parser.next_token().span;
    parser.advance_token();
    let name = Ident {
        value: "pg_collation_for".to_owned(),
        quote_style: None,
        span,
    };
    parser.parse_function(ObjectName::from(vec![name]))
}

/// A word before an expression that only some places allow: `SYMMETRIC low` behind BETWEEN, `VARIADIC array` in a call.
fn marked(parser: &mut Parser, mark: &str, precedence: u8) -> Result<Expr, ParserError> {
    let span = parser.next_token().span;
    let value = Box::new(parser.parse_subexpr(precedence)?);
    let prefix = Ident {
        value: mark.to_string(),
        quote_style: None,
        span,
    };
    Ok(Expr::Prefixed { prefix, value })
}
