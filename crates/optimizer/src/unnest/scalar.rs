//! Scalar subqueries: their value, NULL where they have no row.

use super::lift::{self, Lifted};
use super::{Site, Unnesting, case, count_or_zero, join, mapped};
use crate::can_fail::may_fail;
use crate::pushdown::take;
use crate::volatile::{calls_volatile, is_volatile};
use frazil_plan::operators::{Aggregate, Filter, Map, Shared, Values};
use frazil_plan::{
    AggregateCall, ColumnId, Expr, ExprKind, JoinKind, Operator, ScalarFunction, Subquery, SubqueryId,
    columns_made, free_columns,
};
use frazil_types::{Error, Result};

/// An aggregation without groups, and what is computed of its one row.
struct OneRow {
    input: Operator,
    aggregates: Vec<(ColumnId, AggregateCall)>,
    /// Over the aggregates and outer columns.
    value: Expr,
}

impl Unnesting<'_> {
    /// Whether a tree always has exactly one row.
    pub(super) fn gives_one_row(&self, op: &Operator) -> bool {
        op.surely_has_a_row() && op.at_most_one_row()
    }

    pub(super) fn scalar(&mut self, site: &mut Site, subquery: Subquery) -> Result<Expr> {
        let [column] = subquery.columns[..] else {
            return Err(Error::internal("a scalar subquery of several columns"));
        };
        let root = self.nested_tree(subquery.into_parts().1)?;
        let closed = free_columns(&root).is_empty() && root.visible().contains(&column);
        if closed && root.at_most_one_row() && !self.tree_may_fail(&root) {
            return Ok(self.computed_once(root, column));
        }
        let value = Expr::column(column, self.columns);
        let whole = match closed && is_volatile(&root) {
            // One value for all rows, whatever is computed of it.
            true => self.least_of(root, value),
            false => self.in_one_row(root, value),
        };
        // What is computed once for the plan is computed whether or not a row asks for it.
        if closed && !self.one_row_may_fail(&whole) {
            return Ok(self.computed_together(whole));
        }
        self.joined(site, whole)
    }

    /// Whether the input or the aggregates may fail, the value over them not counted.
    fn one_row_may_fail(&self, whole: &OneRow) -> bool {
        let calls = whole.aggregates.iter().map(|a| &a.1);
        let mut parts = calls.flat_map(|call| call.expressions());
        self.tree_may_fail(&whole.input) || parts.any(|e| may_fail(e, self.columns))
    }

    /// A condition over the one row of a tree.
    pub(super) fn of_one_row(&mut self, site: &mut Site, root: Operator, condition: Expr) -> Result<Expr> {
        let whole = self.in_one_row(root, condition);
        self.joined(site, whole)
    }

    pub(super) fn computed_once(&mut self, root: Operator, column: ColumnId) -> Expr {
        let ty = self.columns[column].ty;
        self.subqueries.push((root, column));
        let id = SubqueryId(self.subqueries.len() - 1);
        Expr::new(ExprKind::ScalarSubquery(id), ty, true)
    }

    /// The aggregates of one shared row, each a subquery of the plan.
    fn computed_together(&mut self, whole: OneRow) -> Expr {
        let OneRow {
            input,
            mut aggregates,
            mut value,
        } = whole;
        let used = value.columns_read();
        aggregates.retain(|a| used.contains(&a.0));
        let stored: Vec<ColumnId> = aggregates.iter().map(|a| a.0).collect();
        let row = Operator::Aggregate(Aggregate {
            input: Box::new(input),
            groups: vec![],
            aggregates,
        });
        match stored[..] {
            [] => return value,
            [only] => {
                let e = self.computed_once(row, only);
                value.replace_columns(&|c| (c == only).then(|| e.clone()));
                return value;
            }
            _ => {}
        }
        let id = self.share(row);
        for column in stored {
            let info = self.columns[column].clone();
            let made = self.columns.add(info.label, info.ty, info.nullable);
            let columns = vec![(made, column)];
            let e = self.computed_once(Operator::Shared(Shared { id, columns }), made);
            value.replace_columns(&|c| (c == column).then(|| e.clone()));
        }
        value
    }

    /// A tree as an aggregation without groups, of which `value` is computed. Maps above an aggregation become part of
    /// the value, filters a CASE around it. What has no such form is aggregated whole: its one value, and how many
    /// there are.
    fn in_one_row(&mut self, root: Operator, value: Expr) -> OneRow {
        if is_one_row(&root) {
            return peeled(root, value);
        }
        if let Operator::Values(Values { columns, rows }) = &root
            && let [row] = &rows[..]
        {
            let mut value = value;
            value.replace_columns(&|c| {
                let at = columns.iter().position(|id| *id == c)?;
                Some(row[at].clone())
            });
            let nothing = Operator::Values(Values {
                columns: vec![],
                rows: vec![],
            });
            return OneRow {
                input: nothing,
                aggregates: vec![],
                value,
            };
        }
        self.least_of(root, value)
    }

    /// The one value of a tree, and how many there are.
    fn least_of(&mut self, root: Operator, value: Expr) -> OneRow {
        let single = root.at_most_one_row();
        let ty = value.ty;
        let label = value.label(self.columns, "value");
        let one = self.columns.add(label, ty, true);
        let mut aggregates = vec![(one, AggregateCall::any(value))];
        let mut value = Expr::column(one, self.columns);
        if !single {
            let count = AggregateCall::count(None);
            let rows = self.columns.add("rows", count.ty, false);
            aggregates.push((rows, count));
            let arguments = vec![value, Expr::column(rows, self.columns)];
            let kind = ExprKind::Function(ScalarFunction::Single, arguments);
            value = Expr::new(kind, ty, true);
        }
        OneRow {
            input: root,
            aggregates,
            value,
        }
    }

    /// Joins the one row with the site's rows.
    fn joined(&mut self, site: &mut Site, whole: OneRow) -> Result<Expr> {
        let OneRow {
            input,
            mut aggregates,
            mut value,
        } = whole;
        let used = value.columns_read();
        aggregates.retain(|a| used.contains(&a.0));
        if aggregates.is_empty() {
            return Ok(value);
        }
        for (id, call) in aggregates.iter_mut().filter(|a| a.1.function.counts()) {
            let grouped = self.columns.add("count", call.ty, true);
            let made = std::mem::replace(id, grouped);
            let e = count_or_zero(grouped, self.columns);
            value.replace_columns(&|c| (c == made).then(|| e.clone()));
        }
        let asked = site.guards.is_empty() && site.op.surely_has_a_row();
        let lifted = match varies(&input, &aggregates) {
            true => None,
            false => lift::lift_ungrouped(&input, &aggregates, self.columns),
        };
        let lifted = lifted.filter(|lifted| asked || !self.tree_may_fail(&lifted.op));
        let Lifted { op, mut conjuncts } = match lifted {
            Some(lifted) => lifted,
            None => self.one_row_for_domain(site, input, aggregates)?,
        };
        for id in op.visible() {
            self.columns[id].nullable = true;
        }
        self.guard(&mut conjuncts, &site.guards.conjuncts());
        site.op = join(JoinKind::ProbeOuter, op, take(&mut site.op), conjuncts);
        Ok(value)
    }

    /// The aggregates by the values of the outer columns they depend on.
    fn one_row_for_domain(
        &mut self,
        site: &mut Site,
        input: Operator,
        aggregates: Vec<(ColumnId, AggregateCall)>,
    ) -> Result<Lifted> {
        // The aggregates' own outer references count as the tree's.
        let mut known = Vec::new();
        let mut aggregates = aggregates;
        for call in aggregates.iter_mut().map(|a| &mut a.1) {
            for e in call.expressions_mut() {
                let id = self.columns.add("argument", e.ty, e.nullable);
                known.push((id, std::mem::replace(e, Expr::column(id, self.columns))));
            }
        }
        let input = mapped(input, known);
        let domain = self.domain(&mut site.outer(), &input);
        let keys = domain.keys.clone();
        let input = self.for_domain(input, domain)?;
        let (mut groups, mut conjuncts) = (Vec::new(), Vec::new());
        for outer in &keys {
            let made = input.names[outer];
            let e = Expr::column(made, self.columns);
            let label = self.columns[made].label.clone();
            let group = self.columns.add(label, e.ty, e.nullable);
            groups.push((group, e));
            let (group, outer) = (
                Expr::column(group, self.columns),
                Expr::column(*outer, self.columns),
            );
            conjuncts.push(super::same(group, outer));
        }
        let op = Operator::Aggregate(Aggregate {
            input: Box::new(input.op),
            groups,
            aggregates,
        });
        Ok(Lifted { op, conjuncts })
    }
}

/// `body` with a column's value in its place: put there where it is read once, else bound to the column.
fn bound(column: ColumnId, value: Expr, mut body: Expr) -> Expr {
    let mut readings = 0;
    body.walk(&mut |e| readings += usize::from(e.kind == ExprKind::Column(column)));
    if readings == 0 {
        return body;
    }
    let trivial = matches!(value.kind, ExprKind::Column(_) | ExprKind::Constant(_));
    if readings == 1 || trivial {
        body.replace_columns(&|c| (c == column).then(|| value.clone()));
        return body;
    }
    let (ty, nullable) = (body.ty, body.nullable);
    let kind = ExprKind::Let {
        column,
        value: Box::new(value),
        body: Box::new(body),
    };
    Expr::new(kind, ty, nullable)
}

/// True if the tree is maps and filters above an aggregation without groups, or above one row without columns.
fn is_one_row(op: &Operator) -> bool {
    if let Operator::Map(Map { input, .. }) | Operator::Filter(Filter { input, .. }) = op {
        return is_one_row(input);
    }
    if let Operator::Values(Values { columns, rows }) = op {
        return columns.is_empty() && rows.len() == 1;
    }
    matches!(op, Operator::Aggregate(Aggregate { groups, .. }) if groups.is_empty())
}

/// True if aggregates of rows depend on outer columns and call a volatile function: each outer row has others.
fn varies(input: &Operator, aggregates: &[(ColumnId, AggregateCall)]) -> bool {
    let parts = || aggregates.iter().flat_map(|a| a.1.expressions());
    let own = columns_made(input);
    let is_outer = |e: &Expr| e.columns_read().iter().any(|id| !own.contains(id));
    (is_volatile(input) || parts().any(calls_volatile))
        && (!free_columns(input).is_empty() || parts().any(is_outer))
}

/// Takes the maps and filters above an aggregation, or above one row, into the value.
fn peeled(mut op: Operator, mut value: Expr) -> OneRow {
    loop {
        if let Operator::Map(Map { input, expressions }) = op {
            for (id, e) in expressions.into_iter().rev() {
                value = bound(id, e, value);
            }
            op = *input;
        } else if let Operator::Filter(Filter { input, predicate }) = op {
            value = case(predicate, value, None);
            op = *input;
        } else {
            break;
        }
    }
    let mut row = OneRow {
        input: op,
        aggregates: vec![],
        value,
    };
    if let Operator::Aggregate(Aggregate {
        input, aggregates, ..
    }) = row.input
    {
        row.aggregates = aggregates;
        row.input = *input;
    }
    row
}
