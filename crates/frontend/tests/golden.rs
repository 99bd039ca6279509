//! Bound plans of many shapes as texts. `FRAZIL_BLESS=1` writes them anew.

mod support;

use frazil_frontend::{Statement, Writing};
use std::fmt::Write;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");

fn text_of(sql: &str) -> String {
    match support::try_bind(sql) {
        Ok(bound) => match bound.statement {
            Statement::Query(plan) | Statement::Writing(Writing::Write(plan)) => {
                frazil_plan::display::plan(&plan).trim_end().to_string()
            }
            other => format!("{other:?}"),
        },
        Err(e) => format!("ERROR {} {e}", e.state()),
    }
}

#[test]
fn plans_are_as_recorded() {
    let recorded = std::fs::read_to_string(FILE).unwrap();
    let mut now = String::new();
    for section in recorded.split("=== ").filter(|s| !s.is_empty()) {
        let sql = section.split("\n\n").next().unwrap_or_default();
        let _ = write!(now, "=== {sql}\n\n{}\n\n", text_of(sql));
    }
    if std::env::var_os("FRAZIL_BLESS").is_some() {
        std::fs::write(FILE, now).unwrap();
        return;
    }
    for (was, is) in recorded.split("=== ").zip(now.split("=== ")) {
        assert_eq!(was, is);
    }
    assert_eq!(recorded, now);
}
