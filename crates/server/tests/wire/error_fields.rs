//! The fields of errors that programs read: schema, table, column, domain and constraint.

use crate::client::{Answer, Client, Served, message, query};

/// Statements and the fields of their errors, of the file `error_fields.txt`.
fn cases() -> Vec<(String, &'static str)> {
    let (mut cases, mut statement) = (Vec::new(), String::new());
    for line in include_str!("error_fields.txt").lines() {
        match (line.strip_prefix("    "), line.strip_prefix("  ")) {
            _ if line.starts_with('#') => {}
            (Some(fields), _) => cases.push((std::mem::take(&mut statement), fields)),
            (None, Some(more)) => statement.push_str(&format!(" {more}")),
            (None, None) => statement.push_str(line),
        }
    }
    cases
}

/// The fields of the first error as `error_fields.txt` has them. A schema of temporary tables is without the session's
/// number.
fn fields(answers: &[Answer]) -> String {
    let Some(error) = answers.iter().find(|answer| answer.0 == b'E') else {
        return "none".to_owned();
    };
    let mut shown = error.field(b'C').unwrap_or_default();
    for kind in *b"stcdn" {
        if let Some(value) = error.field(kind) {
            let value = value.split_once("pg_temp_").map_or(value.as_str(), |_| "pg_temp");
            shown.push_str(&format!(", {}={value}", char::from(kind)));
        }
    }
    shown
}

/// The fields of a statement's error, after which nothing of the statement is left.
fn failing(client: &mut Client, statement: &str) -> String {
    match statement.split_once(" <- ") {
        None => client.send(&query(statement)),
        Some((copy, row)) => {
            let data = message(b'd', format!("{row}\n").as_bytes());
            client.send(&[query(copy), data, message(b'c', b"")].concat());
        }
    }
    let shown = fields(&client.until_ready());
    client.ask(&[query("rollback")]);
    shown
}

#[test]
fn errors_have_the_fields_of_postgresql() {
    let served = Served::trusting();
    let mut client = served.client();
    let made = client.ask(&[query(include_str!("error_fields.sql"))]);
    assert!(!made.contains("E["), "{made}");
    let (mut count, mut others) = (0, Vec::new());
    for (statement, expected) in cases() {
        let found = failing(&mut client, &statement);
        if found != expected {
            others.push(format!(
                "{statement}\n  found:    {found}\n  expected: {expected}"
            ));
        }
        count += 1;
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    assert!(count > 40, "{count} statements");
}
