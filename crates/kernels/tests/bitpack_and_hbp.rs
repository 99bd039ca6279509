//! Bit-packed and horizontally bit-parallel codes give what a plain array of codes gives: every width,
//! every instruction set of this machine, every test, every form of selection.

use frazil_kernels::{CodeWord, Combine, Isa, Packed, RangeOp, Selection};
use std::ops::Range;

const OPS: [RangeOp; 2] = [RangeOp::Inside, RangeOp::Outside];
const COMBINES: [Combine; 3] = [Combine::Replace, Combine::And, Combine::Or];
const LENGTHS: [usize; 9] = [0, 1, 63, 64, 65, 511, 512, 513, 5000];

/// A small generator of random words: fast, and the same on every run of a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn code(&mut self, bits: u32) -> u64 {
        let top = !0 >> (64 - bits);
        match self.below(8) {
            0 => 0,
            1 => top,
            2 => self.below(12) as u64 & top,
            _ => self.next() & top,
        }
    }

    /// Bits set with a density from none to all.
    fn bits(&mut self, len: usize) -> Vec<u64> {
        let density = [0, 1, 20, 128, 250, 256][self.below(6)];
        let mut words = vec![0u64; len.div_ceil(64)];
        for i in 0..len {
            words[i / 64] |= u64::from(self.below(256) < density) << (i % 64);
        }
        words
    }

    /// A range within `len` rows that begins at a multiple of 64.
    fn range(&mut self, len: usize) -> Range<usize> {
        let start = self.below(len / 64 + 1) * 64;
        start..start + self.below(len - start + 1)
    }
}

/// The functions of a layout.
macro_rules! layout_tests {
    ($layout:ident) => {
        mod $layout {
            use super::*;
            use frazil_kernels::$layout;

            fn packed(codes: &[u64], bits: u32) -> Vec<u8> {
                let mut bytes = vec![0xA5; $layout::bytes(codes.len(), bits)];
                assert_eq!(bytes.len() % 64, 0);
                $layout::pack(codes, bits, &mut bytes);
                bytes
            }

            fn each(mut check: impl FnMut(&mut Random, &[u64], Packed<'_>)) {
                for bits in 1..=64 {
                    for rows in LENGTHS {
                        let mut random = Random(bits as u64 * 10_000 + rows as u64);
                        let codes: Vec<u64> = (0..rows).map(|_| random.code(bits)).collect();
                        let bytes = packed(&codes, bits);
                        check(
                            &mut random,
                            &codes,
                            Packed {
                                bytes: &bytes,
                                rows,
                                bits,
                            },
                        );
                    }
                }
            }

            #[test]
            fn codes_are_got_one_by_one() {
                each(|_, codes, packed| {
                    for (row, &code) in codes.iter().enumerate() {
                        assert_eq!($layout::get(packed, row), code, "{packed:?} row {row}");
                    }
                });
            }

            #[test]
            fn rows_beyond_the_last_are_zero() {
                for bits in 1..=64 {
                    for rows in LENGTHS {
                        let bytes = packed(&vec![0; rows], bits);
                        assert!(bytes.iter().all(|&b| b == 0));
                    }
                }
            }

            #[test]
            fn ranges() {
                each(|random, codes, packed| {
                    for try_ in 0..4 {
                        let rows = match try_ {
                            0 => 0..codes.len(),
                            _ => random.range(codes.len()),
                        };
                        let (a, b) = (random.code(packed.bits), random.code(packed.bits));
                        let (low, high) = match try_ {
                            0 => (a.min(b), a.max(b)),
                            1 => (a, a),
                            2 => (a, u64::MAX - random.below(2) as u64),
                            _ => (a, b),
                        };
                        check_range(random, codes, packed, rows, low, high);
                    }
                });
            }

            fn check_range(
                random: &mut Random,
                codes: &[u64],
                packed: Packed<'_>,
                rows: Range<usize>,
                low: u64,
                high: u64,
            ) {
                let old = random.bits(rows.len());
                for op in OPS {
                    for combine in COMBINES {
                        let matches = |code: u64| (low <= code && code <= high) == (op == RangeOp::Inside);
                        let expected = expect(&codes[rows.clone()], &old, combine, matches);
                        for isa in Isa::available() {
                            let mut actual = old.clone();
                            $layout::between(
                                isa,
                                packed,
                                rows.clone(),
                                op,
                                low,
                                high,
                                combine,
                                &mut actual,
                            );
                            assert_eq!(
                                actual, expected,
                                "{isa} {} bits {rows:?} {op:?} {combine:?} {low}..={high}",
                                packed.bits
                            );
                        }
                    }
                }
            }

            #[test]
            fn sets() {
                each(|random, codes, packed| {
                    let rows = random.range(codes.len());
                    let len = random.below(1 << packed.bits.min(12)) + 1;
                    let set = random.bits(len);
                    let old = random.bits(rows.len());
                    for combine in COMBINES {
                        let matches = |code: u64| {
                            set.get((code / 64) as usize)
                                .is_some_and(|word| word >> (code % 64) & 1 == 1)
                        };
                        let expected = expect(&codes[rows.clone()], &old, combine, matches);
                        for isa in Isa::available() {
                            let mut actual = old.clone();
                            $layout::in_set(isa, packed, rows.clone(), &set, combine, &mut actual);
                            assert_eq!(
                                actual, expected,
                                "{isa} {} bits {rows:?} {combine:?}",
                                packed.bits
                            );
                        }
                    }
                });
            }

            #[test]
            fn selections() {
                each(|random, codes, packed| {
                    let start = random.below(codes.len() + 1);
                    let len = random.below(codes.len() - start + 1) as u32;
                    let words = random.bits(len as usize);
                    let rows = random.bits(codes.len());
                    let positions: Vec<u16> = Selection::Bits {
                        words: &rows,
                        start: 0,
                        len: codes.len() as u32,
                    }
                    .rows()
                    .map(|row| row as u16)
                    .collect();
                    let start = start as u32;
                    for selection in [
                        Selection::All {
                            start: 0,
                            len: codes.len() as u32,
                        },
                        Selection::All { start, len },
                        Selection::Bits {
                            words: &words,
                            start,
                            len,
                        },
                        Selection::Bits {
                            words: &rows,
                            start: 0,
                            len: codes.len() as u32,
                        },
                        Selection::Positions(&positions),
                    ] {
                        check_unpack::<u8>(codes, packed, selection);
                        check_unpack::<u16>(codes, packed, selection);
                        check_unpack::<u32>(codes, packed, selection);
                        check_unpack::<u64>(codes, packed, selection);
                    }
                });
            }

            fn check_unpack<C: CodeWord>(codes: &[u64], packed: Packed<'_>, selection: Selection<'_>) {
                if packed.bits > size_of::<C>() as u32 * 8 {
                    return;
                }
                let expected: Vec<C> = selection
                    .rows()
                    .map(|row| C::from_u64(codes[row]))
                    .collect();
                for isa in Isa::available() {
                    for room in [0, 1, 100] {
                        let mut actual = vec![C::from_u64(0xEE); expected.len() + room];
                        let count = $layout::unpack(isa, packed, selection, &mut actual);
                        assert_eq!(count, expected.len());
                        assert_eq!(
                            actual[..count],
                            expected,
                            "{isa} {} bits {} rows",
                            packed.bits,
                            packed.rows
                        );
                    }
                }
            }
        }
    };
}

layout_tests!(bitpack);
layout_tests!(hbp);

fn expect(codes: &[u64], old: &[u64], combine: Combine, matches: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut fresh = vec![0u64; codes.len().div_ceil(64)];
    for (i, &code) in codes.iter().enumerate() {
        fresh[i / 64] |= u64::from(matches(code)) << (i % 64);
    }
    fresh
        .iter()
        .zip(old)
        .map(|(&fresh, &old)| combine.apply(old, fresh))
        .collect()
}
