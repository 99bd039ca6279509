//! DISTINCT aggregates become two aggregations: the lower one makes each (group, argument) once, the upper
//! one aggregates those.
//!
//! With plain aggregates beside them the lower one computes partial results, the upper one combines them.
//! With several different arguments the input is computed once, shared, and read once for each argument
//! and once for the plain aggregates; each reading carries its own number and leaves the columns of the
//! others NULL, which every aggregate ignores:
//!
//! ```text
//! count(distinct a), count(distinct b), sum(c) by g
//! = count(a'), count(b'), sum(c') by g of
//!     (a' := a, b' := b, c' := sum(c)) by g, reading, a, b of
//!        (g, 0, null, null, c) + (g, 1, a, null, null) + (g, 2, null, b, null)
//! ```

use crate::pushdown::take;
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, ColumnId, Columns, Expr, ExprKind, Operator, Plan,
    SharedId, nullability,
};
use frazil_types::{CompareOp, Error, LogicalType, Result, Span, Value};

/// Rewrites the DISTINCT aggregates of a plan.
pub fn plan(plan: &mut Plan) -> Result<()> {
    // A shared subplan reads only those before it, so what a tree comes to share goes in front of it and
    // those behind move on.
    let mut shared = Vec::with_capacity(plan.shared.len());
    let mut moved = Vec::with_capacity(plan.shared.len());
    for mut tree in std::mem::take(&mut plan.shared) {
        renumber(&mut tree, &moved);
        tree_of(&mut tree, &mut plan.columns, &mut shared)?;
        moved.push(SharedId(shared.len()));
        shared.push(tree);
    }
    for tree in (plan.subqueries.iter_mut().map(|s| &mut s.0)).chain([&mut plan.root]) {
        renumber(tree, &moved);
        tree_of(tree, &mut plan.columns, &mut shared)?;
    }
    plan.shared = shared;
    Ok(())
}

/// Makes a tree read shared subplans at their new places.
fn renumber(op: &mut Operator, moved: &[SharedId]) {
    if let Operator::Shared { id, .. } = op {
        *id = moved[id.0];
    }
    op.inputs_mut()
        .into_iter()
        .for_each(|input| renumber(input, moved));
}

fn tree_of(op: &mut Operator, columns: &mut Columns, shared: &mut Vec<Operator>) -> Result<()> {
    for input in op.inputs_mut() {
        tree_of(input, columns, shared)?;
    }
    if let Operator::Aggregate { aggregates, .. } = op {
        for (_, call) in aggregates.iter_mut() {
            // The smallest of distinct values is the smallest.
            call.distinct &= !matches!(call.function, AggregateFunction::Min | AggregateFunction::Max);
        }
        if aggregates.iter().any(|a| a.1.distinct) {
            let whole = take(op);
            *op = rewrite(whole, columns, shared)?;
        }
    }
    Ok(())
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
    let Operator::Aggregate {
        input,
        groups,
        aggregates,
    } = op
    else {
        return Ok(op);
    };
    let mut input = *input;
    let (mut groups, mut calls) = (groups, aggregates);
    let mut arguments: Vec<Expr> = Vec::new();
    for (_, call) in calls.iter_mut().filter(|c| c.1.distinct) {
        let argument = distinct_argument(call)?;
        if !arguments.contains(&argument) {
            arguments.push(argument);
        }
    }
    let mut reading = None;
    if arguments.len() > 1 {
        let readings = read_apart(input, &mut groups, &mut calls, &mut arguments, columns, shared);
        input = readings.0;
        reading = Some(readings.1);
    }
    let mut levels = Levels::default();
    let upper_groups: Vec<(ColumnId, Expr)> = groups
        .into_iter()
        .map(|(id, e)| (id, lower_group(&mut levels, "", e, columns)))
        .collect();
    if let Some(id) = reading {
        let e = Expr::column(id, columns);
        lower_group(&mut levels, "reading", e, columns);
    }
    let lowered: Vec<Expr> = arguments
        .iter()
        .map(|e| lower_group(&mut levels, "distinct", e.clone(), columns))
        .collect();
    let grouped = !upper_groups.is_empty();
    for (id, call) in calls {
        if call.distinct {
            let at = arguments
                .iter()
                .position(|a| Some(a) == call.argument.as_ref())
                .unwrap_or(0);
            let argument = Some(lowered[at].clone());
            levels.upper.push((
                id,
                AggregateCall {
                    argument,
                    distinct: false,
                    filter: None,
                    ..call
                },
            ));
        } else {
            combine(&mut levels, id, call, grouped, columns);
        }
    }
    Ok(levels.operators(input, upper_groups))
}

impl Levels {
    fn operators(self, input: Operator, groups: Vec<(ColumnId, Expr)>) -> Operator {
        let lower = Operator::Aggregate {
            input: Box::new(input),
            groups: self.lower_groups,
            aggregates: self.lower,
        };
        let upper = Operator::Aggregate {
            input: Box::new(lower),
            groups,
            aggregates: self.upper,
        };
        if self.after.is_empty() {
            return upper;
        }
        Operator::Map {
            input: Box::new(upper),
            expressions: self.after,
        }
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
fn combine(levels: &mut Levels, id: ColumnId, call: AggregateCall, grouped: bool, columns: &mut Columns) {
    let upper = |function, argument: Expr, ty| AggregateCall {
        function,
        argument: Some(argument),
        distinct: false,
        filter: None,
        ty,
    };
    let ty = call.ty;
    match call.function {
        AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::Sum => {
            let function = call.function;
            let part = partial(levels, call, ty, columns);
            levels.upper.push((id, upper(function, part, ty)));
        }
        AggregateFunction::CountRows | AggregateFunction::Count => {
            let part = partial(levels, call, ty, columns);
            // No rows at all: the sum of no counts is NULL, their count is 0.
            let target = if grouped {
                id
            } else {
                columns.add("count", ty, true)
            };
            levels
                .upper
                .push((target, upper(AggregateFunction::Sum, part, ty)));
            if !grouped {
                levels.after.push((id, or_zero(Expr::column(target, columns))));
            }
        }
        AggregateFunction::Avg => {
            let sum_ty = match call.argument.as_ref().map(|a| a.ty) {
                Some(LogicalType::Decimal { scale, .. }) => LogicalType::Decimal { precision: 38, scale },
                Some(LogicalType::Double) | None => LogicalType::Double,
                Some(LogicalType::BigInt) => LogicalType::Decimal {
                    precision: 38,
                    scale: 0,
                },
                Some(_) => LogicalType::BigInt,
            };
            let of = |function, ty| AggregateCall {
                function,
                ty,
                ..call.clone()
            };
            let sum = partial(levels, of(AggregateFunction::Sum, sum_ty), sum_ty, columns);
            let count = LogicalType::BigInt;
            let rows = partial(levels, of(AggregateFunction::Count, count), count, columns);
            let sums = columns.add("sum", sum_ty, true);
            let counts = columns.add("count", count, true);
            levels
                .upper
                .push((sums, upper(AggregateFunction::Sum, sum, sum_ty)));
            levels
                .upper
                .push((counts, upper(AggregateFunction::Sum, rows, count)));
            let quotient = quotient(Expr::column(sums, columns), Expr::column(counts, columns), ty);
            levels.after.push((id, quotient));
        }
    }
}

/// Adds a partial aggregate to the lower level; gives its column.
fn partial(levels: &mut Levels, call: AggregateCall, ty: LogicalType, columns: &mut Columns) -> Expr {
    let never_null = matches!(
        call.function,
        AggregateFunction::CountRows | AggregateFunction::Count
    );
    let id = columns.add("partial", ty, !never_null);
    levels.lower.push((id, AggregateCall { ty, ..call }));
    Expr::column(id, columns)
}

fn or_zero(e: Expr) -> Expr {
    let ty = e.ty;
    let is_null = Expr::boolean(ExprKind::IsNull(Box::new(e.clone())), false);
    Expr {
        kind: ExprKind::Case {
            branches: vec![(is_null, Expr::constant(Value::Int(0), ty))],
            otherwise: Some(Box::new(e)),
        },
        ty,
        nullable: true,
        span: Span::NONE,
    }
}

/// sum / count; NULL where nothing was counted.
fn quotient(sum: Expr, count: Expr, ty: LogicalType) -> Expr {
    let zero = Expr::constant(Value::Int(0), count.ty);
    let kind = ExprKind::Compare(CompareOp::Gt, Box::new(count.clone()), Box::new(zero));
    let counted = Expr::boolean(kind, true);
    let cast = |e: Expr, ty: LogicalType| match e.ty == ty {
        true => e,
        false => Expr {
            nullable: e.nullable,
            span: e.span,
            kind: ExprKind::Cast(Box::new(e)),
            ty,
        },
    };
    let whole = LogicalType::Decimal {
        precision: 38,
        scale: 0,
    };
    let (l, r) = match ty {
        LogicalType::Double => (cast(sum, ty), cast(count, ty)),
        _ if sum.ty == LogicalType::BigInt => (cast(sum, whole), cast(count, whole)),
        _ => (sum, cast(count, whole)),
    };
    let divided = Expr {
        kind: ExprKind::Arithmetic(ArithmeticOp::Div, Box::new(l), Box::new(r)),
        ty,
        nullable: true,
        span: Span::NONE,
    };
    Expr {
        kind: ExprKind::Case {
            branches: vec![(counted, divided)],
            otherwise: None,
        },
        ty,
        nullable: true,
        span: Span::NONE,
    }
}

/// Makes the input a shared subplan read once for each DISTINCT argument and once for all else. Rewrites
/// groups, calls and arguments to the columns of the union; gives it with its column of the reading.
fn read_apart(
    input: Operator,
    groups: &mut [(ColumnId, Expr)],
    calls: &mut [(ColumnId, AggregateCall)],
    arguments: &mut [Expr],
    columns: &mut Columns,
    shared: &mut Vec<Operator>,
) -> (Operator, ColumnId) {
    // What each reading gives: group keys always, the rest in one reading only.
    let mut values: Vec<(Option<usize>, Expr)> = groups.iter().map(|g| (None, g.1.clone())).collect();
    values.extend(
        arguments
            .iter()
            .enumerate()
            .map(|(k, e)| (Some(k + 1), e.clone())),
    );
    let plain = calls.iter_mut().filter(|c| !c.1.distinct);
    for (_, call) in plain {
        let one = || Expr::constant(Value::Int(1), LogicalType::BigInt);
        let argument = call.argument.take().unwrap_or_else(one);
        if call.function == AggregateFunction::CountRows {
            call.function = AggregateFunction::Count;
        }
        call.argument = Some(argument);
        distinct_argument(call)
            .iter()
            .for_each(|e| values.push((Some(0), e.clone())));
    }
    let id = SharedId(shared.len());
    let mut read: Vec<ColumnId> = values.iter().flat_map(|v| v.1.columns_read()).collect();
    read.sort();
    read.dedup();
    shared.push(input);
    let made: Vec<ColumnId> = values.iter().map(|v| columns.add("", v.1.ty, true)).collect();
    let reading = columns.add("reading", LogicalType::Integer, false);
    let inputs = (0..=arguments.len())
        .map(|k| one_reading(id, k, &values, &read, columns))
        .collect();
    let union = Operator::UnionAll {
        inputs,
        columns: made.iter().copied().chain([reading]).collect(),
    };
    let mut next = made.iter().map(|id| Expr::column(*id, columns));
    groups
        .iter_mut()
        .for_each(|g| next.by_ref().take(1).for_each(|e| g.1 = e));
    let mut moved = Vec::new();
    for argument in arguments.iter_mut() {
        for e in next.by_ref().take(1) {
            moved.push((std::mem::replace(argument, e.clone()), e));
        }
    }
    for (_, call) in calls.iter_mut() {
        if call.distinct {
            let found = moved.iter().find(|m| Some(&m.0) == call.argument.as_ref());
            call.argument = found.map(|m| m.1.clone());
        } else {
            call.argument = next.next();
        }
    }
    (union, reading)
}

fn one_reading(
    id: SharedId,
    number: usize,
    values: &[(Option<usize>, Expr)],
    read: &[ColumnId],
    columns: &mut Columns,
) -> (Operator, Vec<ColumnId>) {
    let copies: Vec<(ColumnId, ColumnId)> = read
        .iter()
        .map(|&stored| {
            let info = columns[stored].clone();
            (columns.add(info.label, info.ty, info.nullable), stored)
        })
        .collect();
    let mut expressions = Vec::new();
    for (only, e) in values {
        let mut e = match only {
            Some(k) if *k != number => Expr::constant(Value::Null, e.ty),
            _ => e.clone(),
        };
        e.replace_columns(&|c| {
            let copy = copies.iter().find(|p| p.1 == c)?;
            Some(Expr::column(copy.0, columns))
        });
        nullability::of_expression(&mut e, columns);
        expressions.push((columns.add("", e.ty, e.nullable), e));
    }
    let tag = Expr::constant(Value::Int(number as i128), LogicalType::Integer);
    expressions.push((columns.add("reading", LogicalType::Integer, false), tag));
    let from = expressions.iter().map(|e| e.0).collect();
    let input = Box::new(Operator::Shared { id, columns: copies });
    (Operator::Map { input, expressions }, from)
}
