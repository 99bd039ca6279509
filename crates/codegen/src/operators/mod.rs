//! One translator per operator, source and sink.

pub(crate) mod aggregate;
mod boundary;
mod groups;
mod hash_join_build;
mod hash_join_probe;
mod repeat;
mod rows;
mod sort;
mod values;
pub(crate) mod vector_call;
mod vector_sink;

use crate::source_shape::SourceShape;
use crate::translator::Translator;
use cranelift_codegen::ir::Block;
use frazil_plan::pipeline::{Sink, Source};
use frazil_types::Result;

impl Translator<'_, '_> {
    /// What a source computes for each row.
    pub fn source_row(&mut self, source: &SourceShape) -> Result<()> {
        match &self.work.pipeline.source {
            Source::Groups(id) => self.finished_groups(*id, source),
            Source::Values { columns, rows } => self.values_row(columns, rows, source),
            _ => Ok(()),
        }
    }

    /// Hands the row to the sink. Ends the current block.
    pub fn sink(&mut self, done: Block) -> Result<()> {
        match &self.work.pipeline.sink {
            Sink::JoinBuild(id, keys) => self.join_build(*id, keys, done),
            Sink::Aggregate(id) => self.aggregate(*id, done),
            Sink::Sort(id) => self.sort(*id, done),
            Sink::Buffer(..) | Sink::Write(_) => self.vector_sink(done),
            Sink::Mark => {
                self.jump(done, &[]);
                Ok(())
            }
        }
    }

    /// What a stage does before its first row.
    pub fn open_output(&mut self) -> Result<()> {
        if self.work.next.is_some() || self.work.pipeline.sink.takes_vectors() {
            let zero = self.word(0);
            self.work.count = Some(self.variable(zero));
        } else if let Sink::Aggregate(id) = &self.work.pipeline.sink {
            self.open_states(*id);
        }
        Ok(())
    }

    /// What a stage does after its last row.
    pub fn close_output(&mut self) -> Result<()> {
        if let Some(count) = self.work.count {
            return self.flush_rest(count);
        }
        self.close_states();
        Ok(())
    }
}
