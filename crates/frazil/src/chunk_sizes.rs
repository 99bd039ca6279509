//! Sizes of the chunks that a scan would read: whoever divides a scan makes parts of equal size of them.

use frazil_storage::TableScan;
use frazil_types::Result;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Size of the rows of one chunk that a scan may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSize {
    /// Number of the chunk.
    pub number: u32,
    /// Rows, at most: live ones among those that SMA and PSMAs leave.
    pub rows: u64,
    /// Bytes that the columns take in the chunk. The bytes of strings of a hot chunk are not counted.
    pub bytes: u64,
}

/// The chunks in which rows may satisfy the restrictions of a scan, by their numbers, with their sizes in some columns
/// (positions in the table). Each chunk is opened, and no row of it is read.
pub fn chunk_sizes(scan: TableScan, columns: &[usize]) -> Result<Vec<ChunkSize>> {
    let mut sizes: BTreeMap<u32, ChunkSize> = BTreeMap::new();
    for info in scan.snapshot().describe() {
        let size = sizes.entry(info.chunk).or_insert(ChunkSize {
            number: info.chunk,
            rows: (info.rows - info.deleted).into(),
            bytes: 0,
        });
        if columns.contains(&info.column) {
            size.bytes += info.bytes;
        }
    }
    let scan = Arc::new(scan);
    for morsel in 0..scan.morsels() {
        let before = scan.counters();
        let mut cursor = scan.cursor();
        cursor.open(morsel)?;
        let (number, rows) = (cursor.chunk_number(), cursor.chunk_rows() as u64);
        // The scan knows what a cursor found when the cursor is dropped.
        drop(cursor);
        let after = scan.counters();
        let left = match after.chunks_skipped_by_sma > before.chunks_skipped_by_sma {
            true => 0,
            false => rows - (after.rows_skipped_by_psma - before.rows_skipped_by_psma),
        };
        if let Some(size) = sizes.get_mut(&number) {
            size.rows = size.rows.min(left);
        }
    }
    Ok(sizes.into_values().filter(|size| size.rows > 0).collect())
}
