//! Runs compiled pipelines: workers take morsels, errors and cancels stop the siblings, and what
//! happened is counted.
//!
//! [`run_plan()`] runs a plan's pipelines in order. Each is opened (operands bound, objects made), then all
//! its workers take morsels until there are none, then what they left in its sink becomes one object.
//! [`PlanStream`] does the same, but only as far as its rows are taken: it pauses between any two pieces of the result.
#![forbid(unsafe_code)]

mod delivery;
pub mod metrics;
mod pipeline_run;
pub mod plan_stream;
pub mod progress;
pub mod run_plan;
pub mod worker_pool;

pub use metrics::{Metrics, PipelineMetrics};
pub use plan_stream::PlanStream;
pub use progress::Progress;
pub use run_plan::{Environment, PlanResult, run_plan};
pub use worker_pool::WorkerPool;
