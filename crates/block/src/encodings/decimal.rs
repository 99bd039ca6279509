//! Doubles that are decimals, as integers: a double is stored as the integer *i* for which *i* / 10^scale is
//! exactly that double, and the integers by frame of reference. Prices and measures written with a few
//! digits shrink from 64 bits to those of their digits.
//!
//! The scale is the smallest at which every value of the column comes back to the bit; a column with
//! −0.0, NaN, an infinity or a value of too many digits has none. Dividing by a constant and rounding
//! keeps the order, and distinct doubles have distinct integers, so a range of doubles is a range of
//! integers. Its ends are found by search among the values themselves, never by scaling the operand: a
//! bound between two decimals may not be rounded to one of them.

use super::EncodedColumn;
use super::numbers::{Numbers, shift_codes};
use crate::column_buffer::ColumnBuffer;
use crate::format::ColumnEntry;
use crate::input::{Valid, is_valid};
use crate::layouts::codes::dispatch_words;
use crate::psma;
use crate::unpack::for_each_row;
use frazil_kernels::plain::Codes as Words;
use frazil_kernels::{CodeWord, Comparable, Selection};

/// The most digits behind the point.
pub const MAX_SCALE: u8 = 10;
/// Integers stay below this: their products with powers of ten round to the integer that was meant.
const LIMIT: f64 = (1u64 << 50) as f64;

/// 10^scale, exact.
fn power(scale: u8) -> f64 {
    10f64.powi(i32::from(scale))
}

/// The double of an integer.
#[inline]
fn double(integer: i64, power: f64) -> f64 {
    integer as f64 / power
}

/// The integer of a double at a scale, if it has one.
#[inline]
fn integer(value: f64, power: f64) -> Option<i64> {
    let scaled = (value * power).round();
    // NaN and infinities fail the first comparison, −0.0 the second.
    let fits = scaled.abs() < LIMIT && double(scaled as i64, power).to_bits() == value.to_bits();
    fits.then_some(scaled as i64)
}

/// A column of decimals.
pub(crate) struct Decimals {
    scale: u8,
    /// Distances of the integers to the smallest; 0 where NULL.
    ordinals: Vec<u64>,
    /// The largest.
    pub top: u64,
}

/// The integers of a column of doubles, if all have one.
pub(crate) fn plan(values: &[f64], valid: Option<&Valid>) -> Option<Decimals> {
    let (mut scale, mut factor) = (0, 1.0);
    for (row, &value) in values.iter().enumerate() {
        while is_valid(valid, row) && integer(value, factor).is_none() {
            scale += 1;
            factor = power(scale);
            if scale > MAX_SCALE {
                return None;
            }
        }
    }
    // A larger scale may have taken an early value beyond the limit.
    let integers: Vec<i64> = (values.iter().enumerate())
        .map(|(row, &v)| {
            if is_valid(valid, row) {
                integer(v, factor)
            } else {
                Some(0)
            }
        })
        .collect::<Option<_>>()?;
    let of_valid = || {
        (0..integers.len())
            .filter(|&row| is_valid(valid, row))
            .map(|row| integers[row])
    };
    let (min, max) = (of_valid().min()?, of_valid().max()?);
    let ordinal = |(row, &i): (usize, &i64)| if is_valid(valid, row) { (i - min) as u64 } else { 0 };
    Some(Decimals {
        scale,
        ordinals: integers.iter().enumerate().map(ordinal).collect(),
        top: (max - min) as u64,
    })
}

/// The column as integers; the entry says how their codes lie.
pub(crate) fn encode(
    numbers: &Numbers,
    mut entry: ColumnEntry,
    decimals: &Decimals,
    with_psma: bool,
    codes: &mut Vec<u64>,
) -> EncodedColumn {
    entry.scale = decimals.scale;
    let (layout, bits) = (entry.layout, u32::from(entry.code_bits));
    let mut out = EncodedColumn::new(entry);
    if with_psma {
        out.psma = psma::build(&decimals.ordinals, numbers.valid, decimals.top);
    }
    out.codes = match numbers.valid {
        None => layout.pack(&decimals.ordinals, bits),
        Some(valid) => {
            shift_codes(decimals.ordinals.iter().copied(), valid, codes);
            layout.pack(codes, bits)
        }
    };
    out
}

/// Smallest and largest integer of a column; `None` if its SMA is not of decimals.
pub(crate) fn bounds(entry: &ColumnEntry) -> Option<(i64, i64)> {
    if entry.scale > MAX_SCALE {
        return None;
    }
    let of = |bits: i128| integer(f64::from_bits(bits as u64), power(entry.scale));
    Some((of(entry.min)?, of(entry.max)?))
}

/// The doubles of a column by ordinal: distances of their integers to the smallest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ladder {
    min: i64,
    /// The largest ordinal.
    pub top: u64,
    scale: u8,
}

impl Ladder {
    /// That of a column whose entry was checked.
    pub fn of(entry: &ColumnEntry) -> Ladder {
        let (min, max) = bounds(entry).unwrap_or_default();
        Ladder {
            min,
            top: (max - min) as u64,
            scale: entry.scale,
        }
    }

    /// Ordinals from which to which, the latter exclusive, doubles equal `value`: empty, and between
    /// its neighbours, if there is none.
    pub fn equal(&self, value: f64) -> (u64, u64) {
        let power = power(self.scale);
        let until = |before: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = (0, self.top + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                match before(double(self.min + middle as i64, power)) {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            low
        };
        (
            until(&|v| v.order(value).is_lt()),
            until(&|v| v.order(value).is_le()),
        )
    }
}

/// The double of a code.
pub(crate) fn value(entry: &ColumnEntry, code: u64) -> f64 {
    let reference = Ladder::of(entry).min - i64::from(entry.nullable());
    double(reference + code as i64, power(entry.scale))
}

/// Doubles of the codes at `chosen`.
pub(crate) fn unpack(entry: &ColumnEntry, codes: Words, chosen: Selection, out: &mut ColumnBuffer) {
    let (ladder, power) = (Ladder::of(entry), power(entry.scale));
    let reference = ladder.min - i64::from(entry.nullable());
    let out = out.values_mut::<f64>();
    let value = |code: u64| double(reference + code as i64, power);
    dispatch_words!(codes, codes => match chosen {
        Selection::All { start, len } => {
            let codes = &codes[start as usize..(start + len) as usize];
            for (out, code) in out.iter_mut().zip(codes) {
                *out = value(code.to_u64());
            }
        }
        _ => for_each_row(chosen, |i, row| out[i] = value(codes[row].to_u64())),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_found_and_come_back() {
        assert_eq!(integer(0.1, 10.0), Some(1));
        assert_eq!(integer(0.3, 10.0), Some(3));
        assert_eq!(integer(0.1 + 0.2, 10.0), None);
        assert_eq!(integer(-1234.56, 100.0), Some(-123_456));
        for v in [-0.0, f64::NAN, f64::INFINITY, 1e300, 5e-324] {
            assert_eq!(integer(v, 1.0), None);
        }
        let scale_of = |values: &[f64]| plan(values, None).map(|d| (d.scale, d.top));
        assert_eq!(scale_of(&[1.0, 3.0]), Some((0, 2)));
        assert_eq!(scale_of(&[1.0, 0.25, 7.5]), Some((2, 725)));
        assert_eq!(scale_of(&[1.0 / 3.0]), None);
        // Its digits alone would do, but not at the scale of the other.
        assert_eq!(scale_of(&[900_000_000_000_000.0, 0.001]), None);
    }

    #[test]
    fn bounds_between_two_decimals_stay_between_them() {
        let ladder = Ladder {
            min: -3,
            top: 10,
            scale: 1,
        };
        assert_eq!(ladder.equal(0.1), (4, 5));
        assert_eq!(ladder.equal(-0.0), (3, 4));
        assert_eq!(ladder.equal(0.1f64.next_up()), (5, 5));
        assert_eq!(ladder.equal(0.1f64.next_down()), (4, 4));
        assert_eq!(ladder.equal(f64::NAN), (11, 11));
        assert_eq!(ladder.equal(f64::NEG_INFINITY), (0, 0));
    }
}
