//! Runs the SQL logic tests below `tests/slt`: statements with the answers PostgreSQL gives, each file with hot and with
//! frozen rows, under each stage policy.
//!
//! A line `# fault W5` right above a record marks a known fault: the record must fail in at least one mode. Once it passes
//! in all, the run says so, and `FRAZIL_SLT_MEND=1 cargo test -p frazil --test slt` takes the line out. A record under
//! `# fault K1, kills` may end the process or never answer, and is run in a process of its own.

use frazil::{Connection, Database, Error, Outcome, Value};
use sqllogictest::{DB, DBOutput, DefaultColumnType, Record, Runner};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// When a mode freezes tables.
#[derive(Clone, Copy, PartialEq)]
enum Freeze {
    AsWritten,
    AfterEachChange,
}

/// One way to run all scripts.
#[derive(Clone, Copy, PartialEq)]
struct Mode {
    freeze: Freeze,
    stages: &'static str,
}

const MODES: [Mode; 6] = [
    mode(Freeze::AsWritten, "relaxed"),
    mode(Freeze::AsWritten, "fused"),
    mode(Freeze::AsWritten, "staged"),
    mode(Freeze::AfterEachChange, "relaxed"),
    mode(Freeze::AfterEachChange, "fused"),
    mode(Freeze::AfterEachChange, "staged"),
];

/// Scripts that look at how rows are held: their tables freeze only where they say so.
const ABOUT_HOLDING: [&str; 1] = ["table_options.slt"];

/// Names the record that a child process runs: the script's path, a colon, the record's line.
const CHILD: &str = "FRAZIL_SLT_RECORD";
/// How long a record that may never answer is given. Records take milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

const fn mode(freeze: Freeze, stages: &'static str) -> Mode {
    Mode { freeze, stages }
}

impl Mode {
    fn name(self) -> String {
        let rows = match self.freeze {
            Freeze::AsWritten => "as written",
            Freeze::AfterEachChange => "frozen",
        };
        format!("{rows}, {}", self.stages)
    }
}

/// A connection that freezes tables where the mode asks for it.
struct Session {
    connection: Connection,
    freeze: Freeze,
    in_transaction: bool,
    /// Tables made so far; some may be gone.
    tables: Vec<String>,
}

impl Session {
    fn new(database: &Database, mode: Mode) -> Session {
        let connection = database.connect();
        connection
            .execute(&format!("set frazil.stages = '{}'", mode.stages))
            .unwrap();
        Session {
            connection,
            freeze: mode.freeze,
            in_transaction: false,
            tables: Vec::new(),
        }
    }

    /// Notes what a statement did that freezing depends on, and freezes all tables after a change of rows.
    fn after(&mut self, sql: &str) -> Result<(), Error> {
        let sql = sql.to_lowercase();
        let words: Vec<&str> = sql.split(|c: char| c.is_whitespace() || c == '(').collect();
        match words[0] {
            "begin" | "start" => self.in_transaction = true,
            "commit" | "end" | "rollback" | "abort" => self.in_transaction = false,
            "create" if words.get(1) == Some(&"table") => self.tables.push(words[2].to_string()),
            "insert" | "delete" | "copy" => {}
            _ => return Ok(()),
        }
        if self.in_transaction || self.freeze == Freeze::AsWritten {
            return Ok(());
        }
        for table in &self.tables {
            match self.connection.execute(&format!("freeze table {table}")) {
                Err(error) if error.state().0 != "42P01" => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl DB for Session {
    type Error = Error;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Error> {
        match self.connection.execute(sql)?.outcome {
            Outcome::Command { rows, .. } => {
                self.after(sql)?;
                Ok(DBOutput::StatementComplete(rows.unwrap_or(0)))
            }
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

/// What a comment above a record says of it.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Sound,
    Fault,
    /// A fault that may end the process.
    Kills,
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

fn line_of(record: &Record<DefaultColumnType>) -> Option<u32> {
    match record {
        Record::Statement { loc, .. } | Record::Query { loc, .. } => Some(loc.line()),
        _ => None,
    }
}

/// The lines of comment right above a record, with their indices.
fn comments_above<'a>(lines: &'a [&'a str], line: u32) -> impl Iterator<Item = (usize, &'a str)> {
    let above = lines[..line as usize - 1].iter().enumerate().rev();
    above
        .map(|(at, text)| (at, *text))
        .take_while(|(_, text)| text.starts_with('#'))
}

fn mark(lines: &[&str], line: u32) -> Mark {
    let fault = comments_above(lines, line).find(|(_, text)| text.starts_with("# fault "));
    match fault {
        None => Mark::Sound,
        Some((_, text)) if text.ends_with(", kills") => Mark::Kills,
        Some(_) => Mark::Fault,
    }
}

/// Runs a script in one mode, from an empty database.
fn run(script: &Path, mode: Mode, fates: &mut Fates) {
    let text = std::fs::read_to_string(script).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let database = Database::memory().unwrap();
    let mut runner = Runner::new(|| async { Ok(Session::new(&database, mode)) });
    for record in sqllogictest::parse_file(script).unwrap() {
        let Some(line) = line_of(&record) else {
            runner.run(record).unwrap();
            continue;
        };
        let mark = mark(&lines, line);
        let done = match mark {
            // A child knows the first mode only.
            Mark::Kills if mode != MODES[0] => continue,
            Mark::Kills => run_in_a_child(script, line),
            _ => runner.run(record).map(|_| ()).map_err(|e| e.to_string()),
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
    let database = Database::memory().unwrap();
    let mut runner = Runner::new(|| async { Ok(Session::new(&database, MODES[0])) });
    for record in sqllogictest::parse_file(script).unwrap() {
        match line_of(&record) {
            Some(at) if at == line => return assert!(runner.run(record).is_ok()),
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

#[test]
fn every_script_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/slt");
    let scripts = scripts(&folder.canonicalize().unwrap());
    assert!(!scripts.is_empty());
    let mut fates = Fates::new();
    let outcomes = std::thread::scope(|scope| {
        let workers = MODES.map(|mode| {
            let scripts = &scripts;
            scope.spawn(move || {
                let mut fates = Fates::new();
                for script in scripts {
                    let about_holding = ABOUT_HOLDING.iter().any(|name| script.ends_with(name));
                    if mode.freeze == Freeze::AsWritten || !about_holding {
                        run(script, mode, &mut fates);
                    }
                }
                fates
            })
        });
        workers.map(|worker| worker.join().unwrap())
    });
    for (place, (mark, failures)) in outcomes.into_iter().flatten() {
        fates
            .entry(place)
            .or_insert((mark, Vec::new()))
            .1
            .extend(failures);
    }
    let mended = fates
        .iter()
        .filter(|(_, (mark, failures))| *mark != Mark::Sound && failures.is_empty());
    let mut mended: Vec<&Place> = mended.map(|(place, _)| place).collect();
    if std::env::var_os("FRAZIL_SLT_MEND").is_some() {
        unmark(&mended);
        mended.clear();
    }
    let wrong = fates.iter().filter(|(_, (mark, _))| *mark == Mark::Sound);
    let wrong: Vec<String> = wrong.flat_map(|(_, (_, failures))| failures.clone()).collect();
    assert!(
        wrong.is_empty(),
        "{} failures\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    assert!(
        mended.is_empty(),
        "known faults that are mended; FRAZIL_SLT_MEND=1 takes their marks off: {mended:#?}"
    );
}
