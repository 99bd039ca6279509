//! A single row as a batch of its own: the result of a statement that finds its row by a key.

use crate::abi::VectorColumn;
use crate::buffer::BufferColumn;
use frazil_types::string_ref::INLINE_BYTES;
use frazil_types::{ColumnVector, MemoryBudget, NativeType, Result, RowBatch, StringRef, dispatch_native};
use std::sync::Arc;

/// Copies the first row of some columns. Error 53200 if its texts exceed the budget.
///
/// # Safety
/// The columns must be alive and have the forms given, with one row at least, their strings alive.
pub unsafe fn own_row(
    columns: impl Iterator<Item = VectorColumn> + Clone,
    forms: &[BufferColumn],
    budget: &MemoryBudget,
) -> Result<RowBatch> {
    // SAFETY: by contract.
    let texts = unsafe { long_texts(columns.clone(), forms) };
    // What the row takes counts until it is the caller's.
    let _reserved = (texts > 0).then(|| budget.reserve(texts)).transpose()?;
    let mut heap: Vec<u8> = Vec::with_capacity(texts);
    let mut owned = Vec::with_capacity(forms.len());
    for (from, form) in columns.zip(forms) {
        // SAFETY: by contract, and the heap has room for all long strings.
        owned.push(unsafe { own_value(&from, form, &mut heap) });
    }
    if texts > 0 {
        let heap = Arc::new(heap);
        let strings = owned.iter_mut().filter(|c| c.native() == NativeType::String);
        strings.for_each(|column| column.keep(heap.clone()));
    }
    Ok(RowBatch {
        columns: owned,
        rows: 1,
    })
}

/// Bytes of the texts that do not lie in their references.
///
/// # Safety
/// As [`own_row`].
unsafe fn long_texts(columns: impl Iterator<Item = VectorColumn>, forms: &[BufferColumn]) -> usize {
    let strings = columns
        .zip(forms)
        .filter(|(_, form)| form.native == NativeType::String);
    let lengths = strings.map(|(column, _)| {
        // SAFETY: by contract.
        unsafe {
            match column.is_valid(0) {
                true => column.value::<StringRef>(0).len(),
                false => 0,
            }
        }
    });
    lengths.filter(|&length| length > INLINE_BYTES).sum()
}

/// # Safety
/// As [`own_row`]; `heap` has room for the string, so that it does not move.
unsafe fn own_value(from: &VectorColumn, form: &BufferColumn, heap: &mut Vec<u8>) -> ColumnVector {
    let mut to = ColumnVector::new(form.ty, 1);
    to.resize(1);
    // SAFETY: by contract.
    unsafe {
        if !from.is_valid(0) {
            to.set_null(0);
            return to;
        }
        match (form.native, to.native()) {
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
