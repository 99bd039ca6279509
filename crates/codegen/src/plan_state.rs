//! What the pipelines of a running plan have computed so far, for those that follow.

use frazil_plan::breakers::BreakerId;
use frazil_plan::pipeline::PipelinePlan;
use frazil_runtime::breakers::{Finished, finished_as};
use frazil_runtime::{BoundValues, JoinTable, RowBuffer};
use frazil_types::{Error, Result, RowBatch, Value};
use std::sync::Arc;

/// Values that are known, and finished breakers by their ids in the plan. Cloning shares them.
#[derive(Clone, Debug)]
pub struct PlanState {
    /// Values of the parameters, hidden ones after the statement's own.
    pub parameters: Vec<Value>,
    /// The rows that the plan is given.
    pub given: Arc<Vec<RowBatch>>,
    /// Values of the scalar subqueries; NULL until known.
    pub subqueries: Vec<Value>,
    breakers: Vec<Option<Arc<dyn Finished>>>,
}

impl PlanState {
    /// Nothing yet.
    pub fn new(plan: &PipelinePlan, parameters: Vec<Value>) -> PlanState {
        PlanState {
            parameters,
            given: Arc::default(),
            subqueries: vec![Value::Null; plan.subqueries.len()],
            breakers: vec![None; plan.breakers.len()],
        }
    }

    /// The same of a plan that is given rows.
    pub fn with_given(self, given: Arc<Vec<RowBatch>>) -> PlanState {
        PlanState { given, ..self }
    }

    /// What is known when a pipeline opens.
    pub fn values(&self) -> BoundValues<'_> {
        BoundValues {
            parameters: &self.parameters,
            subqueries: &self.subqueries,
        }
    }

    /// A finished breaker; an internal error before it is finished.
    pub fn breaker(&self, id: BreakerId) -> Result<&Arc<dyn Finished>> {
        let missing = || Error::internal("a breaker is read before it is finished");
        self.breakers[id.0].as_ref().ok_or_else(missing)
    }

    /// The finished table of a join.
    pub fn join(&self, id: BreakerId) -> Option<&JoinTable> {
        self.breakers[id.0].as_deref().and_then(finished_as)
    }

    /// Notes that a breaker is finished. Error 21000 where it holds a scalar subquery, and more than one row of it.
    pub fn finish(&mut self, plan: &PipelinePlan, id: BreakerId, finished: Arc<dyn Finished>) -> Result<()> {
        for (value, _) in (self.subqueries.iter_mut().zip(&plan.subqueries)).filter(|(_, of)| **of == id) {
            let buffer = finished_as::<RowBuffer>(&*finished);
            let buffer = buffer.ok_or_else(|| Error::internal("a scalar subquery without its buffer"))?;
            *value = buffer.scalar()?;
        }
        self.breakers[id.0] = Some(finished);
        Ok(())
    }

    /// Takes a finished breaker out.
    pub fn take(&mut self, id: BreakerId) -> Option<Arc<dyn Finished>> {
        self.breakers[id.0].take()
    }
}
