//! Sorts entries by their words, digit by digit.

use super::{Entry, WORD};
use crate::breakers::sorter::sorted_rows::{polling, unless_canceled};
use frazil_types::{Cancel, Result};

/// Most bits of a digit by which a bucket's entries are sorted, and most values that a digit has.
const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;
/// Fewer entries are sorted by comparisons: a pass clears and sums up 256 counts.
pub(super) const FEWEST_BY_DIGITS: usize = 128;
/// Words that differ in more digits are sorted by comparisons.
const MOST_PASSES: u32 = 6;

/// Sorts entries by their words; those of equal words stay in their order. `spare` has as many entries, of any value,
/// unless all words are equal. Error 57014.
///
/// This is a radix sort from the lowest digit up, of the bits in which words differ.
pub(super) fn sort_words(entries: &mut [Entry], spare: &mut [Entry], cancel: &Cancel) -> Result<()> {
    let Some(first) = entries.first().map(|entry| entry.key) else {
        return Ok(());
    };
    let differing = entries.iter().fold(0, |bits, entry| bits | (entry.key ^ first));
    let lowest = differing.trailing_zeros();
    let bits = (WORD - differing.leading_zeros()).saturating_sub(lowest);
    let passes = bits.div_ceil(DIGIT);
    if differing == 0 || entries.is_sorted_by_key(|entry| entry.key) {
        return Ok(());
    }
    let is_counted = (FEWEST_BY_DIGITS..u32::MAX as usize).contains(&entries.len());
    if !is_counted || passes > MOST_PASSES {
        return unless_canceled(cancel, || {
            entries.sort_by(polling(cancel, |a: &Entry, b: &Entry| a.key.cmp(&b.key)));
        });
    }
    let digit = Digit {
        lowest,
        bits: bits.div_ceil(passes),
    };
    let passes = passes as usize;
    let mut counts = [[0_u32; DIGITS]; MOST_PASSES as usize];
    for entry in &*entries {
        for (pass, counts) in counts[..passes].iter_mut().enumerate() {
            counts[digit.of(entry, pass)] += 1;
        }
    }
    let spare = &mut spare[..entries.len()];
    let mut is_in_spare = false;
    for (pass, counts) in counts[..passes].iter_mut().enumerate() {
        if counts[digit.of(&entries[0], pass)] as usize == entries.len() {
            continue;
        }
        cancel.check()?;
        let by_digit = |entry: &Entry| digit.of(entry, pass);
        match is_in_spare {
            false => sort_by_digit(entries, spare, counts, by_digit),
            true => sort_by_digit(spare, entries, counts, by_digit),
        }
        is_in_spare = !is_in_spare;
    }
    if is_in_spare {
        entries.copy_from_slice(spare);
    }
    Ok(())
}

/// The digits of words: those of a pass follow those of the pass before it.
#[derive(Clone, Copy)]
struct Digit {
    /// The lowest bit of the lowest digit.
    lowest: u32,
    /// Bits of each digit.
    bits: u32,
}

impl Digit {
    #[inline(always)]
    fn of(self, entry: &Entry, pass: usize) -> usize {
        let shift = self.lowest + pass as u32 * self.bits;
        entry.key.unbounded_shr(shift) as usize & ((1 << self.bits) - 1) & (DIGITS - 1)
    }
}

/// Writes entries to `to`, which has as many places, in the order of a digit of their words. `counts[d]`
/// entries have the digit `d`; the counts are scratch afterwards.
fn sort_by_digit(
    from: &[Entry],
    to: &mut [Entry],
    counts: &mut [u32; DIGITS],
    digit: impl Fn(&Entry) -> usize,
) {
    let mut next = 0;
    for place in counts.iter_mut() {
        next += std::mem::replace(place, next);
    }
    for entry in from {
        let place = &mut counts[digit(entry)];
        to[*place as usize] = *entry;
        *place += 1;
    }
}
