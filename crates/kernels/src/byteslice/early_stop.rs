//! What early stopping brings (ByteSlice, section 3.1.1): an instrument that counts how much of the slices algorithm
//! 1 reads, on registers of any width and running on none, and the test without early stopping. (The kernels may read
//! more of the second slice, where that is quicker than to stop before it.)

use super::bounds::Bounds;
use super::slices::Slices;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::isa::dispatch;
use crate::packed::CodeRange;
use crate::{Combine, Isa, Kernel, Packed, RangeOp, counters};
use std::ops::Range;

/// Bytes of slices that a test of `rows`, which begin at a multiple of 64, against `low..=high` reads on
/// registers of `register_bits` bits: a byte a code and slice, until no code of the register is
/// undecided. `low > high` and ranges of all codes read nothing. Whether the inside or the outside of
/// the range matches makes no difference.
pub fn between_counting(
    codes: Packed<'_>,
    rows: Range<usize>,
    low: u64,
    high: u64,
    register_bits: usize,
) -> u64 {
    let slices = Slices::of(codes);
    assert!(rows.end <= codes.rows, "rows beyond the codes");
    let range = CodeRange::of(low, high, codes.bits);
    if matches!(range, CodeRange::Nothing | CodeRange::Everything) {
        return 0;
    }
    let bounds = Bounds::of(&slices, range);
    let step = register_bits / 8;
    rows.clone()
        .step_by(step)
        .map(|start| slices_read(slices, start..rows.end.min(start + step), range, &bounds) * step as u64)
        .sum()
}

/// Slices that are read before every code of a register is decided.
fn slices_read(codes: Slices<'_>, rows: Range<usize>, range: CodeRange, bounds: &Bounds) -> u64 {
    let (at_low, at_high) = match range {
        CodeRange::AtMost(_) => (false, true),
        CodeRange::AtLeast(_) => (true, false),
        _ => (true, true),
    };
    for read in 1..bounds.count {
        let starts_as = |row: usize, bound: &[u8]| (0..read).all(|j| codes.slice(j)[row] == bound[j]);
        let is_undecided =
            |row: usize| (at_low && starts_as(row, &bounds.low)) || (at_high && starts_as(row, &bounds.high));
        if !rows.clone().any(is_undecided) {
            return read as u64;
        }
    }
    bounds.count as u64
}

/// As [`super::between`], reading of every row all slices that decide anything. For experiments.
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of every layout's range test"
)]
pub fn between_reading_all(
    isa: Isa,
    codes: Packed<'_>,
    rows: Range<usize>,
    op: RangeOp,
    low: u64,
    high: u64,
    combine: Combine,
    out: &mut [u64],
) {
    let slices = Slices::of(codes);
    let range = CodeRange::of(low, high, codes.bits);
    if slices.count == 1 || matches!(range, CodeRange::Nothing | CodeRange::Everything) {
        return super::between(isa, codes, rows, op, low, high, combine, out);
    }
    codes.check_rows(&rows, out);
    let isa = counters::enter(Kernel::ByteSlice, isa);
    dispatch!(
        isa,
        between_reading_all(slices, rows, range, op, combine, out),
        otherwise super::between(isa, codes, rows, op, low, high, combine, out),
    )
}

#[cfg(test)]
mod tests {
    use super::super::{between, bytes, pack};
    use super::*;

    /// Bits a code that equation 2 expects to be read on registers of `register_bits` bits.
    fn expected(bits: u32, register_bits: i32) -> f64 {
        let stopped_after = |slices: i32| (1.0 - 0.5f64.powi(8 * slices)).powi(register_bits / 8);
        let slices = 1.0
            + (1..bits.div_ceil(8) as i32)
                .map(|t| 1.0 - stopped_after(t))
                .sum::<f64>();
        8.0 * slices
    }

    fn uniform(rows: usize, bits: u32) -> Vec<u64> {
        let mut state = 7u64;
        let next = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state ^ state >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> (64 - bits)
        };
        (0..rows).map(next).collect()
    }

    #[test]
    fn uniform_codes_are_read_as_equation_2_expects() {
        assert!((expected(32, 256) - 8.94).abs() < 0.01);
        assert!((expected(32, 512) - 9.78).abs() < 0.01);
        let rows = 1 << 16;
        let bits = 32;
        let codes = uniform(rows, bits);
        let mut packed = vec![0; bytes(rows, bits)];
        pack(&codes, bits, &mut packed);
        let codes = Packed {
            bytes: &packed,
            rows,
            bits,
        };
        for register_bits in [256, 512] {
            let read: u64 = (0..40u64)
                .map(|i| i * 0x0612_3457 + 0x0123_4567)
                .map(|code| between_counting(codes, 0..rows, code, code, register_bits))
                .sum();
            let bits_a_code = read as f64 * 8.0 / (40.0 * rows as f64);
            let expected = expected(bits, register_bits as i32);
            assert!(
                (bits_a_code - expected).abs() < 0.05,
                "{bits_a_code}, expected {expected}"
            );
        }
    }

    #[test]
    fn slices_that_decide_nothing_are_not_read() {
        let mut packed = vec![0; bytes(512, 24)];
        pack(&[0x12_3456; 512], 24, &mut packed);
        let codes = Packed {
            bytes: &packed,
            rows: 512,
            bits: 24,
        };
        let read = |low, high| between_counting(codes, 0..512, low, high, 512) / 512;
        assert_eq!(read(0, u64::MAX), 0);
        assert_eq!(read(9, 8), 0);
        assert_eq!(read(0x13_0000, 0x13_5555), 1);
        assert_eq!(read(0x12_3400, 0x12_34FF), 2);
        assert_eq!(read(0, 0x12_FFFF), 1);
        assert_eq!(read(0x12_0000, u64::MAX), 1);
        assert_eq!(read(0x12_3457, u64::MAX), 3);
        assert_eq!(read(0, 0x12_3455), 3);
        assert_eq!(read(0x12_3456, 0x12_3456), 3);
    }

    #[test]
    fn reading_all_slices_finds_the_same_rows() {
        for bits in [8, 12, 24, 33, 64] {
            let rows = 5_000;
            let codes: Vec<u64> = uniform(rows, bits);
            let mut packed = vec![0; bytes(rows, bits)];
            pack(&codes, bits, &mut packed);
            let codes_in_slices = Packed {
                bytes: &packed,
                rows,
                bits,
            };
            let (low, high) = (codes[7].min(codes[8]), codes[7].max(codes[8]));
            for (low, high) in [(low, high), (0, high), (low, u64::MAX), (low, low), (2, 1)] {
                for isa in Isa::available() {
                    let (op, combine) = (RangeOp::Inside, Combine::Replace);
                    let test = |kernel: RangeTest| {
                        let mut out = vec![0; rows.div_ceil(64)];
                        kernel(isa, codes_in_slices, 0..rows, op, low, high, combine, &mut out);
                        out
                    };
                    assert_eq!(
                        test(between_reading_all),
                        test(between),
                        "{isa} {bits} {low} {high}"
                    );
                }
            }
        }
    }

    type RangeTest = fn(Isa, Packed<'_>, Range<usize>, RangeOp, u64, u64, Combine, &mut [u64]);
}
