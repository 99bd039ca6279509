//! Functions that run as vector kernels: each call becomes an operator of its own, [`PipelineOperator::Call`], so
//! that its arguments lie in a stage vector when a stage begins and its result is one more column of it. In the
//! residual of a join, which is evaluated for pairs of rows that no vector holds, calls stay where they are.
//!
//! CASE, AND, OR and FILTER evaluate some of their parts only for some rows, and so must a call inside them,
//! which may fail for the others. A call is hoisted together with a **guard**: a boolean column, computed from the
//! conditions around the call, that is true for the rows to be evaluated. Arguments are computed and the
//! function is called for those rows only; the result is NULL elsewhere, and nobody looks at it there.
//! A condition that guards becomes a column itself, so that it is computed once.

use crate::breakers::Computed;
use crate::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink, VectorCall};
use crate::{ColumnId, Columns, Expr, ExprKind};
use frazil_types::Value;

/// Takes the vector functions of a plan out of its expressions.
pub(crate) fn take_out(plan: &mut PipelinePlan) {
    if !plan.pipelines.iter().any(|p| pipeline_calls(plan, p)) {
        return;
    }
    let mut columns = std::mem::take(&mut plan.columns);
    let mut computed = Vec::with_capacity(plan.breakers.len());
    for breaker in &mut plan.breakers {
        let mut steps = Steps::default();
        for part in breaker.keeps_mut().computed_mut() {
            steps.hoist_computed(part, &mut columns);
        }
        computed.push(steps);
    }
    for pipeline in &mut plan.pipelines {
        rewrite(pipeline, &computed, &mut columns);
    }
    plan.columns = columns;
}

/// Operators in the making.
#[derive(Clone, Default)]
struct Steps {
    operators: Vec<PipelineOperator>,
}

impl Steps {
    /// Takes the vector functions out of an expression, innermost first.
    ///
    /// `guard` is a boolean column that is never NULL: the rows for which the expression is evaluated at all. No
    /// guard: all rows.
    fn hoist(&mut self, e: &mut Expr, guard: Option<ColumnId>, columns: &mut Columns) {
        if !calls(e) {
            return;
        }
        match &mut e.kind {
            ExprKind::Case { branches, otherwise } => {
                self.hoist_case(branches, otherwise.as_deref_mut(), guard, columns);
            }
            ExprKind::And(parts) => self.hoist_parts(parts, false, guard, columns),
            ExprKind::Or(parts) => self.hoist_parts(parts, true, guard, columns),
            ExprKind::Let { .. } => self.hoist_let(e, guard, columns),
            ExprKind::VectorFunction(..) => self.hoist_call(e, guard, columns),
            _ => {
                for child in e.children_mut() {
                    self.hoist(child, guard, columns);
                }
            }
        }
    }

    fn hoist_call(&mut self, e: &mut Expr, guard: Option<ColumnId>, columns: &mut Columns) {
        for argument in e.children_mut() {
            self.hoist(argument, guard, columns);
            if !matches!(argument.kind, ExprKind::Column(_)) {
                self.compute(argument, guard, columns);
            }
        }
        let made = columns.add("result", e.ty, true);
        let call = std::mem::replace(e, Expr::column(made, columns));
        if let ExprKind::VectorFunction(function, arguments) = call.kind {
            self.operators.push(PipelineOperator::Call(VectorCall {
                made,
                function,
                ty: call.ty,
                arguments: arguments.iter().filter_map(Expr::as_column).collect(),
                guard,
                span: call.span,
            }));
        }
    }

    /// A branch is reached where its condition is true and no earlier one is.
    fn hoist_case(
        &mut self,
        branches: &mut [(Expr, Expr)],
        mut otherwise: Option<&mut Expr>,
        mut guard: Option<ColumnId>,
        columns: &mut Columns,
    ) {
        // The branch behind which nothing is called.
        let last = match otherwise.as_deref().is_some_and(calls) {
            true => Some(branches.len()),
            false => branches.iter().rposition(|(c, r)| calls(c) || calls(r)),
        };
        for (at, (condition, result)) in branches.iter_mut().enumerate() {
            self.hoist(condition, guard, columns);
            let go_on = Some(at) < last;
            if !go_on && !calls(result) {
                return;
            }
            self.compute(condition, guard, columns);
            if calls(result) {
                let here = self.guard_where(condition.clone(), true, None, columns);
                self.hoist(result, Some(here), columns);
            }
            if go_on {
                guard = Some(self.guard_where(condition.clone(), false, guard, columns));
            }
        }
        if let Some(e) = &mut otherwise {
            self.hoist(e, guard, columns);
        }
    }

    /// A part of AND (OR) is reached where no earlier part is false (true): `decides` is the truth that ends the search.
    fn hoist_parts(
        &mut self,
        parts: &mut [Expr],
        decides: bool,
        mut guard: Option<ColumnId>,
        columns: &mut Columns,
    ) {
        let last = parts.iter().rposition(calls);
        for (at, part) in parts.iter_mut().enumerate() {
            self.hoist(part, guard, columns);
            if Some(at) >= last {
                return;
            }
            self.compute(part, guard, columns);
            let ended = match decides {
                true => part.clone(),
                false => Expr::boolean(ExprKind::Not(Box::new(part.clone())), part.nullable),
            };
            guard = Some(self.guard_where(ended, false, guard, columns));
        }
    }

    /// The value becomes a column, under an id of its own: the body may stand in several places.
    fn hoist_let(&mut self, e: &mut Expr, guard: Option<ColumnId>, columns: &mut Columns) {
        let ExprKind::Let { column, value, body } = &mut e.kind else {
            return;
        };
        self.hoist(value, guard, columns);
        self.compute(value, guard, columns);
        if let ExprKind::Column(made) = value.kind {
            columns[made].bounds = columns[*column].bounds;
        }
        body.replace_columns(&|id| (id == *column).then(|| (**value).clone()));
        self.hoist(body, guard, columns);
        let body = std::mem::replace(&mut **body, Expr::constant(Value::Null, e.ty));
        *e = body;
    }

    /// Replaces an expression by a column that holds its value where the guard is true, NULL elsewhere.
    fn compute(&mut self, e: &mut Expr, guard: Option<ColumnId>, columns: &mut Columns) {
        let id = columns.add("argument", e.ty, e.nullable || guard.is_some());
        let value = std::mem::replace(e, Expr::column(id, columns));
        let value = guarded(value, guard, columns);
        self.operators.push(PipelineOperator::Map(vec![(id, value)]));
    }

    /// A new guard: the rows of `guard` where `condition` is true, or those where it is not (false or NULL).
    fn guard_where(
        &mut self,
        condition: Expr,
        wanted: bool,
        guard: Option<ColumnId>,
        columns: &mut Columns,
    ) -> ColumnId {
        let mut branches = vec![(condition, Expr::truth(wanted))];
        let mut rest = Expr::truth(!wanted);
        if let Some(guard) = guard {
            branches.push((Expr::column(guard, columns), rest));
            rest = Expr::truth(false);
        }
        let kind = ExprKind::Case {
            branches,
            otherwise: Some(Box::new(rest)),
        };
        let id = columns.add_mark("guard", false);
        let guard = Expr::boolean(kind, false);
        self.operators.push(PipelineOperator::Map(vec![(id, guard)]));
        id
    }

    /// A filter's conjuncts in their order: those in front of a call are a filter of their own, so that the call sees
    /// only rows that pass them.
    fn hoist_filter(&mut self, predicate: Expr, columns: &mut Columns) {
        let mut ready = Vec::new();
        for mut conjunct in predicate.into_conjuncts() {
            if calls(&conjunct) {
                self.filter(std::mem::take(&mut ready));
                self.hoist(&mut conjunct, None, columns);
            }
            ready.push(conjunct);
        }
        self.filter(ready);
    }

    fn filter(&mut self, conjuncts: Vec<Expr>) {
        if let Some(predicate) = Expr::conjunction(conjuncts) {
            self.operators.push(PipelineOperator::Filter(predicate));
        }
    }

    /// A filter guards the values.
    fn hoist_computed(&mut self, part: Computed<'_>, columns: &mut Columns) {
        let Computed { values, filter } = part;
        let mut guard = None;
        if let Some(filter) = filter {
            self.hoist(filter, None, columns);
            if values.iter().any(|e| calls(e)) {
                self.compute(filter, None, columns);
                guard = Some(self.guard_where(filter.clone(), true, None, columns));
            }
        }
        for value in values {
            self.hoist(value, guard, columns);
        }
    }
}

/// CASE WHEN guard THEN e END.
fn guarded(e: Expr, guard: Option<ColumnId>, columns: &Columns) -> Expr {
    let Some(guard) = guard else { return e };
    let ty = e.ty;
    let kind = ExprKind::Case {
        branches: vec![(Expr::column(guard, columns), e)],
        otherwise: None,
    };
    Expr::new(kind, ty, true)
}

fn rewrite(pipeline: &mut Pipeline, computed: &[Steps], columns: &mut Columns) {
    let mut steps = Steps::default();
    for operator in std::mem::take(&mut pipeline.operators) {
        match operator {
            PipelineOperator::Filter(e) if calls(&e) => steps.hoist_filter(e, columns),
            PipelineOperator::Map(list) if list.iter().any(|(_, e)| calls(e)) => {
                // One by one, as later expressions may read earlier ones.
                for (id, mut e) in list {
                    steps.hoist(&mut e, None, columns);
                    steps.operators.push(PipelineOperator::Map(vec![(id, e)]));
                }
            }
            mut other => {
                if let PipelineOperator::Probe { keys, ends, .. } = &mut other {
                    let ends = ends.iter_mut().flat_map(|ends| ends.values_mut());
                    keys.iter_mut()
                        .chain(ends)
                        .for_each(|k| steps.hoist(k, None, columns));
                }
                if let PipelineOperator::Expand(expansion) = &mut other {
                    (expansion.arguments_mut()).for_each(|e| steps.hoist(e, None, columns));
                }
                steps.operators.push(other);
            }
        }
    }
    if let Sink::Into(id, keys) = &mut pipeline.sink {
        keys.iter_mut().for_each(|k| steps.hoist(k, None, columns));
        steps.operators.extend(computed[id.0].operators.iter().cloned());
    }
    pipeline.operators = steps.operators;
}

/// Whether an expression calls a vector function.
fn calls(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |part| found |= matches!(part.kind, ExprKind::VectorFunction(..)));
    found
}

fn pipeline_calls(plan: &PipelinePlan, pipeline: &Pipeline) -> bool {
    let operators = pipeline.operators.iter().any(|o| match o {
        PipelineOperator::Filter(e) => calls(e),
        PipelineOperator::Map(list) => list.iter().any(|(_, e)| calls(e)),
        PipelineOperator::Probe { keys, ends, .. } => keys
            .iter()
            .chain(ends.iter().flat_map(|ends| ends.values()))
            .any(calls),
        PipelineOperator::Expand(expansion) => expansion.arguments().any(calls),
        PipelineOperator::Call(_) => false,
    });
    operators || pipeline.sink.expressions(plan).into_iter().any(calls)
}
