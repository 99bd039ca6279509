//! A plan that runs only as far as its rows are taken.

use crate::delivery::Delivery;
use crate::run_plan::{Environment, PlanRun};
use frazil_codegen::CompiledPlan;
use frazil_plan::pipeline::PipelinePlan;
use frazil_plan::schedule::Step;
use frazil_runtime::Left;
use frazil_types::{Result, RowBatch};
use std::sync::Arc;

/// A query whose rows are taken piece by piece. Between two pieces it is a value that holds no thread: what its
/// breakers hold, and of the last pipeline the rows and the workers of some morsels.
pub struct PlanStream {
    run: PlanRun,
    /// The next step of the plan's schedule.
    step: usize,
    /// The pipeline whose rows are handed over.
    delivery: Option<Delivery>,
    /// The rest of the result's limit, once some pipeline gives rows of the result.
    left: Option<Left>,
}

impl PlanStream {
    /// A query at its start. Each piece is to be computed in an environment of the same parameters and tables.
    pub fn new(
        plan: &Arc<PipelinePlan>,
        code: &Arc<CompiledPlan>,
        environment: &Environment<'_>,
    ) -> PlanStream {
        PlanStream {
            run: PlanRun::new(plan, code, environment),
            step: 0,
            delivery: None,
            left: None,
        }
    }

    /// The next rows, at least one; `None` behind the last ones. `wanted`: number of rows that are asked for at this
    /// time; with more of them larger pieces are computed. The errors of the query, after which the stream is to be
    /// dropped.
    pub fn next(&mut self, environment: &Environment<'_>, wanted: u64) -> Result<Option<RowBatch>> {
        loop {
            if let Some(delivery) = &mut self.delivery {
                let left = self.left.get_or_insert_with(|| delivery.left());
                if let Some(batch) = delivery.next(environment, wanted, left)? {
                    return Ok(Some(batch));
                }
                self.delivery = None;
            }
            let plan = self.run.plan.clone();
            let Some(step) = plan.schedule.steps.get(self.step) else {
                return Ok(None);
            };
            self.step += 1;
            if self.run.is_delivered(step) {
                continue;
            }
            if let Step::Run(pipeline) = step {
                environment.cancel.check()?;
                self.delivery = self.run.deliver(*pipeline, environment)?;
                if self.delivery.is_some() {
                    continue;
                }
            }
            self.run.step(step, environment)?;
        }
    }
}
