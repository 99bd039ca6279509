//! A scalar subquery of several rows is error 21000 where its value is read, and nowhere else: a condition that reads it may
//! fail, and what may fail stays behind gates. But the value and the number of rows are computed once for the plan. So a
//! tree reads the value as if it could not fail, and the error is left to a *check*: a subquery of the plan whose value
//! nobody wants, which computes the tree as it was, behind a gate that is open only if there are several rows and an
//! outer row asks. Elsewhere the check computes nothing, and the tree's condition is one like any other: a restriction
//! (TPC-DS 58: the days of one week).

use super::domain::Domain;
use super::site::Outer;
use super::{Unnesting, compare, filtered, first_row, join};
use crate::rename::{copied, renamed};
use crate::simplify::any_of;
use frazil_plan::operators::{Aggregate, Values};
use frazil_plan::{AggregateCall, Expr, ExprKind, JoinKind, Operator, ScalarFunction, free_columns};
use frazil_types::{CompareOp, Result, Value};

/// Operators of the outer rows and the tree that a check repeats, at most.
const MOST_REPEATED: usize = 40;

impl Unnesting<'_> {
    /// Leaves to a check what a tree raises where scalar subqueries have several rows, if that is all it raises. Whether
    /// it cannot fail now.
    pub(super) fn checked_apart(&mut self, outer: &Outer, inner: &mut Operator) -> Result<bool> {
        if size(outer.op) + size(inner) > MOST_REPEATED {
            return Ok(false);
        }
        let (mut plain, mut counts) = (inner.clone(), Vec::new());
        without_single(&mut plain, &mut counts);
        let is_apart = free_columns(inner).is_empty() && free_columns(outer.op).is_empty();
        if counts.is_empty() || !is_apart || self.tree_may_fail(&plain) || self.tree_may_fail(outer.op) {
            return Ok(false);
        }
        let original = std::mem::replace(inner, plain);
        self.check(outer, &original, counts)?;
        Ok(true)
    }

    /// Adds a check of a tree, for outer rows that pass the guards, where one of the counts is above one.
    fn check(&mut self, outer: &Outer, tree: &Operator, counts: Vec<Expr>) -> Result<()> {
        let several = counts.into_iter().map(|count| {
            let one = Expr::constant(Value::Int(1), count.ty);
            compare(CompareOp::Gt, count, one)
        });
        let row = Operator::Values(Values {
            columns: vec![],
            rows: vec![vec![]],
        });
        let row = filtered(row, vec![any_of(several.collect())]);
        let (rows, names) = copied(outer.op, self.columns);
        let guards = outer.guards.iter().map(|g| renamed(g.clone(), &names));
        let rows = filtered(rows, guards.collect());
        let gate = self.share(first_row(join(JoinKind::Inner, row, rows, vec![])));
        let (tree, _) = copied(tree, self.columns);
        let behind = self.for_domain(tree, Domain::of_a_row(gate))?;
        let rows = self.columns.add_count("rows");
        let count = Operator::Aggregate(Aggregate {
            input: Box::new(behind.op),
            groups: vec![],
            aggregates: vec![(rows, AggregateCall::count(None))],
        });
        self.computed_once(count, rows);
        Ok(())
    }
}

/// Operators of a tree.
fn size(op: &Operator) -> usize {
    1 + op.inputs().into_iter().map(size).sum::<usize>()
}

/// Makes a tree read values of scalar subqueries of the plan however many rows these have; gives the numbers of rows.
fn without_single(op: &mut Operator, counts: &mut Vec<Expr>) {
    for input in op.inputs_mut() {
        without_single(input, counts);
    }
    op.expressions_mut()
        .into_iter()
        .for_each(|e| read_anyhow(e, counts));
}

fn read_anyhow(e: &mut Expr, counts: &mut Vec<Expr>) {
    e.children_mut()
        .into_iter()
        .for_each(|part| read_anyhow(part, counts));
    let ExprKind::Function(ScalarFunction::Single, arguments) = &mut e.kind else {
        return;
    };
    let of_plan = |e: &Expr| matches!(e.kind, ExprKind::ScalarSubquery(_));
    if let [value, count] = &mut arguments[..]
        && of_plan(value)
        && of_plan(count)
    {
        counts.push(count.clone());
        let kind = std::mem::replace(&mut value.kind, ExprKind::Constant(Value::Null));
        e.kind = kind;
    }
}
