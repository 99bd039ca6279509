//! Point access: one value of one row, without SMA, PSMA or scan (Data Blocks, section 3.4): the code by
//! its position, then the value of the code. No kernel is set up for one value.

use crate::block::Block;
use crate::column_buffer::ColumnBuffer;
use crate::encodings::{Encoding, decimal, frame_of_reference};
use crate::format::ColumnEntry;
use crate::resolve::dispatch_integer;
use frazil_kernels::{Isa, Selection};
use frazil_types::{NativeType, Result, Value, dispatch_native};

impl Block {
    /// The value of a row. Panics if there is no such row or column.
    pub fn value_at(&self, column: usize, row: u16) -> Result<Value> {
        let mut one = ColumnBuffer::new();
        self.value_into(column, row, &mut one)?;
        Ok(one.value(0))
    }

    /// The value of a row in native form as the only one of `out`, whose memory is reused.
    pub fn value_into(&self, column: usize, row: u16, out: &mut ColumnBuffer) -> Result<()> {
        let entry = self.entry(column);
        if matches!(entry.encoding, Encoding::Constant | Encoding::Raw) || entry.native == NativeType::Bool {
            return self.unpack(Isa::Scalar, column, Selection::Positions(&[row]), out);
        }
        self.touch(column)?;
        let code = self.codes(entry).get(usize::from(row));
        match entry.encoding {
            Encoding::Dictionary => dispatch_native!(entry.native, T => {
                out.prepare::<T>(1)[0] = self.dictionary_values::<T>(column)[code as usize];
            }),
            Encoding::Decimal => out.prepare::<f64>(1)[0] = decimal::value(entry, code),
            _ => self.integer_of_code(entry, row, code, out),
        }
        if entry.nullable() {
            out.validity_mut()[0] = u8::from(code != 0);
        }
        Ok(())
    }

    /// The integer of a code of the frames of reference.
    fn integer_of_code(&self, entry: &ColumnEntry, row: u16, code: u64, out: &mut ColumnBuffer) {
        dispatch_integer!(entry.native, T => {
            let reference = match entry.encoding {
                Encoding::Patched => {
                    if let Some(exception) = self.exception_of(entry, row, code) {
                        let values = self.slice::<T>(entry.sections.dictionary);
                        out.prepare::<T>(1)[0] = values[1 + exception];
                        return;
                    }
                    self.slice::<T>(entry.sections.dictionary)[0].wrapping_sub(T::from(entry.nullable()))
                }
                Encoding::Frames => self.frame_reference::<T>(entry, usize::from(row)).wrapping_sub(T::from(entry.nullable())),
                _ => frame_of_reference::reference(entry) as T,
            };
            out.prepare::<T>(1)[0] = reference.wrapping_add(code as T);
        }, _ => ());
    }
}
