//! Runs a compiled plan: its pipelines in order, each on all workers, then what they filled is
//! finished for those that read it.

use crate::metrics::{Metrics, PipelineMetrics};
use crate::pipeline_run::PipelineRun;
use crate::sinks::Sinks;
use crate::{Progress, WorkerPool};
use frazil_codegen::{CompiledPlan, Finished, FirstRows, Partial};
use frazil_plan::pipeline::{PipelinePlan, Sink};
use frazil_storage::{ScanOptions, TableSnapshot};
use frazil_types::{Cancel, MemoryBudget, ObjectId, Result, RowBatch, Value};
use std::sync::Arc;
use std::time::Instant;

/// What a plan runs on.
pub struct Environment<'a> {
    /// The tables of the statement's snapshot.
    pub tables: &'a dyn Fn(ObjectId) -> Result<Arc<TableSnapshot>>,
    /// Values of the parameters, hidden ones after the statement's own.
    pub parameters: Vec<Value>,
    /// The rows that the plan is given, if it reads any: [`frazil_plan::Operator::Given`].
    pub given: Arc<Vec<RowBatch>>,
    /// How scans work.
    pub scan: ScanOptions,
    /// Workers, the calling thread among them.
    pub threads: usize,
    /// Where the others come from.
    pub pool: &'a WorkerPool,
    /// What hash tables, sorters and results may take.
    pub budget: &'a MemoryBudget,
    /// Set by the user or a timeout. Pipelines have flags below it, which a worker that fails sets.
    pub cancel: &'a Cancel,
    /// Where it says how far it is.
    pub progress: &'a Arc<Progress>,
}

/// What a plan gave.
#[derive(Debug, Default)]
pub struct PlanResult {
    /// The result's rows; of a statement that writes what it keeps of them.
    pub batches: Vec<RowBatch>,
    /// What it took.
    pub metrics: Metrics,
}

/// Takes rows of a result while the plan runs.
pub type Take<'a> = &'a mut dyn FnMut(RowBatch) -> Result<()>;

/// Runs all pipelines of a plan.
pub fn run_plan(
    plan: &Arc<PipelinePlan>,
    code: &Arc<CompiledPlan>,
    environment: Environment<'_>,
) -> Result<PlanResult> {
    let (sinks, finished, metrics) = run(plan, code, &environment, None)?;
    Ok(PlanResult {
        batches: sinks.into_result(plan, finished),
        metrics,
    })
}

/// Runs all pipelines of a query, and hands its rows over part by part: as many of them are held as some morsels give.
pub fn stream_plan(
    plan: &Arc<PipelinePlan>,
    code: &Arc<CompiledPlan>,
    environment: Environment<'_>,
    take: Take<'_>,
) -> Result<Metrics> {
    let (_, _, metrics) = run(plan, code, &environment, Some(take))?;
    Ok(metrics)
}

fn run(
    plan: &Arc<PipelinePlan>,
    code: &Arc<CompiledPlan>,
    environment: &Environment<'_>,
    mut take: Option<Take<'_>>,
) -> Result<(Sinks, Arc<Finished>, Metrics)> {
    let finished = Finished::new(plan, environment.parameters.clone());
    let finished = finished.with_given(environment.given.clone());
    let mut finished = Arc::new(finished);
    let mut sinks = Sinks::default();
    let mut metrics = Metrics::default();
    let mut left = None;
    for index in 0..plan.pipelines.len() {
        environment.cancel.check()?;
        let begun = Instant::now();
        let pipeline = &plan.pipelines[index];
        environment
            .progress
            .enter(format!("pipeline {} of {}", index + 1, plan.pipelines.len()));
        let is_result = matches!(&pipeline.sink, Sink::Buffer(id, _) if plan.result == Some(*id));
        let first_rows = FirstRows::of(plan, index, &finished)?;
        let open = |sinks: &mut Sinks, first_rows: Option<&FirstRows>| {
            PipelineRun::open(plan, code, index, &finished, first_rows, environment, sinks)
        };
        let mut measured = match (&mut take, sinks.buffer(plan, index, &finished)?) {
            (Some(take), Some(buffer)) if is_result => {
                let left = left.get_or_insert_with(|| buffer.left());
                open(&mut sinks, None)?.deliver(environment, &buffer, left, take)?
            }
            _ => {
                let (partials, mut measured) =
                    execute(first_rows, environment, |first| open(&mut sinks, first))?;
                sinks.add(&pipeline.sink, partials);
                measured.rows_out = sinks.finish(index, plan, code, &mut finished, environment)?;
                measured
            }
        };
        measured.time = begun.elapsed();
        metrics.pipelines.push(measured);
    }
    Ok((sinks, finished, metrics))
}

/// Runs a pipeline; if it may do with the first rows of its scan, with more and more of them until they are enough.
fn execute(
    mut first_rows: Option<FirstRows>,
    environment: &Environment<'_>,
    mut open: impl FnMut(Option<&FirstRows>) -> Result<PipelineRun>,
) -> Result<(Vec<Partial>, PipelineMetrics)> {
    loop {
        let run = open(first_rows.as_ref())?;
        let has_all_rows = run.has_all_rows();
        let done = run.execute(environment)?;
        match first_rows {
            Some(first) if !has_all_rows && !first.suffice(&done.0) => first_rows = Some(first.more()),
            _ => return Ok(done),
        }
    }
}
