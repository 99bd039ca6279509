//! The experiment `calibrate`: what the kernels cost on this machine, fitted to the lines of the cost model
//! (`frazil_block::Calibration`), and how well choices by them do where nothing was fitted.
//!
//! Codes lie in the second-level cache and are worked on by windows of 4,096 rows, as in a scan. For each
//! layout and width, three costs a value: a range test, unpacking all rows, and fetching those at
//! positions. Lines over the width, one for each size of lanes, are fitted to each by least squares of the relative error,
//! for choices compare ratios. Then, on other widths, selectivities and distributions, each purpose's choice by the
//! lines is held against the layout that the measured costs make best.

use super::codes::{uniform, zipf};
use super::column::{Column, Fetched};
use super::scan_cases::layout_name;
use super::trials::{self, PER_VALUE, Trial};
use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use frazil_block::cost_model::{LayoutCost, Line, Lines};
use frazil_block::{Calibration, Layout, Purpose};
use frazil_kernels::{Combine, Isa, RangeOp, Selection, packed};
use frazil_testkit::Random;
use frazil_types::Result;

/// Rows of a block and of a window.
const ROWS: usize = 65_536;
const WINDOW: usize = 4_096;

/// A choice is good if it costs at most so much more than the best.
const GOOD: f64 = 1.1;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Widths that the lines are fitted to, of uniform codes, a tenth of which is selected.
    pub fitted: &'static [u32],
    /// Widths of the check, which `--widths` replaces.
    pub checked: &'static [u32],
    /// Selectivities of the check, in per cent.
    pub percents: &'static [u32],
}

/// Distributions of the check.
#[derive(Clone, Copy, Debug)]
enum Distribution {
    Uniform,
    Zipf,
    Sorted,
}

const DISTRIBUTIONS: [(Distribution, &str); 3] = [
    (Distribution::Uniform, "uniform"),
    (Distribution::Zipf, "zipf_1"),
    (Distribution::Sorted, "sorted"),
];

/// The three costs of a layout, in nanoseconds a value.
#[derive(Clone, Copy, Debug)]
struct Costs {
    test: f64,
    unpack: f64,
    access: f64,
}

/// Runs the experiment.
pub fn run(name: &'static str, plan: &Plan, args: &BenchArgs) -> Result<Report> {
    let mut report = Report::default();
    let mut points: Vec<Vec<(u32, Costs)>> = vec![Vec::new(); Layout::ALL.len()];
    for &bits in plan.fitted {
        let measured = measure(name, bits, 10, DISTRIBUTIONS[0], args.runs, Some(&mut report));
        for ((points, layout), costs) in points.iter_mut().zip(Layout::ALL).zip(measured) {
            points.push((model_bits(layout, bits), costs));
        }
    }
    let shipped = Calibration::default();
    let mut fitted = shipped;
    for ((cost, points), layout) in fitted.layouts.iter_mut().zip(&points).zip(Layout::ALL) {
        *cost = fit(points);
        add_lines(&mut report, name, layout, cost);
    }
    let mut tallies = [("fitted", fitted), ("shipped", shipped)].map(|(label, c)| Tally::new(label, c));
    let checked = if args.widths.is_empty() {
        plan.checked
    } else {
        &args.widths
    };
    for &bits in checked {
        for &percent in plan.percents {
            for distribution in DISTRIBUTIONS {
                let measured = measure(name, bits, percent, distribution, args.runs, None);
                tallies.iter_mut().for_each(|tally| tally.add(bits, &measured));
            }
        }
    }
    tallies.iter().for_each(|tally| tally.report(&mut report, name));
    Ok(report)
}

/// The width the model knows a code of `bits` bits by.
fn model_bits(layout: Layout, bits: u32) -> u32 {
    layout.code_bits(packed::top(bits))
}

fn codes(distribution: Distribution, bits: u32) -> Vec<u64> {
    let domain = 1 << bits;
    match distribution {
        Distribution::Uniform => uniform(ROWS, domain),
        Distribution::Zipf => zipf(ROWS, domain, 1.0),
        Distribution::Sorted => {
            let mut codes = uniform(ROWS, domain);
            codes.sort_unstable();
            codes
        }
    }
}

/// The costs of all layouts; reported in detail if there is a report.
fn measure(
    name: &'static str,
    bits: u32,
    percent: u32,
    (distribution, label): (Distribution, &str),
    runs: usize,
    report: Option<&mut Report>,
) -> Vec<Costs> {
    let codes = codes(distribution, bits);
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    let high = sorted[ROWS * percent as usize / 100];
    let positions = positions(percent);
    let columns = Layout::ALL.map(|layout| Column::new(layout, bits, &codes, 1));
    let mut trials = Vec::new();
    for column in &columns {
        let case = |what: &str| {
            format!(
                "{}/{bits}/{what}/percent_{percent}/{label}",
                layout_name(column.layout())
            )
        };
        trials.push(test_trial(case("test"), column, high));
        trials.push(unpack_trial(case("unpack"), column));
        trials.push(access_trial(case("access"), column, &positions));
    }
    let outcomes = trials::run(runs, trials);
    if let Some(report) = report {
        outcomes
            .iter()
            .for_each(|outcome| outcome.add_to(report, name, PER_VALUE));
    }
    let median = |outcome: &trials::Outcome| outcome.median_ns();
    let costs = outcomes
        .as_chunks::<3>()
        .0
        .iter()
        .map(|[test, unpack, access]| Costs {
            test: median(test),
            unpack: median(unpack),
            access: median(access),
        });
    costs.collect()
}

/// Positions of every window, in order.
fn positions(percent: u32) -> Vec<Vec<u16>> {
    let mut random = Random::new(percent.into());
    let window = |start: usize| {
        let rows = (start..start + WINDOW).map(|row| row as u16);
        rows.filter(|_| random.below(100) < percent.into()).collect()
    };
    (0..ROWS).step_by(WINDOW).map(window).collect()
}

fn test_trial(case: String, column: &Column, high: u64) -> Trial<'_> {
    let (isa, mut out) = (Isa::detect(), vec![0; WINDOW / 64]);
    Trial {
        case,
        units: ROWS as f64,
        work: Box::new(move || {
            for start in (0..ROWS).step_by(WINDOW) {
                let rows = start..start + WINDOW;
                column.between(
                    isa,
                    0,
                    rows,
                    RangeOp::Inside,
                    (0, high),
                    Combine::Replace,
                    &mut out,
                );
            }
            std::hint::black_box(&out);
        }),
    }
}

fn unpack_trial(case: String, column: &Column) -> Trial<'_> {
    let (isa, mut fetched) = (Isa::detect(), Fetched::with_room(WINDOW));
    Trial {
        case,
        units: ROWS as f64,
        work: Box::new(move || {
            for start in (0..ROWS as u32).step_by(WINDOW) {
                let rows = Selection::all(start..start + WINDOW as u32);
                column.unpack(isa, 0, rows, &mut fetched);
            }
            std::hint::black_box(&fetched);
        }),
    }
}

fn access_trial<'a>(case: String, column: &'a Column, positions: &'a [Vec<u16>]) -> Trial<'a> {
    let (isa, mut fetched) = (Isa::detect(), Fetched::with_room(WINDOW));
    Trial {
        case,
        units: positions.iter().map(|window| window.len() as f64).sum(),
        work: Box::new(move || {
            for window in positions {
                column.unpack(isa, 0, Selection::Positions(window), &mut fetched);
            }
            std::hint::black_box(&fetched);
        }),
    }
}

fn fit(points: &[(u32, Costs)]) -> LayoutCost {
    let lines = |read: fn(&Costs) -> f64| {
        Lines(std::array::from_fn(|place| {
            let points = points.iter().filter(|(bits, _)| Lines::place(*bits) == place);
            let points: Vec<(f64, f64)> = points
                .map(|(bits, costs)| (f64::from(*bits), read(costs)))
                .collect();
            fit_line(&points)
        }))
    };
    LayoutCost {
        test: lines(|costs| costs.test),
        unpack: lines(|costs| costs.unpack),
        access: lines(|costs| costs.access),
    }
}

/// The line with the least squares of relative errors, which neither begins below zero nor falls.
fn fit_line(points: &[(f64, f64)]) -> Line {
    let (mut w, mut wx, mut wxx, mut wy, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for &(x, y) in points {
        let weight = 1.0 / (y * y).max(1e-12);
        w += weight;
        wx += weight * x;
        wxx += weight * x * x;
        wy += weight * y;
        wxy += weight * x * y;
    }
    let spread = w * wxx - wx * wx;
    let per_bit = match spread <= 1e-9 * w * wxx {
        true => 0.0,
        false => ((w * wxy - wx * wy) / spread).max(0.0),
    };
    let base = (wy - per_bit * wx) / w;
    match base < 0.0 {
        true => Line {
            base: 0.0,
            per_bit: wxy / wxx,
        },
        false => Line { base, per_bit },
    }
}

fn add_lines(report: &mut Report, name: &'static str, layout: Layout, cost: &LayoutCost) {
    let lines = [
        ("test", cost.test),
        ("unpack", cost.unpack),
        ("access", cost.access),
    ];
    for (what, lines) in lines {
        for (line, widths) in lines.0.iter().zip(["1_to_8", "9_to_16", "17_to_32"]) {
            for (metric, value) in [("base", line.base), ("per_bit", line.per_bit)] {
                report.add(Measurement {
                    experiment: name,
                    case: format!("line/{}/{what}/{widths}", layout_name(layout)),
                    metric,
                    unit: "ns",
                    values: Values::Exact(value),
                });
            }
        }
    }
}

/// How choices by a calibration do.
struct Tally {
    label: &'static str,
    calibration: Calibration,
    /// For each purpose, what the choices cost over the best.
    excess: Vec<Vec<f64>>,
}

impl Tally {
    fn new(label: &'static str, calibration: Calibration) -> Tally {
        Tally {
            label,
            calibration,
            excess: vec![Vec::new(); Purpose::ALL.len()],
        }
    }

    /// The choice of every purpose among layouts that cost `measured`.
    fn add(&mut self, bits: u32, measured: &[Costs]) {
        for (excess, weights) in self.excess.iter_mut().zip(&self.calibration.weights) {
            let weigh = |layout: Layout, costs: Costs| {
                let bytes = Column::block_bytes(layout, bits, ROWS) as f64 / ROWS as f64;
                // What decodes codes reads byte-packed ones where they are.
                let unpack = if layout == Layout::BytePacked {
                    0.0
                } else {
                    costs.unpack
                };
                weights.scan * (costs.test + unpack) + weights.access * costs.access + weights.byte * bytes
            };
            let predicted = Layout::ALL
                .iter()
                .zip(&self.calibration.layouts)
                .map(|(&layout, cost)| {
                    let bits = model_bits(layout, bits);
                    let costs = Costs {
                        test: cost.test.at(bits),
                        unpack: cost.unpack.at(bits),
                        access: cost.access.at(bits),
                    };
                    weigh(layout, costs)
                });
            let real: Vec<f64> = Layout::ALL
                .iter()
                .zip(measured)
                .map(|(&l, &costs)| weigh(l, costs))
                .collect();
            let choice = predicted
                .enumerate()
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .map_or(0, |(at, _)| at);
            let best = real.iter().copied().fold(f64::INFINITY, f64::min);
            excess.push(real[choice] / best);
        }
    }

    fn report(&self, report: &mut Report, name: &'static str) {
        let mut add = |case: String, excess: &[f64]| {
            let good = excess.iter().filter(|&&e| e <= GOOD).count() as f64 / excess.len() as f64;
            let worst = excess.iter().copied().fold(1.0, f64::max);
            for (metric, value) in [("share_within_1.1", good), ("worst", worst)] {
                report.add(Measurement {
                    experiment: name,
                    case: case.clone(),
                    metric,
                    unit: "ratio",
                    values: Values::Exact(value),
                });
            }
        };
        for (purpose, excess) in Purpose::ALL.iter().zip(&self.excess) {
            add(format!("choice/{}/{}", self.label, purpose.name()), excess);
        }
        add(format!("choice/{}/all", self.label), &self.excess.concat());
        report.compare("choice/fitted/all", "choice/shipped/all", "worst");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_through_their_points() {
        let line = fit_line(&[(1.0, 3.0), (2.0, 5.0), (8.0, 17.0)]);
        assert!((line.base - 1.0).abs() < 1e-9 && (line.per_bit - 2.0).abs() < 1e-9);
        let line = fit_line(&[(8.0, 3.0), (8.0, 3.0)]);
        assert_eq!((line.base, line.per_bit), (3.0, 0.0));
        let line = fit_line(&[(1.0, 3.0), (2.0, 2.0)]);
        assert!(line.per_bit == 0.0 && (2.0..3.0).contains(&line.base));
        let line = fit_line(&[(1.0, 0.5), (2.0, 3.0)]);
        assert!(line.base == 0.0 && line.per_bit > 0.5);
    }

    #[test]
    fn a_choice_is_held_against_the_best() {
        let mut tally = Tally::new("shipped", Calibration::default());
        let costs = |ns| Costs {
            test: ns,
            unpack: ns,
            access: ns,
        };
        // All alike, so whatever is chosen for scans is right but for its bytes.
        tally.add(8, &[costs(1.0); 5]);
        assert!(
            tally
                .excess
                .iter()
                .all(|excess| excess.len() == 1 && excess[0] >= 1.0)
        );
        // Ten times as slow as all others.
        let mut measured = [costs(1.0); 5];
        let scan = Purpose::ALL
            .iter()
            .position(|p| *p == Purpose::Scan)
            .expect("it is there");
        measured[0] = costs(10.0);
        tally.add(8, &measured);
        assert!(
            tally.excess[scan][1] > 4.0,
            "byte-packed is what is chosen for scans of bytes"
        );
    }
}
