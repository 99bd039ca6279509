//! Early probes of one worker: which of them still pay, and the test of a window.

use crate::chunk_view::ChunkView;
use crate::chunk_view::State;
use crate::table_scan::{BuildKeys, EarlyProbe};
use frazil_block::{Block, ColumnBuffer};
use frazil_kernels::early_probe::hash_filter::HashFilter;
use frazil_kernels::early_probe::{keep, probe};
use frazil_kernels::hash::{self, HashKey};
use frazil_kernels::{Isa, KeyFilter, Selection};
use frazil_types::{Native, NativeType, Result, StringRef};

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

/// Rows of a block for each code of a dictionary, at least, if codes are tested instead of strings.
const ROWS_A_CODE: usize = 4;

/// A worker's early probes.
#[derive(Debug, Default)]
pub struct EarlyProbes {
    records: Vec<Record>,
    /// For each probe the codes of the open chunk's dictionary that pass, if its strings are told by codes.
    codes: Vec<Codes>,
    buffer: ColumnBuffer,
    found: Vec<u64>,
    hashes: Vec<u64>,
    numbers: Vec<u32>,
}

/// The codes of a key in the open chunk, as far as they have been asked for.
#[derive(Clone, Debug, Default)]
enum Codes {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// The key has none, or too many.
    None,
    /// For each code of a block's dictionary, true if it passes.
    Passing(Block, Vec<bool>),
}

impl EarlyProbes {
    /// None has run yet.
    pub fn new(probes: usize) -> EarlyProbes {
        EarlyProbes {
            records: vec![Record::default(); probes],
            codes: vec![Codes::Unknown; probes],
            ..EarlyProbes::default()
        }
    }

    /// Begins a chunk.
    pub fn begin_chunk(&mut self) {
        self.codes.fill(Codes::Unknown);
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
        for ((record, codes), probe) in self.records.iter_mut().zip(&mut self.codes).zip(probes) {
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
            let column = columns[probe.column];
            self.found.clear();
            self.found.resize(count.div_ceil(64), 0);
            if let Codes::Unknown = codes {
                *codes = passing_codes(&probe.filter, view, column)?;
            }
            match codes {
                Codes::Passing(block, passing) => {
                    self.numbers.clear();
                    self.numbers.resize(count, 0);
                    block.add_string_codes(isa, column, selection, 1, &mut self.buffer, &mut self.numbers);
                    test_codes(passing, &self.numbers, &mut self.found);
                }
                Codes::Unknown | Codes::None => {
                    view.read(isa, column, selection, &mut self.buffer)?;
                    // Constants are rare among keys and cost a window what any column does.
                    self.buffer.flatten();
                    test(
                        isa,
                        &probe.filter,
                        &self.buffer,
                        &mut self.hashes,
                        &mut self.found,
                    );
                }
            }
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

/// The codes of a key that pass, if the rows of a chunk have codes and these repeat. XX001 if the column is damaged.
fn passing_codes(filter: &BuildKeys, view: ChunkView<'_>, column: usize) -> Result<Codes> {
    let (BuildKeys::Hashed(filter), State::Frozen(frozen)) = (filter, view.state()) else {
        return Ok(Codes::None);
    };
    let block = &frozen.block;
    let count = block.string_codes(column)?;
    let Some(count) = count.filter(|count| count * ROWS_A_CODE <= view.rows() as usize) else {
        return Ok(Codes::None);
    };
    let passes = |code: usize| {
        let string = block.string_of_code(column, code);
        // SAFETY: the strings of a block live as long as the block.
        string.is_some_and(|string| filter.may_have(unsafe { hash::fold_string(0, string) }))
    };
    Ok(Codes::Passing(block.clone(), (0..count).map(passes).collect()))
}

/// Match bits of rows by their codes.
fn test_codes(passing: &[bool], codes: &[u32], found: &mut [u64]) {
    for (word, codes) in found.iter_mut().zip(codes.chunks(64)) {
        let tests = codes.iter().enumerate();
        *word = tests.fold(0, |found, (i, &code)| {
            found | u64::from(passing[code as usize]) << i
        });
    }
}

/// Match bits of the keys in the buffer; NULL has no partner. `hashes` is scratch.
fn test(isa: Isa, filter: &BuildKeys, keys: &ColumnBuffer, hashes: &mut Vec<u64>, found: &mut [u64]) {
    let is_tested = match filter {
        BuildKeys::Range(filter) => test_range(isa, filter, keys, found),
        BuildKeys::Hashed(filter) => {
            test_hashed(isa, filter, keys, hashes, found);
            true
        }
    };
    if !is_tested {
        return;
    }
    if let Some(validity) = keys.validity() {
        for (word, valid) in found.iter_mut().zip(validity.chunks(64)) {
            for (i, &valid) in valid.iter().enumerate() {
                *word &= !(u64::from(valid == 0) << i);
            }
        }
    }
}

/// Tests integers. Returns false, and lets every row pass, for keys of another type.
fn test_range(isa: Isa, filter: &KeyFilter, keys: &ColumnBuffer, found: &mut [u64]) -> bool {
    match keys.native() {
        NativeType::I16 => probe(isa, filter, keys.values::<i16>(), found),
        NativeType::I32 => probe(isa, filter, keys.values::<i32>(), found),
        NativeType::I64 => probe(isa, filter, keys.values::<i64>(), found),
        // Whoever asked for the probe saw to it that the key is an integer; of others every row passes.
        NativeType::Bool | NativeType::I128 | NativeType::F64 | NativeType::String => {
            for (i, word) in found.iter_mut().enumerate() {
                *word = !0 >> (64 - (keys.len() - i * 64).min(64));
            }
            return false;
        }
    }
    true
}

fn test_hashed(isa: Isa, filter: &HashFilter, keys: &ColumnBuffer, hashes: &mut Vec<u64>, found: &mut [u64]) {
    fn fill<T: HashKey + Native>(isa: Isa, keys: &ColumnBuffer, hashes: &mut [u64]) {
        hash::hash_column(isa, keys.values::<T>(), keys.validity(), hashes);
    }
    hashes.clear();
    hashes.resize(keys.len(), 0);
    match keys.native() {
        NativeType::Bool => fill::<u8>(isa, keys, hashes),
        NativeType::I16 => fill::<i16>(isa, keys, hashes),
        NativeType::I32 => fill::<i32>(isa, keys, hashes),
        NativeType::I64 => fill::<i64>(isa, keys, hashes),
        NativeType::I128 => fill::<i128>(isa, keys, hashes),
        NativeType::F64 => fill::<f64>(isa, keys, hashes),
        NativeType::String => {
            let strings = keys.values::<StringRef>();
            // SAFETY: the buffer and the chunk keep the strings of rows that are not NULL.
            unsafe { hash::hash_strings(isa, strings, keys.validity(), hashes) };
        }
    }
    filter.probe(hashes, found);
}
