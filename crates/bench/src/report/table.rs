//! The report for people: tables of measurements, of events counted, of comparisons and of classes.

use super::{Classes, Figures, Measurement, Ratio, Report, Values};
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (counted, measured): (Vec<&Measurement>, Vec<_>) = self
            .measurements
            .iter()
            .partition(|m| matches!(m.values, Values::Counted(_)));
        let measurements: Vec<Vec<String>> = measured.into_iter().flat_map(measurement_rows).collect();
        write_table(
            f,
            &[
                "experiment",
                "case",
                "metric",
                "unit",
                "n",
                "median",
                "mean",
                "95 % interval of the mean",
                "outlier",
            ],
            &measurements,
        )?;
        write_further_table(f, &["experiment", "case", "counted"], &counted_rows(&counted))?;
        let ratios: Vec<Vec<String>> = self.ratios.iter().flat_map(ratio_rows).collect();
        write_further_table(
            f,
            &[
                "experiment",
                "case",
                "baseline",
                "metric",
                "ratio",
                "95 % interval",
                "verdict",
            ],
            &ratios,
        )?;
        let classes: Vec<Vec<String>> = self.classes.iter().flat_map(class_rows).collect();
        let head = [
            "experiment",
            "among",
            "metric",
            "class",
            "cases not told apart from the first",
        ];
        write_further_table(f, &head, &classes)?;
        if !self.conclusions.is_empty() {
            writeln!(f)?;
        }
        self.conclusions.iter().try_for_each(|c| writeln!(f, "{c}"))
    }
}

/// A row of all values, and where there is an outlier a row of the others.
fn measurement_rows(m: &Measurement) -> Vec<Vec<String>> {
    let row = |figures: &Figures, outlier: String| {
        vec![
            m.experiment.to_owned(),
            m.case.clone(),
            m.metric.to_owned(),
            m.unit.to_owned(),
            figures.n.to_string(),
            number(figures.median),
            number(figures.mean),
            interval(figures.interval.low, figures.interval.high),
            outlier,
        ]
    };
    match m.outlier() {
        None => vec![row(&m.figures(), String::new())],
        Some((value, rest)) => vec![
            row(&m.figures(), number(value)),
            row(&rest, "without it".to_owned()),
        ],
    }
}

/// A row of each case that has events counted; one for all where the machine counts nothing.
fn counted_rows(counted: &[&Measurement]) -> Vec<Vec<String>> {
    let Some(first) = counted.first() else {
        return Vec::new();
    };
    if counted.iter().all(|m| matches!(m.values, Values::Counted(None))) {
        let row = [
            first.experiment,
            "all",
            "n/a: no hardware counters on this machine",
        ];
        return vec![row.map(str::to_owned).to_vec()];
    }
    let of_case = counted.chunk_by(|a, b| a.case == b.case);
    let row = |events: &[&Measurement]| {
        let event = |m: &&Measurement| format!("{} {}", m.metric, number(m.figures().mean));
        let events_of_case: Vec<String> = events.iter().map(event).collect();
        vec![
            events[0].experiment.to_owned(),
            events[0].case.clone(),
            events_of_case.join(", "),
        ]
    };
    of_case.map(row).collect()
}

fn ratio_rows(r: &Ratio) -> Vec<Vec<String>> {
    let row = |c: &crate::statistics::Comparison, note: &str| {
        vec![
            r.experiment.to_owned(),
            r.case.clone(),
            r.baseline.clone(),
            r.metric.to_owned(),
            format!("{:.2}", c.ratio),
            format!("{:.2} to {:.2}", c.interval.low, c.interval.high),
            format!("{}{note}", c.verdict.name()),
        ]
    };
    let mut rows = vec![row(&r.all, "")];
    rows.extend((r.without_outliers.iter()).map(|c| row(c, " (without outliers)")));
    rows
}

/// A row of each class.
fn class_rows(c: &Classes) -> Vec<Vec<String>> {
    let row = |(number, cases): (usize, &Vec<String>)| {
        vec![
            c.experiment.to_owned(),
            c.title.clone(),
            c.metric.to_owned(),
            number.to_string(),
            cases.join(", "),
        ]
    };
    (1..).zip(&c.classes).map(row).collect()
}

/// Four significant digits, as far as they are behind the point.
fn number(value: f64) -> String {
    if value.is_nan() {
        return "n/a".to_owned();
    }
    let magnitude = if value == 0.0 {
        0.0
    } else {
        value.abs().log10().floor()
    };
    let digits = (3.0 - magnitude).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

fn interval(low: f64, high: f64) -> String {
    match low.is_finite() {
        true => format!("{} to {}", number(low), number(high)),
        false => "unknown".to_owned(),
    }
}

/// A table below another; none without rows.
fn write_further_table(f: &mut fmt::Formatter<'_>, head: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(f)?;
    write_table(f, head, rows)
}

fn write_table(f: &mut fmt::Formatter<'_>, head: &[&str], rows: &[Vec<String>]) -> fmt::Result {
    let width = |column: usize| {
        let cells = rows.iter().map(|r| r[column].chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |f: &mut fmt::Formatter<'_>, cells: &[&str]| {
        let padded = cells
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:<width$}"));
        writeln!(f, "{}", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    line(f, head)?;
    let rules: Vec<String> = widths.iter().map(|&w| "-".repeat(w)).collect();
    line(f, &rules.iter().map(String::as_str).collect::<Vec<_>>())?;
    rows.iter()
        .try_for_each(|row| line(f, &row.iter().map(String::as_str).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::number;
    use crate::report::example;

    #[test]
    fn a_person_reads_it() {
        let text = example().to_string();
        let expected = "\
experiment   case          metric          unit   n  median  mean    95 % interval of the mean  outlier
-----------  ------------  --------------  -----  -  ------  ------  -------------------------  ----------
tpch         compiled/q06  execute         ms     5  20.00   20.00   19.12 to 20.88
tpch         psma/q06      execute         ms     5  2.000   3.400   -0.4880 to 7.288           9.000
tpch         psma/q06      execute         ms     4  2.000   2.000   1.870 to 2.130             without it
compression  lineitem      bytes_over_csv  ratio  1  0.3750  0.3750  0.3750 to 0.3750

experiment  case      counted
----------  --------  -------------------------------------
tpch        psma/q06  instructions 3.000, branch_misses n/a

experiment  case      baseline      metric   ratio  95 % interval  verdict
----------  --------  ------------  -------  -----  -------------  -------------------------
tpch        psma/q06  compiled/q06  execute  7.40   3.21 to 17.08  faster
tpch        psma/q06  compiled/q06  execute  10.00  9.39 to 10.65  faster (without outliers)

experiment  among  metric   class  cases not told apart from the first
----------  -----  -------  -----  -----------------------------------
tpch        q06    execute  1      psma/q06
tpch        q06    execute  2      compiled/q06
";
        assert_eq!(text, expected);
    }

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(
            [0.0, 0.001234, 12.3456, 123456.7, 1.0].map(number),
            ["0.000", "0.001234", "12.35", "123457", "1.000"]
        );
    }
}
