//! Rows kept in columns, to be read again, given to the user or written into a table: `row_buffer.rs` has the essay.

pub mod row_buffer;
mod seen_keys;
pub mod turns;

use super::{Breaker, Finished, Partial, Run, Shape, Workers, parts_of};
use frazil_plan::breakers::Which;
use frazil_types::{Result, RowBatch};
use row_buffer::{BufferBuild, BufferWriter, RowBuffer};
use std::sync::Arc;

impl Breaker for BufferBuild {
    fn partial(&self, run: Run<'_>) -> Result<Box<dyn Partial>> {
        Ok(Box::new(self.writer(run.budget)))
    }

    fn finish(&self, parts: Vec<Box<dyn Partial>>, _workers: &dyn Workers) -> Result<Arc<dyn Finished>> {
        Ok(Arc::new(self.clone().finish_all(parts_of(parts)?)))
    }
}

/// A buffer whose one worker is given a row at a time, which is taken out of its part before the next.
#[derive(Debug)]
pub struct OneRowBuffer(pub BufferBuild);

impl Breaker for OneRowBuffer {
    fn partial(&self, run: Run<'_>) -> Result<Box<dyn Partial>> {
        Ok(Box::new(self.0.row_writer(run.budget)))
    }

    fn finish(&self, parts: Vec<Box<dyn Partial>>, workers: &dyn Workers) -> Result<Arc<dyn Finished>> {
        self.0.finish(parts, workers)
    }
}

impl Partial for BufferWriter {
    fn address(&mut self) -> *mut u8 {
        std::ptr::from_mut(self).cast()
    }

    fn bytes(&self) -> usize {
        self.bytes_taken()
    }

    fn begin_morsel(&mut self, morsel: u64) {
        self.set_morsel(morsel);
    }

    fn has_enough(&self) -> bool {
        // Its function says so when rows are appended.
        false
    }
}

impl Finished for RowBuffer {
    fn morsels(&self) -> usize {
        self.batches().len()
    }

    fn row_count(&self) -> u64 {
        self.len() as u64
    }

    fn rows(&self, _morsel: usize, _which: Which, _out: &mut Vec<*const u8>) {}

    fn batch(&self, morsel: usize) -> Option<&RowBatch> {
        self.batches().get(morsel)
    }

    fn address(&self) -> *const u8 {
        std::ptr::from_ref(self).cast()
    }

    fn shape(&self) -> Shape {
        Shape::Columns
    }
}
