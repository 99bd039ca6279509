//! The build side of a join: rows become a hash table, whose essay is in `join_hash_table.rs`.

pub mod join_hash_table;

use super::{Breaker, Finished, Partial, Run, Shape, Workers, parts_of};
use frazil_plan::breakers::Which;
use frazil_types::{Error, Result, RowBatch};
use join_hash_table::{JoinBuild, JoinSpec, JoinTable};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Build rows below this number are linked by one worker: waking others costs more.
const PARALLEL_ROWS: u64 = 1 << 15;

/// What the probe side of a NULL-aware join met; set by generated code, read when the join's rows are
/// given out.
#[derive(Debug, Default)]
#[repr(C)]
pub struct JoinFlags {
    /// 1: a probe row had a NULL key.
    pub null_key: AtomicU8,
    /// 1: there was a probe row.
    pub any_row: AtomicU8,
}

/// A join whose build side is read.
#[derive(Debug)]
pub struct JoinBreaker {
    /// How its rows look.
    pub spec: JoinSpec,
}

impl Breaker for JoinBreaker {
    fn partial(&self, run: Run<'_>) -> Result<Box<dyn Partial>> {
        Ok(Box::new(JoinBuild::new(&self.spec, run.budget)))
    }

    fn finish(&self, parts: Vec<Box<dyn Partial>>, workers: &dyn Workers) -> Result<Arc<dyn Finished>> {
        let mut table = JoinTable::new(self.spec.clone(), parts_of(parts)?, workers.budget())?;
        if !self.spec.order.is_empty() {
            table.put_in_order(workers)?;
            return Ok(Arc::new(table));
        }
        loop {
            table = linked(table, workers)?;
            if table.settle()? {
                return Ok(Arc::new(table));
            }
        }
    }
}

/// A table whose rows are linked. Errors: 57014.
fn linked(table: JoinTable, workers: &dyn Workers) -> Result<JoinTable> {
    if workers.threads() == 1 || table.header.rows < PARALLEL_ROWS {
        for part in 0..table.parts() {
            workers.cancel().check()?;
            table.link_alone(part);
        }
        return Ok(table);
    }
    let table = Arc::new(table);
    let shared = table.clone();
    let link = move |part| {
        shared.link(part);
        Ok(())
    };
    workers.run(table.parts(), Arc::new(link))?;
    Arc::try_unwrap(table).map_err(|_| Error::internal("a join's table is still in use"))
}

impl Partial for JoinBuild {
    fn address(&mut self) -> *mut u8 {
        std::ptr::from_mut(self).cast()
    }

    fn bytes(&self) -> usize {
        self.pages.bytes() + self.unlinked.bytes() + self.heap.bytes()
    }

    fn begin_morsel(&mut self, _morsel: u64) {}

    fn has_enough(&self) -> bool {
        false
    }
}

impl Finished for JoinTable {
    fn morsels(&self) -> usize {
        self.parts()
    }

    fn row_count(&self) -> u64 {
        self.header.rows
    }

    /// NOT IN with the outer side as the build side: a NULL among the probe keys leaves no row, and a NULL
    /// build key is unknown against any probe row.
    fn rows(&self, morsel: usize, which: Which, out: &mut Vec<*const u8>) {
        let is_set = |flag: &AtomicU8| flag.load(Ordering::Relaxed) != 0;
        if is_set(&self.flags.null_key) {
            return;
        }
        self.rows_of(morsel, which, out);
        if is_set(&self.flags.any_row) {
            let keys = &self.spec().layout.fields[..self.spec().keys];
            // SAFETY: live rows of the table's layout.
            out.retain(|&row| keys.iter().all(|key| unsafe { key.is_valid(row) }));
        }
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
