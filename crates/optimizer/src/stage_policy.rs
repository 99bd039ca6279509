//! Where pipelines are cut into stages (Relaxed Operator Fusion, sections 3 and 4).

use frazil_plan::breakers::{GroupTable, JoinTable};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, StagePolicy};
use frazil_plan::{ColumnId, Columns};
use frazil_types::NativeType;

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
                    p.needs_boundary(k) || p.may_have_boundary(k, plan) && wants_boundary(plan, p, k, policy)
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
    match (pipeline.operators.get(k), plan.filled(pipeline)) {
        (Some(PipelineOperator::Probe { join, .. }), _) => {
            let table = plan.join(*join);
            !table.keys.is_empty() && !table.in_order && join_bytes(table, &plan.columns) > CACHE_BYTES
        }
        (Some(_), _) => false,
        (None, filled) => {
            let bytes =
                |table: &GroupTable| table.estimated_groups * row_bytes(table.columns(), &plan.columns);
            let groups = filled.and_then(|(_, breaker)| breaker.groups());
            groups.is_some_and(|table| {
                !table.groups.is_empty()
                    && bytes(table) > CACHE_BYTES
                    && (k > 0 || !is_perhaps_clustered(table, &plan.columns))
            })
        }
    }
}

/// Whether groups are of one integer, as the rows of a table mostly are that lie in the order of such a key: one group follows
/// another then, and few are in use at a time. With a boundary in front of them TPC-H's Q18 takes a seventh longer.
fn is_perhaps_clustered(table: &GroupTable, columns: &Columns) -> bool {
    let [(key, _)] = table.groups[..] else {
        return false;
    };
    matches!(
        columns[key].native(),
        NativeType::I16 | NativeType::I32 | NativeType::I64
    )
}

fn join_bytes(table: &JoinTable, columns: &Columns) -> f64 {
    let keys: usize = table.keys.iter().map(|k| k.0.native().size()).sum();
    table.estimated_rows * (keys as f64 + row_bytes(table.payload.iter().copied(), columns))
}

/// Bytes of a row of a hash table: next pointer, hash, a directory entry, the values.
fn row_bytes(ids: impl Iterator<Item = ColumnId>, columns: &Columns) -> f64 {
    24.0 + ids.map(|id| columns[id].native().size() as f64).sum::<f64>()
}
