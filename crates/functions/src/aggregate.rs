//! Aggregate functions.

use crate::array_agg::array_agg;
use crate::build::{case, is_null, is_null_constant, null};
use crate::convert::{as_double, convert, type_of_kind};
use crate::interval_aggregates::of_intervals;
use crate::json_agg::json_agg;
use crate::numeric_aggregates;
use crate::ordered_set::{self, OfSet, key_of, keys_of};
use crate::resolve::{CallKind, Resolution, no_function, resolve};
use crate::scalar_functions::{JSON, JSONB};
use crate::statistics::{self, OfPairs, Spread};
use crate::type_rules::{Category, Kind, name_of};
use crate::{CastContext, Operand, Typing};
use frazil_plan::aggregates::{End, GroupState};
use frazil_plan::same::same;
use frazil_plan::{AggregateCall, AggregateFunction, AggregateKey, COUNT, Expr};
use frazil_types::value_ops::CastLength;
use frazil_types::{Error, LogicalType, Result, Span, SqlState, Value};

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
            Takes::Integers => kind.is_integer(),
            Takes::Doubles => Category::Numeric.preferred() == Some(*kind),
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
    /// Of two texts, in order.
    Texts,
    /// An array of values, in order.
    Array,
    /// A json or jsonb that is an array of values, in order.
    Elements(LogicalType),
    /// A json or jsonb that is an object of keys and values, in order.
    Members(LogicalType),
    /// The first or last value in an order, whatever it is.
    Ranked(AggregateFunction),
    /// A value of the row with the least or greatest of another.
    Picked(AggregateFunction),
    /// A value of the sorted set of its own argument, DuckDB's way to write it: with the part that lies before it, or
    /// half.
    OfValues(OfSet, Part),
    /// A value of a set that `WITHIN GROUP` sorts.
    OfSet(OfSet),
}

/// Which part of a sorted set lies before a value of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A half.
    Half,
    /// The second argument.
    Given,
}

impl Made {
    /// How many arguments it takes.
    fn arguments(self) -> usize {
        match self {
            Made::Plain(_)
            | Made::Spread(_)
            | Made::Array
            | Made::Elements(_)
            | Made::Ranked(_)
            | Made::OfValues(_, Part::Half) => 1,
            Made::OfPairs(_)
            | Made::Texts
            | Made::Members(_)
            | Made::Picked(_)
            | Made::OfValues(_, Part::Given) => 2,
            Made::OfSet(what) => what.direct(),
        }
    }

    /// How it is called.
    pub fn signatures(self, name: &str, takes: Takes) -> Vec<String> {
        match self {
            Made::Plain(AggregateFunction::Count) => {
                vec!["count(*) → bigint".to_string(), "count(any) → bigint".to_string()]
            }
            Made::Plain(AggregateFunction::ApproxCountDistinct) => vec![format!("{name}(any) → bigint")],
            Made::Plain(_) | Made::Spread(_) | Made::OfPairs(_) => (takes.kinds().iter())
                .map(|k| format!("{name}({})", vec![k.name(); self.arguments()].join(", ")))
                .collect(),
            Made::Texts => vec![format!("{name}(text, text)"), format!("{name}(bytea, bytea)")],
            Made::Array => vec![format!("{name}(any) → anyarray")],
            Made::Elements(ty) => vec![format!("{name}(any) → {ty}")],
            Made::Members(ty) => vec![format!("{name}(any, any) → {ty}")],
            Made::Ranked(_) => vec![format!("{name}(any) → any")],
            Made::Picked(_) => vec![format!("{name}(any, ordered) → any")],
            Made::OfValues(OfSet::Continuous, part) => ["double precision", "interval"]
                .map(|kind| format!("{name}({kind}{})", part.parameter()))
                .to_vec(),
            Made::OfValues(_, part) => vec![format!("{name}(any{}) → any", part.parameter())],
            Made::OfSet(OfSet::Mode) => vec![
                format!("{name}() within group (order by any) → any"),
                format!("{name}(any) → any"),
            ],
            Made::OfSet(OfSet::Continuous) => ["double precision", "interval"]
                .map(|kind| format!("{name}(double precision) within group (order by {kind})"))
                .to_vec(),
            Made::OfSet(OfSet::Discrete) => {
                vec![format!(
                    "{name}(double precision) within group (order by any) → any"
                )]
            }
        }
    }
}

impl Part {
    fn parameter(self) -> &'static str {
        match self {
            Part::Half => "",
            Part::Given => ", double precision",
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
    ("approx_count_distinct", Made::Plain(AggregateFunction::ApproxCountDistinct), Takes::Anything, "the approximate number of distinct values that are not NULL; exact up to 32"),
    ("arg_max", Made::Picked(AggregateFunction::ArgMax), Takes::Anything, "the first argument of the row with the greatest second argument; rows with a NULL are skipped"),
    ("arg_min", Made::Picked(AggregateFunction::ArgMin), Takes::Anything, "the first argument of the row with the least second argument; rows with a NULL are skipped"),
    ("array_agg", Made::Array, Takes::Anything, "the values as an array, including NULLs, in the order; arrays become an array with one more dimension"),
    ("avg", Made::Plain(AggregateFunction::Avg), Takes::Numbers, "the average of all values that are not NULL"),
    ("bit_and", Made::Plain(AggregateFunction::BitAnd), Takes::Integers, "the bits that all values have"),
    ("bit_or", Made::Plain(AggregateFunction::BitOr), Takes::Integers, "the bits that some value has"),
    ("bit_xor", Made::Plain(AggregateFunction::BitXor), Takes::Integers, "the bits that an odd number of values have"),
    ("bool_and", Made::Plain(AggregateFunction::Min), Takes::Truth, "true if all values are true"),
    ("bool_or", Made::Plain(AggregateFunction::Max), Takes::Truth, "true if some value is true"),
    ("corr", Made::OfPairs(OfPairs::Correlation), Takes::Doubles, "the coefficient of correlation"),
    ("count", Made::Plain(AggregateFunction::Count), Takes::Anything, "the number of rows, or of values that are not NULL"),
    ("covar_pop", Made::OfPairs(OfPairs::Covariance(false)), Takes::Doubles, "the covariance of a population"),
    ("covar_samp", Made::OfPairs(OfPairs::Covariance(true)), Takes::Doubles, "the covariance of a sample"),
    ("every", Made::Plain(AggregateFunction::Min), Takes::Truth, "true if all values are true"),
    ("first", Made::Ranked(AggregateFunction::First), Takes::Anything, "the value of the first row in the order, NULL or not"),
    ("json_agg", Made::Elements(JSON), Takes::Anything, "the values as a JSON array, including NULLs, in the order"),
    ("json_object_agg", Made::Members(JSON), Takes::Anything, "the keys and values as an object, in the order"),
    ("jsonb_agg", Made::Elements(JSONB), Takes::Anything, "the values as a JSON array, including NULLs, in the order"),
    ("jsonb_object_agg", Made::Members(JSONB), Takes::Anything, "the keys and values as an object; the last of equal keys wins"),
    ("last", Made::Ranked(AggregateFunction::Last), Takes::Anything, "the value of the last row in the order, NULL or not"),
    ("max", Made::Plain(AggregateFunction::Max), Takes::Ordered, "the largest value"),
    ("max_by", Made::Picked(AggregateFunction::ArgMax), Takes::Anything, "like `arg_max`"),
    ("median", Made::OfValues(OfSet::Continuous, Part::Half), Takes::Anything, "the value in the middle, or between two: `percentile_cont(0.5)`"),
    ("min", Made::Plain(AggregateFunction::Min), Takes::Ordered, "the smallest value"),
    ("min_by", Made::Picked(AggregateFunction::ArgMin), Takes::Anything, "like `arg_min`"),
    ("mode", Made::OfSet(OfSet::Mode), Takes::Anything, "the most frequent value; the first one in the order if there are several"),
    ("percentile_cont", Made::OfSet(OfSet::Continuous), Takes::Anything, "the value at the given fraction of all values, interpolated between two"),
    ("percentile_disc", Made::OfSet(OfSet::Discrete), Takes::Anything, "the first value that is at or above the given fraction of all values"),
    ("quantile", Made::OfValues(OfSet::Discrete, Part::Given), Takes::Anything, "like `quantile_disc`"),
    ("quantile_cont", Made::OfValues(OfSet::Continuous, Part::Given), Takes::Anything, "`percentile_cont` of the second argument over the first"),
    ("quantile_disc", Made::OfValues(OfSet::Discrete, Part::Given), Takes::Anything, "`percentile_disc` of the second argument over the first"),
    ("regr_avgx", Made::OfPairs(OfPairs::AverageX), Takes::Doubles, "the average of the second values of pairs"),
    ("regr_avgy", Made::OfPairs(OfPairs::AverageY), Takes::Doubles, "the average of the first values of pairs"),
    ("regr_count", Made::OfPairs(OfPairs::Count), Takes::Doubles, "the number of pairs without NULL"),
    ("regr_intercept", Made::OfPairs(OfPairs::Intercept), Takes::Doubles, "the intercept of the regression line"),
    ("regr_r2", Made::OfPairs(OfPairs::RSquared), Takes::Doubles, "the square of the coefficient of correlation"),
    ("regr_slope", Made::OfPairs(OfPairs::Slope), Takes::Doubles, "the slope of the regression line"),
    ("regr_sxx", Made::OfPairs(OfPairs::SumXX), Takes::Doubles, "the sum of squares of the second values' deviations"),
    ("regr_sxy", Made::OfPairs(OfPairs::SumXY), Takes::Doubles, "the sum of products of deviations"),
    ("regr_syy", Made::OfPairs(OfPairs::SumYY), Takes::Doubles, "the sum of squares of the first values' deviations"),
    ("stddev", spread_of(true, true), Takes::Numbers, "the standard deviation of a sample"),
    ("stddev_pop", spread_of(false, true), Takes::Numbers, "the standard deviation of a population"),
    ("stddev_samp", spread_of(true, true), Takes::Numbers, "the standard deviation of a sample"),
    ("string_agg", Made::Texts, Takes::Anything, "the texts that are not NULL, in the order, with the second argument between them"),
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
    /// What is written in it and has to be the same for all rows of a group.
    pub grouped: Vec<Expr>,
}

impl Aggregated {
    /// One call, whose column is the value.
    pub(crate) fn one(call: AggregateCall) -> Aggregated {
        Aggregated {
            calls: vec![call],
            value: None,
            grouped: Vec::new(),
        }
    }
}

/// What a call of an aggregate is written with.
pub struct AggregateArguments {
    /// Its arguments; direct ones with `WITHIN GROUP`.
    pub values: Vec<Operand>,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY.
    pub order: Vec<OrderedBy>,
    /// Whether ORDER BY stands in `WITHIN GROUP`.
    pub is_within: bool,
    /// The condition of FILTER.
    pub filter: Option<Expr>,
}

impl AggregateArguments {
    /// Arguments and nothing else.
    pub fn of(values: Vec<Operand>) -> AggregateArguments {
        AggregateArguments {
            values,
            distinct: false,
            order: Vec::new(),
            is_within: false,
            filter: None,
        }
    }
}

/// A key of ORDER BY in a call.
#[derive(Clone)]
pub struct OrderedBy {
    /// What rows are ordered by.
    pub value: Operand,
    /// DESC.
    pub descending: bool,
    /// NULLs before all else.
    pub nulls_first: bool,
}

/// The value of a call over the columns of [`Aggregated::calls`], of which there is at least one.
pub fn value_of(mut columns: Vec<Expr>, value: Option<MadeOf>) -> Result<Expr> {
    match (value, columns.len()) {
        (Some(value), _) => Ok(value(columns)),
        (None, 1) => Ok(columns.remove(0)),
        _ => Err(Error::internal("an aggregate of several columns without a value")),
    }
}

/// A call that puts pieces of bytes or text together, in an order, with `between` between them. No piece is NULL.
pub(crate) fn concatenated(piece: Expr, between: Expr, filter: Option<Expr>) -> AggregateCall {
    let ty = piece.ty;
    AggregateCall {
        second: Some(between),
        ..plain(AggregateFunction::StringAgg, Some(piece), ty, filter)
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
        filter,
        ..AggregateCall::new(function, argument, ty)
    }
}

impl Typing {
    /// A call of an aggregate; `count(*)` is the name of that without arguments. The filter is a condition. 42883,
    /// 42725; 42809 for `count()`, and for WITHIN GROUP where it is missing or out of place; 42P10 for keys that
    /// DISTINCT does not know.
    pub fn aggregate(&self, name: &str, call: AggregateArguments, span: Span) -> Result<Aggregated> {
        if name == "count(*)" {
            if call.distinct {
                let message = "DISTINCT specified, but count(*) has no argument";
                return Err(Error::new(SqlState::SYNTAX_ERROR, message).at_span(span));
            }
            return Ok(Aggregated::one(counted_rows(call.filter)));
        }
        if let Some(what) = ordered_set::hypothetical(name).filter(|_| call.is_within) {
            return self.supposed(what, name, call, span);
        }
        let known = AGGREGATES.iter().find(|a| a.0 == name);
        let &(_, made, takes, _) = known.ok_or_else(|| no_function(name, &call.values).at_span(span))?;
        if let Made::OfSet(what) = made {
            if what == OfSet::Mode && !call.is_within && call.values.len() == 1 {
                let mut values = call.values;
                let value = values.remove(0);
                return self.value_of_set(what, name, (None, value), call.distinct, call.filter, span);
            }
            return self.of_set(what, name, call, span);
        }
        if name == "count" && call.values.is_empty() {
            let message = "count(*) must be used to call a parameterless aggregate function";
            return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message).at_span(span));
        }
        if call.is_within {
            return Err(self.not_of_sets(name, call, span).at_span(span));
        }
        if call.values.len() != made.arguments() {
            return Err(no_function(name, &call.values).at_span(span));
        }
        let order = self.order_of(&call, span)?;
        self.aggregate_of_rows(name, made, takes, call, order, span)
    }

    /// A call whose rows may have an order, which only few aggregates ask for.
    fn aggregate_of_rows(
        &self,
        name: &str,
        made: Made,
        takes: Takes,
        call: AggregateArguments,
        order: Vec<AggregateKey>,
        span: Span,
    ) -> Result<Aggregated> {
        let AggregateArguments {
            mut values,
            distinct,
            filter,
            ..
        } = call;
        match made {
            Made::Plain(function) => {
                self.plain_aggregate(name, function, takes, (values.remove(0), distinct, filter), span)
            }
            Made::Spread(what) => {
                let x = self.aggregated(name, values.remove(0), takes, span)?;
                Ok(statistics::spread(what, x, distinct, filter))
            }
            Made::OfPairs(what) => {
                let pair = takes.kinds().repeat(2);
                let [y, x] = self.of_kinds(name, values, &[&pair], span)?;
                Ok(statistics::of_pairs(what, y, x, distinct, filter))
            }
            Made::Texts => {
                let call = AggregateArguments {
                    distinct,
                    filter,
                    ..AggregateArguments::of(values)
                };
                self.string_agg(name, call, order, span)
            }
            Made::Array => {
                let value = self.settle(values.remove(0))?;
                Ok(array_agg(value, distinct, order, filter))
            }
            Made::Elements(ty) | Made::Members(ty) => {
                let values = values.into_iter().map(|x| self.settle(x));
                json_agg(values.collect::<Result<_>>()?, (distinct, order, filter), ty)
            }
            Made::Ranked(function) => {
                let value = self.settle(values.remove(0))?;
                Ok(ranked(function, value, order, filter))
            }
            Made::Picked(function) => {
                let by = values.pop().map(|by| self.settle(by)).transpose()?;
                let value = self.settle(values.remove(0))?;
                let by = by.ok_or_else(|| Error::internal("an aggregate without its key"))?;
                Ok(Aggregated::one(picked(function, value, by, filter)))
            }
            Made::OfValues(what, part) => {
                let fraction = match part {
                    Part::Half => Some(Expr::literal(Value::Double(0.5)).into()),
                    Part::Given => values.pop(),
                };
                let grouped = match &fraction {
                    Some(Operand::Typed(e)) => vec![e.clone()],
                    _ => vec![],
                };
                let set = (fraction, values.remove(0));
                let made = self.value_of_set(what, name, set, distinct, filter, span)?;
                Ok(Aggregated { grouped, ..made })
            }
            Made::OfSet(_) => Err(Error::internal("a sorted set without its order")),
        }
    }

    fn plain_aggregate(
        &self,
        name: &str,
        function: AggregateFunction,
        takes: Takes,
        (argument, distinct, filter): (Operand, bool, Option<Expr>),
        span: Span,
    ) -> Result<Aggregated> {
        if function == AggregateFunction::Count {
            let e = self.settle(argument)?;
            // Any value counts as one row, if it is a constant that is not NULL.
            let is_constant = crate::build::constant_of(&e).is_some() && !is_null_constant(&e);
            if is_constant && !distinct {
                return Ok(Aggregated::one(counted_rows(filter)));
            }
            let call = plain(function, Some(e), COUNT, filter);
            return Ok(Aggregated::one(AggregateCall { distinct, ..call }));
        }
        if function == AggregateFunction::ApproxCountDistinct {
            let e = Typing::order_key(self.settle(argument)?);
            return Ok(Aggregated::one(plain(function, Some(e), COUNT, filter)));
        }
        if let (Operand::Typed(e), Some(picks)) = (&argument, extreme_of(function))
            && e.ty.has_order_key()
            && e.ty.info().has_extremes
        {
            let value = e.clone();
            return Ok(Aggregated::one(picked(picks, value.clone(), value, filter)));
        }
        if let Operand::Typed(e) = &argument
            && e.ty.is_span()
        {
            let made = of_intervals(function, e.clone(), distinct, filter);
            return made.ok_or_else(|| no_function(name, &[argument]).at_span(span));
        }
        if let Operand::Typed(e) = &argument
            && e.ty.is_unscaled()
            && let keys = distinct.then(|| keys_of([e.clone()]))
            && let Some(calls) = numeric_aggregates::parts_of(function.info().state, e, keys, filter.clone())
        {
            return Ok(Aggregated {
                calls,
                value: Some(Box::new(numeric_aggregates::of_parts)),
                grouped: Vec::new(),
            });
        }
        let e = self.aggregated(name, argument, takes, span)?;
        let (e, shown) = as_summed(function, e);
        let ty = result_type(function, e.ty);
        let call = plain(function, Some(e), ty, filter);
        let distinct = distinct && !function.ignores_repetition();
        let narrow = |ty| move |columns| narrowed(columns, ty);
        Ok(Aggregated {
            value: shown.map(|ty| Box::new(narrow(ty)) as MadeOf),
            ..Aggregated::one(AggregateCall { distinct, ..call })
        })
    }

    /// How many different rows of some values there are.
    pub fn count_of_rows(
        &self,
        values: Vec<Operand>,
        distinct: bool,
        filter: Option<Expr>,
    ) -> Result<Aggregated> {
        let values: Vec<Expr> = (values.into_iter())
            .map(|x| self.settle(x))
            .collect::<Result<_>>()?;
        let call = counted_rows(filter);
        Ok(Aggregated::one(match distinct {
            true => AggregateCall {
                distinct,
                order: keys_of(values),
                ..call
            },
            false => call,
        }))
    }

    /// The keys of a call. 42P10 for one that DISTINCT does not know.
    fn order_of(&self, call: &AggregateArguments, span: Span) -> Result<Vec<AggregateKey>> {
        let mut keys = Vec::with_capacity(call.order.len());
        for key in &call.order {
            let mut e = self.settle(key.value.clone())?;
            let argument = call.values.iter().find_map(|value| match value {
                Operand::Typed(value) => same(value, &e).then(|| value.clone().at(e.span)),
                Operand::Unknown(_) => None,
            });
            if let Some(argument) = argument {
                e = argument;
            } else if call.distinct {
                let message =
                    "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
                let at = if e.span == Span::NONE { span } else { e.span };
                return Err(Error::new(SqlState::INVALID_COLUMN_REFERENCE, message).at_span(at));
            }
            keys.push(key_of(e, key.descending, key.nulls_first));
        }
        Ok(keys)
    }

    /// The error for WITHIN GROUP behind an aggregate that sorts no set: 42809, or 42883 where no aggregate takes all
    /// that.
    fn not_of_sets(&self, name: &str, call: AggregateArguments, span: Span) -> Error {
        let keys = call.order.into_iter().map(|key| key.value);
        let plain = AggregateArguments {
            values: call.values.into_iter().chain(keys).collect(),
            order: Vec::new(),
            is_within: false,
            ..call
        };
        if let Err(e) = self.aggregate(name, plain, span) {
            return e;
        }
        let message = format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP");
        Error::new(SqlState::WRONG_OBJECT_TYPE, message)
    }

    /// The argument as one of the kinds that an aggregate takes. 42883, 42725.
    fn aggregated(&self, name: &str, argument: Operand, takes: Takes, span: Span) -> Result<Expr> {
        let given = argument.ty().map(Kind::of);
        if matches!(takes, Takes::Ordered | Takes::Values) && given.is_some_and(Kind::borrows_operators) {
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

    /// Whether a name with WITHIN GROUP is an aggregate's.
    pub fn is_aggregate_within_group(name: &str) -> bool {
        Typing::is_aggregate(name) || ordered_set::hypothetical(name).is_some()
    }

    /// Whether a name is that of an aggregate that sorts its rows by WITHIN GROUP.
    pub fn is_ordered_set(name: &str) -> bool {
        let found = AGGREGATES.iter().find(|a| a.0 == name);
        found.is_some_and(|a| matches!(a.1, Made::OfSet(_)))
    }
}

/// Which value of a row min and max are, of values that are not compared by themselves.
fn extreme_of(function: AggregateFunction) -> Option<AggregateFunction> {
    let GroupState::End(end) = function.info().state else {
        return None;
    };
    Some(picked_at(end))
}

/// The aggregate that gives a value of the row at an end of an order.
pub(crate) fn picked_at(end: End) -> AggregateFunction {
    match end {
        End::Least => AggregateFunction::ArgMin,
        End::Greatest => AggregateFunction::ArgMax,
    }
}

/// count(*).
pub(crate) fn counted_rows(filter: Option<Expr>) -> AggregateCall {
    AggregateCall {
        filter,
        ..AggregateCall::count(None)
    }
}

/// The value of a row with the least or greatest of `by`; rows with a NULL do not count.
pub(crate) fn picked(
    function: AggregateFunction,
    value: Expr,
    by: Expr,
    filter: Option<Expr>,
) -> AggregateCall {
    let by = Typing::order_key(by);
    let by = case(vec![(is_null(value.clone()), null(by.ty))], by);
    let ty = value.ty;
    AggregateCall {
        second: Some(by),
        ..plain(function, Some(value), ty, filter)
    }
}

/// What is summed for a sum or average: of reals the doubles that they are. And the type that the sum is shown in, if
/// it is not its own.
fn as_summed(function: AggregateFunction, e: Expr) -> (Expr, Option<LogicalType>) {
    let ty = e.ty;
    let state = function.info().state;
    if !ty.is_float() || !matches!(state, GroupState::Sum | GroupState::Average) {
        return (e, None);
    }
    let e = as_double(e);
    let shown = (state == GroupState::Sum && e.ty != ty).then_some(ty);
    (e, shown)
}

/// The only column as a value of a narrower type.
fn narrowed(mut columns: Vec<Expr>, ty: LogicalType) -> Expr {
    convert(columns.remove(0), ty, CastLength::Refuse)
}

/// The type of a sum of values of type `argument`.
pub(crate) fn sum_type(argument: LogicalType) -> LogicalType {
    argument.sum().unwrap_or(argument)
}

/// The type of an aggregate of values of type `argument`.
fn result_type(function: AggregateFunction, argument: LogicalType) -> LogicalType {
    match function.info().state {
        GroupState::Count | GroupState::Sketch => COUNT,
        GroupState::Sum => sum_type(argument),
        GroupState::Average if argument.kind().is_exact() => LogicalType::Numeric,
        GroupState::Average
        | GroupState::End(_)
        | GroupState::Bits(_)
        | GroupState::Picked(_)
        | GroupState::Deviations
        | GroupState::Rows(_)
        | GroupState::Squares => argument,
    }
}

/// The call of an aggregate that takes a value by the order of its rows.
fn ranked(
    function: AggregateFunction,
    value: Expr,
    order: Vec<AggregateKey>,
    filter: Option<Expr>,
) -> Aggregated {
    let ty = value.ty;
    Aggregated::one(AggregateCall {
        order,
        ..plain(function, Some(value), ty, filter)
    })
}
