//! Every mode of the shell against what psql or sqlite3 write for the same rows. `modes/record.sh` records that.

use std::path::PathBuf;
use std::process::{Command, Stdio};

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/modes")
}

fn recorded(name: &str) -> String {
    let path = directory().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What the shell writes for the rows of a file.
fn written(rows: &str, options: &[&str]) -> String {
    let sql = recorded(&format!("{rows}.sql"));
    let output = Command::new(env!("CARGO_BIN_EXE_frazil"))
        .args(["-X", "-c", &sql])
        .args(options)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("it is text")
}

/// psql ends every table with an empty line; the shell does not.
fn same(name: &str, options: &[&str]) {
    let rows = name.split('.').next().unwrap_or(name);
    let (expected, got) = (recorded(name), written(rows, options));
    assert_eq!(
        got.trim_end_matches('\n'),
        expected.trim_end_matches('\n'),
        "{name}\n{got}"
    );
}

const ROWS: [&str; 4] = ["rows", "lines", "none", "wide"];

#[test]
fn tables_are_drawn_as_psql_draws_them() {
    for rows in ROWS {
        same(&format!("{rows}.aligned.psql"), &["-aligned"]);
        same(&format!("{rows}.table.psql"), &["-table"]);
        same(&format!("{rows}.box.psql"), &["-box"]);
        same(&format!("{rows}.aligned.x.psql"), &["-aligned", "-x"]);
        same(&format!("{rows}.table.x.psql"), &["-table", "-x"]);
        same(&format!("{rows}.box.x.psql"), &["-box", "-x"]);
    }
}

#[test]
fn other_formats_of_psql_are_written_as_psql_does() {
    for rows in ROWS {
        same(&format!("{rows}.unaligned.psql"), &["-A"]);
        same(&format!("{rows}.html.psql"), &["-H"]);
        same(&format!("{rows}.latex.psql"), &["-latex"]);
    }
}

#[test]
fn csv_is_psqls_save_that_empty_strings_are_quoted() {
    for rows in ["lines", "none", "wide"] {
        same(&format!("{rows}.csv.psql"), &["-csv"]);
    }
    let expected = recorded("rows.csv.psql").replace("4,,2.25", "4,\"\",2.25");
    assert_eq!(written("rows", &["-csv"]), expected);
}

#[test]
fn modes_of_sqlite3_are_written_as_sqlite3_does() {
    for mode in ["column", "tabs", "json", "line", "list", "quote"] {
        same(&format!("rows.{mode}.sqlite3"), &["--mode", mode]);
    }
    for mode in ["column", "json", "quote"] {
        same(&format!("lines.{mode}.sqlite3"), &["--mode", mode]);
    }
    // sqlite3 names a table of its own.
    let expected = recorded("rows.insert.sqlite3").replace("\"table\"", "t");
    assert_eq!(written("rows", &["-insert"]), expected);
}

#[test]
fn markdown_is_sqlite3s_without_padding() {
    let bare = |text: &str| {
        let cells = text.lines().map(|line| {
            let cells = line.trim_matches('|').split(" | ");
            let cells: Vec<&str> = cells.map(|c| c.trim_matches([' ', '-', ':', '|'])).collect();
            cells.join(" | ")
        });
        let lines: Vec<String> = cells.collect();
        lines
            .join("\n")
            .replace("NULL", "")
            .replace("tab     and", "tab and")
    };
    let expected = bare(&recorded("rows.markdown.sqlite3").replace("and | bar", "and \\| bar"));
    let got = bare(&written("rows", &["-markdown"]));
    assert_eq!(
        got.lines().skip(2).collect::<Vec<_>>(),
        expected.lines().skip(2).collect::<Vec<_>>()
    );
}

#[test]
fn objects_come_one_a_line() {
    assert_eq!(
        written("lines", &["-jsonlines"]),
        "{\"n\":1,\"text\":\"first\\nsecond\\n\",\"more\":\"one\\ntwo\"}\n"
    );
    assert_eq!(written("none", &["-jsonlines"]), "");
    assert_eq!(written("none", &["-json"]), "[]\n");
}
