//! Columns of the current vector of a scan, where they lie or copied.

use crate::chunk_entry::ChunkEntry;
use crate::chunk_view::{ChunkView, State};
use crate::table_scan::{ScanCounters, TableScan};
use frazil_block::ColumnBuffer;
use frazil_block::unpack::values_at_positions_below;
use frazil_kernels::{Isa, Selection};
use frazil_types::Result;

/// A column of the current vector: row `i` is at `i & mask`.
///
/// The pointers are valid until the same column is fetched again, or the cursor moves on (`next`,
/// `open`) or is dropped; behind the values there are 64 readable bytes.
#[derive(Clone, Copy, Debug)]
pub struct FetchedColumn {
    /// Values of the column's native type. Strings may be transient: see
    /// [`StringRef`](frazil_types::StringRef).
    pub values: *const u8,
    /// One byte a row, 1: valid; `None` when no row is NULL.
    pub validity: Option<*const u8>,
    /// Whether one value (and validity byte) stands for all rows.
    pub constant: bool,
}

/// Selected rows of a column, an index into the scan's columns.
pub(crate) fn fetch(
    scan: &TableScan,
    entry: &ChunkEntry,
    index: usize,
    selection: Selection<'_>,
    buffer: &mut ColumnBuffer,
    counters: &mut ScanCounters,
) -> Result<FetchedColumn> {
    let (column, view) = (scan.columns[index], entry.view());
    counters.bytes_touched += cell_bytes(view, column, selection.count()) as u64;
    if scan.options.lend_columns
        && let Selection::All { start, len } = selection
        && let Some(lent) = lend(view, column, start as usize, len as usize)?
    {
        return Ok(lent);
    }
    (view.read(scan.options.isa, column, selection, buffer))
        .map_err(|e| entry.blame(scan.snapshot.table().entry(), e))?;
    Ok(FetchedColumn {
        values: buffer.values_ptr(),
        validity: buffer.validity_ptr(),
        constant: buffer.is_constant(),
    })
}

/// Rows in a thousand below which values of a column are fetched at positions.
pub(crate) fn at_positions_below(isa: Isa, view: ChunkView<'_>, column: usize) -> usize {
    match view.state() {
        State::Hot(hot) => values_at_positions_below(isa, hot.layout().column(column).native.size()),
        State::Frozen(frozen) => frozen.block.at_positions_below(isa, column),
    }
}

/// Bytes that so many values of a column take.
fn cell_bytes(view: ChunkView<'_>, column: usize, values: usize) -> usize {
    match view.state() {
        State::Hot(hot) => values * hot.layout().column(column).native.size(),
        State::Frozen(frozen) => frozen.block.entry(column).code_bytes(values),
    }
}

/// The chunk's own memory, if a range of values lies there side by side in native form.
fn lend(view: ChunkView<'_>, column: usize, start: usize, len: usize) -> Result<Option<FetchedColumn>> {
    let (values, validity) = match view.state() {
        State::Hot(hot) if hot.constant(column).is_some() => return Ok(None),
        State::Hot(hot) if hot.layout().run_end(start, start + len) < start + len => return Ok(None),
        State::Hot(hot) => (hot.value_ptr(column, start), hot.validity_ptr(column, start)),
        State::Frozen(frozen) => match frozen.block.borrow(column)? {
            None => return Ok(None),
            Some(first) => {
                let size = frozen.block.native(column).size();
                (first.wrapping_add(start * size), None)
            }
        },
    };
    Ok(Some(FetchedColumn {
        values,
        validity,
        constant: false,
    }))
}
