//! What the database says of its syncs is what the operating system was asked for, counted from outside.

use crate::{directory, rows};
use frazil::Database;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const DIRECTORY: &str = "FRAZIL_TEST_SYNCED_DIRECTORY";

/// What is traced: commits of eight threads, loads, freezing, checkpoints and a backup. It dies before anything else is synced.
#[test]
#[ignore = "run by syncs_are_counted_as_the_system_counts_them in a process of its own"]
fn process_that_syncs() {
    let Some(path) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let path = Path::new(&path);
    let database = Database::open(path).expect("it opens");
    let c = database.connect();
    rows(
        &c,
        "set frazil.freeze_after = off; set max_wal_size = off; set checkpoint_timeout = off; \
         create table t (thread integer, seq integer, primary key (thread, seq)); create table u (a bigint, b text)",
    );
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let database = database.clone();
            scope.spawn(move || {
                let c = database.connect();
                rows(&c, "set lock_timeout = '60s'");
                (0..25).for_each(|seq| drop(rows(&c, &format!("insert into t values ({thread}, {seq})"))));
            });
        }
    });
    rows(
        &c,
        "insert into u select a.seq * 200 + b.seq, repeat('text', 20) from t a, t b where a.thread + b.thread < 9; \
         checkpoint; delete from t where seq = 3; freeze table u",
    );
    rows(
        &c,
        &format!("backup to '{}'", path.with_extension("backup").display()),
    );
    let counted = rows(
        &c,
        "select file_syncs + directory_syncs, file_syncs >= syncs, syncs >= groups, groups >= 3, file_writes >= groups, \
         file_bytes > bytes from frazil_wal",
    );
    let mut out = std::io::stdout().lock();
    let said = out.write_all(format!("\ncounted {counted}\n").as_bytes());
    said.and_then(|()| out.flush()).expect("somebody reads");
    std::process::abort();
}

/// Runs it, with `strace` in front if the system has it and lets it trace.
fn run(path: &Path, trace: Option<&Path>) -> Option<Output> {
    let program = std::env::current_exe().expect("it runs");
    let mut command = match trace {
        Some(trace) => {
            let mut strace = Command::new("strace");
            strace.args([
                "-f",
                "-qq",
                "-e",
                "trace=fsync,fdatasync,sync,syncfs,sync_file_range,msync",
                "-o",
            ]);
            strace.arg(trace).arg(program);
            strace
        }
        None => Command::new(program),
    };
    command.args(["syncs::process_that_syncs", "--exact", "--ignored", "--nocapture"]);
    command.env(DIRECTORY, path).stderr(Stdio::null()).output().ok()
}

fn counted(output: &Output) -> Option<(u64, String)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("counted "))?;
    let (syncs, holds) = line.split_once('|')?;
    Some((syncs.parse().ok()?, holds.to_string()))
}

#[test]
fn syncs_are_counted_as_the_system_counts_them() {
    let path = directory("synced");
    let trace = path.with_extension("trace");
    let traced = run(&path, Some(&trace)).as_ref().and_then(counted);
    let remove = || {
        let _ = std::fs::remove_dir_all(&path);
        let _ = std::fs::remove_dir_all(path.with_extension("backup"));
    };
    let (syncs, holds) = match traced {
        Some((syncs, holds)) => {
            let text = std::fs::read_to_string(&trace).expect("it was traced");
            // A call that another thread interrupts in the trace has a second line, without its name and bracket.
            let calls = text
                .lines()
                .filter(|l| ["sync(", "syncfs(", "range("].iter().any(|c| l.contains(c)));
            assert_eq!(calls.count() as u64, syncs, "{text}");
            println!("{syncs} syncs, as strace counts them");
            (syncs, holds)
        }
        None => {
            println!("strace is not there or may not trace: syncs are not counted from outside");
            remove();
            let output = run(&path, None).expect("it starts");
            counted(&output).unwrap_or_else(|| panic!("it does not count: {output:?}"))
        }
    };
    assert!(syncs > 20, "{syncs}");
    assert_eq!(holds, "t|t|t|t|t");
    remove();
    let _ = std::fs::remove_file(&trace);
}
