//! Codes one by one, where unpacking a group would fetch more than is wanted.
//!
//! A code's place takes some twenty operations to compute and two loads to read. Gathers are slower than
//! loads, but the arithmetic is vector work: so the places of some positions are computed first, by a loop
//! the compiler makes vectors of, and wait in the first-level cache. In the loop that reads the codes no
//! load depends on another row's, so the cache misses of many rows overlap.
//!
//! How many do is decided by how many codes fit the window in which a core looks for work, some 256 instructions: a
//! loop that loads a code and cuts it out has 25 of them there, one that does nothing but load has 60, and one that
//! does all else by vectors as many. So codes that stand in one window of 4 bytes are fetched by the last, those that
//! take 8 bytes are all loaded first, and cut out by vectors then; out of cache that is a third faster. Of codes with
//! two words the loads alone are too many for it to pay.

use super::place::{fits_4_bytes, in_a_row, place, window};
use super::rows::{Buffer, RING};
use super::scalar;
use crate::packed::top;
use crate::{CodeWord, Packed};
use std::mem::MaybeUninit;

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
    low: [MaybeUninit<u32>; SOME],
    /// Byte of the word that holds the high bits.
    high: [MaybeUninit<u32>; SOME],
}

impl Places {
    #[inline(always)]
    fn new() -> Places {
        Places {
            low: [MaybeUninit::uninit(); SOME],
            high: [MaybeUninit::uninit(); SOME],
        }
    }

    /// Those of rows `first + position`; `positions` are [`SOME`] at most.
    #[inline(always)]
    fn find<L>(&mut self, bits: u32, first: u32, positions: &[u16]) {
        let places = (self.low.as_chunks_mut().0.iter_mut()).zip(self.high.as_chunks_mut().0);
        let (whole, rest) = positions.as_chunks::<AT_ONCE>();
        let mut last = [0; AT_ONCE];
        last[..rest.len()].copy_from_slice(rest);
        let rest = (!rest.is_empty()).then_some(&last);
        for (positions, (low, high)) in whole.iter().chain(rest).zip(places) {
            find_some::<L>(bits, first, positions, low, high);
        }
    }
}

/// See [`Places::find`].
#[inline(always)]
fn find_some<L>(
    bits: u32,
    first: u32,
    positions: &[u16; AT_ONCE],
    low: &mut [MaybeUninit<u32>; AT_ONCE],
    high: &mut [MaybeUninit<u32>; AT_ONCE],
) {
    let lane = size_of::<L>() as u32 * 8;
    for i in 0..AT_ONCE {
        let place = place(lane, bits, first + u32::from(positions[i]));
        low[i].write(place.low << 6 | place.shift);
        high[i].write(place.high);
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
    if positions.len() < FEW {
        return one_by_one(codes, first, positions, out);
    }
    if in_a_row(codes.bits) {
        // SAFETY: by contract.
        return unsafe {
            match fits_4_bytes(codes.bits) {
                true => extract_by_4_bytes(codes, first as u32, positions, out),
                false => extract_by_8_bytes(codes, first as u32, positions, out),
            }
        };
    }
    let from = codes.bytes.as_ptr();
    let mut places = Places::new();
    for (positions, out) in positions.chunks(SOME).zip(out.chunks_mut(SOME)) {
        places.find::<L>(codes.bits, first as u32, positions);
        // SAFETY: by contract.
        unsafe { fetch::<L, C>(from, codes.bits, &places, out) };
    }
}

/// [`extract`] of codes of 17 to 26 bits and of 28, by windows of 4 bytes. Not inlined: the compiler makes vectors of
/// all of it but the loads, so that a code takes so few instructions that the core's window holds as many as below;
/// where AVX-512 is allowed it makes gathers of those, too.
///
/// # Safety
/// As [`extract`]; the machine has AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
unsafe fn extract_by_4_bytes<C: CodeWord>(codes: Packed<'_>, first: u32, positions: &[u16], out: &mut [C]) {
    let (from, bytes) = (codes.bytes.as_ptr(), codes.bytes.len() as u32);
    let mask = top(codes.bits) as u32;
    for (out, &position) in out.iter_mut().zip(positions) {
        let (byte, shift) = window(4, codes.bits, first + u32::from(position), bytes);
        // SAFETY: by contract, no window leaves the bytes.
        let word = u32::from_le(unsafe { from.add(byte as usize).cast::<u32>().read_unaligned() });
        *out = C::from_u64((word >> (shift % 32) & mask).into());
    }
}

/// [`extract`] of codes of 27, 29, 30 and 31 bits, by windows of 8 bytes.
///
/// # Safety
/// As [`extract`].
#[inline(always)]
unsafe fn extract_by_8_bytes<C: CodeWord>(codes: Packed<'_>, first: u32, positions: &[u16], out: &mut [C]) {
    let mut windows = Windows {
        bytes: [MaybeUninit::uninit(); SOME],
        shifts: [MaybeUninit::uninit(); SOME],
        words: [MaybeUninit::uninit(); SOME],
    };
    let bytes = codes.bytes.len() as u32;
    let mask = top(codes.bits);
    for (positions, out) in positions.chunks(SOME).zip(out.chunks_mut(SOME)) {
        let places = windows.bytes.iter_mut().zip(&mut windows.shifts);
        for (&position, (byte, shift)) in positions.iter().zip(places) {
            let place = window(8, codes.bits, first + u32::from(position), bytes);
            byte.write(place.0);
            shift.write(place.1);
        }
        // SAFETY: by contract, no window leaves the bytes; as many words and shifts were written as positions.
        unsafe {
            load_windows(codes.bytes.as_ptr(), &mut windows, positions.len());
            for (out, (word, shift)) in out.iter_mut().zip(windows.words.iter().zip(&windows.shifts)) {
                *out = C::from_u64(word.assume_init() >> (shift.assume_init() % 64) & mask);
            }
        }
    }
}

/// The windows of some codes; nothing in them at first.
#[repr(align(64))]
struct Windows {
    bytes: [MaybeUninit<u32>; SOME],
    /// Bits below the codes.
    shifts: [MaybeUninit<u32>; SOME],
    words: [MaybeUninit<u64>; SOME],
}

/// Loads as many windows. Not inlined, as [`fetch`].
///
/// # Safety
/// As many places were written, and the windows are there.
#[inline(never)]
unsafe fn load_windows(from: *const u8, windows: &mut Windows, count: usize) {
    for (byte, word) in windows.bytes.iter().zip(&mut windows.words).take(count) {
        // SAFETY: by contract.
        let window = unsafe {
            from.add(byte.assume_init() as usize)
                .cast::<u64>()
                .read_unaligned()
        };
        word.write(u64::from_le(window));
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

/// A few codes of rows `first + position`.
#[inline(never)]
fn one_by_one<C: CodeWord>(codes: Packed<'_>, first: usize, positions: &[u16], out: &mut [C]) {
    for (out, &position) in out.iter_mut().zip(positions) {
        *out = C::from_u64(scalar::get(codes, first + position as usize));
    }
}

/// As many codes as `out` has room for. Not inlined: it is to be compiled without the vector units of its
/// callers, lest the loads become gathers.
///
/// # Safety
/// As many places were found, the words are there, and the machine has BMI2.
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
        for (out, (low, _)) in out.iter_mut().zip(places) {
            // SAFETY: by contract.
            let low = unsafe { low.assume_init() };
            *out = C::from_u64(word(low >> 6).wrapping_shr(low) & mask);
        }
        return;
    }
    for (out, (low, high)) in out.iter_mut().zip(places) {
        // SAFETY: by contract.
        let (low, high) = unsafe { (low.assume_init(), high.assume_init()) };
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
