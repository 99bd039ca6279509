//! The places where a subquery may stand: every expression of every operator.

use super::parts::Parts;
use super::site::{Outer, Site};
use super::{Unnesting, case, filtered, join, mapped, not, not_false};
use crate::can_fail::may_fail;
use crate::pushdown::{normalized, take};
use crate::rename::{self, copied};
use frazil_plan::operators::{
    Aggregate, Expand, Filter, GroupingSets, Join, Limit, Map, Sort, TopPerGroup, UnionAll, Values,
};
use frazil_plan::subquery::has_subquery;
use frazil_plan::{
    ColumnId, Expr, ExprKind, JoinKind, Operator, RowCount, SortKey, SubqueryKind, free_columns,
};
use frazil_types::{CompareOp, Error, Result, Value};
use std::collections::HashSet;

impl Unnesting<'_> {
    /// An operator whose own expressions hold subqueries, its inputs done.
    pub(super) fn operator(&mut self, op: Operator) -> Result<Operator> {
        self.cancel.check()?;
        match op {
            Operator::Filter(Filter { input, predicate }) => {
                let (first, rest) = self.in_order(predicate.into_conjuncts());
                rest.into_iter()
                    .try_fold(filtered(*input, first), |op, e| self.conjunct(op, e))
            }
            Operator::Map(Map { input, expressions }) => self.map(*input, expressions),
            Operator::Join(_) => self.join_condition(normalized(op)),
            Operator::Aggregate(aggregate) => Ok(Operator::Aggregate(self.aggregate(aggregate)?)),
            Operator::GroupingSets(sets) => {
                let all = self.aggregate(sets.all)?;
                Ok(Operator::GroupingSets(GroupingSets { all, ..sets }))
            }
            Operator::Values(Values { columns, rows }) => self.values(columns, rows),
            Operator::Expand(expand) => self.expand(expand),
            Operator::Sort(Sort {
                input,
                keys,
                limit,
                offset,
            }) => self.limited(*input, Some(keys), limit, offset),
            Operator::Limit(Limit { input, limit, offset }) => self.limited(*input, None, limit, offset),
            // Subqueries in their expressions were computed below them when they were bound.
            op @ (Operator::Scan(_)
            | Operator::Given(_)
            | Operator::DependentJoin(_)
            | Operator::TopPerGroup(_)
            | Operator::UnionAll(_)
            | Operator::Shared(_)
            | Operator::Window(_)
            | Operator::Recursion(_)
            | Operator::Turn(_)
            | Operator::Write(_)) => Ok(op),
        }
    }

    /// Conjuncts in the order in which they are asked: what holds no subquery and cannot fail, then the rest as written.
    fn in_order(&self, conjuncts: Vec<Expr>) -> (Vec<Expr>, Vec<Expr>) {
        let plain = |e: &Expr| !has_subquery(e) && !may_fail(e, self.columns);
        conjuncts.into_iter().partition(plain)
    }

    fn map(&mut self, input: Operator, expressions: Vec<(ColumnId, Expr)>) -> Result<Operator> {
        let mut site = Site::new(input);
        let mut ready = Vec::new();
        for (id, e) in expressions {
            if has_subquery(&e) {
                // It may read what was computed before it.
                site.map(std::mem::take(&mut ready));
                let e = self.expression(&mut site, e)?;
                ready.push((id, e));
            } else {
                ready.push((id, e));
            }
        }
        Ok(mapped(site.op, ready))
    }

    fn expand(&mut self, Expand { input, mut expansion }: Expand) -> Result<Operator> {
        let mut site = Site::new(*input);
        for argument in expansion.arguments_mut().filter(|e| has_subquery(e)) {
            let e = take_expression(argument);
            *argument = self.expression(&mut site, e)?;
        }
        let input = Box::new(site.op);
        Ok(Operator::Expand(Expand { input, expansion }))
    }

    /// Subqueries in groups, arguments and filters are computed below.
    fn aggregate(&mut self, aggregate: Aggregate) -> Result<Aggregate> {
        let Aggregate {
            input,
            mut groups,
            mut aggregates,
        } = aggregate;
        let mut site = Site::new(*input);
        for e in groups.iter_mut().map(|g| &mut g.1) {
            self.below(&mut site, e)?;
        }
        for call in aggregates.iter_mut().map(|a| &mut a.1) {
            if let Some(filter) = &mut call.filter {
                self.below(&mut site, filter)?;
            }
            // The argument is computed for rows that pass the filter.
            call.filter
                .iter()
                .for_each(|filter| site.guards.push(filter.clone()));
            let keys = call.order.iter_mut().map(|key| &mut key.e);
            for argument in call.argument.iter_mut().chain(&mut call.second).chain(keys) {
                let nested = has_subquery(argument);
                self.in_place(&mut site, argument)?;
                if nested && may_fail(argument, self.columns) && call.filter.is_some() {
                    let e = take_expression(argument);
                    *argument = self.guarded(&site, e);
                }
            }
            site.guards.truncate(0);
        }
        Ok(Aggregate {
            input: Box::new(site.op),
            groups,
            aggregates,
        })
    }

    /// Replaces an expression with subqueries by a column computed below.
    fn below(&mut self, site: &mut Site, e: &mut Expr) -> Result<()> {
        if !has_subquery(e) {
            return Ok(());
        }
        let value = self.expression(site, take_expression(e))?;
        let id = self.columns.add("value", value.ty, value.nullable);
        *e = Expr::column(id, self.columns);
        site.map(vec![(id, value)]);
        Ok(())
    }

    fn in_place(&mut self, site: &mut Site, e: &mut Expr) -> Result<()> {
        if has_subquery(e) {
            *e = self.expression(site, take_expression(e))?;
        }
        Ok(())
    }

    /// Rows of expressions: each row with a subquery is one of a union.
    fn values(&mut self, columns: Vec<ColumnId>, rows: Vec<Vec<Expr>>) -> Result<Operator> {
        let mut inputs = Vec::new();
        for row in rows {
            let mut site = Site::new(one_row());
            let mut cells = Vec::new();
            for e in row {
                let e = match has_subquery(&e) {
                    true => self.expression(&mut site, e)?,
                    false => e,
                };
                cells.push(e);
            }
            let made: Vec<ColumnId> = (columns.iter())
                .map(|id| {
                    let info = self.columns[*id].clone();
                    self.columns.add(info.label, info.ty, true)
                })
                .collect();
            let op = mapped(site.op, made.iter().copied().zip(cells).collect());
            inputs.push((op, made));
        }
        Ok(Operator::UnionAll(UnionAll { inputs, columns }))
    }

    /// LIMIT and OFFSET, with keys if it is above ORDER BY. A number of rows that a pipeline cannot look up becomes a
    /// subquery of the plan, or a column of the rows: where it reads outer columns, of which each value is a group, and
    /// where it may fail in a tree for which nobody may ask.
    fn limited(
        &mut self,
        mut input: Operator,
        keys: Option<Vec<SortKey>>,
        mut limit: Option<RowCount>,
        mut offset: RowCount,
    ) -> Result<Operator> {
        for count in limit.iter_mut().chain([&mut offset]) {
            let Some(e) = count.value_mut() else { continue };
            let mut site = Site::new(one_row());
            self.in_place(&mut site, e)?;
            crate::simplify::expression(e, self.columns);
            let known = matches!(
                e.kind,
                ExprKind::Constant(_) | ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_)
            );
            if let Some(n) = constant_count(e) {
                *count = RowCount::Constant(n);
            } else if !known {
                let id = self.columns.add("rows", e.ty, e.nullable);
                let computed = mapped(site.op, vec![(id, take_expression(e))]);
                let asked = !self.is_nested || !self.tree_may_fail(&computed);
                if asked && free_columns(&computed).is_empty() {
                    *e = self.computed_once(computed, id);
                } else {
                    input = join(JoinKind::Inner, computed, input, vec![]);
                    *count = RowCount::Column(id);
                }
            }
        }
        let by_columns = limit.iter().chain([&offset]).any(|n| n.column().is_some());
        let input = Box::new(input);
        Ok(match keys {
            keys if by_columns => Operator::TopPerGroup(TopPerGroup {
                input,
                groups: vec![],
                keys: keys.unwrap_or_default(),
                limit,
                offset,
            }),
            Some(keys) => Operator::Sort(Sort {
                input,
                keys,
                limit,
                offset,
            }),
            None => Operator::Limit(Limit { input, limit, offset }),
        })
    }

    /// A join whose condition holds subqueries.
    fn join_condition(&mut self, op: Operator) -> Result<Operator> {
        let Operator::Join(Join {
            kind,
            build,
            probe,
            keys,
            residual,
            null_aware,
            in_order: _,
            first: _,
        }) = op
        else {
            return Err(Error::internal("not a join"));
        };
        let equal = (keys.into_iter()).map(|(b, p)| super::compare(CompareOp::Eq, b, p));
        let mut all: Vec<Expr> = residual.into_iter().flat_map(Expr::into_conjuncts).collect();
        let mut of_not_in = Vec::new();
        match null_aware {
            true => of_not_in.extend(equal),
            false => all.extend(equal),
        }
        let (mut plain, rest) = self.in_order(all);
        let (mut build, mut probe) = (*build, *probe);
        if kind == JoinKind::Inner {
            let op = join(kind, build, probe, plain);
            return rest.into_iter().try_fold(op, |op, e| self.conjunct(op, e));
        }
        if kind == JoinKind::FullOuter {
            plain.extend(rest);
            return self.full_join(build, probe, plain);
        }
        for e in rest {
            if !has_subquery(&e) {
                plain.push(e);
                continue;
            }
            let before: Vec<Expr> = plain
                .iter()
                .cloned()
                .chain(of_not_in.iter().cloned().map(not_false))
                .collect();
            if !before.is_empty() && self.subquery_may_fail(&e) {
                // It is asked for pairs of rows that satisfy the conditions before it.
                plain.extend(self.pairs(&mut build, &mut probe, e, before)?);
                continue;
            }
            let read: HashSet<ColumnId> = e.columns_read().into_iter().collect();
            let reads = |side: &Operator| side.visible().iter().any(|c| read.contains(c));
            let site = |side: &mut Operator| Site::new(take(side));
            if !reads(&build) {
                let mut at = site(&mut probe);
                plain.push(self.expression(&mut at, e)?);
                probe = at.op;
            } else if !reads(&probe) {
                let mut at = site(&mut build);
                plain.push(self.expression(&mut at, e)?);
                build = at.op;
            } else {
                plain.extend(self.pairs(&mut build, &mut probe, e, before)?);
            }
        }
        let parts = Parts {
            kind,
            null_aware,
            equal: of_not_in,
            conditions: plain,
        };
        self.rejoined(build, probe, parts)
    }

    /// A full join as two that keep one side: all pairs and the rest of one side, and the rest of the other.
    fn full_join(&mut self, build: Operator, probe: Operator, conditions: Vec<Expr>) -> Result<Operator> {
        let (in_build, in_probe) = (build.visible(), probe.visible());
        let rest = join(
            JoinKind::ProbeAnti,
            probe.clone(),
            build.clone(),
            conditions.clone(),
        );
        let (rest, rest_names) = copied(&rest, self.columns);
        let pairs = join(JoinKind::ProbeOuter, build, probe, conditions);
        let (pairs, pair_names) = copied(&pairs, self.columns);
        let (pairs, rest) = (self.operator(pairs)?, self.operator(rest)?);
        let columns: Vec<ColumnId> = in_build.iter().chain(&in_probe).copied().collect();
        let from_pairs = columns.iter().map(|id| pair_names[id]).collect();
        let mut from_rest: Vec<ColumnId> = in_build.iter().map(|id| rest_names[id]).collect();
        let mut nulls = Vec::new();
        for id in in_probe {
            let info = self.columns[id].clone();
            let made = self.columns.add(info.label, info.ty, true);
            nulls.push((made, Expr::constant(Value::Null, info.ty)));
            from_rest.push(made);
        }
        Ok(Operator::UnionAll(UnionAll {
            inputs: vec![(pairs, from_pairs), (mapped(rest, nulls), from_rest)],
            columns,
        }))
    }

    /// Whether something in a subquery of an expression may fail.
    fn subquery_may_fail(&self, e: &Expr) -> bool {
        let mut own = false;
        if let ExprKind::Subquery(subquery) = &e.kind {
            let several = subquery.kind == SubqueryKind::Scalar && !subquery.root().at_most_one_row();
            own = several || self.may_fail_before_unnesting(subquery.root());
        }
        own || e.children().into_iter().any(|c| self.subquery_may_fail(c))
    }

    fn may_fail_before_unnesting(&self, op: &Operator) -> bool {
        let inside = |e: &Expr| may_fail(e, self.columns) || self.subquery_may_fail(e);
        self.tree_may_fail(op)
            || op.expressions().into_iter().any(inside)
            || op
                .inputs()
                .into_iter()
                .any(|input| self.may_fail_before_unnesting(input))
    }

    /// A condition on pairs of rows that holds subqueries: the pairs of values for which it is true, among those for
    /// which the conditions before it are, are computed apart and joined to one side. Returns what ties the other to it.
    fn pairs(
        &mut self,
        build: &mut Operator,
        probe: &mut Operator,
        e: Expr,
        before: Vec<Expr>,
    ) -> Result<Vec<Expr>> {
        let (b, b_names) = self.second_reading(&mut Outer::all(build), None);
        let (p, p_names) = self.second_reading(&mut Outer::all(probe), None);
        let read = e.columns_read();
        let names: rename::Names = b_names.into_iter().chain(p_names).collect();
        let renamed = |e: Expr| rename::renamed(e, &names);
        let before = before.into_iter().map(renamed).collect();
        let op = self.conjunct(join(JoinKind::Inner, b, p, before), renamed(e))?;
        let (mut groups, mut of_build, mut of_probe) = (Vec::new(), Vec::new(), Vec::new());
        let (in_build, in_probe) = (build.visible(), probe.visible());
        for id in read {
            let side = match (in_build.contains(&id), in_probe.contains(&id)) {
                (true, _) => &mut of_build,
                (_, true) => &mut of_probe,
                _ => continue,
            };
            let value = Expr::column(names[&id], self.columns);
            let label = self.columns[id].label.clone();
            let group = self.columns.add(label, value.ty, value.nullable);
            groups.push((group, value));
            side.push(super::same(
                Expr::column(group, self.columns),
                Expr::column(id, self.columns),
            ));
        }
        let pairs = match groups.is_empty() {
            // Without groups there always is a row.
            true => super::first_row(op),
            false => Aggregate::above(op, groups, vec![]),
        };
        *build = join(JoinKind::Inner, pairs, take(build), of_build);
        Ok(of_probe)
    }

    /// An expression over the site's rows without subqueries; what replaces them is added to the rows.
    pub(super) fn expression(&mut self, site: &mut Site, e: Expr) -> Result<Expr> {
        if !has_subquery(&e) {
            return Ok(e);
        }
        let Expr {
            kind,
            ty,
            nullable,
            span,
        } = e;
        let depth = site.guards.depth();
        let kind = match kind {
            ExprKind::Subquery(subquery) => return self.value(site, *subquery),
            ExprKind::And(parts) => ExprKind::And(self.in_turn(site, parts, not_false)?),
            ExprKind::Or(parts) => ExprKind::Or(self.in_turn(site, parts, |e| not(is_true(e)))?),
            ExprKind::Case { branches, otherwise } => self.branches(site, branches, otherwise)?,
            ExprKind::Let { column, value, body } => return self.binding(site, column, *value, *body),
            kind => {
                let mut e = Expr {
                    kind,
                    ty,
                    nullable,
                    span,
                };
                for child in e.children_mut() {
                    self.in_place(site, child)?;
                }
                return Ok(e);
            }
        };
        site.guards.truncate(depth);
        Ok(Expr {
            kind,
            ty,
            nullable,
            span,
        })
    }

    /// Parts of AND or OR: each is reached by rows for which `open` of those before it holds.
    fn in_turn(
        &mut self,
        site: &mut Site,
        parts: Vec<Expr>,
        open: impl Fn(Expr) -> Expr,
    ) -> Result<Vec<Expr>> {
        let last = parts.iter().rposition(has_subquery).unwrap_or(0);
        let mut done = Vec::with_capacity(parts.len());
        for (i, part) in parts.into_iter().enumerate() {
            let part = self.expression(site, part)?;
            if i < last {
                site.guards.push(open(part.clone()));
            }
            done.push(part);
        }
        Ok(done)
    }

    fn branches(
        &mut self,
        site: &mut Site,
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    ) -> Result<ExprKind> {
        let mut done = Vec::with_capacity(branches.len());
        for (condition, result) in branches {
            let condition = self.expression(site, condition)?;
            let reached = is_true(condition.clone());
            let depth = site.guards.depth();
            site.guards.push(reached.clone());
            let result = self.expression(site, result)?;
            site.guards.truncate(depth);
            site.guards.push(not(reached));
            done.push((condition, result));
        }
        let otherwise = match otherwise {
            Some(e) => Some(Box::new(self.expression(site, *e)?)),
            None => None,
        };
        Ok(ExprKind::Case {
            branches: done,
            otherwise,
        })
    }

    /// A Let around a subquery becomes a column of the rows, computed where its guards hold.
    fn binding(&mut self, site: &mut Site, column: ColumnId, value: Expr, body: Expr) -> Result<Expr> {
        let value = self.expression(site, value)?;
        let value = match may_fail(&value, self.columns) && !site.guards.is_empty() {
            true => self.guarded(site, value),
            false => value,
        };
        self.columns[column].nullable |= value.nullable;
        site.map(vec![(column, value)]);
        self.expression(site, body)
    }

    /// A value where the guards hold, NULL elsewhere.
    fn guarded(&self, site: &Site, value: Expr) -> Expr {
        match Expr::conjunction(site.guards.conjuncts()) {
            Some(guard) => case(guard, value, None),
            None => value,
        }
    }
}

/// True where a condition is true, false where it is false or unknown.
fn is_true(e: Expr) -> Expr {
    match e.nullable {
        true => case(e, Expr::truth(true), Some(Expr::truth(false))),
        false => e,
    }
}

fn constant_count(e: &Expr) -> Option<u64> {
    u64::try_from(e.as_constant()?.as_int()?).ok()
}

/// One row without columns.
fn one_row() -> Operator {
    Operator::Values(Values {
        columns: vec![],
        rows: vec![vec![]],
    })
}

fn take_expression(e: &mut Expr) -> Expr {
    std::mem::replace(e, Expr::unknown())
}
