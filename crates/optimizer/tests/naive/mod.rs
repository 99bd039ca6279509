//! The naive evaluator: nested loops over small tables of nullable integers, in three-valued logic.

use frazil_plan::operator::ScanRestrictionKind;
use frazil_plan::{
    AggregateCall, AggregateFunction, Bounds, ColumnId, Expr, ExprKind, JoinKind, Operator, Plan,
    ScanDisjunction, ScanRestriction, Statistics, TableId,
};
use frazil_types::Value;
use std::collections::BTreeMap;

/// A value; booleans are 0 and 1.
pub type Cell = Option<i128>;
type Row = BTreeMap<ColumnId, Cell>;

/// Small tables of integers.
#[derive(Clone, Debug)]
pub struct Tables {
    /// Rows by table.
    pub rows: Vec<Vec<Vec<Cell>>>,
    /// Statistics speak of a hundred thousand times as many rows, with no bounds: rules that pay for
    /// large tables only are tried too, and arithmetic may fail.
    pub inflated: bool,
}

const INFLATION: u64 = 100_000;

impl Statistics for Tables {
    fn row_count(&self, table: TableId) -> u64 {
        let rows = self.rows[table.0 as usize].len() as u64;
        if self.inflated { rows * INFLATION } else { rows }
    }
    fn bounds(&self, table: TableId, column: usize) -> Option<Bounds> {
        if self.inflated {
            return None;
        }
        let values = || self.rows[table.0 as usize].iter().filter_map(|r| r[column]);
        Some(Bounds {
            min: values().min()?,
            max: values().max()?,
        })
    }
    fn distinct(&self, table: TableId, column: usize) -> Option<u64> {
        let mut values: Vec<Cell> = self.rows[table.0 as usize].iter().map(|r| r[column]).collect();
        values.sort();
        values.dedup();
        let distinct = values.len() as u64;
        Some(if self.inflated {
            distinct * INFLATION
        } else {
            distinct
        })
    }
    fn null_count(&self, table: TableId, column: usize) -> u64 {
        self.rows[table.0 as usize]
            .iter()
            .filter(|r| r[column].is_none())
            .count() as u64
    }
}

/// The rows of a plan, sorted.
pub fn run(plan: &Plan, tables: &Tables) -> Vec<Vec<Cell>> {
    let shared: Vec<Vec<Row>> = Vec::new();
    let mut run = Run { tables, shared };
    for tree in &plan.shared {
        let rows = run.rows(tree);
        run.shared.push(rows);
    }
    let mut out: Vec<Vec<Cell>> = run
        .rows(&plan.root)
        .iter()
        .map(|r| plan.output.iter().map(|o| r[&o.1]).collect())
        .collect();
    out.sort();
    out
}

struct Run<'a> {
    tables: &'a Tables,
    shared: Vec<Vec<Row>>,
}

impl Run<'_> {
    fn rows(&self, op: &Operator) -> Vec<Row> {
        match op {
            Operator::Scan {
                table,
                columns,
                restrictions,
                disjunctions,
                ..
            } => {
                let rows = self.tables.rows[table.0 as usize].iter();
                rows.map(|r| columns.iter().map(|(id, at)| (*id, r[*at])).collect::<Row>())
                    .filter(|r| restrictions.iter().all(|x| satisfies(x, r)))
                    .filter(|r| {
                        let any = |d: &ScanDisjunction| {
                            (d.alternatives.iter()).any(|a| a.iter().all(|x| satisfies(x, r)))
                        };
                        disjunctions.iter().all(any)
                    })
                    .collect()
            }
            Operator::Values { columns, rows } => rows
                .iter()
                .map(|r| {
                    columns
                        .iter()
                        .zip(r)
                        .map(|(id, e)| (*id, value(e, &Row::new())))
                        .collect()
                })
                .collect(),
            Operator::Filter { input, predicate } => {
                let rows = self.rows(input).into_iter();
                rows.filter(|r| value(predicate, r) == Some(1)).collect()
            }
            Operator::Map { input, expressions } => {
                let mut rows = self.rows(input);
                for row in &mut rows {
                    for (id, e) in expressions {
                        let v = value(e, row);
                        row.insert(*id, v);
                    }
                }
                rows
            }
            Operator::Join { .. } => self.join(op),
            Operator::Aggregate {
                input,
                groups,
                aggregates,
            } => aggregate(&self.rows(input), groups, aggregates),
            Operator::UnionAll { inputs, columns } => {
                let mut out = Vec::new();
                for (input, from) in inputs {
                    let rename = |r: Row| columns.iter().zip(from).map(|(c, f)| (*c, r[f])).collect::<Row>();
                    out.extend(self.rows(input).into_iter().map(rename));
                }
                out
            }
            Operator::Shared { id, columns } => self.shared[id.0]
                .iter()
                .map(|r| columns.iter().map(|(made, stored)| (*made, r[stored])).collect())
                .collect(),
            other => panic!("not evaluated here: {other:?}"),
        }
    }

    fn join(&self, op: &Operator) -> Vec<Row> {
        let Operator::Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
        } = op
        else {
            panic!("not a join")
        };
        let (builds, probes) = (self.rows(build), self.rows(probe));
        // Whether a pair matches: true, false or unknown.
        let matches = |b: &Row, p: &Row| -> Cell {
            let pair: Row = b.iter().chain(p).map(|(k, v)| (*k, *v)).collect();
            if residual.as_ref().is_some_and(|e| value(e, &pair) != Some(1)) {
                return Some(0);
            }
            let equal = keys.iter().map(|(x, y)| {
                let (x, y) = (value(x, b)?, value(y, p)?);
                Some(i128::from(x == y))
            });
            all(equal)
        };
        let both = |b: &Row, p: &Row| b.iter().chain(p).map(|(k, v)| (*k, *v)).collect::<Row>();
        let nulls = |side: &Operator| side.visible().into_iter().map(|id| (id, None)).collect::<Row>();
        // A match for semi and anti joins: NULL-aware ones ask whether it is possible.
        let counts = |m: Cell| m == Some(1) || *null_aware && m.is_none();
        let mut out = Vec::new();
        match kind {
            JoinKind::BuildSemi | JoinKind::BuildAnti => {
                for b in &builds {
                    if probes.iter().any(|p| counts(matches(b, p))) == (*kind == JoinKind::BuildSemi) {
                        out.push(b.clone());
                    }
                }
                return out;
            }
            _ => {}
        }
        for p in &probes {
            let all: Vec<Cell> = builds.iter().map(|b| matches(b, p)).collect();
            let found = all.contains(&Some(1));
            match kind {
                JoinKind::ProbeSemi | JoinKind::ProbeAnti => {
                    if all.iter().any(|m| counts(*m)) == (*kind == JoinKind::ProbeSemi) {
                        out.push(p.clone());
                    }
                    continue;
                }
                JoinKind::ProbeMark(mark) => {
                    let unknown = *null_aware && all.contains(&None);
                    let v = if found {
                        Some(1)
                    } else if unknown {
                        None
                    } else {
                        Some(0)
                    };
                    let mut row = p.clone();
                    row.insert(*mark, v);
                    out.push(row);
                    continue;
                }
                _ => {}
            }
            let pairs = builds.iter().zip(&all).filter(|(_, m)| **m == Some(1));
            out.extend(pairs.map(|(b, _)| both(b, p)));
            if !found && matches!(kind, JoinKind::ProbeOuter | JoinKind::FullOuter) {
                out.push(both(&nulls(build), p));
            }
        }
        if matches!(kind, JoinKind::BuildOuter | JoinKind::FullOuter) {
            for b in &builds {
                if !probes.iter().any(|p| matches(b, p) == Some(1)) {
                    out.push(both(b, &nulls(probe)));
                }
            }
        }
        out
    }
}

fn aggregate(
    rows: &[Row],
    groups: &[(ColumnId, Expr)],
    aggregates: &[(ColumnId, AggregateCall)],
) -> Vec<Row> {
    let mut found: BTreeMap<Vec<Cell>, Vec<&Row>> = BTreeMap::new();
    if groups.is_empty() {
        found.insert(vec![], vec![]);
    }
    for row in rows {
        found
            .entry(groups.iter().map(|g| value(&g.1, row)).collect())
            .or_default()
            .push(row);
    }
    let one = |(key, rows): (Vec<Cell>, Vec<&Row>)| {
        let keys = groups.iter().zip(key).map(|(g, v)| (g.0, v));
        let calls = aggregates.iter().map(|(id, call)| (*id, of_call(call, &rows)));
        keys.chain(calls).collect()
    };
    found.into_iter().map(one).collect()
}

fn of_call(call: &AggregateCall, rows: &[&Row]) -> Cell {
    let kept = rows
        .iter()
        .filter(|r| call.filter.as_ref().is_none_or(|f| value(f, r) == Some(1)));
    let mut values: Vec<i128> = match &call.argument {
        None => kept.map(|_| 1).collect(),
        Some(e) => kept.filter_map(|r| value(e, r)).collect(),
    };
    if call.distinct {
        values.sort();
        values.dedup();
    }
    match call.function {
        AggregateFunction::CountRows | AggregateFunction::Count => Some(values.len() as i128),
        AggregateFunction::Sum => (!values.is_empty()).then(|| values.iter().sum()),
        AggregateFunction::Min => values.into_iter().min(),
        AggregateFunction::Max => values.into_iter().max(),
        AggregateFunction::Avg => panic!("not evaluated here"),
    }
}

/// Kleene's conjunction: one false decides, then one unknown.
fn all(parts: impl Iterator<Item = Cell>) -> Cell {
    let parts: Vec<Cell> = parts.collect();
    if parts.contains(&Some(0)) {
        return Some(0);
    }
    (!parts.contains(&None)).then_some(1)
}

fn constant(v: &Value) -> Cell {
    v.as_int()
}

fn value(e: &Expr, row: &Row) -> Cell {
    let truth = |b: bool| Some(i128::from(b));
    match &e.kind {
        ExprKind::Column(id) => row[id],
        ExprKind::Constant(v) => constant(v),
        ExprKind::Compare(op, l, r) => truth(op.holds(value(l, row)?.cmp(&value(r, row)?))),
        ExprKind::InList {
            value: v,
            list,
            negated,
        } => {
            let v = value(v, row)?;
            truth(list.iter().any(|x| constant(x) == Some(v)) != *negated)
        }
        ExprKind::Not(e) => value(e, row).map(|v| 1 - v),
        ExprKind::IsNull(e) => truth(value(e, row).is_none()),
        ExprKind::And(list) => all(list.iter().map(|e| value(e, row))),
        ExprKind::Or(list) => all(list.iter().map(|e| value(e, row).map(|v| 1 - v))).map(|v| 1 - v),
        ExprKind::Arithmetic(_, l, r) => Some(value(l, row)? + value(r, row)?),
        ExprKind::Cast(e) => value(e, row),
        ExprKind::Case { branches, otherwise } => {
            let hit = branches
                .iter()
                .find(|b| value(&b.0, row) == Some(1))
                .map(|b| &b.1);
            hit.or(otherwise.as_deref()).and_then(|e| value(e, row))
        }
        other => panic!("not evaluated here: {other:?}"),
    }
}

fn satisfies(r: &ScanRestriction, row: &Row) -> bool {
    let v = row[&r.column];
    let operand = |e: &Expr| value(e, &Row::new());
    match (&r.kind, v) {
        (ScanRestrictionKind::IsNull, v) => v.is_none(),
        (_, None) => false,
        (ScanRestrictionKind::IsNotNull, _) => true,
        (ScanRestrictionKind::Compare(op, e), Some(v)) => operand(e).is_some_and(|x| op.holds(v.cmp(&x))),
        (ScanRestrictionKind::Between(l, h), Some(v)) => operand(l) <= Some(v) && Some(v) <= operand(h),
        (ScanRestrictionKind::In(list), Some(v)) => list.iter().any(|x| constant(x) == Some(v)),
        (other, _) => panic!("not evaluated here: {other:?}"),
    }
}
