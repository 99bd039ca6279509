//! Cuts an operator tree into pipelines.

use crate::opening::{Builder, Helpers, shared_columns};
use crate::operator::Operator;
use crate::pipeline::{PipelinePlan, StagePolicy};
use crate::schedule::Schedule;
use crate::{ColumnId, Columns, Plan, RowCount, vector_calls};

pub use crate::opening::Estimates;

/// Cuts a plan into pipelines, with no other stage boundaries than they need.
pub fn build(plan: Plan, estimates: &dyn Estimates<Operator>) -> PipelinePlan {
    let Plan {
        root,
        columns,
        output,
        subqueries,
        shared,
        parameters,
    } = plan;
    let helpers = Helpers {
        shared_needed: shared_columns(&root, &subqueries, &shared),
        shared: &shared,
        subqueries: &subqueries,
    };
    let mut builder = Builder::new(PipelinePlan::empty(columns, parameters), estimates, &helpers);
    builder.prepare(&root);
    // What nobody reads any more still has its place in the lists.
    builder.prepare_subqueries();
    open_root(&mut builder, &root, &output);
    let mut out = builder.finish();
    out.output = output.into_iter().map(|o| o.0).collect();
    vector_calls::take_out(&mut out);
    for pipeline in &mut out.pipelines {
        let all = 0..=pipeline.operators.len();
        pipeline.boundaries = all.filter(|k| pipeline.needs_boundary(*k)).collect();
    }
    out
}

/// The pipelines of the root, whose rows are the plan's result or what it wants to write.
fn open_root(builder: &mut Builder<'_, Operator>, root: &Operator, output: &[(String, ColumnId)]) {
    let (mut input, mut columns) = (root, output.iter().map(|o| o.1).collect());
    let (mut limit, mut offset) = (None, RowCount::Constant(0));
    if let Operator::Write(write) = root {
        (input, columns) = (&*write.input, write.change.kept());
        builder.out.write = Some(Box::new(write.change.clone()));
    } else if let Operator::Limit(some) = root {
        input = &*some.input;
        (limit, offset) = (some.limit.clone(), some.offset.clone());
    }
    builder.out.result = Some(builder.keep_in_buffer(input, columns, limit, offset).0);
}

impl PipelinePlan {
    pub(crate) fn empty(columns: Columns, parameters: Vec<frazil_types::LogicalType>) -> PipelinePlan {
        PipelinePlan {
            columns,
            pipelines: vec![],
            breakers: vec![],
            stages: StagePolicy::Fused,
            schedule: Schedule::default(),
            subqueries: vec![],
            result: None,
            write: None,
            recursions: vec![],
            output: vec![],
            parameters,
            assumptions: vec![],
        }
    }
}
