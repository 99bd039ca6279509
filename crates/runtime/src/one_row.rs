//! A single row as a batch of its own, or as its values in one piece of memory: the result of a statement that finds its row by a key.

use crate::abi::VectorColumn;
use frazil_kernels::prefetch::prefetch_read;
use frazil_types::string_ref::INLINE_BYTES;
use frazil_types::{
    ColumnVector, LogicalType, MemoryBudget, NativeType, Result, RowBatch, RowValues, StringRef,
    dispatch_native,
};
use std::sync::Arc;

/// Bytes of a row's texts that are not counted: they are the caller's in no time.
const UNCOUNTED: usize = 16 << 10;

/// Bytes of a line of the caches, and lines of a string that are asked for at once.
const LINE: usize = 64;
const EXPECTED_LINES: usize = 4;

/// How rows are copied into batches, or values, of their own.
#[derive(Debug)]
pub struct RowCopy {
    columns: Vec<CopiedColumn>,
    /// Places of the columns of strings.
    strings: Vec<usize>,
}

#[derive(Debug)]
struct CopiedColumn {
    /// The form in which values arrive: that of the type, or `I64` for a wide decimal whose values fit.
    native: NativeType,
    /// A column of one zero: a copy of it costs less than to make one.
    zero: ColumnVector,
}

impl RowCopy {
    /// Of columns of these types, whose values arrive in these forms: the type's own, or `I64` for a wide decimal whose
    /// values fit.
    pub fn new(columns: impl Iterator<Item = (LogicalType, NativeType)>) -> RowCopy {
        let column = |(ty, native)| {
            let mut zero = ColumnVector::new(ty, 1);
            zero.resize(1);
            CopiedColumn { native, zero }
        };
        let columns: Vec<CopiedColumn> = columns.map(column).collect();
        let is_string = |place: &usize| columns[*place].native == NativeType::String;
        RowCopy {
            strings: (0..columns.len()).filter(is_string).collect(),
            columns,
        }
    }

    /// The first row of columns, `column(i)` being the `i`-th. Error 53200 if its texts exceed the budget.
    ///
    /// # Safety
    /// The columns must be alive and have the forms given, with one row at least, their strings alive.
    pub unsafe fn row(
        &self,
        column: impl Fn(usize) -> VectorColumn,
        budget: &MemoryBudget,
    ) -> Result<RowBatch> {
        // SAFETY: by contract.
        let lengths = self
            .strings
            .iter()
            .map(|&place| unsafe { long_text(&column(place)) });
        let texts = lengths.sum();
        // What the row takes counts until it is the caller's.
        let _reserved = (texts > UNCOUNTED).then(|| budget.reserve(texts)).transpose()?;
        let mut heap: Vec<u8> = Vec::with_capacity(texts);
        let mut columns = Vec::with_capacity(self.columns.len());
        for (place, form) in self.columns.iter().enumerate() {
            // SAFETY: by contract, and the heap has room for all long strings.
            columns.push(unsafe { form.value(&column(place), &mut heap) });
        }
        if texts > 0 {
            let heap = Arc::new(heap);
            (self.strings.iter()).for_each(|&place| columns[place].keep(heap.clone()));
        }
        Ok(RowBatch { columns, rows: 1 })
    }
}

impl RowCopy {
    /// The first row of columns, `column(i)` being the `i`-th, in one piece. Error 53200 if its texts exceed the budget.
    ///
    /// # Safety
    /// As [`RowCopy::row`].
    pub unsafe fn values(
        &self,
        column: impl Fn(usize) -> VectorColumn,
        budget: &MemoryBudget,
    ) -> Result<RowValues> {
        // SAFETY: by contract, of columns of strings.
        let lengths = (self.strings.iter()).map(|&place| unsafe {
            let column = column(place);
            match column.is_valid(0) {
                true => expect_bytes(&column.value::<StringRef>(0)),
                false => 0,
            }
        });
        let texts = lengths.sum();
        let _reserved = (texts > UNCOUNTED).then(|| budget.reserve(texts)).transpose()?;
        let mut row = RowValues::new(self.columns.len(), texts);
        for (place, form) in self.columns.iter().enumerate() {
            let from = column(place);
            // SAFETY: by contract: the column is alive and has this form.
            unsafe {
                if !from.is_valid(0) {
                    row.set_null(place);
                    continue;
                }
                match form.native {
                    NativeType::Bool => row.set(place, from.value::<u8>(0).into()),
                    NativeType::I16 => row.set(place, from.value::<i16>(0).into()),
                    NativeType::I32 => row.set(place, from.value::<i32>(0).into()),
                    NativeType::I64 => row.set(place, from.value::<i64>(0).into()),
                    NativeType::F64 => row.set(place, from.value::<u64>(0).into()),
                    NativeType::I128 => row.set(place, from.value::<i128>(0)),
                    NativeType::String => row.set_string(place, from.value::<StringRef>(0).bytes()),
                }
            }
        }
        Ok(row)
    }
}

/// The length of a string whose bytes are going to be copied: the first ones are asked for, so that those of all columns are waited
/// for together.
///
/// # Safety
/// The string is alive.
unsafe fn expect_bytes(string: &StringRef) -> usize {
    if !string.is_inline() {
        // SAFETY: by contract.
        let bytes = unsafe { string.bytes() };
        let lines = bytes.iter().step_by(LINE).take(EXPECTED_LINES);
        lines.for_each(|byte| prefetch_read(byte));
    }
    string.len()
}

/// Bytes of the text in the first row, if it does not lie in its reference.
///
/// # Safety
/// As [`RowCopy::row`], of a column of strings.
unsafe fn long_text(column: &VectorColumn) -> usize {
    // SAFETY: by contract.
    let length = unsafe {
        match column.is_valid(0) {
            true => column.value::<StringRef>(0).len(),
            false => 0,
        }
    };
    if length > INLINE_BYTES { length } else { 0 }
}

impl CopiedColumn {
    /// # Safety
    /// As [`RowCopy::row`]; `heap` has room for the string, so that it does not move.
    unsafe fn value(&self, from: &VectorColumn, heap: &mut Vec<u8>) -> ColumnVector {
        let mut to = self.zero.clone();
        // SAFETY: by contract.
        unsafe {
            if !from.is_valid(0) {
                to.set_null(0);
                return to;
            }
            match (self.native, to.native()) {
                (NativeType::I64, NativeType::I128) => {
                    to.values_mut::<i128>()[0] = i128::from(from.value::<i64>(0));
                }
                (NativeType::String, _) => {
                    let string = from.value::<StringRef>(0);
                    to.values_mut::<StringRef>()[0] = keep(&string, heap);
                }
                (native, _) => dispatch_native!(native, T => to.values_mut::<T>()[0] = from.value::<T>(0)),
            }
        }
        to
    }
}

/// # Safety
/// The string is alive, and `heap` has room for it.
unsafe fn keep(string: &StringRef, heap: &mut Vec<u8>) -> StringRef {
    // SAFETY: by contract.
    let bytes = unsafe { string.bytes() };
    if bytes.len() <= INLINE_BYTES {
        return StringRef::inline(bytes);
    }
    let start = heap.len();
    debug_assert!(heap.capacity() - start >= bytes.len());
    heap.extend_from_slice(bytes);
    // SAFETY: the heap does not move, and the column keeps it.
    unsafe { StringRef::new(&heap[start..]) }
}
