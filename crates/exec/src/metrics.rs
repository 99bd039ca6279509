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
    /// Rows that its stages handed on in stage vectors, and rows that these vectors have room for.
    pub handed: (u64, u64),
    /// Number of its stages, if the bytes of what it looks into called for others than planned.
    pub moved_stages: Option<usize>,
    /// What its scan did, if it is one.
    pub scan: Option<ScanCounters>,
    /// Name of the index that said which rows its scan looks at.
    pub index: Option<String>,
    /// What was looked up to know which rows its scan looks at.
    pub looked_up: Option<LookedUp>,
}

impl PipelineMetrics {
    /// Adds another run of the pipeline: one in a turn of a recursion runs several times. What its scan did is that of the last.
    pub(crate) fn add(&mut self, run: PipelineMetrics) {
        *self = PipelineMetrics {
            time: self.time + run.time,
            morsels: self.morsels + run.morsels,
            workers: self.workers.max(run.workers),
            rows_in: self.rows_in + run.rows_in,
            handed: (self.handed.0 + run.handed.0, self.handed.1 + run.handed.1),
            rows_out: run
                .rows_out
                .map(|rows| rows + self.rows_out.unwrap_or(0))
                .or(self.rows_out),
            ..run
        };
    }
}

/// All pipelines in order.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// One entry for each pipeline of the plan.
    pub pipelines: Vec<PipelineMetrics>,
}
