//! `frazil verify`, `--readonly`.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// A directory of a test, removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("frazil-care-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("it is made");
        Directory(path)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_frazil"));
        command.args(arguments).env("FRAZILRC", "/dev/null");
        command.current_dir(&self.0).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// A shell that has opened its database and waits for statements.
    fn open(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdin = child.stdin.as_mut().expect("it is piped");
        stdin
            .write_all(b"select 1 as a;\n")
            .and_then(|()| stdin.flush())
            .expect("it reads");
        let mut answer = [0; 4];
        child
            .stdout
            .as_mut()
            .expect("it is piped")
            .read_exact(&mut answer)
            .expect("it answers");
        assert_eq!(&answer, b"a\n1\n");
        child
    }

    /// What it writes, which must not fail.
    fn out(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8(output.stdout).expect("it is text")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const SETUP: &str = "create table t (k integer primary key, v integer not null check (v > 0), s text); create index on t (s); \
    insert into t values (1, 1, 'one'), (2, 2, null); freeze table t; insert into t values (3, 3, 'three')";

#[test]
fn a_sound_directory_is_told_so() {
    let directory = Directory::new("sound");
    directory.out(&["db", "-q", "-c", SETUP]);
    let told = directory.out(&["verify", "db"]);
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[0].starts_with("1 segment, ") && lines[0].contains("log file"),
        "{told}"
    );
    assert_eq!(
        lines[1],
        "table t: 3 rows, 1 block, 1 hot chunk, 2 indexes (1 unique), 2 columns NOT NULL, 1 CHECK: sound"
    );
    assert_eq!(lines[2], "db is sound.");
    assert_eq!(lines.len(), 3);
}

#[test]
fn faults_are_named_and_the_exit_code_tells() {
    let directory = Directory::new("faults");
    directory.out(&["db", "-q", "-c", SETUP]);
    let segment = directory.0.join("db/segments/00000001.seg");
    let good = std::fs::read(&segment).expect("it is there");
    let mut bad = good.clone();
    let at = bad.len() - 70;
    bad[at] ^= 4;
    std::fs::write(&segment, &bad).expect("it can be written");
    let output = directory.run(&["verify", "db"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("FAULT: \"db/segments/00000001.seg\", block at offset "),
        "{told}"
    );
    assert!(told.contains("table \"t\", chunk "), "{told}");
    assert!(
        stderr(&output).starts_with("ERROR XX001: db has "),
        "{}",
        stderr(&output)
    );
    // What does not open is told, too.
    std::fs::write(&segment, &good[..100]).expect("it can be written");
    let output = directory.run(&["verify", "db"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("It does not open") && told.contains("00000001.seg"),
        "{told}"
    );
    std::fs::write(&segment, &good).expect("it can be written");
    directory.out(&["verify", "db"]);
    assert_eq!(directory.run(&["verify", "nothing"]).status.code(), Some(3));
    assert!(!directory.0.join("nothing").exists());
}

#[test]
fn a_directory_is_read_by_several_and_not_beside_a_writer() {
    let directory = Directory::new("shared");
    directory.out(&["db", "-q", "-c", SETUP]);
    let read = ["db", "-readonly", "-csv", "-c", "select count(*) from t"];
    let mut writer = directory.open(&["db", "-csv"]);
    let locked = |arguments: &[&str]| {
        let output = directory.run(arguments);
        (output.status.code(), stderr(&output))
    };
    let pid = format!("in use by process {}, since 20", writer.id());
    assert!(locked(&read).1.contains(&pid), "{:?}", locked(&read));
    assert_eq!(locked(&read).0, Some(3));
    assert_eq!(locked(&["verify", "db"]).0, Some(3));
    drop(writer.stdin.take());
    writer.wait().expect("it ends");
    assert_eq!(directory.out(&read), "count\n3\n");
    let mut reader = directory.open(&["db", "--readonly", "-csv"]);
    let pid = format!("being read by process {}", reader.id());
    let (code, told) = locked(&["db", "-c", "select 1"]);
    assert!(code == Some(3) && told.contains(&pid), "{told}");
    assert_eq!(directory.out(&read), "count\n3\n");
    directory.out(&["verify", "db"]);
    drop(reader.stdin.take());
    reader.wait().expect("it ends");
    let refused = directory.run(&["db", "-readonly", "-c", "delete from t"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).starts_with("ERROR 25006: "),
        "{}",
        stderr(&refused)
    );
    assert_eq!(
        directory.run(&["-readonly", "-c", "select 1"]).status.code(),
        Some(3)
    );
}
