//! Pipelines that few rows go through, as far as is known: their code is worth no search for the best registers, which
//! takes longer than running it does. A guess that is wrong costs time, never an answer.

use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink, Source};
use frazil_plan::{Assumption, JoinKind, RowCount, TableId};

/// Rows that are few: slower code costs them some nanoseconds each, and better code takes a tenth of a millisecond to
/// make.
const FEW_ROWS: f64 = 4096.0;

/// For each pipeline whether few rows go through it.
pub(crate) fn of(plan: &PipelinePlan) -> Vec<bool> {
    // Rows that each pipeline hands to its sink. A pipeline runs behind those whose rows it reads.
    let mut out: Vec<f64> = Vec::with_capacity(plan.pipelines.len());
    let mut short = Vec::with_capacity(plan.pipelines.len());
    for pipeline in &plan.pipelines {
        let rows = source_rows(plan, pipeline, &out);
        let multiplies = pipeline.operators.iter().any(multiplies);
        short.push(rows <= FEW_ROWS && !multiplies);
        out.push(if multiplies { f64::INFINITY } else { rows });
    }
    short
}

/// Rows of a source at most, or as many as are expected; infinitely many where that is not known.
fn source_rows(plan: &PipelinePlan, pipeline: &Pipeline, out: &[f64]) -> f64 {
    let fed_by = |is_fed: &dyn Fn(&Sink) -> bool| -> f64 {
        let feeders = plan.pipelines.iter().zip(out).filter(|(p, _)| is_fed(&p.sink));
        feeders.map(|(_, rows)| rows).sum()
    };
    let limited = |rows: f64, limit: &Option<RowCount>| {
        let limit = limit.as_ref().and_then(RowCount::constant);
        limit.map_or(rows, |limit| rows.min(limit as f64))
    };
    match &pipeline.source {
        Source::Scan { table, .. } => assumed_rows(plan, *table),
        Source::Values { rows, .. } => rows.len() as f64,
        Source::Groups(id) => plan.aggregates[id.0].estimated_groups,
        Source::BuildRows { join, .. } => plan.joins[join.0].estimated_rows,
        Source::Sorted(id) => {
            let rows = fed_by(&|sink| matches!(sink, Sink::Sort(fed) if fed == id));
            limited(rows, &plan.sorts[id.0].limit)
        }
        Source::Buffer(id, _) => {
            let rows = fed_by(&|sink| matches!(sink, Sink::Buffer(fed, _) if fed == id));
            limited(rows, &plan.buffers[id.0].limit)
        }
    }
}

/// Rows of a table at most, where the plan relies on that.
fn assumed_rows(plan: &PipelinePlan, scanned: TableId) -> f64 {
    let ceilings = plan.assumptions.iter().filter_map(|assumption| match assumption {
        Assumption::Rows { table, ceiling } if *table == scanned => Some(*ceiling as f64),
        _ => None,
    });
    ceilings.fold(f64::INFINITY, f64::min)
}

/// Whether an operator may give more rows than it takes.
fn multiplies(operator: &PipelineOperator) -> bool {
    match operator {
        PipelineOperator::Filter(_) | PipelineOperator::Map(_) => false,
        PipelineOperator::Repeat { .. } => true,
        PipelineOperator::Probe { kind, .. } => !matches!(
            kind,
            JoinKind::ProbeSemi | JoinKind::ProbeAnti | JoinKind::ProbeMark(_)
        ),
    }
}
