//! Recomputes which columns and expressions may be NULL.
//!
//! A column has one nullability in the whole plan: what passes the null-supplying side of an outer join
//! may be NULL above it, and so counts as nullable below it too. First those columns are marked, then
//! every expression is recomputed bottom-up from its columns.

use crate::operators::{
    Aggregate, DependentJoin, Expand, Filter, Given, GroupingSets, Join, Map, Recursion, Scan, Shared, Turn,
    UnionAll, Values, Window,
};
use crate::{
    ColumnId, Columns, Expansion, Expr, ExprKind, JoinKind, Operator, Plan, RowsFunction, SubqueryKind,
};
use std::collections::HashSet;

/// Recomputes `ColumnInfo::nullable` of every column that an operator computes and `Expr::nullable` of
/// every expression. Columns of scans keep what their table says, unless an outer join makes them NULL.
pub fn recompute(plan: &mut Plan) {
    let mut supplied = vec![false; plan.columns.len()];
    let (trees, columns) = plan.trees_mut();
    for tree in trees {
        mark(tree, &mut supplied, columns);
    }
    let (trees, columns) = plan.trees_mut();
    let mut pass = Pass { columns, supplied };
    for tree in trees {
        pass.tree(tree);
    }
}

/// Marks the columns on null-supplying sides. Makes the columns of Lets nullable: whether their values are is not
/// followed.
fn mark(op: &Operator, supplied: &mut [bool], columns: &mut Columns) {
    let mut supply = |side: &Operator| side.visible().iter().for_each(|c| supplied[c.0 as usize] = true);
    if let Operator::Join(Join {
        kind, build, probe, ..
    }) = op
    {
        if matches!(kind, JoinKind::ProbeOuter | JoinKind::FullOuter) {
            supply(build);
        }
        if matches!(kind, JoinKind::BuildOuter | JoinKind::FullOuter) {
            supply(probe);
        }
    }
    if let Operator::DependentJoin(DependentJoin {
        inner,
        keep_outer: true,
        ..
    }) = op
    {
        supply(inner);
    }
    for e in op.expressions() {
        e.walk(&mut |part| match &part.kind {
            ExprKind::Let { column, .. } => columns[*column].nullable = true,
            ExprKind::Subquery(subquery) => mark(&subquery.root, supplied, columns),
            _ => {}
        });
    }
    op.inputs().into_iter().for_each(|i| mark(i, supplied, columns));
}

struct Pass<'a> {
    columns: &'a mut Columns,
    supplied: Vec<bool>,
}

impl Pass<'_> {
    /// As [`of_expression`], with the columns that it makes for itself set, too, those of subqueries among them.
    fn expression(&mut self, e: &mut Expr) {
        if let ExprKind::Subquery(subquery) = &mut e.kind {
            self.tree(&mut subquery.root);
        }
        if let ExprKind::Let { column, value, body } = &mut e.kind {
            self.expression(value);
            self.set(*column, value.nullable);
            self.expression(body);
        } else {
            for child in e.children_mut() {
                self.expression(child);
            }
        }
        e.nullable = of_node(e, self.columns);
    }

    fn set(&mut self, id: ColumnId, nullable: bool) {
        self.columns[id].nullable = nullable || self.supplied[id.0 as usize];
    }

    fn tree(&mut self, op: &mut Operator) {
        for input in op.inputs_mut() {
            self.tree(input);
        }
        match op {
            Operator::Scan(Scan { columns, row_id, .. }) => {
                for (id, _) in columns {
                    let own = self.columns[*id].nullable;
                    self.set(*id, own);
                }
                if let Some(id) = row_id {
                    self.set(*id, false);
                }
            }
            Operator::Given(Given { columns }) | Operator::Turn(Turn { columns, .. }) => {
                for (id, _) in columns {
                    let own = self.columns[*id].nullable;
                    self.set(*id, own);
                }
            }
            Operator::Values(Values { columns, rows }) => {
                rows.iter_mut().flatten().for_each(|e| self.expression(e));
                for (i, id) in columns.iter().enumerate() {
                    self.set(*id, rows.iter().any(|r| r[i].nullable));
                }
            }
            Operator::Filter(Filter { predicate, .. }) => self.expression(predicate),
            Operator::Map(Map { expressions, .. }) => {
                for (id, e) in expressions {
                    self.expression(e);
                    self.set(*id, e.nullable);
                }
            }
            Operator::Join(_) => self.join(op),
            Operator::DependentJoin(DependentJoin { condition, .. }) => {
                condition.iter_mut().for_each(|e| self.expression(e));
            }
            Operator::Aggregate(aggregate) => self.aggregate(aggregate),
            Operator::GroupingSets(sets) => self.grouping_sets(sets),
            Operator::UnionAll(UnionAll { inputs, columns }) => {
                for (i, id) in columns.iter().enumerate() {
                    let any = inputs.iter().any(|(_, from)| self.columns[from[i]].nullable);
                    self.set(*id, any);
                }
            }
            Operator::Shared(Shared { columns, .. }) => {
                for (made, stored) in columns {
                    let own = self.columns[*stored].nullable;
                    self.set(*made, own);
                }
            }
            Operator::Window(Window { calls, .. }) => {
                for (id, call) in calls {
                    call.expressions_mut().for_each(|e| self.expression(e));
                    self.set(*id, call.function.is_nullable());
                }
            }
            Operator::Sort(_) | Operator::TopPerGroup(_) | Operator::Limit(_) => {
                (op.expressions_mut().into_iter()).for_each(|e| of_expression(e, self.columns));
            }
            Operator::Recursion(Recursion { columns, .. }) => {
                for id in columns {
                    let own = self.columns[*id].nullable;
                    self.set(*id, own);
                }
            }
            Operator::Expand(Expand { expansion, .. }) => self.expansion(expansion),
            Operator::Write(_) => {}
        }
    }

    fn expansion(&mut self, expansion: &mut Expansion) {
        let pads = expansion.pads();
        for (id, call) in &mut expansion.calls {
            call.arguments.iter_mut().for_each(|e| self.expression(e));
            let gives_null = match call.function {
                RowsFunction::Series => false,
                RowsFunction::Once => call.arguments.iter().any(|e| e.nullable),
            };
            self.set(*id, pads || gives_null);
        }
        if let Some(id) = expansion.ordinality {
            self.set(id, false);
        }
    }

    fn join(&mut self, op: &mut Operator) {
        let Operator::Join(Join {
            kind,
            keys,
            residual,
            null_aware,
            ..
        }) = op
        else {
            return;
        };
        for (b, p) in keys.iter_mut() {
            self.expression(b);
            self.expression(p);
        }
        residual.iter_mut().for_each(|e| self.expression(e));
        if let JoinKind::ProbeMark(mark) = kind {
            let unknown = *null_aware && keys.iter().any(|(b, p)| b.nullable || p.nullable);
            self.set(*mark, unknown);
        }
    }

    /// A group that some set lacks is NULL in its rows, and so are aggregates of no rows.
    fn grouping_sets(&mut self, sets: &mut GroupingSets) {
        self.aggregate(&mut sets.all);
        let in_all: HashSet<usize> = sets.in_all().collect();
        for (i, (id, _)) in sets.all.groups.iter().enumerate() {
            if !in_all.contains(&i) {
                self.set(*id, true);
            }
        }
        let of_no_rows = sets.sets.iter().any(Vec::is_empty);
        for (id, call) in &sets.all.aggregates {
            if of_no_rows && !call.function.counts() {
                self.set(*id, true);
            }
        }
        sets.grouping.iter().for_each(|g| self.set(g.0, false));
    }

    fn aggregate(&mut self, aggregate: &mut Aggregate) {
        let Aggregate {
            groups, aggregates, ..
        } = aggregate;
        for (id, e) in groups.iter_mut() {
            self.expression(e);
            self.set(*id, e.nullable);
        }
        let grouped = !groups.is_empty();
        for (id, call) in aggregates {
            for e in call.expressions_mut() {
                self.expression(e);
            }
            let may_be_null = |e: &Expr| e.nullable;
            let second = call.second.iter().filter(|_| call.function.asks_second());
            let nullable = !call.function.counts()
                && (!grouped || call.filter.is_some() || call.argument.iter().chain(second).any(may_be_null));
            self.set(*id, nullable);
        }
    }
}

/// Recomputes `nullable` of an expression and its parts from the columns it reads.
pub fn of_expression(e: &mut Expr, columns: &Columns) {
    for child in e.children_mut() {
        of_expression(child, columns);
    }
    e.nullable = of_node(e, columns);
}

/// Whether an expression may be NULL, by what its parts say.
fn of_node(e: &Expr, columns: &Columns) -> bool {
    match &e.kind {
        ExprKind::Column(id) => columns[*id].nullable,
        ExprKind::Constant(value) => value.is_null(),
        ExprKind::Parameter(_) | ExprKind::ScalarSubquery(_) | ExprKind::VectorFunction(..) => true,
        ExprKind::Subquery(subquery) => !matches!(subquery.kind, SubqueryKind::Exists),
        ExprKind::Let { body, .. } => body.nullable,
        ExprKind::Distinct { .. } | ExprKind::IsNull(_) => false,
        ExprKind::Case { branches, otherwise } => {
            branches.iter().any(|b| b.1.nullable) || otherwise.as_ref().is_none_or(|o| o.nullable)
        }
        _ => e.children().iter().any(|c| c.nullable),
    }
}
