//! Rows to be given out in an order. If only the first are wanted, each worker keeps its own first ones
//! (`sorted_rows.rs`), and the runs are merged. The workers share a bound of the rows that still count, which the scans
//! that feed them know ([`bound_of`]). If most rows are wanted, all workers sort one array (`whole.rs`).

mod before;
pub mod sorted_rows;
mod whole;

use super::{Breaker, Finished, Partial, Run, Shape, Workers, parts_of};
use frazil_plan::breakers::Which;
use frazil_storage::{KeyOrder, TopBound};
use frazil_types::{Result, RowBatch};
use sorted_rows::{SortSpec, SortedRows, SortedRun, Sorter};
use std::any::Any;
use std::sync::{Arc, Mutex};

/// Rows that make a morsel.
const MORSEL_ROWS: usize = 16 << 10;

/// A sorter that is filled.
#[derive(Debug)]
pub struct SorterBreaker {
    /// How its rows look and are ordered, with limit and offset of this run.
    spec: Arc<SortSpec>,
    /// The bound of its rows, if only the first of all are wanted.
    bound: Option<Arc<TopBound>>,
}

impl SorterBreaker {
    /// A sorter for rows of a spec.
    pub fn new(spec: SortSpec) -> SorterBreaker {
        let first = spec.keys.first().filter(|_| spec.rows_wanted().is_some());
        let order = first.map(|key| KeyOrder {
            descending: key.descending,
            nulls_first: key.nulls_first,
        });
        SorterBreaker {
            spec: Arc::new(spec),
            bound: order.map(|order| Arc::new(TopBound::new(order))),
        }
    }
}

/// The bound of the first key of the rows that a breaker still needs, if it is a sorter that has one.
pub fn bound_of(breaker: &dyn Breaker) -> Option<&Arc<TopBound>> {
    let sorter = (breaker as &dyn Any).downcast_ref::<SorterBreaker>()?;
    sorter.bound.as_ref()
}

impl Breaker for SorterBreaker {
    fn partial(&self, run: Run<'_>) -> Result<Box<dyn Partial>> {
        let sorter = Sorter::new(self.spec.clone(), run.budget);
        Ok(Box::new(
            sorter.stopped_by(run.cancel).bounded_by(self.bound.clone()),
        ))
    }

    fn finish(&self, parts: Vec<Box<dyn Partial>>, workers: &dyn Workers) -> Result<Arc<dyn Finished>> {
        Ok(Arc::new(sorted(parts_of(parts)?, workers)?))
    }
}

/// Sorts the rows of all workers; gives those that limit and offset leave. Errors: 53200, 57014; 2201W, 2201X if a
/// group has a negative limit or offset.
pub fn sorted(sorters: Vec<Sorter>, workers: &dyn Workers) -> Result<SortedRows> {
    if whole::are_mostly_kept(&sorters) {
        return whole::sorted(sorters, workers);
    }
    if sorters.len() <= 1 || workers.threads() == 1 {
        return SortedRows::run(sorters);
    }
    let tasks = sorters.len();
    let unsorted: Vec<Mutex<Option<Sorter>>> = sorters.into_iter().map(|s| Mutex::new(Some(s))).collect();
    let runs: Arc<Mutex<Vec<SortedRun>>> = Arc::default();
    let out = runs.clone();
    let sort = move |t: usize| {
        let sorter = unsorted[t].lock().unwrap_or_else(|e| e.into_inner()).take();
        if let Some(sorter) = sorter {
            let run = sorter.sort()?;
            out.lock().unwrap_or_else(|e| e.into_inner()).push(run);
        }
        Ok(())
    };
    workers.run(tasks, Arc::new(sort))?;
    let runs = std::mem::take(&mut *runs.lock().unwrap_or_else(|e| e.into_inner()));
    SortedRows::merge(runs)
}

impl Partial for Sorter {
    fn address(&mut self) -> *mut u8 {
        std::ptr::from_mut(self).cast()
    }

    fn bytes(&self) -> usize {
        self.pages.bytes() + self.heap.bytes()
    }

    fn begin_morsel(&mut self, _morsel: u64) {}

    fn has_enough(&self) -> bool {
        false
    }
}

impl Finished for SortedRows {
    fn morsels(&self) -> usize {
        self.in_order().len().div_ceil(MORSEL_ROWS)
    }

    fn row_count(&self) -> u64 {
        self.in_order().len() as u64
    }

    fn rows(&self, morsel: usize, _which: Which, out: &mut Vec<*const u8>) {
        let start = morsel * MORSEL_ROWS;
        let end = self.in_order().len().min(start + MORSEL_ROWS);
        out.extend_from_slice(&self.in_order()[start..end]);
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
