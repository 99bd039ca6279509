//! Every kernel on every instruction set of this machine gives what the scalar oracle gives: all
//! lengths from 0 to 200, odd starts, random longer ones; and the counters prove that it ran there.

use frazil_kernels::hash::{self, HashKey};
use frazil_kernels::{
    CodeWord, Combine, Comparable, Isa, Kernel, Plain, RangeOp, Reference, Selection, compare, counters,
    positions, prefetch, unpack,
};
use frazil_testkit::Random;
use frazil_types::StringRef;
use proptest::prelude::*;

const OPS: [RangeOp; 2] = [RangeOp::Inside, RangeOp::Outside];
const COMBINES: [Combine; 3] = [Combine::Replace, Combine::And, Combine::Or];

/// Bits set with a density from none to all.
fn random_bits(random: &mut Random, len: usize) -> Vec<u64> {
    let density = [0, 2, 20, 128, 250, 256][random.index(6)];
    let mut words = vec![0u64; len.div_ceil(64)];
    for i in 0..len {
        words[i / 64] |= u64::from(random.index(256) < density) << (i % 64);
    }
    words
}

/// Types with random values that collide often and touch the extremes.
trait Sample: Plain {
    fn sample(random: &mut Random) -> Self;
}

macro_rules! sample_integers {
    ($($type:ty),*) => {
        $(
            impl Sample for $type {
                fn sample(random: &mut Random) -> $type {
                    match random.index(8) {
                        0 => <$type>::MAX,
                        1 => <$type>::MIN,
                        2 => random.bits() as $type,
                        3 => (random.bits() as $type).wrapping_mul(random.bits() as $type),
                        _ => (random.index(12) as $type).wrapping_sub(3),
                    }
                }
            }
        )*
    };
}

sample_integers!(u8, u16, u32, u64, i16, i32, i64, i128);

impl Sample for f64 {
    fn sample(random: &mut Random) -> f64 {
        let special = [
            f64::NAN,
            -f64::NAN,
            0.0,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1.0,
            -1.0,
        ];
        match random.index(3) {
            0 => f64::from_bits(random.bits()),
            _ => special[random.index(8)],
        }
    }
}

impl Sample for StringRef {
    fn sample(random: &mut Random) -> StringRef {
        let letters = [b'a', b'b', b'z'];
        let text: Vec<u8> = (0..random.index(13)).map(|_| letters[random.index(3)]).collect();
        StringRef::inline(&text)
    }
}

fn samples<T: Sample>(random: &mut Random, len: usize) -> Vec<T> {
    (0..len).map(|_| T::sample(random)).collect()
}

fn fast_ones() -> impl Iterator<Item = Isa> {
    Isa::available().into_iter().filter(|&isa| isa != Isa::Scalar)
}

/// The bits of a plain value, by which results are compared (NaN included).
fn bytes_of<T: Plain>(values: &[T]) -> Vec<String> {
    values.iter().map(|v| format!("{v:?}")).collect()
}

fn check_between<T: Comparable + Sample>(seed: u64, len: usize) {
    let mut random = Random::new(seed);
    let skip = random.index(9);
    let values = samples::<T>(&mut random, len + skip);
    let values = &values[skip..];
    let old = random_bits(&mut random, len);
    let (low, high) = (T::sample(&mut random), T::sample(&mut random));
    let mut kept = vec![];
    positions::positions(Isa::Scalar, &random_bits(&mut random, len), 0, &mut kept);
    for op in OPS {
        for combine in COMBINES {
            let mut expected = old.clone();
            compare::between(Isa::Scalar, values, op, low, high, combine, &mut expected);
            for isa in fast_ones() {
                let mut actual = old.clone();
                compare::between(isa, values, op, low, high, combine, &mut actual);
                assert_eq!(
                    actual, expected,
                    "{isa} {op:?} {combine:?} {low:?}..={high:?} on {values:?}"
                );
            }
        }
        let mut expected = kept.clone();
        positions::reduce_between(Isa::Scalar, values, op, low, high, &mut expected);
        for isa in fast_ones() {
            let mut actual = kept.clone();
            positions::reduce_between(isa, values, op, low, high, &mut actual);
            assert_eq!(
                actual, expected,
                "{isa} {op:?} {low:?}..={high:?} at {kept:?} of {values:?}"
            );
        }
    }
}

fn check_in_set<C: CodeWord + Sample>(seed: u64, len: usize) {
    let mut random = Random::new(seed);
    let skip = random.index(9);
    let codes = samples::<C>(&mut random, len + skip);
    let old = random_bits(&mut random, len);
    let size = [0, 1, 64, 200, 256, 70_000][random.index(6)];
    let set = random_bits(&mut random, size);
    for combine in COMBINES {
        let mut expected = old.clone();
        compare::in_set(Isa::Scalar, &codes[skip..], &set, combine, &mut expected);
        for isa in fast_ones() {
            let mut actual = old.clone();
            compare::in_set(isa, &codes[skip..], &set, combine, &mut actual);
            assert_eq!(actual, expected, "{isa} {combine:?} set {size} on {codes:?}");
        }
    }
}

fn check_positions(seed: u64, len: usize) {
    let mut random = Random::new(seed);
    let bits = random_bits(&mut random, len);
    let base = random.index(60_000) as u16;
    let selected = Selection::Bits {
        words: &bits,
        start: u32::from(base),
        len: len as u32,
    };
    let expected: Vec<u16> = [7]
        .into_iter()
        .chain(selected.rows().map(|row| row as u16))
        .collect();
    for isa in Isa::available() {
        let mut actual = vec![7];
        let count = positions::positions(isa, &bits, base, &mut actual);
        assert_eq!((count + 1, &actual), (expected.len(), &expected), "{isa}");
    }
}

/// Calls `check` with each form of selection over a column of `len` rows.
fn with_selections(random: &mut Random, len: usize, check: impl Fn(Selection<'_>)) {
    let start = random.index(len + 1);
    let rows = random.index(len - start + 1);
    check(Selection::all(start as u32..(start + rows) as u32));
    check(Selection::all(0..len as u32));
    let mut bits = random_bits(random, rows);
    if let (Some(last), true) = (bits.last_mut(), !rows.is_multiple_of(64)) {
        // Bits beyond the length are ignored.
        *last |= !0 << (rows % 64);
    }
    check(Selection::Bits {
        words: &bits,
        start: start as u32,
        len: rows as u32,
    });
    let mut kept = vec![];
    positions::positions(Isa::Scalar, &random_bits(random, len), 0, &mut kept);
    check(Selection::Positions(&kept));
}

/// Runs a kernel on every instruction set with an output that ends exactly where it may.
fn same_everywhere<T: Plain>(selection: Selection<'_>, kernel: impl Fn(Isa, &mut [T]) -> usize) {
    let count = selection.count();
    assert_eq!(count, selection.rows().count());
    let mut expected = vec![T::default(); count];
    assert_eq!(kernel(Isa::Scalar, &mut expected), count);
    for isa in fast_ones() {
        for room in [0, 5, 100] {
            let mut actual = vec![T::default(); count + room];
            assert_eq!(kernel(isa, &mut actual), count);
            assert_eq!(
                bytes_of(&actual[..count]),
                bytes_of(&expected),
                "{isa} {selection:?}"
            );
        }
    }
}

fn check_unpack<C: CodeWord + Sample, T: Reference + Sample>(seed: u64, len: usize) {
    let mut random = Random::new(seed);
    let skip = random.index(9);
    let codes = samples::<C>(&mut random, len + skip);
    let codes = &codes[skip..];
    let reference = T::sample(&mut random);
    with_selections(&mut random, len, |selection| {
        same_everywhere(selection, |isa, out: &mut [T]| {
            unpack::unpack(isa, codes, reference, selection, out)
        });
    });
}

fn check_codes<C: CodeWord + Sample>(seed: u64, len: usize) {
    check_unpack::<C, i16>(seed, len);
    check_unpack::<C, i32>(seed, len);
    check_unpack::<C, i64>(seed, len);
    check_unpack::<C, i128>(seed, len);
    check_in_set::<C>(seed, len);
    let mut random = Random::new(seed);
    let codes = samples::<C>(&mut random, len);
    let small: Vec<C> = codes.iter().map(|c| C::from_u64(c.to_u64() % 7)).collect();
    let words = samples::<i64>(&mut random, 7);
    let strings = samples::<StringRef>(&mut random, 7);
    with_selections(&mut random, len, |selection| {
        same_everywhere(selection, |isa, out| {
            unpack::nonzero_codes(isa, &codes, selection, out)
        });
        same_everywhere(selection, |isa, out| {
            unpack::gather_dictionary(isa, &small, &words, selection, out)
        });
        same_everywhere(selection, |isa, out| {
            unpack::gather_dictionary(isa, &small, &strings, selection, out)
        });
    });
}

fn check_copy<T: Sample>(seed: u64, len: usize) {
    let mut random = Random::new(seed);
    let skip = random.index(9);
    let values = samples::<T>(&mut random, len + skip);
    with_selections(&mut random, len, |selection| {
        same_everywhere(selection, |isa, out| {
            unpack::copy_values(isa, &values[skip..], selection, out)
        });
    });
}

fn check_expand(seed: u64, len: usize) {
    let mut random = Random::new(seed);
    let bits = random_bits(&mut random, len);
    with_selections(&mut random, len, |selection| {
        same_everywhere(selection, |isa, out| {
            unpack::expand_bits(isa, &bits, selection, out)
        });
    });
}

fn check_hash<T: HashKey + Sample>(seed: u64, len: usize) {
    let mut random = Random::new(seed);
    let values = samples::<T>(&mut random, len);
    let validity: Vec<u8> = (0..len).map(|_| u8::from(random.index(3) > 0)).collect();
    let old: Vec<u64> = (0..len).map(|_| random.bits()).collect();
    for validity in [None, Some(&validity[..])] {
        let key = |i: usize, hash: u64| match validity {
            Some(v) if v[i] == 0 => hash::combine(hash, hash::NULL_WORD),
            _ => values[i].fold(hash),
        };
        for isa in Isa::available() {
            let mut hashes = vec![1; len];
            hash::hash_column(isa, &values, validity, &mut hashes);
            assert_eq!(hashes, (0..len).map(|i| key(i, 0)).collect::<Vec<_>>(), "{isa}");
            let mut hashes = old.clone();
            hash::combine_column(isa, &values, validity, &mut hashes);
            assert_eq!(
                hashes,
                (0..len).map(|i| key(i, old[i])).collect::<Vec<_>>(),
                "{isa}"
            );
        }
    }
}

fn check_all(seed: u64, len: usize) {
    macro_rules! each {
        ($check:ident: $($type:ty),*) => { $( $check::<$type>(seed, len); )* };
    }
    each!(check_between: u8, u16, u32, u64, i16, i32, i64, i128, f64);
    each!(check_codes: u8, u16, u32, u64);
    each!(check_copy: u8, u16, i16, u32, i32, u64, i64, f64, i128, StringRef);
    each!(check_hash: i16, i32, i64, u64, i128, f64);
    check_positions(seed, len);
    check_expand(seed, len);
}

#[test]
fn every_short_length() {
    for len in 0..200 {
        check_all(len as u64, len);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_longer_columns(seed in any::<u64>(), len in 0usize..2600) {
        check_all(seed, len);
    }
}

#[test]
fn calls_are_counted_where_they_ran() {
    for isa in Isa::available() {
        let kernels = [
            Kernel::Between,
            Kernel::Positions,
            Kernel::Unpack,
            Kernel::Prefetch,
        ];
        let before = kernels.map(|kernel| counters::calls(kernel, isa));
        let codes = [1u8, 2, 3];
        let mut bits = [0];
        compare::between(isa, &codes, RangeOp::Inside, 2, 3, Combine::Replace, &mut bits);
        assert_eq!(bits, [0b110]);
        positions::positions(isa, &bits, 0, &mut vec![]);
        let mut out = [0i32; 2];
        let selection = Selection::Bits {
            words: &bits,
            start: 0,
            len: 3,
        };
        assert_eq!(unpack::unpack(isa, &codes, 100, selection, &mut out), 2);
        assert_eq!(out, [102, 103]);
        let directory = [0u64; 4];
        prefetch::prefetch_slots(isa, directory.as_ptr(), &[hash::hash_u64(1)], 62);
        for (kernel, before) in kernels.into_iter().zip(before) {
            assert!(counters::calls(kernel, isa) > before, "{kernel:?} on {isa}");
        }
    }
}

#[test]
#[should_panic(expected = "position beyond the column")]
fn a_position_beyond_the_column_is_refused() {
    unpack::copy_values(Isa::detect(), &[1u8, 2], Selection::Positions(&[2]), &mut [0; 4]);
}

#[test]
#[should_panic(expected = "room for 1")]
fn a_short_output_is_refused() {
    unpack::copy_values(Isa::detect(), &[1u8, 2], Selection::all(0..2), &mut [0; 1]);
}

#[test]
#[should_panic(expected = "code beyond the dictionary")]
fn a_code_beyond_the_dictionary_is_refused() {
    let codes = [0u8, 9];
    unpack::gather_dictionary(
        Isa::detect(),
        &codes,
        &[5i64; 9],
        Selection::all(0..2),
        &mut [0; 2],
    );
}

#[test]
fn strings_hash_by_content() {
    let long = b"a string of more than twelve bytes".to_vec();
    let copy = long.clone();
    // SAFETY: both live to the end of the test.
    let strings = unsafe {
        [
            StringRef::new(&long),
            StringRef::new(&copy).as_transient(),
            StringRef::inline(b"a"),
        ]
    };
    let mut hashes = [0; 3];
    // SAFETY: as above.
    unsafe { hash::hash_strings(Isa::detect(), &strings, None, &mut hashes) };
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hash::hash_bytes(&long));
    assert_eq!(hashes[2], hash::hash_bytes(b"a"));
    assert_ne!(hashes[0], hashes[2]);
}
