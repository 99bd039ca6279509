//! Aggregate functions.

use crate::arithmetic::average_type;
use crate::build::is_null_constant;
use crate::convert::{WIDEST, decimal, digits, type_of_kind};
use crate::resolve::{CallKind, Resolution, resolve};
use crate::statistics::{self, OfPairs, Spread};
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
    /// Whole numbers.
    Integers,
    /// Doubles.
    Doubles,
    /// Truth values.
    Truth,
    /// Types that have a least and a greatest value.
    Ordered,
    /// Those and truth values.
    Values,
}

impl Takes {
    /// The kinds it is declared on.
    pub(crate) fn kinds(self) -> Vec<Kind> {
        let takes = |kind: &Kind| match self {
            Takes::Anything => false,
            Takes::Numbers => kind.category() == Category::Numeric,
            Takes::Integers => matches!(kind, Kind::SmallInt | Kind::Integer | Kind::BigInt),
            Takes::Doubles => *kind == Kind::Double,
            Takes::Truth => kind.category() == Category::Boolean,
            Takes::Ordered => kind.info().has_extremes,
            Takes::Values => kind.info().has_extremes || kind.category() == Category::Boolean,
        };
        Kind::ALL.into_iter().filter(takes).collect()
    }
}

/// How an aggregate is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Made {
    /// By the engine.
    Plain(AggregateFunction),
    /// Of counts and sums, of one number.
    Spread(Spread),
    /// Of counts and sums, of two doubles.
    OfPairs(OfPairs),
}

impl Made {
    /// How many arguments it takes.
    pub fn arguments(self) -> usize {
        match self {
            Made::Plain(_) | Made::Spread(_) => 1,
            Made::OfPairs(_) => 2,
        }
    }
}

const fn spread_of(of_sample: bool, root: bool) -> Made {
    Made::Spread(Spread { of_sample, root })
}

type Aggregate = (&'static str, Made, Takes, &'static str);

/// Name, how it is made, what it takes, description.
#[rustfmt::skip]
pub(crate) const AGGREGATES: &[Aggregate] = &[
    ("any_value", Made::Plain(AggregateFunction::Min), Takes::Values, "one of the values that are not NULL: the smallest"),
    ("avg", Made::Plain(AggregateFunction::Avg), Takes::Numbers, "the average of all values that are not NULL"),
    ("bit_and", Made::Plain(AggregateFunction::BitAnd), Takes::Integers, "the bits that all values have"),
    ("bit_or", Made::Plain(AggregateFunction::BitOr), Takes::Integers, "the bits that some value has"),
    ("bit_xor", Made::Plain(AggregateFunction::BitXor), Takes::Integers, "the bits that an odd number of values have"),
    ("bool_and", Made::Plain(AggregateFunction::Min), Takes::Truth, "whether all values are true"),
    ("bool_or", Made::Plain(AggregateFunction::Max), Takes::Truth, "whether some value is true"),
    ("corr", Made::OfPairs(OfPairs::Correlation), Takes::Doubles, "the coefficient of correlation"),
    ("count", Made::Plain(AggregateFunction::Count), Takes::Anything, "the number of rows, or of values that are not NULL"),
    ("covar_pop", Made::OfPairs(OfPairs::Covariance(false)), Takes::Doubles, "the covariance of a population"),
    ("covar_samp", Made::OfPairs(OfPairs::Covariance(true)), Takes::Doubles, "the covariance of a sample"),
    ("every", Made::Plain(AggregateFunction::Min), Takes::Truth, "whether all values are true"),
    ("max", Made::Plain(AggregateFunction::Max), Takes::Ordered, "the largest value"),
    ("min", Made::Plain(AggregateFunction::Min), Takes::Ordered, "the smallest value"),
    ("regr_avgx", Made::OfPairs(OfPairs::AverageX), Takes::Doubles, "the average of the second values of pairs"),
    ("regr_avgy", Made::OfPairs(OfPairs::AverageY), Takes::Doubles, "the average of the first values of pairs"),
    ("regr_count", Made::OfPairs(OfPairs::Count), Takes::Doubles, "the number of pairs without NULL"),
    ("regr_intercept", Made::OfPairs(OfPairs::Intercept), Takes::Doubles, "where the line of least squares is at x = 0"),
    ("regr_r2", Made::OfPairs(OfPairs::RSquared), Takes::Doubles, "the square of the coefficient of correlation"),
    ("regr_slope", Made::OfPairs(OfPairs::Slope), Takes::Doubles, "the slope of the line of least squares"),
    ("regr_sxx", Made::OfPairs(OfPairs::SumXX), Takes::Doubles, "the sum of squares of the second values' deviations"),
    ("regr_sxy", Made::OfPairs(OfPairs::SumXY), Takes::Doubles, "the sum of products of deviations"),
    ("regr_syy", Made::OfPairs(OfPairs::SumYY), Takes::Doubles, "the sum of squares of the first values' deviations"),
    ("stddev", spread_of(true, true), Takes::Numbers, "the standard deviation of a sample"),
    ("stddev_pop", spread_of(false, true), Takes::Numbers, "the standard deviation of a population"),
    ("stddev_samp", spread_of(true, true), Takes::Numbers, "the standard deviation of a sample"),
    ("sum", Made::Plain(AggregateFunction::Sum), Takes::Numbers, "the sum of all values that are not NULL"),
    ("var_pop", spread_of(false, false), Takes::Numbers, "the variance of a population"),
    ("var_samp", spread_of(true, false), Takes::Numbers, "the variance of a sample"),
    ("variance", spread_of(true, false), Takes::Numbers, "the variance of a sample"),
];

/// A value over the columns of aggregates.
pub type MadeOf = Box<dyn FnOnce(Vec<Expr>) -> Expr>;

/// A call of an aggregate, made of those that the engine knows.
pub struct Aggregated {
    /// Those.
    pub calls: Vec<AggregateCall>,
    /// The value over their columns; none for the column of the only one.
    pub value: Option<MadeOf>,
}

/// The value of a call over the columns of [`Aggregated::calls`], of which there is at least one.
pub fn value_of(mut columns: Vec<Expr>, value: Option<MadeOf>) -> Result<Expr> {
    match (value, columns.len()) {
        (Some(value), _) => Ok(value(columns)),
        (None, 1) => Ok(columns.remove(0)),
        _ => Err(Error::internal("an aggregate of several columns without a value")),
    }
}

/// A call without DISTINCT.
pub(crate) fn plain(
    function: AggregateFunction,
    argument: Option<Expr>,
    ty: LogicalType,
    filter: Option<Expr>,
) -> AggregateCall {
    AggregateCall {
        function,
        argument,
        second: None,
        distinct: false,
        filter,
        ty,
    }
}

fn one(call: AggregateCall) -> Result<Aggregated> {
    Ok(Aggregated {
        calls: vec![call],
        value: None,
    })
}

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
    ) -> Result<Aggregated> {
        let bigint = LogicalType::BigInt;
        if name == "count(*)" {
            if distinct {
                let message = "DISTINCT specified, but count(*) has no argument";
                return Err(Error::new(SqlState::SYNTAX_ERROR, message).at_span(span));
            }
            return one(plain(AggregateFunction::CountRows, None, bigint, filter));
        }
        let known = AGGREGATES.iter().find(|a| a.0 == name);
        let &(_, made, takes, _) = known.ok_or_else(|| no_function(name, &arguments).at_span(span))?;
        if name == "count" && arguments.is_empty() {
            let message = "count(*) must be used to call a parameterless aggregate function";
            return Err(Error::new(SqlState("42809"), message).at_span(span));
        }
        if arguments.len() != made.arguments() {
            return Err(no_function(name, &arguments).at_span(span));
        }
        let function = match made {
            Made::Plain(function) => function,
            Made::Spread(what) => {
                let x = self.aggregated(name, arguments.remove(0), takes, span)?;
                return Ok(statistics::spread(what, x, distinct, filter));
            }
            Made::OfPairs(what) => {
                if distinct {
                    return Err(Error::unsupported(format!("{name} with DISTINCT")).at_span(span));
                }
                let [y, x] = self.pair(name, arguments, span)?;
                return Ok(statistics::of_pairs(what, y, x, filter));
            }
        };
        let argument = arguments.remove(0);
        if function == AggregateFunction::Count {
            let e = self.settle(argument)?;
            // Any value counts as one row, if it is a constant that is not NULL.
            let is_constant = crate::build::constant_of(&e).is_some() && !is_null_constant(&e);
            if is_constant && !distinct {
                return one(plain(AggregateFunction::CountRows, None, bigint, filter));
            }
            let call = plain(function, Some(e), bigint, filter);
            return one(AggregateCall { distinct, ..call });
        }
        let e = self.aggregated(name, argument, takes, span)?;
        let ty = result_type(function, e.ty);
        // The least of distinct values is the least of all.
        let distinct = distinct
            && matches!(
                function,
                AggregateFunction::Sum | AggregateFunction::Avg | AggregateFunction::BitXor
            );
        let call = plain(function, Some(e), ty, filter);
        one(AggregateCall { distinct, ..call })
    }

    /// Two arguments as doubles. 42883.
    fn pair(&self, name: &str, arguments: Vec<Operand>, span: Span) -> Result<[Expr; 2]> {
        let given: Vec<Option<Kind>> = arguments.iter().map(|a| a.ty().map(Kind::of)).collect();
        let missing = no_function(name, &arguments).at_span(span);
        let Resolution::Found(_) = resolve(&[&[Kind::Double, Kind::Double]], &given, CallKind::Function)
        else {
            return Err(missing);
        };
        let double = |x| self.cast(x, LogicalType::Double, CastContext::Implicit, Span::NONE);
        let doubles: Vec<Expr> = arguments.into_iter().map(double).collect::<Result<_>>()?;
        doubles.try_into().map_err(|_| missing)
    }

    /// The argument as one of the kinds that an aggregate takes. 42883, 42725; 0A000 for the order of intervals.
    fn aggregated(&self, name: &str, argument: Operand, takes: Takes, span: Span) -> Result<Expr> {
        let given = argument.ty().map(Kind::of);
        if argument.ty().is_some_and(LogicalType::is_span) {
            return Err(Error::unsupported(format!("{name}(interval)")).at_span(span));
        }
        if matches!(takes, Takes::Ordered | Takes::Values) && given == Some(Kind::Varchar) {
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

pub(crate) fn result_type(function: AggregateFunction, argument: LogicalType) -> LogicalType {
    match (function, argument) {
        (AggregateFunction::Sum, LogicalType::SmallInt | LogicalType::Integer) => LogicalType::BigInt,
        (AggregateFunction::Sum, ty) if ty.scale().is_some() => decimal(WIDEST, digits(ty).1),
        (AggregateFunction::Avg, ty) if ty.scale().is_some() => average_type(ty),
        (_, ty) => ty,
    }
}
