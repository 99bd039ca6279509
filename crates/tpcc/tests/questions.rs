//! The analytical queries of the CH-benCHmark give the answers that DuckDB gave on the same rows, hot and frozen.
//!
//! `python/judge/ch_answers.py` writes the answers: it has `writes_tables` write the rows as CSV.

use frazil::{Connection, Database, Value};
use frazil_tpcc::{
    FrazilEngine, Mix, Pace, Plan, Population, QUESTIONS, SINCE, TABLES, Until, Watch, drive, load,
    load_suppliers, questions,
};

/// The directory that `writes_tables` writes to.
const DIRECTORY: &str = "FRAZIL_CH_TABLES";
/// Answers: a line `-- name`, then a line for each row, with `|` between values.
const ANSWERS: &str = include_str!("questions_answers.txt");

const POPULATION: Population = Population {
    warehouses: 3,
    items: 1_000,
    customers: 60,
};

/// Changes after the transactions, whose dates differ from run to run: dates follow from the keys, some before and some
/// after those that the queries ask for. Delivered lines get amounts, and customers different balances.
const SPREAD: &str = "
    update orders set o_entry_d = timestamp '2025-10-01' + (o_id * 7919 + o_d_id * 13) % 500 * interval '1 day';
    update order_line set ol_delivery_d = o_entry_d + ((ol_o_id + ol_number * 3) % 9 - 1) * interval '1 day'
        from orders where o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id and ol_delivery_d is not null;
    update order_line set ol_amount = (ol_i_id * 37 + ol_o_id * 11 + ol_number) % 9000 + 0.25 where ol_amount = 0;
    update customer set c_balance = c_balance + (c_id * 31 + c_d_id * 17) % 200 - 100";

fn filled() -> Database {
    let database = Database::memory().expect("it opens");
    let connection = database.connect();
    load(&connection, &POPULATION, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}"));
    load_suppliers(&connection, &POPULATION).unwrap_or_else(|e| panic!("{e}"));
    let plan = Plan {
        terminals: 1,
        mix: Mix::Standard,
        pace: Pace::AtOnce,
        until: Until::Transactions(690),
        seed: 5,
        now: SINCE,
    };
    let engine = FrazilEngine::new(&database);
    drive(&engine, &POPULATION, &plan, &Watch::default()).unwrap_or_else(|e| panic!("{e}"));
    connection.execute(SPREAD).unwrap_or_else(|e| panic!("{e}"));
    database
}

/// Name and rows of each answer.
fn recorded() -> Vec<(&'static str, Vec<Vec<&'static str>>)> {
    let mut answers: Vec<(_, Vec<_>)> = Vec::new();
    for line in ANSWERS.lines() {
        match (line.strip_prefix("-- "), answers.last_mut()) {
            (Some(name), _) => answers.push((name, Vec::new())),
            (None, Some((_, rows))) => rows.push(line.split('|').collect()),
            (None, None) => panic!("the file begins with {line}"),
        }
    }
    answers
}

fn is_same(ours: &str, recorded: &str) -> bool {
    match (ours.parse::<f64>(), recorded.parse::<f64>()) {
        (Ok(one), Ok(other)) => (one - other).abs() <= 1e-9 * other.abs().max(1.0),
        _ => ours == recorded,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        other => other.to_string(),
    }
}

fn assert_answers(connection: &Connection, state: &str) {
    let answers = recorded();
    assert_eq!(answers.len(), QUESTIONS);
    for ((name, text), (recorded_name, recorded)) in questions(&POPULATION).into_iter().zip(answers) {
        assert_eq!(name, recorded_name);
        assert!(!recorded.is_empty(), "{name} has an answer");
        let rows = connection
            .query(&text, ())
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let ours: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.values().iter().map(shown).collect())
            .collect();
        let differs = |(ours, recorded): (&Vec<String>, &Vec<&str>)| {
            ours.len() != recorded.len() || !ours.iter().zip(recorded).all(|(one, other)| is_same(one, other))
        };
        let first = ours.iter().zip(&recorded).position(differs);
        assert_eq!(
            first.map(|at| (&ours[at], &recorded[at])),
            None,
            "{state}: {name}"
        );
        assert_eq!(ours.len(), recorded.len(), "{state}: {name}");
    }
}

#[test]
fn answers_are_those_of_duckdb() {
    let database = filled();
    let connection = database.connect();
    assert_answers(&connection, "hot");
    for table in TABLES {
        let sql = format!("freeze table {}", table.name());
        connection.execute(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
    assert_answers(&connection, "frozen");
    connection.execute("set threads = 3").expect("it is set");
    assert_answers(&connection, "frozen, three threads");
}

#[test]
fn suppliers_are_loaded_once() {
    let database = Database::memory().expect("it opens");
    let connection = database.connect();
    load_suppliers(&connection, &POPULATION).expect("there are none");
    let error = load_suppliers(&connection, &POPULATION).expect_err("the tables are there");
    assert_eq!(error.state().0, "42P07");
    let count = connection
        .query_row("select count(*) from supplier", ())
        .expect("it counts");
    assert_eq!(count.get::<i64>(0).expect("a number"), 100);
}

#[test]
#[ignore = "python/judge/ch_answers.py runs it"]
fn writes_tables() {
    let directory = std::env::var(DIRECTORY).expect("it is set");
    let connection = filled().connect();
    let others = ["region", "nation", "supplier"];
    for table in TABLES.iter().map(|table| table.name()).chain(others) {
        let sql = format!("copy {table} to '{directory}/{table}.csv' (format csv, header)");
        connection.execute(&sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }
}
