//! The end of a statement: shared subplans that are read once are put where they are read, parameters get their
//! numbers.

use super::walk::every_operator;
use super::whole_statement::whole_statement;
use super::{Binder, OutputColumn};
use crate::statement::{Last, Writing};
use crate::{Bound, Statement};
use frazil_functions::{Typing, compared_by};
use frazil_plan::operators::{Aggregate, GROUPING, Map, Shared, SortKey, Values, grouping_value};
use frazil_plan::{AggregateCall, ColumnId, Columns, Expr, ExprKind, Operator, Own, Plan, SharedId};
use frazil_types::{CompareOp, Error, LogicalType, Result, SqlState};
use std::collections::BTreeMap;

/// Completes a statement that has a plan.
pub(crate) fn finished(
    mut binder: Binder,
    root: Operator,
    output: Vec<OutputColumn>,
    statement: impl FnOnce(Plan) -> Statement,
) -> Result<Bound> {
    let mut writes = binder.planned_writes()?;
    binder.check_rights()?;
    let statement = whole_statement(&mut writes, statement(plan_of(&binder, root, output)?));
    let statement = match writes.is_empty() {
        true => statement,
        false => {
            let last = Last::of(statement);
            let last = last.ok_or_else(|| Error::unsupported("FOR UPDATE or FOR SHARE in this statement"))?;
            Writing::With { writes, last }.into()
        }
    };
    Ok(Bound {
        statement,
        parameters: binder.typing.parameter_types()?,
        guessed: binder.typing.guessed_parameters(),
        hidden: binder.typing.hidden_parameters(),
        depth: 0,
    })
}

/// Completes a plan of a statement, all of which is bound.
pub(super) fn plan_of(binder: &Binder, root: Operator, output: Vec<OutputColumn>) -> Result<Plan> {
    let parameters = binder.typing.parameter_types()?;
    let mut plan = Plan {
        root,
        columns: binder.columns.clone(),
        output: output.into_iter().map(|c| (c.name, c.id)).collect(),
        subqueries: Vec::new(),
        shared: Vec::new(),
        parameters: parameters.clone(),
    };
    let hidden = binder.typing.hidden_parameters();
    plan.parameters.extend(hidden.iter().map(|h| h.ty()));
    if !binder.shared.is_empty() {
        place_shared(&mut plan, binder.shared.clone())?;
    }
    for op in std::iter::once(&mut plan.root).chain(&mut plan.shared) {
        let mut refused = Ok(());
        every_operator(op, &mut |op| {
            if refused.is_ok() {
                refused = refuse_what_does_not_compare(op, &plan.columns);
            }
        });
        refused?;
        every_operator(op, &mut |op| compute_subqueries_once(op, &mut plan.columns));
        every_operator(op, &mut |op| {
            group_by_length(op, &mut plan.columns);
            order_by_length(op, &mut plan.columns);
        });
    }
    if !plan.parameters.is_empty() {
        for op in std::iter::once(&mut plan.root).chain(&mut plan.shared) {
            every_operator(op, &mut |op| {
                (op.expressions_mut().into_iter()).for_each(|e| Typing::number_parameters(e, &parameters));
            });
        }
    }
    Ok(plan)
}

/// A subquery that stands several times in the expressions of an operator, as an argument that is a key, too, or part
/// of a condition, is computed once, below it.
fn compute_subqueries_once(op: &mut Operator, columns: &mut Columns) {
    if !matches!(
        op,
        Operator::Aggregate(_) | Operator::GroupingSets(_) | Operator::Map(_)
    ) {
        return;
    }
    let mut found: BTreeMap<ColumnId, (&Expr, usize)> = BTreeMap::new();
    for e in op.expressions() {
        count_subqueries(e, &mut found);
    }
    let repeated = found.into_iter().filter(|(_, (_, times))| *times > 1);
    let (mut known, mut below) = (BTreeMap::new(), Vec::new());
    for (made, (e, _)) in repeated {
        let id = columns.add("subquery", e.ty, e.nullable);
        known.insert(made, id);
        below.push((id, e.clone()));
    }
    if below.is_empty() {
        return;
    }
    for e in op.expressions_mut() {
        read_subqueries(e, &known, columns);
    }
    for input in op.inputs_mut() {
        let rows = std::mem::replace(input, Values::nothing(vec![]));
        *input = Map::above(rows, std::mem::take(&mut below));
    }
}

/// What tells a subquery from all others: copies of it make the same columns.
fn made_first(e: &Expr) -> Option<ColumnId> {
    let Own::Asks(subquery) = e.own() else {
        return None;
    };
    subquery.columns_made().first().copied()
}

fn count_subqueries<'a>(e: &'a Expr, found: &mut BTreeMap<ColumnId, (&'a Expr, usize)>) {
    match made_first(e) {
        Some(made) => found.entry(made).or_insert((e, 0)).1 += 1,
        None => e
            .children()
            .into_iter()
            .for_each(|child| count_subqueries(child, found)),
    }
}

/// Puts columns that hold the values of subqueries in their places.
fn read_subqueries(e: &mut Expr, known: &BTreeMap<ColumnId, ColumnId>, columns: &Columns) {
    match made_first(e).and_then(|made| known.get(&made)) {
        Some(id) => *e = Expr::column(*id, columns).at(e.span),
        None => (e.children_mut().into_iter()).for_each(|child| read_subqueries(child, known, columns)),
    }
}

/// Error 42883 for a type that has no order, where an operator of it is wanted.
pub(super) fn absent(ty: LogicalType, what: &str) -> Result<()> {
    if ty.is_comparable() {
        return Ok(());
    }
    let message = format!("could not identify an {what} operator for type {}", ty.name());
    Err(Error::new(SqlState::UNDEFINED_FUNCTION, message).with_hint("cast it to jsonb or text"))
}

/// Error 42883 for rows that are sorted or grouped by values of a type that has no order.
fn refuse_what_does_not_compare(op: &Operator, columns: &Columns) -> Result<()> {
    let grouped = |ids: &[ColumnId]| {
        let mut ids = ids.iter();
        ids.try_for_each(|id| absent(columns[*id].ty, "equality"))
    };
    let ordered = |keys: &[SortKey]| {
        let mut keys = keys.iter();
        keys.try_for_each(|key| absent(columns[key.column].ty, "ordering"))
    };
    let aggregated = |aggregate: &Aggregate| {
        let mut groups = aggregate.groups.iter();
        groups.try_for_each(|group| absent(group.1.ty, "equality"))?;
        for (_, call) in &aggregate.aggregates {
            if let Some(e) = call.argument.as_ref().filter(|_| call.distinct) {
                absent(e.ty, "equality")?;
            }
            let mut keys = call.order.iter();
            keys.try_for_each(|key| absent(key.e.ty, "ordering"))?;
        }
        Ok(())
    };
    if let Operator::Sort(sort) = op {
        ordered(&sort.keys)
    } else if let Operator::TopPerGroup(top) = op {
        grouped(&top.groups)?;
        ordered(&top.keys)
    } else if let Operator::Aggregate(aggregate) = op {
        aggregated(aggregate)
    } else if let Operator::GroupingSets(sets) = op {
        aggregated(&sets.all)
    } else {
        Ok(())
    }
}

/// Intervals that are equally long are one group, and one of them stands for it; those that are counted once are
/// counted by their length.
fn group_by_length(op: &mut Operator, columns: &mut Columns) {
    if let Operator::Aggregate(aggregate) = op {
        lengths(aggregate, columns);
        return;
    }
    let Operator::GroupingSets(sets) = op else {
        return;
    };
    // Where a set lacks the group, it is NULL.
    let mut shown = Vec::new();
    for (at, made) in lengths(&mut sets.all, columns) {
        let ty = columns[made].ty;
        let (any, absent) = (
            columns.add("interval", ty, true),
            columns.add("grouping", GROUPING, false),
        );
        let aggregates = sets.all.aggregates.iter_mut().map(|a| &mut a.0);
        aggregates.filter(|id| **id == made).for_each(|id| *id = any);
        sets.grouping.push((absent, vec![at]));
        let zero = grouping_value(&[at], &[at]);
        let is_there = ExprKind::Compare(
            CompareOp::Eq,
            Box::new(Expr::column(absent, columns)),
            Box::new(zero),
        );
        let kind = ExprKind::Case {
            branches: vec![(Expr::boolean(is_there, false), Expr::column(any, columns))],
            otherwise: None,
        };
        shown.push((made, Expr::new(kind, ty, true)));
    }
    let sets = std::mem::replace(op, Values::nothing(vec![]));
    *op = Map::above(sets, shown);
}

/// Whether values are not compared by themselves, but by what [`compared_by`] makes of them.
fn is_compared_by_another(ty: LogicalType) -> bool {
    ty.is_span() || ty.has_order_key()
}

/// Intervals are ordered by their length, arrays by their keys, and equally long ones are one group of the first rows
/// of groups.
fn order_by_length(op: &mut Operator, columns: &mut Columns) {
    let mut read: Vec<&mut ColumnId> = Vec::new();
    let input = if let Operator::Sort(sort) = op {
        read.extend(sort.keys.iter_mut().map(|key| &mut key.column));
        &mut sort.input
    } else if let Operator::TopPerGroup(top) = op {
        read.extend(top.keys.iter_mut().map(|key| &mut key.column));
        read.extend(&mut top.groups);
        &mut top.input
    } else {
        return;
    };
    let mut lengths: Vec<(ColumnId, (ColumnId, Expr))> = Vec::new();
    for id in read {
        if !is_compared_by_another(columns[*id].ty) {
            continue;
        }
        let known = lengths.iter().find(|(of, _)| of == id).map(|(_, made)| made.0);
        let length = known.unwrap_or_else(|| {
            let e = compared_by(Expr::column(*id, columns));
            let length = columns.add("key", e.ty, e.nullable);
            lengths.push((*id, (length, e)));
            length
        });
        *id = length;
    }
    if !lengths.is_empty() {
        let below = std::mem::replace(&mut **input, Values::nothing(vec![]));
        **input = Map::above(below, lengths.into_iter().map(|(_, made)| made).collect());
    }
}

/// [`group_by_length`] in one aggregation: the places of groups of intervals, and the columns that show them.
fn lengths(aggregate: &mut Aggregate, columns: &mut Columns) -> Vec<(usize, ColumnId)> {
    let Aggregate {
        groups, aggregates, ..
    } = aggregate;
    let mut shown = Vec::new();
    for (at, (made, e)) in groups
        .iter_mut()
        .enumerate()
        .filter(|g| is_compared_by_another(g.1.1.ty))
    {
        let length = compared_by(e.clone());
        let id = columns.add("length", length.ty, e.nullable);
        let (made, e) = (std::mem::replace(made, id), std::mem::replace(e, length));
        shown.push((at, made));
        aggregates.push((made, AggregateCall::any(e)));
    }
    let counts = |call: &&mut AggregateCall| call.distinct && call.counts_values();
    for call in aggregates.iter_mut().map(|a| &mut a.1).filter(counts) {
        if let Some(e) = &mut call.argument
            && is_compared_by_another(e.ty)
        {
            *e = compared_by(e.clone());
        }
    }
    shown
}

/// Keeps the subplans that are read several times; one that is read once goes where it is read.
fn place_shared(plan: &mut Plan, mut shared: Vec<Operator>) -> Result<()> {
    let mut reads = vec![0usize; shared.len()];
    count(&mut plan.root, &mut reads);
    // A subplan reads only those before it.
    for at in (0..shared.len()).rev() {
        if reads[at] > 0 {
            count(&mut shared[at], &mut reads);
        }
    }
    let mut placed: Vec<Option<Operator>> = Vec::with_capacity(shared.len());
    let mut kept: Vec<Option<SharedId>> = vec![None; shared.len()];
    for (at, mut op) in shared.into_iter().enumerate() {
        if reads[at] == 0 {
            // Nobody runs it, so what it reads has no place in it.
            placed.push(None);
            continue;
        }
        place(&mut op, &plan.columns, &mut placed, &kept)?;
        match reads[at] {
            1 => placed.push(Some(op)),
            _ => {
                kept[at] = Some(SharedId(plan.shared.len()));
                plan.shared.push(op);
                placed.push(None);
            }
        }
    }
    place(&mut plan.root, &plan.columns, &mut placed, &kept)
}

fn count(op: &mut Operator, reads: &mut [usize]) {
    every_operator(op, &mut |op| {
        if let Operator::Shared(Shared { id, .. }) = op {
            reads[id.0] += 1;
        }
    });
}

fn place(
    op: &mut Operator,
    columns: &Columns,
    placed: &mut [Option<Operator>],
    kept: &[Option<SharedId>],
) -> Result<()> {
    let mut result = Ok(());
    every_operator(op, &mut |op| {
        let Operator::Shared(Shared { id, columns: read }) = op else {
            return;
        };
        if let Some(new) = kept[id.0] {
            *id = new;
            return;
        }
        let Some(input) = placed[id.0].take() else {
            result = Err(Error::internal(
                "a shared subplan that is read twice stands in one place",
            ));
            return;
        };
        let read = read
            .iter()
            .map(|(made, stored)| (*made, Expr::column(*stored, columns)));
        *op = Map::above(input, read.collect());
    });
    result
}
