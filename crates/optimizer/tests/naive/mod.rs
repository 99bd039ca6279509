//! The naive evaluator: nested loops over small tables of nullable integers, in three-valued logic. It runs plans as
//! bound too: a subquery is computed for each row that asks for it. AND, OR and CASE stop where the result is known.

use frazil_plan::operators::{
    Aggregate, DependentJoin, Expand, Filter, GroupingSets, Join, Limit, Map, Scan, ScanRestrictionKind,
    Shared, Sort, TopPerGroup, UnionAll, Values,
};
use frazil_plan::{
    AggregateCall, AggregateFunction, ArithmeticOp, Bounds, ColumnId, Expansion, Expr, ExprKind,
    FirstMatches, IndexInfo, JoinKind, Operator, Plan, RowCount, RowsFunction, SampleSize, SampledRows,
    ScalarFunction, ScanDisjunction, ScanRestriction, SortKey, Statistics, StoredExpression, Subquery,
    SubqueryKind,
};
use frazil_types::{KeySketch, MatchBits, ObjectId, Restriction, Value};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value; booleans are 0 and 1.
pub type Cell = Option<i128>;
type Row = BTreeMap<ColumnId, Cell>;

/// A SQLSTATE.
pub type Failure = &'static str;
type Done<T> = Result<T, Failure>;

const SEVERAL_ROWS: Failure = "21000";
const DIVISION: Failure = "22012";
const NEGATIVE: Failure = "2201W";
const STEP_OF_ZERO: Failure = "22023";

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
    fn row_count(&self, table: ObjectId) -> u64 {
        let rows = self.rows[table.0 as usize].len() as u64;
        if self.inflated { rows * INFLATION } else { rows }
    }
    fn exact_row_count(&self, table: ObjectId) -> Option<u64> {
        (!self.inflated).then(|| self.row_count(table))
    }
    fn bounds(&self, table: ObjectId, column: usize) -> Option<Bounds> {
        if self.inflated {
            return None;
        }
        let values = || self.rows[table.0 as usize].iter().filter_map(|r| r[column]);
        Some(Bounds {
            min: values().min()?,
            max: values().max()?,
        })
    }
    fn distinct(&self, table: ObjectId, column: usize) -> Option<u64> {
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
    fn spread(&self, _: ObjectId, _: usize) -> Option<f64> {
        Some(1.0)
    }
    fn null_count(&self, table: ObjectId, column: usize) -> u64 {
        self.rows[table.0 as usize]
            .iter()
            .filter(|r| r[column].is_none())
            .count() as u64
    }
    fn indexes(&self, _: ObjectId) -> Vec<IndexInfo> {
        Vec::new()
    }

    fn sample(&self, _: ObjectId) -> Option<SampleSize> {
        None
    }

    fn sampled(&self, _: SampledRows, _: &Restriction) -> Option<Arc<MatchBits>> {
        None
    }

    fn key_sketch(&self, _: ObjectId, _: usize) -> Option<Arc<KeySketch>> {
        None
    }

    fn stored_expressions(&self, _: ObjectId) -> Vec<StoredExpression> {
        Vec::new()
    }
}

/// The rows of a plan, sorted, or how it fails.
pub fn run(plan: &Plan, tables: &Tables) -> Done<Vec<Vec<Cell>>> {
    let run = Run::new(plan, tables);
    let mut out: Vec<Vec<Cell>> = run
        .rows(&plan.root, &Row::new())?
        .iter()
        .map(|r| plan.output.iter().map(|o| r[&o.1]).collect())
        .collect();
    out.sort();
    Ok(out)
}

/// As [`run`], of an optimized plan: subqueries of the plan and what trees share is computed before, whether or not a row
/// asks for it.
pub fn run_eagerly(plan: &Plan, tables: &Tables) -> Done<Vec<Vec<Cell>>> {
    let all = Run::new(plan, tables);
    for (tree, _) in &plan.subqueries {
        all.shared_rows(tree)?;
        if all.rows(tree, &Row::new())?.len() > 1 {
            return Err(SEVERAL_ROWS);
        }
    }
    all.shared_rows(&plan.root)?;
    run(plan, tables)
}

struct Run<'a> {
    tables: &'a Tables,
    plan: &'a Plan,
    /// Rows of shared subplans, once they are computed.
    shared: Vec<OnceCell<Done<Vec<Row>>>>,
}

impl<'a> Run<'a> {
    fn new(plan: &'a Plan, tables: &'a Tables) -> Run<'a> {
        let shared = plan.shared.iter().map(|_| OnceCell::new()).collect();
        Run { tables, plan, shared }
    }
}

fn over(outer: &Row, row: &Row) -> Row {
    outer.iter().chain(row).map(|(k, v)| (*k, *v)).collect()
}

impl Run<'_> {
    fn shared(&self, id: usize) -> Done<Vec<Row>> {
        let rows = || self.rows(&self.plan.shared[id], &Row::new());
        self.shared[id].get_or_init(rows).clone()
    }

    /// Computes what a tree shares with others.
    fn shared_rows(&self, op: &Operator) -> Done<()> {
        if let Operator::Shared(Shared { id, .. }) = op {
            self.shared_rows(&self.plan.shared[id.0])?;
            self.shared(id.0)?;
        }
        op.inputs()
            .into_iter()
            .try_for_each(|input| self.shared_rows(input))
    }

    /// The rows of a tree for a row of the queries around it.
    fn rows(&self, op: &Operator, outer: &Row) -> Done<Vec<Row>> {
        Ok(match op {
            Operator::Scan(Scan {
                table,
                columns,
                restrictions,
                disjunctions,
                ..
            }) => {
                let mut out = Vec::new();
                for r in &self.tables.rows[table.0 as usize] {
                    let row: Row = columns.iter().map(|(id, at)| (*id, r[*at])).collect();
                    if self.restricted(restrictions, disjunctions, &row)? {
                        out.push(row);
                    }
                }
                out
            }
            Operator::Values(Values { columns, rows }) => {
                let mut out = Vec::new();
                for r in rows {
                    let cells = columns.iter().zip(r);
                    out.push(
                        cells
                            .map(|(id, e)| Ok((*id, self.value(e, outer)?)))
                            .collect::<Done<Row>>()?,
                    );
                }
                out
            }
            Operator::Filter(Filter { input, predicate }) => {
                let mut out = Vec::new();
                for row in self.rows(input, outer)? {
                    if self.value(predicate, &over(outer, &row))? == Some(1) {
                        out.push(row);
                    }
                }
                out
            }
            Operator::Map(Map { input, expressions }) => {
                let mut rows = self.rows(input, outer)?;
                for row in &mut rows {
                    for (id, e) in expressions {
                        let v = self.value(e, &over(outer, row))?;
                        row.insert(*id, v);
                    }
                }
                rows
            }
            Operator::Join(_) => self.join(op, outer)?,
            Operator::DependentJoin(DependentJoin {
                outer: left,
                inner,
                condition,
                keep_outer,
            }) => {
                let mut out = Vec::new();
                for l in self.rows(left, outer)? {
                    let around = over(outer, &l);
                    let mut found = false;
                    for r in self.rows(inner, &around)? {
                        let both = over(&around, &r);
                        if self.holds(condition.as_ref(), &both)? {
                            found = true;
                            out.push(over(&l, &r));
                        }
                    }
                    if !found && *keep_outer {
                        out.push(over(&l, &nulls(inner)));
                    }
                }
                out
            }
            Operator::Aggregate(Aggregate {
                input,
                groups,
                aggregates,
            }) => self.aggregate(&self.rows(input, outer)?, groups, aggregates, outer)?,
            Operator::GroupingSets(sets) => self.grouping_sets(sets, outer)?,
            Operator::UnionAll(UnionAll { inputs, columns }) => {
                let mut out = Vec::new();
                for (input, from) in inputs {
                    for r in self.rows(input, outer)? {
                        let all = over(outer, &r);
                        out.push(columns.iter().zip(from).map(|(c, f)| (*c, all[f])).collect());
                    }
                }
                out
            }
            Operator::Shared(Shared { id, columns }) => (self.shared(id.0)?.iter())
                .map(|r| columns.iter().map(|(made, stored)| (*made, r[stored])).collect())
                .collect(),
            Operator::Sort(Sort {
                input,
                keys,
                limit,
                offset,
            }) => self.first(self.rows(input, outer)?, &[], keys, (limit, offset), outer)?,
            Operator::Limit(Limit { input, limit, offset }) => {
                self.first(self.rows(input, outer)?, &[], &[], (limit, offset), outer)?
            }
            Operator::TopPerGroup(TopPerGroup {
                input,
                groups,
                keys,
                limit,
                offset,
            }) => self.first(self.rows(input, outer)?, groups, keys, (limit, offset), outer)?,
            Operator::Expand(Expand { input, expansion }) => {
                let mut out = Vec::new();
                for row in self.rows(input, outer)? {
                    self.expand(&row, expansion, outer, &mut out)?;
                }
                out
            }
            other => panic!("not evaluated here: {other:?}"),
        })
    }

    /// A row with what functions give for it, side by side.
    fn expand(&self, row: &Row, expansion: &Expansion, outer: &Row, out: &mut Vec<Row>) -> Done<()> {
        let mut given = Vec::new();
        for (id, call) in &expansion.calls {
            let around = over(outer, row);
            let arguments = call.arguments.iter().map(|e| self.value(e, &around));
            let values = match (call.function, &arguments.collect::<Done<Vec<Cell>>>()?[..]) {
                (RowsFunction::Once, [value]) => vec![*value],
                (RowsFunction::Elements, _) => panic!("arrays are not evaluated here"),
                (RowsFunction::Series, [Some(start), Some(stop), Some(step)]) => {
                    let mut next = *start;
                    let mut values = Vec::new();
                    while *step != 0 && (stop - next) * step.signum() >= 0 {
                        values.push(Some(next));
                        next += step;
                    }
                    match step {
                        0 => return Err(STEP_OF_ZERO),
                        _ => values,
                    }
                }
                _ => vec![],
            };
            given.push((*id, values));
        }
        let rows = given.iter().map(|g| g.1.len()).max().unwrap_or(0);
        for at in 0..rows {
            let mut made = row.clone();
            made.extend((given.iter()).map(|(id, values)| (*id, values.get(at).copied().flatten())));
            made.extend(expansion.ordinality.map(|id| (id, Some(at as i128 + 1))));
            out.push(made);
        }
        Ok(())
    }

    /// The first rows of each group in the order of the keys.
    fn first(
        &self,
        mut rows: Vec<Row>,
        groups: &[ColumnId],
        keys: &[SortKey],
        (limit, offset): (&Option<RowCount>, &RowCount),
        outer: &Row,
    ) -> Done<Vec<Row>> {
        let count = |n: &RowCount, row: &Row| -> Done<Option<u64>> {
            let value = match n {
                RowCount::Constant(n) => return Ok(Some(*n)),
                RowCount::Value(e) => self.value(e, outer)?,
                RowCount::Column(id) => row[id],
            };
            value.map(|n| u64::try_from(n).map_err(|_| NEGATIVE)).transpose()
        };
        // They are asked for before any row.
        for n in limit.iter().chain([offset]).filter(|n| n.value().is_some()) {
            count(n, outer)?;
        }
        rows.sort_by_key(|r| {
            let key = |k: &SortKey| {
                let v = r[&k.column];
                let null = v.is_none() != k.nulls_first;
                (null, if k.descending { v.map(|v| -v) } else { v })
            };
            keys.iter().map(key).collect::<Vec<_>>()
        });
        let mut ranks: BTreeMap<Vec<Cell>, u64> = BTreeMap::new();
        let mut kept = Vec::new();
        for r in rows {
            let rank = ranks.entry(groups.iter().map(|g| r[g]).collect()).or_default();
            *rank += 1;
            let limit = limit.as_ref().map(|n| count(n, &r)).transpose()?.flatten();
            let offset = count(offset, &r)?.unwrap_or(0);
            if *rank > offset && *rank - offset <= limit.unwrap_or(u64::MAX) {
                kept.push(r);
            }
        }
        Ok(kept)
    }

    fn holds(&self, condition: Option<&Expr>, row: &Row) -> Done<bool> {
        Ok(match condition {
            Some(e) => self.value(e, row)? == Some(1),
            None => true,
        })
    }

    fn restricted(
        &self,
        restrictions: &[ScanRestriction],
        disjunctions: &[ScanDisjunction],
        row: &Row,
    ) -> Done<bool> {
        for r in restrictions {
            if !self.satisfies(r, row)? {
                return Ok(false);
            }
        }
        for d in disjunctions {
            let mut any = false;
            for alternative in &d.alternatives {
                any |= self.restricted(alternative, &[], row)?;
            }
            if !any {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The first of the build rows that match a probe row.
    fn first_matches(
        &self,
        join: &Join,
        first: &FirstMatches,
        matched: Vec<Row>,
        outer: &Row,
    ) -> Done<Vec<Row>> {
        let band = join.band().expect("an order of the build rows");
        let all = (&None, &RowCount::Constant(0));
        let matched = self.first(matched, &[], &first.then, all, outer)?;
        let mut keyed = Vec::new();
        for b in matched {
            let key = self.value(&band.key, &over(outer, &b))?;
            keyed.push((if first.descending { key.map(|v| -v) } else { key }, b));
        }
        keyed.sort_by_key(|(key, _)| *key);
        let (skipped, most) = (first.offset as usize, first.most() as usize);
        Ok(keyed
            .into_iter()
            .map(|(_, b)| b)
            .take(most)
            .skip(skipped)
            .collect())
    }

    fn join(&self, op: &Operator, outer: &Row) -> Done<Vec<Row>> {
        let Operator::Join(join) = op else {
            panic!("not a join")
        };
        let Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
            in_order: _,
            first,
        } = join;
        let (builds, probes) = (self.rows(build, outer)?, self.rows(probe, outer)?);
        // Whether a pair matches: true, false or unknown. A condition is asked where the keys do not say no.
        let matches = |b: &Row, p: &Row| -> Done<Cell> {
            let mut equal = Vec::new();
            for (x, y) in keys {
                let (x, y) = (self.value(x, &over(outer, b))?, self.value(y, &over(outer, p))?);
                equal.push(x.zip(y).map(|(x, y)| i128::from(x == y)));
            }
            let equal = all(equal.into_iter());
            if equal == Some(0) || residual.is_none() {
                return Ok(equal);
            }
            let pair = over(outer, &over(b, p));
            Ok(if self.holds(residual.as_ref(), &pair)? {
                equal
            } else {
                Some(0)
            })
        };
        let mut table = Vec::new();
        for p in &probes {
            let row = builds.iter().map(|b| matches(b, p));
            table.push(row.collect::<Done<Vec<Cell>>>()?);
        }
        let both = |b: &Row, p: &Row| b.iter().chain(p).map(|(k, v)| (*k, *v)).collect::<Row>();
        // A match for semi and anti joins: NULL-aware ones ask whether it is possible.
        let counts = |m: Cell| m == Some(1) || *null_aware && m.is_none();
        let mut out = Vec::new();
        match kind {
            JoinKind::BuildSemi | JoinKind::BuildAnti => {
                for (i, b) in builds.iter().enumerate() {
                    if table.iter().any(|row| counts(row[i])) == (*kind == JoinKind::BuildSemi) {
                        out.push(b.clone());
                    }
                }
                return Ok(out);
            }
            _ => {}
        }
        for (p, all) in probes.iter().zip(&table) {
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
            let pairs = builds.iter().zip(all).filter(|(_, m)| **m == Some(1));
            let mut matched: Vec<Row> = pairs.map(|(b, _)| b.clone()).collect();
            if let Some(first) = first {
                matched = self.first_matches(join, first, matched, outer)?;
            }
            out.extend(matched.iter().map(|b| both(b, p)));
            if !found && matches!(kind, JoinKind::ProbeOuter | JoinKind::FullOuter) {
                out.push(both(&nulls(build), p));
            }
        }
        if matches!(kind, JoinKind::BuildOuter | JoinKind::FullOuter) {
            for (i, b) in builds.iter().enumerate() {
                if !table.iter().any(|row| row[i] == Some(1)) {
                    out.push(both(b, &nulls(probe)));
                }
            }
        }
        Ok(out)
    }

    fn aggregate(
        &self,
        rows: &[Row],
        groups: &[(ColumnId, Expr)],
        aggregates: &[(ColumnId, AggregateCall)],
        outer: &Row,
    ) -> Done<Vec<Row>> {
        let mut found: BTreeMap<Vec<Cell>, Vec<Row>> = BTreeMap::new();
        if groups.is_empty() {
            found.insert(vec![], vec![]);
        }
        for row in rows {
            let row = over(outer, row);
            let key = groups.iter().map(|g| self.value(&g.1, &row));
            let key = key.collect::<Done<Vec<Cell>>>()?;
            found.entry(key).or_default().push(row);
        }
        let mut out = Vec::new();
        for (key, rows) in found {
            let mut row: Row = groups.iter().zip(key).map(|(g, v)| (g.0, v)).collect();
            for (id, call) in aggregates {
                row.insert(*id, self.of_call(call, &rows)?);
            }
            out.push(row);
        }
        Ok(out)
    }

    /// The rows of one set after the other.
    fn grouping_sets(&self, sets: &GroupingSets, outer: &Row) -> Done<Vec<Row>> {
        let rows = self.rows(&sets.all.input, outer)?;
        let mut out = Vec::new();
        for set in &sets.sets {
            let groups: Vec<_> = set.iter().map(|at| sets.all.groups[*at].clone()).collect();
            for mut row in self.aggregate(&rows, &groups, &sets.all.aggregates, outer)? {
                for (id, _) in &sets.all.groups {
                    row.entry(*id).or_insert(None);
                }
                for (id, arguments) in &sets.grouping {
                    let absent = arguments.iter().rev().enumerate();
                    let bits = absent
                        .filter(|(_, at)| !set.contains(at))
                        .map(|(bit, _)| 1 << bit);
                    row.insert(*id, Some(bits.sum()));
                }
                out.push(row);
            }
        }
        Ok(out)
    }

    fn of_call(&self, call: &AggregateCall, rows: &[Row]) -> Done<Cell> {
        let mut values: Vec<i128> = Vec::new();
        for row in rows {
            if !self.holds(call.filter.as_ref(), row)? {
                continue;
            }
            match &call.argument {
                None => values.push(1),
                Some(e) => values.extend(self.value(e, row)?),
            }
        }
        if call.distinct {
            values.sort();
            values.dedup();
        }
        Ok(match call.function {
            AggregateFunction::CountRows | AggregateFunction::Count => Some(values.len() as i128),
            AggregateFunction::Sum => (!values.is_empty()).then(|| values.iter().sum()),
            AggregateFunction::Min => values.into_iter().min(),
            AggregateFunction::Max => values.into_iter().max(),
            AggregateFunction::Avg
            | AggregateFunction::BitAnd
            | AggregateFunction::BitOr
            | AggregateFunction::BitXor
            | AggregateFunction::Deviations
            | AggregateFunction::SumOfSquares
            | AggregateFunction::StringAgg
            | AggregateFunction::ArrayAgg
            | AggregateFunction::PercentileCont
            | AggregateFunction::PercentileDisc
            | AggregateFunction::Mode
            | AggregateFunction::First
            | AggregateFunction::Last
            | AggregateFunction::ArgMin
            | AggregateFunction::ArgMax
            | AggregateFunction::ApproxCountDistinct => panic!("not evaluated here"),
        })
    }

    fn subquery(&self, subquery: &Subquery, row: &Row) -> Done<Cell> {
        let rows = self.rows(subquery.root(), row)?;
        match &subquery.kind {
            SubqueryKind::Exists => Ok(Some(i128::from(!rows.is_empty()))),
            SubqueryKind::Scalar => match &rows[..] {
                [] => Ok(None),
                [only] => Ok(over(row, only)[&subquery.columns[0]]),
                _ => Err(SEVERAL_ROWS),
            },
            SubqueryKind::Any(condition) => {
                let asked = rows.iter().map(|r| self.value(condition, &over(row, r)));
                let none = all(asked
                    .map(|v| v.map(|v| v.map(|v| 1 - v)))
                    .collect::<Done<Vec<_>>>()?
                    .into_iter());
                Ok(none.map(|v| 1 - v))
            }
        }
    }

    fn value(&self, e: &Expr, row: &Row) -> Done<Cell> {
        let truth = |b: bool| Some(i128::from(b));
        Ok(match &e.kind {
            ExprKind::Column(id) => row[id],
            ExprKind::Constant(v) => constant(v),
            ExprKind::Compare(op, l, r) => {
                let (l, r) = (self.value(l, row)?, self.value(r, row)?);
                l.zip(r).and_then(|(l, r)| truth(op.holds(l.cmp(&r))))
            }
            ExprKind::Distinct { left, right, negated } => {
                truth((self.value(left, row)? == self.value(right, row)?) == *negated)
            }
            ExprKind::InList {
                value: v,
                list,
                negated,
            } => (self.value(v, row)?)
                .and_then(|v| truth(list.iter().any(|x| constant(x) == Some(v)) != *negated)),
            ExprKind::Not(e) => self.value(e, row)?.map(|v| 1 - v),
            ExprKind::IsNull(e) => truth(self.value(e, row)?.is_none()),
            ExprKind::And(list) => self.decided(list, 0, row)?,
            ExprKind::Or(list) => self.decided(list, 1, row)?,
            ExprKind::Arithmetic(op, l, r) => match (op, self.value(l, row)?, self.value(r, row)?) {
                (ArithmeticOp::Add, Some(l), Some(r)) => Some(l + r),
                (ArithmeticOp::Div, Some(_), Some(0)) => return Err(DIVISION),
                (ArithmeticOp::Div, Some(l), Some(r)) => Some(l / r),
                (ArithmeticOp::Add | ArithmeticOp::Div, ..) => None,
                (op, ..) => panic!("not evaluated here: {op:?}"),
            },
            ExprKind::Cast(e) => self.value(e, row)?,
            ExprKind::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    if self.value(condition, row)? == Some(1) {
                        return self.value(result, row);
                    }
                }
                match otherwise {
                    Some(e) => self.value(e, row)?,
                    None => None,
                }
            }
            ExprKind::Let { column, value, body } => {
                let mut row = row.clone();
                row.insert(*column, self.value(value, &row)?);
                self.value(body, &row)?
            }
            ExprKind::Function(ScalarFunction::Single, arguments) => {
                if self.value(&arguments[1], row)? > Some(1) {
                    return Err(SEVERAL_ROWS);
                }
                self.value(&arguments[0], row)?
            }
            ExprKind::Subquery(subquery) => self.subquery(subquery, row)?,
            ExprKind::ScalarSubquery(id) => {
                let (tree, column) = &self.plan.subqueries[id.0];
                match &self.rows(tree, &Row::new())?[..] {
                    [] => None,
                    [only] => only[column],
                    _ => return Err(SEVERAL_ROWS),
                }
            }
            other => panic!("not evaluated here: {other:?}"),
        })
    }

    /// AND (`decisive` 0) or OR (1) of predicates, from left to right.
    fn decided(&self, list: &[Expr], decisive: i128, row: &Row) -> Done<Cell> {
        let mut out = Some(1 - decisive);
        for e in list {
            match self.value(e, row)? {
                Some(v) if v == decisive => return Ok(Some(v)),
                Some(_) => {}
                None => out = None,
            }
        }
        Ok(out)
    }

    fn satisfies(&self, r: &ScanRestriction, row: &Row) -> Done<bool> {
        let v = row[&r.column];
        let operand = |e: &Expr| self.value(e, &Row::new());
        Ok(match (&r.kind, v) {
            (ScanRestrictionKind::IsNull, v) => v.is_none(),
            (_, None) => false,
            (ScanRestrictionKind::IsNotNull, _) => true,
            (ScanRestrictionKind::Compare(op, e), Some(v)) => {
                operand(e)?.is_some_and(|x| op.holds(v.cmp(&x)))
            }
            (ScanRestrictionKind::Between(l, h), Some(v)) => operand(l)? <= Some(v) && Some(v) <= operand(h)?,
            (ScanRestrictionKind::In(list), Some(v)) => list.iter().any(|x| constant(x) == Some(v)),
            (other, _) => panic!("not evaluated here: {other:?}"),
        })
    }
}

fn nulls(side: &Operator) -> Row {
    side.visible().into_iter().map(|id| (id, None)).collect()
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
