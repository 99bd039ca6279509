//! The type rules: how operands come to types, and which type an operator gives.

use crate::{Operand, Unknown, UnknownKind};
use frazil_plan::{Expr, ExprKind};
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value, Zone};
use std::cell::RefCell;

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
    /// From call to call.
    Volatile,
}

/// A value that the engine gives a statement besides the client's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HiddenParameter {
    /// The transaction's time.
    Now,
    /// The statement's time.
    StatementStart,
    /// The day of the transaction's time by a zone's clock.
    CurrentDate(Zone),
    /// A number that differs from run to run: the seed of samples.
    Seed,
    /// The number under which the statement's catalog is registered.
    Catalog,
}

impl HiddenParameter {
    /// Its type.
    pub fn ty(self) -> LogicalType {
        match self {
            HiddenParameter::Now | HiddenParameter::StatementStart => LogicalType::TIMESTAMPTZ,
            HiddenParameter::CurrentDate(_) => LogicalType::Date,
            HiddenParameter::Catalog => LogicalType::BigInt,
            HiddenParameter::Seed => LogicalType::of_value(&Value::Double(0.0)),
        }
    }
}

/// Number of the first hidden parameter until the count of the statement's own is known.
pub const FIRST_HIDDEN: usize = 1 << 20;

/// What a statement has taught about its parameters, and the rules that may learn more.
#[derive(Debug, Default)]
pub struct Typing {
    pub(crate) parameters: RefCell<Vec<Option<LogicalType>>>,
    /// Parameters that became text because an operand or argument was needed: nothing said that they are texts.
    pub(crate) guessed: RefCell<Vec<usize>>,
    pub(crate) hidden: RefCell<Vec<HiddenParameter>>,
    pub(crate) zone: Zone,
}

impl Typing {
    /// Rules for a statement whose client gave these types, by position, in UTC.
    pub fn new(given: &[Option<LogicalType>]) -> Typing {
        Typing::in_zone(given, Zone::UTC)
    }

    /// The same for a session with a zone.
    pub fn in_zone(given: &[Option<LogicalType>], zone: Zone) -> Typing {
        let given = given.iter().map(|ty| ty.map(|ty| ty.in_zone(zone)));
        Typing {
            parameters: RefCell::new(given.collect()),
            guessed: RefCell::default(),
            hidden: RefCell::default(),
            zone,
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

    /// True for a parameter of the type [`RESULT_PARAMETER`](crate::RESULT_PARAMETER), counted from 0.
    pub fn is_result(&self, index: usize) -> bool {
        self.parameters.borrow().get(index) == Some(&Some(crate::RESULT_PARAMETER))
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

    /// Parameters, counted from 0, that are texts although another type might do as well.
    pub fn guessed_parameters(&self) -> Vec<usize> {
        self.guessed.borrow().clone()
    }

    /// Hidden parameters that calls asked for. The one at position `i` is `Parameter(FIRST_HIDDEN + i)` until the
    /// binder calls [`Typing::number_parameters`].
    pub fn hidden_parameters(&self) -> Vec<HiddenParameter> {
        self.hidden.borrow().clone()
    }

    /// Gives the parameters in an expression their final numbers and types: hidden ones follow the statement's
    /// own, whose types are `own` ([`Typing::parameter_types`]).
    pub fn number_parameters(e: &mut Expr, own: &[LogicalType]) {
        if let ExprKind::Parameter(index) = &mut e.kind {
            if *index >= FIRST_HIDDEN {
                *index = *index - FIRST_HIDDEN + own.len();
            } else {
                e.ty = own[*index];
            }
        }
        for child in e.children_mut() {
            Typing::number_parameters(child, own);
        }
    }
}
