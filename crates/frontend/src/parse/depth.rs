//! How deep the tree of a statement is, measured on its tokens before anything recursive sees it.
//!
//! A pair of parentheses, a CASE or a bracket is a level. Within a level operators nest by precedence: a chain of
//! an operator is as deep as it is long, plus the deepest of its operands. The measure is never less than the
//! depth of sqlparser's tree, of the bound expression, or of the operators.

use frazil_types::{Error, Result, SqlState};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Depth up to which statements are answered.
pub(crate) const MAX_DEPTH: usize = 2_200;

/// From the loosest to the tightest: set operations and joins, OR, AND, NOT, IS, comparisons, BETWEEN, IN and LIKE,
/// other operators, sums, products, powers, casts and signs.
const CLASSES: usize = 11;
const SETS: usize = 0;
const OR: usize = 1;
const AND: usize = 2;
const NOT: usize = 3;
const IS: usize = 4;
const COMPARISON: usize = 5;
const LIKE: usize = 6;
const OTHER: usize = 7;
const SUM: usize = 8;
const PRODUCT: usize = 9;
const TIGHT: usize = 10;

/// One pair of parentheses: operators of each class so far, and the deepest of their operands.
#[derive(Clone, Default)]
struct Level {
    counts: [usize; CLASSES],
    operands: [usize; CLASSES],
    /// BETWEENs whose AND is still to come.
    betweens: usize,
    /// Whether a comma adds a relation rather than ending an item.
    in_from: bool,
    is_case: bool,
}

impl Level {
    /// Completes what binds tighter than `class`.
    fn fold(&mut self, class: usize) {
        let mut depth = 0;
        for tighter in (class + 1..CLASSES).rev() {
            depth = self.counts[tighter] + self.operands[tighter].max(depth);
            self.counts[tighter] = 0;
            self.operands[tighter] = 0;
        }
        self.operands[class] = self.operands[class].max(depth);
    }

    fn operator(&mut self, class: usize) {
        self.fold(class);
        self.counts[class] += 1;
    }

    fn operand(&mut self, depth: usize) {
        let tightest = &mut self.operands[CLASSES - 1];
        *tightest = (*tightest).max(depth);
    }

    fn depth(&mut self) -> usize {
        self.fold(SETS);
        self.counts[SETS] + self.operands[SETS]
    }
}

/// The depth of a statement. 54001 where it is too deep.
pub(super) fn of(tokens: &[TokenWithSpan]) -> Result<usize> {
    let mut levels = vec![Level::default()];
    for token in tokens {
        match &token.token {
            Token::LParen | Token::LBracket => levels.push(Level::default()),
            Token::RParen | Token::RBracket => close(&mut levels),
            other => {
                if let Some(level) = levels.last_mut() {
                    count(level, other);
                }
                match other {
                    Token::Word(w) if w.keyword == Keyword::CASE => levels.push(Level {
                        is_case: true,
                        ..Level::default()
                    }),
                    Token::Word(w)
                        if w.keyword == Keyword::END && levels.last().is_some_and(|l| l.is_case) =>
                    {
                        close(&mut levels);
                    }
                    _ => {}
                }
            }
        }
    }
    while levels.len() > 1 {
        close(&mut levels);
    }
    let depth = levels[0].depth();
    if depth > MAX_DEPTH {
        let message = "the statement is nested too deeply";
        return Err(Error::new(SqlState::STATEMENT_TOO_COMPLEX, message)
            .with_detail(format!("it is {depth} levels deep, {MAX_DEPTH} are supported"))
            .with_hint("write long chains with IN (…), VALUES or several statements"));
    }
    Ok(depth)
}

fn close(levels: &mut Vec<Level>) {
    let Some(mut inner) = levels.pop() else {
        return;
    };
    let depth = inner.depth() + 1;
    if levels.is_empty() {
        levels.push(Level::default());
    }
    if let Some(outer) = levels.last_mut() {
        outer.operand(depth);
    }
}

fn count(level: &mut Level, token: &Token) {
    match token {
        Token::Comma if level.in_from => level.operator(SETS),
        Token::Comma => level.fold(SETS),
        Token::Word(w) if w.quote_style.is_none() => word(level, w.keyword),
        Token::Eq | Token::DoubleEq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq => {
            level.operator(COMPARISON)
        }
        Token::Plus | Token::Minus => level.operator(SUM),
        Token::Mul | Token::Div | Token::Mod => level.operator(PRODUCT),
        Token::DoubleColon | Token::Caret | Token::ExclamationMark => level.operator(TIGHT),
        Token::CustomBinaryOperator(_)
        | Token::StringConcat
        | Token::Ampersand
        | Token::Pipe
        | Token::Sharp
        | Token::ShiftLeft
        | Token::ShiftRight
        | Token::Tilde
        | Token::TildeAsterisk
        | Token::ExclamationMarkTilde
        | Token::ExclamationMarkTildeAsterisk
        | Token::DoubleTilde
        | Token::DoubleTildeAsterisk
        | Token::ExclamationMarkDoubleTilde
        | Token::ExclamationMarkDoubleTildeAsterisk
        | Token::PGSquareRoot
        | Token::PGCubeRoot
        | Token::AtSign
        | Token::CaretAt
        | Token::Arrow
        | Token::LongArrow
        | Token::HashArrow
        | Token::HashLongArrow
        | Token::HashMinus
        | Token::AtArrow
        | Token::ArrowAt
        | Token::AtQuestion
        | Token::AtAt
        | Token::Question
        | Token::QuestionAnd
        | Token::QuestionPipe
        | Token::Colon
        | Token::Overlap => level.operator(OTHER),
        _ => {}
    }
}

fn word(level: &mut Level, keyword: Keyword) {
    match keyword {
        Keyword::OR | Keyword::XOR => level.operator(OR),
        Keyword::AND if level.betweens > 0 => {
            level.betweens -= 1;
            level.operator(LIKE);
        }
        Keyword::AND => level.operator(AND),
        Keyword::NOT => level.operator(NOT),
        Keyword::IS | Keyword::NOTNULL => level.operator(IS),
        Keyword::BETWEEN => {
            level.betweens += 1;
            level.operator(LIKE);
        }
        Keyword::IN | Keyword::LIKE | Keyword::ILIKE | Keyword::SIMILAR | Keyword::ESCAPE => {
            level.operator(LIKE)
        }
        Keyword::AT | Keyword::COLLATE | Keyword::INTERVAL | Keyword::OVERLAPS | Keyword::OPERATOR => {
            level.operator(TIGHT);
        }
        Keyword::UNION
        | Keyword::EXCEPT
        | Keyword::INTERSECT
        | Keyword::JOIN
        | Keyword::APPLY
        | Keyword::EXPLAIN => level.operator(SETS),
        Keyword::FROM | Keyword::USING | Keyword::WITH => {
            level.fold(SETS);
            level.in_from = true;
        }
        Keyword::SELECT
        | Keyword::WHERE
        | Keyword::GROUP
        | Keyword::HAVING
        | Keyword::ORDER
        | Keyword::LIMIT
        | Keyword::OFFSET
        | Keyword::VALUES
        | Keyword::RETURNING => {
            level.fold(SETS);
            level.in_from = false;
        }
        Keyword::WHEN | Keyword::THEN | Keyword::ELSE | Keyword::ON => level.fold(SETS),
        _ => {}
    }
}
