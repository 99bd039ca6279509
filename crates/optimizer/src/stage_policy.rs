//! Where pipelines are cut into stages (Relaxed Operator Fusion, sections 3 and 4).

use crate::cardinality::Estimator;
use frazil_plan::bounds;
use frazil_plan::breakers::{BreakerId, GroupTable, JoinTable};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink, StagePolicy};
use frazil_plan::{ColumnId, Columns};
use frazil_types::NativeType;

/// A structure larger than this does not stay in a core's cache: looking it up row by row stalls on
/// memory, looking it up for a vector of prefetched rows does not.
const CACHE_BYTES: f64 = 1024.0 * 1024.0;
/// An array of rows by their keys is probed row by row up to this size. A probe reads a single cache line there,
/// whose address the key gives, so that a core waits for the lines of several rows at once. On a Sapphire Rapids a
/// probe of an array of 8 MB took 7.5 ns that way, and 23 ns by vectors; with 40 MB 36 and 53 ns.
const ARRAY_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// Bytes of an array for each row at most: see `runtime/breakers/join/join_hash_table/key_array.rs`.
const ARRAY_BYTES_PER_ROW: f64 = 64.0;

/// Sets the stage boundaries of every pipeline.
pub fn apply(plan: &mut PipelinePlan, policy: StagePolicy, estimator: &Estimator<'_>) {
    let boundaries: Vec<Vec<usize>> = plan
        .pipelines
        .iter()
        .map(|p| {
            (0..=p.operators.len())
                .filter(|&k| {
                    p.needs_boundary(k)
                        || p.may_have_boundary(k, plan) && wants_boundary(plan, p, k, policy, estimator)
                })
                .collect()
        })
        .collect();
    for (pipeline, boundaries) in plan.pipelines.iter_mut().zip(boundaries) {
        pipeline.boundaries = boundaries;
    }
}

fn wants_boundary(
    plan: &PipelinePlan,
    pipeline: &Pipeline,
    k: usize,
    policy: StagePolicy,
    estimator: &Estimator<'_>,
) -> bool {
    match policy {
        StagePolicy::Fused => false,
        StagePolicy::Staged => k > 0 || beyond_cache(plan, pipeline, k, estimator),
        StagePolicy::Relaxed => beyond_cache(plan, pipeline, k, estimator),
    }
}

/// Whether operator `k` looks up a structure larger than the cache.
fn beyond_cache(plan: &PipelinePlan, pipeline: &Pipeline, k: usize, estimator: &Estimator<'_>) -> bool {
    match (pipeline.operators.get(k), plan.filled(pipeline)) {
        (Some(PipelineOperator::Probe { join, .. }), _) => {
            let table = plan.join(*join);
            !table.keys.is_empty()
                && !table.in_order
                && join_bytes(table, &plan.columns) > CACHE_BYTES
                && array_bytes(plan, *join, estimator).is_none_or(|bytes| bytes > ARRAY_BYTES)
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

/// Bytes of the rows and the directory of a join's table.
fn join_bytes(table: &JoinTable, columns: &Columns) -> f64 {
    let keys: usize = table.keys.iter().map(|k| k.0.native().size()).sum();
    table.estimated_rows * (keys as f64 + row_bytes(table.payload.iter().copied(), columns))
}

/// Bytes of the array that holds the rows of a join if their keys are dense and differ; `None` if that is not to be
/// expected.
fn array_bytes(plan: &PipelinePlan, join: BreakerId, estimator: &Estimator<'_>) -> Option<f64> {
    let table = plan.join(join);
    let mut builds = (plan.pipelines.iter()).filter_map(|pipeline| match &pipeline.sink {
        Sink::Into(id, keys) if *id == join => Some(keys),
        Sink::Into(..) | Sink::Mark => None,
    });
    let (keys, None) = (builds.next()?, builds.next()) else {
        return None;
    };
    let [key] = &keys[..] else {
        return None;
    };
    let bounds = bounds::expected(key, &plan.columns).filter(|_| key.ty.is_integer())?;
    let values = bounds.max as f64 - bounds.min as f64 + 1.0;
    let payload = value_bytes(table.payload.iter().copied(), &plan.columns);
    let bytes = values * (key.ty.native().size() as f64 + payload);
    let differ = table.estimated_rows <= values && estimator.hardly_repeats(key);
    (differ && !table.marked && bytes <= table.estimated_rows * ARRAY_BYTES_PER_ROW).then_some(bytes)
}

/// Bytes of a row of a hash table: next pointer, hash, a directory entry, the values.
fn row_bytes(ids: impl Iterator<Item = ColumnId>, columns: &Columns) -> f64 {
    24.0 + value_bytes(ids, columns)
}

/// Bytes of the values of a row.
fn value_bytes(ids: impl Iterator<Item = ColumnId>, columns: &Columns) -> f64 {
    ids.map(|id| columns[id].native().size() as f64).sum::<f64>()
}
