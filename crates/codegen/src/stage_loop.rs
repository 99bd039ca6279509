//! The loop of a stage: prologue, one pass over the rows of a vector, epilogue.

use crate::operators::Taken;
use crate::scope::{Place, SOURCE_ROW};
use crate::source_shape::SourceShape;
use crate::sql_value::SqlValue;
use crate::stage_vector::StageVector;
use crate::translator::Translator;
use cranelift_codegen::ir::{Block, InstBuilder};
use frazil_plan::pipeline::PipelineOperator;
use frazil_plan::{ColumnId, Expr};
use frazil_types::Result;
use std::collections::HashSet;

/// The output of a stage for the stages behind it.
pub(crate) struct StageEnd {
    /// The vector that it hands on.
    pub output: StageVector,
    /// Offset of the number of rows that the vector keeps from call to call, if it is refilled.
    pub rows_left: Option<usize>,
}

impl<'p> Translator<'_, 'p> {
    /// Translates the whole stage.
    pub fn stage(mut self, input: Option<StageVector>, source: &SourceShape) -> Result<StageEnd> {
        self.work.group_cells = source.cells();
        self.check_layout();
        self.poll_cancel();
        self.place_stage();
        if let Some(vector) = &input {
            self.find_heads(vector)?;
            self.find_group_heads(vector)?;
            self.call_vector_function(vector)?;
        }
        let mark = self.scratch_mark(self.work.operators.start);
        let mark = self.kept_mark(mark);
        self.open_output()?;
        self.resume(mark)?;
        let behind = match self.take_whole_vector(input.is_none())? {
            Taken::Never => None,
            Taken::WithinPartition(end) => Some(end),
            Taken::Always => {
                self.close_output()?;
                return Ok(self.end_stage());
            }
        };
        let rows = self.open_row_loop(input.is_none());
        self.scope.set_row(rows.row);
        self.work.row = Some(rows.row);
        if input.is_none() {
            self.scope.set_anchor(SOURCE_ROW, rows.row);
            self.source_row(source)?;
        }
        self.operators(self.work.operators.start, rows.next)?;
        self.enter(rows.next);
        self.release_scratch(mark)?;
        self.close_row_loop(rows);
        self.work.row = None;
        if let Some(end) = behind {
            self.jump(end, &[]);
            self.enter(end);
        }
        self.close_output()?;
        self.release_all_scratch(mark)?;
        Ok(self.end_stage())
    }

    fn end_stage(mut self) -> StageEnd {
        let ok = self.small(0);
        self.b.ins().return_(&[ok]);
        let output = std::mem::take(&mut self.work.output);
        let rows_left = self.work.rows_left;
        self.finish();
        StageEnd { output, rows_left }
    }

    /// Operators from `at` to the end of the stage, and what follows. Ends the current block; rows that go
    /// no further jump to `done`. Only operators that loop over rows of their own call this function again.
    pub fn operators(&mut self, at: usize, done: Block) -> Result<()> {
        let pipeline = self.work.pipeline;
        for at in at..self.work.operators.end {
            match &pipeline.operators[at] {
                PipelineOperator::Filter(predicate) => {
                    let yes = self.b.create_block();
                    self.branch_on(predicate, true, yes, done)?;
                    self.enter(yes);
                }
                PipelineOperator::Map(expressions) => self.map(expressions, at)?,
                // Its column was made before the loop.
                PipelineOperator::Call(_) => {}
                PipelineOperator::Probe { .. } => return self.probe(at, done),
                PipelineOperator::Expand(expansion) => return self.expand(expansion, at, done),
            }
        }
        match self.work.next {
            Some(_) => self.boundary(self.work.operators.end, done),
            None => self.sink(done),
        }
    }

    fn map(&mut self, expressions: &'p [(ColumnId, Expr)], at: usize) -> Result<()> {
        let is_last = at + 1 == self.work.operators.end && self.work.next.is_none();
        let defers = is_last && self.work.pipeline.sink.takes_vectors(self.unit.plan);
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
        Ok(())
    }

    /// Makes a computed column known.
    pub fn define(&mut self, column: ColumnId, value: SqlValue) {
        let value = self.coerce(value, self.unit.plan.columns[column].native());
        self.scope.place(column, Place::Value(value));
    }
}
