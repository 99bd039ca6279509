//! Runs the SQL logic tests below `tests/slt`: statements with the answers PostgreSQL gives, each file with hot and with
//! frozen rows, under each stage policy.
//!
//! Lines `# freeze NAME` are places where tables may freeze: answers do not depend on it. A line `# tag: INSERT 0 2` above
//! a record is the tag of its command, a line `# constraint: name, table, column` what its error names (`-`: nothing).
//!
//! A line `# fault W5` right above a record marks a known fault: the record must fail in at least one mode. Once it passes
//! in all, the run says so, and `FRAZIL_SLT_MEND=1 cargo test -p frazil --test slt` takes the line out. A record under
//! `# fault K1, kills` may end the process or never answer, and is run in a process of its own.

mod comments;
mod pending;
mod session;

use comments::{Mark, comments_above, judge, line_of, mark, says_freeze};
use frazil::{Connection, Database};
use pending::Pending;
use session::{Freeze, Session, Told, freeze_all};
use sqllogictest::{Record, Runner};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One way to run all scripts.
#[derive(Clone, Copy, PartialEq)]
struct Mode {
    freeze: Freeze,
    stages: &'static str,
}

const MODES: [Mode; 9] = [
    mode(Freeze::Hot, "relaxed"),
    mode(Freeze::Hot, "fused"),
    mode(Freeze::Hot, "staged"),
    mode(Freeze::AtLines, "relaxed"),
    mode(Freeze::AtLines, "fused"),
    mode(Freeze::AtLines, "staged"),
    mode(Freeze::AfterEachChange, "relaxed"),
    mode(Freeze::AfterEachChange, "fused"),
    mode(Freeze::AfterEachChange, "staged"),
];

/// Scripts that look at how rows are held, or where: their tables freeze only where they say so.
const ABOUT_HOLDING: [&str; 2] = ["table_options.slt", "system_columns.slt"];

/// Names the record that a child process runs: the script's path, a colon, the record's line.
const CHILD: &str = "FRAZIL_SLT_RECORD";
/// Names scripts whose failures are printed.
const SHOW: &str = "FRAZIL_SLT_SHOW";
/// Names the scripts that are run: those whose path holds the text. Without it, all are.
const ONLY: &str = "FRAZIL_SLT_ONLY";
/// How long a record that may never answer is given. Records take milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

const fn mode(freeze: Freeze, stages: &'static str) -> Mode {
    Mode { freeze, stages }
}

impl Mode {
    fn name(self) -> String {
        let rows = match self.freeze {
            Freeze::Hot => "hot",
            Freeze::AtLines => "frozen at lines",
            Freeze::AfterEachChange => "frozen",
        };
        format!("{rows}, {}", self.stages)
    }
}

/// Where a record begins: its script and its line, from 1.
type Place = (PathBuf, u32);

/// How each record fared: its mark, and the modes in which it failed, with what came instead.
type Fates = BTreeMap<Place, (Mark, Vec<String>)>;

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

/// A script in one mode, in a database of its own.
struct Script<'a> {
    lines: &'a [&'a str],
    mode: Mode,
    connection: Connection,
    told: Arc<Mutex<Told>>,
}

impl Script<'_> {
    fn new<'a>(lines: &'a [&'a str], mode: Mode) -> Script<'a> {
        let connection = Database::memory().unwrap().connect();
        let stages = format!("set frazil.stages = '{}'", mode.stages);
        connection.execute(&stages).unwrap();
        Script {
            lines,
            mode,
            connection,
            told: Arc::default(),
        }
    }

    fn session(&self) -> Session {
        Session::new(self.connection.clone(), self.mode.freeze, self.told.clone())
    }

    /// Freezes all tables if the comment says so and the mode goes by it.
    fn comment(&self, comment: &[String]) {
        let says = comment.iter().any(|line| says_freeze(line));
        if says && self.mode.freeze == Freeze::AtLines && !self.connection.in_transaction() {
            freeze_all(&self.connection).unwrap();
        }
    }

    /// Judges what a record's statement told beyond what the runner compares.
    fn judge(&self, line: u32) -> Result<(), String> {
        judge(self.lines, line, &self.told.lock().unwrap())
    }
}

/// Runs a script in one mode, from an empty database.
fn run(script: &Path, mode: Mode, fates: &mut Fates) {
    let text = std::fs::read_to_string(script).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    if mode.freeze == Freeze::AtLines && !lines.iter().any(|l| l.strip_prefix('#').is_some_and(says_freeze)) {
        return;
    }
    let state = Script::new(&lines, mode);
    let mut runner = Runner::new(|| async { Ok(state.session()) });
    for record in sqllogictest::parse_file(script).unwrap() {
        if let Record::Comment(comment) = &record {
            state.comment(comment);
        }
        let Some(line) = line_of(&record) else {
            runner.run(record).unwrap();
            continue;
        };
        let mark = mark(&lines, line);
        let done = match mark {
            // A child knows the first mode only.
            Mark::Kills if mode != MODES[0] => continue,
            Mark::Kills => run_in_a_child(script, line),
            _ => (runner.run(record).map_err(|e| e.to_string())).and_then(|_| state.judge(line)),
        };
        let (_, failures) = fates
            .entry((script.to_path_buf(), line))
            .or_insert((mark, Vec::new()));
        if let Err(error) = done {
            failures.push(format!("{}: {error}", mode.name()));
        }
    }
}

fn run_in_a_child(script: &Path, line: u32) -> Result<(), String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_record_of_a_child"])
        .env(CHILD, format!("{}:{line}", script.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match child.try_wait().unwrap() {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("the record's process ended with {status}")),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    Err(format!("no answer within {PATIENCE:?}"))
}

/// Does nothing but in a child: there it runs a script up to a record, and judges that one.
#[test]
fn the_record_of_a_child() {
    let Ok(place) = std::env::var(CHILD) else { return };
    let (script, line) = place.rsplit_once(':').unwrap();
    let line: u32 = line.parse().unwrap();
    let text = std::fs::read_to_string(script).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let state = Script::new(&lines, MODES[0]);
    let mut runner = Runner::new(|| async { Ok(state.session()) });
    for record in sqllogictest::parse_file(script).unwrap() {
        match line_of(&record) {
            Some(at) if at == line => {
                return assert!(runner.run(record).is_ok() && state.judge(line).is_ok());
            }
            Some(at) if mark(&lines, at) == Mark::Kills => {}
            _ => drop(runner.run(record)),
        }
    }
    panic!("no record begins in line {line} of {script}");
}

/// Takes the marks off records that no longer fail.
fn unmark(mended: &[&Place]) {
    let mut scripts: BTreeMap<&Path, Vec<u32>> = BTreeMap::new();
    for (script, line) in mended {
        scripts.entry(script).or_default().push(*line);
    }
    for (script, records) in scripts {
        let text = std::fs::read_to_string(script).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let marks = records.iter().flat_map(|line| comments_above(&lines, *line));
        let marks: Vec<usize> = marks
            .filter(|(_, text)| text.starts_with("# fault "))
            .map(|(at, _)| at)
            .collect();
        let kept = lines.iter().enumerate().filter(|(at, _)| !marks.contains(at));
        let kept: String = kept.map(|(_, line)| format!("{line}\n")).collect();
        std::fs::write(script, kept).unwrap();
    }
}

/// Runs all scripts in all modes, a thread a mode.
fn run_all(scripts: &[PathBuf]) -> Fates {
    let outcomes = std::thread::scope(|scope| {
        let workers = MODES.map(|mode| {
            scope.spawn(move || {
                let mut fates = Fates::new();
                for script in scripts {
                    let about_holding = ABOUT_HOLDING.iter().any(|name| script.ends_with(name));
                    if mode.freeze != Freeze::AfterEachChange || !about_holding {
                        run(script, mode, &mut fates);
                    }
                }
                fates
            })
        });
        workers.map(|worker| worker.join().unwrap())
    });
    let mut fates = Fates::new();
    for (place, (mark, failures)) in outcomes.into_iter().flatten() {
        let (_, all) = fates.entry(place).or_insert((mark, Vec::new()));
        all.extend(failures);
    }
    fates
}

/// For each script that is ahead of the code, how many records agree in all modes, and how many there are.
fn agreeing(fates: &Fates, pending: &Pending) -> BTreeMap<PathBuf, (usize, usize)> {
    let mut agree: BTreeMap<PathBuf, (usize, usize)> = BTreeMap::new();
    for ((script, _), (_, failures)) in fates.iter().filter(|((script, _), _)| pending.has(script)) {
        let (now, all) = agree.entry(script.clone()).or_default();
        *now += usize::from(failures.is_empty());
        *all += 1;
    }
    agree
}

#[test]
fn every_script_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/slt");
    let folder = folder.canonicalize().unwrap();
    let (mut scripts, pending) = (scripts(&folder), Pending::read(&folder));
    if let Ok(wanted) = std::env::var(ONLY) {
        scripts.retain(|script| script.to_string_lossy().contains(&wanted));
    }
    assert!(!scripts.is_empty());
    let mut fates = run_all(&scripts);
    let agree = agreeing(&fates, &pending);
    show(&fates);
    fates.retain(|(script, _), _| !pending.has(script));
    let mended = fates
        .iter()
        .filter(|(_, (mark, failures))| *mark != Mark::Sound && failures.is_empty());
    let mut mended: Vec<&Place> = mended.map(|(place, _)| place).collect();
    if std::env::var_os("FRAZIL_SLT_MEND").is_some() {
        unmark(&mended);
        mended.clear();
        pending.mend(&agree);
    }
    let wrong = fates.iter().filter(|(_, (mark, _))| *mark == Mark::Sound);
    let wrong: Vec<String> = wrong.flat_map(|(_, (_, failures))| failures.clone()).collect();
    assert!(
        wrong.is_empty(),
        "{} failures\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    if let Err(worse) = pending.judge(&agree) {
        panic!("{worse}");
    }
    assert!(
        mended.is_empty(),
        "known faults that are mended; FRAZIL_SLT_MEND=1 takes their marks off: {mended:#?}"
    );
}

/// Prints the failures of the scripts whose path holds what `FRAZIL_SLT_SHOW` says: of those that are ahead of the code,
/// too.
fn show(fates: &Fates) {
    let Ok(wanted) = std::env::var(SHOW) else { return };
    for ((script, _), (_, failures)) in fates {
        if script.to_string_lossy().contains(&wanted) {
            failures.iter().for_each(|failure| println!("{failure}\n"));
        }
    }
}
