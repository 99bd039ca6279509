//! How deep the tree of a statement is, measured on its tokens before anything recursive sees it.
//!
//! A pair of parentheses, a CASE or a bracket is a level. Within a level operators nest by precedence: a chain of
//! an operator is as deep as it is long, plus the deepest of its operands. The measure is never less than the
//! depth of sqlparser's tree, of the bound expression, or of the operators.
//!
//! Programs write chains of AND and of OR with any number of parts. The dialect reads a long one as a balanced tree
//! ([`Measured::junctions`]), which is as deep as the logarithm of its length.

use super::dialect::is_isnull;
use super::source::Source;
use frazil_types::{Error, Result, SqlState};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use std::collections::HashSet;

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

/// Words AND or OR of a chain that is read as it is written. Below that, balancing is not worth a copy of the first
/// part.
const SHORT_CHAIN: usize = 32;

/// What is measured of a statement.
#[derive(Debug)]
pub(super) struct Measured {
    pub depth: usize,
    /// Where each AND and OR of a long chain is.
    pub junctions: HashSet<Location>,
}

/// One pair of parentheses: operators of each class so far, and the deepest of their operands.
#[derive(Clone, Default)]
struct Level {
    counts: [usize; CLASSES],
    operands: [usize; CLASSES],
    /// Where the ORs and ANDs of the chains that are open stand.
    junctions: [Vec<Location>; 2],
    /// BETWEENs whose AND is still to come.
    betweens: usize,
    /// Whether a comma adds a relation rather than ending an item.
    in_from: bool,
    is_case: bool,
}

impl Level {
    /// Completes what binds tighter than `class`. Adds the words of long chains to `long`.
    fn fold(&mut self, class: usize, long: &mut HashSet<Location>) {
        let mut depth = 0;
        for tighter in (class + 1..CLASSES).rev() {
            let mut levels = self.counts[tighter];
            if let OR | AND = tighter {
                let chain = std::mem::take(&mut self.junctions[tighter - OR]);
                if chain.len() > SHORT_CHAIN {
                    levels = (levels + 1).next_power_of_two().ilog2() as usize;
                    long.extend(chain);
                }
            }
            depth = levels + self.operands[tighter].max(depth);
            self.counts[tighter] = 0;
            self.operands[tighter] = 0;
        }
        self.operands[class] = self.operands[class].max(depth);
    }

    fn operator(&mut self, class: usize, long: &mut HashSet<Location>) {
        self.fold(class, long);
        self.counts[class] += 1;
    }

    /// An operator that may be part of a long chain: OR or AND.
    fn junction(&mut self, class: usize, at: Location, long: &mut HashSet<Location>) {
        self.operator(class, long);
        self.junctions[class - OR].push(at);
    }

    fn operand(&mut self, depth: usize) {
        let tightest = &mut self.operands[CLASSES - 1];
        *tightest = (*tightest).max(depth);
    }

    fn depth(&mut self, long: &mut HashSet<Location>) -> usize {
        self.fold(SETS, long);
        self.counts[SETS] + self.operands[SETS]
    }
}

/// The levels that are open while tokens are read, outermost first.
struct Walk {
    levels: Vec<Level>,
    long: HashSet<Location>,
}

impl Walk {
    fn new() -> Walk {
        Walk {
            levels: vec![Level::default()],
            long: HashSet::new(),
        }
    }

    fn token(&mut self, token: &TokenWithSpan) {
        match &token.token {
            Token::LParen | Token::LBracket => self.levels.push(Level::default()),
            Token::RParen | Token::RBracket => close(&mut self.levels, &mut self.long),
            other => {
                if let Some(level) = self.levels.last_mut() {
                    count(level, token, &mut self.long);
                }
                match other {
                    Token::Word(w) if w.keyword == Keyword::CASE => self.levels.push(Level {
                        is_case: true,
                        ..Level::default()
                    }),
                    Token::Word(w)
                        if w.keyword == Keyword::END && self.levels.last().is_some_and(|l| l.is_case) =>
                    {
                        close(&mut self.levels, &mut self.long);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Levels that are open, and operators of the innermost one but OR and AND, whose long chains are balanced.
    fn reached(&self) -> usize {
        let counts = self.levels.last().map_or([0; CLASSES], |level| level.counts);
        let operators: usize = counts.iter().sum();
        self.levels.len() + operators - counts[OR] - counts[AND]
    }
}

/// The depth of a statement. Error 54001 with its position if the statement is too deep.
pub(super) fn of(tokens: &[TokenWithSpan], source: &Source) -> Result<Measured> {
    let mut walk = Walk::new();
    tokens.iter().for_each(|token| walk.token(token));
    let Walk { mut levels, mut long } = walk;
    while levels.len() > 1 {
        close(&mut levels, &mut long);
    }
    let depth = levels[0].depth(&mut long);
    if depth > MAX_DEPTH {
        let message = "the statement is nested too deeply";
        let error = Error::new(SqlState::STATEMENT_TOO_COMPLEX, message)
            .with_detail(format!("it is {depth} levels deep, {MAX_DEPTH} are supported"))
            .with_hint("write long chains with IN (…), VALUES or several statements");
        return Err(match deepest(tokens) {
            Some(at) => error.at_position(source.position(source.byte(at))),
            None => error,
        });
    }
    Ok(Measured {
        depth,
        junctions: long,
    })
}

/// The place in a statement that is too deep where most levels are open: the first one beyond the limit, if a chain or
/// parentheses alone go beyond it.
fn deepest(tokens: &[TokenWithSpan]) -> Option<Location> {
    let (mut walk, mut most, mut place) = (Walk::new(), 0, None);
    for token in tokens {
        walk.token(token);
        let reached = walk.reached();
        if reached > most {
            (most, place) = (reached, Some(token.span.start));
        }
        if most > MAX_DEPTH {
            break;
        }
    }
    place
}

fn close(levels: &mut Vec<Level>, long: &mut HashSet<Location>) {
    let Some(mut inner) = levels.pop() else {
        return;
    };
    let depth = inner.depth(long) + 1;
    if levels.is_empty() {
        levels.push(Level::default());
    }
    if let Some(outer) = levels.last_mut() {
        outer.operand(depth);
    }
}

fn count(level: &mut Level, token: &TokenWithSpan, long: &mut HashSet<Location>) {
    match &token.token {
        Token::Comma if level.in_from => level.operator(SETS, long),
        Token::Comma => level.fold(SETS, long),
        Token::Word(w) if is_isnull(w) => level.operator(IS, long),
        Token::Word(w) if w.quote_style.is_none() => word(level, w.keyword, token.span.start, long),
        Token::Eq | Token::DoubleEq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq => {
            level.operator(COMPARISON, long)
        }
        Token::Plus | Token::Minus => level.operator(SUM, long),
        Token::Mul | Token::Div | Token::Mod => level.operator(PRODUCT, long),
        Token::DoubleColon | Token::Caret | Token::ExclamationMark => level.operator(TIGHT, long),
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
        | Token::Overlap => level.operator(OTHER, long),
        _ => {}
    }
}

fn word(level: &mut Level, keyword: Keyword, at: Location, long: &mut HashSet<Location>) {
    match keyword {
        Keyword::OR => level.junction(OR, at, long),
        Keyword::XOR => level.operator(OR, long),
        Keyword::AND if level.betweens > 0 => {
            level.betweens -= 1;
            level.operator(LIKE, long);
        }
        Keyword::AND => level.junction(AND, at, long),
        Keyword::NOT => level.operator(NOT, long),
        Keyword::IS | Keyword::NOTNULL => level.operator(IS, long),
        Keyword::BETWEEN => {
            level.betweens += 1;
            level.operator(LIKE, long);
        }
        Keyword::IN | Keyword::LIKE | Keyword::ILIKE | Keyword::SIMILAR | Keyword::ESCAPE => {
            level.operator(LIKE, long)
        }
        Keyword::AT | Keyword::COLLATE | Keyword::INTERVAL | Keyword::OVERLAPS | Keyword::OPERATOR => {
            level.operator(TIGHT, long);
        }
        Keyword::UNION
        | Keyword::EXCEPT
        | Keyword::INTERSECT
        | Keyword::JOIN
        | Keyword::APPLY
        | Keyword::EXPLAIN => level.operator(SETS, long),
        Keyword::FROM | Keyword::USING | Keyword::WITH => {
            level.fold(SETS, long);
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
            level.fold(SETS, long);
            level.in_from = false;
        }
        Keyword::WHEN | Keyword::THEN | Keyword::ELSE | Keyword::ON => level.fold(SETS, long),
        _ => {}
    }
}
