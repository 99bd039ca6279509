//! The experiment `joins`: joins by inequalities of two tables, whose build rows are sorted, beside the same
//! joins as nested loops.
//!
//! `(a < b) is true` hides an inequality from the optimizer, so that its join compares all pairs of rows. Both
//! ways must give equal answers.

use crate::arguments::BenchArgs;
use crate::report::Report;
use crate::taking_turns::{self, Case, lines};
use frazil::Database;
use frazil_types::{Error, Result};

/// A join: name, what is before its conditions, the conditions, what is behind them.
type Join = (&'static str, &'static str, &'static [&'static str], &'static str);

/// The joins.
pub const JOINS: [Join; 7] = [
    (
        "between two columns",
        "select count(*), sum(points.id) from points, spans where ",
        &["at >= low", "at <= high"],
        "",
    ),
    (
        "between, left join",
        "select count(*), count(spans.id) from points left join spans on ",
        &["at >= low", "at <= high"],
        "",
    ),
    (
        "between doubles",
        "select count(*), sum(points.id) from points, spans where ",
        &["f >= low_f", "f < high_f"],
        "",
    ),
    (
        "between strings",
        "select count(*), sum(points.id) from points, spans where ",
        &["name >= low_name", "name <= high_name"],
        "",
    ),
    (
        "less, and a further condition",
        "select count(*) from points, spans where ",
        &["at < low", "points.few > high"],
        "",
    ),
    (
        "exists",
        "select count(*) from points where exists (select 1 from spans where ",
        &["at >= low", "at <= high"],
        ")",
    ),
    (
        "not exists",
        "select count(*) from points where not exists (select 1 from spans where ",
        &["at < low"],
        ")",
    ),
];

/// Questions that need the first match of each row, or one value of all rows. As nested loops they would make all
/// pairs, and keep them.
const FIRST_MATCHES: [(&str, &str); 6] = [
    (
        "latest before",
        "select count(*), sum(last.id) from points, \
         lateral (select id from spans where low <= at order by low desc, id limit 1) as last",
    ),
    (
        "latest before, by a key",
        "select count(*), sum(last.id) from points left join \
         lateral (select id from spans where spans.few = points.few and low <= at \
         order by low desc, id limit 1) as last on true",
    ),
    (
        "latest before, scalar",
        "select sum((select high from spans where low <= at order by low desc, id limit 1)) from points",
    ),
    (
        "greatest before",
        "select sum((select max(low) from spans where low <= at)) from points",
    ),
    (
        "greater than all",
        "select count(*) from points where at > all (select high from spans where few = 1)",
    ),
    (
        "less than any, by a key",
        "select count(*) from points where at < any (select low from spans where spans.few = points.few)",
    ),
];

/// Rows of each table at scale factor 1, and at least.
const ROWS: usize = 20_000;
const LEAST_ROWS: usize = 200;

/// The statements that make the tables. A span holds a point on average.
fn tables(rows: usize) -> [String; 2] {
    let from = format!("from (select cast(i as bigint) as i from generate_series(1, {rows}) as s (i)) as n");
    let text = |number: &str| format!("'name ' || lpad(cast({number} as text), 12, '0')");
    let (at, low) = ("i * 7368787 % 1000003", "i * 15485863 % 1000003");
    let width = 1_000_003 / rows;
    let (name, low_name, high_name) = (text(at), text(low), text(&format!("{low} + {width}")));
    [
        format!(
            "create table points as select i as id, cast({at} as integer) as at, \
             cast({at} as double precision) as f, {name} as name, cast(i % 3 as integer) as few {from}"
        ),
        format!(
            "create table spans as select i as id, cast({low} as integer) as low, \
             cast({low} + {width} as integer) as high, cast(i % 3 as integer) as few, \
             cast({low} as double precision) as low_f, \
             cast({low} + {width} as double precision) as high_f, {low_name} as low_name, \
             {high_name} as high_name {from}"
        ),
    ]
}

/// Runs the experiment.
pub fn run(name: &'static str, joins: &[Join], args: &BenchArgs) -> Result<Report> {
    let connection = Database::memory()?.connect();
    let rows = args
        .rows
        .unwrap_or((ROWS as f64 * args.scale_factor) as usize)
        .max(LEAST_ROWS);
    for statement in tables(rows) {
        connection.execute(&statement)?;
    }
    let hidden = |condition: &&str| format!("(({condition}) is true)");
    let texts: Vec<[(String, String); 2]> = (joins.iter())
        .map(|(name, before, conditions, behind)| {
            let nested: Vec<String> = conditions.iter().map(hidden).collect();
            [
                (
                    name.to_string(),
                    format!("{before}{}{behind}", conditions.join(" and ")),
                ),
                (
                    format!("{name}, nested loop"),
                    format!("{before}{}{behind}", nested.join(" and ")),
                ),
            ]
        })
        .collect();
    for [(name, ordered), (_, nested)] in &texts {
        let answer = |sql: &str| Ok::<_, Error>(lines(&connection.execute(sql)?.outcome));
        let (ordered, nested) = (answer(ordered)?, answer(nested)?);
        if ordered != nested {
            return Err(Error::internal(format!(
                "\"{name}\" answers {ordered:?}; its nested loop answers {nested:?}"
            )));
        }
    }
    let pairs = texts.iter().flatten().map(|(name, sql)| Case { name, sql });
    let first = FIRST_MATCHES.iter().map(|(name, sql)| Case { name, sql });
    let cases: Vec<Case<'_>> = pairs.chain(first).collect();
    let mut report = Report::default();
    let names = taking_turns::run(&mut report, name, "", &cases, &connection, args)?;
    // The names of all cases for each number of threads.
    let paired = names
        .chunks(cases.len())
        .flat_map(|names| names[..2 * texts.len()].chunks(2));
    for pair in paired {
        report.compare(&pair[0], &pair[1], "ms");
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_join_answers_as_its_nested_loop() {
        let args = BenchArgs {
            rows: Some(300),
            runs: 1,
            threads: vec![1, 2],
            ..BenchArgs::new("joins")
        };
        let report = run("joins", &JOINS, &args).expect("both ways agree");
        assert_eq!((report.measurements().len(), report.ratios().len()), (40, 14));
    }

    #[test]
    fn only_the_nested_loops_compare_all_pairs() {
        let connection = Database::memory().expect("memory").connect();
        tables(300)
            .iter()
            .for_each(|sql| drop(connection.execute(sql).expect("it runs")));
        for (name, before, conditions, behind) in JOINS {
            let plan = |conditions: String| {
                let sql = format!("explain {before}{conditions}{behind}");
                lines(&connection.execute(&sql).expect("it is planned").outcome).join("\n")
            };
            let hidden: Vec<String> = conditions.iter().map(|c| format!("(({c}) is true)")).collect();
            assert!(plan(conditions.join(" and ")).contains("ordered by"), "{name}");
            assert!(!plan(hidden.join(" and ")).contains("ordered by"), "{name}");
        }
    }
}
