//! Aggregates of ordered rows: texts put together, parts of a sorted set (`percentile_cont(0.5) WITHIN GROUP (ORDER BY
//! x)`), and the rank that a row would have among others.
//!
//! A supposed row's rank is the number of rows before it, which plain aggregates count: nothing is sorted for it.

use crate::aggregate::{AggregateArguments, Aggregated, OrderedBy, concatenated, counted_rows, plain};
use crate::arithmetic::numbers;
use crate::arrays::shaped;
use crate::build::{and, boolean, case, constant_of, int, is_null, is_null_constant, not, null, or};
use crate::convert::{as_double, type_of_kind};
use crate::resolve::{CallKind, Resolution, no_function, resolve};
use crate::scalar_functions::{BINARIES, PARTS, TEXTS};
use crate::type_rules::Kind;
use crate::{CastContext, Operand, Typing};
use frazil_plan::{AggregateCall, AggregateFunction, AggregateKey, Expr, ExprKind};
use frazil_types::array::{self, ArrayRef, Dimension};
use frazil_types::value_ops::ArithmeticOp;
use frazil_types::{CompareOp, Error, LogicalType, Result, Span, SqlState, Value};

/// A value of a sorted set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfSet {
    /// Where a part lies, perhaps between two values.
    Continuous,
    /// A value at which the part has come.
    Discrete,
    /// The most frequent one.
    Mode,
}

impl OfSet {
    /// Direct arguments.
    pub fn direct(self) -> usize {
        match self {
            OfSet::Continuous | OfSet::Discrete => 1,
            OfSet::Mode => 0,
        }
    }

    fn function(self) -> AggregateFunction {
        match self {
            OfSet::Continuous => AggregateFunction::PercentileCont,
            OfSet::Discrete => AggregateFunction::PercentileDisc,
            OfSet::Mode => AggregateFunction::Mode,
        }
    }
}

/// What is asked of a supposed row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hypothetical {
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
}

/// Aggregates that only `WITHIN GROUP` tells from window functions: name, what, signature, description.
pub(crate) const HYPOTHETICAL: &[(&str, Hypothetical, &str, &str)] = &[
    (
        "cume_dist",
        Hypothetical::CumeDist,
        "cume_dist(any, …) within group (order by any, …) → double precision",
        "the fraction of the rows before a hypothetical row or equal to it, including itself",
    ),
    (
        "dense_rank",
        Hypothetical::DenseRank,
        "dense_rank(any, …) within group (order by any, …) → bigint",
        "the rank of a hypothetical row, without gaps",
    ),
    (
        "percent_rank",
        Hypothetical::PercentRank,
        "percent_rank(any, …) within group (order by any, …) → double precision",
        "the fraction of the rows before a hypothetical row",
    ),
    (
        "rank",
        Hypothetical::Rank,
        "rank(any, …) within group (order by any, …) → bigint",
        "the rank of a hypothetical row",
    ),
];

/// Most arguments and keys of an aggregate of a supposed row, as in PostgreSQL. Its condition has a part for each pair
/// of keys.
const MOST_ARGUMENTS: usize = 100;

/// Which aggregate of a supposed row a name means.
pub(crate) fn hypothetical(name: &str) -> Option<Hypothetical> {
    HYPOTHETICAL.iter().find(|h| h.0 == name).map(|h| h.1)
}

/// A key of an order; intervals are ordered by their lengths.
pub(crate) fn key_of(e: Expr, descending: bool, nulls_first: bool) -> AggregateKey {
    AggregateKey {
        e: Typing::order_key(e),
        descending,
        nulls_first,
    }
}

/// Keys in ascending order, NULLs last.
pub(crate) fn keys_of(list: impl IntoIterator<Item = Expr>) -> Vec<AggregateKey> {
    list.into_iter().map(|e| key_of(e, false, false)).collect()
}

impl Typing {
    /// string_agg(text, text), string_agg(bytea, bytea). 42883.
    pub(crate) fn string_agg(
        &self,
        name: &str,
        call: AggregateArguments,
        order: Vec<AggregateKey>,
        span: Span,
    ) -> Result<Aggregated> {
        let [value, delimiter] = self.of_kinds(name, call.values, &[TEXTS, BINARIES], span)?;
        let call = AggregateCall {
            distinct: call.distinct,
            order,
            ..concatenated(value, delimiter, call.filter)
        };
        Ok(Aggregated::one(call))
    }

    /// Arguments as the kinds of one of several signatures. 42883.
    pub(crate) fn of_kinds<const N: usize>(
        &self,
        name: &str,
        values: Vec<Operand>,
        signatures: &[&[Kind]],
        span: Span,
    ) -> Result<[Expr; N]> {
        let given: Vec<Option<Kind>> = values.iter().map(|a| a.ty().map(Kind::of)).collect();
        let missing = no_function(name, &values).at_span(span);
        let Resolution::Found(at) = resolve(signatures, &given, CallKind::Function) else {
            return Err(missing);
        };
        let as_kind = |(x, kind): (Operand, &Kind)| {
            let ty = type_of_kind(*kind, x.ty());
            self.cast(x, ty, CastContext::Implicit, Span::NONE)
        };
        let typed: Vec<Expr> = (values.into_iter().zip(signatures[at]))
            .map(as_kind)
            .collect::<Result<_>>()?;
        typed.try_into().map_err(|_| missing)
    }

    /// A value of a sorted set by its direct arguments and its one key. Errors: 42883, 42809, 22003.
    pub(crate) fn of_set(
        &self,
        what: OfSet,
        name: &str,
        call: AggregateArguments,
        span: Span,
    ) -> Result<Aggregated> {
        let keys = call.order.iter().map(|key| key.value.clone());
        let mut all: Vec<Operand> = call.values.iter().cloned().chain(keys).collect();
        if all.len() != what.direct() + 1 || call.is_within && call.order.len() != 1 {
            return Err(no_function(name, &all).at_span(span));
        }
        if !call.is_within {
            let message = format!("WITHIN GROUP is required for ordered-set aggregate {name}");
            return Err(Error::new(SqlState::WRONG_OBJECT_TYPE, message).at_span(span));
        }
        let (descending, nulls_first) = (call.order[0].descending, call.order[0].nulls_first);
        let direct = all.drain(..what.direct()).next();
        let value = all.remove(0);
        if let Some(Operand::Typed(fractions)) = &direct
            && let Some(element) = fractions.ty.element()
        {
            return self.values_of_set(what, name, (fractions.clone(), element), call, span);
        }
        let made = self.value_of_set(
            what,
            name,
            (direct.clone(), value),
            call.distinct,
            call.filter,
            span,
        )?;
        let calls = made.calls.into_iter().map(|call| AggregateCall {
            order: (call.order.into_iter())
                .map(|key| AggregateKey {
                    descending,
                    nulls_first,
                    ..key
                })
                .collect(),
            ..call
        });
        let grouped = match direct {
            Some(Operand::Typed(e)) => vec![e],
            _ => vec![],
        };
        Ok(Aggregated {
            calls: calls.collect(),
            value: made.value,
            grouped,
        })
    }

    /// Values of a sorted set, one for each element of an array of fractions. Errors: 0A000 for an array that is no
    /// constant, 42883, 22003.
    fn values_of_set(
        &self,
        what: OfSet,
        name: &str,
        (fractions, element): (Expr, LogicalType),
        call: AggregateArguments,
        span: Span,
    ) -> Result<Aggregated> {
        let bytes = match constant_of(&fractions) {
            Some(Value::Bytes(bytes)) => bytes.clone(),
            Some(_) => array::encode_list(&[], element)?,
            None => return Err(Error::unsupported("fractions that are no constant").at_span(span)),
        };
        let array = ArrayRef::new(&bytes, element)?;
        let dimensions: Vec<Dimension> = array.dimensions().collect();
        let (mut calls, mut ty) = (Vec::new(), call.order[0].value.ty());
        for fraction in array.elements() {
            let fraction = fraction?;
            let one = AggregateArguments {
                values: vec![Expr::constant(fraction, element).into()],
                distinct: call.distinct,
                order: call.order.clone(),
                is_within: true,
                filter: call.filter.clone(),
            };
            let made = self.of_set(what, name, one, span)?;
            ty = made.calls.first().map(|call| call.ty);
            calls.extend(made.calls);
        }
        let ty = ty.unwrap_or(element);
        if calls.is_empty() {
            // A call whose value nobody asks for tells groups.
            calls.push(counted_rows(None));
        }
        let is_null_array = is_null_constant(&fractions);
        Ok(Aggregated {
            calls,
            value: Some(Box::new(move |made| match is_null_array {
                true => null(ty.array().unwrap_or(ty)),
                false => shaped(made, &dimensions, ty),
            })),
            grouped: Vec::new(),
        })
    }

    /// A value of the sorted set of another: `fraction` is what part of it lies before. Errors: 42883, 22003.
    pub(crate) fn value_of_set(
        &self,
        what: OfSet,
        name: &str,
        (fraction, value): (Option<Operand>, Operand),
        distinct: bool,
        filter: Option<Expr>,
        span: Span,
    ) -> Result<Aggregated> {
        let fraction_first = |value: Operand| fraction.clone().into_iter().chain([value]).collect::<Vec<_>>();
        let (fraction, value) = match what {
            OfSet::Continuous => {
                let [fraction, value] = self.of_kinds(name, fraction_first(value), &PARTS, span)?;
                (Some(fraction), value)
            }
            OfSet::Discrete => {
                let value = self.settle(value)?;
                let fraction = fraction.clone().into_iter().collect();
                let [fraction] = self.of_kinds(name, fraction, &[&PARTS[0][..1]], span)?;
                (Some(fraction), value)
            }
            OfSet::Mode => (None, self.settle(value)?),
        };
        if let Some(Value::Double(part)) = fraction.as_ref().and_then(constant_of)
            && !(0.0..=1.0).contains(part)
        {
            let message = format!("percentile value {part} is not between 0 and 1");
            return Err(Error::new(SqlState::NUMERIC_OUT_OF_RANGE, message).at_span(span));
        }
        let ty = value.ty;
        Ok(Aggregated::one(AggregateCall {
            second: fraction,
            distinct,
            order: keys_of([value.clone()]),
            ..plain(what.function(), Some(value), ty, filter)
        }))
    }

    /// What is asked of a supposed row among others. Errors: 42883, 42804, and 54023 for more arguments and keys than
    /// [`MOST_ARGUMENTS`].
    pub(crate) fn supposed(
        &self,
        what: Hypothetical,
        name: &str,
        call: AggregateArguments,
        span: Span,
    ) -> Result<Aggregated> {
        let (direct, order) = (call.values, call.order);
        if direct.len() + order.len() > MOST_ARGUMENTS {
            let message = format!("cannot pass more than {MOST_ARGUMENTS} arguments to a function");
            return Err(Error::new(SqlState::TOO_MANY_ARGUMENTS, message).at_span(span));
        }
        if direct.len() != order.len() {
            let all: Vec<Operand> = (direct.iter().cloned())
                .chain(order.iter().map(|key| key.value.clone()))
                .collect();
            let hint = format!(
                "To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments (here {}) must \
                 match the number of ordering columns (here {}).",
                direct.len(),
                order.len()
            );
            return Err(no_function(name, &all).with_hint(hint).at_span(span));
        }
        let (mut before, mut equal): (Vec<Expr>, Vec<Expr>) = (Vec::new(), Vec::new());
        let (mut grouped, mut keys) = (Vec::new(), Vec::new());
        for (direct, key) in direct.into_iter().zip(order) {
            let ty = self.common_type(&[&key.value, &direct], "WITHIN GROUP")?;
            let (value, supposed) = (self.part(key.value.clone(), ty)?, self.part(direct, ty)?);
            let mut all = equal.clone();
            all.push(self.comes_before(&value, &supposed, &key, span)?);
            before.push(and(all));
            equal.push(not(self.distinct(
                value.clone().into(),
                supposed.clone().into(),
                span,
            )?));
            keys.push(key_of(value, false, false));
            grouped.push(supposed);
        }
        let (before, equal) = (or(before), and(equal));
        let filter = call.filter;
        let counted = |condition: Option<Expr>| {
            let parts: Vec<Expr> = filter.iter().cloned().chain(condition).collect();
            let filter = (!parts.is_empty()).then(|| and(parts));
            counted_rows(filter)
        };
        let calls = match what {
            Hypothetical::Rank => vec![counted(Some(before))],
            Hypothetical::DenseRank => vec![AggregateCall {
                distinct: true,
                order: keys,
                ..counted(Some(before))
            }],
            Hypothetical::PercentRank => vec![counted(Some(before)), counted(None)],
            Hypothetical::CumeDist => vec![counted(Some(or(vec![before, equal]))), counted(None)],
        };
        Ok(Aggregated {
            calls,
            value: Some(Box::new(move |made| rank_of(what, made))),
            grouped,
        })
    }

    /// Whether a row's key comes before the supposed one.
    fn comes_before(&self, key: &Expr, supposed: &Expr, order: &OrderedBy, span: Span) -> Result<Expr> {
        let op = match order.descending {
            true => CompareOp::Gt,
            false => CompareOp::Lt,
        };
        let compared = self.compare(op, key.clone().into(), supposed.clone().into(), span)?;
        let before_null = match order.nulls_first {
            true => boolean(false),
            false => not(is_null(key.clone())),
        };
        let branches = vec![
            (is_null(supposed.clone()), before_null),
            (is_null(key.clone()), boolean(order.nulls_first)),
        ];
        Ok(case(branches, compared))
    }
}

/// A rank by the number of rows before the supposed one, and that of all.
fn rank_of(what: Hypothetical, made: Vec<Expr>) -> Expr {
    let one_more = |n: Expr| {
        let one = int(1, n.ty);
        numbers(ArithmeticOp::Add, n, one)
    };
    let quotient = |a, b| numbers(ArithmeticOp::Div, as_double(a), as_double(b));
    let mut made = made.into_iter();
    match (what, made.next(), made.next()) {
        (Hypothetical::PercentRank, Some(before), Some(all)) => {
            let none = Box::new(int(0, all.ty));
            let nothing = ExprKind::Compare(CompareOp::Eq, Box::new(all.clone()), none);
            let part = quotient(before, all);
            let zero = Expr::constant(Value::Double(0.0), part.ty);
            case(vec![(Expr::boolean(nothing, false), zero)], part)
        }
        (Hypothetical::CumeDist, Some(before), Some(all)) => quotient(one_more(before), one_more(all)),
        (_, Some(before), _) => one_more(before),
        (_, None, _) => boolean(false),
    }
}
