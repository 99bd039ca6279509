//! Point access: one value of one row, without SMA, PSMA or scan (Data Blocks, section 3.4): the code by
//! its position, then the value of the code. No kernel is set up for one value.
//!
//! The columns of a row are stored apart, and each value takes two or three accesses that wait for each other: offset,
//! codes of a string, text. [`Block::expect_row`] asks for those of all columns at once, so that a row waits for memory
//! as often as one of its columns does.

use crate::block::Block;
use crate::column_buffer::ColumnBuffer;
use crate::encodings::{Encoding, decimal, frame_of_reference};
use crate::format::{ColumnEntry, FLAG_FSST};
use crate::resolve::dispatch_integer;
use frazil_kernels::prefetch::{prefetch_read, prefetch_values};
use frazil_kernels::{Isa, Selection};
use frazil_types::{NativeType, Result, StringRef, Value, dispatch_native};

impl Block {
    /// The value of a row. Panics if there is no such row or column.
    pub fn value_at(&self, column: usize, row: u16) -> Result<Value> {
        let mut one = ColumnBuffer::new();
        self.value_into(column, row, &mut one)?;
        Ok(one.value(0))
    }

    /// Asks for the memory that [`Block::value_into`] reads for some columns of a row. The error of a column whose
    /// bytes are damaged.
    pub fn expect_row(&self, columns: impl Iterator<Item = usize> + Clone, row: u16) -> Result<()> {
        for column in columns.clone() {
            self.touch(column)?;
            let entry = self.entry(column);
            match (entry.encoding, entry.native) {
                (Encoding::Constant, _) => {}
                (Encoding::Raw, NativeType::String) => {
                    prefetch_values(self.slice::<u32>(entry.sections.codes), &[row]);
                }
                (Encoding::Raw, native) => {
                    let first = self.section(entry.sections.codes).as_ptr();
                    prefetch_read(first.wrapping_add(usize::from(row) * native.size()));
                }
                _ => self.codes(entry).expect(row),
            }
        }
        for column in columns.filter(|column| self.has_raw_strings(*column)) {
            let sections = self.entry(column).sections;
            let offset = self.slice::<u32>(sections.codes)[usize::from(row)];
            prefetch_read(self.section(sections.heap).as_ptr().wrapping_add(offset as usize));
        }
        Ok(())
    }

    fn has_raw_strings(&self, column: usize) -> bool {
        let entry = self.entry(column);
        entry.encoding == Encoding::Raw && entry.native == NativeType::String
    }

    /// The string of a row of a raw column as the only value of `out`: into the block, or a transient one into the
    /// buffer's heap.
    fn string_into(&self, column: usize, row: u16, out: &mut ColumnBuffer) -> Result<()> {
        self.touch(column)?;
        let entry = self.entry(column);
        let offsets = self.slice::<u32>(entry.sections.codes);
        let stored = Block::stored_string(offsets, self.section(entry.sections.heap), row.into());
        let string = match entry.has(FLAG_FSST) {
            // SAFETY: the heap lives as long as the block; whoever keeps the reference pins it.
            false => unsafe { StringRef::new(stored) },
            true => {
                let text = self.decompress_one(column, stored, &mut out.heap)?;
                // SAFETY: the heap is not changed until the buffer is filled anew: hence transient.
                unsafe { StringRef::new(text) }.as_transient()
            }
        };
        out.prepare::<StringRef>(1)[0] = string;
        if entry.nullable() {
            let bits = self.slice::<u64>(entry.sections.bitmap);
            let row = usize::from(row);
            out.validity_mut()[0] = u8::from(bits[row / 64] >> (row % 64) & 1 == 1);
        }
        Ok(())
    }

    /// The value of a row in native form as the only one of `out`, whose memory is reused.
    pub fn value_into(&self, column: usize, row: u16, out: &mut ColumnBuffer) -> Result<()> {
        if self.has_raw_strings(column) {
            return self.string_into(column, row, out);
        }
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
