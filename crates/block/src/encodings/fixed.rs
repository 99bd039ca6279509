//! Columns of numbers: which encoding is smallest, and its codes.
//!
//! The choice is by bytes (Data Blocks, section 3.3: the scheme that is optimal in memory), with a
//! handicap for the dictionary, whose unpacking gathers: it must save a fifth.

use super::{EncodedColumn, Encoding, constant, dictionary, frame_of_reference, raw};
use crate::format::{ColumnEntry, FLAG_NULLS, FLAG_SMA};
use crate::input::{Valid, is_valid};
use crate::layouts::{Layout, byte_packed};
use crate::psma;
use crate::sma::{f64_of_ordinal, ordinal_of_f64};
use frazil_types::{Native, NativeType};

/// Blocks of fewer rows get no PSMA: scanning them is cheaper than the table is large.
const PSMA_ROWS: usize = 1024;

/// A native integer (booleans included).
pub(crate) trait Integer: Native + Ord + Into<i128> {
    /// Distance to a smaller value that lies within 64 bits.
    fn delta(self, min: Self) -> u64;
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Integer for $t {
            #[inline]
            fn delta(self, min: $t) -> u64 {
                self.wrapping_sub(min) as u64
            }
        }
    )*};
}
integer!(u8, i64, i128);

impl Integer for i16 {
    #[inline]
    fn delta(self, min: i16) -> u64 {
        u64::from(self.wrapping_sub(min) as u16)
    }
}

impl Integer for i32 {
    #[inline]
    fn delta(self, min: i32) -> u64 {
        u64::from(self.wrapping_sub(min) as u32)
    }
}

/// Reused memory of the encoders.
#[derive(Default)]
pub(crate) struct Scratch {
    ordinals: Vec<u64>,
    codes: Vec<u64>,
}

/// Smallest and largest valid value.
fn bounds<T: Copy + Ord>(values: &[T], valid: Option<&Valid>) -> Option<(T, T)> {
    let first = (0..values.len()).find(|&row| is_valid(valid, row))?;
    let (mut min, mut max) = (values[first], values[first]);
    match valid {
        None => {
            for &v in values {
                min = min.min(v);
                max = max.max(v);
            }
        }
        Some(valid) => {
            for (row, &v) in values.iter().enumerate() {
                if valid.get(row) {
                    min = min.min(v);
                    max = max.max(v);
                }
            }
        }
    }
    Some((min, max))
}

/// Encodes integers.
pub(crate) fn encode_integers<T: Integer, const N: usize>(
    values: &[T],
    valid: Option<&Valid>,
    with_psma: bool,
    scratch: &mut Scratch,
    to_bytes: impl Fn(T) -> [u8; N],
) -> EncodedColumn {
    let Some((min, max)) = bounds(values, valid) else {
        return constant::encode_null(T::TYPE, values.len());
    };
    let (low, high): (i128, i128) = (min.into(), max.into());
    if low == high && valid.is_none() {
        return constant::encode_number(T::TYPE, low);
    }
    let mut entry = numeric_entry(T::TYPE, valid, low, high);
    let Some(top) = high.checked_sub(low).and_then(|d| u64::try_from(d).ok()) else {
        entry.encoding = Encoding::Raw;
        entry.code_bits = 8 * N as u8;
        let mut out = EncodedColumn::new(entry);
        out.codes = raw::encode(values, valid, to_bytes);
        out.bitmap = valid.map_or(Vec::new(), Valid::to_bytes);
        return out;
    };
    scratch.ordinals.clear();
    match valid {
        None => scratch.ordinals.extend(values.iter().map(|v| v.delta(min))),
        Some(valid) => scratch.ordinals.extend(
            values
                .iter()
                .enumerate()
                .map(|(row, v)| if valid.get(row) { v.delta(min) } else { 0 }),
        ),
    }
    // Booleans stay bytes of 0 and 1: they are as small as codes get, and can be lent uncopied.
    let for_bytes = frame_of_reference::code_bytes(top, valid.is_some())
        .filter(|&bytes| bytes < N && T::TYPE != NativeType::Bool);
    let plan = Numbers {
        entry,
        valid,
        top,
        native_bytes: N,
        for_bytes,
        with_psma,
    };
    plan.encode(
        scratch,
        |ordinal, out| out.extend((low + i128::from(ordinal)).to_le_bytes().iter().take(N)),
        || raw::encode(values, valid, &to_bytes),
    )
}

/// Encodes doubles: dictionary or raw.
pub(crate) fn encode_doubles(
    values: &[f64],
    valid: Option<&Valid>,
    with_psma: bool,
    scratch: &mut Scratch,
) -> EncodedColumn {
    scratch.ordinals.clear();
    scratch
        .ordinals
        .extend(values.iter().enumerate().map(|(row, &v)| {
            if is_valid(valid, row) {
                ordinal_of_f64(v)
            } else {
                0
            }
        }));
    let Some((min, max)) = bounds(&scratch.ordinals, valid) else {
        return constant::encode_null(NativeType::F64, values.len());
    };
    let bits = |ordinal: u64| i128::from(f64_of_ordinal(ordinal).to_bits());
    if min == max && valid.is_none() {
        return constant::encode_number(NativeType::F64, bits(min));
    }
    let plan = Numbers {
        entry: numeric_entry(NativeType::F64, valid, bits(min), bits(max)),
        valid,
        top: u64::MAX,
        native_bytes: 8,
        for_bytes: None,
        with_psma,
    };
    plan.encode(
        scratch,
        |ordinal, out| out.extend(f64_of_ordinal(ordinal).to_le_bytes()),
        || raw::encode(values, valid, f64::to_le_bytes),
    )
}

fn numeric_entry(native: NativeType, valid: Option<&Valid>, min: i128, max: i128) -> ColumnEntry {
    let mut entry = ColumnEntry::new(Encoding::FrameOfReference, native);
    entry.flags = FLAG_SMA | if valid.is_some() { FLAG_NULLS } else { 0 };
    entry.null_count = valid.map_or(0, |v| v.nulls as u32);
    entry.min = min;
    entry.max = max;
    entry
}

/// A column of numbers whose ordinals are known, on its way to an encoding.
struct Numbers<'a> {
    entry: ColumnEntry,
    valid: Option<&'a Valid>,
    /// Largest ordinal.
    top: u64,
    native_bytes: usize,
    /// Bytes of a frame-of-reference code, where that is smaller than the value.
    for_bytes: Option<usize>,
    with_psma: bool,
}

impl Numbers<'_> {
    fn encode(
        mut self,
        scratch: &mut Scratch,
        write_value: impl Fn(u64, &mut Vec<u8>),
        raw_values: impl FnOnce() -> Vec<u8>,
    ) -> EncodedColumn {
        let Scratch { ordinals, codes } = scratch;
        if let Some(distinct) = self.try_dictionary(ordinals) {
            return self.encode_dictionary(&distinct, codes, write_value);
        }
        let psma_of_values = self.with_psma && ordinals.len() >= PSMA_ROWS && self.top != u64::MAX;
        let psma = if psma_of_values {
            psma::build(ordinals, self.valid, self.top)
        } else {
            Vec::new()
        };
        let Some(width) = self.for_bytes else {
            self.entry.encoding = Encoding::Raw;
            self.entry.code_bits = 8 * self.native_bytes as u8;
            let mut out = EncodedColumn::new(self.entry);
            out.psma = psma;
            out.codes = raw_values();
            out.bitmap = self.valid.map_or(Vec::new(), Valid::to_bytes);
            return out;
        };
        self.entry.layout = Layout::BytePacked;
        self.entry.code_bits = 8 * width as u8;
        let mut out = EncodedColumn::new(self.entry);
        out.psma = psma;
        out.codes = vec![0; ordinals.len() * width];
        match self.valid {
            None => byte_packed::pack(ordinals, width, &mut out.codes),
            Some(valid) => {
                shift_codes(ordinals.iter().copied(), valid, codes);
                byte_packed::pack(codes, width, &mut out.codes);
            }
        }
        out
    }

    /// Distinct ordinals, if a dictionary saves a fifth over the alternative.
    fn try_dictionary(&self, ordinals: &[u64]) -> Option<dictionary::Distinct> {
        let rows = ordinals.len();
        let alternative = rows * self.for_bytes.unwrap_or(self.native_bytes) * 4 / 5;
        let nullable = usize::from(self.valid.is_some());
        let entries_that_pay = |width: usize, most: usize| {
            let left = alternative.checked_sub(rows * width)?;
            let entries = (left / self.native_bytes).min(most - nullable);
            (entries > 0).then_some(entries)
        };
        let limit = entries_that_pay(2, 1 << 16).max(entries_that_pay(1, 1 << 8))?;
        dictionary::find(ordinals, self.valid, self.top, limit).filter(|d| {
            let width = byte_packed::width((d.sorted.len() - 1 + nullable) as u64);
            entries_that_pay(width, 1 << (8 * width)).is_some_and(|most| d.sorted.len() <= most)
        })
    }

    fn encode_dictionary(
        mut self,
        distinct: &dictionary::Distinct,
        codes: &mut Vec<u64>,
        write_value: impl Fn(u64, &mut Vec<u8>),
    ) -> EncodedColumn {
        let nullable = self.valid.is_some();
        let top = distinct.sorted.len() as u64 - 1;
        let width = byte_packed::width(top + u64::from(nullable));
        self.entry.encoding = Encoding::Dictionary;
        self.entry.layout = Layout::BytePacked;
        self.entry.code_bits = 8 * width as u8;
        self.entry.dictionary_entries = distinct.sorted.len() as u32;
        let mut out = EncodedColumn::new(self.entry);
        out.dictionary
            .reserve((distinct.sorted.len() + 1) * self.native_bytes);
        if nullable {
            out.dictionary.resize(self.native_bytes, 0);
        }
        for &ordinal in &distinct.sorted {
            write_value(ordinal, &mut out.dictionary);
        }
        codes.clear();
        codes.extend(distinct.index.iter().map(|&i| u64::from(i)));
        if self.with_psma && codes.len() >= PSMA_ROWS {
            out.psma = psma::build(codes, self.valid, top);
        }
        if let Some(valid) = self.valid {
            let indexes = distinct.index.iter().map(|&i| u64::from(i));
            shift_codes(indexes, valid, codes);
        }
        out.codes = vec![0; codes.len() * width];
        byte_packed::pack(codes, width, &mut out.codes);
        out
    }
}

/// Codes of a nullable column: 0 for NULL, else the ordinal plus one.
pub(crate) fn shift_codes(ordinals: impl Iterator<Item = u64>, valid: &Valid, codes: &mut Vec<u64>) {
    codes.clear();
    codes.extend(
        ordinals
            .enumerate()
            .map(|(row, o)| if valid.get(row) { o + 1 } else { 0 }),
    );
}
