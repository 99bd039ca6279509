//! Filters over scans read what rows store: the value of an index's expression instead of the expression, and the
//! condition of a partial index beside the predicates that imply it. So restrictions find such an index as they find
//! one on plain columns.
//!
//! A row stores the value that the expression had when the row was written. Expressions of indexes are immutable, and
//! an expression that fails refuses its row: reading the stored value neither loses nor adds an error. Rows outside of
//! a partial index store NULL, so that its expressions are read only where its condition is implied.

use crate::implication::{implies, without_nullability, without_relabels};
use crate::rename::{self, Names};
use crate::simplify;
use frazil_plan::operators::{Filter, Scan};
use frazil_plan::same::same;
use frazil_plan::{
    ColumnId, Columns, Expr, ExprKind, Operator, Own, Plan, Statistics, Stored, StoredExpression,
};
use frazil_types::{CompareOp, LogicalType};

/// Rewrites the filters of a plan.
pub fn plan(plan: &mut Plan, statistics: &dyn Statistics) {
    let (trees, columns) = plan.trees_mut();
    for tree in trees {
        operator(tree, columns, statistics);
    }
}

fn operator(op: &mut Operator, columns: &mut Columns, statistics: &dyn Statistics) {
    if let Operator::Filter(Filter { input, predicate }) = op
        && let Operator::Scan(scan) = &mut **input
    {
        let stored = statistics.stored_expressions(scan.table);
        if !stored.is_empty() {
            filter(predicate, scan, stored, columns);
        }
        return;
    }
    let inputs = op.inputs_mut();
    inputs
        .into_iter()
        .for_each(|input| operator(input, columns, statistics));
}

/// A stored expression as a scan's filter would have it.
struct Known {
    stored: StoredExpression,
    /// The column of the scan, once the filter reads it.
    column: Option<ColumnId>,
}

impl Known {
    /// The column that the scan makes of it.
    fn column(&mut self, scan: &mut Scan, columns: &mut Columns) -> ColumnId {
        *self.column.get_or_insert_with(|| {
            let id = columns.add(self.stored.name.as_str(), self.stored.ty, true);
            scan.columns.push((id, self.stored.position));
            id
        })
    }
}

fn filter(predicate: &mut Expr, scan: &mut Scan, stored: Vec<StoredExpression>, columns: &mut Columns) {
    let stored = stored.into_iter().filter_map(|expression| {
        let stored = over_scan(expression, scan, columns)?;
        Some(Known { stored, column: None })
    });
    let mut known: Vec<Known> = stored.collect();
    let whole = std::mem::replace(predicate, Expr::unknown());
    let mut conjuncts = whole.into_conjuncts();
    let cleared: Vec<Expr> = conjuncts.iter().map(without_nullability).collect();
    let plain: Vec<Expr> = cleared.iter().map(without_relabels).collect();
    let mut holding = Vec::new();
    for condition in known.iter_mut().filter(|k| k.stored.stored == Stored::WhereTrue) {
        if !implies(&plain, &condition.stored.value) {
            continue;
        }
        holding.push(condition.stored.position);
        let column = Expr::column(condition.column(scan, columns), columns);
        let is_true = ExprKind::Compare(CompareOp::Eq, Box::new(column), Box::new(Expr::truth(true)));
        conjuncts.push(Expr::boolean(is_true, true));
    }
    known.retain(|known| match known.stored.stored {
        Stored::Always => true,
        Stored::Where(condition) => holding.contains(&condition),
        Stored::WhereTrue => false,
    });
    for (conjunct, cleared) in conjuncts.iter_mut().zip(&cleared) {
        read_stored(conjunct, cleared, &mut known, scan, columns);
    }
    *predicate = Expr::conjunction(conjuncts).unwrap_or_else(|| Expr::truth(true));
}

/// The expression over the columns of a scan, simplified like the expressions of the plan and without nullability.
/// `None` if the scan does not make a column that it reads, so that the filter cannot have it, or if its value is not
/// what the column stores.
fn over_scan(mut stored: StoredExpression, scan: &Scan, columns: &mut Columns) -> Option<StoredExpression> {
    // A boolean expression is a predicate: as a column it would be none that storage tests.
    let is_condition = stored.stored == Stored::WhereTrue;
    if stored.value.ty != stored.ty || stored.ty == LogicalType::Boolean && !is_condition {
        return None;
    }
    let read = stored.value.columns_read();
    let mut names = Names::new();
    for id in read {
        let made = scan.columns.iter().find(|made| made.1 == id.0 as usize)?;
        names.insert(id, made.0);
    }
    let mut makes = Vec::new();
    stored.value.walk(&mut |part| {
        if let (Own::Makes(id), ExprKind::Let { value, .. }) = (part.own(), &part.kind) {
            makes.push((id, value.ty, value.nullable));
        }
    });
    for (id, ty, nullable) in makes {
        names.insert(id, columns.add("value", ty, nullable));
    }
    rename::rename_in(&mut stored.value, &names);
    simplify::expression(&mut stored.value, columns);
    stored.value = without_nullability(&stored.value);
    let is_trivial = |e: &Expr| matches!(e.kind, ExprKind::Column(_) | ExprKind::Constant(_));
    if is_trivial(&stored.value) && !is_condition {
        return None;
    }
    let plain = without_relabels(&stored.value);
    // A column of varchar that is cast to text stays a cast: the column itself is no expression of an index.
    if is_condition || !is_trivial(&plain) {
        stored.value = plain;
    }
    Some(stored)
}

/// Puts columns in the places of stored expressions. `cleared`: the expression without nullability.
fn read_stored(e: &mut Expr, cleared: &Expr, known: &mut [Known], scan: &mut Scan, columns: &mut Columns) {
    let plain = without_relabels(cleared);
    let is_stored = |known: &Known| [&plain, cleared].iter().any(|e| same(&known.stored.value, e));
    if let Some(known) = known.iter_mut().find(|known| is_stored(known)) {
        *e = Expr::column(known.column(scan, columns), columns).at(e.span);
        return;
    }
    for (child, cleared) in e.children_mut().into_iter().zip(cleared.children()) {
        read_stored(child, cleared, known, scan, columns);
    }
}
