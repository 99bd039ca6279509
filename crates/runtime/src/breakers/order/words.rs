//! Sorts entries by their words, digit by digit.

use super::{Entry, WORD};
use crate::breakers::sorter::sorted_rows::{polling, unless_canceled};
use frazil_types::{Cancel, Result};

/// Bits of a digit by which a bucket's entries are sorted, and the values that a digit has.
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
    let passes = (WORD - differing.leading_zeros())
        .saturating_sub(lowest)
        .div_ceil(DIGIT);
    if differing == 0 || entries.is_sorted_by_key(|entry| entry.key) {
        return Ok(());
    }
    if entries.len() < FEWEST_BY_DIGITS || passes > MOST_PASSES {
        return unless_canceled(cancel, || {
            entries.sort_by(polling(cancel, |a: &Entry, b: &Entry| a.key.cmp(&b.key)));
        });
    }
    let spare = &mut spare[..entries.len()];
    let mut is_in_spare = false;
    for shift in (lowest..).step_by(DIGIT as usize).take(passes as usize) {
        if differing >> shift & (DIGITS as u64 - 1) == 0 {
            continue;
        }
        cancel.check()?;
        match is_in_spare {
            false => sort_by_digit(entries, spare, shift),
            true => sort_by_digit(spare, entries, shift),
        }
        is_in_spare = !is_in_spare;
    }
    if is_in_spare {
        entries.copy_from_slice(spare);
    }
    Ok(())
}

/// Writes entries to `to`, which has as many places, in the order of a digit of their words.
fn sort_by_digit(from: &[Entry], to: &mut [Entry], shift: u32) {
    let digit = |entry: &Entry| (entry.key >> shift) as usize & (DIGITS - 1);
    let mut places = [0_usize; DIGITS];
    from.iter().for_each(|entry| places[digit(entry)] += 1);
    let mut next = 0;
    for place in &mut places {
        next += std::mem::replace(place, next);
    }
    for entry in from {
        let place = &mut places[digit(entry)];
        to[*place] = *entry;
        *place += 1;
    }
}
