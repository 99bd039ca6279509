//! The experiments `shapes`, questions of many shapes over one large table and three small ones, `hits`, questions of
//! web analytics over one wide table, and `job`, the join graphs of the Join Order Benchmark. The tables are hot, then
//! frozen, then frozen with raw strings.
//!
//! `tables.sql` makes the tables, and `questions.sql` holds the questions. `python/bench/shapes.py` and `job.py`
//! also read both files, and run DuckDB beside Frazil. Every form must give the answers of the hot
//! tables.

use crate::arguments::BenchArgs;
use crate::report::{Measurement, Report, Values};
use crate::taking_turns::{self, Case, lines};
use frazil::{Connection, Database};
use frazil_types::{Error, Result, SqlState};

/// Tables and the questions that are asked about them.
#[derive(Debug)]
pub struct QuestionSet {
    /// Statements that make and fill the tables.
    tables: &'static str,
    /// The questions, each behind a line with its name. Text behind a line `-- family …` begins all questions up to
    /// the next such line.
    questions: &'static str,
    /// Rows of the large table at scale factor 1.
    rows: usize,
    /// Names of the tables.
    names: &'static [&'static str],
    /// Tables and columns of strings, which the last form keeps raw. With none, there is no such form.
    strings: &'static [(&'static str, &'static str)],
}

/// The questions of `shapes`.
pub const SHAPES: QuestionSet = QuestionSet {
    tables: include_str!("tables.sql"),
    questions: include_str!("questions.sql"),
    rows: ROWS,
    names: &["facts", "tens", "parents", "few"],
    strings: &[
        ("facts", "s100"),
        ("facts", "t100"),
        ("facts", "s100k"),
        ("facts", "fname"),
        ("tens", "name"),
        ("parents", "name"),
    ],
};

/// The questions of `hits`.
pub const HITS: QuestionSet = QuestionSet {
    tables: include_str!("hits/tables.sql"),
    questions: include_str!("hits/questions.sql"),
    rows: ROWS,
    names: &["hits"],
    strings: &[
        ("hits", "url"),
        ("hits", "title"),
        ("hits", "referrer"),
        ("hits", "phrase"),
    ],
};

/// The questions of `job`. `title` counts as the large table: all tables have 40 million rows at scale factor 1.
pub const JOB: QuestionSet = QuestionSet {
    tables: include_str!("../job/tables.sql"),
    questions: include_str!("../job/questions.sql"),
    rows: 1_362_000,
    names: &[
        "aka_name",
        "aka_title",
        "cast_info",
        "char_name",
        "comp_cast_type",
        "company_name",
        "company_type",
        "complete_cast",
        "info_type",
        "keyword",
        "kind_type",
        "link_type",
        "movie_companies",
        "movie_info",
        "movie_info_idx",
        "movie_keyword",
        "movie_link",
        "name",
        "person_info",
        "role_type",
        "title",
    ],
    strings: &[],
};

/// Rows of the large table of `shapes` and `hits` at scale factor 1.
const ROWS: usize = 10_000_000;
/// Rows of a large table, at least.
const LEAST_ROWS: usize = 1_000;
/// Doubles are summed in the order in which rows arrive: sums may differ by this part of the greater one.
const TOLERANCE: f64 = 1e-9;

/// The number that the rows of `job` follow from.
const SEED: &str = "1";

/// A way to hold the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Hot,
    Frozen,
    RawStrings,
}

impl Form {
    /// Follows the name of a question.
    fn suffix(self) -> &'static str {
        match self {
            Form::Hot => ", hot",
            Form::Frozen => ", frozen",
            Form::RawStrings => ", raw strings",
        }
    }
}

/// Runs the experiment.
pub fn run(name: &'static str, set: &QuestionSet, args: &BenchArgs) -> Result<Report> {
    let rows = args
        .rows
        .unwrap_or((set.rows as f64 * args.scale_factor) as usize)
        .max(LEAST_ROWS);
    let texts = set.questions(rows);
    let wanted = |case: &str| args.only.as_deref().is_none_or(|start| case.starts_with(start));
    let cases: Vec<Case<'_>> = (texts.iter())
        .filter(|(name, _)| wanted(name))
        .map(|(name, sql)| Case { name, sql })
        .collect();
    if cases.is_empty() {
        let only = args.only.as_deref().unwrap_or_default();
        return Err(Error::new(
            SqlState::INVALID_PARAMETER,
            format!("no question begins with \"{only}\""),
        ));
    }
    let mut report = Report::default();
    let connection = set.load(rows)?;
    let hot = answers(&connection, &cases)?;
    for (case, answer) in cases.iter().zip(&hot) {
        report.add(Measurement {
            experiment: name,
            case: case.name.to_owned(),
            metric: "rows",
            unit: "rows",
            values: Values::Exact(answer.len() as f64),
        });
    }
    let names = taking_turns::run(&mut report, name, Form::Hot.suffix(), &cases, &connection, args)?;
    set.freeze(&connection, Form::Frozen)?;
    let mut connection = connection;
    let forms = match set.strings.is_empty() {
        true => &[Form::Frozen][..],
        false => &[Form::Frozen, Form::RawStrings],
    };
    for &form in forms {
        if form == Form::RawStrings {
            connection = set.load(rows)?;
            set.freeze(&connection, form)?;
        }
        for ((case, hot), frozen) in cases.iter().zip(&hot).zip(answers(&connection, &cases)?) {
            if !alike(hot, &frozen) {
                let form = form.suffix();
                return Err(Error::internal(format!(
                    "\"{}{form}\" answers {frozen:?}; the hot tables answer {hot:?}",
                    case.name
                )));
            }
        }
        let frozen = taking_turns::run(&mut report, name, form.suffix(), &cases, &connection, args)?;
        for (frozen, hot) in frozen.iter().zip(&names) {
            report.compare(frozen, hot, "ms");
        }
    }
    Ok(report)
}

/// Replaces the numbers of rows in a text.
fn with_rows(text: &str, rows: usize) -> String {
    text.replace("{rows}", &rows.to_string())
        .replace("{tenth}", &(rows / 10).to_string())
        .replace("{titles}", &rows.to_string())
        .replace("{seed}", SEED)
}

impl QuestionSet {
    /// Name and statement of each question.
    fn questions(&self, rows: usize) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        // The beginning of the questions of a family, and true while the lines belong to it.
        let (mut family, mut is_family) = (String::new(), false);
        // The paragraph that opens the file is not a question.
        let (_, text) = self.questions.split_once("\n\n").unwrap_or(("", self.questions));
        for line in text.lines() {
            match (line.strip_prefix("-- "), found.last_mut()) {
                (Some(name), _) if name.starts_with("family ") => (family, is_family) = (String::new(), true),
                (Some(name), _) => {
                    found.push((name.to_owned(), family.clone()));
                    is_family = false;
                }
                (None, _) if is_family => family += &(line.to_owned() + " "),
                (None, Some((_, sql))) => {
                    sql.push_str(&with_rows(line.trim_end_matches(';'), rows));
                    sql.push(' ');
                }
                (None, None) => {}
            }
        }
        found
    }

    /// The statement that makes or fills a table, without its semicolon; `None` if no statement begins with `start`.
    pub fn statement(&self, start: &str) -> Option<&'static str> {
        let begun = self.tables.get(self.tables.find(start)?..)?;
        Some(begun.split_once(';').map_or(begun, |(statement, _)| statement))
    }

    /// Fills the tables in memory. They stay hot until [`QuestionSet::freeze`].
    pub fn load(&self, rows: usize) -> Result<Connection> {
        let connection = Database::memory()?.connect();
        connection.execute(
            "set frazil.freeze_after = off; set frazil.refreeze_budget = off; set frazil.access_counters = off",
        )?;
        connection.execute(&with_rows(self.tables, rows))?;
        Ok(connection)
    }

    fn freeze(&self, connection: &Connection, form: Form) -> Result<()> {
        if form == Form::RawStrings {
            for (table, column) in self.strings {
                connection.execute(&format!(
                    "alter table {table} set (\"encoding.{column}\" = 'raw')"
                ))?;
            }
        }
        for table in self.names {
            connection.execute(&format!("freeze table {table}"))?;
        }
        Ok(())
    }
}

/// Answer of each question, a text for each row.
fn answers(connection: &Connection, cases: &[Case<'_>]) -> Result<Vec<Vec<String>>> {
    (cases.iter())
        .map(|case| {
            let response = connection
                .execute(case.sql)
                .map_err(|e| e.in_context(case.name.to_owned()))?;
            Ok(lines(&response.outcome))
        })
        .collect()
}

/// True if two answers are equal, or differ only in the last digits of numbers.
fn alike(a: &[String], b: &[String]) -> bool {
    let close = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => x == y || (x - y).abs() <= TOLERANCE * x.abs().max(y.abs()),
        _ => a == b,
    };
    let rows_are_alike = |a: &str, b: &str| {
        let (a, b): (Vec<&str>, Vec<&str>) = (a.split('|').collect(), b.split('|').collect());
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b))
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| rows_are_alike(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_answers_alike_in_every_form() {
        for (name, set, questions) in [("shapes", &SHAPES, 39), ("hits", &HITS, 43)] {
            let args = BenchArgs {
                rows: Some(1_000),
                runs: 1,
                ..BenchArgs::new(name)
            };
            let report = run(name, set, &args).expect("all forms agree");
            assert_eq!(set.questions(1_000).len(), questions);
            // The rows of each question, and its time in three forms, two of which are compared with the first.
            assert_eq!(
                (report.measurements().len(), report.ratios().len()),
                (4 * questions, 2 * questions)
            );
        }
    }

    #[test]
    fn every_join_graph_answers_alike_hot_and_frozen() {
        let questions = JOB.questions(1_000);
        assert_eq!(questions.len(), 113);
        let cases: Vec<Case<'_>> = (questions.iter()).map(|(name, sql)| Case { name, sql }).collect();
        assert!(cases.iter().all(|case| case.sql.matches(" from ").count() == 1));
        let connection = JOB.load(1_000).expect("it loads");
        let hot = answers(&connection, &cases).unwrap_or_else(|e| panic!("{e}"));
        JOB.freeze(&connection, Form::Frozen).expect("it freezes");
        let frozen = answers(&connection, &cases).unwrap_or_else(|e| panic!("{e}"));
        for ((case, hot), frozen) in cases.iter().zip(&hot).zip(&frozen) {
            assert!(alike(hot, frozen), "{}: {hot:?}, then {frozen:?}", case.name);
        }
        let met = hot.iter().filter(|rows| !rows[0].contains("NULL")).count();
        assert!(met > 30, "{met} questions meet rows of 1,000 titles");
    }

    #[test]
    fn hits_have_the_columns_of_web_analytics() {
        let connection = HITS.load(5_000).expect("it loads");
        let columns = Case {
            name: "columns",
            sql: "select count(*) from information_schema.columns where table_name = 'hits'",
        };
        assert_eq!(answers(&connection, &[columns]).expect("it counts"), [["105"]]);
        let empty = Case {
            name: "empty phrases",
            sql: "select count(*) between 4200 and 4500 from hits where phrase = ''",
        };
        assert_eq!(answers(&connection, &[empty]).expect("it counts"), [["t"]]);
    }

    #[test]
    fn every_question_meets_rows() {
        let connection = SHAPES.load(5_000).expect("it loads");
        for (name, sql) in SHAPES.questions(5_000) {
            let case = [Case {
                name: &name,
                sql: &sql,
            }];
            let answer = &answers(&connection, &case).expect("it runs")[0];
            let first = answer[0].split('|').next();
            assert!(
                first.is_some_and(|value| !["0", "NULL", ""].contains(&value)),
                "{name}: {answer:?}"
            );
        }
    }

    #[test]
    fn answers_differ_if_a_cell_or_a_row_does() {
        let rows = |texts: &[&str]| texts.iter().map(|t| t.to_string()).collect::<Vec<_>>();
        assert!(alike(&rows(&["1|a|2.5"]), &rows(&["1|a|2.50000000001"])));
        assert!(!alike(&rows(&["1|a|2.5"]), &rows(&["1|b|2.5"])));
        assert!(!alike(&rows(&["1|a|2.5"]), &rows(&["1|a|2.6"])));
        assert!(!alike(&rows(&["1", "2"]), &rows(&["1"])));
        assert!(!alike(&rows(&["1|2"]), &rows(&["1"])));
    }

    #[test]
    fn only_and_rows_choose() {
        let args = BenchArgs {
            rows: Some(1_000),
            runs: 1,
            only: Some("top:".to_owned()),
            threads: vec![1, 2],
            ..BenchArgs::new("shapes")
        };
        let report = run("shapes", &SHAPES, &args).expect("it runs");
        assert_eq!((report.measurements().len(), report.ratios().len()), (2 + 12, 8));
        let nothing = BenchArgs {
            only: Some("nothing".to_owned()),
            ..args
        };
        assert!(run("shapes", &SHAPES, &nothing).is_err());
    }
}
