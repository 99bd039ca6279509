//! Functions that give rows, for the row in hand.

use super::{Context, Text, TextOut, Wide};
use crate::abi::{STATUS_FAILED, STATUS_OK};
use frazil_types::array::{ArrayRef, InTurn};
use frazil_types::value_ops::Series;
use frazil_types::{Interval, LogicalType, Result, StringRef, Zone};

/// # Safety
/// `out` must be valid for a write, the context the pipeline's.
unsafe fn put(context: Context, made: Result<Series>, out: *mut Series) -> u32 {
    match made {
        Ok(series) => {
            // SAFETY: by contract.
            unsafe { out.write_unaligned(series) };
            STATUS_OK
        }
        // SAFETY: by contract.
        Err(error) => unsafe { (*context).fail(error) },
    }
}

/// # Safety
/// The numbers must be valid for a read, `out` for a write, the context the pipeline's.
pub unsafe fn series_of_integers(
    context: Context,
    start: Wide,
    stop: Wide,
    step: Wide,
    out: *mut Series,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let (start, stop) = (start.read_unaligned(), stop.read_unaligned());
        put(
            context,
            Series::of_integers(start, stop, step.read_unaligned()),
            out,
        )
    }
}

/// # Safety
/// As [`series_of_integers`]. `zone` is a [`Zone::code`], that of UTC for timestamps without a zone.
pub unsafe fn series_of_timestamps(
    context: Context,
    start: i64,
    stop: i64,
    step: Wide,
    zone: u32,
    out: *mut Series,
) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let step = Interval::from_native(step.read_unaligned());
        let zone = Zone::of_code(zone).unwrap_or_default();
        put(context, Series::of_timestamps(start, stop, step, zone), out)
    }
}

/// # Safety
/// `series` must be one that was made, the context the pipeline's.
pub unsafe fn series_advance(context: Context, series: *mut Series) -> u32 {
    // SAFETY: by contract.
    unsafe {
        let mut next = series.read_unaligned();
        let advanced = next.advance();
        put(context, advanced.map(|()| next), series)
    }
}

/// The elements of an array that generated code gives one after the other.
///
/// It reads a number at `data`, and goes on by its size, or by `null_width` where it is NULL; a string it asks for by its place.
#[repr(C)]
#[derive(Debug)]
pub struct Elements {
    /// Number of elements.
    pub count: u64,
    /// The bytes of the elements, one behind the other.
    pub data: *const u8,
    /// Of element `i` the bit `i % 8` of the byte `i / 8 & null_mask`, set where the element is NULL.
    pub nulls: *const u8,
    /// 0 where no element is NULL: there is one byte then, all clear. Else all ones.
    pub null_mask: u64,
    /// Bytes of a number that is NULL.
    pub null_width: u64,
    /// Where the bytes of each string end: four bytes an element.
    ends: *const [u8; 4],
    /// Whether the array's bytes live for the vector in hand only.
    is_transient: bool,
}

impl Elements {
    fn new(parts: &InTurn<'_>, is_transient: bool) -> Elements {
        Elements {
            count: parts.count as u64,
            data: parts.data.as_ptr(),
            nulls: match parts.nulls {
                [] => &raw const NO_NULLS,
                nulls => nulls.as_ptr(),
            },
            null_mask: if parts.nulls.is_empty() { 0 } else { u64::MAX },
            null_width: parts.null_width as u64,
            ends: parts.ends.as_ptr().cast(),
            is_transient,
        }
    }
}

/// The bits of no NULLs.
static NO_NULLS: u8 = 0;

/// # Safety
/// The array must be alive, as long as `out` is used; `out` must be valid for a write.
pub unsafe fn array_numbers(array: Text, width: u64, out: *mut Elements) -> u32 {
    // SAFETY: by contract; the bytes of an inline array lie where the string does.
    unsafe {
        let Some(parts) = InTurn::of_width((*array).bytes(), width as usize) else {
            return STATUS_FAILED;
        };
        out.write_unaligned(Elements::new(&parts, true));
    }
    STATUS_OK
}

/// # Safety
/// As [`array_numbers`].
pub unsafe fn array_strings(array: Text, element: u64, out: *mut Elements) -> u32 {
    // SAFETY: by contract.
    let (string, bytes) = unsafe { (array.read_unaligned(), (*array).bytes()) };
    let element = LogicalType::of_code(element);
    let Ok(parts) = element.and_then(|element| ArrayRef::new(bytes, element)?.in_turn()) else {
        return STATUS_FAILED;
    };
    // SAFETY: by contract.
    unsafe { out.write_unaligned(Elements::new(&parts, string.is_transient())) };
    STATUS_OK
}

/// # Safety
/// The elements must be those of a living array of strings, `at` one of them; `out` must be valid for a write.
pub unsafe fn element_string(elements: *const Elements, at: u64, out: TextOut) {
    // SAFETY: by contract; ends do not fall and stay within the bytes, which was seen when the array was opened.
    unsafe {
        let ends = (*elements).ends;
        let end = |at: u64| u32::from_le_bytes(*ends.add(at as usize)) as usize;
        let start = if at == 0 { 0 } else { end(at - 1) };
        let bytes = std::slice::from_raw_parts((*elements).data.add(start), end(at) - start);
        let string = StringRef::new(bytes);
        let string = if (*elements).is_transient {
            string.as_transient()
        } else {
            string
        };
        out.write_unaligned(string);
    }
}
