//! The two pipelines of a plan of few rows behind which a sorter or an aggregation without groups stands: the one that
//! is given the rows, and the one that reads what became of them.
//!
//! A run makes an empty part for the first worker, and takes it out when all rows are in. The finished breaker is the
//! source of the second worker until its rows are copied. Between two runs neither worker has rows or values, so that
//! they keep no memory that a budget counts. A sorter with a limit is opened anew for each run, because it has a bound
//! that tightens. Workers serve one run alone if the result counts its rows or columns are fetched late.

use crate::compile::CompiledPlan;
use crate::few_rows::{is_unlimited, not_few, rows_of};
use crate::one_row::OneRun;
use crate::open_pipeline::{OpenPipeline, Opening, finished_rows};
use crate::plan_state::PlanState;
use crate::row_source::PipelineSource;
use crate::worker::{Flow, Worker};
use frazil_plan::RowCount;
use frazil_plan::breakers::BreakerId;
use frazil_plan::pipeline::{PipelinePlan, Source};
use frazil_runtime::BoundValues;
use frazil_runtime::breakers::alone::Alone;
use frazil_runtime::breakers::{Breaker, Finished};
use frazil_storage::{ScanOptions, TableSnapshot};
use frazil_types::{MemoryBudget, Result, RowBatch, Value};
use std::sync::Arc;

/// The workers of both pipelines. After an error they may not be used again.
pub(crate) struct TwoPipelines {
    plan: Arc<PipelinePlan>,
    code: Arc<CompiledPlan>,
    /// The breaker between the pipelines.
    filled: BreakerId,
    result: BreakerId,
    /// True if workers serve several runs.
    is_kept: bool,
    /// True if the breaker between them is the same for all runs.
    is_same: bool,
    first: Option<(Worker, Arc<dyn Breaker>)>,
    last: Option<(Worker, Arc<dyn Breaker>)>,
}

impl TwoPipelines {
    /// The pipelines of a plan without workers, which the first run makes. An internal error for another plan.
    pub fn new(plan: &Arc<PipelinePlan>, code: &Arc<CompiledPlan>) -> Result<TwoPipelines> {
        let filled = plan.pipelines[0].sink.breaker().ok_or_else(not_few)?;
        let is_late = matches!(&plan.pipelines[1].source, Source::Of { late, .. } if late.is_some());
        let between = plan.filled(&plan.pipelines[0]).map(|(_, breaker)| breaker);
        let sorter = between.and_then(|breaker| breaker.sorter());
        Ok(TwoPipelines {
            filled,
            result: plan.result.ok_or_else(not_few)?,
            is_kept: is_unlimited(plan, 1) && !is_late,
            is_same: sorter.is_none_or(|s| s.limit.is_none() && s.offset == RowCount::Constant(0)),
            first: None,
            last: None,
            plan: plan.clone(),
            code: code.clone(),
        })
    }

    /// Gets the first worker ready for the rows of a run. Errors: 53200; 2201W, 2201X for a negative LIMIT or OFFSET.
    pub fn begin(&mut self, budget: &MemoryBudget, run: OneRun<'_>) -> Result<()> {
        let (mut worker, kept) = match self.first.take() {
            Some((worker, breaker)) => (worker, self.is_same.then_some(breaker)),
            None => {
                let breaker = self.open(self.filled, run.parameters)?;
                let shared = (self.state(), breaker.clone());
                let open = OpenPipeline::of_given(&self.plan, &self.code, shared, (budget, run.cancel))?;
                let mut worker = Worker::new(Arc::new(open))?;
                worker.take_part();
                (worker, Some(breaker))
            }
        };
        let breaker = match kept {
            Some(breaker) => breaker,
            None => self.open(self.filled, run.parameters)?,
        };
        worker.prepare(run.parameters, run.cancel)?;
        worker.begin_part(&breaker)?;
        self.first = Some((worker, breaker));
        Ok(())
    }

    /// The worker to which the rows are given.
    pub fn first(&mut self) -> Result<&mut Worker> {
        self.first.as_mut().map(|(worker, _)| worker).ok_or_else(not_few)
    }

    /// Makes the result of the rows that the first worker was given. The errors of both pipelines.
    pub fn finish(
        &mut self,
        table: &Arc<TableSnapshot>,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<Vec<RowBatch>> {
        let (worker, breaker) = self.first.as_mut().ok_or_else(not_few)?;
        let parts = worker.take_part().into_iter().collect();
        worker.rest();
        let alone = Alone {
            budget,
            cancel: run.cancel,
        };
        let finished = breaker.finish(parts, &alone)?;
        let (mut worker, result) = match self.last.take() {
            Some((mut worker, result)) => {
                worker.own()?.source = self.source(finished)?;
                worker.prepare(run.parameters, run.cancel)?;
                (worker, result)
            }
            None => self.open_last(finished, table, budget, run)?,
        };
        for morsel in 0..worker.own()?.morsels() {
            run.cancel.check()?;
            if worker.run(morsel)? == Flow::Enough {
                break;
            }
        }
        worker.end()?;
        let batches = rows_of(&*result, vec![Box::new(worker.take_written()?)], budget, run)?;
        worker.rest();
        worker.own()?.source = PipelineSource::Given;
        self.last = Some((worker, result));
        Ok(batches)
    }

    /// The pipelines for the next run; `None` if it needs workers of its own.
    pub fn into_kept(self) -> Option<TwoPipelines> {
        self.is_kept.then_some(self)
    }

    /// A worker of the second pipeline, and what it fills.
    fn open_last(
        &self,
        finished: Arc<dyn Finished>,
        table: &Arc<TableSnapshot>,
        budget: &MemoryBudget,
        run: OneRun<'_>,
    ) -> Result<(Worker, Arc<dyn Breaker>)> {
        let result = self.open(self.result, run.parameters)?;
        if self.is_kept {
            let shared = (self.state(), result.clone());
            let source = (1, self.source(finished)?);
            let open = OpenPipeline::of_source(&self.plan, &self.code, source, shared, (budget, run.cancel))?;
            let mut worker = Worker::new(Arc::new(open))?;
            worker.prepare(run.parameters, run.cancel)?;
            return Ok((worker, result));
        }
        let mut state = PlanState::new(&self.plan, run.parameters.to_vec());
        state.finish(&self.plan, self.filled, finished)?;
        let opening = Opening {
            table: self.plan.pipelines[1].source.table().map(|_| table.clone()),
            scan: ScanOptions::default(),
            first_rows: None,
            state: &Arc::new(state),
            breaker: Some(result.clone()),
            budget,
            cancel: run.cancel,
        };
        let open = OpenPipeline::new(&self.plan, &self.code, 1, opening)?;
        Ok((Worker::new(Arc::new(open))?, result))
    }

    /// The source of the second pipeline, which fetches no column late.
    fn source(&self, finished: Arc<dyn Finished>) -> Result<PipelineSource> {
        finished_rows(&self.plan.pipelines[1], &self.code, finished, None)
    }

    /// The state of workers that are kept, without values, because the values of a run may be long.
    fn state(&self) -> Arc<PlanState> {
        let values = vec![Value::Null; self.plan.parameters.len()];
        Arc::new(PlanState::new(&self.plan, values))
    }

    /// A breaker of the plan, opened for the values of a run.
    fn open(&self, id: BreakerId, parameters: &[Value]) -> Result<Arc<dyn Breaker>> {
        let values = BoundValues {
            parameters,
            subqueries: &[],
        };
        self.code.layouts.of_breaker(id).lays().open(values)
    }
}
