//! Statements of n parts: how planning them, and running them from their text to their answer, grows with n.

use super::measured;
use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use frazil::{Connection, Database, Timing};
use frazil_types::{Error, Result, SqlState};
use std::time::Instant;

/// A kind of statement.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// What the text begins with.
    pub before: &'static str,
    /// What each part adds; `#` is the part's number, from 1.
    pub part: &'static str,
    /// What stands between two parts.
    pub between: &'static str,
    /// What stands after the last part.
    pub after: &'static str,
    /// What each part adds behind that, again with its number.
    pub close: &'static str,
    /// What stands between two of these.
    pub between_closes: &'static str,
    /// What the text ends with.
    pub end: &'static str,
}

/// A shape whose parts stand side by side.
pub const fn flat(
    name: &'static str,
    before: &'static str,
    part: &'static str,
    between: &'static str,
    after: &'static str,
) -> Shape {
    Shape {
        name,
        before,
        part,
        between,
        after,
        close: "",
        between_closes: "",
        end: "",
    }
}

/// Numbers of parts at scale factor 0.1 and more; each is twice the one before.
pub(super) const SIZES: [usize; 4] = [1_000, 2_000, 4_000, 8_000];

/// What time may grow to when the number of parts doubles.
pub(super) const MOST: f64 = 2.3;

impl Shape {
    /// The text with `n` parts.
    pub fn text(&self, n: usize) -> String {
        let each = |part: &str, between| {
            let parts = (1..=n).map(|i| part.replace('#', &i.to_string()));
            parts.collect::<Vec<_>>().join(between)
        };
        let (parts, closes) = (
            each(self.part, self.between),
            each(self.close, self.between_closes),
        );
        format!("{}{parts}{}{closes}{}", self.before, self.after, self.end)
    }
}

/// A shape of some size.
struct Case {
    name: String,
    text: String,
    explain: String,
    /// Milliseconds of planning, by run. None for a script, of which there is no plan.
    plan: Vec<f64>,
    /// Milliseconds from the text to the answer, by run.
    run: Vec<f64>,
    /// Why it is not answered.
    refused: Option<Error>,
}

/// Runs shapes one after the other, each in all sizes in turn.
pub fn run(name: &'static str, shapes: &[Shape], args: &BenchArgs, report: &mut Report) -> Result<()> {
    let connection = connection()?;
    for shape in shapes {
        let mut cases = SIZES.map(|size| Case::new(shape, scaled(size, args)));
        for round in 0..=args.runs {
            for case in &mut cases {
                case.run(&connection, round > 0)?;
            }
        }
        for case in &cases {
            case.report(name, report);
        }
        for (half, whole) in cases.iter().zip(&cases[1..]) {
            whole.compare(half, name, report);
        }
    }
    Ok(())
}

/// A connection to a database with the tables that the shapes name.
fn connection() -> Result<Connection> {
    let connection = Database::memory()?.connect();
    connection.execute(
        "set threads = 1; set frazil.plan_cache = off;
         create table t (a integer not null, b boolean, c text);
         create table written (a integer not null, b boolean, c text);
         insert into t values (0, true, ''), (1, false, ''), (2, null, '')",
    )?;
    Ok(connection)
}

/// Below scale factor 0.1 statements have fewer parts.
pub(super) fn scaled(size: usize, args: &BenchArgs) -> usize {
    let least = SIZES[0] as f64;
    size * (least * 10.0 * args.scale_factor).clamp(10.0, least) as usize / SIZES[0]
}

impl Case {
    fn new(shape: &Shape, size: usize) -> Case {
        let text = shape.text(size);
        Case {
            name: format!("linear/{}/{size}", shape.name),
            explain: match text.contains(';') {
                true => String::new(),
                false => format!("explain {text}"),
            },
            text,
            plan: Vec::new(),
            run: Vec::new(),
            refused: None,
        }
    }

    fn run(&mut self, connection: &Connection, is_timed: bool) -> Result<()> {
        let mut milliseconds = |text: &str, planned: Option<fn(&Timing) -> f64>| {
            let begun = Instant::now();
            let answer = connection.execute(text);
            let elapsed = begun.elapsed().as_secs_f64() * 1e3;
            match answer {
                Ok(response) => Ok(planned.map_or(elapsed, |read| read(&response.timing))),
                // How long it takes to say so is measured, too.
                Err(e) if e.state() == SqlState::STATEMENT_TOO_COMPLEX => {
                    self.refused = Some(e);
                    Ok(elapsed)
                }
                Err(e) => Err(e.in_context(self.name.clone())),
            }
        };
        let run = milliseconds(&self.text, None)?;
        let plan = match self.explain.as_str() {
            "" => None,
            text => Some(milliseconds(text, Some(|t| t.plan().as_secs_f64() * 1e3))?),
        };
        if is_timed {
            self.run.push(run);
            self.plan.extend(plan);
        }
        Ok(())
    }

    fn report(&self, name: &'static str, report: &mut Report) {
        for (metric, values) in [("plan", &self.plan), ("run", &self.run)] {
            if !values.is_empty() {
                report.add(measured(name, self.name.clone(), (metric, "ms"), values.clone()));
            }
        }
        if let Some(e) = &self.refused {
            report.conclude(format!("{} is refused: {}", self.name, e.message()));
        }
    }

    /// How much longer it takes than a case of half its parts, by the quickest runs of both.
    fn compare(&self, half: &Case, name: &'static str, report: &mut Report) {
        if self.refused.is_some() {
            return;
        }
        for (metric, whole, half) in [
            ("plan_growth", &self.plan, &half.plan),
            ("run_growth", &self.run, &half.run),
        ] {
            let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
            let growth = least(whole) / least(half);
            if !growth.is_finite() {
                continue;
            }
            if growth > MOST {
                let case = &self.name;
                report.conclude(format!("{case}: {metric} is {growth:.2}, above {MOST}"));
            }
            report.add(Measurement {
                experiment: name,
                case: self.name.clone(),
                metric,
                unit: "ratio",
                values: Values::Exact(growth),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::PLAN;

    #[test]
    fn a_text_has_as_many_parts_as_asked() {
        let shape = |name| PLAN.shapes.iter().find(|s| s.name == name).expect("there is one");
        assert_eq!(
            shape("nested_coalesce").text(2),
            "select coalesce(c, coalesce(c, 'x')) from t"
        );
        assert_eq!(
            shape("in_list").text(3),
            "select count(*) from t where a in (1, 2, 3)"
        );
        assert_eq!(shape("script").text(2), "select 1; select 2");
    }

    /// Visits of expressions that a statement takes from its text to its answer.
    fn visits(connection: &Connection, text: &str) -> u64 {
        let before = frazil_plan::work::visits();
        connection.execute(text).expect("an answer");
        frazil_plan::work::visits() - before
    }

    #[test]
    fn work_is_in_proportion_to_the_parts() {
        let connection = connection().expect("a database");
        for shape in PLAN.shapes {
            let [half, whole] = [150, 300].map(|n| visits(&connection, &shape.text(n)));
            assert!(
                whole as f64 <= half as f64 * 2.1,
                "{}: {half} visits for 150 parts, {whole} for 300",
                shape.name
            );
        }
    }

    #[test]
    fn sizes_follow_the_scale_factor_below_a_tenth() {
        let sizes = |scale_factor| {
            let args = BenchArgs {
                scale_factor,
                ..BenchArgs::new("plan")
            };
            SIZES.map(|size| scaled(size, &args))
        };
        assert_eq!(sizes(1.0), SIZES);
        assert_eq!(sizes(0.1), SIZES);
        assert_eq!(sizes(0.001), [10, 20, 40, 80]);
    }
}
