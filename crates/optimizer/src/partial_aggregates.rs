//! Aggregates of parts of the rows, and how those of all rows come from them.

use frazil_plan::aggregates::Merging;
use frazil_plan::{AggregateCall, ArithmeticOp, Expr, ExprKind};
use frazil_types::{CompareOp, LogicalType, Span, Value};

/// A call as calls over parts of its rows.
pub struct Parts {
    /// The calls over the rows of each part.
    pub calls: Vec<AggregateCall>,
    merging: Merging,
    ty: LogicalType,
}

impl Parts {
    /// The parts of a call; `None` if it does not come from any.
    pub fn of(call: &AggregateCall) -> Option<Parts> {
        let merging = call.function.merging();
        let calls = match merging {
            _ if call.distinct => return None,
            Merging::Itself | Merging::Sum => vec![call.clone()],
            Merging::Quotient => {
                let sum = call.as_sum(sum_type(call));
                let count = AggregateCall {
                    filter: call.filter.clone(),
                    ..AggregateCall::count(call.argument.clone())
                };
                vec![sum, count]
            }
            Merging::Never => return None,
        };
        Some(Parts {
            calls,
            merging,
            ty: call.ty,
        })
    }

    /// The call's value, of what the calls merged give. A count of no part is NULL there.
    pub fn value(&self, mut merged: Vec<Expr>) -> Expr {
        match (self.merging, merged.pop(), merged.pop()) {
            (Merging::Quotient, Some(count), Some(sum)) => quotient(sum, count, self.ty),
            (Merging::Sum, Some(count), _) if count.nullable => or_zero(count),
            (_, Some(only), _) => only,
            (_, None, _) => unreachable!("an aggregate without parts"),
        }
    }
}

/// The call that merges what `part` gives for each part in a column.
pub fn merged(part: &AggregateCall, column: Expr) -> AggregateCall {
    match part.function.merging() {
        Merging::Sum => AggregateCall::sum(column, part.ty),
        Merging::Itself | Merging::Quotient | Merging::Never => {
            AggregateCall::new(part.function, Some(column), part.ty)
        }
    }
}

/// The type of the sum of which an average is the quotient.
fn sum_type(average: &AggregateCall) -> LogicalType {
    let summed = average.argument.as_ref().map(|a| a.ty.sum());
    summed.flatten().unwrap_or(average.ty)
}

/// A count, 0 where it is NULL.
fn or_zero(e: Expr) -> Expr {
    let ty = e.ty;
    let is_null = Expr::boolean(ExprKind::IsNull(Box::new(e.clone())), false);
    Expr {
        kind: ExprKind::Case {
            branches: vec![(is_null, Expr::constant(Value::Int(0), ty))],
            otherwise: Some(Box::new(e)),
        },
        ty,
        nullable: true,
        span: Span::NONE,
    }
}

/// sum / count; NULL where nothing was counted.
fn quotient(sum: Expr, count: Expr, ty: LogicalType) -> Expr {
    let zero = Expr::constant(Value::Int(0), count.ty);
    let kind = ExprKind::Compare(CompareOp::Gt, Box::new(count.clone()), Box::new(zero));
    let counted = Expr::boolean(kind, true);
    let cast = |e: Expr, ty: LogicalType| match e.ty == ty {
        true => e,
        false => Expr {
            nullable: e.nullable,
            span: e.span,
            kind: ExprKind::Cast(Box::new(e)),
            ty,
        },
    };
    let whole = LogicalType::widest_exact(0);
    let (l, r) = if ty.is_float() {
        (cast(sum, ty), cast(count, ty))
    } else if sum.ty.is_integer() {
        (cast(sum, whole), cast(count, whole))
    } else {
        (sum, cast(count, whole))
    };
    let divided = Expr {
        kind: ExprKind::Arithmetic(ArithmeticOp::Div, Box::new(l), Box::new(r)),
        ty,
        nullable: true,
        span: Span::NONE,
    };
    Expr {
        kind: ExprKind::Case {
            branches: vec![(counted, divided)],
            otherwise: None,
        },
        ty,
        nullable: true,
        span: Span::NONE,
    }
}
