//! Codes one by one, where unpacking a group would fetch more than is wanted.
//!
//! A code's place takes some twenty operations to compute and two loads to read. Gathers are slower than
//! loads, but the arithmetic is vector work: so the places of some positions are computed first, by a loop
//! the compiler makes vectors of, and wait in the first-level cache. In the loop that reads the codes no
//! load depends on another row's, so the cache misses of many rows overlap.

use super::place::{GROUP, group_bytes, place};
use super::rows::{Buffer, RING};
use super::scalar;
use crate::packed::top;
use crate::prefetch::prefetch_read;
use crate::{CodeWord, Packed};

/// Positions whose places are computed together: so many that little is waited for between one lot's loads and the next
/// lot's.
const SOME: usize = 256;
/// Places are computed by as many.
const AT_ONCE: usize = 16;
/// Fewer positions are not worth the detour.
const FEW: usize = 12;

/// Where some codes lie.
#[repr(align(64))]
struct Places {
    /// Byte of the word that holds the low bits, times 64, and the shift: a shift by all of it is one by the
    /// shift, and one load is saved.
    low: [u32; SOME],
    /// Byte of the word that holds the high bits.
    high: [u32; SOME],
}

impl Places {
    #[inline(always)]
    fn new() -> Places {
        Places {
            low: [0; SOME],
            high: [0; SOME],
        }
    }

    /// Those of rows `skip + position` from the beginning of a group on; `positions` are [`SOME`] at most.
    #[inline(always)]
    fn find<L>(&mut self, bits: u32, skip: u32, positions: &[u16]) {
        let places = (self.low.as_chunks_mut().0.iter_mut()).zip(self.high.as_chunks_mut().0);
        let (whole, rest) = positions.as_chunks::<AT_ONCE>();
        let mut last = [0; AT_ONCE];
        last[..rest.len()].copy_from_slice(rest);
        let rest = (!rest.is_empty()).then_some(&last);
        for (positions, (low, high)) in whole.iter().chain(rest).zip(places) {
            find_some::<L>(bits, skip, positions, low, high);
        }
    }
}

/// See [`Places::find`].
#[inline(always)]
fn find_some<L>(
    bits: u32,
    skip: u32,
    positions: &[u16; AT_ONCE],
    low: &mut [u32; AT_ONCE],
    high: &mut [u32; AT_ONCE],
) {
    let lane = size_of::<L>() as u32 * 8;
    for i in 0..AT_ONCE {
        let row = skip + u32::from(positions[i]);
        let place = place(lane, bits, row);
        // 2^16 codes of 8 bytes and a group are less than 2^20 bytes.
        let group = row / GROUP as u32 * group_bytes(bits) as u32;
        (low[i], high[i]) = ((group + place.low) << 6 | place.shift, group + place.high);
    }
}

/// The codes, in lanes of `L`, of rows `first + position`.
///
/// # Safety
/// The rows' bytes are there, codes lie in lanes of `L`, and the machine has BMI2.
#[inline(always)]
pub(super) unsafe fn extract<L: CodeWord, C: CodeWord>(
    codes: Packed<'_>,
    first: usize,
    positions: &[u16],
    out: &mut [C],
) {
    let from = codes.bytes[first / GROUP * group_bytes(codes.bits)..].as_ptr();
    let skip = (first % GROUP) as u32;
    if positions.len() < FEW {
        // SAFETY: by contract.
        return unsafe { one_by_one(codes, first, positions, out) };
    }
    let mut places = Places::new();
    for (positions, out) in positions.chunks(SOME).zip(out.chunks_mut(SOME)) {
        places.find::<L>(codes.bits, skip, positions);
        // SAFETY: by contract.
        unsafe { fetch::<L, C>(from, codes.bits, &places, out) };
    }
}

/// Codes as wide as their lanes, which lie side by side, of rows `position`. Not inlined, as [`fetch`].
///
/// # Safety
/// The rows' bytes are there.
#[inline(never)]
pub(super) unsafe fn words<L: CodeWord, C: CodeWord>(codes: Packed<'_>, positions: &[u16], out: &mut [C]) {
    let from = codes.bytes.as_ptr().cast::<L>();
    for (out, &position) in out.iter_mut().zip(positions) {
        // SAFETY: by contract.
        *out = C::from_u64(unsafe { from.add(position as usize).read_unaligned() }.to_u64());
    }
}

/// Asks for the lines of codes, in lanes of `L`, of rows `position`. A code in one word has its line asked for twice, which
/// costs less than to foresee it.
#[inline(always)]
pub(super) fn prefetch<L>(codes: Packed<'_>, positions: &[u16]) {
    let from = codes.bytes.as_ptr();
    if codes.bits as usize == 8 * size_of::<L>() {
        let words = from.cast::<L>();
        return (positions.iter()).for_each(|&p| prefetch_read(words.wrapping_add(usize::from(p))));
    }
    let mut places = Places::new();
    for positions in positions.chunks(SOME) {
        places.find::<L>(codes.bits, 0, positions);
        for (&low, &high) in places.low.iter().zip(&places.high).take(positions.len()) {
            prefetch_read(from.wrapping_add(low as usize >> 6));
            prefetch_read(from.wrapping_add(high as usize));
        }
    }
}

/// A few codes of rows `first + position`.
///
/// # Safety
/// The rows' bytes are there.
#[inline(never)]
unsafe fn one_by_one<C: CodeWord>(codes: Packed<'_>, first: usize, positions: &[u16], out: &mut [C]) {
    for (out, &position) in out.iter_mut().zip(positions) {
        // SAFETY: by contract.
        *out = C::from_u64(unsafe { scalar::get(codes, first + position as usize) });
    }
}

/// As many codes as `out` has room for. Not inlined: it is to be compiled without the vector units of its
/// callers, lest the loads become gathers.
///
/// # Safety
/// The words are there, the machine has BMI2.
#[target_feature(enable = "bmi1,bmi2")]
#[inline(never)]
unsafe fn fetch<L: CodeWord, C: CodeWord>(from: *const u8, bits: u32, places: &Places, out: &mut [C]) {
    // SAFETY: by contract.
    let word = |byte: u32| unsafe { from.add(byte as usize).cast::<L>().read_unaligned() }.to_u64();
    let lane = size_of::<L>() as u32 * 8;
    let mask = top(bits);
    let places = places.low.iter().zip(&places.high);
    if lane.is_multiple_of(bits) {
        // No code lies in two words.
        for (out, (&low, _)) in out.iter_mut().zip(places) {
            *out = C::from_u64(word(low >> 6).wrapping_shr(low) & mask);
        }
        return;
    }
    for (out, (&low, &high)) in out.iter_mut().zip(places) {
        let (low_word, high_word) = (word(low >> 6), word(high));
        *out = C::from_u64(scalar::join::<L>(low_word, high_word, low % 64) & mask);
    }
}

/// What stands in a ring of unpacked codes at positions. Not inlined, as [`fetch`].
///
/// # Safety
/// The rows at the positions were unpacked.
#[inline(never)]
pub(super) unsafe fn take<L: CodeWord, C: CodeWord>(
    ring: &Buffer<L, RING>,
    positions: &[u16],
    out: &mut [C],
) {
    for (out, &position) in out.iter_mut().zip(positions) {
        // SAFETY: by contract.
        *out = C::from_u64(unsafe { ring.row(position as usize % RING) }.to_u64());
    }
}
