//! In which order the pipelines of a plan run, and when what they fill is finished.

use crate::breakers::BreakerId;

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
    /// Does steps again and again: WITH RECURSIVE.
    Turns(Box<Turns>),
}

/// Steps that make rows of the rows of the turn before, until a turn gives none. What does not depend on these rows is not among
/// them: it is done once, and its build sides are kept from turn to turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Turns {
    /// The buffer that the steps read, filled before the first turn.
    pub work: BreakerId,
    /// The buffer that they fill: the next turn's `work`.
    pub next: BreakerId,
    /// The buffer that has all rows of all turns in the end.
    pub all: BreakerId,
    /// Whether rows that were there before are dropped; NULLs are equal.
    pub distinct: bool,
    /// Rows after which there is no further turn.
    pub enough: Option<u64>,
    /// The steps of a turn.
    pub steps: Vec<Step>,
}
