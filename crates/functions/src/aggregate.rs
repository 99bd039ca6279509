//! Aggregate functions.

use crate::arithmetic::average_type;
use crate::build::is_null_constant;
use crate::convert::{WIDEST, decimal, digits, type_of_kind};
use crate::resolve::{CallKind, Resolution, resolve};
use crate::type_rules::{Category, Kind, name_of};
use crate::{CastContext, Operand, Typing};
use frazil_plan::{AggregateCall, AggregateFunction, Expr};
use frazil_types::{Error, LogicalType, Result, Span, SqlState};

/// What an aggregate takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Whatever there is.
    Anything,
    /// Numbers.
    Numbers,
    /// Types that have a least and a greatest value.
    Ordered,
}

impl Takes {
    /// The kinds it is declared on.
    pub(crate) fn kinds(self) -> Vec<Kind> {
        let takes = |kind: &Kind| match self {
            Takes::Anything => false,
            Takes::Numbers => kind.category() == Category::Numeric,
            Takes::Ordered => kind.info().has_extremes,
        };
        Kind::ALL.into_iter().filter(takes).collect()
    }
}

/// Name, function, what it takes, description.
pub(crate) const AGGREGATES: &[(&str, AggregateFunction, Takes, &str)] = &[
    (
        "avg",
        AggregateFunction::Avg,
        Takes::Numbers,
        "the average of all values that are not NULL",
    ),
    (
        "count",
        AggregateFunction::Count,
        Takes::Anything,
        "the number of rows, or of values that are not NULL",
    ),
    ("max", AggregateFunction::Max, Takes::Ordered, "the largest value"),
    (
        "min",
        AggregateFunction::Min,
        Takes::Ordered,
        "the smallest value",
    ),
    (
        "sum",
        AggregateFunction::Sum,
        Takes::Numbers,
        "the sum of all values that are not NULL",
    ),
];

impl Typing {
    /// A call of an aggregate; `count(*)` is the name of that without arguments. The filter is a condition. 42883,
    /// 42725; 42809 for `count()`.
    pub fn aggregate(
        &self,
        name: &str,
        mut arguments: Vec<Operand>,
        distinct: bool,
        filter: Option<Expr>,
        span: Span,
    ) -> Result<AggregateCall> {
        let call = |function, argument, distinct, ty| AggregateCall {
            function,
            argument,
            distinct,
            filter: filter.clone(),
            ty,
        };
        if name == "count(*)" {
            if distinct {
                let message = "DISTINCT specified, but count(*) has no argument";
                return Err(Error::new(SqlState::SYNTAX_ERROR, message).at_span(span));
            }
            return Ok(call(
                AggregateFunction::CountRows,
                None,
                false,
                LogicalType::BigInt,
            ));
        }
        let known = AGGREGATES.iter().find(|a| a.0 == name);
        let &(_, function, takes, _) = known.ok_or_else(|| no_function(name, &arguments).at_span(span))?;
        if name == "count" && arguments.is_empty() {
            let message = "count(*) must be used to call a parameterless aggregate function";
            return Err(Error::new(SqlState("42809"), message).at_span(span));
        }
        if arguments.len() != 1 {
            return Err(no_function(name, &arguments).at_span(span));
        }
        let argument = arguments.remove(0);
        if function == AggregateFunction::Count {
            let e = self.settle(argument)?;
            // Any value counts as one row, if it is a constant that is not NULL.
            let is_constant = crate::build::constant_of(&e).is_some() && !is_null_constant(&e);
            if is_constant && !distinct {
                return Ok(call(
                    AggregateFunction::CountRows,
                    None,
                    false,
                    LogicalType::BigInt,
                ));
            }
            return Ok(call(function, Some(e), distinct, LogicalType::BigInt));
        }
        let e = self.aggregated(name, argument, takes, span)?;
        let ty = result_type(function, e.ty);
        // The least of distinct values is the least of all.
        let distinct = distinct && matches!(function, AggregateFunction::Sum | AggregateFunction::Avg);
        Ok(call(function, Some(e), distinct, ty))
    }

    /// The argument as one of the kinds that an aggregate takes. 42883, 42725; 0A000 for the order of intervals.
    fn aggregated(&self, name: &str, argument: Operand, takes: Takes, span: Span) -> Result<Expr> {
        let given = argument.ty().map(Kind::of);
        if argument.ty().is_some_and(LogicalType::is_span) {
            return Err(Error::unsupported(format!("{name}(interval)")).at_span(span));
        }
        if takes == Takes::Ordered && given == Some(Kind::Varchar) {
            return self.settle(argument);
        }
        let kinds = takes.kinds();
        let candidates: Vec<&[Kind]> = kinds.iter().map(std::slice::from_ref).collect();
        match resolve(&candidates, &[given], CallKind::Function) {
            Resolution::Found(at) if given == Some(kinds[at]) => self.settle(argument),
            Resolution::Found(at) => {
                let ty = type_of_kind(kinds[at], argument.ty());
                self.cast(argument, ty, CastContext::Implicit, Span::NONE)
            }
            Resolution::None => Err(no_function(name, &[argument]).at_span(span)),
            Resolution::Ambiguous => {
                let message = format!("function {name}({}) is not unique", name_of(argument.ty()));
                Err(Error::new(SqlState::AMBIGUOUS_FUNCTION, message)
                    .with_hint("you might need to add explicit type casts")
                    .at_span(span))
            }
        }
    }

    /// Whether a name is an aggregate's.
    pub fn is_aggregate(name: &str) -> bool {
        AGGREGATES.iter().any(|a| a.0 == name)
    }
}

/// 42883 for a call that fits none of a name.
pub(crate) fn no_function(name: &str, arguments: &[Operand]) -> Error {
    let types: Vec<&str> = arguments.iter().map(|a| name_of(a.ty())).collect();
    let message = format!("function {name}({}) does not exist", types.join(", "));
    Error::new(SqlState::UNDEFINED_FUNCTION, message).with_hint(
        "no function matches the given name and argument types; you might need to add explicit type casts",
    )
}

fn result_type(function: AggregateFunction, argument: LogicalType) -> LogicalType {
    match (function, argument) {
        (AggregateFunction::Sum, LogicalType::SmallInt | LogicalType::Integer) => LogicalType::BigInt,
        (AggregateFunction::Sum, ty) if ty.scale().is_some() => decimal(WIDEST, digits(ty).1),
        (AggregateFunction::Avg, ty) if ty.scale().is_some() => average_type(ty),
        (_, ty) => ty,
    }
}
