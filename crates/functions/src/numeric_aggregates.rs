//! Sums and averages of `numeric` without precision: of the whole parts and of two halves of the fractions, which
//! decimals hold, and the largest number of digits after the point. So sums are exact whatever the digits of the values
//! are.

use crate::arithmetic;
use crate::build::function;
use crate::convert::decimal;
use crate::fixed_numeric::Fixed;
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use frazil_plan::aggregates::GroupState;
use frazil_plan::{AggregateCall, AggregateKey, Expr, ScalarFunction};
use frazil_types::decimal::POWERS_OF_TEN;
use frazil_types::numeric::{self, Numeric};
use frazil_types::value_ops::ArithmeticOp;
use frazil_types::{LogicalType, Result};

/// Digits of half a fraction.
const HALF: u8 = 19;
/// 10^[`HALF`].
const HALF_UNIT: i128 = POWERS_OF_TEN[HALF as usize];

/// Calls that make a sum of numerics of any digits.
const PARTS: usize = 4;
/// Calls that make a sum of decimals of a few scales: it has a count, too, if it is an average.
const FIXED_PARTS: usize = 2;

/// The calls that a sum or average of numerics is made of by [`of_parts`]; `None` for other aggregates. `keys`: the
/// value as the key of DISTINCT, if the aggregate has it.
pub(crate) fn parts_of(
    state: GroupState,
    x: &Expr,
    keys: Option<Vec<AggregateKey>>,
    filter: Option<Expr>,
) -> Option<Vec<AggregateCall>> {
    if !matches!(state, GroupState::Sum | GroupState::Average) {
        return None;
    }
    if let Some(fixed) = Fixed::of(x).filter(|_| keys.is_none()) {
        return Some(fixed_parts(fixed, state, filter));
    }
    let call = |call: AggregateCall| AggregateCall {
        distinct: keys.is_some(),
        order: keys.clone().unwrap_or_default(),
        filter: filter.clone(),
        ..call
    };
    let part =
        |name: &'static str, run: RowFn, ty: LogicalType| rows(name, OnNull::Null, run, vec![x.clone()], ty);
    let sum = |part: Expr| {
        let ty = part.ty.sum().unwrap_or(part.ty);
        call(AggregateCall::sum(part, ty))
    };
    let half = decimal(HALF, 0);
    let scale = part(
        "scale",
        |row, out| out.int(row.numeric(0)?.scale().into()),
        LogicalType::Integer,
    );
    let mut calls = vec![
        sum(part(
            "whole part",
            |row, out| out.int(parts(row)?.0),
            LogicalType::widest_exact(0),
        )),
        sum(part(
            "fraction",
            |row, out| out.int(parts(row)?.1 / HALF_UNIT),
            half,
        )),
        sum(part(
            "rest of a fraction",
            |row, out| out.int(parts(row)?.1 % HALF_UNIT),
            half,
        )),
        AggregateCall {
            filter: filter.clone(),
            ..AggregateCall::max(scale)
        },
    ];
    if state == GroupState::Average {
        calls.push(call(AggregateCall::count(Some(x.clone()))));
    }
    Some(calls)
}

/// The calls for numerics that are decimals of a few scales: the sum of the decimals, and the most digits after the
/// point.
fn fixed_parts(fixed: Fixed, state: GroupState, filter: Option<Expr>) -> Vec<AggregateCall> {
    let Fixed { value, scale } = fixed;
    let call = |call: AggregateCall| AggregateCall {
        filter: filter.clone(),
        ..call
    };
    let ty = value.ty.sum().unwrap_or(value.ty);
    let most = AggregateCall::max(scale);
    let mut calls = vec![call(AggregateCall::sum(value.clone(), ty)), call(most)];
    if state == GroupState::Average {
        calls.push(call(AggregateCall::count(Some(value))));
    }
    calls
}

/// The sum or average of its parts.
pub(crate) fn of_parts(mut made: Vec<Expr>) -> Expr {
    if made.len() < PARTS {
        let count = (made.len() > FIXED_PARTS).then(|| made.pop()).flatten();
        let sum = function(ScalarFunction::WithScale, made, LogicalType::Numeric);
        return match count {
            Some(count) => arithmetic::numeric(ArithmeticOp::Div, sum, count),
            None => sum,
        };
    }
    rows("numeric", OnNull::Null, sum_of_parts, made, LogicalType::Numeric)
}

/// The whole part of a row's number, and its fraction times 10^38, with its sign.
fn parts(row: &Row<'_>) -> Result<(i128, i128)> {
    let number = row.numeric(0)?;
    let unit = POWERS_OF_TEN[usize::from(number.scale())];
    let rest = number.coefficient() % unit;
    let places = 2 * HALF - number.scale();
    Ok((
        number.coefficient() / unit,
        rest * POWERS_OF_TEN[usize::from(places)],
    ))
}

/// A sum of its parts, over a count if there is one. Error 22003.
fn sum_of_parts(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let rest = row.wide(2);
    let fraction = row.wide(1) + rest.div_euclid(HALF_UNIT);
    let whole = row.wide(0).checked_add(fraction.div_euclid(HALF_UNIT));
    let whole = whole.ok_or_else(numeric::overflow)?;
    let fraction = fraction.rem_euclid(HALF_UNIT) * HALF_UNIT + rest.rem_euclid(HALF_UNIT);
    let sum = Numeric::new(whole, 0)?.plus(Numeric::new(fraction, 2 * HALF)?)?;
    let sum = sum.rounded(row.int(3) as i32);
    match row.arguments() {
        4 => out.numeric(sum),
        _ => out.numeric(sum.divided(Numeric::new(row.wide(4), 0)?)?),
    }
}
