//! The loop all vector units share: 64 values → one word of match bits.

use super::Combine;

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
        *word = combine(*word, test(group) ^ flip);
    }
    if let Some(word) = last.first_mut() {
        let mut group = [E::default(); 64];
        group[..rest.len()].copy_from_slice(rest);
        *word = combine(*word, test(&group) ^ flip) & !(!0 << rest.len());
    }
}
