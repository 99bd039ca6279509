//! Strings of ASCII alone, eight bytes at a time: whether a string is one, and its letters in another case. A word's first byte is its lowest.

use frazil_types::StringRef;
use frazil_types::string_ref::INLINE_BYTES;

/// The highest bit of each byte: 0 in ASCII.
const HIGH: u64 = 0x8080_8080_8080_8080;
/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Whether all bytes of a string are ASCII.
///
/// # Safety
/// The string must be alive.
#[inline(always)]
pub unsafe fn is_ascii(string: StringRef) -> bool {
    if string.is_inline() {
        // Behind the end are zeros.
        return (string.head >> 32 | string.tail) & HIGH == 0;
    }
    // SAFETY: by contract.
    are_ascii(unsafe { string.bytes_outside() })
}

/// Whether all bytes are ASCII.
#[inline(always)]
pub fn are_ascii(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<8>() else {
        return bytes.is_ascii();
    };
    // The last word overlaps the one before; long texts are left at the first other byte.
    let mut pieces = bytes.chunks(256);
    pieces.all(|piece| {
        let words = piece.as_chunks::<8>().0.iter();
        words.fold(0, |all, word| all | u64::from_le_bytes(*word)) & HIGH == 0
    }) && u64::from_le_bytes(*last) & HIGH == 0
}

/// ASCII letters in lower case, all other bytes of ASCII as they are.
#[inline(always)]
pub fn lower(word: u64) -> u64 {
    word | between(word, b'A', b'Z') >> 2
}

/// ASCII letters in upper case, all other bytes of ASCII as they are.
#[inline(always)]
pub fn upper(word: u64) -> u64 {
    word ^ between(word, b'a', b'z') >> 2
}

/// The highest bit of each byte of ASCII that lies in a range. No byte's sum reaches the next byte.
#[inline(always)]
fn between(word: u64, first: u8, last: u8) -> u64 {
    let from = word + ONES * u64::from(0x80 - first);
    let behind = word + ONES * u64::from(0x7f - last);
    (from ^ behind) & HIGH
}

/// An inline string of ASCII, its bytes mapped, among which 0 stays 0.
#[inline(always)]
pub fn mapped_inline(string: StringRef, map: impl Fn(u64) -> u64) -> StringRef {
    StringRef {
        head: string.head & 0xffff_ffff | map(string.head >> 32) << 32,
        tail: map(string.tail),
    }
}

/// Writes the mapped bytes of a string that is not inline to as many others.
#[inline(always)]
pub fn map_words(from: &[u8], to: &mut [u8], map: impl Fn(u64) -> u64) {
    const { assert!(INLINE_BYTES >= 8) };
    let words = from.as_chunks::<8>().0.iter().zip(to.as_chunks_mut::<8>().0);
    for (from, to) in words {
        *to = map(u64::from_le_bytes(*from)).to_le_bytes();
    }
    // The last word overlaps the one before, whose bytes are written once more.
    if let (Some(from), Some(to)) = (from.last_chunk::<8>(), to.last_chunk_mut::<8>()) {
        *to = map(u64::from_le_bytes(*from)).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_place_is_seen() {
        for len in 0..600 {
            let mut bytes: Vec<u8> = (0..len).map(|i| (i * 7 % 128) as u8).collect();
            // SAFETY: the bytes outlive the reference.
            let whole = |bytes: &[u8]| unsafe { is_ascii(StringRef::new(bytes)) };
            assert!(are_ascii(&bytes) && whole(&bytes));
            for at in (0..len).step_by(1 + len / 40) {
                bytes[at] |= 0x80;
                assert!(!are_ascii(&bytes) && !whole(&bytes), "{at} of {len}");
                bytes[at] &= 0x7f;
            }
        }
    }

    #[test]
    fn letters_change_as_those_of_the_standard_library() {
        let all: Vec<u8> = (0..128).chain(0..128).collect();
        for len in 0..140 {
            let bytes = &all[len % 100..][..len];
            let (lowered, uppered) = (bytes.to_ascii_lowercase(), bytes.to_ascii_uppercase());
            if len <= INLINE_BYTES {
                let string = StringRef::inline(bytes);
                assert!(mapped_inline(string, lower) == StringRef::inline(&lowered));
                assert!(mapped_inline(string, upper) == StringRef::inline(&uppered));
                continue;
            }
            let mut to = vec![0xff; len];
            map_words(bytes, &mut to, lower);
            assert_eq!(to, lowered);
            map_words(bytes, &mut to, upper);
            assert_eq!(to, uppered);
        }
    }
}
