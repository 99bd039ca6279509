//! The report as JSON: one list of objects, measurements first, then comparisons, then classes. An infinite
//! end of an interval (of a single run) is null, and so are the figures of events that the machine does not
//! count, whose `note` is "n/a". Where there is an outlier, `without_outliers` holds what
//! remains. `classes` is a list of lists of cases, the best class first.

use super::{Classes, Figures, Measurement, Ratio, Report, Values};
use crate::statistics::Comparison;
use serde_json::{Map, Value, json};

impl Report {
    /// The report as JSON.
    pub fn json(&self) -> Value {
        let measurements = self.measurements.iter().map(measurement);
        let ratios = self.ratios.iter().map(ratio);
        let classes = self.classes.iter().map(classes);
        measurements.chain(ratios).chain(classes).collect()
    }
}

fn measurement(m: &Measurement) -> Value {
    let mut object = Map::new();
    object.insert("experiment".into(), json!(m.experiment));
    object.insert("case".into(), json!(m.case));
    object.insert("metric".into(), json!(m.metric));
    object.insert("unit".into(), json!(m.unit));
    figures(&mut object, &m.figures());
    if matches!(m.values, Values::Counted(None)) {
        object.insert("note".into(), json!("n/a"));
    }
    let outlier = m.outlier();
    let values: Vec<f64> = outlier.iter().map(|(value, _)| *value).collect();
    object.insert("outliers".into(), json!(values));
    if let Some((_, rest)) = outlier {
        let mut inner = Map::new();
        figures(&mut inner, &rest);
        object.insert("without_outliers".into(), Value::Object(inner));
    }
    Value::Object(object)
}

fn figures(object: &mut Map<String, Value>, f: &Figures) {
    object.insert("n".into(), json!(f.n));
    object.insert("median".into(), json!(f.median));
    object.insert("mean".into(), json!(f.mean));
    object.insert("ci95_low".into(), json!(f.interval.low));
    object.insert("ci95_high".into(), json!(f.interval.high));
}

fn ratio(r: &Ratio) -> Value {
    let mut object = Map::new();
    object.insert("experiment".into(), json!(r.experiment));
    object.insert("case".into(), json!(r.case));
    object.insert("baseline".into(), json!(r.baseline));
    object.insert("metric".into(), json!(r.metric));
    comparison(&mut object, &r.all);
    if let Some(rest) = &r.without_outliers {
        let mut inner = Map::new();
        comparison(&mut inner, rest);
        object.insert("without_outliers".into(), Value::Object(inner));
    }
    Value::Object(object)
}

fn classes(c: &Classes) -> Value {
    json!({"experiment": c.experiment, "among": c.title, "metric": c.metric, "classes": c.classes})
}

fn comparison(object: &mut Map<String, Value>, c: &Comparison) {
    object.insert("ratio".into(), json!(c.ratio));
    object.insert("ci95_low".into(), json!(c.interval.low));
    object.insert("ci95_high".into(), json!(c.interval.high));
    object.insert("verdict".into(), json!(c.verdict.name()));
}

#[cfg(test)]
mod tests {
    use crate::report::example;
    use serde_json::json;

    #[test]
    fn objects_have_the_promised_keys() {
        let json = example().json();
        let list = json.as_array().expect("a list");
        assert_eq!(list.len(), 7);
        assert_eq!(
            list[2],
            json!({"experiment": "compression", "case": "lineitem", "metric": "bytes_over_csv",
                   "unit": "ratio", "n": 1, "median": 0.375, "mean": 0.375,
                   "ci95_low": 0.375, "ci95_high": 0.375, "outliers": []})
        );
        assert_eq!((&list[3]["n"], &list[3]["mean"]), (&json!(2), &json!(3.0)));
        assert_eq!(
            (&list[4]["mean"], &list[4]["note"]),
            (&serde_json::Value::Null, &json!("n/a"))
        );
        assert_eq!(list[1]["outliers"], json!([9.0]));
        assert_eq!(list[1]["without_outliers"]["n"], json!(4));
        let keys: Vec<&str> = list[5]
            .as_object()
            .expect("an object")
            .keys()
            .map(String::as_str)
            .collect();
        for key in [
            "experiment",
            "case",
            "baseline",
            "metric",
            "ratio",
            "ci95_low",
            "ci95_high",
            "verdict",
        ] {
            assert!(keys.contains(&key), "{key} is missing");
        }
        assert_eq!(list[5]["without_outliers"]["verdict"], json!("faster"));
        assert_eq!(
            list[6],
            json!({"experiment": "tpch", "among": "q06", "metric": "execute",
                   "classes": [["psma/q06"], ["compiled/q06"]]})
        );
    }
}
