//! A shared union whose branches tell themselves apart by constants, of which every reader wants one or the other, is
//! shared branch by branch (TPC-DS 4, 11, 74: sales of three channels under one name, with the channel as a column):
//! each reader then reads its own, and what it asks can be asked in that branch.

use crate::pushdown::{push, take};
use crate::simplify::{self, is_bool};
use frazil_plan::operators::{Filter, Map, Shared, UnionAll};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind, Operator, Plan, SharedId};
use frazil_types::Value;
use std::collections::HashMap;

/// A branch of a union: where each column of the union comes from.
struct Branch {
    constants: HashMap<ColumnId, Expr>,
    /// The branch's own columns by those of the union.
    columns: HashMap<ColumnId, ColumnId>,
}

/// What has become of a shared subplan.
enum Place {
    /// It has another number.
    Moved(SharedId),
    /// Its branches are shared, beginning with this one.
    Apart(SharedId, Vec<Branch>),
}

/// Shares the branches of unions in place of the unions, where every reader leaves out one of them.
pub fn plan(plan: &mut Plan) {
    let mut unions: Vec<Option<Vec<Branch>>> = plan.shared.iter().map(branches).collect();
    if unions.iter().all(Option::is_none) {
        return;
    }
    for tree in plan.trees() {
        each_reading(tree, &mut vec![], &mut |shared, filters| {
            let of = &mut unions[shared.id.0];
            let leaves_one_out = |all: &Vec<Branch>| {
                let wanted = |b: &&Branch| b.is_wanted(shared, filters, &plan.columns);
                all.iter().filter(wanted).count() < all.len()
            };
            if !of.as_ref().is_some_and(leaves_one_out) {
                *of = None;
            }
        });
    }
    if unions.iter().any(Option::is_some) {
        take_apart(plan, unions);
    }
}

fn take_apart(plan: &mut Plan, unions: Vec<Option<Vec<Branch>>>) {
    let (mut places, mut shared) = (Vec::new(), Vec::new());
    for (tree, branches) in std::mem::take(&mut plan.shared).into_iter().zip(unions) {
        let tree = with_places(tree, &places, &mut plan.columns);
        let next = SharedId(shared.len());
        match (tree, branches) {
            (Operator::UnionAll(UnionAll { inputs, .. }), Some(branches)) => {
                shared.extend(inputs.into_iter().map(|input| input.0));
                places.push(Place::Apart(next, branches));
            }
            (tree, _) => {
                shared.push(tree);
                places.push(Place::Moved(next));
            }
        }
    }
    plan.shared = shared;
    let subqueries = plan.subqueries.iter_mut().map(|s| &mut s.0);
    for tree in subqueries.chain([&mut plan.root]) {
        *tree = with_places(take(tree), &places, &mut plan.columns);
    }
}

/// The branches of a union of which some have constants for columns.
fn branches(op: &Operator) -> Option<Vec<Branch>> {
    let Operator::UnionAll(UnionAll { inputs, columns }) = op else {
        return None;
    };
    let all: Vec<Branch> = inputs
        .iter()
        .map(|(input, from)| Branch::new(input, from, columns))
        .collect();
    let tells_apart = all.iter().any(|branch| !branch.constants.is_empty());
    (all.len() > 1 && tells_apart).then_some(all)
}

impl Branch {
    fn new(input: &Operator, from: &[ColumnId], columns: &[ColumnId]) -> Branch {
        let computed = if let Operator::Map(map) = input {
            map.expressions.as_slice()
        } else {
            &[]
        };
        let constant = |id: ColumnId| {
            let found = computed.iter().find(|(made, _)| *made == id)?;
            matches!(found.1.kind, ExprKind::Constant(_)).then(|| found.1.clone())
        };
        let mut branch = Branch {
            constants: HashMap::new(),
            columns: HashMap::new(),
        };
        for (id, own) in columns.iter().zip(from) {
            match constant(*own) {
                Some(value) => drop(branch.constants.insert(*id, value)),
                None => drop(branch.columns.insert(*id, *own)),
            }
        }
        branch
    }

    /// Whether filters over a reading of the union may keep rows of the branch.
    fn is_wanted(&self, shared: &Shared, filters: &[&Expr], columns: &Columns) -> bool {
        let stored = |id: ColumnId| shared.columns.iter().find(|c| c.0 == id).map(|c| c.1);
        let constant = |id: ColumnId| self.constants.get(&stored(id)?);
        let is_never_true = |e: &Expr| {
            if !e.columns_read().into_iter().any(|id| constant(id).is_some()) {
                return false;
            }
            let mut of_branch = e.clone();
            of_branch.replace_columns(&|id| constant(id).cloned());
            simplify::expression(&mut of_branch, columns);
            is_bool(&of_branch, false) || matches!(of_branch.kind, ExprKind::Constant(Value::Null))
        };
        !filters.iter().any(|e| is_never_true(e))
    }

    /// A reading of the branch under its number, with the columns of a reading of the union, or under new names where it is
    /// one of several. Gives the names, too.
    fn reading(
        &self,
        id: SharedId,
        shared: &Shared,
        is_only: bool,
        columns: &mut Columns,
    ) -> (Operator, Vec<ColumnId>) {
        let (mut names, mut read, mut expressions) = (Vec::new(), Vec::new(), Vec::new());
        for (made, stored) in &shared.columns {
            let name = match is_only {
                true => *made,
                false => {
                    let info = columns[*made].clone();
                    let name = columns.add(info.label, info.ty, info.nullable);
                    columns[name].bounds = info.bounds;
                    columns[name].observed = info.observed;
                    name
                }
            };
            names.push(name);
            match self.constants.get(stored) {
                Some(value) => expressions.push((name, value.clone())),
                None => read.push((name, self.columns[stored])),
            }
        }
        let op = Operator::Shared(Shared { id, columns: read });
        (Map::above(op, expressions), names)
    }
}

/// Gives every reading of a shared subplan in a tree to `visit`, with the filters above it.
fn each_reading<'a>(
    op: &'a Operator,
    filters: &mut Vec<&'a Expr>,
    visit: &mut dyn FnMut(&'a Shared, &[&'a Expr]),
) {
    if let Operator::Filter(Filter { input, predicate }) = op {
        filters.push(predicate);
        each_reading(input, filters, visit);
        filters.pop();
        return;
    }
    if let Operator::Shared(shared) = op {
        visit(shared, filters);
    }
    for input in op.inputs() {
        each_reading(input, &mut vec![], visit);
    }
}

/// A tree that reads shared subplans where they are now, its filters pushed down to the branches.
fn with_places(mut op: Operator, places: &[Place], columns: &mut Columns) -> Operator {
    let mut is_apart = false;
    replace(&mut op, &mut vec![], places, columns, &mut is_apart);
    match is_apart {
        true => push(op, vec![], columns),
        false => op,
    }
}

fn replace(
    op: &mut Operator,
    filters: &mut Vec<Expr>,
    places: &[Place],
    columns: &mut Columns,
    is_apart: &mut bool,
) {
    if let Operator::Filter(Filter { input, predicate }) = op {
        filters.push(predicate.clone());
        replace(input, filters, places, columns, is_apart);
        filters.pop();
        return;
    }
    if let Operator::Shared(shared) = op {
        match &places[shared.id.0] {
            Place::Moved(id) => shared.id = *id,
            Place::Apart(first, branches) => {
                *op = readings(shared, filters, *first, branches, columns);
                *is_apart = true;
            }
        }
        return;
    }
    for input in op.inputs_mut() {
        replace(input, &mut vec![], places, columns, is_apart);
    }
}

/// The rows of the branches that a reading of their union wants.
fn readings(
    shared: &Shared,
    filters: &[Expr],
    first: SharedId,
    branches: &[Branch],
    columns: &mut Columns,
) -> Operator {
    let filters: Vec<&Expr> = filters.iter().collect();
    let all = branches.iter().enumerate();
    let wanted: Vec<_> = all
        .filter(|(_, b)| b.is_wanted(shared, &filters, columns))
        .collect();
    let is_only = wanted.len() == 1;
    let mut inputs = Vec::new();
    for (at, branch) in wanted {
        inputs.push(branch.reading(SharedId(first.0 + at), shared, is_only, columns));
    }
    match is_only {
        true => inputs.remove(0).0,
        false => Operator::UnionAll(UnionAll {
            inputs,
            columns: shared.columns.iter().map(|c| c.0).collect(),
        }),
    }
}
