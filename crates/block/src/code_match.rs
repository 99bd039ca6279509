//! Code ranges against a window: each becomes one test of a kernel, or a few that are joined.

use crate::code_range::CodeRange;
use frazil_kernels::{CodeWord, Combine, Comparable, Isa, RangeOp, compare};

/// Tests codes against a code range.
pub(crate) fn match_range<C: CodeWord + Comparable>(
    isa: Isa,
    codes: &[C],
    wanted: &CodeRange,
    combine: Combine,
    bits: &mut [u64],
    scratch: &mut Vec<u64>,
) {
    match wanted {
        CodeRange::Set(set) => compare::in_set(isa, codes, set, combine, bits),
        other => match_values(isa, codes, other, C::from_u64, combine, bits, scratch),
    }
}

/// Tests values against ranges of ordinals, `of` being the value of an ordinal.
pub(crate) fn match_values<T: Comparable>(
    isa: Isa,
    values: &[T],
    wanted: &CodeRange,
    of: impl Fn(u64) -> T,
    combine: Combine,
    bits: &mut [u64],
    scratch: &mut Vec<u64>,
) {
    let rows = values.len();
    match_ranges(
        wanted,
        rows,
        combine,
        bits,
        scratch,
        |op, low, high, combine, bits| {
            compare::between(isa, values, op, of(low), of(high), combine, bits);
        },
    );
}

/// Tests `rows` rows against a code range by tests of single ranges.
pub(crate) fn match_ranges(
    wanted: &CodeRange,
    rows: usize,
    combine: Combine,
    bits: &mut [u64],
    scratch: &mut Vec<u64>,
    mut test: impl FnMut(RangeOp, u64, u64, Combine, &mut [u64]),
) {
    match wanted {
        CodeRange::Range(low, high) => test(RangeOp::Inside, *low, *high, combine, bits),
        CodeRange::Except(low, high) => test(RangeOp::Outside, *low, *high, combine, bits),
        CodeRange::Ranges(ranges) => any_of(ranges, combine, bits, scratch, |&(low, high), combine, bits| {
            test(RangeOp::Inside, low, high, combine, bits);
        }),
        CodeRange::All => (0..bits.len()).for_each(|i| {
            let rows = (rows - i * 64).min(64);
            bits[i] = combine.apply(bits[i], !0 >> (64 - rows));
        }),
        // Sets exist of narrow codes alone, and those have kernels of their own.
        CodeRange::None | CodeRange::Set(_) => {
            bits.iter_mut().for_each(|b| *b = combine.apply(*b, 0));
        }
    }
}

/// The union of several tests, combined with the bits.
pub(crate) fn any_of<R>(
    ranges: &[R],
    combine: Combine,
    bits: &mut [u64],
    scratch: &mut Vec<u64>,
    mut test: impl FnMut(&R, Combine, &mut [u64]),
) {
    if combine != Combine::And {
        let mut combine = combine;
        for range in ranges {
            test(range, combine, bits);
            combine = Combine::Or;
        }
        return;
    }
    scratch.clear();
    scratch.resize(bits.len(), 0);
    for range in ranges {
        test(range, Combine::Or, scratch);
    }
    bits.iter_mut().zip(scratch).for_each(|(b, s)| *b &= *s);
}

/// 64 bits from bit `at` on, zero beyond the end.
pub(crate) fn shifted_word(words: &[u64], at: usize) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    let get = |i: usize| words.get(i).copied().unwrap_or(0);
    if shift == 0 {
        get(word)
    } else {
        get(word) >> shift | get(word + 1) << (64 - shift)
    }
}

/// Clears the bits beyond `rows`.
pub(crate) fn clear_tail(bits: &mut [u64], rows: usize) {
    if !rows.is_multiple_of(64)
        && let Some(last) = bits.last_mut()
    {
        *last &= (1 << (rows % 64)) - 1;
    }
}

/// Sets the bits of `rows` rows and no others.
pub(crate) fn set_all(bits: &mut [u64], rows: usize) {
    bits.fill(!0);
    clear_tail(bits, rows);
}

/// Inverts the bits of `rows` rows.
pub(crate) fn negate(bits: &mut [u64], rows: usize) {
    bits.iter_mut().for_each(|b| *b = !*b);
    clear_tail(bits, rows);
}
