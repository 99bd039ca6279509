//! DISTINCT aggregates become two aggregations: the lower one makes each (group, argument) once, the upper
//! one aggregates those.
//!
//! With plain aggregates beside them the lower one computes partial results, the upper one combines them.
//! With several different arguments the input is computed once, shared, and read once for each argument
//! and once for the plain aggregates. Each reading carries its own number, and its argument in a column that
//! all arguments of that type share; columns of the others it leaves NULL, which every aggregate ignores:
//!
//! ```text
//! count(distinct a), count(distinct b), sum(c) by g
//! = count(v) where reading = 1, count(v) where reading = 2, sum(c') by g of
//!     (c' := sum(c)) by g, reading, v of
//!        (g, null, c, 0) + (g, a, null, 1) + (g, b, null, 2)
//! ```
//!
//! Where an aggregate has no partial results that could be combined, nothing is rewritten: groups keep the rows of
//! those with DISTINCT.

use crate::partial_aggregates::{Parts, merged};
use crate::pushdown::take;
use crate::shared_trees;
use frazil_plan::aggregates::{GroupState, Merging};
use frazil_plan::each_once::Places;
use frazil_plan::operators::{Aggregate, Map, Shared, UnionAll};
use frazil_plan::{
    AggregateCall, AggregateKey, ArithmeticOp, ColumnId, Columns, Expr, ExprKind, Operator, Plan, SharedId,
    nullability,
};
use frazil_types::{CompareOp, Error, LogicalType, Result, Span, SqlState, Value};
use std::collections::{HashMap, HashSet};

/// Expressions in all readings of a plan's aggregation: each reading has all plain arguments and groups.
const MOST_IN_READINGS: usize = 200_000;

/// Rewrites the DISTINCT aggregates of a plan.
pub fn plan(plan: &mut Plan) -> Result<()> {
    shared_trees::rewrite(plan, &mut |mut tree, columns, shared| {
        tree_of(&mut tree, columns, shared)?;
        Ok(tree)
    })
}

fn tree_of(op: &mut Operator, columns: &mut Columns, shared: &mut Vec<Operator>) -> Result<()> {
    for input in op.inputs_mut() {
        tree_of(input, columns, shared)?;
    }
    if let Operator::Aggregate(Aggregate { aggregates, .. }) = op {
        for (_, call) in aggregates.iter_mut() {
            call.distinct &= !call.function.ignores_repetition();
        }
        if !aggregates.iter().any(|a| a.1.distinct) {
            return Ok(());
        }
        if aggregates.iter().all(|a| is_of_parts(&a.1)) {
            let whole = take(op);
            *op = rewrite(whole, columns, shared)?;
        }
        square(op);
    }
    Ok(())
}

/// True if an aggregation of all (group, argument) once can make an aggregate: of the argument if it is one with
/// DISTINCT, else of partial results.
fn is_of_parts(call: &AggregateCall) -> bool {
    if !call.distinct {
        return call.function.merging() != Merging::Never;
    }
    let by_argument = call.order.is_empty() && call.second.is_none() && !call.function.keeps_rows();
    by_argument || call.counts_rows()
}

/// Makes sums of squares sums of products, in the upper level, where values are distinct; in the only one, of rows that the
/// values tell apart.
fn square(op: &mut Operator) {
    if let Operator::Map(Map { input, .. }) = op {
        return square(input);
    }
    let Operator::Aggregate(Aggregate { aggregates, .. }) = op else {
        return;
    };
    for (_, call) in aggregates.iter_mut() {
        if call.function.info().state != GroupState::Squares {
            continue;
        }
        *call = call.as_sum(call.ty);
        if let (Some(x), true) = (&call.argument, call.distinct && call.order.is_empty()) {
            call.order.push(AggregateKey {
                e: x.clone(),
                descending: false,
                nulls_first: false,
            });
        }
        call.argument = call.argument.take().map(|x| Expr {
            ty: call.ty,
            nullable: x.nullable,
            span: x.span,
            kind: ExprKind::Arithmetic(ArithmeticOp::Mul, Box::new(x.clone()), Box::new(x)),
        });
    }
}

/// One level of aggregation being put together.
#[derive(Default)]
struct Levels {
    lower_groups: Vec<(ColumnId, Expr)>,
    lower: Vec<(ColumnId, AggregateCall)>,
    upper: Vec<(ColumnId, AggregateCall)>,
    after: Vec<(ColumnId, Expr)>,
}

fn rewrite(op: Operator, columns: &mut Columns, shared: &mut Vec<Operator>) -> Result<Operator> {
    let Operator::Aggregate(Aggregate {
        input,
        groups,
        aggregates,
    }) = op
    else {
        return Ok(op);
    };
    let mut input = *input;
    let (mut groups, mut calls) = (groups, aggregates);
    let mut arguments: Vec<Vec<Expr>> = Vec::new();
    // Which arguments a call has, for those with DISTINCT.
    let (mut which, mut places) = (Vec::with_capacity(calls.len()), Places::default());
    for (_, call) in calls.iter_mut() {
        which.push(match call.distinct {
            false => None,
            true => Some(place_of(distinct_values(call)?, &mut arguments, &mut places)),
        });
    }
    let mut reading = None;
    if arguments.len() > 1 {
        let (union, number) = read_apart(input, &mut groups, &mut calls, &mut arguments, columns, shared)?;
        (input, reading) = (union, Some(number));
    }
    let mut levels = Levels::default();
    let upper_groups: Vec<(ColumnId, Expr)> = groups
        .into_iter()
        .map(|(id, e)| (id, lower_group(&mut levels, "", e, columns)))
        .collect();
    let reading = reading.map(|id| {
        let e = Expr::column(id, columns);
        lower_group(&mut levels, "reading", e, columns)
    });
    let mut lowered: Vec<(Expr, Expr)> = Vec::new();
    for e in arguments.iter().flatten() {
        if !lowered.iter().any(|(known, _)| known == e) {
            lowered.push((
                e.clone(),
                lower_group(&mut levels, "distinct", e.clone(), columns),
            ));
        }
    }
    let grouped = !upper_groups.is_empty();
    for ((id, call), which) in calls.into_iter().zip(which) {
        let Some(at) = which else {
            combine(&mut levels, id, call, grouped, columns)?;
            continue;
        };
        let first = arguments[at].first().filter(|_| call.argument.is_some());
        let argument = lowered.iter().find(|(e, _)| Some(e) == first);
        let argument = argument.map(|l| l.1.clone());
        let filter = reading.clone().map(|reading| is_reading(reading, at + 1));
        let call = AggregateCall {
            filter,
            ..AggregateCall::new(call.function, argument, call.ty)
        };
        levels.upper.push((id, call));
    }
    Ok(levels.operators(input, upper_groups))
}

/// The place of arguments among all; new ones are added.
fn place_of(argument: Vec<Expr>, arguments: &mut Vec<Vec<Expr>>, places: &mut Places) -> usize {
    let next = arguments.len();
    let known = places.find_or_add(&argument, next, |place| arguments[place] == argument);
    known.unwrap_or_else(|| {
        arguments.push(argument);
        next
    })
}

fn is_reading(reading: Expr, number: usize) -> Expr {
    let number = Expr::constant(Value::Int(number as i128), reading.ty);
    Expr::boolean(
        ExprKind::Compare(CompareOp::Eq, Box::new(reading), Box::new(number)),
        false,
    )
}

impl Levels {
    fn operators(self, input: Operator, groups: Vec<(ColumnId, Expr)>) -> Operator {
        let lower = Operator::Aggregate(Aggregate {
            input: Box::new(input),
            groups: self.lower_groups,
            aggregates: self.lower,
        });
        let upper = Operator::Aggregate(Aggregate {
            input: Box::new(lower),
            groups,
            aggregates: self.upper,
        });
        if self.after.is_empty() {
            return upper;
        }
        Operator::Map(Map {
            input: Box::new(upper),
            expressions: self.after,
        })
    }
}

/// What tells the rows of a DISTINCT call apart: its argument, or the keys of rows that are counted. Of a FILTER of rows an
/// argument is made, which is not NULL where it holds, and comes first.
fn distinct_values(call: &mut AggregateCall) -> Result<Vec<Expr>> {
    if !call.counts_rows() {
        return Ok(vec![filtered_argument(call)?]);
    }
    let keys = std::mem::take(&mut call.order).into_iter().map(|key| key.e);
    let Some(filter) = call.filter.take() else {
        return Ok(keys.collect());
    };
    let taken = Expr::boolean(ExprKind::Constant(Value::Bool(true)), false);
    call.become_count(where_true(filter.clone(), taken));
    let keys = keys.map(|e| where_true(filter.clone(), e));
    Ok(call.argument.iter().cloned().chain(keys).collect())
}

/// The argument of a call, its FILTER made part of it.
pub fn filtered_argument(call: &mut AggregateCall) -> Result<Expr> {
    let Some(argument) = call.argument.take() else {
        return Err(Error::internal("an aggregate without its argument"));
    };
    let argument = match call.filter.take() {
        None => argument,
        Some(filter) => where_true(filter, argument),
    };
    call.argument = Some(argument.clone());
    Ok(argument)
}

/// The value where a filter holds, else NULL.
fn where_true(filter: Expr, value: Expr) -> Expr {
    Expr {
        ty: value.ty,
        kind: ExprKind::Case {
            branches: vec![(filter, value)],
            otherwise: None,
        },
        nullable: true,
        span: Span::NONE,
    }
}

/// Adds a group key to the lower level; gives its column as an expression.
fn lower_group(levels: &mut Levels, label: &str, e: Expr, columns: &mut Columns) -> Expr {
    let label = e.label(columns, label);
    let id = columns.add(label, e.ty, e.nullable);
    levels.lower_groups.push((id, e));
    Expr::column(id, columns)
}

/// A plain aggregate as a partial one below and one above that combines the parts.
fn combine(
    levels: &mut Levels,
    id: ColumnId,
    call: AggregateCall,
    grouped: bool,
    columns: &mut Columns,
) -> Result<()> {
    let Some(parts) = Parts::of(&call) else {
        return Err(Error::internal("parts of an aggregate that has none"));
    };
    // No rows at all: the sum of no counts is NULL, their count is 0.
    let may_lack = call.function.counts() && !grouped;
    let below: Vec<Expr> = (parts.calls.iter())
        .map(|call| partial(levels, call, columns))
        .collect();
    let pairs = parts.calls.iter().zip(below);
    if parts.calls.len() == 1 && !may_lack {
        (levels.upper).extend(pairs.map(|(call, part)| (id, merged(call, part))));
        return Ok(());
    }
    let mut made = Vec::with_capacity(parts.calls.len());
    for (call, part) in pairs {
        let merged_id = columns.add(call.function.name(), call.ty, true);
        levels.upper.push((merged_id, merged(call, part)));
        made.push(Expr::column(merged_id, columns));
    }
    levels.after.push((id, parts.value(made)));
    Ok(())
}

/// Adds a partial aggregate to the lower level; gives its column.
fn partial(levels: &mut Levels, call: &AggregateCall, columns: &mut Columns) -> Expr {
    let id = columns.add("partial", call.ty, !call.function.counts());
    levels.lower.push((id, call.clone()));
    Expr::column(id, columns)
}

/// Which reading has a value, where only one has it.
type Only = Option<usize>;

/// Makes the input a shared subplan read once for each DISTINCT argument and once for all else. Rewrites
/// groups, arguments and plain calls to the columns of the union; gives it with its column of the reading. 54001.
fn read_apart(
    input: Operator,
    groups: &mut [(ColumnId, Expr)],
    calls: &mut [(ColumnId, AggregateCall)],
    arguments: &mut [Vec<Expr>],
    columns: &mut Columns,
    shared: &mut Vec<Operator>,
) -> Result<(Operator, ColumnId)> {
    // What the readings have: group keys always, plain arguments in the first only.
    let mut values: Vec<(Only, Expr)> = groups.iter().map(|g| (None, g.1.clone())).collect();
    for (_, call) in calls.iter_mut().filter(|c| !c.1.distinct) {
        let one = || Expr::literal(Value::Int(1));
        match call.counts_rows() {
            true => call.become_count(one()),
            false => call.argument = Some(call.argument.take().unwrap_or_else(one)),
        }
        values.push((Some(0), filtered_argument(call)?));
    }
    let mut types: Vec<LogicalType> = Vec::new();
    let places: Vec<Vec<usize>> = (arguments.iter())
        .map(|tuple| places_of(tuple, &mut types))
        .collect();
    let width = values.len() + types.len();
    if width * (arguments.len() + 1) > MOST_IN_READINGS {
        let message = "the statement has too many aggregates beside those with DISTINCT";
        return Err(
            Error::new(SqlState::STATEMENT_TOO_COMPLEX, message).with_hint("cut it into several statements")
        );
    }
    let all = values.iter().map(|v| &v.1).chain(arguments.iter().flatten());
    let mut read: Vec<ColumnId> = all.flat_map(Expr::columns_read).collect();
    read.sort();
    read.dedup();
    let id = SharedId(shared.len());
    shared.push(input);
    let mut made: Vec<ColumnId> = values.iter().map(|v| columns.add("", v.1.ty, true)).collect();
    made.extend(types.iter().map(|ty| columns.add("", *ty, true)));
    let reading = columns.add("reading", reading_tag(0).ty, false);
    let mut inputs = Vec::with_capacity(arguments.len() + 1);
    for number in 0..=arguments.len() {
        let tuple = number.checked_sub(1).map(|at| (&arguments[at], &places[at]));
        let at_place = |place: usize| {
            let (tuple, places) = tuple?;
            Some(tuple[places.iter().position(|p| *p == place)?].clone())
        };
        let row = values.iter().map(|(only, e)| match only {
            Some(k) if *k != number => null_of(e.ty),
            _ => e.clone(),
        });
        let typed = types.iter().enumerate();
        let row = row.chain(typed.map(|(place, ty)| at_place(place).unwrap_or_else(|| null_of(*ty))));
        inputs.push(one_reading(id, number, row.collect(), &read, columns));
    }
    let union = Operator::UnionAll(UnionAll {
        inputs,
        columns: made.iter().copied().chain([reading]).collect(),
    });
    let mut next = made.iter().map(|id| Expr::column(*id, columns));
    let plain = calls.iter_mut().filter(|c| !c.1.distinct);
    let read = (groups.iter_mut().map(|g| &mut g.1)).chain(plain.filter_map(|c| c.1.argument.as_mut()));
    read.zip(next.by_ref()).for_each(|(place, e)| *place = e);
    let typed = &made[values.len()..];
    for (tuple, places) in arguments.iter_mut().zip(places) {
        for (e, place) in tuple.iter_mut().zip(places) {
            *e = Expr::column(typed[place], columns);
        }
    }
    Ok((union, reading))
}

/// The places of expressions among columns of their types, of which each has one of its own; those that are missing are added.
fn places_of(tuple: &[Expr], types: &mut Vec<LogicalType>) -> Vec<usize> {
    let mut places = Vec::with_capacity(tuple.len());
    for e in tuple {
        let mut free = (0..types.len()).filter(|place| types[*place] == e.ty && !places.contains(place));
        let place = free.next().unwrap_or(types.len());
        if place == types.len() {
            types.push(e.ty);
        }
        places.push(place);
    }
    places
}

/// The number of a reading, which its rows carry.
fn reading_tag(number: usize) -> Expr {
    Expr::literal(Value::Int(number as i128))
}

fn null_of(ty: LogicalType) -> Expr {
    Expr::constant(Value::Null, ty)
}

/// The rows of one reading: the shared subplan's, with the values of `row` and the reading's number.
fn one_reading(
    id: SharedId,
    number: usize,
    row: Vec<Expr>,
    read: &[ColumnId],
    columns: &mut Columns,
) -> (Operator, Vec<ColumnId>) {
    let used: HashSet<ColumnId> = row.iter().flat_map(Expr::columns_read).collect();
    let copies: HashMap<ColumnId, ColumnId> = (read.iter().filter(|c| used.contains(c)))
        .map(|&stored| {
            let info = columns[stored].clone();
            (stored, columns.add(info.label, info.ty, info.nullable))
        })
        .collect();
    let mut expressions = Vec::with_capacity(row.len() + 1);
    for mut e in row {
        e.replace_columns(&|c| Some(Expr::column(*copies.get(&c)?, columns)));
        nullability::of_expression(&mut e, columns);
        expressions.push((columns.add("", e.ty, e.nullable), e));
    }
    let tag = reading_tag(number);
    expressions.push((columns.add("reading", tag.ty, false), tag));
    let from = expressions.iter().map(|e| e.0).collect();
    let mut columns: Vec<(ColumnId, ColumnId)> = copies.into_iter().map(|(old, new)| (new, old)).collect();
    columns.sort();
    let input = Box::new(Operator::Shared(Shared { id, columns }));
    (Operator::Map(Map { input, expressions }), from)
}
