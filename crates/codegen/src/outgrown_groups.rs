//! Groups that outgrow the cache while their pipeline runs (Relaxed Operator Fusion, section 4.4).
//!
//! The optimizer puts a boundary in front of groups by the number that it expects. If there are far more, rows wait for
//! memory one by one. So a worker looks at the size of its groups before each morsel. If they have outgrown the cache,
//! the worker goes on with code that has that boundary, and with the groups that it has.

use crate::compile::CompiledPipeline;
use crate::moved_boundaries::{FACTOR, MovedPipeline, WORTH_ROWS, with_boundary_at_sink};
use crate::open_pipeline::{Constant, OpenPipeline, constants};
use frazil_runtime::AggregateTable;
use frazil_runtime::breakers::{Partial, part_as};
use frazil_types::Result;
use std::sync::Arc;

/// Code that a worker has for itself.
pub(crate) struct OwnCode {
    pub moved: Arc<MovedPipeline>,
    pub constants: Vec<Option<Constant>>,
}

/// Bytes of a worker's groups from which on it wants a boundary in front of them; `None` if it wants none.
pub(crate) fn limit(open: &OpenPipeline) -> Option<usize> {
    let compiled = open.compiled();
    let limit = open.plan.pipelines[open.index].most_group_bytes?;
    // Groups that are found by codes are not looked up.
    let looks_up = compiled.source.code_keys.is_none();
    (looks_up && open.source.most_rows() >= WORTH_ROWS).then_some(limit * FACTOR)
}

/// True if a worker's groups take more than `limit` bytes, and enough rows are left to make up for other code. `rows`:
/// number of rows that the worker has taken.
pub(crate) fn are_outgrown(open: &OpenPipeline, partial: &dyn Partial, limit: usize, rows: u64) -> bool {
    let bytes = part_as::<AggregateTable>(partial).map_or(0, AggregateTable::bytes_looked_up);
    bytes > limit && open.source.most_rows().saturating_sub(rows) >= WORTH_ROWS
}

/// The code of a pipeline with a boundary in front of its groups; `None` if it cannot be made.
pub(crate) fn code(open: &OpenPipeline) -> Result<Option<OwnCode>> {
    let moved = open.moved.as_deref();
    let moved = with_boundary_at_sink(&open.plan, &open.code, open.index, moved, &open.cancel);
    let own = |moved: Arc<MovedPipeline>| {
        Ok(OwnCode {
            constants: constants(&moved.pipeline)?,
            moved,
        })
    };
    moved.map(own).transpose()
}

impl OwnCode {
    /// The pipeline in machine code.
    pub fn compiled(&self) -> &CompiledPipeline {
        &self.moved.pipeline
    }
}
