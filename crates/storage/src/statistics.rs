//! What the planner guesses by: rows, NULLs and distinct values of one version of a table, and the bounds its values
//! lie in. Proofs are made from [`TableBounds`](crate::TableBounds) alone, which hold for later versions, too.

use crate::bounds::ColumnBounds;
use crate::chunk_entry::ChunkEntry;
use crate::snapshot::{Table, TableSnapshot};
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

impl Table {
    /// Forgets the estimates of distinct values and the samples: a column has other values.
    pub(crate) fn forget_distinct(&self) {
        *self.distinct_cell().lock().unwrap_or_else(|e| e.into_inner()) = None;
        self.samples().forget();
    }

    /// Takes over what was estimated before, so that no row need be looked at. One that does not fit the
    /// columns is ignored.
    pub fn set_distinct(&self, estimate: DistinctEstimate) {
        if estimate.columns.len() == self.schema().columns.len() {
            *self.distinct_cell().lock().unwrap_or_else(|e| e.into_inner()) = Some(estimate);
        }
    }

    /// The estimate of distinct values, if there is one.
    pub fn known_distinct(&self) -> Option<DistinctEstimate> {
        self.distinct_cell()
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .clone()
    }
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

/// Counts the distinct values of a sample, and scales them up to the table by [`Sampled::scaled`].
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
    let mut seen = Sampled {
        rows: sampled,
        ..Sampled::default()
    };
    for run in hashes.chunk_by(|a, b| a == b) {
        seen.distinct += 1.0;
        seen.once += f64::from(u8::from(run.len() == 1));
        seen.twice += f64::from(u8::from(run.len() == 2));
    }
    if sampled == 0.0 || whole {
        return Ok(seen.distinct);
    }
    Ok(seen.scaled(rows as f64))
}

/// Frequencies of values in a sample of rows.
#[derive(Clone, Copy, Debug, Default)]
struct Sampled {
    /// Rows of the sample.
    rows: f64,
    /// Distinct values.
    distinct: f64,
    /// Values that occur once.
    once: f64,
    /// Values that occur twice.
    twice: f64,
}

/// A sample with fewer values that occur once tells nothing about a power law.
const FEWEST_ONCE: f64 = 200.0;
/// A column follows a power law if f2 / f1 of its sample is below this part of what uniform values have. Values of a
/// power law have half of it: Zipf's law with exponent 1.2 has 0.51 to 0.56 in samples, cubes of uniform numbers have
/// 0.7 to 0.8.
const LAW: f64 = 0.65;

impl Sampled {
    /// Estimates the number of distinct values in a table of `rows` rows: the greatest of three estimates. In a sample
    /// of n rows with d values, f1 values occur once and f2 values twice; the table has N rows.
    ///
    /// - n d / (n − f1 + f1 n / N) suits values that are about equally frequent (Haas and Stokes 1998; PostgreSQL's).
    /// - d + f1² / 2 f2 is a lower bound for any frequencies (Chao 1984). If few values are frequent and most are
    ///   rare, the first estimate is far below this bound.
    /// - d (N / n)^a with a = f1 / d is the growth of a power law. It counts only if f2 / f1 is about (1 − a) / 2,
    ///   as in samples of such a law.
    fn scaled(self, rows: f64) -> f64 {
        let Sampled {
            rows: sampled,
            distinct,
            once,
            twice,
        } = self;
        let even = sampled * distinct / (sampled - once + once * sampled / rows);
        let least = distinct + once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0));
        let exponent = once / distinct;
        let is_law = once >= FEWEST_ONCE && twice > 0.0 && twice / once < LAW * (1.0 - exponent);
        let law = match is_law {
            true => distinct * (rows / sampled).powf(exponent),
            false => 0.0,
        };
        even.max(least).max(law).clamp(distinct, rows)
    }
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

#[cfg(test)]
mod tests {
    use super::{SAMPLE_ROWS, Sampled};
    use frazil_testkit::Random;
    use std::collections::{HashMap, HashSet};

    /// Number of distinct values among `rows` values, and the estimate by a sample of them.
    fn true_and_estimated(rows: usize, mut value: impl FnMut(usize, f64) -> u64) -> (f64, f64) {
        let mut random = Random::new(7);
        let mut uniform = || random.share();
        let values: Vec<u64> = (0..rows).map(|i| value(i, uniform())).collect();
        let places: HashSet<usize> = (0..SAMPLE_ROWS)
            .map(|_| (uniform() * rows as f64) as usize)
            .collect();
        let mut times: HashMap<u64, u32> = HashMap::new();
        places
            .iter()
            .for_each(|&at| *times.entry(values[at]).or_default() += 1);
        let occurring = |n: u32| times.values().filter(|times| **times == n).count() as f64;
        let seen = Sampled {
            rows: times.values().sum::<u32>().into(),
            distinct: times.len() as f64,
            once: occurring(1),
            twice: occurring(2),
        };
        let all: HashSet<u64> = values.into_iter().collect();
        (all.len() as f64, seen.scaled(rows as f64))
    }

    #[test]
    fn estimates_are_near_for_even_and_for_skewed_values() {
        const ROWS: usize = 400_000;
        type Value = fn(usize, f64) -> u64;
        let cases: [(&str, Value, f64); 9] = [
            ("a hundred", |_, u| (u * 100.0) as u64, 1.01),
            ("10,000", |_, u| (u * 1e4) as u64, 1.1),
            ("100,000", |_, u| (u * 1e5) as u64, 1.3),
            ("each four times", |i, _| i as u64 / 4, 1.3),
            ("unique", |i, _| i as u64, 1.01),
            ("cubes", |_, u| (u * u * u * 40_000.0) as u64, 2.5),
            ("Zipf 1.2", |_, u| u.powf(-5.0).min(1e6) as u64, 2.0),
            (
                "half of them unique",
                |i, u| if u < 0.5 { u64::MAX } else { i as u64 },
                3.0,
            ),
            ("one", |_, _| 1, 1.01),
        ];
        for (name, value, within) in cases {
            let (all, estimated) = true_and_estimated(ROWS, value);
            let times = (all / estimated).max(estimated / all);
            assert!(times <= within, "{name}: {estimated} instead of {all}");
        }
    }
}
