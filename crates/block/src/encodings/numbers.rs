//! Columns of numbers: their ordinals, the plans that encodings make of them, and the chosen one carried
//! out. Which it is, the cost model says.

use super::{EncodedColumn, Encoding, constant, decimal, dictionary, frames, patched, raw};
use crate::cost_model::{Column, Shape};
use crate::format::{ColumnEntry, FLAG_NULLS, FLAG_SMA};
use crate::input::{Valid, is_valid};
use crate::psma;
use crate::sma::{f64_of_ordinal, ordinal_of_f64};
use frazil_kernels::packed;
use frazil_types::{Native, NativeType, Result};

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

/// A column of numbers on its way to an encoding.
pub(crate) struct Numbers<'a> {
    /// Type and SMA, NULLs counted.
    pub entry: ColumnEntry,
    pub valid: Option<&'a Valid>,
    /// Number of rows.
    pub rows: usize,
    /// Of each row, 0 where NULL.
    pub ordinals: &'a [u64],
    /// The largest; `None` if the values span more than 64 bits and have none.
    pub top: Option<u64>,
    /// Whether an ordinal is the distance to the smallest value.
    pub distances: bool,
    /// Appends the native bytes of an ordinal's value.
    pub write_value: &'a dyn Fn(u64, &mut Vec<u8>),
    /// The native bytes of all values.
    pub raw_values: &'a dyn Fn() -> Vec<u8>,
    /// The values as integers, where they are decimals.
    pub decimals: &'a dyn Fn() -> Option<decimal::Decimals>,
}

/// Makes numbers of integers and hands them on; `None` if all are NULL.
pub(crate) fn of_integers<T: Integer, const N: usize, R>(
    values: &[T],
    valid: Option<&Valid>,
    scratch: &mut Scratch,
    to_bytes: impl Fn(T) -> [u8; N],
    then: impl FnOnce(&Numbers, &mut Vec<u64>) -> R,
) -> Option<R> {
    let (min, max) = bounds(values, valid)?;
    let (low, high): (i128, i128) = (min.into(), max.into());
    let top = high.checked_sub(low).and_then(|d| u64::try_from(d).ok());
    let Scratch { ordinals, codes } = scratch;
    ordinals.clear();
    match valid {
        _ if top.is_none() => {}
        None => ordinals.extend(values.iter().map(|v| v.delta(min))),
        Some(valid) => ordinals.extend(
            values
                .iter()
                .enumerate()
                .map(|(row, v)| if valid.get(row) { v.delta(min) } else { 0 }),
        ),
    }
    let numbers = Numbers {
        entry: numeric_entry(T::TYPE, valid, low, high),
        valid,
        rows: values.len(),
        ordinals,
        top,
        distances: true,
        write_value: &|ordinal, out| {
            let value = low.wrapping_add(i128::from(ordinal));
            out.extend(value.to_le_bytes().iter().take(N));
        },
        raw_values: &|| raw::encode(values, valid, &to_bytes),
        decimals: &|| None,
    };
    Some(then(&numbers, codes))
}

/// Makes numbers of doubles and hands them on; `None` if all are NULL.
pub(crate) fn of_doubles<R>(
    values: &[f64],
    valid: Option<&Valid>,
    scratch: &mut Scratch,
    then: impl FnOnce(&Numbers, &mut Vec<u64>) -> R,
) -> Option<R> {
    let Scratch { ordinals, codes } = scratch;
    let ordinal = |row, v| {
        if is_valid(valid, row) {
            ordinal_of_f64(v)
        } else {
            0
        }
    };
    ordinals.clear();
    ordinals.extend(values.iter().enumerate().map(|(row, &v)| ordinal(row, v)));
    let (min, max) = bounds(ordinals, valid)?;
    let bits = |ordinal: u64| i128::from(f64_of_ordinal(ordinal).to_bits());
    let numbers = Numbers {
        entry: numeric_entry(NativeType::F64, valid, bits(min), bits(max)),
        valid,
        rows: values.len(),
        ordinals,
        top: Some(u64::MAX),
        distances: false,
        write_value: &|ordinal, out| out.extend(f64_of_ordinal(ordinal).to_le_bytes()),
        raw_values: &|| raw::encode(values, valid, f64::to_le_bytes),
        decimals: &|| decimal::plan(values, valid),
    };
    Some(then(&numbers, codes))
}

fn numeric_entry(native: NativeType, valid: Option<&Valid>, min: i128, max: i128) -> ColumnEntry {
    let mut entry = ColumnEntry::new(Encoding::FrameOfReference, native);
    entry.flags = FLAG_SMA | if valid.is_some() { FLAG_NULLS } else { 0 };
    entry.null_count = valid.map_or(0, |v| v.nulls as u32);
    entry.min = min;
    entry.max = max;
    entry
}

/// A way to encode numbers.
pub(crate) enum Plan {
    Constant,
    Raw,
    FrameOfReference,
    Patched(patched::Window),
    Frames(frames::Frames),
    Decimal(decimal::Decimals),
    Dictionary(dictionary::Distinct),
}

impl Numbers<'_> {
    fn native_bytes(&self) -> usize {
        self.entry.native.size()
    }

    fn nullable(&self) -> u64 {
        u64::from(self.valid.is_some())
    }

    /// The plans of the encodings that hold these values and that the column admits.
    pub fn plans(&self, column: &Column) -> Vec<Plan> {
        if self.entry.min == self.entry.max && self.valid.is_none() && column.admits(Encoding::Constant) {
            return vec![Plan::Constant];
        }
        let mut plans = Vec::new();
        if column.admits(Encoding::Raw) && !column.must_have_codes() {
            plans.push(Plan::Raw);
        }
        let Some(top) = self.top else {
            return plans;
        };
        let fits = self.distances && top.checked_add(self.nullable()).is_some();
        if column.admits(Encoding::FrameOfReference) && fits {
            plans.push(Plan::FrameOfReference);
        }
        if self.distances && self.entry.native != NativeType::Bool {
            self.plan_by_parts(top, column, &mut plans);
        }
        if column.admits(Encoding::Decimal) {
            plans.extend((self.decimals)().map(Plan::Decimal));
        }
        // Booleans stay bytes of 0 and 1, or become bits.
        if column.admits(Encoding::Dictionary) && self.entry.native != NativeType::Bool {
            let limit = self.dictionary_limit(&plans, column);
            let found = dictionary::find(self.ordinals, self.valid, top, limit);
            plans.extend(found.map(Plan::Dictionary));
        }
        plans
    }

    /// Patches and frames.
    fn plan_by_parts(&self, top: u64, column: &Column, plans: &mut Vec<Plan>) {
        let insist = column.options.encoding.is_some();
        if column.admits(Encoding::Patched) {
            plans.extend(patched::plan(self, top, column, insist).map(Plan::Patched));
        }
        if column.admits(Encoding::Frames) {
            let frames = frames::plan(self, top, insist);
            let fits = |f: &frames::Frames| f.span.checked_add(self.nullable()).is_some();
            plans.extend(frames.filter(fits).map(Plan::Frames));
        }
    }

    /// The most entries a dictionary may have to be smaller than the best of the other plans by a
    /// fifth, for unpacking it gathers. Without another plan any number will do.
    fn dictionary_limit(&self, others: &[Plan], column: &Column) -> usize {
        let shapes: Vec<Shape> = others.iter().map(|p| self.shape(p)).collect();
        // A column that need not have codes falls back to raw values.
        let admitted = |c: &crate::cost_model::Candidate| {
            let possible = c.admitted || (!column.must && c.encoding == Encoding::Raw);
            possible.then_some(c.bytes as usize)
        };
        let Some(other) = column.candidates(&shapes).iter().filter_map(admitted).min() else {
            return self.rows;
        };
        let layout = column.densest_layout();
        let entries = |bits: u32| {
            let codes = layout.bytes(self.rows, bits);
            let left = (other * 4 / 5).checked_sub(codes)? / self.native_bytes();
            Some(left.min((1 << bits) - self.nullable() as usize))
        };
        let widths = (1..=16).filter(|&bits| layout.writes_width(bits));
        widths.filter_map(entries).max().unwrap_or(0)
    }

    /// What a plan comes to.
    pub fn shape(&self, plan: &Plan) -> Shape {
        let bitmap = if self.valid.is_some() {
            self.rows.div_ceil(64) * 8
        } else {
            0
        };
        let (encoding, largest, beside) = match plan {
            Plan::Constant => (Encoding::Constant, None, 0),
            Plan::Raw => (Encoding::Raw, None, self.rows * self.native_bytes() + bitmap),
            Plan::FrameOfReference => {
                let largest = self.top.unwrap_or(0).saturating_add(self.nullable());
                (Encoding::FrameOfReference, Some(largest), 0)
            }
            Plan::Patched(window) => {
                let largest = packed::top(window.bits);
                (
                    Encoding::Patched,
                    Some(largest),
                    window.beside(self.native_bytes()),
                )
            }
            Plan::Frames(frames) => {
                let largest = frames.span.saturating_add(self.nullable());
                (
                    Encoding::Frames,
                    Some(largest),
                    frames.beside(self.native_bytes()),
                )
            }
            Plan::Decimal(decimals) => (Encoding::Decimal, Some(decimals.top + self.nullable()), 0),
            Plan::Dictionary(distinct) => {
                let entries = distinct.sorted.len() as u64 + self.nullable();
                let beside = entries as usize * self.native_bytes();
                (Encoding::Dictionary, Some(entries - 1), beside)
            }
        };
        Shape {
            encoding,
            largest,
            beside,
            exceptions: match plan {
                Plan::Patched(window) => window.exceptions,
                _ => 0,
            },
        }
    }

    /// Encodes the column the way that is chosen.
    pub fn encode(&self, column: &Column, with_psma: bool, codes: &mut Vec<u64>) -> Result<EncodedColumn> {
        let plans = self.plans(column);
        let shapes: Vec<Shape> = plans.iter().map(|p| self.shape(p)).collect();
        let Some(chosen) = column.choose(&shapes) else {
            return Err(column.refusal(&self.shapes_that_fit(column)));
        };
        let with_psma = with_psma && self.rows >= PSMA_ROWS;
        let mut entry = self.entry.clone();
        entry.encoding = chosen.encoding;
        entry.layout = chosen.layout;
        entry.code_bits = chosen.bits as u8;
        let mut out = match &plans[chosen.shape] {
            Plan::Constant => return Ok(constant::encode_number(entry.native, entry.min)),
            Plan::Dictionary(distinct) => {
                return Ok(self.encode_dictionary(entry, distinct, with_psma, codes));
            }
            Plan::Decimal(d) => return Ok(decimal::encode(self, entry, d, with_psma, codes)),
            Plan::Raw => {
                let mut out = EncodedColumn::new(entry);
                out.codes = (self.raw_values)();
                out.bitmap = self.valid.map_or(Vec::new(), Valid::to_bytes);
                out
            }
            Plan::FrameOfReference => self.encode_reference(entry, codes),
            Plan::Patched(window) => patched::encode(self, entry, window, codes)?,
            Plan::Frames(frames) => frames::encode(self, entry, frames, codes),
        };
        out.psma = self.psma_of_values(with_psma);
        Ok(out)
    }

    fn encode_reference(&self, entry: ColumnEntry, codes: &mut Vec<u64>) -> EncodedColumn {
        let (layout, bits) = (entry.layout, u32::from(entry.code_bits));
        let mut out = EncodedColumn::new(entry);
        out.codes = match self.valid {
            None => layout.pack(self.ordinals, bits),
            Some(valid) => {
                shift_codes(self.ordinals.iter().copied(), valid, codes);
                layout.pack(codes, bits)
            }
        };
        out
    }

    /// What all plans come to.
    pub fn shapes(&self, column: &Column) -> Vec<Shape> {
        self.plans(column).iter().map(|p| self.shape(p)).collect()
    }

    /// What every encoding comes to that can hold the values, whether it pays or not.
    fn shapes_that_fit(&self, column: &Column) -> Vec<Shape> {
        let pinned = Encoding::ALL.map(|e| column.pinned(e));
        pinned.iter().flat_map(|column| self.shapes(column)).collect()
    }

    fn psma_of_values(&self, with_psma: bool) -> Vec<u8> {
        match self.top {
            Some(top) if with_psma && self.distances => psma::build(self.ordinals, self.valid, top),
            _ => Vec::new(),
        }
    }

    fn encode_dictionary(
        &self,
        mut entry: ColumnEntry,
        distinct: &dictionary::Distinct,
        with_psma: bool,
        codes: &mut Vec<u64>,
    ) -> EncodedColumn {
        entry.dictionary_entries = distinct.sorted.len() as u32;
        let (layout, bits) = (entry.layout, u32::from(entry.code_bits));
        let mut out = EncodedColumn::new(entry);
        let entries = distinct.sorted.len() + self.nullable() as usize;
        out.dictionary.reserve(entries * self.native_bytes());
        if self.valid.is_some() {
            out.dictionary.resize(self.native_bytes(), 0);
        }
        for &ordinal in &distinct.sorted {
            (self.write_value)(ordinal, &mut out.dictionary);
        }
        codes.clear();
        codes.extend(distinct.index.iter().map(|&i| u64::from(i)));
        if with_psma {
            out.psma = psma::build(codes, self.valid, distinct.sorted.len() as u64 - 1);
        }
        if let Some(valid) = self.valid {
            let indexes = distinct.index.iter().map(|&i| u64::from(i));
            shift_codes(indexes, valid, codes);
        }
        out.codes = layout.pack(codes, bits);
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
