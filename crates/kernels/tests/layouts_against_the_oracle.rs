//! Every layout gives back what was packed and finds what a vector of codes holds: every width of
//! code, every instruction set, whole and partial segments, every way to select and to combine.
//!
//! A layout is a line in the list below.

use frazil_kernels::bitpack::{FRAME, unpack_frames};
use frazil_kernels::packed::top;
use frazil_kernels::{CodeWord, Combine, Isa, Kernel, Packed, RangeOp, Selection, counters};
use frazil_testkit::Random;
use std::ops::Range;

const OPS: [RangeOp; 2] = [RangeOp::Inside, RangeOp::Outside];
const COMBINES: [Combine; 3] = [Combine::Replace, Combine::And, Combine::Or];
const LENGTHS: [usize; 9] = [0, 1, 63, 64, 65, 511, 512, 513, 5000];

type Unpack<C> = fn(Isa, Packed<'_>, Selection<'_>, &mut [C]) -> usize;
type Between = fn(Isa, Packed<'_>, Range<usize>, RangeOp, u64, u64, Combine, &mut [u64]);
type InSet = fn(Isa, Packed<'_>, Range<usize>, &[u64], Combine, &mut [u64]);

/// The functions of a layout.
struct Layout {
    kernel: Kernel,
    bytes: fn(usize, u32) -> usize,
    pack: fn(&[u64], u32, &mut [u8]),
    between: Between,
    in_set: InSet,
    unpack8: Unpack<u8>,
    unpack16: Unpack<u16>,
    unpack32: Unpack<u32>,
    unpack64: Unpack<u64>,
    get: fn(Packed<'_>, usize) -> u64,
}

macro_rules! layouts {
    ($($module:ident: $kernel:ident;)*) => {
        $(
            mod $module {
                use frazil_kernels::{$module as layout, Kernel};

                pub const LAYOUT: super::Layout = super::Layout {
                    kernel: Kernel::$kernel,
                    bytes: layout::bytes,
                    pack: layout::pack,
                    between: layout::between,
                    in_set: layout::in_set,
                    unpack8: layout::unpack,
                    unpack16: layout::unpack,
                    unpack32: layout::unpack,
                    unpack64: layout::unpack,
                    get: layout::get,
                };

                #[test]
                fn gives_back_every_code() {
                    super::gives_back_every_code(&LAYOUT);
                }

                #[test]
                fn unpacks_selections() {
                    super::unpacks_selections(&LAYOUT);
                }

                #[test]
                fn tests_ranges() {
                    super::tests_ranges(&LAYOUT);
                }

                #[test]
                fn tests_stretches() {
                    super::tests_stretches(&LAYOUT);
                }

                #[test]
                fn tests_sets() {
                    super::tests_sets(&LAYOUT);
                }

                #[test]
                fn runs_where_it_is_told() {
                    super::runs_where_it_is_told(&LAYOUT);
                }
            }
        )*
    };
}

layouts! {
    bitpack: BitPacked;
    byteslice: ByteSlice;
    hbp: Hbp;
    vbp: Vbp;
}

/// Bits set with a density from none to all; whole words of either kind are frequent.
fn random_bits(random: &mut Random, len: usize) -> Vec<u64> {
    let density = [0, 2, 20, 128, 250, 256][random.index(6)];
    let mut words = vec![0u64; len.div_ceil(64)];
    for word in &mut words {
        let density = [0, 256, density, density][random.index(4)];
        for i in 0..64 {
            *word |= u64::from(random.index(256) < density) << i;
        }
    }
    words
}

/// Rows of `0..len`, ascending, each with the probability of one in `step`.
fn random_positions(random: &mut Random, len: usize, step: usize) -> Vec<u16> {
    (0..len as u16).filter(|_| random.index(step) == 0).collect()
}

/// Codes that are spread out, or close to each other, or at the ends.
fn random_codes(random: &mut Random, len: usize, bits: u32) -> Vec<u64> {
    let (centre, top) = (random.bits() & top(bits), top(bits));
    let spread = random.index(3);
    (0..len)
        .map(|_| match (spread, random.index(16)) {
            (_, 0) => 0,
            (_, 1) => top,
            (_, 2) => centre,
            (0, _) => random.bits() & top,
            (1, _) => centre.wrapping_add(random.bits() % 7).wrapping_sub(3) & top,
            _ => centre ^ (1 << (random.bits() % u64::from(bits))),
        })
        .collect()
}

/// Codes and their bytes in a layout.
struct Column {
    codes: Vec<u64>,
    bytes: Vec<u8>,
    bits: u32,
}

impl Column {
    fn new(layout: &Layout, codes: Vec<u64>, bits: u32) -> Column {
        let mut bytes = vec![0xA5; (layout.bytes)(codes.len(), bits)];
        assert_eq!(bytes.len() % 64, 0, "{bits} bits, {} rows", codes.len());
        (layout.pack)(&codes, bits, &mut bytes);
        Column { codes, bytes, bits }
    }

    fn packed(&self) -> Packed<'_> {
        Packed {
            bytes: &self.bytes,
            rows: self.codes.len(),
            bits: self.bits,
        }
    }
}

/// Columns of every width and length, the random ones from a seed of their own.
fn columns(layout: &Layout, mut check: impl FnMut(&Column, &mut Random)) {
    for bits in 1..=64 {
        for len in LENGTHS {
            let mut random = Random::new(u64::from(bits) << 32 | len as u64);
            let codes = random_codes(&mut random, len, bits);
            check(&Column::new(layout, codes, bits), &mut random);
        }
    }
}

fn gives_back_every_code(layout: &Layout) {
    columns(layout, |column, _| {
        let packed = column.packed();
        let codes: Vec<u64> = (0..packed.rows).map(|row| (layout.get)(packed, row)).collect();
        assert_eq!(codes, column.codes, "{} bits", column.bits);
        let mut again = vec![0; column.bytes.len()];
        (layout.pack)(&column.codes, column.bits, &mut again);
        assert_eq!(
            again, column.bytes,
            "what was there shows through: {} bits",
            column.bits
        );
        for isa in Isa::available() {
            let all = Selection::all(0..packed.rows as u32);
            check_unpack(layout, isa, column, all);
        }
    });
}

fn unpacks_selections(layout: &Layout) {
    columns(layout, |column, random| {
        let rows = column.codes.len();
        let start = random.index(rows);
        let len = random.index(rows - start + 1) as u32;
        let start = start as u32;
        let some = random_bits(random, len as usize);
        let words: &[u64] = &some;
        let positions = [1, 3, 40, 500].map(|step| random_positions(random, rows, step));
        let selections = [
            Selection::all(start..start + len),
            Selection::Bits { words, start, len },
            Selection::Positions(&positions[0]),
            Selection::Positions(&positions[1]),
            Selection::Positions(&positions[2]),
            Selection::Positions(&positions[3]),
        ];
        let mut dense = random_bits(random, rows);
        dense.iter_mut().for_each(|word| *word |= random.bits());
        let aligned = Selection::Bits {
            words: &dense,
            start: 0,
            len: rows as u32,
        };
        for isa in Isa::available() {
            for selection in selections.into_iter().chain([aligned]) {
                check_unpack(layout, isa, column, selection);
            }
        }
    });
}

fn check_unpack(layout: &Layout, isa: Isa, column: &Column, selection: Selection<'_>) {
    if column.bits <= 8 {
        check_unpack_to(layout.unpack8, isa, column, selection);
    }
    if column.bits <= 16 {
        check_unpack_to(layout.unpack16, isa, column, selection);
    }
    if column.bits <= 32 {
        check_unpack_to(layout.unpack32, isa, column, selection);
    }
    check_unpack_to(layout.unpack64, isa, column, selection);
}

fn check_unpack_to<C: CodeWord>(unpack: Unpack<C>, isa: Isa, column: &Column, selection: Selection<'_>) {
    let expected: Vec<C> = selection
        .rows()
        .map(|row| C::from_u64(column.codes[row]))
        .collect();
    // Exactly as much room as there are codes: nothing may be written behind them.
    let mut out = vec![C::default(); expected.len()];
    assert_eq!(unpack(isa, column.packed(), selection, &mut out), expected.len());
    assert!(
        out == expected,
        "{isa}, {} bits of {} rows to {} bytes: {selection:?}",
        column.bits,
        column.codes.len(),
        size_of::<C>()
    );
}

#[test]
fn bit_packed_frames_are_codes_and_references() {
    let layout = &bitpack::LAYOUT;
    for bits in 1..=16 {
        for len in LENGTHS {
            let mut random = Random::new(u64::from(bits) << 32 | len as u64);
            let column = Column::new(layout, random_codes(&mut random, len, bits), bits);
            let references: Vec<u32> = (0..len.div_ceil(FRAME)).map(|_| random.bits() as u32).collect();
            let start = random.index(len);
            let end = start + random.index(len - start + 1);
            for rows in [0..len, start..end, start..len, len.min(512)..len, len..len] {
                let value = |row: usize| references[row / FRAME].wrapping_add(column.codes[row] as u32);
                let expected: Vec<u32> = rows.clone().map(value).collect();
                for isa in Isa::available() {
                    let mut out = vec![7; expected.len()];
                    unpack_frames(isa, column.packed(), rows.clone(), &references, &mut out);
                    assert!(out == expected, "{isa}, {bits} bits of {len} rows: {rows:?}");
                }
            }
        }
    }
}

/// The whole column and a part of it that begins at a whole word.
fn ranges_of_rows(rows: usize, random: &mut Random) -> [Range<usize>; 2] {
    let start = random.index(rows / 64 + 1) * 64;
    let end = start + random.index(rows - start + 1);
    [0..rows, start..end]
}

/// Checks a test of match bits against what `matches` says of each code.
fn check_words(
    column: &Column,
    random: &mut Random,
    matches: impl Fn(u64) -> bool,
    test: impl Fn(Isa, Range<usize>, Combine, &mut [u64]),
    what: impl Fn() -> String,
) {
    for rows in ranges_of_rows(column.codes.len(), random) {
        let mut fresh = vec![0u64; rows.len().div_ceil(64)];
        for (i, &code) in column.codes[rows.clone()].iter().enumerate() {
            fresh[i / 64] |= u64::from(matches(code)) << (i % 64);
        }
        // Old bits are random beyond the rows as well.
        let old = random_bits(random, fresh.len() * 64);
        for combine in COMBINES {
            let mut expected: Vec<u64> = old
                .iter()
                .zip(&fresh)
                .map(|(&o, &f)| combine.apply(o, f))
                .collect();
            if let (Some(last), tail @ 1..) = (expected.last_mut(), rows.len() % 64) {
                *last &= !(!0 << tail);
            }
            for isa in Isa::available() {
                let mut actual = old.clone();
                test(isa, rows.clone(), combine, &mut actual);
                assert!(
                    actual == expected,
                    "{isa}, {} bits, rows {rows:?} of {}, {combine:?}, {}",
                    column.bits,
                    column.codes.len(),
                    what()
                );
            }
        }
    }
}

fn tests_ranges(layout: &Layout) {
    columns(layout, |column, random| {
        let top = top(column.bits);
        let mut code = || match column.codes.len() {
            0 => random.bits() & top,
            rows => column.codes[random.index(rows)],
        };
        let (a, b, c) = (code(), code(), code());
        let (low, high) = (a.min(b), a.max(b));
        let beyond = top.saturating_add(1);
        let ranges = [
            (low, high),
            (high, low),
            (c, c),
            (0, c),
            (c, top),
            (c, u64::MAX),
            (0, beyond),
            (beyond, u64::MAX),
            (c.saturating_sub(1), c.saturating_add(1)),
            // Bounds that leave whole bytes open.
            (c & !0xFF, c | 0xFF),
            (c & !0xFFF, c | 0xFF_FFFF),
            (0, c | 0xFF),
            (c & !0xFFFF, u64::MAX),
        ];
        for (low, high) in ranges {
            for op in OPS {
                check_words(
                    column,
                    random,
                    |code| (low <= code && code <= high) == (op == RangeOp::Inside),
                    |isa, rows, combine, out| {
                        (layout.between)(isa, column.packed(), rows, op, low, high, combine, out)
                    },
                    || format!("{op:?} {low:#x}..={high:#x}"),
                );
            }
        }
    });
}

fn tests_sets(layout: &Layout) {
    columns(layout, |column, random| {
        // Sets are bitmaps by code: wide codes lie beyond them, or the set would not fit in memory.
        for words in [0, 1, 4, 100] {
            let mut set = random_bits(random, words * 64);
            for code in column.codes.iter().step_by(3) {
                if let Some(word) = set.get_mut((code / 64) as usize) {
                    *word ^= 1 << (code % 64);
                }
            }
            let is_in = |code: u64| {
                set.get((code / 64) as usize)
                    .is_some_and(|word| word >> (code % 64) & 1 == 1)
            };
            check_words(
                column,
                random,
                is_in,
                |isa, rows, combine, out| (layout.in_set)(isa, column.packed(), rows, &set, combine, out),
                || format!("a set of {words} words"),
            );
        }
    });
}

fn runs_where_it_is_told(layout: &Layout) {
    let column = Column::new(layout, (0..1000).collect(), 10);
    for isa in Isa::available() {
        let before = counters::calls(layout.kernel, isa);
        let mut words = [0; 16];
        (layout.between)(
            isa,
            column.packed(),
            0..1000,
            RangeOp::Inside,
            3,
            9,
            Combine::Replace,
            &mut words,
        );
        assert_eq!(words[0], 0b11_1111_1000);
        (layout.unpack16)(isa, column.packed(), Selection::all(0..1000), &mut [0; 1000]);
        (layout.in_set)(isa, column.packed(), 0..1000, &[1], Combine::Replace, &mut words);
        assert!(counters::calls(layout.kernel, isa) >= before + 3, "{isa}");
    }
}

/// A whole block of stretches that differ: what a scan decides by the rows it has seen (ByteSlice: which slices it
/// needs, by chance, always, never) must make no difference.
fn tests_stretches(layout: &Layout) {
    for bits in [12, 20, 40] {
        let (mut random, top) = (Random::new(bits.into()), top(bits));
        let bound = random.bits() & top;
        let codes = (0..1 << 16).map(|row: u64| match row / 3000 % 4 {
            0 => random.bits() & top,
            1 => bound ^ random.bits() & 3,
            2 => bound ^ (top & !(top >> 1)),
            _ => [bound, bound ^ (top & !(top >> 1))][usize::from(random.index(1500) > 0)],
        });
        let column = Column::new(layout, codes.collect(), bits);
        for (low, high) in [
            (0, bound),
            (bound, top),
            (bound, bound),
            (bound & !0xff, bound),
            (bound - 1, bound + 1),
        ] {
            check_words(
                &column,
                &mut random,
                |code| low <= code && code <= high,
                |isa, rows, combine, out| {
                    (layout.between)(
                        isa,
                        column.packed(),
                        rows,
                        RangeOp::Inside,
                        low,
                        high,
                        combine,
                        out,
                    )
                },
                || format!("{low:#x}..={high:#x}"),
            );
        }
    }
}
