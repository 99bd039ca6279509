//! Ends the scan of groups once there are enough of them: those of DISTINCT, or of GROUP BY without aggregates, of
//! which a LIMIT without an order keeps some.
//!
//! One pipeline reads the groups into a buffer with a limit, and drops none on the way. The operators between source
//! and groups must leave no trace of a row that does not come: they mark no rows of a build side, and raise no error.

use crate::can_fail::may_fail;
use crate::top_bounds::may_leave_out;
use frazil_plan::breakers::{BreakerId, GroupTable};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Source};

/// Sets the number of groups that are enough, where there is one.
pub fn apply(plan: &mut PipelinePlan) {
    let wanted = plan.pipelines.iter().filter_map(|reader| wanted(plan, reader));
    let wanted: Vec<(BreakerId, u64)> = wanted.collect();
    for (id, groups) in wanted {
        if let Some(table) = plan.breakers[id.0].groups_mut() {
            table.enough = Some(groups);
        }
    }
}

/// The groups that a pipeline reads, and how many of them it keeps. `None` if they need all rows.
fn wanted(plan: &PipelinePlan, reader: &Pipeline) -> Option<(BreakerId, u64)> {
    let Source::Of { breaker: id, .. } = reader.source else {
        return None;
    };
    let table = plan.breakers[id.0].groups()?;
    let buffer = reader
        .sink
        .breaker()
        .and_then(|id| plan.breakers[id.0].buffer())?;
    let (limit, offset) = (buffer.limit.as_ref()?.constant()?, buffer.offset.constant()?);
    let are_bare = !table.groups.is_empty() && table.aggregates.is_empty();
    let is_wanted = are_bare && keeps_all(reader) && is_only_reader(plan, id) && may_be_left(plan, id, table);
    is_wanted.then_some((id, limit.saturating_add(offset)))
}

/// True if a pipeline hands on every row of its source.
fn keeps_all(reader: &Pipeline) -> bool {
    reader.operators.iter().all(|operator| match operator {
        PipelineOperator::Map(_) | PipelineOperator::Call(_) => true,
        PipelineOperator::Filter(_) | PipelineOperator::Probe { .. } | PipelineOperator::Expand(_) => false,
    })
}

fn is_only_reader(plan: &PipelinePlan, id: BreakerId) -> bool {
    let reads = |pipeline: &&Pipeline| {
        let is_source = matches!(pipeline.source, Source::Of { breaker, .. } if breaker == id);
        is_source || pipeline.operators.iter().any(|o| o.looks_into() == Some(id))
    };
    let is_kept = plan.subqueries.contains(&id) || plan.recursions.contains(&id) || plan.result == Some(id);
    !is_kept && plan.pipelines.iter().filter(reads).count() == 1
}

/// True if nobody notices that rows do not come to the groups.
fn may_be_left(plan: &PipelinePlan, id: BreakerId, table: &GroupTable) -> bool {
    let mut filling = (plan.pipelines.iter()).filter(|pipeline| pipeline.sink.breaker() == Some(id));
    let keys_fail = table.groups.iter().any(|(_, e)| may_fail(e, &plan.columns));
    !keys_fail && filling.all(|p| p.operators.iter().all(|o| may_leave_out(o, &plan.columns)))
}
