//! Unpacking: the values of a selection, from codes or raw, in their native form (Data Blocks,
//! sections 3.4 and 4.2). Types are resolved once per call; the kernels do the rest.

use crate::block::Block;
use crate::column_buffer::ColumnBuffer;
use crate::encodings::{Encoding, decimal, frame_of_reference};
use crate::format::FLAG_SMA;
use crate::layouts::Layout;
use crate::layouts::codes::dispatch_words;
use crate::resolve::dispatch_integer;
use frazil_kernels::plain::Codes as Words;
use frazil_kernels::{CodeWord, Isa, Selection, unpack as kernels};
use frazil_types::{NativeType, Result, StringRef, dispatch_native};

/// Selected rows in a thousand below which they are fetched at their positions, and from which on by match
/// bits: everything between them is then decoded, which takes no branch and no address a row (Hyrise's
/// integer compression, section 4.1.2). Rows: values as they lie and, as in [`Layout::ALL`], codes on
/// byte-packed, bit-packed, ByteSlice, VBP and HBP. Columns: words of 1, 2, 4 and at least 8 bytes.
type Densities = [[u16; 4]; 6];

/// With a vector unit that compresses, by the time of whole queries.
const COMPRESSING: Densities = [[83; 4]; 6];

/// Without: `unpack/percent_p` against `unpack_at/percent_p` of `frazil bench lookup` on AVX2, three quarters of
/// the density where they meet, as positions have to be made of match bits first.
const NOT_COMPRESSING: Densities = [
    [240, 270, 320, 320],
    [240, 270, 320, 320],
    [270, 270, 270, 270],
    [240, 330, 470, 470],
    [110, 180, 240, 240],
    [200, 200, 200, 200],
];

/// Selected rows in a thousand below which values of so many bytes, which lie side by side, are fetched at
/// positions rather than by match bits.
pub fn values_at_positions_below(isa: Isa, bytes: usize) -> usize {
    at_positions_below(isa, 0, bytes)
}

fn at_positions_below(isa: Isa, held: usize, bytes: usize) -> usize {
    let densities = match isa {
        Isa::Avx512 => &COMPRESSING,
        _ => &NOT_COMPRESSING,
    };
    let word = bytes.next_power_of_two().trailing_zeros().min(3);
    densities[held][word as usize].into()
}

impl Block {
    /// Selected rows in a thousand below which a column is better unpacked at positions than by match bits.
    pub fn at_positions_below(&self, isa: Isa, column: usize) -> usize {
        let entry = self.entry(column);
        match Layout::ALL.iter().position(|&layout| layout == entry.layout) {
            Some(layout) => at_positions_below(isa, layout + 1, usize::from(entry.code_bits).div_ceil(8)),
            None => values_at_positions_below(isa, entry.native.size()),
        }
    }

    /// Unpacks the selected rows of a column into `out`, densely. A constant column yields a constant
    /// buffer. Strings of dictionaries, constants and uncompressed heaps point into the block and live as
    /// long as it; FSST strings are decompressed into `out` and marked transient.
    ///
    /// Panics if the selection goes beyond the rows.
    pub fn unpack(
        &self,
        isa: Isa,
        column: usize,
        selection: Selection,
        out: &mut ColumnBuffer,
    ) -> Result<()> {
        self.touch(column)?;
        let entry = self.entry(column);
        let rows = selection.count();
        match entry.encoding {
            Encoding::Constant => {
                self.unpack_constant(column, rows, out);
                return Ok(());
            }
            Encoding::Raw => {
                if entry.native == NativeType::String {
                    self.unpack_strings(column, selection, rows, out)?;
                } else {
                    dispatch_native!(entry.native, T => {
                        let values = self.slice::<T>(entry.sections.codes);
                        kernels::copy_values(isa, values, selection, out.prepare::<T>(rows));
                    });
                }
                if entry.nullable() {
                    let bits = self.slice::<u64>(entry.sections.bitmap);
                    kernels::expand_bits(isa, bits, selection, out.validity_mut());
                }
            }
            _ => self.unpack_coded(isa, column, selection, out.reset(entry.native, rows)),
        }
        Ok(())
    }

    /// Unpacks a column of codes, whatever their layout.
    fn unpack_coded(&self, isa: Isa, column: usize, selection: Selection, out: &mut ColumnBuffer) {
        let entry = self.entry(column);
        if entry.encoding == Encoding::Frames && self.unpack_packed_frames(isa, entry, selection, out) {
            return;
        }
        let mut scratch = std::mem::take(&mut out.codes);
        let codes = self.codes(entry);
        let (words, chosen) = codes.fetch(isa, selection, &mut scratch);
        match entry.encoding {
            Encoding::Dictionary => self.unpack_dictionary(isa, column, words, chosen, out),
            Encoding::Patched => self.unpack_patched(isa, entry, words, chosen, selection, out),
            Encoding::Frames => self.unpack_frames(isa, entry, words, chosen, selection, out),
            Encoding::Decimal => decimal::unpack(entry, words, chosen, out),
            _ => {
                let reference = frame_of_reference::reference(entry);
                unpack_reference(isa, entry.native, reference, words, chosen, out);
            }
        }
        if entry.nullable() {
            let validity = out.validity_mut();
            dispatch_words!(words, codes => {
                kernels::nonzero_codes(isa, codes, chosen, validity);
            });
        }
        out.codes = scratch;
    }

    /// The values of a raw column of native type without NULLs, lent: no copy is needed when all rows
    /// are wanted. `None` for all other columns.
    pub fn borrow(&self, column: usize) -> Result<Option<*const u8>> {
        let entry = self.entry(column);
        if entry.encoding != Encoding::Raw || entry.native == NativeType::String || entry.nullable() {
            return Ok(None);
        }
        self.touch(column)?;
        Ok(Some(self.section(entry.sections.codes).as_ptr()))
    }

    fn unpack_constant(&self, column: usize, rows: usize, out: &mut ColumnBuffer) {
        let entry = self.entry(column);
        out.reset_constant(entry.native, rows);
        if rows == 0 {
            return;
        }
        if !entry.has(FLAG_SMA) {
            dispatch_native!(entry.native, T => out.values_mut::<T>()[0] = T::default());
            out.validity_mut()[0] = 0;
            return;
        }
        match entry.native {
            NativeType::Bool => out.values_mut::<u8>()[0] = entry.min as u8,
            NativeType::F64 => out.values_mut::<f64>()[0] = f64::from_bits(entry.min as u64),
            NativeType::String => out.values_mut::<StringRef>()[0] = self.prepared_strings(column)[0],
            native => dispatch_integer!(native,
                T => out.values_mut::<T>()[0] = entry.min as T,
                _ => ()),
        }
    }

    fn unpack_dictionary(
        &self,
        isa: Isa,
        column: usize,
        codes: Words,
        chosen: Selection,
        out: &mut ColumnBuffer,
    ) {
        dispatch_native!(self.entry(column).native, T => {
            let dictionary: &[T] = self.dictionary_values(column);
            dispatch_words!(codes, codes => {
                kernels::gather_dictionary(isa, codes, dictionary, chosen, out.values_mut::<T>());
            });
        });
    }

    /// Values of a dictionary by code, the dummy of NULL included. The column has been touched.
    pub(crate) fn dictionary_values<T: frazil_types::Native + frazil_kernels::Plain>(
        &self,
        column: usize,
    ) -> &[T] {
        let entry = self.entry(column);
        if entry.native == NativeType::String {
            let strings = self.prepared_strings(column);
            assert_eq!(T::TYPE, NativeType::String);
            // SAFETY: a Native of type String is StringRef itself.
            return unsafe { std::slice::from_raw_parts(strings.as_ptr().cast(), strings.len()) };
        }
        self.slice(entry.sections.dictionary)
    }
}

/// Values by frame of reference; booleans are integers of 0 and 1.
pub(crate) fn unpack_reference(
    isa: Isa,
    native: NativeType,
    reference: i128,
    codes: Words,
    chosen: Selection,
    out: &mut ColumnBuffer,
) {
    if native == NativeType::Bool {
        // The code of NULL must unpack to a valid boolean, too.
        let value = |code: u64| (code as u8).wrapping_add(reference as u8) & 1;
        let out = out.values_mut::<u8>();
        dispatch_words!(codes, codes => match chosen {
            Selection::All { start, len } => {
                let codes = &codes[start as usize..(start + len) as usize];
                out.iter_mut().zip(codes).for_each(|(o, c)| *o = value(c.to_u64()));
            }
            _ => for_each_row(chosen, |i, row| out[i] = value(codes[row].to_u64())),
        });
        return;
    }
    dispatch_integer!(native, T => {
        let out = out.values_mut::<T>();
        dispatch_words!(codes, codes => {
            kernels::unpack(isa, codes, reference as T, chosen, out);
        });
    }, _ => ());
}

/// Calls `f` with the index in the output and the row of every selected row.
#[inline]
pub(crate) fn for_each_row(selection: Selection, mut f: impl FnMut(usize, usize)) {
    match selection {
        Selection::All { start, len } => (0..len as usize).for_each(|i| f(i, start as usize + i)),
        Selection::Bits { words, start, len } => {
            let mut i = 0;
            for (w, &word) in words.iter().enumerate() {
                let mut word = word;
                while word != 0 {
                    let bit = w * 64 + word.trailing_zeros() as usize;
                    if bit >= len as usize {
                        return;
                    }
                    f(i, start as usize + bit);
                    i += 1;
                    word &= word - 1;
                }
            }
        }
        Selection::Positions(positions) => positions
            .iter()
            .enumerate()
            .for_each(|(i, &row)| f(i, usize::from(row))),
    }
}
