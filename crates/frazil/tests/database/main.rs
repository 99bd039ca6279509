//! The database as its users see it: one test program, as linking one takes long.

mod added_columns;
mod aggregates;
mod altered_columns;
mod altering;
mod backups;
mod bad_changes;
mod bad_places;
mod beside_writers;
mod bombs;
mod closing;
mod codes_travel;
mod comments;
mod copying;
mod counted_texts;
mod damaged_files;
mod damaged_tables;
mod deferrable_keys;
mod deferred_keys;
mod dense_keys;
mod describing;
mod directories;
mod doubling;
mod durable;
mod edge_values;
mod enumerations;
mod error_places;
mod estimates;
mod every_type;
mod examples;
mod explaining;
mod families;
mod few_rows;
mod file_access;
mod files;
mod first_groups;
mod folders;
mod following;
mod foreign_key_values;
mod foreign_keys;
mod generated_columns;
mod golden_code;
mod golden_directories;
mod grids;
mod heard;
mod histories;
mod holding;
mod hostile;
mod hostile_sources;
mod inequality_joins;
mod inserts;
mod interleaving;
mod isolation;
mod keys;
mod kills;
mod late_rows;
mod lazy_parquet;
mod left_entries;
mod limits;
mod loads;
mod lock_table;
mod lock_views;
mod logged_definitions;
mod lookup_joins;
mod lookup_keys;
mod lookup_orders;
mod lookups;
mod many_elements;
mod migrations;
mod model;
mod narrow_rows;
mod notices;
mod notifications;
mod object_stores;
mod outgrown_groups;
mod parameter_types;
mod partitions;
mod paused_cursors;
mod places;
mod plans;
mod points;
mod power_cuts;
mod prepared;
mod publishing;
mod publishing_elsewhere;
mod read_only;
mod references;
mod refilled_vectors;
mod refreezing;
mod refusals;
mod rejects;
mod resident;
mod rings;
mod role_files;
mod rust_values;
mod salvaging;
mod schemas;
mod sequences;
mod series;
mod session_cuts;
mod settings;
mod settling;
mod sharing;
mod silent_stores;
mod statements;
mod stored_expressions;
mod storm;
mod streaming;
mod syncs;
mod system_rows;
mod temporary;
mod top_bounds;
mod top_groups;
mod transactions;
mod united_files;
mod upserts;
mod value_meaning;
mod verifying;
mod view_texts;
mod views;
mod whole_vectors;
mod windows;
mod writers;
mod writing_with;
mod written_places;

use frazil::{Connection, Outcome, SqlState};

/// A result as text: rows by lines, values by bars, NULL empty.
fn rows(connection: &Connection, sql: &str) -> String {
    let response = connection.execute(sql).unwrap_or_else(|e| panic!("{sql}: {e:?}"));
    shown(response.outcome)
}

/// An outcome as text, as [`rows`] shows it.
fn shown(outcome: Outcome) -> String {
    match outcome {
        Outcome::Rows(rows) => {
            let types: Vec<_> = rows.schema().columns.iter().map(|c| c.ty).collect();
            let line = |row: Vec<frazil::RawValue>| {
                let cells = row.iter().zip(&types).map(|(v, ty)| v.display(*ty).to_string());
                cells.collect::<Vec<_>>().join("|")
            };
            rows.raw().map(line).collect::<Vec<_>>().join("\n")
        }
        Outcome::Command { tag, rows } => match rows {
            Some(rows) => format!("{tag} {rows}"),
            None => tag.to_owned(),
        },
    }
}

/// The state of the error a statement must give.
fn state(connection: &Connection, sql: &str) -> SqlState {
    match connection.execute(sql) {
        Ok(_) => panic!("{sql}: no error"),
        Err(error) => error.state(),
    }
}

/// A connection to a new database in memory.
fn memory() -> Connection {
    frazil::Database::memory().expect("memory is there").connect()
}

/// Runs a statement that a timeout of a few milliseconds holds for, until it has not been cut off: a busy machine may
/// not run it for longer than that.
fn eventually(c: &Connection, sql: &str) {
    let is_cut_off = || {
        c.execute(sql)
            .map(|_| ())
            .is_err_and(|e| e.state() == SqlState::QUERY_CANCELED)
    };
    let tries = (0..1_000).take_while(|_| is_cut_off()).count();
    assert!(tries < 1_000, "{sql} is always cut off");
}

/// Runs an ignored test of this program in a process of its own, so that no other test counts in what it measures.
fn process_of_its_own(test: &str) {
    let program = std::env::current_exe().expect("it runs");
    let mut command = std::process::Command::new(program);
    let output = command
        .args(["--exact", test, "--ignored", "--nocapture"])
        .output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{test}: {}\n{said}\n{complaint}",
        output.status
    );
    assert!(said.contains("1 passed"), "{test} did not run: {said}");
}

/// An empty directory of this test.
fn directory(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("frazil-test-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}
