//! The sink of sorters and windows: rows are written into the worker's sorter.

use crate::breakers::sorter::SortLayout;
use crate::objects::ObjectSpec;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder};
use frazil_plan::ColumnId;
use frazil_runtime::functions::Function;
use frazil_runtime::{RowLayout, Sorter};
use frazil_types::Result;
use std::mem::offset_of;

impl Translator<'_, '_> {
    /// Goes to `done` with a row that comes behind the last row that the worker's sorter still needs, before anything
    /// else of the row is computed. Only leading keys that are integers are compared; a row that is equal in these
    /// passes.
    pub fn leave_if_behind(&mut self, layout: &SortLayout, done: Block) -> Result<()> {
        let keys = layout.integer_keys();
        let Some((last_key, _)) = keys.split_last() else {
            return Ok(());
        };
        // The first key is needed by each row; the others are loaded again where a row passes.
        self.column(layout.columns[keys[0].field])?;
        let mark = self.scope.mark();
        let sorter = self.object(ObjectSpec::Part);
        let last = self.load_word(sorter, offset_of!(Sorter, last) as i32);
        let (known, pass) = (self.b.create_block(), self.b.create_block());
        self.branch(last, known, pass);
        self.enter(known);
        for key in keys {
            let field = layout.spec.layout.fields[key.field];
            let value = self.column(layout.columns[key.field])?;
            let value = self.coerce(value, field.native).value;
            let of_last = self.field(last, field).value;
            let (later, earlier) = match key.descending {
                true => (IntCC::SignedLessThan, IntCC::SignedGreaterThan),
                false => (IntCC::SignedGreaterThan, IntCC::SignedLessThan),
            };
            let is_behind = self.icmp(later, value, of_last);
            if std::ptr::eq(key, last_key) {
                self.branch(is_behind, done, pass);
                break;
            }
            let (not_behind, equal) = (self.b.create_block(), self.b.create_block());
            self.branch(is_behind, done, not_behind);
            self.enter(not_behind);
            let is_before = self.icmp(earlier, value, of_last);
            self.branch(is_before, pass, equal);
            self.enter(equal);
        }
        self.scope.back_to(mark);
        self.enter(pass);
        Ok(())
    }

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
