//! Types kernels move as plain bytes, and the unsigned words codes are made of.

use frazil_types::StringRef;
use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}
}

/// A type of 1, 2, 4, 8 or 16 bytes without padding, for which every bit pattern is a value.
pub trait Plain: sealed::Sealed + Copy + Default + Send + Sync + PartialEq + Debug + 'static {}

macro_rules! plain {
    ($($type:ty),*) => {
        $(
            impl sealed::Sealed for $type {}
            impl Plain for $type {}
        )*
    };
}

plain!(u8, u16, u32, u64, u128, i16, i32, i64, i128, f64, StringRef);

/// An unsigned word of a byte-packed attribute vector (Data Blocks, section 3.3).
pub trait CodeWord: Plain + Ord {
    /// Its value.
    fn to_u64(self) -> u64;
    /// The low bits of `value`.
    fn from_u64(value: u64) -> Self;
    /// `self - other` modulo the word.
    fn wrapping_minus(self, other: Self) -> Self;
    /// The slice with its width known at run time.
    fn codes(codes: &[Self]) -> Codes<'_>;
    /// The slice itself, if its words are bytes.
    fn as_bytes(codes: &mut [Self]) -> Option<&mut [u8]> {
        let size = codes.len();
        // SAFETY: the words are bytes.
        (size_of::<Self>() == 1)
            .then(|| unsafe { std::slice::from_raw_parts_mut(codes.as_mut_ptr().cast(), size) })
    }
}

/// Byte-packed codes of any width.
#[derive(Clone, Copy, Debug)]
pub enum Codes<'a> {
    /// One byte a code.
    W8(&'a [u8]),
    /// Two bytes.
    W16(&'a [u16]),
    /// Four bytes.
    W32(&'a [u32]),
    /// Eight bytes.
    W64(&'a [u64]),
}

macro_rules! code_word {
    ($($type:ty => $width:ident),*) => {
        $(
            impl CodeWord for $type {
                #[inline(always)]
                fn to_u64(self) -> u64 {
                    self as u64
                }
                #[inline(always)]
                fn from_u64(value: u64) -> Self {
                    value as $type
                }
                #[inline(always)]
                fn wrapping_minus(self, other: Self) -> Self {
                    self.wrapping_sub(other)
                }
                #[inline(always)]
                fn codes(codes: &[Self]) -> Codes<'_> {
                    Codes::$width(codes)
                }
            }
        )*
    };
}

code_word!(u8 => W8, u16 => W16, u32 => W32, u64 => W64);

/// The same bytes seen as another plain type of the same size and alignment.
#[inline(always)]
pub(crate) fn view<P: Plain, W: Plain>(values: &[P]) -> &[W] {
    assert!(size_of::<P>() == size_of::<W>() && align_of::<P>() >= align_of::<W>());
    // SAFETY: same size, no stricter alignment, and every bit pattern of a Plain type is a value.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}
