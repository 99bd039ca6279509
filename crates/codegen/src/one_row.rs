//! A pipeline that runs over one row at a time, on the thread that asks for it: the row of a lookup, which is what a statement that
//! finds its row by a key is compiled to, or that of a VALUES list.
//!
//! Pool, morsels and cursors have no part in it. All that generated code works on is made once and serves row after row: a
//! worker's objects and stage memory, the cells of parameters, the columns of the source. Columns of the table that go into the
//! sink as they are do not even pass generated code.

use crate::compile::CompiledPlan;
use crate::late_fetch::make_transient;
use crate::open_pipeline::{OpenPipeline, cell};
use crate::plan_state::PlanState;
use crate::row_lookup;
use crate::source_shape::SourceShape;
use crate::worker::Worker;
use frazil_plan::pipeline::{Pipeline, PipelineOperator, PipelinePlan, Source};
use frazil_plan::{ColumnId, Expr, ExprKind, RowCount};
use frazil_runtime::BoundValues;
use frazil_runtime::abi::{ParameterCell, VectorColumn};
use frazil_runtime::breakers::buffer::OneRowBuffer;
use frazil_runtime::breakers::buffer::row_buffer::{BufferWriter, RowForm};
use frazil_runtime::one_row::RowCopy;
use frazil_storage::{FetchedColumn, FoundRow, RowCells, ScanOptions, TableSnapshot};
use frazil_types::{Cancel, ColumnVector, Error, MemoryBudget, Result, RowBatch, RowValues, Value};
use std::sync::Arc;

/// The pipeline of a plan whose only source is a lookup, ready to run again and again.
pub struct OneRow {
    plan: Arc<PipelinePlan>,
    worker: Worker,
    source: SourceRow,
    /// Where all columns handed to the sink are columns of a table.
    plain: Option<Plain>,
    /// Room for the bytes of keys.
    key: Vec<u8>,
}

/// Columns of a lookup's row that go into the sink as they are.
struct Plain {
    /// Their places in the source.
    places: Vec<usize>,
    copy: RowCopy,
}

/// The row as the pipeline's source vector.
pub(crate) struct SourceRow {
    columns: Vec<VectorColumn>,
    /// Of a lookup the columns to be fetched: places in the source, positions in the table.
    read: Vec<(usize, usize)>,
    cells: RowCells,
    /// The id of the row that was found, where the last column points if there is one of ids. Boxed: its address must not change.
    id: Box<i64>,
    /// Of VALUES the columns that are parameters: places in the source, numbers.
    parameters: Vec<(usize, usize)>,
    /// Of VALUES the constants, where columns point.
    _constants: Vec<ColumnVector>,
}

impl std::fmt::Debug for OneRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneRow").finish_non_exhaustive()
    }
}

// SAFETY: `columns` point at what this object owns, and at cells of the row that was run last or of its parameters: these are
// filled anew before they are read.
unsafe impl Send for SourceRow {}

/// Whether [`OneRow`] runs a plan: it has no other pipeline, no more than one row comes out, and no limit counts it.
pub fn is_one_row(plan: &PipelinePlan) -> bool {
    let [pipeline] = &plan.pipelines[..] else {
        return false;
    };
    let has_one = match &pipeline.source {
        Source::Lookup(_) => true,
        Source::Values { columns, rows } => {
            let cells = |row: &Vec<Expr>| {
                columns
                    .iter()
                    .zip(row)
                    .all(|(id, cell)| is_as_held(*id, cell, plan))
            };
            rows.len() == 1 && rows.iter().all(cells)
        }
        Source::Scan { .. } | Source::Given { .. } | Source::Expansion(_) | Source::Of { .. } => false,
    };
    let buffer = plan.filled(pipeline).filter(|(id, _)| plan.result == Some(*id));
    let keeps_all = buffer
        .and_then(|(_, breaker)| breaker.buffer())
        .is_some_and(|buffer| {
            let has_room = (buffer.limit.as_ref()).is_none_or(|limit| limit.constant() > Some(0));
            has_room && buffer.offset == RowCount::Constant(0)
        });
    let adds_none = pipeline.operators.iter().all(|operator| match operator {
        PipelineOperator::Filter(_) | PipelineOperator::Map(_) | PipelineOperator::Call(_) => true,
        PipelineOperator::Probe { .. } | PipelineOperator::Expand(_) => false,
    });
    has_one && keeps_all && adds_none
}

/// Whether a cell of VALUES is computed, or held as its column is.
fn is_as_held(column: ColumnId, cell: &Expr, plan: &PipelinePlan) -> bool {
    let native = plan.columns[column].ty.native();
    if let ExprKind::Parameter(n) = cell.kind {
        return plan.parameters.get(n).is_some_and(|ty| ty.native() == native);
    }
    cell.ty.native() == native
}

/// The columns handed to the sink of a pipeline that computes nothing of a lookup's row.
fn plain(pipeline: &Pipeline, handed: &[ColumnId], plan: &PipelinePlan) -> Option<Plain> {
    let Source::Lookup(_) = pipeline.source else {
        return None;
    };
    let source = pipeline.source.columns();
    let place = |id: &ColumnId| source.iter().position(|made| made == id);
    let places = handed.iter().map(place).collect::<Option<_>>()?;
    let as_stored = |id: &ColumnId| (plan.columns[*id].ty, plan.columns[*id].ty.native());
    pipeline.operators.is_empty().then(|| Plain {
        places,
        copy: RowCopy::new(handed.iter().map(as_stored)),
    })
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
    /// The options of scans, by which blocks are searched.
    pub scan: ScanOptions,
}

impl OneRow {
    /// The pipeline of a plan for which [`is_one_row`] holds; an internal error for another one.
    pub fn new(
        plan: &Arc<PipelinePlan>,
        code: &Arc<CompiledPlan>,
        budget: &MemoryBudget,
        cancel: &Cancel,
    ) -> Result<OneRow> {
        if !is_one_row(plan) {
            return Err(not_one_row());
        }
        let pipeline = &plan.pipelines[0];
        let state = Arc::new(PlanState::new(plan, vec![Value::Null; plan.parameters.len()]));
        let layout = plan.result.and_then(|id| code.layouts.buffer(id));
        let layout = layout.ok_or_else(not_one_row)?;
        // Whether a limit keeps rows at all is known, and nothing else is asked of it.
        let buffer = Arc::new(OneRowBuffer(layout.build(state.values())?));
        let open = OpenPipeline::of_given(plan, code, (state, buffer), (budget, cancel))?;
        let worker = Worker::new(Arc::new(open))?;
        let shape = &code.pipelines[0].source;
        let source = match &pipeline.source {
            Source::Lookup(lookup) => SourceRow::of_table(&lookup.columns, lookup.row_id.is_some(), shape),
            Source::Values { columns, rows } => SourceRow::of_values(columns.iter().zip(&rows[0]), plan),
            _ => return Err(not_one_row()),
        };
        Ok(OneRow {
            plan: plan.clone(),
            source,
            worker,
            key: Vec::new(),
            plain: plain(pipeline, &layout.columns, plan),
        })
    }

    /// Finds the row in a version of the table, if it is looked up, and runs the pipeline over it: what goes into the sink, one row or none.
    /// After an error the object may not be used again.
    pub fn run(&mut self, table: Option<&TableSnapshot>, run: OneRun<'_>) -> Result<Option<RowBatch>> {
        if !self.find(table, run)? {
            return Ok(None);
        }
        let row = match &self.plain {
            Some(Plain { places, copy }) => {
                let column = |i: usize| self.source.columns[places[i]];
                // SAFETY: columns of the table in their own form, which lie in its chunk or in the source's buffers.
                Some(unsafe { copy.row(column, self.worker.budget())? })
            }
            None => self.compute(run, RowForm::Columns)?.take_row(),
        };
        self.rest();
        Ok(row)
    }

    /// The same, but the values of the row.
    pub fn read(&mut self, table: Option<&TableSnapshot>, run: OneRun<'_>) -> Result<Option<RowValues>> {
        if !self.find(table, run)? {
            return Ok(None);
        }
        let row = match &self.plain {
            Some(Plain { places, copy }) => {
                let column = |i: usize| self.source.columns[places[i]];
                // SAFETY: columns of the table in their own form, which lie in its chunk or in the source's buffers.
                Some(unsafe { copy.values(column, self.worker.budget())? })
            }
            None => self.compute(run, RowForm::Values)?.take_values(),
        };
        self.rest();
        Ok(row)
    }

    /// Fetches the row of a lookup; false if there is none. A row of VALUES is always there.
    fn find(&mut self, table: Option<&TableSnapshot>, run: OneRun<'_>) -> Result<bool> {
        if let Source::Lookup(lookup) = &self.plan.pipelines[0].source {
            let table = table.ok_or_else(|| Error::internal("a lookup without its table"))?;
            let values = BoundValues {
                parameters: run.parameters,
                subqueries: &[],
            };
            let Some(row) = row_lookup::find(lookup, table, values, &mut self.key)? else {
                return Ok(false);
            };
            self.source.fetch(row)?;
            if run.count_access {
                self.source.count(row);
            }
        }
        Ok(true)
    }

    /// Runs generated code over the row; the sink has what it made of it.
    fn compute(&mut self, run: OneRun<'_>, form: RowForm) -> Result<&mut BufferWriter> {
        self.worker.prepare(run.parameters, run.cancel)?;
        self.source.point_at(self.worker.parameter_cells());
        self.worker.run_over(&self.source.columns, form)
    }

    /// Gives back what memory the row has taken.
    fn rest(&mut self) {
        if self.plain.is_none() {
            self.worker.rest();
        }
        self.source.rest();
    }
}

impl SourceRow {
    /// A row of a table, whose columns are these: id, position in the table. `has_id`: its id is the last column of the
    /// source.
    pub(crate) fn of_table(
        table_columns: &[(ColumnId, usize)],
        has_id: bool,
        shape: &SourceShape,
    ) -> SourceRow {
        let id = Box::new(0);
        let mut columns = vec![VectorColumn::null(); shape.columns.len()];
        if let (true, Some(last)) = (has_id, columns.last_mut()) {
            *last = VectorColumn::flat((&raw const *id).cast());
        }
        let read = table_columns.iter().enumerate();
        let read = read.filter(|(place, _)| shape.columns[*place].read);
        SourceRow {
            read: read.map(|(place, column)| (place, column.1)).collect(),
            cells: RowCells::new(columns.len()),
            columns,
            id,
            parameters: Vec::new(),
            _constants: Vec::new(),
        }
    }

    /// The only row of VALUES. What generated code computes is left NULL.
    fn of_values<'e>(row: impl Iterator<Item = (&'e ColumnId, &'e Expr)>, plan: &PipelinePlan) -> SourceRow {
        let (mut columns, mut parameters, mut constants) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (id, cell)) in row.enumerate() {
            let mut column = VectorColumn::null();
            if let ExprKind::Parameter(n) = &cell.kind {
                parameters.push((place, *n));
            }
            if let Some(value) = cell.as_constant().filter(|value| !value.is_null()) {
                let value = std::slice::from_ref(value);
                let mut constant = ColumnVector::from_values(plan.columns[*id].ty, value);
                make_transient(&mut constant);
                column = VectorColumn::flat(constant.as_ptr());
                constants.push(constant);
            }
            columns.push(column);
        }
        SourceRow {
            columns,
            parameters,
            _constants: constants,
            read: Vec::new(),
            cells: RowCells::new(0),
            id: Box::new(0),
        }
    }

    /// Has the columns that are parameters point at their cells.
    fn point_at(&mut self, cells: &[ParameterCell]) {
        for &(place, number) in &self.parameters {
            self.columns[place] = cells[number].column();
        }
    }

    /// The columns of the row.
    pub(crate) fn columns(&self) -> &[VectorColumn] {
        &self.columns
    }

    /// Has the columns point at the cells of a row of the table. They live until the next row is fetched.
    pub(crate) fn fetch(&mut self, row: FoundRow<'_>) -> Result<()> {
        *self.id = row.id().to_tid();
        let columns = &mut self.columns;
        self.cells.fetch_all(row, &self.read, |place, fetched| {
            let FetchedColumn { values, validity, .. } = fetched;
            let fetched = VectorColumn::flat(values);
            columns[place] = match validity {
                Some(validity) => fetched.with_validity(validity),
                None => fetched,
            };
        })
    }

    /// Gives back what memory long strings have taken.
    pub(crate) fn rest(&mut self) {
        self.cells.rest();
    }

    /// Counts that the columns were asked for of a row.
    pub(crate) fn count(&mut self, row: FoundRow<'_>) {
        let read = self.read.iter().map(|(_, column)| *column);
        self.cells.count(row, read);
    }
}

impl Worker {
    /// Gives the parameters other values, which must live until the pipeline has run, and has it polled by another flag.
    pub(crate) fn prepare(&mut self, parameters: &[Value], cancel: &Cancel) -> Result<()> {
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

    /// Runs generated code over a vector of one row; the sink has the row, if the row reached it.
    fn run_over(&mut self, source: &[VectorColumn], form: RowForm) -> Result<&mut BufferWriter> {
        self.row_writer()?.make(form);
        self.call_over(source, 1)?;
        self.row_writer()
    }

    fn row_writer(&mut self) -> Result<&mut BufferWriter> {
        self.writer_mut().ok_or_else(not_one_row)
    }
}

fn not_one_row() -> Error {
    Error::internal("a plan that is not of one row")
}
