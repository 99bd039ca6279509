//! A VALUES list as a source. Cells that are known when the pipeline opens come in source vectors like any
//! other column; cells that must be computed are chosen by the row's number.

use crate::scope::{SOURCE_ROW, SourceCell};
use crate::source_shape::{SourceShape, is_bound_cell};
use crate::sql_value::clif_type;
use crate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};
use frazil_plan::{ColumnId, Expr};
use frazil_types::Result;

impl Translator<'_, '_> {
    /// Computes the cells of the row in hand that are not known before.
    pub fn values_row(
        &mut self,
        columns: &[ColumnId],
        rows: &[Vec<Expr>],
        source: &SourceShape,
    ) -> Result<()> {
        for (index, &column) in columns.iter().enumerate() {
            let computed: Vec<(usize, &Expr)> = rows
                .iter()
                .enumerate()
                .map(|(r, cells)| (r, &cells[index]))
                .filter(|(_, e)| !is_bound_cell(e))
                .collect();
            if computed.is_empty() || !source.columns[index].read {
                continue;
            }
            let native = self.unit.plan.columns[column].native();
            let merge = self.block(&[clif_type(native), types::I8]);
            let row = self.anchor(SOURCE_ROW)?;
            let mark = self.scope.mark();
            for (number, e) in computed {
                let (here, other) = (self.b.create_block(), self.b.create_block());
                let is_row = self.b.ins().icmp_imm_s(IntCC::Equal, row, number as i64);
                self.branch(is_row, here, other);
                self.enter(here);
                let value = self.expression(e)?;
                let value = self.coerce(value, native);
                self.scope.back_to(mark);
                let valid = match value.valid {
                    Some(valid) => valid,
                    None => self.byte(true),
                };
                self.jump(merge, &[value.value, valid]);
                self.enter(other);
            }
            let cell = SourceCell {
                native,
                nullable: true,
                ..source.columns[index].cell(index)
            };
            let bound = self.source_value(cell)?;
            let valid = match bound.valid {
                Some(valid) => valid,
                None => self.byte(true),
            };
            self.jump(merge, &[bound.value, valid]);
            let values = self.enter(merge);
            let value = crate::sql_value::SqlValue {
                value: values[0],
                valid: Some(values[1]),
                native,
            };
            self.define(column, value);
        }
        Ok(())
    }
}
