//! Range tests of codes of 2 and 3 bits by tables.
//!
//! A lane has the codes of eight consecutive rows, and so narrow are they that comparing them takes less time than cutting
//! them out. A shuffle of bytes does both: it looks up 4 bits, which are two codes of 2 bits or a code of 3 and a
//! neighbour's bit, and yields their match bits where they belong in the byte of eight rows.

use super::groups::{GROUP_WORDS, LongLanes, Test, ask_ahead};
use super::place::VECTOR;

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

/// Bit `code`: codes of `bits` bits, at most 3, that are this one match.
#[inline(always)]
fn matching(test: Test, bits: u32) -> u32 {
    let flip = (test.flip & 1) as u32;
    (0..1_u32 << bits)
        .map(|code| {
            let inside = u64::from(code).wrapping_sub(test.low) & ((1 << bits) - 1) <= test.span;
            (u32::from(inside) ^ flip) << code
        })
        .sum()
}

/// See [`Kernels::between`](super::groups::Kernels::between), of codes of 2 bits.
///
/// # Safety
/// See [`Kernels`](super::groups::Kernels).
#[inline(always)]
pub(super) unsafe fn between_2<V: Tables>(from: *const u8, test: Test, out: &mut [[u64; GROUP_WORDS]]) {
    let matching = matching(test, 2);
    let table: [u8; 16] = std::array::from_fn(|half| {
        let (code, next) = (half & 3, half >> 2);
        (matching >> code & 1 | (matching >> next & 1) << 1) as u8
    });
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
                ask_ahead(group, 2);
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
    let matching = matching(test, 3);
    let table: [u8; 16] = std::array::from_fn(|half| (matching >> (half & 7) & 1) as u8);
    // SAFETY: by contract; a group's match words are 64 bytes. No closure has intrinsics: it would not have the features.
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
                ask_ahead(group, 3);
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
