//! Functions that give rows, for the row in hand.

use super::{Context, Wide};
use crate::abi::STATUS_OK;
use frazil_types::value_ops::Series;
use frazil_types::{Interval, Result, Zone};

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
