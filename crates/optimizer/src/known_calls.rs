//! Calls whose arguments are known when a statement is planned, because its plan is for one run: constants, parameters
//! with their values, and calls of these. Each call is computed once, so that it can be a restriction of a scan. In
//! `attrelid = 't'::regclass` it would be computed for each row otherwise.
//!
//! A plan that is kept must not come here: its next run has other parameters.

use frazil_plan::vector_function::CallContext;
use frazil_plan::{Expr, ExprKind, Operator, OwnMut, Plan};
use frazil_types::value_ops::{CastLength, cast};
use frazil_types::{ColumnVector, Value};
use std::slice;

/// Computes the calls of a plan as it was bound. A call that fails stays as it is: perhaps no row needs it.
pub fn plan(plan: &mut Plan, parameters: &[Value], context: &CallContext<'_>) {
    let known = Known { parameters, context };
    plan.trees_mut().0.for_each(|tree| known.operator(tree));
}

/// The values of a run.
struct Known<'a> {
    parameters: &'a [Value],
    context: &'a CallContext<'a>,
}

impl Known<'_> {
    fn operator(&self, op: &mut Operator) {
        op.inputs_mut().into_iter().for_each(|input| self.operator(input));
        op.expressions_mut().into_iter().for_each(|e| self.expression(e));
    }

    /// Computes the calls of an expression, its parts first.
    fn expression(&self, e: &mut Expr) {
        if let OwnMut::Asks(subquery) = e.own_mut() {
            self.operator(subquery.root_mut());
        }
        e.children_mut()
            .into_iter()
            .for_each(|child| self.expression(child));
        if let Some(value) = self.value(e) {
            *e = Expr::constant(value, e.ty).at(e.span);
        }
    }

    /// The value of a call, or of a number that a named oid becomes. `None` if a part of it is not known, if it differs
    /// from call to call, or if it fails.
    fn value(&self, e: &Expr) -> Option<Value> {
        if let ExprKind::VectorFunction(function, arguments) = &e.kind
            && !function.0.is_volatile()
        {
            let arguments: Option<Vec<ColumnVector>> = arguments.iter().map(|a| self.argument(a)).collect();
            let result = function.0.evaluate(&arguments?, 1, e.ty, self.context);
            return Some(result.ok()?.value(0));
        }
        if let ExprKind::Cast(inner) = &e.kind
            && inner.ty.kind().is_named_oid()
        {
            return cast(inner.as_constant()?, inner.ty, e.ty, CastLength::Refuse).ok();
        }
        None
    }

    /// A vector of the one value of an argument.
    fn argument(&self, e: &Expr) -> Option<ColumnVector> {
        let value = if let ExprKind::Parameter(n) = e.kind {
            self.parameters.get(n)?
        } else {
            e.as_constant()?
        };
        Some(ColumnVector::from_values(e.ty, slice::from_ref(value)))
    }
}
