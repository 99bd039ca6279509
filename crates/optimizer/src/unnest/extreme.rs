//! `x > ANY (…)`, and `x <= ALL (…)` as its negation, by one value of the subquery's rows.
//!
//! `x > ANY (rows)` is true if `x` is greater than the least value. Otherwise it is unknown if `x` or a value is NULL
//! and there is a row, and else false. So the subquery becomes a single row of that least value and two counts, and
//! rows need not be compared with each other. If the subquery is tied to outer rows by equations, that row is a group.

use super::lift::{self, Wanted};
use super::{Sign, Unnesting, case, compare, is_null, mapped};
use crate::can_fail::may_fail;
use crate::volatile::{calls_volatile, is_volatile};
use frazil_plan::operators::Aggregate;
use frazil_plan::{AggregateCall, AggregateFunction, COUNT, Columns, Expr, ExprKind, Operator, free_columns};
use frazil_types::{CompareOp, LogicalType, Value};

/// `x op value`, of which only `value` reads the subquery's rows.
struct Comparison {
    op: CompareOp,
    x: Expr,
    value: Expr,
}

impl Unnesting<'_> {
    /// A subquery and the condition asked of its rows as a subquery of one row and the condition asked of that, if the
    /// condition compares by an order. `sign`: whether the condition is a conjunct of a filter; `None` if its value is
    /// shown.
    pub(super) fn as_extreme(
        &mut self,
        root: Operator,
        condition: Expr,
        sign: Option<Sign>,
    ) -> (Operator, Expr) {
        let Some(compared) = comparison(&condition, &root) else {
            return (root, condition);
        };
        let Comparison { op, x, value } = compared;
        let steady = |e: &Expr| !may_fail(e, self.columns) && !calls_volatile(e);
        if !has_extremes(value.ty) || !steady(&x) || !steady(&value) || !self.is_one_group(&root) {
            return (root, condition);
        }
        let function = match op {
            CompareOp::Gt | CompareOp::Ge => AggregateFunction::extreme(false),
            CompareOp::Lt | CompareOp::Le => AggregateFunction::extreme(true),
            CompareOp::Eq | CompareOp::Ne => return (root, condition),
        };
        let column = self.columns.add("value", value.ty, value.nullable);
        let (value_may_be_null, ty) = (value.nullable, value.ty);
        let root = mapped(root, vec![(column, value)]);
        let value = Expr::column(column, self.columns);
        let mut aggregates = Vec::new();
        let mut aggregate = |columns: &mut Columns, call: AggregateCall, nullable| {
            let id = columns.add("extreme", call.ty, nullable);
            aggregates.push((id, call));
            Expr::column(id, columns)
        };
        let call = AggregateCall::new(function, Some(value.clone()), ty);
        let extreme = aggregate(self.columns, call, true);
        let is_true = compare(op, x.clone(), extreme);
        let condition = match sign {
            // A filter drops unknown answers like false ones.
            Some(Sign::Plain) => is_true,
            Some(Sign::Negated) | None => {
                let mut otherwise = Expr::truth(false);
                let mut unknown: Vec<Expr> = Vec::new();
                let x_may_be_null = x.nullable;
                if x_may_be_null {
                    unknown.push(is_null(x));
                }
                if value_may_be_null || x_may_be_null {
                    let rows = aggregate(self.columns, AggregateCall::count(None), false);
                    if value_may_be_null {
                        let call = AggregateCall::count(Some(value));
                        let values = aggregate(self.columns, call, false);
                        unknown.push(compare(CompareOp::Lt, values, rows.clone()));
                    }
                    let zero = Expr::constant(Value::Int(0), COUNT);
                    let null = Expr::constant(Value::Null, LogicalType::Boolean);
                    let is_unknown = match unknown.len() {
                        1 => unknown.swap_remove(0),
                        _ => Expr::boolean(ExprKind::Or(unknown), false),
                    };
                    let some = case(is_unknown, null, Some(otherwise.clone()));
                    let none = compare(CompareOp::Eq, rows, zero);
                    otherwise = case(none, otherwise, Some(some));
                }
                case(is_true, Expr::truth(true), Some(otherwise))
            }
        };
        let root = Operator::Aggregate(Aggregate {
            input: Box::new(root),
            groups: vec![],
            aggregates,
        });
        (root, condition)
    }

    /// True if a subquery's rows do not depend on outer rows, or only by equations.
    fn is_one_group(&mut self, root: &Operator) -> bool {
        if is_volatile(root) || self.gives_one_row(root) {
            return false;
        }
        if free_columns(root).is_empty() {
            return true;
        }
        let lifted = lift::lift(root, Wanted::Rows, self.columns);
        let is_equation = |e: &Expr| matches!(e.kind, ExprKind::Compare(CompareOp::Eq, ..));
        lifted.is_some_and(|lifted| lifted.conjuncts.iter().all(is_equation))
    }
}

/// A condition as a comparison of an outer expression with one of a subquery's rows.
fn comparison(condition: &Expr, root: &Operator) -> Option<Comparison> {
    let ExprKind::Compare(op, l, r) = &condition.kind else {
        return None;
    };
    let visible = root.visible();
    let reads = |e: &Expr| e.columns_read().iter().any(|id| visible.contains(id));
    let reads_only = |e: &Expr| e.columns_read().iter().all(|id| visible.contains(id));
    let (op, x, value) = match (reads(l), reads(r)) {
        (false, true) if reads_only(r) => (*op, l, r),
        (true, false) if reads_only(l) => (op.flip(), r, l),
        _ => return None,
    };
    let (x, value) = ((**x).clone(), (**value).clone());
    (x.ty == value.ty).then_some(Comparison { op, x, value })
}

/// True for types whose least and greatest values are found as they are compared.
fn has_extremes(ty: LogicalType) -> bool {
    ty.is_numeric() || ty.is_day() || ty.second_digits().is_some() || ty.is_text() && !ty.is_padded()
}
