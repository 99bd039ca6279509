//! Early probes of one worker: which of them still pay, and the test of a window.

use crate::chunk_view::ChunkView;
use crate::table_scan::EarlyProbe;
use frazil_block::ColumnBuffer;
use frazil_kernels::early_probe::{keep, probe};
use frazil_kernels::{Isa, Selection};
use frazil_types::{NativeType, Result};

/// Rows after which a probe is judged.
const TRIAL_ROWS: u64 = 1 << 15;
/// A probe that lets more than this share pass costs more than it saves.
const PAYS_BELOW_PERCENT: u64 = 75;

/// What a probe has done so far.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    tested: u64,
    // Of these, the ones that were not asked for yet.
    fresh: u64,
    passed: u64,
}

impl Record {
    fn pays(&self) -> bool {
        self.tested < TRIAL_ROWS || self.passed * 100 < self.tested * PAYS_BELOW_PERCENT
    }
}

/// A worker's early probes.
#[derive(Debug, Default)]
pub struct EarlyProbes {
    records: Vec<Record>,
    buffer: ColumnBuffer,
    found: Vec<u64>,
}

impl EarlyProbes {
    /// None has run yet.
    pub fn new(probes: usize) -> EarlyProbes {
        EarlyProbes {
            records: vec![Record::default(); probes],
            ..EarlyProbes::default()
        }
    }

    /// Whether any of them pays: if not, rows need not be matched for their sake.
    pub fn pay(&self) -> bool {
        self.records.iter().any(Record::pays)
    }

    /// Columns of the scan and rows tested by them since the last call.
    pub fn take_tested(&mut self, probes: &[EarlyProbe]) -> impl Iterator<Item = (usize, u64)> {
        let records = self.records.iter_mut().zip(probes);
        records.map(|(record, probe)| (probe.column, std::mem::take(&mut record.fresh)))
    }

    /// Clears the bits of rows whose keys have no partner. `words` are the match bits of the rows from `start` on;
    /// returns how many bits were cleared.
    pub fn run(
        &mut self,
        isa: Isa,
        probes: &[EarlyProbe],
        columns: &[usize],
        view: ChunkView<'_>,
        rows: std::ops::Range<usize>,
        words: &mut [u64],
    ) -> Result<u64> {
        let mut dropped = 0;
        for (record, probe) in self.records.iter_mut().zip(probes) {
            let selection = Selection::Bits {
                words,
                start: rows.start as u32,
                len: rows.len() as u32,
            };
            let count = selection.count();
            if count == 0 {
                return Ok(dropped);
            }
            if !record.pays() {
                continue;
            }
            let all = count == rows.len();
            let selection = if all {
                Selection::all(rows.start as u32..rows.end as u32)
            } else {
                selection
            };
            view.read(isa, columns[probe.column], selection, &mut self.buffer)?;
            // Constants are rare among keys and cost a window what any column does.
            self.buffer.flatten();
            self.found.clear();
            self.found.resize(count.div_ceil(64), 0);
            test(isa, probe, &self.buffer, &mut self.found);
            let passed: u64 = self.found.iter().map(|w| u64::from(w.count_ones())).sum();
            record.tested += count as u64;
            record.fresh += count as u64;
            record.passed += passed;
            dropped += count as u64 - passed;
            if all {
                words.copy_from_slice(&self.found);
            } else {
                keep(isa, &self.found, words);
            }
        }
        Ok(dropped)
    }
}

/// Match bits of the keys in the buffer; NULL has no partner.
fn test(isa: Isa, early: &EarlyProbe, keys: &ColumnBuffer, found: &mut [u64]) {
    match keys.native() {
        NativeType::I16 => probe(isa, &early.filter, keys.values::<i16>(), found),
        NativeType::I32 => probe(isa, &early.filter, keys.values::<i32>(), found),
        NativeType::I64 => probe(isa, &early.filter, keys.values::<i64>(), found),
        // Whoever asked for the probe saw to it that the key is an integer; of others every row passes.
        _ => {
            for (i, word) in found.iter_mut().enumerate() {
                *word = !0 >> (64 - (keys.len() - i * 64).min(64));
            }
            return;
        }
    }
    if let Some(validity) = keys.validity() {
        for (word, valid) in found.iter_mut().zip(validity.chunks(64)) {
            for (i, &valid) in valid.iter().enumerate() {
                *word &= !(u64::from(valid == 0) << i);
            }
        }
    }
}
