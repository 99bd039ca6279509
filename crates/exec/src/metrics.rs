//! What running a plan took, pipeline by pipeline: `EXPLAIN ANALYZE` shows it.

use frazil_storage::{LookedUp, ScanCounters};
use std::time::Duration;

/// One pipeline.
#[derive(Clone, Debug, Default)]
pub struct PipelineMetrics {
    /// Time from its opening to its end, its sink finished.
    pub time: Duration,
    /// Morsels it had.
    pub morsels: usize,
    /// Workers that took some.
    pub workers: usize,
    /// Rows that entered generated code.
    pub rows_in: u64,
    /// Rows its sink held once it was finished (of all pipelines that fill it).
    pub rows_out: Option<u64>,
    /// What its scan did, if it is one.
    pub scan: Option<ScanCounters>,
    /// Name of the index that said which rows its scan looks at.
    pub index: Option<String>,
    /// What was looked up to know which rows its scan looks at.
    pub looked_up: Option<LookedUp>,
}

/// All pipelines in order.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// One entry for each pipeline of the plan.
    pub pipelines: Vec<PipelineMetrics>,
}
