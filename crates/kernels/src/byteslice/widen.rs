//! Bytes of slices put together in vectors: widened, shifted, joined.

use crate::CodeWord;

/// Words of a vector that bytes are widened to.
///
/// # Safety
/// All methods: the machine has the instruction set, and what is read and written is there.
pub(super) trait Widen {
    /// The words.
    type Word: CodeWord;
    /// Their number.
    const LANES: usize;

    /// Words with a byte of each slice, the first in front, less the padding: `SLICES` slices at a
    /// distance of `stride`.
    unsafe fn join<const SLICES: usize>(from: *const u8, stride: usize, padding: u32, to: *mut Self::Word);
}

/// [`super::gather::Interleave::run`] by vectors; the last one overlaps the one before.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn by_vectors<W: Widen, const SLICES: usize>(
    from: *const u8,
    stride: usize,
    padding: u32,
    to: *mut W::Word,
    len: usize,
) {
    if len < W::LANES {
        for i in 0..len {
            let mut code = 0;
            for j in 0..SLICES {
                // SAFETY: by contract.
                code = code << 8 | u64::from(unsafe { *from.add(j * stride + i) });
            }
            // SAFETY: by contract.
            unsafe { *to.add(i) = W::Word::from_u64(code >> padding) };
        }
        return;
    }
    let last = len - W::LANES;
    for i in (0..last).step_by(W::LANES).chain([last]) {
        // SAFETY: whole vectors are left from `last` on.
        unsafe { W::join::<SLICES>(from.add(i), stride, padding, to.add(i)) };
    }
}

/// [`super::gather::Interleave`] for an instruction set: `$name` of `$word`s, `$lanes` a vector, and the instructions
/// for them: load narrow, widen, shift, join, store.
macro_rules! interleave {
    ($unit:ident, $isa:expr, $vector:ty, $or:ident, $store:ident;
     $($name:ident: $word:ty, $lanes:literal, $load:ident, $narrow:ty, $widen:ident, $left:ident, $right:ident;)*) => {
        $(
            struct $name;

            impl Widen for $name {
                type Word = $word;
                const LANES: usize = $lanes;

                #[inline(always)]
                unsafe fn join<const SLICES: usize>(
                    from: *const u8,
                    stride: usize,
                    padding: u32,
                    to: *mut $word,
                ) {
                    // SAFETY: by contract.
                    unsafe {
                        let mut codes = $widen($load(from.cast::<$narrow>()));
                        for j in 1..SLICES {
                            let bytes = $widen($load(from.add(j * stride).cast::<$narrow>()));
                            codes = $or($left::<8>(codes), bytes);
                        }
                        $store(to.cast(), $right(codes, _mm_cvtsi32_si128(padding as i32)));
                    }
                }
            }
        )*

        impl Interleave for $unit {
            const ISA: Isa = $isa;

            #[inline(always)]
            unsafe fn run<C: CodeWord, const SLICES: usize>(
                from: *const u8,
                stride: usize,
                padding: u32,
                to: *mut C,
                len: usize,
            ) {
                // SAFETY: by contract; the words are those of `C`.
                unsafe {
                    match size_of::<C>() {
                        $(size if size == size_of::<$word>() => {
                            by_vectors::<$name, SLICES>(from, stride, padding, to.cast(), len)
                        })*
                        _ => to.cast::<u8>().copy_from_nonoverlapping(from, len),
                    }
                }
            }
        }
    };
}
pub(super) use interleave;
