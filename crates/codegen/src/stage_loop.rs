//! The loop of a stage: prologue, one pass over the rows of a vector, epilogue.

use crate::columns_in_scope::SOURCE_ROW;
use crate::operators::aggregate::StateCells;
use crate::pipeline_function::takes_vectors;
use crate::row_loop::{Cells, InPartition};
use crate::source_shape::SourceShape;
use crate::sql_value::SqlValue;
use crate::stage_vector::{Slot, StageVector};
use crate::translator::Translator;
use crate::vector_calls::as_call;
use cranelift_codegen::ir::{Block, InstBuilder, StackSlot};
use cranelift_frontend::Variable;
use cranelift_module::FuncId;
use frazil_plan::pipeline::{Pipeline, PipelineOperator};
use frazil_plan::{ColumnId, Expr};
use frazil_types::Result;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What a stage function does.
pub(crate) struct StageWork<'p> {
    pub pipeline: &'p Pipeline,
    /// The operators fused in it.
    pub operators: Range<usize>,
    /// The stage it hands rows to; none: the sink is its own.
    pub next: Option<FuncId>,
    /// Columns that are computed when the sink takes them: all of a long row would not fit into registers.
    pub deferred: HashMap<ColumnId, &'p Expr>,
    /// What it hands on.
    pub output: StageVector,
    /// Rows of the output vector when it is full.
    pub output_rows: usize,
    /// Rows in the output vector.
    pub count: Option<Variable>,
    /// Heads of chains for the first operator, found with prefetching before the loop.
    pub heads: Option<Slot>,
    /// Key and row of the group found last.
    pub last_group: Option<(Variable, Variable)>,
    /// Where the groups found lately are, if keys are strings.
    pub recent_groups: Option<StackSlot>,
    /// States of an aggregation without groups: in registers, or in memory where they are many.
    pub states: Option<StateCells>,
    /// How the source's rows lie.
    pub cells: Cells,
    /// Where the loop over partitions is.
    pub here: Option<InPartition>,
}

impl<'p> StageWork<'p> {
    pub fn new(
        pipeline: &'p Pipeline,
        operators: Range<usize>,
        next: Option<FuncId>,
        output_rows: usize,
        cells: Cells,
    ) -> StageWork<'p> {
        StageWork {
            pipeline,
            operators,
            next,
            deferred: HashMap::new(),
            output: StageVector::default(),
            output_rows,
            count: None,
            heads: None,
            last_group: None,
            recent_groups: None,
            states: None,
            cells,
            here: None,
        }
    }
}

impl<'p> Translator<'_, 'p> {
    /// Translates the whole stage; what it hands on.
    pub fn stage(mut self, input: Option<StageVector>, source: &SourceShape) -> Result<StageVector> {
        self.check_layout();
        self.poll_cancel();
        if let Some(vector) = &input {
            self.find_heads(vector)?;
            self.call_vector_function(vector)?;
        }
        let mark = self.scratch_mark(self.work.operators.start);
        self.open_output()?;
        let rows = self.open_row_loop(input.is_none());
        self.scope.set_row(rows.row);
        if input.is_none() {
            self.scope.set_anchor(SOURCE_ROW, rows.row);
            self.source_row(source)?;
        }
        self.operators(self.work.operators.start, rows.next)?;
        self.enter(rows.next);
        self.release_scratch(mark)?;
        self.close_row_loop(rows);
        self.close_output()?;
        self.release_all_scratch(mark)?;
        let ok = self.small(0);
        self.b.ins().return_(&[ok]);
        let output = std::mem::take(&mut self.work.output);
        self.finish();
        Ok(output)
    }

    /// Operators from `at` to the end of the stage, and what follows. Ends the current block; rows that go
    /// no further jump to `done`.
    pub fn operators(&mut self, at: usize, done: Block) -> Result<()> {
        if at == self.work.operators.end {
            return match self.work.next {
                Some(_) => self.boundary(at, done),
                None => self.sink(done),
            };
        }
        let pipeline = self.work.pipeline;
        match &pipeline.operators[at] {
            PipelineOperator::Filter(predicate) => self.filter(predicate, at, done),
            PipelineOperator::Map(expressions) => self.map(expressions, at, done),
            PipelineOperator::Probe { .. } => self.probe(at, done),
            PipelineOperator::Repeat { count } => self.repeat(*count, at, done),
        }
    }

    fn filter(&mut self, predicate: &Expr, at: usize, done: Block) -> Result<()> {
        let yes = self.b.create_block();
        self.branch_on(predicate, true, yes, done)?;
        self.enter(yes);
        self.operators(at + 1, done)
    }

    fn map(&mut self, expressions: &'p [(ColumnId, Expr)], at: usize, done: Block) -> Result<()> {
        if as_call(&self.work.pipeline.operators[at]).is_some() {
            // Its column was made before the loop.
            return self.operators(at + 1, done);
        }
        let is_last = at + 1 == self.work.operators.end && self.work.next.is_none();
        let defers = is_last && takes_vectors(&self.work.pipeline.sink);
        let read: HashSet<ColumnId> = match defers {
            true => expressions.iter().flat_map(|(_, e)| e.columns_read()).collect(),
            false => HashSet::new(),
        };
        for (column, e) in expressions {
            if defers && !read.contains(column) {
                self.work.deferred.insert(*column, e);
                continue;
            }
            let value = self.expression(e)?;
            self.define(*column, value);
        }
        self.operators(at + 1, done)
    }

    /// Makes a computed column known.
    pub fn define(&mut self, column: ColumnId, value: SqlValue) {
        let value = self.coerce(value, self.unit.plan.columns[column].native());
        self.scope
            .place(column, crate::columns_in_scope::Place::Value(value));
    }
}
