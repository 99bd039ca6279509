//! The program as people run it.

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn frazil(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_frazil"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .env("FRAZILRC", "/dev/null");
    command
}

fn run(arguments: &[&str]) -> Output {
    frazil(arguments).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const VALUES: &str = "select x, y from (values (1, 'a,\"b'), (2, null)) v(x, y) order by x";

#[test]
fn results_come_in_every_mode() {
    let mode = |mode| stdout(&run(&["-c", VALUES, "--mode", mode]));
    assert_eq!(mode("csv"), "x,y\n1,\"a,\"\"b\"\n2,\n");
    assert_eq!(
        mode("json"),
        "[{\"x\":1,\"y\":\"a,\\\"b\"},\n{\"x\":2,\"y\":null}]\n"
    );
    assert_eq!(
        mode("markdown"),
        "| x | y |\n|---:|---|\n| 1 | a,\"b |\n| 2 | NULL |\n"
    );
    assert_eq!(
        mode("box"),
        "┌───┬──────┐\n│ x │  y   │\n├───┼──────┤\n│ 1 │ a,\"b │\n│ 2 │ NULL │\n└───┴──────┘\n(2 rows)\n"
    );
}

#[test]
fn rows_are_written_while_they_are_computed() {
    let digits = "(values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    let text = format!(
        "set memory_limit = '40MB'; create table t (s text); \
         insert into t select 'a text of some length ' || a.v || b.v || c.v || d.v || e.v \
         from {digits} a(v), {digits} b(v), {digits} c(v), {digits} d(v), {digits} e(v); \
         select s || '!' as s, v from t, {digits} f(v)"
    );
    let held = run(&["-c", &text]);
    assert!(String::from_utf8_lossy(&held.stderr).starts_with("ERROR 53200: "));
    let streamed = run(&["-c", &text, "--mode", "csv"]);
    assert_eq!(streamed.status.code(), Some(0), "{:?}", streamed.stderr);
    assert_eq!(streamed.stdout.iter().filter(|b| **b == b'\n').count(), 1_000_001);
    // A result that fails has no end, and none at all if it fails before its first row.
    let failing = "select 1 / x from (values (1), (0)) v(x) where x < 1";
    assert_eq!(stdout(&run(&["-c", failing, "--mode", "csv"])), "");
    let empty = "select x from (values (1)) v(x) where x > 1";
    assert_eq!(stdout(&run(&["-c", empty, "--mode", "csv"])), "x\n");
    assert_eq!(stdout(&run(&["-c", empty, "--mode", "json"])), "[]\n");
}

#[test]
fn exit_codes_tell_what_happened() {
    assert_eq!(run(&["-c", "select 1"]).status.code(), Some(0));
    let failed = run(&["-c", "select 1; select x; select 2", "--mode", "csv"]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(stdout(&failed), "?column?\n1\n");
    assert!(String::from_utf8_lossy(&failed.stderr).starts_with("ERROR 42703: "));
    assert_eq!(run(&["--no-such-option"]).status.code(), Some(2));
    assert_eq!(run(&["-f", "/does/not/exist.sql"]).status.code(), Some(3));
    assert_eq!(run(&["/dev/null/x", "-c", "select 1"]).status.code(), Some(3));
}

#[test]
fn files_and_standard_input_take_statements_and_commands() {
    let path = std::env::temp_dir().join(format!("frazil-shell-{}.sql", std::process::id()));
    let script = "create table t (a integer not null, b text);\ninsert into t\n  values (1, 'x;y');\n.mode csv\nselect *\nfrom t;\n\\d t\n.schema t\n\\q\nselect 5;\n";
    std::fs::write(&path, script).expect("it can be written");
    let expected = "CREATE TABLE\nINSERT 1\na,b\n1,x;y\nTable t (1 rows)\n  a  integer not null\n  b  text\ncreate table t (\n  a integer not null,\n  b text\n);\n";
    let file = path.display().to_string();
    assert_eq!(stdout(&run(&["-f", &file])), expected);
    let mut child = frazil(&[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(script.as_bytes()).expect("it reads");
    drop(stdin);
    assert_eq!(stdout(&child.wait_with_output().expect("it ends")), expected);
    let _ = std::fs::remove_file(&path);
}

#[test]
fn views_are_listed_described_and_shown() {
    let path = std::env::temp_dir().join(format!("frazil-shell-views-{}.sql", std::process::id()));
    let script = "create table t (a integer not null);\ncreate view v (\"B\") as select a from t;\ncreate view above as table v;\n\
                  \\d\n\\d v\n.schema above\n.schema\n.mode csv\n\\dt\n\\dv v*\n.tables a*\n";
    std::fs::write(&path, script).expect("it can be written");
    let expected = "CREATE TABLE\nCREATE VIEW\nCREATE VIEW\n\
                    t (0 rows)\nv (view)\nabove (view)\n\
                    View v\n  B  integer\ncreate view above (\"B\") as\ntable v;\n\
                    create table t (\n  a integer not null\n);\ncreate view v (\"B\") as\nselect a from t;\n\
                    create view above (\"B\") as\ntable v;\n\
                    Schema,Name,Type,Rows\npublic,t,table,0\nSchema,Name,Type\npublic,v,view\nabove\n";
    assert_eq!(stdout(&run(&["-f", &path.display().to_string()])), expected);
    let _ = std::fs::remove_file(&path);
}

#[test]
fn ctrl_c_cancels_the_query() {
    let setup = "create table n (x integer not null); insert into n values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9); insert into n select a.x from n a, n b, n c, n d;";
    let long = format!("{setup} select count(*) from n a, n b, n c where a.x + b.x + c.x = -1");
    let mut child = frazil(&["-c", &long, "--mode", "csv"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    std::thread::sleep(Duration::from_millis(700));
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.is_ok_and(|s| s.success()));
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(begun.elapsed() < Duration::from_secs(20));
    let mut message = String::new();
    let mut stderr = child.stderr.take().expect("it is piped");
    stderr.read_to_string(&mut message).expect("it is text");
    assert!(message.starts_with("ERROR 57014"), "{message}");
}

#[test]
fn tpch_fills_a_directory_that_a_second_run_finds_again() {
    let path = std::env::temp_dir().join(format!("frazil-tpch-{}", std::process::id()));
    let directory = path.display().to_string();
    let made = run(&["tpch", "--scale-factor", "0.01", &directory]);
    assert_eq!(
        made.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let count = run(&[&directory, "-c", "select count(*) from lineitem", "--mode", "csv"]);
    assert_eq!(stdout(&count), "count\n60175\n");
    let again = run(&["tpch", "--scale-factor", "0.01", &directory]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("42P07"));
    let _ = std::fs::remove_dir_all(&path);
}

#[test]
fn tpcc_makes_a_database_runs_it_and_finds_it_again() {
    let path = std::env::temp_dir().join(format!("frazil-tpcc-cli-{}", std::process::id()));
    let directory = path.display().to_string();
    let made = run(&[
        "tpcc",
        &directory,
        "--warehouses",
        "2",
        "--reduced",
        "100",
        "--terminals",
        "3",
        "--time",
        "1s",
    ]);
    let said = stdout(&made);
    assert_eq!(
        made.status.code(),
        Some(0),
        "{said}{}",
        String::from_utf8_lossy(&made.stderr)
    );
    for word in [
        "Making TPC-C with 2 warehouses",
        "order_line",
        "new_order  ",
        "new orders per minute",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(said.ends_with("The 12 consistency conditions hold.\n"), "{said}");
    let reading = run(&["tpcc", &directory, "--read-only", "--freeze", "--time", "100ms"]);
    let said = stdout(&reading);
    assert!(
        said.contains("stock_level") && !said.contains("payment"),
        "{said}"
    );
    let other = run(&["tpcc", &directory, "--warehouses", "3"]);
    assert_eq!(other.status.code(), Some(1));
    let message = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(message.contains("has 2 warehouses, not 3"), "{message}");
    run(&[
        &directory,
        "-c",
        "update warehouse set w_ytd = w_ytd + 1 where w_id = 1",
    ]);
    let broken = run(&["tpcc", &directory, "--time", "0s"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(stdout(&broken).contains("BROKEN: condition 1: w_ytd is the sum of d_ytd"));
    let _ = std::fs::remove_dir_all(&path);
}
