//! The experiment `references`: the costs of foreign keys, sequences and ALTER TABLE, each beside a statement that does
//! the work without them. A cost is a ratio: the time of the one over that of the other, in one process, in turns.
//!
//! Each pair has databases of its own, in memory unless it counts syncs. `--rows N` sets the rows of the large tables,
//! `--only NAME` runs the pairs whose names begin so.

mod pair;
mod pairs;
mod side;

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::statistics::Sample;
use frazil_types::Result;
use pair::{Pair, Sizes};
use pairs::PAIRS;

/// Runs the experiment. The two sides of a pair take turns.
pub fn run(name: &'static str, args: &BenchArgs) -> Result<Report> {
    let sizes = Sizes::of(args);
    let only = args.only.as_deref().unwrap_or_default();
    let mut report = Report::default();
    for pair in PAIRS.iter().filter(|pair| pair.name.starts_with(only)) {
        measure(name, pair, &sizes, &mut report)?;
    }
    Ok(report)
}

fn measure(experiment: &'static str, pair: &Pair, sizes: &Sizes, report: &mut Report) -> Result<()> {
    let mut sides = (pair.sides)(sizes)?;
    let mut taken = [Vec::new(), Vec::new()];
    let mut held = [0_f64; 2];
    for round in 0..sizes.rounds {
        for turn in 0..sides.len() {
            let at = (turn + round) % sides.len();
            let (seconds, bytes) = sides[at].run(round)?;
            // The first round warms up.
            if round > 0 {
                taken[at].push(1e6 * seconds / sides[at].units() as f64);
                held[at] = held[at].max(bytes.unwrap_or(0) as f64);
            }
        }
    }
    let names = ["", pair.over].map(|over| match over {
        "" => pair.name.to_owned(),
        over => format!("{}, {over}", pair.name),
    });
    let mut add = |at: usize, metric, unit, values| {
        report.add(Measurement {
            experiment,
            case: names[at].clone(),
            metric,
            unit,
            values,
        });
    };
    for (at, taken) in taken.into_iter().enumerate() {
        add(at, "us", "us", Values::Measured(Sample::new(taken)));
        if sides[at].counts_memory() {
            add(at, "more_memory", "B", Values::Exact(held[at]));
        }
        if let Some(syncs) = sides[at].syncs_of_a_run()? {
            add(at, "syncs", "syncs", Values::Exact(syncs));
        }
    }
    report.compare_pairs(&names[0], &names[1], "us");
    if let Some(ratio) = report.ratios().last() {
        let of = &ratio.all;
        let verdict = if of.ratio * pair.most >= 1.0 {
            "within"
        } else {
            "beyond"
        };
        let sentence = format!(
            "{}: {:.2} times ({:.2} to {:.2}) {}, {verdict} {}",
            pair.name,
            1.0 / of.ratio,
            1.0 / of.interval.high,
            1.0 / of.interval.low,
            pair.over,
            pair.most
        );
        report.conclude(sentence);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_measured_and_concluded() {
        let args = BenchArgs {
            scale_factor: 0.001,
            rows: Some(300),
            runs: 2,
            ..BenchArgs::new("references")
        };
        let report = run("references", &args).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.ratios().len(), PAIRS.len());
        let few = BenchArgs {
            only: Some("copy".to_owned()),
            ..args
        };
        let report = run("references", &few).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.ratios().len(), 1);
    }
}
