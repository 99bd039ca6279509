//! Aggregates of intervals, whose values are ordered by their length and summed field by field.

use crate::aggregate::{Aggregated, picked, picked_at, sum_type};
use crate::build::LENGTH;
use crate::ordered_set::keys_of;
use crate::scalar_functions::INTERVAL;
use crate::vector::{OnNull, Output, Row, RowFn, rows};
use frazil_plan::aggregates::GroupState;
use frazil_plan::{AggregateCall, AggregateFunction, COUNT, Expr};
use frazil_types::{Error, Interval, LogicalType, Result, SqlState, value_ops};

/// An aggregate of intervals: the least and greatest by their length, sums field by field; `None` if there is none.
pub(crate) fn of_intervals(
    function: AggregateFunction,
    x: Expr,
    distinct: bool,
    filter: Option<Expr>,
) -> Option<Aggregated> {
    let state = function.info().state;
    match state {
        GroupState::End(end) => {
            let call = picked(picked_at(end), x.clone(), x, filter);
            Some(Aggregated::one(call))
        }
        GroupState::Sum | GroupState::Average => {
            let order = || {
                if distinct {
                    keys_of([x.clone()])
                } else {
                    Vec::new()
                }
            };
            let call = |call: AggregateCall| AggregateCall {
                distinct,
                order: order(),
                filter: filter.clone(),
                ..call
            };
            let sum = |name: &'static str, run: RowFn, ty: LogicalType| {
                let part = rows(name, OnNull::Null, run, vec![x.clone()], ty);
                call(AggregateCall::sum(part, sum_type(ty)))
            };
            let mut calls = vec![
                sum(
                    "months",
                    |row, out| out.int(row.interval(0).months.into()),
                    LENGTH,
                ),
                sum("days", |row, out| out.int(row.interval(0).days.into()), LENGTH),
                sum(
                    "microseconds",
                    |row, out| out.int(row.interval(0).micros.into()),
                    COUNT,
                ),
            ];
            if state == GroupState::Average {
                calls.push(call(AggregateCall::count(Some(x.clone()))));
            }
            let value = move |made| rows("interval", OnNull::Null, of_fields, made, INTERVAL);
            Some(Aggregated {
                calls,
                value: Some(Box::new(value)),
                grouped: Vec::new(),
            })
        }
        GroupState::Count
        | GroupState::Bits(_)
        | GroupState::Picked(_)
        | GroupState::Deviations
        | GroupState::Sketch
        | GroupState::Rows(_)
        | GroupState::Squares => None,
    }
}

/// An interval of months, days and microseconds, over a count if there is one. Error 22008.
fn of_fields(row: &Row<'_>, out: &mut Output<'_>) -> Result<()> {
    let beyond = || Error::new(SqlState::DATETIME_OVERFLOW, "interval out of range");
    let sum = Interval {
        months: row.wide(0).try_into().map_err(|_| beyond())?,
        days: row.wide(1).try_into().map_err(|_| beyond())?,
        micros: row.wide(2).try_into().map_err(|_| beyond())?,
    };
    if row.arguments() == 3 {
        return out.interval(sum);
    }
    out.interval(value_ops::multiply_interval(
        sum,
        row.int(3) as f64,
        value_ops::Divide::Yes,
    )?)
}
