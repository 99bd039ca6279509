//! The type rules: how operands come to types, and which type an operator gives.

use crate::{Operand, Unknown, UnknownKind};
use frazil_plan::{Columns, Expr, ExprKind};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};
use std::cell::RefCell;

/// Why a value is converted, which decides what conversions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CastContext {
    /// Without being asked: as an operand or argument.
    Implicit,
    /// Into a column.
    Assignment,
    /// By CAST or `::`.
    Explicit,
}

/// Which pattern language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LikeKind {
    /// LIKE.
    Like,
    /// ILIKE: case does not count.
    ILike,
    /// SIMILAR TO.
    SimilarTo,
}

/// Which BETWEEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetweenKind {
    /// The lower bound stands first.
    Ordered,
    /// BETWEEN SYMMETRIC: the bounds in any order.
    Symmetric,
}

/// What IS TRUE, IS FALSE and IS UNKNOWN ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// IS TRUE.
    True,
    /// IS FALSE.
    False,
    /// IS UNKNOWN.
    Unknown,
}

/// When a function's result may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatility {
    /// Never, for the same arguments.
    Immutable,
    /// Between statements or transactions.
    Stable,
}

/// A value that the engine gives a statement besides the client's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HiddenParameter {
    /// The transaction's time, a timestamp in UTC.
    Now,
    /// Its day.
    CurrentDate,
}

impl HiddenParameter {
    /// Its type.
    pub fn ty(self) -> LogicalType {
        match self {
            HiddenParameter::Now => LogicalType::Timestamp,
            HiddenParameter::CurrentDate => LogicalType::Date,
        }
    }
}

/// Number of the first hidden parameter until the count of the statement's own is known.
pub const FIRST_HIDDEN: usize = 1 << 20;

/// What a statement has taught about its parameters, and the rules that may learn more.
#[derive(Debug, Default)]
pub struct Typing {
    parameters: RefCell<Vec<Option<LogicalType>>>,
    hidden: RefCell<Vec<HiddenParameter>>,
}

impl Typing {
    /// Rules for a statement whose client gave these types, by position.
    pub fn new(given: &[Option<LogicalType>]) -> Typing {
        Typing {
            parameters: RefCell::new(given.to_vec()),
            hidden: RefCell::default(),
        }
    }

    /// A parameter, counted from 0.
    pub fn parameter(&self, index: usize, span: Span) -> Operand {
        let mut known = self.parameters.borrow_mut();
        if known.len() <= index {
            known.resize(index + 1, None);
        }
        match known[index] {
            Some(ty) => Expr::new(ExprKind::Parameter(index), ty, true).at(span).into(),
            None => Operand::Unknown(Unknown {
                kind: UnknownKind::Parameter(index),
                span,
            }),
        }
    }

    /// Types of all parameters. 42P18 where nothing typed one.
    pub fn parameter_types(&self) -> Result<Vec<LogicalType>> {
        let known = self.parameters.borrow();
        let typed = known.iter().enumerate().map(|(i, ty)| {
            ty.ok_or_else(|| {
                let message = format!("could not determine data type of parameter ${}", i + 1);
                Error::new(SqlState::INDETERMINATE_TYPE, message)
            })
        });
        typed.collect()
    }

    /// Hidden parameters that calls asked for. The one at position `i` is `Parameter(FIRST_HIDDEN + i)` until the
    /// binder calls [`Typing::number_parameters`].
    pub fn hidden_parameters(&self) -> Vec<HiddenParameter> {
        self.hidden.borrow().clone()
    }

    /// Gives the parameters in an expression their final numbers and types: hidden ones follow the statement's
    /// own. 42P18.
    pub fn number_parameters(&self, e: &mut Expr) -> Result<()> {
        let types = self.parameter_types()?;
        number(e, &types);
        Ok(())
    }

    /// A prefix operator. 42883, 42725.
    pub fn prefix(&self, op: &str, x: Operand, span: Span, columns: &mut Columns) -> Result<Operand> {
        let _ = (x, columns);
        Err(Error::unsupported(format!("the operator {op}")).at_span(span))
    }

    /// An infix operator. 42883, 42725.
    pub fn infix(
        &self,
        op: &str,
        l: Operand,
        r: Operand,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let _ = (l, r, columns);
        Err(Error::unsupported(format!("the operator {op}")).at_span(span))
    }

    /// LIKE, ILIKE and SIMILAR TO.
    pub fn like(
        &self,
        value: Operand,
        pattern: Operand,
        escape: Option<Operand>,
        kind: LikeKind,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let _ = (value, pattern, escape, kind, columns);
        Err(Error::unsupported("LIKE").at_span(span))
    }

    /// `x BETWEEN low AND high`.
    pub fn between(
        &self,
        x: Operand,
        low: Operand,
        high: Operand,
        kind: BetweenKind,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let _ = (x, low, high, kind, columns);
        Err(Error::unsupported("BETWEEN").at_span(span))
    }

    /// `x IN (list)`; the list is not empty.
    pub fn in_list(
        &self,
        x: Operand,
        list: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let _ = (x, list, columns);
        Err(Error::unsupported("IN").at_span(span))
    }

    /// CASE: with an operand each branch's first part is compared with it, else it is a condition.
    pub fn case(
        &self,
        operand: Option<Operand>,
        branches: Vec<(Operand, Operand)>,
        otherwise: Option<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let _ = (operand, branches, otherwise, columns);
        Err(Error::unsupported("CASE").at_span(span))
    }

    /// COALESCE.
    pub fn coalesce(&self, parts: Vec<Operand>, span: Span, columns: &mut Columns) -> Result<Operand> {
        let _ = (parts, columns);
        Err(Error::unsupported("COALESCE").at_span(span))
    }

    /// NULLIF.
    pub fn nullif(&self, x: Operand, y: Operand, span: Span, columns: &mut Columns) -> Result<Operand> {
        let _ = (x, y, columns);
        Err(Error::unsupported("NULLIF").at_span(span))
    }

    /// GREATEST.
    pub fn greatest(&self, parts: Vec<Operand>, span: Span, columns: &mut Columns) -> Result<Operand> {
        let _ = (parts, columns);
        Err(Error::unsupported("GREATEST").at_span(span))
    }

    /// LEAST.
    pub fn least(&self, parts: Vec<Operand>, span: Span, columns: &mut Columns) -> Result<Operand> {
        let _ = (parts, columns);
        Err(Error::unsupported("LEAST").at_span(span))
    }

    /// IS NULL.
    pub fn is_null(&self, x: Operand, span: Span) -> Result<Operand> {
        let _ = x;
        Err(Error::unsupported("IS NULL").at_span(span))
    }

    /// IS TRUE, IS FALSE, IS UNKNOWN.
    pub fn is_truth(&self, x: Operand, truth: Truth, span: Span) -> Result<Operand> {
        let _ = (x, truth);
        Err(Error::unsupported("IS TRUE").at_span(span))
    }

    /// NOT.
    pub fn not(&self, x: Operand, span: Span) -> Result<Operand> {
        let _ = x;
        Err(Error::unsupported("NOT").at_span(span))
    }

    /// A conjunction of any number of parts.
    pub fn and(&self, parts: Vec<Operand>, span: Span) -> Result<Operand> {
        let _ = parts;
        Err(Error::unsupported("AND").at_span(span))
    }

    /// A disjunction of any number of parts.
    pub fn or(&self, parts: Vec<Operand>, span: Span) -> Result<Operand> {
        let _ = parts;
        Err(Error::unsupported("OR").at_span(span))
    }

    /// Row values compared: equal where all parts are, ordered by the first that differ.
    pub fn row_compare(
        &self,
        op: &str,
        l: Vec<Operand>,
        r: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let _ = (op, l, r, columns);
        Err(Error::unsupported("a row value").at_span(span))
    }

    /// A call of a scalar function. 42883, 42725.
    pub fn call(
        &self,
        name: &str,
        arguments: Vec<Operand>,
        span: Span,
        columns: &mut Columns,
    ) -> Result<Operand> {
        let _ = (arguments, columns);
        Err(Error::unsupported(format!("the function {name}")).at_span(span))
    }

    /// The operand as `ty`. 42846, 42804 where there is no such conversion in this context.
    pub fn cast(&self, x: Operand, ty: LogicalType, context: CastContext, span: Span) -> Result<Expr> {
        let _ = (x, context);
        Err(Error::unsupported(format!("a cast to {ty}")).at_span(span))
    }

    /// One type for the parts of a CASE, VALUES list, UNION and the like. 42804. `place` stands in the message.
    pub fn common_type(&self, parts: &[&Operand], place: &str) -> Result<LogicalType> {
        let _ = parts;
        Err(Error::unsupported(place))
    }

    /// The operand with a type: what nothing typed is text.
    pub fn settle(&self, x: Operand) -> Result<Expr> {
        self.cast(x, LogicalType::Text, CastContext::Implicit, Span::NONE)
    }

    /// The operand as a condition. 42804 `argument of WHERE must be type boolean, not type integer`.
    pub fn predicate(&self, x: Operand, place: &str) -> Result<Expr> {
        let _ = place;
        self.cast(x, LogicalType::Boolean, CastContext::Implicit, Span::NONE)
    }

    /// A number as written. 42601, 22003.
    pub fn number_literal(text: &str, span: Span) -> Result<Operand> {
        Err(Error::unsupported(text).at_span(span))
    }
}

fn number(e: &mut Expr, own: &[LogicalType]) {
    if let ExprKind::Parameter(index) = &mut e.kind {
        if *index >= FIRST_HIDDEN {
            *index = *index - FIRST_HIDDEN + own.len();
        } else {
            e.ty = own[*index];
        }
    }
    for child in e.children_mut() {
        number(child, own);
    }
}
