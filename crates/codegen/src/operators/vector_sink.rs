//! The sink that takes whole vectors: a buffer.

use crate::stage_vector::SlotContent;
use crate::translator::Translator;
use cranelift_codegen::ir::Block;
use frazil_plan::ColumnId;
use frazil_types::Result;

impl Translator<'_, '_> {
    /// Appends the row to the columns handed to the sink.
    pub fn vector_sink(&mut self, columns: &[ColumnId], done: Block) -> Result<()> {
        let mut row = self.begin_output_row()?;
        for &column in columns {
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
}
