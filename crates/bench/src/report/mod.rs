//! What an experiment reports: measurements of cases, comparisons of cases with a baseline, and classes of
//! cases that the measurements do not tell apart.

mod json;
mod table;

use crate::statistics::{
    Comparison, Interval, Sample, classes, compare, compare_exact, compare_pairs, outlier,
};

/// A number of a case, measured several times, or known exactly.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Name of the experiment.
    pub experiment: &'static str,
    /// Name of the case, e.g. `psma/q06`.
    pub case: String,
    /// What was measured, e.g. `execute`.
    pub metric: &'static str,
    /// Unit of the values, e.g. `ms`.
    pub unit: &'static str,
    /// The values.
    pub values: Values,
}

/// Values of a measurement.
#[derive(Clone, Debug)]
pub enum Values {
    /// Varying values, of which less is better.
    Measured(Sample),
    /// A number that does not vary from run to run.
    Exact(f64),
    /// Events that the machine counted, or `None` where it does not.
    Counted(Option<Sample>),
}

/// A case compared with its baseline.
#[derive(Clone, Debug)]
pub struct Ratio {
    /// Name of the experiment.
    pub experiment: &'static str,
    /// Name of the case.
    pub case: String,
    /// Name of the case it is compared with.
    pub baseline: String,
    /// What was measured.
    pub metric: &'static str,
    /// All values compared.
    pub all: Comparison,
    /// The same without outliers, where there are any.
    pub without_outliers: Option<Comparison>,
}

/// Cases that share a metric, sorted into classes of the statistically indistinguishable (see
/// [`classes`]); values that do not fit their sample are left out first.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// Name of the experiment.
    pub experiment: &'static str,
    /// What the cases have in common, e.g. `q06`.
    pub title: String,
    /// What was measured.
    pub metric: &'static str,
    /// Names of the cases: the best class first, in each the least mean first.
    pub classes: Vec<Vec<String>>,
}

/// The figures of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Number of values.
    pub n: usize,
    /// The middle value.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// Confidence interval of the mean.
    pub interval: Interval,
}

/// All that experiments report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    measurements: Vec<Measurement>,
    ratios: Vec<Ratio>,
    classes: Vec<Classes>,
    conclusions: Vec<String>,
}

impl Measurement {
    /// The figures of all values; of events that are not counted none, which are not numbers.
    pub fn figures(&self) -> Figures {
        match &self.values {
            Values::Measured(sample) | Values::Counted(Some(sample)) => Figures::of(sample),
            Values::Counted(None) => Figures {
                n: 0,
                median: f64::NAN,
                mean: f64::NAN,
                interval: Interval {
                    low: f64::NAN,
                    high: f64::NAN,
                },
            },
            Values::Exact(value) => Figures {
                n: 1,
                median: *value,
                mean: *value,
                interval: Interval {
                    low: *value,
                    high: *value,
                },
            },
        }
    }

    /// The value that does not fit the others, with the figures of the others.
    pub fn outlier(&self) -> Option<(f64, Figures)> {
        let Values::Measured(sample) = &self.values else {
            return None;
        };
        let index = outlier(sample)?;
        Some((sample.values()[index], Figures::of(&sample.without(index))))
    }

    /// The measured values that fit one another.
    fn fitting(&self) -> Option<Sample> {
        match &self.values {
            Values::Measured(sample) => Some(without_outlier(sample)),
            Values::Exact(_) | Values::Counted(_) => None,
        }
    }
}

impl Figures {
    fn of(sample: &Sample) -> Figures {
        Figures {
            n: sample.values().len(),
            median: sample.median(),
            mean: sample.mean(),
            interval: sample.interval(),
        }
    }
}

impl Report {
    /// Adds a measurement.
    pub fn add(&mut self, measurement: Measurement) {
        self.measurements.push(measurement);
    }

    /// Adds all that another report says.
    pub fn append(&mut self, other: Report) {
        self.measurements.extend(other.measurements);
        self.ratios.extend(other.ratios);
        self.classes.extend(other.classes);
        self.conclusions.extend(other.conclusions);
    }

    /// The report with a prefix before all names of cases and titles of classes.
    pub fn under(mut self, prefix: &str) -> Report {
        let rename = |name: &mut String| name.insert_str(0, prefix);
        self.measurements.iter_mut().for_each(|m| rename(&mut m.case));
        for ratio in &mut self.ratios {
            rename(&mut ratio.case);
            rename(&mut ratio.baseline);
        }
        for of in &mut self.classes {
            rename(&mut of.title);
            of.classes.iter_mut().flatten().for_each(rename);
        }
        self
    }

    /// Adds a sentence that follows from all that was measured; it comes last.
    pub fn conclude(&mut self, sentence: String) {
        self.conclusions.push(sentence);
    }

    /// The measurements, in the order in which they were added.
    pub fn measurements(&self) -> &[Measurement] {
        &self.measurements
    }

    /// The comparisons.
    pub fn ratios(&self) -> &[Ratio] {
        &self.ratios
    }

    /// The classes.
    pub fn classes(&self) -> &[Classes] {
        &self.classes
    }

    /// Sorts those of `cases` that were measured by `metric` into classes. Does nothing if there are fewer
    /// than two.
    pub fn classify<C: AsRef<str>>(&mut self, title: impl Into<String>, cases: &[C], metric: &'static str) {
        let of_case = |case: &C| {
            let found = self
                .measurements
                .iter()
                .find(|m| m.case == case.as_ref() && m.metric == metric);
            found.filter(|m| matches!(m.values, Values::Measured(_)))
        };
        let measured: Vec<&Measurement> = cases.iter().filter_map(of_case).collect();
        let samples: Vec<Sample> = measured.iter().filter_map(|m| m.fitting()).collect();
        let [first, _, ..] = &measured[..] else {
            return;
        };
        let name = |place: usize| measured[place].case.clone();
        let classes = classes(&samples)
            .into_iter()
            .map(|class| class.into_iter().map(name).collect());
        self.classes.push(Classes {
            experiment: first.experiment,
            title: title.into(),
            metric,
            classes: classes.collect(),
        });
    }

    /// Compares `case` with `baseline` by `metric`. Does nothing if one of them was not measured.
    pub fn compare(&mut self, case: &str, baseline: &str, metric: &'static str) {
        self.compare_by(case, baseline, metric, |b, c| {
            (compare(b, c), compare_without_outliers(b, c))
        });
    }

    /// Compares what was measured in pairs: the n-th value of one right before or after the n-th of the other.
    pub fn compare_pairs(&mut self, case: &str, baseline: &str, metric: &'static str) {
        self.compare_by(case, baseline, metric, |b, c| (compare_pairs(b, c), None));
    }

    fn compare_by(
        &mut self,
        case: &str,
        baseline: &str,
        metric: &'static str,
        samples: impl Fn(&Sample, &Sample) -> (Comparison, Option<Comparison>),
    ) {
        let find = |name: &str| (self.measurements.iter()).find(|m| m.case == name && m.metric == metric);
        let (Some(of_case), Some(of_baseline)) = (find(case), find(baseline)) else {
            return;
        };
        let (all, without_outliers) = match (&of_baseline.values, &of_case.values) {
            (Values::Measured(b), Values::Measured(c)) => samples(b, c),
            (Values::Exact(b), Values::Exact(c)) => (compare_exact(*b, *c), None),
            _ => return,
        };
        self.ratios.push(Ratio {
            experiment: of_case.experiment,
            case: case.to_owned(),
            baseline: baseline.to_owned(),
            metric,
            all,
            without_outliers,
        });
    }
}

fn compare_without_outliers(baseline: &Sample, case: &Sample) -> Option<Comparison> {
    if outlier(baseline).is_none() && outlier(case).is_none() {
        return None;
    }
    Some(compare(&without_outlier(baseline), &without_outlier(case)))
}

fn without_outlier(sample: &Sample) -> Sample {
    match outlier(sample) {
        Some(index) => sample.without(index),
        None => sample.clone(),
    }
}

#[cfg(test)]
pub(crate) fn example() -> Report {
    let mut report = Report::default();
    let mut add = |case: &str, values| {
        report.add(Measurement {
            experiment: "tpch",
            case: case.to_owned(),
            metric: "execute",
            unit: "ms",
            values: Values::Measured(Sample::new(values)),
        })
    };
    add("compiled/q06", vec![20.0, 21.0, 19.0, 20.0, 20.0]);
    add("psma/q06", vec![2.0, 2.1, 1.9, 2.0, 9.0]);
    report.compare("psma/q06", "compiled/q06", "execute");
    report.classify("q06", &["compiled/q06", "psma/q06", "sma/q06"], "execute");
    report.add(Measurement {
        experiment: "compression",
        case: "lineitem".to_owned(),
        metric: "bytes_over_csv",
        unit: "ratio",
        values: Values::Exact(0.375),
    });
    for (metric, values) in [
        ("instructions", Some(Sample::new(vec![3.0, 3.0]))),
        ("branch_misses", None),
    ] {
        report.add(Measurement {
            experiment: "tpch",
            case: "psma/q06".to_owned(),
            metric,
            unit: "events",
            values: Values::Counted(values),
        });
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_are_reported_and_left_out_beside() {
        let report = example();
        let psma = &report.measurements()[1];
        let (value, rest) = psma.outlier().expect("9 does not fit");
        assert_eq!((value, rest.n, rest.mean), (9.0, 4, 2.0));
        assert_eq!(psma.figures().n, 5);
        let ratio = &report.ratios()[0];
        let rest = ratio.without_outliers.expect("there is an outlier");
        assert!(ratio.all.ratio < 8.0 && (rest.ratio - 10.0).abs() < 0.1);
    }

    #[test]
    fn cases_are_sorted_into_classes_by_what_fits() {
        let mut report = example();
        // Nine of 2.0 would otherwise be a sample as wide as the difference.
        let wanted = [vec!["psma/q06".to_owned()], vec!["compiled/q06".to_owned()]];
        assert_eq!(report.classes()[0].classes, wanted);
        assert_eq!(report.classes()[0].title, "q06");
        report.classify("alone", &["psma/q06"], "execute");
        report.classify("exact", &["lineitem", "psma/q06"], "bytes_over_csv");
        assert_eq!(report.classes().len(), 1);
    }

    #[test]
    fn a_prefix_is_before_all_names() {
        let mut report = Report::default();
        report.append(example().under("select/"));
        assert!(
            report
                .measurements()
                .iter()
                .all(|m| m.case.starts_with("select/"))
        );
        let ratio = &report.ratios()[0];
        assert_eq!(
            (ratio.case.as_str(), ratio.baseline.as_str()),
            ("select/psma/q06", "select/compiled/q06")
        );
        assert_eq!(report.classes()[0].title, "select/q06");
        assert_eq!(report.classes()[0].classes[0], ["select/psma/q06"]);
    }

    #[test]
    fn what_was_not_measured_is_not_compared() {
        let mut report = example();
        report.compare("psma/q06", "compiled/q06", "compile");
        report.compare("psma/q06", "lineitem", "execute");
        assert_eq!(report.ratios().len(), 1);
    }
}
