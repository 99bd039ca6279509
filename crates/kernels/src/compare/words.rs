//! The loop all vector units share: 64 values → one word of match bits.

use super::Combine;
use crate::CodeWord;

/// Forms of a test, told to kernels as a constant: `v - low <= span`.
pub(crate) const INSIDE: u8 = 0;
/// `v <= span`.
pub(crate) const AT_MOST: u8 = 1;
/// `v == span`.
pub(crate) const EQUAL: u8 = 2;

/// A range of words that is tested without a subtraction, if it is one.
pub(super) enum Form<W> {
    /// It begins at 0 and ends here.
    AtMost(W),
    /// It ends at the largest word and begins behind this one.
    MoreThan(W),
    /// It is this word.
    Equal(W),
    /// None of these.
    Inside,
}

/// The form of a test `v - low <= span`.
#[inline(always)]
pub(super) fn form<W: CodeWord>(low: W, span: W) -> Form<W> {
    let top = W::from_u64(!0);
    if span == W::default() {
        Form::Equal(low)
    } else if low == W::default() {
        Form::AtMost(span)
    } else if span == top.wrapping_minus(low) {
        Form::MoreThan(low.wrapping_minus(W::from_u64(1)))
    } else {
        Form::Inside
    }
}

/// Writes the match bits of `values`, inverted by `flip`, into `out`. `test` yields the bits of 64
/// values; the last, incomplete 64 are padded with zeros and cut off afterwards.
#[inline(always)]
pub(super) fn match_words<E: Copy + Default>(
    values: &[E],
    test: impl Fn(&[E; 64]) -> u64,
    flip: u64,
    combine: Combine,
    out: &mut [u64],
) {
    // One loop each, so that the choice is not made per word.
    match combine {
        Combine::Replace => run(values, test, flip, |_, fresh| fresh, out),
        Combine::And => run(values, test, flip, |old, fresh| old & fresh, out),
        Combine::Or => run(values, test, flip, |old, fresh| old | fresh, out),
    }
}

#[inline(always)]
fn run<E: Copy + Default>(
    values: &[E],
    test: impl Fn(&[E; 64]) -> u64,
    flip: u64,
    combine: impl Fn(u64, u64) -> u64,
    out: &mut [u64],
) {
    let (groups, rest) = values.as_chunks::<64>();
    let (full, last) = out.split_at_mut(groups.len());
    for (word, group) in full.iter_mut().zip(groups) {
        write_word(word, combine(*word, test(group) ^ flip));
    }
    if let Some(word) = last.first_mut() {
        let mut group = [E::default(); 64];
        group[..rest.len()].copy_from_slice(rest);
        *word = combine(*word, test(&group) ^ flip) & !(!0 << rest.len());
    }
}

/// Writes a word of match bits that comes from mask registers. Volatile, lest the compiler collects words,
/// or the masks they are joined from, in a vector register first, which takes longer than the test.
#[inline(always)]
pub(crate) fn write_word(word: &mut u64, bits: u64) {
    // SAFETY: the word is borrowed for writing.
    unsafe { std::ptr::from_mut(word).write_volatile(bits) }
}
