//! Range tests on horizontally packed words, by arithmetic on whole words.
//!
//! With the delimiters D, one bit above each code, two sums decide all fields of a word at once:
//!
//! ```text
//! x + (D − low)     delimiter set where x ≥ low
//! (D + high) − x    delimiter set where x ≤ high
//! ```
//!
//! Neither carries into the next field. Shifting what is there right by one before the next word's
//! delimiters are ORed in (Horner's rule) brings word w's to w bits above the field's bottom: after a
//! segment's last word its match bits stand in the order of the rows.

use super::fields::{Fields, SEGMENTS, VECTOR};
use crate::{Combine, Packed, RangeOp};
use std::ops::Range;

/// A word of each segment of a group.
pub(super) type Words = [u64; SEGMENTS];
/// A range test, spread over the fields of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test {
    /// Added to a word: D − low.
    pub from_low: u64,
    /// A word is subtracted from it: D + high.
    pub to_high: u64,
    /// D.
    pub delimiters: u64,
}

impl Test {
    fn new(fields: &Fields, (low, span): (u64, u64)) -> Test {
        let delimiter = 1 << (fields.width - 1);
        Test {
            from_low: fields.replicate(delimiter - low),
            to_high: fields.replicate(delimiter + low + span),
            delimiters: fields.replicate(delimiter),
        }
    }
}

/// What an instruction set brings: the match bits of a group's segments, by what the essay above says.
///
/// # Safety
/// The machine has the instruction set.
pub(super) trait Unit {
    /// For the vectors of a group.
    unsafe fn group(vectors: &[[u8; VECTOR]], test: Test) -> Words;
}

/// See [`super::between`]; codes of up to 31 bits.
///
/// # Safety
/// The machine has the unit.
#[inline(always)]
pub(super) unsafe fn between<U: Unit>(
    codes: Packed<'_>,
    rows: Range<usize>,
    op: RangeOp,
    span: (u64, u64),
    combine: Combine,
    out: &mut [u64],
) {
    let flip = match op {
        RangeOp::Inside => 0,
        RangeOp::Outside => !0,
    };
    // One loop each, so that the choice is not made per word.
    // SAFETY: by contract.
    unsafe {
        match combine {
            Combine::Replace => run::<U>(codes, rows, span, out, |_| false, |_, fresh| fresh ^ flip),
            Combine::And => {
                let and = |old, fresh| old & (fresh ^ flip);
                run::<U>(codes, rows, span, out, |old| old == 0, and)
            }
            Combine::Or => {
                let or = |old, fresh| old | (fresh ^ flip);
                run::<U>(codes, rows, span, out, |old| old == !0, or)
            }
        }
    }
}

/// Tests group by group. Nothing is done for a group of whose words each is `decided`: then it does not
/// matter what it is combined with (column-first, ByteSlice, section 3.1.2).
///
/// # Safety
/// The machine has the unit.
#[inline(always)]
unsafe fn run<U: Unit>(
    codes: Packed<'_>,
    rows: Range<usize>,
    span: (u64, u64),
    out: &mut [u64],
    decided: impl Fn(u64) -> bool,
    combine: impl Fn(u64, u64) -> u64,
) {
    let fields = *Fields::of(codes.bits);
    let test = Test::new(&fields, span);
    let (segment, group) = (fields.segment(), fields.group());
    let first = rows.start / group;
    // Match bits of rows of the first group that were not asked for.
    let mut before = rows.start % group;
    let groups = codes.bytes[first * fields.group_bytes()..].chunks_exact(fields.group_bytes());
    // The bits of the word to come, and how many they are.
    let (mut bits, mut filled, mut next) = (0u64, 0, 0);
    for group_bytes in groups {
        if next == out.len() {
            return;
        }
        let last = (next + group / 64 + 2).min(out.len());
        let matches = match out[next..last].iter().all(|&word| decided(word)) {
            true => [0; SEGMENTS],
            // SAFETY: by contract.
            false => unsafe { U::group(group_bytes.as_chunks().0, test) },
        };
        for matches in matches {
            let skip = before.min(segment);
            before -= skip;
            let (matches, count) = match skip == segment {
                true => continue,
                false => (matches >> skip, segment - skip),
            };
            bits |= matches << filled;
            filled += count;
            if filled >= 64 {
                let Some(word) = out.get_mut(next) else {
                    return;
                };
                *word = combine(*word, bits);
                next += 1;
                filled -= 64;
                // What did not fit: the `filled` top ones of the segment's `count`.
                bits = matches >> 1 >> (count - filled - 1);
            }
        }
    }
    if let Some(word) = out.get_mut(next) {
        *word = combine(*word, bits);
    }
}

/// See [`super::between`]; codes of more bits, which lie as they are. `inside` tests 64 of them.
#[inline(always)]
pub(super) fn between_words(
    codes: Packed<'_>,
    rows: Range<usize>,
    op: RangeOp,
    combine: Combine,
    out: &mut [u64],
    inside: impl Fn(&[u64; 64]) -> u64,
) {
    let flip = match op {
        RangeOp::Inside => 0,
        RangeOp::Outside => !0,
    };
    let mut buffer = [0; 64];
    let (groups, rest) = codes.bytes[rows.start * 8..].as_chunks::<512>();
    for (out, group) in out.iter_mut().zip(groups) {
        copy_words(group, &mut buffer);
        *out = combine.apply(*out, inside(&buffer) ^ flip);
    }
    if let Some(out) = out.get_mut(groups.len()) {
        copy_words(rest, &mut buffer);
        *out = combine.apply(*out, inside(&buffer) ^ flip);
    }
}

#[inline(always)]
fn copy_words(bytes: &[u8], out: &mut [u64; 64]) {
    for (out, word) in out.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *out = u64::from_le_bytes(*word);
    }
}
