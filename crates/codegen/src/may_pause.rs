//! The pipelines that can pause within a vector (see [`crate::pauses`]).

use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan};
use frazil_plan::{ExprKind, JoinKind};

/// True if a pipeline can pause within a vector: it fills the buffer of the result, and one of its operators makes any
/// number of rows of one.
pub(crate) fn may_pause(plan: &PipelinePlan, pipeline: &Pipeline) -> bool {
    let sink = pipeline.sink.breaker();
    let fills_result = sink.is_some() && sink == plan.result && pipeline.sink.takes_vectors(plan);
    fills_result
        && pipeline.operators.iter().any(makes_rows)
        && !pipeline.operators.iter().any(has_volatile_pairs)
}

fn makes_rows(operator: &PipelineOperator) -> bool {
    match operator {
        PipelineOperator::Probe { kind, .. } => gives_matches(*kind),
        PipelineOperator::Expand(_) => true,
        PipelineOperator::Filter(_) | PipelineOperator::Map(_) | PipelineOperator::Call(_) => false,
    }
}

/// True for joins that give a row for each match.
pub(crate) fn gives_matches(kind: JoinKind) -> bool {
    match kind {
        JoinKind::Inner | JoinKind::ProbeOuter | JoinKind::BuildOuter | JoinKind::FullOuter => true,
        JoinKind::ProbeSemi
        | JoinKind::ProbeAnti
        | JoinKind::ProbeMark(_)
        | JoinKind::BuildSemi
        | JoinKind::BuildAnti => false,
    }
}

/// True if a join's condition calls a volatile function for each pair of rows.
fn has_volatile_pairs(operator: &PipelineOperator) -> bool {
    let PipelineOperator::Probe {
        residual: Some(residual),
        ..
    } = operator
    else {
        return false;
    };
    let mut found = false;
    residual.walk(&mut |part| {
        found |= matches!(&part.kind, ExprKind::VectorFunction(function, _) if function.0.is_volatile());
    });
    found
}
