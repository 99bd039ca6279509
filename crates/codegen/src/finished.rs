//! What the pipelines of a running plan have finished so far, for those that follow.

use frazil_plan::pipeline::PipelinePlan;
use frazil_runtime::{
    AggregateTable, BufferWriter, Groups, JoinBuild, JoinTable, RowBuffer, SortedRows, Sorter,
};
use frazil_types::{RowBatch, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// What the probe side of a NULL-aware join met; set by generated code, read when the join's rows are
/// given out.
#[derive(Debug, Default)]
#[repr(C)]
pub struct JoinFlags {
    null_key: AtomicU8,
    any_row: AtomicU8,
}

impl JoinFlags {
    /// Whether a probe row had a NULL key.
    pub fn null_key(&self) -> bool {
        self.null_key.load(Ordering::Relaxed) != 0
    }

    /// Whether there was a probe row.
    pub fn any_row(&self) -> bool {
        self.any_row.load(Ordering::Relaxed) != 0
    }
}

/// Finished objects by their ids in the plan. Cloning shares them.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Values of the parameters, hidden ones after the statement's own.
    pub parameters: Vec<Value>,
    /// The rows that the plan is given.
    pub given: Arc<Vec<RowBatch>>,
    /// Values of the scalar subqueries; NULL until known.
    pub subqueries: Vec<Value>,
    /// Join tables.
    pub joins: Vec<Option<Arc<JoinTable>>>,
    /// Of NULL-aware joins.
    pub flags: Vec<Arc<JoinFlags>>,
    /// Groups.
    pub groups: Vec<Option<Arc<Groups>>>,
    /// Sorted rows.
    pub sorted: Vec<Option<Arc<SortedRows>>>,
    /// Buffers.
    pub buffers: Vec<Option<Arc<RowBuffer>>>,
}

impl Finished {
    /// The same of a plan that is given rows.
    pub fn with_given(self, given: Arc<Vec<RowBatch>>) -> Finished {
        Finished { given, ..self }
    }

    /// Nothing yet.
    pub fn new(plan: &PipelinePlan, parameters: Vec<Value>) -> Finished {
        Finished {
            parameters,
            given: Arc::default(),
            subqueries: vec![Value::Null; plan.subqueries.len()],
            joins: vec![None; plan.joins.len()],
            flags: plan.joins.iter().map(|_| Arc::default()).collect(),
            groups: vec![None; plan.aggregates.len()],
            sorted: vec![None; plan.sorts.len()],
            buffers: vec![None; plan.buffers.len()],
        }
    }
}

/// What one worker put into its pipeline's sink.
#[derive(Debug)]
pub enum Partial {
    /// Rows of a join's build side.
    Join(Box<JoinBuild>),
    /// Groups.
    Groups(Box<AggregateTable>),
    /// Rows to be sorted.
    Sort(Box<Sorter>),
    /// Rows of a buffer, or to be inserted or deleted.
    Buffer(Box<BufferWriter>),
    /// Marks were set in place.
    Mark,
}
