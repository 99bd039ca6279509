//! Where pipelines are cut into stages (Relaxed Operator Fusion, sections 3 and 4).

use frazil_plan::pipeline::{JoinTable, Pipeline, PipelineOperator, PipelinePlan, Sink, StagePolicy};
use frazil_plan::{ColumnId, Columns};

/// A structure larger than this does not stay in a core's cache: looking it up row by row stalls on
/// memory, looking it up for a vector of prefetched rows does not.
const CACHE_BYTES: f64 = 1024.0 * 1024.0;

/// Sets the stage boundaries of every pipeline.
pub fn apply(plan: &mut PipelinePlan, policy: StagePolicy) {
    let boundaries: Vec<Vec<usize>> = plan
        .pipelines
        .iter()
        .map(|p| {
            (0..=p.operators.len())
                .filter(|&k| {
                    p.needs_boundary(k) || p.may_have_boundary(k) && wants_boundary(plan, p, k, policy)
                })
                .collect()
        })
        .collect();
    for (pipeline, boundaries) in plan.pipelines.iter_mut().zip(boundaries) {
        pipeline.boundaries = boundaries;
    }
}

fn wants_boundary(plan: &PipelinePlan, pipeline: &Pipeline, k: usize, policy: StagePolicy) -> bool {
    match policy {
        StagePolicy::Fused => false,
        StagePolicy::Staged => k > 0 || beyond_cache(plan, pipeline, k),
        StagePolicy::Relaxed => beyond_cache(plan, pipeline, k),
    }
}

/// Whether operator `k` looks up a structure larger than the cache.
fn beyond_cache(plan: &PipelinePlan, pipeline: &Pipeline, k: usize) -> bool {
    match (pipeline.operators.get(k), &pipeline.sink) {
        (Some(PipelineOperator::Probe { join, .. }), _) => {
            let table = &plan.joins[join.0];
            !table.keys.is_empty() && join_bytes(table, &plan.columns) > CACHE_BYTES
        }
        (Some(_), _) => false,
        (None, Sink::Aggregate(id)) => {
            let table = &plan.aggregates[id.0];
            let columns = table
                .groups
                .iter()
                .map(|g| g.0)
                .chain(table.aggregates.iter().map(|a| a.0));
            !table.groups.is_empty()
                && table.estimated_groups * row_bytes(columns, &plan.columns) > CACHE_BYTES
        }
        (None, _) => false,
    }
}

fn join_bytes(table: &JoinTable, columns: &Columns) -> f64 {
    let keys: usize = table.keys.iter().map(|k| k.0.native().size()).sum();
    table.estimated_rows * (keys as f64 + row_bytes(table.payload.iter().copied(), columns))
}

/// Bytes of a row of a hash table: next pointer, hash, a directory entry, the values.
fn row_bytes(ids: impl Iterator<Item = ColumnId>, columns: &Columns) -> f64 {
    24.0 + ids.map(|id| columns[id].native().size() as f64).sum::<f64>()
}
