//! The groups of an aggregation: workers aggregate for themselves (`aggregate_hash_table.rs`), then their groups become one
//! (`group_merge.rs`). For aggregates that need rows one by one groups keep them (`lists.rs`), to be read when all are there
//! (`ordered.rs`).

pub mod aggregate_hash_table;
mod arrays;
mod arrival;
pub(crate) mod double_sums;
pub mod group_merge;
pub mod lists;
mod ordered;
mod sketch;

use super::{Breaker, Finished, Partial, Run, Shape, Workers, parts_of};
use aggregate_hash_table::{AggregateSpec, AggregateTable};
use frazil_plan::breakers::Which;
use frazil_types::{Error, Result, RowBatch};
use group_merge::{GroupMerge, Groups};
use std::sync::Arc;

/// Groups of all workers below this number are merged by one: waking others costs more.
const PARALLEL_GROUPS: usize = 1 << 15;

/// An aggregation whose input is read.
#[derive(Debug)]
pub struct GroupsBreaker {
    /// How its groups look.
    pub spec: Arc<AggregateSpec>,
}

impl Breaker for GroupsBreaker {
    fn partial(&self, run: Run<'_>) -> Result<Box<dyn Partial>> {
        Ok(Box::new(AggregateTable::new(self.spec.clone(), run.budget)?))
    }

    fn finish(&self, parts: Vec<Box<dyn Partial>>, workers: &dyn Workers) -> Result<Arc<dyn Finished>> {
        let tables: Vec<AggregateTable> = parts_of(parts)?;
        let groups: usize = tables.iter().map(AggregateTable::groups).sum();
        if tables.len() <= 1 || workers.threads() == 1 || groups < PARALLEL_GROUPS {
            return Ok(Arc::new(GroupMerge::run(tables)?.with_rows_read(workers)?));
        }
        let merge = Arc::new(GroupMerge::new(tables));
        let shared = merge.clone();
        let scatter = move |t| {
            shared.scatter(t);
            Ok(())
        };
        workers.run(merge.scatter_tasks(), Arc::new(scatter))?;
        let shared = merge.clone();
        workers.run(merge.merge_tasks(), Arc::new(move |t| shared.merge(t)))?;
        match Arc::try_unwrap(merge) {
            Ok(merge) => Ok(Arc::new(merge.finish().with_rows_read(workers)?)),
            Err(_) => Err(Error::internal("a merge of groups is still in use")),
        }
    }
}

impl Partial for AggregateTable {
    fn address(&mut self) -> *mut u8 {
        std::ptr::from_mut(self).cast()
    }

    fn bytes(&self) -> usize {
        self.bytes_taken()
    }

    fn begin_morsel(&mut self, morsel: u64) {
        self.lists.begin_morsel(morsel);
    }

    fn has_enough(&self) -> bool {
        self.groups() >= self.spec().enough
    }
}

impl Finished for Groups {
    fn morsels(&self) -> usize {
        self.parts()
    }

    fn row_count(&self) -> u64 {
        self.len() as u64
    }

    fn rows(&self, morsel: usize, _which: Which, out: &mut Vec<*const u8>) {
        self.rows_of(morsel, out);
    }

    fn batch(&self, _morsel: usize) -> Option<&RowBatch> {
        None
    }

    fn address(&self) -> *const u8 {
        std::ptr::from_ref(self).cast()
    }

    fn shape(&self) -> Shape {
        Shape::Rows
    }
}
