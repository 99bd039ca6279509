//! Where pipelines are cut into stages (Relaxed Operator Fusion, section 4.4).

use crate::cardinality::Estimator;
use frazil_plan::bounds;
use frazil_plan::breakers::{BreakerId, GroupTable, JoinTable};
use frazil_plan::cached_bytes::{ARRAY_BYTES, CACHE_BYTES};
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink, StagePolicy};
use frazil_plan::{ColumnId, Columns, Expr};
use frazil_types::NativeType;

/// Build rows of more bytes than these are waited for. On an EPYC 2 million rows of 50 groups, whose keys are in 1.6 MB
/// of build rows, took 59 ms row by row, and 28 ms by vectors.
const WAITED_BYTES: f64 = 512.0 * 1024.0;
/// Bytes of an array for each row at most: see `runtime/breakers/join/join_hash_table/key_array.rs`.
const ARRAY_BYTES_PER_ROW: f64 = 64.0;

/// Sets the stage boundaries of every pipeline.
pub fn apply(plan: &mut PipelinePlan, policy: StagePolicy, estimator: &Estimator<'_>) {
    plan.stages = policy;
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
    let limits: Vec<Option<usize>> = match policy {
        StagePolicy::Relaxed => plan
            .pipelines
            .iter()
            .map(|p| group_limit(plan, p, estimator))
            .collect(),
        StagePolicy::Fused | StagePolicy::Staged => vec![None; boundaries.len()],
    };
    for (pipeline, (boundaries, limit)) in plan.pipelines.iter_mut().zip(boundaries.into_iter().zip(limits)) {
        let sink = pipeline.operators.len();
        pipeline.most_group_bytes = limit.filter(|_| !boundaries.contains(&sink));
        pipeline.boundaries = boundaries;
    }
}

/// Bytes up to which the groups in the sink of a pipeline are looked up row by row; `None` if there are no groups, or
/// if they are always looked up that way.
fn group_limit(plan: &PipelinePlan, pipeline: &Pipeline, estimator: &Estimator<'_>) -> Option<usize> {
    let (_, filled) = plan.filled(pipeline)?;
    let table = filled.groups().filter(|table| !table.groups.is_empty())?;
    let sink = pipeline.operators.len();
    // Rows may come in the order of the key.
    let key = integer_key(table, &plan.columns).filter(|_| sink == 0);
    let may_be_in_order = key.is_some_and(|key| !estimator.is_scattered(key));
    (pipeline.may_have_boundary(sink, plan) && !may_be_in_order).then_some(CACHE_BYTES)
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
                && join_bytes(table, &plan.columns) > CACHE_BYTES as f64
                && array_bytes(plan, *join, estimator).is_none_or(|bytes| bytes > ARRAY_BYTES as f64)
        }
        (Some(_), _) => false,
        (None, filled) => {
            let bytes =
                |table: &GroupTable| table.estimated_groups * row_bytes(table.columns(), &plan.columns);
            let groups = filled.and_then(|(_, breaker)| breaker.groups());
            let limit = group_limit(plan, pipeline, estimator);
            groups
                .zip(limit)
                .is_some_and(|(table, limit)| bytes(table) > limit as f64)
                || groups.is_some_and(|table| waits_for_build_rows(plan, pipeline, table, estimator))
        }
    }
}

/// True if a group key is made of a build row that a core has to wait for. Row by row, a state is then stored at an
/// address that is not known yet. A core that reads the state of a later row meanwhile, and finds that both are of one
/// group, starts again.
fn waits_for_build_rows(
    plan: &PipelinePlan,
    pipeline: &Pipeline,
    table: &GroupTable,
    estimator: &Estimator<'_>,
) -> bool {
    let mut read: Vec<ColumnId> = table.groups.iter().flat_map(|(_, e)| e.columns_read()).collect();
    for operator in pipeline.operators.iter().rev() {
        match operator {
            PipelineOperator::Map(made) => {
                for (column, e) in made.iter().rev() {
                    if read.contains(column) {
                        read.extend(e.columns_read());
                    }
                }
            }
            PipelineOperator::Probe { join, .. } => {
                let (bytes, columns) = (built_bytes(plan, *join, estimator), operator.adds(plan));
                if bytes > WAITED_BYTES && columns.iter().any(|column| read.contains(column)) {
                    return true;
                }
            }
            PipelineOperator::Filter(_) | PipelineOperator::Call(_) | PipelineOperator::Expand(_) => {}
        }
    }
    false
}

/// Bytes of the rows that a join looks into.
fn built_bytes(plan: &PipelinePlan, join: BreakerId, estimator: &Estimator<'_>) -> f64 {
    array_bytes(plan, join, estimator).unwrap_or_else(|| join_bytes(plan.join(join), &plan.columns))
}

/// The key of groups that are of one integer. If rows come in its order, one group follows another, and few are
/// in use at a time: with a boundary in front of them TPC-H's Q18 takes a seventh longer.
fn integer_key<'t>(table: &'t GroupTable, columns: &Columns) -> Option<&'t Expr> {
    let [(id, key)] = &table.groups[..] else {
        return None;
    };
    let native = columns[*id].native();
    matches!(native, NativeType::I16 | NativeType::I32 | NativeType::I64).then_some(key)
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
