//! Point access: one value of one row, without SMA, PSMA or scan (Data Blocks, section 3.4).

use crate::block::Block;
use crate::column_buffer::ColumnBuffer;
use frazil_kernels::{Isa, Selection};
use frazil_types::{Result, Value};

impl Block {
    /// The value of a row. Panics if there is no such row or column.
    pub fn value_at(&self, column: usize, row: u16) -> Result<Value> {
        let mut one = ColumnBuffer::new();
        self.value_into(column, row, &mut one)?;
        Ok(one.value(0))
    }

    /// The value of a row in native form as the only one of `out`, whose memory is reused.
    pub fn value_into(&self, column: usize, row: u16, out: &mut ColumnBuffer) -> Result<()> {
        self.unpack(Isa::Scalar, column, Selection::Positions(&[row]), out)
    }
}
