//! In which order the pipelines of a plan run, and when what they fill is finished.

use crate::breakers::BreakerId;
use crate::pipeline::Pipeline;
use std::collections::HashSet;

/// What a run of a plan does, step by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// The steps, in their order.
    pub steps: Vec<Step>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Runs a pipeline: index into [`crate::pipeline::PipelinePlan::pipelines`].
    Run(usize),
    /// Makes one of what workers left in a breaker: all pipelines that fill it have run.
    Finish(BreakerId),
}

impl Schedule {
    /// Pipelines one after the other, each breaker finished as soon as the last pipeline that fills it has run.
    pub fn in_order(pipelines: &[Pipeline]) -> Schedule {
        let mut steps = Vec::with_capacity(pipelines.len() * 2);
        let mut finished = HashSet::new();
        // Backwards, the first pipeline met that fills a breaker is the last one that does.
        for (i, pipeline) in pipelines.iter().enumerate().rev() {
            let filled = pipeline.sink.breaker();
            steps.extend(filled.filter(|id| finished.insert(*id)).map(Step::Finish));
            steps.push(Step::Run(i));
        }
        steps.reverse();
        Schedule { steps }
    }
}
