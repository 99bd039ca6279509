//! The experiment `conjunction`: two tests on two columns, both or either of which a row is to satisfy, joined
//! in five ways (ByteSlice, section 3.1.2, figure 12, and appendix E, figure 19; Data Blocks, section 4.2 and
//! figure 9).
//!
//! - `baseline`: each test on its own, then the bits are joined.
//! - `column_first`: the second test is given the bits of the first and skips vectors they decide.
//! - `predicate_first`: both tests on 512 rows, then the next 512.
//! - `reduce`: the positions the first test leaves undecided, at which the second column's codes are fetched
//!   and tested; `reduce_scalar` does so without SIMD.
//!
//! The second test matches half of the rows; the first is varied. Cases of disjunctions have `or` in their
//! names.

use super::codes::uniform;
use super::column::{Column, Fetched};
use super::scan_cases::layout_name;
use super::trials::{self, PER_VALUE, Trial};
use crate::arguments::BenchArgs;
use crate::report::Report;
use frazil_block::Layout;
use frazil_kernels::{Combine, Isa, RangeOp, Selection, count, positions};
use frazil_types::{Error, Result};
use std::ops::Range;

/// Rows of a block.
const ROWS: usize = 65_536;

/// Rows that predicate-first tests at a time: as many as every layout can.
const PIECE: usize = 512;

/// A way to join two tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Bits apart, joined at the end.
    Baseline,
    /// The second test given the bits of the first.
    ColumnFirst,
    /// Both tests, piece by piece.
    PredicateFirst,
    /// Find, then reduce matches.
    Reduce,
    /// Finds, then reduces matches without SIMD (Data Blocks, figure 9).
    ReduceScalar,
}

const STRATEGIES: [(Strategy, &str); 5] = [
    (Strategy::Baseline, "baseline"),
    (Strategy::ColumnFirst, "column_first"),
    (Strategy::PredicateFirst, "predicate_first"),
    (Strategy::Reduce, "reduce"),
    (Strategy::ReduceScalar, "reduce_scalar"),
];

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Bits of a code, of both columns.
    pub widths: &'static [u32],
    /// Rows that match the first test of a conjunction, in tenths of a per cent.
    pub permille: &'static [u64],
    /// The same of a disjunction.
    pub or_permille: &'static [u64],
}

/// What is asked of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// To satisfy both tests.
    All,
    /// To satisfy either.
    Any,
}

impl Join {
    /// How the bits of the second test meet those of the first.
    fn combine(self) -> Combine {
        match self {
            Join::All => Combine::And,
            Join::Any => Combine::Or,
        }
    }

    /// Its part of a case's name.
    fn label(self) -> &'static str {
        match self {
            Join::All => "",
            Join::Any => "or_",
        }
    }
}

/// Runs the experiment.
pub fn run(name: &'static str, plan: &Plan, args: &BenchArgs) -> Result<Report> {
    let widths = if args.widths.is_empty() {
        plan.widths
    } else {
        &args.widths
    };
    let mut report = Report::default();
    for &bits in widths {
        let domain = 1u64 << bits;
        let first = uniform(ROWS, domain);
        let second: Vec<u64> = first.iter().rev().map(|code| code ^ ((domain - 1) / 3)).collect();
        let pairs = Layout::ALL.map(|layout| Pair {
            first: Column::new(layout, bits, &first, 1),
            second: Column::new(layout, bits, &second, 1),
            half: domain / 2,
        });
        let both = plan.permille.iter().map(|&permille| (Join::All, permille));
        let either = plan.or_permille.iter().map(|&permille| (Join::Any, permille));
        for (join, permille) in both.chain(either) {
            let below = (domain * permille / 1_000).max(1) - 1;
            check(&pairs, join, below)?;
            let case = |layout: Layout, strategy: &str| {
                let (layout, join) = (layout_name(layout), join.label());
                format!("{layout}/{bits}/{join}permille_{permille}/{strategy}")
            };
            let mut trials = Vec::new();
            for pair in &pairs {
                for (strategy, label) in STRATEGIES {
                    let case = case(pair.first.layout(), label);
                    trials.push(pair.trial(case, strategy, join, below));
                }
            }
            for outcome in trials::run(args.runs, trials) {
                outcome.add_to(&mut report, name, PER_VALUE);
            }
            for layout in Layout::ALL {
                for (_, label) in &STRATEGIES[1..] {
                    report.compare(&case(layout, label), &case(layout, "baseline"), PER_VALUE.ns);
                }
                let cases = STRATEGIES.map(|(_, label)| case(layout, label));
                let (name, join) = (layout_name(layout), join.label());
                let title = format!("{name}/{bits}/{join}permille_{permille}");
                report.classify(title, &cases, PER_VALUE.ns);
            }
        }
    }
    Ok(report)
}

/// Two columns of a layout; the second is tested to be at least `half`.
struct Pair {
    first: Column,
    second: Column,
    half: u64,
}

/// Bits and positions of a run.
struct Buffers {
    bits: Vec<u64>,
    others: Vec<u64>,
    positions: Vec<u16>,
    fetched: Fetched,
}

impl Buffers {
    fn new() -> Buffers {
        Buffers {
            bits: vec![0; ROWS / 64],
            others: vec![0; ROWS / 64],
            positions: Vec::with_capacity(ROWS),
            fetched: Fetched::with_room(ROWS),
        }
    }
}

impl Pair {
    fn trial(&self, case: String, strategy: Strategy, join: Join, below: u64) -> Trial<'_> {
        let mut buffers = Buffers::new();
        Trial {
            case,
            units: ROWS as f64,
            work: Box::new(move || _ = std::hint::black_box(self.run(strategy, join, below, &mut buffers))),
        }
    }

    /// The number of rows that match.
    fn run(&self, strategy: Strategy, join: Join, below: u64, buffers: &mut Buffers) -> usize {
        let isa = Isa::detect();
        match strategy {
            Strategy::Baseline => {
                self.test_first(0..ROWS, below, &mut buffers.bits);
                self.test_second(0..ROWS, Combine::Replace, &mut buffers.others);
                for (word, other) in buffers.bits.iter_mut().zip(&buffers.others) {
                    *word = join.combine().apply(*word, *other);
                }
                count::ones(isa, &buffers.bits)
            }
            Strategy::ColumnFirst => {
                self.test_first(0..ROWS, below, &mut buffers.bits);
                self.test_second(0..ROWS, join.combine(), &mut buffers.bits);
                count::ones(isa, &buffers.bits)
            }
            Strategy::PredicateFirst => {
                for (i, words) in buffers.bits.chunks_mut(PIECE / 64).enumerate() {
                    let rows = i * PIECE..(i + 1) * PIECE;
                    self.test_first(rows.clone(), below, words);
                    self.test_second(rows, join.combine(), words);
                }
                count::ones(isa, &buffers.bits)
            }
            Strategy::Reduce => self.reduce(isa, join, below, buffers),
            Strategy::ReduceScalar => self.reduce(Isa::Scalar, join, below, buffers),
        }
    }

    /// The number of rows that match; `isa` fetches the codes of those that the second test decides.
    fn reduce(&self, isa: Isa, join: Join, below: u64, buffers: &mut Buffers) -> usize {
        self.test_first(0..ROWS, below, &mut buffers.bits);
        let mut decided = 0;
        if join == Join::Any {
            decided = count::ones(Isa::detect(), &buffers.bits);
            buffers.bits.iter_mut().for_each(|word| *word = !*word);
        }
        buffers.positions.clear();
        positions::positions(isa, &buffers.bits, 0, &mut buffers.positions);
        let selection = Selection::Positions(&buffers.positions);
        let fetched = self.second.unpack(isa, 0, selection, &mut buffers.fetched);
        decided + buffers.fetched.count_from(fetched, self.half)
    }

    fn test_first(&self, rows: Range<usize>, below: u64, out: &mut [u64]) {
        let (isa, combine) = (Isa::detect(), Combine::Replace);
        (self.first).between(isa, 0, rows, RangeOp::Inside, (0, below), combine, out);
    }

    fn test_second(&self, rows: Range<usize>, combine: Combine, out: &mut [u64]) {
        let range = (self.half, 2 * self.half - 1);
        (self.second).between(Isa::detect(), 0, rows, RangeOp::Inside, range, combine, out);
    }
}

/// Refuses to measure strategies that disagree.
fn check(pairs: &[Pair], join: Join, below: u64) -> Result<()> {
    let mut buffers = Buffers::new();
    let wanted = pairs[0].run(Strategy::Baseline, join, below, &mut buffers);
    for pair in pairs {
        for (strategy, label) in STRATEGIES {
            let found = pair.run(strategy, join, below, &mut buffers);
            if found != wanted {
                return Err(Error::internal(format!(
                    "{label} on {} finds {found} rows where {wanted} match",
                    pair.first.layout()
                )));
            }
        }
    }
    Ok(())
}
