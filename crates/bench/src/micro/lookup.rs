//! The experiment `lookup`: what fetching single codes costs, by layout and width (ByteSlice, section
//! 4.1.1; Data Blocks, figure 12b).
//!
//! - `dependent`: lookups out of cache of which each waits for the code before it, so that nothing hides
//!   the memory's latency.
//! - `positions`: vectors of 1,024 ascending positions in a block out of cache; before one is fetched, the
//!   lines of the next are asked for.
//! - `unpack/percent_p`: the codes of a block in cache, of which p per cent are selected by match bits.
//! - `unpack_at/percent_p`: the same, selected by their positions. Where the two meet is the density at which
//!   a scan changes from the one to the other (Hyrise's integer compression, section 4.1.2).

use super::codes::uniform;
use super::column::{Column, Fetched};
use super::scan_cases::layout_name;
use super::trials::{self, Metrics, Trial};
use crate::arguments::BenchArgs;
use crate::report::Report;
use frazil_block::Layout;
use frazil_kernels::{Isa, Selection};
use frazil_testkit::Random;
use frazil_types::Result;

/// Rows of a block.
const BLOCK_ROWS: usize = 65_536;

/// Blocks out of cache: 64 MB of the narrowest byte-packed codes, 256 MB of the widest.
const BLOCKS: usize = 1_024;

/// Lookups of a chain.
const STEPS: u64 = 20_000;

/// Positions of a vector.
const POSITIONS: usize = 1_024;

/// Selectivities of unpacking, in per cent.
const PERCENTS: [u64; 8] = [1, 3, 5, 10, 15, 20, 50, 100];

/// Names of what is measured.
const PER_LOOKUP: Metrics = Metrics {
    ns: "ns_per_lookup",
    cycles: "cycles_per_lookup",
    events: [
        "instructions_per_lookup",
        "counted_cycles_per_lookup",
        "cache_misses_per_lookup",
        "branch_misses_per_lookup",
    ],
};

/// Runs the experiment.
pub fn run(name: &'static str, widths: &[u32], args: &BenchArgs) -> Result<Report> {
    let widths = if args.widths.is_empty() {
        widths
    } else {
        &args.widths
    };
    let blocks = (BLOCKS as f64 * args.scale_factor.min(1.0)) as usize;
    let blocks = blocks.max(2).next_power_of_two();
    let mut report = Report::default();
    for &bits in widths {
        let codes = uniform(BLOCK_ROWS, 1 << bits);
        let columns = Layout::ALL.map(|layout| Column::new(layout, bits, &codes, blocks));
        let vectors = vectors(blocks);
        let selections = PERCENTS.map(selection);
        let mut trials: Vec<Trial> = Vec::new();
        for column in &columns {
            let case = format!("{}/{bits}", layout_name(column.layout()));
            trials.push(dependent(format!("{case}/dependent"), column));
            trials.push(positions(format!("{case}/positions"), column, &vectors));
            for (percent, words) in PERCENTS.iter().zip(&selections) {
                let bits = Selection::Bits {
                    words,
                    start: 0,
                    len: BLOCK_ROWS as u32,
                };
                let at: Vec<u16> = bits.rows().map(|row| row as u16).collect();
                trials.push(unpack(format!("{case}/unpack/percent_{percent}"), column, words));
                trials.push(unpack_at(
                    format!("{case}/unpack_at/percent_{percent}"),
                    column,
                    at,
                ));
            }
        }
        for outcome in trials::run(args.runs, trials) {
            outcome.add_to(&mut report, name, PER_LOOKUP);
        }
        compare(&mut report, bits);
    }
    Ok(report)
}

/// All blocks in random order, so that none is in cache when its turn comes again, each with ascending
/// positions.
fn vectors(blocks: usize) -> Vec<(usize, Vec<u16>)> {
    let mut random = Random::new(1);
    let mut order: Vec<(u64, usize)> = (0..blocks).map(|block| (random.bits(), block)).collect();
    order.sort_unstable();
    let vector = |(_, block)| {
        let mut positions: Vec<u16> = (0..2 * POSITIONS).map(|_| random.bits() as u16).collect();
        positions.sort_unstable();
        positions.dedup();
        // Every other one, so that they reach over the whole block.
        let few: Vec<u16> = positions.into_iter().step_by(2).collect();
        (block, few)
    };
    order.into_iter().map(vector).collect()
}

/// Match bits of a block.
fn selection(percent: u64) -> Vec<u64> {
    let mut random = Random::new(percent);
    let word = |_| {
        (0..64).fold(0, |word, bit| {
            word | u64::from(random.below(100) < percent) << bit
        })
    };
    (0..BLOCK_ROWS / 64).map(word).collect()
}

/// Every chain goes on where the last one ended, lest it finds the lines of that one in cache.
fn dependent(case: String, column: &Column) -> Trial<'_> {
    let mut done = 0;
    Trial {
        case,
        units: STEPS as f64,
        work: Box::new(move || {
            std::hint::black_box(column.chase(done..done + STEPS));
            done += STEPS;
        }),
    }
}

fn positions<'a>(case: String, column: &'a Column, vectors: &'a [(usize, Vec<u16>)]) -> Trial<'a> {
    let isa = Isa::detect();
    let mut fetched = Fetched::with_room(POSITIONS);
    Trial {
        case,
        units: vectors.iter().map(|(_, positions)| positions.len() as f64).sum(),
        work: Box::new(move || {
            let next = vectors.iter().cycle().skip(1);
            for ((block, positions), (next_block, next)) in vectors.iter().zip(next) {
                column.prefetch(*next_block, next);
                column.unpack(isa, *block, Selection::Positions(positions), &mut fetched);
            }
            std::hint::black_box(&fetched);
        }),
    }
}

/// The cost is one of the rows selected, as in the paper's figure.
fn unpack<'a>(case: String, column: &'a Column, words: &'a [u64]) -> Trial<'a> {
    let isa = Isa::detect();
    let selection = Selection::Bits {
        words,
        start: 0,
        len: BLOCK_ROWS as u32,
    };
    let mut fetched = Fetched::with_room(BLOCK_ROWS);
    Trial {
        case,
        units: selection.count() as f64,
        work: Box::new(move || {
            column.unpack(isa, 0, selection, &mut fetched);
            std::hint::black_box(&fetched);
        }),
    }
}

/// The same at positions.
fn unpack_at(case: String, column: &Column, positions: Vec<u16>) -> Trial<'_> {
    let isa = Isa::detect();
    let mut fetched = Fetched::with_room(BLOCK_ROWS);
    Trial {
        case,
        units: positions.len() as f64,
        work: Box::new(move || {
            column.unpack(isa, 0, Selection::Positions(&positions), &mut fetched);
            std::hint::black_box(&fetched);
        }),
    }
}

/// Every layout against byte-packed, and all in classes.
fn compare(report: &mut Report, bits: u32) {
    let percents = PERCENTS.map(|percent| format!("unpack/percent_{percent}"));
    let kinds = ["dependent", "positions"]
        .into_iter()
        .chain(percents.iter().map(String::as_str));
    for layout in Layout::ALL {
        for percent in PERCENTS {
            let case = |form| format!("{}/{bits}/{form}/percent_{percent}", layout_name(layout));
            report.compare(&case("unpack_at"), &case("unpack"), PER_LOOKUP.ns);
        }
    }
    for kind in kinds {
        let case = |layout| format!("{}/{bits}/{kind}", layout_name(layout));
        for layout in Layout::ALL
            .into_iter()
            .filter(|layout| *layout != Layout::BytePacked)
        {
            report.compare(&case(layout), &case(Layout::BytePacked), PER_LOOKUP.ns);
        }
        report.classify(format!("{bits}/{kind}"), &Layout::ALL.map(case), PER_LOOKUP.ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_ascend_and_selections_have_their_share() {
        for (block, positions) in vectors(4) {
            assert!(block < 4 && positions.len() <= POSITIONS && positions.is_sorted());
            assert!(positions.len() > POSITIONS * 9 / 10);
        }
        let ones: u32 = selection(20).iter().map(|word| word.count_ones()).sum();
        assert!((12_000..14_200).contains(&ones), "{ones}");
        assert!(selection(100).iter().all(|&word| word == !0));
    }
}
