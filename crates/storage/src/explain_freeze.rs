//! EXPLAIN FREEZE: the ways to hold each column of a table, what the cost model predicts of each, and what
//! building it shows. A sample is looked at, the fullest block that FREEZE TABLE would make; nothing is
//! frozen.

use crate::freeze::{GatheredRows, groups};
use crate::snapshot::TableSnapshot;
use frazil_block::{
    Block, BlockBuilder, BlockScan, BuildOptions, Candidate, ColumnBuffer, ColumnInput, ColumnOptions,
    Layout, Observed, ScanOptions, Weights,
};
use frazil_kernels::{Isa, Selection};
use frazil_types::{Cancel, CompareOp, MatchBits, Restriction, RestrictionKind, Result, SqlState, Value};
use std::hint::black_box;
use std::time::Instant;

/// A way to hold a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WayToHold {
    /// Position of the column in the table.
    pub column: usize,
    /// Encoding, layout, and what is predicted of them.
    pub predicted: Candidate,
    /// What its purpose weighs.
    pub prior: Weights,
    /// What the choice weighs: the same, or what the column's use made of it.
    pub weights: Weights,
    /// What was observed of the column's use, per block.
    pub observed: Observed,
    /// What was measured, if that was asked for and values can be held so.
    pub measured: Option<MeasuredCost>,
}

/// What building a candidate showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredCost {
    /// Bytes of the column in a block, PSMA apart.
    pub bytes: u64,
    /// Nanoseconds a value to test and unpack all, by windows.
    pub scan_ns: f64,
    /// Nanoseconds to fetch a value, every tenth being fetched.
    pub access_ns: f64,
}

/// Rows of a window of the measured scan.
const WINDOW: u32 = 4096;
/// The least of so many measurements counts.
const RUNS: usize = 5;

impl TableSnapshot {
    /// The ways to hold each column of the table's rows, sorted by a column if one is given; those of a
    /// column stand together, the cheapest first. None if there are no rows. With `measure` each is built.
    pub fn explain_freeze(
        &self,
        order_by: Option<usize>,
        measure: bool,
        cancel: &Cancel,
    ) -> Result<Vec<WayToHold>> {
        let groups = groups(self);
        let rows = |group: &&Vec<std::sync::Arc<crate::ChunkEntry>>| {
            group.iter().map(|entry| entry.view().live_rows()).sum::<u32>()
        };
        let Some(sample) = groups.iter().rev().max_by_key(rows) else {
            return Ok(Vec::new());
        };
        let table = self.table();
        let gathered = GatheredRows::visible(table, sample, order_by)?;
        let options = self.build_options();
        let mut out = Vec::new();
        for (column, input) in gathered.inputs(table).iter().enumerate() {
            for predicted in candidates(&options, column, input) {
                cancel.check()?;
                let measured = match measure {
                    true => measure_candidate(input, &predicted)?,
                    false => None,
                };
                out.push(WayToHold {
                    column,
                    predicted,
                    prior: *options.calibration.weights(options.purpose_of(column)),
                    weights: options.weights_of(column),
                    observed: options.observed.get(column).copied().unwrap_or(Observed::NOTHING),
                    measured,
                });
            }
        }
        Ok(out)
    }
}

/// What the options admit, and what they would admit if nothing were pinned: the chosen one first, then
/// by cost, those that are not admitted last.
fn candidates(options: &BuildOptions, column: usize, input: &ColumnInput) -> Vec<Candidate> {
    let mut all = BlockBuilder::new(options.clone()).candidates(column, input);
    if options.column(column).pins() {
        let mut free = options.clone();
        free.columns = vec![ColumnOptions {
            purpose: Some(options.purpose_of(column)),
            ..ColumnOptions::default()
        }];
        free.wherever_possible = ColumnOptions::default();
        free.observed = options.observed.get(column).into_iter().copied().collect();
        for mut other in BlockBuilder::new(free).candidates(0, input) {
            let known = |c: &Candidate| (c.encoding, c.layout) == (other.encoding, other.layout);
            if !all.iter().any(known) {
                (other.admitted, other.chosen) = (false, false);
                all.push(other);
            }
        }
    }
    all.sort_by(|a, b| {
        let favoured = (b.chosen, b.admitted).cmp(&(a.chosen, a.admitted));
        favoured.then(a.cost.total_cmp(&b.cost))
    });
    all
}

/// Builds a block of the column held so, and takes the time of its scan and of accesses; `None` if it
/// cannot be held so after all.
fn measure_candidate(input: &ColumnInput, candidate: &Candidate) -> Result<Option<MeasuredCost>> {
    let options = BuildOptions {
        psma: false,
        columns: vec![ColumnOptions {
            encoding: Some(candidate.encoding),
            layout: Some(candidate.layout).filter(|&l| l != Layout::None),
            purpose: None,
        }],
        ..BuildOptions::default()
    };
    let block = match BlockBuilder::new(options).build(std::slice::from_ref(input)) {
        Err(e) if e.state() == SqlState::INVALID_PARAMETER => return Ok(None),
        block => block?,
    };
    let positions: Vec<u16> = (0..block.rows()).step_by(10).map(|p| p as u16).collect();
    let mut buffer = ColumnBuffer::new();
    let scan = least_time(|| scan_block(&block, &mut buffer))?;
    let access = least_time(|| {
        block.unpack(Isa::detect(), 0, Selection::Positions(&positions), &mut buffer)?;
        black_box(&buffer);
        Ok(())
    })?;
    Ok(Some(MeasuredCost {
        bytes: block.column_info(0).bytes,
        scan_ns: scan / f64::from(block.rows()),
        access_ns: access / positions.len() as f64,
    }))
}

/// Nanoseconds of the fastest run.
fn least_time(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let started = Instant::now();
        work()?;
        least = least.min(started.elapsed().as_nanos() as f64);
    }
    Ok(least)
}

/// Tests every value against one of them and unpacks all, window by window.
fn scan_block(block: &Block, buffer: &mut ColumnBuffer) -> Result<()> {
    let kind = match block.value_at(0, (block.rows() / 2) as u16)? {
        Value::Null => RestrictionKind::IsNull,
        value => RestrictionKind::Compare(CompareOp::Ge, value),
    };
    let options = ScanOptions {
        use_sma: false,
        use_psma: false,
        ..ScanOptions::default()
    };
    let mut scan = BlockScan::new(block, &[Restriction { column: 0, kind }], &[], options)?;
    let mut bits = MatchBits::zeros(WINDOW as usize);
    let mut positions = Vec::new();
    for start in (0..block.rows()).step_by(WINDOW as usize) {
        let window = start..block.rows().min(start + WINDOW);
        black_box(scan.match_window(window.clone(), &mut bits, &mut positions)?);
        block.unpack(options.isa, 0, Selection::all(window), buffer)?;
        black_box(&*buffer);
    }
    Ok(())
}
