//! Fetching the values of a selection: by frame of reference, through a dictionary, or as they are
//! (Data Blocks, section 4.2: unpack matches).
//!
//! Every function writes the values densely from `out[0]` and returns their number; it panics if a
//! selected row lies beyond the column or `out` is too short.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod selected;

use crate::isa::dispatch;
use crate::{CodeWord, Isa, Kernel, Plain, Selection, counters};

/// A type that frame of reference can yield: the native ones, and words of 32 bits, as codecs of integers do.
pub trait Reference: Plain {
    /// `self + code`, modulo the type.
    fn plus(self, code: u64) -> Self;
}

macro_rules! reference {
    ($($type:ty),*) => {
        $(
            impl Reference for $type {
                #[inline(always)]
                fn plus(self, code: u64) -> Self {
                    self.wrapping_add(code as $type)
                }
            }
        )*
    };
}

reference!(i16, i32, i64, i128, u32);

/// Values `reference + code` of the selected rows, modulo the type.
pub fn unpack<C: CodeWord, T: Reference>(
    isa: Isa,
    codes: &[C],
    reference: T,
    selection: Selection<'_>,
    out: &mut [T],
) -> usize {
    let isa = counters::enter(Kernel::Unpack, isa);
    dispatch!(isa, unpack(codes, reference, selection, out), otherwise scalar::unpack(codes, reference, selection, out))
}

/// Values `dictionary[code]` of the selected rows. Panics on a selected code beyond the dictionary.
pub fn gather_dictionary<C: CodeWord, T: Plain>(
    isa: Isa,
    codes: &[C],
    dictionary: &[T],
    selection: Selection<'_>,
    out: &mut [T],
) -> usize {
    let isa = counters::enter(Kernel::Dictionary, isa);
    dispatch!(
        isa,
        gather_dictionary(codes, dictionary, selection, out),
        otherwise scalar::gather_dictionary(codes, dictionary, selection, out)
    )
}

/// The selected values themselves (also codes: then a later step decodes them).
pub fn copy_values<T: Plain>(isa: Isa, values: &[T], selection: Selection<'_>, out: &mut [T]) -> usize {
    let isa = counters::enter(Kernel::Copy, isa);
    dispatch!(isa, copy_values(values, selection, out), otherwise scalar::copy_values(values, selection, out))
}

/// One byte a selected row, 1 where its bit is set: validity of a column that keeps a bitmap, whose
/// bit `r` speaks of row `r`.
pub fn expand_bits(isa: Isa, bits: &[u64], selection: Selection<'_>, out: &mut [u8]) -> usize {
    let isa = counters::enter(Kernel::Validity, isa);
    dispatch!(isa, expand_bits(bits, selection, out), otherwise scalar::expand_bits(bits, selection, out))
}

/// One byte a selected row, 1 where the code is not 0: validity of a nullable coded column, which
/// reserves code 0 for NULL.
pub fn nonzero_codes<C: CodeWord>(isa: Isa, codes: &[C], selection: Selection<'_>, out: &mut [u8]) -> usize {
    let isa = counters::enter(Kernel::Validity, isa);
    dispatch!(isa, nonzero_codes(codes, selection, out), otherwise scalar::nonzero_codes(codes, selection, out))
}
