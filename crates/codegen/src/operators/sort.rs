//! The sink of sorters and windows: rows are written into the worker's sorter.

use crate::objects::ObjectSpec;
use crate::translator::Translator;
use cranelift_codegen::ir::{Block, InstBuilder};
use frazil_plan::ColumnId;
use frazil_runtime::functions::Function;
use frazil_runtime::{RowLayout, Sorter};
use frazil_types::Result;
use std::mem::offset_of;

impl Translator<'_, '_> {
    /// Keeps the row to be sorted: `columns` are its first fields.
    pub fn sort(&mut self, layout: &RowLayout, columns: &[ColumnId], done: Block) -> Result<()> {
        let sorter = self.object(ObjectSpec::Part);
        let mut values = Vec::with_capacity(columns.len());
        for &column in columns {
            values.push(self.column(column)?);
        }
        let pages = self.b.ins().iadd_imm_s(sorter, offset_of!(Sorter, pages) as i64);
        let row = self.take_row(pages, sorter, Function::SortGrow, layout.size)?;
        let heap = self.b.ins().iadd_imm_s(sorter, offset_of!(Sorter, heap) as i64);
        for (value, field) in values.into_iter().zip(&layout.fields) {
            let value = self.coerce(value, field.native);
            let value = self.kept(value, heap)?;
            self.set_field(row, *field, value);
        }
        self.jump(done, &[]);
        Ok(())
    }
}
