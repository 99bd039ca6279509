//! A pipeline that runs over one row at a time, the row of a lookup, on the thread that asks for it: what a statement that finds
//! its row by a key is compiled to.
//!
//! Pool, morsels and cursors have no part in it. All that generated code works on is made once and serves row after row: a
//! worker's objects and stage memory, the cells of parameters, the columns of the source. Columns of the table that go into the
//! sink as they are do not even pass generated code.

use crate::compile::CompiledPlan;
use crate::finished::{Finished, Partial};
use crate::open_pipeline::{OpenPipeline, buffer_build, cell};
use crate::row_lookup;
use crate::source_shape::SourceShape;
use crate::worker::Worker;
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Sink, Source};
use frazil_plan::{ColumnId, Lookup, RowCount};
use frazil_runtime::abi::VectorColumn;
use frazil_runtime::one_row::own_row;
use frazil_runtime::{BoundValues, BufferColumn};
use frazil_storage::{FetchedColumn, FoundRow, RowCells, TableSnapshot};
use frazil_types::{Cancel, Error, MemoryBudget, Result, RowBatch, Value};
use std::sync::Arc;

/// The pipeline of a plan whose only source is a lookup, ready to run again and again.
pub struct OneRow {
    plan: Arc<PipelinePlan>,
    worker: Worker,
    source: SourceRow,
    /// The columns handed to the sink, where all are columns of the source: their places there.
    plain: Option<Vec<usize>>,
    output: Vec<BufferColumn>,
    /// Room for the bytes of keys.
    key: Vec<u8>,
}

/// The row that was found, as the pipeline's source vector.
struct SourceRow {
    /// Columns to be fetched: places in the source, positions in the table.
    read: Vec<(usize, usize)>,
    cells: RowCells,
    columns: Vec<VectorColumn>,
    /// The row's id, where the last column points if there is one of ids. Boxed: its address must not change.
    id: Box<i64>,
}

impl std::fmt::Debug for OneRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneRow").finish_non_exhaustive()
    }
}

// SAFETY: `columns` point at cells of the row that was run last and at what this object owns; they are filled anew before they
// are read.
unsafe impl Send for SourceRow {}

/// The lookup of a plan that [`OneRow`] runs: no other pipeline, no more than the row itself comes out, and no limit counts it.
pub fn only_lookup(plan: &PipelinePlan) -> Option<&Lookup> {
    let [pipeline] = &plan.pipelines[..] else {
        return None;
    };
    let Source::Lookup(lookup) = &pipeline.source else {
        return None;
    };
    let keeps_all = match &pipeline.sink {
        Sink::Buffer(id, _) => {
            let buffer = &plan.buffers[id.0];
            plan.result == Some(*id) && buffer.limit.is_none() && buffer.offset == RowCount::Constant(0)
        }
        Sink::Write(_) => true,
        Sink::JoinBuild(..) | Sink::Aggregate(_) | Sink::Sort(_) | Sink::Mark => false,
    };
    let adds_none = pipeline.operators.iter().all(|operator| match operator {
        PipelineOperator::Filter(_) | PipelineOperator::Map(_) | PipelineOperator::Call(_) => true,
        PipelineOperator::Probe { .. } | PipelineOperator::Repeat { .. } => false,
    });
    (keeps_all && adds_none).then_some(lookup)
}

/// The columns that a sink is handed, in order.
fn handed(sink: &Sink) -> Vec<ColumnId> {
    match sink {
        Sink::Buffer(_, columns) => columns.clone(),
        Sink::Write(change) => change.kept(),
        Sink::JoinBuild(..) | Sink::Aggregate(_) | Sink::Sort(_) | Sink::Mark => Vec::new(),
    }
}

/// Places in the source of the columns handed to the sink, if nothing is computed.
fn plain(pipeline: &Pipeline, plan: &PipelinePlan) -> Option<Vec<usize>> {
    let source = pipeline.source.columns(plan);
    let place = |id: &ColumnId| source.iter().position(|made| made == id);
    let places = handed(&pipeline.sink).iter().map(place).collect::<Option<_>>()?;
    pipeline.operators.is_empty().then_some(places)
}

/// What a [`OneRow`] is run with.
#[derive(Clone, Copy, Debug)]
pub struct OneRun<'a> {
    /// Values of all parameters.
    pub parameters: &'a [Value],
    /// The statement's flag.
    pub cancel: &'a Cancel,
    /// Whether it is counted what is asked of the table's columns.
    pub count_access: bool,
}

impl OneRow {
    /// The pipeline of a plan that has an [`only_lookup`]; an internal error for another one.
    pub fn new(
        plan: &Arc<PipelinePlan>,
        code: &Arc<CompiledPlan>,
        budget: &MemoryBudget,
        cancel: &Cancel,
    ) -> Result<OneRow> {
        let lookup = only_lookup(plan).ok_or_else(not_a_lookup)?;
        let pipeline = &plan.pipelines[0];
        let finished = Arc::new(Finished::new(plan, vec![Value::Null; plan.parameters.len()]));
        let buffer = buffer_build(plan, 0, &finished)?;
        let open = OpenPipeline::of_one_row(plan, code, finished, buffer, (budget, cancel))?;
        let plain = plain(pipeline, plan);
        let output = handed(&pipeline.sink).into_iter().map(|id| BufferColumn {
            ty: plan.columns[id].ty,
            // What generated code has not touched is as the table has it.
            native: match plain {
                Some(_) => plan.columns[id].ty.native(),
                None => plan.columns[id].native(),
            },
        });
        Ok(OneRow {
            plan: plan.clone(),
            source: SourceRow::new(lookup, &code.pipelines[0].source),
            output: output.collect(),
            worker: Worker::new(Arc::new(open))?,
            key: Vec::new(),
            plain,
        })
    }

    /// Finds the row in a version of the table and runs the pipeline over it: what goes into the sink, one row or none. After an error the object may not be used again.
    pub fn run(&mut self, table: &TableSnapshot, run: OneRun<'_>) -> Result<Option<RowBatch>> {
        let OneRun {
            parameters, cancel, ..
        } = run;
        let lookup = only_lookup(&self.plan).ok_or_else(not_a_lookup)?;
        let values = BoundValues {
            parameters,
            subqueries: &[],
        };
        let Some(row) = row_lookup::find(lookup, table, values, &mut self.key)? else {
            return Ok(None);
        };
        self.source.fetch(row)?;
        if run.count_access {
            self.source.count(row);
        }
        let source = &self.source.columns;
        if let Some(places) = &self.plain {
            let output = places.iter().map(|&place| source[place]);
            // SAFETY: columns of the table in their own form, which lie in its chunk or in the source's buffers.
            return unsafe { own_row(output, &self.output, self.worker.budget()) }.map(Some);
        }
        self.worker.prepare(parameters, cancel)?;
        if self.worker.run_over(source)? == 0 {
            return Ok(None);
        }
        let output = self.worker.output().iter().copied();
        // SAFETY: the vector that generated code handed to the sink has the plan's columns and one row; nothing has run since.
        unsafe { own_row(output, &self.output, self.worker.budget()) }.map(Some)
    }
}

impl SourceRow {
    fn new(lookup: &Lookup, shape: &SourceShape) -> SourceRow {
        let id = Box::new(0);
        let mut columns = vec![VectorColumn::null(); shape.columns.len()];
        if let (Some(_), Some(last)) = (lookup.row_id, columns.last_mut()) {
            *last = VectorColumn::flat((&raw const *id).cast());
        }
        let read = lookup.columns.iter().enumerate();
        let read = read.filter(|(place, _)| shape.columns[*place].read);
        SourceRow {
            read: read.map(|(place, column)| (place, column.1)).collect(),
            cells: RowCells::new(columns.len()),
            columns,
            id,
        }
    }

    fn fetch(&mut self, row: FoundRow<'_>) -> Result<()> {
        *self.id = row.id().to_bigint();
        for &(place, column) in &self.read {
            let FetchedColumn { values, validity, .. } = self.cells.fetch(row, place, column)?;
            let fetched = VectorColumn::flat(values);
            self.columns[place] = match validity {
                Some(validity) => fetched.with_validity(validity),
                None => fetched,
            };
        }
        Ok(())
    }

    fn count(&mut self, row: FoundRow<'_>) {
        let read = self.read.iter().map(|(_, column)| *column);
        self.cells.count(row, read);
    }
}

impl Worker {
    /// Gives the parameters other values, which must live until the pipeline has run, and has it polled by another flag.
    fn prepare(&mut self, parameters: &[Value], cancel: &Cancel) -> Result<()> {
        let open = self.own()?;
        let types = open.plan.parameters.iter();
        for ((to, ty), value) in open.cells.iter_mut().zip(types).zip(parameters) {
            *to = cell(*ty, value)?;
        }
        if open.cancel.as_ptr() != cancel.as_ptr() {
            open.cancel = cancel.clone();
            self.stop_by(cancel);
        }
        Ok(())
    }

    /// Runs generated code over a vector of one row; how many rows reached the sink.
    fn run_over(&mut self, source: &[VectorColumn]) -> Result<u64> {
        self.call_over(source, 1)?;
        match self.partial_mut() {
            Partial::Buffer(writer) => Ok(writer.take_noted()),
            _ => Err(not_a_lookup()),
        }
    }
}

fn not_a_lookup() -> Error {
    Error::internal("a plan that is no lookup of one row")
}
