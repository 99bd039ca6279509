//! Sinks that take whole vectors: buffers, and what a write keeps of its input.

use crate::objects::ObjectSpec;
use crate::stage_vector::SlotContent;
use crate::translator::Translator;
use cranelift_codegen::ir::Block;
use frazil_plan::pipeline::Sink;
use frazil_types::{Error, Result};

impl Translator<'_, '_> {
    /// Appends the row to the columns handed to the sink.
    pub fn vector_sink(&mut self, done: Block) -> Result<()> {
        let columns = match &self.work.pipeline.sink {
            Sink::Buffer(_, columns) => columns.clone(),
            Sink::Write(change) => change.kept(),
            _ => return Err(Error::internal("a sink that takes no vectors")),
        };
        let mut row = self.begin_output_row()?;
        for column in columns {
            if let Some(e) = self.work.deferred.remove(&column) {
                let value = self.expression(e)?;
                self.define(column, value);
            }
            let value = self.column(column)?;
            let value = self.coerce(value, self.unit.plan.columns[column].native());
            self.put(SlotContent::Column(column), &mut row, value);
        }
        self.end_output_row(row, done)
    }

    /// The object a vector sink appends to.
    pub fn sink_object(&self) -> Result<ObjectSpec> {
        match &self.work.pipeline.sink {
            Sink::Buffer(id, _) => Ok(ObjectSpec::Buffer(*id)),
            Sink::Write(_) => Ok(ObjectSpec::Written),
            _ => Err(Error::internal("a sink that takes no vectors")),
        }
    }
}
