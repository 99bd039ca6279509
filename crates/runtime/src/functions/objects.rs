//! Functions on the objects of a pipeline: rows, groups, join tables, sorters, buffers, sets of constants.

use crate::abi::{PipelineContext, STATUS_ENOUGH, STATUS_OK, STATUS_PAUSED, VectorColumn};
use crate::breakers::buffer::row_buffer::Wanted;
use crate::integer_hash::Mixing;
use crate::{AggregateTable, BufferWriter, CodeGroups, JoinTable, RowPages, Sorter, StringHeap};
use frazil_kernels::hash::double_word;
use frazil_types::{Result, STAGE_ROWS, StringRef, Value};
use std::collections::HashSet;
use std::hash::BuildHasherDefault;

/// The row, or null with the error in the context.
///
/// # Safety
/// `context` must be the pipeline's.
unsafe fn row_or_null(context: *mut PipelineContext, row: Result<*mut u8>) -> *mut u8 {
    row.unwrap_or_else(|error| {
        // SAFETY: by contract.
        unsafe { (*context).fail(error) };
        std::ptr::null_mut()
    })
}

/// # Safety
/// Arguments as the table says, objects alive and used by this worker alone.
pub unsafe fn rows_grow(context: *mut PipelineContext, pages: *mut RowPages) -> *mut u8 {
    // SAFETY: by contract.
    unsafe { row_or_null(context, (*pages).grow()) }
}

/// # Safety
/// As [`rows_grow`].
pub unsafe fn sort_grow(context: *mut PipelineContext, sorter: *mut Sorter) -> *mut u8 {
    // SAFETY: by contract.
    unsafe { row_or_null(context, (*sorter).grow()) }
}

/// # Safety
/// The cell is one that `groups` has handed out for the vector in hand; `out` must be valid for a write.
pub unsafe fn code_group_key(
    groups: *mut CodeGroups,
    cell: *const u64,
    key: u64,
    out: *mut StringRef,
) -> i32 {
    // SAFETY: by contract.
    let string = unsafe { (*groups).string(key as usize, cell) };
    // SAFETY: by contract.
    unsafe { out.write_unaligned(string.unwrap_or_default()) };
    i32::from(string.is_some())
}

/// # Safety
/// As [`rows_grow`].
pub unsafe fn aggregate_insert(
    context: *mut PipelineContext,
    table: *mut AggregateTable,
    hash: u64,
) -> *mut u8 {
    // SAFETY: by contract.
    unsafe { row_or_null(context, (*table).insert(hash)) }
}

/// # Safety
/// As [`rows_grow`].
pub unsafe fn aggregate_insert_at(
    context: *mut PipelineContext,
    table: *mut AggregateTable,
    slot: u64,
) -> *mut u8 {
    // SAFETY: by contract.
    unsafe { row_or_null(context, (*table).insert_at(slot as usize)) }
}

/// # Safety
/// `places` and `out` must hold `rows` values; slots of an array lie within it.
pub unsafe fn aggregate_heads(
    table: *const AggregateTable,
    places: *const u64,
    rows: u64,
    out: *mut *const u8,
) {
    // SAFETY: by contract.
    unsafe {
        let places = std::slice::from_raw_parts(places, rows as usize);
        let out = std::slice::from_raw_parts_mut(out, rows as usize);
        for (places, out) in places.chunks(STAGE_ROWS).zip(out.chunks_mut(STAGE_ROWS)) {
            (*table).heads(places, out);
        }
    }
}

/// # Safety
/// As [`rows_grow`]; the cell is that of the list's state in a row of the table.
pub unsafe fn aggregate_append(
    context: *mut PipelineContext,
    table: *mut AggregateTable,
    list: u64,
    cell: *mut u8,
) -> *mut u8 {
    // SAFETY: by contract.
    unsafe { row_or_null(context, (*table).append(list as usize, cell)) }
}

/// # Safety
/// As [`rows_grow`]; the cell is that of a sketch in a row of the table.
pub unsafe fn aggregate_sketch(
    context: *mut PipelineContext,
    table: *mut AggregateTable,
    cell: *mut u8,
    hash: u64,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        match (*table).sketch(cell, hash) {
            Ok(()) => STATUS_OK,
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// As [`rows_grow`]; the string must be alive.
pub unsafe fn string_keep(
    context: *mut PipelineContext,
    heap: *mut StringHeap,
    string: *const StringRef,
    out: *mut StringRef,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        match (*heap).keep(string.read_unaligned()) {
            Ok(kept) => {
                out.write_unaligned(kept);
                STATUS_OK
            }
            Err(error) => (*context).fail(error),
        }
    }
}

/// # Safety
/// `context` must be the pipeline's.
pub unsafe fn forget_error(context: *mut PipelineContext) {
    // SAFETY: by contract.
    unsafe { (*context).error.error = None };
}

/// # Safety
/// `context` must be the pipeline's; no string made since the mark is used any more.
pub unsafe fn scratch_release(context: *mut PipelineContext, mark: u64) -> u32 {
    // SAFETY: by contract.
    unsafe { (*(*context).scratch).release(mark) };
    STATUS_OK
}

/// # Safety
/// `keys` and `out` must hold `rows` values; the table must be linked.
pub unsafe fn join_heads(
    table: *const JoinTable,
    keys: *const u64,
    rows: u64,
    out: *mut *const u8,
    together: u64,
) {
    // SAFETY: by contract.
    unsafe {
        let table = &*table;
        let keys = std::slice::from_raw_parts(keys, rows as usize);
        let out = std::slice::from_raw_parts_mut(out, rows as usize);
        table.heads_of(keys, out, together as usize);
    }
}

/// # Safety
/// The columns must be those of the buffer, with `rows` rows, their strings alive.
pub unsafe fn buffer_append(
    context: *mut PipelineContext,
    writer: *mut BufferWriter,
    columns: *const VectorColumn,
    rows: u64,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let count = (*writer).columns();
        let columns = if count == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(columns, count)
        };
        match (*writer).append(columns, rows as usize) {
            Ok(Wanted::More) => STATUS_OK,
            Ok(Wanted::Later) => STATUS_PAUSED,
            Ok(Wanted::Nothing) => STATUS_ENOUGH,
            Err(error) => (*context).fail(error),
        }
    }
}

/// The constants of an IN list.
#[derive(Debug, Default)]
pub struct ValueSet {
    integers: HashSet<i128, BuildHasherDefault<Mixing>>,
    doubles: HashSet<u64, BuildHasherDefault<Mixing>>,
    strings: HashSet<Box<[u8]>>,
}

impl ValueSet {
    /// The set of these values; NULLs are left out.
    pub fn new(values: &[Value]) -> ValueSet {
        let mut set = ValueSet::default();
        for value in values {
            match value {
                Value::Null => {}
                Value::Bool(b) => drop(set.integers.insert(i128::from(*b))),
                Value::Int(v) => drop(set.integers.insert(*v)),
                Value::Double(v) => drop(set.doubles.insert(double_word(*v))),
                Value::Text(t) => drop(set.strings.insert(t.as_bytes().into())),
                Value::Bytes(b) => drop(set.strings.insert(b.as_slice().into())),
                Value::Interval(i) => drop(set.integers.insert(i.to_native())),
            }
        }
        set
    }
}

/// # Safety
/// The set must be alive.
pub unsafe fn in_integers(set: *const ValueSet, value: i64) -> i32 {
    // SAFETY: by contract.
    i32::from(unsafe { (*set).integers.contains(&i128::from(value)) })
}

/// # Safety
/// As [`in_integers`].
pub unsafe fn in_decimals(set: *const ValueSet, value: *const i128) -> i32 {
    // SAFETY: by contract.
    i32::from(unsafe { (*set).integers.contains(&value.read_unaligned()) })
}

/// # Safety
/// As [`in_integers`].
pub unsafe fn in_doubles(set: *const ValueSet, value: f64) -> i32 {
    // SAFETY: by contract.
    i32::from(unsafe { (*set).doubles.contains(&double_word(value)) })
}

/// # Safety
/// As [`in_integers`]; the string must be alive.
pub unsafe fn in_strings(set: *const ValueSet, value: *const StringRef) -> i32 {
    // SAFETY: by contract.
    unsafe {
        let value = value.read_unaligned();
        i32::from((*set).strings.contains(value.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_they_were_given() {
        let values = [
            Value::Int(5),
            Value::Int(-(1 << 80)),
            Value::Null,
            Value::Double(-0.0),
            Value::Text("a string longer than twelve".into()),
        ];
        let set = ValueSet::new(&values);
        let long = StringRef::from_static("a string longer than twelve");
        let short = StringRef::from_static("a");
        // SAFETY: the set and the strings are alive.
        unsafe {
            assert_eq!([5, 6].map(|v| in_integers(&set, v)), [1, 0]);
            assert_eq!([-(1 << 80), 0].map(|v: i128| in_decimals(&set, &v)), [1, 0]);
            assert_eq!([0.0, 1.0].map(|v| in_doubles(&set, v)), [1, 0]);
            assert_eq!([long, short].map(|v| in_strings(&set, &v)), [1, 0]);
        }
    }
}
