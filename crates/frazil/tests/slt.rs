//! Runs the SQL logic tests below `tests/slt`: statements with the answers PostgreSQL gives.

use frazil::{Connection, Database, Error, Outcome, Value};
use sqllogictest::{DB, DBOutput, DefaultColumnType, Runner};
use std::path::{Path, PathBuf};

struct Session(Connection);

impl DB for Session {
    type Error = Error;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Error> {
        match self.0.execute(sql)?.outcome {
            Outcome::Command { rows, .. } => Ok(DBOutput::StatementComplete(rows.unwrap_or(0))),
            Outcome::Rows(rows) => {
                let columns = &rows.schema().columns;
                let text = |(value, ty): (&Value, _)| match value {
                    Value::Null => "NULL".to_string(),
                    Value::Text(t) if t.is_empty() => "(empty)".to_string(),
                    value => value.display(ty).to_string(),
                };
                let cells =
                    |row: Vec<Value>| row.iter().zip(columns.iter().map(|c| c.ty)).map(text).collect();
                Ok(DBOutput::Rows {
                    types: vec![DefaultColumnType::Any; columns.len()],
                    rows: rows.iter().map(cells).collect(),
                })
            }
        }
    }

    fn engine_name(&self) -> &str {
        "frazil"
    }

    fn error_sql_state(error: &Error) -> Option<String> {
        Some(error.state().0.to_string())
    }
}

fn scripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(scripts(&path));
        } else if path.extension().is_some_and(|e| e == "slt") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_script_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/slt");
    let scripts = scripts(&folder);
    assert!(!scripts.is_empty());
    let mut failures = Vec::new();
    for script in scripts {
        let database = Database::memory().unwrap();
        let mut runner = Runner::new(|| async { Ok(Session(database.connect())) });
        if let Err(error) = runner.run_file(&script) {
            failures.push(format!("{error}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
