//! Runs a compiled plan by its schedule: its pipelines, each on all workers, and what they filled is
//! finished for those that read it.

use crate::delivery::Delivery;
use crate::metrics::{Metrics, PipelineMetrics};
use crate::pipeline_run::PipelineRun;
use crate::{Progress, WorkerPool};
use frazil_codegen::{CompiledPlan, FirstRows, PlanState};
use frazil_plan::breakers::BreakerId;
use frazil_plan::pipeline::PipelinePlan;
use frazil_plan::schedule::{Step, Turns};
use frazil_runtime::breakers::buffer::turns::TurnRows;
use frazil_runtime::breakers::{Breaker, Partial, Task, Workers, into_finished};
use frazil_runtime::caught_panic::panicked;
use frazil_runtime::{BufferBuild, RowBuffer};
use frazil_storage::{ScanOptions, TableSnapshot};
use frazil_types::{Cancel, Error, LogicalType, MemoryBudget, ObjectId, Result, RowBatch, SqlState, Value};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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
    /// Turns that a recursive query may take; none: any number.
    pub max_recursion: Option<u64>,
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

/// Runs all pipelines of a plan.
pub fn run_plan(
    plan: &Arc<PipelinePlan>,
    code: &Arc<CompiledPlan>,
    environment: Environment<'_>,
) -> Result<PlanResult> {
    let mut run = PlanRun::new(plan, code, &environment);
    run.steps(&plan.schedule.steps, &environment)?;
    let (batches, metrics) = run.into_result()?;
    Ok(PlanResult { batches, metrics })
}

/// A plan that is running. It keeps nothing of its environment but the parameters and the given rows.
pub struct PlanRun {
    /// The plan.
    pub plan: Arc<PipelinePlan>,
    /// Its code.
    pub code: Arc<CompiledPlan>,
    /// Results of its pipelines that have finished.
    pub state: Arc<PlanState>,
    /// For each breaker of the plan what is in it until it is finished.
    filling: Vec<Option<Filling>>,
    metrics: Metrics,
}

/// A breaker that pipelines fill.
struct Filling {
    breaker: Arc<dyn Breaker>,
    parts: Vec<Box<dyn Partial>>,
    /// The pipeline that filled it last.
    last: usize,
}

impl PlanRun {
    /// A plan at its start.
    pub fn new(plan: &Arc<PipelinePlan>, code: &Arc<CompiledPlan>, environment: &Environment<'_>) -> PlanRun {
        let state = PlanState::new(plan, environment.parameters.clone());
        PlanRun {
            plan: plan.clone(),
            code: code.clone(),
            state: Arc::new(state.with_given(environment.given.clone())),
            filling: plan.breakers.iter().map(|_| None).collect(),
            metrics: Metrics {
                pipelines: vec![PipelineMetrics::default(); plan.pipelines.len()],
            },
        }
    }

    fn steps(&mut self, steps: &[Step], environment: &Environment<'_>) -> Result<()> {
        steps.iter().try_for_each(|step| self.step(step, environment))
    }

    /// Does a step to its end.
    pub fn step(&mut self, step: &Step, environment: &Environment<'_>) -> Result<()> {
        environment.cancel.check()?;
        match step {
            Step::Run(pipeline) => self.pipeline(*pipeline, environment),
            Step::Finish(breaker) => self.finish(*breaker, environment),
            Step::Turns(turns) => self.turns(turns, environment),
        }
    }

    /// Does steps with the rows of the turn before, until there are none. Error 53400 after too many turns.
    fn turns(&mut self, turns: &Turns, environment: &Environment<'_>) -> Result<()> {
        let columns = self.plan.keeps(turns.work).reads();
        let types: Vec<LogicalType> = columns.iter().map(|id| self.plan.columns[*id].ty).collect();
        let mut done = TurnRows::new(turns.distinct, &types, environment.budget);
        let mut rows = done.add(self.taken(turns.work)?)?;
        let mut count = 0;
        while let Some(work) = rows
            && turns.enough.is_none_or(|enough| done.row_count() < enough)
        {
            count += 1;
            if environment.max_recursion.is_some_and(|most| count > most) {
                return Err(too_many_turns(count - 1));
            }
            Arc::make_mut(&mut self.state).finish(&self.plan, turns.work, work)?;
            self.steps(&turns.steps, environment)?;
            rows = done.add(self.taken(turns.next)?)?;
        }
        Arc::make_mut(&mut self.state).finish(&self.plan, turns.all, Arc::new(done.finish()?))
    }

    /// Takes a buffer out, which nobody reads any more.
    fn taken(&mut self, id: BreakerId) -> Result<Arc<RowBuffer>> {
        let taken = Arc::make_mut(&mut self.state).take(id);
        let taken = taken.ok_or_else(|| Error::internal("a turn without its rows"))?;
        into_finished(taken)
    }

    /// Runs a pipeline.
    fn pipeline(&mut self, index: usize, environment: &Environment<'_>) -> Result<()> {
        let begun = Instant::now();
        let filled = self.plan.pipelines[index].sink.breaker();
        let breaker = self.enter(index, environment)?;
        let (parts, mut measured) = self.execute(index, breaker, environment)?;
        if let Some(filling) = filled.and_then(|id| self.filling[id.0].as_mut()) {
            filling.parts.extend(parts);
            filling.last = index;
        }
        measured.time = begun.elapsed();
        self.metrics.pipelines[index].add(measured);
        Ok(())
    }

    /// Says that a pipeline begins; returns the breaker that it fills, if it does not only mark.
    fn enter(&mut self, index: usize, environment: &Environment<'_>) -> Result<Option<Arc<dyn Breaker>>> {
        let count = self.plan.pipelines.len();
        let phase = format!("pipeline {} of {count}", index + 1);
        environment.progress.enter(phase);
        let filled = self.plan.pipelines[index].sink.breaker();
        filled.map(|id| self.filling(id)).transpose()
    }

    /// Begins a pipeline that fills the buffer of the result: its rows are to be handed over. `None` for any other
    /// pipeline.
    pub fn deliver(&mut self, index: usize, environment: &Environment<'_>) -> Result<Option<Delivery>> {
        let filled = self.plan.pipelines[index].sink.breaker();
        if filled.is_none() || filled != self.plan.result {
            return Ok(None);
        }
        let breaker = self.enter(index, environment)?;
        let buffer = breaker.as_deref().map(|breaker| breaker as &dyn Any);
        let Some(buffer) = buffer.and_then(|buffer| buffer.downcast_ref::<BufferBuild>().cloned()) else {
            return Ok(None);
        };
        let run = PipelineRun::open(
            &self.plan,
            &self.code,
            index,
            &self.state,
            breaker,
            None,
            environment,
        )?;
        Ok(Some(Delivery::new(run, buffer, environment.budget)))
    }

    /// True for the step that makes the result of its rows: there is nothing to do if they were handed over.
    pub fn is_delivered(&self, step: &Step) -> bool {
        let Step::Finish(id) = step else { return false };
        let filling = &self.filling[id.0];
        self.plan.result == Some(*id) && filling.as_ref().is_some_and(|filling| filling.parts.is_empty())
    }

    /// A breaker to be filled: opened if no pipeline has filled it yet.
    fn filling(&mut self, id: BreakerId) -> Result<Arc<dyn Breaker>> {
        if let Some(filling) = &self.filling[id.0] {
            return Ok(filling.breaker.clone());
        }
        let layout = self.code.layouts.of_breaker(id).lays();
        let breaker = layout.open(self.state.values())?;
        self.filling[id.0] = Some(Filling {
            breaker: breaker.clone(),
            parts: Vec::new(),
            last: 0,
        });
        Ok(breaker)
    }

    /// Runs a pipeline; if it may do with the first rows of its scan, with more and more of them until they are enough.
    fn execute(
        &self,
        index: usize,
        breaker: Option<Arc<dyn Breaker>>,
        environment: &Environment<'_>,
    ) -> Result<(Vec<Box<dyn Partial>>, PipelineMetrics)> {
        let mut first_rows = FirstRows::of(&self.plan, index, &self.state)?;
        loop {
            let run = PipelineRun::open(
                &self.plan,
                &self.code,
                index,
                &self.state,
                breaker.clone(),
                first_rows.as_ref(),
                environment,
            )?;
            let has_all_rows = run.has_all_rows();
            let done = run.execute(environment)?;
            match first_rows {
                Some(first) if !has_all_rows && !first.suffice(&done.0) => first_rows = Some(first.more()),
                _ => return Ok(done),
            }
        }
    }

    /// Makes one of what workers left in a breaker. The pipeline that filled it last is measured with it.
    fn finish(&mut self, id: BreakerId, environment: &Environment<'_>) -> Result<()> {
        let Some(filling) = self.filling[id.0].take() else {
            return Err(Error::internal("a breaker that no pipeline filled"));
        };
        let begun = Instant::now();
        let finished = filling.breaker.finish(filling.parts, environment)?;
        let measured = &mut self.metrics.pipelines[filling.last];
        measured.rows_out = Some(measured.rows_out.unwrap_or(0) + finished.row_count());
        // Nobody else holds the state between two steps; if somebody did, they would keep the old version.
        Arc::make_mut(&mut self.state).finish(&self.plan, id, finished)?;
        measured.time += begun.elapsed();
        Ok(())
    }

    /// The rows the plan is run for.
    fn into_result(self) -> Result<(Vec<RowBatch>, Metrics)> {
        let mut state = Arc::unwrap_or_clone(self.state);
        let result = self.plan.result.and_then(|id| state.take(id));
        let batches = match result
            .map(into_finished::<RowBuffer>)
            .transpose()?
            .map(Arc::try_unwrap)
        {
            Some(Ok(buffer)) => buffer.into_batches(),
            Some(Err(shared)) => shared.batches().to_vec(),
            None => Vec::new(),
        };
        Ok((batches, self.metrics))
    }
}

/// Error 53400.
fn too_many_turns(count: u64) -> Error {
    Error::new(
        SqlState::CONFIGURATION_LIMIT_EXCEEDED,
        format!("a recursive query did not end within {count} iterations"),
    )
    .with_hint("frazil.max_recursion sets the limit; 0 means no limit")
}

impl Workers for Environment<'_> {
    fn threads(&self) -> usize {
        self.threads
    }

    fn budget(&self) -> &MemoryBudget {
        self.budget
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn run(&self, tasks: usize, task: Task) -> Result<()> {
        let next = AtomicUsize::new(0);
        let error: Arc<Mutex<Option<Error>>> = Arc::default();
        let noted = error.clone();
        let stop = self.cancel.child();
        let workers = self.threads.min(tasks);
        let work = move |_| {
            loop {
                let t = next.fetch_add(1, Ordering::Relaxed);
                if t >= tasks {
                    return;
                }
                let checked = || stop.check().and_then(|()| task(t));
                let done = catch_unwind(AssertUnwindSafe(checked));
                let done = done.unwrap_or_else(|panic| Err(panicked("a worker", panic.as_ref())));
                if let Err(e) = done {
                    (noted.lock().unwrap_or_else(|e| e.into_inner())).get_or_insert(e);
                    stop.stop_siblings();
                    return;
                }
            }
        };
        self.pool.run(workers, Arc::new(work));
        let error = error.lock().unwrap_or_else(|e| e.into_inner()).take();
        error.map_or(Ok(()), Err)
    }
}
