//! The experiment `mempax` (Runtime Fragility): what k of memPAX(k) does to scans and to fetching whole rows.
//!
//! Two queries over four columns of one width by k and by who reads them: generated code under each level of
//! optimization and each way to read hot chunks ([`generated`]), and loops in Rust on each instruction set
//! ([`loops`]); k in steps of two about multiples of a line ([`spikes`]); TPC-H Q1 and Q6 over lineitem and
//! over a narrowed one ([`tpch`]); whole rows by their ids ([`row_fetch`]); and the k to be recommended
//! ([`recommendation`]). Cases are `part/schema/query/k_K/setup`.

mod generated;
mod loops;
mod recommendation;
mod row_fetch;
mod spikes;
mod tables;
mod tpch;

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil_types::Result;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rows of a partition in the queries over four columns; the last is column layout.
    pub ks: &'static [usize],
    /// The same for lineitem.
    pub lineitem_ks: &'static [usize],
    /// About multiples of a line.
    pub spikes: &'static [usize],
}

/// The plan that the experiment is run by.
pub const PLAN: Plan = Plan {
    ks: &[1, 2, 3, 4, 8, 16, 64, 512, 1000, 1024, 4096, 65_536],
    lineitem_ks: &[1, 4, 16, 64, 512, 1000, 1024, 4096, 8192, 16_384, 32_768, 65_536],
    spikes: &[
        448, 450, 456, 462, 464, 468, 474, 478, 480, 482, 486, 492, 496, 498, 504, 510, 512,
    ],
};

/// The layout that others are compared with: a chunk is one partition.
const COLUMN: usize = 65_536;

/// Scale factor of lineitem at `--scale-factor 1`: what Q6 reads is larger than caches.
const LINEITEM: f64 = 0.3;

/// Runs the experiment.
pub fn run(name: &'static str, plan: &Plan, args: &BenchArgs) -> Result<Report> {
    let mut out = Out {
        name,
        report: Report::default(),
    };
    // Less than all data for a look, never more: it is out of cache as it is.
    let scale = args.scale_factor.min(1.0);
    loops::run(&mut out, plan, scale, args.runs)?;
    generated::run(&mut out, plan, scale, args.runs)?;
    spikes::run(&mut out, plan, scale, args.runs)?;
    // The recommendation hangs on a twentieth of these.
    tpch::run(&mut out, plan, scale, args.runs * 3)?;
    row_fetch::run(&mut out, plan, scale, args.runs)?;
    recommendation::add(&mut out, plan)?;
    Ok(out.report)
}

/// The report in the making.
struct Out {
    name: &'static str,
    report: Report,
}

impl Out {
    fn measured(&mut self, case: String, metric: &'static str, unit: &'static str, values: Vec<f64>) {
        self.report.add(Measurement {
            experiment: self.name,
            case,
            metric,
            unit,
            values: Values::Measured(Sample::new(values)),
        });
    }

    fn exact(&mut self, case: String, metric: &'static str, unit: &'static str, value: f64) {
        self.report.add(Measurement {
            experiment: self.name,
            case,
            metric,
            unit,
            values: Values::Exact(value),
        });
    }

    /// The median of a case, as the paper shows query times.
    fn median(&self, case: &str, metric: &str) -> Option<f64> {
        let all = self.report.measurements();
        let found = all.iter().find(|m| m.case == case && m.metric == metric);
        found.map(|m| m.figures().median)
    }

    /// Classes of cases, and how much worse the worst one is than the best (table 3).
    fn judge(&mut self, title: &str, cases: &[String], metric: &'static str) {
        self.report.classify(title, cases, metric);
        let medians: Vec<f64> = cases.iter().filter_map(|c| self.median(c, metric)).collect();
        let best = medians.iter().copied().fold(f64::INFINITY, f64::min);
        let worst = medians.iter().copied().fold(0.0, f64::max);
        self.exact(title.to_owned(), "worst_over_best", "ratio", worst / best);
    }
}

/// Measures each case once to warm up and `runs` times; each round begins with another.
fn in_turns(
    cases: usize,
    runs: usize,
    mut measure: impl FnMut(usize) -> Result<f64>,
) -> Result<Vec<Vec<f64>>> {
    let mut found = vec![Vec::with_capacity(runs); cases];
    for round in 0..=runs {
        for turn in 0..cases {
            let case = (turn + round) % cases;
            let value = measure(case)?;
            if round > 0 {
                found[case].push(value.max(1e-6));
            }
        }
    }
    Ok(found)
}

/// The `i`-th number of a column, from 0 to 3, without order.
fn number(column: usize, i: usize) -> u8 {
    let mixed = ((i + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (column as u64) << 40);
    (mixed >> 61) as u8 & 3
}
