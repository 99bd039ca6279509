//! Groups of codes of more than 32 bits: lanes of 64 bits, one body for all widths.
//!
//! Plain loops over eight lanes, which the compiler makes vectors of for the instruction set of the
//! caller. They are not unrolled by width: a lane holds one code or two, so there is little to gain.

use super::groups::{GROUP_WORDS, Test, ask_ahead};
use super::place::{GROUP, VECTOR, group_bytes};
use crate::packed::top;

const LANES: usize = 8;
type Vector = [u64; LANES];

/// A vector of the format.
///
/// # Safety
/// It is there.
#[inline(always)]
unsafe fn load(from: *const u8, word: usize) -> Vector {
    // SAFETY: by contract; every bit pattern is a value.
    let vector: Vector = unsafe { from.wrapping_add(word * VECTOR).cast::<Vector>().read_unaligned() };
    vector.map(u64::from_le)
}

/// The codes of vector `v`.
///
/// # Safety
/// The group is there.
#[inline(always)]
unsafe fn codes(from: *const u8, bits: u32, v: usize) -> Vector {
    let bit = v * bits as usize;
    let (word, shift) = (bit / 64, bit as u32 % 64);
    let next = (bit + bits as usize - 1) / 64;
    // SAFETY: by contract: the last code ends within the group.
    let (low, high) = unsafe { (load(from, word), load(from, next)) };
    std::array::from_fn(|lane| (low[lane] >> shift | high[lane] << 1 << (63 - shift)) & top(bits))
}

/// See [`super::groups::Kernels::unpack`].
///
/// # Safety
/// See [`super::groups::Kernels`].
#[inline(always)]
pub(super) unsafe fn unpack(from: *const u8, bits: u32, to: *mut u8, groups: usize) {
    for i in 0..groups {
        let from = from.wrapping_add(i * bits as usize * VECTOR);
        let to = to.cast::<Vector>().wrapping_add(i * (GROUP / LANES));
        for v in 0..GROUP / LANES {
            // SAFETY: by contract.
            unsafe { to.wrapping_add(v).write_unaligned(codes(from, bits, v)) };
        }
    }
}

/// See [`super::groups::Kernels::between`]; `unpack` is the instance of the caller's unit, which is not
/// inlined lest the compiler makes gathers of both loops, and `inside` tests 64 codes.
///
/// # Safety
/// See [`super::groups::Kernels`].
#[inline(always)]
pub(super) unsafe fn between(
    from: *const u8,
    bits: u32,
    test: Test,
    out: &mut [[u64; GROUP_WORDS]],
    unpack: unsafe fn(*const u8, u32, *mut u8, usize),
    inside: impl Fn(&[u64; 64]) -> u64,
) {
    let mut buffer = [0; GROUP];
    for (i, words) in out.iter_mut().enumerate() {
        let group = from.wrapping_add(i * bits as usize * VECTOR);
        if i < test.foreseen {
            ask_ahead(group, group_bytes(bits));
        }
        // SAFETY: by contract.
        unsafe { unpack(group, bits, buffer.as_mut_ptr().cast(), 1) };
        for (word, codes) in words.iter_mut().zip(buffer.as_chunks().0) {
            *word = inside(codes) ^ test.flip;
        }
    }
}

/// See [`super::groups::Kernels::pack`].
///
/// # Safety
/// See [`super::groups::Kernels`].
#[inline(always)]
pub(super) unsafe fn pack(from: *const u8, bits: u32, to: *mut u8) {
    let mut word = [0; LANES];
    for v in 0..GROUP / LANES {
        let bit = v * bits as usize;
        let shift = bit as u32 % 64;
        // SAFETY: by contract.
        let codes = unsafe { from.cast::<Vector>().wrapping_add(v).read_unaligned() };
        for (word, code) in word.iter_mut().zip(codes) {
            *word |= code << shift;
        }
        if shift + bits >= 64 {
            // SAFETY: by contract.
            unsafe {
                let to = to.wrapping_add(bit / 64 * VECTOR).cast::<Vector>();
                to.write_unaligned(word.map(u64::to_le));
            }
            word = codes.map(|code| code >> 1 >> (63 - shift));
        }
    }
}
