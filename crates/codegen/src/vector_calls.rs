//! Functions that run as vector kernels: each call becomes an operator of its own behind a stage
//! boundary, so that its arguments lie in a stage vector when the stage begins and its result is one more
//! column of it.

use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink};
use frazil_plan::{ColumnId, Columns, Expr, ExprKind};

/// The plan with its vector functions taken out of expressions; `None` if there are none.
pub(crate) fn hoist(plan: &PipelinePlan) -> Option<PipelinePlan> {
    if !plan.pipelines.iter().any(|p| pipeline_calls(plan, p)) {
        return None;
    }
    let mut out = plan.clone();
    let mut columns = plan.columns.clone();
    let mut aggregates = Vec::with_capacity(plan.aggregates.len());
    for table in &mut out.aggregates {
        let mut steps = Steps::default();
        for (_, e) in &mut table.groups {
            steps.hoist(e, &mut columns);
        }
        for (_, call) in &mut table.aggregates {
            for e in call.argument.iter_mut().chain(&mut call.filter) {
                steps.hoist(e, &mut columns);
            }
        }
        aggregates.push(steps);
    }
    for pipeline in &mut out.pipelines {
        rewrite(pipeline, &aggregates, &mut columns);
    }
    out.columns = columns;
    Some(out)
}

/// Operators in the making, and before which of them a boundary lies.
#[derive(Clone, Default)]
struct Steps {
    operators: Vec<PipelineOperator>,
    boundaries: Vec<usize>,
}

impl Steps {
    /// Takes the vector functions out of an expression, innermost first.
    fn hoist(&mut self, e: &mut Expr, columns: &mut Columns) {
        if !calls(e) {
            return;
        }
        if let ExprKind::Let { column, value, body } = &mut e.kind
            && calls(body)
        {
            // A call in the body runs before it, and may read the column: that becomes one of the pipeline's.
            self.hoist(value, columns);
            let id = columns.add("let", value.ty, value.nullable);
            columns[id].bounds = columns[*column].bounds;
            let made = Expr::column(id, columns);
            body.replace_columns(&|read| (read == *column).then(|| made.clone()));
            let mut body = std::mem::replace(&mut **body, made);
            let value = std::mem::replace(&mut **value, Expr::column(id, columns));
            self.operators.push(PipelineOperator::Map(vec![(id, value)]));
            self.hoist(&mut body, columns);
            *e = body;
            return;
        }
        for child in e.children_mut() {
            self.hoist(child, columns);
        }
        let ExprKind::VectorFunction(_, arguments) = &mut e.kind else {
            return;
        };
        let computed: Vec<(ColumnId, Expr)> = arguments
            .iter_mut()
            .filter(|a| !matches!(a.kind, ExprKind::Column(_)))
            .map(|argument| {
                let id = columns.add("argument", argument.ty, argument.nullable);
                let e = std::mem::replace(argument, Expr::column(id, columns));
                (id, e)
            })
            .collect();
        if !computed.is_empty() {
            self.operators.push(PipelineOperator::Map(computed));
        }
        let id = columns.add("result", e.ty, true);
        let call = std::mem::replace(e, Expr::column(id, columns));
        self.boundaries.push(self.operators.len());
        self.operators.push(PipelineOperator::Map(vec![(id, call)]));
    }

    fn append(&mut self, other: &Steps) {
        let before = self.operators.len();
        self.boundaries
            .extend(other.boundaries.iter().map(|b| b + before));
        self.operators.extend(other.operators.iter().cloned());
    }
}

fn rewrite(pipeline: &mut Pipeline, aggregates: &[Steps], columns: &mut Columns) {
    let mut steps = Steps::default();
    let operators = std::mem::take(&mut pipeline.operators);
    let last = operators.len();
    for (at, operator) in operators.into_iter().enumerate() {
        let before = steps.operators.len();
        let rewritten = match operator {
            PipelineOperator::Filter(mut e) => {
                steps.hoist(&mut e, columns);
                PipelineOperator::Filter(e)
            }
            PipelineOperator::Map(list) if list.iter().any(|(_, e)| calls(e)) => {
                // One by one, as later expressions may read earlier ones.
                for (id, mut e) in list {
                    steps.hoist(&mut e, columns);
                    steps.operators.push(PipelineOperator::Map(vec![(id, e)]));
                }
                if pipeline.boundaries.contains(&at) {
                    steps.boundaries.push(before);
                }
                continue;
            }
            PipelineOperator::Probe {
                join,
                kind,
                mut keys,
                residual,
                null_aware,
            } => {
                keys.iter_mut().for_each(|k| steps.hoist(k, columns));
                PipelineOperator::Probe {
                    join,
                    kind,
                    keys,
                    residual,
                    null_aware,
                }
            }
            other => other,
        };
        if pipeline.boundaries.contains(&at) {
            steps.boundaries.push(steps.operators.len());
        }
        steps.operators.push(rewritten);
    }
    match &mut pipeline.sink {
        Sink::Aggregate(id) => steps.append(&aggregates[id.0]),
        Sink::JoinBuild(_, keys) => keys.iter_mut().for_each(|k| steps.hoist(k, columns)),
        _ => {}
    }
    if pipeline.boundaries.contains(&last) {
        steps.boundaries.push(steps.operators.len());
    }
    steps.boundaries.sort_unstable();
    steps.boundaries.dedup();
    pipeline.operators = steps.operators;
    pipeline.boundaries = steps.boundaries;
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
        PipelineOperator::Probe { keys, .. } => keys.iter().any(calls),
    });
    operators
        || match &pipeline.sink {
            Sink::JoinBuild(_, keys) => keys.iter().any(calls),
            Sink::Aggregate(id) => {
                let table = &plan.aggregates[id.0];
                let of_calls = table
                    .aggregates
                    .iter()
                    .flat_map(|a| a.1.argument.iter().chain(&a.1.filter));
                table.groups.iter().map(|g| &g.1).chain(of_calls).any(calls)
            }
            _ => false,
        }
}

/// The call that an operator is, if it is one: the column made, its function and its arguments.
pub(crate) fn as_call(operator: &PipelineOperator) -> Option<(ColumnId, &Expr, Vec<ColumnId>)> {
    let PipelineOperator::Map(list) = operator else {
        return None;
    };
    let [(id, e)] = &list[..] else { return None };
    let ExprKind::VectorFunction(_, arguments) = &e.kind else {
        return None;
    };
    let column = |a: &Expr| match a.kind {
        ExprKind::Column(id) => Some(id),
        _ => None,
    };
    let arguments = arguments.iter().map(column).collect::<Option<_>>()?;
    Some((*id, e, arguments))
}
