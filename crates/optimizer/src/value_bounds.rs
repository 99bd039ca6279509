//! Proves bounds of the values in every column, bottom-up from the bounds statistics give for base
//! columns, and bounds on the rows an operator can give. Code for bounded values needs no overflow
//! checks, and sums of them over a bounded number of rows no 128 bits (DESIGN: Exactness).
//!
//! Every bound here is a proof, never an estimate.

use frazil_plan::{AggregateCall, AggregateFunction, Bounds, ColumnId, Columns, JoinKind, Operator, Plan};
use frazil_plan::{RowCount, Statistics, bounds};
use frazil_types::decimal;

/// Sets `ColumnInfo::bounds` of every column of the plan.
pub fn propagate(plan: &mut Plan, statistics: &dyn Statistics) {
    let mut pass = Pass {
        columns: &mut plan.columns,
        rows: RowBounds::of_statistics(statistics),
    };
    for tree in &plan.shared {
        pass.tree(tree);
        let rows = pass.rows.of(tree);
        pass.rows.shared.push(rows);
    }
    for tree in plan.subqueries.iter().map(|s| &s.0).chain([&plan.root]) {
        pass.tree(tree);
    }
}

/// How many rows operators give at most.
pub struct RowBounds<'a> {
    statistics: &'a dyn Statistics,
    shared: Vec<Option<u64>>,
}

impl<'a> RowBounds<'a> {
    fn of_statistics(statistics: &'a dyn Statistics) -> RowBounds<'a> {
        RowBounds {
            statistics,
            shared: Vec::new(),
        }
    }

    /// For the trees of a plan.
    pub fn new(plan: &Plan, statistics: &'a dyn Statistics) -> RowBounds<'a> {
        let mut bounds = RowBounds::of_statistics(statistics);
        for tree in &plan.shared {
            let rows = bounds.of(tree);
            bounds.shared.push(rows);
        }
        bounds
    }

    /// The most rows an operator can give; `None` if unknown.
    pub fn of(&self, op: &Operator) -> Option<u64> {
        match op {
            Operator::Scan { table, .. } => Some(self.statistics.row_count(*table)),
            Operator::Values { rows, .. } => Some(rows.len() as u64),
            Operator::Filter { input, .. } | Operator::Map { input, .. } => self.of(input),
            Operator::Join {
                kind, build, probe, ..
            } => {
                let (b, p) = (self.of(build), self.of(probe));
                let pairs = || b?.checked_mul(p?);
                match kind {
                    JoinKind::Inner => pairs(),
                    JoinKind::ProbeOuter => pairs().map(|n| n.max(p.unwrap_or(n))),
                    JoinKind::BuildOuter => pairs().map(|n| n.max(b.unwrap_or(n))),
                    JoinKind::FullOuter => pairs()?.checked_add(b?)?.checked_add(p?),
                    JoinKind::ProbeSemi | JoinKind::ProbeAnti | JoinKind::ProbeMark(_) => p,
                    JoinKind::BuildSemi | JoinKind::BuildAnti => b,
                }
            }
            Operator::DependentJoin { .. } => None,
            Operator::Aggregate { input, groups, .. } => match groups.is_empty() {
                true => Some(1),
                false => self.of(input),
            },
            Operator::TopPerGroup { input, .. } => self.of(input),
            Operator::Sort { input, limit, .. } | Operator::Limit { input, limit, .. } => {
                match (self.of(input), limit.as_ref().and_then(RowCount::constant)) {
                    (Some(rows), Some(limit)) => Some(rows.min(limit)),
                    (rows, limit) => rows.or(limit),
                }
            }
            Operator::UnionAll { inputs, .. } => inputs
                .iter()
                .try_fold(0u64, |sum, (i, _)| sum.checked_add(self.of(i)?)),
            Operator::Shared { id, .. } => self.shared.get(id.0).copied().flatten(),
            Operator::Insert { .. } | Operator::Delete { .. } => Some(0),
        }
    }
}

struct Pass<'a> {
    columns: &'a mut Columns,
    rows: RowBounds<'a>,
}

impl Pass<'_> {
    /// A column's value is within its expression's bounds, and within its type's or it is an error.
    fn set(&mut self, id: ColumnId, found: Option<Bounds>) {
        let of_type = bounds::of_type(self.columns[id].ty);
        self.columns[id].bounds = match (found, of_type) {
            (Some(f), Some(t)) => {
                let both = Bounds {
                    min: f.min.max(t.min),
                    max: f.max.min(t.max),
                };
                if both.min <= both.max { Some(both) } else { Some(t) }
            }
            (found, of_type) => found.or(of_type),
        };
    }

    fn tree(&mut self, op: &Operator) {
        for input in op.inputs() {
            self.tree(input);
        }
        match op {
            Operator::Scan {
                table,
                columns,
                row_id,
                ..
            } => {
                for (id, position) in columns {
                    let found = self.rows.statistics.bounds(*table, *position);
                    self.set(*id, found);
                }
                row_id.iter().for_each(|id| self.set(*id, None));
            }
            Operator::Values { columns, rows } => {
                for (i, id) in columns.iter().enumerate() {
                    let all = rows.iter().filter(|r| !is_null(&r[i]));
                    let found = union(all.map(|r| bounds::of_expression(&r[i], self.columns)));
                    self.set(*id, found);
                }
            }
            Operator::Map { expressions, .. } => {
                for (id, e) in expressions {
                    let found = bounds::of_expression(e, self.columns);
                    self.set(*id, found);
                }
            }
            Operator::Aggregate {
                input,
                groups,
                aggregates,
            } => {
                for (id, e) in groups {
                    let found = bounds::of_expression(e, self.columns);
                    self.set(*id, found);
                }
                let rows = self.rows.of(input);
                for (id, call) in aggregates {
                    let found = of_aggregate(call, rows, self.columns);
                    self.set(*id, found);
                }
            }
            Operator::UnionAll { inputs, columns } => {
                for (i, id) in columns.iter().enumerate() {
                    let found = union(inputs.iter().map(|(_, from)| self.columns[from[i]].bounds));
                    self.set(*id, found);
                }
            }
            Operator::Shared { columns, .. } => {
                for (made, stored) in columns {
                    let found = self.columns[*stored].bounds;
                    self.set(*made, found);
                }
            }
            _ => {}
        }
    }
}

fn is_null(e: &frazil_plan::Expr) -> bool {
    matches!(e.kind, frazil_plan::ExprKind::Constant(frazil_types::Value::Null))
}

/// The range that holds all ranges; `None` for none, or if any is unknown.
fn union(mut all: impl Iterator<Item = Option<Bounds>>) -> Option<Bounds> {
    let first = all.next()??;
    all.try_fold(first, |a, b| Some(a.union(b?)))
}

fn of_aggregate(call: &AggregateCall, rows: Option<u64>, columns: &Columns) -> Option<Bounds> {
    let argument = || {
        let e = call.argument.as_ref()?;
        Some((bounds::of_expression(e, columns)?, e.ty))
    };
    match call.function {
        AggregateFunction::CountRows | AggregateFunction::Count => Some(Bounds {
            min: 0,
            max: rows.map_or(i64::MAX.into(), i128::from),
        }),
        AggregateFunction::Sum => argument()?.0.sum_over(rows?),
        AggregateFunction::Min | AggregateFunction::Max => Some(argument()?.0),
        AggregateFunction::Avg => {
            let (b, ty) = argument()?;
            let (from, to) = (ty.scale()?, call.ty.scale()?);
            Some(Bounds {
                min: decimal::rescale(b.min, from, to)?,
                max: decimal::rescale(b.max, from, to)?,
            })
        }
    }
}
