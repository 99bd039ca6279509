//! What the planner guesses by: rows, NULLs and distinct values of one version of a table, and the bounds its values
//! lie in. Proofs are made from [`TableBounds`](crate::TableBounds) alone, which hold for later versions, too.

use crate::bounds::ColumnBounds;
use crate::chunk_entry::ChunkEntry;
use crate::snapshot::TableSnapshot;
use frazil_block::ColumnBuffer;
use frazil_kernels::hash::HashKey;
use frazil_kernels::{Isa, Selection, hash};
use frazil_types::{NativeType, Result, StringRef};
use std::sync::Arc;

/// Rows looked at to estimate distinct values.
const SAMPLE_ROWS: u64 = 16_384;

/// Statistics of one version of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableStatistics {
    /// Rows, exact.
    pub rows: u64,
    /// Per column.
    pub columns: Vec<ColumnStatistics>,
}

/// Statistics of one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnStatistics {
    /// Bounds of all values, and the number of NULLs.
    pub bounds: ColumnBounds,
    /// Estimate of the number of distinct values that are not NULL.
    pub distinct: f64,
    /// Part of the values' range that those of one chunk span, on average: close to 1, unless rows come in the
    /// order of the column. `None` for a single chunk, and if the type has no integers.
    pub spread: Option<f64>,
}

/// Distinct values of some version of a table, kept until the table has grown or shrunk by a fifth.
#[derive(Clone, Debug, PartialEq)]
pub struct DistinctEstimate {
    /// Rows of that version.
    pub rows: u64,
    /// Distinct values of each column.
    pub columns: Arc<[f64]>,
}

impl TableSnapshot {
    /// Statistics of this version; cheap but for the first time after the table changed a lot.
    pub fn statistics(&self) -> Result<Arc<TableStatistics>> {
        if let Some(known) = self.statistics_cell().get() {
            return Ok(known.clone());
        }
        let distinct = self.distinct()?;
        let mut columns: Vec<ColumnStatistics> = (distinct.columns.iter())
            .map(|&distinct| ColumnStatistics {
                bounds: ColumnBounds::default(),
                distinct,
                spread: None,
            })
            .collect();
        // Chunks with values, and the sum of their widths, of each column.
        let mut spans = vec![(0_u32, 0.0); columns.len()];
        for entry in self.chunks() {
            let view = entry.view();
            for (i, (column, span)) in columns.iter_mut().zip(&mut spans).enumerate() {
                let bounds = view.bounds(i);
                if let Some(width) = width(bounds) {
                    *span = (span.0 + 1, span.1 + width);
                }
                column.bounds = column.bounds.merge(bounds);
            }
        }
        for (column, (chunks, widths)) in columns.iter_mut().zip(spans) {
            let width = width(column.bounds);
            let most = width.unwrap_or(f64::MAX).min(self.rows() as f64);
            column.distinct = column.distinct.clamp(0.0, most);
            column.spread = width
                .filter(|_| chunks > 1)
                .map(|width| widths / f64::from(chunks) / width);
        }
        let made = Arc::new(TableStatistics {
            rows: self.rows(),
            columns,
        });
        Ok(self.statistics_cell().get_or_init(|| made).clone())
    }

    /// Estimates of distinct values, of this version or one about as large.
    pub fn distinct(&self) -> Result<DistinctEstimate> {
        let mut kept = (self.table().distinct_cell().lock()).unwrap_or_else(|e| e.into_inner());
        if let Some(known) = &*kept
            && known.rows.abs_diff(self.rows()) <= known.rows / 5
        {
            return Ok(known.clone());
        }
        let made = DistinctEstimate {
            rows: self.rows(),
            columns: (0..self.schema().columns.len())
                .map(|c| estimate_distinct(self, c))
                .collect::<Result<_>>()?,
        };
        Ok(kept.insert(made).clone())
    }
}

/// Integers in the range of some values; `None` if there is none.
fn width(bounds: ColumnBounds) -> Option<f64> {
    let range = bounds.range;
    range.map(|(least, greatest)| greatest.saturating_sub(least).saturating_add(1) as f64)
}

/// Scales the distinct values of a sample up to the table, by how many of them occur once in it (Haas
/// and Stokes 1998, the estimator PostgreSQL uses): n d / (n − f1 + f1 n / N).
fn estimate_distinct(version: &TableSnapshot, column: usize) -> Result<f64> {
    let rows = version.rows();
    let mut hashes = Vec::new();
    let whole = rows <= SAMPLE_ROWS;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut positions = Vec::new();
    for entry in version.chunks() {
        let view = entry.view();
        positions.clear();
        if whole {
            positions.extend((0..view.rows()).map(|r| r as u16));
        } else {
            // Independent rows, neighbours among them: where equal values lie side by side, evenly
            // spaced rows would never meet one twice.
            let share = u64::from(view.rows()) * SAMPLE_ROWS / rows + 1;
            for _ in 0..share {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                positions.push((((state >> 32) * u64::from(view.rows())) >> 32) as u16);
            }
            positions.sort_unstable();
            positions.dedup();
        }
        positions.retain(|&p| !view.is_deleted(usize::from(p)));
        hash_positions(version, entry, column, &positions, &mut hashes)?;
    }
    let sampled = hashes.len() as f64;
    hashes.sort_unstable();
    let (mut distinct, mut once) = (0.0, 0.0);
    for run in hashes.chunk_by(|a, b| a == b) {
        distinct += 1.0;
        once += f64::from(u8::from(run.len() == 1));
    }
    if sampled == 0.0 || whole {
        return Ok(distinct);
    }
    let scaled = sampled * distinct / (sampled - once + once * sampled / rows as f64);
    Ok(scaled.clamp(distinct, rows as f64))
}

fn hash_positions(
    version: &TableSnapshot,
    entry: &ChunkEntry,
    column: usize,
    positions: &[u16],
    hashes: &mut Vec<u64>,
) -> Result<()> {
    if positions.is_empty() {
        return Ok(());
    }
    let mut buffer = ColumnBuffer::new();
    let selection = Selection::Positions(positions);
    (entry.view().read(Isa::detect(), column, selection, &mut buffer))
        .map_err(|e| entry.blame(version.table().entry(), e))?;
    buffer.flatten();
    fn push<T: HashKey + frazil_types::Native>(buffer: &ColumnBuffer, hashes: &mut Vec<u64>) {
        let validity = buffer.validity();
        let values = buffer.values::<T>().iter().enumerate();
        hashes.extend(
            values
                .filter(|&(i, _)| validity.is_none_or(|v| v[i] == 1))
                .map(|(_, v)| v.fold(0)),
        );
    }
    match buffer.native() {
        NativeType::Bool => push::<u8>(&buffer, hashes),
        NativeType::I16 => push::<i16>(&buffer, hashes),
        NativeType::I32 => push::<i32>(&buffer, hashes),
        NativeType::I64 => push::<i64>(&buffer, hashes),
        NativeType::I128 => push::<i128>(&buffer, hashes),
        NativeType::F64 => push::<f64>(&buffer, hashes),
        NativeType::String => {
            let validity = buffer.validity();
            for (i, string) in buffer.values::<StringRef>().iter().enumerate() {
                if validity.is_none_or(|v| v[i] == 1) {
                    // SAFETY: the chunk and the buffer keep the strings alive.
                    hashes.push(hash::hash_bytes(unsafe { string.bytes() }));
                }
            }
        }
    }
    Ok(())
}
