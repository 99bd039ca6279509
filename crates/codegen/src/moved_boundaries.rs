//! Stage boundaries that move when a pipeline is opened (Relaxed Operator Fusion, section 4.4).
//!
//! The optimizer puts a boundary in front of a probe by the bytes that it expects of the join's table. When the
//! pipeline is opened the table is finished, and its bytes are known. If they call for other boundaries, the pipeline
//! is compiled once more with these, on the thread that opens it. The plan keeps that code for its later runs.

use crate::compile::{CompiledPipeline, CompiledPlan, compile_pipelines};
use crate::compile_options::CompileOptions;
use crate::failures::Failures;
use crate::jit::JitCode;
use crate::plan_state::PlanState;
use frazil_plan::cached_bytes::{ARRAY_BYTES, CACHE_BYTES};
use frazil_plan::pipeline::{PipelineOperator, PipelinePlan, StagePolicy};
use frazil_runtime::JoinTable;
use frazil_types::Cancel;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of a source from which on the pipeline is compiled once more: that takes some 300 µs, and a boundary in the
/// right place saves a few nanoseconds a row.
pub(crate) const WORTH_ROWS: u64 = 1 << 18;
/// Boundaries stay where they are unless the bytes of a table are this many times beyond what calls for others: near
/// that size both ways take about the same time.
pub(crate) const FACTOR: usize = 2;
/// Pipelines that a plan keeps compiled with other boundaries.
const MOST_KEPT: usize = 16;

/// The pipelines of a plan that were compiled once more, the latest last.
#[derive(Debug, Default)]
pub(crate) struct Moved(Mutex<Vec<Arc<MovedPipeline>>>);

/// A pipeline that was compiled with other boundaries than planned.
#[derive(Debug)]
pub(crate) struct MovedPipeline {
    index: usize,
    boundaries: Vec<usize>,
    pub pipeline: CompiledPipeline,
    pub failures: Failures,
    _code: JitCode,
}

/// The code of a pipeline for what it probes; `None` if that is the code that was compiled with the plan. `rows`: rows
/// of its source, at most.
pub(crate) fn suited(
    plan: &PipelinePlan,
    code: &CompiledPlan,
    index: usize,
    state: &PlanState,
    rows: u64,
    cancel: &Cancel,
) -> Option<Arc<MovedPipeline>> {
    if plan.stages != StagePolicy::Relaxed || rows < WORTH_ROWS {
        return None;
    }
    let boundaries = boundaries(plan, index, |join| state.join(join));
    if boundaries == plan.pipelines[index].boundaries {
        return None;
    }
    compiled_with(plan, code, index, boundaries, cancel)
}

/// The code of a pipeline with a boundary in front of its sink besides those that it has; `moved` if these are not the
/// planned ones. `None` if that code cannot be made.
pub(crate) fn with_boundary_at_sink(
    plan: &PipelinePlan,
    code: &CompiledPlan,
    index: usize,
    moved: Option<&MovedPipeline>,
    cancel: &Cancel,
) -> Option<Arc<MovedPipeline>> {
    let pipeline = &plan.pipelines[index];
    let now = moved.map_or(&pipeline.boundaries, |moved| &moved.boundaries);
    let boundaries = [&now[..], &[pipeline.operators.len()]].concat();
    compiled_with(plan, code, index, boundaries, cancel)
}

/// The code of a pipeline with some boundaries, which the plan keeps. `None` if it cannot be made; then the code of the
/// plan runs.
fn compiled_with(
    plan: &PipelinePlan,
    code: &CompiledPlan,
    index: usize,
    boundaries: Vec<usize>,
    cancel: &Cancel,
) -> Option<Arc<MovedPipeline>> {
    let mut kept = (code.moved.0.lock()).unwrap_or_else(PoisonError::into_inner);
    let known = kept
        .iter()
        .find(|m| m.index == index && m.boundaries == boundaries);
    if let Some(known) = known {
        return Some(known.clone());
    }
    let moved = Arc::new(compile(plan, code, index, boundaries, cancel)?);
    if kept.len() >= MOST_KEPT {
        kept.remove(0);
    }
    kept.push(moved.clone());
    Some(moved)
}

/// The boundaries of a pipeline by the bytes of the tables that it probes, those that are not finished left out.
fn boundaries<'s>(
    plan: &PipelinePlan,
    index: usize,
    table: impl Fn(frazil_plan::breakers::BreakerId) -> Option<&'s JoinTable>,
) -> Vec<usize> {
    let pipeline = &plan.pipelines[index];
    let mut boundaries = pipeline.boundaries.clone();
    for (k, operator) in pipeline.operators.iter().enumerate() {
        let PipelineOperator::Probe { join, keys, .. } = operator else {
            continue;
        };
        if keys.is_empty() || plan.join(*join).in_order || !pipeline.may_have_boundary(k, plan) {
            continue;
        }
        let Some(table) = table(*join) else {
            continue;
        };
        let limit = if table.is_array() {
            ARRAY_BYTES
        } else {
            CACHE_BYTES
        };
        match boundaries.binary_search(&k) {
            Ok(at) if table.bytes() < limit / FACTOR => drop(boundaries.remove(at)),
            Err(at) if table.bytes() > limit * FACTOR => boundaries.insert(at, k),
            _ => {}
        }
    }
    boundaries
}

fn compile(
    plan: &PipelinePlan,
    code: &CompiledPlan,
    index: usize,
    boundaries: Vec<usize>,
    cancel: &Cancel,
) -> Option<MovedPipeline> {
    let mut moved = plan.clone();
    moved.pipelines[index].boundaries.clone_from(&boundaries);
    moved.pipelines[index].estimated_rows = f64::INFINITY;
    let options = CompileOptions {
        text: false,
        cancel: cancel.clone(),
        helpers: None,
        ..code.options.clone()
    };
    let hot_layout = |table| code.hot_layouts.get(&table).cloned();
    let compiled = compile_pipelines(&moved, &code.layouts, &options, &hot_layout, index..index + 1);
    let (mut pipelines, failures, code) = compiled.ok()?;
    Some(MovedPipeline {
        index,
        boundaries,
        pipeline: pipelines.pop()?,
        failures,
        _code: code,
    })
}
