//! Clients that were not written for Frazil. One that is not installed is skipped, and says so.

use crate::client::Served;
use std::process::{Command, Output};

/// Runs a program against a server; `None` if it is not installed.
pub fn run(program: &str, arguments: &[&str], served: &Served, user: &str, password: &str) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(arguments);
    for (name, value) in [
        ("PGHOST", "127.0.0.1"),
        ("PGPORT", &served.address.port().to_string()),
        ("PGUSER", user),
        ("PGDATABASE", "shop"),
        ("PGPASSWORD", password),
        ("PGCONNECT_TIMEOUT", "60"),
    ] {
        command.env(name, value);
    }
    match command.output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: {program} is not installed");
            None
        }
        Err(error) => panic!("{program}: {error}"),
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn psql_runs_a_script() {
    let served = Served::with_password("se cret");
    let script = "create table t (a integer primary key, b text);\n\
                  insert into t values (1, 'one'), (2, null);\n\
                  copy t from stdin;\n3\tthree\n\\.\n\
                  begin;\nupdate t set b = 'x' where a = 1;\nrollback;\n\
                  select * from t order by a;\n\
                  \\echo :ROW_COUNT\n\
                  copy (select a from t order by a) to stdout;\n\
                  select 1/0;\n\
                  \\echo :SQLSTATE\n\
                  \\set FETCH_COUNT 2\n\
                  select generate_series(1, 5);\n";
    let folder = std::env::temp_dir().join(format!("frazil-psql-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("script.sql");
    std::fs::write(&file, script).unwrap();
    let arguments = ["-X", "-q", "-A", "-t", "-f", file.to_str().unwrap()];
    let output = run("psql", &arguments, &served, "app", "se cret");
    let refused = run("psql", &["-X", "-c", "select 1"], &served, "app", "wrong");
    std::fs::remove_dir_all(&folder).unwrap();
    let (Some(output), Some(refused)) = (output, refused) else {
        return;
    };
    assert_eq!(
        text(&output.stdout),
        "1|one\n2|\n3|three\n3\n1\n2\n3\n22012\n1\n2\n3\n4\n5\n",
        "{}",
        text(&output.stderr)
    );
    assert!(text(&output.stderr).contains("division by zero"));
    assert!(text(&refused.stderr).contains("password authentication failed for user \"app\""));
}

#[test]
fn psycopg_runs_in_text_and_binary() {
    let has = Command::new("python3").args(["-c", "import psycopg"]).output();
    if !has.is_ok_and(|has| has.status.success()) {
        eprintln!("skipped: psycopg 3 is not installed");
        return;
    }
    let served = Served::trusting();
    let script = include_str!("psycopg_script.py");
    let Some(output) = run("python3", &["-c", script], &served, "me", "") else {
        return;
    };
    assert!(output.status.success(), "{}", text(&output.stderr));
}
