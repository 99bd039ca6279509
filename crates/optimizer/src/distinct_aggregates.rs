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

use crate::partial_aggregates::{Parts, merged};
use crate::pushdown::take;
use crate::shared_trees;
use frazil_plan::each_once::Places;
use frazil_plan::operators::{Aggregate, Map, Shared, UnionAll};
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, ColumnId, Columns, Expr, ExprKind, Operator, Plan,
    SharedId, nullability,
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
            // The smallest of distinct values is the smallest.
            call.distinct &= !matches!(call.function, AggregateFunction::Min | AggregateFunction::Max);
        }
        if aggregates.iter().any(|a| a.1.distinct) {
            let whole = take(op);
            *op = rewrite(whole, columns, shared)?;
            square(op);
        }
    }
    Ok(())
}

/// Makes sums of squares sums of products, in the upper level, where values are distinct.
fn square(op: &mut Operator) {
    if let Operator::Map(Map { input, .. }) = op {
        return square(input);
    }
    let Operator::Aggregate(Aggregate { aggregates, .. }) = op else {
        return;
    };
    for (_, call) in aggregates.iter_mut() {
        if call.function != AggregateFunction::SumOfSquares {
            continue;
        }
        call.function = AggregateFunction::Sum;
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
    let mut arguments: Vec<Expr> = Vec::new();
    // Which argument a call has, for those with DISTINCT.
    let (mut which, mut places) = (Vec::with_capacity(calls.len()), Places::default());
    for (_, call) in calls.iter_mut() {
        which.push(match call.distinct {
            false => None,
            true => Some(place_of(distinct_argument(call)?, &mut arguments, &mut places)),
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
    for e in &arguments {
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
        let argument = lowered
            .iter()
            .find(|(e, _)| *e == arguments[at])
            .map(|l| l.1.clone());
        let filter = reading.clone().map(|reading| is_reading(reading, at + 1));
        let call = AggregateCall {
            argument,
            second: None,
            distinct: false,
            filter,
            ..call
        };
        levels.upper.push((id, call));
    }
    Ok(levels.operators(input, upper_groups))
}

/// The place of an argument among all; a new one is added.
fn place_of(argument: Expr, arguments: &mut Vec<Expr>, places: &mut Places) -> usize {
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

/// The argument of a DISTINCT call, its FILTER made part of it: NULL where the filter does not hold.
fn distinct_argument(call: &mut AggregateCall) -> Result<Expr> {
    let Some(argument) = call.argument.take() else {
        return Err(Error::unsupported("count(DISTINCT *)"));
    };
    let argument = match call.filter.take() {
        None => argument,
        Some(filter) => {
            let ty = argument.ty;
            Expr {
                kind: ExprKind::Case {
                    branches: vec![(filter, argument)],
                    otherwise: None,
                },
                ty,
                nullable: true,
                span: Span::NONE,
            }
        }
    };
    call.argument = Some(argument.clone());
    Ok(argument)
}

/// Adds a group key to the lower level; gives its column as an expression.
fn lower_group(levels: &mut Levels, label: &str, e: Expr, columns: &mut Columns) -> Expr {
    let label = match e.kind {
        ExprKind::Column(id) => columns[id].label.clone(),
        _ => label.to_string(),
    };
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
        let what = "a variance, covariance or regression of doubles beside an aggregate with DISTINCT";
        return Err(Error::unsupported(what));
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
    arguments: &mut [Expr],
    columns: &mut Columns,
    shared: &mut Vec<Operator>,
) -> Result<(Operator, ColumnId)> {
    // What the readings have: group keys always, plain arguments in the first only.
    let mut values: Vec<(Only, Expr)> = groups.iter().map(|g| (None, g.1.clone())).collect();
    for (_, call) in calls.iter_mut().filter(|c| !c.1.distinct) {
        let one = || Expr::constant(Value::Int(1), LogicalType::Integer);
        let argument = call.argument.take().unwrap_or_else(one);
        if call.function == AggregateFunction::CountRows {
            call.function = AggregateFunction::Count;
        }
        call.argument = Some(argument);
        values.push((Some(0), distinct_argument(call)?));
    }
    let mut types: Vec<LogicalType> = Vec::new();
    for e in arguments.iter() {
        if !types.contains(&e.ty) {
            types.push(e.ty);
        }
    }
    let width = values.len() + types.len();
    if width * (arguments.len() + 1) > MOST_IN_READINGS {
        let message = "the statement has too many aggregates beside those with DISTINCT";
        return Err(
            Error::new(SqlState::STATEMENT_TOO_COMPLEX, message).with_hint("cut it into several statements")
        );
    }
    let all = values.iter().map(|v| &v.1).chain(arguments.iter());
    let mut read: Vec<ColumnId> = all.flat_map(Expr::columns_read).collect();
    read.sort();
    read.dedup();
    let id = SharedId(shared.len());
    shared.push(input);
    let mut made: Vec<ColumnId> = values.iter().map(|v| columns.add("", v.1.ty, true)).collect();
    made.extend(types.iter().map(|ty| columns.add("", *ty, true)));
    let reading = columns.add("reading", LogicalType::Integer, false);
    let mut inputs = Vec::with_capacity(arguments.len() + 1);
    for number in 0..=arguments.len() {
        let argument = number.checked_sub(1).map(|at| &arguments[at]);
        let row = values.iter().map(|(only, e)| match only {
            Some(k) if *k != number => null_of(e.ty),
            _ => e.clone(),
        });
        let row = row.chain(types.iter().map(|ty| match argument {
            Some(e) if e.ty == *ty => e.clone(),
            _ => null_of(*ty),
        }));
        inputs.push(one_reading(id, number, row.collect(), &read, columns));
    }
    let union = Operator::UnionAll(UnionAll {
        inputs,
        columns: made.iter().copied().chain([reading]).collect(),
    });
    let mut next = made.iter().map(|id| Expr::column(*id, columns));
    let plain = calls.iter_mut().filter(|c| !c.1.distinct);
    let places = (groups.iter_mut().map(|g| &mut g.1)).chain(plain.filter_map(|c| c.1.argument.as_mut()));
    places.zip(next.by_ref()).for_each(|(place, e)| *place = e);
    let by_type: Vec<Expr> = made[values.len()..]
        .iter()
        .map(|id| Expr::column(*id, columns))
        .collect();
    for argument in arguments.iter_mut() {
        if let Some(column) = by_type.iter().find(|c| c.ty == argument.ty) {
            *argument = column.clone();
        }
    }
    Ok((union, reading))
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
    let tag = Expr::constant(Value::Int(number as i128), LogicalType::Integer);
    expressions.push((columns.add("reading", LogicalType::Integer, false), tag));
    let from = expressions.iter().map(|e| e.0).collect();
    let mut columns: Vec<(ColumnId, ColumnId)> = copies.into_iter().map(|(old, new)| (new, old)).collect();
    columns.sort();
    let input = Box::new(Operator::Shared(Shared { id, columns }));
    (Operator::Map(Map { input, expressions }), from)
}
