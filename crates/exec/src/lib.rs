//! Runs compiled pipelines: workers take morsels, errors and cancels stop the siblings, and what
//! happened is counted.
//!
//! [`run_plan()`] runs a plan's pipelines in order. Each is opened (operands bound, objects made), then all
//! its workers take morsels until there are none, then what they left in its sink becomes one object.
//! [`stream_plan()`] does the same, but hands the result's rows over a few morsels at a time.
#![forbid(unsafe_code)]

pub mod metrics;
mod pipeline_run;
pub mod progress;
pub mod run_plan;
pub mod worker_pool;

pub use metrics::{Metrics, PipelineMetrics};
pub use progress::Progress;
pub use run_plan::{Environment, PlanResult, Take, run_plan, stream_plan};
pub use worker_pool::WorkerPool;
