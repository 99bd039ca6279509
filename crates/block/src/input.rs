//! What the builder reads: uncompressed native columns, from a loader's vectors or a hot chunk.

use frazil_types::{ColumnVector, Error, LogicalType, MatchBits, NativeType, StringRef, dispatch_native};
use std::ops::Range;

/// Values of one column.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    /// 0 or 1.
    Bool(&'a [u8]),
    /// 16-bit integers.
    I16(&'a [i16]),
    /// 32-bit integers.
    I32(&'a [i32]),
    /// 64-bit integers.
    I64(&'a [i64]),
    /// 128-bit integers.
    I128(&'a [i128]),
    /// Doubles.
    F64(&'a [f64]),
    /// Strings, alive as long as the input.
    String(&'a [StringRef]),
}

/// Which rows of an input are NULL.
#[derive(Clone, Copy)]
pub enum Nulls<'a> {
    /// None.
    None,
    /// Those whose bit is set; row 0 is bit `start`.
    Bits(&'a MatchBits, usize),
    /// Those whose byte is 0.
    ValidityBytes(&'a [u8]),
}

/// One column to be frozen.
#[derive(Clone, Copy)]
pub struct ColumnInput<'a> {
    pub(crate) ty: LogicalType,
    pub(crate) values: Values<'a>,
    pub(crate) nulls: Nulls<'a>,
    pub(crate) rows: usize,
    pub(crate) name: Option<&'a str>,
}

impl<'a> ColumnInput<'a> {
    /// Rows of a column vector. Panics if `rows` is out of its bounds.
    pub fn of_vector(vector: &'a ColumnVector, rows: Range<usize>) -> ColumnInput<'a> {
        let values = match vector.native() {
            NativeType::Bool => Values::Bool(&vector.values()[rows.clone()]),
            NativeType::I16 => Values::I16(&vector.values()[rows.clone()]),
            NativeType::I32 => Values::I32(&vector.values()[rows.clone()]),
            NativeType::I64 => Values::I64(&vector.values()[rows.clone()]),
            NativeType::I128 => Values::I128(&vector.values()[rows.clone()]),
            NativeType::F64 => Values::F64(&vector.values()[rows.clone()]),
            NativeType::String => Values::String(&vector.values()[rows.clone()]),
        };
        let nulls = match vector.nulls() {
            Some(bits) if bits.count() > 0 => Nulls::Bits(bits, rows.start),
            _ => Nulls::None,
        };
        ColumnInput {
            ty: vector.ty(),
            values,
            nulls,
            rows: rows.len(),
            name: None,
        }
    }

    /// Rows that lie at `start` in their native form. `validity` has one byte a row, 0 for NULL.
    ///
    /// # Safety
    /// `rows` initialised values of `ty.native()` must lie at `start`, aligned, and they, the strings
    /// they refer to included, must live and not change for `'a`. Strings are UTF-8. The string of a
    /// NULL is not looked at.
    pub unsafe fn of_memory(
        ty: LogicalType,
        start: *const u8,
        rows: usize,
        validity: Option<&'a [u8]>,
    ) -> ColumnInput<'a> {
        // SAFETY: by contract.
        let values = unsafe {
            match ty.native() {
                NativeType::Bool => Values::Bool(std::slice::from_raw_parts(start, rows)),
                NativeType::I16 => Values::I16(std::slice::from_raw_parts(start.cast(), rows)),
                NativeType::I32 => Values::I32(std::slice::from_raw_parts(start.cast(), rows)),
                NativeType::I64 => Values::I64(std::slice::from_raw_parts(start.cast(), rows)),
                NativeType::I128 => Values::I128(std::slice::from_raw_parts(start.cast(), rows)),
                NativeType::F64 => Values::F64(std::slice::from_raw_parts(start.cast(), rows)),
                NativeType::String => Values::String(std::slice::from_raw_parts(start.cast(), rows)),
            }
        };
        ColumnInput {
            ty,
            values,
            nulls: validity.map_or(Nulls::None, Nulls::ValidityBytes),
            rows,
            name: None,
        }
    }

    /// The same with the name that errors call it by.
    pub fn named(self, name: &'a str) -> ColumnInput<'a> {
        let name = Some(name);
        ColumnInput { name, ..self }
    }

    /// The error with the column in front, which is column `i` of its block.
    pub(crate) fn blame(&self, i: usize, error: Error) -> Error {
        match self.name {
            Some(name) => error.in_context(format!("column \"{name}\"")),
            None => error.in_context(format!("column {i}")),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Type of the values.
    pub fn ty(&self) -> LogicalType {
        self.ty
    }

    /// Bytes of the native values.
    pub(crate) fn native_bytes(&self) -> usize {
        dispatch_native!(self.ty.native(), T => self.rows * size_of::<T>())
    }

    /// The rows that are not NULL; `None` when all are.
    pub(crate) fn valid(&self) -> Option<Valid> {
        let mut words = vec![0u64; self.rows.div_ceil(64)];
        match self.nulls {
            Nulls::None => return None,
            Nulls::Bits(bits, start) => {
                for row in 0..self.rows {
                    words[row / 64] |= u64::from(!bits.get(start + row)) << (row % 64);
                }
            }
            Nulls::ValidityBytes(bytes) => {
                for (row, &byte) in bytes[..self.rows].iter().enumerate() {
                    words[row / 64] |= u64::from(byte != 0) << (row % 64);
                }
            }
        }
        let count: usize = words.iter().map(|w| w.count_ones() as usize).sum();
        (count < self.rows).then_some(Valid {
            words,
            nulls: self.rows - count,
        })
    }
}

/// Rows that are not NULL, at least one being so.
#[derive(Debug)]
pub(crate) struct Valid {
    /// One bit a row, zero beyond the last.
    pub words: Vec<u64>,
    /// Number of NULLs.
    pub nulls: usize,
}

impl Valid {
    /// Whether a row has a value.
    #[inline]
    pub fn get(&self, row: usize) -> bool {
        self.words[row / 64] >> (row % 64) & 1 == 1
    }

    /// The bitmap section.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }
}

/// Whether a row has a value, `None` meaning that all have.
#[inline]
pub(crate) fn is_valid(valid: Option<&Valid>, row: usize) -> bool {
    valid.is_none_or(|v| v.get(row))
}
