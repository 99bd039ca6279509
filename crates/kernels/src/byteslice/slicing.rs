//! The two ways to slice codes that the paper weighs against its own, to weigh them again: range tests
//! and single codes only, for experiments. Blocks have slices of bytes.

#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use super::{scalar, slices::Slices, slices::stride};
use crate::isa::dispatch;
use crate::packed::{CodeRange, match_all_or_none};
use crate::vbp::{self, planes::Planes};
use crate::{Combine, Isa, Kernel, Packed, RangeOp, counters};
use std::ops::Range;

/// How the bits of a code are dealt to slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slicing {
    /// A byte to each slice, the last one padded: option 1 of section 3.1.1, what the layout is.
    Bytes,
    /// A byte to each slice as long as eight bits are left; the rest stands bit by bit in planes as those
    /// of [`vbp`]: option 2 of section 3.1.1. No bit is lost to padding, but a test that reads to
    /// the end has two kinds of data to read, and so has a look-up.
    VerticalTail,
    /// Two bytes to each slice, the last one padded: appendix A. Half the rows in a vector, half the
    /// slices.
    Pairs,
}

impl Slicing {
    /// Every one.
    pub const ALL: [Slicing; 3] = [Slicing::Bytes, Slicing::VerticalTail, Slicing::Pairs];
}

/// Size of `rows` codes of `bits` bits.
pub fn bytes(slicing: Slicing, rows: usize, bits: u32) -> usize {
    match slicing {
        Slicing::Bytes => super::bytes(rows, bits),
        Slicing::VerticalTail => bits as usize / 8 * stride(rows) + vbp::bytes(rows, bits % 8),
        Slicing::Pairs => bits.div_ceil(16) as usize * 2 * stride(rows),
    }
}

/// As [`super::pack`].
pub fn pack(slicing: Slicing, codes: &[u64], bits: u32, out: &mut [u8]) {
    assert_eq!(
        out.len(),
        bytes(slicing, codes.len(), bits),
        "bytes of sliced codes"
    );
    match slicing {
        Slicing::Bytes => super::pack(codes, bits, out),
        Slicing::VerticalTail if bits.is_multiple_of(8) => super::pack(codes, bits, out),
        Slicing::VerticalTail => {
            // The first slices are those of padded codes.
            let (slices, tail) = out.split_at_mut(bits as usize / 8 * stride(codes.len()));
            scalar::pack(codes, bits, slices);
            vbp::pack(codes, bits % 8, tail);
        }
        Slicing::Pairs => {
            let padding = bits.next_multiple_of(16) - bits;
            let slices = out.chunks_mut(2 * stride(codes.len()).max(1)).rev();
            for (j, slice) in slices.enumerate() {
                slice.fill(0);
                for (pair, code) in slice.as_chunks_mut().0.iter_mut().zip(codes) {
                    *pair = ((code << padding >> (16 * j)) as u16).to_le_bytes();
                }
            }
        }
    }
}

/// The codes in slices of a column with a tail in planes, and the tail.
fn parts(codes: Packed<'_>) -> (Packed<'_>, Packed<'_>) {
    let (slices, tail) = codes.bytes.split_at(codes.bits as usize / 8 * stride(codes.rows));
    let part = |bytes, bits| Packed {
        rows: codes.rows,
        bytes,
        bits,
    };
    (part(slices, codes.bits / 8 * 8), part(tail, codes.bits % 8))
}

/// As [`super::between`].
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of every layout's range test, and the slicing"
)]
pub fn between(
    isa: Isa,
    slicing: Slicing,
    codes: Packed<'_>,
    rows: Range<usize>,
    op: RangeOp,
    low: u64,
    high: u64,
    combine: Combine,
    out: &mut [u64],
) {
    match slicing {
        Slicing::Bytes => return super::between(isa, codes, rows, op, low, high, combine, out),
        // All in planes, or nothing.
        Slicing::VerticalTail if codes.bits < 8 => {
            return vbp::between(isa, codes, rows, op, low, high, combine, out);
        }
        Slicing::VerticalTail if codes.bits.is_multiple_of(8) => {
            return super::between(isa, codes, rows, op, low, high, combine, out);
        }
        Slicing::VerticalTail | Slicing::Pairs => codes.check_rows(&rows, out),
    }
    let isa = counters::enter(Kernel::ByteSlice, isa);
    let bounds = (low, high.min(codes.top()));
    let code = |row| get(slicing, codes, row);
    match CodeRange::of(low, high, codes.bits) {
        CodeRange::Nothing => match_all_or_none(op == RangeOp::Outside, rows.len(), combine, out),
        CodeRange::Everything => match_all_or_none(op == RangeOp::Inside, rows.len(), combine, out),
        range if slicing == Slicing::Pairs => {
            let slices = Slices::of_pairs(codes);
            dispatch!(
                isa,
                between_pairs(slices, rows, range, op, combine, out),
                otherwise scalar::between(code, rows, bounds, op, combine, out),
            );
        }
        _ => {
            let (slices, tail) = parts(codes);
            let (slices, tail) = (Slices::of(slices), Planes::of(tail));
            dispatch!(
                isa,
                between_with_tail(slices, tail, rows, bounds, op, combine, out),
                otherwise scalar::between(code, rows, bounds, op, combine, out),
            );
        }
    }
}

/// As [`super::get`].
pub fn get(slicing: Slicing, codes: Packed<'_>, row: usize) -> u64 {
    match slicing {
        Slicing::Bytes => super::get(codes, row),
        Slicing::VerticalTail if codes.bits < 8 => vbp::get(codes, row),
        Slicing::VerticalTail if codes.bits.is_multiple_of(8) => super::get(codes, row),
        Slicing::VerticalTail => {
            let (slices, tail) = parts(codes);
            super::get(slices, row) << tail.bits | vbp::get(tail, row)
        }
        Slicing::Pairs => {
            assert!(row < codes.rows, "row beyond the column");
            Slices::of_pairs(codes).code_of_pairs(row)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::top;

    /// Codes of which some are spread out and some are close to `centre`.
    fn codes(rows: usize, bits: u32, centre: u64) -> Vec<u64> {
        let mut state = u64::from(bits) + 1;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 31
        };
        let mut code = |i| match i % 3 {
            0 => next() & top(bits),
            _ => centre.wrapping_add(next() % 9) & top(bits),
        };
        (0..rows).map(&mut code).collect()
    }

    #[test]
    fn every_slicing_finds_the_same_rows() {
        for (bits, slicing) in (1..=64).flat_map(|bits| Slicing::ALL.map(|slicing| (bits, slicing))) {
            for rows in [0, 1, 64, 700] {
                let centre = 0x0123_4567_89AB_CDEF & top(bits);
                let codes = codes(rows, bits, centre);
                let mut packed = vec![0xA5; bytes(slicing, rows, bits)];
                pack(slicing, &codes, bits, &mut packed);
                let column = Packed {
                    bytes: &packed,
                    rows,
                    bits,
                };
                let got: Vec<u64> = (0..rows).map(|row| get(slicing, column, row)).collect();
                assert_eq!(got, codes, "{slicing:?} {bits}");
                let up = centre.saturating_add(4);
                for range in [
                    (centre, up),
                    (centre, centre),
                    (0, centre),
                    (centre, u64::MAX),
                    (2, 1),
                ] {
                    check(slicing, column, &codes, range);
                }
            }
        }
    }

    fn check(slicing: Slicing, column: Packed<'_>, codes: &[u64], (low, high): (u64, u64)) {
        let inside = |code| low <= code && code <= high;
        for (isa, combine) in Isa::available()
            .into_iter()
            .flat_map(|isa| [Combine::Replace, Combine::And, Combine::Or].map(|combine| (isa, combine)))
        {
            for op in [RangeOp::Inside, RangeOp::Outside] {
                let old = 0x0F0F_FFFF_0000_5555;
                let mut out = vec![old; codes.len().div_ceil(64)];
                between(
                    isa,
                    slicing,
                    column,
                    0..codes.len(),
                    op,
                    low,
                    high,
                    combine,
                    &mut out,
                );
                for (row, &code) in codes.iter().enumerate() {
                    let fresh = u64::from(inside(code) == (op == RangeOp::Inside));
                    let expected = combine.apply(old >> (row % 64) & 1, fresh);
                    let what = (isa, slicing, column.bits, row, low, high, op, combine);
                    assert_eq!(out[row / 64] >> (row % 64) & 1, expected, "{what:?}");
                }
            }
        }
    }
}
