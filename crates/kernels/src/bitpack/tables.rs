//! Range tests of codes of 2 and 3 bits by tables.
//!
//! A lane has the codes of eight consecutive rows, and so narrow are they that comparing them takes less time than
//! cutting them out. A shuffle of bytes does both: it looks up 4 bits, which are two codes of 2 bits or a code of 3
//! and a neighbour's bit, and yields their match bits where they belong in the byte of eight rows.

use super::groups::{GROUP_WORDS, LongLanes, Test, ask_ahead};
use super::place::{VECTOR, group_bytes};

/// Lanes of 8 bits that are looked up in tables.
///
/// # Safety
/// As [`LongLanes`].
pub(super) trait Tables: LongLanes {
    /// A table of 16 bytes.
    unsafe fn table(bytes: &[u8; 16]) -> Self;
    /// What the table has for each lane, which is less than 16.
    unsafe fn look_up(self, table: Self) -> Self;
}

/// Bit `code`: codes of `bits` bits, at most 3, that are this one match. (A window of codes is tested in so little
/// time that making its tables must be short work.)
#[inline(always)]
fn matching(test: Test, bits: u32) -> u64 {
    let codes = 1 << bits;
    let run = (2 << test.span) - 1;
    let inside = run << test.low | run >> (codes - test.low);
    (inside ^ test.flip) & ((1 << codes) - 1)
}

/// Byte `i` of eight is bit `i`.
#[inline(always)]
const fn bytes(bits: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let of_byte = (bits * EACH) & 0x8040_2010_0804_0201;
    (of_byte + 0x7f * EACH) >> 7 & EACH
}

/// A 16-byte shuffle table; `first` holds entries 0–7, `second` 8–15, least significant byte first.
#[inline(always)]
const fn table(first: u64, second: u64) -> [u8; 16] {
    (first as u128 | (second as u128) << 64).to_le_bytes()
}

/// See [`Kernels::between`](super::groups::Kernels::between), of codes of 2 bits.
///
/// # Safety
/// See [`Kernels`](super::groups::Kernels).
#[inline(always)]
pub(super) unsafe fn between_2<V: Tables>(from: *const u8, test: Test, out: &mut [[u64; GROUP_WORDS]]) {
    let matching = matching(test, 2);
    // In the table's order one code goes on in each byte, the other, in bit 1, in each fourth.
    let one = bytes(matching | matching << 4);
    let (first_two, last_two) = (matching & 3, matching >> 2);
    let other = |two: u64| bytes(((two & 1) * 0x0f) | ((two >> 1) * 0xf0)) << 1;
    let table = table(one | other(first_two), one | other(last_two));
    // SAFETY: by contract; a group's match words are 64 bytes.
    unsafe {
        let first = V::table(&table);
        let second = first.left(2);
        let third = first.left(4);
        let fourth = first.left(6);
        let half = V::splat(0x0f);
        for (i, words) in out.iter_mut().enumerate() {
            let group = from.wrapping_add(i * 2 * VECTOR);
            if i < test.foreseen {
                ask_ahead(group, group_bytes(2));
            }
            for part in 0..VECTOR / V::BYTES {
                let at = part * V::BYTES;
                let low = V::load(group.wrapping_add(at));
                let high = V::load(group.wrapping_add(VECTOR + at));
                let low = (low.and(half).look_up(first)).or(low.right(4).and(half).look_up(second));
                let high = (high.and(half).look_up(third)).or(high.right(4).and(half).look_up(fourth));
                low.or(high)
                    .store(words.as_mut_ptr().cast::<u8>().wrapping_add(at));
            }
        }
    }
}

/// The code of 3 bits in each 4 bits that are turned left.
const fn turned(left: u32) -> [u8; 16] {
    let mut codes = [0; 16];
    let mut half = 0;
    while half < 16 {
        codes[half] = ((half >> left | half << (4 - left)) & 7) as u8;
        half += 1;
    }
    codes
}

/// See [`Kernels::between`](super::groups::Kernels::between), of codes of 3 bits. Of the 4 bits that are looked up the
/// code's are not always the lower three, and those of a code in two words stand apart; all are the code's turned left.
///
/// # Safety
/// See [`Kernels`](super::groups::Kernels).
#[inline(always)]
pub(super) unsafe fn between_3<V: Tables>(from: *const u8, test: Test, out: &mut [[u64; GROUP_WORDS]]) {
    let matching = bytes(matching(test, 3));
    let table = table(matching, matching);
    // SAFETY: by contract; a group's match words are 64 bytes. No closure has intrinsics: it would not have the
    // features.
    unsafe {
        let first = V::table(&table);
        let turned_1 = V::table(const { &turned(1) }).look_up(first);
        let turned_2 = V::table(const { &turned(2) }).look_up(first);
        let turned_3 = V::table(const { &turned(3) }).look_up(first);
        let (second, third, fourth) = (first.left(1), turned_2.left(2), turned_1.left(3));
        let (fifth, sixth) = (first.left(4), turned_3.left(5));
        let (seventh, eighth) = (turned_1.left(6), turned_1.left(7));
        let half = V::splat(0x0f);
        for (i, words) in out.iter_mut().enumerate() {
            let group = from.wrapping_add(i * 3 * VECTOR);
            if i < test.foreseen {
                ask_ahead(group, group_bytes(3));
            }
            for part in 0..VECTOR / V::BYTES {
                let at = part * V::BYTES;
                let low = V::load(group.wrapping_add(at));
                let middle = V::load(group.wrapping_add(VECTOR + at));
                let high = V::load(group.wrapping_add(2 * VECTOR + at));
                let end_of_low = low.right(4).and(V::splat(0b1100));
                let end_of_middle = middle.right(4).and(half);
                let rows = low.and(half).look_up(first);
                let rows = rows.or(low.right(3).and(half).look_up(second));
                let rows = rows.or(end_of_low.or(middle.and(V::splat(0b0001))).look_up(third));
                let rows = rows.or(middle.and(half).look_up(fourth));
                let rows = rows.or(end_of_middle.look_up(fifth));
                let start_of_high = high.and(V::splat(0b0011));
                let rows = rows.or(end_of_middle
                    .and(V::splat(0b1000))
                    .or(start_of_high)
                    .look_up(sixth));
                let rows = rows.or(high.right(1).and(half).look_up(seventh));
                let rows = rows.or(high.right(4).and(half).look_up(eighth));
                rows.store(words.as_mut_ptr().cast::<u8>().wrapping_add(at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_codes_are_those_in_the_range() {
        for bits in 1..=3 {
            let codes = 1u64 << bits;
            for low in 0..codes {
                for span in 0..codes {
                    for flip in [0, !0] {
                        let test = Test {
                            low,
                            span,
                            flip,
                            foreseen: 0,
                        };
                        let bytes = bytes(matching(test, bits)).to_le_bytes();
                        for code in 0..8_u64 {
                            let inside = code.wrapping_sub(low) % codes <= span;
                            let matches = code < codes && inside != (flip != 0);
                            assert_eq!(bytes[code as usize], matches.into(), "{test:?} {code}");
                        }
                    }
                }
            }
        }
    }
}
